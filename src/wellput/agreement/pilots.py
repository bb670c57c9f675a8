"""What a small study says about a larger one, for `wellput power`.

`Pilot` has spreads. They are those of the mixed model of `wellput rank`, turned into spreads of the
difference of two systems: a judge's taste for each of the two counts, and so does what an item has for
each.

`ProxyPilot` says how far a proxy's differences of two systems follow people's.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from wellput.agreement.machines.proxied_labels import ProxiedLabels
from wellput.agreement.panel import AnyJudgment
from wellput.agreement.rankings.fitted_question import fit_question
from wellput.agreement.rankings.fitted_ranking import rank_fitted
from wellput.agreement.rankings.judgment_design import question_data
from wellput.core.errors import InputError, counted, did_you_mean
from wellput.core.estimates import Estimate
from wellput.core.judgment import MACHINE_PREFIX, Judgment, Preference
from wellput.core.metric import Floats
from wellput.stats.student import FISHER_Z, student_estimate


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
            f"question={name!r} is not in the pilot.{did_you_mean(name, asked)} The questions are "
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


MIN_ITEMS = 10
"""Fewer items with labels of two systems give no correlation to plan with."""


@dataclass(frozen=True)
class ProxyPilot:
    """`correlation`, over items, of the proxy's difference of two systems with that of people's mean
    ratings, all pairs of systems together. `judges` is how many judges are behind a mean rating, on
    average; `n_scored` counts the items that the proxy has scores for."""

    correlation: Estimate
    judges: float
    n_items: int
    n_scored: int


def proxy_pilot_of(given: ProxiedLabels, labels: Sequence[AnyJudgment]) -> ProxyPilot:
    """Raises InputError where too few items have labels of two systems."""
    counts = Counter((one.system, one.item) for one in labels if isinstance(one, Judgment))
    pairs = list(combinations(range(len(given.systems)), 2))
    people = np.array([given.labels[a] - given.labels[b] for a, b in pairs])
    proxy = np.array([given.proxies[a] - given.proxies[b] for a, b in pairs])
    known = ~np.isnan(people) & ~np.isnan(proxy) if pairs else np.zeros((0, 0), dtype=bool)
    used = np.flatnonzero(known.any(axis=0)) if pairs else np.zeros(0, dtype=np.intp)
    if len(used) < MIN_ITEMS:
        raise InputError(
            f"proxy= needs a pilot with ratings of two systems on {counted(MIN_ITEMS, 'item')}; this "
            f"one has {len(used)} that the proxy has scores for."
        )
    people, proxy = people[:, used], proxy[:, used]
    places = np.arange(len(used))
    value = _pooled(people, proxy)
    without = np.array([_pooled(people[:, places != i], proxy[:, places != i]) for i in places])
    if not np.isfinite([value, *without]).all():
        raise InputError(
            "proxy= has no correlation with the pilot: its scores, or the ratings, are equal."
        )
    z = np.arctanh(np.clip(without, -0.999999, 0.999999))
    error = math.sqrt((len(z) - 1) / len(z) * float(((z - z.mean()) ** 2).sum()))
    return ProxyPilot(
        student_estimate(
            value, error, len(used) - 1, null=None, scale=FISHER_Z, method="jackknife over items"
        ),
        sum(counts.values()) / len(counts),
        len(used),
        int((~np.isnan(given.proxies)).any(axis=0).sum()),
    )


def _pooled(people: Floats, proxy: Floats) -> float:
    """The correlation within pairs of systems: each pair's differences less their mean."""
    known = ~np.isnan(people) & ~np.isnan(proxy)
    counts = np.maximum(known.sum(axis=1, keepdims=True), 1)
    y, f = (
        np.where(
            known, values - np.where(known, values, 0.0).sum(axis=1, keepdims=True) / counts, 0.0
        )
        for values in (people, proxy)
    )
    scale = math.sqrt(float((y**2).sum()) * float((f**2).sum()))
    return float((y * f).sum()) / scale if scale > 0 else math.nan
