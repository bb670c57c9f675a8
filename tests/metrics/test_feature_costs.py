"""What costs a score that is a weighted sum of features most."""

from __future__ import annotations

import numpy as np
import pytest

from wellput.language.models.english_text import SentenceFeatures
from wellput.metrics.fluency import costs_in_words

ABOUT = {"a": "the first", "b": "the second", "c": "the third"}
ROWS = np.array([[0.5, -2.0, 0.0], [0.0, 0.0, 0.0]])
FOUND = SentenceFeatures(["badly put", "well put"], ROWS, [[0], [1], [], [1, 0, 1]])
SCORES = np.array([-2.0, 1.0])
CONTRIBUTIONS = np.array([[-0.2, -1.5, -0.05], [0.3, 0.0, -0.1]])


def test_the_greatest_costs_come_first_and_small_ones_are_left_out() -> None:
    worse, fine, empty, several = costs_in_words(FOUND, SCORES, ABOUT, CONTRIBUTIONS, min_cost=0.1)
    assert worse.splitlines() == [
        "  badly put",
        "  loses 1.50 by b −2.00: the second",
        "  loses 0.20 by a +0.50: the first",
    ]
    assert fine == ""
    assert empty == "  (no words)"
    assert several.splitlines()[0] == "  worst sentence, 2 of 3: badly put"
    assert several.splitlines()[1:] == worse.splitlines()[1:]


def test_words_are_named_that_lower_a_feature() -> None:
    worse, *_ = costs_in_words(
        FOUND, SCORES, ABOUT, CONTRIBUTIONS, min_cost=0.1, offending=lambda _: {"b": ["badly"]}
    )
    assert worse.splitlines()[1:] == [
        "  loses 1.50 by b −2.00 (badly): the second",
        "  loses 0.20 by a +0.50: the first",
    ]


def test_one_bad_sentence_shows() -> None:
    # Halfway between the mean and the worst: of 1, −2, 1 the mean is 0 and the worst −2.
    assert FOUND.scores_of_texts(SCORES)[[0, 1, 3]] == pytest.approx([-2.0, 1.0, -1.0])
    assert np.isnan(FOUND.scores_of_texts(SCORES)[2])
    assert FOUND.worst(SCORES) == [0, 0, None, 1]
