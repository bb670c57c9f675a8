"""`LearnedTokenizer`: splits text into sentences and words as a treebank does.

The tokenizer learns from the treebank which tokens of the text stand for several words (Greek *στο*),
which words have a space inside (Vietnamese *chủ tịch*), which marks inside a token are words by
themselves, and which words are joined to the next or the previous word (Welsh *o'r*, Maltese
*il-ktieb*). For text without spaces between words (Chinese), it learns how frequent words are, and
chooses the most probable division into words.
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
"""If at least this share of neighboring words has no space between them, where two letters meet, the
language is taken for one without spaces between words."""
MIN_CUT_SHARE = 0.5
"""A mark is cut off inside tokens if at least this share of its occurrences inside tokens are words."""
MIN_ATTACHED_COUNT = 3
"""How often a word must be joined to another in the treebank to be learned as such a word."""
MAX_WORD_CHARACTERS = 24
"""In text without spaces, no longer word is looked for."""
LOG_UNKNOWN_CHARACTER = -14.0
"""The log probability of a character that belongs to no known word."""
SENTENCE_END = re.compile(r"(?:(?<=[.!?…؟।])[\"'”’»)\]]*\s+|(?<=[。！？])[”’」』）]*\s*)(?=\S)")
WORD_OR_NUMBER = re.compile(r"[A-Za-zÀ-ɏ0-9０-９]+(?:[.,][0-9]+)*")
WORD_SEPARATOR = "\x1f"
"""Separates the words of a multiword token in the file."""


@dataclass(frozen=True, eq=False)
class LearnedTokenizer(StoredModel):
    """A tokenizer learned from a treebank. `counts` has the words with their counts, `multiwords` the
    words of each token that stands for several words, and `cut_marks` the marks that are cut off
    inside a token. `leading` words end in a mark and are joined to the next word; `trailing` words
    begin with a mark and are joined to the previous word. `has_spaces` is false for languages such as
    Chinese."""

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
        """The tokenizer of the treebank with these trees."""
        counts: Counter[str] = Counter()
        multiwords: dict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
        cut: Counter[str] = Counter()  # marks that are words and touch both neighbors
        inside: Counter[str] = Counter()  # marks inside tokens
        leading: Counter[str] = Counter()
        trailing: Counter[str] = Counter()
        # Pairs of neighboring tokens that meet with letters: those without a space between, and all.
        touching_pairs = letter_pairs = 0
        for tree in trees:
            forms = [word.form for word in tree.words]
            counts.update(forms)
            for multiword in tree.multiwords:
                words = tuple(forms[multiword.first - 1 : multiword.last])
                multiwords[multiword.form][words] += 1
            tokens = tree.surface()
            for place, (form, misc) in enumerate(tokens):
                inside.update(set(_marks_inside(form)))
                if place + 1 < len(tokens):
                    following = tokens[place + 1][0]
                    touches_next = "SpaceAfter=No" in misc
                    touches_last = place > 0 and "SpaceAfter=No" in tokens[place - 1][1]
                    if form[-1:].isalpha() and following[:1].isalpha():
                        letter_pairs += 1
                        touching_pairs += touches_next
                    if touches_next and touches_last and len(form) == 1 and _is_mark(form):
                        cut[form] += 1
                    if touches_next and _is_leading(form) and following[:1].isalnum():
                        leading[form.lower()] += 1
                    if touches_next and _is_trailing(following) and form[-1:].isalnum():
                        trailing[following.lower()] += 1
        return cls(
            dict(counts),
            {form: counted.most_common(1)[0][0] for form, counted in multiwords.items()},
            frozenset(
                mark
                for mark, count in cut.items()
                if count >= MIN_CUT_SHARE * (count + inside[mark])
            ),
            frozenset(form for form, count in leading.items() if count >= MIN_ATTACHED_COUNT),
            frozenset(form for form, count in trailing.items() if count >= MIN_ATTACHED_COUNT),
            has_spaces=not letter_pairs or touching_pairs < MIN_UNSPACED_SHARE * letter_pairs,
        )

    def sentences(self, text: str) -> Iterator[str]:
        """The sentences of a text. A sentence ends after a mark such as a full stop; line breaks count
        as spaces."""
        for sentence in SENTENCE_END.split(" ".join(text.split())):
            if sentence:
                yield sentence

    def words(self, text: str) -> Words:
        """The words of a sentence."""
        forms: list[str] = []
        has_space_after: list[bool] = []
        surface_tokens: list[tuple[int, int]] = []
        surface_forms: list[str] = []
        for chunk in text.split():
            for token in self._tokens(chunk):
                parts = self._parts(token)
                if len(parts) > 1:
                    surface_tokens.append((len(forms), len(forms) + len(parts) - 1))
                    surface_forms.append(token)
                forms += parts
                has_space_after += [False] * len(parts)
            has_space_after[-1] = True
        words = Words(
            tuple(forms), tuple(has_space_after), tuple(surface_tokens), tuple(surface_forms)
        )
        return self._joined(words) if self._most_parts > 1 else words

    def _tokens(self, chunk: str) -> list[str]:
        """The tokens of a piece of text without spaces; each may still stand for several words."""
        if not self.has_spaces:
            return self._likeliest(chunk)
        if self._is_known(chunk):
            return [chunk]
        before, core, after = _without_outer_marks(chunk, self._is_known)
        return [*before, *(self._cut(core) if core else []), *after]

    def _cut(self, token: str) -> list[str]:
        """The token cut at words that are joined to others and at `cut_marks`; a token that occurs in
        the treebank stays whole."""
        before: list[str] = []
        after: list[str] = []
        while not self._is_known(token) and (parts := self._split_joined(token)) is not None:
            is_leading, first_part, second_part = parts
            if is_leading:
                before.append(first_part)
                token = second_part
            else:
                after.append(second_part)
                token = first_part
        return [*before, *self._cut_at_marks(token), *after[::-1]]

    def _split_joined(self, token: str) -> tuple[bool, str, str] | None:
        """The token in two parts, one of which is a leading or trailing word, and whether this is the
        first part; None if the token has no such word."""
        beginnings = range(1, min(len(token), self._longest_leading + 1))
        endings = range(max(1, len(token) - self._longest_trailing), len(token))
        for place in sorted({*beginnings, *endings}):
            if token[:place].lower() in self.leading:
                return True, token[:place], token[place:]
            if token[place:].lower() in self.trailing:
                return False, token[:place], token[place:]
        return None

    def _cut_at_marks(self, token: str) -> list[str]:
        """The pieces of a token that is cut before and after marks, but not between two digits. A
        token that occurs in the treebank is not cut."""
        if self._is_known(token):
            return [token]
        if not self.cut_marks.intersection(token):
            return [token]
        pieces = [""]
        for place, character in enumerate(token):
            is_number = (
                token[place - 1 : place].isdigit() and token[place + 1 : place + 2].isdigit()
            )
            if character in self.cut_marks and not is_number:
                pieces += [character, ""]
            else:
                pieces[-1] += character
        return [piece for piece in pieces if piece]

    def _parts(self, token: str) -> tuple[str, ...]:
        """The words that a token stands for, in most cases the token itself."""
        known = self.multiwords.get(token)
        if known is not None and (token not in self.counts or len(known) > 1):
            return known
        lower = token.lower()
        if token != lower and token not in self.counts and (known := self.multiwords.get(lower)):
            return (known[0][:1].upper() + known[0][1:], *known[1:])
        return (token,)

    def _is_known(self, token: str) -> bool:
        return token in self.counts or token in self.multiwords

    def _likeliest(self, chunk: str) -> list[str]:
        """The division of a text without spaces into words that has the highest product of
        frequencies. Runs of Latin letters and digits stay whole."""
        # For each place: the log probability of the best division up to it, and the start of its last
        # word.
        best: list[tuple[float, int]] = [(0.0, 0)]
        for end in range(1, len(chunk) + 1):
            best_here = (best[end - 1][0] + LOG_UNKNOWN_CHARACTER, end - 1)
            for start in range(max(0, end - MAX_WORD_CHARACTERS), end):
                word = chunk[start:end]
                log = self._log_shares.get(word)
                if log is None and WORD_OR_NUMBER.fullmatch(word):
                    log = LOG_UNKNOWN_CHARACTER
                if log is not None:
                    best_here = max(best_here, (best[start][0] + log, start))
            best.append(best_here)
        words: list[str] = []
        end = len(chunk)
        while end:
            start = best[end][1]
            words.append(chunk[start:end])
            end = start
        return words[::-1]

    def _joined(self, words: Words) -> Words:
        """The words, where several words that are one word with spaces inside are joined; the longest
        such word is preferred."""
        forms: list[str] = []
        has_space_after: list[bool] = []
        new_places: list[int] = []
        place = 0
        while place < len(words.forms):
            length = 1
            for size in range(min(self._most_parts, len(words.forms) - place), 1, -1):
                run = words.forms[place : place + size]
                if all(
                    words.has_space_after[place : place + size - 1]
                ) and self._is_word_with_spaces(run):
                    length = size
                    break
            new_places += [len(forms)] * length
            forms.append(" ".join(words.forms[place : place + length]))
            has_space_after.append(words.has_space_after[place + length - 1])
            place += length
        surface_tokens = tuple((new_places[a], new_places[b]) for a, b in words.surface_tokens)
        return Words(tuple(forms), tuple(has_space_after), surface_tokens, words.surface_forms)

    def _is_word_with_spaces(self, forms: Sequence[str]) -> bool:
        """Whether these parts, with spaces between them, are one word of the treebank."""
        text = " ".join(forms)
        return text in self.counts or text[:1].lower() + text[1:] in self.counts

    @cached_property
    def _most_parts(self) -> int:
        """The most parts of a word with spaces inside."""
        return max((word.count(" ") + 1 for word in self.counts), default=1)

    @cached_property
    def _longest_leading(self) -> int:
        return max(map(len, self.leading), default=0)

    @cached_property
    def _longest_trailing(self) -> int:
        return max(map(len, self.trailing), default=0)

    @cached_property
    def _log_shares(self) -> dict[str, float]:
        """The log probability of each word, by its frequency."""
        total = sum(self.counts.values())
        return {word: math.log(count / total) for word, count in self.counts.items()}

    @classmethod
    def load(cls, path: PathLike) -> LearnedTokenizer:
        with cls.reading(path) as file:
            counts = file.arrays["counts"].tolist()
            multiword_forms = file.strings("surface")
            parts = [tuple(text.split(WORD_SEPARATOR)) for text in file.strings("parts")]
            return cls(
                dict(zip(file.strings("words"), counts, strict=True)),
                dict(zip(multiword_forms, parts, strict=True)),
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
            **packed_strings(
                "parts", [WORD_SEPARATOR.join(words) for words in self.multiwords.values()]
            ),
            **packed_strings("cut_marks", sorted(self.cut_marks)),
            **packed_strings("leading", sorted(self.leading)),
            **packed_strings("trailing", sorted(self.trailing)),
            "has_spaces": np.array([self.has_spaces], np.uint8),
        }


def _marks_inside(form: str) -> Iterable[str]:
    """The marks of a word, except its first and last character."""
    return filter(_is_mark, form[1:-1])


def _is_leading(form: str) -> bool:
    """Whether a word ends in a mark, as words do that are joined to the next word."""
    return len(form) > 1 and _is_mark(form[-1]) and form[0].isalnum()


def _is_trailing(form: str) -> bool:
    """Whether a word begins with a mark, as words do that are joined to the previous word."""
    return len(form) > 1 and _is_mark(form[0]) and form[-1].isalnum()


def _is_mark(character: str) -> bool:
    """Whether the character is punctuation or a symbol. Vowel signs and accents are not: they belong to
    letters."""
    return unicodedata.category(character)[0] in "PS"


def _without_outer_marks(chunk: str, is_known: Any) -> tuple[list[str], str, list[str]]:
    """The marks before the core of a chunk, the core, and the marks after it. Equal marks in a row stay
    together. `is_known` says whether a token occurs in the treebank; such a token is not divided."""
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
