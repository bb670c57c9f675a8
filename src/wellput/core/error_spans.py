"""`ErrorSpan`: a part of an output that a judge marked as wrong, as the column `spans` of judgments has
it: `[{"start": 4, "end": 9, "severity": "major", "category": "accuracy/omission"}]`.

Offsets are characters of the output, and `end` is the first character after the span. `"missing"` in
place of both offsets stands for something that the output leaves out: it has no place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from wellput.core.errors import InputError

SPANS_COLUMN = "spans"
MISSING = "missing"
"""In place of an offset: what is wrong is not in the output, it lacks there."""


@dataclass(frozen=True, slots=True, order=True)
class ErrorSpan:
    """`start` and `end` are −1 for something that is missing."""

    start: int
    end: int
    severity: str = ""
    category: str = ""

    @property
    def is_missing(self) -> bool:
        return self.start < 0


def read_error_spans(cell: str) -> list[ErrorSpan]:
    """The spans of a cell; an empty cell has none. Raises InputError that says what is wrong.

    >>> read_error_spans('[{"start": 4, "end": 9, "severity": "major"}]')
    [ErrorSpan(start=4, end=9, severity='major', category='')]
    """
    if not cell.strip():
        return []
    try:
        records = json.loads(cell)
    except (ValueError, RecursionError):
        raise InputError("its spans are not JSON") from None
    if not isinstance(records, list):
        raise InputError("its spans are not a list")
    return [_span(record, number) for number, record in enumerate(records, start=1)]


def _span(record: object, number: int) -> ErrorSpan:
    if not isinstance(record, Mapping):
        raise InputError(f"span {number} is not an object with start and end")
    start, end = record.get("start"), record.get("end")
    severity, category = record.get("severity") or "", record.get("category") or ""
    if not isinstance(severity, str) or not isinstance(category, str):
        raise InputError(f"span {number}: its severity and category must be texts")
    if start == MISSING:
        return ErrorSpan(-1, -1, severity, category)
    if type(start) is not int or type(end) is not int:
        raise InputError(f'span {number}: start and end must be whole numbers, or "{MISSING}"')
    if not 0 <= start < end:
        raise InputError(f"span {number} goes from {start} to {end}: it has no characters")
    return ErrorSpan(start, end, severity, category)
