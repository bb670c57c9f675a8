"""How often are the intervals and tests of `wellput agree` right if items come in documents?

python -m benchmarks agreement-documents
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from benchmarks.pages import write_page
from wellput.core.clusters import Clusters
from wellput.core.metric import Floats
from wellput.stats.correlation import Correlation, correlation_value
from wellput.stats.correlation_intervals import leave_out, scale_of

QUALITY = 0.5
"""The correlation of each effect on a metric's scores with the same effect on people's, and so of the scores."""
WITHIN = 0.3
"""The correlation of a system's outputs in one document, beyond system and item."""


@dataclass(frozen=True)
class Study:
    """A kind of simulated study: its numbers of systems and documents, and the correlation measured."""

    systems: int
    documents: int
    is_skewed: bool
    correlation: Correlation

    @property
    def title(self) -> str:
        what = "systems" if self.correlation.level == "system" else "segments pooled"
        shape = "skewed" if self.is_skewed else "normal"
        return f"Pearson, {what} | {self.systems} | {self.documents} | {shape}"

    def draw(
        self, rng: np.random.Generator, systems: int | None = None
    ) -> tuple[Floats, Floats, Floats, Clusters]:
        """Two metrics of the same quality, people, and the documents."""
        n_systems = systems or self.systems
        codes = np.repeat(np.arange(self.documents), rng.integers(1, 41, self.documents))
        # Each effect: its share of the variance, its shape, and the document of each item if it needs that.
        effects = (
            (0.1, (n_systems, 1), None),
            (0.15, (1, self.documents), codes),
            (0.15, (1, len(codes)), None),
            (0.6 * WITHIN, (n_systems, self.documents), codes),
            (0.6 * (1 - WITHIN), (n_systems, len(codes)), None),
        )
        people = np.zeros((n_systems, len(codes)))
        metrics = [people, people]
        for share, shape, of_items in effects:
            true, *own = (self._effect(shape, rng) for _ in range(3))
            drawn = [true, *(QUALITY * true + sqrt(1 - QUALITY**2) * one for one in own)]
            if of_items is not None:
                drawn = [effect[:, of_items] for effect in drawn]
            people = people + sqrt(share) * drawn[0]
            metrics = [m + sqrt(share) * e for m, e in zip(metrics, drawn[1:], strict=True)]
        return metrics[0], metrics[1], people, Clusters("document", codes.astype(np.intp))

    def _effect(self, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
        """Random values with mean 0 and variance 1."""
        if self.is_skewed:
            return np.asarray((rng.chisquare(2, size=shape) - 2) / 2)
        return rng.normal(size=shape)

    def truth(self, rng: np.random.Generator) -> float:
        """The true correlation, from many systems; that of pooled segments is known."""
        if self.correlation.level == "segment":
            return QUALITY
        found = []
        for _ in range(40):
            x, _, z, _ = self.draw(rng, systems=400)
            found.append(correlation_value(x, z, self.correlation).value)
        return float(np.mean(found))


STUDIES = tuple(
    Study(systems, documents, is_skewed, correlation)
    for correlation in (Correlation(), Correlation("system"))
    for is_skewed in (False, True)
    for systems, documents in ((8, 12), (12, 20), (20, 60))
)


def study_row(study: Study, *, trials: int, seed: int) -> str:
    rng = np.random.default_rng(seed)
    truth = study.truth(rng)
    scale = scale_of(study.correlation, study.systems)
    covered = covered_alone = found_different = 0
    for _ in range(trials):
        x, y, z, clusters = study.draw(rng)
        one, other = (leave_out(scores, z, study.correlation, clusters) for scores in (x, y))
        ours = one.estimate(scale=scale)
        alone = replace(one, clusters=None, left_out=None).estimate(scale=scale)
        covered += _holds(ours.low, ours.high, truth)
        covered_alone += _holds(alone.low, alone.high, truth)
        found_different += ((one - other).estimate().p_value or 1.0) < 0.05
    cells = (covered, covered_alone, found_different)
    return f"| {study.title} | " + " | ".join(f"{count / trials:.3f}" for count in cells) + " |"


def _holds(low: float | None, high: float | None, truth: float) -> bool:
    return low is not None and high is not None and low <= truth <= high


TEMPLATE = """\
# Calibration of `wellput agree` with documents

How often are the intervals and tests of a metric's agreement with people right if items come in documents of 1 to 40 items? As `wellput agree` computes them, they are right or
cautious. If items are treated as independent although they come in documents, intervals of pooled segments are too narrow; at system level this hardly matters, because there
the number of systems decides how wide an interval is.

In the simulated studies, a score is the sum of effects of the system, the document, the item, the system in this document, and the output; two metrics are equally good. Normal
effects have a normal distribution, skewed ones a χ² distribution with 2 degrees of freedom. The coefficient is Pearson's r of all segments together (*pooled*), or of the mean scores of *systems*.

- *coverage*: the share of 95% intervals that contain the true coefficient for other systems and other documents. It should be .95.
- *found different*: the share of studies in which the two metrics differ at p < .05. It should be .05.
- *clustered*: as [`wellput agree`](../commands/agree.md) computes it, leaving out systems and whole documents. *Alone*: every item is treated as independent.

There are {trials:,} studies in each row, so shares near .95 and .05 are within {error:.3f} of the long-run share.

| coefficient | systems | documents | effects | coverage, clustered | coverage, alone | found different, clustered |
| --- | ---: | ---: | --- | ---: | ---: | ---: |
{rows}

## What follows

- With few systems and documents the intervals are cautious. With skewed effects a few extreme systems or documents decide the coefficient, so the intervals are wider.
- The effect of leaving out a document is computed exactly for Pearson's coefficient, for coefficients averaged by item, and at system level. For pooled rank correlations it is approximated.
"""


def page(*, trials: int, seed: int) -> str:
    rows = []
    for study in STUDIES:
        rows.append(study_row(study, trials=trials, seed=seed))
        print(rows[-1], file=sys.stderr)
    error = 2 * sqrt(0.05 * 0.95 / trials)
    return TEMPLATE.format(trials=trials, error=error, rows="\n".join(rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--seed", type=int, default=20)
    options = parser.parse_args()
    write_page("agreement-documents", page(trials=options.trials, seed=options.seed))
