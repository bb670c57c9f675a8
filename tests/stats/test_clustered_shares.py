"""Coverage of the interval of a pass rate, where items come in documents."""

from __future__ import annotations

import numpy as np
import pytest

from wellput.core.metric import Floats
from wellput.stats.clusters import ClusteredItems, clustered_interval
from wellput.stats.jackknife import score_interval

CORRELATION = 0.3
TRIALS = 600


def share(statistics: Floats) -> Floats:
    return np.asarray(statistics[..., 0] / statistics[..., 1])


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "documents"), [(0.5, 30), (0.8, 12), (0.95, 30), (0.98, 30)])
def test_the_interval_holds_near_1_too(rate: float, documents: int) -> None:
    """Documents of 1 to 20 items; each document's own rate is drawn from a beta distribution whose
    intraclass correlation is .3. The interval that ignores documents holds in about 64%."""
    rng = np.random.default_rng(2)
    scale = (1 - CORRELATION) / CORRELATION
    held = held_without = 0
    for _ in range(TRIALS):
        own = rng.beta(rate * scale, (1 - rate) * scale, documents)
        codes = np.repeat(np.arange(documents), rng.integers(1, 21, documents))
        hits = (rng.random(len(codes)) < own[codes]).astype(float)
        statistics = np.stack([hits, np.ones_like(hits)], axis=1)
        found = clustered_interval(statistics, share, ClusteredItems.of(codes), bounds=(0.0, 1.0))
        plain = score_interval(statistics, share, bounds=(0.0, 1.0))
        assert found.low is not None and found.high is not None and found.low < found.high
        assert plain.low is not None and plain.high is not None
        held += found.low <= rate <= found.high
        held_without += plain.low <= rate <= plain.high
    assert held / TRIALS > 0.92
    assert held_without / TRIALS < 0.8
