"""Parses sentences with the link grammar library of Sleator and Temperley, in separate processes.

A *linkage* joins the words of a sentence by links that the dictionary allows; the words that it leaves
out are its *nulls*. The parser looks for linkages with as few nulls as possible, then *post-processes*
(checks by further rules) at most `linkage_limit` of them; those that pass are *valid*. Mutton et al.
(2007) take two features of fluency from these numbers: the null count, and the share of invalid
linkages.

    with LinkGrammar(workers=2) as grammar:
        for parse in grammar.parse(["The cat sat on the mat.", "Cat the mat on sat the."]):
            print(parse.status, parse.null_count)      # parsed 0, parsed 2

The library can hang, abort or be killed because of a sentence; `LinkParse.status` then says so. A
`LinkProcess` runs one worker (`link_worker.py`): the worker's process is started when it is needed, and
replaced when it dies.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import LifoQueue
from threading import Lock
from types import TracebackType
from typing import Any, Literal, Self

from wellput.core.errors import InputError, WellputError
from wellput.language.models import link_worker
from wellput.language.models.link_worker import (
    PARSING_EFFORTS,
    LinkAnswer,
    LinkSettings,
    load_library,
)

MAX_START_SECONDS = 60.0  # usually a tenth of a second is enough to read the dictionary
MAX_PROCESS_STARTS = 3  # more than one, because a process can be killed while it starts
MISSING_LIBRARY_MESSAGE = (
    "Link grammar is not installed: {problem}. On Debian and Ubuntu: "
    "apt-get install liblink-grammar5 link-grammar-dictionaries-en. On macOS: "
    "brew install link-grammar."
)


class WorkerDied(Exception):
    """The process ended before its answer came."""


class NoAnswer(WorkerDied):
    """The process was ended because its answer did not come in time."""


class LinkProcess:
    """A process that parses one sentence at a time. It must not be used by two threads at once;
    `LinkGrammar` takes care of this."""

    def __init__(self, settings: LinkSettings) -> None:
        self._settings = settings
        # A sentence gets three attempts, and the library may take twice its time limit and more.
        self._answer_limit = 10.0 * settings["timeout"] + 10.0
        self._process: subprocess.Popen[bytes] | None = None
        self._received = b""
        self._version = ""

    @property
    def pid(self) -> int | None:
        """The process id; None while no process runs."""
        return self._process.pid if self._process else None

    @property
    def version(self) -> str:
        """The library's name and version, such as link-grammar-5.12.0."""
        self._running()
        return self._version

    def ask(self, sentence: str) -> LinkAnswer:
        """The worker's answer for one sentence. Raises WorkerDied if the process ends before it
        answers; the next call then starts a new process."""
        process = self._running()
        try:
            assert process.stdin is not None
            process.stdin.write(json.dumps(sentence).encode("ascii") + b"\n")
            process.stdin.flush()
        except OSError as error:
            self.close()
            raise WorkerDied from error
        answer: LinkAnswer = self._receive(process, self._answer_limit)
        return answer

    def close(self) -> None:
        """Ends the process, if there is one, and waits for its end."""
        process, self._process, self._received = self._process, None, b""
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            with suppress(BrokenPipeError):  # a sentence that was not sent yet is dropped
                stream.close()

    def _running(self) -> subprocess.Popen[bytes]:
        """The running process, which is started if there is none."""
        if self._process is not None and self._process.poll() is None:
            return self._process
        for _ in range(MAX_PROCESS_STARTS):
            with suppress(WorkerDied):
                return self._start()
        raise WellputError(
            f"{MAX_PROCESS_STARTS} link grammar processes in a row ended while starting: the library "
            "or its dictionary may be damaged, or memory may be exhausted."
        )

    def _start(self) -> subprocess.Popen[bytes]:
        """Starts the process that parses, and waits for its first message. Raises InputError if the
        library is missing."""
        self.close()
        self._process = process = subprocess.Popen(
            [sys.executable, "-I", str(Path(link_worker.__file__)), json.dumps(self._settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
        )
        greeting = self._receive(process, MAX_START_SECONDS)
        if "error" in greeting:
            self.close()
            raise InputError(MISSING_LIBRARY_MESSAGE.format(problem=greeting["error"]))
        self._version = greeting["version"]
        return process

    def _receive(self, process: subprocess.Popen[bytes], limit: float) -> Any:
        """The next line from the process, read as JSON; ends the process if no line comes within
        `limit` seconds."""
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


LinkStatus = Literal["parsed", "empty", "unparsed", "too-long", "timeout", "lost"]

# The library's limit, which includes its markers of the sentence's ends (walls) and the punctuation
# that it splits off.
MAX_WORDS = 254
MAX_WORD_BYTES = 150  # the library's buffers hold 180, and it does not check
CONTROL_CHARACTERS = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)], " ")


@dataclass(frozen=True, slots=True)
class LinkParse:
    """The library's result for one sentence.

    `status` is *parsed*; *empty* (no words); *unparsed* (the library gave no linkage at all);
    *too-long* (over 252 words); *timeout* (all three attempts ran out of time, or the library hung);
    *lost* (two processes died while parsing it). If the status is not *parsed*, `null_count` and `cost`
    are None, and the other counts are 0.

    `found` is the number of linkages, `post_processed` that of the linkages checked, and `valid` that
    of those that passed. `timeouts` is the number of attempts that ran out of time. In the second
    attempt most links may span at most 6 words, and in the third all links; null counts are then higher
    than those of a full search. `null_count` also counts the library's marker before the sentence (the
    wall), so it can exceed the number of words by 1. `cost` is the disjunct cost of the best linkage: a
    penalty for rare uses of words. Preferred words can make it negative.
    """

    sentence: str
    status: LinkStatus
    timeouts: int = 0
    null_count: int | None = None
    found: int = 0
    post_processed: int = 0
    valid: int = 0
    cost: float | None = None

    @property
    def invalid_ratio(self) -> float | None:
        """The share of invalid linkages among the post-processed ones (not among all that were
        found)."""
        if not self.post_processed:
            return None
        return 1.0 - self.valid / self.post_processed


class LinkGrammar:
    """A pool of link grammar processes, which are started when they are first needed, and a cache of
    results.

    `timeout` is in seconds, for each of three attempts; the library may take longer. The cache holds
    `cache_size` sentences; the least recently used are removed first.
    """

    def __init__(
        self,
        *,
        workers: int = 2,
        timeout: int = 3,
        linkage_limit: int = 1000,
        cache_size: int = 100_000,
    ) -> None:
        for name, value in (
            ("workers", workers),
            ("timeout", timeout),
            ("linkage_limit", linkage_limit),
        ):
            if value < 1:
                raise InputError(f"Link grammar's {name} must be at least 1, not {value}.")
        self._processes = [
            LinkProcess({"language": "en", "timeout": timeout, "linkage_limit": linkage_limit})
            for _ in range(workers)
        ]
        # The process that was used last is taken first, so that few sentences start few processes.
        self._idle: LifoQueue[LinkProcess] = LifoQueue()
        for process in self._processes:
            self._idle.put(process)
        self._cache: OrderedDict[str, LinkParse] = OrderedDict()
        self._cache_size = cache_size
        self._parsing = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the processes. A later `parse` starts new ones."""
        for process in self._processes:
            process.close()

    @property
    def version(self) -> str:
        """The library's name and version, such as link-grammar-5.12.0. Results depend on the
        version."""
        process = self._idle.get()
        try:
            return process.version
        finally:
            self._idle.put(process)

    @property
    def pids(self) -> list[int]:
        """The ids of the processes now running."""
        return [process.pid for process in self._processes if process.pid is not None]

    def parse(
        self, sentences: Iterable[str], *, on_progress: Callable[[int], None] = lambda _: None
    ) -> list[LinkParse]:
        """One result for each sentence, in order. Equal sentences are parsed once and counted once in
        `on_progress`."""
        all_sentences = list(sentences)
        with self._parsing:
            results = {sentence: self._known(sentence) for sentence in all_sentences}
            unknown = [sentence for sentence, parse in results.items() if parse is None]
            on_progress(len(results) - len(unknown))
            if unknown:
                _ = self.version  # a missing library is reported here, once
                with ThreadPoolExecutor(len(self._processes)) as threads:
                    for parse in threads.map(self._parse_one, unknown):
                        results[parse.sentence] = parse
                        on_progress(1)
            parses = {sentence: parse for sentence, parse in results.items() if parse is not None}
            self._remember(parses)
        return [parses[sentence] for sentence in all_sentences]

    def _known(self, sentence: str) -> LinkParse | None:
        """The result for a sentence, if no process is needed for it: it is in the cache, empty or too
        long."""
        if sentence in self._cache:
            return self._cache[sentence]
        words = cleaned(sentence).split(" ", MAX_WORDS)
        if words == [""]:
            return LinkParse(sentence, "empty")
        if len(words) > MAX_WORDS:
            return LinkParse(sentence, "too-long")
        return None

    def _parse_one(self, sentence: str) -> LinkParse:
        """The parse of a sentence by the next free process. If the process dies, the sentence is
        tried once more."""
        text = cleaned(sentence)
        process = self._idle.get()
        try:
            for _ in range(2):
                try:
                    return LinkParse(sentence, **process.ask(text))
                except NoAnswer:  # a second try would take as long
                    return LinkParse(sentence, "timeout", len(PARSING_EFFORTS))
                except WorkerDied:
                    continue
            return LinkParse(sentence, "lost")
        finally:
            self._idle.put(process)

    def _remember(self, parses: dict[str, LinkParse]) -> None:
        for sentence, parse in parses.items():
            # A lost sentence may succeed the next time; empty and too long ones need no process.
            if parse.status not in ("lost", "empty", "too-long"):
                self._cache[sentence] = parse
                self._cache.move_to_end(sentence)
        while len(self._cache) > self._cache_size:
            self._cache.popitem(last=False)


def is_installed() -> bool:
    """Whether the library is installed. A missing dictionary is noticed only at the first sentence."""
    try:
        load_library()
    except OSError:
        return False
    return True


def cleaned(sentence: str) -> str:
    """The sentence in a form that is safe for the library: with single spaces and without long words.

    Control characters become spaces (NUL would end the C string), and lone surrogates become question
    marks. Words are cut after 150 bytes; no word in the dictionary is longer.
    """
    text = sentence.translate(CONTROL_CHARACTERS).encode("utf-8", "replace")
    words = text.decode("utf-8").split()
    return " ".join(
        word
        if len(word) * 4 <= MAX_WORD_BYTES
        else word.encode("utf-8")[:MAX_WORD_BYTES].decode("utf-8", "ignore")
        for word in words
    )
