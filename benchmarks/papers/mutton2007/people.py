"""GLEU as in the paper, and its features, against people's ratings of fluency: the figures and the section."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.papers.fluency.figures import bounds, interval, labeled, pearson, short
from benchmarks.papers.fluency.texts import Rated, gug_alone, lau, some_of, webnlg
from benchmarks.papers.mutton2007.figures import (
    GLEU,
    SCORERS,
    MeanOfParsers,
    columns_of,
    trained,
)
from benchmarks.papers.mutton2007.printed import FEATURES, NAMES
from benchmarks.papers.wording import listed

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


def rated_scores(parsers: MeanOfParsers) -> list[RatedScores]:
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


def section(people: Sequence[RatedScores]) -> str:
    header = " | ".join(f"{one.name} ({one.n})" for one in people)
    rows = "\n".join(
        f"| {NAMES[scorer]} | {' | '.join(labeled(one.intervals[scorer]) for one in people)} |"
        for scorer in SCORERS
    )
    return f"""## Do parser features agree with people across generators?

This section tests the paper's claim on real ratings. The table has Pearson's r of the paper's features and of GLEU (with the training described above) with people's mean
ratings of fluency (WebNLG), grammaticality (GUG) or acceptability (Lau): at most {MOST} sentences of a set, drawn at random. The sentences
have any length, and the log probability is lower for longer sentences (all sentences of the paper have 24 words).
GUG has sentences of learners of English, Lau 2015 sentences that were translated by machine into another language and back, WebNLG texts made from data.

| scorer | {header} |
|---|{"---|" * len(people)}
{rows}

GLEU compared with the best single feature (the one with the largest |r|; {overlap(people)}):

{_answer(people)}
{_invalid_sign(people)}
The features of [`gleu-fluency`](../metrics/gleu-fluency.md) with `features=own`, which are shares or values per word, and other metrics are
[compared on more sets](../results/fluency.md)."""


def _invalid_sign(people: Sequence[RatedScores]) -> str:
    """On which sets the share of invalid parses has another sign than with the paper's judges (.1854, .1774)."""
    opposite = sum(one.r["invalid"] < 0 for one in people)
    if not opposite:
        return ""
    return (
        "\nThe correlation of invalid parses has the opposite sign of that in the paper's Tables 5 and 8 "
        f"(there it is positive) on {opposite} of {len(people)} sets.\n"
    )


def best_feature(one: RatedScores) -> str:
    return max(FEATURES, key=lambda name: abs(one.r[name]))


def apart(people: Sequence[RatedScores]) -> list[str]:
    """The sets in which the intervals of GLEU and of the best feature, signs aside, do not overlap."""
    found = []
    for one in people:
        _, low, high = one.bounds[GLEU]
        _, *ends = one.bounds[best_feature(one)]
        other = sorted(map(abs, ends))
        if low > other[1] or high < other[0]:
            found.append(one.name)
    return found


def overlap(people: Sequence[RatedScores]) -> str:
    names = apart(people)
    return f"intervals do not overlap in {listed(names)}" if names else "intervals overlap"


def _answer(people: Sequence[RatedScores]) -> str:
    lines = ["| set | GLEU | best single feature | its r |", "|---|---:|---|---:|"]
    for one in people:
        best = best_feature(one)
        lines.append(
            f"| {one.name} | {short(one.r[GLEU])} | {NAMES[best]} | {short(one.r[best])} |"
        )
    return "\n".join(lines)
