"""Who may come in: a judge by the token in the address, the owner by a token given once.

The owner's token is exchanged for a session of this process, so that it stays out of the browser's
history and of every later request.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

from fastapi import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from wellput.studies.security import Misses, set_cookie
from wellput.studies.store import JudgeRef, Store

OWNER_COOKIE = "wellput_owner"


class Gate:
    """Knows judges and the owner, and counts the tokens that nobody has."""

    def __init__(self, store: Store, misses: Misses) -> None:
        self._store = store
        self._misses = misses
        self._secret = secrets.token_bytes(32)

    def judge(self, request: Request, token: str) -> JudgeRef:
        """The judge with this token; 404 for nobody's, 429 after too many of these."""
        judge = self._store.judge_of(token)
        if judge is None:
            raise self._miss(request, "This link is not known. Please check that it is complete.")
        return judge

    def admit_owner(self, request: Request, token: str, response: Response) -> None:
        """Begins a session on `response` for the owner's token; 404 or 429 for any other."""
        if not self._store.verify_owner(token):
            raise self._miss(request, "This is not the owner's token.")
        session = secrets.token_urlsafe(24)
        set_cookie(request, response, OWNER_COOKIE, f"{session}.{self._seal(session)}")

    def is_owner(self, request: Request) -> bool:
        session, _, seal = request.cookies.get(OWNER_COOKIE, "").partition(".")
        return hmac.compare_digest(seal.encode(), self._seal(session).encode())

    def _seal(self, session: str) -> str:
        return hmac.new(self._secret, session.encode(), hashlib.sha256).hexdigest()

    def _miss(self, request: Request, detail: str) -> HTTPException:
        address = request.client.host if request.client else ""
        wait = self._misses.count(address)
        if wait is None:
            return HTTPException(404, detail)
        return HTTPException(
            429,
            "Too many unknown links from your address. Please wait a minute.",
            {"Retry-After": str(max(1, round(wait)))},
        )
