"""The name of a trial in a tool that knows no systems: `ITEM::SYSTEM`, for a pair `ITEM::A::B`."""

from __future__ import annotations

SEPARATOR = "::"
ADVICE = (
    f'Name what is judged ITEM{SEPARATOR}SYSTEM, such as "7{SEPARATOR}bart", or for pairs '
    f"ITEM{SEPARATOR}A{SEPARATOR}B."
)


def split_trial(name: str) -> tuple[str, tuple[str, ...]] | None:
    """The item and one or two systems; None where the name is no such.

    >>> split_trial("news::7::bart")
    ('news', ('7', 'bart'))
    >>> split_trial("7::bart")
    ('7', ('bart',))
    """
    item, *systems = name.split(SEPARATOR)
    if not item or not all(systems) or len(systems) not in (1, 2):
        return None
    return item, tuple(systems)
