"""Second derivatives, and inverses of small symmetric matrices that may be nearly singular."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from wellput.stats.mixed.equations import Floats


def hessian_by_differences(
    slope: Callable[[Floats], Floats],
    at: Floats,
    widths: Floats,
    free: NDArray[np.int64] | None = None,
) -> Floats:
    """The Hessian in the free parameters, by central differences of the slope; `widths` says how far
    each parameter is moved."""
    free = np.arange(len(at)) if free is None else free
    hessian = np.zeros((len(free), len(free)))
    for column, k in enumerate(free):
        move = np.zeros(len(at))
        move[k] = widths[k]
        hessian[:, column] = (slope(at + move) - slope(at - move))[free] / (2 * widths[k])
    return (hessian + hessian.T) / 2


def safely_positive(matrix: Floats) -> Floats:
    """The matrix with eigenvalues raised to at least 1e-8, so that it can be inverted. The eigenvalues
    are those after each row and column is divided by the root of its diagonal entry."""
    unit = np.sqrt(np.maximum(np.abs(np.diag(matrix)), 1e-12))
    values, vectors = np.linalg.eigh(matrix / np.outer(unit, unit))
    if values[0] > 1e-8:
        return matrix
    return np.asarray((vectors * np.maximum(values, 1e-8)) @ vectors.T * np.outer(unit, unit))


def _units(matrix: Floats) -> Floats:
    """The unit of each row: the root of its diagonal entry, or 1 where that is 0."""
    roots = np.sqrt(np.abs(np.diag(matrix)))
    return np.where(roots > 0, roots, 1.0)


def correlation_matrix(matrix: Floats) -> Floats:
    """The matrix with each row and column divided by its unit."""
    unit = _units(matrix)
    return np.asarray(matrix / np.outer(unit, unit))


def scaled_inverse(matrix: Floats) -> Floats:
    """The inverse of a matrix that may be nearly singular, whatever the units of its rows."""
    unit = _units(matrix)
    inverse = np.linalg.pinv(correlation_matrix(matrix), rcond=1e-10, hermitian=True)
    return np.asarray(inverse / np.outer(unit, unit))
