"""Reads campaigns (studies) of the annotation tool Appraise: the scores that its command
`ExportSystemScoresToCSV` writes, and the batches (JSON) from which a campaign was made.

Scores are CSV without a header: login, system, number of the segment, type (`TGT`, or `BAD` for an
attention check), two languages, score, document, whether the document was judged as a whole, error
spans as JSON (only in ESA and MQM campaigns, where judges mark errors), start and end in seconds.

The number counts the segments of a batch, so the same item may have different numbers. Therefore an
item is named `DOCUMENT:PLACE`: the place of its number among all numbers of its document. Scores and
batches give items the same names if every segment was judged by somebody. In some campaigns the name
of a document contains that of the system (`DOCUMENT#SYSTEM`); in others the outputs of all systems
have the same document and numbers.

Attention checks, tutorials, documents repeated only to fill a task (`#duplicate`) and scores of whole
documents are left out. If a judge answered twice about the same output, the last answer counts.

Appraise's `end_i` is the last character of a span; wellput's `end` is the first character after it.
"""

from __future__ import annotations

import csv
import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wellput.core.errors import InputError, Problems
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import MISSING, SPANS_COLUMN, Judgment, number_in
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.tables import with_formula

MAX_DIGITS = 18
"""The most digits of an item's number."""
N_COLUMNS = (11, 12)
"""The number of columns in a file of scores without and with error spans."""
LOGIN, SYSTEM, NUMBER, TYPE, SCORE, DOCUMENT, IS_WHOLE, SPANS, START, END = (
    0, 1, 2, 3, 6, 7, 8, 9, -2, -1,
)  # fmt: skip
"""The places of the columns that are read, in the order of the module's docstring."""
JUDGED_SEGMENT, ATTENTION_CHECK = "TGT", "BAD"
ITEM_TYPES = (JUDGED_SEGMENT, ATTENTION_CHECK, "REF", "CHK", "SRC")
"""Appraise's types of segments; only the first two are used here."""
ESA_QUESTION, MQM_QUESTION, DIRECT_QUESTION = "esa", "mqm", "direct assessment"
MQM_WEIGHTS = {"minor": 1.0, "major": 5.0, "critical": 25.0, "undecided": 0.0}
"""Weights of errors by severity, from the scripts of WMT's ESA campaign."""
PUNCTUATION, PUNCTUATION_WEIGHT = "Punctuation", 0.1
"""A punctuation error has this weight, whatever its severity."""
BATCH_MARKS = (b'"items"', b'"itemID"', b'"targetText"')
"""Texts that every file of batches has in its first `PEEKED_BYTES`."""
PEEKED_BYTES = 1 << 16
DOCUMENT_MARK = "#"
"""Separates a document's name from the system, and from marks such as `duplicate1`."""


@dataclass(frozen=True, slots=True)
class AppraiseRow:
    """One answer; `spans` is None in a campaign without spans."""

    login: str
    system: str
    number: int
    type: str
    score: float
    document: str
    spans: list[dict[str, Any]] | None
    start: float
    end: float
    is_whole_document: bool = False

    @property
    def is_judged(self) -> bool:
        """Whether the row is about an output of a segment, not about an attention check, a tutorial, a
        document that only fills a task, or a whole document."""
        return self.is_about_output and not self.is_whole_document

    @property
    def is_about_output(self) -> bool:
        """Whether the row is about an output of a segment or of a whole document."""
        return self.type == JUDGED_SEGMENT and is_content(self.document)

    @property
    def document_name(self) -> str:
        return self.document.partition(DOCUMENT_MARK)[0]


def is_content(document: str) -> bool:
    """Whether a document has outputs to judge."""
    return "tutorial" not in document and "#duplicate" not in document


def is_segment(item: Mapping[str, Any]) -> bool:
    """Whether an entry of a batch is a segment to judge, not a whole document."""
    return is_content(str(item["documentID"])) and not item.get("isCompleteDocument")


def knows(path: PathLike) -> bool:
    """Whether the file's first line is a row of exported scores, or its JSON is a list of batches."""
    file = InputFile(path)
    if file.suffix == ".json":
        start = next(file.chunks(), b"")[:PEEKED_BYTES].lstrip()
        return start.startswith(b"[") and all(mark in start for mark in BATCH_MARKS)
    if file.suffix != ".csv":
        return False
    try:
        cells = next(csv.reader([next(file.lines(), "")]), [])
    except csv.Error:
        return False
    return (
        len(cells) in N_COLUMNS
        and cells[TYPE] in ITEM_TYPES
        and cells[NUMBER].isdecimal()
        and number_in(cells[SCORE]) is not None
    )


def read_judgments(path: PathLike) -> list[Judgment]:
    """The answers about outputs, with the extra columns `document`, `spans`, `started` and `ended`.

    The question is `direct assessment` for scores without error spans, and `esa` for scores with
    them. If spans have kinds of errors, the question is `mqm`, and the value is minus the sum of the
    errors' weights.
    """
    all_rows = read_rows(path)
    rows = [row for row in all_rows if row.is_judged]
    if not rows:
        raise InputError(f"{InputFile(path).name} holds no judgments of outputs.")
    note_whole_documents(all_rows, InputFile(path).name)
    question = question_of(rows)
    return [
        Judgment(
            row.login,
            item,
            row.system,
            question,
            mqm_score(row.spans or []) if question == MQM_QUESTION else row.score,
            {
                "document": row.document_name,
                **({} if row.spans is None else {SPANS_COLUMN: json.dumps(own_spans(row.spans))}),
                "started": f"{row.start:.3f}",
                "ended": f"{row.end:.3f}",
            },
        )
        for item, row in with_items(rows)
    ]


def read_rows(path: PathLike) -> list[AppraiseRow]:
    """All rows of a file of scores, including attention checks and tutorials."""
    file = InputFile(path)
    check_readable(file)
    problems = Problems(file.name)
    rows: list[AppraiseRow] = []
    reader = csv.reader(_with_ends(file))
    try:
        for cells in reader:
            row = _row(cells)
            if isinstance(row, str):
                problems.add(f"line {reader.line_num}", row)
            else:
                rows.append(row)
    except csv.Error as error:
        problems.add(f"line {reader.line_num}", f"{error}")
    problems.raise_if_any()
    return rows


def question_of(rows: Sequence[AppraiseRow]) -> str:
    """The question of a campaign, which is recognized by its spans."""
    if all(row.spans is None for row in rows):
        return DIRECT_QUESTION
    has_kinds = any(span.get("error_type") for row in rows for span in row.spans or [])
    return MQM_QUESTION if has_kinds else ESA_QUESTION


def with_items(rows: Sequence[AppraiseRow]) -> Iterator[tuple[str, AppraiseRow]]:
    """The last answer of each login about each output, as a pair of the item's name and the row."""
    last_rows: dict[tuple[str, str, int, str], AppraiseRow] = {}
    for row in rows:
        key = row.login, row.document, row.number, row.system
        if key not in last_rows or row.end >= last_rows[key].end:
            last_rows[key] = row
    places = places_in_documents((row.document, row.number) for row in last_rows.values())
    for _, row in sorted(last_rows.items(), key=lambda entry: entry[0]):
        yield f"{row.document_name}:{places[row.document, row.number]}", row


def note_whole_documents(rows: Iterable[AppraiseRow], name: str) -> None:
    """Warns that scores of whole documents are left out, if there are any; `name` is the file's."""
    n_whole = sum(row.is_about_output and row.is_whole_document for row in rows)
    if n_whole:
        scores = "1 score is" if n_whole == 1 else f"{n_whole:,} scores are"
        warnings.warn(
            f"{name}: {scores} about a whole document, not about a segment, and left out.",
            stacklevel=3,
        )


def places_in_documents(numbered: Iterable[tuple[str, int]]) -> dict[tuple[str, int], int]:
    """For each pair of a document and a number, the place (from 1) of the number among all numbers of
    its document. `numbered` must have the pairs of all logins, because a login may skip a segment."""
    numbers_of: dict[str, set[int]] = {}
    for document, number in numbered:
        numbers_of.setdefault(document, set()).add(number)
    return {
        (document, number): place
        for document, numbers in numbers_of.items()
        for place, number in enumerate(sorted(numbers), start=1)
    }


def own_spans(spans: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Appraise's error spans in the format of wellput's judgments.

    >>> own_spans([{"start_i": 3, "end_i": 5, "severity": "minor", "error_type": ["Style", "Awkward"]}])
    [{'start': 3, 'end': 6, 'severity': 'minor', 'category': 'Style/Awkward'}]
    """
    converted = []
    for span in spans:
        is_missing = span["start_i"] == MISSING
        converted.append(
            {
                "start": MISSING if is_missing else span["start_i"],
                "end": MISSING if is_missing else span["end_i"] + 1,
                "severity": span["severity"],
                **({"category": category} if (category := _category(span)) else {}),
            }
        )
    return converted


def mqm_score(spans: Sequence[Mapping[str, Any]]) -> float:
    """Minus the sum of the weights of these errors, so 0 is perfect."""
    return 0.0 - sum(
        PUNCTUATION_WEIGHT
        if PUNCTUATION in (span.get("error_type") or ())
        else MQM_WEIGHTS[span["severity"]]
        for span in spans
    )


def open_evalset(path: PathLike) -> EvalSet:
    """The segments of all batches, with their sources and each system's output. If two batches have
    segments of the same document, number and system, the first one counts."""
    return evalset_of_segments(judged_segments(read_batches(path)), where=InputFile(path).name)


def evalset_of_segments(
    segments: Iterable[tuple[str, Mapping[str, Any]]], *, where: str
) -> EvalSet:
    """The evalset of segments, given as pairs of an item's name and the segment in the batch. `where`
    is the file's name in messages."""
    texts: dict[str, dict[str, str]] = {}
    sources: dict[str, str] = {}
    for name, item in segments:
        sources.setdefault(name, str(item.get("sourceText", "")))
        texts.setdefault(name, {}).setdefault(str(item["targetID"]), str(item["targetText"]))
    if not texts:
        raise InputError(f"{where} holds no outputs to judge.")
    return EvalSet(
        [
            Item(name, outputs, source=sources[name], document=name.rpartition(":")[0])
            for name, outputs in texts.items()
        ]
    )


def judged_segments(
    batches: Iterable[Mapping[str, Any]],
) -> list[tuple[str, Mapping[str, Any]]]:
    """The segments that are outputs to judge, as pairs of the item's name and the segment, ordered by
    document and number."""
    outputs = [
        (str(item["documentID"]), int(item["itemID"]), item)
        for batch in batches
        for item in batch["items"]
        if item.get("itemType") == JUDGED_SEGMENT and is_segment(item)
    ]
    places = places_in_documents((document, number) for document, number, _ in outputs)
    return [
        (f"{document.partition(DOCUMENT_MARK)[0]}:{places[document, number]}", item)
        for document, number, item in sorted(outputs, key=lambda entry: entry[:2])
    ]


def _with_ends(file: InputFile) -> Iterator[str]:
    """The lines with their line feeds, without which `csv` would join the lines of a quoted cell."""
    return (f"{line}\n" for line in file.lines())


def _row(cells: Sequence[str]) -> AppraiseRow | str:
    """The row, or what is wrong with it."""
    if len(cells) not in N_COLUMNS:
        return f"{len(cells)} cells; an export of Appraise has {N_COLUMNS[0]} or {N_COLUMNS[1]}"
    score, start, end = (number_in(cells[place]) for place in (SCORE, START, END))
    number, type_ = cells[NUMBER], cells[TYPE]
    is_number = number.isdecimal() and len(number) <= MAX_DIGITS
    if not is_number or score is None or start is None or end is None:
        return "the third, seventh and last two cells must be numbers"
    spans: list[dict[str, Any]] | None = None
    if len(cells) == N_COLUMNS[1]:
        spans = _spans(cells[SPANS])
        if spans is None:
            return "the tenth cell is not a list of error spans"
    login, system, document = (with_formula(cells[place]) for place in (LOGIN, SYSTEM, DOCUMENT))
    is_whole = cells[IS_WHOLE].strip().casefold() == "true"
    return AppraiseRow(
        login, system, int(number), type_, score, document, spans, start, end, is_whole
    )


def _spans(cell: str) -> list[dict[str, Any]] | None:
    """The error spans in a cell; None if the cell is not a list of well-formed spans."""
    try:
        spans = json.loads(cell or "[]")
    except (ValueError, RecursionError):
        return None
    if not isinstance(spans, list):
        return None
    for span in spans:
        if not isinstance(span, dict) or span.get("severity") not in tuple(MQM_WEIGHTS):
            return None
        places = span.get("start_i"), span.get("end_i")
        is_placed = all(type(place) is int and place >= 0 for place in places)
        if not is_placed and places[0] != MISSING:
            return None
    return spans


def _category(span: Mapping[str, Any]) -> str:
    kinds = span.get("error_type")
    return "/".join(map(str, kinds)) if isinstance(kinds, list) else ""


def read_batches(path: PathLike) -> list[Mapping[str, Any]]:
    """The batches of a file. Raises InputError for any other JSON."""
    file = InputFile(path)
    check_readable(file)
    try:
        batches: list[Mapping[str, Any]] = json.loads(file.whole())
        for batch in batches:
            for item in batch["items"]:
                int(item["itemID"])
                _ = item["documentID"], item["targetID"], item["targetText"]
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise InputError(f"{file.name} is not a list of Appraise's batches.") from None
    return batches
