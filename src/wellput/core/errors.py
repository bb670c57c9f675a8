"""The error tree. Everything wellput raises on purpose is a `WellputError`.

    WellputError
    ├── InputError       what the user brought is wrong: a file, an option, a value (exit code 2)
    │   ├── MissingExtra     the input is fine, an optional package is not installed
    │   └── Unreachable      the input lies on a server that does not answer: it may, the next time
    ├── OutputError      the result cannot be written where it was asked for (exit code 2)
    └── Worse            a system is worse than the baseline, and failing was asked for (exit code 1)

A message says what was wrong, where (file, line, item), and what to do. `InputError.collect`
reports all the bad rows of a file at once rather than the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Self

SHOWN = 20


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
        shown = [f"  {problem}" for problem in problems[:SHOWN]]
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
