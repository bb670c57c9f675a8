"""Turns a stored assignment (one trial for one judge) into what the judge sees, and the judge's answers
into what is stored. Judges never see the name of a system.

In the layout `page`, a judge answers about each variant (each shown text) under its random id.
Otherwise there is one set of answers for the trial.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from wellput.studies.questionnaire import Check, Practice, ShownTrial, Task, Variant
from wellput.studies.questions import AnswerError, AnswerValues, Question, check_values
from wellput.studies.study_setup import StudyItem, StudySetup
from wellput.studies.study_transactions import Assignment


def shown_trial(
    setup: StudySetup,
    row: Assignment,
    answers: Sequence[AnswerValues] | None,
    comment: str | None = None,
) -> ShownTrial:
    """The assignment as its judge may see it, with the judge's `answers` and `comment` so far."""
    variants = tuple(
        Variant(id, text) for (id, _), text in zip(row.variants, texts_of(setup, row), strict=True)
    )
    is_extra = row.purpose in ("practice", "check")
    content = extra_trial(setup, row) if is_extra else item_of(setup, row)
    trial = ShownTrial(
        id=row.key,
        context=content.context,
        source=content.source,
        variants=variants,
        questions=questions_of(setup, row),
        is_practice=row.purpose == "practice",
        is_by_variant=is_by_variant(setup, row),
        answers={} if answers is None else _as_given(setup, row, answers),
        comment=(comment or "") if setup.questionnaire.comments else None,
    )
    if is_extra:
        made_of = content.made_of if isinstance(content, Check) else None
        if made_of is None:
            return trial
        place, system = made_of
        trial = replace(trial, references=setup.items[place].references)
        return in_document(setup, trial, place, [system])
    item = item_of(setup, row)
    systems = [system for _, system in row.variants]
    prefilled_spans = [
        item.prefilled.get(system, ()) if setup.has_prefilled else None for system in systems
    ]
    trial = replace(
        trial,
        references=item.references,
        variants=tuple(
            replace(variant, prefilled=spans)
            for variant, spans in zip(trial.variants, prefilled_spans, strict=True)
        ),
    )
    return in_document(setup, trial, setup.trials[row.number].item, systems)


def in_document(
    setup: StudySetup, trial: ShownTrial, place: int, systems: Sequence[str]
) -> ShownTrial:
    """The trial with the rest of the document of an item, whose `place` is given: the sources, and for
    each variant the other outputs of its system."""
    before, after = document_around(setup, place)
    if not before and not after:
        return trial
    return replace(
        trial,
        sources_before=tuple(item.source for item in before if item.source),
        sources_after=tuple(item.source for item in after if item.source),
        variants=tuple(
            replace(
                variant,
                before=tuple(item.outputs[system] for item in before if system in item.outputs),
                after=tuple(item.outputs[system] for item in after if system in item.outputs),
            )
            for variant, system in zip(trial.variants, systems, strict=True)
        ),
    )


def document_around(
    setup: StudySetup, place: int
) -> tuple[tuple[StudyItem, ...], tuple[StudyItem, ...]]:
    """The items before and after an item in its document; none if the design does not show
    documents."""
    document = setup.items[place].document
    if not setup.design.shows_documents or not document:
        return (), ()
    places = setup.items_of_document[document]
    before = tuple(setup.items[other] for other in places if other < place)
    return before, tuple(setup.items[other] for other in places if other > place)


def texts_of(setup: StudySetup, row: Assignment) -> Sequence[str]:
    """The texts of a trial in the order of its variants."""
    if row.purpose in ("practice", "check"):
        return extra_trial(setup, row).texts
    item = item_of(setup, row)
    return [item.outputs[system] for _, system in row.variants]


def checked_answers(setup: StudySetup, row: Assignment, given: object) -> list[AnswerValues]:
    """A judge's answers as they are stored: an entry for each variant, or one for a pair.

    Raises AnswerError with all reasons.
    """
    questions, texts = questions_of(setup, row), texts_of(setup, row)
    ids = [id for id, _ in row.variants]
    # Answers to a single variant may also be given under its id, so that a program can always do so.
    has_ids = isinstance(given, Mapping) and bool(given) and set(given) <= set(ids)
    if not is_by_variant(setup, row) and not (has_ids and len(ids) == 1):
        return [check_values(questions, given, text=texts[0])]
    if not isinstance(given, Mapping):
        raise AnswerError(["answers must be an object of variant, question and value"])
    reasons = [f"unknown variant {ascii(name)[:40]}" for name in given if name not in ids]
    checked: list[AnswerValues] = []
    for id, text in zip(ids, texts, strict=True):
        if id not in given:
            reasons.append(f"no answers for variant {id}")
            continue
        try:
            checked.append(check_values(questions, given[id], f"variant {id}: ", text=text))
        except AnswerError as error:
            reasons += error.reasons
    if reasons:
        raise AnswerError(reasons)
    return checked


def questions_of(setup: StudySetup, row: Assignment) -> tuple[Question, ...]:
    """The questions of a trial; in the design `task`, the question of its item."""
    if row.purpose in ("practice", "check"):
        text = extra_trial(setup, row).question
        task = None if text is None else Task("", text, ())
    else:
        task = setup.tasks.get(item_of(setup, row).id)
    return setup.design.asked(setup.questionnaire.questions, task)


def extra_trial(setup: StudySetup, row: Assignment) -> Practice | Check:
    """The practice trial or the check of an assignment."""
    number: int = row.number
    return (
        setup.questionnaire.practice[number] if row.purpose == "practice" else setup.checks[number]
    )


def item_of(setup: StudySetup, row: Assignment) -> StudyItem:
    number: int = row.number
    return setup.items[setup.trials[number].item]


def is_by_variant(setup: StudySetup, row: Assignment) -> bool:
    """Whether each variant has its own answers: several are shown, and the questions ask about each."""
    return not setup.design.asks_once and len(row.variants) > 1


def _as_given(setup: StudySetup, row: Assignment, stored: Sequence[AnswerValues]) -> dict[str, Any]:
    """Stored answers in the shape in which judges give them: the inverse of `checked_answers`."""
    if not is_by_variant(setup, row):
        return dict(stored[0])
    return {id: values for (id, _), values in zip(row.variants, stored, strict=True)}
