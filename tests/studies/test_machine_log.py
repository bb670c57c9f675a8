"""The log of answers when it cannot be written: the command ends with the name of the log, and no
thread waits for ever."""

from __future__ import annotations

import errno
import resource
import subprocess
import sys
import threading
from io import FileIO
from pathlib import Path
from typing import cast

import pytest

import wellput
from tests.studies.simulated_endpoint import SimulatedEndpoint
from wellput.core.errors import OutputError
from wellput.core.evalset import EvalSet, Item
from wellput.studies.machines.answer_log import AnswerLog
from wellput.studies.machines.budget import Budget, Cost
from wellput.studies.machines.readings import Reply

MOST = Cost(10, 0)


class FailingFile:
    """A file whose every use fails with this error."""

    def __init__(self, number: int) -> None:
        self.error = OSError(number, "the reason of the system")

    def write(self, data: bytes) -> int:
        raise self.error

    def close(self) -> None:
        raise self.error


def failing(log: AnswerLog, monkeypatch: pytest.MonkeyPatch, number: int = errno.ENOSPC) -> None:
    log.close()
    monkeypatch.setattr(log, "_file", FailingFile(number))


def has_released(budget: Budget) -> bool:
    """Whether nothing is reserved: otherwise `reserve` would wait."""
    return budget.reserve(MOST, is_stopped=lambda: True)


@pytest.mark.parametrize(
    ("number", "why"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "the disk is full"),
        (errno.EIO, "the reason of the system"),
    ],
)
def test_an_error_of_the_log_names_it_and_releases_what_was_reserved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, why: str
) -> None:
    message = rf"Cannot write .*a\.jsonl: {why}\. The answers in it are kept\."
    file = tmp_path / "a.jsonl"
    reply = Reply("5", tokens_in=2, tokens_out=1)

    budget = Budget(10)
    log = AnswerLog(file, budget)
    assert budget.reserve(MOST)
    failing(log, monkeypatch, number)
    with pytest.raises(OutputError, match=message):
        log.begin("7f", MOST)
    assert budget.spent == Cost() and has_released(budget)

    budget = Budget(13)
    log = AnswerLog(file, budget)
    assert budget.reserve(MOST)
    begun = log.begin("7f", MOST)
    failing(log, monkeypatch, number)
    with pytest.raises(OutputError, match=message):
        log.answered(begun, "7f", reply)
    assert budget.spent == Cost(2, 1) and has_released(budget)
    assert log.answer_to("7f") is None

    file.unlink()
    budget = Budget(10)
    log = AnswerLog(file, budget)
    assert budget.reserve(MOST)
    begun = log.begin("7f", MOST)
    failing(log, monkeypatch, number)
    with pytest.raises(OutputError, match=message):
        log.failed(begun, "7f", "status 500", may_cost=False)
    assert budget.spent == Cost() and has_released(budget)
    with pytest.raises(OutputError, match=message):
        log.close()
    log.close()


def test_nothing_is_written_behind_a_part_of_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.jsonl"
    log = AnswerLog(file, Budget())
    begun = log.begin("7f", MOST)
    inner = cast(FileIO, log._file)

    class NearlyFull:
        """Takes ten bytes, then none, then has space again."""

        n_writes = 0

        def write(self, data: bytes) -> int:
            self.n_writes += 1
            if self.n_writes == 2:
                raise OSError(errno.ENOSPC, "No space left on device")
            return inner.write(bytes(data[:10]))

        def close(self) -> None:
            inner.close()

    monkeypatch.setattr(log, "_file", NearlyFull())
    for _ in range(2):
        with pytest.raises(OutputError, match="the disk is full"):
            log.begin("8a", MOST)
    with pytest.raises(OutputError, match="the disk is full"):
        log.answered(begun, "7f", Reply("5"))
    log.close()
    lines = file.read_bytes().splitlines()
    assert [line[:10] for line in lines] == [b'{"asked":"', b'{"asked":"'] and len(lines[1]) == 10
    # The next run removes the part of a line, and counts the request that had no answer.
    budget = Budget()
    AnswerLog(file, budget).close()
    assert budget.spent == MOST and len(file.read_bytes().splitlines()) == 1


def test_who_waits_for_the_budget_ends_when_the_work_is_stopped() -> None:
    budget = Budget(10)
    assert budget.reserve(MOST)
    is_stopped = threading.Event()
    found: list[bool] = []
    thread = threading.Thread(
        target=lambda: found.append(budget.reserve(MOST, is_stopped=is_stopped.is_set)), daemon=True
    )
    thread.start()
    thread.join(0.2)
    assert thread.is_alive()
    is_stopped.set()
    budget.wake()
    thread.join(10)
    assert found == [False]


# With the first limit, some threads wait until others have an answer.
@pytest.mark.parametrize("limit", ["7000", "1000000"])
def test_a_log_that_may_not_grow_ends_the_command(tmp_path: Path, limit: str) -> None:
    items = [Item(f"i{n}", outputs={"A": f"text {n}", "B": f"other {n}"}) for n in range(100)]
    wellput.write_evalset(EvalSet(items), tmp_path / "e.jsonl")
    most_bytes = 4096
    with SimulatedEndpoint() as endpoint:
        command = [
            sys.executable, "-m", "wellput", "judge", "e.jsonl", "--model", "sim", "--question",
            "quality", "--endpoint", endpoint.url, "--max-cost", limit, "-o", "j.csv",
        ]  # fmt: skip
        done = subprocess.run(
            command,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_FSIZE, (most_bytes, resource.RLIM_INFINITY)
            ),
        )
        assert done.returncode == 2, done.stderr
        assert done.stderr.strip() == (
            "wellput: Cannot write j.answers.jsonl: File too large. The answers in it are kept."
        )
        lines = (tmp_path / "j.answers.jsonl").read_bytes().splitlines(keepends=True)
        n_answers = sum(line.startswith(b'{"answer":') and line.endswith(b"\n") for line in lines)
        assert n_answers > 0
        result = wellput.judge(
            str(tmp_path / "e.jsonl"), model="sim", endpoint=endpoint.url, question="quality",
            path=tmp_path / "j.csv",
        )  # fmt: skip
    assert isinstance(result, wellput.JudgeResult)
    assert (result.known, result.answered) == (n_answers, 200)
