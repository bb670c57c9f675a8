"""Pairs of judges are compared many at a time, with the values of a loop over pairs, and of very many
pairs a sample is compared."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellput.core.metric import Floats
from wellput.stats.judges import ratings as judge_pairs
from wellput.stats.judges.correlations import judges_against_rest, pairwise_correlations
from wellput.stats.judges.ratings import (
    SquaredDisagreements,
    pair_pearson,
    pearson,
    shared_values,
    sharing_pairs,
)

NAN = float("nan")


def some_ratings(seed: int, judges: int, units: int, share: float) -> Floats:
    rng = np.random.default_rng(seed)
    ratings = rng.integers(1, 4, (judges, units)).astype(np.float64)
    ratings[rng.random(ratings.shape) > share] = NAN
    return ratings


@pytest.mark.parametrize("cost", [0, 1 << 40])  # counted by a sparse and by a dense product
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    judges=st.integers(1, 9),
    units=st.integers(1, 9),
    share=st.sampled_from([0.2, 0.6, 1.0]),
    fewest=st.integers(0, 4),
)
def test_a_loop_over_pairs_finds_the_same(
    cost: int, seed: int, judges: int, units: int, share: float, fewest: int
) -> None:
    ratings = some_ratings(seed, judges, units, share)
    expected: dict[tuple[int, int], tuple[float, float, float]] = {}
    for first, second in combinations(range(judges), 2):
        both = ~np.isnan(ratings[first]) & ~np.isnan(ratings[second])
        if both.sum() >= max(fewest, 1):
            x, y = ratings[first, both], ratings[second, both]
            by_chance = float(((x[:, None] - y) ** 2).mean() * len(x))
            expected[first, second] = pearson(x, y), float(((x - y) ** 2).sum()), by_chance
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judge_pairs, "SPARSE_COST", cost)
        patch.setattr(judge_pairs, "CELLS_AT_A_TIME", 7)
        found = sharing_pairs(ratings, fewest=fewest)
        correlations = pair_pearson(ratings, found)
        squares = SquaredDisagreements.of(ratings, fewest=fewest)
    keys = list(zip(found.first.tolist(), found.second.tolist(), strict=True))
    assert keys == list(expected) and found.sampling_note == ""
    for place, key in enumerate(keys):
        r, observed, by_chance = expected[key]
        assert correlations[place] == pytest.approx(r, abs=1e-12, nan_ok=True)
        assert squares.observed[place] == pytest.approx(observed, abs=1e-9)
        assert squares.expected[place] == pytest.approx(by_chance, abs=1e-9)


def test_of_many_pairs_and_judges_a_sample_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    quality = rng.normal(size=40)
    ratings = quality + rng.normal(size=(60, 40))
    ratings[0, 3:] = NAN  # too few units to be compared
    whole = pairwise_correlations(ratings, fewest=10)
    assert whole.n_pairs == 59 * 58 // 2
    monkeypatch.setattr(judge_pairs, "MAX_PAIRS", 500)
    drawn = sharing_pairs(ratings, fewest=10)
    assert (len(drawn), drawn.n_sharing, drawn.n_able) == (500, whole.n_pairs, 59)
    assert drawn.sampling_note == "500 of 1,711 pairs of judges, drawn at random, are compared"
    part = pairwise_correlations(ratings, fewest=10)
    # The standard error of a mean of 500 pairs is a few thousandths here.
    assert part.n_pairs == 500 and abs(part.mean - whole.mean) < 0.02
    assert pairwise_correlations(ratings, fewest=10) == part
    monkeypatch.setattr(judge_pairs, "MAX_PAIRED_JUDGES", 20)
    few = sharing_pairs(ratings, fewest=10)
    assert few.sampling_note == "20 of 59 judges, drawn at random, are compared"
    assert len(few) == 190 and len(set(few.first) | set(few.second)) == 20


def test_values_are_those_of_both_judges_on_shared_units() -> None:
    ratings = np.array([[1, 2, NAN, 4], [NAN, 7, 8, 9]])
    [shared] = shared_values(ratings, sharing_pairs(ratings, fewest=1))
    assert sorted(zip(shared.x[shared.both], shared.y[shared.both], strict=True)) == [
        (2, 7),
        (4, 9),
    ]


def test_each_judge_against_the_mean_of_the_others() -> None:
    ratings = some_ratings(3, 6, 12, 0.7)
    for judge, entry in enumerate(judges_against_rest(ratings)):
        others = np.delete(ratings, judge, axis=0)
        both = ~np.isnan(ratings[judge]) & ~np.isnan(others).all(axis=0)
        rest = np.nanmean(others[:, both], axis=0)
        expected = np.corrcoef(ratings[judge, both], rest)[0, 1]
        assert entry.correlation.value == pytest.approx(expected, abs=1e-12)
