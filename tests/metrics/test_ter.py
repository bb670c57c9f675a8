"""TER against sacreBLEU 2.6: every option, the search for shifts, the beam, the limits."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.ter import TER

from wellput.core.evalset import Batch
from wellput.core.metric import Floats
from wellput.metrics.error_rates import Ter
from wellput.metrics.registry import create

OPTIONS = ["normalized", "no_punct", "asian_support", "case_sensitive"]
COMBINATIONS: list[dict[str, Any]] = [
    dict(zip(OPTIONS, values, strict=True)) for values in product([False, True], repeat=4)
]

HYPOTHESES = [
    'The cat\'s on-line 1,000.5 (or 3-4) "mats", U.S. &amp; &quot;more&quot;...',
    "On Friday evening there was a traffic accident .",
    "他说：“你好，世界。”カタカナ ひらがな（全角）！ ㈱㍿豈",
    "",
    "  a\tb\u00a0c\u2028d\n-e\nf  ",
    "ΑΣ İstanbul STRASSE ẞ",
    "1.,2 &amp;lt;x&amp;quot; it's 's a..b,,c 5-6-7",
    "!?;:",
]
REFERENCES = [
    ['The cat is online (or 3-4) 1,000.5 mats, U.S. & "more" .', "cats"],
    ["There was a traffic accident on Friday evening."],
    ["他说，你好世界！カタカナ ひらがな", "", "他 说"],
    ["not empty"],
    ["f e d c b a", "a b c d-e f"],
    ["ας i̇stanbul strasse ß"],
    ["1.,2 &amp;lt;x&amp;quot; it 's 's a . . b , , c 5 - 6 - 7"],
    [""],
]


def statistics(
    hypotheses: list[str], references: list[list[str]], metric: Ter | None = None
) -> Floats:
    return (metric or Ter()).statistics(Batch.from_texts(hypotheses, references))


def segment(hypothesis: str, references: list[str]) -> tuple[float, float]:
    """Edits and reference length."""
    edits, length = statistics([hypothesis], [references])[0]
    return edits, length


def authority(hypothesis: str, references: list[str]) -> tuple[float, float]:
    score = TER().sentence_score(hypothesis, references)
    return score.num_edits, score.ref_length


def test_a_shift_counts_once() -> None:
    # "on the mat" goes behind "the cat sat": one shift of three words, nothing else; 1 / 6.
    edits, length = segment("on the mat the cat sat", ["the cat sat on the mat"])
    assert (edits, length) == (1, 6)
    assert Ter().score(np.array([edits, length])) == pytest.approx(100 / 6)


def test_nearest_reference_and_mean_length() -> None:
    # One substitution to the second reference (4 words); the first has 2 words: (2 + 4) / 2 = 3.
    assert segment("a b c d", ["x y", "a b c e"]) == (1, 3)


def test_empty_texts() -> None:
    rows = statistics(["", "", "a b", ""], [[""], ["a b"], [""], ["", "a b"]])
    assert rows.tolist() == [[0, 0], [2, 2], [2, 0], [0, 1]]
    assert Ter().score(rows).tolist() == [0, 100, 100, 0]


@pytest.mark.parametrize("options", COMBINATIONS, ids=str)
def test_every_option_as_sacrebleu(options: dict[str, Any]) -> None:
    metric, peer = Ter(**options), TER(**options)
    rows = statistics(HYPOTHESES, REFERENCES, metric)
    segments = [
        peer.sentence_score(hypothesis, references).score
        for hypothesis, references in zip(HYPOTHESES, REFERENCES, strict=True)
    ]
    assert metric.segment_score(rows) == pytest.approx(segments, abs=1e-9)
    most = max(map(len, REFERENCES))
    streams: Any = [[row[k] if k < len(row) else None for row in REFERENCES] for k in range(most)]
    corpus = peer.corpus_score(HYPOTHESES, streams)
    assert metric.score(rows.sum(axis=0)) == pytest.approx(corpus.score, abs=1e-9)
    fields = str(peer.get_signature()).split("|")
    assert metric.signature().split("|") == fields[1:-1]  # without nrefs and version


@pytest.mark.parametrize("options", COMBINATIONS, ids=str)
@given(
    pieces=st.lists(
        st.sampled_from(
            [*"aB1.,-'&;\" \n\t(/中。ひカ㈱，！", "'s", "&amp;", "&quot;", "&lt;", "\n-"]
        ),
        max_size=20,
    )
)
@settings(max_examples=40, deadline=None)
def test_words_as_sacrebleu(options: dict[str, Any], pieces: list[str]) -> None:
    text = "".join(pieces)
    reference = "a b . 's - 中 &"
    rows = statistics([text, reference], [[reference], [text]], Ter(**options))
    peer = TER(**options)
    for row, (hypothesis, other) in zip(rows, [(text, reference), (reference, text)], strict=True):
        score = peer.sentence_score(hypothesis, [other])
        assert row.tolist() == [score.num_edits, score.ref_length]


words = st.lists(st.sampled_from("abcd"), max_size=30).map(" ".join)


@given(hypothesis=words, references=st.lists(words, min_size=1, max_size=2))
@settings(max_examples=150, deadline=None)
def test_shifts_as_sacrebleu(hypothesis: str, references: list[str]) -> None:
    assert segment(hypothesis, references) == authority(hypothesis, references)


@given(hypothesis=st.text(max_size=30), reference=st.text(max_size=30))
@settings(max_examples=200, deadline=None)
def test_any_text_as_sacrebleu(hypothesis: str, reference: str) -> None:
    assert segment(hypothesis, [reference]) == authority(hypothesis, [reference])


def shuffled_pair(seed: int, size: int, vocabulary: int, extra: int) -> tuple[str, str]:
    """A reference and a hypothesis made from it by moving blocks, changing and adding words."""
    rng = random.Random(seed)
    reference = [str(rng.randrange(vocabulary)) for _ in range(size)]
    hypothesis = list(reference)
    for _ in range(4):
        start, length = rng.randrange(size), rng.randint(1, 12)
        block = hypothesis[start : start + length]
        del hypothesis[start : start + length]
        place = rng.randint(0, len(hypothesis))
        hypothesis[place:place] = block
    for _ in range(size // 10):
        hypothesis[rng.randrange(size)] = str(rng.randrange(vocabulary))
    for _ in range(extra):
        hypothesis.insert(rng.randrange(size), str(rng.randrange(vocabulary)))
    return " ".join(hypothesis), " ".join(reference)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("size", "vocabulary", "extra"),
    [
        (30, 1000, 0),  # one 64-bit word
        (63, 40, 0), (64, 40, 1), (65, 40, 0),  # its edge
        (110, 1000, 0), (128, 1000, 0), (129, 1000, 0),  # two words, and beyond: the beam itself
        (40, 1000, 60), (70, 1000, 90),  # so unlike that the beam cuts
        (40, 3, 0),  # more than 1000 candidates
        (3, 3, 120), (2, 2, 150), (1, 1, 60),  # a steep diagonal
    ],
)  # fmt: skip
def test_long_texts_as_sacrebleu(size: int, vocabulary: int, extra: int) -> None:
    for seed in range(2):
        hypothesis, reference = shuffled_pair(seed, size, vocabulary, extra)
        assert segment(hypothesis, [reference]) == authority(hypothesis, [reference])
        if extra:
            assert segment(reference, [hypothesis]) == authority(reference, [hypothesis])


# Pairs with 999 or 1000 candidates, found by search: one more or less in the limit changes the edits.
@pytest.mark.heavy
@pytest.mark.parametrize(
    ("seed", "size", "vocabulary"), [(1391, 33, 4), (2292, 33, 5), (1412, 33, 4), (469, 28, 4)]
)
def test_limit_of_candidates(seed: int, size: int, vocabulary: int) -> None:
    hypothesis, reference = shuffled_pair(seed, size, vocabulary, 0)
    assert segment(hypothesis, [reference]) == authority(hypothesis, [reference])


@given(text=st.text(max_size=60), others=st.lists(st.text(max_size=20), max_size=2))
def test_identity_is_perfect(text: str, others: list[str]) -> None:
    edits, _ = segment(text, [*others, text])
    assert edits == 0


def test_threads_change_nothing() -> None:
    pairs = [shuffled_pair(seed, 20, 30, 3) for seed in range(300)]
    hypotheses, references = [pair[0] for pair in pairs], [[pair[1]] for pair in pairs]
    one = Ter().statistics(Batch.from_texts(hypotheses, references))
    three = Ter().statistics(Batch.from_texts(hypotheses, references, threads=3))
    np.testing.assert_array_equal(one, three)


def test_scores_of_many_sums_at_once() -> None:
    sums = np.array([[[3.0, 12.0], [0.0, 0.0]], [[5.0, 0.0], [7.0, 3.5]]])
    assert Ter().score(sums).tolist() == [[25.0, 0.0], [100.0, 200.0]]
    assert Ter().components(sums)["reference_length"].tolist() == [[12.0, 0.0], [0.0, 3.5]]


def test_by_name() -> None:
    metric = create("ter:no_punct=true,case_sensitive=true")
    assert metric == Ter(no_punct=True, case_sensitive=True)
    assert metric.higher_is_better is False
    assert metric.signature() == "case:mixed|tok:tercom|norm:no|punct:no|asian:no"
