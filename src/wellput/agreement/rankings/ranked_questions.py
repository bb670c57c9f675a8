"""Makes rankings from judgments, for all commands that show one: by the model of `wellput rank`, or by
plain means if that model cannot be fitted.

A plain ranking has no intervals and no tests; its `refusal` says why.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import cast

import numpy as np

from wellput.agreement.panel import AnyJudgment, Panel
from wellput.agreement.rankings.checks import circular_note
from wellput.agreement.rankings.fitted_question import fit_question, model_for
from wellput.agreement.rankings.fitted_ranking import SCALE_OF, rank_fitted
from wellput.agreement.rankings.judgment_design import QuestionData, question_data
from wellput.agreement.rankings.plain_ranking import (
    LOWER_IS_BETTER,
    MAX_RANKED_SYSTEMS,
    EstimateScale,
    RankedSystem,
    Ranking,
    SystemDifference,
)
from wellput.core.errors import InputError
from wellput.core.judgment import Judgment
from wellput.stats.blas_threads import one_blas_thread


def rank_answers(answers: Sequence[AnyJudgment], *, sequential: bool = False) -> list[Ranking]:
    """One ranking for each question. With `sequential`, rankings hold even if you look at them after
    every answer."""
    by_question: dict[str, list[AnyJudgment]] = {}
    for answer in answers:
        by_question.setdefault(answer.question, []).append(answer)
    return [
        rank_question(question, question_answers, sequential=sequential)
        for question, question_answers in by_question.items()
    ]


@one_blas_thread()
def rank_question(
    question: str,
    answers: Sequence[AnyJudgment],
    *,
    confidence: float = 0.95,
    sequential: bool = False,
) -> Ranking:
    """The ranking by the answers to one question. Differences of systems are significant if p is below
    1 − `confidence`."""
    data = question_data(question, cast("Sequence[Judgment]", answers))
    try:
        fitted = fit_question(data)
        ranking = rank_fitted(fitted, confidence=confidence, sequential=sequential)
        # A sequential ranking may be made again and again while judgments come in; the test behind this
        # note is valid only if it is made a single time.
        circular = () if sequential else circular_note(fitted, alpha=1 - confidence)
        return replace(ranking, notes=(*ranking.notes, *circular))
    except InputError as problem:
        reason = str(problem).removeprefix(f"{question}: ")
        return replace(_plain_ranking(data, reason), sequential=sequential)


def judgments_of(panel: Panel, judgments: Sequence[Judgment]) -> list[Judgment]:
    """The judgments that are not excluded from the panel. If the ratings of the panel are normalized,
    the judgments get these values, and several judgments of an output by one judge become one, as in
    the panel."""
    judges, systems, items = (
        {name: place for place, name in enumerate(names)}
        for names in (panel.judges, panel.systems, panel.items)
    )
    as_given: list[Judgment] = []
    with_panel_values: dict[tuple[str, str, str], Judgment] = {}
    for judgment in judgments:
        if judgment.question != panel.question or not (
            judgment.system in systems and judgment.item in items
        ):
            continue
        value = float(
            panel.ratings[judges[judgment.judge], systems[judgment.system], items[judgment.item]]
        )
        if not math.isnan(value):
            as_given.append(judgment)
            with_panel_values[judgment.judge, judgment.system, judgment.item] = replace(
                judgment, value=value
            )
    return as_given if panel.normalization == "none" else list(with_panel_values.values())


def _plain_ranking(data: QuestionData, refusal: str) -> Ranking:
    """The ranking by means, without intervals and tests; `refusal` says why."""
    names, means, counts = data.system_names, data.raw_means, data.counts
    sign = -1.0 if data.question in LOWER_IS_BETTER else 1.0
    order = np.argsort(-sign * means, kind="stable").tolist()
    return Ranking(
        question=data.question,
        model=_scale_of(data),
        systems=tuple(
            RankedSystem(
                system=names[code],
                estimate=float(means[code]),
                low=None,
                high=None,
                rank=rank,
                rank_low=1,
                rank_high=len(order),
                cluster=1,
                n=counts[code],
                raw_mean=float(means[code]),
            )
            for rank, code in enumerate(order, 1)
        ),
        differences=tuple(
            SystemDifference(
                (names[a], names[b]), _difference(data, a, b), None, None, math.nan, math.nan
            )
            for a, b in (
                combinations(order, 2)
                if len(order) <= MAX_RANKED_SYSTEMS
                else ((order[0], other) for other in order[1:])
            )
        ),
        n_judges=data.n_judges,
        n_items=data.n_items,
        n_documents=data.n_documents,
        n=len(data.values),
        are_simulated=all(name.startswith("simulated") for name in data.judge_names),
        refusal=f"{refusal[:1].upper()}{refusal[1:]}",
    )


def _difference(data: QuestionData, a: int, b: int) -> float:
    """The difference of two systems' mean ratings, or of their shares of the choices between them."""
    if not data.are_choices:
        return float(data.raw_means[a] - data.raw_means[b])
    first, second = data.design.systems.T
    won = np.concatenate(
        [data.values[(first == a) & (second == b)], 1 - data.values[(first == b) & (second == a)]]
    )
    return float(2 * won.mean() - 1) if len(won) else math.nan


def _scale_of(data: QuestionData) -> EstimateScale:
    return SCALE_OF[model_for(data)]
