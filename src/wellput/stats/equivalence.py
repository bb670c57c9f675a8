"""Are two things equal for all that matters? Two one-sided tests against a margin (Schuirmann 1987)."""

from __future__ import annotations


def equivalence_p(value: float, error: float, freedom: float, margin: float) -> float:
    """The p-value of the hypothesis that the truth is `margin` or more away from 0, on either side.

    Where it is small, the difference is shown to be smaller than the margin. `error` is the standard
    error of `value`, `freedom` its degrees of freedom. It is below α just where the 1 − 2α interval
    lies within ±margin.

    >>> round(equivalence_p(0.5, 1.0, 30, 3.0), 4)
    0.0091
    """
    from scipy.special import stdtr  # imported late: SciPy takes long to load

    return float(stdtr(freedom, -(margin - abs(value)) / error))
