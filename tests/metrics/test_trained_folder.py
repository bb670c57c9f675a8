"""The folder of a trained fluency metric, and the messages for a wrong folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from wellput.core.errors import InputError
from wellput.metrics.fluency import model_in


def test_the_file_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "a.wpm").touch()
    assert model_in(str(tmp_path), "a.wpm", train_option="--gleu") == tmp_path / "a.wpm"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("a.wpm", "a.wpm is a file; give the folder that holds b.wpm."),
        ("nowhere", "nowhere. To make it: wellput train fluency --text TEXT --gleu -o "),
        (".", "There is no b.wpm in "),
    ],
)
def test_what_is_wrong_and_what_to_do(tmp_path: Path, given: str, message: str) -> None:
    (tmp_path / "a.wpm").touch()
    with pytest.raises(InputError) as raised:
        model_in(str(tmp_path / given), "b.wpm", train_option="--gleu")
    assert message in str(raised.value)
