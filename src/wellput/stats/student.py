"""An interval and its p-value from one standard error, so that they cannot contradict each other.

`student_estimate` is the one place where both are made: on the scale on which the error was measured
(Fisher's z of a correlation), by Student's t with the degrees of freedom of that error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wellput.core.metric import Floats
from wellput.core.table import Estimate


@dataclass(frozen=True, slots=True)
class Scale:
    """Where errors are symmetric: values go there by `forward` and come back by `backward`."""

    forward: Callable[[Floats], Floats]
    backward: Callable[[Floats], Floats]


IDENTITY = Scale(np.asarray, np.asarray)
FISHER_Z = Scale(np.arctanh, np.tanh)
"""Of correlations, from −1 to 1."""
LOGIT = Scale(lambda share: np.arctanh(2 * share - 1), lambda z: (np.tanh(z) + 1) / 2)
"""Of shares, from 0 to 1: half the log of the odds, which is Fisher's z of 2 · share − 1."""


def scale_of_pairs(pairs: int, *, is_share: bool) -> Scale:
    """Fisher's z of a coefficient that counts this many pairs, which may well be 1: drawn a little
    towards chance first, as if one pair more were right and wrong by half."""
    kept = pairs / (pairs + 1)
    base = LOGIT if is_share else FISHER_Z
    middle = 0.5 if is_share else 0.0
    return Scale(
        lambda values: base.forward(middle + kept * (values - middle)),
        lambda z: np.clip(
            middle + (base.backward(z) - middle) / kept, 0.0 if is_share else -1.0, 1.0
        ),
    )


def student_estimate(
    value: float,
    error: float,
    freedom: float,
    *,
    null: float | None = 0.0,
    confidence: float = 0.95,
    scale: Scale = IDENTITY,
    method: str = "",
    n: int | None = None,
    seed: int | None = None,
) -> Estimate:
    """`value` with its interval, and the two-sided p-value that the truth is `null`.

    `error` is the standard error on the `scale`, `freedom` its degrees of freedom. Without a positive
    error there is neither interval nor p-value.
    """
    if not (error > 0 and freedom > 0 and math.isfinite(error)):
        return Estimate(value, method=method, n=n, seed=seed, null=null)
    from scipy.special import stdtr, stdtrit  # imported late: SciPy takes long to load

    center = float(scale.forward(np.array(value)))
    reach = float(stdtrit(freedom, (1 + confidence) / 2)) * error
    low, high = (float(scale.backward(np.array(center + side))) for side in (-reach, reach))
    p_value = None
    if null is not None:
        distance = abs(center - float(scale.forward(np.array(null))))
        p_value = 2 * float(stdtr(freedom, -distance / error))
    return Estimate(value, low, high, p_value, method, n, seed, null)
