"""`FittedRanking`: the ranking of systems by a mixed model of people's judgments.

Intervals and tests hold for these systems, other judges and other items. The model separates severe
judges and hard items from differences of systems. Tests are made on the scale of the model, also
called latent (log odds for grades, yes or no, and choices); estimates are on the scale on which people
judged. The range of ranks of a system is computed from the differences that are significant after
correction: if none of these is wrong, every range contains the true rank.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from wellput.agreement.rankings.fitted_question import (
    FittedModelName,
    FittedQuestion,
    freedom_limit,
    reliability_of,
    system_pairs,
)
from wellput.agreement.rankings.judged_scale import JudgedScale
from wellput.agreement.rankings.judgment_design import COMPONENTS, QuestionData
from wellput.agreement.rankings.plain_ranking import (
    LOWER_IS_BETTER,
    VARIANCE_COMPONENTS,
    EstimateScale,
    RankedSystem,
    Ranking,
    SystemDifference,
    listed,
    winner_sentence,
)
from wellput.core.judgment import is_machine
from wellput.stats.corrections import holm
from wellput.stats.mixed.contrasts import rank_clusters, rank_ranges
from wellput.stats.mixed.equations import Floats
from wellput.stats.mixed.linear import LinearMixed
from wellput.stats.student import anytime_half_widths, anytime_p_values, normal_errors

RankCorrection: TypeAlias = Literal["holm", "none"]
MIN_SEQUENTIAL_JUDGES = 5
MIN_SEQUENTIAL_ITEMS = 30
"""A sequential ranking needs at least this many judges and items: only then do estimates change like
sums of independent steps, as its method assumes."""
PRIOR_SD_SHARE = 0.5
"""The method of sequential intervals needs an expected size of differences, for which intervals are
narrowest. It is set to this share of the standard deviation of single judgments."""
LOGISTIC_VARIANCE = math.pi**2 / 3
"""The variance of the noise of one answer, in log odds (that of the logistic distribution)."""
SCALE_OF: dict[FittedModelName, EstimateScale] = {
    "linear": "mean",
    "ordinal": "mean",
    "binary": "rate",
    "bradley-terry": "win rate",
}


@dataclass(frozen=True)
class FittedRanking(Ranking):
    """A ranking by a fitted model, with further results of the model.

    `variance` has the variance of each random effect that can be estimated; `not_estimable` says why
    each of the others cannot be. For models in log odds, these variances are of log odds.
    `reliability` is the share of the variance of the systems' estimates that is not error: how well
    another study of this size would repeat the ranking.
    """

    fitted: FittedModelName = "linear"
    """The model. (The inherited field `model` is the scale of the estimates.)"""
    correction: RankCorrection = "holm"
    variance: dict[str, float] = field(default_factory=dict)
    not_estimable: dict[str, str] = field(default_factory=dict)
    latent: dict[str, float] = field(default_factory=dict)
    latent_bounds: dict[str, tuple[float, float]] = field(default_factory=dict)
    """`latent` has each system's effect in log odds (for choices its strength, 0 on average), and
    `latent_bounds` its interval. Both are empty for the linear model."""
    reliability: float | None = None
    covariate_effects: dict[str, SystemDifference] = field(default_factory=dict)
    """The effect of each covariate, by name. In `systems`, the covariate's name stands first, and the
    second name is empty."""
    by: dict[str, str] | None = None
    """For a slice, the tag and its value."""
    against: str | None = None
    """The system that all others are compared with, if one was named."""
    has_own_judges: bool = False
    """Whether every system has one judge of its own."""
    are_machines: bool = False
    random: tuple[str, ...] = COMPONENTS
    """The random effects that were asked for."""
    is_chosen_by_answers: bool = False
    """Whether the model was chosen by looking at the answers, not by the caller."""

    @property
    def label(self) -> str:
        """The question; for a slice (the items with one value of a tag), with the name of the slice."""
        return ", ".join(
            [self.question, *(f"{tag} {name}" for tag, name in (self.by or {}).items())]
        )

    @property
    def who(self) -> str:
        """Whose judgments these are, in words."""
        return "machine judges" if self.are_machines else super().who

    @property
    def scope(self) -> str:
        """What the intervals and tests generalize to, in words."""
        has_judges = "judge:system" in self.random and not self.has_own_judges
        has_items = "item:system" in self.random
        n_documents = self.n_documents or 1
        has_documents = n_documents == 1 or "document:system" in self.random
        if has_judges and has_items and has_documents:
            return super().scope
        if n_documents > 1 and has_documents:
            items = "other documents"
        elif has_items:
            items = "other items of these documents" if n_documents > 1 else "other items"
        else:
            items = "these items"
        return f"these systems, {items} and {'other' if has_judges else 'these'} judges"

    def to_dict(self) -> dict[str, Any]:
        """An entry of `questions` in the JSON of `wellput rank`."""
        systems = [asdict(row) for row in self.systems]
        if self.latent:
            systems = [row | {"latent": self.latent[row["system"]]} for row in systems]
        return super().to_dict() | {
            "model": self.fitted,
            "systems": systems,
            "variance": {name: self.variance.get(name) for name in VARIANCE_COMPONENTS},
            "reliability": self.reliability,
            "by": self.by,
            "correction": self.correction,
            "confidence": self.confidence,
            "sequential": self.sequential,
        }


def rank_fitted(
    question: FittedQuestion,
    *,
    correction: RankCorrection = "holm",
    confidence: float = 0.95,
    against: str | None = None,
    by: dict[str, str] | None = None,
    sequential: bool = False,
    adjusted: Floats | None = None,
) -> FittedRanking:
    """The ranking by a fitted model. With `sequential`, p-values, intervals of differences and ranks
    hold even if you look at them after every answer. `adjusted` has corrected p-values, if they were
    corrected together with those of other rankings; they are in the order of `pair_p_values`."""
    data, fitted = question.data, question.fitted
    scale = JudgedScale.of(question)
    order = np.argsort(-scale.order, kind="stable").tolist()
    too_early = _too_early(data) if sequential else ""
    compared = _compared(
        question, confidence, against, correction, sequential, has_enough_data=not too_early
    )
    if adjusted is not None:
        compared = replace(compared, adjusted=adjusted)
    differences, better = _differences(question, scale, compared, order, 1 - confidence)
    latent = (
        {}
        if isinstance(fitted, LinearMixed)
        else {name: float(fitted.effects[code]) for code, name in enumerate(data.system_names)}
    )
    return FittedRanking(
        question=data.question,
        model="rate" if data.are_yes_no else SCALE_OF[question.model],
        systems=_systems(question, scale, better, order, confidence, sequential),
        differences=differences,
        n_judges=data.n_judges,
        n_items=data.n_items,
        n_documents=data.n_documents,
        n=len(data.values),
        are_simulated=all(name.startswith("simulated") for name in data.judge_names),
        fitted=question.model,
        confidence=confidence,
        correction=correction,
        variance={name: float(value) for name, value in fitted.components.items()},
        not_estimable=question.not_estimable,
        latent=latent,
        latent_bounds={} if sequential else _latent_bounds(question, confidence),
        reliability=reliability_of(question),
        covariate_effects=_covariate_effects(question, confidence, sequential=sequential),
        notes=question.notes,
        by=by,
        against=against,
        sequential=sequential,
        refusal=too_early,
        has_own_judges=data.has_own_judges,
        are_machines=all(is_machine(name) for name in data.judge_names),
        random=question.random,
        is_chosen_by_answers=question.is_chosen_by_answers,
    )


def pair_p_values(
    question: FittedQuestion,
    *,
    confidence: float = 0.95,
    against: str | None = None,
    sequential: bool = False,
) -> Floats:
    """The p-values of all pairs that are compared, before any correction; NaN if there are too few
    judges or items for a sequential ranking."""
    has_enough_data = not (sequential and _too_early(question.data))
    compared = _compared(
        question, confidence, against, "none", sequential, has_enough_data=has_enough_data
    )
    return compared.p_values


def answer_sentence(ranking: FittedRanking, *, with_question: bool = False) -> str:
    """A sentence: which system is best and how certain that is, or why it is too early to say."""
    start = f"{ranking.label}: " if with_question else ""
    if ranking.refusal:
        return f"{start}{ranking.refusal}"
    if ranking.against is not None:
        return f"{start}{_against_sentence(ranking)}"
    return winner_sentence(ranking, with_question=with_question)


def _against_sentence(ranking: FittedRanking) -> str:
    """A sentence: which systems are ahead of the system that all are compared with, and which are
    behind."""
    ahead: list[str] = []
    behind: list[str] = []
    not_distinguished: list[str] = []
    sign = -1 if ranking.question in LOWER_IS_BETTER else 1
    for difference in ranking.differences:
        is_second = difference.systems[1] == ranking.against
        other = difference.systems[0 if is_second else 1]
        names_of_kind = (
            not_distinguished
            if not difference.is_real
            else ahead
            if is_second == (sign * difference.delta > 0)
            else behind
        )
        names_of_kind.append(other)
    parts = [
        f"{listed(names)} {'is' if len(names) == 1 else 'are'} {verb_phrase} {ranking.against}"
        for names, verb_phrase in (
            (ahead, "significantly ahead of"),
            (behind, "significantly behind"),
            (not_distinguished, "not distinguished from"),
        )
        if names
    ]
    return f"{'; '.join(parts)}."


def _too_early(data: QuestionData) -> str:
    """Why there are too few judges or items for a sequential ranking; empty if there are enough."""
    if data.n_judges >= MIN_SEQUENTIAL_JUDGES and data.n_items >= MIN_SEQUENTIAL_ITEMS:
        return ""
    return (
        f"Too early to distinguish systems while the study is running: this needs at least "
        f"{MIN_SEQUENTIAL_JUDGES} judges and {MIN_SEQUENTIAL_ITEMS} items; so far there are "
        f"{data.n_judges} and {data.n_items}."
    )


@dataclass(frozen=True, eq=False)
class _Compared:
    """All pairs of systems that are compared, as codes, with their differences on the model's scale.
    `half_widths` are half the widths of the intervals, `adjusted` the corrected p-values."""

    pairs: list[tuple[int, int]]
    values: Floats
    half_widths: Floats
    p_values: Floats
    adjusted: Floats


def _compared(
    question: FittedQuestion,
    confidence: float,
    against: str | None,
    correction: RankCorrection,
    sequential: bool,
    *,
    has_enough_data: bool,
) -> _Compared:
    """The comparisons; without intervals and p-values if there are not enough data."""
    names = question.data.system_names
    first, second = system_pairs(len(names))
    pair_places = np.arange(len(first))
    if against is not None:
        code = names.index(against)
        pair_places = np.flatnonzero((first == code) | (second == code))
    contrasts = question.fitted.contrast_pairs(first[pair_places], second[pair_places])
    values, errors, freedom = contrasts.values, contrasts.errors, question.freedom[pair_places]
    if not has_enough_data:
        half_widths = p_values = np.full(len(pair_places), np.nan)
    elif sequential:
        prior_sd = PRIOR_SD_SHARE * _judgment_sd(question)
        errors_as_normal = normal_errors(values, errors, freedom)
        half_widths = anytime_half_widths(errors_as_normal, alpha=1 - confidence, prior_sd=prior_sd)
        p_values = anytime_p_values(values, errors_as_normal, prior_sd=prior_sd)
    else:
        half_widths = errors * stdtrit(freedom, (1 + confidence) / 2)
        p_values = 2 * stdtr(freedom, -np.abs(values / errors))
    adjusted = holm(p_values) if correction == "holm" else p_values
    pairs = list(zip(first[pair_places].tolist(), second[pair_places].tolist(), strict=True))
    return _Compared(pairs, values, half_widths, p_values, adjusted)


def _judgment_sd(question: FittedQuestion) -> float:
    """The standard deviation of single judgments of a system, on the model's scale."""
    components = question.fitted.components
    noise = 0.0 if "residual" in components else LOGISTIC_VARIANCE
    return math.sqrt(sum(components.values()) + noise)


def _differences(
    question: FittedQuestion,
    scale: JudgedScale,
    compared: _Compared,
    order: list[int],
    alpha: float,
) -> tuple[tuple[SystemDifference, ...], NDArray[np.bool_]]:
    """The differences in the order of the ranking, and which system (row) is significantly better than
    which (column)."""
    names = question.data.system_names
    place_of = np.argsort(order)
    better = np.zeros((len(names), len(names)), np.bool_)
    first, second = np.array(compared.pairs, np.intp).reshape(-1, 2).T
    is_reversed = place_of[first] > place_of[second]
    a, b = np.where(is_reversed, second, first), np.where(is_reversed, first, second)
    latent = np.where(is_reversed, -1, 1) * compared.values
    deltas, lows, highs = (
        scale.differences(a, b, end).tolist()
        for end in (latent, latent - compared.half_widths, latent + compared.half_widths)
    )
    is_significant = compared.adjusted < alpha
    is_a_better = question.sign * latent > 0  # the sign is −1 if the lowest value is best
    winners, losers = np.where(is_a_better, a, b), np.where(is_a_better, b, a)
    better[winners[is_significant], losers[is_significant]] = True
    rows = [
        SystemDifference(
            (names[a[place]], names[b[place]]),
            deltas[place],
            None if math.isnan(compared.half_widths[place]) else lows[place],
            None if math.isnan(compared.half_widths[place]) else highs[place],
            float(compared.p_values[place]),
            float(compared.adjusted[place]),
            alpha,
        )
        for place in np.lexsort((place_of[b], place_of[a]))
    ]
    return tuple(rows), better


def _systems(
    question: FittedQuestion,
    scale: JudgedScale,
    better: NDArray[np.bool_],
    order: list[int],
    confidence: float,
    sequential: bool,
) -> tuple[RankedSystem, ...]:
    """The ranked systems, best first. `order` has their codes, `better` the significant differences."""
    data = question.data
    ranks_low, ranks_high = rank_ranges(better)
    clusters = rank_clusters(scale.order, better)
    lows, highs = scale.intervals(question, confidence)
    raw, counts = data.raw_means, data.counts
    return tuple(
        RankedSystem(
            system=data.system_names[code],
            estimate=float(scale.values[code]),
            low=None if sequential else lows[code],
            high=None if sequential else highs[code],
            rank=rank,
            rank_low=int(ranks_low[code]),
            rank_high=int(ranks_high[code]),
            cluster=int(clusters[code]),
            n=counts[code],
            raw_mean=float(raw[code]),
        )
        for rank, code in enumerate(order, 1)
    )


def _latent_bounds(question: FittedQuestion, confidence: float) -> dict[str, tuple[float, float]]:
    """The interval of each system's effect in log odds; empty for the linear model."""
    names = question.data.system_names
    if isinstance(question.fitted, LinearMixed):
        return {}
    n = len(names)
    contrasts = question.fitted.contrast(
        np.eye(n) - 1 / n if question.data.are_choices else np.eye(n)
    )
    limit = freedom_limit(question.data.n_judges, question.data.n_items, question.random)
    freedom = np.clip(np.nan_to_num(contrasts.freedom, nan=1.0), 1.0, limit)
    half = contrasts.errors * stdtrit(freedom, (1 + confidence) / 2)
    return {
        name: (float(value - width), float(value + width))
        for name, value, width in zip(names, contrasts.values, half, strict=True)
    }


def _covariate_effects(
    question: FittedQuestion, confidence: float, *, sequential: bool
) -> dict[str, SystemDifference]:
    """How much one standard deviation of each covariate changes the judgments, on the model's scale.
    With `sequential`, effects have no interval and no p-value."""
    names, n = question.data.covariate_names, len(question.data.system_names)
    effects: dict[str, SystemDifference] = {}
    for place, name in enumerate(names):
        weights = np.zeros((1, n + len(names)))
        weights[0, n + place] = 1.0
        effect = question.fitted.contrast(weights)
        value, error = float(effect.values[0]), float(effect.errors[0])
        freedom = float(effect.freedom[0])
        half = error * float(stdtrit(freedom, (1 + confidence) / 2))
        p = float(2 * stdtr(freedom, -abs(value / error)))
        effects[name] = (
            SystemDifference((name, ""), value, None, None, math.nan, math.nan)
            if sequential
            else SystemDifference((name, ""), value, value - half, value + half, p, p)
        )
    return effects
