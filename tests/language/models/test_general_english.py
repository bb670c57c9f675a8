"""The model of general English: words as it knows them, and the model made small."""

from __future__ import annotations

from pathlib import Path

import pytest

from wellput.core.errors import InputError
from wellput.language.models.english_training import TrainingInputs, TrainingSource
from wellput.language.models.fluency_ngrams import make_general, spoken
from wellput.language.models.ngram_files import load_model

ARPA = Path(__file__).parents[2] / "metrics" / "tiny.arpa"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("It 's Peter ’s , is n't it ?", "it's peter's isn't it"),
        ("' Yes ! '", "yes"),
        ("In 1910 , 5 % .", "in 1910 5"),
        (". . .", ""),
        ("'s", "'s"),
    ],
)
def test_words_as_the_model_knows_them(words: str, said: str) -> None:
    assert spoken(words.split()) == said


def test_the_model_made_small_still_scores(tmp_path: Path) -> None:
    path = tmp_path / "general.wlm"
    figures = make_general(TrainingInputs([TrainingSource(ARPA, "ngrams")], tmp_path), path)
    small, large = load_model(path), load_model(ARPA)
    assert figures == {"n-grams": large.sizes, "n-grams kept": small.sizes}
    assert small.sizes[0] == large.sizes[0]  # words stay
    seen, unseen = small.sentence_scores(["the cat sat on a mat .", "mat the a on ."])
    assert seen > unseen


def test_a_model_must_be_given(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="needs one n-gram model"):
        make_general(TrainingInputs([], tmp_path), tmp_path / "general.wlm")
