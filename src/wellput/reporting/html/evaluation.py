"""`Evaluation`, the data of a report; `evaluate_for_page` makes it from items and judgments.

`ShownItems`: the items that a report shows, and facts about all items.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from wellput.agreement.analysis import AgreementOptions, agree, agree_by
from wellput.agreement.exclusions import with_unknown_excluded, without_excluded
from wellput.agreement.judged_samples import with_judged_samples
from wellput.agreement.machines.comparison import MachineComparison
from wellput.agreement.panel import KnownNames
from wellput.agreement.preferences import agree_on_preferences
from wellput.agreement.probe_results import ProbeResult
from wellput.agreement.result import AgreementResult
from wellput.agreement.span_level import with_spans
from wellput.core.estimates import ScoreTable
from wellput.core.evalset import Item
from wellput.core.judgment import Judgment, Preference
from wellput.core.metric import Metric, MetricSpec
from wellput.core.source import EvalSource
from wellput.core.work import OnPhase, OnProgress, ignore_phase, ignore_progress
from wellput.engine.result import ScoreResult
from wellput.engine.score import score_source
from wellput.engine.scoring_plan import DEFAULT_PAIRED_TEST, Inference, Resampling, ScoringPlan
from wellput.engine.slices import slice_masks
from wellput.metrics.logged import Logged
from wellput.metrics.registry import create_all, expand_logged
from wellput.reporting.html.answer import ReportAnswer, answers_of, system_order
from wellput.reporting.html.people import People, people_of_choices, people_of_ratings

if TYPE_CHECKING:
    from wellput.core.output_kinds import OutputKind


@dataclass(frozen=True)
class ShownItems:
    """Items in file order with their `places` among all `total` items. `has_references`: every system
    has outputs with references. `has_trees`: each item with references has a syntax tree of at least
    one of them. `kind` is the kind of the outputs, None if all are text. `found` has those ids that
    `draw_shown_items` was to draw first and that exist."""

    items: tuple[Item, ...]
    places: tuple[int, ...]
    total: int
    systems: tuple[str, ...]
    has_references: bool
    has_trees: bool
    kind: OutputKind | None
    found: frozenset[str] = frozenset()

    @property
    def is_whole(self) -> bool:
        """Whether these are all items."""
        return len(self.items) == self.total


def draw_shown_items(
    source: EvalSource,
    *,
    size: int,
    seed: int,
    first: Collection[str] = (),
    on_progress: OnProgress = ignore_progress,
) -> ShownItems:
    """At most `size` items drawn at random; items whose ids are in `first` are drawn before the
    others."""
    rng = np.random.default_rng(seed)
    # A heap of the items with the `size` smallest keys. A key is a random number from 0 to 1, minus 1
    # for items of `first`. Keys are negated, because heapq removes the smallest entry.
    heap: list[tuple[float, int, Item]] = []
    systems: dict[str, None] = {}
    total = 0
    with_references: set[str] = set()
    found: set[str] = set()
    has_trees = True
    kind: OutputKind | None = None
    for block in source.blocks():
        keys = rng.random(len(block))
        for item, key in zip(block, keys.tolist(), strict=True):
            is_first = item.id in first
            if is_first:
                found.add(item.id)
            entry = (-(key - is_first), total, item)
            if len(heap) < size:
                heapq.heappush(heap, entry)
            else:
                heapq.heappushpop(heap, entry)
            total += 1
            systems.update(dict.fromkeys(item.outputs))
            if item.references or item.references_by_system:
                with_references.update(name for name in item.outputs if item.references_for(name))
                has_trees &= any(tree is not None for tree in item.trees)
            if kind is None:
                kind = _kind_in(item)
        on_progress(len(block))
    drawn = sorted((place, item) for _, place, item in heap)
    return ShownItems(
        items=tuple(item for _, item in drawn),
        places=tuple(place for place, _ in drawn),
        total=total,
        systems=tuple(systems),
        has_references=bool(systems) and with_references == set(systems),
        has_trees=has_trees,
        kind=kind,
        found=frozenset(found),
    )


def _kind_in(item: Item) -> OutputKind | None:
    """The kind of an item's first output that is not text."""
    for output in item.outputs.values():
        if isinstance(output, Mapping):
            from wellput.core.output_kinds import kind_of

            return kind_of(output)
    return None


def logged_scorers(shown_items: ShownItems) -> list[str]:
    """The names of the scores that an evaluation log already has for every system's outputs."""
    named: dict[str, set[str]] = {system: set() for system in shown_items.systems}
    for item in shown_items.items:
        for system, scores in item.logged.items():
            named[system] |= set(scores)
    return sorted(set.intersection(*named.values())) if named else []


def usual_metrics(shown_items: ShownItems, *, has_judgments: bool) -> list[str | Metric]:
    """The metrics that these items allow; for an evaluation log, the scores in it. With judgments also
    the sentinels (length-only and random), which show what a useless metric reaches."""
    logged: list[str | Metric] = [Logged(scorer) for scorer in logged_scorers(shown_items)]
    sentinels = ",length-only,random" if has_judgments else ""
    if logged:
        reference_metrics = "exact,chrf," if shown_items.has_references else ""
        return [*logged, f"{reference_metrics}length{sentinels}"]
    return [_metrics_without_log(shown_items, sentinels)]


def _metrics_without_log(shown_items: ShownItems, sentinels: str) -> str:
    """The names of the usual metrics for outputs of this kind; for texts, those metrics whose
    references and trees are there, and the sentinels."""
    if shown_items.kind is not None:
        return shown_items.kind.usual_metrics
    if not shown_items.has_references:
        return f"length,ttr,distinct{sentinels}"
    tree_metrics = ",sta,gta,quality" if shown_items.has_trees else ""
    return f"bleu,chrf,ter,ssa,gsa{tree_metrics}{sentinels}"


@dataclass(frozen=True)
class Evaluation:
    """What a report shows: scores with intervals and all pairs of systems (`result`, which keeps
    segment scores), the items to show (`shown_items`), and figures of the judgments if there are any.
    `output_tables` has the scores of single outputs by metric. They are those of `result`; but if
    judgments name samples, they are the scores of these samples."""

    title: str
    result: ScoreResult
    metrics: Sequence[Metric]
    shown_items: ShownItems
    output_tables: Mapping[str, ScoreTable]
    agreement: AgreementResult | None = None
    people: People | None = None
    machines: Sequence[MachineComparison] = ()
    probed: ProbeResult | None = None

    @property
    def answers(self) -> list[ReportAnswer]:
        """The top of the report."""
        scales = {} if self.people is None else self.people.scales
        return answers_of(self.result, self.agreement, scales)

    @property
    def order(self) -> list[str]:
        """The systems, best first."""
        return system_order(self.result, self.agreement)


def evaluate_for_page(
    source: EvalSource,
    answers: Sequence[Judgment] | Sequence[Preference],
    metrics: MetricSpec | Iterable[MetricSpec],
    *,
    title: str,
    baseline: str | None,
    max_shown: int,
    options: AgreementOptions,
    by: str | None = None,
    on_phase: OnPhase = ignore_phase,
) -> Evaluation:
    """Scores with intervals and tests of all pairs of systems, agreement with the judges if there
    are any, and the items to show (at most `max_shown`). With `by`, scores and agreement also for each
    value of this tag. Without `metrics`, `usual_metrics` are used."""
    uncertainty = options.uncertainty
    judged = {answer.item for answer in answers}
    on_items = on_phase("reading items")
    shown_items = draw_shown_items(
        source, size=max_shown, seed=uncertainty.seed, first=judged, on_progress=on_items
    )
    known_names = KnownNames(shown_items.systems, shown_items.found)
    # The same items; if judgments name samples, an output has only its judged samples.
    judged_source = with_judged_samples(
        source, answers, questions=options.questions, exclusions=options.exclusions
    )
    options = replace(
        options, exclusions=with_unknown_excluded(answers, options.exclusions, known_names)
    )
    chosen = create_all(metrics or usual_metrics(shown_items, has_judgments=bool(answers)))
    # The metric `logged` stands for every scorer in the source's log.
    scorers = expand_logged(chosen, source)
    has_pairs = len(shown_items.systems) > 1
    inference = Inference(
        has_intervals=True,
        paired=DEFAULT_PAIRED_TEST if has_pairs else None,
        baseline=baseline,
        all_pairs=has_pairs,
        resampling=Resampling(uncertainty.n_resamples, uncertainty.seed, uncertainty.threads),
        cluster=options.cluster,
        by=by,
    )
    result = score_source(
        source,
        scorers,
        inference=inference,
        plan=ScoringPlan(threads=uncertainty.threads),
        on_phase=on_phase,
    )
    compared = result  # the scores that are compared with people
    if judged_source is not source:
        compared = score_source(
            judged_source,
            scorers,
            inference=Inference(cluster=options.cluster),
            plan=ScoringPlan(threads=uncertainty.threads, keep_rows=True),
            on_phase=on_phase,
        )
    tables = compared.tables
    agreement = people = None
    if answers and isinstance(answers[0], Preference):
        on_phase("counting choices")
        choices = cast("Sequence[Preference]", answers)
        agreement = agree_on_preferences(
            tables, choices, questions=options.questions, exclusions=options.exclusions
        )
        asked = {entry["question"] for entry in agreement.preferences}
        kept_choices, _ = without_excluded(choices, options.exclusions)
        people = people_of_choices(tables, [c for c in kept_choices if c.question in asked])
    elif answers:
        ratings = cast("Sequence[Judgment]", answers)
        agreement = agree(tables, ratings, options, on_phase=on_phase)
        if by is not None:
            masks, _ = slice_masks(result.tags, by)
            agreement = agree_by(agreement, tables, ratings, options, masks, by, on_phase=on_phase)
        agreement = with_spans(
            agreement, source, ratings, options, cluster=options.cluster, on_phase=on_phase
        )
        on_phase("preparing charts")
        people = people_of_ratings(tables, ratings, options)
    if agreement is not None:
        notes = [note for note in compared.notes if note not in result.notes]
        agreement = replace(agreement, notes=(*agreement.notes, *notes))
    return Evaluation(title, result, scorers, shown_items, tables, agreement, people)
