"""`Design`, one way of asking judges, and `AnsweredTrial`, from which a design makes
judgments; and the words that several designs share.

A design decides what a trial shows, which questions it has, and what its answers are worth. No other
module of studies asks which design it has. A design is a frozen dataclass; its fields are its
options. Judges read the design's words unless a study has its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, TypeAlias, cast, get_args

import numpy as np

from wellput.agreement.panel import Panel, normalized, panels
from wellput.agreement.rankings.plain_ranking import Ranking
from wellput.agreement.rankings.ranked_questions import judgments_of, rank_answers, rank_question
from wellput.core.errors import InputError
from wellput.core.judgment import Judgment, Preference
from wellput.core.metric import Floats
from wellput.core.registries import option_names
from wellput.stats.judges.krippendorff import MeasurementLevel
from wellput.studies.questionnaire import LAYOUTS, Check, Layout, Practice, Questionnaire, Task
from wellput.studies.questions import AnswerValues, Question, scale_ends
from wellput.studies.wording import ENGLISH, Wording

OWN_SCALES_NOTE = (
    "The figures are z-scores: each judge's numbers have the mean 0 and the standard deviation 1, "
    "because every judge has a scale of their own."
)
KNOWN_QUESTIONS = ("understandability", "quality", "fluency", "adequacy")
"""Questions with words of their own. Their scale of 7 points is that of Bangalore, Rambow & Whittaker
2000, section 4: three points have words, the others have none."""


def seven_points(name: str, words: Wording = ENGLISH) -> tuple[str, Mapping[str, str]]:
    """The question of a name, and the labels of the points 1 to 7, at least of the two ends. Scales of
    other lengths keep the labels of the ends."""
    key = f"questions.{name if name in KNOWN_QUESTIONS else 'other'}"
    points = {"1": "low", "4": "middle", "7": "high"}
    labels = {
        point: words(f"{key}.{place}")
        for point, place in points.items()
        if words.has(f"{key}.{place}")
    }
    return words(f"{key}.text", name=name), labels


PRACTICED_QUESTIONS = ("understandability", "quality", "fluency", "preference")
"""What the usual practice trials differ in: one of their texts has its words in order."""
Half: TypeAlias = Literal["upper", "lower"]
HALVES: tuple[Half, ...] = get_args(Half)


def half_of(question: Question, half: Half) -> tuple[float, float]:
    """The lowest and the highest value of a half of a scale; its middle belongs to both."""
    low, high = scale_ends(question)
    middle = (low + high) / 2
    return (middle, high) if half == "upper" else (low, middle)


SUBSTITUTION_SETTINGS: Mapping[str, object] = {
    # Kauchak & Barzilay 2006, section 4.3: right only if right in meaning and in grammar.
    "title": "Is the replacement right?",
    "instructions": (
        "You will read sentences in which a word is to be replaced, as in “a quick [reply → answer] "
        "came”. Say that the replacement is right only if the sentence still means the same with it, "
        "and is still good English.\n\n"
        "There is no time limit. You can go back one step, and you can leave at any time and come "
        "back with the same link."
    ),
    "points": 2,
    "questions": [
        {
            "name": "right",
            "text": "Is the replacement right in this sentence, in meaning and in grammar?",
            "points": 2,
            "labels": {"1": "Wrong", "2": "Right"},
        }
    ],
}
"""Settings of a study of substitutions."""
SUBSTITUTION_DESIGN = "rating"


EXPORT_COLUMNS = (
    "judge", "item", "system", "system_a", "system_b", "question", "value", "choice", "ms",
    "position", "recorded_at", "document", "repeat", "spans", "prefilled",
    "comment",
)  # fmt: skip
"""The columns of an export. A question that is answered in words has its own column."""


@dataclass(frozen=True)
class AnsweredTrial:
    """A trial as one judge answered it.

    `answers` has {question: value} for each system, or one for all where the design asks once.
    `columns` are written beside every judgment. `prefilled` has, by system, the error spans that the
    judge found marked; None in a study without them.
    """

    judge: str
    item: str
    systems: tuple[str, ...]
    questions: tuple[Question, ...]
    answers: Sequence[AnswerValues]
    seconds: float
    task: Task | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    prefilled: Mapping[str, Sequence[Mapping[str, Any]]] | None = None

    def judgment(
        self, system: str, question: str, value: float, columns: Mapping[str, str] | None = None
    ) -> Judgment:
        """A judgment of one system's output, with further `columns`."""
        beside = {**self.columns, **(columns or {})}
        return Judgment(self.judge, self.item, system, question, float(value), beside)


@dataclass(frozen=True)
class Design(ABC):
    """One way of asking judges. The methods here are right for designs that ask about each output by
    itself; other designs override them."""

    name: ClassVar[str]
    """The name by which a study finds its design again: that of the entry point."""
    title: ClassVar[str]
    instructions: ClassVar[str]
    default_questions: ClassVar[tuple[str, ...]]

    layouts: ClassVar[tuple[Layout, ...]] = LAYOUTS
    """What a page can show: one variant, or all variants of an item. The first is the default."""
    shows_plain_text: ClassVar[bool] = False
    """Whether outputs must be shown as they are, not as markdown: judges mark places in them."""
    template: ClassVar[str] = "trial.html"
    """The page of a trial: one of `studies/templates`, or `package:path` in another package."""
    scripts: ClassVar[tuple[str, ...]] = ()
    styles: ClassVar[tuple[str, ...]] = ()
    """Files of `studies/static` that the page needs beside those of every page."""
    shows_source: ClassVar[bool] = False
    """Whether judges see the source unless the settings say otherwise."""
    shows_documents: ClassVar[bool] = False
    """Whether judges see the whole document around an output, if its item belongs to one."""
    asks_once: ClassVar[bool] = False
    """Whether the questions are about all outputs of a trial together, not about each."""
    balances_order: ClassVar[bool] = False
    """Whether two outputs are shown equally often in each order."""
    shows_items_once: ClassVar[bool] = False
    """Whether a judge who has seen one output of an item must not see another."""
    can_undo: ClassVar[bool] = True
    """Whether judges may change their last answer."""
    has_tasks: ClassVar[bool] = False
    """Whether every item has its own question, with right answers."""
    n_texts: ClassVar[int | None] = None
    """The number of texts of a practice trial or a check; None for one or more."""
    level: ClassVar[MeasurementLevel] = "interval"
    """The level of measurement at which judges' agreement is computed."""
    has_own_scales: ClassVar[bool] = False
    """Whether judges choose their own scales. Their answers are then normalized before comparison."""

    words: Wording = field(
        default=ENGLISH, kw_only=True, repr=False, compare=False, metadata={"is_option": False}
    )
    """What judges read: the language, and what a text is called."""

    # Making a study.

    @abstractmethod
    def question(self, name: str) -> Question:
        """The question of this name, in the design's words and on its scale."""

    @property
    def worded_title(self) -> str:
        """The title in the language of the study, if it has one."""
        key = f"designs.{self.name}.title"
        return self.words(key) if self.words.has(key) else self.title

    @property
    def worded_instructions(self) -> str:
        """The instructions in the language of the study, if it has them."""
        key = f"designs.{self.name}.instructions"
        return self.filled_in(self.words(key) if self.words.has(key) else self.instructions)

    def filled_in(self, text: str) -> str:
        """Instructions with the words that depend on the options."""
        return text

    def kept_options(self) -> dict[str, Any]:
        """The options that are stored with a study: those that differ from the default."""
        usual = {one.name: one.default for one in fields(self)}
        given = {name: getattr(self, name) for name in option_names(type(self))}
        return {name: value for name, value in given.items() if value != usual[name]}

    def questionnaire(
        self, questions: Sequence[str] = (), layout: Layout | None = None
    ) -> Questionnaire:
        """A questionnaire in the design's words. `questions` are names, known or new."""
        made = Questionnaire(
            kind=self.name,
            questions=tuple(self.question(name) for name in questions or self.default_questions),
            title=self.worded_title,
            instructions=self.worded_instructions,
            thanks=self.words("thanks.text"),
            layout=layout or self.layouts[0],
            options=self.kept_options(),
            language=self.words.language,
            unit=self.words.unit,
        )
        self.check(made)
        return made

    def check(self, questionnaire: Questionnaire) -> None:
        """Raises InputError for a questionnaire that no judge could answer."""
        if problems := self.problems(questionnaire):
            raise InputError.collect("This design cannot be used:", problems)

    def problems(self, questionnaire: Questionnaire) -> list[str]:
        """Why no judge could answer it."""
        names = [question.name for question in questionnaire.questions]
        found = [] if names else ["there is no question"]
        found += [f"the question {n!r} comes twice" for n in sorted({*names}) if names.count(n) > 1]
        for question in questionnaire.questions:
            found += question.problems()
            if question.kind == "answer" and question.name in EXPORT_COLUMNS:
                found.append(f"{question.name} is a column of every export: rename the question")
        if questionnaire.layout not in self.layouts:
            found.append(
                f"a {self.name} design has no layout {questionnaire.layout}; it has "
                f"{', '.join(self.layouts)}"
            )
        return found

    def groups(self, systems: Sequence[str], layout: Layout) -> Iterable[tuple[str, ...]]:
        """The trials of an item with outputs of these systems: the systems that each trial shows."""
        return [tuple(systems)] if layout == "page" else [(system,) for system in systems]

    def is_worth_asking(self, outputs: Sequence[str]) -> bool:
        """Whether a trial with these outputs can be informative."""
        return True

    def why_no_trials(self, n_systems: int) -> str:
        """The error message for an evalset from which no trial can be made."""
        return f"A {self.name} design finds nothing to show in this evalset."

    def practice(self, questions: Sequence[Question]) -> tuple[Practice, ...]:
        """Practice trials for a study that has none of its own: a good text, and a bad one. Judges are
        told which half of the scale is right, where the questions are about what makes them good."""
        texts = self.words.all("practice.texts")
        asked = [question for question in questions if question.name in PRACTICED_QUESTIONS]
        if not asked or not all(question.widget.has_scale for question in asked):
            return tuple(Practice((text,)) for text in texts)
        return tuple(
            Practice(
                (text,),
                expected={question.name: list(half_of(question, half)) for question in asked},
                feedback=feedback,
            )
            for text, half, feedback in zip(
                texts, HALVES, self.words.all("practice.feedback"), strict=True
            )
        )

    def checks(self, questions: Sequence[Question]) -> tuple[Check, ...]:
        """Attention checks for a study that has none of its own. The text says what to answer."""
        raise InputError(
            f"A {self.name} design has no attention checks of its own: give [[checks]]."
        )

    def trial_score(self, scores: Sequence[float]) -> float:
        """A metric's value of a trial, from the scores of its outputs in their order."""
        return float(np.mean(scores))

    # Asking.

    def asked(self, questions: tuple[Question, ...], task: Task | None) -> tuple[Question, ...]:
        """The questions of a trial. `task` is the item's own question."""
        return questions

    def is_expected(self, answer: Any, expected: Any) -> bool:
        """Whether an attention check was answered right. A list is [lowest, highest]."""
        if isinstance(expected, Sequence) and not isinstance(expected, str):
            return bool(expected[0] <= answer <= expected[1])
        return bool(answer == expected)

    # What answers are worth.

    def value_of(self, question: Question, answer: Any) -> float | None:
        """The number of an answer; None for a text, which is kept beside the numbers."""
        return None if isinstance(answer, str) else float(answer)

    def judgments(self, trial: AnsweredTrial) -> Iterable[Judgment] | Iterable[Preference]:
        """The judgments of each output. Texts become columns beside the numbers."""
        for system, answers in zip(trial.systems, trial.answers, strict=True):
            values = {q.name: self.value_of(q, answers[q.name]) for q in trial.questions}
            texts = {name: str(answers[name]) for name, value in values.items() if value is None}
            for name, value in values.items():
                if value is not None:
                    yield trial.judgment(system, name, value, texts)

    def is_alike(self, question: Question, answer: Any, before: Any) -> bool | None:
        """Whether two answers to the same trial are about the same; None where that means nothing."""
        if isinstance(answer, str) and not question.choices:
            return None
        return question.widget.is_alike(question, answer, before)

    def units(
        self, answers: Sequence[Judgment | Preference], systems: Sequence[str], items: Sequence[str]
    ) -> dict[str, Floats]:
        """By question, a table judges × outputs on one scale, NaN where there is no answer."""
        ratings = cast("Sequence[Judgment]", answers)
        return {name: panel.units for name, panel in self._panels(ratings, systems, items).items()}

    def rankings(
        self,
        answers: Sequence[Judgment | Preference],
        systems: Sequence[str],
        items: Sequence[str],
        *,
        sequential: bool = False,
    ) -> list[Ranking]:
        """Whom the judges prefer on each question; `sequential` rankings hold however often the owner
        looks."""
        if not self.has_own_scales:
            return rank_answers(answers, sequential=sequential)
        ratings = cast("Sequence[Judgment]", answers)
        by_question = self._panels(ratings, systems, items) if answers else {}
        return [
            replace(ranking, notes=(OWN_SCALES_NOTE, *ranking.notes))
            for name, panel in by_question.items()
            if (on_scale := judgments_of(panel, ratings))
            for ranking in [rank_question(name, on_scale, sequential=sequential)]
        ]

    def _panels(
        self, ratings: Sequence[Judgment], systems: Sequence[str], items: Sequence[str]
    ) -> dict[str, Panel]:
        by_question = panels(ratings, systems, items)
        if not self.has_own_scales:
            return dict(by_question)
        return {name: normalized(panel, "z") for name, panel in by_question.items()}
