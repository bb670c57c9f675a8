"""A training that is stopped goes on from its work folder and gives the same model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.language.models.ngram_texts import skewed
from wellput import _native
from wellput.core.errors import InputError, OutputError
from wellput.language.models import ngram_training
from wellput.language.models.ngram_training import WorkFolder, train

TEXTS = skewed(400)
BLOCKS = [TEXTS[i : i + 50] for i in range(0, 400, 50)]


class StoppedError(Exception):
    pass


def stopping_after(n: int) -> Iterator[list[str]]:
    yield from BLOCKS[:n]
    raise StoppedError


@pytest.fixture(autouse=True)
def small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ngram_training, "BYTES_PER_TOKEN", 2000)  # 500 tokens a megabyte


@pytest.mark.parametrize("order", [1, 3])
def test_stopped_twice_and_gone_on_with(tmp_path: Path, order: int) -> None:
    expected = train(BLOCKS, order=order, min_count=2)
    work = tmp_path / "work"
    seen: list[int] = []
    for n in (3, 6):
        with pytest.raises(StoppedError):
            train(stopping_after(n), order=order, memory_mb=1, work=WorkFolder(work, {"a": 1}))
        # What was counted after the last checkpoint lies about and must not matter.
        for name in ("tokens", "words"):
            with (work / name).open("ab") as file:
                file.write(b"\x01\x00\x00\x00")
    resumed = train(
        BLOCKS, order=order, min_count=2, memory_mb=1,
        work=WorkFolder(work, {"a": 1}), on_progress=seen.append,
    )  # fmt: skip
    assert seen[0] >= 250  # sentences that were not counted again
    assert sum(seen) == 400
    assert resumed.model.fingerprint == expected.model.fingerprint
    assert (resumed.sentences, resumed.tokens) == (expected.sentences, expected.tokens)
    # All runs are there now: going on once more only merges them.
    runs = {path: path.stat().st_mtime_ns for path in work.glob("run*")}
    again = train(BLOCKS, order=order, min_count=2, memory_mb=1, work=WorkFolder(work, {"a": 1}))
    assert again.model.fingerprint == expected.model.fingerprint
    assert len(runs) > 2
    assert all(path.stat().st_mtime_ns == time for path, time in runs.items())


def test_other_texts_are_refused(tmp_path: Path) -> None:
    train(BLOCKS, memory_mb=1, work=WorkFolder(tmp_path / "work", {"corpus": "one"}))
    with pytest.raises(InputError, match=r'other options: \{"corpus": "one"\}'):
        train(BLOCKS, memory_mb=1, work=WorkFolder(tmp_path / "work", {"corpus": "two"}))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    with pytest.raises(InputError, match="not empty"):
        train(BLOCKS, work=WorkFolder(tmp_path / "mine", {}))


def test_two_trainings_cannot_use_one_folder(tmp_path: Path) -> None:
    """They would append to the same files: the first would end with a part of its counts."""
    work = tmp_path / "work"
    expected = train(BLOCKS, memory_mb=1)

    def blocks_with_a_second_training() -> Iterator[list[str]]:
        yield from BLOCKS[:4]
        with pytest.raises(OutputError, match="Another training uses"):
            train(BLOCKS, memory_mb=1, work=WorkFolder(work, {}))
        yield from BLOCKS[4:]

    model = train(blocks_with_a_second_training(), memory_mb=1, work=WorkFolder(work, {})).model
    assert model.fingerprint == expected.model.fingerprint
    train(BLOCKS, memory_mb=1, work=WorkFolder(work, {}))  # the lock ended with the training


def test_numbers_of_words_that_do_not_exist_are_damage(tmp_path: Path) -> None:
    work = tmp_path / "work"
    train(BLOCKS, memory_mb=1, work=WorkFolder(work, {}))
    tokens = bytearray((work / "tokens").read_bytes())
    tokens[4:8] = b"\xff\xff\xff\x7f"
    (work / "tokens").write_bytes(tokens)
    with pytest.raises(InputError, match="damaged: delete it"):
        train(BLOCKS, memory_mb=1, work=WorkFolder(work, {}))


def test_a_folder_with_less_than_it_says_is_refused(tmp_path: Path) -> None:
    work = tmp_path / "work"
    train(BLOCKS, memory_mb=1, work=WorkFolder(work, {}))
    (work / "tokens").write_bytes((work / "tokens").read_bytes()[:-4])
    with pytest.raises(InputError, match="damaged"):
        train(BLOCKS, memory_mb=1, work=WorkFolder(work, {}))


def levels_of(folder: Path, order: int, texts: list[str], run_tokens: int) -> list[list[bytes]]:
    trainer = _native.NgramTrainer(order, run_tokens, str(folder), 1)
    trainer.add(texts, "none")
    return [[array.tobytes() for array in level] for level in trainer.finish(1)[1]]


# The first of them gave n-grams whose contexts were nowhere, the last another model.
@pytest.mark.parametrize("before", [(3, 20, 50), (2, 30, 50), (3, 40, 50), (3, 30, 40)])
def test_what_another_training_left_is_not_taken(
    tmp_path: Path, before: tuple[int, int, int]
) -> None:
    (tmp_path / "used").mkdir()
    (tmp_path / "new").mkdir()
    order, sentences, run_tokens = before
    levels_of(tmp_path / "used", order, TEXTS[:sentences], run_tokens)
    again = levels_of(tmp_path / "used", 3, TEXTS[:30], 50)
    assert again == levels_of(tmp_path / "new", 3, TEXTS[:30], 50)


@pytest.mark.parametrize("option", [{}, {"order": 2}, {"min_count": 2}, {"memory_mb": 2}])
def test_more_text_or_another_option_after_all_runs_were_written(
    tmp_path: Path, option: dict[str, Any]
) -> None:
    options = {"memory_mb": 1, **option}
    blocks = BLOCKS if option else BLOCKS[:5]
    train(blocks, memory_mb=1, work=WorkFolder(tmp_path / "work", {}))
    again = train(BLOCKS, **options, work=WorkFolder(tmp_path / "work", {}))
    assert again.model.fingerprint == train(BLOCKS, **options).model.fingerprint


@pytest.mark.parametrize("order", [2, 8])  # 8 words do not fit into one number
def test_threads_change_nothing(order: int) -> None:
    texts = skewed(12000)  # enough for the sorting to be shared
    one, three = (train([texts], order=order, threads=n).model for n in (1, 3))
    assert one.fingerprint == three.fingerprint
