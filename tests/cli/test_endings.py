"""How the program ends after signals, closed pipes and lack of memory. Each test starts a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.heavy  # each test starts the program

PROGRAM = [sys.executable, "-m", "wellput"]
ITEM = '{"id": "1", "references": ["ä b c"], "outputs": {"Ä": "ä b"}}\n'
ENDLESS = """
import sys, time
from wellput.cli import cli, main
from wellput.io import replacing_text

@cli.command("endless")
def endless():
    with replacing_text("out.txt") as file:
        file.write("half" * 1_000_000)
        print("writing", flush=True)
        time.sleep(60)

cli.members["endless"] = ("__main__:endless", "")
main()
"""


def ran(
    arguments: Sequence[str],
    folder: Path,
    *,
    variables: Mapping[str, str] | None = None,
    before: Sequence[str] = (),
    **options: Any,
) -> subprocess.CompletedProcess[bytes]:
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run(
        [*before, *PROGRAM, *arguments],
        cwd=folder,
        env={**os.environ, **(variables or {})},
        check=False,
        **given,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["metrics"],
        ["--help"],
        ["--version"],
        ["score", "set.jsonl", "-m", "ssa", "--segments", "-"],
    ],
    ids=" ".join,
)
def test_a_closed_pipe_ends_it_by_sigpipe(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "set.jsonl").write_text(ITEM, encoding="utf-8")
    reader, writer = os.pipe()
    os.close(reader)
    done = ran(arguments, tmp_path, stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")


def test_a_pipe_closed_after_a_line(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("a b c d e f g h\n" * 500)
    program = subprocess.Popen(
        [*PROGRAM, "degrade", "corpus.txt", "-n", "20000", "--length", "8", "--size", "2"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert program.stdout is not None
    assert program.stderr is not None
    assert program.stdout.readline()
    program.stdout.close()
    err = program.stderr.read()
    program.stderr.close()
    assert (program.wait(), err) == (-signal.SIGPIPE, b"")


@pytest.fixture
def signals_of_a_terminal() -> Iterator[None]:
    """Makes the program react to signals that nohup or a shell's & made it ignore."""
    hangup = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    interrupt = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGHUP, hangup)
    signal.signal(signal.SIGINT, interrupt)


@contextmanager
def writing(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A command that is writing out.txt, while an older version of the file exists."""
    (folder / "out.txt").write_text("old")
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS, "endless"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"writing\n"
        assert len(list(folder.iterdir())) == 2, "the old file and the new one"
        yield program


@pytest.mark.usefixtures("signals_of_a_terminal")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_stopped_while_writing_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, number: signal.Signals
) -> None:
    with writing(tmp_path) as program:
        program.send_signal(number)
        _, err = program.communicate(timeout=20)
    assert program.returncode == -number, "whoever started it sees why it ended"
    assert b"Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]
    assert (tmp_path / "out.txt").read_text() == "old"


def test_killed_while_writing_leaves_the_old_file_whole(tmp_path: Path) -> None:
    with writing(tmp_path) as program:
        program.kill()
        program.communicate(timeout=20)
    assert (tmp_path / "out.txt").read_text() == "old"
    (rest,) = (path for path in tmp_path.iterdir() if path.name != "out.txt")
    assert rest.name.startswith(".out.txt.")
    assert rest.name.endswith(".part"), "hidden, and told apart by its name"


def test_what_nohup_protects_stays_protected(tmp_path: Path) -> None:
    program = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + ENDLESS
    with subprocess.Popen(
        [sys.executable, "-c", program, "endless"], cwd=tmp_path, stdout=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        running.stdout.readline()
        running.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        assert running.poll() is None
        running.kill()


@pytest.mark.parametrize("stream", ["stdin", "stdout", "stderr"])
def test_closed_streams(tmp_path: Path, stream: str) -> None:
    (tmp_path / "set.jsonl").write_text(ITEM, encoding="utf-8")
    source = "-" if stream == "stdin" else "set.jsonl"
    number = {"stdin": "0<&-", "stdout": "1>&-", "stderr": "2>&-"}[stream]
    shell = ["sh", "-c", f'exec "$@" {number}', "sh"]
    done = ran(["score", source, "-m", "ssa"], tmp_path, before=shell)
    expected = {
        "stdin": b"wellput: Standard input (-) cannot be read: it is closed.\n",
        "stdout": b"wellput: Cannot write standard output: it is closed.\n",
        "stderr": b"",
    }
    assert done.stderr == expected[stream]
    assert done.returncode == (0 if stream == "stderr" else 2)


def test_text_is_utf_8_without_a_locale(tmp_path: Path) -> None:
    (tmp_path / "sätze.jsonl").write_text(ITEM, encoding="utf-8")
    poor = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    plain = ran(["score", "sätze.jsonl", "-m", "ssa"], tmp_path)
    done = ran(["score", "sätze.jsonl", "-m", "ssa"], tmp_path, variables=poor)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == plain.stdout
    assert "Ä".encode() in done.stdout
    refused = ran(["score", "fehlt-ä.jsonl", "-m", "ssa"], tmp_path, variables=poor)
    assert refused.returncode == 2
    assert refused.stderr.startswith(b"wellput: No such file: fehlt-")


def test_without_a_home(tmp_path: Path) -> None:
    (tmp_path / "set.jsonl").write_text(ITEM, encoding="utf-8")
    done = ran(["score", "set.jsonl", "-m", "ssa"], tmp_path, variables={"HOME": "/nonexistent"})
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
def test_too_little_memory_is_reported(tmp_path: Path) -> None:
    program = (
        "import resource, sys\n"
        "from wellput.cli import cli, main\n"
        "@cli.command('greedy')\n"
        "def greedy():\n"
        "    resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))\n"
        "    bytearray(1 << 29)\n"
        "cli.members['greedy'] = ('__main__:greedy', '')\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "greedy"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith(b"wellput: Out of memory.")


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
def test_too_little_address_space_for_charts_is_reported(tmp_path: Path) -> None:
    (tmp_path / "set.jsonl").write_text(ITEM, encoding="utf-8")
    limited = ["sh", "-c", 'ulimit -v 600000; exec "$@"', "sh"]
    arguments = ["report", "set.jsonl", "-m", "ssa", "--threads", "1", "-o", "r.html"]
    ended = ran(arguments, tmp_path, before=limited)
    assert ended.returncode == 2
    assert b"The charts of a report take 512 MB of address space" in ended.stderr
    assert not (tmp_path / "r.html").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
def test_it_works_if_threads_cannot_be_started(tmp_path: Path) -> None:
    lines = "".join(ITEM.replace('"1"', f'"{n}"') for n in range(2000))
    (tmp_path / "set.jsonl").write_text(lines, encoding="utf-8")
    arguments = ["score", "set.jsonl", "-m", "bleu,ssa", "--threads", "64", "--format", "json"]
    # A stack of 64 MB for each thread: no room for more than a few of them.
    limited = ["sh", "-c", 'ulimit -s 65536; ulimit -v 1000000; exec "$@"', "sh"]
    done = ran(arguments, tmp_path, before=limited)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == ran(arguments, tmp_path).stdout
