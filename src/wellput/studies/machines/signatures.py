"""The signature of a machine judge: one line that names the model, its digest, and how it was asked,
such as `model:llama-3|digest:fp_44709d|design:rating|prompt:4db74858335e|temperature:0|scores:auto|…`.
Judgments are comparable if their signatures are equal.

The *settings* of a signature are its parts without the versions: the digest, which is the version of
the model, and the version of wellput. Some parts join values with "+": the versions, and how the
answers were given if they were not all given in the same way (`temperature:0+default`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import nsmallest

from wellput import __version__
from wellput.studies.machines.asking import ChatModel
from wellput.studies.machines.machine_judge import AskedTrial, AskingOptions
from wellput.studies.machines.rubrics import Rubric

DIGEST_CHARACTERS = 12
"""The number of characters of a local model's hash in a signature."""
UNKNOWN = "unknown"
"""The digest of a model that does not say which version it is."""
MAX_NAMED_DIGESTS = 3
"""If there are more digests, a signature names only this many and says how many more there are: it
stands in every row of a table of judgments, and an endpoint may give each answer another digest."""
MORE_DIGESTS = re.compile(r"(?P<at_least>at least )?(?P<n>\d+) more")
VERSIONS = ("digest", "version")
"""The parts that may change while a machine answers the trials of a study."""
PARAMETERS = {"temperature": ("temperature", "default"), "scores": ("logprobs", "text")}
"""Some endpoints refuse a parameter, which is then left out of the requests. For each part of the
signature that depends on such a parameter: the parameter, and the part's value for answers that were
given without it."""


@dataclass(frozen=True)
class Digests:
    """The digests of several versions of a model: all or some of them (`named`), and the number of all.
    With `is_lower_bound` there may be more than `n`."""

    named: frozenset[str]
    n: int
    is_lower_bound: bool = False

    @classmethod
    def of(cls, text: str) -> Digests:
        """The digests in a part of a signature."""
        *names, last = text.split("+")
        more = MORE_DIGESTS.fullmatch(last)
        named = frozenset(names if more else [*names, last]) - {UNKNOWN}
        n_more = int(more["n"]) if more else 0
        return cls(named, len(named) + n_more, bool(more and more["at_least"]))

    def __str__(self) -> str:
        """
        >>> str(Digests(frozenset({"fp_5", "fp_2", "fp_1", "fp_4"}), 40))
        'fp_1+fp_2+fp_4+37 more'
        """
        named = nsmallest(MAX_NAMED_DIGESTS, self.named)
        n_more = self.n - len(named)
        at_least = "at least " if self.is_lower_bound else ""
        return "+".join([*named, f"{at_least}{n_more} more"] if n_more else named) or UNKNOWN

    def __or__(self, other: Digests) -> Digests:
        """Both together. Digests without a name may be the same in both.

        >>> str(Digests.of("fp_1+fp_3") | Digests.of("fp_2+fp_3"))
        'fp_1+fp_2+fp_3'
        >>> str(Digests.of("fp_1+fp_2+fp_3+7 more") | Digests.of("fp_5+fp_6"))
        'fp_1+fp_2+fp_3+at least 7 more'
        >>> str(Digests.of("fp_1") | Digests.of("fp_1+fp_2+fp_3+7 more"))
        'fp_1+fp_2+fp_3+7 more'
        """
        if self == other or (other._are_all_named and other.named <= self.named):
            return self
        if self._are_all_named and self.named <= other.named:
            return other
        named = self.named | other.named
        is_exact = self._are_all_named and other._are_all_named
        return Digests(named, max(self.n, other.n, len(named)), is_lower_bound=not is_exact)

    @property
    def _are_all_named(self) -> bool:
        return self.n == len(self.named)


class UsedReplies:
    """What a signature says of the replies that have a usable answer: the fingerprints of the versions
    of the model that gave them, and which parameters their requests did without."""

    def __init__(self, answered: Iterable[AskedTrial] = ()) -> None:
        self.fingerprints: set[str] = set()
        self.left_out: set[tuple[str, ...]] = set()
        self.add(answered)

    def add(self, answered: Iterable[AskedTrial]) -> None:
        for trial in answered:
            if trial.reply is not None and trial.reading.label is not None:
                self.left_out.add(trial.reply.without)
                if trial.reply.fingerprint:
                    self.fingerprints.add(trial.reply.fingerprint)


def signature_of(
    model: ChatModel, rubric: Rubric, options: AskingOptions, used: UsedReplies | None = None
) -> str:
    """The signature of the answers in `used`; if there are none, that of the options.

    The digest is the beginning of the hash of a local model's file, or the `system_fingerprint` of an
    endpoint.
    """
    used = used or UsedReplies()
    fingerprints = Digests(frozenset(used.fingerprints), len(used.fingerprints))
    return _line(
        {
            "model": model.model,
            "digest": model.digest[:DIGEST_CHARACTERS] or str(fingerprints),
            "design": rubric.questionnaire.kind,
            "prompt": rubric.hash,
            "temperature": _as_given("temperature", f"{options.temperature:g}", used),
            "scores": _as_given("scores", options.scores, used),
            "version": f"wellput-{__version__}",
        }
    )


def joined_signature(stored: str, new: str) -> str:
    """The signature of earlier and new answers together. Their settings do not differ."""
    before, parts = _parts(stored), _parts(new)
    parts["digest"] = str(Digests.of(before.get("digest", UNKNOWN)) | Digests.of(parts["digest"]))
    for name in ("version", *PARAMETERS):
        parts[name] = "+".join(sorted(_values(before, name) | _values(parts, name)))
    return _line(parts)


def different_settings(stored: str, new: str) -> list[tuple[str, str]]:
    """The settings that differ between a stored signature and that of a new run that has not asked yet:
    pairs such as `("temperature:0", "temperature:1")`."""
    before, after = _parts(stored), _parts(new)
    return [
        (f"{name}:{before.get(name, '')}", f"{name}:{after.get(name, '')}")
        for name in dict.fromkeys([*before, *after])
        if name not in VERSIONS and not _may_be_same(name, before, after)
    ]


def digest_in(signature: str) -> str:
    """The digest in a signature, empty if it is unknown."""
    digest = _parts(signature).get("digest", UNKNOWN)
    return "" if digest == UNKNOWN else digest


def _may_be_same(name: str, before: dict[str, str], after: dict[str, str]) -> bool:
    """Whether a setting is the same. The earlier answers may have been asked for with the same
    parameter and given without it."""
    if name not in PARAMETERS:
        return before.get(name) == after.get(name)
    _, without = PARAMETERS[name]
    return _values(before, name) - {without} <= _values(after, name)


def _as_given(name: str, asked: str, used: UsedReplies) -> str:
    """How replies were given, where `asked` was asked for: `asked`, the value for replies without the
    parameter, or both."""
    parameter, without = PARAMETERS[name]
    values = {without if parameter in left_out else asked for left_out in used.left_out}
    return "+".join(sorted(values)) or asked


def _values(parts: dict[str, str], name: str) -> set[str]:
    return set(parts.get(name, "").split("+")) - {""}


def _parts(signature: str) -> dict[str, str]:
    """The parts of a signature by their name."""
    return dict(part.partition(":")[::2] for part in signature.split("|"))


def _line(parts: dict[str, str]) -> str:
    return "|".join(f"{name}:{_one_word(value)}" for name, value in parts.items())


def _one_word(value: str) -> str:
    """The value with "_" in place of characters that separate the parts of a signature."""
    return "".join("_" if c in "|,\n\r" or not c.isprintable() else c for c in value)
