"""What `wellput agree` shows: metrics ranked by agreement, real differences, the judges, the advice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from wellput.agreement.correlate import MIN_SYSTEMS_TO_GENERALIZE
from wellput.agreement.result import Agreement, AgreementResult, JudgeSummary
from wellput.core.counted import counted
from wellput.reporting.ranking import ranking_tables
from wellput.reporting.table import Report, Table, number, p_text

CSV_COLUMNS = (
    "metric", "question", "level", "average", "coefficient", "value", "low", "high", "p_value", "n",
    "note",
)  # fmt: skip
MANY_PAIRS = 15
EXCHANGES_SEGMENTS = ("perm-both", "perm-inputs", "perm-cells")


def agreement_report(result: AgreementResult) -> Report:
    """Everything `wellput agree` says; CSV has the agreement of each metric."""
    value = result.values()
    return Report(tables_of(result), value, CSV_COLUMNS, value["agreement"])


def tables_of(result: AgreementResult) -> list[Table]:
    tables = ranking_tables(result.ranking, result.orders)
    if tables and (left_out := _excluded(result)):
        tables[0] = replace(tables[0], notes=[*tables[0].notes, *left_out])
    if result.orders:
        tables.append(order_table(result))
    if result.agreement:
        tables.append(agreement_table(result))
    if result.differences:
        tables.append(difference_table(result))
    if result.judges:
        tables.append(judge_table(result))
    if result.models:
        tables.append(model_table(result))
    for entry in result.preferences:
        tables += preference_tables(entry, _excluded(result, "choice", entry["question"]))
    if result.confusion:
        tables.append(confusion_table(result))
    return tables


def agreement_table(result: AgreementResult) -> Table:
    """Best first within each question and coefficient."""
    several = len({row.coefficient for row in result.agreement}) > 1
    ordered = sorted(
        result.agreement,
        key=lambda row: (row.question, row.coefficient, math.isnan(row.value), -row.value),
    )
    rows = [
        [
            row.metric,
            row.question,
            *([row.coefficient] if several else []),
            _with_interval(row),
            str(row.n),
        ]
        for row in ordered
    ]
    first = result.agreement[0]
    how = f", averaged by {first.average}" if first.average in ("item", "system") else ""
    heading = "agreement" if several else first.coefficient
    undefined = [f"{row.metric}, {row.question}: {row.note}." for row in ordered if row.note]
    return Table(
        columns=["metric", "question", *(["coefficient"] if several else []), heading, "n"],
        rows=rows,
        title=f"How far metrics agree with people, {result.level} level{how}",
        notes=[*result.advice, *undefined, *_how(result), *_undefined(result)],
    )


def order_table(result: AgreementResult) -> Table:
    """Each metric's order of the systems against people's, most pairs right first."""
    several = len(result.ranking) > 1
    ordered = sorted(
        result.orders, key=lambda row: (row.question, -row.agreeing / max(row.pairs, 1))
    )
    return Table(
        columns=[
            "metric",
            *(["question"] if several else []),
            "pairs as people",
            "its order, best first",
        ],
        rows=[
            [
                row.metric,
                *([row.question] if several else []),
                f"{row.agreeing} of {row.pairs}",
                row.text,
            ]
            for row in ordered
        ],
        title="Do the metrics order the systems as people do?",
        notes=["Pairs: those systems that people tell apart significantly."],
        is_prose=True,
    )


def difference_table(result: AgreementResult) -> Table:
    """The pairs of metrics that differ; where there are few pairs, all."""
    shown = [
        row
        for row in result.differences
        if len(result.differences) <= MANY_PAIRS or row.p_adjusted < 0.05
    ]
    several = len({(row.question, row.coefficient) for row in result.differences}) > 1
    rows = [
        [
            f"{row.metrics[0]} − {row.metrics[1]}",
            *([f"{row.question}, {row.coefficient}"] if several else []),
            number(row.delta, 3, sign=True),
            p_text(row.p_value),
            p_text(row.p_adjusted),
        ]
        for row in shown
    ]
    left_out = len(result.differences) - len(shown)
    tests = ", ".join(dict.fromkeys(row.test for row in result.differences))
    notes = [f"Test: {tests}; p corrected for all pairs of metrics."]
    if any(row.test in EXCHANGES_SEGMENTS for row in result.differences):
        notes.append(
            "It takes a metric's errors on different segments for independent; where a system draws "
            "the same error again and again, it finds differences too often. perm-systems does not."
        )
    if left_out:
        are = "is" if left_out == 1 else "are"
        pairs = counted(left_out, "pair")
        notes.insert(0, f"{pairs} that cannot be told apart {are} not shown.")
    return Table(
        columns=["pair", *(["question"] if several else []), "difference", "p", "p corrected"],
        rows=rows,
        title="Which metrics really differ",
        notes=notes,
    )


def judge_table(result: AgreementResult) -> Table:
    rows = [_judges(row) for row in result.judges]
    notes = [f"{row.question}: {row.note}." for row in result.judges if row.note]
    notes += [
        f"{' and '.join(row['questions'])} correlate {number(row['value'], 2)} over "
        f"{counted(row['n'], 'trial')}."
        for row in result.questions
    ]
    return Table(
        columns=[
            "question",
            "judges",
            "trials",
            "pairwise r (min to max)",
            "split half",
            "κ",
            "α",
            "β",
        ],
        rows=rows,
        title="Judges among themselves",
        notes=notes,
    )


def _judges(row: JudgeSummary) -> list[str]:
    pairs = row.pairwise
    pairwise = "–"
    if pairs is not None:
        pairwise = (
            f"{number(pairs['mean'], 2)} ({number(pairs['min'], 2)} to {number(pairs['max'], 2)})"
        )
    figures = (row.split_half, row.kappa, row.alpha, row.beta)
    return [
        row.question,
        str(row.n_judges),
        str(row.n_trials),
        pairwise,
        *("–" if figure is None else number(figure, 2) for figure in figures),
    ]


def model_table(result: AgreementResult) -> Table:
    """R² and p of each combination of metrics, as Table 3 of Bangalore et al. (2000)."""
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
        notes=["Linear regressions on segment scores; p holds for other systems and other items."],
    )


def preference_tables(entry: Mapping[str, Any], left_out: Sequence[str] = ()) -> list[Table]:
    systems = Table(
        columns=["system", "chosen / offered", "interval", "strength", "offers"],
        rows=[
            [
                row["system"],
                number(row["selection_ratio"], 3),
                f"[{number(row['low'], 3)}, {number(row['high'], 3)}]",
                number(row["strength"], 2, sign=True),
                str(row["n"]),
            ]
            for row in entry["systems"]
        ],
        title=f"Preferences: {entry['question']}, {counted(entry['n'], 'choice')} of "
        f"{counted(entry['judges'], 'judge')}",
        notes=[
            "Strength: log scale of Bradley and Terry, with Davidson's ties.",
            *([entry["note"]] if entry["note"] else []),
            *left_out,
        ],
    )
    pairs = Table(
        columns=["pair", "chosen", "ties", "χ²", "p"],
        rows=[
            [
                " : ".join(row["systems"]),
                " : ".join(str(count) for count in row["chosen"]),
                str(row["ties"]),
                number(row["chi_squared"], 2),
                p_text(row["p_value"]),
            ]
            for row in entry["pairs"]
        ],
        caption=f"Pairs of systems: {entry['question']}",
    )
    return [systems, pairs]


def confusion_table(result: AgreementResult) -> Table:
    if any(row["metric"] == "kept" for row in result.confusion):
        return decision_table(result)
    return Table(
        columns=["metric", "question", "choices as people's", "κ", "n"],
        rows=[
            [
                row["metric"],
                row["question"],
                number(row["accuracy"], 3),
                number(row["kappa"], 3),
                str(row["n"]),
            ]
            for row in sorted(result.confusion, key=lambda row: (row["question"], -row["accuracy"]))
        ],
        title="Metrics as judges: how often the higher score is people's choice",
    )


def decision_table(result: AgreementResult) -> Table:
    """A filter's decisions down, people's verdicts across (Kauchak & Barzilay's Table 8)."""
    rows = []
    notes = []
    for row in result.confusion:
        name = row["question"]
        rows.append([f"{name}: refused", str(row["true_negatives"]), str(row["false_negatives"])])
        rows.append([f"{name}: kept", str(row["false_positives"]), str(row["true_positives"])])
        notes.append(
            f"{name}: {number(row['accuracy'], 3)} of {row['n']:,} verdicts agree with the filter, "
            f"κ {number(row['kappa'], 3)}."
        )
    return Table(
        ["filter", "judged wrong", "judged right"],
        rows,
        title="The filter's decisions",
        notes=notes,
    )


def _with_interval(row: Agreement) -> str:
    text = number(row.value, 3)
    if row.low is not None and row.high is not None and not math.isnan(row.low):
        text += f" [{number(row.low, 3)}, {number(row.high, 3)}]"
    return text


def _how(result: AgreementResult) -> list[str]:
    normalized = set(result.normalization.values())
    scale = (
        "as given" if normalized == {"none"} else f"normalized per judge: {', '.join(normalized)}"
    )
    if not result.interval:
        return [
            f"Ratings {scale}. No intervals: nothing can be said of other systems from fewer than "
            f"{MIN_SYSTEMS_TO_GENERALIZE}. --resample items gives intervals for these systems."
        ]
    return [
        f"Ratings {scale}. [low, high]: {result.interval}, {counted(result.n_resamples, 'resample')}, "
        f"seed {result.seed}."
        if result.level != "document"
        else f"Ratings {scale}. [low, high]: {result.interval}, seed {result.seed}."
    ]


def _undefined(result: AgreementResult) -> list[str]:
    return [
        f"{row['metric']} has no value for {counted(row['n'], 'output')} judged on {row['question']}: "
        f"no metric was held against people on {'it' if row['n'] == 1 else 'them'}."
        for row in result.undefined
    ]


def _excluded(
    result: AgreementResult, noun: str = "rating", question: str | None = None
) -> list[str]:
    """What was left out, of one question or of all."""
    lines: list[str] = []
    for row in result.excluded:
        if question not in (None, row["question"]):
            continue
        named = ", ".join(
            f"{kind} {row[kind]}" for kind in ("judge", "system", "item") if row[kind] is not None
        )
        about = f" on {row['question']}" if row["question"] else ""
        lines.append(f"Left out: {named}{about} ({counted(row['n'], noun)}): {row['reason']}.")
    return lines
