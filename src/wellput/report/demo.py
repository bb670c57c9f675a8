"""What `wellput demo` shows: the whole loop in one screenful of 80 columns."""

from __future__ import annotations

from dataclasses import replace

from wellput.agree.result import AgreementResult
from wellput.core.score import Score
from wellput.engine.result import ScoreResult
from wellput.report.agree import agreement_table, judge_table
from wellput.report.html.contents import Evaluation
from wellput.report.html.verdict import headline, without_sentinels
from wellput.report.score import CSV_COLUMNS, score_table
from wellput.report.table import UNLIMITED, Report, Table, number


def demo_report(evaluation: Evaluation, agreement: AgreementResult) -> Report:
    """Scores and agreement without their fine print, which `score` and `agree` show; JSON has the keys
    of `score`, and all of `agree` under `agreement`."""
    result = evaluation.result
    people = replace(agreement_table(agreement), notes=agreement.advice)
    judges = replace(judge_table(agreement), notes=())
    value = {**result.to_dict(), "agreement": agreement.to_dict()}
    tables = [_short_table(without_sentinels(result)), people, judges]
    return Report(tables, value, CSV_COLUMNS, value["scores"])


def _short_table(result: ScoreResult) -> Table:
    """Systems down, metrics across, half the interval's width after each score."""
    rows = [
        [system, *(_cell(result[system, metric], result) for metric in result.metrics)]
        for system in result.systems
    ]
    legend = (
        f"±: half the {result.confidence:.0%} interval. *: differs from {result.systems[0]}, the "
        f"baseline, p < {result.alpha:g}."
    )
    return replace(
        score_table(result, width=UNLIMITED),
        columns=["system", *result.metrics],
        rows=rows,
        title="How well is it put?",
        notes=[headline(result), legend],
    )


def _cell(score: Score, result: ScoreResult) -> str:
    digits = 1 if abs(score.score) >= 10 else 3
    text = number(score.score, digits)
    if score.low is not None and score.high is not None:
        text += f" ± {number((score.high - score.low) / 2, digits)}"
    return text + (" *" if result.is_shown(score.p_value, score.n_common) else "")
