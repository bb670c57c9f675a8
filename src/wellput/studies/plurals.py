"""Plural categories of whole numbers, by the rules of the Unicode CLDR."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

PLURAL_CATEGORIES = ("zero", "one", "two", "few", "many", "other")
PluralRule: TypeAlias = Callable[[int], str]


def _one_or_other(n: int) -> str:
    return "one" if n == 1 else "other"


def _arabic(n: int) -> str:
    if n <= 2:
        return ("zero", "one", "two")[n]
    last = n % 100
    return "few" if 3 <= last <= 10 else "many" if 11 <= last <= 99 else "other"


def _east_slavic(n: int) -> str:
    if n % 10 == 1 and n % 100 != 11:
        return "one"
    return "few" if 2 <= n % 10 <= 4 and not 12 <= n % 100 <= 14 else "many"


def _polish(n: int) -> str:
    return "one" if n == 1 else "many" if n % 10 == 1 else _east_slavic(n)


def _czech(n: int) -> str:
    return "one" if n == 1 else "few" if 2 <= n <= 4 else "other"


PLURAL_RULES: Mapping[str, PluralRule] = {
    **dict.fromkeys(("zh", "ja", "ko", "vi", "th", "id", "ms"), lambda n: "other"),
    **dict.fromkeys(("fr", "pt", "hi", "fa"), lambda n: "one" if n <= 1 else "other"),
    **dict.fromkeys(("ru", "uk", "be"), _east_slavic),
    **dict.fromkeys(("cs", "sk"), _czech),
    "pl": _polish,
    "ar": _arabic,
}
"""By language; others have one and other, as English has."""


def plural_category(language: str, n: int) -> str:
    """The plural category of a number.

    >>> [plural_category("ar", n) for n in (0, 1, 2, 3, 11, 100)]
    ['zero', 'one', 'two', 'few', 'many', 'other']
    """
    return PLURAL_RULES.get(language.partition("-")[0], _one_or_other)(n)
