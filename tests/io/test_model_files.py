"""Model files: what is saved comes back, the same model gives the same bytes, damage is noticed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from wellput.core.errors import InputError
from wellput.io.model_files import fingerprint, load_model_file, packed_strings, save_model_file

ARRAYS: dict[str, NDArray[Any]] = {
    "weights": np.array([[1.5, -2.0], [0.0, 4.0]], np.float32),
    "codes": np.array([3, -1], np.int16),
    "nothing": np.zeros((0, 3), np.uint8),
}


def test_comes_back_as_saved(tmp_path: Path) -> None:
    path = tmp_path / "a.wpm"
    save_model_file(path, "tagger", {"data": "EWT", "sentences": 3}, ARRAYS)
    found = load_model_file(path, "tagger")
    assert found.card == {"data": "EWT", "sentences": 3}
    assert set(found.arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert found.arrays[name].dtype == array.dtype
        assert np.array_equal(found.arrays[name], array)
    assert found.fingerprint == fingerprint("tagger", ARRAYS)


@given(st.lists(st.text(st.characters())))
def test_strings_come_back(tmp_path_factory: pytest.TempPathFactory, strings: list[str]) -> None:
    path = tmp_path_factory.mktemp("strings") / "a.wpm"
    save_model_file(path, "words", {}, packed_strings("forms", strings))
    assert load_model_file(path, "words").strings("forms") == strings


def test_same_model_same_bytes(tmp_path: Path) -> None:
    for name in ("a.wpm", "b.wpm"):
        save_model_file(tmp_path / name, "tagger", {"b": 1, "a": 2}, ARRAYS)
    assert (tmp_path / "a.wpm").read_bytes() == (tmp_path / "b.wpm").read_bytes()


def test_fingerprint_follows_the_numbers_not_the_card() -> None:
    other = ARRAYS | {"codes": np.array([3, -2], np.int16)}
    assert fingerprint("tagger", ARRAYS) != fingerprint("tagger", other)
    assert fingerprint("tagger", ARRAYS) != fingerprint("parser", ARRAYS)


def test_what_repeats_itself_is_stored_small(tmp_path: Path) -> None:
    path = tmp_path / "a.wpm"
    array = np.tile(np.arange(50, dtype=np.uint32), (100, 1))
    save_model_file(path, "tagger", {}, {"counts": array})
    assert path.stat().st_size < array.nbytes / 10
    assert np.array_equal(load_model_file(path, "tagger").arrays["counts"], array)


def test_damage_inside_an_array_is_noticed_when_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.wpm"
    save_model_file(path, "tagger", {}, {"counts": np.zeros(5000, np.uint32)})
    data = bytearray(path.read_bytes())
    data[-60:] = b"\xff" * 60
    path.write_bytes(data)
    with pytest.raises(InputError, match="damaged"):
        load_model_file(path, "tagger").arrays["counts"]


@pytest.mark.parametrize("keep", [0, 10, 100, -1])
def test_cut_short(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "a.wpm"
    save_model_file(path, "tagger", {}, ARRAYS)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(InputError, match=r"damaged|empty"):
        load_model_file(path, "tagger")


def test_of_another_kind_or_version(tmp_path: Path) -> None:
    path = tmp_path / "a.wpm"
    save_model_file(path, "tagger", {}, ARRAYS)
    with pytest.raises(InputError, match=r"of the kind “tagger”; “parser” is needed"):
        load_model_file(path, "parser")
    data = bytearray(path.read_bytes())
    data[16] = 9
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"version 9"):
        load_model_file(path, "tagger")


def test_objects_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.wpm"
    save_model_file(path, "tagger", {}, ARRAYS)
    path.write_bytes(path.read_bytes().replace(b'"<i2"', b'"|O8"'))
    with pytest.raises(InputError, match="damaged"):
        load_model_file(path, "tagger")
