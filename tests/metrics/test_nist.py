from __future__ import annotations

import math
import pickle
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from nltk.translate.nist_score import corpus_nist, sentence_nist

from wellput.core.errors import InputError
from wellput.core.evalset import Batch
from wellput.core.metric import Floats
from wellput.metrics.nist import Nist
from wellput.metrics.registry import create

# From the documentation of sentence_nist in NLTK.
OUTPUTS = [
    "It is a guide to action which ensures that the military always obeys the commands of the "
    "party",
    "It is to insure the troops forever hearing the activity guidebook that party direct",
]
REFERENCES = [
    "It is a guide to action that ensures that the military will forever heed Party commands",
    "It is the guiding principle which guarantees the military forces always being under the "
    "command of the Party",
    "It is the practical guide for the army always to heed the directions of the party",
]


def statistics(
    outputs: Sequence[str], references: Sequence[Sequence[str]], n: int = 5, threads: int = 1
) -> Floats:
    metric = Nist(n=n, tokenize="none").prepare(references)
    return metric.statistics(Batch.from_texts(outputs, references, threads=threads))


def corpus(outputs: Sequence[str], references: Sequence[Sequence[str]], n: int = 5) -> float:
    rows = statistics(outputs, references, n)
    return float(Nist(n=n, tokenize="none").score(rows.sum(axis=0)))


def nltk_corpus(outputs: Sequence[str], references: Sequence[Sequence[str]], n: int = 5) -> float:
    split = [[text.split() for text in row] for row in references]
    return float(corpus_nist(split, [text.split() for text in outputs], n))


def test_the_examples_of_nltk() -> None:
    # The values in the docstring of nltk.translate.nist_score.sentence_nist (NLTK 3.10).
    assert corpus(OUTPUTS[:1], [REFERENCES]) == pytest.approx(3.3709, abs=1e-4)
    assert corpus(OUTPUTS[1:], [REFERENCES]) == pytest.approx(1.4619, abs=1e-4)


def test_by_hand() -> None:
    # References "a b a" and "a c": a 3 times, b and c once, 5 tokens; a b, b a, a c once each.
    # Bits: a log2(5/3), b log2(5/1); a b log2(3/1), b a log2(1/1) = 0.
    # Output "a b": 1-grams of the first reference (log2(5/3) + log2 5) / 2, of the second
    # log2(5/3) / 2; bigram a b log2(3) of the first. Length 2 against 3: penalty 1/2.
    bits = (math.log2(5 / 3) + math.log2(5)) / 2 + math.log2(3)
    assert corpus(["a b"], [["a b a", "a c"]], n=2) == pytest.approx(bits / 2)


def test_of_equally_good_references_the_longest_counts() -> None:
    # Nothing matches: each of the two orders takes the longer reference.
    rows = statistics(["x y"], [["a", "a b c"]], n=2)
    np.testing.assert_array_equal(rows, [[0, 0, 2, 1, 2, 6]])


WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), max_size=12).map(" ".join)
CORPORA = st.lists(
    st.tuples(WORDS, st.lists(WORDS, min_size=1, max_size=3)), min_size=1, max_size=6
)


@pytest.mark.heavy
@given(CORPORA, st.integers(1, 5))
@settings(max_examples=150, deadline=None)
def test_any_corpus_scores_as_by_nltk(items: list[tuple[str, list[str]]], n: int) -> None:
    outputs = [output for output, _ in items]
    references = [row for _, row in items]
    # NLTK divides by zero where no output is long enough or all references are empty.
    assume(any(len(output.split()) >= n for output in outputs))
    assume(statistics(outputs, references, n)[:, -1].sum() > 0)
    assert corpus(outputs, references, n) == pytest.approx(
        nltk_corpus(outputs, references, n), abs=1e-9
    )


@given(WORDS, st.lists(WORDS, min_size=1, max_size=3))
@settings(deadline=None)
def test_a_corpus_of_one_scores_as_the_sentence(output: str, references: list[str]) -> None:
    assume(len(output.split()) >= 3 and any(text for text in references))
    expected = sentence_nist([text.split() for text in references], output.split(), 3)
    assert corpus([output], [references], 3) == pytest.approx(expected, abs=1e-9)


@given(CORPORA)
@settings(deadline=None)
def test_threads_and_batches_change_no_digit(items: list[tuple[str, list[str]]]) -> None:
    outputs = [output for output, _ in items] * 40
    references = [row for _, row in items] * 40
    whole = statistics(outputs, references)
    assert whole.tobytes() == statistics(outputs, references, threads=3).tobytes()
    metric = Nist(tokenize="none").prepare(references)
    middle = len(outputs) // 3
    parts = [
        metric.statistics(Batch.from_texts(outputs[part], references[part]))
        for part in (slice(None, middle), slice(middle, None))
    ]
    assert whole.tobytes() == np.concatenate(parts).tobytes()


ANY = st.text(st.characters())  # lone surrogates too


@given(st.lists(st.tuples(ANY, st.lists(ANY, min_size=1, max_size=2)), min_size=1))
@settings(deadline=None)
def test_any_text_goes_through(items: list[tuple[str, list[str]]]) -> None:
    outputs = [output for output, _ in items]
    references = [row for _, row in items]
    rows = statistics(outputs, references, n=2)
    assert not np.isnan(rows).any()
    assert rows[:, 4].tolist() == [len(output.split()) for output in outputs]
    assert (rows[:, 0] >= 0).all()


def test_a_segment_uses_the_weights_of_the_corpus() -> None:
    references = [["a b"], ["a c"]]
    rows = statistics(["a b", "a c"], references, n=1)
    # a: log2(4/2) = 1 bit, b: log2(4/1) = 2. By itself the sentence would give log2(2/1) for each.
    assert Nist(n=1).segment_score(rows)[0] == pytest.approx((1 + 2) / 2)


def test_components() -> None:
    metric = Nist(n=2, tokenize="none").prepare([["a b a", "a c"]])
    rows = metric.statistics(Batch.from_texts(["a b"], [["a b a", "a c"]]))
    parts = {name: float(value[0]) for name, value in metric.components(rows).items()}
    assert parts == {
        "information_1": pytest.approx((math.log2(5 / 3) + math.log2(5)) / 2),
        "information_2": pytest.approx(math.log2(3)),
        "length_penalty": pytest.approx(0.5),
        "length": 2.0,
        "reference_length": 3.0,
    }


def test_empty_texts() -> None:
    metric = Nist(tokenize="none")
    scores = metric.score(statistics(["", "a b", ""], [["a b"], [""], [""]]))
    assert scores[0] == 0.0  # says nothing
    assert np.isnan(scores[1]) and np.isnan(scores[2])  # nothing to compare with


def test_outputs_shorter_than_the_highest_order_are_scored() -> None:
    # NLTK divides by zero. a and b are 1 bit each, a b is log2(1/1) = 0; 3- to 5-grams add nothing.
    assert corpus(["a b"], [["a b"]]) == pytest.approx(1.0)


def test_case() -> None:
    references = [["The Cat"]]
    batch = Batch.from_texts(["the cat"], references)
    for lowercase, expected in ((True, 1.0), (False, 0.0)):
        metric = Nist(n=1, lowercase=lowercase, tokenize="none").prepare(references)
        assert metric.score(metric.statistics(batch))[0] == pytest.approx(expected)


def test_the_signature_names_the_references() -> None:
    references = [["a b", "c"], ["d e"]]
    prepared = Nist().prepare(references)
    plain = "n:5|lowercase:false|tok:13a"
    assert Nist().signature() == plain
    head, _, weights = prepared.signature().rpartition("|weights:")
    assert head == plain and len(weights) == 8
    assert prepared.signature() == Nist().prepare(reversed(references)).signature()
    assert prepared.signature() != Nist().prepare([["a b", "c"], ["d f"]]).signature()
    assert prepared.name == "nist"


def test_it_must_be_prepared_with_the_references_it_is_given() -> None:
    batch = Batch.from_texts(["a b"], [["a b"]])
    with pytest.raises(InputError, match="prepare"):
        Nist().statistics(batch)
    with pytest.raises(InputError, match="every reference"):
        Nist().prepare([["x"]]).statistics(batch)


def test_a_prepared_metric_can_be_sent_to_another_process() -> None:
    references = [REFERENCES, ["héllo \ud800 wörld"]]
    metric = Nist(tokenize="none").prepare(references)
    batch = Batch.from_texts(["the guide to the party", "wörld \ud800"], references)
    copy = pickle.loads(pickle.dumps(metric))
    np.testing.assert_array_equal(copy.statistics(batch), metric.statistics(batch))
    assert copy.signature() == metric.signature()


def test_options() -> None:
    metric = create("nist:n=4,lowercase=true,tokenize=none")
    assert metric == Nist(n=4, lowercase=True, tokenize="none")
    with pytest.raises(InputError, match="1 to 9"):
        Nist(n=0)
