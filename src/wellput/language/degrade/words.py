"""The noun `WordModel`: words for a template of tags (Mutton et al. 2007, section 5.1).

`best` takes the most probable words by P(word | tag) P(word | word before), which repeats what is
frequent; a word that is on the path already is discouraged. `draw` takes each by P(word | tag).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.metric import Floats
from wellput.language.degrade.corpus import Corpus, Integers

Rows: TypeAlias = tuple[Integers, Integers, Floats]
SEEN = 0.9
"""The weight of the bigram beside the unigram: pairs never seen stay possible."""
REPEATED = np.log(0.02)
"""What a word costs that is on the path already; the paper does not say how much."""


class Counted(NamedTuple):
    """Pairs (row, word) with their counts, sorted, and where each row begins."""

    begins: Integers
    words: Integers
    counts: Floats


@dataclass(frozen=True, eq=False)
class WordModel:
    """Log probabilities as arrays in rows: words by tag, words by the word before (the start of a
    sentence is one more word, numbered last)."""

    words: Sequence[str]
    by_tag: Rows
    by_word: Rows
    unigrams: Floats

    @classmethod
    def of(cls, corpus: Corpus) -> WordModel:
        assert corpus.tags is not None
        start = len(corpus.words)
        before = np.roll(corpus.tokens, 1)
        before[corpus.starts] = start
        by_tag = _counted(corpus.tags, corpus.tokens, len(corpus.tag_names))
        by_word = _counted(before, corpus.tokens, start + 1)
        share = np.bincount(corpus.tokens, minlength=start) / len(corpus.tokens)
        seen = SEEN * _shares(by_word) + (1 - SEEN) * share[by_word.words]
        return cls(
            corpus.words,
            (by_tag.begins, by_tag.words, np.log(_shares(by_tag))),
            (by_word.begins, by_word.words, np.log(seen)),
            np.log((1 - SEEN) * share),
        )

    def best(self, templates: Sequence[Sequence[int]], *, threads: int = 1) -> list[list[str]]:
        """The most probable words for each template; all templates have the same length."""
        filled = _native.fill_words(
            np.array(templates, np.int32),
            *self.by_tag,
            *self.by_word,
            self.unigrams,
            start=len(self.words),
            repeated=float(REPEATED),
            threads=threads,
        )
        return [[self.words[word] for word in words] for words in filled]

    def draw(self, template: Sequence[int], rng: np.random.Generator) -> list[str]:
        """Words by P(word | tag) alone."""
        begins, words, log_probs = self.by_tag
        drawn = []
        for tag in template:
            row = slice(begins[tag], begins[tag + 1])
            drawn.append(self.words[int(rng.choice(words[row], p=np.exp(log_probs[row])))])
        return drawn


def _counted(rows: NDArray[np.int32], words: Integers, n_rows: int) -> Counted:
    pairs, counts = np.unique(np.stack([rows, words]), axis=1, return_counts=True)
    begins = np.searchsorted(pairs[0], np.arange(n_rows + 1)).astype(np.int32)
    return Counted(begins, np.ascontiguousarray(pairs[1]), counts.astype(float))


def _shares(counted: Counted) -> Floats:
    """Each count's share in its row."""
    rows = np.repeat(np.arange(len(counted.begins) - 1), np.diff(counted.begins))
    totals = np.bincount(rows, counted.counts, minlength=len(counted.begins) - 1)
    return np.asarray(counted.counts / totals[rows])
