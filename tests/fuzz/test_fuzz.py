"""A few seconds of fuzzing, the same inputs every time; `make fuzz` goes on for minutes with new ones.

Property: a reader gives a value or an InputError, a kernel a value or an error that Python can catch.
Nothing else is raised, and nothing crashes.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest

from tests.fuzz.campaign import file_attempt, kernel_attempt
from tests.fuzz.kernels import recorded_work
from tests.fuzz.readers import MODELS, READERS, damage, write_all
from tests.fuzz.recording import Script, all_kernels

CORPUS = Path(__file__).parent / "corpus"
FILES = sorted(path.relative_to(CORPUS) for path in CORPUS.glob("*/**/*") if path.is_file())
ALL = {**READERS, **MODELS}


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good")
    write_all(folder)
    return folder


@pytest.fixture(scope="session")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[Script]]:
    return recorded_work(tmp_path_factory.mktemp("work"))


def test_every_kernel_is_fuzzed(scripts: Mapping[str, list[Script]]) -> None:
    assert all_kernels().keys() == {name for name, found in scripts.items() if found}
    asked = {(s.kernel, step) for found in scripts.values() for s in found for step, *_ in s.steps}
    methods = {
        (name, method)
        for name, kernel in all_kernels().items()
        if isinstance(kernel, type)
        for method in vars(kernel)
        if not method.startswith("_")
    }
    assert methods <= asked


@pytest.mark.parametrize("name", ALL)
def test_the_good_files_are_good(good: Path, name: str) -> None:
    ALL[name](good)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.filterwarnings("ignore:.*left out")  # a note that a reader gives is no failure
def test_a_damaged_file_is_said_kindly(good: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "files"
    shutil.copytree(good, folder)
    rng = Random(name)
    for _ in range(12):
        (folder / name).write_bytes((good / name).read_bytes())
        damage(rng, folder, name)
        file_attempt(folder, name)()


@pytest.mark.parametrize("path", FILES, ids=str)
def test_what_was_once_found_stays_found(good: Path, tmp_path: Path, path: Path) -> None:
    """The corpus holds a folder for each finding, with the one file that was wrong in it."""
    name = str(Path(*path.parts[1:]))
    folder = tmp_path / "files"
    shutil.copytree(good, folder)
    shutil.copy(CORPUS / path, folder / name)
    file_attempt(folder, name)()


def test_a_kernel_survives_what_it_is_asked(scripts: Mapping[str, list[Script]]) -> None:
    rng = Random(1)
    for found in scripts.values():
        for _ in range(15):
            kernel_attempt(rng.choice(found).mutated(rng))()
