"""`Sentence`: a reference or an output as words, each with its place in the text.

Words of the reference are replaced by words of the output. Words are compared in lower case. *Fixed*
words may not be replaced: numbers, names, quoted words, punctuation, contractions. `FUNCTION_WORDS`
carry grammar rather than meaning: they are never replaced, never a replacement, and never a feature of
LSA (latent semantic analysis). WordNet has unexpected entries for many of them: *a* is an angstrom,
*in* an inch, *it* information technology.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from wellput.language.trees.supertags import NAME_TAGS

FUNCTION_WORDS = frozenset(
    Path(__file__).with_name("function_words.txt").read_text(encoding="utf-8").split()
)


TOKEN = re.compile(
    r"[^\W\d_]+['’][tT]\b"  # don't
    r"|['’](?:s|re|ve|ll|d|m|S|RE|VE|LL|D|M)\b"
    r"|[^\W\d_]+(?:-[^\W\d_]+)*"
    r"|\d+(?:[.,:/-]\d+)*\w*"
    r"|\S"
)
WORD_PATTERN = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*\Z")
QUOTED_PATTERN = re.compile(
    r'"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|``[^`]*?\'\''
    r"|‘[^‘]*?’(?!\w)|(?<!\w)'[^']+'(?!\w)",
    re.DOTALL,
)
# After these marks a capital may show the beginning of a sentence, so it does not show a name.
MARKS_BEFORE_CAPITAL = frozenset(".!?:;\"'“”‘’«»()[]-–—*•…`")


@dataclass(frozen=True)
class Sentence:
    """A text and its tokens. `spans` has the places of each token's first character and of the
    character after its last one. `tags` are the Penn tags of the tokens, or None. `also_fixed` is true
    for tokens that are fixed whatever their form; it may be empty."""

    text: str
    tokens: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    tags: tuple[str, ...] | None = None
    also_fixed: tuple[bool, ...] = ()

    @classmethod
    def of(cls, text: str, tags: Sequence[str] | None = None) -> Sentence:
        """Splits a text into tokens.

        >>> Sentence.of("Israel's reply cost $3.50.").tokens
        ('Israel', "'s", 'reply', 'cost', '$', '3.50', '.')
        """
        spans = tuple(match.span() for match in TOKEN.finditer(text))
        tokens = tuple(text[begin:end] for begin, end in spans)
        return cls(text, tokens, spans, None if tags is None else tuple(tags))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The tokens, lower-cased."""
        return tuple(token.lower() for token in self.tokens)

    @cached_property
    def is_fixed(self) -> tuple[bool, ...]:
        """For each token, whether it may not be replaced (in a reference) or may not replace a word (in
        an output)."""
        quoted = (
            [match.span() for match in QUOTED_PATTERN.finditer(self.text)]
            if self._has_quotes
            else []
        )
        return tuple(
            not WORD_PATTERN.match(token)
            or self._is_name(place)
            or bool(self.also_fixed and self.also_fixed[place])
            or any(begin < self.spans[place][0] < end for begin, end in quoted)
            for place, token in enumerate(self.tokens)
        )

    def covered(self, first: int, end: int) -> str:
        """The text of the tokens from `first` to before `end`."""
        return self.text[self.spans[first][0] : self.spans[end - 1][1]]

    def fixed_where(self, is_fixed: Sequence[bool]) -> Sentence:
        """The same sentence; the tokens for which `is_fixed` is true may not be replaced either."""
        return replace(self, also_fixed=tuple(is_fixed))

    @property
    def _has_quotes(self) -> bool:
        return any(mark in self.text for mark in "\"“„«`‘'")

    def _is_name(self, place: int) -> bool:
        """Whether the token at this place is probably a name."""
        token = self.tokens[place]
        if self.tags is not None and self.tags[place] in NAME_TAGS:
            return True
        if token == token.lower():
            return False
        if not token[1:].islower() and len(token) > 1:  # NATO, McCoy
            return True
        if place > 0 and self.tokens[place - 1] not in MARKS_BEFORE_CAPITAL:
            return True
        # A capital at the beginning of a sentence shows a name only if another follows: Bill Clinton.
        following = self.tokens[place + 1] if place + 1 < len(self.tokens) else ""
        return self.tags is None and following[:1].isupper() and following != "I"


def lower_tokens(text: str) -> list[str]:
    """The lower-cased tokens of a text, by which corpora are indexed."""
    return TOKEN.findall(text.lower())
