"""The answers that an analysis takes: those of the judges asked for, to questions that have an order.

Labels have none: systems cannot be ranked by them, and no metric can be compared with them. Only the
judges can be compared with each other, so a question with labels keeps that part (`ChosenAnswers`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TypeVar, cast

from wellput.agreement.exclusions import answers_left
from wellput.agreement.judges import summarize_labels
from wellput.agreement.panel import AnyJudgment, Exclusion
from wellput.agreement.result import AgreementResult, JudgeSummary
from wellput.core.errors import InputError, counted, did_you_mean
from wellput.core.judgment import Judgment, Preference, is_machine, number_in

A = TypeVar("A", bound=AnyJudgment)
MACHINE_REASON = "a machine, not a person"
MAX_LABELS_SHOWN = 4


@dataclass(frozen=True)
class ChosenAnswers:
    """`answers` can be analyzed; `left_out` are those of other judges; `judges` and `notes` are about
    questions with labels."""

    answers: list[Judgment] | list[Preference]
    questions: Sequence[str]
    left_out: Sequence[Exclusion] = ()
    judges: Sequence[JudgeSummary] = ()
    notes: Sequence[str] = ()

    def completed(self, result: AgreementResult) -> AgreementResult:
        """The agreement, with what was left out of it and how far judges agree on labels."""
        excluded = ({**asdict(one), "of": "all"} for one in self.left_out)
        return replace(
            result,
            excluded=(*excluded, *result.excluded),
            judges=(*result.judges, *self.judges),
            notes=(*result.notes, *self.notes),
        )


def choose_answers(
    answers: Sequence[Judgment] | Sequence[Preference],
    *,
    judges: Sequence[str] = ("people",),
    questions: Sequence[str] = (),
    exclusions: Sequence[Exclusion] = (),
) -> ChosenAnswers:
    """What can be analyzed, of `questions` or of all. Raises InputError where all of it has labels."""
    kept, left_out = chosen_judges(cast("Sequence[AnyJudgment]", answers), judges)
    with_labels = [
        one for one in label_questions(kept) if not questions or one.question in questions
    ]
    names = {one.question for one in with_labels}
    others = [answer for answer in kept if answer.question not in names]
    asked = [name for name in questions if name not in names]
    summaries = [
        summarize_labels(one.question, answers_left(one.answers, exclusions)) for one in with_labels
    ]
    notes = [one.sentence for one in with_labels]
    if with_labels and (not others or (questions and not asked)):
        lines = [
            f"{note}{_agreement(summary)}" for note, summary in zip(notes, summaries, strict=True)
        ]
        raise InputError("\n".join(lines))
    return ChosenAnswers(cast("list[Judgment]", others), asked, left_out, summaries, notes)


def _agreement(summary: JudgeSummary) -> str:
    """How far the judges agree, where the message is all that is said about a question."""
    figures = [
        f"{name} {round(value, 2) + 0.0:.2f}".replace("-", "−")  # + 0.0: no −0.00
        for name, value in (("α", summary.alpha), ("κ", summary.kappa))
        if value is not None
    ]
    if not figures:
        return ""
    judges = counted(summary.n_judges, "judge")
    return f" Its {judges} agree with each other: {', '.join(figures)} (nominal)."


def chosen_judges(answers: Sequence[A], judges: Sequence[str]) -> tuple[list[A], list[Exclusion]]:
    """The judgments of people, of all, or of the judges named; and what was left out."""
    names = dict.fromkeys(answer.judge for answer in answers)
    if list(judges) == ["all"]:
        return list(answers), []
    if list(judges) == ["people"]:
        kept = {name for name in names if not is_machine(name)}
        reason = MACHINE_REASON
        if names and not kept:
            raise InputError(
                "All judges are machines, and only people's judgments are used. judges='all' uses "
                "these."
            )
    else:
        for name in judges:
            if name not in names:
                raise InputError(
                    f"judges: there is no judge {name!r}.{did_you_mean(name, list(names))}"
                )
        kept, reason = set(judges), "not among the judges asked for"
    counts: dict[tuple[str, str], int] = {}
    for answer in answers:
        if answer.judge not in kept:
            counts[answer.question, answer.judge] = (
                counts.get((answer.question, answer.judge), 0) + 1
            )
    left_out = [
        Exclusion(question, reason, judge=judge, n=n) for (question, judge), n in counts.items()
    ]
    return [answer for answer in answers if answer.judge in kept], left_out


@dataclass(frozen=True)
class LabelQuestion:
    """A question whose values are labels, and all answers to it."""

    question: str
    answers: Sequence[Judgment]

    @property
    def sentence(self) -> str:
        """Why the question cannot be used. Where most values are numbers, the others may be typing
        errors, so the sentence says where the first of them is."""
        odd = [one for one in self.answers if number_in(one.value) is None]
        if len(odd) * 2 < len(self.answers):
            first = odd[0]
            why = (
                f"{len(odd):,} of its {len(self.answers):,} values {'is' if len(odd) == 1 else 'are'} "
                f"not a number; the first is {first.value!r} (judge {first.judge}, item {first.item}, "
                f"system {first.system}). So all its values are taken as labels"
            )
        else:
            labels = list(dict.fromkeys(repr(one.value) for one in self.answers))
            more = "" if len(labels) <= MAX_LABELS_SHOWN else ", …"
            why = f"its values are labels ({', '.join(labels[:MAX_LABELS_SHOWN])}{more})"
        return (
            f"{self.question}: {why}. Labels have no order: systems cannot be ranked by them, and "
            "metrics cannot be compared with them or fitted to them."
        )


def label_questions(answers: Iterable[AnyJudgment]) -> list[LabelQuestion]:
    """The questions whose values are labels."""
    found: dict[str, list[Judgment]] = {}
    for answer in answers:
        if isinstance(answer, Judgment) and isinstance(answer.value, str):
            found.setdefault(answer.question, []).append(answer)
    return [LabelQuestion(question, own) for question, own in found.items()]


def refuse_labels(question: str, answers: Iterable[AnyJudgment]) -> None:
    """Raises InputError if the values of this question are labels."""
    for one in label_questions(answers):
        if one.question == question:
            raise InputError(one.sentence)
