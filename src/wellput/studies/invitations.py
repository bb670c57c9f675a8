"""`Invitation`: the name of a judge and the token of the judge's secret link. Tokens are random, shown
once, and stored as hashes only.

The hash is a plain SHA-256: passwords would need a slow hash, but a token has 192 random bits, so
nobody can find it by trying.
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
OPAQUE_ID_BYTES = 8


def new_token() -> str:
    """A token for a link: 32 characters that need no escaping in a URL."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def token_hash(token: str) -> str:
    """The SHA-256 of a token, in hexadecimal digits: the study stores only this."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def is_token(token: str, stored_hash: str) -> bool:
    """Whether the hash is that of this token. The comparison takes the same time for every token."""
    return hmac.compare_digest(token_hash(token), stored_hash)


def opaque_id() -> str:
    """A random id that says nothing about what it names."""
    return secrets.token_hex(OPAQUE_ID_BYTES)


MAX_NAME_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class Invitation:
    """A judge's name and the secret token of the link, which is never shown again. `url` is the whole
    link, where the address of the study is known."""

    judge: str
    token: str
    url: str = ""


def new_names(n: int, n_before: int, taken: set[str]) -> list[str]:
    """`n` free names J1, J2, …, counted on from the number of judges (`n_before`)."""
    names: list[str] = []
    number = n_before
    while len(names) < n:
        number += 1
        if f"J{number}" not in taken:
            names.append(f"J{number}")
    return names


def checked_names(names: Sequence[str], taken: set[str]) -> list[str]:
    """The names. Raises InputError where one is too long, cannot be stored, comes twice or is taken."""
    problems = []
    used = set(taken)
    for name in names:
        if not name.strip() or len(name) > MAX_NAME_CHARACTERS or not is_storable(name):
            problems.append(f"{name[:40]!r}: 1 to {MAX_NAME_CHARACTERS} characters are needed")
        elif name in used:
            problems.append(f"{name!r} is already a judge")
        used.add(name)
    if problems:
        raise InputError.collect("These judges cannot be invited:", problems)
    return list(names)


def insert_judges(
    connection: Connection, n: int, names: Sequence[str] | None, now: float
) -> list[Invitation]:
    """Puts `n` new judges into the database, named J1, J2, … unless names are given."""
    taken = set(connection.scalars(sa.select(schema.judges.c.name)))
    n_before = connection.scalar(sa.select(sa.func.count()).select_from(schema.judges)) or 0
    chosen = checked_names(names, taken) if names else new_names(n, n_before, taken)
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
