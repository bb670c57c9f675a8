"""`PERTURBATIONS`: every kind of change by name, with its severity and what it does; and `perturbed`,
which returns the changed versions of texts.

A *kind* of change is harmful or harmless. A harmful kind has a severity: `base` (the text becomes no
answer at all), `critical`, `major` or `minor`. A kind *by degree* (such as misspelling one, three or
six words) has several severities. A *variant* is one kind at one severity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from wellput.core.errors import InputError, did_you_mean
from wellput.language.perturb import contractions, damage, harmless, meaning, numbers
from wellput.language.perturb.passage import Edits, Passage, Surroundings, parse_passages
from wellput.language.perturb.word_lists import corpus_names, name_kinds, table_lines

Severity: TypeAlias = Literal["base", "critical", "major", "minor", "harmless"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
# Severity → degree, for kinds by degree.
DEGREES: dict[Severity, int] = {"minor": 1, "major": 2, "critical": 3}


class KindAndSeverity(NamedTuple):
    """A kind of change at a severity; written as `negation/critical`."""

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
    """A kind of change. `about` says what is done, in words that can follow the name. `change` is a
    function of one of `MODULES`."""

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
        self,
        severity: Severity,
        passage: Passage,
        surroundings: Surroundings,
        rng: np.random.Generator,
    ) -> str | None:
        """The text changed at one of the places that allow the change; None if there is no such
        place."""
        change = self.change
        if self.is_by_degree:
            change = partial(change, degree=DEGREES[severity])
        places = list(change(passage, surroundings, rng))
        for number in rng.permutation(len(places)):
            text = passage.edited(places[number])
            if text != passage.text:
                return text
        return None


MODULES = {
    "meaning": meaning,
    "damage": damage,
    "harmless": harmless,
    "contractions": contractions,
    "numbers": numbers,
}


def _read_table() -> dict[str, Perturbation]:
    perturbations = {}
    for name, severities, function, about in table_lines("perturbations.tsv"):
        module, _, change = function.partition(":")
        ordered = tuple(severity for severity in SEVERITIES if severity in severities.split())
        perturbations[name] = Perturbation(name, ordered, about, getattr(MODULES[module], change))
    return perturbations


PERTURBATIONS: Mapping[str, Perturbation] = _read_table()


def chosen_perturbations(names: Sequence[str]) -> list[Perturbation]:
    """The perturbations of these names, or all; `harmful` and `harmless` stand for groups."""
    groups = {
        "harmless": [p for p in PERTURBATIONS.values() if p.is_harmless],
        "harmful": [p for p in PERTURBATIONS.values() if not p.is_harmless],
    }
    chosen: dict[str, Perturbation] = {}
    for name in names or list(PERTURBATIONS):
        if name not in PERTURBATIONS and name not in groups:
            known = [*PERTURBATIONS, *groups]
            raise InputError(
                f"There is no perturbation {name!r}.{did_you_mean(name, known)} The perturbations are "
                f"{', '.join(known)}."
            )
        for perturbation in groups.get(name) or [PERTURBATIONS[name]]:
            chosen[perturbation.name] = perturbation
    return list(chosen.values())


def perturbed(
    texts: Sequence[str],
    perturbations: Sequence[Perturbation],
    *,
    sources: Sequence[str] | None = None,
    seed: int = 12345,
    threads: int = 1,
    on_progress: Callable[[int], object] = lambda _: None,
) -> list[dict[KindAndSeverity, str]]:
    """For each text its changed versions, by variant. A variant is missing where the text has no place
    for it. `sources` has the source of each text, which a change may copy.

    Each version is drawn with a random stream of its own, which depends on the text's place, the kind
    and the severity. So it stays the same if other kinds are left out.

    >>> versions = perturbed(["She did not pay 30 euros."], [PERTURBATIONS["negation"]])
    >>> {str(variant): text for variant, text in versions[0].items()}
    {'negation/critical': 'She did pay 30 euros.'}
    """
    passages = parse_passages(texts, threads=threads)
    names = corpus_names(passages)
    kinds_of_names = name_kinds(passages)
    numbers_of_kinds = {name: number for number, name in enumerate(PERTURBATIONS)}
    versions_by_text: list[dict[KindAndSeverity, str]] = []
    for place, passage in enumerate(passages):
        surroundings = Surroundings(
            "" if sources is None else sources[place], _others(texts, place), names, kinds_of_names
        )
        versions: dict[KindAndSeverity, str] = {}
        for perturbation in perturbations if passage.text.strip() else ():
            for severity in perturbation.severities:
                rng = np.random.default_rng(
                    [seed, place, numbers_of_kinds[perturbation.name], SEVERITIES.index(severity)]
                )
                text = perturbation.apply(severity, passage, surroundings, rng)
                if text is not None:
                    versions[KindAndSeverity(perturbation.name, severity)] = text
        versions_by_text.append(versions)
        on_progress(1)
    return versions_by_text


MAX_OTHER_TEXTS = 20
"""A change gets the texts of at most this many other items (`Surroundings.others`)."""


def _others(texts: Sequence[str], place: int) -> list[str]:
    """The texts of the items that follow this one; after the last item come the first ones."""
    n = len(texts)
    return [
        text
        for step in range(1, min(n, MAX_OTHER_TEXTS + 1))
        if (text := texts[(place + step) % n]) != texts[place]
    ]
