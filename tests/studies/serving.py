"""A study served by a separate process on the loopback address, and clients of its JSON interface, for
the tests of durability and the benchmark of load."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from typing import Any

HOST = "127.0.0.1"
START_SECONDS = 60.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


class ServedStudy:
    """`wellput study serve` on one port; it can be killed and started again."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts the server and waits until it answers."""
        code = "from wellput.cli import main; main()"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code, "study", "serve", self.url, "--port", str(self.port)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            assert self._process.poll() is None, "the server stopped by itself"
            try:
                socket.create_connection((HOST, self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise AssertionError("the server did not start")

    def kill(self) -> None:
        """Sends SIGKILL: the server cannot finish anything."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait(timeout=30)
            self._process = None

    def end(self, *, within_seconds: float) -> None:
        """Sends SIGTERM and waits. Fails if the server takes longer."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(timeout=within_seconds)
        self._process = None

    def __enter__(self) -> ServedStudy:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


class Client:
    """One judge's open connection. Where the server is gone, the response is None."""

    def __init__(self, port: int, token: str, *, timeout: float = 30.0) -> None:
        self._path = f"/api/judge/{token}"
        self._connection = http.client.HTTPConnection(HOST, port, timeout=timeout)

    def next(self) -> tuple[int, Any] | None:
        return self._request("GET", "/next", None)

    def answer(self, trial: str, answers: dict[str, Any], ms: int) -> tuple[int, Any] | None:
        return self._request("POST", "/answers", {"trial": trial, "answers": answers, "ms": ms})

    def close(self) -> None:
        self._connection.close()

    def _request(self, method: str, path: str, body: object) -> tuple[int, Any] | None:
        content = None if body is None else json.dumps(body)
        try:
            headers = {"Content-Type": "application/json"}
            self._connection.request(method, self._path + path, content, headers)
            response = self._connection.getresponse()
            return response.status, json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError):
            # Gone in the middle of it: whether the request was carried out cannot be known.
            self._connection.close()
            return None
