"""The design `Pairwise`: judges choose the better of two outputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from wellput.agreement.panel import SHARE_WON_BY_A
from wellput.core.judgment import Judgment, Preference
from wellput.core.metric import Floats
from wellput.stats.judges.krippendorff import MeasurementLevel
from wellput.studies.designs.base import (
    KNOWN_QUESTIONS,
    PRACTICED_QUESTIONS,
    AnsweredTrial,
    Design,
)
from wellput.studies.questionnaire import Check, Layout, Practice
from wellput.studies.questions import Question
from wellput.studies.wording import ENGLISH


@dataclass(frozen=True)
class Pairwise(Design):
    """Two outputs side by side. With `ties` judges may say that neither is better.

    Equal texts are not compared.
    """

    name: ClassVar[str] = "pairwise"
    title: ClassVar[str] = ENGLISH("designs.pairwise.title")
    instructions: ClassVar[str] = ENGLISH("designs.pairwise.instructions")
    default_questions: ClassVar[tuple[str, ...]] = ("preference",)
    layouts: ClassVar[tuple[Layout, ...]] = ("single",)
    template: ClassVar[str] = "pair.html"
    asks_once: ClassVar[bool] = True
    balances_order: ClassVar[bool] = True
    n_texts: ClassVar[int | None] = 2
    level: ClassVar[MeasurementLevel] = "nominal"

    ties: bool = False

    def filled_in(self, text: str) -> str:
        return text.format(ties=self.words("designs.pairwise.ties") if self.ties else "")

    def question(self, name: str) -> Question:
        known = ("preference", *KNOWN_QUESTIONS)
        asked = self.words(f"pairs.{name if name in known else 'other'}", name=name)
        choices = ("a", "b", "tie") if self.ties else ("a", "b")
        return Question(name, asked, "choice", choices=choices)

    def groups(self, systems: Sequence[str], layout: Layout) -> Iterable[tuple[str, ...]]:
        return combinations(systems, 2)

    def is_worth_asking(self, outputs: Sequence[str]) -> bool:
        first, second = outputs
        return first != second

    def why_no_trials(self, n_systems: int) -> str:
        content = "one system" if n_systems == 1 else "no item with two different outputs"
        purpose = f"A {self.name} design compares two systems' outputs for an item"
        return f"{purpose}; this evalset has {content}."

    def practice(self, questions: Sequence[Question]) -> tuple[Practice, ...]:
        names = [question.name for question in questions if question.name in PRACTICED_QUESTIONS]
        return (
            Practice(
                self.words.all("practice.texts"),
                expected=dict.fromkeys(names, "a"),
                feedback=self.words("practice.pair_feedback") if names else None,
            ),
        )

    def checks(self, questions: Sequence[Question]) -> tuple[Check, ...]:
        this = self.words("designs.pairwise.check_this")
        other = self.words("designs.pairwise.check_other")
        return tuple(
            Check(texts, {question.name: choice for question in questions})
            for choice, texts in (("a", (this, other)), ("b", (other, this)))
        )

    def trial_score(self, scores: Sequence[float]) -> float:
        """How much higher the first output scores than the second."""
        first, second = scores
        return first - second

    def judgments(self, trial: AnsweredTrial) -> Iterator[Preference]:
        """The choices; answers to questions of other kinds become columns."""
        (answers,), (first, second) = trial.answers, trial.systems
        chosen = [question.name for question in trial.questions if question.kind == "choice"]
        texts = {name: f"{value}" for name, value in answers.items() if name not in chosen}
        for name in chosen:
            columns = {**trial.columns, **texts}
            yield Preference(trial.judge, trial.item, first, second, name, answers[name], columns)

    def units(
        self, answers: Sequence[Judgment | Preference], systems: Sequence[str], items: Sequence[str]
    ) -> dict[str, Floats]:
        """As in `Design`, but with a column for each pair of systems on an item: 1 if the judge chose
        the system that is first in the alphabet, ½ for a tie, 0 for the other system, NaN without an
        answer."""
        cells: dict[str, dict[tuple[str, tuple[str, ...]], float]] = {}
        for choice in answers:
            assert isinstance(choice, Preference)
            share_won = (
                SHARE_WON_BY_A[choice.choice]
                if choice.system_a < choice.system_b
                else 1 - SHARE_WON_BY_A[choice.choice]
            )
            pair = (choice.item, *sorted((choice.system_a, choice.system_b)))
            cells.setdefault(choice.question, {})[choice.judge, pair] = share_won
        return {question: _table(cells_of_one) for question, cells_of_one in cells.items()}


def _table(cells: Mapping[tuple[str, tuple[str, ...]], float]) -> Floats:
    """A table judges × pairs from its cells by (judge, pair); NaN for the other cells."""
    judges = list(dict.fromkeys(judge for judge, _ in cells))
    pairs = list(dict.fromkeys(pair for _, pair in cells))
    table = np.full((len(judges), len(pairs)), np.nan)
    for (judge, pair), value in cells.items():
        table[judges.index(judge), pairs.index(pair)] = value
    return table
