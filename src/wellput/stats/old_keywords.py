"""The keywords that `Correlation` has replaced: level=, average= and coefficient=.

They still work, with a DeprecationWarning that says what to write instead.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from wellput.stats.correlation import Correlation

P = ParamSpec("P")
R = TypeVar("R")
OLD_KEYWORDS = ("level", "average", "coefficient")


def takes_old_keywords(defaults: Correlation) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Lets a function that takes a `correlation` be called with the old keywords as well.

    `defaults` are what the function itself took for the keywords that a call left out, so that an old
    call still gives the old quantity.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> R:
            old = {name: kwargs.pop(name) for name in OLD_KEYWORDS if name in kwargs}
            if old:
                correlation = replace(defaults, **old)
                warnings.warn(
                    f"{function.__name__}() takes one correlation in place of "
                    f"{', '.join(f'{name}=' for name in old)}: pass correlation={correlation!r}.",
                    DeprecationWarning,
                    stacklevel=2,
                )
                return cast("Callable[..., R]", function)(*args, correlation=correlation, **kwargs)
            return function(*args, **kwargs)

        return cast("Callable[P, R]", call)

    return decorate
