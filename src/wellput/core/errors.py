"""The error tree, `Problems`, and helpers for messages. Every error that wellput raises on
purpose is a `WellputError`.

    WellputError
    ├── InputError       the user's file, option or value is wrong (exit code 2)
    │   ├── MissingExtra     an optional package is not installed
    │   └── Unreachable      a server does not answer; trying again may help
    ├── OutputError      the result cannot be written (exit code 2)
    └── Worse            a system is worse than the baseline, under --fail-if-worse (exit code 1)

A message says what is wrong, where (file, line, item), and what to do. It names all bad rows of a
file, not only the first: `Problems` gathers them during reading, and `InputError.collect` makes the
message. `counted` writes a number with its noun, `did_you_mean` suggests a name, and `printable` makes
a text safe for a terminal: a name in a file may contain escape sequences, which would change the
terminal's colors, cursor or title, or marks that reverse the direction of the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Self

MAX_PROBLEMS_SHOWN = 20


class WellputError(Exception):
    """Any error whose message is meant for the user."""

    result: Any = None
    """The result that was computed before the error, if any, so that it is not lost."""

    def with_result(self, result: Any) -> Self:
        """This error, holding the result that was computed before it."""
        self.result = result
        return self


class InputError(WellputError, ValueError):
    """The input is wrong; the message says what, where and what to do."""

    @classmethod
    def collect(
        cls, headline: str, problems: Sequence[str], advice: str = "", *, total: int | None = None
    ) -> InputError:
        """One error for many bad rows: the headline, each problem on a line, the advice.

        `total` is the number of all problems, if `problems` has only the first ones.
        """
        shown = [f"  {problem}" for problem in problems[:MAX_PROBLEMS_SHOWN]]
        hidden = (len(problems) if total is None else total) - len(shown)
        if hidden > 0:
            shown.append(f"  … and {hidden} more")
        return cls("\n".join([headline, *shown, *([advice] if advice else [])]))


class MissingExtra(InputError, ImportError):
    """An optional package is needed; the message gives the install command."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional package: pip install 'wellput[{extra}]'")


class Unreachable(InputError):
    """A server did not answer, or the connection was lost; trying again may help."""


class OutputError(WellputError, OSError):
    """The result could not be written; nothing was left half-written."""


class Worse(WellputError):
    """A system is significantly worse than the baseline; `result` has the scores."""


MAX_NAMES_TO_SUGGEST = 2000
MAX_CHARACTERS_TO_SUGGEST = 200
"""Beyond these limits no name is suggested: comparing many or long names would take minutes."""


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """`" Did you mean chrf?"` for a misspelled name or the beginning of one; else an empty string.

    >>> did_you_mean("chrff", ["bleu", "chrf"])
    ' Did you mean chrf?'
    >>> did_you_mean("gleu", ["bleu", "chrf", "gleu-fluency"])
    ' Did you mean gleu-fluency or bleu?'
    """
    if len(known) > MAX_NAMES_TO_SUGGEST or len(name) > MAX_CHARACTERS_TO_SUGGEST:
        return ""
    spelled = {other.lower(): other for other in known}
    longer = [other for other in spelled if other.startswith(f"{name.lower()}-")]
    similar = get_close_matches(name.lower(), spelled, n=3, cutoff=0.6)
    suggested = [spelled[other] for other in dict.fromkeys([*longer, *similar])][:3]
    return f" Did you mean {' or '.join(suggested)}?" if suggested else ""


def counted(n: int, noun: str, plural: str = "") -> str:
    """The number with its noun in singular or plural; the plural adds an s unless given.

    >>> counted(1, "item"), counted(2000, "item"), counted(0, "entry", "entries")
    ('1 item', '2,000 items', '0 entries')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


class Problems:
    """The problems of one file. `total` counts all problems; `kept` has only the first ones, which are
    shown, so that ten million bad lines do not fill the memory."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.kept: list[str] = []
        self.total = 0

    def __bool__(self) -> bool:
        return self.total > 0

    def add(self, where: str, what: str) -> None:
        """Adds a problem: `where` is a line, a row or an item, `what` says what is wrong there."""
        self.total += 1
        if len(self.kept) < MAX_PROBLEMS_SHOWN:
            self.kept.append(f"{where}: {what}")

    def raise_if_any(self, *, advice: str = "") -> None:
        """Raises one InputError for all problems."""
        if self.total:
            count = "a problem" if self.total == 1 else f"{self.total} problems"
            headline = f"{self.name} has {count}:"
            raise InputError.collect(headline, self.kept, advice, total=self.total)


def cannot_listen(host: str, port: int, error: OSError) -> InputError:
    """The error for a server whose address cannot be used."""
    return InputError(
        f"Cannot listen at {host}, port {port}: {error.strerror}. Try another port= or host=."
    )


UNESCAPED_CONTROLS = "\n"
_CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]
_DIRECTIONS = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_INVISIBLE = [0x2028, 0x2029, 0xFEFF]
"""Separators of lines and paragraphs, which LaTeX does not know, and a byte order mark."""
_ESCAPES = {
    code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    for code in (*_CONTROLS, *_DIRECTIONS, *_INVISIBLE)
    if chr(code) not in UNESCAPED_CONTROLS
}


def printable(text: str) -> str:
    """The text with escapes such as `\\x1b` for control characters (except line feeds) and for other
    characters that a terminal does not show.

    >>> printable("\\x1b[31mred\\x07")
    '\\\\x1b[31mred\\\\x07'
    """
    return text if text.isprintable() else text.translate(_ESCAPES)


def visible(text: str) -> str:
    """Like `printable`, but escapes everything that is not printable, such as no-break spaces and
    single surrogates; tabs stay as they are. For texts that a model or a person wrote.

    >>> visible("red\\x07\\u00a0\\tblue")
    'red\\\\x07\\\\xa0\\tblue'
    """
    return "".join(
        c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text
    )
