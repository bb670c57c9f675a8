"""`GleuModel`: the trained part of `gleu-fluency`.

A linear support vector machine over the four features of Mutton et al. (2007), each divided by its
largest size in the training sentences.

The features (`GleuParsers`) come from our head-driven parser and from link grammar. All are rates, so
that they do not grow with the sentence; the paper's sentences all have 24 words, where rates and its
counts differ only by a factor. Our log probability is the parse's gain over the words alone: without
that, a sentence of rare words looks ill-formed. A word that can be linked only at a cost counts as a
fraction of one that cannot be linked. The feature is the square root of their share, because the
first one matters more than the tenth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.core.work import OnProgress, ProgressShare, ignore_progress
from wellput.io.files import PathLike
from wellput.io.model_files import save_model_file
from wellput.language.models.english_text import SentenceFeatures
from wellput.language.models.head_driven import HeadDrivenParser
from wellput.language.models.linear_model import LinearModel, fit_separating
from wellput.language.models.link_grammar import LinkGrammar, LinkParse

GLEU_FEATURES: dict[str, str] = {
    "log_probability": "log probability of the parse over that of the words alone, per word",
    "fragments": "places between words where the parse breaks into fragments, of all places",
    "nulls": "words that link grammar cannot link, or only at a cost: the root of their share",
    "invalid": "linkages that post-processing rejects, of those found",
}
NULLS_PER_COST_UNIT = 0.2
"""One unit of a linkage's cost counts as this fraction of a word that cannot be linked."""


@dataclass(frozen=True, eq=False)
class GleuParsers:
    """The parsers that features come from."""

    parser: HeadDrivenParser
    grammar: LinkGrammar

    def sentence_features(
        self,
        texts: Sequence[str],
        *,
        threads: int = 1,
        on_progress: OnProgress = ignore_progress,
    ) -> SentenceFeatures:
        """The four features of every sentence, in the order of `GLEU_FEATURES`. `on_progress` counts
        texts, in proportion to the sentences parsed."""

        def of(sentences: list[str], words: list[tuple[str, ...]]) -> Floats:
            parses = self.parser.parse(words, threads=threads)
            rows = [
                (parse.scored.slor, (parse.fragments - 1) / max(1, len(own) - 1))
                for parse, own in zip(parses, words, strict=True)
            ]
            progress = ProgressShare(len(texts), len(sentences), on_progress)
            links = self.grammar.parse(sentences, on_progress=progress.add)
            lengths = map(len, words)
            return np.column_stack([rows, [*map(_link_features, links, lengths)]])

        return SentenceFeatures.of(texts, len(GLEU_FEATURES), of)

    def features(
        self,
        texts: Sequence[str],
        *,
        threads: int = 1,
        on_progress: OnProgress = ignore_progress,
    ) -> Floats:
        """(texts, 4): the mean over a text's sentences; NaN for a text without words."""
        return self.sentence_features(texts, threads=threads, on_progress=on_progress).means()


def _link_features(parse: LinkParse, words: int) -> tuple[float, float]:
    """The root of the null share, and the invalid share; both are 1 if there is no parse.

    The library counts the wall before the sentence among the nulls and splits some words, so the share
    is capped at 1. Favored words can make a cost negative; it then counts as 0.
    """
    if parse.null_count is None:
        return 1.0, 1.0
    nulls = parse.null_count + NULLS_PER_COST_UNIT * max(0.0, parse.cost or 0.0)
    invalid = (parse.post_processed - parse.valid) / parse.found if parse.found else 1.0
    return sqrt(min(1.0, nulls / words)), invalid


GLEU_KIND = "gleu-fluency"


@dataclass(frozen=True, eq=False)
class GleuModel:
    """`constants` are fixed at training. In the paper they came from the scored file, so that a
    sentence's score depended on the others."""

    constants: Floats
    plane: LinearModel
    fingerprint: str = ""

    @classmethod
    def train(cls, features: Floats, is_real: NDArray[np.bool_]) -> GleuModel:
        """From rows of `GleuParsers.features`, of real sentences and of generated ones."""
        largest = np.abs(features).max(axis=0)
        constants = np.where(largest > 0, largest, 1.0)
        plane = fit_separating(tuple(GLEU_FEATURES), features / constants, is_real, loss="hinge")
        return cls(constants, plane)

    def normalized(self, features: Floats) -> Floats:
        return features / self.constants

    def distances(self, normalized: Floats) -> Floats:
        """Signed: above 0 is the side of real sentences."""
        return self.plane.distances(normalized)

    def contributions(self, normalized: Floats) -> Floats:
        """The part of each feature in the distance; a feature at its training mean adds 0."""
        return self.plane.contributions(normalized) / float(np.linalg.norm(self.plane.weights))

    def save(self, path: PathLike, card: Mapping[str, Any], *, kind: str = GLEU_KIND) -> None:
        save_model_file(path, kind, card, {**self.plane.arrays(), "constants": self.constants})

    @classmethod
    def load(cls, path: PathLike, *, kind: str = GLEU_KIND) -> GleuModel:
        plane, file = LinearModel.load(path, kind)
        if plane.features != tuple(GLEU_FEATURES) or "constants" not in file.arrays:
            raise InputError(f"{path} is a damaged model of gleu-fluency: train it again.")
        return cls(file.arrays["constants"], plane, file.fingerprint)
