"""Limits on the connections of a study's server: how long a request may take to arrive, how many
connections may be open, and how many requests are answered at once.

A connection is *unfinished* while its request has not arrived completely, or while its client does not
read the answer. It is *idle* between two requests, and *waiting* while its request waits for its
*turn* to be answered. Connections that are not encrypted yet are a fourth group. If there are too many
connections, the largest group loses the connection that has been in it for longest. A judge's request
arrives within milliseconds, so thousands of half-sent requests and unread answers do not keep judges
out. Only a part of the allowed connections is accepted at once, so that a request that has arrived is
read before many others come.

A judge (somebody with a valid token) does not wait for a turn. Among strangers (everybody else), the
newest request is answered first. So thousands of requests that strangers send at once do not keep
judges out either.
"""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import dataclass, field
from socket import socket as Socket
from typing import Any, TypeAlias

import h11
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_SECONDS = 20.0
"""A request must arrive within this time. Its body has at most 256 KiB."""
MAX_CONNECTIONS = 1000
MAX_TURNS = 32
"""At most this many requests of strangers are answered at once. The server has 40 threads, so some are
left for judges."""
SHUTDOWN_SECONDS = 5
"""When the server is told to end, it waits this long for the requests that it is answering."""
TLS_HANDSHAKE_SECONDS = 10.0
ACCEPT_AGAIN_SECONDS = 0.1
"""If a connection cannot be accepted, the server waits this long before it tries again."""
MAX_WAITING_TO_BE_ACCEPTED = 1024
"""The system keeps at most this many connections that the server has not accepted yet."""
SHARE_ACCEPTED_AT_ONCE = 1 / 8
"""At most this share of the allowed connections is accepted at once. If more came in one burst, a
judge's connection could be closed before it is read."""
MAX_BYTES_AHEAD = 64 * 1024
"""If a client sends further requests before the first one is answered, at most this much of them is
kept. Browsers do not send requests ahead."""
MAX_PIECES = 1000
"""A body may arrive in at most this many pieces. A body of the allowed size in pieces of one byte would
take seconds to read, in which nobody else is answered."""
OTHER_FILES = 256
"""The number of files that the server may have open besides connections: the database, templates,
standard streams."""
MAX_UNREAD_BYTES = 128 * 1024 * 1024
"""If the answers that clients have not read take more memory than this, connections are closed."""
CONNECTION = "wellput_connection"
"""Under this key, the state of a request has a weak reference to its connection."""

Turn: TypeAlias = asyncio.Future[bool]
"""The turn of one request: a future that gets the result true when it is the request's turn, and false
if the connection is lost before."""


@dataclass
class ConnectionLimits:
    """The limits, and the connections that wait for their client or their turn. In each group, the
    connection that has been in it for longest comes first."""

    request_seconds: float = REQUEST_SECONDS
    max_connections: int = MAX_CONNECTIONS
    is_ending: bool = False
    """Whether the server is ending: connections that were just accepted are then closed."""
    handshakes: dict[LimitedConnection, asyncio.Task[None]] = field(default_factory=dict)
    """Connections that are not encrypted yet, and the tasks that encrypt them."""
    unfinished: dict[LimitedConnection, None] = field(default_factory=dict)
    idle: dict[LimitedConnection, None] = field(default_factory=dict)
    waiting: dict[LimitedConnection, Turn] = field(default_factory=dict)
    begun: set[Turn] = field(default_factory=set)
    """The turns of the strangers' requests that are being answered."""

    def end_wait_for_client(self, connection: LimitedConnection) -> None:
        """Takes a connection out of the groups that wait for their client: unfinished and idle."""
        self.unfinished.pop(connection, None)
        self.idle.pop(connection, None)

    def forget(self, connection: LimitedConnection) -> None:
        """Takes a connection out of all groups."""
        self.end_wait_for_client(connection)
        self.waiting.pop(connection, None)

    def begin(self, turn: Turn) -> None:
        """Begins a turn: its request is answered now."""
        self.begun.add(turn)
        turn.set_result(True)

    def end(self, turn: Turn) -> None:
        """Ends a turn, if it has begun, and begins the turn of the newest waiting request."""
        if turn in self.begun:
            self.begun.remove(turn)
            if self.waiting:
                self.begin(self.waiting.popitem()[1])

    def make_room(self, n_connections: int, newest: LimitedConnection) -> None:
        """Closes one connection if there are too many: the one that has been in the largest group for
        longest. If no connection is in a group, because all are being answered, closes the newest."""
        if n_connections + len(self.handshakes) <= self.max_connections:
            return
        groups: list[Collection[LimitedConnection]]
        groups = [self.unfinished, self.idle, self.waiting, self.handshakes]
        largest = max(groups, key=len)
        if largest is self.handshakes and self.handshakes:
            self.end_longest_handshake()
        else:
            longest = next(iter(largest), newest)
            self.forget(longest)
            longest.transport.abort()

    def limit_unread(self, newest: LimitedConnection) -> None:
        """Closes connections while unread answers take too much memory, first the one that has been
        unfinished for longest. Does not close the newest one."""
        n_bytes = {connection: connection.n_unread_bytes for connection in self.unfinished}
        total = sum(n_bytes.values())
        for connection, unread in n_bytes.items():
            if total <= MAX_UNREAD_BYTES:
                break
            if unread and connection is not newest:
                total -= unread
                self.forget(connection)
                connection.transport.abort()

    def end_longest_handshake(self) -> None:
        longest = next(iter(self.handshakes))
        self.handshakes.pop(longest).cancel()


class RequestReader(h11.Connection):
    """Reads the requests of one connection. A body in too many pieces is not a valid request."""

    n_pieces = 0
    """The number of pieces of the body that is being read."""

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        event = super().next_event()
        if isinstance(event, h11.Request):
            self.n_pieces = 0
        elif isinstance(event, h11.Data):
            self.n_pieces += 1
            if self.n_pieces > MAX_PIECES:
                raise h11.RemoteProtocolError("a body in too many pieces")
        return event


class LimitedConnection(H11Protocol):
    """One client's connection, which is closed if a request, or the client's reading of the answer,
    takes longer than allowed. Of uvicorn's attributes, `conn` reads the requests, and `cycle` is the
    latest request with its answer."""

    def __init__(self, *, limits: ConnectionLimits, **options: Any) -> None:
        super().__init__(**options)
        self.conn = RequestReader(h11.SERVER)
        self._limits = limits
        self._deadline: asyncio.TimerHandle | None = None
        self._turn: Turn | None = None
        # A weak reference makes no reference cycle, so a lost connection is freed at once.
        self.app_state[CONNECTION] = weakref.ref(self)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._limits.handshakes.pop(self, None)
        if self._limits.is_ending:
            transport.abort()
            return
        self._begin_deadline()
        self._limits.unfinished[self] = None
        self._limits.make_room(len(self.connections), self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_deadline()
        self._limits.forget(self)
        super().connection_lost(exc)
        # The timer of uvicorn would put the lost connection into a group again.
        self._unset_keepalive_if_required()
        if self._turn is not None and not self._turn.done():
            self._turn.set_result(False)

    def data_received(self, data: bytes) -> None:
        if self._is_too_far_ahead(data):
            # The connection ends with the answer, so the rest may be thrown away.
            self.cycle.keep_alive = False
            return
        if self in self._limits.idle:
            self._count_as_unfinished()
        super().data_received(data)
        self._note_state()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._note_state()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._turn is not None:
            self._limits.end(self._turn)  # others do not wait for a client that does not read
        self._note_state()
        self._limits.limit_unread(self)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._end_deadline()
        self._limits.end_wait_for_client(self)
        self._note_state()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._note_state()

    def shutdown(self) -> None:
        """Ends a connection when the server ends: at once, unless its request is being answered."""
        if self._is_unfinished:
            self.transport.abort()
        else:
            super().shutdown()

    @contextlib.asynccontextmanager
    async def in_turn(self) -> AsyncIterator[bool]:
        """Waits for the turn of the request that has arrived. Gives false if the client is gone by
        then."""
        turn = self._turn = self.loop.create_future()
        if len(self._limits.begun) < MAX_TURNS:
            self._limits.begin(turn)
        else:
            self._limits.waiting[self] = turn
        try:
            yield await turn
        finally:
            if self._limits.waiting.get(self) is turn:
                del self._limits.waiting[self]
            # The turn ends a little later: otherwise all answers that need no thread would be made
            # before another connection is accepted.
            self.loop.call_soon(self._limits.end, turn)

    def _note_state(self) -> None:
        """Counts the connection as unfinished, as idle, or as one whose request has arrived. If it was
        unfinished before and still is, it keeps its place in the group and its deadline."""
        # A connection that is being closed stays open until its client has read the rest.
        if self.transport.is_closing() or self.flow.write_paused:
            self._count_as_unfinished()
        elif self._is_idle:
            self._end_deadline()
            self._limits.end_wait_for_client(self)
            self._limits.idle[self] = None
        elif self._is_unfinished:
            self._count_as_unfinished()
        else:
            self._end_deadline()
            self._limits.end_wait_for_client(self)

    def _count_as_unfinished(self) -> None:
        self._limits.idle.pop(self, None)
        self._limits.unfinished.setdefault(self)
        self._begin_deadline()

    def _is_too_far_ahead(self, data: bytes) -> bool:
        """Whether the client has sent too much after a request that is not answered yet. The server
        goes on reading while a request waits, so without a limit all the memory would fill."""
        if self.conn.their_state is not h11.DONE or self.cycle.response_complete:
            return False
        return len(self.conn.trailing_data[0]) + len(data) > MAX_BYTES_AHEAD

    @property
    def n_unread_bytes(self) -> int:
        """How much of the answers the client has not read, and the kernel has not taken."""
        n_bytes: int = self.transport.get_write_buffer_size()
        return n_bytes

    @property
    def _is_unfinished(self) -> bool:
        """Whether more must come from the client before there is a whole request."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    @property
    def _is_idle(self) -> bool:
        """Whether a request was answered, and nothing of the next one has come."""
        is_answered = self.cycle is not None and self.cycle.response_complete
        return is_answered and self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]

    def _begin_deadline(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(
                self._limits.request_seconds, self.transport.abort
            )

    def _end_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class TurnQueue:
    """Lets requests wait for their turn. `judge_of` names the judge, or the owner, who sends a
    request; it is None for a stranger. A judge does not wait, unless another request of the same judge
    is being answered."""

    def __init__(self, app: ASGIApp, *, judge_of: Callable[[Scope], str | None]) -> None:
        self.app = app
        self._judge_of = judge_of
        self._being_answered: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        reference = scope.get("state", {}).get(CONNECTION)
        if reference is None:  # the application runs in another server, which has no turns
            await self.app(scope, receive, send)
            return
        judge = self._judge_of(scope)
        if judge is not None and judge not in self._being_answered:
            self._being_answered.add(judge)
            try:
                await self.app(scope, receive, send)
            finally:
                self._being_answered.remove(judge)
            return
        connection: LimitedConnection | None = reference()
        if connection is None:  # the client is gone
            return
        async with connection.in_turn() as is_open:
            if is_open:
                await self.app(scope, receive, send)


class LimitedServer(uvicorn.Server):
    """A server whose connections are limited."""

    def __init__(self, config: uvicorn.Config, limits: ConnectionLimits) -> None:
        super().__init__(config)
        self._limits = limits
        self._accepting: list[asyncio.Task[None]] = []

    async def startup(self, sockets: list[Socket] | None = None) -> None:
        """As uvicorn's, but with limits for the connections and for the TLS handshake."""
        loop = asyncio.get_running_loop()
        self.servers = []
        if self.config.ssl is None:
            at_once = max(1, int(SHARE_ACCEPTED_AT_ONCE * self._limits.max_connections))
            for socket in sockets or []:
                # asyncio has one number for connections that may wait and for those that are accepted
                # at once. The second call of listen allows more to wait.
                server = await loop.create_server(
                    self._new_connection, sock=socket, backlog=at_once
                )
                socket.listen(MAX_WAITING_TO_BE_ACCEPTED)
                self.servers.append(server)
        else:
            # asyncio's own server does not limit how many clients are in the TLS handshake.
            for socket in sockets or []:
                socket.setblocking(False)
                self._accepting.append(loop.create_task(self._accept_encrypted(socket)))
        self.started = True

    async def shutdown(self, sockets: list[Socket] | None = None) -> None:
        self._limits.is_ending = True
        for task in (*self._accepting, *self._limits.handshakes.values()):
            task.cancel()
        await super().shutdown(sockets)

    async def _accept_encrypted(self, socket: Socket) -> None:
        """Accepts connections and begins to encrypt them. If there are too many, those whose encryption
        takes longest are given up."""
        loop = asyncio.get_running_loop()
        limits = self._limits
        while True:
            try:
                accepted, _ = await loop.sock_accept(socket)
            except OSError:  # the client is gone, or there are too many open files
                await asyncio.sleep(ACCEPT_AGAIN_SECONDS)
                continue
            connection = self._new_connection()
            limits.handshakes[connection] = loop.create_task(self._encrypt(accepted, connection))
            if len(limits.handshakes) > limits.max_connections:
                limits.end_longest_handshake()
            # Waiting connections are accepted without a pause, so let other tasks go on here.
            await asyncio.sleep(0)

    async def _encrypt(self, accepted: Socket, connection: LimitedConnection) -> None:
        """Encrypts a connection that was accepted, and lets it begin."""
        loop = asyncio.get_running_loop()
        try:
            await loop.connect_accepted_socket(
                lambda: connection,
                accepted,
                ssl=self.config.ssl,
                ssl_handshake_timeout=TLS_HANDSHAKE_SECONDS,
            )
        except OSError:  # the client does not encrypt, or is gone: this needs no message
            accepted.close()
        finally:
            self._limits.handshakes.pop(connection, None)

    def _new_connection(self) -> LimitedConnection:
        return LimitedConnection(
            limits=self._limits, config=self.config, server_state=self.server_state, app_state={}
        )


def allow_open_files(max_connections: int) -> int:
    """Raises the process's limit on open files to what this many connections need. Returns how many
    connections the operating system allows, at most `max_connections`."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return max_connections
    # All connections of a burst are accepted before the first of them can be closed.
    needed = max_connections + MAX_WAITING_TO_BE_ACCEPTED + OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    if soft == unlimited or soft >= needed:
        return max_connections
    allowed = needed if hard == unlimited else min(needed, hard)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
        soft = allowed
    return max(1, max_connections - max(0, needed - soft))
