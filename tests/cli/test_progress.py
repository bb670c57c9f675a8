"""The progress line: its phases and counts, and its removal."""

from __future__ import annotations

import io
import json
import os
import pty
import random
import subprocess
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.cli.conftest import Run
from wellput.cli import _show_warning, progress
from wellput.cli.progress import Line

WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "under", "mat", "rug", "down", "slowly"]


class Terminal(io.StringIO):
    """A terminal that records what is written and what the last line shows."""

    def isatty(self) -> bool:
        return True

    @property
    def line(self) -> str:
        """The last line as a terminal shows it: text after a carriage return overwrites the line."""
        shown = ""
        for piece in self.getvalue().rpartition("\n")[2].split("\r"):
            shown = piece + shown[len(piece) :]
        return shown.rstrip()

    @property
    def phases(self) -> list[str]:
        """The names of the phases in order, without the counts."""
        pieces = [piece.strip() for piece in self.getvalue().replace("\n", "\r").split("\r")]
        names = ["".join(c for c in piece if c.isalpha() or c in " -") for piece in pieces]
        plain = [name.removesuffix(" a second").removesuffix(" s").strip() for name in names]
        return [n for i, n in enumerate(plain) if n and n not in plain[:i]]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Standard error as a terminal that shows every phase at once."""
    made = Terminal()
    monkeypatch.setattr(progress, "SHOWN_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(progress, "REDRAW_SECONDS", 60.0)
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=made))
    return made


def test_counts_with_and_without_a_total() -> None:
    shown = Terminal()
    line = Line(shown, after=0.0)
    items = line.begin("scoring items")
    assert shown.line == "scoring items"
    items(1200)
    line.draw()
    assert shown.line.startswith("scoring items 1,200, ") and shown.line.endswith(" a second")
    parsed = line.begin("parsing references", 2000)
    parsed(120)
    line.draw()
    assert shown.line.startswith("parsing references 120/2,000, ")


def test_a_repeated_phase_is_continued() -> None:
    shown = Terminal()
    line = Line(shown, after=0.0)
    line.begin("parsing references", 100)(100)
    items = line.begin("scoring items")
    line.begin("parsing references", 50)(7)
    line.draw()
    assert shown.line.startswith("parsing references 107/150")
    items(3)
    assert shown.line.startswith("scoring items 3")


def test_the_line_appears_late_and_is_removed() -> None:
    early = Terminal()
    line = Line(early, after=1e9)
    line.begin("scoring items")(5)
    line.draw()
    line.stop()
    assert early.getvalue() == ""
    shown = Terminal()
    line = Line(shown, after=0.0)
    line.begin("scoring items")
    line.stop()
    line.draw()  # a late thread
    assert shown.line == ""


def test_a_line_fits_the_width_of_the_terminal() -> None:
    shown = Terminal()
    Line(shown, after=0.0).begin("x" * 200)
    assert shown.line == "x" * 79


def test_a_warning_has_its_own_line(terminal: Terminal) -> None:
    with progress.progress() as on_phase, warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = _show_warning
        on_phase("scoring items")
        warnings.warn("something is odd", stacklevel=1)
        on_phase("comparing systems")
    text = terminal.getvalue()
    assert "\rwellput: something is odd\n" in text
    assert terminal.line == ""


def test_nothing_is_written_if_standard_error_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "SHOWN_AFTER_SECONDS", 0.0)
    with progress.progress(is_slow=True) as on_phase:
        on_phase("scoring items", 5)(1)
    assert capsys.readouterr() == ("", "")


def example(folder: Path) -> None:
    rng = random.Random(1)

    def sentence() -> str:
        return " ".join(rng.choices(WORDS, k=rng.randint(3, 9)))

    rows, ratings = [], ["judge,item,system,question,value"]
    for i in range(30):
        rows.append(
            {"id": str(i), "references": [sentence()], "outputs": {s: sentence() for s in "ABC"}}
        )
        ratings += [
            f"{judge},{i},{system},quality,{rng.randint(1, 7)}"
            for judge in ("J1", "J2")
            for system in "ABC"
        ]
    (folder / "e.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "j.csv").write_text("\n".join(ratings) + "\n")


SCORED = ["preparing metrics", "scoring items"]
JUDGED = [
    "comparing judges", "ranking systems by people", "correlating metrics with people",
    "comparing metrics",
]  # fmt: skip


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("arguments", "phases"),
    [
        (["score", "e.jsonl", "-m", "bleu"], SCORED),
        (
            ["score", "e.jsonl", "-m", "sta,bleu", "--trees", "auto"],
            ["loading the parser", "preparing metrics", "parsing references", "scoring items"],
        ),
        (
            ["score", "e.jsonl", "-m", "bleu", "--all-pairs"],
            [*SCORED, "comparing systems"],
        ),
        (
            ["agree", "e.jsonl", "j.csv", "-m", "bleu,chrf"],
            ["reading judgments", "reading items", *SCORED, *JUDGED],
        ),
        (
            ["fit", "e.jsonl", "j.csv", "--question", "quality", "--predictors", "ssa", "--no-rescale"],
            [
                "reading judgments", "reading items", *SCORED, "fitting the model",
                "cross-validating folds", "comparing models", "probing the metric",
            ],
        ),
        (
            ["report", "e.jsonl", "j.csv", "-m", "bleu,gsa", "-o", "r.html"],
            [
                "loading the charts", "reading judgments", "reading items", *SCORED,
                "computing intervals", "comparing systems", *JUDGED, "preparing charts",
                "drawing alignments of outputs", "writing the page",
            ],
        ),
        (
            [
                "study", "create", "e.jsonl", "--design", "rating", "--select", "spread",
                "-m", "bleu", "-o", "s.db",
            ],
            ["reading items", "planning trials", *SCORED, "choosing trials", "writing the study"],
        ),
        (["power", "--difference", "0.2"], ["simulating studies"]),
    ],
)  # fmt: skip
def test_every_phase_is_named(
    run: Run, terminal: Terminal, tmp_path: Path, arguments: list[str], phases: Sequence[str]
) -> None:
    example(tmp_path)
    outcome = run(*arguments)
    assert outcome.code == 0, terminal.getvalue()
    assert terminal.phases == phases
    assert terminal.line == ""


def test_a_study_names_the_phases_of_its_export(
    run: Run, terminal: Terminal, tmp_path: Path
) -> None:
    from wellput.studies.store import Store

    example(tmp_path)
    run("study", "create", "e.jsonl", "--design", "rating", "-o", "s.db")
    store = Store.open("s.db")
    [invited] = store.invite(1)
    judge = store.judge_of(invited.token)
    assert judge is not None
    shown = store.next_trial(judge)
    assert shown is not None
    store.record(judge, shown.id, {q.name: 4 for q in store.questionnaire.questions}, ms=900)
    store.close()
    terminal.truncate(0)
    assert run("study", "export", "s.db", "-o", "j.csv").code == 0
    assert terminal.phases == [
        "reading the study", "reading answers", "writing answers", "comparing judges",
    ]  # fmt: skip


def test_a_real_terminal_is_left_as_it_was(tmp_path: Path) -> None:
    example(tmp_path)
    ours, theirs = pty.openpty()
    program = "from wellput.cli import main, progress\nprogress.SHOWN_AFTER_SECONDS = 0.0\nmain()\n"
    done = subprocess.run(
        [sys.executable, "-c", program, "score", "e.jsonl", "-m", "bleu"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, stdin=subprocess.DEVNULL, check=True,
    )  # fmt: skip
    os.close(theirs)
    text = os.read(ours, 65536).decode()
    os.close(ours)
    assert b"system" in done.stdout and b"\r" not in done.stdout
    assert "scoring items" in text
    shown = Terminal()
    shown.write(text)
    assert shown.line == ""
