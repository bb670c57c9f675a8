"""`Design`, one way of asking judges, and `AnsweredTrial`, from which a design makes judgments; and the
words that several designs share.

A design decides what a trial shows, which questions it has, and which numbers its answers become. No
other module of studies depends on a particular design: they use the attributes and methods of
`Design`. A design is a frozen dataclass; its fields are its options. Judges read the design's words
unless the owner of the study gives others.
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
"""Questions for which wellput has words. Their scale of 7 points is that of Bangalore, Rambow &
Whittaker 2000, section 4: three points have labels, the others have none."""


def seven_points(name: str, words: Wording = ENGLISH) -> tuple[str, Mapping[str, str]]:
    """The text of the question of this name, and labels for points of a scale from 1 to 7, at least
    for its two ends. Scales of other lengths use the labels of the ends."""
    key = f"questions.{name if name in KNOWN_QUESTIONS else 'other'}"
    points = {"1": "low", "4": "middle", "7": "high"}
    labels = {
        point: words(f"{key}.{place}")
        for point, place in points.items()
        if words.has(f"{key}.{place}")
    }
    return words(f"{key}.text", name=name), labels


PRACTICED_QUESTIONS = ("understandability", "quality", "fluency", "preference")
"""The questions on which the usual practice trials have a right answer: one of their texts is
well-formed, the other one has its words out of order."""
Half: TypeAlias = Literal["upper", "lower"]
HALVES: tuple[Half, ...] = get_args(Half)
"""In the order of the usual practice texts: a good one, and a bad one."""


def half_of(question: Question, half: Half) -> tuple[float, float]:
    """The lowest and the highest value of a half of the question's scale. The middle of the scale
    belongs to both halves."""
    low, high = scale_ends(question)
    middle = (low + high) / 2
    return (middle, high) if half == "upper" else (low, middle)


SUBSTITUTION_SETTINGS: Mapping[str, object] = {
    # As in Kauchak & Barzilay 2006, section 4.3: a replacement must be right in meaning and in grammar.
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
"""Settings of a study in which judges accept or refuse substitutions of words (`wellput
paraphrase`)."""
SUBSTITUTION_DESIGN = "rating"


EXPORT_COLUMNS = (
    "judge", "item", "system", "system_a", "system_b", "question", "value", "choice", "ms",
    "position", "recorded_at", "document", "repeat", "spans", "prefilled",
    "comment",
)  # fmt: skip
"""The columns of an export. A question that is answered in words gets a column with its name, so it
cannot have one of these names."""


@dataclass(frozen=True)
class AnsweredTrial:
    """A trial as one judge answered it.

    `answers` has {question: value} for each system, or once for all systems if the design asks once.
    `seconds` is how long the judge took, NaN if not known. `columns` are further columns of every
    judgment. `prefilled` has, by system, the error spans that the judge found marked; None in a study
    without them.
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
        all_columns = {**self.columns, **(columns or {})}
        return Judgment(self.judge, self.item, system, question, float(value), all_columns)


@dataclass(frozen=True)
class Design(ABC):
    """One way of asking judges. The methods here are right for designs that ask about each output by
    itself; other designs override them."""

    name: ClassVar[str]
    """The name of the design in the registry, which a study stores. A design of another package has
    the name of its entry point."""
    title: ClassVar[str]
    instructions: ClassVar[str]
    default_questions: ClassVar[tuple[str, ...]]

    layouts: ClassVar[tuple[Layout, ...]] = LAYOUTS
    """What a page can show: one output ("single"), or all outputs of an item ("page"). The first
    layout is the default."""
    shows_plain_text: ClassVar[bool] = False
    """Whether outputs must be shown as plain text, not as markdown, because judges mark places in
    them."""
    template: ClassVar[str] = "trial.html"
    """The template of a trial's page: one of `studies/templates`, or `package:path` in another
    package."""
    scripts: ClassVar[tuple[str, ...]] = ()
    styles: ClassVar[tuple[str, ...]] = ()
    """Files of `studies/static` that the page needs in addition to those of every page."""
    shows_source: ClassVar[bool] = False
    """Whether judges see the source by default."""
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
    """The texts that judges read, in the language of the study and with its word for an output."""

    # Making a study.

    @abstractmethod
    def question(self, name: str) -> Question:
        """The question of this name, in the design's words and on its scale."""

    @property
    def worded_title(self) -> str:
        """The title in the language of the study; the English one if the language has none."""
        key = f"designs.{self.name}.title"
        return self.words(key) if self.words.has(key) else self.title

    @property
    def worded_instructions(self) -> str:
        """The instructions in the language of the study; the English ones if the language has none."""
        key = f"designs.{self.name}.instructions"
        return self.filled_in(self.words(key) if self.words.has(key) else self.instructions)

    def filled_in(self, text: str) -> str:
        """The instructions, in which words that depend on the options are filled in."""
        return text

    def kept_options(self) -> dict[str, Any]:
        """The options that are stored with a study: those that differ from the default."""
        defaults = {option.name: option.default for option in fields(self)}
        values = {name: getattr(self, name) for name in option_names(type(self))}
        return {name: value for name, value in values.items() if value != defaults[name]}

    def questionnaire(
        self, questions: Sequence[str] = (), layout: Layout | None = None
    ) -> Questionnaire:
        """A questionnaire in the design's words. `questions` are names, either of questions that
        wellput has a text for, or new ones."""
        questionnaire = Questionnaire(
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
        self.check(questionnaire)
        return questionnaire

    def check(self, questionnaire: Questionnaire) -> None:
        """Raises InputError for a questionnaire that no judge could answer."""
        if problems := self.problems(questionnaire):
            raise InputError.collect("This design cannot be used:", problems)

    def problems(self, questionnaire: Questionnaire) -> list[str]:
        """What makes the questionnaire impossible to answer, in sentences; [] if nothing does."""
        names = [question.name for question in questionnaire.questions]
        problems = [] if names else ["there is no question"]
        problems += [
            f"the question {name!r} comes twice"
            for name in sorted({*names})
            if names.count(name) > 1
        ]
        for question in questionnaire.questions:
            problems += question.problems()
            if question.kind == "answer" and question.name in EXPORT_COLUMNS:
                problems.append(f"{question.name} is a column of every export: rename the question")
        if questionnaire.layout not in self.layouts:
            problems.append(
                f"a {self.name} design has no layout {questionnaire.layout}; it has "
                f"{', '.join(self.layouts)}"
            )
        return problems

    def groups(self, systems: Sequence[str], layout: Layout) -> Iterable[tuple[str, ...]]:
        """The trials of an item with outputs of these systems: the systems that each trial shows."""
        return [tuple(systems)] if layout == "page" else [(system,) for system in systems]

    def is_worth_asking(self, outputs: Sequence[str]) -> bool:
        """Whether judgments of a trial with these outputs can tell the systems apart."""
        return True

    def why_no_trials(self, n_systems: int) -> str:
        """The error message for an evalset from which no trial can be made."""
        return f"A {self.name} design finds nothing to show in this evalset."

    def practice(self, questions: Sequence[Question]) -> tuple[Practice, ...]:
        """Practice trials for a study that has none of its own: a good text, and a bad one. For
        questions in `PRACTICED_QUESTIONS`, judges read afterwards which half of the scale is right."""
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
        """What a metric says of a trial, as one number. `scores` are the metric's scores of the trial's
        outputs, in their order."""
        return float(np.mean(scores))

    # Asking.

    def asked(self, questions: tuple[Question, ...], task: Task | None) -> tuple[Question, ...]:
        """The questions of a trial. `task` is the item's own question."""
        return questions

    def is_expected(self, answer: Any, expected: Any) -> bool:
        """Whether an answer to an attention check or a practice trial is right. If `expected` is a
        list, it is [lowest, highest]."""
        if isinstance(expected, Sequence) and not isinstance(expected, str):
            return bool(expected[0] <= answer <= expected[1])
        return bool(answer == expected)

    # From answers to numbers.

    def value_of(self, question: Question, answer: Any) -> float | None:
        """The number of an answer; None for a text, which becomes a column of the judgments."""
        return None if isinstance(answer, str) else float(answer)

    def judgments(self, trial: AnsweredTrial) -> Iterable[Judgment] | Iterable[Preference]:
        """The judgments of each output. Answers in words become columns of the judgments."""
        for system, answers in zip(trial.systems, trial.answers, strict=True):
            values = {q.name: self.value_of(q, answers[q.name]) for q in trial.questions}
            texts = {name: str(answers[name]) for name, value in values.items() if value is None}
            for name, value in values.items():
                if value is not None:
                    yield trial.judgment(system, name, value, texts)

    def is_alike(self, question: Question, answer: Any, before: Any) -> bool | None:
        """Whether two answers to the same trial are about the same; None for free text, which cannot be
        compared."""
        if isinstance(answer, str) and not question.choices:
            return None
        return question.widget.is_alike(question, answer, before)

    def units(
        self, answers: Sequence[Judgment | Preference], systems: Sequence[str], items: Sequence[str]
    ) -> dict[str, Floats]:
        """The answers as the agreement of judges is computed from them: for each question, a table with
        a row for each judge and a column for each output, with numbers on a common scale; NaN where
        there is no answer."""
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
        """The ranking of the systems on each question. `sequential` rankings stay valid however often
        the owner looks."""
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
        """The ratings as arrays, by question; as z-scores if judges have their own scales."""
        by_question = panels(ratings, systems, items)
        if not self.has_own_scales:
            return dict(by_question)
        return {name: normalized(panel, "z") for name, panel in by_question.items()}
