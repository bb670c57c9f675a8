"""Words of a treebank put together to a text as people write it."""

from __future__ import annotations

import re
from collections.abc import Sequence

CLOSING = frozenset(
    [
        ".",
        ",",
        ";",
        ":",
        "!",
        "?",
        "…",
        "%",
        ")",
        "]",
        "}",
        "”",
        "’",
        "''",
        "...",
        "?!",
        "!!",
        "!!!",
        "??",
    ]
)
OPENING = frozenset(["(", "[", "{", "“", "‘", "``", "$", "£", "€", "#"])
QUOTES = frozenset(['"', "'"])
# What is written together with the word before: 's, n't, 'll; at the end of another word only.
CLITIC = re.compile(r"(?:n[’']t|[’'](?:s|m|d|re|ve|ll))", re.IGNORECASE)
HYPHEN = "-"
BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}


def detokenize(tokens: Sequence[str]) -> str:
    """The text of one sentence.

    Straight quotation marks open and close in turn; one that stands alone is left with spaces. A hyphen
    between words joins them: dashes are mostly written otherwise.

    >>> detokenize("He did n't say : \\" It 's ( almost ) a two - month job . \\"".split())
    'He didn\\'t say: "It\\'s (almost) a two-month job."'
    """
    pieces: list[str] = []
    is_glued = True
    open_quotes: set[str] = set()
    for place, token in enumerate(tokens):
        token = BRACKETS.get(token, token)
        is_opening = token in OPENING
        is_closing = token in CLOSING or (CLITIC.fullmatch(token) is not None and place > 0)
        if token in QUOTES:
            is_closing = token in open_quotes
            is_opening = not is_closing and token in tokens[place + 1 :]
            open_quotes ^= {token} if is_closing or is_opening else set()
        elif token == HYPHEN and 0 < place < len(tokens) - 1:
            is_opening = is_closing = _are_words(tokens[place - 1], tokens[place + 1])
        if not (is_glued or is_closing):
            pieces.append(" ")
        pieces.append({"``": "“", "''": "”"}.get(token, token))
        is_glued = is_opening
    return "".join(pieces)


def _are_words(before: str, after: str) -> bool:
    return before[-1].isalnum() and after[0].isalnum()
