"""chrF against sacreBLEU 2.6.0, for every option, and by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.chrf import CHRF

from wellput.core.errors import InputError
from wellput.core.estimates import block_sum
from wellput.core.evalset import Batch
from wellput.metrics.chrf import Chrf
from wellput.metrics.registry import create

if TYPE_CHECKING:
    from collections.abc import Sequence

HYPOTHESES = [
    "The cat sat on the mat.",
    "It cost (1,000) dollars.",
    "",
    "zzz",
    "cat",
    "他在30分钟内跑完了10,000米。",
    "ÉTÉ à\u3000Paris… “quoted” ½ 😀\x85end",
    "ab",
    "!? ... a. (hi)",
]
REFERENCES = [
    ["The cat was sitting on the mat.", "A cat sat on the mat, quietly."],
    ["$1,000 is what it cost.", "It cost 1,000 dollars (or more)."],
    ["Something was said here.", ""],
    ["quite different words", "no overlap whatever"],
    ["the cat", "cat"],
    ["他用30分钟跑了10,000米。", "他跑完10,000米只用了30分钟。"],
    ["été à Paris... “quoted” 1/2", "😀"],
    ["", "a b"],
    ["? hi! (a)", "..."],
]
ONE = [row[:1] for row in REFERENCES]

texts = st.lists(
    st.sampled_from(
        ["a", "b", "ab", "cat", "É", "中", "😀", "\ud800", " ", " ", "\u3000", ".", "(", "!"]
    )
    | st.text(max_size=3),
    max_size=12,
).map("".join)
reference_lists = st.lists(texts, min_size=1, max_size=3)


def streams(references: Sequence[Sequence[str]]) -> Any:
    """sacreBLEU's form: a list per reference set, None where an item has no more of them."""
    most = max(map(len, references))
    return [[row[r] if r < len(row) else None for row in references] for r in range(most)]


def assert_same(options: dict[str, Any], hypotheses: Sequence[str], references: Any) -> None:
    """Statistics, corpus score, every sentence score and the signature equal sacreBLEU's."""
    metric = Chrf(**options)
    statistics = metric.statistics(Batch.from_texts(hypotheses, references, threads=2))
    peer = CHRF(**options)
    columns = streams(references)
    assert statistics.tolist() == peer._extract_corpus_statistics(list(hypotheses), columns)
    expected = peer.corpus_score(list(hypotheses), columns)
    score = metric.score(block_sum(statistics))
    assert float(score) == pytest.approx(expected.score, abs=1e-9, rel=1e-12)
    ours = [field for field in metric.signature().split("|") if not field.startswith("beta:")]
    assert ours == peer.get_signature().format().split("|")[1:-1]
    wanted = [peer.sentence_score(h, r).score for h, r in zip(hypotheses, references, strict=True)]
    assert metric.segment_score(statistics) == pytest.approx(wanted, abs=1e-9, rel=1e-12)


OPTIONS: list[dict[str, Any]] = [
    {},
    *({"char_order": order} for order in (1, 2, 5, 9)),
    *({"word_order": order} for order in (1, 2, 4)),
    {"char_order": 0, "word_order": 2},
    *({"beta": beta} for beta in (0, 1, 3, 0.5)),
    {"lowercase": True},
    {"whitespace": True},
    {"eps_smoothing": True},
    {"eps_smoothing": True, "beta": 0},
    {"eps_smoothing": True, "word_order": 2, "whitespace": True, "lowercase": True, "beta": 3},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("references", [ONE, REFERENCES], ids=["one", "two"])
def test_equal_to_sacrebleu(options: dict[str, Any], references: list[list[str]]) -> None:
    assert_same(options, HYPOTHESES, references)


@given(
    rows=st.lists(st.tuples(texts, reference_lists), min_size=1, max_size=4),
    options=st.fixed_dictionaries(
        {
            "char_order": st.integers(1, 7),
            "word_order": st.integers(0, 3),
            "beta": st.sampled_from([1, 2, 3]),
            "lowercase": st.booleans(),
            "whitespace": st.booleans(),
            "eps_smoothing": st.booleans(),
        }
    ),
)
def test_equal_to_sacrebleu_on_any_text(
    rows: list[tuple[str, list[str]]], options: dict[str, Any]
) -> None:
    assert_same(options, [row[0] for row in rows], [row[1] for row in rows])


def test_by_hand() -> None:
    # "ab a" has the characters a b a, "abc" a b c. Characters: 2 of 3 match either way. Bigrams:
    # ab of (ab, ba) and (ab, bc), 1 of 2. Precision and recall (2/3 + 1/2) / 2 = 7/12, so is F.
    metric = Chrf(char_order=2)
    statistics = metric.statistics(Batch.from_texts(["ab a"], [["abc"]]))
    assert statistics.tolist() == [[3, 3, 2, 2, 2, 1]]
    assert metric.score(statistics)[0] == pytest.approx(700 / 12)
    parts = {name: float(value[0]) for name, value in metric.components(statistics).items()}
    assert parts == pytest.approx(
        {"precision": 700 / 12, "recall": 700 / 12, "length": 3, "reference_length": 3}
    )


def test_words_lose_one_punctuation_mark_the_last_before_the_first() -> None:
    # "(hi)" gives "(hi" and ")"; "(hi" gives "(" and "hi"; "." stays: no word in common but ")".
    metric = Chrf(char_order=0, word_order=1)
    batch = Batch.from_texts(["(hi) ."], [["(hi )"]])
    assert metric.statistics(batch).tolist() == [[3, 3, 1]]


def test_the_best_reference_counts_and_the_first_of_equals() -> None:
    batch = Batch.from_texts(["ab"] * 2, [["xx", "ab"], ["abxx", "xxab"]])
    # One character order: of the second item's references both have 2 of 4 characters right.
    assert Chrf(char_order=1).statistics(batch).tolist() == [[2, 2, 2], [2, 4, 2]]


def test_long_texts_are_counted_by_hash_with_the_same_result() -> None:
    rng = np.random.default_rng(7)
    hypothesis, reference = (
        "".join(map(chr, row)) for row in rng.integers(0x4E00, 0x5400, size=(2, 3000))
    )
    both = reference[:2000] + hypothesis[:2000]
    assert_same({"word_order": 1}, [hypothesis, both], [[reference], [reference, hypothesis]])


@given(text=texts)
def test_identity_scores_100(text: str) -> None:
    for metric in (Chrf(), Chrf(word_order=2, whitespace=True)):
        score = metric.score(metric.statistics(Batch.from_texts([text], [[text]])))[0]
        assert score == pytest.approx(
            100.0 if text.split() or (metric.whitespace and text) else 0.0
        )


@given(text=texts, references=reference_lists, another=texts)
def test_one_more_reference_never_lowers_a_segment(
    text: str, references: list[str], another: str
) -> None:
    batch = Batch.from_texts([text, text], [references, [*references, another]])
    fewer, more = Chrf().score(Chrf().statistics(batch))
    assert more >= fewer - 1e-12


@given(text=texts, references=reference_lists)
def test_a_corpus_of_one_is_its_segment(text: str, references: list[str]) -> None:
    statistics = Chrf().statistics(Batch.from_texts([text], [references]))
    assert Chrf().score(statistics.sum(axis=0)) == pytest.approx(
        Chrf().segment_score(statistics)[0]
    )


def test_statistics_do_not_depend_on_other_rows_or_on_threads() -> None:
    metric = Chrf(word_order=2)
    hypotheses, references = HYPOTHESES * 50, REFERENCES * 50
    together = metric.statistics(Batch.from_texts(hypotheses, references))
    threads = metric.statistics(Batch.from_texts(hypotheses, references, threads=3))
    assert np.array_equal(together, threads)
    for row, (hypothesis, item) in enumerate(zip(HYPOTHESES, REFERENCES, strict=True)):
        alone = metric.statistics(Batch.from_texts([hypothesis], [item]))
        assert np.array_equal(alone[0], together[row + 10 * len(HYPOTHESES)])


@pytest.mark.parametrize("eps_smoothing", [True, False])
def test_scores_of_many_sums_at_once(eps_smoothing: bool) -> None:
    metric = Chrf(eps_smoothing=eps_smoothing)
    statistics = metric.statistics(Batch.from_texts(HYPOTHESES, REFERENCES))
    rng = np.random.default_rng(1)
    sums = rng.multinomial(9, np.full(9, 1 / 9), size=(4, 25)) @ statistics
    scores = metric.score(sums)
    assert scores.shape == (4, 25)
    assert scores.ravel() == pytest.approx(
        [float(metric.score(row)) for row in sums.reshape(100, -1)]
    )


def test_made_by_name() -> None:
    metric = create("chrf:word_order=2,beta=3")
    assert metric == Chrf(word_order=2, beta=3)
    assert metric.name == "chrf:word_order=2,beta=3"
    assert metric.signature() == "case:mixed|eff:yes|nc:6|nw:2|space:no|beta:3"


def test_options_out_of_range_are_refused() -> None:
    for char_order, word_order in [(0, 0), (-1, 2), (6, -1)]:
        with pytest.raises(InputError, match="char_order and word_order"):
            Chrf(char_order=char_order, word_order=word_order)
    with pytest.raises(InputError, match="beta must be from 0"):
        Chrf(beta=-1)


def test_rows_without_a_reference_are_refused() -> None:
    with pytest.raises(ValueError, match="row 0 has no reference"):
        Chrf().statistics(Batch.from_texts(["a"], [[]]))


@pytest.mark.parametrize("beta", ["1e308", "1e7", "-1", "nan", "inf"])
def test_a_weight_of_recall_beyond_all_sense_is_refused(beta: str) -> None:
    with pytest.raises(InputError, match=r"beta must be from 0 to 1,000,000"):
        create(f"chrf:beta={beta}")
