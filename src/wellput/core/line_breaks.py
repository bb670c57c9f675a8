"""Line breaks in texts that people mark: a line break is one character, LF.

A browser turns each CR LF, and each CR alone, into LF. So a study stores its texts in this form, and
the offsets of error spans count a line break as one character, in whatever form the evalset has it.
"""

from __future__ import annotations

import re
from typing import Any

_OTHER_BREAK = re.compile("\r\n?")


def with_line_feeds(text: str) -> str:
    r"""The text with LF in place of CR LF and of CR alone.

    >>> with_line_feeds("a\r\nb\rc\n")
    'a\nb\nc\n'
    """
    return _OTHER_BREAK.sub("\n", text) if "\r" in text else text


def all_with_line_feeds(value: Any) -> Any:
    r"""The value of a setting, with LF for every line break in all of its texts.

    >>> all_with_line_feeds({"points": 5, "choices": ["a\r\nb"]})
    {'points': 5, 'choices': ['a\nb']}
    """
    if isinstance(value, str):
        return with_line_feeds(value)
    if isinstance(value, list | tuple):
        parts = map(all_with_line_feeds, value)
        return list(parts) if isinstance(value, list) else tuple(parts)
    if isinstance(value, dict):
        return {
            all_with_line_feeds(name): all_with_line_feeds(part) for name, part in value.items()
        }
    return value


def place_with_line_feeds(start: int, end: int, text: str, quote: object = None) -> tuple[int, int]:
    r"""The offsets of a span in `with_line_feeds(text)`. The given offsets may count CR LF as one
    character or as two: the `quote` (the words of the span), if there is one, says which. Without it,
    they count the characters of `text`. Offsets beyond the end stay beyond it.

    >>> text = "a\r\nb cat"
    >>> place_with_line_feeds(4, 7, text, "cat"), place_with_line_feeds(5, 8, text, "cat")
    ((4, 7), (4, 7))
    >>> place_with_line_feeds(2, 3, text)  # the LF of a CR LF
    (1, 2)
    """
    if "\r" not in text:
        return start, end
    if isinstance(quote, str) and with_line_feeds(text)[start:end] == with_line_feeds(quote):
        return start, end
    # A span that starts with the LF of a CR LF starts with the one line feed that replaces both.
    is_on_line_feed = start > 0 and text[start - 1 : start + 1] == "\r\n"
    first = _offset_with_line_feeds(start, text) - is_on_line_feed
    return first, _offset_with_line_feeds(end, text)


def _offset_with_line_feeds(offset: int, text: str) -> int:
    """An offset in the text, as an offset in `with_line_feeds(text)`."""
    if offset < 0:
        return offset
    return len(with_line_feeds(text[:offset])) + max(offset - len(text), 0)
