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
BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}


def detokenize(tokens: Sequence[str]) -> str:
    """The text of one sentence.

    Straight quotation marks open and close in turn; one that stands alone is left with spaces.

    >>> detokenize("He did n't say : \\" It 's ( almost ) 5 % . \\"".split())
    'He didn\\'t say: "It\\'s (almost) 5%."'
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
        if not (is_glued or is_closing):
            pieces.append(" ")
        pieces.append({"``": "“", "''": "”"}.get(token, token))
        is_glued = is_opening
    return "".join(pieces)
