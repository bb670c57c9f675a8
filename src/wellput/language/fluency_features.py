"""What models of English make of a sentence: the features of `fluency`, without any reference.

All are rates, so that long and short sentences can be compared, and higher is better for all of them.
A sentence without words has none: its row is NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wellput.core.metric import Floats
from wellput.language.english_text import decapitalized
from wellput.language.head_driven import HeadDrivenParser
from wellput.language.ngrams import NgramModel
from wellput.language.tagger import Tagger
from wellput.text.treebank_words import treebank_words

FEATURES: dict[str, str] = {
    "parse": "log probability of the parse over that of the words alone, per word",
    "whole": "1 over the fragments of the parse",
    "ngrams": "log probability of the words in sequence over that of the words alone, per word",
    "weakest": "the same at the least expected tenth of the words",
    "trigrams": "share of words whose two neighbors before them were seen with them",
    "pairs": "share of words whose neighbor before them was seen with them",
    "tags": "log probability of the parts of speech in sequence over that of each alone, per word",
    "weakest_tags": "the same at the least expected tenth of them",
    "known": "share of words that are known",
    "spelled": "share of words that are known, capitalized, or no plain letters",
}
WEAKEST = 0.1


@dataclass(frozen=True, eq=False)
class FluencyModels:
    """The models that look at a sentence; `tag_ngrams` is an n-gram model of parts of speech."""

    parser: HeadDrivenParser
    tagger: Tagger
    ngrams: NgramModel
    tag_ngrams: NgramModel

    def features(self, texts: Sequence[str], *, threads: int = 1) -> Floats:
        """(texts, features), in the order of `FEATURES`."""
        rows = np.full((len(texts), len(FEATURES)), np.nan)
        tokens = [treebank_words(text).forms for text in texts]
        filled = [place for place, words in enumerate(tokens) if words]
        sentences = [tokens[place] for place in filled]
        if filled:
            rows[filled] = np.column_stack(
                [
                    self._of_parses(sentences, threads),
                    self._of_words(sentences),
                    self._of_tags(sentences, threads),
                    self._of_spelling(sentences),
                ]
            )
        return rows

    def _of_parses(self, sentences: Sequence[Sequence[str]], threads: int) -> Floats:
        parses = self.parser.parse(sentences, threads=threads)
        return np.array(
            [
                (
                    (parse.scored.log_probability - parse.scored.unigram_log_probability)
                    / len(words),
                    1 / parse.fragments,
                )
                for words, parse in zip(sentences, parses, strict=True)
            ]
        )

    def _of_words(self, sentences: Sequence[Sequence[str]]) -> Floats:
        texts = decapitalized([" ".join(words) for words in sentences], self.ngrams)
        rows = []
        for text in texts:
            gains, lengths = _gains(self.ngrams, self._unigrams, text)
            rows.append(
                (gains.mean(), _weakest(gains), np.mean(lengths >= 3), np.mean(lengths >= 2))
            )
        return np.array(rows)

    def _of_tags(self, sentences: Sequence[Sequence[str]], threads: int) -> Floats:
        rows = []
        for tags in self.tagger.tag(sentences, threads=threads):
            gains, _ = _gains(self.tag_ngrams, self._tag_unigrams, " ".join(tags))
            rows.append((gains.mean(), _weakest(gains)))
        return np.array(rows)

    def _of_spelling(self, sentences: Sequence[Sequence[str]]) -> Floats:
        known = self._unigrams
        rows = []
        for words in sentences:
            is_known = [word in known or word.lower() in known for word in words]
            is_fine = [
                seen or not (word.isalpha() and word.islower())
                for word, seen in zip(words, is_known, strict=True)
            ]
            rows.append((np.mean(is_known), np.mean(is_fine)))
        return np.array(rows)

    @cached_property
    def _unigrams(self) -> dict[str, float]:
        return _unigrams(self.ngrams)

    @cached_property
    def _tag_unigrams(self) -> dict[str, float]:
        return _unigrams(self.tag_ngrams)


def _unigrams(model: NgramModel) -> dict[str, float]:
    log_probs = model.levels[0][2].tolist()
    return dict(zip(model.words, log_probs, strict=True))


def _gains(model: NgramModel, unigrams: dict[str, float], text: str) -> tuple[Floats, Floats]:
    """Of each word and the end: log p(word | words before) - log p(word), and the n-gram's length.

    Unknown words gain nothing: how rare they are is another feature's concern.
    """
    scores = model.kernel.word_scores(text, "none")
    words = [*text.split(), "</s>"]
    alone = [unigrams.get(word, np.nan) for word in words]
    rows = np.array(scores, dtype=np.float64)
    gains = np.where(rows[:, 2] > 0, 0.0, rows[:, 0] - np.array(alone))
    return np.nan_to_num(gains), rows[:, 1]


def _weakest(gains: Floats) -> float:
    """The mean of the lowest tenth, of one at least."""
    n = max(1, round(WEAKEST * len(gains)))
    return float(np.partition(gains, n - 1)[:n].mean())
