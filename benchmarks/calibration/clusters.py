"""How often are intervals and tests right if items come in documents, or outputs are several samples?

Items of one document, and samples of one item, resemble each other. Intervals and tests that leave out
whole documents, or items with all their samples, are compared with those that treat every item, or every
sample, as independent.

    python -m benchmarks cluster-calibration
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from benchmarks.pages import write_page
from wellput.core.metric import Floats
from wellput.stats.clusters import (
    ClusteredItems,
    clustered_difference,
    clustered_interval,
    scores_without_clusters,
)
from wellput.stats.jackknife import is_differing, paired_jackknife, score_interval
from wellput.stats.resampling import approximate_randomization

Rng = np.random.Generator
RESAMPLES = 200


def mean_score(sums: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums[..., 0] / sums[..., 1])


def rows_of(values: Floats) -> Floats:
    return np.column_stack([values, np.ones(len(values))])


def normal(shared: Floats, own: Floats) -> Floats:
    return shared + own


def skewed(shared: Floats, own: Floats) -> Floats:
    """Lognormal (half of the sum is the logarithm), shifted to the mean 0."""
    return np.asarray(np.exp((shared + own) / 2) - np.exp(1 / 8))


def one_to_forty(n: int, rng: Rng) -> NDArray[np.intp]:
    return rng.integers(1, 41, n).astype(np.intp)


def mostly_short(n: int, rng: Rng) -> NDArray[np.intp]:
    return np.clip(np.round(np.exp(rng.normal(1.8, 1.0, n))), 1, 40).astype(np.intp)


def equal(n: int, rng: Rng) -> NDArray[np.intp]:
    return np.full(n, 10, np.intp)


@dataclass(frozen=True)
class World:
    """Groups of items: documents, or items with their samples."""

    title: str
    groups: int
    sizes: Callable[[int, Rng], NDArray[np.intp]]
    correlation: float
    shape: Callable[[Floats, Floats], Floats] = normal
    bounds: tuple[float | None, float | None] = (None, None)

    def values(self, codes: NDArray[np.intp], rng: Rng) -> Floats:
        shared = rng.normal(0, sqrt(self.correlation), self.groups)[codes]
        return self.shape(shared, rng.normal(0, sqrt(1 - self.correlation), len(codes)))

    def codes(self, rng: Rng) -> NDArray[np.intp]:
        return np.repeat(np.arange(self.groups), self.sizes(self.groups, rng))


WORLDS = tuple(
    World(f"{groups} documents of {what}; correlation {rho:g}{of}", groups, sizes, rho, shape)
    for groups, what, sizes, rho, shape, of in (
        (6, "1 to 40 items", one_to_forty, 0.3, normal, ""),
        (10, "1 to 40 items", one_to_forty, 0.3, normal, ""),
        (20, "1 to 40 items", one_to_forty, 0.3, normal, ""),
        (60, "1 to 40 items", one_to_forty, 0.3, normal, ""),
        (20, "1 to 40 items", one_to_forty, 0.1, normal, ""),
        (20, "1 to 40 items", one_to_forty, 0.0, normal, ""),
        (20, "1 to 40 items, most below 10", mostly_short, 0.3, normal, ""),
        (60, "1 to 40 items, most below 10", mostly_short, 0.3, normal, ""),
        (20, "10 items", equal, 0.3, normal, ""),
        (20, "1 to 40 items", one_to_forty, 0.3, skewed, ", skewed"),
        (60, "1 to 40 items", one_to_forty, 0.3, skewed, ", skewed"),
    )
)


def few_samples(n: int, rng: Rng) -> NDArray[np.intp]:
    return rng.integers(1, 9, n).astype(np.intp)


SAMPLED = tuple(
    World(
        f"{items} items with 1 to 8 samples; correlation {rho:g}{of}",
        items,
        few_samples,
        rho,
        shape,
    )
    for items, rho, shape, of in (
        (20, 0.3, normal, ""),
        (20, 0.6, normal, ""),
        (60, 0.6, normal, ""),
        (200, 0.6, normal, ""),
        (60, 0.6, skewed, ", skewed"),
    )
)


@dataclass
class Counts:
    """The numbers of trials with an interval that contains the true score, and with a difference found
    between equally good systems (`exchanged`: by approximate randomization)."""

    covered: int = 0
    different: int = 0
    exchanged: int = 0
    covered_alone: int = 0
    different_alone: int = 0


def _covers(low: float | None, high: float | None, truth: float) -> bool:
    return low is not None and high is not None and low <= truth <= high


def document_row(world: World, *, trials: int, seed: int) -> str:
    rng = np.random.default_rng(seed)
    found = Counts()
    for trial in range(trials):
        codes = world.codes(rng)
        clusters = ClusteredItems.of(codes)
        a, b = (rows_of(world.values(codes, rng)) for _ in range(2))
        ours = clustered_interval(a, mean_score, clusters)
        found.covered += _covers(ours.low, ours.high, 0.0)
        alone = score_interval(a, mean_score)
        found.covered_alone += _covers(alone.low, alone.high, 0.0)
        left, right = (scores_without_clusters(rows, mean_score, clusters) for rows in (a, b))
        difference = clustered_difference(left, right, is_differing(a, b), clusters).estimate
        found.different += (difference.p_value or 0.0) < 0.05
        found.different_alone += (paired_jackknife(a, b, mean_score).estimate.p_value or 0.0) < 0.05
        exchanged = approximate_randomization(
            clusters.sums(a), clusters.sums(b), mean_score, n_resamples=RESAMPLES, seed=trial
        )
        found.exchanged += (exchanged.p_value or 0.0) < 0.05
    cells = (
        found.covered,
        found.covered_alone,
        found.different,
        found.different_alone,
        found.exchanged,
    )
    return f"| {world.title} | " + " | ".join(f"{count / trials:.3f}" for count in cells) + " |"


def sample_row(world: World, *, trials: int, seed: int) -> str:
    rng = np.random.default_rng(seed)
    found = Counts()
    for _ in range(trials):
        codes = world.codes(rng)
        samples = [world.values(codes, rng) for _ in range(2)]
        items = ClusteredItems.of(codes)
        a, b = (rows_of(items.sums(values) / items.sizes) for values in samples)
        ours = score_interval(a, mean_score)
        found.covered += _covers(ours.low, ours.high, 0.0)
        found.different += (paired_jackknife(a, b, mean_score).estimate.p_value or 0.0) < 0.05
        a, b = (rows_of(values) for values in samples)
        alone = score_interval(a, mean_score)
        found.covered_alone += _covers(alone.low, alone.high, 0.0)
        found.different_alone += (paired_jackknife(a, b, mean_score).estimate.p_value or 0.0) < 0.05
    cells = (found.covered, found.covered_alone, found.different, found.different_alone)
    return f"| {world.title} | " + " | ".join(f"{count / trials:.3f}" for count in cells) + " |"


TEMPLATE = """\
# Calibration with documents and samples

How often are intervals and tests of `wellput score` right if items come in documents, or if a system has several samples (answers) for an item?
As wellput computes them, they are right or cautious:
with documents of 1 to 40 items whose scores correlate .3, the 95% intervals of normally distributed scores contain the true score in {low} to {high} of the cases, from 6 documents on.
Intervals that treat items as independent do so in {low_alone} to {high_alone}.

A simulated score is the sum of two parts: one that the items of one document (or the samples of one item) share, and one that only this score has. The scores of two items of one document
(or of two samples of one item) have the correlation that the row names. *Skewed* scores have a lognormal distribution, all others a normal one.

- *coverage*: the share of 95% intervals of a system's score that contain the true score. It should be .95.
- *found different*: the share of pairs of equally good systems whose difference has p < .05. It should be .05.
- *clustered*: as [`wellput score`](../commands/score.md) computes it, leaving out whole documents, or items with all their samples. *Alone*: every item, or every sample, is treated as independent.
- *`ar`*: approximate randomization (`--paired ar`).

There are {trials:,} simulated data sets in each row, so shares near .95 and .05 are within {error:.3f} of the long-run share.

## Documents

| items | coverage, clustered | coverage, alone | found different, clustered | found different, alone | found different, `ar` with whole documents |
| --- | ---: | ---: | ---: | ---: | ---: |
{documents}

With 6 documents of very different sizes, or if most documents are short and few are long, intervals are cautious: few documents decide,
and Student's t has few degrees of freedom.

## Samples

| samples | coverage, clustered | coverage, alone | found different, clustered | found different, alone |
| --- | ---: | ---: | ---: | ---: |
{samples}
"""


def page(*, trials: int, seed: int) -> str:
    documents = []
    for world in WORLDS:
        documents.append(document_row(world, trials=trials, seed=seed))
        print(documents[-1], file=sys.stderr)
    samples = []
    for world in SAMPLED:
        samples.append(sample_row(world, trials=trials, seed=seed))
        print(samples[-1], file=sys.stderr)
    # The first four worlds: documents of 1 to 40 items, correlation .3, normal scores.
    main_rows = [row.split(" | ") for row in documents[:4]]
    ours, alone = ([row[column] for row in main_rows] for column in (1, 2))
    return TEMPLATE.format(
        trials=trials,
        error=2 * sqrt(0.05 * 0.95 / trials),
        documents="\n".join(documents),
        samples="\n".join(samples),
        low=min(ours),
        high=max(ours),
        low_alone=min(alone),
        high_alone=max(alone),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=20)
    options = parser.parse_args()
    write_page("cluster-calibration", page(trials=options.trials, seed=options.seed))
