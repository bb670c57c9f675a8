"""What `wellput agree` shows: metrics ranked by agreement, real differences, the judges, the advice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from wellput.agreement.orders import is_sentinel
from wellput.agreement.result import AgreementResult, JudgeSummary
from wellput.core.errors import counted
from wellput.core.estimates import holds_for
from wellput.reporting.ranking import ranking_tables
from wellput.reporting.table import Report, Table, number, p_text

CSV_COLUMNS = (
    "metric", "question", "level", "average", "coefficient", "value", "low", "high", "p_value",
    "p_adjusted", "null", "n", "note",
)  # fmt: skip
MAX_PAIRS_ALL_SHOWN = 15
SEGMENT_EXCHANGING_TESTS = ("perm-both", "perm-inputs", "perm-cells")


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
            with_interval(row.value, row.low, row.high),
            p_text(row.p_value),
            p_text(row.p_adjusted),
            str(row.n),
        ]
        for row in ordered
    ]
    first = result.agreement[0]
    how = f", averaged by {first.average}" if first.average in ("item", "system") else ""
    heading = "agreement" if several else first.coefficient
    undefined = [f"{row.metric}, {row.question}: {row.note}." for row in ordered if row.note]
    return Table(
        columns=[
            "metric",
            "question",
            *(["coefficient"] if several else []),
            heading,
            "p",
            "p corrected",
            "n",
        ],
        rows=rows,
        title=f"How far metrics agree with people, {result.level} level{how}",
        notes=[
            *result.advice,
            *undefined,
            *_how(result),
            *result.notes,
            *_excluded(result, of="agreement"),
            *_undefined(result),
        ],
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
        if len(result.differences) <= MAX_PAIRS_ALL_SHOWN or row.p_adjusted < 0.05
    ]
    several = len({(row.question, row.coefficient) for row in result.differences}) > 1
    rows = [
        [
            f"{row.metrics[0]} − {row.metrics[1]}",
            *([f"{row.question}, {row.coefficient}"] if several else []),
            with_interval(row.delta, row.low, row.high, sign=True),
            p_text(row.p_value),
            p_text(row.p_adjusted),
        ]
        for row in shown
    ]
    left_out = len(result.differences) - len(shown)
    tests = ", ".join(dict.fromkeys(row.test for row in result.differences))
    notes = [
        f"Test: {tests}; p corrected for all pairs of metrics of a question and coefficient, and apart "
        "from them for pairs with a sentinel."
        if any(is_sentinel(metric) for row in result.differences for metric in row.metrics)
        else f"Test: {tests}; p corrected for all pairs of metrics of a question and coefficient."
    ]
    if any(row.metric.startswith("length-only") and row.value < 0 for row in result.agreement):
        notes.append("Where shorter is better, length-only is turned round before it is compared.")
    if any(row.test in SEGMENT_EXCHANGING_TESTS for row in result.differences):
        notes.append(
            "This test takes a metric's errors on different segments for independent; where a system "
            "draws the same error again and again, it finds differences too often."
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
    """A row a question and kind of values: all figures of a row are on the same values."""
    rows = [cells for row in result.judges for cells in _judges(row)]
    notes = [f"{row.question}: {row.note}." for row in result.judges if row.note]
    notes += [sentence for row in result.judges if (sentence := ceiling_sentence(row))]
    notes += [
        f"{' and '.join(row['questions'])} correlate {number(row['value'], 2)} over "
        f"{counted(row['n'], 'trial')}."
        for row in result.questions
    ]
    return Table(
        columns=[
            "question",
            "values",
            "judges",
            "trials",
            "pairwise r (min to max)",
            "split half",
            "κ",
            "α",
            "β",
            "ICC",
        ],
        rows=rows,
        title="Judges among themselves",
        notes=[*_scales(result.judges), *notes],
    )


def _judges(row: JudgeSummary) -> list[list[str]]:
    figures: list[Mapping[str, Any]] = [asdict(row)]
    if row.normalized is not None:
        figures.append(row.normalized)
    return [
        [
            row.question,
            each["values"],
            str(row.n_judges),
            str(row.n_trials),
            _pairwise(each["pairwise"]),
            *(_or_dash(each[name]) for name in ("split_half", "kappa", "alpha", "beta")),
            _icc(each["icc"]),
        ]
        for each in figures
    ]


def _pairwise(pairs: Mapping[str, float] | None) -> str:
    if pairs is None:
        return "–"
    mean, least, greatest = (number(pairs[name], 2) for name in ("mean", "min", "max"))
    return f"{mean} ({least} to {greatest})"


def _icc(coefficients: Mapping[str, Mapping[str, float]] | None) -> str:
    """ICC2 where it is defined, else ICC1: of a single judge, severity counting as disagreement."""
    for name in ("ICC2", "ICC1"):
        if coefficients and name in coefficients:
            return f"{number(coefficients[name]['value'], 2)} ({name})"
    return "–"


def _or_dash(figure: float | None) -> str:
    return "–" if figure is None else number(figure, 2)


def _scales(judges: Sequence[JudgeSummary]) -> list[str]:
    """What counts as disagreement in κ, α and β."""
    words = {
        "interval": "Of ratings, κ (quadratic weights), α and β (interval) count a disagreement by its "
        "square; for yes and no they are the figures for categories.",
        "nominal": "Of choices, κ and α (nominal) count any two that differ; a trial is an item with "
        "the two systems offered.",
    }
    return [
        words[scale] for scale in dict.fromkeys(row.scale for row in judges if row.n_judges > 1)
    ]


def ceiling_sentence(row: JudgeSummary) -> str:
    """What the judges' noise leaves for a perfect metric; empty where it is not known."""
    if row.ceiling is None or row.ceiling["value"] is None:
        return ""
    bounds = ""
    if row.ceiling["low"] is not None:
        low, high = (number(row.ceiling[name], 2) for name in ("low", "high"))
        bounds = f" [{low}, {high}]"
    return (
        f"{row.question}: a perfect metric is expected to correlate {number(row.ceiling['value'], 2)}"
        f"{bounds} with the mean of these judges, whose own noise keeps it from 1; a metric may come "
        "out higher by chance."
    )


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
        notes=[f"Linear regressions on segment scores. {holds_for(result.generalize)}"],
    )


def preference_tables(entry: Mapping[str, Any], left_out: Sequence[str] = ()) -> list[Table]:
    systems = Table(
        columns=["system", "chosen / offered", "strength", "offers"],
        rows=[
            [
                row["system"],
                _bounded(number(row["selection_ratio"], 3), row["low"], row["high"], 3),
                _bounded(
                    number(row["strength"], 2, sign=True),
                    row["strength_low"],
                    row["strength_high"],
                    2,
                ),
                str(row["n"]),
            ]
            for row in entry["systems"]
        ],
        title=f"Preferences: {entry['question']}, {counted(entry['n'], 'choice')} of "
        f"{counted(entry['judges'], 'judge')}",
        notes=[
            "Strength: log scale of Bradley and Terry, with Davidson's ties. [low, high]: 95% interval "
            "for other judges and other items.",
            *([entry["note"]] if entry["note"] else []),
            *left_out,
        ],
    )
    pairs = Table(
        columns=["pair", "chosen", "ties", "first's share", "p", "p (Holm)", "χ²"],
        rows=[
            [
                " : ".join(row["systems"]),
                " : ".join(str(count) for count in row["chosen"]),
                str(row["ties"]),
                _bounded(number(row["share"], 2), row["low"], row["high"], 2),
                p_text(row["p_value"]),
                p_text(row["p_adjusted"]),
                number(row["chi_squared"], 2),
            ]
            for row in entry["pairs"]
        ],
        caption=f"Pairs of systems: {entry['question']}",
        notes=[
            "p: that the share is even, for other judges and other items, and never below the exact "
            "binomial test's. χ², as papers print it, takes all choices for independent: it decides "
            "nothing here."
        ],
    )
    return [systems, pairs]


def _bounded(value: str, low: float | None, high: float | None, digits: int) -> str:
    """`value [low, high]`, the value alone where there is no interval."""
    if low is None or high is None or math.isnan(low):
        return value
    return f"{value} [{number(low, digits)}, {number(high, digits)}]"


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


def with_interval(
    value: float, low: float | None, high: float | None, *, sign: bool = False
) -> str:
    """The value, and its interval where there is one."""
    text = number(value, 3, sign=sign)
    if low is not None and high is not None and not math.isnan(low):
        text += f" [{number(low, 3, sign=sign)}, {number(high, 3, sign=sign)}]"
    return text


def _how(result: AgreementResult) -> list[str]:
    """What the ratings are, what the intervals hold for, and why there are none."""
    normalized = set(result.normalization.values())
    scale = (
        "as given" if normalized == {"none"} else f"normalized per judge: {', '.join(normalized)}"
    )
    missing = dict.fromkeys(
        row.method
        for row in result.agreement
        if row.low is None and not math.isnan(row.value) and row.method
    )
    reasons = [f"{reason[:1].upper()}{reason[1:]}." for reason in missing]
    if len(missing) and all(row.low is None for row in result.agreement):
        return [f"Ratings {scale}.", *reasons]
    left_out = {"both": "systems and items", "systems": "systems", "items": "items"}
    return [
        f"Ratings {scale}. [low, high]: {result.confidence:.0%} intervals, by leaving "
        f"{left_out[result.generalize]} out one at a time. {holds_for(result.generalize)[:-1]}, and "
        f"these judges."
        f"{_chance_levels(result)}",
        *reasons,
    ]


def _chance_levels(result: AgreementResult) -> str:
    """What p is held against where that is not 0."""
    levels: dict[str, list[float]] = {}
    for row in result.agreement:
        if row.null:
            levels.setdefault(row.coefficient, []).append(row.null)
    told = [
        f"{name} {' to '.join(dict.fromkeys(number(end, 2) for end in (min(found), max(found))))}"
        for name, found in levels.items()
    ]
    return f" p: against what chance gives ({', '.join(told)})." if told else ""


def _undefined(result: AgreementResult) -> list[str]:
    return [
        f"{row['metric']} has no value for {counted(row['n'], 'output')} judged on {row['question']}: "
        f"no metric was held against people on {'it' if row['n'] == 1 else 'them'}."
        for row in result.undefined
    ]


def _excluded(
    result: AgreementResult, noun: str = "rating", question: str | None = None, of: str = "all"
) -> list[str]:
    """What was left out, of one question or of all: of everything, or of the agreement alone."""
    lines: list[str] = []
    where = "Left out" if of == "all" else "Left out here, but not of the ranking"
    for row in result.excluded:
        if question not in (None, row["question"]) or row.get("of", "all") != of:
            continue
        named = ", ".join(
            f"{kind} {row[kind]}" for kind in ("judge", "system", "item") if row[kind] is not None
        )
        about = f" on {row['question']}" if row["question"] else ""
        lines.append(f"{where}: {named}{about} ({counted(row['n'], noun)}): {row['reason']}.")
    return lines
