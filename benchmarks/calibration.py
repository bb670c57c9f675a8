"""Are the p-values and intervals of `wellput.stats` what they claim to be? Measured, not assumed.

Worlds are simulated in which the truth is known: items of varying difficulty, two systems that are
equally good on every one of them. Under that null hypothesis a test must reject as often as its
level says, and an interval must cover the true score as often as its confidence says.

    python benchmarks/calibration.py -o docs/results/calibration.md
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kstest

from wellput.core.metric import Floats
from wellput.core.table import Estimate
from wellput.stats.resampling import approximate_randomization, bootstrap, paired_bootstrap

Test: TypeAlias = Callable[..., Estimate]
Lengths: TypeAlias = NDArray[np.int64]

SIZES = (30, 100, 500)
TESTS: dict[str, Test] = {
    "approximate randomization": approximate_randomization,
    "paired bootstrap": paired_bootstrap,
    "paired bootstrap, sacreBLEU's p": partial(paired_bootstrap, null="sacrebleu"),
}


@dataclass(frozen=True)
class World:
    """`draw(difficulty, lengths, rng)` gives a system's statistics for items of that difficulty."""

    title: str
    draw: Callable[[Floats, Lengths, np.random.Generator], Floats]
    score: Callable[[Floats], Floats]

    def systems(self, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Two systems, equally good, on the same n items; harder items are longer."""
        difficulty = rng.beta(2, 3, n)
        lengths = 3 + rng.poisson(12 + 16 * difficulty)
        return self.draw(difficulty, lengths, rng), self.draw(difficulty, lengths, rng)

    def truth(self, seed: int) -> float:
        """The score of a corpus so large (4 million outputs) that sampling error is no matter."""
        rng = np.random.default_rng(seed)
        blocks = [np.add(*self.systems(200_000, rng)).sum(axis=0) for _ in range(10)]
        return float(self.score(np.sum(blocks, axis=0)))


def segment_scores(difficulty: Floats, lengths: Lengths, rng: np.random.Generator) -> Floats:
    scores = rng.beta(6 * (1 - difficulty), 6 * difficulty)
    return np.stack([scores, np.ones_like(scores)], axis=1)


def matched_tokens(difficulty: Floats, lengths: Lengths, rng: np.random.Generator) -> Floats:
    tokens = np.maximum(1, lengths + rng.integers(-3, 4, len(lengths)))
    return np.stack([rng.binomial(tokens, 1 - difficulty), tokens], axis=1).astype(np.float64)


def matched_ngrams(difficulty: Floats, lengths: Lengths, rng: np.random.Generator) -> Floats:
    """BLEU's ten: output and reference length, matches of order 1 to 4, n-grams of order 1 to 4."""
    tokens = np.maximum(1, lengths + rng.integers(-3, 4, len(lengths)))
    totals = np.maximum(0, tokens[:, None] - np.arange(4))
    matches = rng.binomial(totals, (1 - difficulty)[:, None] ** np.arange(1, 5))
    return np.column_stack([tokens, lengths, matches, totals]).astype(np.float64)


def ratio(statistics: Floats) -> Floats:
    quotient: Floats = statistics[..., 0] / statistics[..., 1]
    return quotient


def bleu(statistics: Floats) -> Floats:
    with np.errstate(divide="ignore"):  # no match of an order: log 0, a BLEU of 0
        logs = np.log(statistics[..., 2:6] / statistics[..., 6:10]).mean(axis=-1)
    brevity = np.minimum(0.0, 1.0 - statistics[..., 1] / statistics[..., 0])
    scores: Floats = 100 * np.exp(brevity + logs)
    return scores


WORLDS = (
    World("mean of segments", segment_scores, ratio),
    World("pooled ratio", matched_tokens, ratio),
    World("BLEU", matched_ngrams, bleu),
)


def null_p_values(
    world: World, test: Test, n: int, *, trials: int, n_resamples: int, seed: int
) -> Floats:
    """The test's p-values in `trials` studies of two systems that do not differ."""
    p_values = np.empty(trials)
    for trial in range(trials):
        rng = np.random.default_rng([seed, n, trial])
        a, b = world.systems(n, rng)
        estimate = test(
            a, b, world.score, n_resamples=n_resamples, seed=int(rng.integers(2**63)), threads=1
        )
        assert estimate.p_value is not None
        p_values[trial] = estimate.p_value
    return p_values


def coverage(
    world: World, n: int, *, trials: int, n_resamples: int, seed: int
) -> tuple[float, float]:
    """How often 95% intervals hold the true score, and the true difference (which is 0)."""
    truth = world.truth(seed)
    hits = np.zeros((trials, 2))
    for trial in range(trials):
        rng = np.random.default_rng([seed, n, trial])
        a, b = world.systems(n, rng)
        draws = int(rng.integers(2**63))
        estimates = (
            (truth, bootstrap(a, world.score, n_resamples=n_resamples, seed=draws)),
            (0.0, paired_bootstrap(a, b, world.score, n_resamples=n_resamples, seed=draws)),
        )
        for column, (target, estimate) in enumerate(estimates):
            assert estimate.low is not None and estimate.high is not None
            hits[trial, column] = estimate.low <= target <= estimate.high
    of_score, of_difference = hits.mean(axis=0)
    return float(of_score), float(of_difference)


def page(*, trials: int, n_resamples: int, seed: int) -> str:
    null_rows: list[str] = []
    coverage_rows: list[str] = []
    covered: dict[int, list[float]] = {n: [] for n in SIZES}
    for world in WORLDS:
        for n in SIZES:
            size = {"trials": trials, "n_resamples": n_resamples, "seed": seed}
            for name, test in TESTS.items():
                p = null_p_values(world, test, n, **size)
                uniform = kstest(p, "uniform").pvalue
                null_rows.append(
                    f"| {world.title} | {n} | {name} | {np.mean(p <= 0.05):.3f} "
                    f"| {np.mean(p <= 0.01):.3f} "
                    f"| {'< .001' if uniform < 0.001 else f'{uniform:.3f}'} |"
                )
            of_score, of_difference = coverage(world, n, **size)
            covered[n] += [of_score, of_difference]
            coverage_rows.append(f"| {world.title} | {n} | {of_score:.3f} | {of_difference:.3f} |")
            print(*null_rows[-len(TESTS) :], coverage_rows[-1], sep="\n", file=sys.stderr)
    return TEMPLATE.format(
        trials=trials,
        n_resamples=n_resamples,
        seed=seed,
        error_05=2 * (0.05 * 0.95 / trials) ** 0.5,
        error_01=2 * (0.01 * 0.99 / trials) ** 0.5,
        null="\n".join(null_rows),
        coverage="\n".join(coverage_rows),
        ranges="\n".join(
            f"- {n} items: {min(shares):.3f} to {max(shares):.3f}" for n, shares in covered.items()
        ),
    )


TEMPLATE = """\
# Calibration: are the p-values and intervals honest?

Measured by `python benchmarks/calibration.py -o docs/results/calibration.md --trials {trials}
--resamples {n_resamples} --seed {seed}` on simulated systems whose true scores are known: items of
varying difficulty and length, and two systems equally good on each. {trials} studies a row.

## Tests when there is nothing to find

Two equally good systems: a test at level .05 should reject in .050 of the studies (two standard
errors of the measurement: {error_05:.3f}), at .01 in .010 ({error_01:.3f}). KS p is the p-value
of a Kolmogorov–Smirnov test that the p-values are uniform: small means they are not.

| score | items | test | rejected at .05 | rejected at .01 | KS p |
|---|---|---|---|---|---|
{null}

Approximate randomization is exact: its p-values are uniform at every size. The paired bootstrap is
approximate: with 30 items it rejects too often. sacreBLEU's definition of the paired bootstrap's
p-value counts one tail of the centered differences and rejects more than twice as often as its
level says; wellput's own counts both tails.

## 95% percentile intervals

How often the interval held the true score of a system, and the true difference of the two (two
standard errors: {error_05:.3f}).

| score | items | of the score | of the difference |
|---|---|---|---|
{coverage}

In short:

{ranges}

With 30 items percentile intervals are too narrow, with 100 slightly still: that is a known property
of the method, which takes the spread of the sample for that of the population. Read an interval
over a few dozen items as somewhat wider than printed.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--trials", type=int, default=4000)
    parser.add_argument("--resamples", type=int, default=999)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    text = page(trials=given.trials, n_resamples=given.resamples, seed=given.seed)
    given.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
