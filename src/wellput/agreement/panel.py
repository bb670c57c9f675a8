"""`Panel`: all ratings of one question as an array of judges × systems × items. Their means make a
`ScoreTable`, like the scores of a metric.

A value of the array is NaN where a judge gave no rating; if a judge rated an output twice, it is the
mean. Each judge's ratings are normalized before ratings are averaged: `z` (mean 0, standard deviation
1), `unit` (lowest 0, highest 1), `rank` (average ranks from 0 to 1), or `none`. Answers yes and no are
never normalized.

If judges rated several samples of one output, its rating is the mean over samples, to compare it with
metrics. Judges are compared with each other on the panel `by_sample`, in which each sample is a trial.

Pairwise choices are ratings, too: 1 for the output chosen, 0 for the other, ½ each for a tie. Their
mean is the share of choices that an output won, where a tie is half a win.

Judgments must name systems and items of their evalset (`KnownNames`); other judgments are refused, with
an error message that says what to type.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import nsmallest
from typing import Literal

import numpy as np

from wellput.core.errors import InputError, counted, did_you_mean
from wellput.core.estimates import ScoreTable, present_means, ratios, with_equal_ties
from wellput.core.judgment import (
    Judgment,
    PairwiseChoice,
    Preference,
    without_lone_samples,
)
from wellput.core.metric import Floats
from wellput.core.plain_block import PlainBlock, ids_of
from wellput.core.source import EvalSource
from wellput.core.work import OnProgress, ignore_progress

AnyJudgment = Judgment | Preference
UNKNOWN_NAME_REASON = "not in the evalset"
MAX_NAMES_WITH_ADVICE = 20
"""At most this many unknown names get a suggestion, because each is compared with all known names."""
MAX_CELLS = 200_000_000
"""The largest number of judges × systems × items of one question. An array of this size takes 1.6 GB of
memory, and the analysis makes several."""


@dataclass(frozen=True)
class KnownNames:
    """The systems and items of an evalset, or of a part of it; `documents` has the document of each
    item that has one."""

    systems: Collection[str]
    items: Collection[str]
    documents: Mapping[str, str] = field(default_factory=dict)


def names_of(source: EvalSource, *, on_progress: OnProgress = ignore_progress) -> KnownNames:
    """The names of systems, items and documents, from one pass over the items, before scores are
    computed."""
    systems: dict[str, None] = {}
    items: set[str] = set()
    documents: dict[str, str] = {}
    for block in source.blocks():
        items.update(ids_of(block))
        if isinstance(block, PlainBlock):  # it has columns, not items
            systems |= dict.fromkeys(block.outputs)
            ids_and_documents = zip(block.ids, block.documents or (), strict=False)
            documents |= {item: document for item, document in ids_and_documents if document}
        else:
            for item in block:
                systems |= dict.fromkeys(item.outputs)
                if item.document:
                    documents[item.id] = item.document
        on_progress(len(block))
    return KnownNames(systems, items, documents)


def systems_of(answer: AnyJudgment) -> tuple[str, ...]:
    """The systems that an answer is about: one, or two for a choice."""
    if isinstance(answer, Preference):
        return answer.system_a, answer.system_b
    return (answer.system,)


def refuse_unknown(answers: Iterable[AnyJudgment], known: KnownNames) -> None:
    """Raises InputError for systems and items that the evalset does not have. The message shows the
    option exclude= that leaves their judgments out. If no name is known, it shows some names of the
    judgments and of the evalset instead."""
    systems: dict[str, int] = {}
    items: dict[str, int] = {}
    for answer in answers:
        for name in systems_of(answer):
            systems[name] = systems.get(name, 0) + 1
        items[answer.item] = items.get(answer.item, 0) + 1
    problems = _unknown("system", systems, known.systems) + _unknown("item", items, known.items)
    if problems:
        raise InputError.collect(
            "The judgments name systems or items that the evalset does not have:", problems
        )


def _unknown(kind: str, counts: Mapping[str, int], known: Collection[str]) -> list[str]:
    """A line of the error message for each unknown name, or one line for all if no name is known."""
    unknown = {name: n for name, n in counts.items() if name not in known}
    if len(unknown) == len(counts) > 1:
        return [
            f"none of the {len(counts)} {kind}s is in the evalset: the judgments have "
            f"{_examples(counts)}; the evalset has {_examples(known)}. Write them as in the evalset."
        ]
    names: Sequence[str] = list(known) if kind == "system" else ()
    return [
        f"{kind} {name!r} ({counted(n, 'judgment')})."
        f"{did_you_mean(name, names) if place < MAX_NAMES_WITH_ADVICE else ''} "
        "Write it as in the evalset, or leave it out: "
        f"exclude={f'{kind}={name}: {UNKNOWN_NAME_REASON}'!r}"
        for place, (name, n) in enumerate(unknown.items())
    ]


def _examples(names: Collection[str]) -> str:
    """The two shortest names, equally long ones in alphabetical order: `'1', '2'`."""
    first = nsmallest(2, names, key=lambda name: (len(name), name))
    return ", ".join(map(repr, first)) or "none"


SHARE_WON_BY_A: dict[PairwiseChoice, float] = {"a": 1.0, "tie": 0.5, "b": 0.0}
"""The share of a choice that goes to `system_a`."""


def selection_ratings(preferences: Iterable[Preference]) -> list[Judgment]:
    """Two ratings for each choice.

    >>> choice = Preference("J1", "7", "A", "B", "better", "a")
    >>> [(rating.system, rating.value) for rating in selection_ratings([choice])]
    [('A', 1.0), ('B', 0.0)]
    """
    return [
        Judgment(choice.judge, choice.item, system, choice.question, value, choice.extra)
        for choice in preferences
        for system, value in (
            (choice.system_a, SHARE_WON_BY_A[choice.choice]),
            (choice.system_b, 1 - SHARE_WON_BY_A[choice.choice]),
        )
    ]


Normalization = Literal["none", "z", "unit", "rank"]


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Judgments that are left out, and why: those that have this question, judge, system and item,
    where None means all. `n` is their number. They are not in the results; charts still show them."""

    question: str
    reason: str
    judge: str | None = None
    system: str | None = None
    item: str | None = None
    n: int = 0


@dataclass(frozen=True, eq=False)
class Panel:
    """The ratings of one question: `ratings` has shape (judges, systems, items), NaN where there is
    none."""

    question: str
    judges: tuple[str, ...]
    systems: tuple[str, ...]
    items: tuple[str, ...]
    ratings: Floats
    normalization: Normalization = "none"
    excluded: tuple[Exclusion, ...] = ()
    note: str = ""
    """Why judges were not put on a common scale, or what a common scale loses."""
    is_yes_no: bool = False
    """Whether every answer is 1 (yes) or 0 (no)."""
    samples: Panel | None = None
    """The same ratings, if several samples of an output were rated: `items` has an item several times,
    once for each sample."""

    @property
    def by_sample(self) -> Panel:
        """The panel in which each rated sample of an output is a trial, to compare judges."""
        return self.samples or self

    @property
    def counts(self) -> Floats:
        """How many ratings each judge gave to each system, judges × systems."""
        counts: Floats = (~np.isnan(self.ratings)).sum(axis=2).astype(np.float64)
        return counts

    @property
    def n_judges(self) -> int:
        """How many judges have a rating."""
        return int(self.counts.any(axis=1).sum())

    @property
    def units(self) -> Floats:
        """Judges × trials; trials that nobody rated are left out. To measure the agreement of judges,
        take the units of `by_sample`."""
        flat = self.ratings.reshape(len(self.judges), -1)
        rated = ~np.isnan(flat).all(axis=0)
        return flat if rated.all() else flat[:, rated]

    def in_order_of_names(self) -> Panel:
        """The panel with judges, systems and items sorted by name, so that what is drawn at random does
        not depend on the order in which they were given."""
        names = (self.judges, self.systems, self.items)
        orders = [sorted(range(len(own)), key=own.__getitem__) for own in names]
        judges, systems, items = (
            tuple(own[place] for place in order) for own, order in zip(names, orders, strict=True)
        )
        return replace(
            self, judges=judges, systems=systems, items=items, ratings=self.ratings[np.ix_(*orders)]
        )

    @property
    def n_items(self) -> int:
        """How many items have a rating."""
        return int((~np.isnan(self.ratings)).any(axis=(0, 1)).sum())

    @property
    def means(self) -> Floats:
        """The mean rating of each cell, systems × items, NaN where nobody rated it. The order of the
        judges changes means by rounding only; ties stay ties."""
        means = present_means(self.ratings, axis=0)
        return with_equal_ties(means.reshape(-1)).reshape(means.shape)

    def table(self) -> ScoreTable:
        """The panel as a table of scores. Its statistics are (mean rating, 1) for each judged cell."""
        means = self.means
        present = ~np.isnan(means)
        statistics = np.stack([np.where(present, means, 0.0), present.astype(np.float64)], axis=-1)
        return ScoreTable(
            scorer=self.question,
            signature=f"judges:{self.n_judges}|normalize:{self.normalization}",
            systems=self.systems,
            items=self.items,
            statistics=statistics,
            present=present,
            aggregate=mean_of,
            segment=mean_of,
        )

    def refuse_empty(self) -> None:
        """Raises InputError where no rating is left, with the reasons."""
        if np.isnan(self.ratings).all():
            raise InputError.collect(
                f"No rating of {self.question!r} is left:",
                [f"judge {e.judge}: {e.reason}" if e.judge else e.reason for e in self.excluded],
                "Use normalize='none', or exclude less.",
            )

    def has(self, exclusion: Exclusion) -> bool:
        """Whether the panel has the judge, system and item that the exclusion names."""
        return all(
            name is None or name in names
            for name, names in (
                (exclusion.judge, self.judges),
                (exclusion.system, self.systems),
                (exclusion.item, self.items),
            )
        )

    def without(self, exclusion: Exclusion) -> Panel:
        """The panel without the excluded ratings; `excluded` records the exclusion."""
        ratings = self.ratings.copy()
        place = np.ix_(
            _places("judge", exclusion.judge, self.judges),
            _places("system", exclusion.system, self.systems),
            _places("item", exclusion.item, self.items),
        )
        n = int((~np.isnan(ratings[place])).sum())
        ratings[place] = np.nan
        return replace(
            self,
            ratings=ratings,
            excluded=(*self.excluded, replace(exclusion, n=n)),
            samples=self.samples and self.samples.without(exclusion),
        )


def _places(kind: str, name: str | None, names: Sequence[str]) -> list[int]:
    """The places of a name, or all if it is None."""
    if name is not None and name not in names:
        raise InputError(f"There is no {kind} {name!r} to exclude.{did_you_mean(name, names)}")
    return [place for place, own in enumerate(names) if name in (None, own)]


def mean_of(statistics: Floats) -> Floats:
    """Means from (sum, count) in the last axis; NaN where the count is 0."""
    return ratios(statistics[..., 0], statistics[..., 1])


def panels(
    judgments: Iterable[Judgment], systems: Sequence[str], items: Sequence[str]
) -> dict[str, Panel]:
    """One panel per question, over the systems and items of an evalset.

    Raises InputError for judgments of unknown systems or items, and names them all.
    """
    system_at = {system: place for place, system in enumerate(systems)}
    item_at = {item: place for place, item in enumerate(items)}
    judgments = without_lone_samples(list(judgments))
    refuse_unknown(judgments, KnownNames(system_at, item_at))
    by_question: dict[str, list[Judgment]] = {}
    for judgment in judgments:
        by_question.setdefault(judgment.question, []).append(judgment)
    if not by_question:
        raise InputError("There are no judgments.")
    return {
        question: _panel(question, answers, system_at, item_at)
        for question, answers in by_question.items()
    }


def _panel(
    question: str,
    answers: Sequence[Judgment],
    system_at: Mapping[str, int],
    item_at: Mapping[str, int],
) -> Panel:
    """The ratings of one question as an array. `system_at` and `item_at` are the places of names in
    it."""
    places = [item_at[answer.item] for answer in answers]
    panel = _panel_of_places(question, answers, system_at, tuple(item_at), places)
    samples_of: dict[tuple[str, str], set[str]] = {}
    for answer in answers:
        samples_of.setdefault((answer.item, answer.system), set()).add(answer.sample)
    if all(len(samples) == 1 for samples in samples_of.values()):
        return panel
    place_of = {output: sorted(samples).index for output, samples in samples_of.items()}
    sizes = dict.fromkeys(item_at, 1)
    for (item, _), samples in samples_of.items():
        sizes[item] = max(sizes[item], len(samples))
    items = tuple(item for item, size in sizes.items() for _ in range(size))
    starts = dict(zip(items[::-1], range(len(items) - 1, -1, -1), strict=True))
    places = [
        starts[answer.item] + place_of[answer.item, answer.system](answer.sample)
        for answer in answers
    ]
    return replace(panel, samples=_panel_of_places(question, answers, system_at, items, places))


def _panel_of_places(
    question: str,
    answers: Sequence[Judgment],
    system_at: Mapping[str, int],
    items: tuple[str, ...],
    places: Sequence[int],
) -> Panel:
    """The panel in which each answer has its place among the `items`."""
    judges = tuple(dict.fromkeys(answer.judge for answer in answers))
    judge_at = {judge: index for index, judge in enumerate(judges)}
    shape = (len(judges), len(system_at), len(items))
    refuse_too_many_cells(question, *shape)
    _, n_systems, n_items = shape
    cells = np.array(
        [
            (judge_at[answer.judge] * n_systems + system_at[answer.system]) * n_items + place
            for answer, place in zip(answers, places, strict=True)
        ]
    )
    # With many judges who rated few outputs each, most cells are empty: only rated cells are summed.
    rated, index = np.unique(cells, return_inverse=True)
    sums = np.bincount(index, [answer.number for answer in answers])
    ratings = np.full(shape, np.nan)
    ratings.reshape(-1)[rated] = sums / np.bincount(index)
    return Panel(
        question,
        judges,
        tuple(system_at),
        items,
        ratings,
        is_yes_no=all(answer.value in (0, 1) for answer in answers),
    )


def refuse_too_many_cells(question: str, judges: int, systems: int, items: int) -> None:
    """Raises InputError where the table of ratings would not fit into memory."""
    cells = judges * systems * items
    if cells > MAX_CELLS:
        raise InputError(
            f"{question!r} has {counted(judges, 'judge')}; with {counted(systems, 'system')} and "
            f"{counted(items, 'item')} this is a table of {cells:,} cells, and at most {MAX_CELLS:,} "
            "are analyzed. Take an evalset with only the items that were judged, or leave out judges "
            "with few ratings."
        )


def normalized(panel: Panel, normalization: Normalization) -> Panel:
    """The panel with every judge's ratings on a common scale.

    `z`, `unit` and `rank` need ratings that differ: a judge whose ratings are all equal is left out,
    and `excluded` says so. Yes and no mean the same to every judge, so they stay 1 and 0.
    """
    if normalization == "none" or panel.is_yes_no:
        return panel
    ratings = panel.ratings.copy()
    excluded = list(panel.excluded)
    for place, judge in enumerate(panel.judges):
        own_ratings = ratings[place][~np.isnan(ratings[place])]
        if not len(own_ratings):
            continue
        if np.ptp(own_ratings) == 0:
            reason = (
                f"every rating is {own_ratings[0]:g}: {normalization} needs ratings that differ"
            )
            excluded.append(Exclusion(panel.question, reason, judge=judge, n=len(own_ratings)))
            ratings[place] = np.nan
        else:
            ratings[place] = _on_common_scale(ratings[place], normalization)
    samples = panel.samples
    if samples is not None:
        samples = normalized(samples, normalization)
        # A judge who is left out here is left out there, too.
        is_kept = ~np.isnan(ratings).all(axis=(1, 2), keepdims=True)
        samples = replace(samples, ratings=np.where(is_kept, samples.ratings, np.nan))
    panel = replace(panel, ratings=ratings, samples=samples)
    return replace(panel, normalization=normalization, excluded=tuple(excluded))


def _on_common_scale(ratings: Floats, normalization: Normalization) -> Floats:
    """One judge's ratings, normalized; NaN stays NaN."""
    is_rated = ~np.isnan(ratings)
    values = ratings[is_rated]
    if normalization == "z":
        # The sample standard deviation: these ratings are a sample of all that a judge might give.
        values = (values - values.mean()) / values.std(ddof=1)
    elif normalization == "unit":
        values = (values - values.min()) / np.ptp(values)
    else:
        # Ranks count from 0; equal values get the mean of their ranks.
        order = np.argsort(values, kind="stable")
        _, first, group, sizes = np.unique(
            values[order], return_index=True, return_inverse=True, return_counts=True
        )
        ranks = np.empty(len(values))
        ranks[order] = (first + (sizes - 1) / 2)[group]
        values = ranks / (len(values) - 1)
    result = np.full(ratings.shape, np.nan)
    result[is_rated] = values
    return result
