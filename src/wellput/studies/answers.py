"""What judges answer, as values: the shape in which answers are stored, and why one is refused.

In the store the answers to a trial are a list with one {question: value} per variant; a pair has one
such entry for both.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

from wellput.core.errors import InputError

Values = dict[str, Any]


class AnswerError(InputError):
    """An answer that the questions do not allow; `reasons` say why, one by one."""

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = list(reasons)


def is_storable(text: str) -> bool:
    """Whether every database can hold the text: no NUL, no half of a surrogate pair."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def is_success(answer: str, keys: Sequence[str]) -> bool:
    """Whether an answer is one of the keyed ones, but for case, spacing and a final full stop."""
    return _plain(answer) in {_plain(key) for key in keys}


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split()).rstrip(".!? ")


def quoted(value: object) -> str:
    """A value that was sent, as a message may repeat it: short, and in plain characters."""
    text = repr(value).encode("ascii", "backslashreplace").decode("ascii")
    return text if len(text) <= 40 else text[:39] + "…"
