"""`Invitation`: the name of a judge and the token of a secret link. Tokens are random, shown
once, and stored as hashes.

A token has 192 random bits, so nobody can guess it from its plain SHA-256. Passwords would need a slow
hash, tokens do not.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from wellput.core.errors import InputError
from wellput.studies import schema
from wellput.studies.questions import is_storable

TOKEN_BYTES = 24
OPAQUE_BYTES = 8


def new_token() -> str:
    """A token for a link: 32 characters that need no escaping in a URL."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def token_hash(token: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def is_token(token: str, stored_hash: str) -> bool:
    """Whether this token was hashed. The time that it takes does not depend on the token."""
    return hmac.compare_digest(token_hash(token), stored_hash)


def opaque_id() -> str:
    """A random id that says nothing about what it names."""
    return secrets.token_hex(OPAQUE_BYTES)


MAX_NAME_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class Invitation:
    """A judge's name and the secret token of the link, which is never shown again. `url` is the whole
    link, where the address of the study is known."""

    judge: str
    token: str
    url: str = ""


def new_names(n: int, n_before: int, there: set[str]) -> list[str]:
    names: list[str] = []
    number = n_before
    while len(names) < n:
        number += 1
        if f"J{number}" not in there:
            names.append(f"J{number}")
    return names


def checked_names(names: Sequence[str], there: set[str]) -> list[str]:
    problems = []
    seen = set(there)
    for name in names:
        if not name.strip() or len(name) > MAX_NAME_CHARACTERS or not is_storable(name):
            problems.append(f"{name[:40]!r}: 1 to {MAX_NAME_CHARACTERS} characters are needed")
        elif name in seen:
            problems.append(f"{name!r} is already a judge")
        seen.add(name)
    if problems:
        raise InputError.collect("These judges cannot be invited:", problems)
    return list(names)


def insert_judges(
    connection: Connection, n: int, names: Sequence[str] | None, now: float
) -> list[Invitation]:
    """`n` new judges in the database, named J1, J2, … unless names are given."""
    there = set(connection.scalars(sa.select(schema.judges.c.name)))
    n_before = connection.scalar(sa.select(sa.func.count()).select_from(schema.judges)) or 0
    chosen = checked_names(names, there) if names else new_names(n, n_before, there)
    invitations = [Invitation(name, new_token()) for name in chosen]
    connection.execute(
        schema.judges.insert(),
        [
            {
                "id": n_before + place,
                "name": invitation.judge,
                "token_hash": token_hash(invitation.token),
                "invited_at": now,
                "seen_at": now,
                "seen_answer": 0,
            }
            for place, invitation in enumerate(invitations, start=1)
        ],
    )
    return invitations
