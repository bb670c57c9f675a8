"""`AnswerLog`: a record of all requests to a model and their answers, by the hash of the request. With
it, nothing is asked twice, and a run that was killed can be resumed.

The log is a file of JSON lines; lines are only added. One line is written before a request is sent,
and another one when it has an answer or has failed. So the costs of a run that was killed are known: a
request without a second line may have been paid for. If the kill cut off a line, this line is ignored,
and the next run removes it. A file with anything else is refused and not changed. Questions and texts
are not written, only their hash.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from io import FileIO
from pathlib import Path
from typing import IO, Any, cast

from wellput.core.errors import InputError, OutputError
from wellput.studies.machines.budget import Budget, Cost
from wellput.studies.machines.readings import Reply


def request_hash(identity: Mapping[str, str], request: Mapping[str, Any], repeat: int) -> str:
    """The name of a request in the log: a hash of the model, the prompt, the settings and the number of
    the repetition."""
    record = {"model": dict(identity), "request": dict(request), "repeat": repeat}
    text = json.dumps(record, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class AnswerLog:
    """Answers by the name of their request. Without a path they are kept in memory only. Threads may
    share a log. Requests are numbered in the order in which they begin.

    With `is_read_only` the file is only read, even while another run writes it; new answers are kept
    in memory only."""

    def __init__(
        self, path: str | Path | None, budget: Budget, *, is_read_only: bool = False
    ) -> None:
        self.path = None if path is None else Path(path)
        self.budget = budget
        self._answers: dict[str, Reply] = {}
        self._unanswered: set[str] = (
            set()
        )  # names of the requests that were sent and have no answer
        self._open: dict[int, Cost] = {}  # by number: the requests that are under way
        self._next_number = 0
        self._lock = threading.Lock()
        self._file: FileIO | None = None
        self._error: OutputError | None = None
        if self.path is not None:
            if is_read_only:
                self._read_only(self.path)
            else:
                self._file = self._opened(self.path)
            for cost in self._open.values():
                budget.spend(cost)
            self._open.clear()

    def is_unanswered(self, name: str) -> bool:
        """Whether a request was sent and has no answer."""
        with self._lock:
            return name in self._unanswered

    def answer_to(self, name: str) -> Reply | None:
        """The answer to a request; None if the log does not have it."""
        with self._lock:
            return self._answers.get(name)

    def begin(self, name: str, most: Cost) -> int:
        """Notes that a request is about to be sent, and what it may cost at most, which was reserved.
        Returns the number of the request."""
        with self._lock:
            number = self._next_number
            self._next_number += 1
            try:
                self._write({"asked": name, "n": number, "most": [most.tokens_in, most.tokens_out]})
            except BaseException:
                self.budget.settle(most, Cost())  # the request will not be sent
                raise
            self._open[number] = most
            self._unanswered.add(name)
            return number

    def answered(self, number: int, name: str, reply: Reply) -> None:
        """Notes the answer. Its true cost replaces the most that it could cost."""
        with self._lock:
            most = self._open.pop(number)
            cost = _cost_of(reply, most)
            self.budget.settle(most, cost)
            self._write(
                {
                    "answer": name,
                    "n": number,
                    "cost": [cost.tokens_in, cost.tokens_out],
                    **_plain(reply),
                }
            )
            self._answers[name] = reply
            self._unanswered.discard(name)

    def failed(self, number: int, name: str, why: str, *, may_cost: bool) -> None:
        """Notes that a request has no answer, and why. If it may have been paid for, the most that it
        could cost is counted as spent."""
        with self._lock:
            most = self._open.pop(number)
            cost = most if may_cost else Cost()
            self.budget.settle(most, cost)
            self._write(
                {"failed": name, "n": number, "why": why, "cost": [cost.tokens_in, cost.tokens_out]}
            )

    def close(self) -> None:
        with self._lock:
            file, self._file = self._file, None
            if file is not None:
                with self._named_errors():
                    file.close()

    def _write(self, record: Mapping[str, Any]) -> None:
        if self._file is None:
            return
        if self._error is not None:
            raise OutputError(str(self._error))
        line = json.dumps(record, ensure_ascii=True, separators=(",", ":")) + "\n"
        rest = memoryview(line.encode())
        with self._named_errors():
            while rest:  # a disk that is nearly full takes a part
                rest = rest[self._file.write(rest) :]

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        """Gives errors of the file its name. After an error nothing more is written: behind a part of
        a line, another line could not be read."""
        try:
            yield
        except OSError as error:
            self._error = _cannot_write(self.path, error, " The answers in it are kept.")
            raise self._error from None

    def _opened(self, path: Path) -> FileIO:
        """The file, locked against other runs, after its answers and costs have been read."""
        try:
            file = path.open("a+b")
        except OSError as error:
            raise _cannot_write(path, error) from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise OutputError(
                f"{path} is in use by another run. Wait for it, or name another file with cache=."
            ) from None
        try:
            file.seek(0)
            n_valid_bytes = self._read(file, path)
            file.seek(0, os.SEEK_END)
            if file.tell() > n_valid_bytes:
                file.truncate(n_valid_bytes)
            # Without a buffer: what could not be written is not written again when the file is closed.
            return cast(FileIO, file.detach())
        except BaseException as error:
            file.close()
            if isinstance(error, OSError):
                raise _cannot_write(path, error) from None
            raise

    def _read_only(self, path: Path) -> None:
        try:
            with path.open("rb") as file:
                self._read(file, path)
        except OSError as error:
            raise InputError(f"Cannot read {path}: {error.strerror}.") from None

    def _read(self, file: IO[bytes], path: Path) -> int:
        """Takes over the lines of the file. Returns how many bytes they have: what follows is a line
        that was cut off."""
        n_valid_bytes = 0
        for number, line in enumerate(file, start=1):
            is_complete = line.endswith(b"\n")
            if not is_complete and _is_cut_off(line):
                break
            try:
                # An incomplete line that does not look cut off must be refused: json.loads(b"")
                # raises ValueError.
                self._take(json.loads(line if is_complete else b""))
            except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
                raise InputError(
                    f"{path}, line {number}: not a line of a log of answers; the file was not changed. "
                    "With cache= give a log of answers, or a file that does not exist yet: then "
                    "everything is asked again."
                ) from None
            n_valid_bytes += len(line)
        return n_valid_bytes

    def _take(self, record: Mapping[str, Any]) -> None:
        """Takes over what a line of the file says."""
        number = _whole(record["n"])
        self._next_number = max(self._next_number, number + 1)
        if "asked" in record:
            self._open[number] = _stored_cost(record["most"])
            self._unanswered.add(str(record["asked"]))
            return
        self._open.pop(number, None)
        self.budget.spend(_stored_cost(record["cost"]))
        if "answer" in record:
            name = str(record["answer"])
            self._answers[name] = _reply(record["reply"])
            self._unanswered.discard(name)


def _cannot_write(path: Path | None, error: OSError, advice: str = "") -> OutputError:
    is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    why = "the disk is full" if is_full else error.strerror or error
    return OutputError(f"Cannot write {path}: {why}.{advice}")


def _is_cut_off(piece: bytes) -> bool:
    """Whether this may be the beginning of a line of a log, as a kill leaves it.

    >>> _is_cut_off(b'{"answer":"7f","n":0,"co'), _is_cut_off(b'{"as'), _is_cut_off(b'{"answer":"42"}')
    (True, True, False)
    """
    piece = piece.rstrip(b"\0")  # as a power loss leaves it in some file systems
    if not piece:
        return True
    for kind in LINE_KINDS:
        name, _, rest = piece[len(kind) :].partition(b'"')
        has_beginning = piece[: len(kind)] == kind[: len(piece)] and HASH_PATTERN.fullmatch(name)
        if has_beginning and rest[: len(AFTER_NAME)] == AFTER_NAME[: len(rest)]:
            return True
    return False


LINE_KINDS = (b'{"asked":"', b'{"answer":"', b'{"failed":"')
"""How lines of a log begin; the name of the request follows, then `AFTER_NAME`."""
AFTER_NAME = b',"n":'
HASH_PATTERN = re.compile(rb"[0-9a-z]*")


def _cost_of(reply: Reply, most: Cost) -> Cost:
    """The tokens of an answer as the endpoint counted them; where it does not say, the most
    possible."""
    return Cost(
        most.tokens_in if reply.tokens_in is None else reply.tokens_in,
        most.tokens_out if reply.tokens_out is None else reply.tokens_out,
    )


def _plain(reply: Reply) -> dict[str, Any]:
    """A reply as plain values, without those that are the default."""
    defaults = asdict(Reply(""))
    fields = {name: value for name, value in asdict(reply).items() if value != defaults.get(name)}
    return {"reply": {"text": reply.text, **fields}}


def _reply(record: Mapping[str, Any]) -> Reply:
    """The reply in a line of the log. Raises ValueError or TypeError if the record is not a reply."""
    fields = dict(record)
    tokens = tuple(
        (str(token), tuple((str(other), float(logprob)) for other, logprob in top))
        for token, top in fields.pop("tokens", ())
    )
    without = fields.pop("without", [])
    if not isinstance(without, list) or not all(isinstance(name, str) for name in without):
        raise TypeError
    for name, value in fields.items():
        if name in ("tokens_in", "tokens_out", "ms"):
            _whole(value or 0)
        elif not isinstance(value, str):
            raise TypeError
    return Reply(**fields, tokens=tokens, without=tuple(without))


def _stored_cost(record: Sequence[Any]) -> Cost:
    tokens_in, tokens_out = record
    return Cost(_whole(tokens_in), _whole(tokens_out))


def _whole(value: object) -> int:
    """A whole number from 0 to `MAX_WHOLE`. Raises ValueError for anything else, which only a file that
    wellput did not write can have."""
    if not isinstance(value, int) or not 0 <= value <= MAX_WHOLE:
        raise ValueError
    return value


MAX_WHOLE = 10**15
"""More than any number of tokens or of requests in a run."""
