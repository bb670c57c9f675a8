"""Designs in which judges mark the errors of a text: in `Spans` they also give a score; in `Mqm` they
give each mark a category, and the score is computed from the marks.

`Spans` follows the protocol ESA (Error Span Annotation, Kocmi et al. 2024); `Mqm` follows Freitag et
al. 2021, where its default weights come from.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from wellput.core.errors import InputError
from wellput.core.judgment import MISSING, SPANS_COLUMN, Judgment
from wellput.studies.designs.base import AnsweredTrial, Design, seven_points
from wellput.studies.designs.error_categories import (
    Categories,
    Weights,
    checked_weights,
    cost,
    default_record,
    flat_categories,
    severity_names,
)
from wellput.studies.marked_spans import marked_places
from wellput.studies.questionnaire import Check, Layout, Practice, Questionnaire
from wellput.studies.questions import Question
from wellput.studies.wording import ENGLISH

ERRORS_QUESTION = "errors"
"""The name of the question that judges answer by their marks."""
PREFILLED_COLUMN = "prefilled"
SEVERITIES = ("minor", "major")
USUAL_CATEGORIES = dict(flat_categories(default_record()["categories"]))
"""The categories of a study without a file of its own, with their explanations in English."""
OMISSION = "[missing]"
"""A check or a practice trial lists the words that should be marked. This entry of the list stands for
a mark that something is missing."""


@dataclass(frozen=True)
class MarkedErrors(Design):
    """What both designs share: the question that is answered by marks, which comes first."""

    template: ClassVar[str] = "spans.html"
    scripts: ClassVar[tuple[str, ...]] = ("marks.js", "drawn_marks.js", "spans.js")
    styles: ClassVar[tuple[str, ...]] = ("spans.css",)
    shows_source: ClassVar[bool] = True
    shows_documents: ClassVar[bool] = True
    shows_plain_text: ClassVar[bool] = True

    severities: tuple[str, ...] = SEVERITIES

    def __post_init__(self) -> None:
        object.__setattr__(self, "severities", severity_names(self.severities))

    @property
    def shown_names(self) -> dict[str, str]:
        """The names that judges read for severities and for paths of categories. Other names, which the
        owner of the study gave, are shown as they are."""
        severities = {name: self.words(f"marking.{name}") for name in SEVERITIES}
        categories = {}
        for path in USUAL_CATEGORIES:
            while path:
                categories[path] = self.words(f"kinds.{path.rpartition('/')[2]}")
                path = path.rpartition("/")[0]
        return severities | categories

    def errors_question(self, name: str) -> Question:
        return Question(name, self.words("marking.question"), "spans", severities=self.severities)

    def kept_options(self) -> dict[str, Any]:
        """No options are stored: the severities are stored with the questions."""
        return {}

    def practice(self, questions: Sequence[Question]) -> tuple[Practice, ...]:
        """A text with an error and an omission, and a text without errors."""
        name = next(question.name for question in questions if question.kind == "spans")
        expected_marks = ([*self.words.all("marking.practice_words"), OMISSION], "")
        return tuple(
            Practice((text,), source=source, expected={name: expected}, feedback=feedback)
            for text, source, expected, feedback in zip(
                self.words.all("marking.practice_texts"),
                self.words.all("marking.practice_sources"),
                expected_marks,
                self.words.all("marking.practice_feedback"),
                strict=True,
            )
        )

    def is_expected(self, answer: Any, expected: Any) -> bool:
        """Whether the marks are as expected. If `expected` is a word or a list of words, a mark must
        touch each of them; `OMISSION` among them stands for a mark that something is missing. If it is
        "", nothing may be marked. If it is {"start": …, "end": …}, a mark must touch this place."""
        if not isinstance(answer, list):
            return super().is_expected(answer, expected)
        if isinstance(expected, Mapping):
            place = range(expected["start"], expected["end"])
            return bool(marked_places(answer) & set(place))
        expected_words = [expected] if isinstance(expected, str) else list(expected)
        if not any(expected_words):
            return not answer
        has_omission = any(span["start"] == MISSING for span in answer)
        quotes = [span["text"] for span in answer if span["start"] != MISSING]
        return all(
            has_omission if words == OMISSION else any(q in words or words in q for q in quotes)
            for words in expected_words
        )

    def span_columns(self, trial: AnsweredTrial, system: str, spans: object) -> dict[str, str]:
        """The columns of a judgment with the marks, and with those that the judge found in the text
        before marking (`prefilled`)."""
        columns = {SPANS_COLUMN: json.dumps(spans, ensure_ascii=False)}
        if trial.prefilled is not None:
            prefilled = [dict(span) for span in trial.prefilled.get(system, ())]
            columns[PREFILLED_COLUMN] = json.dumps(prefilled, ensure_ascii=False)
        return columns


@dataclass(frozen=True)
class Spans(MarkedErrors):
    """Judges mark errors, minor and major, and then score the output from 0 to 100 (ESA)."""

    name: ClassVar[str] = "spans"
    title: ClassVar[str] = ENGLISH("designs.spans.title")
    instructions: ClassVar[str] = ENGLISH("designs.spans.instructions")
    default_questions: ClassVar[tuple[str, ...]] = (ERRORS_QUESTION, "quality")

    def question(self, name: str) -> Question:
        if name == ERRORS_QUESTION:
            return self.errors_question(name)
        if name == "quality":
            ends = {
                "0": self.words("marking.quality_low"),
                "100": self.words("marking.quality_high"),
            }
            return Question(name, self.words("marking.quality"), "slider", 0, 100, ends)
        # The ends of the slider have the words for the ends of a scale of seven points.
        text, labels = seven_points(name, self.words)
        return Question(name, text, "slider", 0, 100, {"0": labels["1"], "100": labels["7"]})

    def questionnaire(
        self, questions: Sequence[str] = (), layout: Layout | None = None
    ) -> Questionnaire:
        """A questionnaire in which the question for the marks comes first."""
        names = tuple(questions) or self.default_questions
        if ERRORS_QUESTION not in names:
            names = (ERRORS_QUESTION, *names)
        return super().questionnaire(names, layout)

    def problems(self, questionnaire: Questionnaire) -> list[str]:
        problems = super().problems(questionnaire)
        if len(questionnaire.questions) < 2:
            problems.append("spans ask for a score beside the errors; the design mqm asks for none")
        return problems

    def checks(self, questions: Sequence[Question]) -> tuple[Check, ...]:
        """A text that is so bad that its score must be in the lowest tenth of the slider."""
        scored = [question for question in questions if question.kind == "slider"]
        text = self.words("designs.spans.check")
        expected = {q.name: [q.low, (q.high or 0) / 10] for q in scored}
        return (Check((text,), {ERRORS_QUESTION: "", **expected}),)

    def judgments(self, trial: AnsweredTrial) -> Iterator[Judgment]:
        """The scores of each output, with its marks as columns."""
        for system, answers in zip(trial.systems, trial.answers, strict=True):
            columns = self.span_columns(trial, system, answers[ERRORS_QUESTION])
            for question in trial.questions:
                if question.kind != "spans":
                    yield trial.judgment(system, question.name, answers[question.name], columns)


@dataclass(frozen=True)
class Mqm(MarkedErrors):
    """Judges mark errors and give each a severity and one of `categories` (pairs of a path, such as
    `accuracy/omission`, and its explanation). The score is minus the sum of the errors' `weights`,
    which are by severity (`minor`), or by path and severity (`fluency/punctuation:minor`)."""

    name: ClassVar[str] = "mqm"
    title: ClassVar[str] = ENGLISH("designs.mqm.title")
    instructions: ClassVar[str] = ENGLISH("designs.mqm.instructions")
    default_questions: ClassVar[tuple[str, ...]] = (ERRORS_QUESTION,)

    categories: Categories = ()
    weights: Weights = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        has_default = self.categories == ()
        categories = flat_categories(
            default_record()["categories"] if has_default else self.categories
        )
        weights = self.weights or self.default_weights(categories)
        object.__setattr__(self, "categories", categories)
        object.__setattr__(self, "weights", checked_weights(weights, self.severities, categories))

    def default_weights(self, categories: Categories) -> Mapping[str, float]:
        """The usual weights for the severities and categories of this study."""
        usual: Mapping[str, float] = default_record()["weights"]
        paths = {path for path, _ in categories}
        weights = {
            name: weight
            for name, weight in usual.items()
            if name.rpartition(":")[2] in self.severities
            and (":" not in name or name.rpartition(":")[0] in paths)
        }
        if lacking := [name for name in self.severities if name not in weights]:
            raise InputError(
                f"Say what an error costs that is {lacking[0]}: weights={lacking[0]}=NUMBER."
            )
        return weights

    def question(self, name: str) -> Question:
        asked = self.errors_question(name)
        return Question(
            name,
            asked.text,
            asked.kind,
            labels={path: self.explained(path, about) for path, about in self.categories},
            choices=tuple(path for path, _ in self.categories),
            severities=self.severities,
        )

    def explained(self, path: str, about: str) -> str:
        """What judges read about a category. The explanations of usual categories are in the language
        of the study."""
        if about != USUAL_CATEGORIES.get(path):
            return about
        return self.words(f"about_kinds.{path.rpartition('/')[2]}")

    def kept_options(self) -> dict[str, Any]:
        """All options, since the defaults may differ in another version of wellput."""
        return {
            "severities": list(self.severities),
            "categories": [list(pair) for pair in self.categories],
            "weights": dict(self.weights),
        }

    def problems(self, questionnaire: Questionnaire) -> list[str]:
        problems = super().problems(questionnaire)
        if len(questionnaire.questions) > 1:
            problems.append(
                "mqm has one question, the errors; the design spans also asks for scores"
            )
        return problems

    def checks(self, questions: Sequence[Question]) -> tuple[Check, ...]:
        """A text that asks judges to mark one of its words."""
        word = self.words("designs.mqm.check_word")
        text = self.words("designs.mqm.check", word=word)
        return (Check((text,), {questions[0].name: word}),)

    def value_of(self, question: Question, answer: Any) -> float | None:
        weights = dict(self.weights)
        return 0.0 - sum(cost(span, weights) for span in answer)  # 0.0 -: no −0.0 without errors

    def judgments(self, trial: AnsweredTrial) -> Iterator[Judgment]:
        """For each output, minus the sum of its errors' weights, with the marks as columns."""
        (question,) = trial.questions
        for system, answers in zip(trial.systems, trial.answers, strict=True):
            spans = answers[question.name]
            value = self.value_of(question, spans)
            assert value is not None
            columns = self.span_columns(trial, system, spans)
            yield trial.judgment(system, question.name, value, columns)
