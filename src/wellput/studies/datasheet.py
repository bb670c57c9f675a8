"""`Datasheet`: questions about a study that its readers ask, with the answers that are in its database;
and the preregistration, which says before the first judgment what will be done.

The questions are like those of the Human Evaluation Datasheet (Shimorina & Belz 2022). A question that
only the people who run the study can answer is left open.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar, TypeAlias

import sqlalchemy as sa

from wellput import __version__
from wellput.core.errors import counted
from wellput.core.result import Result
from wellput.studies import schema
from wellput.studies.assignment_rules import trials_per_judge
from wellput.studies.overview import Overview
from wellput.studies.queries import known_time
from wellput.studies.questions import Question
from wellput.studies.store import Store
from wellput.studies.study_setup import StudySetup

Answers: TypeAlias = Iterable[tuple[str, str | None]]
"""Pairs of a question and its answer; the answer is None where it is left open."""


@dataclass(frozen=True)
class DatasheetAnswer:
    """A question with its answer. The answer is None where only the people who run the study know
    it."""

    section: str
    question: str
    answer: str | None


@dataclass(frozen=True, repr=False)
class Datasheet(Result):
    """The questions and answers of a datasheet, or of a preregistration."""

    presented_by: ClassVar[str] = "wellput.reporting.study:datasheet_report"

    study: str
    title: str
    is_preregistration: bool
    answers: tuple[DatasheetAnswer, ...]

    def records(self) -> list[dict[str, Any]]:
        """A record for each question."""
        return [asdict(answer) for answer in self.answers]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput study datasheet`."""
        return asdict(self)


def make_datasheet(store: Store, study: str) -> Datasheet:
    """The datasheet of a study as it is now."""
    overview = store.overview()
    sections: dict[str, Answers] = {
        "Resources": [
            ("Where is the paper that reports the study?", None),
            ("Where are the outputs, the answers and the code?", None),
            ("Whom can readers ask?", None),
        ],
        "Systems": _systems(store.setup),
        "Outputs": _outputs(store.setup),
        "Judges": _judges(store, overview),
        "Design": [*_design(store.setup), *_collected(store, overview)],
        "Questions": _questions(store.setup),
        "Results": _results(overview),
        "Ethics": _ethics(store),
    }
    return _sheet(store, study, sections, is_preregistration=False)


def make_preregistration(store: Store, study: str) -> Datasheet:
    """What was fixed when the study was made, and what must be said before the first answer."""
    setup = store.setup
    sections: dict[str, Answers] = {
        "Study": [
            ("What is the title?", setup.questionnaire.title),
            ("When was the study made?", _day(_created_at(store))),
            ("Have answers been given already?", _answers_so_far(store.overview())),
            ("Which digest do the settings, items and trials have?", _digest(setup)),
        ],
        "Hypotheses": [
            ("What is expected, and why?", None),
            ("Which difference would matter?", None),
        ],
        "Systems": _systems(setup),
        "Outputs": _outputs(setup),
        "Design": _design(setup),
        "Questions": _questions(setup),
        "Sample": [
            ("How many judges are planned?", f"{setup.plan.judges:,}"),
            ("How many answers are planned?", _planned(setup)),
            ("When does the collection stop?", _stop(store)),
            ("Why are these enough? (`wellput power` computes it.)", None),
        ],
        "Analysis": [
            (
                "How will systems be compared?",
                "By the mixed model of `wellput rank`: differences between systems with judges and "
                "items as random effects, corrected by Holm's method.",
            ),
            (
                "Will results be looked at before the end?",
                "The dashboard shows results that hold however often one looks; the final intervals "
                "are made when all answers are in or the study is closed.",
            ),
            ("Which judges or answers will be left out, by which rule?", None),
        ],
    }
    return _sheet(store, study, sections, is_preregistration=True)


def _sheet(
    store: Store, study: str, sections: dict[str, Answers], *, is_preregistration: bool
) -> Datasheet:
    answers = tuple(
        DatasheetAnswer(section, question, answer)
        for section, entries in sections.items()
        for question, answer in entries
    )
    return Datasheet(study, store.questionnaire.title, is_preregistration, answers)


# Each of the next functions gives the questions and answers of one section.


def _systems(setup: StudySetup) -> Answers:
    yield "Which systems are judged?", ", ".join(setup.systems)
    yield "What do the systems get as input, and what is their task?", None
    yield "In which language are the outputs?", None


def _outputs(setup: StudySetup) -> Answers:
    n_outputs = len({(trial.item, name) for trial in setup.trials for name in trial.systems})
    yield (
        "How many outputs are judged?",
        f"{counted(n_outputs, 'output')} of {counted(len(setup.items), 'item')}, in "
        f"{counted(len(setup.trials), 'trial')}",
    )
    method = setup.selection.get("method")
    yield (
        "How were they chosen?",
        None
        if method is None or setup.is_imported
        else f"by `--select {method}`: {setup.selection['chosen']:,} of "
        f"{counted(setup.selection['trials'], 'trial')}, seed {setup.selection['seed']}",
    )


def _judges(store: Store, overview: Overview) -> Answers:
    people = [judge for judge in overview.judges if not judge.name.startswith("model:")]
    machines = [judge.name for judge in overview.judges if judge.name.startswith("model:")]
    begun = sum(judge.state != "invited" for judge in people)
    done = sum(judge.state == "done" for judge in people)
    yield (
        "How many judges took part?",
        f"{counted(len(people), 'person')}, {begun:,} of them began, {done:,} finished".replace(
            "persons", "people"
        ),
    )
    yield "Did machines judge?", ", ".join(machines) or "no"
    how: str | None = None if store.setup.is_imported else "by private links"
    if store.enrolment is not None:
        platforms = sorted({payment.platform for payment in store.payments()})
        how = f"by an open link ({', '.join(platforms) or 'nobody yet'})"
    yield "How did judges come to the study?", how
    yield "How were judges recruited and paid?", None
    yield "What is known about the judges?", _asked_about_judges(store.setup)
    yield "How were judges trained?", _training(store.setup)


def _training(setup: StudySetup) -> str | None:
    """The practice trials, and what judges read after each."""
    if setup.is_imported:
        return None
    practice = setup.questionnaire.practice
    feedback = [
        f"after “{' / '.join(trial.texts)}”: {trial.feedback or 'whether the answer is as expected'}"
        for trial in practice
        if trial.feedback or trial.expected
    ]
    count = counted(len(practice), "practice trial")
    return f"{count}, with feedback {'; '.join(feedback)}" if feedback else count


def _asked_about_judges(setup: StudySetup) -> str | None:
    fields = setup.questionnaire.demographics
    if not fields:
        return None
    return "They were asked: " + " ".join(field.text for field in fields)


def _design(setup: StudySetup) -> Answers:
    plan, questionnaire = setup.plan, setup.questionnaire
    yield "Which design has the study?", f"{questionnaire.kind}, layout {questionnaire.layout}"
    yield "Who judges what?", _who_judges_what(setup)
    yield (
        "What assures the quality of answers?",
        f"{counted(plan.checks, 'attention check')} and {counted(plan.repeats, 'repeated trial')} "
        "for each judge",
    )
    if setup.is_imported:
        # The judges were asked elsewhere, by pages that the database does not know.
        yield "What do judges see?", None
        yield "What are judges told?", None
        yield "Can judges change an answer?", None
        yield "Which program was used?", None
        return
    yield "What do judges see?", _what_judges_see(setup)
    yield "What are judges told?", questionnaire.instructions.strip()
    yield (
        "Can judges change an answer?",
        "the last one" if setup.design.can_undo else "no",
    )
    yield "Which seed has the study?", str(setup.seed)
    yield "Which program was used?", f"wellput {__version__}"


def _who_judges_what(setup: StudySetup) -> str:
    each = counted(trials_per_judge(setup), "trial")
    if setup.is_imported:
        n = counted(setup.plan.per_item, "judge")
        return f"Most trials are judged by {n}; a judge has about {each}."
    if setup.plan.kind == "per-item":
        n = counted(setup.plan.per_item, "judge")
        return f"Each trial is judged by {n}; a judge has about {each}, in random order."
    return f"Every judge sees each item once, and has {each} in random order."


def _what_judges_see(setup: StudySetup) -> str:
    shown = ["the outputs"]
    if any(item.context for item in setup.items):
        shown.append("the context")
    if any(item.source for item in setup.items):
        shown.append("the source")
    return f"{', '.join(shown)}; never the name of a system"


def _collected(store: Store, overview: Overview) -> Answers:
    """The questions and answers on how answers were collected."""
    how = "on web pages, each judge alone, without a time limit"
    began: float | None = _created_at(store)
    if store.setup.is_imported:
        how = f"elsewhere; imported into wellput {__version__}"
        began = _first_answer_at(store)
    yield "How were answers collected?", how
    yield "When did the study begin?", None if began is None else _day(began)
    seconds = overview.seconds
    yield "How long did a trial take?", None if seconds is None else f"{seconds:.1f} s (median)"
    yield "Was the study preregistered?", None


def _questions(setup: StudySetup) -> Answers:
    for question in setup.questionnaire.questions:
        asked = None if setup.is_imported else question.text
        yield f"What is asked about {question.name}?", asked
        yield f"How is {question.name} answered?", _scale(question)
        yield f"How is {question.name} defined?", None


def _scale(question: Question) -> str:
    """How a question is answered, in words."""
    labels = "; ".join(f"{value} = {words}" for value, words in question.labels.items())
    if question.low is not None and question.high is not None:
        scale = f"{question.kind}, {question.low:g} to {question.high:g}"
    elif question.choices:
        scale = f"one of {', '.join(question.choices)}"
    else:
        scale = question.kind
    return f"{scale} ({labels})" if labels else scale


def _results(overview: Overview) -> Answers:
    yield "How many answers are there?", _answers_so_far(overview)
    for row in overview.agreement:
        alpha = None if math.isnan(row.alpha) else f"Krippendorff's α = {row.alpha:.2f}"
        yield f"How far do judges agree on {row.question}?", alpha
    flagged = [judge.name for judge in overview.judges if judge.flags]
    yield "Which judges were flagged?", ", ".join(flagged) or "none"
    yield "Which judges or answers were left out, and why?", None
    yield (
        "How many judges withdrew?",
        f"{overview.forgotten:,}, with {counted(overview.forgotten_answers, 'answer')} erased",
    )


def _ethics(store: Store) -> Answers:
    yield "Did an ethics board approve the study?", None
    consent = store.questionnaire.consent
    if consent is None and not store.setup.is_imported:
        consent = "no text of consent was shown"
    yield "Did judges consent?", consent
    asked = bool(store.questionnaire.demographics) or store.enrolment is not None
    yield (
        "Are personal data stored?",
        "what judges say about themselves and the platform's ids" if asked else "no",
    )
    yield "Can a judge withdraw?", "yes: `wellput study forget` erases a judge"
    yield "Could the texts harm judges?", None


def _answers_so_far(overview: Overview) -> str:
    return f"{overview.done:,} of {overview.planned:,} planned"


def _planned(setup: StudySetup) -> str:
    """The number of planned answers."""
    if setup.plan.kind == "per-item":
        return f"{len(setup.trials) * setup.plan.per_item:,}"
    return f"{trials_per_judge(setup) * setup.plan.judges:,}"


def _stop(store: Store) -> str:
    """When the collection of answers stops, in words."""
    if store.setup.plan.kind == "per-item":
        n = counted(store.setup.plan.per_item, "judgment")
        return f"when each trial has {n}, or the owner closes the study"
    return "when all judges have finished, or the owner closes the study"


def _created_at(store: Store) -> float:
    with store.database.read() as connection:
        return float(connection.scalars(sa.select(schema.study.c.created_at)).one())


def _first_answer_at(store: Store) -> float | None:
    """The time of the first answer, in seconds since 1970; None where no time is known."""
    with store.database.read() as connection:
        times = connection.scalars(sa.select(schema.assignments.c.given_at).distinct())
        return min((time for time in times if known_time(time) is not None), default=None)


def _day(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d")


def _digest(setup: StudySetup) -> str:
    """SHA-256 of what judges are shown and asked, which a later reader can compare."""
    record = {
        "settings": setup.settings(),
        "items": [[item.id, dict(item.outputs), item.context, item.source] for item in setup.items],
        "trials": [[trial.item, list(trial.systems)] for trial in setup.trials],
    }
    text = json.dumps(record, sort_keys=True, ensure_ascii=True, default=str)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
