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

INTRODUCTION = """\
# Metrics against real judgments

How far each text metric of wellput, with its default options, agrees with people. The data are public sets of outputs that people judged. The
tables have Pearson's r of each metric with people's answers to each question (such as informativeness or fluency): at segment level over single outputs, at system level over the systems' scores. – means that all scores are equal. Metrics where lower is better are negated, so positive means agreement. `sta`, `gta`, `understandability`
and `quality` need trees of the references: wellput's parser made them (`--trees auto`).

In brackets: the 95% interval that [`wellput agree`](../commands/agree.md) computes. It says how the correlation may change with other systems and other items; if a set has fewer
than four systems, only with other items.

**Bold** is the best metric of a column; ≈ marks metrics that do not differ significantly from the best one (at .05, with Holm's correction
for all pairs); ° marks an r that does not differ significantly from 0 (p ≥ .05). `length` and `length-ratio` do not say which output is better, so they are never the best.
`random` (random scores) and `length-only` (the length of the output) are there for comparison: a metric that does not beat them tells you nothing, and neither does a metric with a smaller
r than the length of the output (longer or shorter is better). The *ceiling* is the r that a perfect metric is expected to reach, because judges' ratings are noisy; it cannot be computed if a file has only the mean or the median of the judges. Names with *their* (*their BLEU*) are scores that the data set itself contains.
The sentences below each table are those that `wellput agree` prints."""


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
    parts = [INTRODUCTION, novikova.section()]
    for section in SECTIONS:
        parts.append(written(section))
        print(parts[-1], file=sys.stderr, flush=True)
    parts.append(all_pairs_section())
    write_page("agreement", "\n\n".join(parts))
    print(f"{time.perf_counter() - started:.0f} s", file=sys.stderr)


def written(section: Section) -> str:
    """One dataset at one level: heading, table, advice."""
    data = section.read()
    tables = tables_of(data, section.metrics)
    result = agree(
        tables,
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
    n = max(row.n for row in result.agreement)
    unit = "outputs" if section.level == "segment" else "systems"
    of_items = f"{len(data.evalset)} items, {len(data.evalset.systems)} systems"
    return "\n".join(
        [
            f"## {data.name}, {section.level} level",
            "",
            f"{data.about[0].upper()}{data.about[1:]}. {of_items}; {n} {unit} correlated.",
            "",
            *table(result),
            "",
            *(f"- {sentence}" for sentence in result.advice),
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
    is_told = any(
        {row.metric, best.metric} == set(pair.metrics) and pair.p_adjusted < ALPHA
        for pair in result.differences
        if pair.question == row.question
    )
    return text if is_told else f"{text} ≈"


def _or_zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value
