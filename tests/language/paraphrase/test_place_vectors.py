from __future__ import annotations

import numpy as np
import pytest

from wellput.language.paraphrase.candidates import Replacement
from wellput.language.paraphrase.corpus_index import index_corpus
from wellput.language.paraphrase.filters import Query
from wellput.language.paraphrase.place_vectors import (
    NEIGHBOR_PLACES,
    PlaceVectors,
    train_place_vectors,
)


def query(words: str, first: int, replacement: str) -> Query:
    return Query(tuple(words.split()), first, first + 1, Replacement(replacement, "table", 1.0))


def by_hand() -> PlaceVectors:
    """tea = [2, 0] · .5, coffee = [3, 4] · 1; neighbors "hot" and "cup" at each of the four places:
    only "hot" one before (row 2) = [1, 1] · 2 and "cup" one after (row 5) = [0, 1] · 1 are not zero."""
    neighbors = np.zeros((len(NEIGHBOR_PLACES) * 2, 2), np.int8)
    neighbors[2], neighbors[5] = [1, 1], [0, 1]
    steps = np.ones(len(neighbors), np.float32)
    steps[2] = 2
    return PlaceVectors(
        ["tea", "coffee"],
        ["hot", "cup"],
        np.array([[2, 0], [3, 4]], np.int8),
        np.array([0.5, 1], np.float32),
        neighbors,
        steps,
    )


def test_features_by_hand() -> None:
    # "hot tea cup" with coffee for tea: the neighbors add up to [2, 2] + [0, 1] = [2, 3].
    # coffee: 3 · 2 + 4 · 3 = 18; tea: 1 · 2 = 2; the cosine of [3, 4] and [1, 0] is 3/5.
    assert by_hand().features([query("hot tea cup", 1, "coffee")])[0] == pytest.approx(
        [18, 16, 0.6]
    )
    # "hot" two before is another row, of zeros; what stands beyond the sentence adds nothing.
    assert by_hand().features([query("hot the tea", 2, "coffee")])[0] == pytest.approx([0, 0, 0.6])


def test_unknown_words_are_not_known() -> None:
    fit, advantage, cosine = by_hand().features([query("hot brew", 1, "coffee")])[0]
    assert fit == 14
    assert np.isnan([advantage, cosine]).all()
    assert np.isnan(by_hand().features([query("hot tea", 1, "black coffee")])).all()
    assert by_hand().features([]).shape == (0, 3)


TEXT = ["we drink hot tea now", "we drink hot coffee now", "they throw a stone there"] * 4


def test_words_in_the_same_places_are_alike_and_fit_there() -> None:
    vectors = train_place_vectors(index_corpus([TEXT]), vocabulary=20, dimensions=4)
    queries = [
        query("we drink hot tea now", 3, "coffee"),
        query("we drink hot tea now", 3, "stone"),
    ]
    coffee, stone = vectors.features(queries)
    assert (coffee > stone).all()
    assert coffee[2] == pytest.approx(1, abs=0.02)
    assert coffee[1] == pytest.approx(0, abs=0.1)


def test_neighbors_over_the_end_of_a_sentence_do_not_count() -> None:
    def fit(text: list[str]) -> float:
        vectors = train_place_vectors(index_corpus([text]), vocabulary=20, dimensions=3)
        return float(vectors.features([query("hot tea", 1, "tea")])[0, 0])

    apart = ["it is hot", "tea is it"] * 4
    together = ["it is hot tea", "tea is it"] * 4
    assert fit(apart) == pytest.approx(0, abs=0.2)
    assert fit(together) > fit(apart) + 0.5
