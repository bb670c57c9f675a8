"""`ask_all` sends many requests to a model, several at a time. It waits when the endpoint asks for it,
tries again after temporary failures, stops at the limit of costs, and sends no request that the log of
answers has an answer to.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from wellput.core.errors import WellputError
from wellput.core.work import OnProgress, ignore_progress
from wellput.studies.machines.answer_log import AnswerLog
from wellput.studies.machines.budget import Cost
from wellput.studies.machines.endpoint import Rejected, TemporaryFailure, unreachable
from wellput.studies.machines.readings import Reply

FIRST_DELAY_SECONDS = 0.5
LONGEST_DELAY_SECONDS = 60.0
MAX_WAITS = 100
"""How often a request may be put off because the endpoint asks to wait."""
MAX_CONNECTIONS_WITHOUT_ANSWER = 10
"""After this many failed connections and no answer, the endpoint counts as down."""
MAX_REJECTIONS_WITHOUT_ANSWER = 5
"""After this many rejected requests, a model that has never answered seems to reject every request."""


class ChatModel(Protocol):
    """A model that answers requests of the OpenAI protocol: an `Endpoint` or a `LocalModel`."""

    model: str

    @property
    def identity(self) -> Mapping[str, str]: ...

    @property
    def digest(self) -> str: ...

    def complete(self, request: Mapping[str, Any]) -> Reply: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Request:
    """A request: its name in the log (a hash), its contents, and the most that it can cost."""

    name: str
    body: Mapping[str, Any]
    max_cost: Cost


@dataclass
class RequestOutcome:
    """The outcome of many requests. `failures` and `rejections` have the reasons why requests have no
    answer, by the name of the request; a failed request may succeed later, a rejected one will not."""

    failures: dict[str, str] = field(default_factory=dict)
    rejections: dict[str, str] = field(default_factory=dict)
    n_answered: int = 0
    n_retries: int = 0
    is_cost_limit_reached: bool = False


def ask_all(
    model: ChatModel,
    requests: Sequence[Request],
    log: AnswerLog,
    *,
    parallel: int,
    retries: int,
    has_answered: bool = False,
    on_progress: OnProgress = ignore_progress,
    sleep: Callable[[float], None] = time.sleep,
) -> RequestOutcome:
    """Sends the requests that the log has no answer to, from `parallel` threads: first those that were
    never sent. Their answers are then in the log. `has_answered` says that the model has answered
    before, which the log need not know.

    Raises InputError if no request can succeed (a wrong key, an endpoint that is down), WellputError if
    a model that has never answered rejects every request.
    """
    unanswered = {
        request.name: request for request in requests if log.answer_to(request.name) is None
    }
    # An answer in the log may also be that of another model, to other requests.
    has_answered = has_answered or any(request.name not in unanswered for request in requests)
    work = _Work(model, log, retries, has_answered, on_progress, sleep, max(1, retries) * parallel)
    open_requests: SimpleQueue[Request] = SimpleQueue()
    # `sorted` keeps the order of the requests that were never sent, and of the others.
    for request in sorted(unanswered.values(), key=lambda request: log.is_unanswered(request.name)):
        open_requests.put(request)
    n_open = open_requests.qsize()
    on_progress(len(requests) - n_open)
    threads = [
        threading.Thread(target=work.run, args=(open_requests,), daemon=True)
        for _ in range(min(parallel, n_open))
    ]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            # A join without a time limit could not be interrupted by Ctrl-C.
            while thread.is_alive():
                thread.join(0.2)
    finally:
        work.stop()
    if work.error is not None:
        raise work.error
    return work.outcome


class _Work:
    """The work of the threads of one `ask_all`, and the state that they share."""

    def __init__(
        self,
        model: ChatModel,
        log: AnswerLog,
        retries: int,
        has_answered_before: bool,
        on_progress: OnProgress,
        sleep: Callable[[float], None],
        max_failures_in_a_row: int,
    ) -> None:
        self.model, self.log, self.retries = model, log, retries
        self.has_answered_before = has_answered_before
        self.on_progress, self.sleep = on_progress, sleep
        self.outcome = RequestOutcome()
        self.error: BaseException | None = None
        self.is_stopped = threading.Event()
        self._lock = threading.Lock()
        self._resume_at = 0.0
        self._failures_in_a_row = 0
        self._n_not_sent = 0
        self._max_failures_in_a_row = max_failures_in_a_row

    def run(self, requests: SimpleQueue[Request]) -> None:
        """What one thread does: it takes requests from the queue and sends them, until there are no
        more or another thread has stopped the work."""
        try:
            while not self.is_stopped.is_set():
                try:
                    request = requests.get_nowait()
                except Empty:
                    break
                self._ask(request)
        except BaseException as error:
            with self._lock:
                self.error = self.error or error
            self.stop()
        finally:
            self.model.close()

    def stop(self) -> None:
        """Lets all threads end after the request that they have under way."""
        self.is_stopped.set()
        self.log.budget.wake()

    def _ask(self, request: Request) -> None:
        """Sends a request until it is answered, is rejected, or has failed too often."""
        n_failures = n_waits = 0
        while True:
            self._wait_for_the_endpoint()
            if self.is_stopped.is_set():
                return
            is_stopped = self.is_stopped.is_set
            if not self.log.budget.reserve(request.max_cost, is_stopped=is_stopped):
                # The limit is not the reason if another thread stopped the work meanwhile.
                self.outcome.is_cost_limit_reached |= not is_stopped()
                self.stop()
                return
            number = self.log.begin(request.name, request.max_cost)
            try:
                reply = self.model.complete(request.body)
            except TemporaryFailure as failure:
                self.log.failed(number, request.name, str(failure), may_cost=failure.may_cost)
                self._note_failure(failure)
                n_waits += failure.wait is not None
                n_failures += failure.wait is None
                if n_failures > self.retries or n_waits > MAX_WAITS:
                    self.outcome.failures[request.name] = str(failure)
                    return
                self._delay(n_failures, failure.wait)
            except Rejected as rejection:
                self.log.failed(number, request.name, str(rejection), may_cost=False)
                self._note_rejection(request.name, str(rejection))
                return
            except BaseException as error:
                self.log.failed(number, request.name, type(error).__name__, may_cost=True)
                raise
            else:
                self.log.answered(number, request.name, reply)
                with self._lock:
                    self._failures_in_a_row = 0
                    self.outcome.n_answered += 1
                    self.on_progress(1)
                return

    def _wait_for_the_endpoint(self) -> None:
        """Waits as long as the endpoint has asked for: the pause is for all threads."""
        while (seconds := self._resume_at - time.monotonic()) > 0 and not self.is_stopped.is_set():
            self.sleep(min(seconds, 1.0))

    def _delay(self, n_failures: int, wait: float | None) -> None:
        """Waits after a failure, longer after each further failure of the request. The time is random,
        so that threads do not all try again at the same moment. `wait` is how many seconds the
        endpoint asks to wait, None if it does not."""
        if wait is not None:
            with self._lock:
                self._resume_at = max(self._resume_at, time.monotonic() + wait)
        delay = min(FIRST_DELAY_SECONDS * 2 ** max(0, n_failures - 1), LONGEST_DELAY_SECONDS)
        self.sleep(delay * random.uniform(0.5, 1.0))

    def _note_failure(self, failure: TemporaryFailure) -> None:
        """Counts a failure. Raises Unreachable if the endpoint seems to be down."""
        with self._lock:
            self.outcome.n_retries += 1
            # An endpoint that asks to wait is not down.
            self._failures_in_a_row += failure.wait is None
            self._n_not_sent += not failure.is_sent
            has_never_answered = (
                not self.outcome.n_answered and self._n_not_sent >= MAX_CONNECTIONS_WITHOUT_ANSWER
            )
            if has_never_answered or self._failures_in_a_row > self._max_failures_in_a_row:
                raise unreachable(self.model.identity.get("endpoint", "The model"), str(failure))

    def _note_rejection(self, name: str, why: str) -> None:
        """Notes a rejection. Raises WellputError if the model seems to reject every request: it has
        rejected several, and has never answered any."""
        with self._lock:
            self.outcome.rejections[name] = why
            is_too_often = len(self.outcome.rejections) >= MAX_REJECTIONS_WITHOUT_ANSWER
            has_answered = self.has_answered_before or self.outcome.n_answered > 0
            if is_too_often and not has_answered:
                raise WellputError(f"The model rejects every request: {why}.")
