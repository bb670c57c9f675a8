"""`score_statistic`: whether further fixed effects would improve a model, without fitting them.

Rao's score test needs the smaller model only. So it also serves where the larger one has no finite
estimate, because one system won all choices of a pair.
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
    """χ², where `columns` (n, k) have no effect, and its degrees of freedom: as many as there are
    columns that the model and the other columns do not determine. `design` is that of the fitted
    model, whose linear model at the mode has `weights` and `residuals`."""
    plain = MixedModel(
        MixedDesign(design.systems, {}, design.covariates),
        has_reference=fitted.family != "binary",
    )
    known = plain.fixed_matrix()
    both = np.hstack([known, columns])
    weighed = fitted.weights[:, None] * both
    information, scores = both.T @ weighed, weighed.T @ fitted.residuals
    names = [name for name in design.factors if fitted.components[name] > 0]
    if names:
        random = hstack([_levels(design.factors[name]) for name in names]).tocsc()
        sizes = [int(design.factors[name].max()) + 1 for name in names]
        penalties = np.repeat([1 / fitted.components[name] for name in names], sizes)
        inner = random.T @ diags(fitted.weights) @ random + diags(penalties)
        met = random.T @ weighed
        information -= met.T @ splu(inner.tocsc()).solve(met)
    p = known.shape[1]
    shared = np.linalg.solve(
        information[:p, :p], np.column_stack([information[:p, p:], scores[:p]])
    )
    own = information[p:, p:] - information[p:, :p] @ shared[:, :-1]
    left = scores[p:] - information[p:, :p] @ shared[:, -1]
    unit = np.sqrt(np.diag(information)[p:])
    shares, directions = np.linalg.eigh(own / np.outer(unit, unit))
    is_new = shares > CONFOUNDED_SHARE
    found = (left / unit) @ directions[:, is_new]
    return float((found**2 / shares[is_new]).sum()), int(is_new.sum())


def _levels(codes: Codes) -> csr_matrix:
    """A column for each level: 1 where a judgment has it, and −1 where the second system of a choice
    has it."""
    n = len(codes)
    by_system = codes.reshape(n, -1)
    signs = np.array([1.0, -1.0])[: by_system.shape[1]]
    rows = np.repeat(np.arange(n), by_system.shape[1])
    shape = (n, int(codes.max()) + 1)
    return csr_matrix((np.tile(signs, n), (rows, by_system.ravel())), shape=shape)
