"""`agree`: how far metrics agree with people, and people with each other.

`agree_by` does the same for each slice, which is the items that have one value of a tag. Every slice
has an `AgreementResult`. P-values are corrected for the number of metrics in all slices together, and
p-values of differences for the number of pairs of metrics in all slices.

A `ScoreTable` has the scores of one metric (or of the judges) for systems × items. A cell is one
system's output for one item. A sentinel (`random`, `length-only`) is a metric that ignores quality,
for comparison.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput.agreement.advice import advise
from wellput.agreement.correlations import (
    MetricAgainstPeople,
    Uncertainty,
    cells_of_all,
    correlate_documents,
    correlate_own_documents,
    correlate_segments,
    correlate_systems,
    draw_documents,
    own_documents,
    undefined_cells,
)
from wellput.agreement.judges import ceiling, question_correlations, summarize_judges
from wellput.agreement.metric_pairs import compare_pairs, pair_test
from wellput.agreement.models import fitted_models
from wellput.agreement.orders import MetricOrder, orders_on_items
from wellput.agreement.panel import Exclusion, Normalization, Panel
from wellput.agreement.preferences import Decisions, decision_confusions, verdict_rows
from wellput.agreement.prepared_panels import prepared_panels
from wellput.agreement.rankings.plain_ranking import Ranking
from wellput.agreement.rankings.ranked_questions import judgments_of, rank_question
from wellput.agreement.result import Agreement, AgreementLevel, AgreementResult, MetricDifference
from wellput.core.clusters import Clusters
from wellput.core.errors import InputError
from wellput.core.estimates import Generalize, ScoreTable
from wellput.core.judgment import Judgment
from wellput.core.metric import is_sentinel
from wellput.core.work import OnPhase, ignore_phase
from wellput.stats.corrections import CORRECTIONS, Correction
from wellput.stats.correlation import Coefficient, Correlation, CorrelationAverage
from wellput.stats.metric_comparison import TESTS_OF_SINGLE_ITEMS, CorrelationTest

MIN_SYSTEMS = 3
"""A correlation over systems needs at least this many: any two points lie on a line."""
MetricItems: TypeAlias = Literal["judged", "all"]
"""What a system's score under a metric is computed from, to compare it with the ratings."""


@dataclass(frozen=True)
class AgreementOptions:
    """What to compute, as the options of `wellput.agree` say. test='auto' tests the difference of two
    metrics by the method that also gives the intervals."""

    level: AgreementLevel = "segment"
    average: CorrelationAverage = "none"
    coefficients: Sequence[Coefficient] = ("pearson",)
    normalization: Normalization | None = None
    questions: Sequence[str] = ()
    exclusions: Sequence[Exclusion] = ()
    judges_below: float | None = None
    test: CorrelationTest | Literal["auto", "paired-t"] = "auto"
    correction: Correction = "holm"
    metric_items: MetricItems = "judged"
    document_size: int = 300
    documents: int = 10
    with_models: bool = False
    alpha: float = 0.05
    uncertainty: Uncertainty = field(default_factory=Uncertainty)
    cluster: str | None = None
    """What counts as one unit in intervals, such as `document`. Only a report reads this option;
    `agree` takes the clusters from its tables."""
    fitted_to_these_judgments: Collection[str] = ()
    """The metrics that were fitted to these judgments."""


FITTED_TO_THESE_NOTE = (
    "{} was fitted to these judgments, so its agreement with them says nothing about other judgments; "
    "fit says how well it does on outputs it has not seen."
)


def agree(
    tables: Mapping[str, ScoreTable],
    judgments: Sequence[Judgment],
    options: AgreementOptions,
    decisions: Decisions | None = None,
    *,
    on_phase: OnPhase = ignore_phase,
) -> AgreementResult:
    """How far each metric agrees with the judges on each question, which metrics differ, and how far
    the judges agree with each other. `tables` are by the metric's name. `decisions` says which
    substitutions each paraphrase method makes, if judges were asked about substitutions."""
    _check_levels(tables, options)
    first = next(iter(tables.values()))
    on_phase("comparing judges")
    # By question: the ratings as given, and the ratings after normalization.
    raw, ready = prepared_panels(judgments, first.systems, first.items, options)
    summaries = [
        summarize_judges(raw[name], ready[name], seed=options.uncertainty.seed) for name in raw
    ]
    on_phase("ranking systems by people")
    # Systems are ranked by the ratings as given, unless the user chose a normalization.
    rankings = [
        rank_question(
            name, judgments_of(panel, judgments), confidence=options.uncertainty.confidence
        )
        for name, panel in (ready if options.normalization else raw).items()
    ]
    agreement: list[Agreement] = []
    differences: list[MetricDifference] = []
    for panel in ready.values():
        rows, pairs = _compared_with_people(tables, panel.table(), options, on_phase)
        agreement += rows
        differences += pairs
    ceilings = {summary.question: ceiling(summary) for summary in summaries}
    by_sample = [panel.by_sample for panel in raw.values()]
    clusters = first.clusters and first.clusters.of_items(_scored_items(ready.values(), options))
    return AgreementResult(
        level=options.level,
        ranking=tuple(rankings),
        orders=tuple(_orders(tables, rankings, ready, options)),
        agreement=tuple(agreement),
        differences=tuple(differences),
        judges=tuple(summaries),
        questions=tuple(question_correlations(ready)) if len(ready) > 1 else (),
        models=tuple(_models(tables, ready, options.uncertainty.generalize))
        if options.with_models
        else (),
        confusion=tuple(decision_confusions(by_sample)),
        substitutions=tuple(verdict_rows(by_sample, decisions or {})),
        excluded=tuple(_excluded(raw, ready, is_ranked_as_given=options.normalization is None)),
        undefined=tuple(
            {"question": name, "metric": metric, "n": n}
            for name, panel in ready.items()
            for metric, n in undefined_cells(list(tables.values()), panel.table()).items()
        ),
        advice=tuple(
            advise(
                agreement,
                differences,
                ceilings,
                items={name: panel.n_items for name, panel in ready.items()},
                neutral=[
                    name
                    for name, table in tables.items()
                    if table.higher_is_better is None or name in options.fitted_to_these_judgments
                ],
                alpha=options.alpha,
                confidence=options.uncertainty.confidence,
            )
        ),
        seed=options.uncertainty.seed,
        n_resamples=options.uncertainty.n_resamples,
        normalization={name: panel.normalization for name, panel in ready.items()},
        generalize=options.uncertainty.generalize,
        clusters=clusters,
        confidence=options.uncertainty.confidence,
        notes=(
            *(panel.note for panel in ready.values() if panel.note),
            *(
                FITTED_TO_THESE_NOTE.format(name)
                for name in tables
                if name in options.fitted_to_these_judgments
            ),
            *_items_taken_alone(options.test, clusters, len(tables)),
        ),
    )


def _orders(
    tables: Mapping[str, ScoreTable],
    rankings: Sequence[Ranking],
    ready: Mapping[str, Panel],
    options: AgreementOptions,
) -> Iterator[MetricOrder]:
    """How each metric orders the systems, by its scores on the items that people judged or on all."""
    for ranking in rankings:
        items = _scored_items([ready[ranking.question]], options)
        yield from orders_on_items(tables, ranking, items)


def _scored_items(panels: Iterable[Panel], options: AgreementOptions) -> NDArray[np.bool_]:
    """Whether each item's scores are used: True for items with a judgment, or for all items."""
    judged = np.logical_or.reduce([panel.table().present.any(axis=0) for panel in panels])
    return np.ones_like(judged) if options.metric_items == "all" else judged


def _items_taken_alone(test: str, clusters: Clusters | None, n_metrics: int) -> list[str]:
    """A note on a test that treats single items as independent, where items belong to clusters."""
    if test not in TESTS_OF_SINGLE_ITEMS or clusters is None or n_metrics < 2:
        return []
    return [
        f"{test} takes every item alone, as in the paper: it does not know the {clusters.n:,} "
        f"{clusters.words}. Its p-values are too small where items of one {clusters.unit} are alike. "
        f"The default test leaves out whole {clusters.words}."
    ]


def _excluded(
    raw: Mapping[str, Panel], ready: Mapping[str, Panel], *, is_ranked_as_given: bool
) -> Iterator[dict[str, Any]]:
    """Records of what was left out. `of` says from which figures: "all", or only "agreement". If the
    ranking uses the ratings as given (`is_ranked_as_given`), a judge whose ratings cannot be
    normalized is left out of the agreement only."""
    for name, panel in ready.items():
        for exclusion in panel.excluded:
            is_scale_problem = is_ranked_as_given and exclusion not in raw[name].excluded
            yield {**asdict(exclusion), "of": "agreement" if is_scale_problem else "all"}


def _models(
    tables: Mapping[str, ScoreTable], ready: Mapping[str, Panel], generalize: Generalize
) -> Iterator[dict[str, Any]]:
    """How well the metrics and some combinations of them explain each question's ratings."""
    for question, panel in ready.items():
        for model in fitted_models(tables, panel.table(), list(tables), generalize=generalize):
            yield {"question": question, **asdict(model)}


def _compared_with_people(
    tables: Mapping[str, ScoreTable],
    human: ScoreTable,
    options: AgreementOptions,
    on_phase: OnPhase,
) -> tuple[list[Agreement], list[MetricDifference]]:
    """Every metric compared with the mean ratings `human` by each coefficient, and all pairs of metrics
    compared with each other."""
    cells = cells_of_all(list(tables.values()), human)
    if not cells.any():
        raise InputError(
            f"No output with a judgment of {human.scorer!r} has a score of every metric."
        )
    rows: list[Agreement] = []
    differences: list[MetricDifference] = []
    for coefficient in options.coefficients:
        on_metric = on_phase("correlating metrics with people", len(tables))
        compared: dict[str, MetricAgainstPeople] = {}
        for name, comparison in _each_compared(tables, human, cells, coefficient, options):
            compared[name] = comparison
            on_metric(1)
        rows += _corrected(
            [comparison.agreement(options.uncertainty) for comparison in compared.values()], options
        )
        test = pair_test(tables, human, cells, coefficient, compared, options)
        # `figure` is None for a metric whose coefficient is undefined.
        differences += compare_pairs(
            [name for name, comparison in compared.items() if comparison.figure is not None],
            test,
            question=human.scorer,
            level=options.level,
            coefficient=coefficient,
            on_phase=on_phase,
        )
    return rows, differences


def _each_compared(
    tables: Mapping[str, ScoreTable],
    human: ScoreTable,
    cells: NDArray[np.bool_],
    coefficient: Coefficient,
    options: AgreementOptions,
) -> Iterator[tuple[str, MetricAgainstPeople]]:
    """Every metric compared with people at the level of the options."""
    seed, threads = options.uncertainty.seed, options.uncertainty.threads
    if options.level == "document":
        documents_of_items = own_documents(next(iter(tables.values())), cells)
        correlate = correlate_documents if documents_of_items is None else correlate_own_documents
        documents = documents_of_items or draw_documents(
            cells, size=options.document_size, documents=options.documents, seed=seed
        )
        for name, table in tables.items():
            yield name, correlate(table, human, cells, documents, coefficient, seed)
    elif options.level == "system":
        for name, table in tables.items():
            yield (
                name,
                correlate_systems(
                    table,
                    human,
                    cells,
                    coefficient,
                    seed,
                    with_unjudged=options.metric_items == "all",
                ),
            )
    else:
        correlation = Correlation("segment", options.average, coefficient)
        for name, table in tables.items():
            yield name, correlate_segments(table, human, cells, correlation, seed, threads)


def _corrected(rows: list[Agreement], options: AgreementOptions) -> list[Agreement]:
    """The rows with p-values corrected for the number of metrics. Sentinels are not counted."""
    corrected_metrics = [
        row.metric for row in rows if row.p_value is not None and not is_sentinel(row.metric)
    ]
    p_values = {row.metric: row.p_value for row in rows}
    adjusted = CORRECTIONS[options.correction](
        np.array([p_values[name] for name in corrected_metrics], float)
    )
    p_by_metric = dict(zip(corrected_metrics, adjusted.tolist(), strict=True))
    return [replace(row, p_adjusted=p_by_metric.get(row.metric)) for row in rows]


def _check_levels(tables: Mapping[str, ScoreTable], options: AgreementOptions) -> None:
    """Raises InputError for options that do not fit the level or the number of systems."""
    if not tables:
        raise InputError("No metric was given.")
    n_systems = len(next(iter(tables.values())).systems)
    if options.level in ("system", "document") and n_systems < MIN_SYSTEMS:
        raise InputError(
            f"level={options.level!r} needs at least {MIN_SYSTEMS} systems to correlate; there are "
            f"{n_systems}. Use level='segment'."
        )
    if options.metric_items == "all" and (options.level != "system" or options.test != "auto"):
        raise InputError("metric_items='all' needs level='system' and test='auto'.")
    if "spa" in options.coefficients and options.level != "system":
        raise InputError("spa, soft pairwise accuracy, compares systems: use level='system'.")


def agree_by(
    whole: AgreementResult,
    tables: Mapping[str, ScoreTable],
    judgments: Sequence[Judgment],
    options: AgreementOptions,
    masks: Mapping[str, NDArray[np.bool_]],
    by: str,
    *,
    on_phase: OnPhase,
) -> AgreementResult:
    """The result `whole`, with the results of its slices added. `masks` says for each value of the tag
    `by` which items have it. A slice that cannot be analyzed is named in the notes."""
    slices: list[AgreementResult] = []
    refused: list[str] = []
    for name, items in masks.items():
        parts = {metric: table.of_items(items) for metric, table in tables.items()}
        items_inside = set(next(iter(parts.values())).items)
        judgments_inside = [judgment for judgment in judgments if judgment.item in items_inside]
        try:
            if not judgments_inside:
                raise InputError("no judgments")
            part = agree(parts, judgments_inside, options, on_phase=on_phase)
            slices.append(replace(part, by={by: name}))
        except InputError as problem:
            refused.append(f"{by} {name} is left out: {str(problem).rstrip('.')}.")
    return replace(
        whole, slices=_corrected_in_slices(slices, options), notes=(*whole.notes, *refused)
    )


def _corrected_in_slices(
    slices: Sequence[AgreementResult], options: AgreementOptions
) -> tuple[AgreementResult, ...]:
    """The slices with p-values corrected for the number of metrics, or of pairs of metrics, in all
    slices. Sentinels are not counted."""
    correct = CORRECTIONS[options.correction]
    rows = [
        row
        for part in slices
        for row in part.agreement
        if row.p_value is not None and not is_sentinel(row.metric)
    ]
    pairs = [pair for part in slices for pair in part.differences]
    corrected_of_rows = iter(correct(np.array([row.p_value for row in rows], float)).tolist())
    corrected_of_pairs = iter(correct(np.array([pair.p_value for pair in pairs], float)).tolist())
    return tuple(
        replace(
            part,
            agreement=tuple(
                row
                if row.p_value is None or is_sentinel(row.metric)
                else replace(row, p_adjusted=next(corrected_of_rows))
                for row in part.agreement
            ),
            differences=tuple(
                replace(pair, p_adjusted=next(corrected_of_pairs)) for pair in part.differences
            ),
        )
        for part in slices
    )
