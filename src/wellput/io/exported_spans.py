"""Functions that several writers of other tools' formats use, for the judged outputs and for the error
spans that a judgment has in its column `spans`; and `write_ratings`.

`write_ratings` writes error spans in mt-metrics-eval's format (`NAME.seg.rating`): a line
SYSTEM<tab>RATING<tab>RATER for each segment of the first system, then of the second, and so on.
RATING is JSON, or `None` if there is no rating.

A file has one rating for each output. If several judges marked an output, there are several files,
called rounds: `mqm.rater1.seg.rating` and `mqm.rater2.seg.rating` instead of `mqm.seg.rating`. The
first file has the marks of each output's first judge, the second file those of its second judge.
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
    cell = answer.extra.get(SPANS_COLUMN, "")
    if not cell.strip():
        return None
    spans: list[dict[str, Any]] = json.loads(cell)
    return spans


def is_missing(span: Mapping[str, Any]) -> bool:
    """Whether the span stands for something that the output leaves out."""
    return bool(span["start"] == MISSING)


def by_id(items: Iterable[Item]) -> dict[str, Item]:
    """The items by their ids."""
    return {item.id: item for item in items}


def judged_text(items: Mapping[str, Item], answer: Judgment) -> str:
    """The output that was judged. Raises InputError if it is not a text."""
    output = items[answer.item].outputs[answer.system]
    if not isinstance(output, str):
        raise InputError(f"The output of {answer.system} for item {answer.item} is not a text.")
    return output


def one_question(answers: Sequence[Judgment], what: str) -> None:
    """Raises InputError if there are answers to several questions. `what` begins the message."""
    questions = sorted({answer.question for answer in answers})
    if len(questions) > 1:
        raise InputError(
            f"{what} has one score for each answer, and there are answers to "
            f"{', '.join(questions)}. Choose one with question=."
        )


def seconds_of(answer: Judgment) -> tuple[float, float]:
    """When a judge began and ended, in seconds since 1970; both are 0 if the times are not known."""
    recorded = answer.extra.get("recorded_at")
    if not recorded:
        return 0.0, 0.0
    end_time = datetime.strptime(recorded, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    end = end_time.timestamp()
    return end - int(answer.extra.get("ms") or 0) / 1000, end


RATING_SUFFIX = ".seg.rating"


def write_ratings(answers: Sequence[Judgment], items: Sequence[Item], path: PathLike) -> list[Path]:
    """Writes the error spans of these answers; returns the paths of the files, one for each round."""
    items_by_id = by_id(items)
    ratings: dict[tuple[str, str], dict[str, str]] = {}
    for answer in answers:
        spans = spans_of(answer)
        if spans is None:
            raise InputError("A rating of mt-metrics-eval has error spans, and none were marked.")
        rating = {"errors": [rated_error(span, judged_text(items_by_id, answer)) for span in spans]}
        # A judge's answers to several questions about an output have the same error spans.
        by_judge = ratings.setdefault((answer.system, answer.item), {})
        by_judge[answer.judge] = json.dumps(rating, ensure_ascii=True)
    n_rounds = max(map(len, ratings.values()))
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
                    item_ratings = list(ratings.get((system, item.id), {}).items())
                    if number < len(item_ratings):
                        judge, rating_text = item_ratings[number]
                        file.write(f"{system}\t{rating_text}\t{' '.join(judge.split())}\n")
                    else:
                        file.write(f"{system}\tNone\n")
    return files


def rated_error(span: Mapping[str, Any], text: str) -> dict[str, Any]:
    """A span in the form of mt-metrics-eval's `Error`. Something missing becomes an empty span at the
    end of the text, because `Error` always has a place."""
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
    """The path of the file for round `number` (from 0); `path` itself if there is only one round."""
    if n_rounds == 1:
        return Path(path)
    name = Path(path).name.removesuffix(RATING_SUFFIX)
    return Path(path).with_name(f"{name}.rater{number + 1}{RATING_SUFFIX}")
