"""Linear regression: judgments explained by scores.

`ols` fits y = intercept + X b by least squares, with the figures a paper reports: standard errors, t
and p of each coefficient, R², adjusted R², F and its p, AIC. They equal those of statsmodels' OLS; AIC
counts the intercept as a parameter, not the variance. `ridge` shrinks the coefficients. Rows with a
value that is not finite are left out and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError, counted
from wellput.core.estimates import is_constant, largest_size
from wellput.core.metric import Floats
from wellput.core.options import size_problem

EXACT_VARIANCE_SHARE = 1e-12
"""A residual variance below this share of y's variance counts as 0: the predictors determine y."""

DEPENDENT_VARIANCE_SHARE = 1e-10
"""A column is a combination of the others if they leave less than this share of its variance
unexplained."""

MAX_VARIANCE_INFLATION = 10.0
"""A predictor with a larger variance inflation gets a warning: the others explain more than 90% of its
variance. The limit is the usual rule of thumb."""


@dataclass(frozen=True, eq=False)
class Regression:
    """A fitted linear model. Coefficients are in the order of `names`, without the intercept.

    `variance_inflation` is 1 / (1 − R²) for each predictor, where R² is that of a regression of it on
    the others. `left_out` counts rows with a value that is not finite. Standard errors, t, p and AIC
    are NaN where they mean nothing: in a ridge regression, or where the predictors determine y
    (`is_exact`).
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
    is_exact: bool = False
    penalty: float = 0.0
    warnings: tuple[str, ...] = ()

    def predict(self, x: Floats) -> Floats:
        """Predictions for rows of predictors, shape (..., k) -> (...)."""
        return np.asarray(self.intercept + x @ self.coefficients, dtype=np.float64)

    @property
    def studentized(self) -> Floats:
        """Externally studentized residuals: each divided by its standard error, which is estimated
        without its row.

        Exact for least squares, approximate for ridge. NaN where undefined: for a row that alone
        determines a coefficient, for predictors that determine y, for too few rows.
        """
        freedom = self.n - self._parameters - 1
        if freedom <= 0.5 or self.is_exact:
            return np.full(self.n, np.nan)
        one_minus_leverage = np.where(
            self.leverages < 1 - EXACT_VARIANCE_SHARE, 1 - self.leverages, np.nan
        )
        variances_without = (
            self.residuals @ self.residuals - self.residuals**2 / one_minus_leverage
        ) / freedom
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(
                self.residuals / np.sqrt(variances_without * one_minus_leverage), dtype=np.float64
            )

    @property
    def cooks_distances(self) -> Floats:
        """How far the fitted values move when a row is left out (Cook 1977); more than 1 is a lot."""
        freedom = self.n - self._parameters
        if freedom <= 0.5 or self.is_exact:
            return np.full(self.n, np.nan)
        one_minus_leverage = np.where(
            self.leverages < 1 - EXACT_VARIANCE_SHARE, 1 - self.leverages, np.nan
        )
        variance = float(self.residuals @ self.residuals) / freedom
        moved = self.residuals**2 * self.leverages / one_minus_leverage**2
        return np.asarray(moved / (self._parameters * variance), dtype=np.float64)

    @property
    def _parameters(self) -> float:
        """The number of parameters with the intercept; a coefficient that ridge shrinks counts as less
        than 1."""
        return float(self.leverages.sum())


def ols(y: Floats, x: Floats, names: Sequence[str]) -> Regression:
    """Ordinary least squares of y (n) on the columns of x (n, k)."""
    y, x, left_out = complete_rows(y, x)
    n, k = x.shape
    if n <= k + 1:
        raise InputError(
            f"{counted(k, 'predictor')} and an intercept need at least {k + 2} rows; there "
            f"{'is' if n == 1 else 'are'} {n}. "
            "Take fewer predictors, or collect more judgments."
        )
    check_varied(y, x, names)
    # Centered and scaled, so that a predictor of 10⁶ ± 1 loses no digits.
    standard, means, spreads = standardized(x)
    centered = y - y.mean()
    q, r = np.linalg.qr(standard)
    _refuse_combinations(r / np.sqrt(n), names)
    solution = np.linalg.solve(r, q.T @ centered)
    residuals = centered - standard @ solution
    squares, total = float(residuals @ residuals), float(centered @ centered)
    freedom = n - k - 1
    is_exact = squares <= EXACT_VARIANCE_SHARE * total
    coefficients = solution / spreads
    variance = np.nan if is_exact else squares / freedom
    inflation = n * np.square(np.linalg.inv(r)).sum(axis=1)
    inverse = np.linalg.inv(r) / spreads[:, None]
    errors = np.sqrt((inverse**2).sum(axis=1) * variance)
    intercept_error = np.sqrt((1 / n + ((means @ inverse) ** 2).sum()) * variance)
    t_values = coefficients / errors
    r_squared = 1 - squares / total
    f = np.nan if is_exact or k == 0 else (total - squares) / k / variance
    warnings = [
        f"{name} is nearly a combination of the others (variance inflation {value:.1f}): "
        "do not trust its coefficient"
        for name, value in zip(names, inflation, strict=True)
        if value > MAX_VARIANCE_INFLATION
    ]
    if is_exact:
        warnings.append("the predictors determine the judgments: p-values mean nothing here")
    return Regression(
        names=tuple(names),
        intercept=float(y.mean() - means @ coefficients),
        coefficients=coefficients,
        standard_errors=errors,
        t_values=t_values,
        p_values=_two_sided(t_values, freedom),
        intercept_error=float(intercept_error),
        n=n,
        left_out=left_out,
        r_squared=r_squared,
        adjusted_r_squared=1 - (1 - r_squared) * (n - 1) / freedom,
        f=float(f),
        f_p_value=_upper_f(float(f), k, freedom),
        aic=float("nan") if is_exact else akaike(squares, n, k),
        residuals=residuals,
        leverages=1 / n + (q**2).sum(axis=1),
        variance_inflation=inflation,
        is_exact=is_exact,
        warnings=tuple(warnings),
    )


def ridge(
    y: Floats, x: Floats, names: Sequence[str], *, penalty: float | None = None
) -> Regression:
    """Least squares with a penalty on the squared coefficients of standardized predictors.

    It is scikit-learn's `Ridge(alpha=penalty)` on columns of mean 0 and standard deviation 1. The
    intercept is not penalized. The default penalty is the one with the smallest leave-one-out error
    among 61 penalties between n·10⁻⁴ and n·10², for n rows. Collinear predictors and more predictors
    than rows are allowed.
    """
    y, x, left_out = complete_rows(y, x)
    check_varied(y, x, names)
    if penalty is not None and not 0 < penalty < np.inf:
        raise InputError(f"A penalty must be above 0, {penalty} is not; `ols` has none.")
    n, k = x.shape
    standard, means, spreads = standardized(x)
    u, s, vt = np.linalg.svd(standard, full_matrices=False)
    centered = y - y.mean()
    projected = u.T @ centered
    squared = u**2

    def error_without_each(candidate: float) -> float:
        shrink = s**2 / (s**2 + candidate)
        leverages = 1 / n + squared @ shrink
        errors = (centered - u @ (shrink * projected)) / (1 - leverages)
        return float(errors @ errors)

    if penalty is None:
        penalty = min((n * 10.0**e for e in np.linspace(-4, 2, 61)), key=error_without_each)
    shrink = s**2 / (s**2 + penalty)
    coefficients = (vt.T @ (s / (s**2 + penalty) * projected)) / spreads
    residuals = centered - u @ (shrink * projected)
    undefined = np.full(k, np.nan)
    return Regression(
        names=tuple(names),
        intercept=float(y.mean() - means @ coefficients),
        coefficients=coefficients,
        standard_errors=undefined,
        t_values=undefined,
        p_values=undefined,
        intercept_error=float("nan"),
        n=n,
        left_out=left_out,
        r_squared=1 - float(residuals @ residuals) / float(centered @ centered),
        adjusted_r_squared=float("nan"),
        f=float("nan"),
        f_p_value=float("nan"),
        aic=float("nan"),
        residuals=residuals,
        leverages=1 / n + squared @ shrink,
        variance_inflation=variance_inflation(x),
        penalty=float(penalty),
    )


def akaike(squares: float, n: int, k: int) -> float:
    """AIC of a model with k predictors and an intercept, from its sum of squared residuals."""
    return float(n * (np.log(2 * np.pi * squares / n) + 1) + 2 * (k + 1))


def variance_inflation(x: Floats) -> Floats:
    """1 / (1 − R²) of each column, from a regression on the others: 1 where it is independent of them,
    infinite where it is a linear combination of them."""
    standard, _, _ = standardized(x)
    # The triangular factor has the same R² between columns as the data, in only k rows.
    r = np.linalg.qr(standard, mode="r") / np.sqrt(len(x))
    shares = np.array(
        [
            float(np.square(_residuals(np.delete(r, place, axis=1), column)).sum())
            for place, column in enumerate(r.T)
        ]
    )
    result = np.full(len(shares), np.inf)
    np.divide(1, shares, out=result, where=shares > DEPENDENT_VARIANCE_SHARE)
    return result


def complete_rows(y: Floats, x: Floats) -> tuple[Floats, Floats, int]:
    """The rows of finite numbers only, and how many rows were left out."""
    y, x = np.asarray(y, dtype=np.float64), np.asarray(x, dtype=np.float64)
    if y.ndim != 1 or x.ndim != 2 or len(x) != len(y):
        raise InputError(
            f"A regression needs n judgments and n × k predictors; these have shapes {y.shape} and "
            f"{x.shape}."
        )
    complete: NDArray[np.bool_] = np.isfinite(y) & np.isfinite(x).all(axis=1)
    return y[complete], x[complete], int((~complete).sum())


def check_varied(y: Floats, x: Floats, names: Sequence[str]) -> None:
    """Raises InputError where judgments or predictors do not vary or are too large, or rows are too
    few; the message names the predictors."""
    if x.shape[1] != len(names):
        raise InputError(f"Each of {counted(x.shape[1], 'predictor')} needs a name: {list(names)}.")
    for name, column in (("judgment", y), *zip(names, x.T, strict=True)):
        if wrong := size_problem(largest_size(column), "value"):
            raise InputError(f"{name}: {wrong}.")
    if len(y) < 3:
        raise InputError(f"A regression needs at least 3 complete rows; there are {len(y)}.")
    if is_constant(y):
        raise InputError("All judgments are equal, so there is nothing to explain.")
    constant = [name for name, column in zip(names, x.T, strict=True) if is_constant(column)]
    if constant:
        verb = "is" if len(constant) == 1 else "are each"
        raise InputError(
            f"{', '.join(constant)} {verb} the same in every row and can explain nothing: "
            f"leave {'it' if len(constant) == 1 else 'them'} out."
        )


def is_combination(column: Floats, others: Floats) -> bool:
    """Whether a column is a linear combination of the others and a constant, up to rounding."""
    if not others.shape[1]:
        return False
    standard, _, _ = standardized(np.column_stack([others, column]))
    return bool(
        np.square(_residuals(standard[:, :-1], standard[:, -1])).mean() < DEPENDENT_VARIANCE_SHARE
    )


def _refuse_combinations(r: Floats, names: Sequence[str]) -> None:
    """Raises InputError where a column is a linear combination of others. `r` is the triangular factor
    of the standardized columns divided by √n: its squared diagonal is the share of each column's
    variance that the columns before it do not explain."""
    for place in range(1, len(r)):
        if r[place, place] ** 2 < DEPENDENT_VARIANCE_SHARE:
            weights = np.linalg.solve(r[:place, :place], r[:place, place])
            # Columns with a smaller weight take no part, except by rounding.
            others = [name for name, w in zip(names, weights, strict=False) if abs(w) > 1e-4]
            raise InputError(
                f"{names[place]} is a combination of {', '.join(others)}: leave one of them out."
            )


def standardized(x: Floats) -> tuple[Floats, Floats, Floats]:
    """The columns with mean 0 and standard deviation 1; the means and the standard deviations that they
    had."""
    means, spreads = x.mean(axis=0), x.std(axis=0)
    return (x - means) / spreads, means, spreads


def _residuals(others: Floats, column: Floats) -> Floats:
    """The residuals of a regression of a column on the others."""
    return np.asarray(
        column - others @ np.linalg.lstsq(others, column, rcond=None)[0], dtype=np.float64
    )


def _two_sided(t_values: Floats, freedom: int) -> Floats:
    """The two-sided p-values of t statistics."""
    from scipy.special import stdtr

    return np.asarray(2 * stdtr(freedom, -np.abs(t_values)), dtype=np.float64)


def _upper_f(f: float, k: int, freedom: int) -> float:
    """The p-value of an F statistic with k and `freedom` degrees of freedom."""
    from scipy.special import fdtrc

    return float("nan") if np.isnan(f) else float(fdtrc(k, freedom, f))
