"""Pairwise choices: which systems people prefer, and how often a metric would choose as they did."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from wellput.agreement.cells import oriented
from wellput.agreement.exclusions import leave_out
from wellput.agreement.known_names import KnownNames, refuse_unknown
from wellput.agreement.orders import metric_orders
from wellput.agreement.panel import Exclusion
from wellput.agreement.ranking import rank_choices
from wellput.agreement.result import AgreementResult
from wellput.core.counted import counted
from wellput.core.errors import InputError
from wellput.core.judgment import Preference
from wellput.core.score import FEWEST_ITEMS
from wellput.core.table import ScoreTable
from wellput.stats.kappa import confusion
from wellput.stats.preferences import Choices, goodness_of_fit, selection_ratios, win_rates
from wellput.stats.strengths import bradley_terry


def agree_on_preferences(
    tables: Mapping[str, ScoreTable],
    preferences: Sequence[Preference],
    *,
    questions: Sequence[str] = (),
    exclusions: Sequence[Exclusion] = (),
) -> AgreementResult:
    """For each question: χ² of each pair of systems, selection ratios, Bradley–Terry strengths, win
    rates; and for each metric the confusion of its choices (the higher segment score) with people's.
    An excluded system takes with it all choices in which it was offered."""
    first = next(iter(tables.values()))
    kept, left_out = leave_out(preferences, exclusions)
    refuse_unknown(kept, KnownNames(first.systems, set(first.items)))
    by_question: dict[str, list[Preference]] = {}
    for preference in kept:
        if not questions or preference.question in questions:
            by_question.setdefault(preference.question, []).append(preference)
    if not by_question:
        raise InputError("There are no choices about the questions asked for.")
    rankings = [rank_choices(name, rows) for name, rows in by_question.items()]
    return AgreementResult(
        level="segment",
        ranking=tuple(rankings),
        orders=tuple(metric_orders(tables, rankings)),
        preferences=tuple(_question(name, rows, first) for name, rows in by_question.items()),
        confusion=tuple(
            _confusion(name, rows, table)
            for name, rows in by_question.items()
            for table in tables.values()
        ),
        excluded=tuple(asdict(one) for one in left_out if one.question in by_question),
    )


def _question(name: str, rows: Sequence[Preference], table: ScoreTable) -> dict[str, Any]:
    named = {row.system_a for row in rows} | {row.system_b for row in rows}
    systems = [system for system in table.systems if system in named]
    choices = Choices.of(((row.system_a, row.system_b, row.choice) for row in rows), systems)
    fitted = bradley_terry(choices)
    pairs: list[dict[str, Any]] = []
    for i, a in enumerate(systems):
        for j, b in enumerate(systems[i + 1 :], start=i + 1):
            counts = [int(choices.wins[i, j]), int(choices.wins[j, i])]
            if sum(counts):
                test = goodness_of_fit(counts)
                pairs.append(
                    {
                        "systems": [a, b],
                        "chosen": counts,
                        "ties": int(choices.ties[i, j]),
                        "chi_squared": test.value,
                        "p_value": test.p_value,
                    }
                )
    return {
        "question": name,
        "n": len(rows),
        "judges": len({row.judge for row in rows}),
        "systems": [
            {
                "system": system,
                "selection_ratio": ratio.value,
                "low": ratio.low,
                "high": ratio.high,
                "n": ratio.n,
                "strength": strength.value,
                "strength_low": strength.low,
                "strength_high": strength.high,
            }
            for system, ratio, strength in zip(
                systems, selection_ratios(choices), fitted.strengths, strict=True
            )
        ],
        "pairs": pairs,
        "win_rates": win_rates(choices).tolist(),
        "note": ". ".join(filter(None, (fitted.reason, _few_items(rows)))),
    }


def _few_items(rows: Sequence[Preference]) -> str:
    n_items = len({row.item for row in rows})
    if n_items >= FEWEST_ITEMS:
        return ""
    return f"With {counted(n_items, 'judged item')} no test says anything: bring more."


def _confusion(name: str, rows: Sequence[Preference], table: ScoreTable) -> dict[str, Any]:
    """Would the metric have chosen as people did? Ties on either side are no case."""
    scores = oriented(table, table.scores)
    item_at = {item: place for place, item in enumerate(table.items)}
    decisions: list[float] = []
    verdicts: list[float] = []
    for row in rows:
        place = item_at[row.item]
        margin = scores[table.row(row.system_a), place] - scores[table.row(row.system_b), place]
        decisions.append(math.nan if np.isnan(margin) or margin == 0 else float(margin > 0))
        verdicts.append(math.nan if row.choice == "tie" else float(row.choice == "a"))
    counts = confusion(decisions, verdicts)
    return {
        "metric": table.scorer,
        "question": name,
        **asdict(counts),
        "accuracy": counts.accuracy,
        "kappa": counts.kappa,
        "n": counts.n,
    }
