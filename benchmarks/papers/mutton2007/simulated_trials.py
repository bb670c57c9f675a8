"""The paper's two trials with SIMULATED judges, who follow the mean ratings that the paper prints.

They show that the analysis works, and what its figures look like with such judges; they say nothing
about people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from benchmarks.papers.fluency.figures import pearson
from benchmarks.papers.mutton2007.figures import SCORERS, Scored
from wellput.core.metric import Floats

JUDGES = 20
SENTENCES_A_KIND = 10
# Table 6, row Human, for real sentences, sizes 8 and 1 and the three generators; sizes 2 and 4 are ours,
# between those of 1 and 8.
MEANS = {
    "24": 0.93,
    "8": 0.67,
    "4": 0.58,
    "2": 0.50,
    "1": 0.44,
    "pos": 0.39,
    "supertag": 0.44,
    "cfg": 0.31,
}
SENTENCE_SPREAD, JUDGE_SPREAD = 0.12, 0.13
"""Standard deviations of a sentence's quality around the mean of its kind, and of a judge's rating
around the sentence's quality."""


@dataclass(frozen=True, eq=False)
class Trial:
    """Ratings (judges, sentences), normalized to 0 … 1 for each judge; kinds and scores of sentences."""

    kinds: Sequence[str]
    ratings: Floats
    scores: Mapping[str, Floats]

    @property
    def between_judges(self) -> Floats:
        """Pearson's r of each pair of judges."""
        return np.array([pearson(a, b) for a, b in combinations(self.ratings, 2)])

    def with_people(self, scorer: str) -> float:
        return pearson(self.scores[scorer], self.ratings.mean(axis=0))


def trial(found: Scored, kinds: Sequence[str], rng: np.random.Generator) -> Trial:
    """Ten random sentences of each kind, rated by magnitude estimation: each judge has a scale of
    their own, which is taken out again."""
    places = {kind: rng.permutation(len(found.texts[kind]))[:SENTENCES_A_KIND] for kind in kinds}
    labels = [kind for kind in kinds for _ in places[kind]]
    quality = np.array([MEANS[kind] for kind in labels])
    quality += rng.normal(scale=SENTENCE_SPREAD, size=len(labels))
    heard = quality + rng.normal(scale=JUDGE_SPREAD, size=(JUDGES, len(labels)))
    own = rng.uniform(5, 100, (JUDGES, 1)) * np.maximum(heard - heard.min(), 0.01)
    low, high = own.min(axis=1, keepdims=True), own.max(axis=1, keepdims=True)
    scores = {
        scorer: np.concatenate([found.columns[kind][scorer][places[kind]] for kind in kinds])
        for scorer in SCORERS
    }
    return Trial(labels, (own - low) / (high - low), scores)


def joined(first: Trial, second: Trial) -> Trial:
    """Both trials' sentences, as in the paper's Table 9."""
    return Trial(
        [*first.kinds, *second.kinds],
        np.hstack([first.ratings, second.ratings]),
        {
            scorer: np.concatenate([first.scores[scorer], second.scores[scorer]])
            for scorer in SCORERS
        },
    )
