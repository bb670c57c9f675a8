"""Annotated recordings as display corpora: who moved how, at which words.

A tier of words and one or more tiers of displays; where there is a tier of sentences, each is an item.
A display is written in motions (`nd=d,bw=u`), or on a tier that is named by the motion's part: `d` on
the tier `nd`, anything on the tier `sq`. It lies on the words that it overlaps by half or more, or else
on the one it overlaps most.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wellput.core.displays import MOTIONS, SPAN
from wellput.core.errors import InputError, did_you_mean
from wellput.core.evalset import ORIGINAL, Item
from wellput.io.tiers import Interval, Tiers

ENOUGH = 0.5
"""The share of a word that a display must cover to lie on it."""


def items_of_tiers(
    tiers: Tiers,
    name: str,
    *,
    words: str = "words",
    displays: Sequence[str] = (),
    sentences: str = "sentences",
) -> list[Item]:
    """The items of one recording; raises InputError for every annotation that makes no sense."""
    missing = [tier for tier in (words, *displays) if tier not in tiers]
    if missing:
        raise InputError(
            f"{name} has no tier {missing[0]!r}.{did_you_mean(missing[0], list(tiers))} "
            f"It has {', '.join(tiers) or 'none'}."
        )
    chosen = displays or [tier for tier in tiers if tier not in (words, sentences)]
    problems: list[str] = []
    marks = [
        (interval, motions)
        for tier in chosen
        for interval in tiers[tier]
        if (motions := _motions(tier, interval, problems))
    ]
    everything = [Interval(float("-inf"), float("inf"), "")]
    spoken = tiers.get(sentences) or everything
    items = []
    for number, sentence in enumerate(spoken, start=1):
        own = [word for word in tiers[words] if _is_within(word, sentence)]
        if own:
            key = name if sentence.text == "" else f"{name}-{number}"
            items.append(_item(key, own, [m for m in marks if _is_within(m[0], sentence)]))
    for interval, motions in marks:
        if not any(_overlap(interval, word) > 0 for word in tiers[words]):
            problems.append(
                f"{','.join(motions)} from {interval.start:g} to {interval.end:g} s lies outside the "
                "sentence: no word is spoken then"
            )
    if problems:
        raise InputError.collect(f"{name} has displays that cannot be used:", problems)
    if not items:
        raise InputError(f"{name} has no words on the tier {words!r}.")
    return items


def _motions(tier: str, interval: Interval, problems: list[str]) -> list[str]:
    found = []
    for part in interval.text.replace("+", ",").split(","):
        text = part.strip()
        motion = text if text in MOTIONS else tier if tier in MOTIONS else f"{tier}={text}"
        if motion not in MOTIONS:
            hint = did_you_mean(text, list(MOTIONS)) or f" There are {', '.join(MOTIONS)}."
            problems.append(f"tier {tier}, {interval.start:g} s: unknown motion {text!r}.{hint}")
        else:
            found.append(motion)
    return list(dict.fromkeys(found))


def _item(
    name: str, words: Sequence[Interval], marks: Sequence[tuple[Interval, list[str]]]
) -> Item:
    leaves: list[dict[str, Any]] = [
        {
            "id": f"w{place}",
            "word": word.text.strip(),
            "features": {"start": round(word.start, 3), "end": round(word.end, 3)},
        }
        for place, word in enumerate(words, start=1)
    ]
    schedule: dict[str, list[str]] = {}
    for interval, motions in marks:
        covered = _covered(interval, words)
        if covered:
            first, last = f"w{covered[0] + 1}", f"w{covered[-1] + 1}"
            whole = len(covered) == len(words) > 1
            key = "s" if whole else first if first == last else f"{first}{SPAN}{last}"
            schedule[key] = list(dict.fromkeys([*schedule.get(key, []), *motions]))
    text = " ".join(leaf["word"] for leaf in leaves)
    derivation = {"id": "s", "label": "S", "children": leaves}
    return Item(name, {ORIGINAL: schedule}, (text,), derivation=derivation)


def _covered(interval: Interval, words: Sequence[Interval]) -> list[int]:
    shares = [_overlap(interval, word) / max(word.end - word.start, 1e-9) for word in words]
    if not any(shares):
        return []
    enough = [place for place, share in enumerate(shares) if share >= ENOUGH]
    return enough or [max(range(len(words)), key=lambda place: shares[place])]


def _overlap(one: Interval, other: Interval) -> float:
    return max(0.0, min(one.end, other.end) - max(one.start, other.start))


def _is_within(interval: Interval, sentence: Interval) -> bool:
    """Whether the middle lies in the sentence: annotators' ends are rarely exact."""
    return sentence.start <= (interval.start + interval.end) / 2 < sentence.end
