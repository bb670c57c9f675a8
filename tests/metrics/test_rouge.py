"""ROUGE against rouge-score 0.1.2."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from wellput.core.evalset import Batch
from wellput.core.metric import Floats
from wellput.metrics.registry import create
from wellput.metrics.rouge import Rouge1, Rouge2, RougeL, RougeLsum

AUTHORITY = RougeScorer(["rougeL"], use_stemmer=False)


def statistics(hypotheses: list[str], references: list[list[str]]) -> Floats:
    return RougeL().statistics(Batch.from_texts(hypotheses, references))


def segment(hypothesis: str, references: list[str]) -> list[float]:
    """F, precision, recall."""
    row: list[float] = statistics([hypothesis], [references])[0, :3].tolist()
    return row


def authority(hypothesis: str, references: list[str]) -> list[float]:
    score = AUTHORITY.score_multi(references, hypothesis)["rougeL"]
    return [score.fmeasure, score.precision, score.recall]


def test_by_hand() -> None:
    # "the cat sat" is common: precision 3/4, recall 3/5, F = 2 · 3 / (4 + 5) = 2/3
    hypothesis, reference = "The cat sat here.", "the black cat sat down"
    assert segment(hypothesis, [reference]) == pytest.approx([2 / 3, 3 / 4, 3 / 5])


def test_corpus_is_the_mean() -> None:
    rows = statistics(["a b", "", "c"], [["a b"], ["a"], ["d"]])
    assert RougeL().score(rows).tolist() == [1, 0, 0]
    assert RougeL().score(rows.sum(axis=0)) == pytest.approx(1 / 3)
    assert RougeL().components(rows.sum(axis=0))["recall"] == pytest.approx(1 / 3)


def test_nothing_to_compare_with_is_undefined() -> None:
    rows = statistics(["a"], [[]])
    assert rows.tolist() == [[0, 0, 0, 0]]
    assert np.isnan(RougeL().score(rows)).all()


texts = st.one_of(
    st.text(),
    st.text("ab ", max_size=200),
    # what lower-casing turns into ASCII: the Kelvin sign and the dotted I
    st.text("Kk\u212aİi1_-é中 \n", max_size=30),
    st.text("ab", max_size=200).map(" ".join),
)


@given(hypothesis=texts, references=st.lists(texts, min_size=1, max_size=3))
def test_as_rouge_score(hypothesis: str, references: list[str]) -> None:
    expected = authority(hypothesis, references)
    assert segment(hypothesis, references) == pytest.approx(expected, abs=1e-12)


@given(hypothesis=texts, references=st.lists(texts, min_size=1, max_size=2), more=texts)
def test_one_more_reference_never_hurts(hypothesis: str, references: list[str], more: str) -> None:
    assert segment(hypothesis, [*references, more])[0] >= segment(hypothesis, references)[0]


@given(text=texts, others=st.lists(texts, max_size=2))
def test_identity_is_perfect(text: str, others: list[str]) -> None:
    has_words = any(character.isascii() and character.isalnum() for character in text.lower())
    assert segment(text, [*others, text])[0] == (1 if has_words else 0)


def test_threads_change_nothing() -> None:
    hypotheses = [f"{n % 7} {n % 5} {n % 3}" for n in range(300)]
    references = [[f"{n % 3} {n % 7} {n % 5}"] for n in range(300)]
    one = RougeL().statistics(Batch.from_texts(hypotheses, references))
    three = RougeL().statistics(Batch.from_texts(hypotheses, references, threads=3))
    np.testing.assert_array_equal(one, three)


def test_by_name() -> None:
    metric = create("rouge-l")
    assert metric == RougeL()
    assert metric.signature() == "case:lc|tok:rouge|stem:no"
    assert create("rougeLsum:stem=true").signature() == "case:lc|tok:rouge|stem:porter"
    assert [create(name) for name in ("ROUGE-1", "rouge_2")] == [Rouge1(), Rouge2()]


KINDS: dict[str, type[Rouge1 | Rouge2 | RougeL | RougeLsum]] = {
    "rouge1": Rouge1,
    "rouge2": Rouge2,
    "rougeL": RougeL,
    "rougeLsum": RougeLsum,
}
words = st.sampled_from(
    [
        "the",
        "ferries",
        "ferry",
        "leaving",
        "leaves",
        "leave",
        "relational",
        "rates",
        "a",
        "b",
        "é",
        "中",
    ]
)
lines = st.lists(st.lists(words, max_size=8).map(" ".join), max_size=4).map("\n".join)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stem", [False, True])
@given(hypothesis=st.one_of(texts, lines), references=st.lists(lines, min_size=1, max_size=3))
def test_every_kind_as_rouge_score(
    kind: str, stem: bool, hypothesis: str, references: list[str]
) -> None:
    score = RougeScorer([kind], use_stemmer=stem).score_multi(references, hypothesis)[kind]
    batch = Batch.from_texts([hypothesis], [references])
    row = KINDS[kind](stem=stem).statistics(batch)[0, :3].tolist()
    assert row == pytest.approx([score.fmeasure, score.precision, score.recall], abs=1e-12)
