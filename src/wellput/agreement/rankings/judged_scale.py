"""`JudgedScale`: converts estimates and intervals from the scale of a fitted model (such as log odds,
also called latent) to the scale on which people judged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, stdtrit

from wellput.agreement.rankings.fitted_question import FittedQuestion, system_pairs
from wellput.agreement.rankings.judgment_design import QuestionData
from wellput.stats.mixed.contrasts import Places
from wellput.stats.mixed.equations import Floats
from wellput.stats.mixed.linear import LinearMixed
from wellput.stats.mixed.scale import OnScale, expectations_at, expected_values, share_won
from wellput.stats.proportions import wilson_bounds

PAIRS_AT_ONCE = 4096
"""How many pairs of systems are converted at a time, so that many pairs need little memory."""


def _share_bounds(
    data: QuestionData, shares: Floats, errors: Floats, quantiles: Floats
) -> tuple[list[float | None], list[float | None]]:
    """Wilson's interval of each system's share of yes. It is computed as if there were n independent
    answers, with n chosen so that their standard error is that of the linear model, but at most the
    number of the system's answers. The variance of single answers is taken from all systems together,
    so it is not 0 for a system that always got yes. If no system got both yes and no, n is the number
    of items."""
    raw = data.raw_means
    spread = float(np.mean(raw * (1 - raw)))
    bounds: list[tuple[float, float]] = []
    for share, error, z, count in zip(shares, errors, quantiles, data.counts, strict=True):
        is_known = spread > 0 and error > 0
        n = min(spread / error**2, count) if is_known else data.n_items
        low, high = wilson_bounds(float(share), float(n), z=float(z))
        # At a share of 0 or 1 rounding may leave the share slightly outside.
        bounds.append((max(0.0, min(low, share)), min(1.0, max(high, share))))
    lows, highs = zip(*bounds, strict=True)
    return list(lows), list(highs)


@dataclass(frozen=True, eq=False)
class JudgedScale:
    """Estimates on the scale on which people judged. `values` has one for each system, `on_scale` also
    their errors (None for the linear model). `bounds` are the ends of the scale and `grades` its
    points, both None if there are none."""

    question: FittedQuestion
    values: Floats
    on_scale: OnScale | None
    bounds: tuple[float, float] | None
    grades: Floats | None

    @staticmethod
    def of(question: FittedQuestion) -> JudgedScale:
        """The scale of a question's answers."""
        fitted, n = question.fitted, len(question.data.system_names)
        if isinstance(fitted, LinearMixed):
            values = np.asarray(fitted.effects[:n])
            in_bounds = np.clip(values, 0, 1) if question.data.are_yes_no else values
            return JudgedScale(question, in_bounds, None, None, None)
        grades = np.unique(question.data.values) if question.model == "ordinal" else None
        expected = expected_values(fitted, n, grades=grades)
        bounds = (0.0, 1.0) if grades is None else (float(grades[0]), float(grades[-1]))
        return JudgedScale(question, expected.values, expected, bounds, grades)

    @property
    def order(self) -> Floats:
        """Numbers that sort the systems: the best system has the highest."""
        return self.question.sign * self.values

    def differences(self, a: Places, b: Places, latent: Floats) -> Floats:
        """How much higher system a of each pair is than system b if their effects on the model's scale
        differ by `latent`, with the mean of the two effects unchanged. For choices: a's share of wins
        against b minus b's share."""
        fitted, data = self.question.fitted, self.question.data
        if isinstance(fitted, LinearMixed):
            return np.clip(latent, -1, 1) if data.are_yes_no else latent
        deltas = np.empty(len(latent))
        for start in range(0, len(latent), PAIRS_AT_ONCE):
            block = slice(start, start + PAIRS_AT_ONCE)
            if data.are_choices:
                above, below = (
                    share_won(fitted, sign * latent[block], fitted.shape) for sign in (1, -1)
                )
            else:
                middle = (fitted.effects[a[block]] + fitted.effects[b[block]]) / 2
                above, below = (
                    expectations_at(
                        fitted, middle + sign * latent[block] / 2, fitted.shape, self.grades
                    )
                    for sign in (1, -1)
                )
            deltas[block] = above - below
        # Rounding may pass the bounds.
        return np.clip(deltas, -1, 1) if data.are_choices or data.are_yes_no else deltas

    def intervals(
        self, question: FittedQuestion, confidence: float
    ) -> tuple[list[float | None], list[float | None]]:
        """The interval of each system. On a bounded scale it is computed in log odds, so that it stays
        within the bounds."""
        n = len(self.values)
        if question.data.are_choices and n == 2:
            return self._shares_of_two(question, confidence)
        contrasts = question.fitted.contrast(np.eye(n))
        if self.on_scale is None or self.bounds is None:
            freedom = np.maximum(np.nan_to_num(contrasts.freedom, nan=1.0), 1.0)
            if "judge" in question.random:
                freedom = np.minimum(freedom, question.data.judge_groups.freedom_of_systems)
            quantiles = stdtrit(freedom, (1 + confidence) / 2)
            if question.data.are_yes_no:
                return _share_bounds(question.data, self.values, contrasts.errors, quantiles)
            half = contrasts.errors * quantiles
            return list((self.values - half).tolist()), list((self.values + half).tolist())
        low, high = self.bounds
        share = (self.values - low) / (high - low)
        error = self.on_scale.errors / (high - low) / (share * (1 - share))
        quantile = float(stdtrit(float(np.median(question.freedom)), (1 + confidence) / 2))
        ends = [expit(logit(share) + sign * quantile * error) for sign in (-1, 1)]
        lows, highs = (low + (high - low) * end for end in ends)
        return list(lows.tolist()), list(highs.tolist())

    def _shares_of_two(
        self, question: FittedQuestion, confidence: float
    ) -> tuple[list[float | None], list[float | None]]:
        """The intervals of the win rates of two systems. Here a win rate is the share of the choices
        between them, so its interval is computed from the interval of their difference."""
        contrast = question.fitted.contrast_pairs(*system_pairs(2))
        value = float(contrast.values[0])
        half = float(contrast.errors[0] * stdtrit(question.freedom[0], (1 + confidence) / 2))
        ends = np.array([value - half, value + half])
        first, second = np.zeros(2, np.intp), np.ones(2, np.intp)
        low, high = ((1 + self.differences(first, second, ends)) / 2).tolist()
        return [low, 1 - high], [high, 1 - low]
