"""The tables of `wellput agree`: metrics ranked by agreement with people, which of them differ, and
regressions of the ratings on metrics (`models`). `reporting.judges` has the tables about the judges and
their choices."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from wellput.agreement.panel import UNKNOWN_NAME_REASON
from wellput.agreement.rankings.plain_ranking import Ranking
from wellput.agreement.result import Agreement, AgreementResult
from wellput.core.errors import counted
from wellput.core.estimates import holds_for
from wellput.core.metric import is_sentinel
from wellput.reporting.judges import (
    confusion_table,
    homogeneity_table,
    judge_table,
    preference_tables,
    substitution_tables,
)
from wellput.reporting.ranking import ranking_slice_table, ranking_tables
from wellput.reporting.spans import BLAME_COLUMNS, blame_tables, span_tables
from wellput.reporting.table import Report, Table, number, p_text, with_interval

MAX_UNKNOWN_NAMES = 5
"""A note names at most this many systems, or items, that the evalset does not have."""

CSV_COLUMNS = (
    "metric", "question", "level", "average", "coefficient", "value", "low", "high", "p_value",
    "p_adjusted", "null", "n", "note",
)  # fmt: skip
MAX_PAIRS_ALL_SHOWN = 15
"""With more pairs of metrics, only those that differ significantly are shown."""
SEGMENT_EXCHANGING_TESTS = ("perm-both", "perm-inputs", "perm-cells")
"""Permutation tests that exchange the scores of single segments (or items) of two metrics."""


def agreement_report(result: AgreementResult) -> Report:
    """All tables of `wellput agree`; CSV has the agreement of each metric."""
    value = result.values()
    if result.blamed:
        return Report(tables_of(result), value, BLAME_COLUMNS, result.records())
    return Report(tables_of(result), value, CSV_COLUMNS, value["agreement"])


def tables_of(result: AgreementResult) -> list[Table]:
    """The tables for those parts of the result that are there, in the order in which they are shown."""
    tables = ranking_tables(result.ranking, result.orders)
    # If there is a table of agreement, it has the notes of the result.
    further_notes = [*excluded_notes(result), *([] if result.agreement else result.notes)]
    if tables and further_notes:
        tables[0] = replace(tables[0], notes=[*tables[0].notes, *further_notes])
    if result.orders:
        tables.append(order_table(result))
    if result.agreement:
        tables.append(agreement_table(result))
    if any(not math.isnan(row.p_value) for row in result.differences):
        tables.append(metric_difference_table(result))
    if result.slices:
        tables += ranking_slice_tables(result)
        if result.agreement:
            tables.append(slice_table(result))
    if result.blamed:
        tables += blame_tables(result)
    if result.judges:
        tables.append(judge_table(result))
    if result.spans:
        tables += span_tables(result)
    if result.models:
        tables.append(regression_table(result))
    for entry in result.preferences:
        tables += preference_tables(
            entry,
            excluded_notes(result, "choice", entry["question"]),
            confidence=result.confidence,
        )
    if result.confusion:
        tables.append(confusion_table(result))
    if result.substitutions:
        tables += substitution_tables(result)
    if result.homogeneity:
        tables.append(homogeneity_table(result))
    return tables


def agreement_table(result: AgreementResult) -> Table:
    """The metrics with their agreement, best first within each question and coefficient."""
    has_coefficients = len({row.coefficient for row in result.agreement}) > 1
    ordered = sorted(result.agreement, key=_best_first)
    first = result.agreement[0]
    averaging = f", averaged by {first.average}" if first.average in ("item", "system") else ""
    undefined = [f"{row.metric}, {row.question}: {row.note}." for row in ordered if row.note]
    return Table(
        columns=_agreement_columns(first, has_coefficients),
        rows=[_agreement_cells(row, has_coefficients) for row in ordered],
        title=f"How far metrics agree with people, {result.level} level{averaging}",
        notes=[
            *result.advice,
            *undefined,
            *_method_notes(result),
            *result.notes,
            *excluded_notes(result, left_out_of="agreement"),
            *_undefined_notes(result),
        ],
    )


def _best_first(row: Agreement) -> tuple[str, str, bool, float]:
    """A sort key: by question and coefficient, then the best metric first; undefined values come
    last."""
    return row.question, row.coefficient, math.isnan(row.value), -row.value


def _agreement_columns(first: Agreement, has_coefficients: bool) -> list[str]:
    """The headings; with several coefficients, a column names the coefficient of each row."""
    names = ["coefficient", "agreement"] if has_coefficients else [first.coefficient]
    return ["metric", "question", *names, "p", "p corrected", "n"]


def _agreement_cells(row: Agreement, has_coefficients: bool) -> list[str]:
    return [
        row.metric,
        row.question,
        *([row.coefficient] if has_coefficients else []),
        with_interval(number(row.value, 3), row.low, row.high, 3),
        p_text(row.p_value),
        p_text(row.p_adjusted),
        str(row.n),
    ]


def ranked_slices(result: AgreementResult) -> list[tuple[Ranking, dict[str, Ranking], str]]:
    """For each question: its ranking, the rankings of the slices (the items with one value of a tag) by
    this value, and the tag."""
    tag = next(iter(result.slices[0].by or {}))
    rankings = []
    for whole in result.ranking:
        slices = {
            (part.by or {})[tag]: ranking
            for part in result.slices
            for ranking in part.ranking
            if ranking.question == whole.question
        }
        if slices:
            rankings.append((whole, slices, tag))
    return rankings


def ranking_slice_tables(result: AgreementResult) -> list[Table]:
    """Whom people prefer in each slice, a table for each question."""
    return [ranking_slice_table(*ranked) for ranked in ranked_slices(result)]


def slice_table(result: AgreementResult) -> Table:
    """The agreement in each slice; the notes name the slices whose best metric is not the best
    over all items."""
    tag = next(iter(result.slices[0].by or {}))
    has_coefficients = len({row.coefficient for row in result.agreement}) > 1
    rows = [
        [(part.by or {})[tag], *_agreement_cells(row, has_coefficients)]
        for part in result.slices
        for row in sorted(part.agreement, key=_best_first)
    ]
    return Table(
        columns=[tag, *_agreement_columns(result.agreement[0], has_coefficients)],
        rows=rows,
        title=f"How far metrics agree with people, by {tag}",
        notes=[*best_metric_sentences(result), "p is corrected over the metrics of all slices."],
        name="by",
    )  # fmt: skip


def best_metric_sentences(result: AgreementResult) -> list[str]:
    """The slices whose best metric is not the best over all items, and whether a test shows it."""
    tag = next(iter(result.slices[0].by or {}))
    lines = []
    keys = dict.fromkeys((row.question, row.coefficient) for row in result.agreement)
    for question, coefficient in keys:
        best = _best_metric(result, question, coefficient)
        for part in result.slices:
            best_of_slice = _best_metric(part, question, coefficient)
            if best is None or best_of_slice is None or best_of_slice == best:
                continue
            is_significant = any(
                set(pair.metrics) == {best_of_slice, best}
                and (pair.question, pair.coefficient) == (question, coefficient)
                and pair.p_adjusted < 1 - result.confidence
                for pair in part.differences
            )
            lines.append(
                f"{tag} {(part.by or {})[tag]}: {best_of_slice} agrees best on {question}, "
                f"over all items {best}"
                f"{'.' if is_significant else '; no test shows that this is more than chance.'}"
            )
    return lines


def _best_metric(result: AgreementResult, question: str, coefficient: str) -> str | None:
    rows = [
        row
        for row in result.agreement
        if (row.question, row.coefficient) == (question, coefficient) and not math.isnan(row.value)
    ]
    return max(rows, key=lambda row: row.value).metric if rows else None


def order_table(result: AgreementResult) -> Table:
    """The order that each metric gives the systems, and how many pairs of systems it puts in people's
    order ("pairs right"); metrics with the most such pairs first."""
    has_questions = len(result.ranking) > 1
    ordered = sorted(
        result.orders, key=lambda row: (row.question, -row.agreeing / max(row.pairs, 1))
    )
    return Table(
        columns=[
            "metric",
            *(["question"] if has_questions else []),
            "pairs right",
            "its order, best first",
        ],
        rows=[
            [
                row.metric,
                *([row.question] if has_questions else []),
                f"{row.agreeing} of {row.pairs}",
                row.text,
            ]
            for row in ordered
        ],
        title="Do the metrics order the systems as people do?",
        notes=["Only pairs of systems that people tell apart significantly are counted."],
        is_prose=True,
    )


def metric_difference_table(result: AgreementResult) -> Table:
    """The pairs of metrics that differ; all pairs if there are few."""
    shown = [
        row
        for row in result.differences
        if len(result.differences) <= MAX_PAIRS_ALL_SHOWN or row.p_adjusted < 1 - result.confidence
    ]
    has_groups = len({(row.question, row.coefficient) for row in result.differences}) > 1
    rows = [
        [
            f"{row.metrics[0]} − {row.metrics[1]}",
            *([f"{row.question}, {row.coefficient}"] if has_groups else []),
            with_interval(number(row.delta, 3, sign=True), row.low, row.high, 3, sign=True),
            p_text(row.p_value),
            p_text(row.p_adjusted),
        ]
        for row in shown
    ]
    n_hidden = len(result.differences) - len(shown)
    tests = ", ".join(dict.fromkeys(row.test for row in result.differences))
    notes = [
        f"Test: {tests}; p corrected for all pairs of metrics under one question and coefficient"
        + (
            "; pairs with random or length-only are corrected separately."
            if any(is_sentinel(metric) for row in result.differences for metric in row.metrics)
            else "."
        )
    ]
    if any(row.metric.startswith("length-only") and row.value < 0 for row in result.agreement):
        notes.append("Where shorter outputs are better, length-only is negated to compare it.")
    if any(row.test in SEGMENT_EXCHANGING_TESTS for row in result.differences):
        notes.append(
            "This test assumes that a metric's errors on different segments are independent. Where a "
            "system repeats the same error, the test finds too many differences."
        )
    if n_hidden:
        are = "is" if n_hidden == 1 else "are"
        pairs = counted(n_hidden, "pair")
        notes.insert(0, f"{pairs} that cannot be told apart {are} not shown.")
    return Table(
        columns=["pair", *(["question"] if has_groups else []), "difference", "p", "p corrected"],
        rows=rows,
        title="Which metrics really differ",
        notes=notes,
    )


def regression_table(result: AgreementResult) -> Table:
    """R² and p of each combination of metrics, as in Table 3 of Bangalore et al. (2000)."""
    rows = [
        [
            " + ".join(row["predictors"]),
            row["question"],
            number(row["r_squared"], 3),
            number(row["adjusted_r_squared"], 3),
            number(row["f"], 2),
            p_text(row["p_value"]),
            str(row["n"]),
        ]
        for row in result.models
    ]
    return Table(
        columns=["predictors", "question", "R²", "adjusted R²", "F", "p", "n"],
        rows=rows,
        title="Models of the ratings",
        notes=[f"Linear regressions on segment scores. {holds_for(result.generalize)}"],
    )


def _method_notes(result: AgreementResult) -> list[str]:
    """The scale of the ratings, and what the intervals hold for or why there are none."""
    scale = _scale_in_words(result.normalization)
    # Without an interval, `method` says why there is none.
    reasons = dict.fromkeys(
        row.method
        for row in result.agreement
        if row.low is None and not math.isnan(row.value) and row.method
    )
    reason_sentences = [f"{reason[:1].upper()}{reason[1:]}." for reason in reasons]
    if result.generalize != "items" and any(
        re.search("systems? cannot show", reason) for reason in reasons
    ):
        reason_sentences.append(
            "--generalize items gives intervals for these systems and other items."
        )
    if reasons and all(row.low is None for row in result.agreement):
        return [f"Ratings {scale}.", *reason_sentences]
    clusters = result.clusters
    units = "items" if clusters is None else clusters.words
    jackknife_units = {"both": f"systems and {units}", "systems": "systems", "items": units}
    return [
        f"Ratings {scale}. [low, high]: {100 * result.confidence:g}% intervals, by leaving "
        f"{jackknife_units[result.generalize]} out one at a time. "
        f"{holds_for(result.generalize, clusters)[:-1]}, and these judges."
        f"{_chance_levels(result)}",
        *([] if clusters is None or result.generalize == "systems" else [clusters.sentence]),
        *reason_sentences,
    ]


def _scale_in_words(normalization: Mapping[str, str]) -> str:
    """How ratings were brought to one scale, question by question if that differs.

    >>> _scale_in_words({"quality": "z", "liked": "none"})
    'normalized per judge: quality z, liked as given'
    """
    scales = dict.fromkeys(normalization.values())
    if list(scales) == ["none"]:
        return "as given"
    if len(scales) == 1:
        return f"normalized per judge: {', '.join(scales)}"
    by_question = (
        f"{question} {'as given' if scale == 'none' else scale}"
        for question, scale in normalization.items()
    )
    return f"normalized per judge: {', '.join(by_question)}"


def _chance_levels(result: AgreementResult) -> str:
    """A sentence with the chance levels that p is tested against, if they are not 0."""
    levels: dict[str, list[float]] = {}
    for row in result.agreement:
        if row.null:
            levels.setdefault(row.coefficient, []).append(row.null)
    shown = [
        f"{name} {' to '.join(dict.fromkeys(number(end, 2) for end in (min(values), max(values))))}"
        for name, values in levels.items()
    ]
    return f" p tests against the level of chance ({', '.join(shown)})." if shown else ""


def _undefined_notes(result: AgreementResult) -> list[str]:
    """One note for all metrics that have no value for the same number of outputs."""
    metrics_by_count: dict[tuple[str, int], list[str]] = {}
    for row in result.undefined:
        metrics_by_count.setdefault((row["question"], row["n"]), []).append(row["metric"])
    return [
        f"{', '.join(metrics)} {'has' if len(metrics) == 1 else 'each have'} no value for "
        f"{counted(n, 'output')} judged on {question}: no metric is compared with people on "
        f"{'it' if n == 1 else 'them'}."
        for (question, n), metrics in metrics_by_count.items()
    ]


def _is_unknown(row: Mapping[str, Any], kind: str) -> bool:
    """Whether judgments were left out because the evalset does not have their system, or item (`kind`
    says which)."""
    named = [key for key in ("judge", "system", "item") if row[key] is not None]
    return row["reason"] == UNKNOWN_NAME_REASON and named == [kind]


def _unknown_note(rows: Sequence[Mapping[str, Any]], kind: str, noun: str) -> str:
    """One note for all judgments about names that the evalset does not have. `rows` are exclusions,
    `kind` is system or item, and `noun` is rating or choice."""
    if not rows:
        return ""
    names = list(dict.fromkeys(row[kind] for row in rows))
    n_hidden = len(names) - MAX_UNKNOWN_NAMES
    shown = ", ".join(names[:MAX_UNKNOWN_NAMES]) + (
        f" and {n_hidden:,} more" if n_hidden > 0 else ""
    )
    them = "it" if len(names) == 1 else "them"
    return (
        f"Left out: {counted(sum(row['n'] for row in rows), noun)} of {counted(len(names), kind)} that "
        f"the evalset does not have: {shown}. Write {them} as in the evalset, or give the reason: "
        f'--exclude "{kind}={names[0]}: REASON".'
    )


def excluded_notes(
    result: AgreementResult,
    noun: str = "rating",
    question: str | None = None,
    left_out_of: str = "all",
) -> list[str]:
    """The judgments (`noun`) that were left out, for one question or for all. `left_out_of` says of
    what: everything ("all"), or only the agreement with metrics ("agreement")."""
    lines: list[str] = []
    where = "Left out" if left_out_of == "all" else "Left out here, but not from the ranking"
    rows = [
        row
        for row in result.excluded
        if question in (None, row["question"]) and row.get("of", "all") == left_out_of
    ]
    lines += [
        note
        for kind in ("system", "item")
        if (note := _unknown_note([row for row in rows if _is_unknown(row, kind)], kind, noun))
    ]
    for row in rows:
        if any(_is_unknown(row, kind) for kind in ("system", "item")):
            continue
        named = ", ".join(
            f"{kind} {row[kind]}" for kind in ("judge", "system", "item") if row[kind] is not None
        )
        about = f" on {row['question']}" if row["question"] else ""
        lines.append(f"{where}: {named}{about} ({counted(row['n'], noun)}): {row['reason']}.")
    return lines
