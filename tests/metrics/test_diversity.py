from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellput.core.errors import InputError
from wellput.core.evalset import Batch
from wellput.metrics.registry import create
from wellput.metrics.surface import Distinct, TypeTokenRatio


def outputs(*texts: str, threads: int = 1) -> Batch:
    return Batch.from_texts(texts, [()] * len(texts), threads=threads)


def ngrams(text: str, n: int) -> list[tuple[str, ...]]:
    tokens = text.split()
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


def test_type_token_ratio_by_hand() -> None:
    # the, cat, saw, dog over 5 words; 1 over 2; an empty output has no ratio.
    values = TypeTokenRatio().values(outputs("The cat saw the dog", "no no", " "))
    assert values[:2].tolist() == [0.8, 0.5]
    assert math.isnan(values[2])


def test_the_score_is_the_mean_of_the_outputs_that_have_words() -> None:
    metric = TypeTokenRatio()
    rows = metric.statistics(outputs("the cat saw the dog", "no no", ""))
    assert metric.score(rows.sum(axis=0)) == pytest.approx((0.8 + 0.5) / 2)


@pytest.mark.parametrize(("n", "expected"), [(1, 2 / 6), (2, 2 / 5), (3, 2 / 4)])
def test_distinct_by_hand(n: int, expected: float) -> None:
    # a b a b a b: a, b; a b, b a; a b a, b a b
    assert Distinct(n=n).values(outputs("a b a b a b"))[0] == pytest.approx(expected)


def test_an_output_shorter_than_n_is_left_out() -> None:
    metric = Distinct(n=3)
    rows = metric.statistics(outputs("a b", "a b c"))
    np.testing.assert_array_equal(rows, [[0, 0], [1, 1]])


def test_the_union_is_over_all_outputs() -> None:
    # Each output by itself is all different; together: hello, you, there over 2 + 2 words.
    batches = [outputs("hello you"), outputs("hello there", "")]
    metric = TypeTokenRatio()
    assert [metric.score(metric.statistics(batch).sum(axis=0)) for batch in batches] == [1, 1]
    assert metric.union(batches) == 3 / 4
    # Bigrams do not run over the end of an output: hello you, hello there.
    assert Distinct(n=2).union(batches) == 1.0
    assert math.isnan(metric.union([outputs("", " ")]))
    assert math.isnan(metric.union([]))


def test_case_counts_only_when_asked() -> None:
    assert TypeTokenRatio().values(outputs("No no"))[0] == 0.5
    assert TypeTokenRatio(lowercase=False).values(outputs("No no"))[0] == 1.0
    assert TypeTokenRatio(lowercase=False).union([outputs("No no")]) == 1.0


@given(st.lists(st.text(alphabet="ab \u00e9\ud800\U0001f600") | st.text()), st.integers(1, 3))
@settings(deadline=None)
def test_kernel_against_sets(texts: list[str], n: int) -> None:
    metric = Distinct(n=n, tokenize="none", lowercase=False)
    expected = [
        len(set(ngrams(text, n))) / len(ngrams(text, n)) if ngrams(text, n) else math.nan
        for text in texts
    ]
    np.testing.assert_array_equal(metric.values(outputs(*texts)), expected)
    np.testing.assert_array_equal(metric.values(outputs(*texts * 70, threads=3)), expected * 70)
    together = [gram for text in texts for gram in ngrams(text, n)]
    union = metric.union([outputs(*texts)])
    assert union == (len(set(together)) / len(together)) if together else math.isnan(union)


def test_names_and_options() -> None:
    assert create("distinct:n=3").name == "distinct:n=3"
    assert create("ttr").signature() == "tok:13a|lowercase:true"
    assert create("distinct").signature() == "tok:13a|lowercase:true|n:2"
    assert create("ttr").needs == frozenset()
    for n in (0, 4):
        with pytest.raises(InputError, match="1 to 3"):
            Distinct(n=n)
