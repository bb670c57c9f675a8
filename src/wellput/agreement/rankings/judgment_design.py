"""Judgments of one question as a mixed model takes them: `QuestionData`.

Names become numbers, best for arrays; a judge, an item and a document each give two possible random
effects, one of their own and one with a system. Documents come from the judgments' column `document`,
or from the evalset (`with_documents`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from wellput.core.clusters import places_of
from wellput.core.errors import InputError, did_you_mean
from wellput.core.judgment import SAMPLE_COLUMN, Judgment, Preference
from wellput.stats.mixed.contrasts import MIN_JUDGES_FOR_FREEDOM
from wellput.stats.mixed.equations import Codes, Floats, MixedDesign, crossed_codes, renumbered

COMPONENTS = ("judge", "item", "document", "judge:system", "item:system", "document:system")
"""The random effects that a ranking knows."""
DOCUMENT_COLUMN = "document"
CHOICE_VALUES = {"a": 1.0, "b": 0.0, "tie": 0.5}
Covariates = Mapping[str, Mapping[tuple[str, str], float]]
"""Name to the value of each (system, item)."""


@dataclass(frozen=True, eq=False)
class JudgeGroups:
    """The group of each system, and the number of judges of each group."""

    of_systems: Codes
    n_judges: Codes

    @property
    def freedom_of_systems(self) -> Floats:
        """The most degrees of freedom that the interval of a system has: one less than the judges of
        its group where there are several groups and these are few."""
        judges = self.n_judges[self.of_systems]
        is_limited = (len(self.n_judges) > 1) & (judges > 1) & (judges < MIN_JUDGES_FOR_FREEDOM)
        return np.where(is_limited, judges - 1.0, np.inf)


@dataclass(frozen=True, eq=False)
class QuestionData:
    """The judgments of one question.

    `values` are ratings, or of choices 1 where the first system won, 0 where the second did, ½ for a
    tie. `design` has all six components; `judges`, `items` and `documents` have a code for each
    judgment. Codes are places in the tuples of names.
    """

    question: str
    values: Floats
    design: MixedDesign
    system_names: tuple[str, ...]
    judge_names: tuple[str, ...]
    judges: Codes
    items: Codes
    documents: Codes | None
    covariate_names: tuple[str, ...] = ()
    samples: Codes | None = None
    """Which sample of the output was judged, where the judgments say so."""

    @property
    def n_judges(self) -> int:
        return len(self.judge_names)

    @property
    def n_items(self) -> int:
        return int(self.items.max()) + 1

    @property
    def n_documents(self) -> int | None:
        """None where no item belongs to a document."""
        return None if self.documents is None else int(self.documents.max()) + 1

    @property
    def n_repeated(self) -> int:
        """Judgments of what the same judge had judged before."""
        systems = np.sort(self.design.systems.reshape(len(self.values), -1), axis=1)
        samples = () if self.samples is None else (self.samples,)
        rows = np.column_stack([self.judges, self.items, systems, *samples])
        return len(rows) - len(np.unique(rows, axis=0))

    @property
    def has_own_judges(self) -> bool:
        """Whether every system was judged by one judge alone, each by another one."""
        if self.are_choices or self.n_judges < 2:
            return False
        met = np.unique(np.stack([self.design.systems, self.judges]), axis=1).shape[1]
        return bool(met == self.n_judges == len(self.system_names))

    @cached_property
    def judge_groups(self) -> JudgeGroups:
        """Systems of different groups have no judge in common, not even over third systems. Of choices
        there is one group: a judge who compares two systems is equally severe to both."""
        n = len(self.system_names)
        if self.are_choices:
            return JudgeGroups(np.zeros(n, np.int64), np.array([self.n_judges]))
        met = csr_matrix(
            (np.ones(len(self.values)), (self.design.systems, self.judges + n)),
            shape=(n + self.n_judges,) * 2,
        )
        _, labels = connected_components(met, directed=False)
        return JudgeGroups(labels[:n].astype(np.int64), np.bincount(labels[n:]))

    @property
    def systems_of_one_judge(self) -> list[str]:
        """The systems that only one judge of several judged."""
        if self.n_judges < 2:
            return []
        systems = self.design.systems.reshape(len(self.values), -1)
        pairs = {
            (system, judge)
            for row, judge in zip(systems.tolist(), self.judges.tolist(), strict=True)
            for system in row
        }
        judges = np.bincount([system for system, _ in pairs], minlength=len(self.system_names))
        return [name for name, n in zip(self.system_names, judges, strict=True) if n == 1]

    @property
    def are_choices(self) -> bool:
        return self.design.is_choice

    @cached_property
    def are_yes_no(self) -> bool:
        """Whether every answer is 1 (yes) or 0 (no)."""
        return not self.are_choices and bool(np.isin(self.values, (0.0, 1.0)).all())

    @cached_property
    def counts(self) -> list[int]:
        """Judgments of each system."""
        found = np.bincount(self.design.systems.ravel(), minlength=len(self.system_names))
        return [int(count) for count in found]

    @cached_property
    def raw_means(self) -> Floats:
        """Each system's mean rating, or its share of the choices in which it was offered."""
        n = len(self.system_names)
        systems = self.design.systems
        if not self.are_choices:
            return np.bincount(systems, self.values, n) / np.bincount(systems, minlength=n)
        won = np.bincount(systems[:, 0], self.values, n) + np.bincount(
            systems[:, 1], 1 - self.values, n
        )
        return np.asarray(won / np.bincount(systems.ravel(), minlength=n))

    def with_factors(self, names: Sequence[str]) -> QuestionData:
        """With these random effects only."""
        return replace(self, design=self.design.only(tuple(names)))

    def without_judge(self, judge: int) -> QuestionData | None:
        """Without one judge; None where a system would be left without judgments."""
        kept = self.judges != judge
        if len(np.unique(self.design.systems[kept])) < len(self.system_names):
            return None
        names = tuple(name for place, name in enumerate(self.judge_names) if place != judge)
        documents = None if self.documents is None else renumbered(self.documents[kept])
        return replace(
            self,
            values=self.values[kept],
            design=self.design.rows(kept),
            judge_names=names,
            judges=renumbered(self.judges[kept]),
            items=renumbered(self.items[kept]),
            documents=documents,
            samples=None if self.samples is None else self.samples[kept],
        )


def with_documents(
    answers: Sequence[Judgment] | Sequence[Preference], documents: Mapping[str, str] | None
) -> list[Judgment] | list[Preference]:
    """The judgments with the document that the evalset names for their item. For items without one, a
    column of the judgments counts."""
    return cast(
        "list[Judgment]",
        [
            replace(answer, extra={**answer.extra, DOCUMENT_COLUMN: document})
            if (document := (documents or {}).get(answer.item))
            else answer
            for answer in answers
        ],
    )


def question_data(
    question: str,
    answers: Sequence[Judgment] | Sequence[Preference],
    *,
    covariates: Covariates | None = None,
) -> QuestionData:
    """The judgments of one question, all of one kind."""
    chosen = [(answer, _systems_and_value(answer)) for answer in answers]
    names, systems = _numbered([system for _, (pair, _) in chosen for system in pair])
    width = len(chosen[0][1][0])
    if width == 2:
        systems = systems.reshape(-1, 2)
    judge_names, judges = _numbered([answer.judge for answer, _ in chosen])
    _, items = _numbered([answer.item for answer, _ in chosen])
    documents = _documents([answer for answer, _ in chosen])
    mains = {"judge": judges, "item": items} | (
        {} if documents is None else {"document": documents}
    )
    factors: dict[str, Codes] = {}
    for name, codes in mains.items():
        own = codes if width == 1 else np.stack([codes, codes], axis=1)
        factors[name] = own
        factors[f"{name}:system"] = crossed_codes(own, systems)
    columns = [
        _covariate(name, table, [answer for answer, _ in chosen])
        for name, table in (covariates or {}).items()
    ]
    design = MixedDesign(systems, factors, np.array(columns, np.float64).T)
    values = np.array([value for _, (_, value) in chosen])
    return QuestionData(
        question,
        values,
        design,
        names,
        judge_names,
        judges,
        items,
        documents,
        tuple(covariates or ()),
        _samples(answers),
    )


def _systems_and_value(answer: Judgment | Preference) -> tuple[tuple[str, ...], float]:
    if isinstance(answer, Preference):
        return (answer.system_a, answer.system_b), CHOICE_VALUES[answer.choice]
    return (answer.system,), answer.number


def _documents(answers: Sequence[Judgment | Preference]) -> Codes | None:
    """A code for each judgment's document; an item without one is a document of its own."""
    if not any(answer.extra.get(DOCUMENT_COLUMN) for answer in answers):
        return None
    names = []
    for answer in answers:
        document = answer.extra.get(DOCUMENT_COLUMN)
        names.append(f"document {document}" if document else f"item {answer.item}")
    return _numbered(names)[1]


def _samples(answers: Sequence[Judgment | Preference]) -> Codes | None:
    named = [answer.extra.get(SAMPLE_COLUMN, "") for answer in answers]
    return _numbered(named)[1] if any(named) else None


def _covariate(
    name: str, table: Mapping[tuple[str, str], float], answers: Sequence[Judgment | Preference]
) -> Floats:
    """One column, in standard deviations; of choices the difference of the two outputs."""
    every = np.array(list(table.values()))
    spread = float(every.std())
    if not spread > 0:
        raise InputError(f"covariates: {name} is the same for all outputs, so it explains nothing.")
    missing = {
        (system, answer.item): None
        for answer in answers
        for system in _systems_and_value(answer)[0]
        if (system, answer.item) not in table
    }
    if missing:
        system, item = next(iter(missing))
        raise InputError(
            f"covariates: {name} has no value for {len(missing):,} of the judged outputs, the first "
            f"is system {system!r}, item {item!r}."
        )
    values = [
        [(table[system, answer.item] - every.mean()) / spread for system in systems]
        for answer, systems in ((answer, _systems_and_value(answer)[0]) for answer in answers)
    ]
    return np.array([one[0] - one[1] if len(one) == 2 else one[0] for one in values])


def _numbered(names: Sequence[str]) -> tuple[tuple[str, ...], Codes]:
    """The different names in order of first appearance, and the place of each entry among them."""
    return tuple(dict.fromkeys(names)), places_of(names).astype(np.int64)


def check_components(names: Sequence[str]) -> tuple[str, ...]:
    """The random effects asked for; `InputError` for one that does not exist."""
    for name in names:
        if name not in COMPONENTS:
            raise InputError(
                f"random={name!r} is none of {', '.join(COMPONENTS)}.{did_you_mean(name, COMPONENTS)}"
            )
    return tuple(dict.fromkeys(names))
