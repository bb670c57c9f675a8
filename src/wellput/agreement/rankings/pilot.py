"""`Pilot`: what a small study says about a larger one, for `wellput power`.

The spreads are those of the mixed model of `wellput rank`, turned into spreads of the difference of two
systems: a judge's taste for each of the two counts, and so does what an item has for each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from wellput.agreement.rankings.fitted_question import fit_question
from wellput.agreement.rankings.fitted_ranking import rank_fitted
from wellput.agreement.rankings.judgment_design import question_data
from wellput.core.errors import InputError, did_you_mean
from wellput.core.judgment import MACHINE_PREFIX, Judgment, Preference


@dataclass(frozen=True)
class Pilot:
    """A pilot study's figures on one question. `difference` is that of the two best `systems`."""

    question: str
    systems: tuple[str, str]
    difference: float
    sd_item: float
    sd_noise: float
    sd_judge: float
    n_judges: int
    n_items: int
    notes: tuple[str, ...] = ()

    @property
    def spreads(self) -> dict[str, float]:
        return {"sd_item": self.sd_item, "sd_noise": self.sd_noise, "sd_judge": self.sd_judge}


def pilot_of(
    answers: Sequence[Judgment] | Sequence[Preference], question: str | None = None
) -> Pilot:
    """The figures on a question; it must be named if the judges were asked several."""
    people = [answer for answer in answers if not answer.judge.startswith(MACHINE_PREFIX)]
    ratings = [answer for answer in people if isinstance(answer, Judgment)]
    if not ratings:
        raise InputError("pilot= takes ratings by people; these judgments have none.")
    asked = list(dict.fromkeys(rating.question for rating in ratings))
    if question is None and len(asked) > 1:
        raise InputError(f"The pilot has several questions, {', '.join(asked)}: give question=.")
    name = asked[0] if question is None else question
    if name not in asked:
        raise InputError(
            f"question={name!r} is not in the pilot.{did_you_mean(name, asked)} There are "
            f"{', '.join(asked)}."
        )
    data = question_data(name, [rating for rating in ratings if rating.question == name])
    ranking = rank_fitted(fit_question(data, model="linear"))
    first, second = ranking.systems[:2]
    parts = ranking.variance
    outputs = parts.get("item:system", 0.0) + parts.get("document:system", 0.0)
    notes = []
    if "item:system" not in parts:
        notes.append(
            "The pilot cannot distinguish how much a system varies from item to item from noise "
            f"({ranking.not_estimable['item:system']}): with several judges the study needs more "
            "items than this says."
        )
    if "judge:system" not in parts:
        notes.append(
            "The pilot cannot show how far judges' tastes differ "
            f"({ranking.not_estimable['judge:system']}); they are taken to be the same."
        )
    return Pilot(
        question=name,
        systems=(first.system, second.system),
        difference=abs(first.estimate - second.estimate),
        sd_item=math.sqrt(2 * outputs),
        sd_noise=math.sqrt(parts["residual"]),
        sd_judge=math.sqrt(2 * parts.get("judge:system", 0.0)),
        n_judges=ranking.n_judges,
        n_items=ranking.n_items,
        notes=tuple(notes),
    )
