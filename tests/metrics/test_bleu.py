"""BLEU against sacreBLEU 2.6.0, for every option, and by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from wellput.core.errors import InputError
from wellput.core.estimates import block_sum
from wellput.core.evalset import Batch
from wellput.metrics.bleu import Bleu
from wellput.metrics.registry import create
from wellput.text.tokenizers import tokenize

if TYPE_CHECKING:
    from collections.abc import Sequence

HYPOTHESES = [
    "The cat sat on the mat.",
    "the the the the the the the",
    "It cost $1,000 (or 3.5% more) in 2020-21.",
    "",
    "Nothing in common",
    "cat",
    "他在30分钟内跑完了10,000米。",
    "Das ist&quot;gut&quot;, nicht <skipped>wahr?",
    "ÉTÉ à Paris… “quoted” ½",
    "a b c d e f g h i j",
]
REFERENCES = [
    ["The cat was sitting on the mat.", "A cat sat on the mat, quietly."],
    ["The cat is on the mat.", "There is a cat on the mat."],
    ["It cost 1,000 dollars (or 3.5 % more) in 2020.", "$1,000 is what it cost."],
    ["Something was said here.", ""],
    ["quite different words", "no overlap whatever"],
    ["cat", "the cat"],
    ["他用30分钟跑了10,000米。", "他跑完10,000米只用了30分钟。"],
    ['Das ist "gut", nicht wahr?', "Das ist gut!"],
    ["été à Paris... “quoted” 1/2", "Summer in Paris"],
    ["a b c d e f g h i j", "j i h g f e d c b a"],
]
ONE = [row[:1] for row in REFERENCES]

texts = st.lists(
    st.sampled_from(
        ["a", "b", "c", "the", "cat", " ", " ", ".", ",", "1", "2-", "É", "中", "\n", "\x85"]
    )
    | st.text(max_size=3),
    max_size=12,
).map("".join)
reference_lists = st.lists(texts, min_size=1, max_size=3)


def streams(references: Sequence[Sequence[str]]) -> Any:
    """sacreBLEU's form: a list per reference set, None where an item has no more of them."""
    most = max(map(len, references))
    return [[row[r] if r < len(row) else None for row in references] for r in range(most)]


def corpus_score(metric: Bleu, hypotheses: Sequence[str], references: Any) -> float:
    statistics = metric.statistics(Batch.from_texts(hypotheses, references))
    return float(metric.score(block_sum(statistics)))


def assert_same(options: dict[str, Any], hypotheses: Sequence[str], references: Any) -> None:
    """Corpus score, its parts, every sentence score and the signature equal sacreBLEU's."""
    metric = Bleu(**options)
    statistics = metric.statistics(Batch.from_texts(hypotheses, references, threads=2))
    peer = BLEU(**options)
    expected = peer.corpus_score(list(hypotheses), streams(references))
    total = block_sum(statistics)
    assert float(metric.score(total)) == pytest.approx(expected.score, abs=1e-9, rel=1e-12)
    parts = {name: float(value) for name, value in metric.components(total).items()}
    precisions = [parts[f"precision_{n}"] for n in range(1, metric.max_ngram_order + 1)]
    assert precisions == pytest.approx(expected.precisions, abs=1e-9)
    assert parts["brevity_penalty"] == pytest.approx(expected.bp, abs=1e-12)
    assert (parts["length"], parts["reference_length"]) == (expected.sys_len, expected.ref_len)
    if expected.ref_len:
        assert parts["length_ratio"] == pytest.approx(expected.ratio)
    signature = peer.get_signature().format().split("|")
    ours = metric.signature().split("|")
    assert [field for field in ours if not field.startswith("ngram:")] == signature[1:-1]
    sentence = BLEU(**{**options, "effective_order": True})
    wanted = [
        sentence.sentence_score(h, r).score for h, r in zip(hypotheses, references, strict=True)
    ]
    assert metric.segment_score(statistics) == pytest.approx(wanted, abs=1e-9, rel=1e-12)


OPTIONS: list[dict[str, Any]] = [
    {},
    {"lowercase": True},
    {"force": True},
    *({"tokenize": name} for name in ("13a", "char", "intl", "none", "zh")),
    *({"trg_lang": name} for name in ("zh", "de")),
    *({"smooth_method": name} for name in ("none", "floor", "add-k", "exp")),
    *({"smooth_method": "floor", "smooth_value": value} for value in (0.0, 0.01, 2.0)),
    *({"smooth_method": "add-k", "smooth_value": value} for value in (0.0, 0.5, 3.0)),
    {"smooth_method": "exp", "smooth_value": 3.0},
    *({"max_ngram_order": order} for order in (1, 2, 3, 5, 12)),
    *(
        {"effective_order": True, "smooth_method": name}
        for name in ("none", "floor", "add-k", "exp")
    ),
    {"effective_order": True, "max_ngram_order": 12, "smooth_method": "add-k", "smooth_value": 0.0},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("references", [ONE, REFERENCES], ids=["one", "two"])
def test_equal_to_sacrebleu(options: dict[str, Any], references: list[list[str]]) -> None:
    assert_same(options, HYPOTHESES, references)


@pytest.mark.parametrize("smooth_method", ["none", "floor", "add-k", "exp"])
@pytest.mark.parametrize("effective_order", [True, False])
@given(
    rows=st.lists(st.tuples(texts, reference_lists), min_size=1, max_size=4),
    tokenizer=st.sampled_from(["13a", "char", "zh", "none"]),
    order=st.integers(1, 6),
)
def test_equal_to_sacrebleu_on_any_text(
    smooth_method: str,
    effective_order: bool,
    rows: list[tuple[str, list[str]]],
    tokenizer: str,
    order: int,
) -> None:
    options = {
        "smooth_method": smooth_method,
        "effective_order": effective_order,
        "tokenize": tokenizer,
        "max_ngram_order": order,
    }
    assert_same(options, [row[0] for row in rows], [row[1] for row in rows])


def test_by_hand() -> None:
    # Papineni et al.: the hypothesis has "the" 7 times, the reference twice ("The" is lowered):
    # precision 2/7. None of the 6 bigrams "the the" matches, nor of the 5 trigrams and 4 4-grams:
    # exp smoothing gives them 1/2, 1/4 and 1/8 of a match. Lengths 7 and 7 ("mat" and "." are two
    # tokens): no penalty.
    metric = Bleu(lowercase=True)
    score = corpus_score(metric, ["the the the the the the the"], [["The cat is on the mat."]])
    assert score == pytest.approx(100 * (2 / 7 * 0.5 / 6 * 0.25 / 5 * 0.125 / 4) ** 0.25)


def test_the_reference_length_by_hand() -> None:
    # 4 tokens; references of 2 and 6 are equally close, the shorter counts; one of 3 is closer.
    batch = Batch.from_texts(["a b c d"] * 2, [["a b c d e f", "a b"], ["a b c", "a b", "a"]])
    assert Bleu().statistics(batch)[:, 1].tolist() == [2, 3]
    shortest = Bleu(ref_length="shortest")
    assert shortest.statistics(batch)[:, 1].tolist() == [2, 1]
    assert shortest.signature() == "case:mixed|eff:no|tok:13a|smooth:exp|reflen:shortest"
    # 1 - 6/4: the penalty of the farther reference alone.
    alone = Bleu().statistics(Batch.from_texts(["a b c d"], [["a b c d e f"]]))
    assert Bleu().components(alone)["brevity_penalty"] == pytest.approx(math.exp(-0.5))


def test_an_ngram_counts_as_often_as_in_the_reference_that_has_it_most() -> None:
    batch = Batch.from_texts(["x x x x y"], [["x x", "y x x x", "z y"]])
    assert Bleu(max_ngram_order=2).statistics(batch).tolist() == [[5, 4, 4, 2, 5, 4]]


def test_long_texts_are_counted_by_hash_with_the_same_result() -> None:
    rng = np.random.default_rng(7)
    words = rng.integers(0, 900, size=(2, 4000))
    hypothesis, reference = (" ".join(f"w{word}" for word in row) for row in words)
    assert_same(
        {}, [hypothesis, reference[:5000] + hypothesis], [[reference], [reference, hypothesis]]
    )


def test_many_distinct_and_long_tokens() -> None:
    # Tokens that share their first and last eight bytes and their length, beyond sixteen.
    tokens = [f"aaaaaaaa{number:05d}zzzzzzzz" for number in range(3000)]
    assert_same({"tokenize": "none"}, [" ".join(tokens)], [[" ".join(tokens[::-1] + tokens[:9])]])


@given(text=texts)
def test_identity_scores_100(text: str) -> None:
    score = Bleu().segment_score(Bleu().statistics(Batch.from_texts([text], [[text]])))[0]
    assert score == pytest.approx(100.0 if tokenize(text) else 0.0)


@given(text=texts, references=reference_lists)
def test_a_corpus_of_one_is_its_segment(text: str, references: list[str]) -> None:
    metric = Bleu(effective_order=True)
    statistics = metric.statistics(Batch.from_texts([text], [references]))
    assert metric.score(statistics.sum(axis=0)) == metric.segment_score(statistics)[0]


def test_statistics_add_and_rows_do_not_depend_on_each_other_or_on_threads() -> None:
    hypotheses, references = HYPOTHESES * 50, REFERENCES * 50
    together = Bleu().statistics(Batch.from_texts(hypotheses, references))
    threads = Bleu().statistics(Batch.from_texts(hypotheses, references, threads=3))
    assert np.array_equal(together, threads)
    for row, (hypothesis, item) in enumerate(zip(HYPOTHESES, REFERENCES, strict=True)):
        alone = Bleu().statistics(Batch.from_texts([hypothesis], [item]))
        assert np.array_equal(alone[0], together[row + 10 * len(HYPOTHESES)])
    halves = [together[:170].sum(axis=0), together[170:].sum(axis=0)]
    assert np.array_equal(sum(halves), together.sum(axis=0))


def test_scores_of_many_sums_at_once() -> None:
    metric = Bleu(smooth_method="floor")
    statistics = metric.statistics(Batch.from_texts(HYPOTHESES, REFERENCES))
    rng = np.random.default_rng(1)
    sums = rng.multinomial(10, np.full(10, 0.1), size=(4, 25)) @ statistics
    scores = metric.score(sums)
    assert scores.shape == (4, 25)
    assert scores.ravel().tolist() == [float(metric.score(row)) for row in sums.reshape(100, -1)]


def test_nothing_scores_0_as_in_sacrebleu() -> None:
    for hypothesis, reference in [("", "a b"), ("a b", ""), ("", "")]:
        assert corpus_score(Bleu(), [hypothesis], [[reference]]) == 0.0
        assert BLEU().corpus_score([hypothesis], [[reference]]).score == 0.0


def test_text_that_looks_tokenized_is_warned_about_unless_forced() -> None:
    batch = Batch.from_texts(["It is so ."] * 100, [["It is so."]] * 100)
    with pytest.warns(UserWarning, match="looks tokenized"):
        Bleu().statistics(batch)
    Bleu(force=True).statistics(batch)
    Bleu().statistics(Batch.from_texts(["It is so ."] * 99, [["It is so."]] * 99))


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ("", "bleu"),
        (":lowercase=true,tokenize=zh", "bleu:lowercase=true,tokenize=zh"),
        (":smooth_method=add-k,smooth_value=2", "bleu:smooth_method=add-k,smooth_value=2.0"),
        (":ref_length=shortest", "bleu:ref_length=shortest"),
        (":tokenize=none", "bleu:tokenize=none"),
    ],
)
def test_made_by_name(options: str, name: str) -> None:
    assert create(f"bleu{options}").name == name


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(InputError, match="max_ngram_order must be from 1 to 1000"):
        Bleu(max_ngram_order=0)
    with pytest.raises(InputError, match="smooth_value must not be negative"):
        replace(Bleu(), smooth_value=-1.0)
    with pytest.raises(InputError, match="smooth_method"):
        create("bleu:smooth_method=ad-k")


def test_rows_without_a_reference_are_refused() -> None:
    with pytest.raises(ValueError, match="row 1 has no reference"):
        Bleu().statistics(Batch.from_texts(["a", "b"], [["a"], []]))
    with pytest.raises(ValueError, match="2 hypotheses but 1"):
        Bleu().statistics(Batch.from_texts(["a", "b"], [["a"]]))
