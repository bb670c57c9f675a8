"""`FunctionMetric`: a plain Python function as a metric, for notebooks and scripts.

The function gets an output and returns a number, or None if the output has no score. If it has
parameters named `references` or `source`, it also gets the item's references or source. The metric has
the function's name, and its score is the mean of the numbers.
"""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from wellput.core.errors import InputError
from wellput.core.evalset import Batch
from wellput.core.metric import Floats, Need
from wellput.metrics.base import MeanMetric

OFFERED_NEEDS: tuple[Need, ...] = ("references", "source")
"""The names of parameters by which a function can get other data of the item."""


@dataclass(frozen=True)
class FunctionMetric(MeanMetric):
    """A function of an output as a metric; `higher` is True if high values are better, False if low
    values are, None if neither are."""

    family: ClassVar[str] = "function"
    about: ClassVar[str] = "a function of your own"
    function: Callable[..., Any]
    higher: bool | None = True

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise InputError(
                "A metric needs a name: define the function with def, or give it a __name__. A lambda "
                "has none."
            )
        unknown = [
            parameter.name
            for parameter in self._required_parameters
            if parameter.name not in OFFERED_NEEDS
        ]
        if unknown:
            raise InputError(
                f"{self.name}: a function that is a metric gets an output, and may have parameters "
                f"named {' and '.join(OFFERED_NEEDS)}; wellput has no value for {', '.join(unknown)}. "
                "Give such a parameter a default."
            )

    @property
    def name(self) -> str:
        return str(getattr(self.function, "__name__", ""))

    @property
    def needs(self) -> frozenset[Need]:  # type: ignore[override]
        return frozenset(self._offered_parameters)

    @property
    def higher_is_better(self) -> bool | None:
        return self.higher

    def values(self, batch: Batch) -> Floats:
        columns = {"references": batch.references, "source": batch.sources}
        arguments = [(name, columns[name]) for name in self._offered_parameters]
        return np.array(
            [
                self._number(self.function(text, **{name: rows[at] for name, rows in arguments}))
                for at, text in enumerate(batch.texts)
            ],
            dtype=np.float64,
        )

    def signature(self) -> str:
        """The function's name, and the first 12 digits of the SHA-256 of its source code, if Python can
        find the code."""
        try:
            text = inspect.getsource(self.function)
        except (OSError, TypeError):
            return f"function:{self.name}"
        return f"function:{self.name}|code:{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    @property
    def _offered_parameters(self) -> list[Need]:
        """The function's parameters that are named in `OFFERED_NEEDS`."""
        names = {parameter.name for parameter in self._parameters[1:]}
        return [name for name in OFFERED_NEEDS if name in names]

    @property
    def _required_parameters(self) -> list[inspect.Parameter]:
        """The function's parameters without a default, except the first, which is the output."""
        variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        return [
            parameter
            for parameter in self._parameters[1:]
            if parameter.default is inspect.Parameter.empty and parameter.kind not in variadic
        ]

    @property
    def _parameters(self) -> list[inspect.Parameter]:
        try:
            return list(inspect.signature(self.function).parameters.values())
        except ValueError:  # the parameters of some functions written in C are unknown
            return []

    def _number(self, value: Any) -> float:
        if value is None:
            return math.nan
        if isinstance(value, Real | np.bool_):
            return float(value)
        raise InputError(
            f"{self.name} must return a number for each output, or None for no score, not "
            f"{type(value).__name__}."
        )
