"""`FluencyModel`: the trained part of `fluency`, which turns features into a score.

The features come from models of English, without any reference (`FluencyModels`). Higher is better for
all of them. A gain is the log10 probability of a word in sequence less that of the word alone, so that
rare words do no harm. Each model of words in sequence gives three features: the mean gain (so that
length does no harm), the gain at the worst place, and the sum of all that is wrong (two mistakes are
worse than one). The small language model also gives the probability of the whole sentence.

A `skeleton` keeps small words and replaces every other word by its part of speech: *The old cats have
been sleeping.* becomes *the JJ NNS have been VBG .* An n-gram model of skeletons (`skeletons.wlm`) has
seen most of the grammar between neighbors (*have* goes with *VBN*, *a* does not go with *NNS*); a
model of words has seen little of it.

The score is a weighted sum. Weights are never negative, so that a better feature never lowers the
score. A logistic curve maps the sum to 0.7 for the median real sentence, and to 0.5 for one that is
worse than 98 in 100.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from wellput.core.metric import Floats
from wellput.io.files import PathLike
from wellput.io.model_files import noticing_damage, save_model_file
from wellput.language.models.english_text import SentenceFeatures
from wellput.language.models.linear_model import LinearModel, fit_severity, stored_numbers
from wellput.language.models.ngram_files import load_model
from wellput.language.models.ngrams import NgramModel, unigrams
from wellput.language.models.tagger import Tagger
from wellput.language.models.word_list import WordList
from wellput.language.models.word_network import ScoredWords, WordNetwork
from wellput.language.shipped import (
    NETWORK_FILE,
    SKELETONS_FILE,
    TAGGER_FILE,
    WORDS_FILE,
    model_file,
)
from wellput.text.english import treebank_words

# Each text must make sense alone, in an explanation. "Parts of speech" keep small words as they are.
SEQUENCE_FEATURES: dict[str, str] = {
    "usage": "how much likelier words are in their place than alone, on average",
    "weakest_usage": "how well the worst three words in a row fit their place",
    "unusual": "words that do not fit their place: −log(1 + how badly)",
    "grammar": "how much likelier parts of speech are in sequence than alone, on average",
    "weakest_grammar": "how well the worst three parts of speech in a row go together",
    "slips": "parts of speech that do not go with those before them: −log(1 + how badly)",
}
FLUENCY_FEATURES: dict[str, str] = {
    "likelihood": "how likely the sentence is: its log probability, corrected for its length",
    **SEQUENCE_FEATURES,
    "spelling": "unknown words in lower case: −log(1 + their number)",
    "near_misses": "unknown words one letter away from a common one: −log(1 + their number)",
    "repeats": "words said twice in a row: −log(1 + their number)",
    "capital": "1 if it begins as a sentence does, not with a small letter",
    "stop": "1 if it ends as a sentence does",
}
END_MARKS = ".?!…:;\"'”’)]"
RUN_WORDS = 3
MIN_GAIN_IN_SEQUENCE = -0.2
"""A word with a lower gain does not go with the words before it."""
MIN_USAGE_GAIN = 0.3
"""The same for the network, which sees all words before it."""


CLOSED_CLASS_TAGS = frozenset(
    [
        *(
            "DT",
            "IN",
            "TO",
            "MD",
            "PRP",
            "PRP$",
            "WDT",
            "WP",
            "WP$",
            "WRB",
            "CC",
            "EX",
            "POS",
            "RP",
        ),
        *("PDT", ",", ".", ":", "-LRB-", "-RRB-", "''", "``", "HYPH"),
    ]
)
AUXILIARIES = frozenset(
    [
        *("be", "am", "is", "are", "was", "were", "been", "being", "have", "has", "had", "having"),
        *("do", "does", "did", "done", "'s", "'m", "'re", "'ve", "'d", "'ll", "n't", "not"),
    ]
)


def skeleton(words: Sequence[str], tags: Sequence[str], small_words: Container[str]) -> str:
    """The skeleton, joined by spaces. A word is small if it belongs to a closed class and is among
    `small_words`, which are in lower case."""
    return " ".join(
        small
        if (tag in CLOSED_CLASS_TAGS or small in AUXILIARIES) and small in small_words
        else tag
        for small, tag in zip((word.lower() for word in words), tags, strict=True)
    )


@dataclass(frozen=True, eq=False)
class FluencyModels:
    """The models that features come from. `skeletons` is an n-gram model of texts made by
    `skeleton`."""

    tagger: Tagger
    skeletons: NgramModel
    words: WordList
    network: WordNetwork

    def features(self, texts: Sequence[str], *, threads: int = 1) -> Floats:
        """(texts, features): the mean over a text's sentences; NaN for a text without words."""
        return self.sentence_features(texts, threads=threads).means()

    def sentence_features(self, texts: Sequence[str], *, threads: int = 1) -> SentenceFeatures:
        """The features of every sentence, in the order of `FLUENCY_FEATURES`."""

        def of(sentences: list[str], words: list[tuple[str, ...]]) -> Floats:
            tags = self.tagger.tag(words, threads=threads)
            scored = self.network.score(sentences)
            return np.array(
                [
                    (
                        *_of_usage(usage),
                        *self._of_skeleton(skeleton(own, own_tags, self._skeleton_unigrams)),
                        *self._of_spelling(own),
                        *_of_writing(own),
                    )
                    for own, own_tags, usage in zip(words, tags, scored, strict=True)
                ]
            )

        return SentenceFeatures.of(texts, len(FLUENCY_FEATURES), of)

    def offending(self, sentence: str) -> dict[str, tuple[str, ...]]:
        """The words of a sentence that lower each feature most; for features of words in sequence the
        three worst in a row."""
        words = treebank_words(sentence).forms
        [tags] = self.tagger.tag([words])
        [usage] = self.network.score([sentence])
        bones = skeleton(words, tags, self._skeleton_unigrams)
        strange = self._strange(words)
        found = {
            "likelihood usage weakest_usage unusual": worst_run(usage.gains(), usage.words),
            "grammar weakest_grammar slips": worst_run(
                gains_in(self.skeletons, self._skeleton_unigrams, bones), words
            ),
            "spelling": tuple(strange),
            "near_misses": tuple(filter(self.words.is_near_miss, strange)),
            "repeats": tuple(f"{a} {b}" for a, b in pairwise(words) if is_repeated(a, b)),
            "capital": words[:1],
            "stop": words[-1:],
        }
        return {name: own for names, own in found.items() for name in names.split()}

    @property
    def fingerprint(self) -> str:
        parts = (self.tagger, self.skeletons, self.words, self.network)
        return " ".join(part.fingerprint for part in parts)

    def _of_skeleton(self, line: str) -> tuple[float, ...]:
        return in_sequence(gains_in(self.skeletons, self._skeleton_unigrams, line))

    def _of_spelling(self, words: Sequence[str]) -> tuple[float, ...]:
        strange = self._strange(words)
        misses = sum(map(self.words.is_near_miss, strange))
        repeats = sum(is_repeated(a, b) for a, b in pairwise(words))
        return fewness(len(strange)), fewness(misses), fewness(repeats)

    def _strange(self, words: Sequence[str]) -> list[str]:
        return [
            word
            for place, word in enumerate(words)
            if (place == 0 or word.islower())
            and not self.words.is_known(word)
            and not (len(word) > 1 and self.network.knows(word))
        ]

    @cached_property
    def _skeleton_unigrams(self) -> dict[str, float]:
        return unigrams(self.skeletons)


def gains_in(model: NgramModel, unigrams: dict[str, float], line: str) -> Floats:
    """For each word and the end: log p(word | words before) − log p(word).

    The gain of an unknown word is 0; other features deal with rare words.
    """
    scores = np.asarray(model.kernel.word_scores(line, "none"))
    words = (*line.split(" "), "</s>") if line else ("</s>",)
    alone = np.array([unigrams.get(word, 0.0) for word in words])
    return np.where(scores[:, 2] > 0, 0.0, scores[:, 0] - alone)


def _of_usage(scored: ScoredWords) -> tuple[float, ...]:
    return scored.penalized(), *in_sequence(scored.gains(), MIN_USAGE_GAIN)


def in_sequence(gains: Floats, least: float = MIN_GAIN_IN_SEQUENCE) -> tuple[float, float, float]:
    """The mean gain, the gain at the worst place, and −log(1 + all that is lacking)."""
    lacking = float(np.maximum(0.0, least - gains).sum())
    return float(gains.mean()), _weakest(gains), fewness(lacking)


def _weakest(gains: Floats) -> float:
    """The mean gain of the worst run; of all words where there are fewer."""
    if len(gains) <= RUN_WORDS:
        return float(gains.mean())
    sums = gains[:-2] + gains[1:-1] + gains[2:]
    return float(sums.min()) / RUN_WORDS


def worst_run(gains: Floats, words: Sequence[str]) -> tuple[str, ...]:
    """The words of the worst run; the last gain is that of the end, which is not a word."""
    if len(gains) <= RUN_WORDS:
        return tuple(words)
    start = int(np.argmin(gains[:-2] + gains[1:-1] + gains[2:]))
    return tuple(words[start : start + RUN_WORDS])


def is_repeated(first: str, second: str) -> bool:
    return first.isalpha() and first.lower() == second.lower()


def fewness(amount: float) -> float:
    return -float(np.log1p(amount))


def _of_writing(words: Sequence[str]) -> tuple[float, float]:
    return float(not words[0][0].islower()), float(words[-1][-1] in END_MARKS)


def english_models(folder: Path | None = None) -> FluencyModels:
    """The shipped models, or those in a folder; the shipped network if the folder has none."""
    network = None if folder is None or not (folder / NETWORK_FILE).is_file() else folder
    return FluencyModels(
        Tagger.load(model_file(TAGGER_FILE, folder)),
        load_model(model_file(SKELETONS_FILE, folder)),
        WordList.load(model_file(WORDS_FILE, folder)),
        WordNetwork.load(model_file(NETWORK_FILE, network)),
    )


MIDDLE_SCORE, LOW_SCORE = 0.7, 0.5
LOW_SHARE = 0.02
"""The share of real sentences that score below `LOW_SCORE`."""
FEATURE_TRUST = {
    **dict.fromkeys(("likelihood", "unusual"), 3.0),
    **dict.fromkeys(("spelling", "near_misses", "capital", "stop"), 0.3),
}
"""Factors of the fitted weights. Our own mistakes are like those of learners: a word is misspelled, a
capital is missing. Other writers and programs make other ones: unknown words are names more often, and
words that are right alone do not fit together."""


@dataclass(frozen=True, eq=False)
class FluencyModel:
    """`curve` has the middle of the logistic curve and its steepness, in units of the sum."""

    kind: ClassVar[str] = "fluency"

    sums: LinearModel
    curve: Floats
    fingerprint: str = ""

    @classmethod
    def train(
        cls,
        features: Floats,
        severity: Floats,
        weights: Floats,
        *,
        names: Sequence[str] = tuple(FLUENCY_FEATURES),
        factors: Mapping[str, float] = FEATURE_TRUST,
    ) -> FluencyModel:
        """From rows of `FluencyModels.features`, the known severity of each (0 for a real sentence)
        and its weight. `names` are those of the features, `factors` change their fitted weights."""
        fitted = fit_severity(tuple(names), features, severity, weights)
        trust = np.array([factors.get(name, 1.0) for name in names])
        sums = replace(fitted, weights=fitted.weights * trust)
        return cls.calibrated(sums, features[severity == 0])

    @classmethod
    def calibrated(cls, sums: LinearModel, features: Floats) -> FluencyModel:
        """With the curve for the features of real sentences."""
        real = sums.scores(features)
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
        save_model_file(path, self.kind, card, {**self.sums.arrays(), "curve": self.curve})

    @classmethod
    def load(cls, path: PathLike, names: Sequence[str] = tuple(FLUENCY_FEATURES)) -> FluencyModel:
        sums, file = LinearModel.load(path, cls.kind)
        with noticing_damage(path, "model of fluency"):
            if sums.features != tuple(names):
                raise ValueError("other features")
            return cls(sums, stored_numbers(file, "curve", 2), file.fingerprint)


def _logit(share: float) -> float:
    return float(np.log(share / (1 - share)))
