"""`QuestionData`: the judgments of one question as arrays, as a mixed model needs them.

Names of judges, items, documents and systems are replaced by codes, which are their places in a list
of names. Judges, items and documents each give two possible random effects: one of their own, and one
for their combination with a system. Documents come from the judgments' column `document`, or from the
evalset (`with_documents`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from wellput.agreement.panel import SHARE_WON_BY_A
from wellput.core.clusters import places_of
from wellput.core.errors import InputError, did_you_mean
from wellput.core.judgment import Judgment, Preference, without_lone_samples
from wellput.stats.mixed.contrasts import MIN_JUDGES_FOR_FREEDOM
from wellput.stats.mixed.equations import Codes, Floats, MixedDesign, crossed_codes, renumbered

COMPONENTS = ("judge", "item", "document", "judge:system", "item:system", "document:system")
"""The random effects that the model of a ranking may have."""
DOCUMENT_COLUMN = "document"
Covariates = Mapping[str, Mapping[tuple[str, str], float]]
"""For each covariate, by name, its value for each (system, item)."""


@dataclass(frozen=True, eq=False)
class JudgeGroups:
    """Groups of systems: no judge judged systems of two groups. `of_systems` has the group of each
    system, `n_judges` the number of judges of each group."""

    of_systems: Codes
    n_judges: Codes

    @property
    def n_groups(self) -> int:
        return len(self.n_judges)

    @property
    def freedom_of_systems(self) -> Floats:
        """The largest number of degrees of freedom of each system's interval: one less than the number
        of judges of its group, if there are several groups and the judges are few; else no limit."""
        judges = self.n_judges[self.of_systems]
        is_limited = (self.n_groups > 1) & (judges > 1) & (judges < MIN_JUDGES_FOR_FREEDOM)
        return np.where(is_limited, judges - 1.0, np.inf)


@dataclass(frozen=True, eq=False)
class QuestionData:
    """The judgments of one question.

    `values` has a number for each judgment: the rating or, for a choice, 1 if the first system won, 0
    if the second won, ½ for a tie. `design` has the systems and all possible random effects
    (`COMPONENTS`). `judges`, `items` and `documents` have a code for each judgment; the codes of
    judges are places in `judge_names`.
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
    """A code for the sample of each judgment (one of several answers of the system to the item); None
    if the judgments do not name samples."""

    @property
    def n_judges(self) -> int:
        return len(self.judge_names)

    @property
    def n_items(self) -> int:
        return int(self.items.max()) + 1

    @property
    def n_documents(self) -> int | None:
        """The number of documents; None if no item belongs to a document."""
        return None if self.documents is None else int(self.documents.max()) + 1

    @property
    def n_repeated(self) -> int:
        """The number of judgments of something that the same judge had judged before."""
        systems = np.sort(self.design.systems.reshape(len(self.values), -1), axis=1)
        samples = () if self.samples is None else (self.samples,)
        rows = np.column_stack([self.judges, self.items, systems, *samples])
        return len(rows) - len(np.unique(rows, axis=0))

    @property
    def has_own_judges(self) -> bool:
        """Whether every system has exactly one judge, and every judge only one system."""
        if self.are_choices or self.n_judges < 2:
            return False
        n_pairs = np.unique(np.stack([self.design.systems, self.judges]), axis=1).shape[1]
        return bool(n_pairs == self.n_judges == len(self.system_names))

    @cached_property
    def judge_groups(self) -> JudgeGroups:
        """The groups of systems without common judges. Two systems are in one group if a judge judged
        both, or if judges connect them through other systems. Choices are one group: a judge who
        compares two systems is equally severe to both."""
        n = len(self.system_names)
        if self.are_choices:
            return JudgeGroups(np.zeros(n, np.int64), np.array([self.n_judges]))
        # The nodes are the systems, and then the judges.
        system_judge_graph = csr_matrix(
            (np.ones(len(self.values)), (self.design.systems, self.judges + n)),
            shape=(n + self.n_judges,) * 2,
        )
        _, labels = connected_components(system_judge_graph, directed=False)
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
        """Whether the judgments are pairwise choices."""
        return self.design.is_choice

    @cached_property
    def are_yes_no(self) -> bool:
        """Whether every answer is 1 (yes) or 0 (no)."""
        return not self.are_choices and bool(np.isin(self.values, (0.0, 1.0)).all())

    @cached_property
    def counts(self) -> list[int]:
        """The number of judgments of each system."""
        counts = np.bincount(self.design.systems.ravel(), minlength=len(self.system_names))
        return [int(count) for count in counts]

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
        """The same data with only these random effects in the design."""
        return replace(self, design=self.design.only(tuple(names)))

    def without_judge(self, judge: int) -> QuestionData | None:
        """The data without one judge; None if a system would have no judgments left."""
        is_kept = self.judges != judge
        if len(np.unique(self.design.systems[is_kept])) < len(self.system_names):
            return None
        names = tuple(name for place, name in enumerate(self.judge_names) if place != judge)
        documents = None if self.documents is None else renumbered(self.documents[is_kept])
        return replace(
            self,
            values=self.values[is_kept],
            design=self.design.rows(is_kept),
            judge_names=names,
            judges=renumbered(self.judges[is_kept]),
            items=renumbered(self.items[is_kept]),
            documents=documents,
            samples=None if self.samples is None else self.samples[is_kept],
        )


def with_documents(
    answers: Sequence[Judgment] | Sequence[Preference], documents: Mapping[str, str] | None
) -> list[Judgment] | list[Preference]:
    """The judgments, each with the document of its item. It comes from the evalset; if the evalset
    names none for the item, a column `document` of the judgments is used."""
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
    """The data of one question. Its judgments are all ratings or all choices."""
    systems_and_values = [_systems_and_value(answer) for answer in answers]
    names, systems = _numbered([name for judged, _ in systems_and_values for name in judged])
    are_choices = len(systems_and_values[0][0]) == 2
    if are_choices:
        systems = systems.reshape(-1, 2)
    judge_names, judges = _numbered([answer.judge for answer in answers])
    _, items = _numbered([answer.item for answer in answers])
    documents = _documents(answers)
    codes_by_kind = {"judge": judges, "item": items} | (
        {} if documents is None else {"document": documents}
    )
    factors: dict[str, Codes] = {}
    for name, codes in codes_by_kind.items():
        row_codes = np.stack([codes, codes], axis=1) if are_choices else codes
        factors[name] = row_codes
        factors[f"{name}:system"] = crossed_codes(row_codes, systems)
    columns = [_covariate(name, table, answers) for name, table in (covariates or {}).items()]
    design = MixedDesign(systems, factors, np.array(columns, np.float64).T)
    values = np.array([value for _, value in systems_and_values])
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
        return (answer.system_a, answer.system_b), SHARE_WON_BY_A[answer.choice]
    return (answer.system,), answer.number


def _documents(answers: Sequence[Judgment | Preference]) -> Codes | None:
    """A code for each judgment's document; an item without a document is taken as a document. None if
    no item has a document."""
    if not any(answer.extra.get(DOCUMENT_COLUMN) for answer in answers):
        return None
    names = []
    for answer in answers:
        document = answer.extra.get(DOCUMENT_COLUMN)
        names.append(f"document {document}" if document else f"item {answer.item}")
    return _numbered(names)[1]


def _samples(answers: Sequence[Judgment | Preference]) -> Codes | None:
    samples = [answer.sample for answer in without_lone_samples(answers)]
    return _numbered(samples)[1] if any(samples) else None


def _covariate(
    name: str, table: Mapping[tuple[str, str], float], answers: Sequence[Judgment | Preference]
) -> Floats:
    """The values of one covariate for each judgment, in standard deviations from its mean; for
    choices, the first output's value minus the second's."""
    if not table:
        raise InputError(f"covariates: {name} has no value for any output.")
    all_values = np.array(list(table.values()))
    standard_deviation = float(all_values.std())
    if not standard_deviation > 0:
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
        [
            (table[system, answer.item] - all_values.mean()) / standard_deviation
            for system in systems
        ]
        for answer, systems in ((answer, _systems_and_value(answer)[0]) for answer in answers)
    ]
    return np.array([pair[0] - pair[1] if len(pair) == 2 else pair[0] for pair in values])


def _numbered(names: Sequence[str]) -> tuple[tuple[str, ...], Codes]:
    """The different names in order of first appearance, and the place of each entry among them."""
    return tuple(dict.fromkeys(names)), places_of(names).astype(np.int64)


def check_components(names: Sequence[str]) -> tuple[str, ...]:
    """The random effects that were asked for. Raises InputError for one that does not exist."""
    for name in names:
        if name not in COMPONENTS:
            raise InputError(
                f"random={name!r} is none of {', '.join(COMPONENTS)}.{did_you_mean(name, COMPONENTS)}"
            )
    return tuple(dict.fromkeys(names))
