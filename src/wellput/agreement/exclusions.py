"""Exclusions as people write them: `judge=J3: pressed one button`, `system=B,item=7: a typing error`.

An exclusion names a judge, a system, an item, or several of these, and covers all judgments that fit.
Without `judge=`, for example, it covers judgments by all judges. It needs a reason, which every result
shows. In the functions, an *answer* is any judgment: a rating, a label or a choice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NoReturn, TypeVar

from wellput.agreement.panel import (
    UNKNOWN_NAME_REASON,
    AnyJudgment,
    Exclusion,
    KnownNames,
    refuse_unknown,
    systems_of,
)
from wellput.core.errors import InputError, did_you_mean
from wellput.core.judgment import MACHINE_PREFIX

EXCLUSION_KEYS = ("judge", "system", "item")
RULE_AND_REASON_PATTERN = re.compile(rf"((?:judge={MACHINE_PREFIX}|[^:])*+):(.*)", re.DOTALL)
"""For an exclusion without a space after the colon: the reason follows the first colon that is not
part of `model:`, the beginning of a machine judge's name."""
A = TypeVar("A", bound=AnyJudgment)


def parse_exclusion(text: str, question: str = "") -> Exclusion:
    """One exclusion, for one question or (empty) for all.

    >>> parse_exclusion("judge=J3,item=7: fell asleep", "quality").reason
    'fell asleep'
    """
    # A name may contain a colon; the reason follows a colon and a space.
    rule, _, reason = text.partition(": ")
    if not reason and (without_space := RULE_AND_REASON_PATTERN.fullmatch(text)):
        rule, reason = without_space.groups()
    if not reason.strip():
        raise InputError(
            f"exclude={text!r} has no reason. Write one: exclude={f'{text}: an outlier'!r}."
        )
    names_by_key: dict[str, str] = {}
    for part in rule.split(","):
        key, equals, name = (piece.strip() for piece in part.partition("="))
        if key not in EXCLUSION_KEYS or not equals or not name:
            raise InputError(
                f"exclude={text!r}: {part.strip()!r} must be judge=NAME, system=NAME or item=ID."
                f"{did_you_mean(key, EXCLUSION_KEYS)}"
            )
        if key in names_by_key:
            raise InputError(f"exclude={text!r} names {key} twice: give two exclusions.")
        names_by_key[key] = name
    judge, system, item = (names_by_key.get(key) for key in EXCLUSION_KEYS)
    return Exclusion(question, reason.strip(), judge=judge, system=system, item=item)


def exclusions_of_unknown(exclusions: Sequence[Exclusion], known: KnownNames) -> list[Exclusion]:
    """The exclusions of systems and items that the evalset does not have."""
    return [
        exclusion
        for exclusion in exclusions
        if (exclusion.system is not None and exclusion.system not in known.systems)
        or (exclusion.item is not None and exclusion.item not in known.items)
    ]


def without_excluded(
    answers: Sequence[A], exclusions: Sequence[Exclusion]
) -> tuple[list[A], list[Exclusion]]:
    """The answers that no exclusion covers; and the exclusions, each once for every question of which
    it covers answers, with the number `n` of these answers. An exclusion of a system covers all choices
    in which the system was offered. Raises InputError for an exclusion that covers nothing."""
    counts = [dict[str, int]() for _ in exclusions]
    not_covered: list[A] = []
    places_of = _place_finder(exclusions)
    for answer in answers:
        covering = places_of(answer)
        if not covering:
            not_covered.append(answer)
        for n in covering:
            counts[n][answer.question] = counts[n].get(answer.question, 0) + 1
    for exclusion, covered in zip(exclusions, counts, strict=True):
        if not covered:
            refuse_without_effect(exclusion)
    return not_covered, [
        replace(exclusion, question=question, n=n)
        for exclusion, covered in zip(exclusions, counts, strict=True)
        for question, n in covered.items()
    ]


def _place_finder(exclusions: Sequence[Exclusion]) -> Callable[[AnyJudgment], list[int]]:
    """A function that finds the places of the exclusions that cover an answer. There may be thousands
    of exclusions of one item or of one system, so these are found in dictionaries."""
    items: dict[str, list[int]] = {}
    systems: dict[str, list[int]] = {}
    others: list[int] = []
    for place, exclusion in enumerate(exclusions):
        is_of_all_judges = not exclusion.question and exclusion.judge is None
        if is_of_all_judges and exclusion.item is not None and exclusion.system is None:
            items.setdefault(exclusion.item, []).append(place)
        elif is_of_all_judges and exclusion.system is not None and exclusion.item is None:
            systems.setdefault(exclusion.system, []).append(place)
        else:
            others.append(place)

    def places_of(answer: AnyJudgment) -> list[int]:
        places = [place for place in others if _covers(exclusions[place], answer)]
        places += items.get(answer.item, ())
        for system in systems_of(answer):
            places += systems.get(system, ())
        return sorted(set(places))

    return places_of


def refuse_without_effect(exclusion: Exclusion) -> NoReturn:
    """Raises InputError for an exclusion that covers no judgment."""
    names = ", ".join(filter(None, (exclusion.judge, exclusion.system, exclusion.item)))
    raise InputError(f"There is nothing to exclude: no judgment is about {names}.")


def answers_left(answers: Sequence[A], exclusions: Sequence[Exclusion]) -> list[A]:
    """The answers that no exclusion covers."""
    return [
        answer
        for answer in answers
        if not any(_covers(exclusion, answer) for exclusion in exclusions)
    ]


def known_answers(
    answers: Sequence[A], exclusions: Sequence[Exclusion], known: KnownNames
) -> tuple[list[A], list[Exclusion]]:
    """The answers about systems and items of the evalset, and the exclusions that leave out answers
    about other systems or items. Raises InputError for such answers that no exclusion covers."""
    kept, left_out = without_excluded(answers, exclusions_of_unknown(exclusions, known))
    refuse_unknown(kept, known)
    return kept, left_out


def with_unknown_excluded(
    answers: Sequence[AnyJudgment], exclusions: Sequence[Exclusion], known: KnownNames
) -> list[Exclusion]:
    """The exclusions, and one more for each system and item of the answers that the evalset does not
    have, so that the other answers can be analyzed. Raises InputError if no answer would be left."""
    not_excluded, _ = without_excluded(answers, exclusions_of_unknown(exclusions, known))
    systems: dict[str, None] = {}
    items: dict[str, None] = {}
    n_left = 0
    for answer in not_excluded:
        unknown = [name for name in systems_of(answer) if name not in known.systems]
        systems |= dict.fromkeys(unknown)
        if not unknown and answer.item not in known.items:
            items[answer.item] = None
        n_left += not unknown and answer.item in known.items
    if not_excluded and not n_left:
        refuse_unknown(not_excluded, known)
    return [
        *exclusions,
        *(Exclusion("", UNKNOWN_NAME_REASON, system=name) for name in systems),
        *(Exclusion("", UNKNOWN_NAME_REASON, item=name) for name in items),
    ]


def _covers(exclusion: Exclusion, answer: AnyJudgment) -> bool:
    return (
        exclusion.question in ("", answer.question)
        and exclusion.judge in (None, answer.judge)
        and exclusion.item in (None, answer.item)
        and exclusion.system in (None, *systems_of(answer))
    )
