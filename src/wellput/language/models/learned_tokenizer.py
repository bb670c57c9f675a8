"""`LearnedTokenizer`: splits text into sentences and words, as a treebank does.

It learns from the treebank which surface tokens stand for several words (Greek *στο*), which words
have a space inside (Vietnamese *chủ tịch*), which marks inside a token are words of their own, and
which words are written on to others (Welsh *o'r*, Maltese *il-ktieb*). Where text has no spaces
between words (Chinese), it learns how frequent words are, and the likeliest ones are chosen.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wellput.core.tree import Tree
from wellput.io.files import PathLike
from wellput.io.model_files import (
    StoredModel,
    packed_strings,
)
from wellput.text.english import Words

MIN_UNSPACED_SHARE = 0.3
"""In a language without spaces, at least this share of neighboring words of letters touch."""
MIN_CUT_SHARE = 0.5
MIN_ATTACHED_COUNT = 3
MAX_WORD_CHARACTERS = 24
LOG_UNKNOWN_CHARACTER = -14.0
SENTENCE_END = re.compile(r"(?:(?<=[.!?…؟।])[\"'”’»)\]]*\s+|(?<=[。！？])[”’」』）]*\s*)(?=\S)")
WORD_OR_NUMBER = re.compile(r"[A-Za-zÀ-ɏ0-9０-９]+(?:[.,][0-9]+)*")
WORD_INSIDE = "\x1f"
"""Separates the words of a surface token in the file."""


@dataclass(frozen=True, eq=False)
class LearnedTokenizer(StoredModel):
    """`counts` has the words of the treebank, `multiwords` the words of surface tokens, `cut_marks` the
    marks that are cut off inside a token. `leading` words end in a mark and are written on to the
    next word, `trailing` words begin with one and are written on to the word before. `has_spaces` is
    false for languages such as Chinese."""

    kind: ClassVar[str] = "tokenizer"
    noun: ClassVar[str] = "tokenizer"

    counts: Mapping[str, int]
    multiwords: Mapping[str, tuple[str, ...]]
    cut_marks: frozenset[str]
    leading: frozenset[str]
    trailing: frozenset[str]
    has_spaces: bool
    card: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def learn(cls, trees: Sequence[Tree]) -> LearnedTokenizer:
        counts: Counter[str] = Counter()
        multiwords: dict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
        cut: Counter[str] = Counter()
        inside: Counter[str] = Counter()
        leading: Counter[str] = Counter()
        trailing: Counter[str] = Counter()
        touching = letters = 0
        for tree in trees:
            forms = [word.form for word in tree.words]
            counts.update(forms)
            for one in tree.multiwords:
                multiwords[one.form][tuple(forms[one.first - 1 : one.last])] += 1
            tokens = tree.surface()
            for place, (form, misc) in enumerate(tokens):
                inside.update(set(_marks_inside(form)))
                if place + 1 < len(tokens):
                    is_touching = "SpaceAfter=No" in misc
                    if form[-1:].isalpha() and tokens[place + 1][0][:1].isalpha():
                        letters += 1
                        touching += is_touching
                    follows = place and "SpaceAfter=No" in tokens[place - 1][1]
                    if is_touching and follows and len(form) == 1 and _is_mark(form):
                        cut[form] += 1
                    following = tokens[place + 1][0]
                    if is_touching and _is_leading(form) and following[:1].isalnum():
                        leading[form.lower()] += 1
                    if is_touching and _is_trailing(following) and form[-1:].isalnum():
                        trailing[following.lower()] += 1
        return cls(
            dict(counts),
            {form: found.most_common(1)[0][0] for form, found in multiwords.items()},
            frozenset(
                mark
                for mark, count in cut.items()
                if count >= MIN_CUT_SHARE * (count + inside[mark])
            ),
            frozenset(form for form, count in leading.items() if count >= MIN_ATTACHED_COUNT),
            frozenset(form for form, count in trailing.items() if count >= MIN_ATTACHED_COUNT),
            has_spaces=not letters or touching < MIN_UNSPACED_SHARE * letters,
        )

    def sentences(self, text: str) -> Iterator[str]:
        """A sentence ends after its mark; line breaks count as spaces."""
        for sentence in SENTENCE_END.split(" ".join(text.split())):
            if sentence:
                yield sentence

    def words(self, text: str) -> Words:
        forms: list[str] = []
        are_spaced: list[bool] = []
        surface: list[tuple[int, int]] = []
        written: list[str] = []
        for chunk in text.split():
            for token in self._tokens(chunk):
                parts = self._parts(token)
                if len(parts) > 1:
                    surface.append((len(forms), len(forms) + len(parts) - 1))
                    written.append(token)
                forms += parts
                are_spaced += [False] * len(parts)
            are_spaced[-1] = True
        words = Words(tuple(forms), tuple(are_spaced), tuple(surface), tuple(written))
        return self._joined(words) if self._longest_spaced > 1 else words

    def _tokens(self, chunk: str) -> list[str]:
        if not self.has_spaces:
            return self._likeliest(chunk)
        if self._is_known(chunk):
            return [chunk]
        before, core, after = _without_outer_marks(chunk, self._is_known)
        return [*before, *(self._cut(core) if core else []), *after]

    def _cut(self, token: str) -> list[str]:
        """At words that are written on and at marks inside that the treebank cuts, unless the token is
        known."""
        before: list[str] = []
        after: list[str] = []
        while not self._is_known(token) and (parts := self._written_on(token)) is not None:
            is_leading, first, last = parts
            if is_leading:
                before.append(first)
                token = last
            else:
                after.append(last)
                token = first
        return [*before, *self._cut_at_marks(token), *after[::-1]]

    def _written_on(self, token: str) -> tuple[bool, str, str] | None:
        """The token in two where a word is written on to the rest, and whether that is the first; None
        for others."""
        beginnings = range(1, min(len(token), self._longest_leading + 1))
        endings = range(max(1, len(token) - self._longest_trailing), len(token))
        for place in sorted({*beginnings, *endings}):
            if token[:place].lower() in self.leading:
                return True, token[:place], token[place:]
            if token[place:].lower() in self.trailing:
                return False, token[:place], token[place:]
        return None

    def _cut_at_marks(self, token: str) -> list[str]:
        if self._is_known(token):
            return [token]
        if not self.cut_marks.intersection(token):
            return [token]
        found = [""]
        for place, character in enumerate(token):
            is_number = (
                token[place - 1 : place].isdigit() and token[place + 1 : place + 2].isdigit()
            )
            if character in self.cut_marks and not is_number:
                found += [character, ""]
            else:
                found[-1] += character
        return [one for one in found if one]

    def _parts(self, token: str) -> tuple[str, ...]:
        if (known := self.multiwords.get(token)) is not None and token not in self.counts:
            return known
        if known is not None and len(known) > 1:
            return known
        lower = token.lower()
        if token != lower and token not in self.counts and (known := self.multiwords.get(lower)):
            return (known[0][:1].upper() + known[0][1:], *known[1:])
        return (token,)

    def _is_known(self, token: str) -> bool:
        return token in self.counts or token in self.multiwords

    def _likeliest(self, chunk: str) -> list[str]:
        """The words with the highest product of frequencies. Runs of Latin letters and digits stay
        whole."""
        best: list[tuple[float, int]] = [(0.0, 0)]
        for end in range(1, len(chunk) + 1):
            found = (best[end - 1][0] + LOG_UNKNOWN_CHARACTER, end - 1)
            for start in range(max(0, end - MAX_WORD_CHARACTERS), end):
                word = chunk[start:end]
                log = self._log_shares.get(word)
                if log is None and WORD_OR_NUMBER.fullmatch(word):
                    log = LOG_UNKNOWN_CHARACTER
                if log is not None:
                    found = max(found, (best[start][0] + log, start))
            best.append(found)
        words: list[str] = []
        end = len(chunk)
        while end:
            start = best[end][1]
            words.append(chunk[start:end])
            end = start
        return words[::-1]

    def _joined(self, words: Words) -> Words:
        """Words with spaces inside put together, the longest first."""
        forms: list[str] = []
        are_spaced: list[bool] = []
        new_places: list[int] = []
        place = 0
        while place < len(words.forms):
            length = 1
            for size in range(min(self._longest_spaced, len(words.forms) - place), 1, -1):
                own = words.forms[place : place + size]
                if all(words.are_spaced[place : place + size - 1]) and self._is_spaced_word(own):
                    length = size
                    break
            new_places += [len(forms)] * length
            forms.append(" ".join(words.forms[place : place + length]))
            are_spaced.append(words.are_spaced[place + length - 1])
            place += length
        surface = tuple((new_places[a], new_places[b]) for a, b in words.surface_tokens)
        return Words(tuple(forms), tuple(are_spaced), surface, words.surface_forms)

    def _is_spaced_word(self, forms: Sequence[str]) -> bool:
        text = " ".join(forms)
        return text in self.counts or text[:1].lower() + text[1:] in self.counts

    @cached_property
    def _longest_spaced(self) -> int:
        return max((word.count(" ") + 1 for word in self.counts), default=1)

    @cached_property
    def _longest_leading(self) -> int:
        return max(map(len, self.leading), default=0)

    @cached_property
    def _longest_trailing(self) -> int:
        return max(map(len, self.trailing), default=0)

    @cached_property
    def _log_shares(self) -> dict[str, float]:
        total = sum(self.counts.values())
        return {word: math.log(count / total) for word, count in self.counts.items()}

    @classmethod
    def load(cls, path: PathLike) -> LearnedTokenizer:
        with cls.reading(path) as file:
            counts = file.arrays["counts"].tolist()
            surface = file.strings("surface")
            parts = [tuple(one.split(WORD_INSIDE)) for one in file.strings("parts")]
            return cls(
                dict(zip(file.strings("words"), counts, strict=True)),
                dict(zip(surface, parts, strict=True)),
                frozenset(file.strings("cut_marks")),
                frozenset(file.strings("leading")),
                frozenset(file.strings("trailing")),
                bool(file.arrays["has_spaces"][0]),
                file.card,
            )

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {
            **packed_strings("words", list(self.counts)),
            "counts": np.array(list(self.counts.values()), np.int64),
            **packed_strings("surface", list(self.multiwords)),
            **packed_strings("parts", [WORD_INSIDE.join(own) for own in self.multiwords.values()]),
            **packed_strings("cut_marks", sorted(self.cut_marks)),
            **packed_strings("leading", sorted(self.leading)),
            **packed_strings("trailing", sorted(self.trailing)),
            "has_spaces": np.array([self.has_spaces], np.uint8),
        }


def _marks_inside(form: str) -> Iterable[str]:
    return filter(_is_mark, form[1:-1])


def _is_leading(form: str) -> bool:
    return len(form) > 1 and _is_mark(form[-1]) and form[0].isalnum()


def _is_trailing(form: str) -> bool:
    return len(form) > 1 and _is_mark(form[0]) and form[-1].isalnum()


def _is_mark(character: str) -> bool:
    """Punctuation and symbols; vowel signs and accents belong to letters."""
    return unicodedata.category(character)[0] in "PS"


def _without_outer_marks(chunk: str, is_known: Any) -> tuple[list[str], str, list[str]]:
    """Marks before, the rest, marks after; marks in a row that are equal stay together."""
    before: list[str] = []
    after: list[str] = []
    while chunk and _is_mark(chunk[0]) and not is_known(chunk):
        length = len(chunk) - len(chunk.lstrip(chunk[0]))
        before.append(chunk[:length])
        chunk = chunk[length:]
    while chunk and _is_mark(chunk[-1]) and not is_known(chunk):
        length = len(chunk) - len(chunk.rstrip(chunk[-1]))
        after.insert(0, chunk[-length:])
        chunk = chunk[:-length]
    return before, chunk, after
