"""Figures of the fluency page as text: correlations with bootstrap intervals, and tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from benchmarks import pages
from wellput.core.metric import Floats

RESAMPLES = 1000
COHEN = ((0.5, "large"), (0.3, "medium"), (0.1, "small"))


def short(value: float) -> str:
    if np.isnan(value):
        return "–"
    digits = f"{abs(value):.3f}".removeprefix("0")
    return f"−{digits}" if value < 0 else digits


def pearson(x: Floats, y: Floats) -> float:
    """NaN where one does not vary, or a value is missing."""
    if np.isnan(x).any() or not (np.ptp(x) and np.ptp(y)):
        return float("nan")
    a, b = x - x.mean(), y - y.mean()
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def spearman(x: Floats, y: Floats) -> float:
    return float("nan") if np.isnan(x).any() else pearson(rankdata(x), rankdata(y))


def mean(x: Floats) -> float:
    return float(x.mean())


def draws(n: int, seed: int = 1) -> NDArray[np.int64]:
    return np.random.default_rng(seed).integers(n, size=(RESAMPLES, n))


def bounds(function: Callable[..., float], *columns: Floats) -> tuple[float, float, float]:
    """The value and the bounds of its 95% bootstrap interval over rows; NaN where there is no value."""
    value = function(*columns)
    if np.isnan(value):
        return value, value, value
    drawn = [function(*(column[rows] for column in columns)) for rows in draws(len(columns[0]))]
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return value, float(low), float(high)


def interval(function: Callable[..., float], *columns: Floats) -> str:
    """The value with its 95% bootstrap interval over rows."""
    value, low, high = bounds(function, *columns)
    if np.isnan(value):
        return "–"
    return f"{short(value)} ({short(low)} to {short(high)})"


def labeled(correlation: str) -> str:
    """A correlation with Cohen's word for its size."""
    if correlation == "–":
        return correlation
    size = abs(float(correlation.split(" ")[0].replace("−", "-")))
    return f"{correlation} {next((word for least, word in COHEN if size >= least), 'none')}"


def advantage(x: Floats, other: Floats, y: Floats) -> str:
    """How much nearer to y x is than the other, signs aside, with its interval; bold if that is above 0."""
    if np.isnan(pearson(x, y)) or np.isnan(pearson(other, y)):
        return "–"

    def difference(a: Floats, b: Floats, c: Floats) -> float:
        return abs(pearson(a, c)) - abs(pearson(b, c))

    drawn = [difference(x[rows], other[rows], y[rows]) for rows in draws(len(y))]
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    text = f"{short(difference(x, other, y))} ({short(low)} to {short(high)})"
    return f"**{text}**" if low > 0 else text


def mean_bounds(column: Floats) -> tuple[float, float]:
    half = 1.96 * float(column.std(ddof=1)) / np.sqrt(len(column))
    return float(column.mean()) - half, float(column.mean()) + half


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [pages.table(header, rows), ""]
