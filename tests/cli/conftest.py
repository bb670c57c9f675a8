"""Running the program in this process, as a shell would."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from wellput.cli import main


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Outcome]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """`run("score", …)` in an empty folder: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Outcome:
        monkeypatch.setattr("sys.argv", ["wellput", *arguments])
        capfd.readouterr()
        code = 0
        threshold = gc.get_threshold()
        try:
            main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
        finally:
            gc.set_threshold(*threshold)
        out, err = capfd.readouterr()
        return Outcome(code, out, err)

    return call


@pytest.fixture
def files(tmp_path: Path) -> Callable[..., None]:
    """Writes files: `files(**{"ref.txt": "a b\\n"})`."""

    def write(**contents: str) -> None:
        for name, content in contents.items():
            (tmp_path / name).write_text(content, encoding="utf-8")

    return write
