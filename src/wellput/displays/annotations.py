"""Recordings annotated in ELAN (.eaf) and Praat (.TextGrid) as display corpora. A file has tiers,
and a tier has intervals in seconds.

One tier has the words, one or more have the displays. Where there is a tier of sentences, each
sentence is an item. A display is a list of motions: `nd=d,bw=u` is a nod down with raised brows. On a
tier named like the first part of a motion the second part is enough: `d` on the tier `nd`, anything on
the tier `sq` (squint). A display belongs to each word of which it covers half or more; if there is
none, to the word that it overlaps most.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias
from xml.etree import ElementTree

from wellput.core.errors import InputError, did_you_mean
from wellput.core.evalset import ORIGINAL, Item
from wellput.displays.schedules import MOTIONS, SPAN_MARK, unknown_motion
from wellput.io.files import UTF16_MARKS, InputFile, PathLike, check_readable


class Interval(NamedTuple):
    """What an annotator wrote, with `start` and `end` in seconds."""

    start: float
    end: float
    text: str


Tiers: TypeAlias = dict[str, list[Interval]]

# Strings, and numbers with white space around them: nothing else in a TextGrid (long or short format)
# matters.
TEXTGRID_TOKEN = re.compile(r'"((?:[^"]|"")*)"|(?<!\S)(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?!\S)')


def read_tiers(path: PathLike) -> Tiers:
    """The tiers of a file by name, with their intervals in order, without empty intervals. Tiers of the
    same name are one tier; raises InputError if their intervals overlap."""
    file = InputFile(path)
    check_readable(file)
    content = b"".join(file.chunks())
    if file.suffix == ".eaf":
        named_tiers = _elan(content, file.name)
    else:
        named_tiers = _textgrid(_textgrid_text(content, file), file.name)
    tiers: Tiers = {}
    problems: list[str] = []
    for name, intervals in named_tiers:
        written = [interval for interval in intervals if interval.text.strip()]
        earlier = tiers.setdefault(name, [])
        problems += _collisions(name, earlier, written)
        earlier += written
    if problems:
        raise InputError.collect(
            f"{file.name} has several tiers of one name, and their intervals overlap:",
            problems,
            "Give each tier a name of its own.",
        )
    return {name: sorted(intervals) for name, intervals in tiers.items()}


def _collisions(
    tier: str, earlier: Sequence[Interval], intervals: Sequence[Interval]
) -> Iterator[str]:
    """A sentence for each interval that is at the same time as an earlier one of a tier with the same
    name."""
    for interval in intervals:
        other = next((one for one in earlier if _collide(one, interval)), None)
        if other is not None:
            yield (
                f"tier {tier}, {interval.start:g} to {interval.end:g} s: {interval.text!r}, and "
                f"{other.text!r} from {other.start:g} to {other.end:g} s"
            )


def _collide(first: Interval, second: Interval) -> bool:
    """Whether two intervals, or two points, are at the same time."""
    return _overlap(first, second) > 0 or first.start == second.start


def xml_root(content: bytes, name: str, format: str) -> ElementTree.Element:
    """The outermost element of an XML file; raises InputError if it is not XML."""
    try:
        return ElementTree.fromstring(content)
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise InputError(f"{name} is not an {format}: {error}.") from None


def _elan(content: bytes, name: str) -> list[tuple[str, list[Interval]]]:
    """The tiers of an ELAN file, with their names; `name` is for error messages."""
    root = xml_root(content, name, "ELAN file")
    try:
        times = {
            slot.get("TIME_SLOT_ID", ""): float(value) / 1000
            for slot in root.iter("TIME_SLOT")
            if (value := slot.get("TIME_VALUE")) is not None
        }
    except ValueError:
        raise InputError(f"{name}: a TIME_VALUE is not a number of milliseconds.") from None
    intervals: dict[str, Interval] = {}
    # For each annotation without times of its own: its tier (with the tier's intervals), its id, the id
    # of the annotation that it refers to, and its text.
    referring: list[tuple[str, list[Interval], str, str, str]] = []
    tiers: list[tuple[str, list[Interval]]] = []
    problems: list[str] = []
    for tier in root.iter("TIER"):
        tier_id = tier.get("TIER_ID", "")
        tier_intervals: list[Interval] = []
        tiers.append((tier_id, tier_intervals))
        for entry in tier.iter():
            text = entry.findtext("ANNOTATION_VALUE") or ""
            annotation = entry.get("ANNOTATION_ID", "")
            if entry.tag == "ALIGNABLE_ANNOTATION":
                ends = [entry.get(f"TIME_SLOT_REF{end}", "") for end in (1, 2)]
                if not all(end in times for end in ends):
                    problems.append(f"tier {tier_id}, annotation {annotation}: it has no times")
                    continue
                intervals[annotation] = Interval(times[ends[0]], times[ends[1]], text)
                tier_intervals.append(intervals[annotation])
            elif entry.tag == "REF_ANNOTATION":
                referred = entry.get("ANNOTATION_REF", "")
                referring.append((tier_id, tier_intervals, annotation, referred, text))
    # Annotations without times get those of the annotation that they refer to.
    for tier_id, tier_intervals, annotation, reference, text in referring:
        if reference not in intervals:
            problems.append(
                f"tier {tier_id}, annotation {annotation}: it refers to nothing with times"
            )
            continue
        intervals[annotation] = intervals[reference]._replace(text=text)
        tier_intervals.append(intervals[annotation])
    if problems:
        raise InputError.collect(f"{name} cannot be read:", problems)
    return tiers


def _textgrid_text(content: bytes, file: InputFile) -> str:
    """The text of a TextGrid; raises InputError if it is neither UTF-8 nor UTF-16."""
    is_utf16 = content.startswith(UTF16_MARKS)
    try:
        return content.decode("utf-16" if is_utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        if is_utf16:
            raise InputError(f"{file.name} is not UTF-16 text: {error.reason}.") from None
        raise file.not_utf8() from None


def _textgrid(text: str, name: str) -> list[tuple[str, list[Interval]]]:
    """The tiers of a TextGrid, with their names; `name` is for error messages."""
    tokens = [
        match[1].replace('""', '"') if match[2] is None else float(match[2])
        for match in TEXTGRID_TOKEN.finditer(text)
    ]
    if tokens[:2] != ["ooTextFile", "TextGrid"] or "<exists>" not in text:
        raise InputError(f"{name} is not a TextGrid: its two opening lines are missing.")
    tiers: list[tuple[str, list[Interval]]] = []
    try:
        place = 5  # after the two names, the times and the number of tiers
        while place < len(tokens):
            # A tier has its kind, its name, its start and end, and the number of its entries. An
            # interval has a start, an end and a text; a point has a time and a text.
            kind, tier, n = tokens[place], str(tokens[place + 1]), int(tokens[place + 4])
            if not 0 <= n <= len(tokens):
                raise ValueError(n)
            place += 5
            width = 3 if kind == "IntervalTier" else 2
            rows = [tokens[place + width * i : place + width * (i + 1)] for i in range(n)]
            place += width * n
            # A point begins and ends at its only time.
            tiers.append(
                (tier, [Interval(float(row[0]), float(row[-2]), str(row[-1])) for row in rows])
            )
    except (IndexError, ValueError, OverflowError):
        raise InputError(f"{name} is a damaged TextGrid: a tier ends too early.") from None
    return tiers


MIN_COVERED_SHARE = 0.5
"""The share of a word that a display must cover to belong to it."""


def items_of_tiers(
    tiers: Tiers,
    name: str,
    *,
    words: str = "words",
    displays: Sequence[str] = (),
    sentences: str = "sentences",
) -> list[Item]:
    """The items of one recording; `words`, `displays` and `sentences` are names of tiers. Raises
    InputError with every annotation that cannot be used."""
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
        if (motions := _checked_motions(tier, interval, problems))
    ]
    everything = [Interval(float("-inf"), float("inf"), "")]
    spoken_sentences = tiers.get(sentences) or everything
    items = []
    for number, sentence in enumerate(spoken_sentences, start=1):
        sentence_words = [word for word in tiers[words] if _is_within(word, sentence)]
        if sentence_words:
            key = name if spoken_sentences is everything else f"{name}-{number}"
            items.append(
                _item(
                    key, sentence_words, [mark for mark in marks if _is_within(mark[0], sentence)]
                )
            )
    for interval, motions in marks:
        if not any(_overlap(interval, word) > 0 for word in tiers[words]):
            problems.append(
                f"{','.join(motions)} from {interval.start:g} to {interval.end:g} s: no word is "
                "spoken at that time"
            )
    if problems:
        raise InputError.collect(f"{name} has displays that cannot be used:", problems)
    if not items:
        raise InputError(f"{name} has no words on the tier {words!r}.")
    return items


def _checked_motions(tier: str, interval: Interval, problems: list[str]) -> list[str]:
    """The motions of an interval; unknown ones are added to `problems`."""
    motions = []
    for part in interval.text.replace("+", ",").split(","):
        text = part.strip()
        motion = text if text in MOTIONS else tier if tier in MOTIONS else f"{tier}={text}"
        if motion not in MOTIONS:
            problems.append(f"tier {tier}, {interval.start:g} s: {unknown_motion(text)}")
        else:
            motions.append(motion)
    return list(dict.fromkeys(motions))


def _item(
    name: str, words: Sequence[Interval], marks: Sequence[tuple[Interval, list[str]]]
) -> Item:
    """A sentence as an item: its words, and the motions of each interval in `marks`."""
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
            covers_all = len(covered) == len(words) > 1  # then it is a display of the root, s
            key = "s" if covers_all else first if first == last else f"{first}{SPAN_MARK}{last}"
            schedule[key] = list(dict.fromkeys([*schedule.get(key, []), *motions]))
    text = " ".join(leaf["word"] for leaf in leaves)
    derivation = {"id": "s", "label": "S", "children": leaves}
    return Item(name, {ORIGINAL: schedule}, (text,), derivation=derivation)


def _covered(interval: Interval, words: Sequence[Interval]) -> list[int]:
    """The places of the words to which a display in this interval belongs."""
    shares = [_overlap(interval, word) / max(word.end - word.start, 1e-9) for word in words]
    if not any(shares):
        return []
    well_covered = [place for place, share in enumerate(shares) if share >= MIN_COVERED_SHARE]
    return well_covered or [max(range(len(words)), key=lambda place: shares[place])]


def _overlap(first: Interval, second: Interval) -> float:
    """For how many seconds both intervals last at the same time."""
    return max(0.0, min(first.end, second.end) - max(first.start, second.start))


def _is_within(interval: Interval, sentence: Interval) -> bool:
    """Whether the middle of the interval is inside the sentence; its ends may lie outside, because
    people rarely mark them exactly."""
    return sentence.start <= (interval.start + interval.end) / 2 < sentence.end
