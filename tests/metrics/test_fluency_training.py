"""Pools without a sentence in common, and weights from sentences of known quality."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.language.models.fluency_model import FLUENCY_FEATURES
from wellput.metrics.fluency_training import (
    GradedTexts,
    graded_texts,
    is_whole_sentence,
    split_text,
    train_fluency,
    whole_sentences,
)

NAMES = list(FLUENCY_FEATURES)


def sentence(number: int) -> str:
    return f"Sentence {number} says that the big cat sat on mat {number}."


@pytest.fixture
def text(tmp_path: Path) -> Path:
    file = tmp_path / "text.txt"
    lines = [sentence(number) for number in range(200)] + [sentence(3)] * 40 + ["Too short."]
    file.write_text("\n\n".join(lines), encoding="utf-8")
    return file


def test_pools_share_no_sentence_and_leave_out_none(text: Path) -> None:
    pools = split_text([text])
    real, source = ({" ".join(words) for words in pool} for pool in (pools.real, pools.source))
    assert not real & source
    assert len(real | source) == len(pools.real) + len(pools.source) == 200
    assert min(len(real), len(source)) >= 40  # ten passages of twenty, about half of them each


def test_a_sentence_stays_in_its_pool_wherever_it_stands(text: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    first = "\n\n".join(sentence(number) for number in range(20))
    other.write_text(first, encoding="utf-8")
    alone = split_text([other])
    assert alone.real == split_text([text]).real[: len(alone.real)]


def test_whole_sentences_are_taken_once(text: Path) -> None:
    trained, measured = whole_sentences([text]), whole_sentences([text], is_held_out=True)
    assert len(trained) + len(measured) == 200
    assert 20 <= len(measured) <= 60  # a fifth
    assert not {*map(" ".join, trained)} & {*map(" ".join, measured)}


@pytest.mark.parametrize(
    ("words", "is_fit"),
    [("The cat sat .", True), ("the cat sat .", False), ("The cat sat", False), ("No .", False)],
)
def test_what_is_a_whole_sentence(words: str, is_fit: bool) -> None:
    assert is_whole_sentence(words.split()) is is_fit


def test_too_little_text_is_refused() -> None:
    few = [["The", "cat", "sat", "."]] * 10
    with pytest.raises(InputError, match="10 real sentences and 10 to make worse"):
        list(graded_texts(few, few, None, np.random.default_rng(0)))  # type: ignore[arg-type]


def test_more_mistakes_score_less() -> None:
    def features(texts: Sequence[str], *, threads: int = 1) -> Floats:
        rows = np.zeros((len(texts), len(NAMES)))
        rows[:, NAMES.index("spelling")] = [-np.log1p(text.count("x")) for text in texts]
        return rows

    models = SimpleNamespace(features=features)
    graded = [GradedTexts(f"errors-{k}", ["a" + "x" * k] * 50, k, 1.0) for k in (0, 1)]
    graded.append(GradedTexts("errors-every", ["ax", "axx", "axxx"] * 20, [1, 2, 3] * 20, 1.0))
    model = train_fluency(graded, models)  # type: ignore[arg-type]
    none, one, three = model.linear_model.scores(features(["a", "ax", "axxx"]))
    assert none > one > three
    spelling = NAMES.index("spelling")
    assert model.linear_model.weights[spelling] > 0
    assert not np.delete(model.linear_model.weights, spelling).any()
