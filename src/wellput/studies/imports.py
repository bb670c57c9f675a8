"""Makes a closed study from judgments that were collected elsewhere.

The study has the judges, their answers with the times as far as they are known, comments, repeated
answers, and the attention checks of an Appraise campaign. Further columns are kept for the export. A
trial is an output that somebody judged. The plan's number of judgments per trial is the number that
most trials have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import Connection

from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment
from wellput.core.line_breaks import with_line_feeds
from wellput.io.appraise_campaign import AnsweredCheck, SpoiledOutput
from wellput.studies import schema
from wellput.studies.designs.base import Design
from wellput.studies.designs.registry import design_of
from wellput.studies.imported_answers import (
    AnswerReader,
    ImportedAnswer,
    changed_part,
    check_marks,
    is_repeat,
    judged_outputs,
)
from wellput.studies.imported_design import imported_questionnaire
from wellput.studies.invitations import insert_judges, opaque_id
from wellput.studies.media import TextMedium
from wellput.studies.queries import UNKNOWN_TIME
from wellput.studies.questionnaire import Check, Questionnaire
from wellput.studies.store import Store
from wellput.studies.study_setup import (
    IMPORTED,
    StudyItem,
    StudyPlan,
    StudySetup,
    Trial,
    make_setup,
    study_items,
)
from wellput.studies.study_transactions import CHANGE_GIVEN


@dataclass(frozen=True)
class ImportedStudy:
    """A study before it is written: what was asked, and what was answered."""

    setup: StudySetup
    answers: tuple[ImportedAnswer, ...]


def plan_import(
    evalset: EvalSet,
    judgments: Sequence[Judgment],
    checks: Sequence[AnsweredCheck] = (),
    *,
    design: str | None = None,
    weights: str | Mapping[str, float] | None = None,
    seed: int,
) -> ImportedStudy:
    """The study that these judgments make. Raises InputError, which names every judgment that cannot be
    part of it."""
    if not judgments:
        raise InputError("There are no judgments to import.")
    if all(is_repeat(judgment) for judgment in judgments):
        raise InputError("All judgments are repeats (repeat is 1): the first answers are missing.")
    all_answers = [*judgments, *(check.answer for check in checks)]
    check_marks(all_answers)
    outputs = judged_outputs(evalset, judgments)
    questionnaire = imported_questionnaire(
        all_answers, outputs.values(), design=design, weights=weights
    )
    study_design = design_of(questionnaire)
    if study_design.asks_once or study_design.has_tasks:
        raise InputError(f"Ratings cannot be imported into a {study_design.name} study.")
    items = _items(evalset, outputs, study_design)
    places = {item.id: place for place, item in enumerate(items)}
    trials = [Trial(places[item], (system,)) for item, system in outputs]
    has_marks = any(question.kind == "spans" for question in questionnaire.questions)
    study_checks, check_numbers = (
        _checks(checks, items, places, questionnaire) if has_marks else ((), {})
    )
    reader = AnswerReader(
        questionnaire, study_design, has_documents=any(item.document for item in items)
    )
    answers = reader.answers(judgments, outputs, places)
    answers += reader.check_answers(checks, places, check_numbers)
    reader.problems.raise_if_any()
    setup = make_setup(
        questionnaire,
        _plan(answers),
        items,
        trials,
        seed=seed,
        checks=study_checks,
        selection={"method": IMPORTED},
    )
    by_time = sorted(answers, key=lambda answer: (answer.ended, answer.judge))
    return ImportedStudy(setup, tuple(by_time))


def write_import(planned: ImportedStudy, path: str | Path) -> Store:
    """Writes the study to a new database, as a closed study: either all of it, or nothing."""
    return Store.create(
        path, planned.setup, fill=lambda connection, now: _insert_answers(connection, planned, now)
    )


def _insert_answers(connection: Connection, planned: ImportedStudy, now: float) -> None:
    names = list(dict.fromkeys(answer.judge for answer in planned.answers))
    numbers = {trial: number for number, trial in enumerate(planned.setup.trials)}
    keys = [opaque_id() for _ in planned.answers]
    insert_judges(connection, len(names), names, now)
    ids = {row.name: row.id for row in connection.execute(sa.select(schema.judges))}
    connection.execute(
        schema.assignments.insert(),
        [
            {
                "key": key,
                "judge": ids[answer.judge],
                "purpose": answer.purpose,
                "number": numbers[answer.trial] if answer.check is None else answer.check,
                "variants": [
                    [opaque_id(), answer.trial.systems[0] if answer.check is None else ""]
                ],
                "given_at": answer.began,
                "answered_at": answer.ended,
                "is_reopened": False,
                "is_withdrawn": False,
            }
            for key, answer in zip(keys, planned.answers, strict=True)
        ],
    )
    rows = connection.execute(sa.select(schema.assignments.c.key, schema.assignments.c.id))
    assignment_ids = {row.key: row.id for row in rows}
    connection.execute(
        schema.answers.insert(),
        [
            {
                "assignment": assignment_ids[key],
                "revision": 0,
                "supersedes": None,
                "answers": [answer.values],
                "ms": answer.ms,
                "recorded_at": answer.ended,
                "comment": answer.comment,
                "imported": answer.columns or None,
            }
            for key, answer in zip(keys, planned.answers, strict=True)
        ],
    )
    counts = Counter(
        numbers[answer.trial] for answer in planned.answers if answer.purpose == "trial"
    )
    connection.execute(
        CHANGE_GIVEN, [{"of_trial": number, "by": n} for number, n in counts.items()]
    )
    newest = connection.scalar(sa.select(sa.func.max(schema.answers.c.id)))
    by_judge: dict[str, list[ImportedAnswer]] = {}
    for answer in planned.answers:
        by_judge.setdefault(answer.judge, []).append(answer)
    for name, answers in by_judge.items():
        connection.execute(
            sa.update(schema.judges)
            .where(schema.judges.c.id == ids[name])
            .values(
                started_at=min(
                    (answer.began for answer in answers if answer.began != UNKNOWN_TIME),
                    default=UNKNOWN_TIME,
                ),
                seen_at=max(
                    (answer.ended for answer in answers if answer.ended != UNKNOWN_TIME),
                    default=UNKNOWN_TIME,
                ),
                seen_answer=newest,
            )
        )
    connection.execute(sa.update(schema.study).values(state="closed"))


def _items(
    evalset: EvalSet, outputs: Iterable[tuple[str, str]], design: Design
) -> tuple[StudyItem, ...]:
    """The items of the evalset with judged outputs, and only these outputs."""
    judged = set(outputs)
    items = []
    for item in evalset:
        texts = {name: text for name, text in item.outputs.items() if (item.id, name) in judged}
        if texts:
            items.append(Item(item.id, texts, source=item.source, document=item.document))
    return study_items(items, TextMedium(), source=design.shows_source)


def _plan(answers: Sequence[ImportedAnswer]) -> StudyPlan:
    """A plan by which a copy of the study would get about as many answers."""
    counts = Counter(answer.trial for answer in answers if answer.purpose == "trial")
    ((per_item, _),) = Counter(counts.values()).most_common(1)
    judges = {answer.judge for answer in answers}
    checks = Counter(answer.judge for answer in answers if answer.purpose == "check")
    repeats = Counter(answer.judge for answer in answers if answer.purpose == "repeat")
    return StudyPlan(
        judges=len(judges),
        per_item=per_item,
        repeats=min(repeats[judge] for judge in judges),
        checks=min(checks[judge] for judge in judges),
    )


def _checks(
    checks: Sequence[AnsweredCheck],
    items: Sequence[StudyItem],
    places: Mapping[str, int],
    questionnaire: Questionnaire,
) -> tuple[tuple[Check, ...], dict[SpoiledOutput, int]]:
    """The attention checks of the study, each once, and their numbers by the spoiled output. To pass, a
    judge's mark must touch the spoiled part."""
    marks_question = next(
        question.name for question in questionnaire.questions if question.kind == "spans"
    )
    study_checks: list[Check] = []
    numbers: dict[SpoiledOutput, int] = {}
    for check in checks:
        key = check.shown
        item, system = check.answer.item, check.answer.system
        # The check is known already, or its output is not part of the study.
        if key in numbers or item not in places or system not in items[places[item]].outputs:
            continue
        study_item = items[places[item]]
        text = with_line_feeds(check.text)
        if text == study_item.outputs[system]:  # nothing is spoiled, so nothing can be marked
            continue
        start, end = changed_part(text, study_item.outputs[system])
        numbers[key] = len(study_checks)
        study_checks.append(
            Check(
                (text,),
                {marks_question: {"start": start, "end": end}},
                source=study_item.source,
                made_of=(places[item], system),
            )
        )
    return tuple(study_checks), numbers
