"""Secret links: made at random, shown once, stored as a hash.

A token has 192 random bits, so its plain SHA-256 cannot be guessed back; passwords would need a slow
hash, tokens do not.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

TOKEN_BYTES = 24
OPAQUE_BYTES = 8


def new_token() -> str:
    """A token for a link: 32 characters that need no escaping in a URL."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def token_hash(token: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def is_token(token: str, stored_hash: str) -> bool:
    """Whether the token is the one that was hashed; takes as long for a near miss as for a far one."""
    return hmac.compare_digest(token_hash(token), stored_hash)


def opaque_id() -> str:
    """An id that tells nothing about what it names."""
    return secrets.token_hex(OPAQUE_BYTES)
