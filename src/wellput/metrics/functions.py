"""`FunctionMetric`: a plain Python function as a metric, for notebooks and scripts.

The function gets an output and returns a number, or None where the output has no score. If it has
parameters named `references` and `source`, it gets these, too. The metric has the function's name, and
its score is the mean of the numbers.
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
"""What a function may ask for by the name of a parameter."""


@dataclass(frozen=True)
class FunctionMetric(MeanMetric):
    """A function of an output as a metric; `higher` is False if lower is better, None if neither."""

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
        unknown = [one.name for one in self._further if one.name not in OFFERED_NEEDS]
        if unknown:
            raise InputError(
                f"{self.name}: a function that is a metric gets an output, and may have parameters "
                f"named {' and '.join(OFFERED_NEEDS)}; nothing is known for {', '.join(unknown)}. Give "
                "such a parameter a default."
            )

    @property
    def name(self) -> str:
        return str(getattr(self.function, "__name__", ""))

    @property
    def needs(self) -> frozenset[Need]:  # type: ignore[override]
        return frozenset(self._asked)

    @property
    def higher_is_better(self) -> bool | None:
        return self.higher

    def values(self, batch: Batch) -> Floats:
        given = {"references": batch.references, "source": batch.sources}
        asked = [(name, given[name]) for name in self._asked]
        return np.array(
            [
                self._number(self.function(text, **{name: rows[at] for name, rows in asked}))
                for at, text in enumerate(batch.texts)
            ],
            dtype=np.float64,
        )

    def signature(self) -> str:
        """The function's name, and the first 12 digits of the SHA-256 of its text where it is known."""
        try:
            text = inspect.getsource(self.function)
        except (OSError, TypeError):
            return f"function:{self.name}"
        return f"function:{self.name}|code:{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    @property
    def _asked(self) -> list[Need]:
        names = {one.name for one in self._parameters[1:]}
        return [name for name in OFFERED_NEEDS if name in names]

    @property
    def _further(self) -> list[inspect.Parameter]:
        """The parameters after the first that must be given."""
        several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        return [
            one
            for one in self._parameters[1:]
            if one.default is inspect.Parameter.empty and one.kind not in several
        ]

    @property
    def _parameters(self) -> list[inspect.Parameter]:
        try:
            return list(inspect.signature(self.function).parameters.values())
        except ValueError:  # some functions of C do not say
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
