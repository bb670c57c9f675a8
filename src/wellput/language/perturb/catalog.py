"""`PERTURBATIONS`: every kind of change by name, with its severity and what it does; and `perturbed`,
the changed versions of texts.

A *kind* is harmful or harmless. Harmful ones have a severity: `base` (no answer at all), `critical`,
`major` or `minor`. A kind by degree has three severities. A *variant* is one kind at one severity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from wellput.core.errors import InputError, did_you_mean
from wellput.language.perturb import damage, harmless, meaning, numbers
from wellput.language.perturb.passage import Edits, Passage, Surroundings, parse_passages
from wellput.language.perturb.word_lists import corpus_names, lines_of, name_kinds

Severity: TypeAlias = Literal["base", "critical", "major", "minor", "harmless"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
DEGREES: dict[Severity, int] = {"minor": 1, "major": 2, "critical": 3}


class KindAndSeverity(NamedTuple):
    """A kind at a severity; as text `negation/critical`."""

    kind: str
    severity: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.severity}"

    @classmethod
    def of(cls, text: str) -> KindAndSeverity:
        kind, _, severity = text.rpartition("/")
        return cls(kind, severity)

    @property
    def is_harmless(self) -> bool:
        return self.severity == "harmless"


@dataclass(frozen=True)
class Perturbation:
    """A kind of change. `about` says what is done, as a part of a sentence."""

    name: str
    severities: tuple[Severity, ...]
    about: str
    change: Callable[..., Iterator[Edits]]

    @property
    def is_by_degree(self) -> bool:
        return len(self.severities) > 1

    @property
    def is_harmless(self) -> bool:
        return self.severities == ("harmless",)

    @property
    def variants(self) -> list[KindAndSeverity]:
        return [KindAndSeverity(self.name, severity) for severity in self.severities]

    def apply(
        self, severity: Severity, passage: Passage, given: Surroundings, rng: np.random.Generator
    ) -> str | None:
        """The changed text, at one of the places that allow the change; None if there is none."""
        change = self.change
        if self.is_by_degree:
            change = partial(change, degree=DEGREES[severity])
        found = list(change(passage, given, rng))
        for place in rng.permutation(len(found)):
            text = passage.edited(found[place])
            if text != passage.text:
                return text
        return None


MODULES = {"meaning": meaning, "damage": damage, "harmless": harmless, "numbers": numbers}


def _read_table() -> dict[str, Perturbation]:
    found = {}
    for name, severities, function, about in lines_of("perturbations.tsv"):
        module, _, change = function.partition(":")
        own = tuple(severity for severity in SEVERITIES if severity in severities.split())
        found[name] = Perturbation(name, own, about, getattr(MODULES[module], change))
    return found


PERTURBATIONS: Mapping[str, Perturbation] = _read_table()


def chosen_perturbations(names: Sequence[str]) -> list[Perturbation]:
    """The perturbations of these names, or all; `harmful` and `harmless` stand for groups."""
    groups = {
        "harmless": [p for p in PERTURBATIONS.values() if p.is_harmless],
        "harmful": [p for p in PERTURBATIONS.values() if not p.is_harmless],
    }
    found: dict[str, Perturbation] = {}
    for name in names or list(PERTURBATIONS):
        if name not in PERTURBATIONS and name not in groups:
            known = [*PERTURBATIONS, *groups]
            raise InputError(
                f"There is no perturbation {name!r}.{did_you_mean(name, known)} The perturbations are "
                f"{', '.join(known)}."
            )
        for one in groups.get(name) or [PERTURBATIONS[name]]:
            found[one.name] = one
    return list(found.values())


def perturbed(
    texts: Sequence[str],
    perturbations: Sequence[Perturbation],
    *,
    sources: Sequence[str] | None = None,
    seed: int = 12345,
    threads: int = 1,
    on_progress: Callable[[int], object] = lambda _: None,
) -> list[dict[KindAndSeverity, str]]:
    """For each text its changed versions, by variant; a variant that does not apply is missing.

    Each text, kind and severity has its own random numbers, so that leaving out one changes no other.

    >>> made = perturbed(["She did not pay 30 euros."], [PERTURBATIONS["negation"]])
    >>> {str(variant): text for variant, text in made[0].items()}
    {'negation/critical': 'She did pay 30 euros.'}
    """
    passages = parse_passages(texts, threads=threads)
    names, its_kinds = corpus_names(passages), name_kinds(passages)
    kinds = {name: number for number, name in enumerate(PERTURBATIONS)}
    found: list[dict[KindAndSeverity, str]] = []
    for place, passage in enumerate(passages):
        given = Surroundings(
            "" if sources is None else sources[place], _others(texts, place), names, its_kinds
        )
        own: dict[KindAndSeverity, str] = {}
        for one in perturbations if passage.text.strip() else ():
            for severity in one.severities:
                rng = np.random.default_rng(
                    [seed, place, kinds[one.name], SEVERITIES.index(severity)]
                )
                text = one.apply(severity, passage, given, rng)
                if text is not None:
                    own[KindAndSeverity(one.name, severity)] = text
        found.append(own)
        on_progress(1)
    return found


OTHERS_DRAWN_FROM = 20


def _others(texts: Sequence[str], place: int) -> list[str]:
    """Texts of other items: the next ones, from the beginning again after the last."""
    n = len(texts)
    return [
        text
        for step in range(1, min(n, OTHERS_DRAWN_FROM + 1))
        if (text := texts[(place + step) % n]) != texts[place]
    ]
