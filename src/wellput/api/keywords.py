"""Keywords that changed their name and keep the old one for a while."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def renamed(**new_names: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Takes the old keywords, too, with a notice: `@renamed(n_resamples="resamples")`."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            for old in new_names.keys() & kwargs.keys():
                new = new_names[old]
                warnings.warn(f"{old}= is now {new}=.", DeprecationWarning, stacklevel=2)
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call

    return decorate
