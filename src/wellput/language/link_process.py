"""One link grammar worker as its owner sees it: started when needed, asked, replaced when it dies."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from wellput.core.errors import InputError, WellputError
from wellput.language import link_worker
from wellput.language.link_worker import Answer, Settings

START_LIMIT = 60.0  # seconds; a dictionary takes a tenth of one to read
STARTS = 3  # before giving up: a process can be killed while starting, too
MISSING = (
    "Link grammar is not installed: {problem}. On Debian and Ubuntu: "
    "apt-get install liblink-grammar5 link-grammar-dictionaries-en. On macOS: "
    "brew install link-grammar."
)


class WorkerDied(Exception):
    """The process ended before its answer came."""


class NoAnswer(WorkerDied):
    """The process was ended because its answer did not come in time."""


class LinkProcess:
    """Not safe to share between threads; `LinkGrammar` lends it to one at a time."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        # Three attempts a sentence, and the library's timer may run over two times and more.
        self._answer_limit = 10.0 * settings["timeout"] + 10.0
        self._process: subprocess.Popen[bytes] | None = None
        self._received = b""
        self._version = ""

    @property
    def pid(self) -> int | None:
        """The process's id; None while there is none."""
        return self._process.pid if self._process else None

    @property
    def version(self) -> str:
        """The library's name and version, as it says itself: link-grammar-5.12.0."""
        self._running()
        return self._version

    def ask(self, sentence: str) -> Answer:
        """The answer to one sentence; WorkerDied when the process was lost over it.

        The next question starts a new process.
        """
        process = self._running()
        try:
            assert process.stdin is not None
            process.stdin.write(json.dumps(sentence).encode("ascii") + b"\n")
            process.stdin.flush()
        except OSError as error:
            self.close()
            raise WorkerDied from error
        answer: Answer = self._receive(process, self._answer_limit)
        return answer

    def close(self) -> None:
        """End the process and wait for its end; harmless when there is none."""
        process, self._process, self._received = self._process, None, b""
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            with suppress(BrokenPipeError):  # a question left unsent is no longer asked
                stream.close()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        for _ in range(STARTS):
            with suppress(WorkerDied):
                return self._start()
        raise WellputError(
            f"Link grammar processes ended while starting, {STARTS} of them: the library or its "
            "dictionary may be damaged, or memory exhausted."
        )

    def _start(self) -> subprocess.Popen[bytes]:
        self.close()
        self._process = process = subprocess.Popen(
            [sys.executable, "-I", str(Path(link_worker.__file__)), json.dumps(self._settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
        )
        greeting = self._receive(process, START_LIMIT)
        if "error" in greeting:
            self.close()
            raise InputError(MISSING.format(problem=greeting["error"]))
        self._version = greeting["version"]
        return process

    def _receive(self, process: subprocess.Popen[bytes], limit: float) -> Any:
        """The next line; the process is ended when none comes within `limit` seconds."""
        assert process.stdout is not None
        deadline = time.monotonic() + limit
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._received:
                ready = selector.select(max(0.0, deadline - time.monotonic()))
                chunk = os.read(process.stdout.fileno(), 65536) if ready else b""
                if not chunk:
                    self.close()
                    raise WorkerDied if ready else NoAnswer
                self._received += chunk
        line, _, self._received = self._received.partition(b"\n")
        return json.loads(line)
