"""`FluencyModel`: the trained part of `fluency`, which turns features into a score.

The features come from models of English, without any reference (`FluencyModels`). Higher is better for
all of them. A gain is the log10 probability of a word in sequence less that of the word alone, so that
rare words do no harm. Each model of words in sequence gives three features: the mean gain (so that
length does no harm), the gain at the worst place, and the sum of all that is wrong (two mistakes are
worse than one).

The score is a weighted sum. Weights are never negative, so that a better feature never lowers the
score. A logistic curve maps the sum to 0.7 for the median real sentence, and to 0.5 for one that is
worse than 98 in 100.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.io.files import PathLike
from wellput.io.model_files import save_model_file
from wellput.language.models.english_text import SentenceFeatures, decapitalized
from wellput.language.models.fluency_ngrams import skeleton, spoken
from wellput.language.models.linear_model import LinearModel, fit_severity
from wellput.language.models.ngram_files import load_model
from wellput.language.models.ngrams import NgramModel, unigrams
from wellput.language.models.tagger import Tagger
from wellput.language.models.word_list import WordList
from wellput.language.shipped import (
    GENERAL_NGRAMS_FILE,
    NGRAMS_FILE,
    SKELETONS_FILE,
    TAGGER_FILE,
    WORDS_FILE,
    model_file,
)
from wellput.text.english import treebank_words

# Each text must make sense alone, in an explanation. "Parts of speech" keep small words as they are.
FEATURES: dict[str, str] = {
    "ngrams": "how much likelier words are in sequence than alone, on average",
    "weakest": "how well the worst three words in a row go together",
    "unlikely": "words that do not go with those before them: −log(1 + how badly)",
    "trigrams": "share of words seen after the two words before them",
    "pairs": "share of words seen after the word before them",
    "usage": "how much likelier words are in sequence than alone in general English, on average",
    "weakest_usage": "how well, in general English, the worst three words in a row go together",
    "unusual": "words that, in general English, do not go with those before: −log(1 + how badly)",
    "grammar": "how much likelier parts of speech are in sequence than alone, on average",
    "weakest_grammar": "how well the worst three parts of speech in a row go together",
    "slips": "parts of speech that do not go with those before them: −log(1 + how badly)",
    "spelling": "unknown words in lower case: −log(1 + their number)",
    "near_misses": "unknown words one letter away from a common one: −log(1 + their number)",
    "repeats": "words said twice in a row: −log(1 + their number)",
    "capital": "1 if it begins as a sentence does, not with a small letter",
    "stop": "1 if it ends as a sentence does",
}
END_MARKS = ".?!…:;\"'”’)]"
RUN_WORDS = 3
MIN_GAIN = -0.2
"""A word with a lower gain does not go with the words before it."""


@dataclass(frozen=True, eq=False)
class FluencyModels:
    """The models that features come from. `skeletons` is an n-gram model of `fluency_ngrams.skeleton`
    texts, `general` one of `fluency_ngrams.spoken` texts."""

    tagger: Tagger
    ngrams: NgramModel
    skeletons: NgramModel
    words: WordList
    general: NgramModel

    def features(self, texts: Sequence[str], *, threads: int = 1) -> Floats:
        """(texts, features): the mean over a text's sentences; NaN for a text without words."""
        return self.sentence_features(texts, threads=threads).means()

    def sentence_features(self, texts: Sequence[str], *, threads: int = 1) -> SentenceFeatures:
        """The features of every sentence, in the order of `FEATURES`."""

        def of(sentences: list[str], words: list[tuple[str, ...]]) -> Floats:
            tags = self.tagger.tag(words, threads=threads)
            lines = decapitalized([" ".join(own) for own in words], self.ngrams)
            return np.array(
                [
                    (
                        *self._of_words(line),
                        *self._of_usage(spoken(own)),
                        *self._of_skeleton(skeleton(own, own_tags, self._skeleton_unigrams)),
                        *self._of_spelling(own),
                        *_of_writing(own),
                    )
                    for own, own_tags, line in zip(words, tags, lines, strict=True)
                ]
            )

        return SentenceFeatures.of(texts, len(FEATURES), of)

    def offending(self, sentence: str) -> dict[str, tuple[str, ...]]:
        """The words of a sentence that lower each feature most; for features of words in sequence the
        three worst in a row."""
        words = treebank_words(sentence).forms
        [tags] = self.tagger.tag([words])
        [line] = decapitalized([" ".join(words)], self.ngrams)
        general = spoken(words)
        bones = skeleton(words, tags, self._skeleton_unigrams)
        strange = self._strange(words)
        found = {
            "ngrams weakest unlikely trigrams pairs": _worst_run(
                _gains(self.ngrams, self._unigrams, line)[0], words
            ),
            "usage weakest_usage unusual": _worst_run(
                _gains(self.general, self._general_unigrams, general)[0], general.split()
            ),
            "grammar weakest_grammar slips": _worst_run(
                _gains(self.skeletons, self._skeleton_unigrams, bones)[0], words
            ),
            "spelling": tuple(strange),
            "near_misses": tuple(filter(self.words.is_near_miss, strange)),
            "repeats": tuple(f"{a} {b}" for a, b in pairwise(words) if _is_repeated(a, b)),
            "capital": words[:1],
            "stop": words[-1:],
        }
        return {name: own for names, own in found.items() for name in names.split()}

    @property
    def fingerprint(self) -> str:
        parts = (self.tagger, self.ngrams, self.skeletons, self.words, self.general)
        return " ".join(part.fingerprint for part in parts)

    def _of_words(self, line: str) -> tuple[float, ...]:
        gains, lengths = _gains(self.ngrams, self._unigrams, line)
        seen = np.bincount(lengths, minlength=4) / len(lengths)
        return *_in_sequence(gains), float(seen[3:].sum()), float(seen[2:].sum())

    def _of_usage(self, line: str) -> tuple[float, ...]:
        gains, _ = _gains(self.general, self._general_unigrams, line)
        return _in_sequence(gains)

    def _of_skeleton(self, line: str) -> tuple[float, ...]:
        gains, _ = _gains(self.skeletons, self._skeleton_unigrams, line)
        return _in_sequence(gains)

    def _of_spelling(self, words: Sequence[str]) -> tuple[float, ...]:
        strange = self._strange(words)
        misses = sum(map(self.words.is_near_miss, strange))
        repeats = sum(_is_repeated(a, b) for a, b in pairwise(words))
        return _fewness(len(strange)), _fewness(misses), _fewness(repeats)

    def _strange(self, words: Sequence[str]) -> list[str]:
        return [
            word
            for place, word in enumerate(words)
            if (place == 0 or word.islower())
            and not self.words.is_known(word)
            and not self._is_general(word)
        ]

    def _is_general(self, word: str) -> bool:
        """Whether the model of general English, which has no capitals, knows the word."""
        return len(word) > 1 and word.lower() in self._general_unigrams

    @cached_property
    def _general_unigrams(self) -> dict[str, float]:
        return unigrams(self.general)

    @cached_property
    def _unigrams(self) -> dict[str, float]:
        return unigrams(self.ngrams)

    @cached_property
    def _skeleton_unigrams(self) -> dict[str, float]:
        return unigrams(self.skeletons)


def _gains(
    model: NgramModel, unigrams: dict[str, float], line: str
) -> tuple[Floats, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """For each word and the end: log p(word | words before) − log p(word), and the n-gram's length.

    The gain of an unknown word is 0; other features deal with rare words.
    """
    scores = np.asarray(model.kernel.word_scores(line, "none"))
    words = (*line.split(" "), "</s>") if line else ("</s>",)
    alone = np.array([unigrams.get(word, 0.0) for word in words])
    return np.where(scores[:, 2] > 0, 0.0, scores[:, 0] - alone), scores[:, 1].astype(np.int64)


def _in_sequence(gains: Floats) -> tuple[float, float, float]:
    """The mean gain, the gain at the worst place, and −log(1 + all that is lacking)."""
    lacking = float(np.maximum(0.0, MIN_GAIN - gains).sum())
    return float(gains.mean()), _weakest(gains), _fewness(lacking)


def _weakest(gains: Floats) -> float:
    """The mean gain of the worst run; of all words where there are fewer."""
    if len(gains) <= RUN_WORDS:
        return float(gains.mean())
    sums = gains[:-2] + gains[1:-1] + gains[2:]
    return float(sums.min()) / RUN_WORDS


def _worst_run(gains: Floats, words: Sequence[str]) -> tuple[str, ...]:
    """The words of the worst run; the last gain is that of the end, which is no word."""
    if len(gains) <= RUN_WORDS:
        return tuple(words)
    start = int(np.argmin(gains[:-2] + gains[1:-1] + gains[2:]))
    return tuple(words[start : start + RUN_WORDS])


def _is_repeated(first: str, second: str) -> bool:
    return first.isalpha() and first.lower() == second.lower()


def _fewness(amount: float) -> float:
    return -float(np.log1p(amount))


def _of_writing(words: Sequence[str]) -> tuple[float, float]:
    return float(not words[0][0].islower()), float(words[-1][-1] in END_MARKS)


def english_models(folder: Path | None = None) -> FluencyModels:
    """The shipped models, or those in a folder."""
    return FluencyModels(
        Tagger.load(model_file(TAGGER_FILE, folder)),
        load_model(model_file(NGRAMS_FILE, folder)),
        load_model(model_file(SKELETONS_FILE, folder)),
        WordList.load(model_file(WORDS_FILE, folder)),
        load_model(model_file(GENERAL_NGRAMS_FILE, folder)),
    )


KIND = "fluency"
MIDDLE_SCORE, LOW_SCORE = 0.7, 0.5
LOW_SHARE = 0.02
"""The share of real sentences that score below `LOW_SCORE`."""


@dataclass(frozen=True, eq=False)
class FluencyModel:
    """`curve` has the middle of the logistic curve and its steepness, in units of the sum."""

    sums: LinearModel
    curve: Floats
    fingerprint: str = ""

    @classmethod
    def train(cls, features: Floats, severity: Floats, weights: Floats) -> FluencyModel:
        """From rows of `FluencyModels.features`, the known severity of each (0 for a real sentence)
        and its weight."""
        sums = fit_severity(tuple(FEATURES), features, severity, weights)
        real = sums.scores(features[severity == 0])
        low, middle = np.quantile(real, [LOW_SHARE, 0.5])
        steepness = (_logit(MIDDLE_SCORE) - _logit(LOW_SCORE)) / max(middle - low, 1e-9)
        return cls(sums, np.array([low, steepness]))

    def scores(self, features: Floats) -> Floats:
        """From 0 to 1; NaN where features are NaN."""
        return self.scores_of_sums(self.sums.scores(features))

    def scores_of_sums(self, sums: Floats) -> Floats:
        middle, steepness = self.curve
        return np.asarray(1 / (1 + np.exp(-np.clip(steepness * (sums - middle), -500, 500))))

    def contributions(self, features: Floats) -> Floats:
        """The part of each feature in the score: how much the score would fall with this feature at
        its training mean. Because of the curve, the parts do not add up exactly."""
        sums = self.sums.scores(features)[..., None]
        without = self.scores_of_sums(sums - self.sums.contributions(features))
        return np.asarray(self.scores_of_sums(sums) - without)

    def save(self, path: PathLike, card: Mapping[str, Any]) -> None:
        save_model_file(path, KIND, card, {**self.sums.arrays(), "curve": self.curve})

    @classmethod
    def load(cls, path: PathLike) -> FluencyModel:
        sums, file = LinearModel.load(path, KIND)
        if sums.features != tuple(FEATURES) or "curve" not in file.arrays:
            raise InputError(f"{path} is a damaged model of fluency: train it again.")
        return cls(sums, file.arrays["curve"], file.fingerprint)


def _logit(share: float) -> float:
    return float(np.log(share / (1 - share)))
