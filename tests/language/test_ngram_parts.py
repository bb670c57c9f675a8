"""A model from parts: the one from the whole, to the last bit."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import numpy as np
import pytest

from wellput import _native
from wellput.core.errors import InputError
from wellput.io.files import InputFile
from wellput.io.lines import text_parts
from wellput.language.models.ngram_training import Counting, train, train_in_parts


@pytest.fixture
def corpus(tmp_path: Path) -> list[str]:
    rng = random.Random(5)
    words = [f"w{i}" for i in range(60)] + ["Ä", "<s>", "<unk>"]
    lines = [" ".join(rng.choices(words, k=rng.randint(0, 9))) for _ in range(400)]
    (tmp_path / "a.txt").write_text("\ufeff" + "\n".join(lines[:300]), encoding="utf-8")
    packed = gzip.compress(("\n".join(lines[300:]) + "\n").encode())
    (tmp_path / "b.txt.gz").write_bytes(packed)
    return [str(tmp_path / "a.txt"), str(tmp_path / "b.txt.gz")]


def test_parts_are_whole_lines_and_all_of_them(corpus: list[str]) -> None:
    parts = text_parts(corpus, size=100)
    assert len(parts) > 20
    lines = [line for part in parts for block in part.blocks() for line in block]
    assert lines == [line for path in corpus for line in InputFile(path).lines()]
    for size in (1, 7, 10_000_000):
        cut = text_parts(corpus, size=size)
        assert [line for part in cut for block in part.blocks() for line in block] == lines


@pytest.mark.parametrize(
    ("order", "min_count", "lowercase"), [(3, 1, False), (1, 1, True), (4, 7, True)]
)
def test_the_same_model(corpus: list[str], order: int, min_count: int, lowercase: bool) -> None:
    blocks = (list(InputFile(path).lines()) for path in corpus)
    whole = train(blocks, order=order, min_count=min_count, lowercase=lowercase)
    how = Counting(order=order, lowercase=lowercase)
    parts = train_in_parts(text_parts(corpus, size=500), how, min_count=min_count)
    assert parts.model.fingerprint == whole.model.fingerprint
    assert (parts.sentences, parts.tokens) == (whole.sentences, whole.tokens)
    assert parts.discounts == whole.discounts
    assert [level.tolist() for level in parts.frequencies] == [
        level.tolist() for level in whole.frequencies
    ]


def test_a_text_without_words(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n \n")
    with pytest.raises(InputError, match="no words to train"):
        train_in_parts(text_parts([str(tmp_path / "a.txt")]), Counting())


@pytest.mark.parametrize("records", [[9, 9, 1], [4, 3, 1, 3, 3, 1]])
def test_a_damaged_run_is_refused(tmp_path: Path, records: list[int]) -> None:
    # An n-gram of words that do not exist; two in the wrong order.
    np.array(records, np.uint32).tofile(tmp_path / "run")
    trainer = _native.NgramTrainer(2, 1, str(tmp_path), 1)
    trainer.know_only(["a", "b"])
    trainer.take_run(str(tmp_path / "run"))
    with pytest.raises(RuntimeError, match="damaged"):
        trainer.finish(1)
