"""Judgments that were collected elsewhere, as answers to the questions of a study.

Marks of errors are kept as they are, with two exceptions: a mark that goes beyond the end of the text
is cut there, and a mark that begins beyond the end, where Appraise shows the word [MISSING], is an
omission.

A judgment answers one question. A study keeps one answer for all questions about an output, with one
time, one comment and one list of marks. Where the judgment of a question has another time, comment
or list of marks, or has more columns, `columns` keeps the differences by question.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeAlias

from wellput.agreement.rankings.judgment_design import DOCUMENT_COLUMN
from wellput.core.errors import InputError, Problems
from wellput.core.evalset import EvalSet
from wellput.core.judgment import MISSING, SPANS_COLUMN, Judgment, read_error_spans
from wellput.core.line_breaks import place_with_line_feeds, with_line_feeds
from wellput.io.appraise_campaign import AnsweredCheck, SpoiledOutput
from wellput.io.exported_spans import spans_of
from wellput.studies.designs.base import Design
from wellput.studies.imported_design import COMMENT_COLUMN
from wellput.studies.judge_queue import AssignmentPurpose
from wellput.studies.judge_turns import MAX_STORED_MS
from wellput.studies.marked_spans import Span, span_order
from wellput.studies.queries import (
    FIRST_TIME,
    LAST_TIME,
    UNKNOWN_MS,
    UNKNOWN_TIME,
    known_time,
    written_time,
)
from wellput.studies.questionnaire import Questionnaire
from wellput.studies.questions import AnswerValues, Question, is_storable
from wellput.studies.study_setup import Trial

PROBLEMS_OF = "The import"
"""How the headline of a list of problems begins."""
TIME_COLUMNS = ("started", "ended", "ms", "recorded_at")
REPEAT_COLUMN = "repeat"
"""The column that says whether a judge answers about an output again, in one of `REPEAT_WORDS`."""
REPEAT_WORDS = {
    **dict.fromkeys(("", "0", "false", "no"), False),
    **dict.fromkeys(("1", "true", "yes"), True),
}
Times: TypeAlias = tuple[float, float, int]
"""When an answer began and ended (seconds since 1970), and the milliseconds that it took."""
UNKNOWN_TIMES: Times = (UNKNOWN_TIME, UNKNOWN_TIME, UNKNOWN_MS)
SCORE_TOLERANCE = 1e-6
"""The score computed from the marks may differ from the imported score by this much."""


@dataclass(frozen=True)
class ImportedAnswer:
    """A judge's answers about an output, or to an attention check (`check` is its number). `values`
    are the answers by question. `columns` has, by question, the columns of its judgment that differ
    from the other fields or have no field here."""

    judge: str
    trial: Trial
    values: AnswerValues
    began: float
    ended: float
    ms: int
    comment: str | None = None
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    check: int | None = None
    is_repeat: bool = False

    @property
    def purpose(self) -> AssignmentPurpose:
        if self.check is not None:
            return "check"
        return "repeat" if self.is_repeat else "trial"


def judged_outputs(evalset: EvalSet, judgments: Sequence[Judgment]) -> dict[tuple[str, str], str]:
    """The outputs that were judged, by item and system, in the order of the evalset. Raises InputError
    with every judgment of an output that the evalset does not have."""
    judged = {(judgment.item, judgment.system) for judgment in judgments}
    outputs = {
        (item.id, system): str(output)
        for item in evalset
        for system, output in item.outputs.items()
        if (item.id, system) in judged
    }
    problems = Problems(PROBLEMS_OF)
    for judgment in judgments:
        if (judgment.item, judgment.system) not in outputs:
            problems.add(_where(judgment), "the evalset does not have this output")
    problems.raise_if_any()
    return outputs


def check_marks(judgments: Iterable[Judgment]) -> None:
    """Raises InputError with every judgment whose error spans cannot be read."""
    problems = Problems(PROBLEMS_OF)
    for judgment in judgments:
        try:
            spans = read_error_spans(judgment.extra.get(SPANS_COLUMN, ""))
        except InputError as error:
            problems.add(_where(judgment), str(error))
            continue
        if not all(span.severity for span in spans):
            problems.add(_where(judgment), "every span needs a severity")
    problems.raise_if_any()


class AnswerReader:
    """Turns judgments into answers to the questions of a study, and collects in `problems` the
    judgments that do not fit the study."""

    def __init__(
        self, questionnaire: Questionnaire, design: Design, *, has_documents: bool = False
    ) -> None:
        self.questions = questionnaire.questions
        self.design = design
        self.has_marks = any(question.kind == "spans" for question in self.questions)
        self.stored_columns = {
            *TIME_COLUMNS,
            REPEAT_COLUMN,
            COMMENT_COLUMN,
            *([SPANS_COLUMN] if self.has_marks else []),
            *([DOCUMENT_COLUMN] if has_documents else []),
        }
        self.problems = Problems(PROBLEMS_OF)

    def answers(
        self,
        judgments: Sequence[Judgment],
        outputs: Mapping[tuple[str, str], str],
        places: Mapping[str, int],
    ) -> list[ImportedAnswer]:
        """The answers about outputs: all judgments of a judge about an output make one answer, and the
        judgments of a repeated trial make another. `outputs` are the texts by item and system, `places`
        the places of the items in the study."""
        groups: dict[tuple[str, str, str, bool], dict[str, Judgment]] = {}
        for judgment in judgments:
            if judgment.extra.get(REPEAT_COLUMN, "").lower() not in REPEAT_WORDS:
                self.problems.add(_where(judgment), "its repeat is neither 0 nor 1")
            key = (judgment.judge, judgment.item, judgment.system, is_repeat(judgment))
            by_question = groups.setdefault(key, {})
            if judgment.question in by_question:
                self.problems.add(_where(judgment), f"there are two answers to {judgment.question}")
            by_question[judgment.question] = judgment
        return [
            replace(
                self._answer(by_question, outputs[item, system], Trial(places[item], (system,))),
                is_repeat=repeated,
            )
            for (_, item, system, repeated), by_question in groups.items()
        ]

    def check_answers(
        self,
        checks: Sequence[AnsweredCheck],
        places: Mapping[str, int],
        numbers: Mapping[SpoiledOutput, int],
    ) -> list[ImportedAnswer]:
        """The answers to attention checks. Checks that the study does not have are left out. `numbers`
        are the numbers of the study's checks, by the spoiled output that a check shows."""
        return [
            self._answer(
                {check.answer.question: check.answer},
                check.text,
                Trial(places[check.answer.item], (check.answer.system,)),
                check=numbers[check.shown],
            )
            for check in checks
            if check.shown in numbers
        ]

    def _answer(
        self, by_question: Mapping[str, Judgment], text: str, trial: Trial, check: int | None = None
    ) -> ImportedAnswer:
        """One answer from the judgments of one judge about one text, by question."""
        first = next(iter(by_question.values()))
        marks = {name: self._marks(judgment, text) for name, judgment in by_question.items()}
        shared_marks = next((spans for spans in marks.values() if spans is not None), [])
        values = {
            question.name: self._value(question, by_question, shared_marks, first)
            for question in self.questions
        }
        times = {name: self._times(judgment) for name, judgment in by_question.items()}
        began, ended, ms = _joint_time(times.values())
        comment = (
            "\n".join(dict.fromkeys(filter(None, map(_comment, by_question.values())))) or None
        )
        columns: dict[str, dict[str, str]] = {}
        for name, judgment in by_question.items():
            differing = self._further_columns(judgment)
            if self.has_marks and marks[name] != shared_marks:
                differing[SPANS_COLUMN] = _written_marks(marks[name])
            if times[name] != (began, ended, ms):
                differing |= _written_times(times[name])
            if _comment(judgment) != (comment or ""):
                differing[COMMENT_COLUMN] = _comment(judgment)
            if differing:
                columns[name] = differing
            if not all(map(is_storable, (*differing, *differing.values(), _comment(judgment)))):
                self.problems.add(
                    _where(judgment),
                    "a column has characters (NUL or half a surrogate pair) that "
                    "cannot be stored: remove them",
                )
        return ImportedAnswer(first.judge, trial, values, began, ended, ms, comment, columns, check)

    def _marks(self, judgment: Judgment, text: str) -> list[Span] | None:
        """The error spans of a judgment, as a study stores them; None if it has none."""
        spans = spans_of(judgment) if self.has_marks else None
        return None if spans is None else stored_marks(spans, text)

    def _times(self, judgment: Judgment) -> Times:
        """The times of a judgment; if they cannot be read, unknown times and a problem."""
        try:
            return times_of(judgment)
        except InputError as error:
            self.problems.add(_where(judgment), str(error))
            return UNKNOWN_TIMES

    def _further_columns(self, judgment: Judgment) -> dict[str, str]:
        """The columns that a study has no field for."""
        return {
            name: text for name, text in judgment.extra.items() if name not in self.stored_columns
        }

    def _value(
        self,
        question: Question,
        by_question: Mapping[str, Judgment],
        marks: list[Span],
        first: Judgment,
    ) -> Any:
        """The answer to a question, as a study stores it. Problems name the judgment `first`."""
        judgment = by_question.get(question.name)
        if question.kind == "spans":
            if judgment is not None:  # the score is made from the marks
                score = self.design.value_of(question, marks)
                if score is None or not math.isclose(
                    score, judgment.number, abs_tol=SCORE_TOLERANCE
                ):
                    self.problems.add(
                        _where(first),
                        f"the marks cost {score}, and the value is {judgment.number:g}: give the "
                        "weights of the campaign (weights=)",
                    )
            return marks
        if judgment is None:
            self.problems.add(_where(first), f"there is no answer to {question.name}")
            return None
        value, reason = question.widget.checked(question, judgment.number)
        if reason:
            self.problems.add(_where(first), f"{question.name}: {reason}")
        return value


def is_repeat(judgment: Judgment) -> bool:
    """Whether a judge answers about an output again."""
    return REPEAT_WORDS.get(judgment.extra.get(REPEAT_COLUMN, "").lower(), False)


def stored_marks(spans: Sequence[Mapping[str, Any]], given_text: str) -> list[Span]:
    """Error spans as a study stores them, in the order of the text. `given_text` is the output with its
    own line breaks.

    >>> stored_marks([{"start": 2, "end": 99, "severity": "major"}], "a cat")
    [{'start': 2, 'end': 5, 'severity': 'major', 'category': '', 'text': 'cat'}]
    """
    text = with_line_feeds(given_text)
    stored: list[Span] = []
    for span in spans:
        start: Any = span["start"]
        end: Any = span["end"]
        if start != MISSING:
            start, end = place_with_line_feeds(start, end, given_text, span.get("text"))
        is_missing = start == MISSING or start >= len(text)
        start = MISSING if is_missing else start
        end = MISSING if is_missing else min(end, len(text))
        quote = span.get("text", "") if is_missing else text[start:end]
        kind = {"severity": span["severity"], "category": span.get("category") or ""}
        stored.append({"start": start, "end": end, **kind, "text": quote})
    return sorted(stored, key=span_order)


def times_of(judgment: Judgment) -> Times:
    """When an answer began and ended, in seconds since 1970, and the milliseconds between;
    `UNKNOWN_TIME` and `UNKNOWN_MS` where the judgment does not say it. A time without a zone is in UTC.
    Raises InputError for a text that is not a time."""
    extra = judgment.extra
    try:
        if extra.get("ended"):
            began, ended = float(extra.get("started") or extra["ended"]), float(extra["ended"])
            is_timed = bool(extra.get("started")) and ended != UNKNOWN_TIME
            ms = _stored_ms(1000 * (ended - began)) if is_timed else UNKNOWN_MS
        else:
            ms = _stored_ms(float(extra["ms"])) if extra.get("ms") else UNKNOWN_MS
            if not extra.get("recorded_at"):
                return UNKNOWN_TIME, UNKNOWN_TIME, ms
            recorded = datetime.fromisoformat(extra["recorded_at"])
            zoned = recorded if recorded.tzinfo else recorded.replace(tzinfo=UTC)
            began, ended = zoned.timestamp() - max(ms, 0) / 1000, zoned.timestamp()
        if not (math.isfinite(began) and math.isfinite(ended)):
            raise ValueError
    except (ValueError, OverflowError):
        raise InputError(
            "its times cannot be read: started and ended are seconds since 1970, ms milliseconds, and "
            "recorded_at a time such as 2026-01-31T12:00:00"
        ) from None
    for moment in (began, ended):
        if not FIRST_TIME <= moment <= LAST_TIME:
            raise InputError(_no_date(moment, is_number=bool(extra.get("ended"))))
    return began, ended, ms


def _no_date(moment: float, *, is_number: bool) -> str:
    """What is wrong with a time outside the years 1 to 9999, and what to do."""
    message = f"its time, {moment:.15g} seconds since 1970, is outside the years 1 to 9999"
    for unit, per_second in (("milliseconds", 1e3), ("microseconds", 1e6), ("nanoseconds", 1e9)):
        if is_number and 0 < moment / per_second <= LAST_TIME:
            return f"{message}; it looks like {unit}: divide it by {per_second:.0f}"
    return f"{message}: correct it, or leave its time empty"


def _joint_time(times: Iterable[Times]) -> Times:
    """The time of the one answer to all questions about an output, from the times of the questions.
    Questions with equal times were answered together, so that their time counts once; questions with
    different times were answered one after the other."""
    distinct = list(dict.fromkeys(times))
    known_ms = [ms for _, _, ms in distinct if ms != UNKNOWN_MS]
    begins = [began for began, ended, _ in distinct if ended != UNKNOWN_TIME]
    return (
        min(begins, default=UNKNOWN_TIME),
        max((ended for _, ended, _ in distinct if ended != UNKNOWN_TIME), default=UNKNOWN_TIME),
        min(sum(known_ms), MAX_STORED_MS) if known_ms else UNKNOWN_MS,
    )


def _written_times(times: Times) -> dict[str, str]:
    """Times as the columns of a judgment."""
    _, ended, ms = times
    return {
        "ms": "" if ms == UNKNOWN_MS else str(ms),
        "recorded_at": written_time(known_time(ended)),
    }


def _written_marks(marks: list[Span] | None) -> str:
    return "" if marks is None else json.dumps(marks, ensure_ascii=False)


def _comment(judgment: Judgment) -> str:
    return judgment.extra.get(COMMENT_COLUMN, "").strip()


def _stored_ms(ms: float) -> int:
    return max(0, min(round(ms), MAX_STORED_MS))


def changed_part(text: str, before: str) -> tuple[int, int]:
    """The start and the end, in characters, of the part of `text` that differs from `before`. If words
    were only left out, the part is the two characters beside the gap.

    >>> changed_part("a big dog sat", "a cat sat"), changed_part("a sat", "a cat sat")
    ((2, 9), (1, 3))
    """
    shortest = min(len(text), len(before))
    start = next((n for n in range(shortest) if text[n] != before[n]), shortest)
    same_end = next(
        (n for n in range(shortest - start) if text[-1 - n] != before[-1 - n]), shortest - start
    )
    end = len(text) - same_end
    return (start, end) if start < end else (max(0, start - 1), min(len(text), end + 1))


def _where(judgment: Judgment) -> str:
    """How a message names a judgment."""
    return f"judge {judgment.judge}, item {judgment.item}, system {judgment.system}"
