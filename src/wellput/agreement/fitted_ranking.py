"""Who won, according to people, by a mixed model of their judgments: the noun `FittedRanking`.

Systems are fixed effects; judges, items and documents are random ones, alone and with a system, as far
as the study can tell them apart. So intervals and tests hold for these systems, other judges and other
items, and a judge who is severe or an item that is hard does not pass for a difference of systems.
Inference is on the model's own scale (log odds for grades, yes or no, and choices); estimates are on
the scale on which people judged. A rank range follows from the differences that are real after
correction: if none of these is wrong, every range holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import expit, logit
from scipy.stats import t as student

from wellput.agreement.judgment_design import COMPONENTS, QuestionData
from wellput.agreement.ranking import (
    LOWER_IS_BETTER,
    VARIANCE_COMPONENTS,
    RankedSystem,
    Ranking,
    RankingModel,
    SystemDifference,
)
from wellput.core.errors import InputError
from wellput.stats.corrections import holm
from wellput.stats.mixed_equations import Floats, MixedDesign
from wellput.stats.mixed_identifiable import identify_components
from wellput.stats.mixed_laplace import LaplaceMixed, fit_binary, fit_choices, fit_ordinal
from wellput.stats.mixed_linear import LinearMixed, fit_linear
from wellput.stats.mixed_ranks import rank_clusters, rank_ranges
from wellput.stats.mixed_scale import OnScale, expectations, expected_values
from wellput.stats.mixed_separation import Disconnected, Separated

ModelName: TypeAlias = Literal["linear", "ordinal", "binary", "bradley-terry"]
RankCorrection: TypeAlias = Literal["holm", "none"]
MAX_ORDINAL_GRADES = 5
"""A scale with more points is taken to be linear."""
SCALE_OF: dict[ModelName, RankingModel] = {
    "linear": "mean",
    "ordinal": "mean",
    "binary": "rate",
    "bradley-terry": "win rate",
}


@dataclass(frozen=True)
class FittedRanking(Ranking):
    """A ranking by a fitted model, with what the model says beyond it.

    `variance` has each component that the study can tell, `untold` why it cannot tell the others; of
    models in log odds they are in log odds. `reliability` is the share of the spread of the systems'
    estimates that is not error: how well another study of this size would repeat it.
    """

    fitted: ModelName = "linear"
    confidence: float = 0.95
    correction: RankCorrection = "holm"
    variance: dict[str, float] = field(default_factory=dict)
    untold: dict[str, str] = field(default_factory=dict)
    latent: dict[str, float] = field(default_factory=dict)
    reliability: float | None = None
    covariate_effects: dict[str, SystemDifference] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    by: dict[str, str] | None = None
    against: str | None = None

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
            "notes": list(self.notes),
        }


@dataclass(frozen=True, eq=False)
class FittedQuestion:
    """A question's data with its model: what a ranking and the checks beside it start from.

    `data` has only the random effects that the study can tell. `freedom` are the degrees of freedom of
    the differences of all pairs of systems, in the order of `combinations`.
    """

    data: QuestionData
    model: ModelName
    fitted: LinearMixed | LaplaceMixed
    freedom: Floats
    untold: dict[str, str]
    notes: tuple[str, ...]

    @property
    def effects(self) -> Floats:
        """Of each system, on the model's own scale; the best is the highest."""
        return np.asarray(self.sign * self.fitted.effects[: len(self.data.system_names)])

    @property
    def sign(self) -> float:
        """−1 where the lowest value is best."""
        return -1.0 if self.data.question in LOWER_IS_BETTER else 1.0


def model_for(data: QuestionData) -> ModelName:
    """The model that fits the scale of the answers."""
    if data.are_choices:
        return "bradley-terry"
    points = np.unique(data.values)
    if set(points.tolist()) <= {0.0, 1.0}:
        return "binary"
    is_graded = len(points) <= MAX_ORDINAL_GRADES and bool(np.all(points == np.round(points)))
    return "ordinal" if is_graded else "linear"


def fit_question(
    data: QuestionData,
    *,
    model: ModelName | Literal["auto"] = "auto",
    random: Sequence[str] = COMPONENTS,
) -> FittedQuestion:
    """The model of one question's judgments; `InputError` where no number would mean anything."""
    name = model_for(data) if model == "auto" else model
    _check_answers(data, name)
    identified = identify_components(data.with_factors(random).design)
    told = data.with_factors(identified.told)
    notes: list[str] = []
    try:
        fitted = FITTERS[name](told.values, told.design)
    except Disconnected as problem:
        raise InputError(_disconnected(data, problem)) from None
    except Separated as problem:
        if model != "auto" or name == "bradley-terry":
            raise InputError(_separated(data, name, problem)) from None
        notes.append(
            f"{_extreme(data, problem)}: the {name} model has no finite estimate for this, so the "
            "linear model is used."
        )
        name, fitted = "linear", fit_linear(told.values, told.design)
    return FittedQuestion(
        told, name, fitted, _freedom(told, fitted), identified.reasons, tuple(notes)
    )


FITTERS: dict[ModelName, Callable[[Floats, MixedDesign], LinearMixed | LaplaceMixed]] = {
    "linear": fit_linear,
    "ordinal": fit_ordinal,
    "binary": fit_binary,
    "bradley-terry": fit_choices,
}


def _check_answers(data: QuestionData, model: ModelName) -> None:
    n = len(data.system_names)
    if n < 2:
        raise InputError(
            f"{data.question}: only {data.system_names[0]} was judged; a ranking needs two systems."
        )
    if data.are_choices != (model == "bradley-terry"):
        kind = "pairwise choices" if data.are_choices else "ratings"
        raise InputError(
            f"model={model!r} does not fit {data.question}, whose judgments are {kind}."
        )
    if np.ptp(data.values) == 0:
        raise InputError(
            f"{data.question}: all {len(data.values):,} judgments are the same, so no system is ahead."
        )
    if model == "binary" and not set(np.unique(data.values).tolist()) <= {0.0, 1.0}:
        raise InputError(f"model='binary' needs answers of 0 and 1; {data.question} has others.")


def _extreme(data: QuestionData, problem: Separated) -> str:
    names = [data.system_names[code] for code in problem.systems]
    who = " and ".join(names) if names else "a covariate"
    if data.are_choices:
        return f"{who} won or lost every comparison with the others"
    values = data.raw_means[list(problem.systems)] if names else np.array([])
    if len(values) and np.isin(values, (data.values.min(), data.values.max())).all():
        extreme = "highest" if values[0] == data.values.max() else "lowest"
        return f"every answer about {who} is the {extreme}"
    return f"{who} decides the answers completely"


def _separated(data: QuestionData, model: ModelName, problem: Separated) -> str:
    advice = (
        "Collect choices in which it does not, or leave it out: exclude='system=NAME: reason'."
        if data.are_choices
        else "Use model='linear'."
    )
    reason = f"{_extreme(data, problem)}, so the {model} model has no finite estimate"
    return f"{data.question}: {reason}. {advice}"


def _disconnected(data: QuestionData, problem: Disconnected) -> str:
    groups = "; ".join(
        ", ".join(data.system_names[code] for code in group) for group in problem.groups
    )
    return (
        f"{data.question}: these groups of systems were never compared with one another, so they "
        f"cannot be ranked together: {groups}. Collect choices between the groups, or rank each alone "
        "with exclude=."
    )


def _freedom(data: QuestionData, fitted: LinearMixed | LaplaceMixed) -> Floats:
    """Degrees of freedom of all pairs. Models in log odds know none of their own: they take those of
    the linear model of the same judgments."""
    weights = _pair_weights(len(data.system_names))
    if isinstance(fitted, LaplaceMixed):
        fitted = _linear_beside(data)
    found = fitted.contrast(weights).freedom
    return np.maximum(np.nan_to_num(found, nan=1.0), 1.0)


def _linear_beside(data: QuestionData) -> LinearMixed:
    """Of choices each system's point in a choice is a rating (1, ½ or 0)."""
    if not data.are_choices:
        return fit_linear(data.values, data.design)
    points = np.stack([data.values, 1 - data.values], axis=1).ravel()
    factors = {name: codes.ravel() for name, codes in data.design.factors.items()}
    return fit_linear(points, MixedDesign(data.design.systems.ravel(), factors))


def _pair_weights(n: int) -> Floats:
    pairs = list(combinations(range(n), 2))
    weights = np.zeros((len(pairs), n))
    for row, (a, b) in enumerate(pairs):
        weights[row, a], weights[row, b] = 1.0, -1.0
    return weights


def rank_fitted(
    question: FittedQuestion,
    *,
    correction: RankCorrection = "holm",
    confidence: float = 0.95,
    against: str | None = None,
    by: dict[str, str] | None = None,
) -> FittedRanking:
    """The ranking by a fitted model."""
    data, fitted = question.data, question.fitted
    n = len(data.system_names)
    scale = _Scale.of(question)
    contrasts = fitted.contrast(_pair_weights(n))
    half = contrasts.errors * student.isf((1 - confidence) / 2, question.freedom)
    p_values = 2 * student.sf(np.abs(contrasts.values / contrasts.errors), question.freedom)
    pairs = list(combinations(range(n), 2))
    kept = [
        place
        for place, pair in enumerate(pairs)
        if against is None or against in (data.system_names[pair[0]], data.system_names[pair[1]])
    ]
    adjusted = np.full(len(pairs), np.nan)
    adjusted[kept] = holm(p_values[kept]) if correction == "holm" else p_values[kept]
    order = np.argsort(-scale.order, kind="stable").tolist()
    place_of = {system: place for place, system in enumerate(order)}
    better = np.zeros((n, n), np.bool_)
    differences: list[tuple[tuple[int, int], SystemDifference]] = []
    for place in kept:
        a, b = pairs[place]
        value, bound = contrasts.values[place], half[place]
        sign = question.sign
        if place_of[a] > place_of[b]:
            a, b, value, sign = b, a, -value, sign
        if adjusted[place] < 1 - confidence:
            winner, loser = (a, b) if sign * value > 0 else (b, a)
            better[winner, loser] = True
        low, high = scale.difference(a, b, value - bound), scale.difference(a, b, value + bound)
        row = SystemDifference(
            (data.system_names[a], data.system_names[b]),
            scale.difference(a, b, value),
            low,
            high,
            float(p_values[place]),
            float(adjusted[place]),
        )
        differences.append(((place_of[a], place_of[b]), row))
    ranks_low, ranks_high = rank_ranges(better)
    clusters = rank_clusters(scale.order, better)
    lows, highs = scale.intervals(question, confidence)
    raw, counts = data.raw_means, data.counts
    rows = tuple(
        RankedSystem(
            system=data.system_names[code],
            estimate=float(scale.values[code]),
            low=lows[code],
            high=highs[code],
            rank=rank,
            rank_low=int(ranks_low[code]),
            rank_high=int(ranks_high[code]),
            cluster=int(clusters[code]),
            n=counts[code],
            raw_mean=float(raw[code]),
        )
        for rank, code in enumerate(order, 1)
    )
    variance = {name: float(fitted.components[name]) for name in fitted.components}
    latent = (
        {}
        if isinstance(fitted, LinearMixed)
        else {name: float(fitted.effects[code]) for code, name in enumerate(data.system_names)}
    )
    return FittedRanking(
        question=data.question,
        model=SCALE_OF[question.model],
        systems=rows,
        differences=tuple(row for _, row in sorted(differences, key=lambda entry: entry[0])),
        n_judges=data.n_judges,
        n_items=data.n_items,
        n=len(data.values),
        are_simulated=all(name.startswith("simulated") for name in data.judge_names),
        fitted=question.model,
        confidence=confidence,
        correction=correction,
        variance=variance,
        untold=question.untold,
        latent=latent,
        reliability=reliability_of(question),
        covariate_effects=_covariate_effects(question, confidence),
        notes=question.notes,
        by=by,
        against=against,
    )


def reliability_of(question: FittedQuestion, *, error_share: float = 1.0) -> float | None:
    """The share of the spread of the systems' estimates that is not error, on the model's scale; None
    with two systems, whose spread is one difference. `error_share` is that of a larger or smaller
    study's error variance in this one's."""
    n = len(question.data.system_names)
    if n < 3:
        return None
    covariance = question.fitted.covariance[:n, :n]
    error = float((np.trace(covariance) - covariance.sum() / n) / (n - 1))
    spread = float(np.var(question.effects, ddof=1))
    signal = max(spread - error, 0.0)
    total = signal + error * error_share
    return signal / total if total > 0 else None


def _covariate_effects(question: FittedQuestion, confidence: float) -> dict[str, SystemDifference]:
    """What one standard deviation of each covariate changes, on the model's scale."""
    names, n = question.data.covariate_names, len(question.data.system_names)
    found: dict[str, SystemDifference] = {}
    for place, name in enumerate(names):
        weights = np.zeros((1, n + len(names)))
        weights[0, n + place] = 1.0
        effect = question.fitted.contrast(weights)
        value, error = float(effect.values[0]), float(effect.errors[0])
        freedom = float(effect.freedom[0])
        half = error * float(student.isf((1 - confidence) / 2, freedom))
        p = float(2 * student.sf(abs(value / error), freedom))
        found[name] = SystemDifference((name, ""), value, value - half, value + half, p, p)
    return found


@dataclass(frozen=True, eq=False)
class _Scale:
    """Estimates on the scale on which people judged, from those on the model's scale."""

    question: FittedQuestion
    values: Floats
    on_scale: OnScale | None
    bounds: tuple[float, float] | None
    grades: Floats | None

    @staticmethod
    def of(question: FittedQuestion) -> _Scale:
        fitted, n = question.fitted, len(question.data.system_names)
        if isinstance(fitted, LinearMixed):
            return _Scale(question, np.asarray(fitted.effects[:n]), None, None, None)
        grades = np.unique(question.data.values) if question.model == "ordinal" else None
        found = expected_values(fitted, n, grades=grades)
        bounds = (0.0, 1.0) if grades is None else (float(grades[0]), float(grades[-1]))
        return _Scale(question, found.values, found, bounds, grades)

    @property
    def order(self) -> Floats:
        """Highest first is best first."""
        return self.question.sign * self.values

    def difference(self, a: int, b: int, latent: float) -> float:
        """How far a is ahead of b if their effects differ by `latent` around the same middle; of
        choices a's share of those between the two less b's."""
        fitted = self.question.fitted
        if isinstance(fitted, LinearMixed):
            return float(latent)
        middle = 0.0
        if self.question.model != "bradley-terry":
            middle = float(fitted.effects[a] + fitted.effects[b]) / 2
        ends = np.array([middle + latent / 2, middle - latent / 2])
        above, below = expectations(fitted, ends, fitted.shape, self.grades)
        return float(above - below)

    def intervals(
        self, question: FittedQuestion, confidence: float
    ) -> tuple[list[float | None], list[float | None]]:
        """Of each system; of bounded scales made in log odds, so that they stay within them."""
        n = len(self.values)
        contrasts = question.fitted.contrast(np.eye(n))
        if self.on_scale is None or self.bounds is None:
            freedom = np.maximum(np.nan_to_num(contrasts.freedom, nan=1.0), 1.0)
            half = contrasts.errors * student.isf((1 - confidence) / 2, freedom)
            return list((self.values - half).tolist()), list((self.values + half).tolist())
        low, high = self.bounds
        share = (self.values - low) / (high - low)
        error = self.on_scale.errors / (high - low) / (share * (1 - share))
        quantile = float(student.isf((1 - confidence) / 2, float(np.median(question.freedom))))
        ends = [expit(logit(share) + way * quantile * error) for way in (-1, 1)]
        lows, highs = (low + (high - low) * end for end in ends)
        return list(lows.tolist()), list(highs.tolist())
