"""A whole campaign of Appraise: its batches and its scores, read together, with the attention checks.

An attention check is an output that was spoiled (`BAD`). The batches tell which output it was made of:
that of the same system and document with the same source. A check of which this output is not found is
left out. Segments of two files belong together by their document and number, so that a round in which
only some segments were judged again has the right items, too.

Appraise notes the times of a document's segments when the judge sends the document. So a segment ends
where the next one of the same login begins.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from wellput.core.errors import Problems
from wellput.core.evalset import EvalSet
from wellput.core.judgment import SPANS_COLUMN, Judgment
from wellput.io.appraise import (
    ATTENTION_CHECK,
    DOCUMENT_MARK,
    MQM_QUESTION,
    AppraiseRow,
    evalset_of,
    is_content,
    judged_segments,
    mqm_score,
    own_spans,
    question_of,
    read_batches,
    read_rows,
)
from wellput.io.files import InputFile, PathLike


@dataclass(frozen=True, slots=True)
class SpoiledOutput:
    """What an attention check shows: the output of a system for an item, changed to `text`."""

    item: str
    system: str
    text: str


@dataclass(frozen=True, slots=True)
class AnsweredCheck:
    """An answer to an attention check: `answer` names the output that was spoiled, `text` is what the
    judge saw."""

    answer: Judgment
    text: str

    @property
    def shown(self) -> SpoiledOutput:
        return SpoiledOutput(self.answer.item, self.answer.system, self.text)


@dataclass(frozen=True)
class Campaign:
    """The outputs, the answers about them, and the answers to attention checks."""

    evalset: EvalSet
    judgments: list[Judgment]
    checks: list[AnsweredCheck]


def read_campaign(batches: PathLike, scores: PathLike) -> Campaign:
    """The campaign of a file of batches (JSON) and a file of scores (CSV). The last answer of a login
    to a segment counts. Raises InputError for answers about segments that the batches do not have."""
    read = read_batches(batches)
    segments = judged_segments(read)
    names = {_place(item): name for name, item in segments}
    spoiled = {
        _place(item): item
        for batch in read
        for item in batch["items"]
        if item.get("itemType") == ATTENTION_CHECK and is_content(str(item["documentID"]))
    }
    made_of = {_source(item): name for name, item in reversed(segments)}
    last: dict[tuple[str, tuple[str, int]], tuple[AppraiseRow, float]] = {}
    rows = read_rows(scores)
    for row, end in zip(rows, _ends(rows), strict=True):
        key = row.login, (row.document, row.number)
        if key not in last or row.end >= last[key][0].end:
            last[key] = row, end
    question = question_of([row for row in rows if row.is_judged])
    problems = Problems(InputFile(scores).name)
    judgments: list[Judgment] = []
    checks: list[AnsweredCheck] = []
    for (_, place), (row, end) in sorted(last.items(), key=lambda one: one[0]):
        if row.is_judged and place not in names:
            problems.add(
                f"login {row.login}",
                f"segment {row.number} of {row.document} is not in {InputFile(batches).name}",
            )
        elif row.is_judged:
            judgments.append(_judgment(row, end, names[place], question))
        elif row.type == ATTENTION_CHECK and (shown := spoiled.get(place)) is not None:
            name = made_of.get(_source(shown))
            if name is not None:
                answer = _judgment(row, end, name, question)
                checks.append(AnsweredCheck(answer, str(shown["targetText"])))
    problems.raise_if_any()
    return Campaign(evalset_of(segments, where=InputFile(batches).name), judgments, checks)


def _place(item: Mapping[str, Any]) -> tuple[str, int]:
    return str(item["documentID"]), int(item["itemID"])


def _source(item: Mapping[str, Any]) -> tuple[str, str, str]:
    document = str(item["documentID"]).partition(DOCUMENT_MARK)[0]
    return document, str(item["targetID"]), str(item.get("sourceText", ""))


def _ends(rows: Sequence[AppraiseRow]) -> list[float]:
    """When each row ended: when the next of its login began, or, for the last one, when it was sent."""
    ends = [row.end for row in rows]
    by_login: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        by_login.setdefault(row.login, []).append(place)
    for places in by_login.values():
        places.sort(key=lambda place: rows[place].start)
        for place, following in pairwise(places):
            ends[place] = rows[following].start
    return ends


def _judgment(row: AppraiseRow, end: float, item: str, question: str) -> Judgment:
    value = mqm_score(row.spans or []) if question == MQM_QUESTION else row.score
    spans = {} if row.spans is None else {SPANS_COLUMN: json.dumps(own_spans(row.spans))}
    extra = {
        "document": row.document_name,
        **spans,
        "started": f"{row.start:.3f}",
        "ended": f"{end:.3f}",
    }
    return Judgment(row.login, item, row.system, question, value, extra)
