"""Exclusions as people write them: `judge=J3: pressed one button`, `system=B,item=7: a typing error`.

What is left out is named by judge, system and item; what is not named means all. A reason is required:
it stands in every result.
"""

from __future__ import annotations

from wellput.agreement.panel import Exclusion
from wellput.core.errors import InputError, did_you_mean

KEYS = ("judge", "system", "item")


def parse_exclusion(text: str, question: str = "") -> Exclusion:
    """One rule, for one question or (empty) for all.

    >>> parse_exclusion("judge=J3,item=7: fell asleep", "quality").reason
    'fell asleep'
    """
    rule, colon, reason = text.partition(":")
    if not colon or not reason.strip():
        raise InputError(
            f'--exclude {text!r} has no reason. Write what and why, such as "{text}: an outlier".'
        )
    named: dict[str, str] = {}
    for part in rule.split(","):
        key, equals, name = (piece.strip() for piece in part.partition("="))
        if key not in KEYS or not equals or not name:
            raise InputError(
                f"--exclude {text!r}: {part.strip()!r} must be judge=NAME, system=NAME or item=ID."
                f"{did_you_mean(key, KEYS)}"
            )
        if key in named:
            raise InputError(f"--exclude {text!r} names two of {key}; use --exclude twice.")
        named[key] = name
    judge, system, item = (named.get(key) for key in KEYS)
    return Exclusion(question, reason.strip(), judge=judge, system=system, item=item)
