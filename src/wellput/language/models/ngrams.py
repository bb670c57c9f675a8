"""`NgramModel`: an n-gram model, which gives the probability of each word after the words before it.

Logarithms are to base 10, as in ARPA files and KenLM. A sentence is scored from `<s>`, which has no
probability, to `</s>`, which counts as one word. Unknown words are treated as `<unk>`, and so are the
three special names `<unk>`, `<s>` and `</s>` if a text contains them. Only `unigram_log_probs` uses
natural logarithms: it gives for each sentence the sum of its words' unigram log probabilities, as the
metric SLOR needs it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from wellput import _native
from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.text.tokenizers import NativeName

if TYPE_CHECKING:
    from wellput._native import LevelArrays, WordArrays


# The places of the arrays in a level of `NgramModel.levels`.
LEVEL_WORDS: Final = 0
LEVEL_BEGINS: Final = 1
LEVEL_LOG_PROBS: Final = 2


@dataclass(frozen=True)
class WordScore:
    """A word's log10 probability, and the length of the n-gram that gives it."""

    log_prob: float
    length: int
    is_unknown: bool


@dataclass(frozen=True, eq=False)
class NgramModel:
    """A back-off model as arrays (ngram_trie.h in native/).

    `vocabulary` has three arrays: `offsets`, where each word begins in the text; `text`, the words one
    after another as UTF-8; `slots`, the hash table that finds a word's number. `levels` has, for each
    n-gram length, four arrays with an entry for each n-gram: `words`, the number of its first word
    (empty for the unigrams); `begins`, where the n-grams begin in the next level that are one word
    longer at the front; `log_probs` and `backoffs`. The last level has no begins and no backoffs.
    """

    vocabulary: WordArrays
    levels: tuple[LevelArrays, ...]

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return len(self.levels)

    @property
    def sizes(self) -> list[int]:
        """The number of n-grams of each length; the unigrams include the special words."""
        return [len(log_probs) for _, _, log_probs, _ in self.levels]

    @cached_property
    def words(self) -> list[str]:
        """All words by their numbers; the first three are `<unk>`, `<s>` and `</s>`."""
        offsets, text, _ = self.vocabulary
        data, ends = text.tobytes(), offsets.tolist()
        try:
            return [data[begin:end].decode(errors="surrogatepass") for begin, end in pairwise(ends)]
        except UnicodeDecodeError:
            raise InputError(
                "A word of the n-gram model is not Unicode text: the file is damaged, train it again."
            ) from None

    @cached_property
    def kernel(self) -> _native.NgramModel:
        """The model in C++."""
        return _native.NgramModel(self.vocabulary, self.levels)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all numbers and words of the model. An ARPA file and an uncompressed binary
        file (version 1) of a model give the same fingerprint. The compact file (version 2) has rounded
        logarithms, so its fingerprint differs."""
        digest = hashlib.sha256(vocabulary_hash(self.vocabulary))
        for level in self.levels:
            for array in level:
                digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def statistics(
        self, texts: Sequence[str], *, tokenize: NativeName = "none", threads: int = 1
    ) -> Floats:
        """A row for each text: its log10 probability, its number of words, and the same two numbers
        for its unknown words alone. The sum of rows is the row of all their texts."""
        return self.kernel.scores(texts, tokenize, threads)

    def sentence_scores(
        self, texts: Sequence[str], *, tokenize: NativeName = "none", threads: int = 1
    ) -> Floats:
        """The log10 probability of each text."""
        return self.statistics(texts, tokenize=tokenize, threads=threads)[:, 0]

    def word_scores(self, text: str, *, tokenize: NativeName = "none") -> list[WordScore]:
        """The score of each word of the text, and last that of `</s>`."""
        rows = self.kernel.word_scores(text, tokenize)
        return [WordScore(float(p), int(n), bool(unknown)) for p, n, unknown in rows]

    def perplexity(
        self,
        texts: Sequence[str],
        *,
        tokenize: NativeName = "none",
        include_unknown: bool = True,
        threads: int = 1,
    ) -> float:
        """The perplexity of all texts together, with or without unknown words; NaN without texts."""
        summed = self.statistics(texts, tokenize=tokenize, threads=threads).sum(axis=0)
        return float(perplexity(summed, include_unknown=include_unknown))


def perplexity(statistics: Floats, *, include_unknown: bool = True) -> Floats:
    """The perplexity from rows of `NgramModel.statistics`: 10 to the power of the mean negative log10
    probability of a word. The last axis of `statistics` has the four numbers of a row.

    >>> perplexity(np.array([-6.0, 3.0, -4.0, 1.0]))  # 10 ** (6 / 3)
    array(100.)
    >>> perplexity(np.array([-6.0, 3.0, -4.0, 1.0]), include_unknown=False)  # 10 ** (2 / 2)
    array(10.)
    """
    log_prob, words = statistics[..., 0], statistics[..., 1]
    if not include_unknown:
        log_prob, words = log_prob - statistics[..., 2], words - statistics[..., 3]
    mean = np.full(np.shape(words), np.nan)
    np.divide(log_prob, words, out=mean, where=words != 0)
    with np.errstate(over="ignore"):  # a very improbable text has infinite perplexity
        return np.asarray(np.power(10.0, -mean))


def vocabulary_hash(vocabulary: WordArrays) -> bytes:
    """SHA-256 of the words in order."""
    offsets, text, _ = vocabulary
    return hashlib.sha256(offsets.tobytes() + text.tobytes()).digest()


UNKNOWN_WORD = "<unk>"


def unigram_log_probs(
    model: NgramModel, sentences: Sequence[Sequence[str]]
) -> tuple[Floats, Floats]:
    """For each sentence, the sum of the natural log unigram probabilities of its words, and its number
    of words. An unknown word has the probability of `<unk>`."""
    known = unigrams(model)
    unknown = known[UNKNOWN_WORD]
    sums = [math.fsum(known.get(word, unknown) for word in words) for words in sentences]
    return np.array(sums) * math.log(10), np.array([float(len(words)) for words in sentences])


@lru_cache(maxsize=4)
def unigrams(model: NgramModel) -> dict[str, float]:
    """The log10 unigram probability of each word."""
    return dict(zip(model.words, model.levels[0][LEVEL_LOG_PROBS].tolist(), strict=True))
