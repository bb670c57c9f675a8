"""The error tree, the noun `Problems`, and the words of messages. Everything wellput raises on
purpose is a `WellputError`.

    WellputError
    ├── InputError       what the user brought is wrong: a file, an option, a value (exit code 2)
    │   ├── MissingExtra     the input is fine, an optional package is not installed
    │   └── Unreachable      the input lies on a server that does not answer: it may, the next time
    ├── OutputError      the result cannot be written where it was asked for (exit code 2)
    └── Worse            a system is worse than the baseline, and failing was asked for (exit code 1)

A message says what was wrong, where (file, line, item), and what to do. All the bad rows of a file
are reported at once rather than the first: `Problems` gathers them while reading goes on,
`InputError.collect` says them. `counted` and `did_you_mean` give the nouns and names in a message
their form.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Self

MAX_PROBLEMS_SHOWN = 20


class WellputError(Exception):
    """Any error whose message is meant for the user."""

    result: Any = None
    """What was computed before it, where something was: it must not be lost."""

    def having(self, result: Any) -> Self:
        """The error with the result that was there before it."""
        self.result = result
        return self


class InputError(WellputError, ValueError):
    """The input is wrong; the message says what, where and what to do."""

    @classmethod
    def collect(
        cls, headline: str, problems: Sequence[str], advice: str = "", *, total: int | None = None
    ) -> InputError:
        """One error for many bad rows: the headline, each problem on a line, the advice.

        `total` is how many there were when `problems` holds only the first of them.
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


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """`" Did you mean chrf?"` for a misspelled name, or the beginning of one; else the empty string.

    >>> did_you_mean("chrff", ["bleu", "chrf"])
    ' Did you mean chrf?'
    >>> did_you_mean("gleu", ["bleu", "chrf", "gleu-fluency"])
    ' Did you mean gleu-fluency or bleu?'
    """
    spelled = {other.lower(): other for other in known}
    begun = [other for other in spelled if other.startswith(f"{name.lower()}-")]
    close = get_close_matches(name.lower(), spelled, n=3, cutoff=0.6)
    near = [spelled[other] for other in dict.fromkeys([*begun, *close])][:3]
    return f" Did you mean {' or '.join(near)}?" if near else ""


def counted(n: int, noun: str, plural: str = "") -> str:
    """The number and the noun in the form that belongs to it; the plural ends in s unless given.

    >>> counted(1, "item"), counted(2000, "item"), counted(0, "entry", "entries")
    ('1 item', '2,000 items', '0 entries')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


class Problems:
    """The problems of one file. Counts them all and keeps those that will be shown: a file of ten
    million bad lines must not fill the memory with complaints."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.kept: list[str] = []
        self.total = 0

    def __bool__(self) -> bool:
        return self.total > 0

    def add(self, where: str, what: str) -> None:
        """One more: `where` is a line, a row or an item, `what` says what is wrong there."""
        self.total += 1
        if len(self.kept) < MAX_PROBLEMS_SHOWN:
            self.kept.append(f"{where}: {what}")

    def raise_if_any(self, *, advice: str = "") -> None:
        """Raises one InputError for all of them."""
        if self.total:
            count = "a problem" if self.total == 1 else f"{self.total} problems"
            headline = f"{self.name} has {count}:"
            raise InputError.collect(headline, self.kept, advice, total=self.total)


def cannot_listen(host: str, port: int, error: OSError) -> InputError:
    """The error of a server that cannot have its address."""
    return InputError(
        f"Cannot listen at {host}, port {port}: {error.strerror}. Try another port= or host=."
    )
