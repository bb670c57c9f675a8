from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from wellput.core.metric import Floats
from wellput.language.paraphrase.candidates import Replacement
from wellput.language.paraphrase.context_filter import similarities
from wellput.language.paraphrase.filters import Query


class Letters:
    """A word's vector counts its letters a and b; every word also sees the sentence's first."""

    def encode(self, sentences: Sequence[Sequence[str]]) -> list[Floats]:
        return [
            np.array(
                [[word.count("a"), word.count("b"), words[0].count("b")] for word in words], float
            )
            for words in sentences
        ]


def test_similarities_by_hand() -> None:
    # "a b" with "b" for "a": [1 0 0], [0 1 0] becomes [0 1 1], [0 1 1].
    # The words: cos([1 0 0], [0 1 1]) = 0. The sentences: cos([.5 .5 0], [0 1 1]) = .5 / (√.5 · √2).
    # The other word: cos([0 1 0], [0 1 1]) = .7071.
    query = Query(("a", "b"), 0, 1, Replacement("b", "table", 1.0))
    assert similarities(Letters(), [query])[0] == pytest.approx([0, 0.5, 0.70711], abs=1e-5)


def test_a_phrase_and_a_sentence_of_one_word() -> None:
    query = Query(("ab",), 0, 1, Replacement("a b", "table", 1.0))
    token, sentence, others = similarities(Letters(), [query])[0]
    # [1 1 1] against the mean of [1 0 0] and [0 1 0]: 1 / (1.73205 · .70711) = .8165.
    assert token == sentence == pytest.approx(0.8165, abs=1e-4)
    assert others == 1
