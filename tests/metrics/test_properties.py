"""What holds for every metric that scores text against references."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.programs import parameters
from wellput.core.evalset import Batch
from wellput.core.metric import Metric
from wellput.metrics.registry import create, metric_names

# The other metrics need no program.
PROGRAMS = {"gleu-fluency": "link grammar", "meteor": "WordNet"}
TEXT = [
    name for name in metric_names() if not {"tree", "derivation", "logged"} & create(name).needs
]
AGAINST_REFERENCES = [name for name in TEXT if "references" in create(name).needs]
# BLEU of a segment is with effective order.
CORPUS_IS_SEGMENT = [*(name for name in TEXT if name != "bleu"), "bleu:effective_order=true"]
# A segment takes the reference that suits it best. BLEU pools references, TER averages their
# lengths, NIST takes the closest length: one more can lower their scores.
BEST_OF = [
    "ssa",
    "gsa",
    "chrf",
    "wer",
    "cer",
    "rouge-1",
    "rouge-2",
    "rouge-l",
    "rouge-lsum",
    "exact",
]
# The copy of a reference is not always the best output: NIST earns more by rarer words, METEOR loses
# less of a longer text for its order, SARI gives 0 for words to add where there are none, ROUGE-2 for a
# text of one word.
COPY_MAY_LOSE = {"nist", "meteor", "sari", "rouge-2"}

# Options that a metric must have: these two ship without a model.
COMPLETE = {
    "perplexity": f"perplexity:model={Path(__file__).parent / 'tiny.arpa'}",
    "bertscore": f"bertscore:model={Path(__file__).parent / 'vectors.txt'}",
}

sentences = st.lists(
    st.sampled_from(["the", "cat", "sat", "on", "mat", "a", ".", "Über", "7"]), max_size=9
)
texts = sentences.map(" ".join)
rows = st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=3)), min_size=1, max_size=6)

Rows = list[tuple[str, list[str]]]


def batch_of(pairs: Rows) -> Batch:
    return Batch.from_texts(
        [output for output, _ in pairs], [references for _, references in pairs]
    )


def prepared(name: str, pairs: Rows) -> Metric:
    return create(COMPLETE.get(name, name)).prepare([references for _, references in pairs])


@pytest.mark.parametrize("name", parameters(TEXT, PROGRAMS))
@given(pairs=rows)
@settings(max_examples=25)
def test_statistics_add_and_are_never_nan(name: str, pairs: Rows) -> None:
    metric = prepared(name, pairs)
    whole = metric.statistics(batch_of(pairs))
    apart = np.concatenate([metric.statistics(batch_of([pair])) for pair in pairs])
    assert whole.shape == apart.shape
    assert whole.dtype == np.float64
    assert not np.isnan(whole).any()
    if name != "random":  # which hashes the id, and that is the row's number here
        np.testing.assert_allclose(whole, apart, rtol=1e-12)


@pytest.mark.parametrize("name", parameters(TEXT, PROGRAMS))
@given(pairs=rows)
@settings(max_examples=25)
def test_scores_work_over_leading_axes(name: str, pairs: Rows) -> None:
    metric = prepared(name, pairs)
    statistics = metric.statistics(batch_of(pairs))
    stacked = np.stack([statistics, statistics[::-1]])
    scores = metric.score(stacked)
    assert scores.shape == stacked.shape[:-1]
    np.testing.assert_array_equal(scores[0], metric.score(statistics))
    np.testing.assert_array_equal(scores[1], scores[0][::-1])
    for component in metric.components(stacked).values():
        assert component.shape == stacked.shape[:-1]


@pytest.mark.parametrize("name", parameters(TEXT, PROGRAMS))
@given(pairs=rows)
@settings(max_examples=25)
def test_no_score_lies_outside_the_bounds(name: str, pairs: Rows) -> None:
    metric = prepared(name, pairs)
    low, high = getattr(metric, "bounds", (None, None))
    statistics = metric.statistics(batch_of(pairs))
    scores = np.append(metric.segment_score(statistics), metric.score(statistics.sum(axis=0)))
    scores = scores[~np.isnan(scores)]
    assert low is None or (scores >= low - 1e-9).all()
    assert high is None or (scores <= high + 1e-9).all()


@pytest.mark.parametrize("name", parameters(CORPUS_IS_SEGMENT, PROGRAMS))
@given(pairs=rows)
@settings(max_examples=25)
def test_a_corpus_of_one_equals_the_segment(name: str, pairs: Rows) -> None:
    metric = prepared(name, pairs)
    statistics = metric.statistics(batch_of(pairs[:1]))
    (segment,) = metric.segment_score(statistics)
    np.testing.assert_array_equal(metric.score(statistics.sum(axis=0)), segment)


@pytest.mark.parametrize("name", parameters(AGAINST_REFERENCES, PROGRAMS))
@given(pairs=rows)
@settings(max_examples=25)
def test_identity_scores_best(name: str, pairs: Rows) -> None:
    # The first reference has a word in it: punctuation alone is nothing to some metrics.
    pairs = [(output, [f"cat {first}", *more]) for output, (first, *more) in pairs]
    metric = prepared(name, pairs)
    if metric.higher_is_better is None:
        return
    sign = 1 if metric.higher_is_better else -1
    perfect: Rows = [(references[0], references) for _, references in pairs]
    best = sign * metric.segment_score(metric.statistics(batch_of(perfect)))
    other = sign * metric.segment_score(metric.statistics(batch_of(pairs)))
    assert not np.isnan(best).any()
    worse = np.isnan(other) | (other <= best + 1e-9)
    if name not in COPY_MAY_LOSE:
        assert worse.all()


@pytest.mark.parametrize("name", BEST_OF)
@given(output=texts, references=st.lists(texts, min_size=1, max_size=3), another=texts)
@settings(max_examples=60)
def test_one_more_reference_never_lowers_a_segment(
    name: str, output: str, references: list[str], another: str
) -> None:
    metric = create(name)
    sign = 1 if metric.higher_is_better else -1

    def score(chosen: list[str]) -> float:
        value = float(metric.segment_score(metric.statistics(batch_of([(output, chosen)])))[0])
        return -math.inf if math.isnan(value) else sign * value

    assert score([*references, another]) >= score(references) - 1e-12


@pytest.mark.parametrize("name", parameters(TEXT, PROGRAMS))
@given(st.lists(st.text(max_size=12), min_size=1, max_size=4))
@settings(max_examples=25)
def test_any_text_goes_through(name: str, outputs: list[str]) -> None:
    pairs: Rows = [(output, [outputs[0], output[::-1]]) for output in outputs]
    metric = prepared(name, pairs)
    one = metric.statistics(batch_of(pairs))
    assert np.isfinite(one).all()
    if metric.is_always_defined:  # type: ignore[attr-defined]
        assert np.isfinite(metric.segment_score(one)).all()


@pytest.mark.parametrize("name", parameters(metric_names(), PROGRAMS))
def test_what_every_metric_says_of_itself(name: str) -> None:
    metric = create(name)
    assert metric.name == name
    assert metric.about  # type: ignore[attr-defined]
    assert "version" not in metric.signature()
