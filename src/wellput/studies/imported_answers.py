"""Judgments that were collected elsewhere, as answers to the questions of a study.

Marks are kept as they are, with two exceptions: a mark that runs over the end of the text ends there,
and one that begins behind the end, where Appraise shows the word [MISSING], is an omission.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from wellput.core.errors import InputError, Problems
from wellput.core.evalset import EvalSet
from wellput.core.judgment import MISSING, SPANS_COLUMN, Judgment, read_error_spans
from wellput.io.appraise_campaign import AnsweredCheck, SpoiledOutput
from wellput.io.exported_spans import spans_of
from wellput.studies.designs.base import Design
from wellput.studies.judge_turns import MAX_STORED_MS
from wellput.studies.marked_spans import Span, span_order
from wellput.studies.questionnaire import Questionnaire
from wellput.studies.questions import AnswerValues, Question
from wellput.studies.study_setup import Trial

NOT_IMPORTED = "The import"
SCORE_TOLERANCE = 1e-6
"""A score that is made from marks may differ from the given one by this much."""


@dataclass(frozen=True)
class ImportedAnswer:
    """A judge's answers about an output, or about a check (`check` is its number)."""

    judge: str
    trial: Trial
    values: AnswerValues
    began: float
    ended: float
    ms: int
    check: int | None = None


def judged_outputs(evalset: EvalSet, judgments: Sequence[Judgment]) -> dict[tuple[str, str], str]:
    """The outputs that were judged, by item and system, in the order of the evalset. Raises InputError
    with every judgment of an output that the evalset does not have."""
    judged = {(one.item, one.system) for one in judgments}
    outputs = {
        (item.id, system): str(output)
        for item in evalset
        for system, output in item.outputs.items()
        if (item.id, system) in judged
    }
    problems = Problems(NOT_IMPORTED)
    for one in judgments:
        if (one.item, one.system) not in outputs:
            problems.add(_where(one), "the evalset does not have this output")
    problems.raise_if_any()
    return outputs


def check_marks(judgments: Iterable[Judgment]) -> None:
    """Raises InputError with every judgment whose error spans cannot be read."""
    problems = Problems(NOT_IMPORTED)
    for one in judgments:
        try:
            spans = read_error_spans(one.extra.get(SPANS_COLUMN, ""))
        except InputError as error:
            problems.add(_where(one), str(error))
            continue
        if not all(span.severity for span in spans):
            problems.add(_where(one), "every span needs a severity")
    problems.raise_if_any()


class AnswerReader:
    """Turns judgments into answers to the questions of a study, and notes those that do not fit."""

    def __init__(self, questionnaire: Questionnaire, design: Design) -> None:
        self.questions = questionnaire.questions
        self.design = design
        self.problems = Problems(NOT_IMPORTED)

    def answers(
        self,
        judgments: Sequence[Judgment],
        outputs: Mapping[tuple[str, str], str],
        places: Mapping[str, int],
    ) -> list[ImportedAnswer]:
        """The answers about outputs: all judgments of a judge about an output are one answer."""
        together: dict[tuple[str, str, str], dict[str, Judgment]] = {}
        for one in judgments:
            own = together.setdefault((one.judge, one.item, one.system), {})
            if one.question in own:
                self.problems.add(_where(one), f"there are two answers to {one.question}")
            own[one.question] = one
        return [
            self._answer(own, outputs[item, system], Trial(places[item], (system,)))
            for (_, item, system), own in together.items()
        ]

    def check_answers(
        self,
        checks: Sequence[AnsweredCheck],
        places: Mapping[str, int],
        numbers: Mapping[SpoiledOutput, int],
    ) -> list[ImportedAnswer]:
        """The answers to those attention checks that the study has."""
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
        self, own: Mapping[str, Judgment], text: str, trial: Trial, check: int | None = None
    ) -> ImportedAnswer:
        first = next(iter(own.values()))
        values = {
            question.name: self._value(question, own, text, first) for question in self.questions
        }
        try:
            began, ended, ms = times_of(first)
        except InputError as error:
            self.problems.add(_where(first), str(error))
            began, ended, ms = 0.0, 0.0, 0
        return ImportedAnswer(first.judge, trial, values, began, ended, ms, check)

    def _value(
        self, question: Question, own: Mapping[str, Judgment], text: str, first: Judgment
    ) -> Any:
        judgment = own.get(question.name)
        if question.kind == "spans":
            marks = stored_marks(spans_of(first) or [], text)
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


def stored_marks(spans: Sequence[Mapping[str, Any]], text: str) -> list[Span]:
    """Error spans as a study stores them, in the order of the text.

    >>> stored_marks([{"start": 2, "end": 99, "severity": "major"}], "a cat")
    [{'start': 2, 'end': 5, 'severity': 'major', 'category': '', 'text': 'cat'}]
    """
    found: list[Span] = []
    for span in spans:
        is_missing = span["start"] == MISSING or span["start"] >= len(text)
        start: Any = MISSING if is_missing else span["start"]
        end: Any = MISSING if is_missing else min(span["end"], len(text))
        quote = span.get("text", "") if is_missing else text[start:end]
        kind = {"severity": span["severity"], "category": span.get("category") or ""}
        found.append({"start": start, "end": end, **kind, "text": quote})
    return sorted(found, key=span_order)


def times_of(judgment: Judgment) -> tuple[float, float, int]:
    """When an answer began and ended, in seconds since 1970, and the milliseconds between; 0 where
    nobody knows. A time without a zone is in UTC. Raises InputError for what is no time."""
    extra = judgment.extra
    try:
        if extra.get("ended"):
            began, ended = float(extra.get("started") or extra["ended"]), float(extra["ended"])
            return began, ended, _stored_ms(1000 * (ended - began))
        ms = _stored_ms(float(extra.get("ms") or 0))
        if not extra.get("recorded_at"):
            return 0.0, 0.0, ms
        recorded = datetime.fromisoformat(extra["recorded_at"])
    except (ValueError, OverflowError):
        raise InputError(
            "its times cannot be read: started and ended are seconds since 1970, ms milliseconds, and "
            "recorded_at a time such as 2026-01-31T12:00:00"
        ) from None
    zoned = recorded if recorded.tzinfo else recorded.replace(tzinfo=UTC)
    return zoned.timestamp() - ms / 1000, zoned.timestamp(), ms


def _stored_ms(ms: float) -> int:
    return max(0, min(round(ms), MAX_STORED_MS))


def changed_part(text: str, before: str) -> tuple[int, int]:
    """The first and the end of the characters of `text` that differ from `before`. Where words were
    only left out, those beside the gap.

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


def _where(one: Judgment) -> str:
    return f"judge {one.judge}, item {one.item}, system {one.system}"
