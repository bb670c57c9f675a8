"""`FluencyModel`: the trained part of `fluency`, which turns features into a score.

The features come from models of English and need no reference (`FluencyModels`). A higher value is
better for all of them. A *gain* is the log10 probability of a word after the words before it, minus
its log10 probability without context; so rare words do not lower it. Each of two models gives three
features from the gains of a sentence: their mean (so that length does not matter), the mean of the
worst three in a row, and the sum of how far gains are below a minimum (so that two mistakes are worse
than one). The two are the small language model (`word_network.py`), which also gives the probability
of the whole sentence, and an n-gram model of skeletons.

A `skeleton` keeps function words and replaces every other word by its part of speech:
*The old cats have been sleeping.* becomes *the JJ NNS have been VBG .* The training text of the n-gram
model of skeletons (`skeletons.wlm`) has examples of most of the grammar between neighbors (*have* goes
with *VBN*, *a* does not go with *NNS*); for an n-gram model of words there are too few.

The score is a weighted sum. Weights are never negative, so a better feature never lowers the score. A
logistic curve maps the sum to 0.7 for the median real sentence, and to 0.5 for a sentence that is worse
than 98 in 100 real ones.
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

# `--explain` shows these texts. In them, "parts of speech" are the tokens of a skeleton, though some
# are function words.
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
# The worst place of a sentence is this many words in a row.
RUN_WORDS = 3
MIN_GAIN_IN_SEQUENCE = -0.2
"""In a skeleton, a token with a lower gain counts as not going with the tokens before it."""
MIN_USAGE_GAIN = 0.3
"""A word with a lower gain under the small language model, which reads all words before it, counts as
not fitting its place."""


# Tags of function words and punctuation.
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


def skeleton(words: Sequence[str], tags: Sequence[str], kept_words: Container[str]) -> str:
    """The skeleton of a sentence, with spaces between its tokens. A word is kept if it is among
    `kept_words`, which are in lower case, and is an auxiliary or has the tag of a closed class (such
    as determiners)."""
    return " ".join(
        lower if (tag in CLOSED_CLASS_TAGS or lower in AUXILIARIES) and lower in kept_words else tag
        for lower, tag in zip((word.lower() for word in words), tags, strict=True)
    )


@dataclass(frozen=True, eq=False)
class FluencyModels:
    """The models that features come from. `skeletons` is an n-gram model of the texts that `skeleton`
    makes, and `network` the small language model."""

    tagger: Tagger
    skeletons: NgramModel
    words: WordList
    network: WordNetwork

    def features(self, texts: Sequence[str], *, threads: int = 1) -> Floats:
        """Texts by features: the mean over each text's sentences; NaN for a text without words."""
        return self.sentence_features(texts, threads=threads).means()

    def sentence_features(self, texts: Sequence[str], *, threads: int = 1) -> SentenceFeatures:
        """The features of every sentence, in the order of `FLUENCY_FEATURES`."""

        def rows_of(sentences: list[str], words: list[tuple[str, ...]]) -> Floats:
            tags = self.tagger.tag(words, threads=threads)
            scored = self.network.score(sentences)
            return np.array(
                [
                    (
                        *_usage_features(usage),
                        *self._grammar_features(
                            skeleton(forms, form_tags, self._skeleton_unigrams)
                        ),
                        *self._spelling_features(forms),
                        *_writing_features(forms),
                    )
                    for forms, form_tags, usage in zip(words, tags, scored, strict=True)
                ]
            )

        return SentenceFeatures.of(texts, len(FLUENCY_FEATURES), rows_of)

    def offending(self, sentence: str) -> dict[str, tuple[str, ...]]:
        """For each feature, the words of a sentence that lower it most; for features of words in
        sequence, the worst three words in a row."""
        words = treebank_words(sentence).forms
        [tags] = self.tagger.tag([words])
        [usage] = self.network.score([sentence])
        skeleton_line = skeleton(words, tags, self._skeleton_unigrams)
        unknown = self._unknown_words(words)
        offending = {
            "likelihood usage weakest_usage unusual": worst_run(usage.gains(), usage.words),
            "grammar weakest_grammar slips": worst_run(
                gains_in(self.skeletons, self._skeleton_unigrams, skeleton_line), words
            ),
            "spelling": tuple(unknown),
            "near_misses": tuple(filter(self.words.is_near_miss, unknown)),
            "repeats": tuple(f"{a} {b}" for a, b in pairwise(words) if is_repeated(a, b)),
            "capital": words[:1],
            "stop": words[-1:],
        }
        return {name: found for names, found in offending.items() for name in names.split()}

    @property
    def fingerprint(self) -> str:
        parts = (self.tagger, self.skeletons, self.words, self.network)
        return " ".join(part.fingerprint for part in parts)

    def _grammar_features(self, line: str) -> tuple[float, ...]:
        return sequence_features(gains_in(self.skeletons, self._skeleton_unigrams, line))

    def _spelling_features(self, words: Sequence[str]) -> tuple[float, ...]:
        unknown = self._unknown_words(words)
        misses = sum(map(self.words.is_near_miss, unknown))
        repeats = sum(is_repeated(a, b) for a, b in pairwise(words))
        return fewness(len(unknown)), fewness(misses), fewness(repeats)

    def _unknown_words(self, words: Sequence[str]) -> list[str]:
        """The words that neither the word list nor the small language model knows; words with a capital
        inside the sentence are left out, as they may be names."""
        return [
            word
            for place, word in enumerate(words)
            if (place == 0 or word.islower())
            and not self.words.is_known(word)
            and not (len(word) > 1 and self.network.knows(word))
        ]

    @cached_property
    def _skeleton_unigrams(self) -> dict[str, float]:
        """The log10 probabilities of the tokens of skeletons; its keys have the function words that
        skeletons keep."""
        return unigrams(self.skeletons)


def gains_in(model: NgramModel, unigrams: dict[str, float], line: str) -> Floats:
    """The gain of each word of a line and of its end: log10 p(word | words before) − log10 p(word).
    The gain of an unknown word is 0, because other features deal with rare words. `unigrams` has log10
    p(word)."""
    # Columns: log probability, length of the n-gram, whether the word is unknown (`WordScore`).
    scores = np.asarray(model.kernel.word_scores(line, "none"))
    words = (*line.split(" "), "</s>") if line else ("</s>",)
    alone = np.array([unigrams.get(word, 0.0) for word in words])
    return np.where(scores[:, 2] > 0, 0.0, scores[:, 0] - alone)


def _usage_features(scored: ScoredWords) -> tuple[float, ...]:
    return scored.penalized_log_prob(), *sequence_features(scored.gains(), MIN_USAGE_GAIN)


def sequence_features(
    gains: Floats, min_gain: float = MIN_GAIN_IN_SEQUENCE
) -> tuple[float, float, float]:
    """The mean gain, the mean of the worst three gains in a row, and −log(1 + the sum of how far gains
    are below `min_gain`)."""
    lacking = float(np.maximum(0.0, min_gain - gains).sum())
    return float(gains.mean()), _weakest(gains), fewness(lacking)


def _weakest(gains: Floats) -> float:
    """The mean gain of the worst three words in a row; of all words if there are at most three."""
    if len(gains) <= RUN_WORDS:
        return float(gains.mean())
    sums = gains[:-2] + gains[1:-1] + gains[2:]
    return float(sums.min()) / RUN_WORDS


def worst_run(gains: Floats, words: Sequence[str]) -> tuple[str, ...]:
    """The worst three words in a row. `gains` has one entry more than `words`, for the sentence's
    end."""
    if len(gains) <= RUN_WORDS:
        return tuple(words)
    start = int(np.argmin(gains[:-2] + gains[1:-1] + gains[2:]))
    return tuple(words[start : start + RUN_WORDS])


def is_repeated(first: str, second: str) -> bool:
    """Whether two neighbors are the same word."""
    return first.isalpha() and first.lower() == second.lower()


def fewness(amount: float) -> float:
    """−log(1 + amount), which is higher for smaller amounts."""
    return -float(np.log1p(amount))


def _writing_features(words: Sequence[str]) -> tuple[float, float]:
    return float(not words[0][0].islower()), float(words[-1][-1] in END_MARKS)


def english_models(folder: Path | None = None) -> FluencyModels:
    """The shipped models, or those in a folder; the shipped network if the folder has none."""
    has_network = folder is not None and (folder / NETWORK_FILE).is_file()
    return FluencyModels(
        Tagger.load(model_file(TAGGER_FILE, folder)),
        load_model(model_file(SKELETONS_FILE, folder)),
        WordList.load(model_file(WORDS_FILE, folder)),
        WordNetwork.load(model_file(NETWORK_FILE, folder if has_network else None)),
    )


# The scores of the median real sentence, and of one that is worse than 98 in 100.
MIDDLE_SCORE, LOW_SCORE = 0.7, 0.5
LOW_SHARE = 0.02
"""The share of real sentences that score below `LOW_SCORE`."""
FEATURE_TRUST = {
    **dict.fromkeys(("likelihood", "unusual"), 3.0),
    **dict.fromkeys(("spelling", "near_misses", "capital", "stop"), 0.3),
}
"""Factors by which the fitted weights are multiplied, 1 for other features. The mistakes in the
training sentences are like those of learners of English: misspelled words, missing capitals. In the
texts of other writers and of programs, unknown words are more often names, and mistakes are more often
words that do not fit together."""


@dataclass(frozen=True, eq=False)
class FluencyModel:
    """The weighted sum of features (`linear_model`) and the logistic curve that maps it to a score.
    `curve` has the sum at which the score is 0.5, and the steepness."""

    kind: ClassVar[str] = "fluency"

    linear_model: LinearModel
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
        """A model fitted to sentences: their rows of `FluencyModels.features`, the known severity of
        the mistakes in each (0 for a real sentence), and the weight of each sentence. `names` are the
        names of the features, and `factors` multiply their fitted weights."""
        fitted = fit_severity(tuple(names), features, severity, weights)
        feature_factors = np.array([factors.get(name, 1.0) for name in names])
        linear_model = replace(fitted, weights=fitted.weights * feature_factors)
        return cls.calibrated(linear_model, features[severity == 0])

    @classmethod
    def calibrated(cls, linear_model: LinearModel, features: Floats) -> FluencyModel:
        """The model with the curve set by the features of real sentences (a row for each)."""
        real = linear_model.scores(features)
        low, middle = np.quantile(real, [LOW_SHARE, 0.5])
        steepness = (_logit(MIDDLE_SCORE) - _logit(LOW_SCORE)) / max(middle - low, 1e-9)
        return cls(linear_model, np.array([low, steepness]))

    def scores(self, features: Floats) -> Floats:
        """The score of each row of features, from 0 to 1; NaN where features are NaN."""
        return self.scores_of_sums(self.linear_model.scores(features))

    def scores_of_sums(self, sums: Floats) -> Floats:
        half, steepness = self.curve  # `half` is the sum at which the score is 0.5
        return np.asarray(1 / (1 + np.exp(-np.clip(steepness * (sums - half), -500, 500))))

    def contributions(self, features: Floats) -> Floats:
        """The part of each feature in the score: how much the score would fall with this feature at
        its training mean. Because of the curve, the parts do not add up exactly."""
        sums = self.linear_model.scores(features)[..., None]
        without = self.scores_of_sums(sums - self.linear_model.contributions(features))
        return np.asarray(self.scores_of_sums(sums) - without)

    def save(self, path: PathLike, card: Mapping[str, Any]) -> None:
        save_model_file(path, self.kind, card, {**self.linear_model.arrays(), "curve": self.curve})

    @classmethod
    def load(cls, path: PathLike, names: Sequence[str] = tuple(FLUENCY_FEATURES)) -> FluencyModel:
        linear_model, file = LinearModel.load(path, cls.kind)
        with noticing_damage(path, "model of fluency"):
            if linear_model.features != tuple(names):
                raise ValueError("other features")
            return cls(linear_model, stored_numbers(file, "curve", 2), file.fingerprint)


def _logit(share: float) -> float:
    return float(np.log(share / (1 - share)))
