"""`Endpoint`: a model behind a server that speaks the OpenAI protocol (chat completions).

The secret key comes from an environment variable and is sent in one header only. It is removed from
every text of a response, after the response has been decoded. Redirects are not followed, so that the
key reaches only the host that the user named.
"""

from __future__ import annotations

import email.utils
import html
import http.client
import json
import math
import os
import re
import socket
import ssl
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from wellput.core.errors import InputError, Unreachable
from wellput.io.locations import is_loopback
from wellput.studies.machines.readings import Reply, TokenProbabilities, reply_of

KEY_VARIABLE = "WELLPUT_API_KEY"
OPENAI_KEY_VARIABLE = "OPENAI_API_KEY"
OPENAI_HOST = "api.openai.com"
MAX_RESPONSE_BYTES = 8 * 1024 * 1024
MAX_MESSAGE_CHARACTERS = 300
TOO_MANY_REQUESTS = 429
REJECTING_STATUSES = (400, 422)
"""With these statuses, the endpoint may reject a request because of one of its parameters."""
TEMPORARY_STATUSES = (408, 409, 425, TOO_MANY_REQUESTS, 500, 502, 503, 504, 529)
"""With these statuses, the same request may succeed later."""
STOPPING_STATUSES = (401, 402, 403, 404, 405)
"""With these statuses, no other request could succeed either: the key, the model or the address is
wrong."""
OPTIONAL_PARAMETERS = ("top_logprobs", "logprobs", "max_tokens", "temperature", "seed")
"""Parameters without which a request can be sent."""
WRONG_NUMBER = re.compile(
    r"too (large|long|high|many|big)|context|exceed|maximum|at most|range", re.I
)
"""What an error message says if the endpoint knows a parameter, but does not allow its number."""
QUOTE_CHARACTERS = 8
"""If this many characters of a message before or after a word are as in the prompt, the message quotes
the prompt there."""


class TemporaryFailure(Exception):
    """A failure after which trying again may help. `wait` is how many seconds the endpoint asks to
    wait, None if it does not. `may_cost` says that the request may have been paid for without an
    answer; `is_sent` says that the request was sent."""

    def __init__(
        self, why: str, *, wait: float | None = None, may_cost: bool = False, is_sent: bool = True
    ) -> None:
        super().__init__(why)
        self.wait = wait
        self.may_cost = may_cost
        self.is_sent = is_sent


class Rejected(Exception):
    """The endpoint does not answer this request, and would not answer it again."""


def api_key(host: str) -> str | None:
    """The key for a host, from the environment. The key in OpenAI's variable is sent to OpenAI only."""
    wellput_key = os.environ.get(KEY_VARIABLE)
    if wellput_key:
        return wellput_key.strip()
    openai_key = os.environ.get(OPENAI_KEY_VARIABLE) if host == OPENAI_HOST else None
    return openai_key.strip() if openai_key else None


def pattern_of_key(key: str) -> re.Pattern[str]:
    r"""Finds the key in a text, also where its characters are written as JSON (`\/`, `\u002f`), a URL
    (`%2F`) or HTML (`&#x2F;`) may write them, even if an error message was put into another one and so
    written twice in such a way.

    >>> pattern_of_key("k/9").sub("[key]", r"no k/9, k\/9, k\\u002f9, k%2F9 or k&#47;9; k9")
    'no [key], [key], [key], [key] or [key]; k9'
    """
    # Any number of backslashes may stand between two characters.
    characters = key.replace("\\", "") or key
    return re.compile(r"\\*+".join(map(_pattern_of_character, characters)))


def _pattern_of_character(character: str) -> str:
    code, entity = ord(character), html.escape(character)
    return (
        rf"(?:{re.escape(character)}|(?i:u00{code:02x}|%(?:25)*{code:02x}"
        rf"|&(?:amp;)*#(?:0*{code}|x0*{code:x});)"
        + (rf"|{re.escape(entity)})" if entity != character else ")")
    )


@dataclass
class Endpoint:
    """The model with the name `model` at `url`. Threads may share it: each has its own connection.

    If the endpoint rejects a request because of a parameter, the request is sent again without it. If
    it is accepted then, the parameter's name goes into `refused_parameters`, and later requests leave
    it out.
    """

    url: str
    model: str
    timeout: float = 60.0
    key: str | None = field(default=None, repr=False)
    refused_parameters: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        parts = _checked_url(self.url)
        self.url = self.url.rstrip("/")
        self.host = parts.hostname or ""
        self.is_encrypted = parts.scheme == "https"
        self.port = parts.port or (443 if self.is_encrypted else 80)
        path = parts.path.rstrip("/")
        self.path = path if path.endswith("/chat/completions") else f"{path}/chat/completions"
        if self.key is None:
            self.key = api_key(self.host)
        if self.key and not self.is_encrypted and not is_loopback(self.host):
            raise InputError(
                f"The key of {KEY_VARIABLE} would travel unencrypted to {self.host}. Use https, or "
                "unset the variable if the endpoint needs no key."
            )
        if self.key and not (self.key.isascii() and self.key.isprintable()):
            raise InputError(f"The key in {KEY_VARIABLE} has characters that no header may have.")
        self._key_pattern = pattern_of_key(self.key) if self.key else None
        self._per_thread = threading.local()

    @property
    def identity(self) -> dict[str, str]:
        """What distinguishes this model from others, as far as it is known before it answers."""
        return {"endpoint": self.url, "model": self.model}

    @property
    def digest(self) -> str:
        """Empty: the version of the model is known only from its answers (`system_fingerprint`)."""
        return ""

    def complete(self, request: Mapping[str, Any]) -> Reply:
        """The model's answer.

        Raises TemporaryFailure, Rejected, or InputError if no request can succeed.
        """
        refused_before = frozenset(self.refused_parameters)
        without, first_message = refused_before, ""
        while True:
            sent = _fitted({"model": self.model, **request}, without)
            began = time.monotonic()
            status, headers, content = self._post(json.dumps(sent).encode())
            ms = round(1000 * (time.monotonic() - began))
            if status == 200:
                reply = self._reply(content, ms)
                self.refused_parameters |= without
                return replace(reply, without=tuple(sorted(without & request.keys())))
            message, parameter = self._error(content)
            shown = message[:MAX_MESSAGE_CHARACTERS]
            if status in REJECTING_STATUSES:
                if refused := _refused(message, parameter, sent):
                    without |= refused
                    first_message = first_message or shown
                    continue
                if first_message not in ("", shown):
                    left_out = ", ".join(sorted(without - refused_before))
                    shown = f"{first_message}; without {left_out}: {shown}"
            self._raise(status, headers, shown)

    def close(self) -> None:
        """Closes the connection of this thread."""
        connection = getattr(self._per_thread, "connection", None)
        if connection is not None:
            connection.close()
            self._per_thread.connection = None

    def _post(self, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        """The status, the headers (with names in lower case) and the content of the response."""
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        is_sent = False
        try:
            connection = self._connection()
            connection.request("POST", self.path, body, headers)
            is_sent = True
            with _ended_after(self.timeout, connection.sock):
                response = connection.getresponse()
                content = response.read(MAX_RESPONSE_BYTES + 1)
            response_headers = {name.lower(): value for name, value in response.getheaders()}
            if len(content) > MAX_RESPONSE_BYTES or response.will_close:
                self.close()
            return response.status, response_headers, content
        except ssl.SSLCertVerificationError as error:
            self.close()
            raise InputError(
                f"The certificate of {self.host} cannot be verified: {error.verify_message}."
            ) from None
        except TimeoutError:
            self.close()
            why = f"no answer within {self.timeout:g} seconds"
            raise TemporaryFailure(why, may_cost=is_sent) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise TemporaryFailure(
                f"the connection failed ({reason})", may_cost=is_sent, is_sent=is_sent
            ) from None

    def _connection(self) -> http.client.HTTPConnection:
        connection: http.client.HTTPConnection | None
        connection = getattr(self._per_thread, "connection", None)
        if connection is None:
            connection = _connected(self.host, self.port, self.is_encrypted, self.timeout)
            self._per_thread.connection = connection
        return connection

    def _reply(self, content: bytes, ms: int) -> Reply:
        try:
            record = json.loads(content.decode(), parse_constant=_no_constant)
            reply = reply_of(record, ms=ms)
        except (ValueError, RecursionError) as error:
            why = self.without_key(f"a malformed response: {error}")
            raise TemporaryFailure(why[:200], may_cost=True) from None
        return self._reply_without_key(reply)

    def _error(self, content: bytes) -> tuple[str, str]:
        """The message of an error response, on one line and without the key; and the parameter that the
        error is about, empty if the response does not say."""
        text, parameter = content.decode(errors="replace"), ""
        with suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
            record = json.loads(text)
            error = record.get("error", record)  # vLLM gives the fields of the error alone
            if isinstance(error, dict):
                parameter = str(error.get("param") or "")
                error = error["message"]
            text = str(error)
        line = "".join(c if c.isprintable() else " " for c in " ".join(text.split()))
        return self.without_key(line), parameter

    def without_key(self, text: str) -> str:
        """The text without the key, which some endpoints repeat in their messages."""
        return text if self._key_pattern is None else self._key_pattern.sub("[key]", text)

    def _reply_without_key(self, reply: Reply) -> Reply:
        """The reply without the key. If its text or its tokens together have the key, all tokens are
        left out. Else only those alternatives of a token are left out that have the key."""
        if self._key_pattern is None:
            return reply
        text = self.without_key(reply.text)
        has_key = self._key_pattern.search
        if text != reply.text or has_key("".join(token for token, _ in reply.tokens)):
            tokens: tuple[tuple[str, TokenProbabilities], ...] = ()
        else:
            tokens = tuple(
                (token, tuple(other for other in alternatives if not has_key(other[0])))
                for token, alternatives in reply.tokens
            )
        return replace(
            reply,
            text=text,
            tokens=tokens,
            finish=self.without_key(reply.finish),
            refusal=self.without_key(reply.refusal),
            model=self.without_key(reply.model),
            fingerprint=self.without_key(reply.fingerprint),
        )

    def _raise(self, status: int, headers: Mapping[str, str], message: str) -> None:
        """Raises the error for a status other than 200."""
        explanation = f": {message}" if message else ""
        if status in TEMPORARY_STATUSES:
            raise TemporaryFailure(f"status {status}{explanation}", wait=_seconds_to_wait(headers))
        if status in STOPPING_STATUSES or 300 <= status < 400:
            hint = ""
            if status in (401, 403):
                hint = f" The key is read from the environment variable {KEY_VARIABLE}."
            elif 300 <= status < 400:
                hint = " Redirects are not followed: give the final address."
            elif status in (404, 405):
                hint = " Check endpoint= (it usually ends in /v1) and model=."
            raise InputError(f"{self.url} answers with status {status}{explanation}.{hint}")
        raise Rejected(f"status {status}{explanation}")


def _fitted(body: dict[str, Any], without: frozenset[str]) -> dict[str, Any]:
    """The request without these parameters. Endpoints that do not know max_tokens know
    max_completion_tokens."""
    if "max_tokens" in without and "max_tokens" in body:
        body["max_completion_tokens"] = body["max_tokens"]
    return {name: value for name, value in body.items() if name not in without}


def _refused(message: str, parameter: str, sent: Mapping[str, Any]) -> frozenset[str]:
    """The parameters to leave out after a rejection: the one that the error is about (`parameter`), or
    else one that the message names, unless it only quotes the prompt there. Empty if there is none."""
    optional = [name for name in OPTIONAL_PARAMETERS if name in sent]
    named = re.findall(r"\w+", parameter)
    refused = [name for name in optional if name in named]
    # If the error is about another part of the request, nothing is left out.
    if not refused and not any(name in sent for name in named):
        prompt = " ".join(" ".join(str(one["content"]) for one in sent["messages"]).split())
        refused = [name for name in optional if _is_named(name, message, prompt)]
    # Without a limit on the tokens, an answer could cost more than was reserved.
    if not refused or (refused[0] == "max_tokens" and WRONG_NUMBER.search(message)):
        return frozenset()
    is_about_logprobs = "logprobs" in refused[0]
    return frozenset({"logprobs", "top_logprobs"} if is_about_logprobs else {refused[0]})


def _is_named(name: str, message: str, prompt: str) -> bool:
    """Whether a message has this word outside of quotes of the prompt.

    >>> prompt = "Rate this text: Sow the seed at low temperature."
    >>> _is_named("seed", "Bad input 'Sow the seed at low'", prompt)
    False
    >>> _is_named("seed", "Unknown parameter seed in 'Sow the seed at low'", prompt)
    True
    """
    n_quoted = len(name) + QUOTE_CHARACTERS
    for found in re.finditer(rf"\b{name}\b", message):
        before, after = message[: found.end()][-n_quoted:], message[found.start() :][:n_quoted]
        if not any(len(piece) == n_quoted and piece in prompt for piece in (before, after)):
            return True
    return False


def unreachable(url: str, why: str) -> Unreachable:
    """The error for an endpoint that gives no answer."""
    return Unreachable(f"{url} gives no answer: {why}. Answers so far are kept; try again later.")


def _checked_url(url: str) -> Any:
    """The parts of the address of an endpoint. Raises InputError for an address that cannot be used."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises ValueError if the port is not a number
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError("endpoint= must be an address such as https://api.openai.com/v1.")
    if parts.username or parts.password or parts.query or parts.fragment:
        # The address is written to files, so it must not have a key in it.
        raise InputError(
            "endpoint= must have no user, password or query: it is written into the results. The key "
            f"belongs in the environment variable {KEY_VARIABLE}."
        )
    return parts


@contextmanager
def _ended_after(seconds: float, connection: socket.socket) -> Iterator[None]:
    """Raises TimeoutError if the block takes longer. The time limit of a socket is not enough, since
    it counts from the last byte that came: an endpoint that sends a byte now and then would never
    reach it."""
    is_late = threading.Event()

    def end() -> None:
        is_late.set()
        with suppress(OSError):  # raised if the connection is closed already
            # Not the method of an SSL socket: it also drops the encryption, which is in use.
            socket.socket.shutdown(connection, socket.SHUT_RDWR)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    except (OSError, http.client.HTTPException, ValueError):
        if not is_late.is_set():
            raise
    finally:
        timer.cancel()
    if is_late.is_set():
        raise TimeoutError


def _connected(
    host: str, port: int, is_encrypted: bool, timeout: float
) -> http.client.HTTPConnection:
    """A connection, through the proxy of the environment if there is one for this host."""
    scheme = "https" if is_encrypted else "http"
    proxy = urllib.request.getproxies().get(scheme)
    if is_encrypted and proxy and not urllib.request.proxy_bypass(host):
        proxy_parts = urlsplit(proxy if "//" in proxy else f"http://{proxy}")
        tunnel = http.client.HTTPSConnection(
            proxy_parts.hostname or "", proxy_parts.port or 8080, timeout=timeout
        )
        tunnel.set_tunnel(host, port)
        return tunnel
    if is_encrypted:
        return http.client.HTTPSConnection(host, port, timeout=timeout)
    return http.client.HTTPConnection(host, port, timeout=timeout)


MAX_WAIT_SECONDS = 600.0


def _seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """The seconds that the header Retry-After asks to wait, whether it gives seconds or a date; None if
    there is no such header."""
    header = headers.get("retry-after", "")
    try:
        seconds = float(header)
    except ValueError:
        moment = email.utils.parsedate_tz(header)
        if moment is None:
            return None
        try:
            seconds = email.utils.mktime_tz(moment) - time.time()
        except (ValueError, OverflowError):  # the date does not exist
            return None
    return None if math.isnan(seconds) else min(max(seconds, 0.0), MAX_WAIT_SECONDS)


def _no_constant(name: str) -> float:
    """Refuses NaN and Infinity, which Python's JSON reader would accept."""
    raise ValueError(f"{name} is not a JSON number")
