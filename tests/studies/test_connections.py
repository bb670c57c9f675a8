"""Half-sent requests, too many connections and forged headers do not keep judges out."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import http.client
import resource
import shutil
import socket
import ssl
import subprocess
import threading
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import uvicorn
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from tests.studies.served_study import client_of, new_store
from tests.studies.serving import HOST, ServedStudy
from wellput.studies import connections
from wellput.studies.app import create_app, listening_socket, serve, server_messages
from wellput.studies.connections import (
    CONNECTION,
    MAX_BYTES_AHEAD,
    MAX_PIECES,
    MAX_TURNS,
    MAX_UNREAD_BYTES,
    ConnectionLimits,
    LimitedConnection,
    LimitedServer,
    TurnQueue,
    allow_open_files,
)
from wellput.studies.owner_sessions import OwnerSessions
from wellput.studies.security import MAX_WRONG_TOKENS
from wellput.studies.store import Store

HALF_SENT = b"POST /dashboard HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\ntoken="
HALF_HEADERS = b"GET / HTTP/1.1\r\nHost: x\r\n"
WAIT_SECONDS = 15.0


@contextlib.contextmanager
def running(
    folder: Path,
    limits: ConnectionLimits,
    *,
    kernel_bytes: int | None = None,
    certificate: Path | None = None,
    before: Callable[[int], None] = lambda port: None,
    keep_alive_seconds: int = 5,
    store: Store | None = None,
) -> Iterator[tuple[int, LimitedServer]]:
    """Serves a study in a thread. Yields the port and the server. Of an answer that is not read, the
    kernel takes about `kernel_bytes`. `before` may connect before the server accepts anything."""
    config = uvicorn.Config(
        create_app(store or new_store(folder)),
        lifespan="off",
        log_config=None,
        timeout_graceful_shutdown=1,
        timeout_keep_alive=keep_alive_seconds,
        ssl_certfile=certificate,
    )
    config.load()
    server = LimitedServer(config, limits)
    with listening_socket(HOST, 0) as open_socket:
        port: int = open_socket.getsockname()[1]
        if kernel_bytes is not None:
            open_socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, kernel_bytes)
        before(port)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [open_socket]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield port, server
        finally:
            server.should_exit = True
            thread.join(WAIT_SECONDS)
            assert not thread.is_alive()


@contextlib.contextmanager
def serving(folder: Path, limits: ConnectionLimits) -> Iterator[int]:
    """Serves a study in a thread. Yields the port."""
    with running(folder, limits) as (port, _):
        yield port


def is_soon(condition: Callable[[], bool]) -> bool:
    """Whether something becomes true. Waits for it."""
    until = time.monotonic() + WAIT_SECONDS
    while not condition() and time.monotonic() < until:
        time.sleep(0.01)
    return condition()


def sent(port: int, data: bytes) -> socket.socket:
    connection = socket.create_connection((HOST, port), timeout=WAIT_SECONDS)
    connection.sendall(data)
    return connection


def received_until(connection: socket.socket, mark: bytes, n: int = 1) -> bytes:
    """All that the server sends until a mark has come `n` times."""
    received = b""
    while received.count(mark) < n:
        piece = connection.recv(65536)
        assert piece, f"the connection ended with {received[-200:]!r}"
        received += piece
    return received


def is_closed(connection: socket.socket) -> bool:
    """Whether the server has ended the connection. Waits for it."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def status_of(connection: http.client.HTTPConnection, path: str = "/") -> int:
    connection.request("GET", path)
    response = connection.getresponse()
    response.read()
    return response.status


@pytest.mark.heavy
@pytest.mark.parametrize("half", [HALF_SENT, HALF_HEADERS, b""])
def test_a_request_that_does_not_arrive_is_ended(tmp_path: Path, half: bytes) -> None:
    with serving(tmp_path, ConnectionLimits(request_seconds=0.2)) as port:
        connection = sent(port, half)
        assert is_closed(connection)
        connection.close()
        # One that arrives is answered, twice on one connection.
        client = http.client.HTTPConnection(HOST, port, timeout=WAIT_SECONDS)
        assert [status_of(client) for _ in range(2)] == [200, 200]
        client.close()


@pytest.mark.heavy
def test_too_many_connections_close_the_longest_unfinished_ones(tmp_path: Path) -> None:
    limits = ConnectionLimits(request_seconds=600, max_connections=5)
    with serving(tmp_path, limits) as port:
        idle = http.client.HTTPConnection(HOST, port, timeout=WAIT_SECONDS)
        assert status_of(idle) == 200
        half_sent = [sent(port, HALF_SENT) for _ in range(12)]
        assert all(is_closed(connection) for connection in half_sent[:8])
        new = http.client.HTTPConnection(HOST, port, timeout=WAIT_SECONDS)
        assert status_of(new) == 200
        assert status_of(idle) == 200  # a judge's connection is not among the closed ones
        assert len(limits.unfinished) <= 5
        for connection in half_sent:
            connection.close()
        idle.close()
        new.close()


def test_idle_connections_make_room_for_a_new_one(tmp_path: Path) -> None:
    with (
        serving(tmp_path, ConnectionLimits(max_connections=5)) as port,
        contextlib.ExitStack() as stack,
    ):
        for _ in range(7):
            client = http.client.HTTPConnection(HOST, port, timeout=WAIT_SECONDS)
            assert status_of(stack.enter_context(contextlib.closing(client))) == 200


TO_THE_DASHBOARD = b"GET /dashboard HTTP/1.1\r\nHost: x\r\nCookie: wellput_owner=x\r\n\r\n"


@pytest.mark.heavy
def test_requests_of_strangers_that_wait_do_not_keep_judges_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The server needs until `may_go_on` to see that somebody is not the owner.
    may_go_on = threading.Event()
    monkeypatch.setattr(OwnerSessions, "is_open", lambda *_: not may_go_on.wait(WAIT_SECONDS))
    monkeypatch.setattr(connections, "MAX_TURNS", 2)
    store = new_store(tmp_path)
    judge, _ = store.invite(2)
    limits = ConnectionLimits(request_seconds=600, max_connections=5)
    with (
        running(tmp_path, limits, store=store) as (port, server),
        contextlib.ExitStack() as stack,
    ):
        strangers = [stack.enter_context(sent(port, 50 * TO_THE_DASHBOARD)) for _ in range(5)]
        assert is_soon(lambda: len(limits.begun) == 2 and len(limits.waiting) == 3)
        for _ in range(2):
            client = http.client.HTTPConnection(HOST, port, timeout=WAIT_SECONDS)
            stack.enter_context(contextlib.closing(client))
            assert status_of(client, f"/judge/{judge.token}") == 200
        assert len(server.server_state.connections) <= 5
        newest = stack.enter_context(sent(port, TO_THE_DASHBOARD))
        assert is_soon(lambda: len(limits.waiting) > 0)
        may_go_on.set()
        assert newest.recv(100).startswith(b"HTTP/1.1 200")
        for stranger in strangers:
            stranger.close()
        assert is_soon(lambda: not limits.begun and not limits.waiting)


def test_a_judge_does_not_wait_except_behind_an_own_request() -> None:
    answered = []
    may_go_on = asyncio.Event()

    class Connection:
        @contextlib.asynccontextmanager
        async def in_turn(self) -> AsyncIterator[bool]:
            await may_go_on.wait()
            yield True

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        answered.append(scope["path"])
        await asyncio.sleep(0)

    async def ask() -> None:
        in_turn: Any = TurnQueue(app, judge_of=lambda scope: scope["judge"])
        connection = Connection()
        state = {CONNECTION: lambda: connection}
        asked = [("/1", "ann"), ("/2", "ann"), ("/3", None), ("/4", "ben")]
        tasks = [
            asyncio.create_task(in_turn({"path": path, "judge": judge, "state": state}, None, None))
            for path, judge in asked
        ]
        await asyncio.gather(tasks[0], tasks[3])
        assert answered == ["/1", "/4"]
        may_go_on.set()
        await asyncio.gather(*tasks)
        assert sorted(answered) == ["/1", "/2", "/3", "/4"]

    asyncio.run(ask())


def test_quick_answers_to_strangers_let_others_come_in_between() -> None:
    config = uvicorn.Config(lambda: None, log_config=None)
    config.load()
    limits = ConnectionLimits()
    answered = []

    async def ask(number: int) -> None:
        connection = LimitedConnection(
            limits=limits, config=config, server_state=ServerState(), app_state={}
        )
        async with connection.in_turn():
            answered.append(number)

    async def ask_all() -> None:
        tasks = [asyncio.create_task(ask(number)) for number in range(MAX_TURNS + 3)]
        await asyncio.sleep(0)
        assert len(answered) == MAX_TURNS
        await asyncio.gather(*tasks)
        # Of those that waited, the newest came first.
        assert answered[MAX_TURNS:] == [MAX_TURNS + 2, MAX_TURNS + 1, MAX_TURNS]

    asyncio.run(ask_all())
    assert not limits.waiting and not limits.begun


LONG_ANSWER = b"GET /static/htmx.min.js HTTP/1.1\r\nHost: x\r\n"
UNREAD = {
    # The 52 kB wait in the server, which is below the size from which it stops writing.
    "and the connection is closed": LONG_ANSWER + b"Connection: close\r\n\r\n",
    "and the server stops writing": 4 * (LONG_ANSWER + b"\r\n"),
    "and the next request is wrong": LONG_ANSWER + b"\r\nwrong\r\n\r\n",
}


def test_a_burst_does_not_close_a_request_that_has_arrived(tmp_path: Path) -> None:
    opened: list[socket.socket] = []

    def connect(port: int) -> None:
        opened.append(sent(port, b"GET /dashboard HTTP/1.1\r\nHost: x\r\n\r\n"))
        opened.extend(sent(port, HALF_SENT) for _ in range(60))

    with running(tmp_path, ConnectionLimits(max_connections=20), before=connect):
        assert opened[0].recv(100).startswith(b"HTTP/1.1 200")
    for connection in opened:
        connection.close()


@contextlib.contextmanager
def sent_by_some_who_do_not_read(port: int, data: bytes, n: int) -> Iterator[None]:
    """Sends requests on `n` connections. Each reads the first byte of the answer, and no more."""
    with contextlib.ExitStack() as stack:
        for _ in range(n):
            connection = stack.enter_context(socket.socket())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            connection.settimeout(WAIT_SECONDS)
            connection.connect((HOST, port))
            connection.sendall(data)
            assert connection.recv(1) == b"H"
        yield


@pytest.mark.heavy
@pytest.mark.parametrize("requests", UNREAD.values(), ids=UNREAD)
def test_answers_that_nobody_reads_do_not_keep_judges_out(tmp_path: Path, requests: bytes) -> None:
    limits = ConnectionLimits(request_seconds=600, max_connections=5)
    with (
        running(tmp_path, limits, kernel_bytes=4096) as (port, server),
        sent_by_some_who_do_not_read(port, requests, 5),
        contextlib.closing(http.client.HTTPConnection(HOST, port, timeout=WAIT_SECONDS)) as new,
    ):
        assert is_soon(lambda: len(limits.unfinished) == 5)
        assert status_of(new) == 200
        assert len(server.server_state.connections) == 5


class UnreadConnection:
    """Stands for a connection whose client has not read so much."""

    def __init__(self, n_bytes: int) -> None:
        self.n_unread_bytes = n_bytes
        self.is_open = True
        self.transport = self

    def abort(self) -> None:
        self.is_open = False


def test_unread_answers_take_limited_memory() -> None:
    limits = ConnectionLimits()
    third = MAX_UNREAD_BYTES // 3
    connections: list[Any] = [UnreadConnection(n) for n in (third, 0, third, third, third, third)]
    for connection in connections:
        limits.unfinished[connection] = None
        limits.limit_unread(connection)
    assert [connection.is_open for connection in connections] == [
        False, True, False, True, True, True,
    ]  # fmt: skip
    alone: Any = UnreadConnection(2 * MAX_UNREAD_BYTES)
    limits.unfinished[alone] = None
    limits.limit_unread(alone)
    assert alone.is_open and not any(connection.is_open for connection in connections[2:])


@pytest.mark.heavy
def test_of_too_many_unread_answers_the_oldest_are_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MAX_UNREAD_BYTES", 1)
    limits = ConnectionLimits(request_seconds=600)
    with (
        running(tmp_path, limits, kernel_bytes=4096) as (port, server),
        sent_by_some_who_do_not_read(port, UNREAD["and the server stops writing"], 5),
    ):
        assert is_soon(lambda: len(server.server_state.connections) == 1)


HALF_OF_THE_NEXT = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + HALF_SENT


@pytest.mark.heavy
@pytest.mark.parametrize("requests", [*UNREAD.values(), HALF_OF_THE_NEXT], ids=[*UNREAD, "half"])
def test_a_client_that_does_not_go_on_is_ended(tmp_path: Path, requests: bytes) -> None:
    limits = ConnectionLimits(request_seconds=0.5)
    with (
        running(tmp_path, limits, kernel_bytes=4096) as (port, server),
        sent_by_some_who_do_not_read(port, requests, 1),
    ):
        assert is_soon(lambda: not server.server_state.connections)
        assert not limits.unfinished and not limits.idle


REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.heavy
def test_of_requests_that_are_sent_ahead_little_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = []
    as_it_is = LimitedConnection.data_received

    def received(self: LimitedConnection, data: bytes) -> None:
        as_it_is(self, data)
        ahead.append(len(self.conn.trailing_data[0]))

    monkeypatch.setattr(LimitedConnection, "data_received", received)
    limit = 256 * 1024 + MAX_BYTES_AHEAD  # one reading of a connection is 256 KiB
    with serving(tmp_path, ConnectionLimits()) as port:
        connection = sent(port, REQUEST * 2)
        received_until(connection, b"HTTP/1.1 200", 2)
        connection.settimeout(0.2)
        with contextlib.suppress(OSError):  # the server ends the connection
            for _ in range(40):
                connection.sendall(REQUEST * 4000)
                if max(ahead) > limit:
                    break
        connection.close()
    assert max(ahead) <= limit


IN_CHUNKS = b"POST /nothing HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.heavy
@pytest.mark.parametrize(("n_chunks", "status"), [(MAX_PIECES, b"404"), (MAX_PIECES + 1, b"400")])
def test_a_body_in_too_many_pieces_is_refused(tmp_path: Path, n_chunks: int, status: bytes) -> None:
    chunks = b"1\r\nx\r\n" * n_chunks
    with serving(tmp_path, ConnectionLimits()) as port:
        # The second request of a connection may have as many as the first.
        connection = sent(port, IN_CHUNKS + b"1\r\nx\r\n" * 2 + b"0\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 404")
        connection.sendall(IN_CHUNKS + chunks + b"0\r\n\r\n")
        received_until(connection, b"HTTP/1.1 " + status)
        connection.close()


@pytest.mark.heavy
def test_a_connection_that_was_reset_is_forgotten(tmp_path: Path) -> None:
    limits = ConnectionLimits()
    with running(tmp_path, limits, keep_alive_seconds=1) as (port, server):
        for _ in range(3):
            connection = sent(port, REQUEST)
            assert connection.recv(1) == b"H"  # what is not read makes closing a reset
            connection.close()
        assert is_soon(lambda: not server.server_state.connections)
        time.sleep(1.2)
        assert not limits.unfinished and not limits.idle


@pytest.mark.heavy
def test_a_lost_connection_is_freed_at_once(tmp_path: Path) -> None:
    kept: weakref.WeakSet[LimitedConnection] = weakref.WeakSet()
    limits = ConnectionLimits()
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        with running(tmp_path, limits) as (port, server):
            for data in (REQUEST, REQUEST * 3, HALF_SENT, HALF_HEADERS):
                connection = sent(port, data)
                if data.startswith(REQUEST):
                    assert connection.recv(1) == b"H"
                assert is_soon(lambda: bool(server.server_state.connections))
                kept.update(cast("set[LimitedConnection]", server.server_state.connections))
                connection.close()
                assert is_soon(lambda: not server.server_state.connections)
            assert is_soon(lambda: not kept)
    finally:
        if was_enabled:
            gc.enable()


@pytest.mark.heavy
def test_what_strangers_ask_is_not_written_to_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    upgrade = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    with server_messages(), serving(tmp_path, ConnectionLimits()) as port:
        for data in (b"wrong\r\n\r\n", upgrade):
            connection = sent(port, data)
            assert connection.recv(1) == b"H"
            connection.close()
    assert capsys.readouterr().err == ""


def new_certificate(folder: Path) -> Path:
    """A certificate for this machine with its key, in one file."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs the program openssl")
    file = folder / "certificate.pem"
    subprocess.run(
        [
            *(openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", "/CN=test", "-addext", f"subjectAltName=IP:{HOST}"),
            *("-keyout", str(file), "-out", str(folder / "certificate.crt")),
        ],
        check=True,
        capture_output=True,
    )
    file.write_bytes(file.read_bytes() + (folder / "certificate.crt").read_bytes())
    return file


class EncryptingConnection:
    """Stands for a connection that is not encrypted yet, and for the task that encrypts it."""

    is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


def test_half_sent_requests_do_not_end_connections_that_begin_to_encrypt() -> None:
    limits = ConnectionLimits(max_connections=5)
    half_sent: list[Any] = [UnreadConnection(0) for _ in range(5)]
    limits.unfinished.update(dict.fromkeys(half_sent))
    encrypting: list[Any] = [EncryptingConnection() for _ in range(5)]
    for n, connection in enumerate(encrypting[:2], start=1):
        limits.handshakes[connection] = connection
        limits.make_room(6 - n, half_sent[4])
    assert [connection.is_open for connection in half_sent] == [False, False, True, True, True]
    assert not any(connection.is_cancelled for connection in encrypting)

    # If there are more of those that encrypt, the longest of them is ended.
    limits.handshakes.update({connection: connection for connection in encrypting})
    limits.make_room(3, half_sent[4])
    assert [connection.is_cancelled for connection in encrypting] == [True, *(4 * [False])]
    assert sum(connection.is_open for connection in half_sent) == 3


@pytest.mark.heavy
def test_connections_that_are_not_encrypted_yet_are_counted(tmp_path: Path) -> None:
    certificate = new_certificate(tmp_path)
    limits = ConnectionLimits(request_seconds=600, max_connections=5)
    trusting = ssl.create_default_context(cafile=str(certificate))
    with (
        running(tmp_path, limits, certificate=certificate) as (port, server),
        contextlib.ExitStack() as stack,
    ):
        silent = [stack.enter_context(sent(port, b"")) for _ in range(12)]
        assert all(is_closed(connection) for connection in silent[:7])
        assert len(limits.handshakes) <= 5
        client = http.client.HTTPSConnection(HOST, port, timeout=WAIT_SECONDS, context=trusting)
        stack.enter_context(contextlib.closing(client))
        assert [status_of(client) for _ in range(2)] == [200, 200]
        assert is_closed(silent[7])  # it made room
        assert len(limits.handshakes) + len(server.server_state.connections) <= 5
        # Whoever does not encrypt is sent away, and nothing is left of it.
        plain = stack.enter_context(sent(port, HALF_HEADERS))
        assert is_closed(plain)
    assert not limits.handshakes


@pytest.mark.heavy
def test_half_sent_requests_do_not_keep_a_server_that_is_told_to_end(tmp_path: Path) -> None:
    new_store(tmp_path).close()
    with ServedStudy(str(tmp_path / "study.db")) as study:
        connections = [sent(study.port, HALF_SENT) for _ in range(20)]
        study.end(within_seconds=10)
        for connection in connections:
            connection.close()


def test_the_limit_on_open_files_is_raised_or_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    set_to = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: set_to.append(limits))
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 1_000_000))
    assert allow_open_files(1000) == 1000
    assert set_to == [(1000 + 1024 + 256, 1_000_000)]
    # 2,280 files are needed and 2,000 allowed: 280 connections fewer.
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 2000))
    assert allow_open_files(1000) == 720
    monkeypatch.setattr(resource, "getrlimit", lambda _: (5000, 5000))
    assert allow_open_files(1000) == 1000 and len(set_to) == 2


def guesses(folder: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> set[int]:
    """How the server answers guesses of a client on this machine, each said to be for another."""
    configs: list[uvicorn.Config] = []
    monkeypatch.setattr(LimitedServer, "run", lambda self, **_: configs.append(self.config))
    folder.mkdir()
    serve(new_store(folder), port=0, **options)
    client = TestClient(configs[0].loaded_app, client=(HOST, 50_000))
    return {
        client.get("/judge/guess", headers={"X-Forwarded-For": f"10.0.0.{n}"}).status_code
        for n in range(MAX_WRONG_TOKENS + 5)
    }


def test_only_a_trusted_proxy_says_who_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert guesses(tmp_path / "1", monkeypatch) == {404, 429}
    assert guesses(tmp_path / "2", monkeypatch, trust_proxy=["192.0.2.1"]) == {404, 429}
    assert guesses(tmp_path / "3", monkeypatch, trust_proxy=[HOST]) == {404}


def test_head_is_answered_as_get_without_the_body(tmp_path: Path) -> None:
    client = client_of(new_store(tmp_path))
    for path in ("/", "/dashboard", "/static/judge.js", "/nothing"):
        got, head = client.get(path), client.head(path)
        assert head.status_code == got.status_code and head.content == b""
        assert head.headers["content-length"] == str(len(got.content))


def test_the_body_of_a_response_does_not_wait_for_its_head_to_be_confirmed() -> None:
    with (
        listening_socket(HOST, 0) as open_socket,
        socket.create_connection(open_socket.getsockname(), timeout=10),
    ):
        accepted, _ = open_socket.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
