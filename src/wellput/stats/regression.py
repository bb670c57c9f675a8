"""Linear regression: judgments explained by scores.

`ols` fits y = intercept + X b by least squares, with the figures a paper reports: standard errors, t
and p of each coefficient, R², adjusted R², F and its p, AIC. `ridge` shrinks the coefficients instead.
Rows with a NaN are left out and counted. Equal to statsmodels' OLS, AIC included (k counts the
intercept, not the variance).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError
from wellput.core.metric import Floats

EXACT = 1e-12
"""A residual variance below this share of y's is taken for 0: the predictors determine y."""

COLLINEAR = 10.0
"""Variance inflation above this is warned of (the usual rule of thumb; R² of 0.9 with the others)."""


@dataclass(frozen=True, eq=False)
class Regression:
    """A fitted linear model. Coefficients are in the order of `names`; the intercept stands apart.

    `variance_inflation` is 1 / (1 − R²) of each predictor on the others. Standard errors, t and p are
    NaN where they mean nothing: in a ridge regression, or where the predictors determine y.
    """

    names: tuple[str, ...]
    intercept: float
    coefficients: Floats
    standard_errors: Floats
    t_values: Floats
    p_values: Floats
    intercept_error: float
    n: int
    left_out: int
    r_squared: float
    adjusted_r_squared: float
    f: float
    f_p_value: float
    aic: float
    residuals: Floats
    leverages: Floats
    variance_inflation: Floats
    penalty: float = 0.0
    warnings: tuple[str, ...] = ()

    def predict(self, x: Floats) -> Floats:
        """Predictions for rows of predictors, shape (..., k) -> (...)."""
        return np.asarray(self.intercept + x @ self.coefficients, dtype=np.float64)

    @property
    def studentized(self) -> Floats:
        """Externally studentized residuals: each against the fit without its row. NaN if undefined."""
        k = len(self.names) + 1
        freedom = self.n - k - 1
        if freedom <= 0:
            return np.full(self.n, np.nan)
        rest = (self.residuals**2).sum() - self.residuals**2 / (1 - self.leverages)
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled: Floats = self.residuals / np.sqrt(rest / freedom * (1 - self.leverages))
        return scaled


def ols(y: Floats, x: Floats, names: Sequence[str]) -> Regression:
    """Ordinary least squares of y (n) on the columns of x (n, k)."""
    y, x, left_out = complete_rows(y, x)
    n, k = x.shape
    _check(y, x, names)
    if n <= k + 1:
        raise InputError(
            f"{k} predictors and an intercept need at least {k + 2} rows; there are {n}. "
            "Take fewer predictors, or gather more judgments."
        )
    design = np.column_stack([np.ones(n), x])
    q, r = np.linalg.qr(design)
    beta = np.linalg.solve(r, q.T @ y)
    residuals = y - design @ beta
    squares, total = float(residuals @ residuals), float(((y - y.mean()) ** 2).sum())
    freedom = n - k - 1
    is_exact = squares <= EXACT * total
    inverse = np.linalg.inv(r)
    errors = np.sqrt((inverse**2).sum(axis=1) * squares / freedom)
    if is_exact:
        errors = np.full(k + 1, np.nan)
    t_values = np.divide(beta, errors, out=np.full(k + 1, np.nan), where=errors > 0)
    r_squared = 1 - squares / total
    f = np.nan if is_exact or k == 0 else (r_squared / k) / ((1 - r_squared) / freedom)
    inflation = variance_inflation(x)
    warnings = [
        f"{name} is nearly a combination of the others (variance inflation {value:.1f}): "
        "its coefficient is not to be trusted"
        for name, value in zip(names, inflation, strict=True)
        if value > COLLINEAR
    ]
    if is_exact:
        warnings.append("the predictors determine the judgments: p-values mean nothing here")
    return Regression(
        names=tuple(names),
        intercept=float(beta[0]),
        coefficients=beta[1:],
        standard_errors=errors[1:],
        t_values=t_values[1:],
        p_values=_two_sided(t_values[1:], freedom),
        intercept_error=float(errors[0]),
        n=n,
        left_out=left_out,
        r_squared=r_squared,
        adjusted_r_squared=1 - (1 - r_squared) * (n - 1) / freedom,
        f=float(f),
        f_p_value=_upper_f(float(f), k, freedom),
        aic=np.nan if is_exact else n * (np.log(2 * np.pi * squares / n) + 1) + 2 * (k + 1),
        residuals=residuals,
        leverages=(q**2).sum(axis=1),
        variance_inflation=inflation,
        warnings=tuple(warnings),
    )


def ridge(
    y: Floats, x: Floats, names: Sequence[str], *, penalty: float | None = None
) -> Regression:
    """Least squares with a penalty on the squared coefficients of standardized predictors.

    The intercept is not penalized. Without a `penalty` the one with the smallest leave-one-out error
    is taken from a grid of 61 between n·10⁻⁴ and n·10².
    """
    y, x, left_out = complete_rows(y, x)
    _check(y, x, names)
    n, k = x.shape
    spread = x.std(axis=0)
    standard = (x - x.mean(axis=0)) / spread
    u, s, vt = np.linalg.svd(standard, full_matrices=False)
    centered = y - y.mean()
    projected = u.T @ centered

    def leave_one_out(candidate: float) -> float:
        shrink = s**2 / (s**2 + candidate)
        leverages = 1 / n + (u**2) @ shrink
        errors = (centered - u @ (shrink * projected)) / (1 - leverages)
        return float(errors @ errors)

    if penalty is None:
        penalty = min((n * 10.0**e for e in np.linspace(-4, 2, 61)), key=leave_one_out)
    shrink = s**2 / (s**2 + penalty)
    coefficients = (vt.T @ (s / (s**2 + penalty) * projected)) / spread
    fitted = y.mean() + u @ (shrink * projected)
    residuals = y - fitted
    nothing = np.full(k, np.nan)
    return Regression(
        names=tuple(names),
        intercept=float(y.mean() - x.mean(axis=0) @ coefficients),
        coefficients=coefficients,
        standard_errors=nothing,
        t_values=nothing,
        p_values=nothing,
        intercept_error=float("nan"),
        n=n,
        left_out=left_out,
        r_squared=1 - float(residuals @ residuals) / float(centered @ centered),
        adjusted_r_squared=float("nan"),
        f=float("nan"),
        f_p_value=float("nan"),
        aic=float("nan"),
        residuals=residuals,
        leverages=1 / n + (u**2) @ shrink,
        variance_inflation=variance_inflation(x),
        penalty=float(penalty),
    )


def variance_inflation(x: Floats) -> Floats:
    """1 / (1 − R²) of each column on the others: 1 where it is independent of them."""
    if x.shape[1] < 2:
        return np.ones(x.shape[1])
    correlations = np.corrcoef(x, rowvar=False)
    return np.asarray(np.diag(np.linalg.pinv(correlations)), dtype=np.float64)


def complete_rows(y: Floats, x: Floats) -> tuple[Floats, Floats, int]:
    """The rows without a NaN, and how many were left out."""
    y, x = np.asarray(y, dtype=np.float64), np.asarray(x, dtype=np.float64)
    complete: NDArray[np.bool_] = ~(np.isnan(y) | np.isnan(x).any(axis=1))
    return y[complete], x[complete], int((~complete).sum())


def _check(y: Floats, x: Floats, names: Sequence[str]) -> None:
    """Refuses what no regression can explain, with the names of the predictors at fault."""
    if len(y) < 3:
        raise InputError(f"A regression needs at least 3 complete rows; there are {len(y)}.")
    if np.ptp(y) == 0:
        raise InputError("All judgments are equal: there is nothing to explain.")
    constant = [name for name, column in zip(names, x.T, strict=True) if np.ptp(column) == 0]
    if constant:
        raise InputError(f"{', '.join(constant)} is the same in every row and explains nothing.")
    standard = (x - x.mean(axis=0)) / x.std(axis=0)
    for place in range(1, x.shape[1]):
        before, column = standard[:, :place], standard[:, place]
        rest = column - before @ np.linalg.lstsq(before, column, rcond=None)[0]
        if float(rest @ rest) < 1e-10 * len(y):
            raise InputError(
                f"{names[place]} is a combination of {', '.join(names[:place])}: leave one out."
            )


def _two_sided(t_values: Floats, freedom: int) -> Floats:
    from scipy.special import stdtr

    return np.asarray(2 * stdtr(freedom, -np.abs(t_values)), dtype=np.float64)


def _upper_f(f: float, k: int, freedom: int) -> float:
    from scipy.special import fdtrc

    return float("nan") if np.isnan(f) else float(fdtrc(k, freedom, f))
