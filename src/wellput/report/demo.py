"""What `wellput demo` shows: the whole loop in one screenful."""

from __future__ import annotations

from dataclasses import replace

from wellput.agree.result import AgreementResult
from wellput.report.agree import agreement_table, judge_table
from wellput.report.html.contents import Evaluation
from wellput.report.html.verdict import headline, without_sentinels
from wellput.report.score import CSV_COLUMNS, score_table
from wellput.report.table import Report


def demo_report(
    evaluation: Evaluation, agreement: AgreementResult, *, width: int | None = None
) -> Report:
    """Scores and agreement without their fine print, which `score` and `agree` show; JSON has the keys
    of `score`, and all of `agree` under `agreement`."""
    result = evaluation.result
    scores = score_table(without_sentinels(result), **({"width": width} if width else {}))
    scores = replace(
        scores,
        title="How well is it put?",
        notes=[
            headline(result),
            f"[low, high]: {result.confidence:.0%} interval. *: differs from the baseline, p < "
            f"{result.alpha:g}.",
        ],
    )
    people = replace(agreement_table(agreement), notes=agreement.advice)
    judges = replace(judge_table(agreement), notes=())
    value = {**result.to_dict(), "agreement": agreement.to_dict()}
    return Report([scores, people, judges], value, CSV_COLUMNS, value["scores"])
