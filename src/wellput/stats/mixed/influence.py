"""What the systems' effects would be without each judge.

The model is not fitted again for every judge: the effects of items and documents, and the variances,
stay as they were fitted to all data; only the effects of the systems and of the other judges are
computed again, exactly. For the most influential judge a new fit is worth its time:
`fit_linear(values[keep], design.rows(keep), start=ratios_of(fitted))`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from wellput.stats.mixed.equations import JUDGE_SIDE, Codes, Floats, MixedDesign, MixedModel
from wellput.stats.mixed.laplace import LaplaceMixed
from wellput.stats.mixed.linear import LinearMixed


@dataclass(frozen=True, eq=False)
class JudgeInfluence:
    """`effects` (judges, systems) are the systems' effects without each judge; NaN where a system has
    no other judge.

    `shifts` (judges) is how far leaving the judge out moves the difference of two systems, in standard
    errors of that difference, for the pair whose difference moves most.
    """

    effects: Floats
    shifts: Floats

    @property
    def most_influential(self) -> int:
        return int(np.argmax(np.nan_to_num(self.shifts, nan=np.inf)))


def judge_influence(
    fitted: LinearMixed | LaplaceMixed, design: MixedDesign, judges: Codes
) -> JudgeInfluence:
    """The effects of systems without each judge, from a fit to `design`; `judges` (n,) has the number
    of each judgment's judge, from 0."""
    n_systems = design.n_systems
    fixes_first_system = isinstance(fitted, LaplaceMixed) and fitted.family != "binary"
    fixed_model = MixedModel(
        MixedDesign(design.systems, {}, design.covariates), fixes_first_system=fixes_first_system
    )
    columns = fixed_model.fixed_matrix()
    fixed_effects = fitted.effects.copy()
    if fixes_first_system:  # the fit gives effects with mean 0
        fixed_effects[:n_systems] -= fixed_effects[0]
        fixed_effects = fixed_effects[1:]
    judge_factors = [
        name for name in JUDGE_SIDE if name in design.factors and fitted.components[name] > 0
    ]
    # The judgments without random effects; `_judge_equations` adds those of its judge.
    response = fitted.residuals + columns @ fixed_effects
    order = np.argsort(judges, kind="stable")
    ends = np.searchsorted(judges[order], np.arange(int(judges.max()) + 2))
    matrices, sides = [], []
    for begin, end in pairwise(ends):
        rows = order[begin:end]
        matrix, side = _judge_equations(
            fitted, design, judge_factors, rows, columns[rows], response[rows]
        )
        matrices.append(matrix)
        sides.append(side)
    all_effects = _without_each(np.array(matrices), np.array(sides))
    if fixes_first_system:
        all_effects = np.insert(all_effects, 0, 0.0, axis=1)
        all_effects[:, :n_systems] -= all_effects[:, :n_systems].mean(axis=1, keepdims=True)
    effects = all_effects[:, :n_systems]
    return JudgeInfluence(effects, _shifts(fitted, effects))


def _judge_equations(
    fitted: LinearMixed | LaplaceMixed,
    design: MixedDesign,
    judge_factors: list[str],
    rows: Codes,
    columns: Floats,
    response: Floats,
) -> tuple[Floats, Floats]:
    """One judge's part of the normal equations of the fixed effects (matrix, right-hand side), after
    the judge's own random effects are eliminated. `rows` are the judge's judgments."""
    judge_blocks, penalties = [], []
    for name in judge_factors:
        codes = design.factors[name][rows].reshape(len(rows), -1)
        levels = np.unique(codes)
        signs = (1.0, -1.0) if codes.shape[1] == 2 else (1.0,)
        block = np.zeros((len(rows), len(levels)))
        for sign, column in zip(signs, codes.T, strict=True):
            block[np.arange(len(rows)), np.searchsorted(levels, column)] += sign
        judge_blocks.append(block)
        penalties.append(np.full(len(levels), 1 / fitted.components[name]))
        response = response + block @ fitted.modes[name][levels]
    weighed = fitted.weights[rows, None] * columns
    matrix, side = columns.T @ weighed, weighed.T @ response
    if judge_blocks:
        of_judge = np.hstack(judge_blocks)
        inner = of_judge.T @ (fitted.weights[rows, None] * of_judge) + np.diag(
            np.concatenate(penalties)
        )
        crossed = of_judge.T @ weighed
        solved = np.linalg.solve(inner, crossed)
        matrix = matrix - crossed.T @ solved
        side = side - solved.T @ (of_judge.T @ (fitted.weights[rows] * response))
    return matrix, side


def _without_each(matrices: Floats, sides: Floats) -> Floats:
    """The fixed effects without each judge, from the judges' parts of the equations; NaN where they
    cannot be estimated."""
    effects = np.full((len(matrices), matrices.shape[1]), np.nan)
    matrix, side = matrices.sum(axis=0), sides.sum(axis=0)
    for judge in range(len(matrices)):
        of_others = matrix - matrices[judge]
        unit = np.sqrt(np.abs(np.diag(matrix)))
        # The least eigenvalue is 0, except for rounding, where the effects cannot be estimated.
        if np.linalg.eigvalsh(of_others / np.outer(unit, unit))[0] > 1e-9:
            effects[judge] = np.linalg.solve(of_others, side - sides[judge])
    return effects


def _shifts(fitted: LinearMixed | LaplaceMixed, effects: Floats) -> Floats:
    """`JudgeInfluence.shifts`, from the systems' effects without each judge."""
    n = effects.shape[1]
    moved = effects - fitted.effects[:n]
    covariance = fitted.covariance[:n, :n]
    diagonal = np.diag(covariance)
    errors = np.sqrt(np.maximum(diagonal[:, None] + diagonal - 2 * covariance, 0.0))
    np.fill_diagonal(errors, np.inf)
    return np.array([float((np.abs(row[:, None] - row) / errors).max()) for row in moved])
