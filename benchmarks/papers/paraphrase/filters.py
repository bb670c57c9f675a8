"""How well filters tell right substitutions from wrong ones, on SWORDS dev.

The synonyms are those of WordNet whose form occurs 20 times or more in the corpus. A synonym is right if
half the people or more accepted it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers.paraphrase.substitutions import in_form, swords_dev
from wellput.core.metric import Floats
from wellput.language.models.tagger import Tagger
from wellput.language.models.wordnet import WordNet
from wellput.language.paraphrase.candidates import WordNetCandidates
from wellput.language.paraphrase.corpus_index import CorpusIndex
from wellput.language.paraphrase.filters import Query
from wellput.language.paraphrase.training import judged_queries
from wellput.language.shipped import shipped


class Ranking(NamedTuple):
    """A filter's figures."""

    auc: float
    precision_at_80: float
    precision_at_50: float


def swords_queries(
    wordnet: WordNet, index: CorpusIndex, *, min_count: int = 20
) -> tuple[list[Query], NDArray[np.bool_]]:
    """The candidates that are measured on, and whether each is right."""
    judged = in_form([one for one, _ in swords_dev()], wordnet, Tagger.load(shipped("tagger.wpm")))
    seen = [one for one in judged if len(index.places_of(one.replacement)) >= min_count]
    return judged_queries(seen, WordNetCandidates(wordnet))


def ranking(is_right: NDArray[np.bool_], scores: Floats) -> Ranking:
    """Area under the ROC curve, and the best precision at a recall of at least .8 and .5."""
    known = np.where(np.isnan(scores), -np.inf, scores)
    order = np.argsort(-known, kind="stable")
    hits = np.cumsum(is_right[order])
    recall, precision = hits / hits[-1], hits / np.arange(1, len(hits) + 1)
    return Ranking(
        auc(is_right, known),
        float(precision[recall >= 0.8].max()),
        float(precision[recall >= 0.5].max()),
    )


def auc(is_right: NDArray[np.bool_], scores: Floats) -> float:
    """The chance that a right one is ranked above a wrong one, ties counting half."""
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts)[inverse] - (counts[inverse] - 1) / 2
    n, m = int(is_right.sum()), int((~is_right).sum())
    return float((ranks[is_right].sum() - n * (n + 1) / 2) / (n * m))
