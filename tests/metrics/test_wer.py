"""WER and CER against jiwer 4: rates, and the split of the errors into kinds."""

from __future__ import annotations

import random

import jiwer
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from wellput.core.evalset import Batch
from wellput.core.metric import Floats
from wellput.metrics.error_rates import Cer, Mer, Wer, Wil, Wip
from wellput.metrics.registry import create


def statistics(
    hypotheses: list[str], references: list[list[str]], metric: Wer | None = None
) -> Floats:
    return (metric or Wer()).statistics(Batch.from_texts(hypotheses, references))


def segment(hypothesis: str, references: list[str]) -> list[float]:
    """Substitutions, insertions, deletions, reference length."""
    row: list[float] = statistics([hypothesis], [references])[0].tolist()
    return row


def authority(hypothesis: str, reference: str) -> list[float]:
    output = jiwer.process_words([reference], [hypothesis])
    length = len(output.references[0])
    return [output.substitutions, output.insertions, output.deletions, length]


def rate(hypothesis: str, references: list[str]) -> float:
    return float(Wer().score(np.array(segment(hypothesis, references))))


def test_by_hand() -> None:
    #       the cat sat  on the mat   "today" is put in, "sat" replaced, "the" left out:
    # today the cat sits on     mat   (1 + 1 + 1) / 6
    rows = statistics(["today the cat sits on mat"], [["the cat sat on the mat"]])
    assert rows.tolist() == [[1, 1, 1, 6]]
    assert Wer().score(rows).tolist() == [0.5]
    components = {name: value.tolist() for name, value in Wer().components(rows).items()}
    assert components == {
        "substitutions": [1], "insertions": [1], "deletions": [1], "hits": [4], "length": [6],
    }  # fmt: skip


def test_lowest_rate_then_first() -> None:
    # 1/2 by a substitution, 2/4 by deletions: the same rate
    assert segment("a b", ["a x", "a b c d"]) == [1, 0, 0, 2]
    assert segment("a b", ["a b c d", "a x"]) == [0, 0, 2, 4]
    assert segment("a b", ["a x", "a b c d", "a b c"]) == [0, 0, 1, 3]


def test_empty_references() -> None:
    hypotheses, references = ["", "a b", "", "a b"], [[""], [""], ["a b"], ["", "a x"]]
    rows = statistics(hypotheses, references)
    assert rows.tolist() == [[0, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 2], [1, 0, 0, 2]]
    np.testing.assert_array_equal(Wer().score(rows), [0, np.nan, 1, 0.5])
    # pooled: (2 + 2 + 1) errors over (2 + 2) words
    assert Wer().score(rows.sum(axis=0)) == 1.25


def test_whitespace_as_jiwer() -> None:
    text = " a\tb \u00a0c\u00a0d  e\u2003\u2003f\n"
    assert jiwer.process_words(["x"], [text]).hypotheses == [["a\tb", "c\u00a0d", "e", "f"]]
    assert segment(text, ["a\tb c\u00a0d e f"]) == [0, 0, 0, 4]
    assert segment(text, ["a b c d e f"]) == authority(text, "a b c d e f")


pieces = st.sampled_from(
    [*"abc ", " ", "\t", "\n", "\u00a0", "\u3000", "\u2019", "é", "中", "\x1c"]
)
texts = st.lists(pieces, max_size=40).map("".join)


@given(hypothesis=st.one_of(texts, st.text()), reference=st.one_of(texts, st.text()))
def test_counts_as_jiwer(hypothesis: str, reference: str) -> None:
    assert segment(hypothesis, [reference]) == authority(hypothesis, reference)


@given(
    hypothesis=st.text("ab", max_size=150).map(" ".join),
    reference=st.text("ab", max_size=150).map(" ".join),
)
def test_long_counts_as_jiwer(hypothesis: str, reference: str) -> None:
    assert segment(hypothesis, [reference]) == authority(hypothesis, reference)


# With these seeds the split of the errors shows whether the pair was divided as rapidfuzz divides it.
@pytest.mark.parametrize(
    ("seed", "size", "vocabulary"),
    [(2500, 2500, 3), (2528, 2500, 5), (3021, 3000, 2), (3035, 3000, 20), (0, 6000, 3)],
)
def test_pairs_too_long_for_a_matrix(seed: int, size: int, vocabulary: int) -> None:
    rng = random.Random(seed)
    reference, hypothesis = (
        " ".join(str(rng.randrange(vocabulary)) for _ in range(size)) for _ in range(2)
    )
    assert segment(hypothesis, [reference]) == authority(hypothesis, reference)


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=5))
def test_pooled_as_jiwer(pairs: list[tuple[str, str]]) -> None:
    hypotheses, references = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    assume(all(reference.strip() for reference in references))
    rows = statistics(hypotheses, [[reference] for reference in references])
    assert Wer().score(rows.sum(axis=0)) == pytest.approx(
        jiwer.wer(references, hypotheses), abs=1e-12
    )


def test_matched_words_by_hand() -> None:
    # 4 hits, 1 substitution, 1 insertion, 1 deletion; 6 words in the reference, 6 in the output
    rows = statistics(["today the cat sits on mat"], [["the cat sat on the mat"]])
    assert Mer().score(rows).tolist() == pytest.approx([3 / 7])
    assert Wip().score(rows).tolist() == pytest.approx([4 / 6 * 4 / 6])
    assert Wil().score(rows).tolist() == pytest.approx([1 - 4 / 6 * 4 / 6])


def test_matched_words_of_empty_texts() -> None:
    rows = statistics(["", "a b", ""], [[""], [""], ["a b"]])
    np.testing.assert_array_equal(Mer().score(rows), [0, 1, 1])
    np.testing.assert_array_equal(Wip().score(rows), [1, np.nan, 0])
    np.testing.assert_array_equal(Wil().score(rows), [0, np.nan, 1])
    assert [create(name).higher_is_better for name in ("mer", "wil", "wip")] == [False, False, True]


@given(pairs=st.lists(st.tuples(texts, texts), min_size=1, max_size=4))
def test_matched_words_as_jiwer(pairs: list[tuple[str, str]]) -> None:
    hypotheses, references = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    assume(all(reference.strip() for reference in references))
    sums = statistics(hypotheses, [[reference] for reference in references]).sum(axis=0)
    output = jiwer.process_words(references, hypotheses)
    assert Mer().score(sums) == pytest.approx(output.mer, abs=1e-12)
    assert Wil().score(sums) == pytest.approx(output.wil, abs=1e-12)
    assert Wip().score(sums) == pytest.approx(output.wip, abs=1e-12)


@given(text=texts, others=st.lists(texts, max_size=2))
def test_identity_is_perfect(text: str, others: list[str]) -> None:
    assert rate(text, [*others, text]) == 0


@given(hypothesis=texts, references=st.lists(texts, min_size=1, max_size=3), more=texts)
def test_one_more_reference_never_hurts(hypothesis: str, references: list[str], more: str) -> None:
    before, after = rate(hypothesis, references), rate(hypothesis, [*references, more])
    assert np.isnan(before) or after <= before


def test_options() -> None:
    metric = create("wer:lowercase=true,tokenize=13a")
    hypothesis, reference = "The CAT, it sat.", "the cat it sat down."
    rows = metric.statistics(Batch.from_texts([hypothesis], [[reference]]))
    expected = authority("the cat , it sat .", "the cat it sat down .")
    assert rows.tolist() == [expected]
    assert metric.signature() == "case:lc|tok:13a"
    assert metric.higher_is_better is False


def test_threads_change_nothing() -> None:
    rng = random.Random(0)
    hypotheses, references = (
        [" ".join(rng.choices("abcde", k=rng.randrange(80))) for _ in range(300)] for _ in range(2)
    )
    lists = [[reference] for reference in references]
    one = Wer().statistics(Batch.from_texts(hypotheses, lists))
    three = Wer().statistics(Batch.from_texts(hypotheses, lists, threads=3))
    np.testing.assert_array_equal(one, three)


characters = st.text(max_size=12)


@given(hypothesis=characters, reference=characters)
@example("ab\u0301 c", "ab\u0301  d\u00a0")
def test_characters_as_jiwer(hypothesis: str, reference: str) -> None:
    assume(reference.strip())
    output = jiwer.process_characters(reference, hypothesis)
    row = Cer().statistics(Batch.from_texts([hypothesis], [[reference]]))[0].tolist()
    length = len(reference.strip())
    assert row == [output.substitutions, output.insertions, output.deletions, length]
    assert float(Cer().score(np.array(row))) == pytest.approx(output.cer, abs=1e-12)


def test_characters_of_a_corpus_are_pooled() -> None:
    outputs, references = ["the mat", "Ünïcode"], ["the cats", "Unicode"]
    rows = Cer().statistics(Batch.from_texts(outputs, [[text] for text in references]))
    assert float(Cer().score(rows.sum(axis=0))) == pytest.approx(jiwer.cer(references, outputs))
    assert create("cer:lowercase=true").signature() == "case:lc"
