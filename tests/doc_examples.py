"""The examples of the documentation, as programs: find them, run them, compare and rewrite them.

A *page* is a Markdown file; its *blocks* are the fenced ones, run in order in one folder that is
empty at first. What a page shows is what must come out:

- ```` ```console ````: a line that begins with `$ ` is a command, what follows is its output, standard
  error included. `cat FILE` of a file that is not there makes it, with the text shown (of several
  files, each has its equal share of the lines).
- ```` ```pycon ````: a Python session. ```` ```python ````: a program; `print(…)  # 0.5` must print
  0.5, and a ```` ```text ```` block right below is all that it prints.
- `…` stands for anything inside a line and, by itself, for any lines. Versions and the hashes of
  models are not compared.
- `pip install --quiet .` makes the page's project a package that wellput finds.
- `<!-- not run: REASON -->` above a block leaves it out, `<!-- file: NAME -->` makes the block the
  file NAME.

`python -m tests.doc_examples PAGE…` writes the true output into pages whose examples differ.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from doctest import DocTestParser
from functools import cache
from pathlib import Path
from typing import Any

import wellput
from tests.plugins import install

ROOT = Path(__file__).parents[1]
PACKAGES = Path(wellput.__file__).parents[1]
"""Where the wellput under test lies: here, or where a wheel was installed."""
FENCE = re.compile(r"^```(\w+)$")
MARKER = re.compile(r"^<!-- (not run|file): (.+) -->$")
RUNNABLE = ("console", "bash", "pycon", "python")


@dataclass
class Block:
    """Lines `start` to `end` of a page, without the fences."""

    language: str
    lines: list[str]
    start: int
    not_run: str | None = None
    file: str | None = None

    printed: Block | None = None  # the block of text right below a program

    @property
    def end(self) -> int:
        return self.start + len(self.lines)


@dataclass
class Step:
    """A command with its output, from line `first` of its block on."""

    source: str
    expected: list[str]
    first: int


@dataclass
class Difference:
    """An output that is not as shown: page lines `start` to `end` should be `got`."""

    source: str
    start: int
    end: int
    got: list[str]
    expected: list[str]
    is_program: bool = False

    def shortened(self) -> list[str]:
        """What is printed, cut off where the page cuts it off."""
        if self.expected[-1:] == ["…"] and self.expected.count("…") == 1:
            return [*self.got[: len(self.expected) - 1], "…"]
        return self.got

    def __str__(self) -> str:
        shown = "\n".join(self.expected) or "(nothing)"
        return f"{self.source}\n--- line {self.start + 1} shows\n{shown}\n--- but it prints\n" + (
            "\n".join(self.got) or "(nothing)"
        )


def blocks(text: str) -> list[Block]:
    found: list[Block] = []
    marker: re.Match[str] | None = None
    open_block: Block | None = None
    for number, line in enumerate(text.split("\n")):
        if open_block is not None:
            if line == "```":
                if (
                    open_block.language == "text"
                    and found
                    and found[-1].end + 3 == open_block.start
                ):
                    found[-1].printed = open_block
                found.append(open_block)
                open_block = None
            else:
                open_block.lines.append(line)
        elif fence := FENCE.match(line):
            kind, value = marker.groups() if marker else (None, None)
            open_block = Block(
                fence[1],
                [],
                number + 1,
                not_run=value if kind == "not run" else None,
                file=value if kind == "file" else None,
            )
            marker = None
        elif line:
            marker = MARKER.match(line)
    return found


def console_steps(block: Block) -> list[Step]:
    steps: list[Step] = []
    continues = False
    for number, line in enumerate(block.lines):
        if continues:
            steps[-1].source += "\n" + line
            steps[-1].first = number + 1
        elif line.startswith("$ "):
            steps.append(Step(line[2:], [], number + 1))
        else:
            assert steps, f"line {block.start + number + 1}: output before the first command"
            steps[-1].expected.append(line)
        continues = bool(steps) and line.endswith("\\") and not steps[-1].expected
    return steps


def pycon_steps(block: Block) -> list[Step]:
    steps = []
    for example in DocTestParser().get_examples("\n".join(block.lines) + "\n"):
        first = example.lineno + example.source.count("\n")
        steps.append(Step(example.source, example.want.split("\n")[:-1], first))
    return steps


def matches(expected: list[str], got: list[str]) -> bool:
    pattern = "".join(_line_pattern(line) for line in expected)
    return re.fullmatch(pattern, "".join(_plain(line) + "\n" for line in got)) is not None


def _line_pattern(line: str) -> str:
    if line.strip() == "…":
        return r"(?:[^\n]*\n)*"
    return re.escape(_plain(line)).replace("…", r"[^\n]*") + r"\n"


def _plain(line: str) -> str:
    line = re.sub(r"(wellput-|\blg:)\d+\.\d+\.\d+[^|\s]*", r"\1VERSION", line.rstrip())
    hashes = r"\b(model|parser|english|trees|fitted|Hash of the metric): ?[0-9a-f]{8,12}\b"
    return re.sub(hashes, r"\1:HASH", line)


@dataclass
class Page:
    """Runs a page's blocks in the current folder, whose files and Python names they share."""

    path: Path
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})

    def differences(self) -> list[Difference]:
        found: list[Difference] = []
        with own_packages():
            for block in blocks(self.path.read_text(encoding="utf-8")):
                if block.file is not None:
                    Path(block.file).write_text("\n".join(block.lines) + "\n", encoding="utf-8")
                elif block.not_run is None and block.language in RUNNABLE:
                    found += self._run_block(block)
        return found

    def _run_block(self, block: Block) -> Iterator[Difference]:
        if block.language == "python":
            yield from self._run_program(block)
            return
        run, steps = (
            (run_command, console_steps(block))
            if block.language in ("console", "bash")
            else (self._run_statement, pycon_steps(block))
        )
        for step in steps:
            if make_shown_files(step):
                continue
            got = run(step.source)
            if not matches(step.expected, got):
                start = block.start + step.first
                yield Difference(step.source, start, start + len(step.expected), got, step.expected)

    def _run_statement(self, source: str) -> list[str]:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), ordinary_warnings():
            try:
                exec(compile(source, "<page>", "single"), self.names)
            except Exception as error:
                print("Traceback (most recent call last):\n  ...")
                print("".join(traceback.format_exception_only(error)), end="")
        return out.getvalue().split("\n")[:-1]

    def _run_program(self, block: Block) -> Iterator[Difference]:
        source = "\n".join(block.lines)
        shown = re.findall(r"^print\(.*\)  # (.*)$", source, re.MULTILINE)
        if block.printed is not None:
            shown = block.printed.lines
        out = io.StringIO()
        with contextlib.redirect_stdout(out), ordinary_warnings():
            try:
                exec(compile(source, "<page>", "exec"), self.names)
            except Exception:
                traceback.print_exc(file=out)
                shown = shown or ["no error"]
        got = out.getvalue().split("\n")[:-1]
        if shown and not matches(shown, got):
            place = block.printed or block
            yield Difference(
                source, place.start, place.end, got, shown, is_program=block.printed is None
            )


def make_shown_files(step: Step) -> bool:
    """`cat FILE…` of files that are not there makes them, with the text that the page shows."""
    command, *names = step.source.split()
    if command != "cat" or not names or any(Path(name).exists() for name in names):
        return False
    share = len(step.expected) // len(names)
    if share * len(names) != len(step.expected) or "…" in "".join(step.expected):
        return False
    for n, name in enumerate(names):
        lines = step.expected[n * share : (n + 1) * share]
        Path(name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return True


@contextlib.contextmanager
def own_packages() -> Iterator[None]:
    """What the page installs is gone behind the block."""
    path, before = sys.path[:], set(sys.modules)
    try:
        yield
    finally:
        here = Path.cwd()
        for name in set(sys.modules) - before:
            if here in Path(getattr(sys.modules[name], "__file__", None) or "/").parents:
                del sys.modules[name]
        sys.path[:] = path


def run_command(command: str) -> list[str]:
    """What a command prints, standard error included, line by line."""
    if command == "pip install --quiet .":
        install(Path())
        sys.path.insert(0, str(Path.cwd()))
        return []
    if command.startswith("wellput demo ") and command.endswith(" > /dev/null"):
        for name, content in demo_files(command).items():
            Path(name).write_bytes(content)
        return []
    first, pipe, rest = command.partition(" | ")
    if (simple := _simple_command(first)) is None:
        output = _in_shell(command)
    else:
        output = _in_process(*simple)
        if pipe:
            output = _in_shell(rest, output)
    return output.rstrip("\n").split("\n") if output.strip("\n") else []


@cache
def demo_files(command: str) -> dict[str, bytes]:
    """The example's files. Many pages begin with them, and the command reads nothing: it runs once."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        simple = _simple_command(command)
        assert simple is not None
        _in_process(*simple)
        return {path.name: path.read_bytes() for path in Path().iterdir()}


def _simple_command(command: str) -> tuple[list[str], str | None] | None:
    """Arguments of wellput and where its output goes; None if a shell is needed."""
    if not command.startswith("wellput ") or set("$`*") & set(command):
        return None
    lexer = shlex.shlex(command.replace("\\\n", " "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words = list(lexer)[1:]
    target = None
    if len(words) > 2 and words[-2] == ">":
        *words, _, target = words
    if any(set(word) <= set("|&;<>()") for word in words if word):
        return None
    return words, target


def _in_process(words: list[str], target: str | None) -> str:
    """As the program would print it, without the half second that starting Python takes."""
    from wellput.cli import main

    threshold = gc.get_threshold()
    arguments, sys.argv = sys.argv, ["wellput", *words]
    mixed = io.BytesIO()
    out, error = CopiedBytes(mixed), CopiedBytes(mixed)
    texts = [
        io.TextIOWrapper(stream, encoding="utf-8", write_through=True) for stream in (out, error)
    ]
    try:
        with (
            contextlib.redirect_stdout(texts[0]),
            contextlib.redirect_stderr(texts[1]),
            contextlib.suppress(SystemExit),
            ordinary_warnings(),
        ):
            main()
    finally:
        sys.argv = arguments
        gc.set_threshold(*threshold)
    if target is None:
        return mixed.getvalue().decode()
    if target != "/dev/null":
        Path(target).write_bytes(out.getvalue())
    return error.getvalue().decode()


class CopiedBytes(io.BytesIO):
    """What is written goes to a common place as well, in the order of writing."""

    def __init__(self, common: io.BytesIO) -> None:
        super().__init__()
        self.common = common

    def write(self, data: Any, /) -> int:
        self.common.write(data)
        return super().write(data)


def _in_shell(command: str, given: str | None = None) -> str:
    folders = (program_folder().name, str(Path(sys.executable).parent), os.environ["PATH"])
    done = subprocess.run(
        ["bash", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        input=given,
        text=True,
        check=False,
        timeout=100,
        env=os.environ | {"PATH": ":".join(folders), "PYTHONPATH": str(PACKAGES)},
    )
    return done.stdout


@cache
def program_folder() -> tempfile.TemporaryDirectory[str]:
    """Holds `wellput` as a program. It stays until the end: an example may run in the background."""
    folder = tempfile.TemporaryDirectory()
    program = Path(folder.name) / "wellput"
    program.write_text(
        f"#!{sys.executable}\nfrom wellput.cli import main\nmain()\n", encoding="utf-8"
    )
    program.chmod(0o755)
    return folder


@contextlib.contextmanager
def ordinary_warnings() -> Iterator[None]:
    """Warnings are warnings, as users have them, not errors as in tests."""
    with warnings.catch_warnings():
        warnings.resetwarnings()
        yield


def update(path: Path) -> int:
    """Writes the true output into a page; returns how many examples differed."""
    differences = list(Page(path).differences())
    lines = path.read_text(encoding="utf-8").split("\n")
    for one in reversed(differences):
        if one.is_program:
            print(one)
        else:
            lines[one.start : one.end] = one.shortened()
    path.write_text("\n".join(lines), encoding="utf-8")
    return len(differences)


def main() -> None:
    for name in sys.argv[1:]:
        path = Path(name).resolve()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            print(name, update(path), "examples rewritten")


if __name__ == "__main__":
    main()
