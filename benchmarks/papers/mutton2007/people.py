"""GLEU as in the paper, and its features, against people's ratings of fluency."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.papers.fluency.figures import bounds, interval, pearson
from benchmarks.papers.fluency.texts import Rated, gug_alone, lau, some_of, webnlg
from benchmarks.papers.mutton2007.figures import SCORERS, columns_of, paper_parsers, trained

MOST = 200
"""Sentences of a set; link grammar takes its time."""


@dataclass(frozen=True)
class RatedScores:
    """A set of rated sentences: r of each scorer with the ratings, r with the bounds of its interval, and
    these as text."""

    name: str
    n: int
    r: Mapping[str, float]
    bounds: Mapping[str, tuple[float, float, float]]
    intervals: Mapping[str, str]


def rated_scores(kept: Path, *, workers: int = 1) -> list[RatedScores]:
    parsers = paper_parsers(kept, workers)
    model = trained(parsers)
    sets = [gug_alone("dev"), lau(), webnlg("WebNLG, nine systems", with_nothing_said=False)]

    def scores(rated: Rated) -> RatedScores:
        own = some_of(rated, MOST)
        columns = columns_of(model, parsers.features(own.texts))
        has_words = ~np.isnan(columns[SCORERS[0]])
        ratings = own.ratings[has_words]
        kept_columns = {scorer: columns[scorer][has_words] for scorer in SCORERS}
        return RatedScores(
            own.name,
            len(ratings),
            {scorer: pearson(values, ratings) for scorer, values in kept_columns.items()},
            {scorer: bounds(pearson, values, ratings) for scorer, values in kept_columns.items()},
            {scorer: interval(pearson, values, ratings) for scorer, values in kept_columns.items()},
        )

    return list(map(scores, sets))
