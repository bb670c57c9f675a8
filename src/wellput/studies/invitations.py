"""The noun `Invitation`, and the names of judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wellput.core.errors import InputError
from wellput.studies.answers import is_storable

LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class Invitation:
    """A judge's name and the secret of the link, which is never to be had again; the link itself once
    it is known where the study is served."""

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
        if not name.strip() or len(name) > LONGEST_NAME or not is_storable(name):
            problems.append(f"{name[:40]!r}: 1 to {LONGEST_NAME} characters are needed")
        elif name in seen:
            problems.append(f"{name!r} is a judge already")
        seen.add(name)
    if problems:
        raise InputError.collect("These judges cannot be invited:", problems)
    return list(names)
