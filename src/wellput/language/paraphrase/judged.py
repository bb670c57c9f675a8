"""The noun `Judged`: a substitution that people found right or wrong, to learn a filter from.

JSONL, a substitution a line: `{"text": "…", "start": 12, "word": "hard", "replacement": "difficult",
"right": true}`, and `"tag"` where the word's Penn tag is known; `start` counts characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError, Problems
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.jsonl import read_json_lines
from wellput.language.paraphrase.candidates import CandidateSource
from wellput.language.paraphrase.filters import Query
from wellput.language.paraphrase.sentences import Sentence


@dataclass(frozen=True, slots=True)
class Judged:
    """The word at character `start` of a text, what was put for it, and the verdict."""

    text: str
    start: int
    word: str
    replacement: str
    is_right: bool
    tag: str | None = None


def read_judged(path: PathLike) -> list[Judged]:
    """Raises InputError for all bad lines."""
    file = InputFile(path)
    check_readable(file)
    problems = Problems(file.name)
    found = []
    for number, record in read_json_lines(file, problems):
        try:
            text, start, word = str(record["text"]), int(record["start"]), str(record["word"])
            judged = Judged(
                text,
                start,
                word,
                str(record["replacement"]).lower(),
                bool(record["right"]),
                record.get("tag"),
            )
        except (KeyError, TypeError, ValueError, OverflowError):
            problems.add(
                f"line {number}", "expected the keys text, start, word, replacement, right"
            )
            continue
        if text[start : start + len(word)] != word:
            problems.add(f"line {number}", f"there is no {word!r} at character {start}")
        found.append(judged)
    problems.raise_if_any()
    if not any(judged.is_right for judged in found) or all(judged.is_right for judged in found):
        raise InputError(f"{path} must hold both right and wrong substitutions to learn from.")
    return found


def judged_queries(
    judged: Iterable[Judged], source: CandidateSource
) -> tuple[list[Query], NDArray[np.bool_]]:
    """Those of the substitutions that the source proposes, as a filter sees them; and the verdicts."""
    rows = list(_queries(judged, source))
    return [query for query, _ in rows], np.array([right for _, right in rows], np.bool_)


def _queries(judged: Iterable[Judged], source: CandidateSource) -> Iterator[tuple[Query, bool]]:
    sentences: dict[str, Sentence] = {}
    for one in judged:
        sentence = sentences.get(one.text)
        if sentence is None:
            sentence = sentences[one.text] = Sentence.of(one.text)
        places = [i for i, span in enumerate(sentence.spans) if span[0] == one.start]
        known = source.replacements(one.word.lower(), one.tag, {one.replacement})
        if places and one.replacement in known and sentence.tokens[places[0]] == one.word:
            place = places[0]
            yield Query(sentence.words, place, place + 1, known[one.replacement]), one.is_right
