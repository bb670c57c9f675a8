"""The noun `UsualValues`: the usual value for the most specific key that is known.

An example has keys from the general to the specific (`NNS`, `NNS -s`, `NNS -es`, `NNS boxes`) and a
value. A key is kept only where its usual value is not what its more general keys would say already:
tables of lemmas and categories become small, and say something about words never seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from numpy.typing import NDArray

from wellput.io.model_files import ModelFile, packed_strings

MIN_COUNT = 2


@dataclass(frozen=True)
class UsualValues:
    """Values by key. An example's more general keys must follow from its specific one."""

    values: Mapping[str, str]

    @classmethod
    def learn(cls, examples: Iterable[tuple[Sequence[str], str]]) -> Self:
        """From (keys, value); the most general keys are kept always, others if seen twice."""
        counts: dict[tuple[int, tuple[str, ...]], Counter[str]] = {}
        for keys, value in examples:
            for level in range(len(keys)):
                counts.setdefault((level, tuple(keys[: level + 1])), Counter())[value] += 1
        table = cls(values := {})
        for (level, keys), found in sorted(counts.items()):
            # The first in alphabetical order where two are equally usual: the same on every machine.
            value, count = min(found.items(), key=lambda pair: (-pair[1], pair[0]))
            is_usual = level == 0 or count >= MIN_COUNT
            if is_usual and table.get(keys[:-1]) != value:
                values[keys[-1]] = value
        return table

    def get(self, keys: Sequence[str], default: str = "") -> str:
        """The value of the last key that has one."""
        for key in reversed(keys):
            if (value := self.values.get(key)) is not None:
                return value
        return default

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """What a model file keeps."""
        return {
            **packed_strings(f"{name}.keys", list(self.values)),
            **packed_strings(f"{name}.values", list(self.values.values())),
        }

    @classmethod
    def from_file(cls, file: ModelFile, name: str) -> Self:
        keys, values = file.strings(f"{name}.keys"), file.strings(f"{name}.values")
        return cls(dict(zip(keys, values, strict=True)))
