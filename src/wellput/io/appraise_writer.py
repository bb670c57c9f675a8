"""Writes Appraise's formats: the scores that `ExportSystemScoresToCSV` writes (`.csv`), and batches
from which Appraise makes a campaign (`.json`).

An item is a segment of its document, or a document of its own; its number is its place in the study. An
attention check that was made of an output is a `BAD` segment of a document of its own.
wellput does not know the languages of a study, so they are `und` (undetermined, ISO 639).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from typing import Any

from wellput.core.errors import InputError
from wellput.core.evalset import Item
from wellput.core.judgment import MISSING, Judgment
from wellput.io.appraise import ATTENTION_CHECK, DOCUMENT_MARK, JUDGED, MQM_WEIGHTS
from wellput.io.appraise_campaign import AnsweredCheck, SpoiledOutput
from wellput.io.exported_spans import is_missing, one_question, seconds_of, spans_of
from wellput.io.files import PathLike
from wellput.io.output import replacing_text
from wellput.io.tables import without_formula

UNKNOWN_LANGUAGE = "und"
SEGMENTS_PER_BATCH = 100
"""Appraise gives a judge one batch, of 100 segments by custom."""


def write_scores(
    answers: Sequence[Judgment],
    items: Sequence[Item],
    path: PathLike,
    *,
    checks: Sequence[AnsweredCheck] = (),
    spoiled: Sequence[SpoiledOutput] = (),
) -> None:
    """One row for each answer to one question, with its error spans if errors were marked. `checks` are
    answers to attention checks, which show the `spoiled` outputs."""
    one_question(answers, "A row of Appraise")
    _check_names(items)
    numbers = {item.id: number for number, item in enumerate(items, start=1)}
    documents = {item.id: document_of(item) for item in items}
    marks = _check_marks(spoiled)
    written = [(answer, JUDGED, "") for answer in answers]
    written += [(check.answer, ATTENTION_CHECK, marks[check.shown]) for check in checks]
    with replacing_text(path) as file:
        plain = csv.writer(file, lineterminator="\n")
        # The plain writer does not quote a carriage return, which readers take for the end of the row.
        careful = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        for answer, kind, mark in written:
            spans = spans_of(answer)
            marked = [] if spans is None else [json.dumps([appraise_span(s) for s in spans])]
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
                *marked,
                f"{start:.3f}",
                f"{end:.3f}",
            ]
            (careful if "\r" in f"{answer.judge}{row[7]}" else plain).writerow(row)


def write_batches(
    items: Sequence[Item],
    path: PathLike,
    *,
    prefilled: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]] | None = None,
    spoiled: Sequence[SpoiledOutput] = (),
) -> None:
    """The outputs in batches, system by system and document by document, then the attention checks.
    `prefilled` has error spans by item and system, which judges find marked."""
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
        _segment(by_id[one.item], numbers[one.item], one.system, one.text, mark)
        for one, mark in _check_marks(spoiled).items()
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
        "itemType": ATTENTION_CHECK if check_mark else JUDGED,
        "documentID": f"{document}{DOCUMENT_MARK}{system}{check_mark}",
        "isCompleteDocument": False,
        "mqm": [],
    }


def _check_marks(spoiled: Sequence[SpoiledOutput]) -> dict[SpoiledOutput, str]:
    """What Appraise adds to the name of the document of each attention check."""
    return {
        one: f"{DOCUMENT_MARK}bad{number}"
        for number, one in enumerate(dict.fromkeys(spoiled), start=1)
    }


def appraise_span(span: Mapping[str, Any]) -> dict[str, Any]:
    """A span as Appraise has it: `end_i` is its last character.

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
    """The document of an item; the item itself if it belongs to none."""
    return item.document or item.id


def _check_names(items: Sequence[Item]) -> None:
    """Appraise splits the name of a document at the mark, and takes a name with "tutorial" for one."""
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
