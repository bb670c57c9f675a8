"""The noun `LoggedAnswer`: what the logs of different tools come down to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class LoggedAnswer:
    """One answer of a system to an item, with the references and the scores that the log gives it."""

    item: str
    system: str
    output: str
    source: str | None = None
    references: tuple[str, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)


def text_of(value: object) -> str:
    """A text as it is; what else a model may return, as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
