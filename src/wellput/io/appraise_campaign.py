"""Reads and writes campaigns (studies) of the annotation tool Appraise, with their attention checks.
`read_campaign` reads a file of batches (JSON: the outputs to judge) together with a file of scores
(CSV); `write_batches` and `write_scores` write them.

An attention check is a copy of an output that was damaged on purpose (type `BAD`). The original
output is the output of the same system and document with the same source; if the batches do not have
it, the check is left out. Segments of the two files are matched by their document and number, and items
have the names that the batches give them. So the names are also right for a second round, in which
only some segments were judged again.

Appraise saves the times of all segments of a document when the judge submits the document. Therefore a
segment counts as ended when the next segment of the same login begins.

Scores are written in the format of `ExportSystemScoresToCSV`, and batches so that Appraise can make a
campaign from them. An item becomes a segment of its document; an item without a document becomes a
document with one segment. The number of a segment is the item's place in the study. An attention
check is written as a `BAD` segment of a document of its own. wellput does not know the languages of a
study, so they are `und` (undetermined, ISO 639).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from wellput.core.errors import InputError, Problems
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import MISSING, SPANS_COLUMN, Judgment
from wellput.io.appraise import (
    ATTENTION_CHECK,
    DOCUMENT_MARK,
    JUDGED_SEGMENT,
    MQM_QUESTION,
    MQM_WEIGHTS,
    AppraiseRow,
    evalset_of_segments,
    is_segment,
    judged_segments,
    mqm_score,
    note_whole_documents,
    own_spans,
    question_of,
    read_batches,
    read_rows,
)
from wellput.io.exported_spans import is_missing, one_question, seconds_of, spans_of
from wellput.io.files import InputFile, PathLike
from wellput.io.output import replacing_text
from wellput.io.tables import without_formula

UNKNOWN_LANGUAGE = "und"
SEGMENTS_PER_BATCH = 100
"""Appraise gives each judge one batch; campaigns usually have 100 segments in a batch."""


@dataclass(frozen=True, slots=True)
class SpoiledOutput:
    """The content of an attention check: the output of a system for an item, changed to `text`."""

    item: str
    system: str
    text: str


@dataclass(frozen=True, slots=True)
class AnsweredCheck:
    """An answer to an attention check: `answer` has the item and the system of the original output,
    `text` is the changed output that the judge saw."""

    answer: Judgment
    text: str

    @property
    def shown(self) -> SpoiledOutput:
        return SpoiledOutput(self.answer.item, self.answer.system, self.text)


@dataclass(frozen=True)
class Campaign:
    """The outputs, the judgments of them, and the answers to attention checks."""

    evalset: EvalSet
    judgments: list[Judgment]
    checks: list[AnsweredCheck]


def read_campaign(batches: PathLike, scores: PathLike) -> Campaign:
    """The campaign of a file of batches (JSON) and a file of scores (CSV). If a login answered several
    times about a segment, the last answer counts. Raises InputError for answers about segments that the
    batches do not have."""
    batch_records = read_batches(batches)
    segments = judged_segments(batch_records)
    names = {_document_and_number(item): name for name, item in segments}
    checks_by_segment: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for batch in batch_records:
        for item in batch["items"]:
            if item.get("itemType") == ATTENTION_CHECK and is_segment(item):
                checks_by_segment.setdefault(_document_and_number(item), []).append(item)
    # In reverse, so that the first of several segments with the same source counts.
    original_names = {_source(item): name for name, item in reversed(segments)}
    last_answers: dict[tuple[str, str, int, str, str], tuple[AppraiseRow, float]] = {}
    rows = read_rows(scores)
    note_whole_documents(rows, InputFile(scores).name)
    for row, end in zip(rows, _ends(rows), strict=True):
        key = row.login, row.document, row.number, row.system, row.type
        if key not in last_answers or row.end >= last_answers[key][0].end:
            last_answers[key] = row, end
    question = question_of([row for row in rows if row.is_judged])
    problems = Problems(InputFile(scores).name)
    judgments: list[Judgment] = []
    checks: list[AnsweredCheck] = []
    for _, (row, end) in sorted(last_answers.items(), key=lambda entry: entry[0]):
        segment = row.document, row.number
        if row.is_judged and segment not in names:
            problems.add(
                f"login {row.login}",
                f"segment {row.number} of {row.document} is not in {InputFile(batches).name}",
            )
        elif row.is_judged:
            judgments.append(_judgment(row, end, names[segment], question))
        elif row.type == ATTENTION_CHECK and (
            check := _shown_check(row, checks_by_segment.get(segment, ()))
        ):
            name = original_names.get(_source(check))
            if name is not None:
                answer = _judgment(row, end, name, question)
                checks.append(AnsweredCheck(answer, str(check["targetText"])))
    problems.raise_if_any()
    return Campaign(evalset_of_segments(segments, where=InputFile(batches).name), judgments, checks)


def _shown_check(row: AppraiseRow, checks: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The attention check that a row answers, among those of its document and number: the last one of
    its system, or the only one; None if there is none."""
    of_system = [check for check in checks if str(check["targetID"]) == row.system]
    return of_system[-1] if of_system else checks[0] if len(checks) == 1 else None


def _document_and_number(item: Mapping[str, Any]) -> tuple[str, int]:
    """The document and the number of a segment."""
    return str(item["documentID"]), int(item["itemID"])


def _source(item: Mapping[str, Any]) -> tuple[str, str, str]:
    """The document, the system and the source text of a segment, which an attention check has in common
    with its original output."""
    document = str(item["documentID"]).partition(DOCUMENT_MARK)[0]
    return document, str(item["targetID"]), str(item.get("sourceText", ""))


def _ends(rows: Sequence[AppraiseRow]) -> list[float]:
    """The time (seconds) at which each row ended: when the next row of its login began; for the last
    row of a login, when it was submitted."""
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
    """The judgment in a row of scores; `end` is when the judge ended, in seconds."""
    value = mqm_score(row.spans or []) if question == MQM_QUESTION else row.score
    spans = {} if row.spans is None else {SPANS_COLUMN: json.dumps(own_spans(row.spans))}
    extra = {
        "document": row.document_name,
        **spans,
        "started": f"{row.start:.3f}",
        "ended": f"{end:.3f}",
    }
    return Judgment(row.login, item, row.system, question, value, extra)


def write_scores(
    answers: Sequence[Judgment],
    items: Sequence[Item],
    path: PathLike,
    *,
    checks: Sequence[AnsweredCheck] = (),
    spoiled: Sequence[SpoiledOutput] = (),
) -> None:
    """Writes a row for each answer, with its error spans if errors were marked. All answers must be
    to the same question. `checks` are answers to attention checks, which show the `spoiled`
    outputs."""
    one_question(answers, "A row of Appraise")
    _check_names(items)
    numbers = {item.id: number for number, item in enumerate(items, start=1)}
    documents = {item.id: document_of(item) for item in items}
    marks = _marks_of_checks(spoiled)
    written = [(answer, JUDGED_SEGMENT, "") for answer in answers]
    written += [(check.answer, ATTENTION_CHECK, marks[check.shown]) for check in checks]
    with replacing_text(path) as file:
        plain_writer = csv.writer(file, lineterminator="\n")
        # The plain writer does not quote a carriage return, which readers take for the end of the row.
        quoting_writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        for answer, kind, mark in written:
            spans = spans_of(answer)
            span_cells = [] if spans is None else [json.dumps([appraise_span(s) for s in spans])]
            start, end = seconds_of(answer)
            document = f"{documents[answer.item]}{DOCUMENT_MARK}{answer.system}{mark}"
            # A spreadsheet must not take a name for a formula.
            row = [
                without_formula(answer.judge),
                without_formula(answer.system),
                numbers[answer.item],
                kind,
                UNKNOWN_LANGUAGE,
                UNKNOWN_LANGUAGE,
                f"{answer.number:g}",
                without_formula(document),
                False,
                *span_cells,
                f"{start:.3f}",
                f"{end:.3f}",
            ]
            has_return = "\r" in f"{answer.judge}{document}"
            (quoting_writer if has_return else plain_writer).writerow(row)


def write_batches(
    items: Sequence[Item],
    path: PathLike,
    *,
    prefilled: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]] | None = None,
    spoiled: Sequence[SpoiledOutput] = (),
) -> None:
    """Writes the outputs in batches, system by system and document by document, then the attention
    checks. `prefilled` has error spans (by item and system) that are marked before judging begins."""
    _check_names(items)
    marked = prefilled or {}
    systems = dict.fromkeys(system for item in items for system in item.outputs)
    numbers = {item.id: number for number, item in enumerate(items, start=1)}
    by_id = {item.id: item for item in items}
    segments = [
        _segment(item, numbers[item.id], system, str(item.outputs[system]))
        | {"mqm": [appraise_span(span) for span in marked.get((item.id, system), ())]}
        for system in systems
        for item in items
        if system in item.outputs
    ]
    segments += [
        _segment(by_id[check.item], numbers[check.item], check.system, check.text, mark)
        for check, mark in _marks_of_checks(spoiled).items()
    ]
    batches = [
        {
            "task": {
                "batchNo": number + 1,
                "batchSize": len(segments[first : first + SEGMENTS_PER_BATCH]),
                "sourceLanguage": UNKNOWN_LANGUAGE,
                "targetLanguage": UNKNOWN_LANGUAGE,
                "requiredAnnotations": 1,
                "randomSeed": 0,
            },
            "items": segments[first : first + SEGMENTS_PER_BATCH],
        }
        for number, first in enumerate(range(0, len(segments), SEGMENTS_PER_BATCH))
    ]
    with replacing_text(path) as file:
        json.dump(batches, file, ensure_ascii=False, indent=2)
        file.write("\n")


def _segment(
    item: Item, number: int, system: str, text: str, check_mark: str = ""
) -> dict[str, Any]:
    """A segment of a batch in Appraise's format. `number` is its number in the batch. `check_mark` is
    added to the name of an attention check's document, so that it is not the original's document."""
    document = document_of(item)
    return {
        "_item": f"{document} | {number} | {system}",
        "sourceID": document,
        "sourceText": item.source or "",
        "sourceContextLeft": "",
        "targetID": system,
        "targetText": text,
        "targetContextLeft": "",
        "itemID": number,
        "itemType": ATTENTION_CHECK if check_mark else JUDGED_SEGMENT,
        "documentID": f"{document}{DOCUMENT_MARK}{system}{check_mark}",
        "isCompleteDocument": False,
        "mqm": [],
    }


def _marks_of_checks(spoiled: Sequence[SpoiledOutput]) -> dict[SpoiledOutput, str]:
    """For each attention check, the text that Appraise adds to the name of its document."""
    return {
        check: f"{DOCUMENT_MARK}bad{number}"
        for number, check in enumerate(dict.fromkeys(spoiled), start=1)
    }


def appraise_span(span: Mapping[str, Any]) -> dict[str, Any]:
    """An error span in the format of Appraise, where `end_i` is the last character.

    >>> appraise_span({"start": 3, "end": 6, "severity": "minor", "category": "style/awkward"})
    {'start_i': 3, 'end_i': 5, 'severity': 'minor', 'error_type': ['style', 'awkward']}
    """
    if span["severity"] not in MQM_WEIGHTS:
        raise InputError(
            f"Appraise has the severities {', '.join(MQM_WEIGHTS)}, and this study has "
            f"{span['severity']!r}."
        )
    category = span.get("category") or ""
    return {
        "start_i": MISSING if is_missing(span) else span["start"],
        "end_i": MISSING if is_missing(span) else span["end"] - 1,
        "severity": span["severity"],
        "error_type": category.split("/") if category else None,
    }


def document_of(item: Item) -> str:
    """The name of an item's document; the item's id if it has no document."""
    return item.document or item.id


def _check_names(items: Sequence[Item]) -> None:
    """Raises InputError for names that Appraise would misread: it splits the name of a document at
    `DOCUMENT_MARK`, and it takes a document with "tutorial" in its name for a tutorial."""
    wrong = [
        document_of(item)
        for item in items
        if DOCUMENT_MARK in document_of(item) or "tutorial" in document_of(item)
    ]
    if wrong:
        raise InputError(
            f"Appraise would misread the name of the document {wrong[0]!r}: names must not contain "
            f"{DOCUMENT_MARK!r} or 'tutorial'."
        )
