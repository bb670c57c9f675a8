"""Displays by multinomial logistic regression over the context: beyond the paper.

Every value of every feature has a weight for every display, so that what is known of a feature serves
in contexts that were never seen. Weights are penalized by half their squares (scikit-learn's C = 1),
the intercepts are not. The temperature divides the log probabilities before a display is drawn: 1 draws
by them, lower is surer of itself, 0 always takes the likeliest.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wellput.core.metric import Floats
from wellput.displays.corpus import Contexts, Integers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

ITERATIONS = 200


class DisplayModel:
    """A model of the displays of some nodes, by context."""

    def __init__(self, contexts: Contexts, displays: Integers, nodes: NDArray[np.bool_]) -> None:
        from scipy.optimize import minimize

        self.seen, inverse = np.unique(displays[nodes], return_inverse=True)
        k = len(self.seen)
        used, rows = np.unique(contexts.codes[nodes], return_inverse=True)
        counts = np.bincount(rows * k + inverse, minlength=len(used) * k).reshape(-1, k)
        self._design = indicators(contexts)
        x = self._design[used]
        totals = counts.sum(axis=1, keepdims=True)

        def loss(flat: Floats) -> tuple[float, Floats]:
            weights = flat.reshape(-1, k)
            log_p = log_softmax(x @ weights)
            penalized = weights.copy()
            penalized[0] = 0.0  # the intercepts
            gradient = x.T @ (totals * np.exp(log_p) - counts) + penalized
            value = -(counts * log_p).sum() + 0.5 * (penalized**2).sum()
            return float(value), np.asarray(gradient).ravel()

        found = minimize(
            loss,
            np.zeros(x.shape[1] * k),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": ITERATIONS},
        )
        self._weights = found.x.reshape(-1, k)

    def log_probabilities(self) -> Floats:
        """Of every display (along `seen`) in every context."""
        return log_softmax(np.asarray(self._design @ self._weights))

    def choose(self, codes: Integers, draws: Floats, *, temperature: float) -> Integers:
        """A display for each node, by its context and a number drawn from [0, 1)."""
        scores = self.log_probabilities()
        if temperature == 0:
            return np.asarray(self.seen[scores.argmax(axis=1)][codes], dtype=np.int64)
        ends = np.exp(log_softmax(scores / temperature)).cumsum(axis=1)
        ends[:, -1] = 1.0  # whatever rounding left
        return np.asarray(self.seen[(draws[:, None] >= ends[codes]).sum(axis=1)], dtype=np.int64)


def indicators(contexts: Contexts) -> csr_array:
    """Contexts × (1 for the intercept, then a column for each value of each feature)."""
    from scipy.sparse import csr_array

    columns: dict[tuple[int, Hashable], int] = {}
    places: list[int] = []
    for values in contexts.values:
        places.append(0)
        places += [columns.setdefault(value, len(columns) + 1) for value in enumerate(values)]
    width = len(contexts.names) + 1
    starts = np.arange(0, len(places) + 1, width)
    shape = (len(contexts.values), len(columns) + 1)
    return csr_array((np.ones(len(places)), np.array(places, dtype=np.int64), starts), shape=shape)


def log_softmax(scores: Floats) -> Floats:
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))
