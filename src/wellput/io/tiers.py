"""Time-aligned annotations of ELAN (.eaf) and Praat (.TextGrid): tiers of intervals, in seconds."""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias
from xml.etree import ElementTree

from wellput.core.errors import InputError
from wellput.io.files import InputFile, PathLike, check_readable


class Interval(NamedTuple):
    """What an annotator wrote, from `start` to `end`."""

    start: float
    end: float
    text: str


Tiers: TypeAlias = dict[str, list[Interval]]

# Strings, and numbers that stand alone: the rest of a TextGrid, long or short, is decoration.
TOKEN = re.compile(r'"((?:[^"]|"")*)"|(?<!\S)(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?!\S)')


def read_tiers(path: PathLike) -> Tiers:
    """The tiers of a file by name, their intervals in order; empty intervals are left out."""
    file = InputFile(path)
    check_readable(file)
    content = b"".join(file.chunks())
    tiers = _elan(content, file.name) if file.suffix == ".eaf" else _textgrid(content, file.name)
    return {
        name: sorted(each for each in intervals if each.text.strip())
        for name, intervals in tiers.items()
    }


def _elan(content: bytes, name: str) -> Tiers:
    try:
        root = ElementTree.fromstring(content)
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise InputError(f"{name} is no ELAN file: {error}.") from None
    try:
        times = {
            slot.get("TIME_SLOT_ID", ""): float(value) / 1000
            for slot in root.iter("TIME_SLOT")
            if (value := slot.get("TIME_VALUE")) is not None
        }
    except ValueError:
        raise InputError(f"{name}: a TIME_VALUE is not a number of milliseconds.") from None
    intervals: dict[str, Interval] = {}
    waiting: list[tuple[str, str, str, str]] = []
    tiers: Tiers = {}
    problems: list[str] = []
    for tier in root.iter("TIER"):
        tiers[(tier_id := tier.get("TIER_ID", ""))] = []
        for entry in tier.iter():
            text = entry.findtext("ANNOTATION_VALUE") or ""
            own = entry.get("ANNOTATION_ID", "")
            if entry.tag == "ALIGNABLE_ANNOTATION":
                ends = [entry.get(f"TIME_SLOT_REF{end}", "") for end in (1, 2)]
                if not all(end in times for end in ends):
                    problems.append(f"tier {tier_id}, annotation {own}: it has no times")
                    continue
                intervals[own] = Interval(times[ends[0]], times[ends[1]], text)
                tiers[tier_id].append(intervals[own])
            elif entry.tag == "REF_ANNOTATION":
                waiting.append((tier_id, own, entry.get("ANNOTATION_REF", ""), text))
    for tier_id, own, reference, text in waiting:  # as long as what they refer to
        if reference not in intervals:
            problems.append(f"tier {tier_id}, annotation {own}: it refers to nothing with times")
            continue
        intervals[own] = intervals[reference]._replace(text=text)
        tiers[tier_id].append(intervals[own])
    if problems:
        raise InputError.collect(f"{name} cannot be read:", problems)
    return tiers


def _textgrid(content: bytes, name: str) -> Tiers:
    is_wide = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    text = content.decode("utf-16" if is_wide else "utf-8-sig", "replace")
    tokens = [
        found[1].replace('""', '"') if found[2] is None else float(found[2])
        for found in TOKEN.finditer(text)
    ]
    if tokens[:2] != ["ooTextFile", "TextGrid"] or "<exists>" not in text:
        raise InputError(f"{name} is no TextGrid: it lacks its two opening lines.")
    tiers: Tiers = {}
    try:
        place = 5  # behind the two names, the times and the number of tiers
        while place < len(tokens):
            kind, tier, n = tokens[place], str(tokens[place + 1]), int(tokens[place + 4])
            if not 0 <= n <= len(tokens):
                raise ValueError(n)
            place += 5
            width = 3 if kind == "IntervalTier" else 2
            rows = [tokens[place + width * i : place + width * (i + 1)] for i in range(n)]
            place += width * n
            ends = [(row[0], row[-2], row[-1]) for row in rows]
            tiers[tier] = [Interval(float(a), float(b), str(c)) for a, b, c in ends]
    except (IndexError, ValueError, OverflowError):
        raise InputError(f"{name} is no sound TextGrid: a tier ends too early.") from None
    return tiers
