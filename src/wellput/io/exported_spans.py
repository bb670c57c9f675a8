"""What the writers of other tools' formats share: the outputs that were judged, and the error spans
that a judgment has in its column `spans`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from wellput.core.errors import InputError
from wellput.core.evalset import Item
from wellput.core.judgment import MISSING, SPANS_COLUMN, Judgment


def spans_of(answer: Judgment) -> list[dict[str, Any]] | None:
    """The error spans of a judgment; None if errors were not marked."""
    written = answer.extra.get(SPANS_COLUMN)
    if written is None:
        return None
    spans: list[dict[str, Any]] = json.loads(written or "[]")
    return spans


def is_missing(span: Mapping[str, Any]) -> bool:
    """Whether the span stands for an omission."""
    return bool(span["start"] == MISSING)


def by_id(items: Iterable[Item]) -> dict[str, Item]:
    return {item.id: item for item in items}


def judged_text(items: Mapping[str, Item], answer: Judgment) -> str:
    """The output that was judged. Raises InputError for one that is not text."""
    output = items[answer.item].outputs[answer.system]
    if not isinstance(output, str):
        raise InputError(f"The output of {answer.system} for item {answer.item} is not a text.")
    return output


def one_question(answers: Sequence[Judgment], what: str) -> None:
    """Raises InputError if there are answers to several questions."""
    questions = sorted({answer.question for answer in answers})
    if len(questions) > 1:
        raise InputError(
            f"{what} has one score for each answer, and there are answers to "
            f"{', '.join(questions)}. Choose one with question=."
        )


def seconds_of(answer: Judgment) -> tuple[float, float]:
    """When a judge began and ended, in seconds since 1970; 0 where it is not known."""
    recorded = answer.extra.get("recorded_at")
    if not recorded:
        return 0.0, 0.0
    moment = datetime.strptime(recorded, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    end = moment.timestamp()
    return end - int(answer.extra.get("ms") or 0) / 1000, end
