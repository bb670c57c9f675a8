"""What a pilot, a small study, says about a larger study that is planned with `wellput power`.

`Pilot` has standard deviations. The mixed model of `wellput rank` estimates how much ratings of a
system vary between judges and between items; here this is turned into how much the difference of two
systems varies (twice the variance, because both systems vary).

`ProxyPilot` says how far the differences of two systems in a proxy, such as a metric or a machine's
ratings, follow their differences in people's ratings.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from wellput.agreement.judgment_names import shared_judges_note
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
    """A pilot study's figures on one question. `systems` are the two best, and `difference` is that of
    their mean ratings. `sd_item` and `sd_judge` are standard deviations of this difference between
    items and between judges; `sd_noise` is that of single ratings if everything else is the same."""

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
        """The standard deviations, by the option of `power` that takes them."""
        return {"sd_item": self.sd_item, "sd_noise": self.sd_noise, "sd_judge": self.sd_judge}


def pilot_of(
    answers: Sequence[Judgment] | Sequence[Preference], question: str | None = None
) -> Pilot:
    """The figures on a question, which must be named if the judges were asked several questions."""
    people = [answer for answer in answers if not answer.judge.startswith(MACHINE_PREFIX)]
    ratings = [answer for answer in people if isinstance(answer, Judgment)]
    if not ratings:
        raise InputError("pilot= takes ratings by people; these judgments have none.")
    questions = list(dict.fromkeys(rating.question for rating in ratings))
    if question is None and len(questions) > 1:
        raise InputError(
            f"The pilot has several questions, {', '.join(questions)}: give question=."
        )
    name = questions[0] if question is None else question
    if name not in questions:
        raise InputError(
            f"question={name!r} is not in the pilot.{did_you_mean(name, questions)} The questions are "
            f"{', '.join(questions)}."
        )
    ratings = [rating for rating in ratings if rating.question == name]
    data = question_data(name, ratings)
    ranking = rank_fitted(fit_question(data, model="linear"))
    first, second = ranking.systems[:2]
    variances = ranking.variance
    variance_of_outputs = variances.get("item:system", 0.0) + variances.get("document:system", 0.0)
    notes = []
    if "item:system" not in variances:
        notes.append(
            "The pilot cannot separate the variation of a system between items from noise "
            f"({ranking.not_estimable['item:system']}), so all of it counts as noise here. More "
            "judges reduce noise but not that variation: with several judges for each output the "
            "study needs more items than `power` computes."
        )
    if "judge:system" not in variances:
        notes.append(
            "The pilot cannot show how far judges differ in which systems they prefer "
            f"({ranking.not_estimable['judge:system']}); they are taken to prefer the same."
        )
    notes += shared_judges_note(ratings)
    return Pilot(
        question=name,
        systems=(first.system, second.system),
        difference=abs(first.estimate - second.estimate),
        sd_item=math.sqrt(2 * variance_of_outputs),
        sd_noise=math.sqrt(variances["residual"]),
        sd_judge=math.sqrt(2 * variances.get("judge:system", 0.0)),
        n_judges=ranking.n_judges,
        n_items=ranking.n_items,
        notes=tuple(notes),
    )


MIN_ITEMS = 10
"""A proxy needs at least this many items with people's ratings of two systems: a correlation of fewer
items is too uncertain for planning."""


@dataclass(frozen=True)
class ProxyPilot:
    """A pilot that was judged by people and scored by a proxy. `correlation` correlates two numbers,
    the difference of two systems on an item in the proxy and in people's mean ratings, over all items
    and pairs of systems. `judges` is how many judges rated an output, on average; `n_scored` counts
    the items that the proxy has scores for."""

    correlation: Estimate
    judges: float
    n_items: int
    n_scored: int


def proxy_pilot_of(proxied: ProxiedLabels, labels: Sequence[AnyJudgment]) -> ProxyPilot:
    """The pilot of a proxy. `labels` are people's single ratings; `proxied` has their means and the
    proxy's scores, systems × items. Raises InputError where too few items have ratings of two
    systems."""
    counts = Counter((label.system, label.item) for label in labels if isinstance(label, Judgment))
    pairs = list(combinations(range(len(proxied.systems)), 2))
    people_differences = np.array([proxied.labels[a] - proxied.labels[b] for a, b in pairs])
    proxy_differences = np.array([proxied.proxies[a] - proxied.proxies[b] for a, b in pairs])
    has_both = (
        ~np.isnan(people_differences) & ~np.isnan(proxy_differences)
        if pairs
        else np.zeros((0, 0), dtype=bool)
    )
    used_items = np.flatnonzero(has_both.any(axis=0)) if pairs else np.zeros(0, dtype=np.intp)
    if len(used_items) < MIN_ITEMS:
        raise InputError(
            f"proxy= needs a pilot with ratings of two systems on {counted(MIN_ITEMS, 'item')}; this "
            f"one has {len(used_items)} that the proxy has scores for."
        )
    people_differences, proxy_differences = (
        people_differences[:, used_items],
        proxy_differences[:, used_items],
    )
    places = np.arange(len(used_items))
    value = _pooled_correlation(people_differences, proxy_differences)
    without_each = np.array(
        [
            _pooled_correlation(
                people_differences[:, places != i], proxy_differences[:, places != i]
            )
            for i in places
        ]
    )
    if not np.isfinite([value, *without_each]).all():
        raise InputError(
            "proxy= has no correlation with the pilot: its scores, or the ratings, are equal."
        )
    z = np.arctanh(np.clip(without_each, -0.999999, 0.999999))  # finite also for −1 and 1
    error = math.sqrt((len(z) - 1) / len(z) * float(((z - z.mean()) ** 2).sum()))
    return ProxyPilot(
        student_estimate(
            value,
            error,
            len(used_items) - 1,
            null=None,
            scale=FISHER_Z,
            method="jackknife over items",
        ),
        sum(counts.values()) / len(counts),
        len(used_items),
        int((~np.isnan(proxied.proxies)).any(axis=0).sum()),
    )


def _pooled_correlation(people: Floats, proxy: Floats) -> float:
    """The correlation of people's and the proxy's differences (both pairs of systems × items), after
    each pair's mean difference is subtracted."""
    has_both = ~np.isnan(people) & ~np.isnan(proxy)
    counts = np.maximum(has_both.sum(axis=1, keepdims=True), 1)
    centered_people, centered_proxy = (
        np.where(
            has_both,
            values - np.where(has_both, values, 0.0).sum(axis=1, keepdims=True) / counts,
            0.0,
        )
        for values in (people, proxy)
    )
    scale = math.sqrt(float((centered_people**2).sum()) * float((centered_proxy**2).sum()))
    return float((centered_people * centered_proxy).sum()) / scale if scale > 0 else math.nan
