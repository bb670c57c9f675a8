"""What the writers of other tools' formats share: the outputs that were judged, and the error spans
that a judgment has in its column `spans`.

`write_ratings` writes error spans as mt-metrics-eval keeps them (`NAME.seg.rating`): a line
SYSTEM<tab>RATING<tab>RATER for each segment of each system in turn, the rating as JSON, `None` for a
missing one.

A file has one rating for each output. If several judges marked an output, there is a file for each
round: `mqm.seg.rating` becomes `mqm.rater1.seg.rating`, `mqm.rater2.seg.rating`, ….
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from wellput.core.errors import InputError
from wellput.core.evalset import Item
from wellput.core.judgment import MISSING, SPANS_COLUMN, Judgment
from wellput.io.files import PathLike
from wellput.io.output import replacing_text


def spans_of(answer: Judgment) -> list[dict[str, Any]] | None:
    """The error spans of a judgment; None if nobody looked for errors (an empty cell)."""
    written = answer.extra.get(SPANS_COLUMN, "")
    if not written.strip():
        return None
    spans: list[dict[str, Any]] = json.loads(written)
    return spans


def is_missing(span: Mapping[str, Any]) -> bool:
    """Whether the span stands for an omission."""
    return bool(span["start"] == MISSING)


def by_id(items: Iterable[Item]) -> dict[str, Item]:
    return {item.id: item for item in items}


def judged_text(items: Mapping[str, Item], answer: Judgment) -> str:
    """The output that was judged. Raises InputError for one that is not text."""
    output = items[answer.item].outputs[answer.system]
    if not isinstance(output, str):
        raise InputError(f"The output of {answer.system} for item {answer.item} is not a text.")
    return output


def one_question(answers: Sequence[Judgment], what: str) -> None:
    """Raises InputError if there are answers to several questions."""
    questions = sorted({answer.question for answer in answers})
    if len(questions) > 1:
        raise InputError(
            f"{what} has one score for each answer, and there are answers to "
            f"{', '.join(questions)}. Choose one with question=."
        )


def seconds_of(answer: Judgment) -> tuple[float, float]:
    """When a judge began and ended, in seconds since 1970; 0 where it is not known."""
    recorded = answer.extra.get("recorded_at")
    if not recorded:
        return 0.0, 0.0
    moment = datetime.strptime(recorded, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    end = moment.timestamp()
    return end - int(answer.extra.get("ms") or 0) / 1000, end


RATING_SUFFIX = ".seg.rating"


def write_ratings(answers: Sequence[Judgment], items: Sequence[Item], path: PathLike) -> list[Path]:
    """The files that were written, one for each round of judges."""
    known = by_id(items)
    rounds: dict[tuple[str, str], dict[str, str]] = {}
    for answer in answers:
        spans = spans_of(answer)
        if spans is None:
            raise InputError("A rating of mt-metrics-eval has error spans, and none were marked.")
        rating = {"errors": [rated_error(span, judged_text(known, answer)) for span in spans]}
        # Several questions about an output share its marks.
        by_judge = rounds.setdefault((answer.system, answer.item), {})
        by_judge[answer.judge] = json.dumps(rating, ensure_ascii=True)
    n_rounds = max(map(len, rounds.values()))
    systems = dict.fromkeys(answer.system for answer in answers)
    if spaced := [name for name in systems if name.split() != [name]]:
        raise InputError(
            f"mt-metrics-eval allows no spaces in the name of a system: {spaced[0]!r}."
        )
    files = [path_of_round(path, number, n_rounds) for number in range(n_rounds)]
    for number, file_path in enumerate(files):
        with replacing_text(file_path) as file:
            for system in systems:
                for item in items:
                    own = list(rounds.get((system, item.id), {}).items())
                    if number < len(own):
                        judge, rating_text = own[number]
                        file.write(f"{system}\t{rating_text}\t{' '.join(judge.split())}\n")
                    else:
                        file.write(f"{system}\tNone\n")
    return files


def rated_error(span: Mapping[str, Any], text: str) -> dict[str, Any]:
    """A span as mt-metrics-eval's `Error`. An omission has no place there: it is an empty span at the
    end of the text."""
    start, end = (len(text), len(text)) if is_missing(span) else (span["start"], span["end"])
    category = span.get("category") or ("omission" if is_missing(span) else None)
    return {
        "start": start,
        "end": end,
        "category": category,
        "severity": span["severity"],
        "score": None,
        "is_source_error": False,
    }


def path_of_round(path: PathLike, number: int, n_rounds: int) -> Path:
    """The file of a round of judges, from 0 on; the path itself if there is one round."""
    if n_rounds == 1:
        return Path(path)
    name = Path(path).name.removesuffix(RATING_SUFFIX)
    return Path(path).with_name(f"{name}.rater{number + 1}{RATING_SUFFIX}")
