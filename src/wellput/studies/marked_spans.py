"""Error spans as a judge marks them in a text, checked and in order.

A span is `{"start": 4, "end": 9, "severity": "major", "category": "accuracy/omission", "text": "…"}`.
Offsets count characters (code points, as Python counts them) of the text; `end` is the offset of the
first character after the span. If `start` and `end` are `"missing"`, the mark stands for something
that the text leaves out, and `text` may say what is missing. `category` is empty where the question
has no categories.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard

from wellput.core.errors import counted
from wellput.core.judgment import MISSING

MAX_SPANS = 200
MAX_MISSING_CHARACTERS = 300
MAX_REASONS = 10
"""A message gives the reasons for at most this many refused spans, and the number of the others."""
SPAN_KEYS = ("start", "end", "severity", "category", "text")

Span: TypeAlias = dict[str, Any]


def checked_spans(
    value: object, text: str, *, severities: Sequence[str], categories: Sequence[str] = ()
) -> tuple[list[Span], list[str]]:
    """The spans of an answer in the order of the text, and the reasons why some are refused (the first
    `MAX_REASONS`). If any is refused, no spans are returned.

    >>> checked_spans([{"start": 2, "end": 5, "severity": "major"}], "a cat", severities=["major"])
    ([{'start': 2, 'end': 5, 'severity': 'major', 'category': '', 'text': 'cat'}], [])
    """
    if not isinstance(value, list):
        return [], ["a list of marked spans is needed"]
    if len(value) > MAX_SPANS:
        return [], [f"{len(value)} spans are marked; at most {MAX_SPANS} are allowed"]
    spans: list[Span] = []
    reasons: list[str] = []
    for number, record in enumerate(value, start=1):
        span, reason = _checked(record, text, severities, categories)
        if not reason and span["start"] != MISSING and span in spans:
            reason = "the same span is marked twice"
        if reason:
            reasons.append(f"mark {number}: {reason}")
        spans.append(span)
    if len(reasons) > MAX_REASONS:
        reasons[MAX_REASONS:] = [
            f"refused, too: {counted(len(reasons) - MAX_REASONS, 'other mark')}"
        ]
    return sorted(spans, key=span_order) if not reasons else [], reasons


def span_order(span: Mapping[str, Any]) -> tuple[bool, int, int, str, str, str]:
    """A sort key: spans by their place, then marks of missing things."""
    is_missing = span["start"] == MISSING
    start, end = (0, 0) if is_missing else (span["start"], span["end"])
    return is_missing, start, end, span["severity"], span["category"], span["text"]


def is_marked_alike(
    spans: Sequence[Mapping[str, Any]], earlier_spans: Sequence[Mapping[str, Any]]
) -> bool:
    """Whether two lists of marks in one text are alike: the F1 of their marked characters is at least a
    half."""
    places, earlier_places = marked_places(spans), marked_places(earlier_spans)
    return 4 * len(places & earlier_places) >= len(places) + len(earlier_places)


def marked_places(spans: Sequence[Mapping[str, Any]]) -> set[object]:
    """The offsets of the marked characters of a text, and "missing" if a mark says that something is
    missing."""
    return {
        place
        for span in spans
        for place in ((MISSING,) if span["start"] == MISSING else range(span["start"], span["end"]))
    }


def _checked(
    record: object, text: str, severities: Sequence[str], categories: Sequence[str]
) -> tuple[Span, str]:
    """A span as it is stored, and the reason why it is refused ("" if it is not)."""
    if not isinstance(record, Mapping):
        return {}, "an object with start, end and severity is needed"
    if unknown := [key for key in record if key not in SPAN_KEYS]:
        return {}, f"unknown key {_short(unknown[0])}"
    severity, category = record.get("severity", ""), record.get("category", "")
    if severity not in severities:
        return {}, f"choose how bad it is: {', '.join(severities)}"
    if categories and category not in categories:
        return {}, "choose what kind of error it is"
    if not categories and category != "":
        return {}, "this study has no kinds of errors"
    about = {"severity": severity, "category": category}
    start, end, quote = record.get("start"), record.get("end"), record.get("text")
    if start == MISSING and end in (MISSING, None):
        return _missing(about, quote)
    if not (_is_place(start) and _is_place(end)):
        return {}, f"start and end must be places in the text, or “{MISSING}”"
    if not 0 <= start < end <= len(text):
        return {}, f"it must lie inside the text, which has {len(text)} characters"
    marked = text[start:end]
    if not marked.strip():
        return {}, "it covers only blanks"
    if quote is not None and quote != marked:
        return {}, "its text differs from what stands there: offsets count characters of the output"
    return {"start": start, "end": end, **about, "text": marked}, ""


def _missing(about: Mapping[str, str], quote: object) -> tuple[Span, str]:
    """As `_checked`, for a mark that says that something is missing."""
    words = "" if quote is None else quote
    if not isinstance(words, str) or len(words) > MAX_MISSING_CHARACTERS:
        return {}, f"say what is missing in at most {MAX_MISSING_CHARACTERS} characters"
    if "\0" in words or any("\ud800" <= character <= "\udfff" for character in words):
        return {}, "what is missing has characters that cannot be stored"
    return {"start": MISSING, "end": MISSING, **about, "text": words.strip()}, ""


def _is_place(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _short(value: object) -> str:
    return ascii(value)[:40]
