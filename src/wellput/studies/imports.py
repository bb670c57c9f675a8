"""Makes a finished study of judgments that were collected elsewhere.

The study has the judges, their answers with the times as far as they are known, comments, repeated
answers, and the attention checks of an Appraise campaign. Further columns are kept for the export. The
study is closed. A trial is an output that somebody judged; the plan says how often most of them were
judged.
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
    """The study of these judgments. Raises InputError with every judgment that it cannot have."""
    if not judgments:
        raise InputError("There are no judgments to import.")
    if all(is_repeat(one) for one in judgments):
        raise InputError("All judgments are repeats (repeat is 1): the first answers are missing.")
    said = [*judgments, *(check.answer for check in checks)]
    check_marks(said)
    outputs = judged_outputs(evalset, judgments)
    questionnaire = imported_questionnaire(said, outputs.values(), design=design, weights=weights)
    shown = design_of(questionnaire)
    if shown.asks_once or shown.has_tasks:
        raise InputError(f"Ratings cannot be imported into a {shown.name} study.")
    items = _items(evalset, outputs, shown)
    places = {item.id: place for place, item in enumerate(items)}
    trials = [Trial(places[item], (system,)) for item, system in outputs]
    has_marks = any(question.kind == "spans" for question in questionnaire.questions)
    made, numbers = _checks(checks, items, places, questionnaire) if has_marks else ((), {})
    reader = AnswerReader(questionnaire, shown, has_documents=any(one.document for one in items))
    answers = reader.answers(judgments, outputs, places)
    answers += reader.check_answers(checks, places, numbers)
    reader.problems.raise_if_any()
    setup = make_setup(
        questionnaire,
        _plan(answers),
        items,
        trials,
        seed=seed,
        checks=made,
        selection={"method": IMPORTED},
    )
    return ImportedStudy(setup, tuple(sorted(answers, key=lambda one: (one.ended, one.judge))))


def write_import(planned: ImportedStudy, path: str | Path) -> Store:
    """The study in a new database, closed. It is written whole, or not at all."""
    return Store.create(
        path, planned.setup, fill=lambda connection, now: _insert_answers(connection, planned, now)
    )


def _insert_answers(connection: Connection, planned: ImportedStudy, now: float) -> None:
    names = list(dict.fromkeys(one.judge for one in planned.answers))
    numbers = {trial: number for number, trial in enumerate(planned.setup.trials)}
    keys = [opaque_id() for _ in planned.answers]
    insert_judges(connection, len(names), names, now)
    ids = {row.name: row.id for row in connection.execute(sa.select(schema.judges))}
    connection.execute(
        schema.assignments.insert(),
        [
            {
                "key": key,
                "judge": ids[one.judge],
                "purpose": one.purpose,
                "number": numbers[one.trial] if one.check is None else one.check,
                "variants": [[opaque_id(), one.trial.systems[0] if one.check is None else ""]],
                "given_at": one.began,
                "answered_at": one.ended,
                "is_reopened": False,
                "is_withdrawn": False,
            }
            for key, one in zip(keys, planned.answers, strict=True)
        ],
    )
    rows = connection.execute(sa.select(schema.assignments.c.key, schema.assignments.c.id))
    assigned = {row.key: row.id for row in rows}
    connection.execute(
        schema.answers.insert(),
        [
            {
                "assignment": assigned[key],
                "revision": 0,
                "supersedes": None,
                "answers": [one.values],
                "ms": one.ms,
                "recorded_at": one.ended,
                "comment": one.comment,
                "imported": one.columns or None,
            }
            for key, one in zip(keys, planned.answers, strict=True)
        ],
    )
    given = Counter(numbers[one.trial] for one in planned.answers if one.purpose == "trial")
    connection.execute(CHANGE_GIVEN, [{"of_trial": number, "by": n} for number, n in given.items()])
    newest = connection.scalar(sa.select(sa.func.max(schema.answers.c.id)))
    by_judge: dict[str, list[ImportedAnswer]] = {}
    for one in planned.answers:
        by_judge.setdefault(one.judge, []).append(one)
    for name, own in by_judge.items():
        connection.execute(
            sa.update(schema.judges)
            .where(schema.judges.c.id == ids[name])
            .values(
                started_at=min(
                    (one.began for one in own if one.began != UNKNOWN_TIME),
                    default=UNKNOWN_TIME,
                ),
                seen_at=max(
                    (one.ended for one in own if one.ended != UNKNOWN_TIME),
                    default=UNKNOWN_TIME,
                ),
                seen_answer=newest,
            )
        )
    connection.execute(sa.update(schema.study).values(state="closed"))


def _items(
    evalset: EvalSet, outputs: Iterable[tuple[str, str]], design: Design
) -> tuple[StudyItem, ...]:
    """The items with the outputs that were judged."""
    judged = set(outputs)
    found = []
    for item in evalset:
        own = {name: text for name, text in item.outputs.items() if (item.id, name) in judged}
        if own:
            found.append(Item(item.id, own, source=item.source, document=item.document))
    return study_items(found, TextMedium(), source=design.shows_source)


def _plan(answers: Sequence[ImportedAnswer]) -> StudyPlan:
    """A plan by which a copy of the study would get about as many answers."""
    counts = Counter(one.trial for one in answers if one.purpose == "trial")
    ((per_item, _),) = Counter(counts.values()).most_common(1)
    judges = {one.judge for one in answers}
    checks = Counter(one.judge for one in answers if one.purpose == "check")
    repeats = Counter(one.judge for one in answers if one.purpose == "repeat")
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
    """The attention checks, each once, and their numbers. A mark must touch what was changed."""
    marks = next(question.name for question in questionnaire.questions if question.kind == "spans")
    made: list[Check] = []
    numbers: dict[SpoiledOutput, int] = {}
    for check in checks:
        key = check.shown
        item, system = check.answer.item, check.answer.system
        if key in numbers or item not in places or system not in items[places[item]].outputs:
            continue
        unharmed = items[places[item]]
        if check.text == unharmed.outputs[system]:
            continue
        start, end = changed_part(check.text, unharmed.outputs[system])
        numbers[key] = len(made)
        made.append(
            Check(
                (check.text,),
                {marks: {"start": start, "end": end}},
                source=unharmed.source,
                made_of=(places[item], system),
            )
        )
    return tuple(made), numbers
