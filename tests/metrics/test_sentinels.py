from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from wellput.core.evalset import Batch
from wellput.core.metric import Floats
from wellput.metrics.registry import create
from wellput.metrics.surface import Length, LengthOnly, Random


def values(*ids: str, system: str = "A", seed: int = 0, text: str = "") -> Floats:
    batch = Batch.from_texts([text] * len(ids), [()] * len(ids))
    return Random(seed=seed).values(replace(batch, ids=ids, system=system))


def test_random_is_the_same_everywhere() -> None:
    # hashlib.blake2b(b'[0, "A"]1', digest_size=8), its upper 53 bits over 2^53.
    assert values("1", "2").tolist() == [0.0858347144991446, 0.7392801862159036]


def test_random_depends_on_seed_system_and_id_alone() -> None:
    one = values("1", "2", "3")
    np.testing.assert_array_equal(values("3", "1"), one[[2, 0]])
    np.testing.assert_array_equal(values("1", "2", "3", text="a cat"), one)
    for other in (values("1", "2", "3", system="B"), values("1", "2", "3", seed=1)):
        assert not np.isin(other, one).any()


def test_random_is_uniform() -> None:
    sample = values(*map(str, range(2000)))
    assert kstest(sample, "uniform").pvalue > 0.001
    assert np.corrcoef(sample, values(*map(str, range(2000)), system="B"))[0, 1] == pytest.approx(
        0, abs=5 / 2000**0.5
    )


@given(st.text(), st.text(), st.integers())
def test_any_name_has_a_value(item: str, system: str, seed: int) -> None:
    assert 0 <= values(item, system=system, seed=seed)[0] < 1


def test_lone_surrogates_have_a_value() -> None:
    assert 0 <= values("\ud800", system="\udfff")[0] < 1


def test_length_only_believes_in_length() -> None:
    batch = Batch.from_texts(["a b c", "d"], [(), ()])
    metric = create("length-only")
    np.testing.assert_array_equal(metric.statistics(batch), Length().statistics(batch))
    assert metric.higher_is_better is True
    assert (metric.name, metric.needs) == ("length-only", frozenset())
    assert isinstance(metric, LengthOnly)


def test_random_in_the_registry() -> None:
    metric = create("random:seed=7")
    assert metric == Random(seed=7)
    assert (metric.name, metric.signature()) == ("random:seed=7", "hash_seed:7")
