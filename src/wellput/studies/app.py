"""The web application of a study, and its server."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import (
    AI_PASSIVE,
    IPPROTO_TCP,
    SOCK_STREAM,
    TCP_NODELAY,
    create_server,
    getaddrinfo,
)
from socket import socket as Socket

import uvicorn
from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.responses import FileResponse, JSONResponse, Response

from wellput import __version__
from wellput.core.errors import InputError, cannot_listen
from wellput.studies.connections import (
    MAX_CONNECTIONS,
    MAX_WAITING_TO_BE_ACCEPTED,
    REQUEST_SECONDS,
    SHUTDOWN_SECONDS,
    ConnectionLimits,
    LimitedServer,
    TurnQueue,
    allow_open_files,
)
from wellput.studies.dashboard import dashboard_router
from wellput.studies.judge_api import api_router
from wellput.studies.judge_pages import pages_router
from wellput.studies.media import MarkdownMedium
from wellput.studies.open_pages import open_router
from wellput.studies.rendering import STATIC_FILES, check_template, load_markdown, page
from wellput.studies.security import (
    BodyLimit,
    Gate,
    HeadLimit,
    HeadRequests,
    SecurityHeaders,
    TrailingSlashes,
    WellputCookies,
    WrongTokenCounter,
    is_api,
    public_address_warning,
)
from wellput.studies.store import Store, StoreUnavailable
from wellput.studies.wording import ENGLISH, Wording

MAX_REASONS = 20
MAX_REASON_CHARACTERS = 500
"""A refusal has at most so many reasons, of so many characters each."""
MEDIA_TYPES = {".js": "text/javascript", ".svg": "image/svg+xml", ".css": "text/css"}


def create_app(store: Store, *, wrong_tokens: WrongTokenCounter | None = None) -> FastAPI:
    """The application: judges' pages, their JSON interface, and the owner's dashboard."""
    check_template(store.setup.design.template)
    words = store.setup.words
    if isinstance(store.setup.medium, MarkdownMedium):
        load_markdown()
    app = FastAPI(
        title="wellput study",
        version=__version__,
        description="Judge texts: fetch the next trial and answer it, until all are answered.",
        # FastAPI's pages about the interface load scripts from other servers. Only the schema is
        # served.
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        redirect_slashes=False,
    )
    gate = Gate(store, wrong_tokens or WrongTokenCounter())
    app.include_router(api_router(store, gate))
    app.include_router(pages_router(store, gate))
    app.include_router(dashboard_router(store, gate))
    app.include_router(open_router(store))
    # A request passes through these layers from the last one added to the first.
    app.add_middleware(TrailingSlashes)
    app.add_middleware(HeadRequests)
    app.add_middleware(TurnQueue, judge_of=gate.known_token_hash)
    app.add_middleware(BodyLimit)
    app.add_middleware(WellputCookies)
    app.add_middleware(HeadLimit)
    app.add_middleware(SecurityHeaders)

    @app.get("/", include_in_schema=False)
    def index(request: Request) -> Response:
        return page(
            request,
            "message.html",
            words=words,
            title=store.questionnaire.title,
            heading=words("states.welcome"),
            text=words("states.welcome_text"),
        )

    @app.get("/static/{name}", include_in_schema=False)
    def static(name: str) -> Response:
        if name not in STATIC_FILES:
            raise HTTPException(404, "This file does not exist.")
        return FileResponse(
            str(STATIC_FILES[name]),
            media_type=MEDIA_TYPES[Path(name).suffix],
            # Addresses carry a hash of the content, so a new version has a new address.
            headers={"Cache-Control": "public, max-age=31536000, immutable"},
        )

    @app.exception_handler(StarletteHTTPException)
    def refused(request: Request, error: StarletteHTTPException) -> Response:
        detail: object = error.detail
        reasons = [str(each) for each in detail] if isinstance(detail, list) else [str(detail)]
        return refusal(request, error.status_code, reasons, error.headers, words)

    @app.exception_handler(RequestValidationError)
    def malformed(request: Request, error: RequestValidationError) -> Response:
        # The message does not repeat the body, which may be anything, even text that cannot be encoded.
        reasons = [f"{_place(each['loc'])}: {each['msg']}" for each in error.errors()]
        return refusal(request, 422, reasons, None, words)

    @app.exception_handler(StoreUnavailable)
    def unavailable(request: Request, error: StoreUnavailable) -> Response:
        # The message names files and servers: it is for the person who runs the study.
        print(f"error: {error}", file=sys.stderr)
        return refusal(request, 503, [ENGLISH("errors.unavailable")], {"Retry-After": "5"}, words)

    return app


def refusal(
    request: Request,
    status: int,
    reasons: list[str],
    headers: Mapping[str, str] | None,
    words: Wording,
) -> Response:
    """A response with the reasons of a refusal: JSON for a program, a page for a person. It is short,
    whatever was refused."""
    n_hidden = len(reasons) - MAX_REASONS
    reasons = [reason[:MAX_REASON_CHARACTERS] for reason in reasons[:MAX_REASONS]]
    if n_hidden > 0:
        reasons.append(f"… and {n_hidden:,} more")
    if is_api(request.url.path):
        body = {"detail": "; ".join(reasons), "reasons": reasons}
        return JSONResponse(body, status, headers)
    headings = {404: "nothing_here", 403: "not_possible", 429: "one_moment"}
    response = page(
        request,
        "message.html",
        status=status,
        words=words,
        title="wellput",
        heading=words(f"errors.{headings.get(status, 'heading')}"),
        text="\n\n".join(words.translated(reason) for reason in reasons),
        # The button only loads the address again. It would not send a form again: the browser does that
        # when the page is reloaded.
        can_try_again=status == 503 and request.method in ("GET", "HEAD"),
    )
    response.headers.update(headers or {})
    return response


def _place(location: tuple[int | str, ...]) -> str:
    """The place of an error in a request, such as "answers.0", in ASCII characters. The first part of
    the location, which says "body" or "path", is left out."""
    text = ".".join(str(part) for part in location[1:]) or "body"
    return text.encode("ascii", "backslashreplace").decode("ascii")[:80]


def serve(
    store: Store,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    certificate: Path | None = None,
    key: Path | None = None,
    request_timeout: float = REQUEST_SECONDS,
    max_connections: int = MAX_CONNECTIONS,
    trust_proxy: Sequence[str] = (),
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Serves the study until it is interrupted, and calls `on_ready` when it accepts requests. Warns on
    stderr if others could read the traffic, and if the operating system allows fewer than
    `max_connections`.

    The headers X-Forwarded-For and X-Forwarded-Proto are used only if a proxy at one of the addresses
    in `trust_proxy` sends them. The server's warnings and errors go to the log handlers of the calling
    program, or to stderr if it has none.

    Raises InputError for an address where the server cannot listen, and for a bad certificate.
    """
    config = uvicorn.Config(
        create_app(store),
        ssl_certfile=certificate,
        ssl_keyfile=key,
        # Addresses contain judges' tokens: they are not logged.
        access_log=False,
        log_level="warning",
        # uvicorn's own configuration would close every log handler of the calling program.
        log_config=None,
        server_header=False,
        lifespan="off",
        ws="none",
        proxy_headers=bool(trust_proxy),
        forwarded_allow_ips=list(trust_proxy),
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    try:
        config.load()
    except OSError as error:
        raise InputError(f"The certificate or its key cannot be used: {error}.") from error
    with listening_socket(host, port) as socket:
        warning = public_address_warning(host, is_encrypted=certificate is not None)
        if warning:
            print(warning, file=sys.stderr)
        allowed = allow_open_files(max_connections)
        if allowed < max_connections:
            print(
                f"warning: at most {allowed:,} connections at a time, not {max_connections:,}: the "
                "operating system allows no more open files (ulimit -n).",
                file=sys.stderr,
            )
        limits = ConnectionLimits(request_timeout, allowed)
        on_ready()  # connections now wait to be accepted
        with suppress(KeyboardInterrupt), server_messages():
            LimitedServer(config, limits).run(sockets=[socket])


MESSAGES_OF_REQUESTS = (
    "Invalid HTTP request received",
    "Unsupported upgrade request",
    "No supported WebSocket library",
)
"""The beginnings of messages that uvicorn logs about single requests. They are left out, because
strangers could fill the disk with them."""


@contextmanager
def server_messages() -> Iterator[None]:
    """Inside the block, writes the server's warnings and errors to stderr, with the time, unless the
    calling program has log handlers. Messages about single requests are left out."""
    logger, messages = logging.getLogger("uvicorn"), logging.getLogger("uvicorn.error")
    handler = None if logger.hasHandlers() else logging.StreamHandler()
    if handler is not None:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s: %(message)s"))
        logger.addHandler(handler)
    messages.addFilter(_is_of_server)
    try:
        yield
    finally:
        messages.removeFilter(_is_of_server)
        if handler is not None:
            logger.removeHandler(handler)


def _is_of_server(record: logging.LogRecord) -> bool:
    """Whether a message is about the server, not about a single request."""
    return not str(record.msg).startswith(MESSAGES_OF_REQUESTS)


def listening_socket(host: str, port: int) -> Socket:
    """A socket that listens at an address. Raises InputError where that is impossible."""
    try:
        family, *_, address = getaddrinfo(host, port, type=SOCK_STREAM, flags=AI_PASSIVE)[0]
        socket = create_server(address, family=family, backlog=MAX_WAITING_TO_BE_ACCEPTED)
    except OSError as error:
        raise cannot_listen(host, port, error) from error
    # A response is sent in two parts, head and body. Without this option, the body waits until the
    # client has confirmed the head, which takes 40 ms on most systems. Accepted connections inherit
    # the option.
    socket.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
    return socket
