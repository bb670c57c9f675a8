"""METEOR against NLTK 3.10."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.meteor_score import align_words, single_meteor_score

from tests.programs import needs
from wellput.core.errors import InputError
from wellput.core.evalset import Batch
from wellput.metrics.base import lowered
from wellput.metrics.meteor import Meteor, align, count_chunks
from wellput.metrics.registry import create

SYNSETS = [{"car", "auto"}, {"auto", "machine"}, {"stop", "halt"}, {"leave", "depart"}]
WORDS = [
    "the", "The", "car", "cars", "auto", "machine", "stop", "stops", "halt", "leave", "leaves",
    "leaving", "depart",
]  # fmt: skip


class SmallWordNet:
    """As much of NLTK's WordNet as its METEOR asks for."""

    def synsets(self, word: str) -> list[Any]:
        return [
            SimpleNamespace(lemmas=lambda synset=synset: [self.lemma(name) for name in synset])
            for synset in SYNSETS
            if word in synset
        ]

    @staticmethod
    def lemma(name: str) -> Any:
        return SimpleNamespace(name=lambda: name)


def synonyms(word: str) -> frozenset[str]:
    return frozenset().union(*(synset for synset in SYNSETS if word in synset))


texts = st.lists(st.sampled_from(WORDS), max_size=9)


@given(hypothesis=texts, reference=texts)
def test_alignment_as_nltk(hypothesis: list[str], reference: list[str]) -> None:
    expected, _, _ = align_words(hypothesis, reference, wordnet=SmallWordNet())
    assert align(lowered(hypothesis), lowered(reference), synonyms) == expected


@given(hypothesis=texts, reference=texts)
def test_score_as_nltk(hypothesis: list[str], reference: list[str]) -> None:
    expected = single_meteor_score(reference, hypothesis, wordnet=SmallWordNet())
    score = Meteor()._score(lowered(hypothesis), lowered(reference), synonyms)
    assert score == pytest.approx(expected, abs=1e-12)


def test_by_hand() -> None:
    # "the car" and "stops" match in two chunks: P = 3/3, R = 3/4, F = .75 / (.9 + .1 · .75) = .7692,
    # penalty = .5 · (2/3)³ = .1481
    score = Meteor()._score(["the", "car", "stops"], ["stops", "now", "the", "car"], synonyms)
    assert score == pytest.approx((1 - 0.5 * (2 / 3) ** 3) * 0.75 / 0.975)
    assert count_chunks([(0, 2), (1, 3), (2, 0)]) == 2


@needs("WordNet")
def test_with_wordnet() -> None:
    # meteor_score's own example in NLTK's documentation, with WordNet 3.0: 0.6944
    hypothesis = (
        "It is a guide to action which ensures that the military always obeys the commands of "
        "the party"
    )
    reference = (
        "It is a guide to action that ensures that the military will forever heed Party commands"
    )
    metric = create("meteor")
    rows = metric.statistics(
        Batch.from_texts([hypothesis, "cats"], [[reference], ["nothing", "cat"]])
    )
    first, second = metric.score(rows).tolist()
    assert first == pytest.approx(0.6944, abs=5e-5)
    assert second == pytest.approx(0.5)  # one match, one chunk: 1 − .5
    assert "wordnet:" in metric.signature()


def test_options_are_checked() -> None:
    with pytest.raises(InputError, match="alpha must be between 0 and 1"):
        Meteor(alpha=2)
