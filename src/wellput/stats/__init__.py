"""Functions from arrays to `Estimate`s (a value with an interval and a p-value): how far to trust a
score, whether a difference is real, whether a metric agrees with people.

Functions that compare metrics with people take systems × items arrays, NaN for a missing cell:

>>> import numpy as np
>>> from wellput import stats
>>> metric, people = np.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(3, 4) ** 2
>>> round(stats.correlate(metric, people, stats.Correlation(coefficient="kendall")).value, 3)
1.0
"""

from wellput.core.lazy_names import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
