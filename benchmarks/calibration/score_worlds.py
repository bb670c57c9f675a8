"""Simulated systems whose true scores are known, for `benchmarks/calibration/score.py`.

A world draws the statistics of two systems for n items; with a gap above 0 the second is worse. Without one
both have the same true score, though in some worlds not the same distribution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import TypeAlias

import numpy as np

from wellput.core.estimates import Bounds
from wellput.core.metric import Floats
from wellput.metrics.base import ratio

Rng: TypeAlias = np.random.Generator
Pair: TypeAlias = tuple[Floats, Floats]
Draw: TypeAlias = Callable[[int, float, Rng], Pair]

ITEMS_OF_A_DOCUMENT = 10
N_FOR_TRUTH = 200_000
"""The items of one of the ten draws from which a true score is computed."""


@dataclass(frozen=True)
class World:
    """`draw(n, gap, rng)` gives the statistics of two systems, `about` says on the page how they are drawn."""

    title: str
    about: str
    draw: Draw
    score: Callable[[Floats], Floats]
    gap: float
    bounds: Bounds = (None, None)

    def truth(self, seed: int) -> tuple[float, float]:
        """The scores of the better and the worse system on 2 million items, so with hardly any sampling
        error."""
        return _truth(self, seed)


@cache
def _truth(world: World, seed: int) -> tuple[float, float]:
    rng = np.random.default_rng([seed, 0])
    sums = [
        [rows.sum(axis=0) for rows in world.draw(N_FOR_TRUTH, world.gap, rng)] for _ in range(10)
    ]
    better, worse = (float(world.score(np.sum(parts, axis=0))) for parts in zip(*sums, strict=True))
    return better, worse


def mean(statistics: Floats) -> Floats:
    return ratio(statistics[..., 0], statistics[..., 1])


def bleu(statistics: Floats) -> Floats:
    with np.errstate(divide="ignore"):  # no match of an order: log 0, a BLEU of 0
        logs = np.log(statistics[..., 2:6] / statistics[..., 6:10]).mean(axis=-1)
    brevity = np.minimum(0.0, 1.0 - statistics[..., 1] / statistics[..., 0])
    scores: Floats = 100 * np.exp(brevity + logs)
    return scores


def _rows(a: Floats, b: Floats) -> Pair:
    ones = np.ones(len(a))
    return np.stack([a, ones], axis=1), np.stack([b, ones], axis=1)


def normal(n: int, gap: float, rng: Rng) -> Pair:
    items = rng.normal(size=n)
    return _rows(items + rng.normal(size=n), items - gap + rng.normal(size=n))


def graded(n: int, gap: float, rng: Rng) -> Pair:
    quality = rng.beta(3, 2, n)
    lower = quality * (1 - gap)
    return _rows(rng.beta(6 * quality, 6 * (1 - quality)), rng.beta(6 * lower, 6 * (1 - lower)))


def tied(n: int, gap: float, rng: Rng) -> Pair:
    a, b = (np.round(4 * rows[:, 0]) / 4 for rows in graded(n, gap, rng))
    return _rows(a, np.where(rng.random(n) < 0.85, a, b))


def near_the_top(n: int, gap: float, rng: Rng) -> Pair:
    return _rows(rng.beta(9, 0.6, n), rng.beta(9, 0.6 + gap, n))


def skewed(n: int, gap: float, rng: Rng, *, sigma: float | None) -> Pair:
    """The difference is exponential, or lognormal with that sigma, less its mean."""
    items = rng.normal(size=n)
    if sigma is None:
        difference = rng.exponential(size=n) - 1
    else:
        difference = rng.lognormal(0, sigma, n) - np.exp(sigma**2 / 2)
    return _rows(items, items - gap - difference)


def heavy_tailed(n: int, gap: float, rng: Rng) -> Pair:
    items = rng.normal(size=n)
    return _rows(items + rng.standard_t(3, n), items - gap + rng.standard_t(3, n))


def uneven(n: int, gap: float, rng: Rng) -> Pair:
    items, spread = rng.normal(size=n), rng.lognormal(0, 0.7, n)
    return _rows(items + spread * rng.normal(size=n), items - gap + 0.2 * rng.normal(size=n))


def documents(n: int, gap: float, rng: Rng, *, correlation: float) -> Pair:
    """A system's scores of two items of one document have this correlation."""
    at = np.arange(n) // ITEMS_OF_A_DOCUMENT
    a, b = (
        np.sqrt(correlation) * rng.normal(size=at[-1] + 1)[at]
        + np.sqrt(1 - correlation) * rng.normal(size=n)
        for _ in range(2)
    )
    return _rows(a, b - gap)


def right_or_wrong(n: int, gap: float, rng: Rng, *, share: float) -> Pair:
    """Right with that probability; on half of the items both give the same answer."""
    same, chance = rng.random(n) < 0.5, rng.random((3, n))
    a = np.where(same, chance[0], chance[1]) < share
    b = np.where(same, chance[0], chance[2]) < share * (1 - gap)
    return _rows(a.astype(np.float64), b.astype(np.float64))


def matched_tokens(n: int, gap: float, rng: Rng, *, are_uneven: bool) -> Pair:
    quality = rng.beta(3, 2, n)
    lengths = rng.lognormal(2.5, 1.0, n) if are_uneven else 15.0 + rng.poisson(16 * (1 - quality))
    pair = []
    for share in (quality, quality * (1 - gap)):
        tokens = np.maximum(1, np.round(lengths * rng.uniform(0.8, 1.2, n))).astype(np.int64)
        pair.append(np.stack([rng.binomial(tokens, share), tokens], axis=1).astype(np.float64))
    return pair[0], pair[1]


def matched_ngrams(n: int, gap: float, rng: Rng) -> Pair:
    """BLEU's ten: output and reference length, matches of order 1 to 4, n-grams of order 1 to 4."""
    quality = rng.beta(3, 2, n)
    lengths = 15 + rng.poisson(16 * (1 - quality))
    pair = []
    for share in (quality, quality * (1 - gap)):
        tokens = np.maximum(1, lengths + rng.integers(-3, 4, n))
        totals = np.maximum(0, tokens[:, None] - np.arange(4))
        matches = rng.binomial(totals, share[:, None] ** np.arange(1, 5))
        pair.append(np.column_stack([tokens, lengths, matches, totals]).astype(np.float64))
    return pair[0], pair[1]


UNIT: Bounds = (0.0, 1.0)
WORLDS = (
    World("normal", "segment scores with normal errors", normal, mean, 0.3),
    World("graded", "segment scores between 0 and 1; items are harder or easier", graded, mean, 0.1, UNIT),
    World("ties", "grades in steps of 1/4; the two systems are equal on 85% of the items or more", tied, mean, 0.3, UNIT),
    World("near the top", "segment scores of .94 on average, mostly close to 1", near_the_top, mean, 0.3, UNIT),
    World(
        "0/1", "scores of 0 or 1; a system is right on half of the items, and two systems have the same score on three of four items", partial(right_or_wrong, share=0.5),
        mean, 0.2, UNIT,
    ),
    World("rarely 1", "scores of 0 or 1; a system is right on 2% of the items", partial(right_or_wrong, share=0.02), mean, 0.5, UNIT),
    World("tokens", "the number of matched tokens, divided by the number of tokens, over all items together", partial(matched_tokens, are_uneven=False), mean, 0.1, UNIT),
    World(
        "uneven lengths", "as *tokens*, but the lengths have a lognormal distribution, σ = 1",
        partial(matched_tokens, are_uneven=True), mean, 0.1, UNIT,
    ),
    World("BLEU", "BLEU, from the numbers of matched n-grams of all items", matched_ngrams, bleu, 0.1, (0.0, 100.0)),
    World("heavy tails", "errors with Student's t of 3 degrees of freedom", heavy_tailed, mean, 0.5),
    World("uneven spread", "errors whose spread differs between items and between systems", uneven, mean, 0.3),
    World("skewed", "differences with an exponential distribution", partial(skewed, sigma=None), mean, 0.3),
    World("very skewed", "differences with a lognormal distribution, σ = 1", partial(skewed, sigma=1.0), mean, 0.3),
    World(
        "documents, .1", "documents of 10 items; scores of items in one document correlate .1",
        partial(documents, correlation=0.1), mean, 0.3,
    ),
    World(
        "documents, .3", "documents of 10 items; scores of items in one document correlate .3",
        partial(documents, correlation=0.3), mean, 0.3,
    ),
)  # fmt: skip
