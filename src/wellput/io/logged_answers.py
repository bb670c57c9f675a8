"""`LoggedAnswer`: one answer in the log of another evaluation tool; `evalset_of_answers` makes an
evaluation set of many.

Several answers of one system to one item (epochs, repeats) become one: the first text, and the mean of
each score.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item


@dataclass(frozen=True)
class LoggedAnswer:
    """One answer of a system to an item, with its references and scores from the log."""

    item: str
    system: str
    output: str
    source: str | None = None
    references: tuple[str, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)


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


def evalset_of_answers(answers: Iterable[LoggedAnswer], name: str) -> EvalSet:
    """The evaluation set of these answers, with items in the order of their first answers. `name` is
    the log's name in messages."""
    answers_by_item: dict[str, dict[str, list[LoggedAnswer]]] = {}
    for answer in answers:
        answers_by_item.setdefault(answer.item, {}).setdefault(answer.system, []).append(answer)
    if not answers_by_item:
        raise InputError(f"{name} holds no samples with an output.")
    return EvalSet(_item(identifier, systems) for identifier, systems in answers_by_item.items())


def _item(identifier: str, systems: Mapping[str, Sequence[LoggedAnswer]]) -> Item:
    """An item with each system's first answer as its output. The scores are means over all
    answers."""
    all_answers = [answer for answers in systems.values() for answer in answers]
    references = dict.fromkeys(text for answer in all_answers for text in answer.references)
    return Item(
        identifier,
        {system: answers[0].output for system, answers in systems.items()},
        tuple(references),
        source=next((answer.source for answer in all_answers if answer.source), None),
        logged={system: dict(_means(answers)) for system, answers in systems.items()},
    )


def _means(answers: Sequence[LoggedAnswer]) -> Iterator[tuple[str, float]]:
    """The name of each score, with its mean over the answers that have this score."""
    for name in dict.fromkeys(name for answer in answers for name in answer.scores):
        values = [answer.scores[name] for answer in answers if name in answer.scores]
        yield name, sum(values) / len(values)
