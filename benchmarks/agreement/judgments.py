"""All text metrics of wellput against real human judgments: `make bench-agreement`."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from benchmarks.agreement import human_data, novikova
from benchmarks.agreement.human_data import HumanData
from benchmarks.agreement.scored import tables_of
from benchmarks.pages import write_page
from benchmarks.speed.all_pairs import section as all_pairs_section
from wellput.agreement.analysis import AgreementOptions, agree
from wellput.agreement.correlations import Uncertainty
from wellput.agreement.judges import ceiling
from wellput.agreement.result import Agreement, AgreementLevel, AgreementResult
from wellput.core.errors import counted
from wellput.core.metric import SENTINELS
from wellput.core.work import available_cores
from wellput.stats.two_way_jackknife import MIN_UNITS

ALPHA = 0.05
NEUTRAL = ("length", "length-ratio")
"""Neither good nor bad, so never the best."""

METRICS = (
    "bleu", "chrf", "chrf:word_order=2", "ter", "wer", "nist", "rouge-l", "ssa", "gsa", "exact",
    "sta", "gta", "understandability", "quality", "length-ratio", "ttr", "distinct", "length", *SENTINELS,
)  # fmt: skip
UNDEFINED_FOR_ONE_WORD = ("ttr", "distinct")
NOT_BEATEN = " Corrected for all pairs, "
"""Begins the last sentence of an advice, which lists the metrics that ≈ marks in the table."""

INTRODUCTION = """\
# Metrics against real judgments

How far do text metrics of wellput, with their default options, agree with people? The data are public sets of outputs that people judged.
At segment level (single outputs) the best metric of a question correlates {lowest} to {highest} with people, and for {n_tied} of {n_segment} questions at least one other
metric does not differ significantly from the best. At system level (mean scores of {fewest} to {most} systems) {n_significant} of {n_system} best correlations
differ from 0 with p < .05, before a correction for the number of metrics.

The tables have Pearson's r of each [metric](../metrics/index.md) with people's answers to each question (such as informativeness or fluency). Metrics where lower is better
are negated, so a positive r means agreement. `chrf:word_order=2` is chrF++. `sta`, `gta`, `understandability` and `quality` need trees of the references: wellput's parser
made them (`--trees auto`). Rows with *their* (*their BLEU*) are scores that the data set itself contains; for WebNLG they
were computed with more references than the data set has.

In brackets is the 95% interval of [`wellput agree`](../commands/agree.md). It says how r may change with other systems and other items; if a set has fewer than four
systems, only with other items. The marks:

- **bold**: the best metric of the column, apart from `length` and `length-ratio`, which do not say which output is better, and
  `random` and `length-only`, which are there for comparison.
- ≈: not significantly different from the best (at .05, with Holm's correction for all pairs of metrics; pairs with `random` or
  `length-only` are corrected separately).
- °: not significantly different from 0 (p ≥ .05, not corrected for the number of metrics).
- –: r is undefined, because all outputs have the same score.
- *ceiling*: the r that a perfect metric is expected to reach, because judges' ratings are noisy. It is known only for sets that have the ratings of the single judges.

`random` (random scores) and `length-only` (the length of the output) know nothing of quality: a metric that does not beat them tells you nothing. `length-only` is
compared by the absolute value of its r, because people may prefer longer or shorter outputs. So `length` and
`length-only` have the same r, but not always the same marks. The sentences below each table are those that `wellput agree` prints,
without its list of the metrics that ≈ marks."""


@dataclass(frozen=True)
class Section:
    """One table of the page. `metrics` are ours; those that came with the data are added."""

    read: Callable[[], HumanData]
    level: AgreementLevel = "segment"
    metrics: Sequence[str] = METRICS


SECTIONS = (
    Section(human_data.bagel),
    Section(human_data.sfres),
    # Of an empty output neither ttr nor distinct has a value, and all would be compared without it.
    Section(
        partial(human_data.webnlg, with_nothing_said=True),
        metrics=[name for name in METRICS if name not in UNDEFINED_FOR_ONE_WORD],
    ),
    Section(partial(human_data.webnlg, with_nothing_said=False)),
    Section(
        partial(human_data.webnlg, with_nothing_said=True),
        "system",
        [name for name in METRICS if name not in UNDEFINED_FOR_ONE_WORD],
    ),
    Section(human_data.summeval),
    Section(human_data.summeval, "system"),
    Section(human_data.simplicity_da),
    Section(human_data.asset),
    Section(human_data.da2016),
    Section(human_data.mqm),
    Section(human_data.mqm, "system"),
    Section(partial(human_data.wmt21, "cs-en"), "system"),
    Section(partial(human_data.wmt21, "de-en"), "system"),
    Section(partial(human_data.wmt21, "ru-en"), "system"),
)


def main() -> None:
    started = time.perf_counter()
    results: list[AgreementResult] = []
    parts: list[str] = []
    for section in SECTIONS:
        data = section.read()
        results.append(agreement_of(section, data))
        parts.append(written(section, data, results[-1]))
        print(parts[-1], file=sys.stderr, flush=True)
    parts += [novikova.section(), all_pairs_section()]
    write_page("agreement", "\n\n".join([introduction(results), *parts]))
    print(f"{time.perf_counter() - started:.0f} s", file=sys.stderr)


def introduction(results: Sequence[AgreementResult]) -> str:
    """The beginning of the page, with what came out."""
    best = {
        (place, row.question): _best(result, row.question)
        for place, result in enumerate(results)
        for row in result.agreement
    }
    of_outputs, of_systems = (
        {key: row for key, row in best.items() if results[key[0]].level == level}
        for level in ("segment", "system")
    )
    return INTRODUCTION.format(
        lowest=f"{min(row.value for row in of_outputs.values()):.2f}",
        highest=f"{max(row.value for row in of_outputs.values()):.2f}",
        n_tied=sum(
            any(
                row.question == question
                and row.metric not in (*SENTINELS, *NEUTRAL, own.metric)
                and not math.isnan(row.value)
                and not _is_different(row, own, results[place])
                for row in results[place].agreement
            )
            for (place, question), own in of_outputs.items()
        ),
        n_segment=len(of_outputs),
        fewest=min(row.n for row in of_systems.values()),
        most=max(row.n for row in of_systems.values()),
        n_significant=sum(
            row.p_value is not None and row.p_value < ALPHA for row in of_systems.values()
        ),
        n_system=len(of_systems),
    )


def agreement_of(section: Section, data: HumanData) -> AgreementResult:
    return agree(
        tables_of(data, section.metrics),
        data.judgments,
        AgreementOptions(
            level=section.level,
            normalization=data.normalization,
            alpha=ALPHA,
            uncertainty=Uncertainty(
                threads=available_cores(),
                generalize="both" if len(data.evalset.systems) >= MIN_UNITS else "items",
            ),
        ),
    )


def written(section: Section, data: HumanData, result: AgreementResult) -> str:
    """One dataset at one level: heading, table, advice."""
    n = max(row.n for row in result.agreement)
    unit = "outputs" if section.level == "segment" else "systems"
    of_items = f"{len(data.evalset)} items, {counted(len(data.evalset.systems), 'system')}"
    return "\n".join(
        [
            f"## {data.name}, {section.level} level",
            "",
            f"{data.about[0].upper()}{data.about[1:]}. {of_items}; {n} {unit} correlated.",
            "",
            *table(result),
            "",
            *(f"- {paragraph.partition(NOT_BEATEN)[0]}" for paragraph in result.advice),
            *(
                f"- {row['metric']} has no value for {row['n']} outputs; all metrics are compared "
                "without them."
                for row in {row["metric"]: row for row in result.undefined}.values()
            ),
        ]
    )


def table(result: AgreementResult) -> list[str]:
    """Metrics × questions, best on average first, the sentinels and the ceiling last."""
    questions = list(dict.fromkeys(row.question for row in result.agreement))
    rows = {(row.metric, row.question): row for row in result.agreement}
    names = list(dict.fromkeys(row.metric for row in result.agreement))
    names.sort(
        key=lambda name: (
            name in SENTINELS,
            name in NEUTRAL,
            -sum(_or_zero(rows[name, question].value) for question in questions),
        )
    )
    lines = [f"| metric | {' | '.join(questions)} |", "|---" * (len(questions) + 1) + "|"]
    best = {question: _best(result, question) for question in questions}
    for name in names:
        cells = [_cell(rows[name, question], best[question], result) for question in questions]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    ceilings = {summary.question: ceiling(summary) for summary in result.judges}
    if result.level == "segment" and all(value is not None for value in ceilings.values()):
        shown = " | ".join(f"{ceilings[question]:.2f}" for question in questions)
        lines.append(f"| *ceiling: the judges' noise* | {shown} |")
    return lines


def _best(result: AgreementResult, question: str) -> Agreement:
    return max(
        (
            row
            for row in result.agreement
            if row.question == question
            and row.metric not in (*SENTINELS, *NEUTRAL)
            and not math.isnan(row.value)
        ),
        key=lambda row: row.value,
    )


def _cell(row: Agreement, best: Agreement, result: AgreementResult) -> str:
    if math.isnan(row.value):
        return "–"
    text = f"{row.value:.3f}"
    if row.low is not None and row.high is not None and not math.isnan(row.low):
        text += f" [{row.low:.2f}, {row.high:.2f}]"
    if row.p_value is not None and row.p_value >= ALPHA:
        text += "°"
    if row.metric == best.metric:
        return f"**{text}**"
    return text if _is_different(row, best, result) else f"{text} ≈"


def _is_different(row: Agreement, best: Agreement, result: AgreementResult) -> bool:
    return any(
        {row.metric, best.metric} == set(pair.metrics) and pair.p_adjusted < ALPHA
        for pair in result.differences
        if pair.question == row.question
    )


def _or_zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value
