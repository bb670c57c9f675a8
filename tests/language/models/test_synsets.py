"""Synsets by name."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from wellput.core.errors import InputError
from wellput.language.models import wordnet
from wellput.language.models.wordnet import Synsets, WordNet
from wellput.language.models.wordnet_files import Category, Sense


class Cars:
    """A lexicon of one word with two senses."""

    name = "the test's lexicon"

    def __contains__(self, entry: tuple[str, Category]) -> bool:
        return entry == ("car", "noun")

    def senses(self, lemma: str, category: Category) -> list[Sense]:
        if (lemma, category) != ("car", "noun"):
            return []
        return [
            Sense(lemma, category, "1", 1, None, ("auto", "car", "motor vehicle")),
            Sense(lemma, category, "2", 2, None, ("railway car",)),
        ]

    def lemmas(self, category: Category) -> list[str]:
        return ["car"] if category == "noun" else []

    def exceptions(self, category: Category) -> Mapping[str, tuple[str, ...]]:
        return {}


@pytest.fixture
def members(monkeypatch: pytest.MonkeyPatch) -> Synsets:
    monkeypatch.setattr(wordnet, "open_wordnet", lambda path: WordNet(Cars()))
    return Synsets()


def test_members_of_one_word_with_the_named_one_first(members: Synsets) -> None:
    assert members("car.n.01") == ["car", "auto"]
    assert members("car.n.2") == ["car"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("car", "is not the name of a synset"),
        ("car.n.03", r"There is no car\.n\.03: .* has 2 senses of car\."),
        ("car.v.01", "has 0 senses"),
    ],
)
def test_what_is_no_synset_is_refused(members: Synsets, name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        members(name)
