"""Collects the answers in a file of an annotation tool, for the readers of such files (`label_studio`,
`potato`).

Some questions of such a file ask for neither ratings nor pairwise choices, but for the topic of a text
or a comment. So an answer that is neither is left out, with a warning, if no answer to its question is
a rating or a choice. If others are, it is an error: results would be wrong without some of the answers
to a question, such as the ties.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from reprlib import Repr

from wellput.core.errors import Problems, counted
from wellput.core.judgment import Judgment, PairwiseChoice, Preference
from wellput.io.judgments import ratings_or_choices
from wellput.io.pairwise_choices import CHOICE_OF_COLUMN_WORD

TIES_IN_MESSAGES = (
    "tie", "draw", "equal", "same", "neither", "both", "both good", "both bad", "no preference",
    "no difference",
)  # fmt: skip
OTHER_TIES = (
    "tied", "tie (both bad)", "tie (both good)", "the same", "about the same", "similar",
    "about equal", "equal quality", "equally good", "equally bad", "neither is better",
    "none is better", "both equal", "both are equal", "both are good", "both are bad", "no winner",
)  # fmt: skip
"""Further labels of ties, which are understood but not listed in messages."""
CHOICES_ADVICE = (
    "Choices between two outputs are left, right, a, b, system_a, system_b, model_a, model_b, and for "
    f"a tie {', '.join(TIES_IN_MESSAGES[:-1])} or {TIES_IN_MESSAGES[-1]}."
)
REMOVAL_ADVICE = "Write one of these instead, or remove answers that should not count."
MAX_CHARACTERS_SHOWN = 60


def choice_of_label(label: str) -> PairwiseChoice | None:
    """The pairwise choice that a label stands for; None if the label is not known.

    >>> choice_of_label("Left"), choice_of_label("No_preference"), choice_of_label("fluent")
    ('a', 'tie', None)
    """
    return CHOICE_OF_LABEL.get(_plain(label))


def _plain(label: str) -> str:
    """The label in lower case, with a space instead of underscores and hyphens between words.

    >>> _plain("Both-good.")
    'both good'
    """
    return re.sub(r"(?<=\w)[\s_-]+(?=\w)", " ", label.casefold()).strip(" \t\n.!")


CHOICE_OF_LABEL: dict[str, PairwiseChoice] = {
    _plain(word): choice for word, choice in CHOICE_OF_COLUMN_WORD.items()
}
for tie in (*TIES_IN_MESSAGES, *OTHER_TIES):
    CHOICE_OF_LABEL[tie] = "tie"


@dataclass(frozen=True, slots=True)
class OtherAnswer:
    """An answer that is neither a rating nor a pairwise choice, and the place of it in the file."""

    where: str
    content: str
    is_about_pair: bool


class ToolAnswers:
    """The ratings and pairwise choices of one file or folder, and its other answers."""

    def __init__(self, name: str, *, ratings_advice: str) -> None:
        """`name` is the file's name in messages. `ratings_advice` says how its ratings are written."""
        self._name = name
        self._ratings_advice = ratings_advice
        self._ratings: list[Judgment] = []
        self._choices: list[Preference] = []
        self._others_by_question: dict[str, list[OtherAnswer]] = {}
        # The questions that ask for ratings or choices.
        self._questions: set[str] = set()
        self._shortened = Repr()
        self._shortened.maxstring = self._shortened.maxother = MAX_CHARACTERS_SHOWN

    def add(self, answer: Judgment | Preference) -> None:
        self._questions.add(answer.question)
        if isinstance(answer, Preference):
            self._choices.append(answer)
        else:
            self._ratings.append(answer)

    def add_other(
        self,
        where: str,
        question: str,
        content: object,
        *,
        is_about_pair: bool,
        must_count: bool = False,
    ) -> None:
        """Adds an answer that is neither a rating nor a choice. `must_count`: the question has a type
        that only ratings, or only choices, have."""
        if must_count:
            self._questions.add(question)
        other = OtherAnswer(where, self._shortened.repr(content), is_about_pair)
        self._others_by_question.setdefault(question, []).append(other)

    def ratings_or_choices(self) -> list[Judgment] | list[Preference]:
        """The ratings, or the choices. Raises InputError if there are both or neither, and for other
        answers to the same questions. Warns if answers to other questions are left out."""
        self._refuse(
            question for question in self._others_by_question if question in self._questions
        )
        if not self._questions:
            self._refuse(self._others_by_question)
        if self._others_by_question:
            left_out = "; ".join(
                f"{counted(len(others), 'answer')} to {question} (such as {others[0].content})"
                for question, others in self._others_by_question.items()
            )
            warnings.warn(
                f"{self._name}: neither ratings nor choices between two outputs, so left out: "
                f"{left_out}.",
                stacklevel=3,
            )
        return ratings_or_choices(self._ratings, self._choices, self._name)

    def _refuse(self, questions: Iterable[str]) -> None:
        """Raises InputError for the other answers to these questions, if there are any."""
        problems = Problems(self._name)
        advice: dict[str, None] = {}
        for question in questions:
            for other in self._others_by_question[question]:
                kind = "choice between two outputs" if other.is_about_pair else "rating"
                problems.add(
                    other.where, f"the answer {other.content} to {question} is not a {kind}"
                )
                advice[CHOICES_ADVICE if other.is_about_pair else self._ratings_advice] = None
        problems.raise_if_any(advice=" ".join([*advice, REMOVAL_ADVICE]))
