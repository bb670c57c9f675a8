"""A SIMULATED model behind a server on loopback that speaks the OpenAI protocol: no language model, but
a formula with planted biases and planted faults. It stops by itself at the end of its `with` block.

The formula: a text has a latent quality, `quality(text)`, from 0 to 1. A rating is the point of the
scale at that share, moved by the biases; a choice follows the difference of the two. All biases are in
points of the scale (for choices: in log odds).
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

FENCED = re.compile(r"<<<(\w+)\n(.*?)\n\1>>>", re.DOTALL)
SCALE = re.compile(r"one whole number from (-?\d+) to (-?\d+)")
ORDER_IN_TEXT = re.compile(r"[Aa]nswer (\w+)\.")


def hashed_quality(text: str) -> float:
    """A quality that depends on nothing but the text, evenly spread from 0 to 1."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 2**32


@dataclass
class Planted:
    """What the simulated model does wrong: `position` is added for what is shown first, `length` for
    each doubling of the words, `own` for texts that contain `own_mark`, `severity` for texts that
    contain one of its keys; `noise` is the standard deviation of one answer. With `obeys` it gives the
    answer that a text orders."""

    position: float = 0.0
    length: float = 0.0
    own: float = 0.0
    own_mark: str = "own:"
    severity: Mapping[str, float] = field(default_factory=dict)
    noise: float = 0.0
    obeys: bool = False
    slope: float = 4.0
    """Log odds of a choice for a difference in quality of 1."""


@dataclass
class Faults:
    """Shares of requests: `stalls` never get an answer in time, `garbled` get half a JSON text,
    `nonsense` get a text that is no allowed answer, `refusals` a refusal, `errors` status 500. Every
    `limit_every`-th request gets status 429 with Retry-After."""

    stalls: float = 0.0
    garbled: float = 0.0
    nonsense: float = 0.0
    refusals: float = 0.0
    errors: float = 0.0
    limit_every: int = 0
    retry_after: float = 0.05
    stall_seconds: float = 2.0


class SimulatedEndpoint:
    """The server. `answered` counts, by the hash of the request, how often a good answer was sent. A
    request with a text that it `rejects` gets status 400. Of several fingerprints each answer gets the
    next one."""

    def __init__(
        self,
        *,
        quality: Callable[[str], float] = hashed_quality,
        planted: Planted | None = None,
        faults: Faults | None = None,
        gives_logprobs: bool = True,
        unknown_parameters: tuple[str, ...] = (),
        key: str | None = None,
        fingerprint: str | Iterator[str] = "fp_simulated",
        rejects: Callable[[str], bool] = lambda text: False,
        seed: int = 1,
    ) -> None:
        self.quality, self.planted, self.faults = quality, planted or Planted(), faults or Faults()
        self.gives_logprobs, self.unknown_parameters = gives_logprobs, unknown_parameters
        self.key, self.fingerprint = key, fingerprint
        self.rejects = rejects
        self.answered: Counter[str] = Counter()
        self.n_requests = 0
        self.n_limited = 0
        self.n_stalled = 0
        self.tokens_answered = 0
        self.last_request: dict[str, Any] = {}
        self._rng = random.Random(seed)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def fault(self) -> str:
        """What happens to the next request."""
        with self._lock:
            self.n_requests += 1
            faults = self.faults
            if faults.limit_every and self.n_requests % faults.limit_every == 0:
                self.n_limited += 1
                return "limited"
            drawn = self._rng.random()
            for name in ("stalls", "garbled", "nonsense", "refusals", "errors"):
                drawn -= getattr(faults, name)
                if drawn < 0:
                    self.n_stalled += name == "stalls"
                    return name
            return ""

    def stall(self) -> None:
        self._stop.wait(self.faults.stall_seconds)

    def answer(self, body: Mapping[str, Any]) -> tuple[str, list[tuple[str, float]]]:
        """The text of the answer, and the log probabilities of all allowed answers."""
        task = body["messages"][-1]["content"]
        texts = [text for _, text in FENCED.findall(task)]
        if "JSON list" in task.rpartition(">>>")[2]:
            return self._spans(texts[-1]), []
        scale = SCALE.search(task.rpartition(">>>")[2])
        if scale:
            low, high = int(scale[1]), int(scale[2])
            value = self._rating(texts[-1], low, high, body)
            labels = [str(point) for point in range(low, high + 1)]
            weights = [math.exp(-((point - value) ** 2)) for point in range(low, high + 1)]
        else:
            odds = self._odds(texts[-2], texts[-1], body)
            labels = ["A", "B"]
            weights = [1 / (1 + math.exp(-odds)), 1 / (1 + math.exp(odds))]
        total = sum(weights)
        tops = [
            (label, math.log(max(w / total, 1e-30)))
            for label, w in zip(labels, weights, strict=True)
        ]
        tops.sort(key=lambda pair: -pair[1])
        return tops[0][0], tops

    def _spans(self, text: str) -> str:
        """Every word with an x is a minor error; a text without a full stop misses it."""
        wrong = [w for w in re.findall(r"\w+", text) if "x" in w]
        found: list[dict[str, str]] = [
            {"quote": word, "severity": "minor", "category": "spelling"} for word in wrong
        ]
        if "." not in text:
            found.append({"missing": ".", "severity": "major", "category": "omission"})
        return json.dumps(found)

    def _shift(self, text: str) -> float:
        planted = self.planted
        words = max(1, len(text.split()))
        shift = planted.length * math.log2(words) + planted.own * (planted.own_mark in text)
        return shift + sum(points for mark, points in planted.severity.items() if mark in text)

    def _rating(self, text: str, low: int, high: int, body: Mapping[str, Any]) -> float:
        order = ORDER_IN_TEXT.search(text)
        if self.planted.obeys and order and order[1].isdecimal():
            return float(order[1])
        noise = self._noise(body)
        return low + (high - low) * self.quality(text) + self._shift(text) + noise

    def _odds(self, first: str, second: str, body: Mapping[str, Any]) -> float:
        order = ORDER_IN_TEXT.search(second)
        if self.planted.obeys and order:
            return 9.0 if order[1] == "A" else -9.0
        difference = self.planted.slope * (self.quality(first) - self.quality(second))
        shift = self._shift(first) - self._shift(second) + self.planted.position
        return difference + shift + self._noise(body)

    def _noise(self, body: Mapping[str, Any]) -> float:
        """The same for the same request: the model is as deterministic as its seed."""
        if not self.planted.noise:
            return 0.0
        return random.Random(json.dumps(body, sort_keys=True)).gauss(0, self.planted.noise)

    def note_answer(self, name: str, tokens: int) -> None:
        with self._lock:
            self.answered[name] += 1
            self.tokens_answered += tokens


def _handler(endpoint: SimulatedEndpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            body = json.loads(raw)
            endpoint.last_request = body
            given = self.headers.get("Authorization", "").removeprefix("Bearer ")
            if endpoint.key is not None and given != endpoint.key:
                return self._error(401, f"Incorrect API key provided: {given}")
            for name in endpoint.unknown_parameters:
                if name in body:
                    return self._error(400, f"Unsupported parameter: '{name}' with this model.")
            shown = FENCED.findall(body["messages"][-1]["content"])
            if any(endpoint.rejects(text) for _, text in shown):
                return self._error(400, "this text is too long")
            fault = endpoint.fault()
            if fault == "limited":
                return self._error(
                    429, "Rate limit reached", {"Retry-After": f"{endpoint.faults.retry_after:g}"}
                )
            if fault == "errors":
                return self._error(500, f"The server had an error; your key is {given}")
            if fault == "stalls":
                endpoint.stall()
                self.close_connection = True
                return None
            return self._answer(body, raw, fault)

        def _answer(self, body: dict[str, Any], raw: bytes, fault: str) -> None:
            text, tops = endpoint.answer(body)
            if fault == "nonsense":
                text = "I would say it is about a 5 or so; \x1b[2J<script>alert(1)</script>"
            message: dict[str, Any] = {"role": "assistant", "content": text}
            if fault == "refusals":
                message = {"role": "assistant", "content": None, "refusal": "I cannot judge this."}
            tokens_in, tokens_out = len(raw) // 5, max(1, len(text) // 4)
            choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": "stop"}
            if endpoint.gives_logprobs and body.get("logprobs") and tops and fault == "":
                alternatives = [{"token": token, "logprob": value} for token, value in tops]
                first = {**alternatives[0], "top_logprobs": alternatives[: body["top_logprobs"]]}
                choice["logprobs"] = {"content": [first]}
            fingerprint = endpoint.fingerprint
            reply = json.dumps(
                {
                    "object": "chat.completion",
                    "model": f"{body['model']}-simulated",
                    "system_fingerprint": (
                        fingerprint if isinstance(fingerprint, str) else next(fingerprint)
                    ),
                    "choices": [choice],
                    "usage": {"prompt_tokens": tokens_in, "completion_tokens": tokens_out},
                }
            ).encode()
            if fault == "garbled":
                reply = reply[: len(reply) // 2]
            else:
                endpoint.note_answer(hashlib.sha256(raw).hexdigest(), tokens_in + tokens_out)
            self._send(200, reply)

        def _error(
            self, status: int, message: str, headers: Mapping[str, str] | None = None
        ) -> None:
            self._send(status, json.dumps({"error": {"message": message}}).encode(), headers)

        def _send(
            self, status: int, content: bytes, headers: Mapping[str, str] | None = None
        ) -> None:
            try:
                self.send_response(status)
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except OSError:  # the client is gone
                self.close_connection = True

    return Handler


def serve_forever(endpoint: SimulatedEndpoint, seconds: float) -> None:
    """Serves for a while; for trying by hand."""
    with endpoint:
        print(endpoint.url, flush=True)
        time.sleep(seconds)


if __name__ == "__main__":
    serve_forever(SimulatedEndpoint(), 3600)
