"""Checks of a ranking: does it depend on how it is made, could it be chance, and what would a larger
study change?

`OtherOrder` has the order of the systems by another way of ranking. `LargerStudy` says what twice the
judges or items would change. `permutation_p_value` assumes no model: if the systems do not differ, a
judge's answers about one item can be exchanged among the systems.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc, stdtrit

from wellput.agreement.rankings.fitted_question import (
    MAX_FREEDOM,
    FittedQuestion,
    freedom_limit,
    reliability_of,
)
from wellput.agreement.rankings.fitted_ranking import LOGISTIC_VARIANCE
from wellput.agreement.rankings.judgment_design import QuestionData
from wellput.core.errors import InputError
from wellput.stats.mixed.equations import Codes, Floats
from wellput.stats.mixed.influence import judge_influence
from wellput.stats.mixed.laplace import LaplaceMixed
from wellput.stats.mixed.linear import LinearMixed, fit_linear, ratios_of
from wellput.stats.mixed.score_test import score_statistic
from wellput.stats.resampling import resampling_p_value

MIN_JUDGES_TO_LEAVE_ONE_OUT = 3
MAX_CIRCLES = 100
"""If there are more independent circles of compared pairs (A with B, B with C, C with A), it is not
tested whether one strength for each system explains all pairs."""
EQUAL_SPREAD_RATIO = 1 - 1e-12
"""In a permutation test, a drawn spread of at least this share of the observed one is taken as equal or
larger: smaller differences come from rounding."""


@dataclass(frozen=True)
class OtherOrder:
    """The systems, best first, by one way of ranking; `is_same` says whether this is also the order of
    the model."""

    way: str
    systems: tuple[str, ...]
    is_same: bool


@dataclass(frozen=True)
class LargerStudy:
    """The precision of an imagined study with more judges or items. `error_ratio` is the standard error
    of a difference of two systems in the imagined study, divided by the standard error in this study.
    `width_ratio` is the same for the width of the interval. The interval also gets narrower because
    more judges or items give more degrees of freedom, so that the t quantile is smaller. `reliability`
    is that of the imagined study's ranking (None if there are two systems)."""

    change: str
    error_ratio: float
    width_ratio: float
    reliability: float | None


def other_orders(question: FittedQuestion) -> list[OtherOrder]:
    """The order by raw means, by standardized ratings (not for answers yes and no), and without the
    judge whose absence changes most."""
    data = question.data
    model_order = _order(data, question.effects)
    orders = [("by raw means", _order(data, question.sign * data.raw_means))]
    if not data.are_choices and not data.are_yes_no and data.n_judges > 1:
        standardized = _judge_standardized(data)
        if standardized is not None:
            orders.append(("by z-scores of each judge", _order(data, question.sign * standardized)))
    if data.n_judges >= MIN_JUDGES_TO_LEAVE_ONE_OUT:
        judge, effects = _without_most_influential(question)
        if effects is not None:
            way = f"without judge {data.judge_names[judge]}"
            orders.append((way, _order(data, question.sign * effects)))
    return [OtherOrder(way, order, order == model_order) for way, order in orders]


def _order(data: QuestionData, values: Floats) -> tuple[str, ...]:
    return tuple(data.system_names[code] for code in np.argsort(-values, kind="stable"))


def _judge_standardized(data: QuestionData) -> Floats | None:
    """Each system's mean of standardized ratings: a rating minus the judge's mean, divided by the
    judge's standard deviation. None if a system would have no value, or if groups of systems have no
    judge in common, because subtracting the judges' means then also removes the difference between the
    groups."""
    if data.judge_groups.n_groups > 1:
        return None
    n, values, judges = data.n_judges, data.values, data.judges
    judges_with_systems = np.unique(np.stack([judges, data.design.systems]), axis=1)
    systems_per_judge = np.bincount(judges_with_systems[0], minlength=n)
    # If a judge rated only one system, subtracting the judge's mean would remove this system's effect.
    if systems_per_judge.min() < 2:
        return None
    counts = np.bincount(judges, minlength=n)
    means = np.bincount(judges, values, n) / counts
    spread = np.sqrt(np.bincount(judges, (values - means[judges]) ** 2, n) / counts)
    is_scalable = spread[judges] > 0  # a judge whose ratings are all equal has no z-scores
    scaled = (values - means[judges])[is_scalable] / spread[judges][is_scalable]
    systems = data.design.systems[is_scalable]
    n_ratings = np.bincount(systems, minlength=len(data.system_names))
    if not n_ratings.all():
        return None
    return np.asarray(np.bincount(systems, scaled, len(n_ratings)) / n_ratings)


def _without_most_influential(question: FittedQuestion) -> tuple[int, Floats | None]:
    """The judge whose absence changes the ranking most, and the systems' effects without this judge."""
    data, fitted = question.data, question.fitted
    influence = judge_influence(fitted, data.design, data.judges)
    judge = influence.most_influential
    effects = influence.effects[judge]
    other_judgments = data.without_judge(judge)
    if isinstance(fitted, LinearMixed) and other_judgments is not None:
        try:
            refitted = fit_linear(
                other_judgments.values, other_judgments.design, start=ratios_of(fitted)
            )
        except InputError:  # the other judgments cannot be fitted; the approximate effects are used
            pass
        else:
            effects = refitted.effects[: len(data.system_names)]
    return judge, None if np.isnan(effects).any() else np.asarray(effects)


def larger_studies(question: FittedQuestion, *, confidence: float = 0.95) -> list[LargerStudy]:
    """What twice the judges would change, what twice the items, and what both. If items have documents,
    the study with twice the items has twice the documents.

    The error variance of a difference has parts from judges, items and single answers. They are
    computed for a balanced study of this size. The part of judges, for example, is the variance
    `judge:system` (how far a judge prefers a system more than other judges do) divided by the number of
    judges. With twice the judges, the parts of judges and of single answers are half as large. Degrees
    of freedom are Satterthwaite's approximation for the same parts.
    """
    data, components = question.data, question.fitted.components
    judgments_per_system = float(np.mean(data.counts))
    n_documents = data.n_documents or 1
    n_clusters = n_documents if n_documents > 1 else data.n_items
    residual = components.get("residual", LOGISTIC_VARIANCE)
    variances: dict[str, float] = {
        "judge": components.get("judge:system", 0.0) / data.n_judges,
        "item": components.get("item:system", 0.0) / data.n_items
        + components.get("document:system", 0.0) / n_documents,
        "answer": residual / judgments_per_system,
    }
    total = sum(variances.values())
    # With several groups of systems that have no judge in common, these parts would be wrong.
    if not total > 0 or data.judge_groups.n_groups > 1:
        return []
    studies = []
    limit = freedom_limit(data.n_judges, data.n_items, question.random)
    quantile_now = _t_quantile(variances, data.n_judges, n_clusters, limit, confidence)
    # Which of "judge" and "item" have a random effect in the model.
    random_units = {
        "item" if main == "document" else main
        for main in (name.partition(":")[0] for name in components)
    }
    items = "documents" if n_documents > 1 else "items"
    for change, judge_factor, item_factor in (
        ("twice the judges", 2, 1),
        (f"twice the {items}", 1, 2),
        ("twice both", 2, 2),
    ):
        factors = {"judge": judge_factor, "item": item_factor}
        if any(n > 1 and name not in random_units for name, n in factors.items()):
            continue  # the model does not say what more judges, or items, would change
        smaller_variances = {
            "judge": variances["judge"] / judge_factor,
            "item": variances["item"] / item_factor,
            "answer": variances["answer"] / (judge_factor * item_factor),
        }
        variance_ratio = sum(smaller_variances.values()) / total
        n_judges = data.n_judges * judge_factor
        limit = freedom_limit(n_judges, data.n_items * item_factor, question.random)
        quantile = _t_quantile(
            smaller_variances, n_judges, n_clusters * item_factor, limit, confidence
        )
        studies.append(
            LargerStudy(
                change,
                float(np.sqrt(variance_ratio)),
                float(np.sqrt(variance_ratio) * quantile / quantile_now),
                reliability_of(question, error_variance_ratio=variance_ratio),
            )
        )
    return studies


def _t_quantile(
    variances: dict[str, float], n_judges: int, n_items: int, limit: float, confidence: float
) -> float:
    """The quantile of Student's t, with at most `limit` degrees of freedom: half of an interval is this
    many standard errors. `variances` has the parts of the error variance. `n_items` counts documents if
    items have documents."""
    total = sum(variances.values())
    spread = variances["judge"] ** 2 / max(n_judges - 1, 1)
    spread += variances["item"] ** 2 / max(n_items - 1, 1)
    freedom = total**2 / spread if spread > 0 else MAX_FREEDOM
    return float(stdtrit(min(max(freedom, 1.0), limit), (1 + confidence) / 2))


def pairs_fit_p_value(question: FittedQuestion) -> float | None:
    """Tests whether one strength for each system explains the choices of every pair. The p-value is
    small if preferences are circular (A before B, B before C, C before A). None if the compared pairs
    form no circle or too many (`MAX_CIRCLES`), or if covariates explain everything that circles could
    explain.

    This is Rao's score test of an additional effect for each pair that closes a circle. It uses the F
    distribution with the smallest degrees of freedom of any difference of two systems.
    """
    data, fitted = question.data, question.fitted
    if not data.are_choices or not isinstance(fitted, LaplaceMixed):
        return None
    pairs = _pairs_closing_circles(data)
    if not 0 < len(pairs) <= MAX_CIRCLES:
        return None
    statistic, k = score_statistic(fitted, data.design, _pair_columns(data, pairs))
    return float(fdtrc(k, float(question.freedom.min()), statistic / k)) if k else None


def _pairs_closing_circles(data: QuestionData) -> list[tuple[int, int]]:
    """The pairs of systems that close a circle of compared pairs. Pairs are taken in order: a pair
    closes a circle if earlier pairs already connect its two systems."""
    group = list(range(len(data.system_names)))
    closing = []
    for a, b in np.unique(np.sort(data.design.systems, axis=1), axis=0).tolist():
        if group[a] != group[b]:
            group = [group[a] if label == group[b] else label for label in group]
        else:
            closing.append((a, b))
    return closing


def _pair_columns(data: QuestionData, pairs: Sequence[tuple[int, int]]) -> Floats:
    """A column for each pair: 1 where its first system was offered first, −1 where it was offered
    second."""
    first, second = data.design.systems.T
    return np.stack(
        [1.0 * ((first == a) & (second == b)) - ((first == b) & (second == a)) for a, b in pairs],
        axis=1,
    )


def circular_note(question: FittedQuestion, *, alpha: float) -> tuple[str, ...]:
    """A note if the choices of single pairs do not fit one strength for each system; else nothing."""
    p_value = pairs_fit_p_value(question)
    if p_value is None or p_value >= alpha:
        return ()
    return (
        "The choices of single pairs differ significantly from this ranking, which gives each system "
        "one strength: preferences may be circular, such as A before B, B before C and C before A. "
        "Read the choices of each pair by themselves.",
    )


def permutation_p_value(data: QuestionData, *, permutations: int, seed: int) -> float | None:
    """The p-value of a permutation test: how often the systems' means differ as much as observed, or
    more, when each judge's answers about an item are exchanged at random among the systems. None if no
    judge judged two systems' outputs for the same item.

    If the answers are choices, the winner and the loser of each choice are swapped at random instead.
    """
    rng = np.random.default_rng(seed)
    n = len(data.system_names)
    if data.are_choices:
        draw = _swapped_choices(data, rng)
        observed = _spread_of_choices(data, data.values)
        drawn = [_spread_of_choices(data, draw()) for _ in range(permutations)]
        return resampling_p_value(np.array(drawn), observed * EQUAL_SPREAD_RATIO)
    groups = np.unique(data.judges * (int(data.items.max()) + 1) + data.items, return_inverse=True)[
        1
    ]
    if not (np.bincount(groups) > 1).any():
        return None
    systems, values = data.design.systems, data.values
    counts = np.bincount(systems, minlength=n)
    order = np.argsort(groups, kind="stable")
    observed = _spread(np.bincount(systems, values, n) / counts, counts)

    def spread_when_exchanged() -> float:
        shuffled = values[np.lexsort((rng.random(len(values)), groups))]
        return _spread(np.bincount(systems[order], shuffled, n) / counts, counts)

    drawn = [spread_when_exchanged() for _ in range(permutations)]
    return resampling_p_value(np.array(drawn), observed * EQUAL_SPREAD_RATIO)


def _spread(means: Floats, counts: Codes) -> float:
    """How far the systems' means differ: their weighted sum of squared deviations."""
    center = float(np.average(means, weights=counts))
    return float(np.sum(counts * (means - center) ** 2))


def _swapped_choices(data: QuestionData, rng: np.random.Generator) -> Callable[[], Floats]:
    """A function that draws the choices with winner and loser swapped at random."""
    values = data.values
    return lambda: np.where(rng.random(len(values)) < 0.5, values, 1 - values)


def _spread_of_choices(data: QuestionData, values: Floats) -> float:
    n, systems = len(data.system_names), data.design.systems
    won = np.bincount(systems[:, 0], values, n) + np.bincount(systems[:, 1], 1 - values, n)
    counts = np.bincount(systems.ravel(), minlength=n)
    return _spread(won / counts, counts)
