"""The paper's two trials as studies with SIMULATED judges, who follow the mean ratings that the paper prints.

They show that the analysis works, and what its figures look like with such judges; they say nothing
about people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks.papers.fluency.figures import pearson
from benchmarks.papers.mutton2007.figures import SCORERS, Scored
from benchmarks.papers.simulated_answers import study_ratings
from wellput import EvalSet, Item
from wellput.agreement.panel import normalized, panels
from wellput.core.metric import Floats
from wellput.studies.questionnaire import ShownTrial

SYSTEM = "generated"
SEED = 12345
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


def trial(
    found: Scored, kinds: Sequence[str], rng: np.random.Generator, *, folder: Path, name: str
) -> Trial:
    """A study of ten random sentences of each kind, rated by magnitude estimation: each judge has a scale
    of their own, which is taken out again."""
    places = {kind: rng.permutation(len(found.texts[kind]))[:SENTENCES_A_KIND] for kind in kinds}
    labels = [kind for kind in kinds for _ in places[kind]]
    quality = np.array([MEANS[kind] for kind in labels])
    quality += rng.normal(scale=SENTENCE_SPREAD, size=len(labels))
    texts = [found.texts[kind][place] for kind in kinds for place in places[kind]]
    items = [Item(str(number), {SYSTEM: text}) for number, text in enumerate(texts)]
    ratings = _rated(EvalSet(items), quality, rng, folder, name)
    scores = {
        scorer: np.concatenate([found.columns[kind][scorer][places[kind]] for kind in kinds])
        for scorer in SCORERS
    }
    return Trial(labels, ratings, scores)


def _rated(
    evalset: EvalSet, quality: Floats, rng: np.random.Generator, folder: Path, name: str
) -> Floats:
    """The ratings of the study's judges, (judges, sentences), each judge's from 0 to 1."""
    heard = quality + rng.normal(scale=JUDGE_SPREAD, size=(JUDGES, len(quality)))
    own = rng.uniform(5, 100, (JUDGES, 1)) * np.maximum(heard - heard.min(), 0.01)
    numbers = {str(item.outputs[SYSTEM]): number for number, item in enumerate(evalset)}

    def magnitude(judge: int, shown: ShownTrial) -> dict[str, float]:
        [variant] = shown.variants
        return {shown.questions[0].name: float(own[judge, numbers[str(variant.text)]])}

    judgments = study_ratings(
        evalset,
        magnitude,
        folder=folder,
        name=name,
        judges=JUDGES,
        design="magnitude",
        questions="fluency",
        per_item=JUDGES,
        seed=SEED,
    )
    [panel] = panels(judgments, [SYSTEM], [item.id for item in evalset]).values()
    ratings: Floats = normalized(panel, "unit").ratings[:, 0]
    return ratings


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
