"""`LoggedAnswer`: one answer in the log of another evaluation tool; `evalset_of_answers` makes an
evaluation set of many.

Several answers of one system to one item (epochs, repeats) become one: the first text, and the mean of
each score. All answers to an item must be to the same question: many tools number the questions of a
run, so the same id may be another question in another log.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from wellput.core.errors import InputError, Problems
from wellput.core.evalset import EvalSet, Item


@dataclass(frozen=True)
class LoggedAnswer:
    """One answer of a system to an item, with its references and scores from the log. `question` and
    `targets` are what all answers to an item must have in common, if that is not the source and the
    references. `choices` are those of a multiple-choice question, in the order that the system saw.
    `log` is the name of the file."""

    item: str
    system: str
    output: str
    source: str | None = None
    references: tuple[str, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    question: str | None = None
    log: str = ""
    choices: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()

    @property
    def asked(self) -> str | None:
        return self.question or self.source

    @property
    def wanted(self) -> tuple[str, ...]:
        return self.targets or self.references


def has_same_question(answer: LoggedAnswer, other: LoggedAnswer) -> bool:
    """Whether two answers are to the same question, as far as the logs say what was asked."""
    return not answer.asked or not other.asked or answer.asked == other.asked


Question: TypeAlias = tuple[str, str]
"""An input and its target, which is empty if there is none."""


def questions_of(asked: Sequence[Question]) -> list[Question]:
    """The questions of a log without ids, in order. If the log has only one target of an input, the
    questions with this input that have no target get it.

    >>> questions_of([("Capital?", "Paris"), ("Capital?", "")])
    [('Capital?', 'Paris'), ('Capital?', 'Paris')]
    """
    targets: dict[str, set[str]] = {}
    for text, target in asked:
        targets.setdefault(text, set()).update({target} - {""})
    only_target = {text: next(iter(known)) for text, known in targets.items() if len(known) == 1}
    return [(text, target or only_target.get(text, "")) for text, target in asked]


def text_of(value: object) -> str:
    """A text unchanged; any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""inspect_ai's grades: correct, partially correct, incorrect, no answer."""
WORD_GRADES = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def as_number(value: Any) -> float | None:
    """The number of a score or a grade; None for other values.

    >>> as_number("C"), as_number(True), as_number("No"), as_number("0.25"), as_number("hm")
    (1.0, 1.0, 0.0, 0.25, None)
    """
    if isinstance(value, bool | int | float):
        try:
            return float(value)
        except OverflowError:  # a whole number of more than 308 digits
            return None
    if not isinstance(value, str):
        return None
    known = GRADES.get(value, WORD_GRADES.get(value.lower()))
    if known is not None:
        return known
    try:
        return float(value)
    except ValueError:
        return None


def evalset_of_answers(
    answers: Iterable[LoggedAnswer],
    name: str,
    *,
    is_same: Callable[[LoggedAnswer, LoggedAnswer], bool] = has_same_question,
) -> EvalSet:
    """The evaluation set of these answers, with items in the order of their first answers. `name` is
    the log's name in messages. Raises InputError if answers to one item are to different questions
    (`is_same` compares those of two answers), or have different targets."""
    answers_by_item: dict[str, dict[str, list[LoggedAnswer]]] = {}
    for answer in answers:
        answers_by_item.setdefault(answer.item, {}).setdefault(answer.system, []).append(answer)
    if not answers_by_item:
        raise InputError(f"{name} holds no samples with an output.")
    _refuse_several_questions(answers_by_item, name, is_same)
    return EvalSet(_item(identifier, systems) for identifier, systems in answers_by_item.items())


def _refuse_several_questions(
    answers_by_item: Mapping[str, Mapping[str, Sequence[LoggedAnswer]]],
    name: str,
    is_same: Callable[[LoggedAnswer, LoggedAnswer], bool],
) -> None:
    """Raises InputError that names the items whose answers are to different questions, or have
    different targets."""
    problems = Problems(name)
    for identifier, systems in answers_by_item.items():
        answers = [answer for answers in systems.values() for answer in answers]
        first = next((answer for answer in answers if answer.asked), answers[0])
        other = next((answer for answer in answers if not is_same(first, answer)), None)
        if other is not None:
            texts = _shortened(first.asked or "", other.asked or "")
            problems.add(f"item {identifier}", _difference("question", texts, first, other))
            continue
        first = next((answer for answer in answers if answer.wanted), answers[0])
        wanted = set(first.wanted)
        other = next((a for a in answers if a.wanted and set(a.wanted) != wanted), None)
        if other is not None:
            texts = _shortened(" / ".join(first.wanted), " / ".join(other.wanted))
            problems.add(f"item {identifier}", _difference("target", texts, first, other))
    problems.raise_if_any(advice=SEVERAL_QUESTIONS_ADVICE)


SEVERAL_QUESTIONS_ADVICE = (
    "Answers are compared item by item, so an id must mean the same question in all logs. If the logs "
    "are of different data, score them one by one, or put them into different folders. If their data "
    "were shuffled and the ids only count the questions, give each question an id of its own in the "
    "data, and evaluate again."
)
MAX_SHOWN_CHARACTERS = 60
"""This much of a question is shown in a message."""


def _difference(what: str, texts: tuple[str, str], first: LoggedAnswer, other: LoggedAnswer) -> str:
    """The message that the `what` (question or target) differs between two answers. `texts` are the two
    questions or targets. The message names the two logs, or, if it is one log, the two systems."""
    is_one_log = first.log == other.log
    places = [f"for {one.system}" if is_one_log else f"in {one.log}" for one in (first, other)]
    return f"the {what} is {texts[0]!r} {places[0]}, but {texts[1]!r} {places[1]}"


def _shortened(first: str, second: str) -> tuple[str, str]:
    """Two different texts, each cut to a part in which they differ.

    >>> _shortened("Capital of France?", "Capital of Chile?")
    ('Capital of France?', 'Capital of Chile?')
    >>> _shortened("x" * 100 + " a", "x" * 100 + " b")
    ('…xxxxxxxxxxxxxxxxxxx a', '…xxxxxxxxxxxxxxxxxxx b')
    """
    shorter = min(len(first), len(second))
    n_equal = next((place for place in range(shorter) if first[place] != second[place]), shorter)
    start = n_equal - MAX_SHOWN_CHARACTERS // 3 if n_equal > MAX_SHOWN_CHARACTERS // 2 else 0
    shown = []
    for text in (first, second):
        end = start + MAX_SHOWN_CHARACTERS
        shown.append(f"{'…' if start else ''}{text[start:end]}{'…' if text[end:] else ''}")
    return shown[0], shown[1]


def _item(identifier: str, systems: Mapping[str, Sequence[LoggedAnswer]]) -> Item:
    """An item with each system's first answer as its output. The scores are means over all answers.
    If the references are not the same for all answers, each system has its own."""
    all_answers = [answer for answers in systems.values() for answer in answers]
    references = dict.fromkeys(text for answer in all_answers for text in answer.references)
    own_references = {
        system: answers[0].references
        for system, answers in systems.items()
        if answers[0].references
    }
    is_shared = _have_same_references(all_answers)
    return Item(
        identifier,
        {system: answers[0].output for system, answers in systems.items()},
        tuple(references) if is_shared else (),
        source=next((answer.source for answer in all_answers if answer.source), None),
        references_by_system={} if is_shared else own_references,
        logged={system: dict(_means(answers)) for system, answers in systems.items()},
    )


def _have_same_references(answers: Sequence[LoggedAnswer]) -> bool:
    """Whether the references of each answer are right for all answers. If the choices have different
    orders, they are not: the same letter is another choice."""
    orders = {answer.choices for answer in answers}
    references = {frozenset(answer.references) for answer in answers if answer.references}
    return len(orders) <= 1 and len(references) <= 1


def _means(answers: Sequence[LoggedAnswer]) -> Iterator[tuple[str, float]]:
    """The name of each score, with its mean over the answers that have this score."""
    for name in dict.fromkeys(name for answer in answers for name in answer.scores):
        values = [answer.scores[name] for answer in answers if name in answer.scores]
        yield name, sum(values) / len(values)
