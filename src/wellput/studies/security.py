"""Protects a study on the web: headers, the size of requests, CSRF (forms that other sites send in a
visitor's name), guessed tokens, and who may come in.

A *browser key* is a random cookie of one browser. A form's CSRF token is a hash that can be computed
only with this key, so that no other site can make a form that the server accepts. A *wrong token* is
one that no judge and no owner has. The `Gate` admits a judge by the token in the address. The owner
gives a token once and gets a session (`owner_sessions`), so that the token is neither in the
browser's history nor in a later request.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from http import HTTPStatus
from threading import Lock

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wellput.io.locations import is_loopback
from wellput.studies.invitations import token_hash
from wellput.studies.store import JudgeRef, Store
from wellput.studies.wording import ENGLISH

BROWSER_COOKIE = "wellput_browser"
OWNER_COOKIE = "wellput_owner"
BLINDED_COOKIE = "wellput_blinded"
"""Set to 1 in a browser whose owner does not want to see the names of the systems."""
WELLPUT_COOKIE = re.compile(
    rf"(?:^|[;\s])((?:{BROWSER_COOKIE}|{OWNER_COOKIE}|{BLINDED_COOKIE})=[\w-]{{1,100}})(?=[;\s]|$)",
    re.A,
)
MIN_BROWSER_KEY_CHARACTERS = 32
CSRF_FIELD = "csrf"
# The answers to a page with a hundred texts take about ten kilobytes.
MAX_BODY_BYTES = 256 * 1024
MAX_HEAD_BYTES = 16 * 1024
MAX_WRONG_TOKENS = 20
WRONG_TOKEN_WINDOW_SECONDS = 60.0
"""An address that sends more wrong tokens than `MAX_WRONG_TOKENS` within this time must wait."""

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "media-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Tokens are part of addresses: no address is sent to other sites.
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "X-Robots-Tag": "noindex, nofollow",
}

RAW_SECURITY_HEADERS = [
    (name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()
]


class SecurityHeaders:
    """Adds `SECURITY_HEADERS` to every response, and forbids to cache those that do not allow it
    themselves."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                headers += RAW_SECURITY_HEADERS
                if scope["scheme"] == "https":
                    headers.append((b"strict-transport-security", b"max-age=31536000"))
                if not any(name.lower() == b"cache-control" for name, _ in headers):
                    headers.append((b"cache-control", b"no-store"))
                message = {**message, "headers": headers}
            await send(message)

        await self.app(scope, receive, send_with_headers)


class HeadLimit:
    """Answers with status 431 to a request whose address and headers are over `maximum` bytes
    together."""

    def __init__(self, app: ASGIApp, *, maximum: int = MAX_HEAD_BYTES) -> None:
        self.app = app
        self.maximum = maximum

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app: ASGIApp = self.app
        if scope["type"] == "http":
            n_bytes = len(scope["path"]) + len(scope["query_string"])
            n_bytes += sum(len(name) + len(value) for name, value in scope["headers"])
            if n_bytes > self.maximum:
                subject = "The address and the headers are"
                status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
                app = _too_large(scope, status, subject, self.maximum)
        await app(scope, receive, send)


class WellputCookies:
    """Removes from requests all cookies that wellput has not set: Python takes seconds to read a long
    quoted value (CVE-2024-7592), and the framework reads all cookies of every request."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            cookies = WELLPUT_COOKIE.findall("; ".join(Headers(scope=scope).getlist("cookie")))
            headers = [(name, value) for name, value in scope["headers"] if name != b"cookie"]
            if cookies:
                headers.append((b"cookie", "; ".join(cookies).encode("ascii")))
            scope = {**scope, "headers": headers}
        await self.app(scope, receive, send)


class BodyLimit:
    """Answers with status 413 to a body over `maximum` bytes, whether or not its length is declared.

    Bodies are small, so the whole body is read before the application sees any of it: the application
    gets only complete requests.
    """

    def __init__(self, app: ASGIApp, *, maximum: int = MAX_BODY_BYTES) -> None:
        self.app = app
        self.maximum = maximum

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "")
        body = bytearray()
        # A longer number is too large anyway, and might take long to read.
        too_large = declared.isdecimal() and int(declared[:20]) > self.maximum
        more = not too_large
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self.maximum:
                too_large, more = True, False
        if too_large:
            status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            refusal = _too_large(scope, status, "The request is", self.maximum)
            await refusal(scope, receive, send)
            return
        complete: list[Message] = [{"type": "http.request", "body": bytes(body)}]

        async def replay() -> Message:
            return complete.pop() if complete else await receive()

        await self.app(scope, replay, send)


def _too_large(scope: Scope, status: HTTPStatus, subject: str, maximum: int) -> Response:
    """The response to a request with a part (`subject`) that is larger than `maximum` bytes."""
    text = f"{subject} larger than {maximum // 1024} KiB."
    # The part of the request that was not read would look like the next request: end the connection.
    headers = {"Connection": "close"}
    if is_api(scope["path"]):
        return JSONResponse({"detail": text, "reasons": [text]}, status, headers)
    return PlainTextResponse(text, status, headers)


class HeadRequests:
    """Answers a HEAD request as GET, without the body: with HEAD, proxies and monitors ask whether a
    page is there."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return

        async def send_without_body(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self.app({**scope, "method": "GET"}, receive, send_without_body)


class TrailingSlashes:
    """Answers an address with a slash at its end as the same address without it. The framework would
    redirect to the host that the request names, which anybody can forge."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].endswith("/"):
            scope = {**scope, "path": scope["path"].rstrip("/") or "/"}
        await self.app(scope, receive, send)


class WrongTokenCounter:
    """Counts wrong tokens per client address, in a window of time that begins with the first wrong
    token.

    Only requests with wrong tokens are counted and refused. A person with a valid token gets in, even
    from an address where someone else is guessing.
    """

    def __init__(
        self,
        *,
        allowed: int = MAX_WRONG_TOKENS,
        window: float = WRONG_TOKEN_WINDOW_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        max_addresses: int = 10_000,
    ) -> None:
        self.allowed = allowed
        self.window = window
        self._clock = clock
        self._max_addresses = max_addresses
        self._counts: OrderedDict[str, tuple[float, int]] = OrderedDict()
        self._lock = Lock()

    def count(self, address: str) -> float | None:
        """Counts a wrong token. Returns the seconds to wait after too many of them, else None."""
        now = self._clock()
        key = _network(address)
        with self._lock:
            began, n_before = self._counts.pop(key, (now, 0))
            if now - began >= self.window:
                began, n_before = now, 0
            self._counts[key] = began, n_before + 1
            if len(self._counts) > self._max_addresses:
                self._counts.popitem(last=False)
        return began + self.window - now if n_before >= self.allowed else None


def _network(address: str) -> str:
    """The address; for IPv6 its /64 network, since one client usually has all addresses of such a
    network."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    return address if parsed.version == 4 else str(ipaddress.ip_network((address, 64), False))


def is_api(path: str) -> bool:
    return path.startswith("/api/")


def browser_key(request: Request) -> str:
    """The browser's key; for a new browser a new key, which `remember_browser` then sets as a
    cookie."""
    key = request.cookies.get(BROWSER_COOKIE, "")
    if len(key) < MIN_BROWSER_KEY_CHARACTERS:
        key = getattr(request.state, "browser_key", "") or secrets.token_urlsafe(32)
        request.state.browser_key = key
    return key


def remember_browser(request: Request, response: Response) -> None:
    """Sets the cookie of a new browser."""
    key = getattr(request.state, "browser_key", None)
    if key is not None:
        set_cookie(request, response, BROWSER_COOKIE, key)


def set_cookie(request: Request, response: Response, name: str, value: str) -> None:
    # Lax, not strict: a judge who comes from a link in an e-mail keeps the same browser key.
    response.set_cookie(
        name,
        value,
        max_age=90 * 24 * 3600,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )


def csrf_token(key: str, form_user: str) -> str:
    """The CSRF token for forms in the browser with this key. `form_user` says who may send them: a
    judge's token, "owner", or "open" for anybody who came by the open link."""
    return hmac.new(key.encode(), form_user.encode(), hashlib.sha256).hexdigest()


def csrf_is_valid(request: Request, form_user: str, given: str) -> bool:
    """Whether `given` is the CSRF token for `form_user` in the browser that sends the request."""
    key = request.cookies.get(BROWSER_COOKIE, "")
    expected = csrf_token(key, form_user)
    is_key = len(key) >= MIN_BROWSER_KEY_CHARACTERS
    return is_key and hmac.compare_digest(expected.encode(), given.encode())


def public_address_warning(host: str, *, is_encrypted: bool) -> str | None:
    """A warning for the person who serves a study on `host`, where others could read the traffic."""
    if is_encrypted or is_loopback(host):
        return None
    return (
        f"warning: serving on {host} without TLS: invitation links and answers can be read on the "
        "way. Give a certificate and its key, or serve on 127.0.0.1 behind a proxy that has them."
    )


def owner_session(request: Request) -> str:
    """The token of the browser's session as the owner, "" where there is none."""
    return request.cookies.get(OWNER_COOKIE, "")


class Gate:
    """Recognizes judges and the owner, and counts wrong tokens."""

    def __init__(self, store: Store, wrong_tokens: WrongTokenCounter) -> None:
        self._store = store
        self._wrong_tokens = wrong_tokens
        self._known = store.token_hashes()

    def known_token_hash(self, scope: Scope) -> str | None:
        """The hash of the judge's token, or of the owner's session, in a request; None for a stranger.
        The hash decides who is answered first, not who may come in: the token may have become
        invalid."""
        # A judge's token is one of the first parts of the path: /judge/TOKEN/…, /api/judge/TOKEN/….
        possible_tokens = (*scope["path"].split("/", 4), owner_session(Request(scope)))
        return next(
            (hashed for hashed in map(token_hash, possible_tokens) if hashed in self._known), None
        )

    def has_admitted(self, token: str) -> bool:
        """Whether a judge had this token when the server began, or came with it later. The token may
        have become invalid."""
        return token_hash(token) in self._known

    def judge(self, request: Request, token: str) -> JudgeRef:
        """The judge with this token. Raises an HTTP error: 404 for a wrong token, 429 after too
        many."""
        return self.admit(request, self._store.judge_of(token))

    def admit(self, request: Request, judge: JudgeRef | None) -> JudgeRef:
        """The judge who was found for the token in the address. If there is none, raises an HTTP
        error: 404, or 429 after too many wrong tokens."""
        if judge is None:
            raise self._wrong_token_error(request, ENGLISH("errors.unknown_link"))
        self._known.add(token_hash(request.path_params["token"]))
        return judge

    def admit_owner(self, request: Request, token: str, response: Response) -> None:
        """Begins a session for the owner's token: `response` sets its cookie. Raises an HTTP error 404
        or 429 for a wrong token."""
        if not self._store.verify_owner(token):
            raise self._wrong_token_error(request, "This is not the owner's token.")
        set_cookie(request, response, OWNER_COOKIE, self._store.owner_sessions.begin())

    def is_owner(self, request: Request) -> bool:
        """Whether the request belongs to an open session of the owner."""
        token = owner_session(request)
        is_open = bool(token) and self._store.owner_sessions.is_open(token)
        if is_open:
            self._known.add(token_hash(token))
        return is_open

    def _wrong_token_error(self, request: Request, detail: str) -> HTTPException:
        """Counts a wrong token. Returns the error to raise."""
        address = request.client.host if request.client else ""
        wait = self._wrong_tokens.count(address)
        if wait is None:
            return HTTPException(404, detail)
        return HTTPException(
            429,
            ENGLISH("errors.too_many_links"),
            {"Retry-After": str(max(1, round(wait)))},
        )
