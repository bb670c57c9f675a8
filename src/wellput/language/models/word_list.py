"""`WordList`: the words of English, used to find misspelled words.

A word is known if the list has it in any case (lower case or capitals), or if it is a word of the list
with a regular ending or prefix (*unlocking* from *lock*), or joins known words by hyphens. An unknown
word in lower case is misspelled or very rare. It is a *near miss* if adding, leaving out or changing
one letter, or exchanging two neighboring letters, makes it a common word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from wellput.io.files import PathLike
from wellput.io.model_files import load_model_file, noticing_damage, packed_strings, save_model_file
from wellput.language.models.english_text import prose_sentences, treebank_sentences
from wellput.language.models.english_training import TrainingInputs

MIN_COMMON_COUNT = 3
"""How often a word must occur to be common, so that another word can be a near miss of it."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"
# Regular endings, each with what stands in its place in the word without the ending.
ENGLISH_ENDINGS = (
    *(("s", ""), ("es", ""), ("ies", "y"), ("ed", ""), ("ed", "e"), ("ied", "y"), ("ing", "")),
    *(("ing", "e"), ("er", ""), ("er", "e"), ("est", ""), ("est", "e"), ("ly", ""), ("ily", "y")),
    *(("ness", ""), ("less", ""), ("able", ""), ("ful", "")),
)
# Endings before which a consonant may be doubled: *stopped*.
DOUBLING_ENDINGS = frozenset(["ed", "ing", "er", "est"])
PREFIXES = ("un", "re", "in", "non", "over", "under", "pre", "mis", "dis")
MIN_STEM_LETTERS = 3
MIN_NEAR_MISS_LETTERS = 4
MIN_LETTERS_AFTER_PREFIX = 4
MIN_LOWER_CASE_SHARE = 0.05
"""If at least this share of a word's occurrences is in lower case, lower case counts as correct for
it."""
MAX_CACHED_WORDS = 1 << 17


class WordList:
    """Words with their counts. The words are in lower case, or capitalized if they are hardly ever in
    lower case (*English*, *I*)."""

    kind: ClassVar[str] = "word list"

    def __init__(self, counts: Mapping[str, int], fingerprint: str = "") -> None:
        self._counts = dict(counts)
        self.fingerprint = fingerprint
        self.is_known = lru_cache(MAX_CACHED_WORDS)(self._is_known)
        self.is_near_miss = lru_cache(MAX_CACHED_WORDS)(self._is_near_miss)
        self._longest = max(map(len, self._counts), default=0)

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> WordList:
        """The list of words with these counts. The words in `counts` are written as in texts; a word
        may occur with and without a capital."""
        lowered_counts = Counter[str]()
        for word, count in counts.items():
            lowered_counts[word.lower()] += count
        words = {
            word
            if counts.get(word, 0) >= MIN_LOWER_CASE_SHARE * count
            else word.capitalize(): count
            for word, count in lowered_counts.items()
            if word.isalpha()
        }
        return cls(words)

    @classmethod
    def load(cls, path: PathLike) -> WordList:
        file = load_model_file(path, cls.kind)
        with noticing_damage(path, "word list"):
            counts = file.arrays["counts"].tolist()
            return cls(dict(zip(file.strings("words"), counts, strict=True)), file.fingerprint)

    def save(self, path: PathLike, card: Mapping[str, Any]) -> None:
        """Writes the words. Counts above 255 are stored as 255, in one byte."""
        words = sorted(self._counts)
        counts = np.array([min(self._counts[word], 255) for word in words], np.uint8)
        save_model_file(path, self.kind, card, {**packed_strings("words", words), "counts": counts})

    def __len__(self) -> int:
        return len(self._counts)

    def _is_known(self, word: str) -> bool:
        """Whether a word is known. Tokens with other characters than letters and hyphens count as
        known."""
        if not word.replace("-", "").isalpha():
            return True
        if "-" in word:
            return all(self.is_known(part) for part in word.split("-") if part)
        lowercase = word.lower()
        is_known_name = word != lowercase and word.capitalize() in self._counts
        return lowercase in self._counts or is_known_name or self._is_derived(lowercase)

    def _is_derived(self, lowercase: str) -> bool:
        """Whether a word in lower case is a word of the list with a regular ending or prefix."""
        for ending, restored in ENGLISH_ENDINGS:
            bare = lowercase.removesuffix(ending)
            if bare == lowercase or len(bare) < MIN_STEM_LETTERS:
                continue
            if bare + restored in self._counts:
                return True
            if ending in DOUBLING_ENDINGS and bare[-1] == bare[-2] and bare[:-1] in self._counts:
                return True
        return any(
            lowercase.startswith(prefix)
            and len(lowercase) - len(prefix) >= MIN_LETTERS_AFTER_PREFIX
            and lowercase.removeprefix(prefix) in self._counts
            for prefix in PREFIXES
        )

    def _is_near_miss(self, word: str) -> bool:
        """Whether the word has at least four letters, and a change of one letter makes it a common
        word."""
        lowercase = word.lower()
        if len(lowercase) > self._longest + 1:  # saves minutes for a text without spaces
            return False
        return len(lowercase) >= MIN_NEAR_MISS_LETTERS and any(
            self._counts.get(other, 0) >= MIN_COMMON_COUNT for other in _one_letter_off(lowercase)
        )


def _one_letter_off(word: str) -> Iterable[str]:
    """All spellings that differ from the word by one letter, or by exchanging two neighboring
    letters."""
    for place in range(len(word) + 1):
        before, after = word[:place], word[place:]
        if after:
            yield before + after[1:]
            yield from (before + letter + after[1:] for letter in LETTERS)
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        yield from (before + letter + after for letter in LETTERS)


def words_step(inputs: TrainingInputs, path: Path) -> dict[str, Any]:
    """The step of `wellput train english` that makes the word list. Treebanks have web text with
    misspellings, so words that occur once in them are not taken from there."""
    texts = [text for p in inputs.paths("text") for text in prose_sentences(p, inputs.on_progress)]
    trees = [text for p in inputs.paths("treebank") for text in treebank_sentences(p)]
    counts = Counter(word for text in texts for word in text.split(" "))
    treebank_counts = Counter(word for text in trees for word in text.split(" "))
    counts.update({word: n for word, n in treebank_counts.items() if n > 1})
    words = WordList.of(counts)
    words.save(path, {"words": len(words)})
    return {"words": len(words)}
