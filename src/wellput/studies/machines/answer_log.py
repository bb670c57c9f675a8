"""`AnswerLog`: every request to a model and its answer, by the hash of the request. Nothing is asked
twice, and a run that was killed is resumed.

A file of JSON lines, only ever added to. A line is written before a request is sent and after its end,
so that the costs of a run that was killed are known: a request without an end may have been paid for. A
line that was cut off by the kill is ignored. Questions and texts are not written, only their hash.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from wellput.core.errors import InputError, OutputError
from wellput.studies.machines.budget import Budget, Cost
from wellput.studies.machines.readings import Reply


def request_hash(identity: Mapping[str, str], request: Mapping[str, Any], repeat: int) -> str:
    """The name of a request in the log: a hash of the model, the prompt, the settings and the number of
    the repetition."""
    whole = {"model": dict(identity), "request": dict(request), "repeat": repeat}
    text = json.dumps(whole, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class AnswerLog:
    """Answers by request. Without a path they are kept in memory alone. Threads may share it."""

    def __init__(self, path: str | Path | None, budget: Budget) -> None:
        self.path = None if path is None else Path(path)
        self.budget = budget
        self._answers: dict[str, Reply] = {}
        self._open: dict[int, Cost] = {}
        self._next = 0
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = None
        if self.path is not None:
            self._file = self._opened(self.path)
            for cost in self._open.values():
                budget.spend(cost)
            self._open.clear()
        self.n_before = len(self._answers)

    def answer_to(self, name: str) -> Reply | None:
        with self._lock:
            return self._answers.get(name)

    def begin(self, name: str, most: Cost) -> int:
        """Notes that a request is about to be sent, and what it may cost at most."""
        with self._lock:
            number = self._next
            self._next += 1
            self._open[number] = most
            self._write({"asked": name, "n": number, "most": [most.tokens_in, most.tokens_out]})
            return number

    def answered(self, number: int, name: str, reply: Reply) -> None:
        """Notes the answer; what it cost takes the place of what it might have cost."""
        with self._lock:
            most = self._open.pop(number)
            cost = _cost_of(reply, most)
            self._write(
                {
                    "answer": name,
                    "n": number,
                    "cost": [cost.tokens_in, cost.tokens_out],
                    **_plain(reply),
                }
            )
            self._answers[name] = reply
        self.budget.settle(most, cost)

    def failed(self, number: int, name: str, why: str, *, may_cost: bool) -> None:
        """Notes that a request has no answer; if it may have been paid for, it counts."""
        with self._lock:
            most = self._open.pop(number)
            cost = most if may_cost else Cost()
            self._write(
                {"failed": name, "n": number, "why": why, "cost": [cost.tokens_in, cost.tokens_out]}
            )
        self.budget.settle(most, cost)

    def close(self) -> None:
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def _write(self, record: Mapping[str, Any]) -> None:
        if self._file is None:
            return
        line = json.dumps(record, ensure_ascii=True, separators=(",", ":")) + "\n"
        try:
            self._file.write(line.encode())
            self._file.flush()
        except OSError as error:
            raise OutputError(f"Cannot write {self.path}: {error.strerror}.") from None

    def _opened(self, path: Path) -> IO[bytes]:
        try:
            file = path.open("a+b", buffering=1 << 16)
        except OSError as error:
            raise OutputError(f"Cannot write {path}: {error.strerror}.") from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise OutputError(
                f"{path} is in use by another run. Wait for it, or give cache=."
            ) from None
        try:
            self._read(file, path)
        except BaseException:
            file.close()
            raise
        return file

    def _read(self, file: IO[bytes], path: Path) -> None:
        file.seek(0)
        good = 0
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                break  # cut off by a kill
            try:
                self._take(json.loads(line))
            except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
                raise InputError(
                    f"{path}, line {number}: not a line of a log of answers. Give another file with "
                    "cache=, or remove this one; then everything is asked again."
                ) from None
            good += len(line)
        file.seek(0, os.SEEK_END)
        if file.tell() > good:
            file.truncate(good)

    def _take(self, record: Mapping[str, Any]) -> None:
        number = _whole(record["n"])
        self._next = max(self._next, number + 1)
        if "asked" in record:
            self._open[number] = _stored_cost(record["most"])
            return
        self._open.pop(number, None)
        self.budget.spend(_stored_cost(record["cost"]))
        if "answer" in record:
            self._answers[str(record["answer"])] = _reply(record["reply"])


def _cost_of(reply: Reply, most: Cost) -> Cost:
    """What an answer cost; what it may have cost at most where the endpoint does not say."""
    return Cost(
        most.tokens_in if reply.tokens_in is None else reply.tokens_in,
        most.tokens_out if reply.tokens_out is None else reply.tokens_out,
    )


def _plain(reply: Reply) -> dict[str, Any]:
    usual = asdict(Reply(""))
    given = {name: value for name, value in asdict(reply).items() if value != usual.get(name)}
    return {"reply": {"text": reply.text, **given}}


def _reply(record: Mapping[str, Any]) -> Reply:
    """The reply in a line of the log. Raises ValueError or TypeError where it is none."""
    given = dict(record)
    tokens = tuple(
        (str(token), tuple((str(other), float(logprob)) for other, logprob in top))
        for token, top in given.pop("tokens", ())
    )
    for name, value in given.items():
        if name in ("tokens_in", "tokens_out", "ms"):
            _whole(value or 0)
        elif not isinstance(value, str):
            raise TypeError
    return Reply(**given, tokens=tokens)


def _stored_cost(record: Sequence[Any]) -> Cost:
    tokens_in, tokens_out = record
    return Cost(_whole(tokens_in), _whole(tokens_out))


def _whole(value: object) -> int:
    """A whole number from 0 on. Raises ValueError for anything else: a file may have been forged."""
    if not isinstance(value, int) or not 0 <= value <= MAX_WHOLE:
        raise ValueError
    return value


MAX_WHOLE = 10**15
"""Above what all requests of a run cost, and how many there are."""
