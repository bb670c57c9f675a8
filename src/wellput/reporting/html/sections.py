"""`Section`, one part of the page of a report; `sections_of` makes the sections of an evaluation. A
*slice* is the items with one value of a tag; the section about slices has scores, people's preferences
and agreement for each of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from wellput.agreement.correlations import with_higher_better
from wellput.agreement.probe_results import MIN_TEXTS_FOR_CLAIMS, ProbeResult
from wellput.agreement.result import Agreement, AgreementResult
from wellput.core.metric import Floats, is_sentinel
from wellput.core.scores import Score
from wellput.engine.result import ScoreResult
from wellput.reporting.agree import (
    best_metric_sentences,
    excluded_notes,
    ranked_slices,
    ranking_slice_tables,
    slice_table,
    tables_of,
)
from wellput.reporting.html import report_charts
from wellput.reporting.html.answer import higher_is_better, references_sentence
from wellput.reporting.html.charts import Chart
from wellput.reporting.html.evaluation import Evaluation, ShownItems
from wellput.reporting.html.machines import (
    comparison_name,
    machine_rows,
    machine_tables,
    machine_words,
)
from wellput.reporting.html.pairs import PairMatrix, pair_matrix
from wellput.reporting.html.people import People, regression_line
from wellput.reporting.probe import probe_report
from wellput.reporting.ranking import reordering_sentences
from wellput.reporting.score import few_items, score_slice_tables, score_table
from wellput.reporting.slices import order_sentences, shown_dependences
from wellput.reporting.table import Table, p_text


@dataclass(frozen=True)
class Section:
    """A heading, some words, charts, and tables with the figures."""

    name: str
    title: str
    words: Sequence[str] = ()
    charts: Sequence[Chart | PairMatrix] = ()
    tables: Sequence[Table] = ()

    def to_dict(self) -> dict[str, Any]:
        """The values as the scripts of the page read them."""
        return {
            "name": self.name,
            "title": self.title,
            "words": list(self.words),
            "charts": [chart.to_dict() for chart in self.charts],
            "tables": [table.to_dict() for table in self.tables],
        }


def sections_of(evaluation: Evaluation) -> list[Section]:
    """The sections between the answer and the explorer, from top to bottom."""
    parts = [scores_section(evaluation)]
    if evaluation.result.comparisons:
        parts.append(pairs_section(evaluation))
    if evaluation.agreement is not None and evaluation.people is not None:
        parts += people_sections(evaluation, evaluation.agreement, evaluation.people)
    if evaluation.result.slices:
        parts.append(slices_section(evaluation))
    if evaluation.machines:
        parts.append(machines_section(evaluation))
    if evaluation.probed is not None:
        parts.append(probe_section(evaluation.probed))
    parts.append(metrics_section(evaluation))
    return parts


def probe_section(probed: ProbeResult) -> Section:
    """What metrics notice: a sentence for each, the heat map, and the tables of `wellput probe`."""
    _, *tables = probe_report(probed).tables  # the first table repeats the summaries
    return Section(
        "probe",
        "What metrics notice",
        words=[f"{name}: {words}" for name, words in probed.summaries.items()],
        charts=[report_charts.probe_chart(probe_rows(probed))],
        tables=tables,
    )


def probe_rows(probed: ProbeResult) -> list[dict[str, Any]]:
    """Rows of the heat map, in percent. Kinds with few texts are left out, if others have enough."""
    with_enough_texts = [probe for probe in probed.probes if probe.n >= MIN_TEXTS_FOR_CLAIMS]
    return [
        {
            "metric": probe.metric,
            "change": f"{probe.perturbation}, {probe.severity}",
            "texts": probe.n,
            **{
                name: None if value is None or math.isnan(value) else 100 * value
                for name, value in (
                    ("right", probe.accuracy),
                    ("low", probe.low),
                    ("high", probe.high),
                    ("ties", probe.ties),
                )
            },
        }
        for probe in with_enough_texts or probed.probes
    ]


def slices_section(evaluation: Evaluation) -> Section:
    """Scores, people's preferences and agreement for each value of a tag, and which values differ."""
    result = evaluation.result
    tag = next(iter(result.slices[0].by or {}))
    ordered = replace(result, systems=tuple(evaluation.order))
    tables = slice_tables_of(ordered, evaluation.agreement)
    return Section(
        "slices",
        f"By {tag}",
        words=slices_words(result, evaluation.agreement),
        charts=[slices_chart_of(result, evaluation.order, _score_row)],
        tables=tables,
    )


def machines_section(evaluation: Evaluation) -> Section:
    """What machine judges say, compared with people."""
    are_several = len(evaluation.machines) > 1
    words: list[str] = []
    for comparison in evaluation.machines:
        first, *others = machine_words(comparison)
        start = f"{comparison_name(comparison)}: " if are_several else ""
        words += [f"{start}{first}", " ".join(others)] if others else [f"{start}{first}"]
    return Section(
        "machines",
        "Machine judges beside people",
        words=words,
        charts=[
            report_charts.machines_chart(
                [row for comparison in evaluation.machines for row in machine_rows(comparison)],
                [comparison_name(comparison) for comparison in evaluation.machines],
            )
        ],
        tables=[
            table
            for comparison in evaluation.machines
            for table in machine_tables(comparison, evaluation.shown_items.items)
        ],
    )


def scores_section(evaluation: Evaluation) -> Section:
    """The systems' scores with intervals; sentinels are left out of the chart."""
    ordered = replace(evaluation.result, systems=tuple(evaluation.order))
    of_metrics = [score for score in ordered.scores if not is_sentinel(score.metric)]
    rows = [_score_row(score, ordered) for score in of_metrics or ordered.scores]
    rows.sort(key=lambda row: ordered.systems.index(row["system"]))
    return Section(
        "scores",
        "Scores of the systems",
        words=few_items(evaluation.result),
        charts=[report_charts.forest_chart(rows)],
        tables=[score_table(ordered)],
    )


def pairs_section(evaluation: Evaluation) -> Section:
    """Which systems differ significantly, under each metric and by people."""
    rankings = () if evaluation.agreement is None else evaluation.agreement.ranking
    matrix = pair_matrix(evaluation.result, rankings, evaluation.order)
    return Section("pairs", "Which differences are real", charts=[matrix])


def people_sections(
    evaluation: Evaluation, agreement: AgreementResult, people: People
) -> list[Section]:
    """Metrics against people, and people among themselves."""
    questions = list(people.ratings)
    metric_charts, judge_charts = [], []
    if agreement.agreement:
        rows = agreement_rows(agreement)
        metric_charts.append(report_charts.agreement_chart(rows, questions))
    metric_charts.append(
        report_charts.people_chart(
            evaluation.result.metrics,
            questions,
            evaluation.order,
            people.unit,
            people.lines,
        )
    )
    if agreement.preferences:
        rows = [
            {"question": entry["question"], **row}
            for entry in agreement.preferences
            for row in entry["systems"]
        ]
        judge_charts.append(report_charts.preferences_chart(rows, questions))
    against_others = [
        {"question": summary.question, "judge": judge, "value": value}
        for summary in agreement.judges
        for judge, value in (summary.normalized or asdict(summary))["against_rest"].items()
    ]
    if against_others:
        judge_charts.append(report_charts.judges_chart(against_others, questions))
    # The report shows rankings, orders and slices in other sections.
    rest_of_result = replace(agreement, ranking=(), orders=(), slices=())
    tables = [_with_question(table, questions) for table in tables_of(rest_of_result)]
    # The table of pairs of systems belongs to the preferences; it has a caption, but no title.
    about_judges = [
        table
        for table in tables
        if table.title.startswith(("Judges", "Preferences")) or not table.title
    ]
    about_metrics = [table for table in tables if table not in about_judges]
    no_comparison = (
        []
        if judge_charts
        else ["No two judges rated the same outputs: how far they agree is unknown."]
    )
    words = [*no_comparison, *([] if agreement.preferences else excluded_notes(agreement))]
    # The table of agreement, if there is one, has the notes of the result.
    words += [] if agreement.agreement else agreement.notes
    return [
        Section(
            "agreement",
            "Metrics against people",
            words=agreement.advice,
            charts=metric_charts,
            tables=about_metrics,
        ),
        Section("judges", "The judges", words=words, charts=judge_charts, tables=about_judges),
    ]


def _with_question(table: Table, questions: Sequence[str]) -> Table:
    """The table with the question in its title, if there is one question and no column for it: for
    simulated judges, the question says that they are simulated."""
    if len(questions) != 1 or not table.title or "question" in table.columns:
        return table
    return replace(table, title=f"{table.title}: {questions[0]}")


def metrics_section(evaluation: Evaluation) -> Section:
    """How the metrics relate to each other and to length."""
    tables = evaluation.output_tables
    names = list(tables)
    scores = [with_higher_better(table, table.scores).ravel() for table in tables.values()]
    rows: list[dict[str, Any]] = []
    for i, metric in enumerate(names):
        for j, other in enumerate(names):
            known = ~(np.isnan(scores[i]) | np.isnan(scores[j]))
            r = _pearson(scores[i][known], scores[j][known])
            rows.append({"metric": metric, "other": other, "r": r, "n": int(known.sum())})
    charts = [report_charts.correlations_chart(rows, names)] if len(names) > 1 else []
    if evaluation.shown_items.kind is None:
        lengths, places = _lengths(evaluation.shown_items), list(evaluation.shown_items.places)
        lines = [
            {"metric": name, **line}
            for name, table in tables.items()
            if (
                line := regression_line(
                    lengths.ravel(), table.scores[:, places].ravel(), names=("words", "score")
                )
            )
        ]
        charts.append(report_charts.length_chart(names, evaluation.order, lines))
    words = [line for line in (references_sentence(evaluation.shown_items.items),) if line]
    return Section("metrics", "The metrics themselves", words=words, charts=charts)


def score_rows(result: ScoreResult) -> list[dict[str, Any]]:
    """A row for each system under each metric, with the claim about it."""
    return [_score_row(score, result) for score in result.scores]


def _score_row(score: Score, result: ScoreResult) -> dict[str, Any]:
    """The row of a score, with its difference to the baseline."""
    tested = [s for s in result.scores if s.metric == score.metric and s.baseline is not None]
    is_baseline = bool(tested) and score.system == tested[0].baseline
    arrow = " ↓ lower is better" if result.higher_is_better[score.metric] is False else ""
    return {
        "system": score.system,
        "metric": f"{score.metric}{arrow}",
        "score": score.score,
        "low": score.low,
        "high": score.high,
        "delta": score.delta,
        "p": p_text(score.p_adjusted, is_bound=score.p_is_bound),
        "n": score.n,
        "claim": "baseline" if is_baseline else _claim(score, result),
        "signature": score.signature,
    }


def _claim(score: Score, result: ScoreResult) -> str:
    """What the test says about the difference from the baseline, a key of `CLAIM_MARKS`."""
    higher_wins = higher_is_better(result, score.metric)
    if score.p_adjusted is None or score.delta is None or math.isnan(score.p_adjusted):
        return "not tested"
    if not result.is_significant(score.p_adjusted, score.n_common):
        return "no difference shown"
    if higher_wins is None:
        return "different"
    return "better" if (score.delta > 0) == higher_wins else "worse"


def agreement_rows(agreement: AgreementResult) -> list[dict[str, Any]]:
    """Rows of the chart, best first within each question and coefficient. The ceiling is the agreement
    that a perfect metric would reach with these judges."""
    ceilings = {summary.question: summary.ceiling or {} for summary in agreement.judges}
    groups: dict[tuple[str, str], list[Agreement]] = {}
    for row in agreement.agreement:
        groups.setdefault((row.question, row.coefficient), []).append(row)
    rows: list[dict[str, Any]] = []
    for (question, coefficient), metrics_rows in groups.items():
        metrics_rows.sort(key=lambda row: (math.isnan(row.value), -row.value))
        # Only Pearson's r of pooled segments has a ceiling: the judges' noise is measured for it.
        is_capped = coefficient == "pearson" and metrics_rows[0].average == "none"
        ceiling = ceilings.get(question, {}) if is_capped else {}
        for order, row in enumerate(metrics_rows):
            rows.append(
                {
                    "metric": row.metric,
                    "question": question,
                    "coefficient": coefficient,
                    "value": row.value,
                    "low": row.low,
                    "high": row.high,
                    "chance_low": row.chance_low,
                    "chance_high": row.chance_high,
                    "p": p_text(row.p_value),
                    "n": row.n,
                    "note": row.note,
                    "order": order,
                    "kind": "sentinel" if is_sentinel(row.metric) else "metric",
                    "ceiling": ceiling.get("value"),
                    "ceiling_low": ceiling.get("low"),
                    "ceiling_high": ceiling.get("high"),
                }
            )
    return rows


def _lengths(shown_items: ShownItems) -> Floats:
    """The number of words of each output, systems × shown items; NaN if there is none."""
    lengths = np.full((len(shown_items.systems), len(shown_items.items)), np.nan)
    for column, item in enumerate(shown_items.items):
        for row, system in enumerate(shown_items.systems):
            if isinstance(text := item.outputs.get(system), str):
                lengths[row, column] = len(text.split())
    return lengths


def _pearson(x: Floats, y: Floats) -> float:
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    return float(np.corrcoef(x, y)[0, 1])


MAX_SLICES_DRAWN = 24
"""If there are more slices, only those with the most items are drawn; the tables have all slices."""


def slice_tables_of(result: ScoreResult, agreement: AgreementResult | None) -> list[Table]:
    """Scores, whom people prefer, and how far metrics agree with people, by slice."""
    tables = score_slice_tables(result)
    if agreement is not None and agreement.slices:
        tables += ranking_slice_tables(agreement)
        if agreement.agreement:
            tables.append(slice_table(agreement))
    return tables


def slices_words(result: ScoreResult, agreement: AgreementResult | None) -> list[str]:
    """Sentences about the differences that depend on the slice, and about the slices whose order of
    systems differs from that over all items, under metrics and for people."""
    tag = next(iter(result.slices[0].by or {}))
    words = [*shown_dependences(result, tag), *order_sentences(result)]
    if agreement is not None and agreement.slices:
        for whole, slices, ranked_by in ranked_slices(agreement):
            words += reordering_sentences(whole, slices, ranked_by)
        words += best_metric_sentences(agreement)
    return words or [f"In every {tag} the systems are in the same order as over all items."]


def slices_chart_of(
    result: ScoreResult,
    order: Sequence[str],
    row_of: Callable[[Score, ScoreResult], Mapping[str, Any]],
) -> Chart:
    """A chart with a panel for each slice, systems in the given order; `row_of` makes the row of a
    score."""
    tag = next(iter(result.slices[0].by or {}))
    largest = sorted(result.slices, key=lambda part: -part.items)[:MAX_SLICES_DRAWN]
    drawn = [part for part in result.slices if part in largest]
    rows = [
        {"slice": (part.by or {})[tag], **row_of(score, part)}
        for part in drawn
        for score in part.scores
        if score.n and not is_sentinel(score.metric)
    ]
    rows.sort(key=lambda row: order.index(row["system"]))
    places = {(part.by or {})[tag]: place for place, part in enumerate(drawn)}
    rows.sort(key=lambda row: places[row["slice"]])
    note = (
        ""
        if len(drawn) == len(result.slices)
        else (f"Only the {MAX_SLICES_DRAWN} largest of {len(result.slices)} slices are drawn.")
    )
    return report_charts.slices_chart(rows, tag, note)
