"""Calls of kernels as they are made in real work, to be made again with other arguments.

A `Script` is what one function or one object of `wellput._native` was asked in turn. While
`recording()` is on, every kernel notes its scripts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeAlias

import numpy as np

from tests.fuzz.mutation import mutated_value
from wellput import _native

Step: TypeAlias = tuple[str, tuple[Any, ...], dict[str, Any]]

KEPT = 24
"""Scripts of one kernel: the first ones are as good as the others."""


@dataclass
class Script:
    """`steps` are the names of what was called, its arguments and its named arguments: of an object its
    methods, the first step making it; of a function itself."""

    kernel: str
    steps: list[Step] = field(default_factory=list)

    def play(self) -> Any:
        """Makes the calls; what the last of them returns."""
        made = getattr(_native, self.kernel)
        result = None
        for name, arguments, named in self.steps:
            call = made if name == self.kernel else getattr(made, name)
            result = call(*map(_played, arguments), **named)
            if name == self.kernel:
                made = result
        return result

    def mutated(self, rng: Random) -> Script:
        """The same with arguments changed in one step or two; sometimes an object is asked something
        twice, not at all or at another time."""
        steps = list(self.steps)
        if len(steps) > 1 and rng.random() < 0.2:
            moved = steps.pop(rng.randrange(1, len(steps)))
            for _ in range(rng.choice([0, 1, 2])):
                steps.insert(rng.randint(1, len(steps)), moved)
        for _ in range(rng.choice([1, 1, 2])):
            at = rng.randrange(len(steps))
            name, arguments, named = steps[at]
            if isinstance(named, dict) and named and rng.random() < 0.3:
                steps[at] = name, arguments, mutated_value(rng, named)
            elif arguments:
                place = rng.randrange(len(arguments))
                changed = mutated_value(rng, arguments[place])
                steps[at] = name, (*arguments[:place], changed, *arguments[place + 1 :]), named
        return Script(self.kernel, steps)


def _played(argument: Any) -> Any:
    return argument.play() if isinstance(argument, Script) else argument


def _kept(value: Any) -> Any:
    """What later work cannot change."""
    if isinstance(value, np.ndarray):
        return np.array(value)
    if isinstance(value, list | tuple):
        return type(value)(map(_kept, value))
    if isinstance(value, dict):
        return {key: _kept(each) for key, each in value.items()}
    if callable(value):
        return nothing
    return getattr(value, "_script", value)


def nothing(*_: object) -> None:
    """In the place of a callback, which cannot be kept in a file."""


def all_kernels() -> dict[str, Any]:
    """The functions and classes of `wellput._native`, without its exceptions."""
    return {
        name: kernel
        for name, kernel in vars(_native).items()
        if not name.startswith("_")
        and not (isinstance(kernel, type) and issubclass(kernel, Exception))
    }


@contextmanager
def recording() -> Iterator[dict[str, list[Script]]]:
    """Scripts by kernel, filled as long as the block lasts."""
    scripts: dict[str, list[Script]] = {}
    kernels = all_kernels()
    for name, kernel in kernels.items():
        noted = scripts.setdefault(name, [])
        wrap = _recorded_class if isinstance(kernel, type) else _recorded_function
        setattr(_native, name, wrap(name, kernel, noted))
    try:
        yield scripts
    finally:
        for name, kernel in kernels.items():
            setattr(_native, name, kernel)


def _note(script: Script, noted: list[Script]) -> None:
    if len(noted) < KEPT:
        noted.append(script)


def _recorded_function(name: str, kernel: Any, noted: list[Script]) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        _note(Script(name, [(name, _kept(arguments), _kept(named))]), noted)
        return kernel(*arguments, **named)

    return call


def _recorded_class(name: str, kernel: Any, noted: list[Script]) -> type:
    def __init__(self: Any, *arguments: Any, **named: Any) -> None:
        kernel.__init__(self, *arguments, **named)
        self._script = Script(name, [(name, _kept(arguments), _kept(named))])
        _note(self._script, noted)

    methods: dict[str, Any] = {"__init__": __init__}
    for method in vars(kernel):
        if not method.startswith("_"):
            methods[method] = _recorded_method(method, getattr(kernel, method))
    return type(name, (kernel,), methods)


def _recorded_method(name: str, method: Any) -> Callable[..., Any]:
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        if len(self._script.steps) < KEPT:
            self._script.steps.append((name, _kept(arguments), _kept(named)))
        return method(self, *arguments, **named)

    return call
