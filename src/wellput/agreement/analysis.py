"""`agree`: metrics against people, and people against each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wellput.agreement.advice import advise
from wellput.agreement.cells import common_cells, segment_scores, system_scores, undefined_cells
from wellput.agreement.compare import Compare, PairTest, compare_pairs
from wellput.agreement.correlate import (
    Uncertainty,
    segment_agreement,
    system_agreement,
)
from wellput.agreement.decisions import decision_confusions
from wellput.agreement.documents import (
    document_values,
    draw_documents,
    mean_with_interval,
    paired_t,
)
from wellput.agreement.judges import ceiling, question_correlations, summarize_judges
from wellput.agreement.models import model_table
from wellput.agreement.orders import metric_orders
from wellput.agreement.panel import Exclusion, Normalization, Panel
from wellput.agreement.prepared import prepared_panels
from wellput.agreement.ranking import rank_panel
from wellput.agreement.result import Agreement, AgreementLevel, AgreementResult, Difference
from wellput.core.errors import InputError
from wellput.core.judgment import Judgment
from wellput.core.progress import OnPhase, unheard_phase
from wellput.core.table import Estimate, ScoreTable
from wellput.stats.comparison import TESTS, Correction, Test
from wellput.stats.correlation import Average, Coefficient, Correlation

FEWEST_SYSTEMS = 3


@dataclass(frozen=True)
class AgreementOptions:
    """What to compute. `test` auto: PERM-BOTH for segments, Williams for Pearson's r of systems and
    PERM-SYSTEMS for the other coefficients, a paired t-test for documents."""

    level: AgreementLevel = "segment"
    average: Average = "none"
    coefficients: Sequence[Coefficient] = ("pearson",)
    normalization: Normalization | None = None
    questions: Sequence[str] = ()
    exclusions: Sequence[Exclusion] = ()
    judges_below: float | None = None
    test: Test | Literal["auto"] = "auto"
    correction: Correction = "holm"
    document_size: int = 300
    documents: int = 10
    with_models: bool = False
    alpha: float = 0.05
    uncertainty: Uncertainty = field(default_factory=Uncertainty)


def agree(
    tables: Mapping[str, ScoreTable],
    judgments: Sequence[Judgment],
    options: AgreementOptions,
    *,
    on_phase: OnPhase = unheard_phase,
) -> AgreementResult:
    """How far each metric agrees with the judges on each question, which metrics differ, and how far
    the judges agree among themselves."""
    _check(tables, options)
    first = next(iter(tables.values()))
    on_phase("comparing judges")
    raw, ready = prepared_panels(judgments, first.systems, first.items, options)
    summaries = [
        summarize_judges(raw[name], ready[name], seed=options.uncertainty.seed) for name in raw
    ]
    rankings = [rank_panel(panel) for panel in (ready if options.normalization else raw).values()]
    agreement: list[Agreement] = []
    differences: list[Difference] = []
    for panel in ready.values():
        rows, pairs = _against(tables, panel.table(), options, on_phase)
        agreement += rows
        differences += pairs
    ceilings = {summary.question: ceiling(summary) for summary in summaries}
    return AgreementResult(
        level=options.level,
        ranking=tuple(rankings),
        orders=tuple(metric_orders(tables, rankings)),
        agreement=tuple(agreement),
        differences=tuple(differences),
        judges=tuple(summaries),
        questions=tuple(question_correlations(ready)) if len(ready) > 1 else (),
        models=tuple(_models(tables, ready)) if options.with_models else (),
        confusion=tuple(decision_confusions(raw.values())),
        excluded=tuple(asdict(e) for panel in ready.values() for e in panel.excluded),
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
                n_systems=len(rankings[0].systems),
                items={name: panel.n_items for name, panel in ready.items()},
                neutral=[name for name, table in tables.items() if table.higher_is_better is None],
                alpha=options.alpha,
            )
        ),
        seed=options.uncertainty.seed,
        n_resamples=options.uncertainty.n_resamples,
        normalization={name: panel.normalization for name, panel in ready.items()},
        notes=tuple(panel.note for panel in ready.values() if panel.note),
        interval=_interval(options, len(rankings[0].systems)),
    )


def _models(
    tables: Mapping[str, ScoreTable], ready: Mapping[str, Panel]
) -> Iterator[dict[str, Any]]:
    """How well the metrics and some combinations of them explain each question's ratings."""
    for question, panel in ready.items():
        for model in model_table(tables, panel.table(), list(tables)):
            yield {"question": question, **asdict(model)}


def _interval(options: AgreementOptions, n_systems: int) -> str:
    """How the intervals were made, in words."""
    if options.level == "document":
        return "t over documents"
    drawn = {
        coefficient: what
        for coefficient in options.coefficients
        if (what := options.uncertainty.resampled(n_systems, coefficient)) is not None
    }
    if not drawn:
        return ""
    words = {"both": "systems and items", "systems": "systems", "items": "items"}
    parts = [
        f"{words[what]} ({', '.join(c for c in drawn if drawn[c] == what)})"
        if len(set(drawn.values())) > 1
        else words[what]
        for what in dict.fromkeys(drawn.values())
    ]
    return f"bootstrap of {', of '.join(parts)}"


def _against(
    tables: Mapping[str, ScoreTable],
    human: ScoreTable,
    options: AgreementOptions,
    on_phase: OnPhase,
) -> tuple[list[Agreement], list[Difference]]:
    cells = common_cells(list(tables.values()), human)
    if not cells.any():
        raise InputError(f"No output that was judged on {human.scorer!r} has a score as well.")
    rows: list[Agreement] = []
    pairs: list[Difference] = []
    for coefficient in options.coefficients:
        on_metric = on_phase("correlating metrics with people", len(tables))
        if options.level == "document":
            found, test = _documents(tables, human, cells, coefficient, options)
        else:
            correlation = Correlation(options.level, options.average, coefficient)
            found = []
            for table in tables.values():
                found.append(_agreement(table, human, cells, correlation, options.uncertainty))
                on_metric(1)
            test = _comparison(tables, human, cells, correlation, options)
        rows += found
        if coefficient == "spa":
            continue  # itself made of permutation tests: no test of differences is known for it
        defined = [row.metric for row in found if not np.isnan(row.value)]
        pairs += compare_pairs(
            defined,
            test,
            question=human.scorer,
            level=options.level,
            coefficient=coefficient,
            on_phase=on_phase,
        )
    return rows, pairs


def _agreement(
    table: ScoreTable,
    human: ScoreTable,
    cells: NDArray[np.bool_],
    correlation: Correlation,
    uncertainty: Uncertainty,
) -> Agreement:
    if correlation.level == "system":
        return system_agreement(table, human, cells, correlation.coefficient, uncertainty)
    return segment_agreement(table, human, cells, correlation, uncertainty)


def _comparison(
    tables: Mapping[str, ScoreTable],
    human: ScoreTable,
    cells: NDArray[np.bool_],
    correlation: Correlation,
    options: AgreementOptions,
) -> PairTest:
    """How two metrics are compared."""
    test = options.test if options.test != "auto" else _default_test(correlation)
    # Vectors of systems' scores are tables of one column. The other tests exchange or draw segments
    # at system level too, and average them as the papers do.
    is_flat = (
        correlation.level == "system"
        and test in ("williams", "perm-systems")
        and correlation.coefficient != "spa"
    )
    scores = system_scores if is_flat else segment_scores
    arrays = {name: scores(table, cells) for name, table in tables.items()}
    people = scores(human, cells)
    if is_flat:
        correlation = Correlation(coefficient=correlation.coefficient)
        arrays = {name: values[:, None] for name, values in arrays.items()}
        people = people[:, None]
    if test == "williams":
        return _pair_test(
            test,
            lambda a, b, _: TESTS[test](arrays[a], arrays[b], people, correlation),
            None,
            options,
        )
    draws = {"seed": options.uncertainty.seed, "threads": options.uncertainty.threads}

    def compare(a: str, b: str, n_resamples: int) -> Estimate:
        return TESTS[test](
            arrays[a], arrays[b], people, correlation, n_resamples=n_resamples, **draws
        )

    return _pair_test(test, compare, options.uncertainty.n_resamples, options)


def _pair_test(
    name: str, compare: Compare, n_resamples: int | None, options: AgreementOptions
) -> PairTest:
    return PairTest(name, compare, n_resamples, options.correction, options.alpha)


def _default_test(correlation: Correlation) -> Test:
    if correlation.level == "segment":
        return "perm-both"
    return "williams" if correlation.coefficient == "pearson" else "perm-systems"


def _documents(
    tables: Mapping[str, ScoreTable],
    human: ScoreTable,
    cells: NDArray[np.bool_],
    coefficient: Coefficient,
    options: AgreementOptions,
) -> tuple[list[Agreement], PairTest]:
    drawn = draw_documents(
        cells,
        size=options.document_size,
        documents=options.documents,
        seed=options.uncertainty.seed,
    )
    values = {
        name: document_values(table, human, cells, drawn, coefficient)
        for name, table in tables.items()
    }
    rows: list[Agreement] = []
    for name in tables:
        mean = mean_with_interval(values[name], confidence=options.uncertainty.confidence)
        rows.append(
            Agreement(
                metric=name,
                question=human.scorer,
                level="document",
                average=None,
                coefficient=coefficient,
                value=mean.value,
                low=mean.low,
                high=mean.high,
                n=mean.n or 0,
                note=mean.method if np.isnan(mean.value) else "",
            )
        )
    compare: Compare = lambda a, b, _: paired_t(values[a], values[b])  # noqa: E731
    return rows, _pair_test("paired t over documents", compare, None, options)


def _check(tables: Mapping[str, ScoreTable], options: AgreementOptions) -> None:
    if not tables:
        raise InputError("No metric was given.")
    n_systems = len(next(iter(tables.values())).systems)
    if options.level in ("system", "document") and n_systems < FEWEST_SYSTEMS:
        raise InputError(
            f"At {options.level} level there must be at least {FEWEST_SYSTEMS} systems to correlate; "
            f"there are {n_systems}. Use --level segment."
        )
    if "spa" in options.coefficients and options.level != "system":
        raise InputError("spa, soft pairwise accuracy, is about systems: use --level system.")
