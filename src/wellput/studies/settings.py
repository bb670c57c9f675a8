"""A study's wording from a TOML file; every setting has a default, and an unknown one is an error.

`TOP` lists the settings, and the constants after it what an entry of [[questions]], [[demographics]],
[[practice]], [[checks]] and [[tasks]] may hold. `consent`, `practice` and `demographics` may be true,
which asks for the defaults here. docs/commands/study.md shows a whole file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, cast

from wellput.core.errors import InputError, did_you_mean
from wellput.studies.questionnaire import (
    LAYOUTS,
    Check,
    DemographicField,
    Kind,
    Layout,
    Practice,
    Question,
    Questionnaire,
    check_questionnaire,
    default_question,
    default_questionnaire,
)
from wellput.studies.study_setup import Task

CONSENT = (
    "Taking part is voluntary. Your answers are stored under a code, together with the time each of "
    "them took, and are used to evaluate the systems that wrote the texts. You can stop at any time "
    "without giving a reason, and ask the person who invited you to erase your answers."
)

DEMOGRAPHICS = (
    DemographicField(
        "age", "How old are you?", "choice", ("18–29", "30–44", "45–59", "60 or older")
    ),
    DemographicField("first-language", "What is your first language?"),
    DemographicField(
        "proficiency",
        "How well do you know the language of the texts?",
        "choice",
        ("as a first language", "very well", "well", "a little"),
    ),
)

PRACTICE_TEXTS = (
    "The ferry to the island leaves every morning at nine.",
    "Every nine the leaves island morning ferry to at.",
)


@dataclass(frozen=True)
class Settings:
    """A questionnaire, and what else its file says."""

    questionnaire: Questionnaire
    checks: tuple[Check, ...]
    tasks: tuple[Task, ...]
    show_source: bool


Types: TypeAlias = Mapping[str, type | tuple[type, ...]]

# What each table of the file may hold, and of which type.
TOP: Types = {
    "title": str, "instructions": str, "thanks": str, "consent": (str, bool), "layout": str,
    "points": int, "ties": bool, "modulus": (int, float), "show_source": bool,
    "practice": (list, bool), "demographics": (list, bool), "questions": list, "checks": list,
    "tasks": list,
}  # fmt: skip
QUESTIONS: Types = {"name": str, "text": str, "points": int, "labels": dict}
DEMOGRAPHIC: Types = {"name": str, "text": str, "choices": list, "kind": str}
PRACTICE: Types = {"text": str, "texts": list, "context": str, "source": str, "question": str}
CHECKS: Types = {**PRACTICE, "expected": dict}
TASKS: Types = {"item": (str, int), "text": str, "answers": list, "choices": list}


def read_settings(path: str | Path) -> dict[str, Any]:
    """The settings of a TOML file, their names and types checked."""
    try:
        with Path(path).open("rb") as file:
            record = tomllib.load(file)
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.") from None
    except (
        ValueError,
        RecursionError,
    ) as error:  # not TOML, not UTF-8, or a number of 5,000 digits
        raise InputError(f"{path} is not TOML: {error}.") from None
    problems = _problems(record, TOP, "")
    for name, known in (
        ("questions", QUESTIONS), ("demographics", DEMOGRAPHIC), ("practice", PRACTICE),
        ("checks", CHECKS), ("tasks", TASKS),
    ):  # fmt: skip
        entries = record.get(name)
        for place, entry in enumerate(entries if isinstance(entries, list) else (), start=1):
            where = f"[[{name}]] number {place}: "
            if isinstance(entry, dict):
                problems += _problems(entry, known, where)
            else:
                problems.append(f"{where}a table is needed")
    if problems:
        raise InputError.collect(f"{path} cannot be used:", problems)
    return record


def _problems(record: Mapping[str, Any], known: Types, where: str) -> list[str]:
    found = []
    for name, value in record.items():
        if name not in known:
            found.append(f"{where}no setting {name!r}.{did_you_mean(name, list(known))}")
        elif not isinstance(value, known[name]) or (
            isinstance(value, bool) and bool not in _types(known[name])
        ):
            kinds = " or ".join(_TYPE_NAMES[kind] for kind in _types(known[name]))
            found.append(f"{where}{name} must be {kinds}")
    return found


def _types(kinds: type | tuple[type, ...]) -> tuple[type, ...]:
    return kinds if isinstance(kinds, tuple) else (kinds,)


_TYPE_NAMES: Mapping[type, str] = {
    str: "text", bool: "true or false", int: "a whole number", float: "a number", list: "a list",
    dict: "a table",
}  # fmt: skip


def make_settings(
    kind: Kind,
    record: Mapping[str, Any],
    *,
    questions: Sequence[str] = (),
    n_checks: int = 0,
    **options: Any,
) -> Settings:
    """The settings of a design: those of the file over the defaults, and `options` (of the command
    line, None where not given) over those of the file."""
    given = {**record, **{name: value for name, value in options.items() if value is not None}}
    layout = given.get("layout", "single")
    if layout not in LAYOUTS:
        raise InputError(f"No layout {layout!r}; there are {', '.join(LAYOUTS)}.")
    points = given.get("points", 7)
    asked = given.get("questions", [])
    names = tuple(questions) or tuple(entry.get("name", "") for entry in asked)
    ties = given.get("ties", False)
    questionnaire = default_questionnaire(
        kind,
        questions=names,
        points=points,
        layout=cast("Layout", layout),
        ties=ties,
        modulus=given.get("modulus"),
    )
    worded = {entry.get("name", ""): entry for entry in asked}
    if unused := [name for name in worded if name not in {q.name for q in questionnaire.questions}]:
        raise InputError(f"[[questions]] words {unused[0]!r}, which --questions does not ask.")
    questionnaire = replace(
        questionnaire,
        questions=tuple(
            _question(worded.get(question.name, {}), question, kind, points, ties)
            for question in questionnaire.questions
        ),
        practice=_practice(given.get("practice", False), kind),
        demographics=_demographics(given.get("demographics", False)),
        consent=_consent(given.get("consent", False)),
        **{name: given[name] for name in ("title", "instructions", "thanks") if name in given},
    )
    check_questionnaire(questionnaire)
    checks = tuple(_check(entry, questionnaire) for entry in given.get("checks", []))
    return Settings(
        questionnaire=questionnaire,
        checks=checks or (default_checks(questionnaire) if n_checks else ()),
        tasks=tuple(_task(entry) for entry in given.get("tasks", [])),
        show_source=given.get("show_source", False),
    )


def _question(
    entry: Mapping[str, Any], question: Question, kind: Kind, points: int, ties: bool
) -> Question:
    if entry.get("points", points) != points:
        question = default_question(question.name, kind, points=entry["points"], ties=ties)
    labels = {str(value): str(words) for value, words in entry.get("labels", {}).items()}
    if labels and question.kind in ("points", "slider"):
        wrong = [value for value in labels if not _is_on_scale(value, question)]
        if wrong:
            raise InputError(
                f"The label of {wrong[0]!r} is not on the scale of {question.name}, which runs from "
                f"{question.low:g} to {question.high:g}."
            )
    return replace(
        question, text=entry.get("text", question.text), labels=labels or question.labels
    )


def _is_on_scale(value: str, question: Question) -> bool:
    assert question.low is not None and question.high is not None
    try:
        return question.low <= float(value) <= question.high
    except ValueError:
        return False


def _consent(value: str | bool) -> str | None:
    return CONSENT if value is True else value or None


def _demographics(value: list[Mapping[str, Any]] | bool) -> tuple[DemographicField, ...]:
    if isinstance(value, bool):
        return DEMOGRAPHICS if value else ()
    fields = []
    for entry in value:
        name, choices = entry.get("name", ""), tuple(map(str, entry.get("choices", ())))
        kind = entry.get("kind", "choice" if choices else "text")
        if not name or kind not in ("text", "number", "choice"):
            raise InputError("[[demographics]] needs a name, and a kind text, number or choice.")
        fields.append(DemographicField(name, entry.get("text", name), kind, choices))
    return tuple(fields)


def _practice(value: list[Mapping[str, Any]] | bool, kind: Kind) -> tuple[Practice, ...]:
    if isinstance(value, bool):
        if not value:
            return ()
        if kind == "pairwise":
            return (Practice(PRACTICE_TEXTS),)
        ask = "When does the ferry leave?" if kind == "task" else None
        return tuple(Practice((text,), question=ask) for text in PRACTICE_TEXTS)
    return tuple(
        Practice(
            _texts(entry, kind, "practice"),
            entry.get("context"),
            entry.get("source"),
            entry.get("question"),
        )
        for entry in value
    )


def _texts(entry: Mapping[str, Any], kind: Kind, table: str) -> tuple[str, ...]:
    texts = tuple(map(str, entry.get("texts", [entry["text"]] if "text" in entry else [])))
    if kind == "pairwise" and len(texts) != 2:
        raise InputError(f'[[{table}]] of a pairwise design needs texts = ["…", "…"].')
    if not texts or (kind == "task" and len(texts) > 1):
        raise InputError(f'[[{table}]] needs text = "…".')
    return texts


def _check(entry: Mapping[str, Any], questionnaire: Questionnaire) -> Check:
    texts = _texts(entry, questionnaire.kind, "checks")
    expected = entry.get("expected", {})
    names = [question.name for question in questionnaire.questions]
    if not expected or not set(expected) <= set(names):
        raise InputError(
            f"[[checks]] needs expected = {{question = value}} with questions of this study: "
            f"{', '.join(names)}."
        )
    return Check(texts, expected, entry.get("context"), entry.get("source"), entry.get("question"))


def default_checks(questionnaire: Questionnaire) -> tuple[Check, ...]:
    """Checks that anyone who reads can pass: the text says what to answer."""
    first = questionnaire.questions[0]
    if questionnaire.kind == "task":
        raise InputError("Attention checks of a task need a wording of their own: give [[checks]].")
    if questionnaire.kind == "pairwise":
        this, other = (
            "This is a check: please choose this version.",
            "This one is not to be chosen.",
        )
        wanted = {"a": (this, other), "b": (other, this)}
        return tuple(
            Check(texts, {question.name: choice for question in questionnaire.questions})
            for choice, texts in wanted.items()
        )
    if questionnaire.kind == "slider":
        words = "This sentence is a check: please move every slider to the far left."
        expected: Any = [first.low, (first.high or 0) / 10]
    elif questionnaire.kind == "magnitude":
        words, expected = "This sentence is a check: please enter the number 5 here.", 5
    else:
        points = [question.high or 0 for question in questionnaire.questions]
        expected = 2 if min(points) > 2 else 1
        words = f"This sentence is a check: please answer {expected} on every scale."
    return (Check((words,), {question.name: expected for question in questionnaire.questions}),)


def _task(entry: Mapping[str, Any]) -> Task:
    answers = tuple(map(str, entry.get("answers", ())))
    choices = tuple(map(str, entry.get("choices", ())))
    item, text = str(entry.get("item", "")), entry.get("text", "")
    if not (item and text and answers):
        raise InputError('[[tasks]] needs item = "…", text = "…" and answers = ["…"].')
    if choices and not set(answers) <= set(choices):
        raise InputError(f"The answers to the task of item {item} are not among its choices.")
    return Task(item, text, answers, choices)
