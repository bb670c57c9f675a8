"""Which variance components a study can estimate.

A *component* is a source of variance, such as judges or items; it makes judgments that share a judge or
an item correlated. Its variance can be estimated if the covariance matrix that it gives to the
judgments (after the systems' means are subtracted) is not a weighted sum of those of the other
components and of the residual. The Gram matrix of these covariance matrices shows this exactly for
every design; its entries are those of MINQUE (Rao 1971).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from wellput.stats.mixed.equations import CONFOUNDED_SHARE, Codes, Floats, MixedDesign

PRIORITY = ("judge", "item", "document", "judge:system", "item:system", "document:system")
"""If the data cannot distinguish two components, the first of them in this order is kept."""
MAX_DENSE_LEVELS = 2_000
"""Up to this many levels of all factors together, matrices are dense."""
NO_REPEATS = {
    "judge": "no judge judged more than once",
    "item": "no item was judged more than once",
    "document": "no document was judged more than once",
    "judge:system": "no judge judged a system more than once",
    "item:system": "no output was judged more than once",
    "document:system": "no system was judged more than once in a document",
}


@dataclass(frozen=True)
class Identified:
    """The components that can be estimated, and why each of the others cannot."""

    estimable: tuple[str, ...]
    reasons: dict[str, str]


def identify_components(design: MixedDesign) -> Identified:
    """Which of the design's factors have a variance that these judgments can estimate."""
    order = sorted(design.factors, key=lambda name: _priority(name))
    reasons: dict[str, str] = {}
    estimable: list[str] = []
    for name in order:
        reason = _own_reason(design, name)
        if reason:
            reasons[name] = reason
        else:
            estimable.append(name)
    gram = _gram(design, estimable)
    kept_places: list[int] = [0]  # the residual
    for k, name in enumerate(estimable, start=1):
        others = _made_up_of(gram, k, kept_places)
        if others is None:
            kept_places.append(k)
        else:
            reasons[name] = _why_confounded(name, [estimable[m - 1] for m in others if m > 0])
            if not others:  # subtracting the systems' means leaves nothing of the component
                reasons[name] = "this design cannot distinguish it from the systems themselves"
    return Identified(tuple(estimable[k - 1] for k in kept_places[1:]), reasons)


def _priority(name: str) -> tuple[int, str]:
    """A key that sorts components by `PRIORITY`, unknown ones last."""
    return (PRIORITY.index(name) if name in PRIORITY else len(PRIORITY), name)


def _own_reason(design: MixedDesign, name: str) -> str | None:
    """Why the component cannot be estimated whatever the others are; None if it may be."""
    codes = design.factors[name]
    if design.is_choice and (codes[:, 0] == codes[:, 1]).all():
        return f"the effect of {_article(name)} is the same for both systems of a choice"
    levels = int(codes.max()) + 1
    if levels < 2:
        return f"there is only one {name}"
    if levels == codes.size:
        return NO_REPEATS.get(name, f"no {name} was judged more than once")
    return None


def _article(name: str) -> str:
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def _why_confounded(name: str, others: Sequence[str]) -> str:
    """Why a component cannot be estimated: it is made up of `others` or, if there are none, of the
    residual."""
    if not others:
        return NO_REPEATS.get(name, "it cannot be distinguished from the residual")
    return f"this design cannot distinguish it from {' and '.join(others)}"


def _gram(design: MixedDesign, names: Sequence[str]) -> Floats:
    """The Gram matrix of the covariance matrices of the residual (first) and of the factors, after the
    systems' means are subtracted."""
    n, fixed = len(design), _matrix(design.systems)
    within = (fixed.T @ fixed).toarray()
    middle = np.linalg.pinv(within, hermitian=True)
    factors = [_matrix(design.factors[name]) for name in names]
    means = [np.asarray((matrix.T @ fixed).todense()) for matrix in factors]
    inner = [within @ middle, *(mean.T @ mean @ middle for mean in means)]
    ends = np.cumsum([0, *(matrix.shape[1] for matrix in factors)])
    whole = sparse.hstack(factors, format="csc") if factors else fixed
    shared = (whole.T @ whole).tocsr()
    if ends[-1] <= MAX_DENSE_LEVELS:  # then many small sparse products would cost more
        shared = shared.toarray()
    # The entry of two covariance matrices A and B is tr(AB) − 2 tr(PAB) + tr(PAPB), where P projects on
    # the systems' means: the trace of the product of A and B after these means are subtracted.
    gram = np.zeros((len(factors) + 1, len(factors) + 1))
    gram[0, 0] = n - 2 * np.sum(within * middle) + np.sum(inner[0] * inner[0].T)
    for a in range(len(factors)):
        rows = shared[ends[a] : ends[a + 1]]
        blocks = [rows[:, ends[b] : ends[b + 1]] for b in range(a + 1)]
        # The residual is first: its covariance matrix is the identity.
        betweens = [means[a].T @ means[a]] + [
            means[a].T @ (block @ mean) for block, mean in zip(blocks, means, strict=False)
        ]
        for b, (block, between) in enumerate(zip([factors[a], *blocks], betweens, strict=True)):
            gram[a + 1, b] = gram[b, a + 1] = (
                _sum_of_squares(block)
                - 2 * float(np.sum(between * middle))
                + float(np.sum(inner[a + 1] * inner[b].T))
            )
    return gram


def _sum_of_squares(matrix: sparse.csr_matrix | Floats) -> float:
    values: Floats = np.asarray(matrix.data if sparse.issparse(matrix) else matrix)
    return float((values**2).sum())


def _matrix(codes: Codes) -> sparse.csr_matrix:
    """The design matrix of a factor: judgments × levels; for choices, −1 for the second system's."""
    n = len(codes)
    signs = np.array([1.0, -1.0]) if codes.ndim == 2 else np.array([1.0])
    rows = np.repeat(np.arange(n), len(signs))
    return sparse.csr_matrix((np.tile(signs, n), (rows, codes.ravel())))


def _made_up_of(gram: Floats, k: int, estimable: Sequence[int]) -> list[int] | None:
    """The components among `estimable` (0 is the residual) whose covariance matrices, weighted, add up
    to that of component k; None if they do not, so that k can be estimated."""
    if gram[0, 0] < CONFOUNDED_SHARE or gram[k, k] <= CONFOUNDED_SHARE * gram[0, 0]:
        return []  # the systems' means leave nothing of any judgment, or nothing of this component
    unit = np.sqrt(np.diag(gram)[estimable])
    inner = gram[np.ix_(estimable, estimable)] / np.outer(unit, unit)
    outer = gram[estimable, k] / unit / np.sqrt(gram[k, k])
    shares = np.linalg.solve(inner, outer)
    if 1 - float(outer @ shares) > CONFOUNDED_SHARE:
        return None
    # A smaller share is rounding.
    return [m for m, share in zip(estimable, shares, strict=True) if abs(share) > 1e-6]
