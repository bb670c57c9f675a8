"""What to know beside a ranking: does it depend on how it is made, would chance give it, and what
would a larger study bring?

`OtherOrder`: the systems by another way of ranking. `LargerStudy`: what twice the judges or items would
change. `permutation_p_value` assumes no model at all: if no system differs, a judge's answers about one
item may be exchanged among the systems.
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
"""With more pairs than this that close a circle, their fit is not tested."""
EQUAL_SPREAD_RATIO = 1 - 1e-12
"""Spreads that differ by less are equal."""


@dataclass(frozen=True)
class OtherOrder:
    """The systems best first by one way of ranking, and whether that is the model's order."""

    way: str
    systems: tuple[str, ...]
    is_same: bool


@dataclass(frozen=True)
class LargerStudy:
    """What an imagined study with more judges or items would have. `error_ratio` is the standard error
    of a difference of two systems there divided by this study's, `width_ratio` the same of the width of
    its interval, which also shrinks because more judges or items tell better how much they differ.
    `reliability` is that of its ranking (None with two systems)."""

    change: str
    error_ratio: float
    width_ratio: float
    reliability: float | None


def other_orders(question: FittedQuestion) -> list[OtherOrder]:
    """The order by raw means, by standardized ratings (not of yes and no), and without the judge who
    matters most."""
    data = question.data
    model = _order(data, question.effects)
    found = [("by raw means", _order(data, question.sign * data.raw_means))]
    if not data.are_choices and not data.are_yes_no and data.n_judges > 1:
        standardized = _judge_standardized(data)
        if standardized is not None:
            found.append(("by z-scores of each judge", _order(data, question.sign * standardized)))
    if data.n_judges >= MIN_JUDGES_TO_LEAVE_ONE_OUT:
        judge, effects = _without_most_influential(question)
        if effects is not None:
            way = f"without judge {data.judge_names[judge]}"
            found.append((way, _order(data, question.sign * effects)))
    return [OtherOrder(way, order, order == model) for way, order in found]


def _order(data: QuestionData, values: Floats) -> tuple[str, ...]:
    return tuple(data.system_names[code] for code in np.argsort(-values, kind="stable"))


def _judge_standardized(data: QuestionData) -> Floats | None:
    """Means of ratings from which each judge's mean is taken, in the judge's standard deviations; None
    where a system would have no value, or where groups of systems have no judge in common: the judges'
    means then take the difference of the groups with them."""
    if len(data.judge_groups.n_judges) > 1:
        return None
    n, values, judges = data.n_judges, data.values, data.judges
    met = np.unique(np.stack([judges, data.design.systems]), axis=1)[0]
    if np.bincount(met, minlength=n).min() < 2:  # a judge's mean is then a system's
        return None
    counts = np.bincount(judges, minlength=n)
    means = np.bincount(judges, values, n) / counts
    spread = np.sqrt(np.bincount(judges, (values - means[judges]) ** 2, n) / counts)
    kept = spread[judges] > 0
    scaled = (values - means[judges])[kept] / spread[judges][kept]
    systems = data.design.systems[kept]
    totals = np.bincount(systems, minlength=len(data.system_names))
    if not totals.all():
        return None
    return np.asarray(np.bincount(systems, scaled, len(totals)) / totals)


def _without_most_influential(question: FittedQuestion) -> tuple[int, Floats | None]:
    """The judge whose absence changes most, and the systems' effects without them."""
    data, fitted = question.data, question.fitted
    influence = judge_influence(fitted, data.design, data.judges)
    judge = influence.most_influential
    effects = influence.effects[judge]
    rest = data.without_judge(judge)
    if isinstance(fitted, LinearMixed) and rest is not None:
        try:
            again = fit_linear(rest.values, rest.design, start=ratios_of(fitted))
        except InputError:  # what is left cannot be fitted; the one-step figure stands
            pass
        else:
            effects = again.effects[: len(data.system_names)]
    return judge, None if np.isnan(effects).any() else np.asarray(effects)


def larger_studies(question: FittedQuestion, *, confidence: float = 0.95) -> list[LargerStudy]:
    """What twice the judges, twice the items (with documents: twice the documents, so twice the
    items), and both would bring.

    The error variance of a difference is divided into shares by what a balanced study of this size
    has: a judge's taste divided by the number of judges, and so on. Twice the judges halve what comes
    from judges, and what comes from single answers. Degrees of freedom are Satterthwaite's for the
    same shares.
    """
    data, components = question.data, question.fitted.components
    per_system = float(np.mean(data.counts))
    n_documents = data.n_documents or 1
    n_clusters = n_documents if n_documents > 1 else data.n_items
    residual = components.get("residual", LOGISTIC_VARIANCE)
    errors: dict[str, float] = {
        "judge": components.get("judge:system", 0.0) / data.n_judges,
        "item": components.get("item:system", 0.0) / data.n_items
        + components.get("document:system", 0.0) / n_documents,
        "answer": residual / per_system,
    }
    total = sum(errors.values())
    if not total > 0 or len(data.judge_groups.n_judges) > 1:  # these errors are of a balanced study
        return []
    found = []
    limit = freedom_limit(data.n_judges, data.n_items, question.random)
    now = _t_quantile(errors, data.n_judges, n_clusters, limit, confidence)
    known = {
        "item" if main == "document" else main
        for main in (name.partition(":")[0] for name in components)
    }
    items = "documents" if n_documents > 1 else "items"
    for change, halved in (
        ("twice the judges", ("judge", "answer")),
        (f"twice the {items}", ("item", "answer")),
        ("twice both", ("judge", "item", "answer")),
    ):
        if not {"judge", "item"} & set(halved) <= known:
            continue
        fewer = {
            name: part
            / (4 if len(halved) == 3 and name == "answer" else 2 if name in halved else 1)
            for name, part in errors.items()
        }
        variance_ratio = sum(fewer.values()) / total
        n_judges = data.n_judges * (2 if "judge" in halved else 1)
        more_items = 2 if "item" in halved else 1
        limit = freedom_limit(n_judges, data.n_items * more_items, question.random)
        quantile = _t_quantile(fewer, n_judges, n_clusters * more_items, limit, confidence)
        found.append(
            LargerStudy(
                change,
                float(np.sqrt(variance_ratio)),
                float(np.sqrt(variance_ratio) * quantile / now),
                reliability_of(question, error_variance_ratio=variance_ratio),
            )
        )
    return found


def _t_quantile(
    errors: dict[str, float], n_judges: int, n_items: int, limit: float, confidence: float
) -> float:
    """The quantile of Student's t by which half an interval is wider than its standard error, with at
    most `limit` degrees of freedom. `n_items` are documents where items have these."""
    total = sum(errors.values())
    spread = errors["judge"] ** 2 / max(n_judges - 1, 1) + errors["item"] ** 2 / max(n_items - 1, 1)
    freedom = total**2 / spread if spread > 0 else MAX_FREEDOM
    return float(stdtrit(min(max(freedom, 1.0), limit), (1 + confidence) / 2))


def pairs_fit_p_value(question: FittedQuestion) -> float | None:
    """Whether one strength for each system explains the choices of every pair: small where preferences
    are circular (A before B, B before C, C before A). None where no pair closes a circle, or where
    covariates explain all that the circles could.

    Rao's score test of an effect for each pair that closes a circle, by F with the fewest degrees of
    freedom that a difference of two systems has.
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
    """The pairs of systems that close a circle of compared pairs."""
    group = list(range(len(data.system_names)))
    closing = []
    for a, b in np.unique(np.sort(data.design.systems, axis=1), axis=0).tolist():
        if group[a] != group[b]:
            group = [group[a] if one == group[b] else one for one in group]
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
    """A note where the choices of single pairs do not fit one strength for each system."""
    p_value = pairs_fit_p_value(question)
    if p_value is None or p_value >= alpha:
        return ()
    return (
        "The choices of single pairs differ significantly from this ranking, which gives each system "
        "one strength: preferences may be circular, such as A before B, B before C and C before A. "
        "Read the choices of each pair by themselves.",
    )


def permutation_p_value(data: QuestionData, *, permutations: int, seed: int) -> float | None:
    """How often exchanging each judge's answers about an item among the systems makes the systems'
    means differ as much as they do. None where no judge judged two systems' outputs for an item.

    Of choices each choice is turned round at random.
    """
    rng = np.random.default_rng(seed)
    n = len(data.system_names)
    if data.are_choices:
        draw = _turned_choices(data, rng)
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

    def exchanged() -> float:
        shuffled = values[np.lexsort((rng.random(len(values)), groups))]
        return _spread(np.bincount(systems[order], shuffled, n) / counts, counts)

    drawn = [exchanged() for _ in range(permutations)]
    return resampling_p_value(np.array(drawn), observed * EQUAL_SPREAD_RATIO)


def _spread(means: Floats, counts: Codes) -> float:
    center = float(np.average(means, weights=counts))
    return float(np.sum(counts * (means - center) ** 2))


def _turned_choices(data: QuestionData, rng: np.random.Generator) -> Callable[[], Floats]:
    values = data.values
    return lambda: np.where(rng.random(len(values)) < 0.5, values, 1 - values)


def _spread_of_choices(data: QuestionData, values: Floats) -> float:
    n, systems = len(data.system_names), data.design.systems
    won = np.bincount(systems[:, 0], values, n) + np.bincount(systems[:, 1], 1 - values, n)
    counts = np.bincount(systems.ravel(), minlength=n)
    return _spread(won / counts, counts)
