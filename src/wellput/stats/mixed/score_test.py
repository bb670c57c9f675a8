"""`score_statistic`: whether further fixed effects would improve a model, without fitting them.

Rao's score test needs only the fit without them. So it also works where the larger model has no finite
estimate, for example because one system won all choices of a pair.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix, diags, hstack
from scipy.sparse.linalg import splu

from wellput.stats.mixed.equations import (
    CONFOUNDED_SHARE,
    Codes,
    Floats,
    MixedDesign,
    MixedModel,
)
from wellput.stats.mixed.laplace import LaplaceMixed


def score_statistic(
    fitted: LaplaceMixed, design: MixedDesign, columns: Floats
) -> tuple[float, int]:
    """The statistic, which has a χ² distribution if `columns` (n, k) have no effect, and its degrees of
    freedom: the number of columns that are not combinations of the model's or of other columns.
    `design` is that of the fitted model. `weights` and `residuals` of `fitted` are those of the
    weighted linear model with the same estimates (as in iteratively reweighted least squares)."""
    fixed_model = MixedModel(
        MixedDesign(design.systems, {}, design.covariates),
        fixes_first_system=fitted.family != "binary",
    )
    known = fixed_model.fixed_matrix()
    all_columns = np.hstack([known, columns])
    weighed = fitted.weights[:, None] * all_columns
    information, scores = all_columns.T @ weighed, weighed.T @ fitted.residuals
    names = [name for name in design.factors if fitted.components[name] > 0]
    if names:  # the random effects are eliminated from the information
        random = hstack([_levels(design.factors[name]) for name in names]).tocsc()
        sizes = [int(design.factors[name].max()) + 1 for name in names]
        penalties = np.repeat([1 / fitted.components[name] for name in names], sizes)
        inner = random.T @ diags(fitted.weights) @ random + diags(penalties)
        crossed = random.T @ weighed
        information -= crossed.T @ splu(inner.tocsc()).solve(crossed)
    # The fixed effects of the model, the first p columns, are eliminated, too.
    p = known.shape[1]
    shared = np.linalg.solve(
        information[:p, :p], np.column_stack([information[:p, p:], scores[:p]])
    )
    new_information = information[p:, p:] - information[p:, :p] @ shared[:, :-1]
    new_scores = scores[p:] - information[p:, :p] @ shared[:, -1]
    unit = np.sqrt(np.diag(information)[p:])
    # The share of each direction that the model's columns do not explain already.
    shares, directions = np.linalg.eigh(new_information / np.outer(unit, unit))
    is_new = shares > CONFOUNDED_SHARE
    directed_scores = (new_scores / unit) @ directions[:, is_new]
    return float((directed_scores**2 / shares[is_new]).sum()), int(is_new.sum())


def _levels(codes: Codes) -> csr_matrix:
    """A column for each level: 1 where a judgment has it, and −1 where the second system of a choice
    has it."""
    n = len(codes)
    by_system = codes.reshape(n, -1)
    signs = np.array([1.0, -1.0])[: by_system.shape[1]]
    rows = np.repeat(np.arange(n), by_system.shape[1])
    shape = (n, int(codes.max()) + 1)
    return csr_matrix((np.tile(signs, n), (rows, by_system.ravel())), shape=shape)
