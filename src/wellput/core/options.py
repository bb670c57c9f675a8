"""Checks the options of wellput's public functions: choices by their Literal types, numbers by size.

The command line checks choices and minimum values itself. Numbers that are too large or too small to
compute with are refused here, for the command line and for Python.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, wraps
from typing import Literal, ParamSpec, TypeVar, get_args, get_origin

from wellput.core.errors import InputError, did_you_mean

P = ParamSpec("P")
T = TypeVar("T")

MAX_MAGNITUDE = 1e100
MIN_MAGNITUDE = 1e-100
"""The square of a number above `MAX_MAGNITUDE` may overflow, and that of a number below
`MIN_MAGNITUDE` may become 0."""
MAX_WHOLE = 1_000_000_000
"""The largest whole number for options without a limit of their own."""
MAX_DURATION = 1_000_000
"""In the unit of the option: eleven days for options in seconds, almost two years for options in
minutes."""
MAX_BY_OPTION = {
    "seed": 2**63 - 1,
    "threads": 4096,
    "parallel": 1000,
    "judges": 100_000,
    "per_item": 100_000,
    "quota": 100_000,
    "negatives": 1_000_000,
    "permutations": 1_000_000,
    "simulations": 10_000_000,
    "lease": MAX_DURATION,
    "place_timeout": MAX_DURATION,
    "request_timeout": MAX_DURATION,
    "timeout": MAX_DURATION,
}
"""The largest values of the options that have a limit of their own."""
REASON_OF_MAX = {
    "permutations": "more would take hours, and p-values are reliable to three decimals by then",
    "simulations": "more do not fit into memory, and power is reliable to three decimals by then",
}
"""Why an option has its limit, for the message."""


def checks_options(function: Callable[P, T]) -> Callable[P, T]:
    """A decorator: the function raises InputError for keywords whose value it cannot use."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        for name, choices in _choices(function).items():
            value = kwargs.get(name)
            if isinstance(value, str) and value not in choices:
                hint = did_you_mean(value, choices)
                raise InputError(f"{name}={value!r} is none of {', '.join(choices)}.{hint}")
        for name, value in kwargs.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                check_number(name, value)
        return function(*args, **kwargs)

    return call


def check_number(name: str, value: float) -> None:
    """Refuses a number that is not finite, or too large or too small to compute with, and a confidence
    that is not between 0 and 1.

    >>> check_number("threads", 10**20)
    Traceback (most recent call last):
      ...
    wellput.core.errors.InputError: threads=100000000000000000000 is too large: at most 4,096.
    """
    if name == "confidence" and not 0 < value < 1:
        raise InputError(f"{name}={value} must be between 0 and 1, such as 0.95.")
    if name == "confidence" and (1 + value) / 2 == 1:
        raise InputError(f"{name}={value} is too close to 1: the interval would be infinite.")
    if not isinstance(value, int) and not math.isfinite(value):
        raise InputError(f"{name}={value} is not a finite number.")
    maximum = MAX_BY_OPTION.get(name, MAX_WHOLE if isinstance(value, int) else MAX_MAGNITUDE)
    if abs(value) > maximum:
        shown = f"{maximum:,}" if isinstance(maximum, int) else f"{maximum:g}"
        reason = f"; {REASON_OF_MAX[name]}" if name in REASON_OF_MAX else ""
        raise InputError(f"{name}={value} is too large: at most {shown}{reason}.")
    if 0 < abs(value) < MIN_MAGNITUDE:
        raise InputError(f"{name}={value} is too small: 0, or at least {MIN_MAGNITUDE:g}.")


def size_problem(number: float, noun: str) -> str:
    """Why a number cannot be squared, and what to do; empty for one that can.

    >>> size_problem(-1e200, "score")
    'the score -1e+200 is too large to be squared: divide all scores by one number'
    """
    if abs(number) > MAX_MAGNITUDE:
        return (
            f"the {noun} {number:.3g} is too large to be squared: divide all {noun}s by one number"
        )
    if 0 < abs(number) < MIN_MAGNITUDE:
        return f"the {noun} {number:.3g} is too small to be squared: multiply all {noun}s by one number"
    return ""


@cache
def _choices(function: Callable[..., object]) -> dict[str, tuple[str, ...]]:
    """The keywords whose type is a Literal or a union of Literals (and perhaps None), each with the
    texts that it allows."""
    choices: dict[str, tuple[str, ...]] = {}
    for name, annotation in function.__annotations__.items():
        try:
            # Annotations are texts here (`from __future__ import annotations`).
            kind = eval(annotation, function.__globals__)
        except (NameError, TypeError):  # names known only to type checkers: not a Literal
            continue
        is_union = bool(get_args(kind)) and get_origin(kind) is not Literal
        parts = list(get_args(kind)) if is_union else [kind]
        texts = [text for part in parts if get_origin(part) is Literal for text in get_args(part)]
        if texts and all(get_origin(part) is Literal or part is type(None) for part in parts):
            choices[name] = tuple(texts)
    return choices
