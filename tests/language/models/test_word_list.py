"""Words known, derived, misspelled: each case by hand."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from wellput.language.models.word_list import WordList

WORDS = WordList.of(
    {
        "lock": 5,
        "Lock": 1,
        "people": 9,
        "study": 2,
        "stop": 4,
        "English": 8,
        "I": 90,
        "i": 1,
        "3d": 7,
    }
)


@pytest.mark.parametrize(
    ("word", "is_known"),
    [
        ("lock", True),
        ("Lock", True),
        ("LOCK", True),
        ("locks", True),
        ("unlock", True),
        ("studies", True),  # -ies for -y
        ("stopped", True),  # the consonant doubled
        ("stop-lock", True),
        ("stop-lokc", False),
        ("peple", False),
        ("English", True),
        ("ENGLISH", True),
        ("english", False),  # never seen in lower case
        ("I", True),
        ("i", False),  # 1 of 91 is less than one in twenty
        ("1,000", True),  # not a matter of spelling
        ("'s", True),
        ("s", False),
    ],
)
def test_whether_a_word_is_known(word: str, is_known: bool) -> None:
    assert WORDS.is_known(word) is is_known


@pytest.mark.parametrize(
    ("word", "is_near_miss"),
    [
        ("peple", True),  # a letter short
        ("peoople", True),  # one too many
        ("peaple", True),  # another one
        ("pepole", True),  # two exchanged
        ("pople", True),
        ("ppl", False),  # far off
        ("stuy", False),  # "study" was seen twice only: not common
        ("stp", False),  # three letters are near everything
    ],
)
def test_whether_a_word_just_misses_a_common_one(word: str, is_near_miss: bool) -> None:
    assert WORDS.is_near_miss(word) is is_near_miss


def test_a_saved_list_knows_the_same_words(tmp_path: Path) -> None:
    WORDS.save(tmp_path / "words.wpm", {})
    loaded = WordList.load(tmp_path / "words.wpm")
    assert len(loaded) == len(WORDS) == 6
    assert loaded.is_known("english") is False
    assert loaded.is_near_miss("peple") is True


def test_a_very_long_word_is_no_near_miss_at_once() -> None:
    began = time.process_time()
    assert not WORDS.is_near_miss(
        "a" * 20_000
    )  # trying every change would copy 130 billion letters
    assert time.process_time() - began < 1
