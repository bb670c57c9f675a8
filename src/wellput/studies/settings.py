"""The settings of a study, its wording above all, from a TOML file. Every setting has a default; an
unknown setting is an error.

`TOP_SETTINGS` lists the settings. The constants after it list the settings in an entry of
[[questions]], [[demographics]], [[practice]], [[checks]] and [[tasks]]. `consent`, `practice` and
`demographics` may be true, which means the usual text or questions in the language of the study.
docs/commands/study.md shows a whole file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from wellput.core.errors import InputError, did_you_mean
from wellput.core.line_breaks import all_with_line_feeds
from wellput.io.files import read_toml
from wellput.studies.designs.base import Design
from wellput.studies.designs.error_categories import read_categories
from wellput.studies.designs.registry import create, default_questionnaire, names
from wellput.studies.language_files import chosen_wording
from wellput.studies.media import SHOWN_AS, ShownAs
from wellput.studies.questionnaire import Check, DemographicField, Practice, Questionnaire, Task
from wellput.studies.questions import NOT_STORABLE, Question, unstorable_places
from wellput.studies.wording import Wording


@dataclass(frozen=True)
class StudySettings:
    """A questionnaire, and the other settings of its file: attention checks, tasks, whether judges see
    the source and the references, and how texts are shown (`show`: plain or as markdown)."""

    questionnaire: Questionnaire
    checks: tuple[Check, ...]
    tasks: tuple[Task, ...]
    show_source: bool
    show_reference: bool = False
    show: ShownAs = "plain"


SettingTypes: TypeAlias = Mapping[str, type | tuple[type, ...]]

# The settings of each table of the file, and their types.
TOP_SETTINGS: SettingTypes = {
    "title": str, "instructions": str, "thanks": str, "consent": (str, bool), "layout": str,
    "points": int, "ties": bool, "modulus": (int, float), "show_source": bool,
    "language": str, "unit": str, "show": str,
    "practice": (list, bool), "demographics": (list, bool), "questions": list, "checks": list,
    "tasks": list, "show_reference": bool, "severities": list, "categories": dict, "weights": dict,
    "break_every": int, "comments": bool,
}  # fmt: skip
QUESTION_SETTINGS: SettingTypes = {"name": str, "text": str, "points": int, "labels": dict}
DEMOGRAPHIC_SETTINGS: SettingTypes = {"name": str, "text": str, "choices": list, "kind": str}
CHECK_SETTINGS: SettingTypes = {
    "text": str,
    "texts": list,
    "context": str,
    "source": str,
    "question": str,
    "expected": dict,
}
PRACTICE_SETTINGS: SettingTypes = {**CHECK_SETTINGS, "feedback": str}
TASK_SETTINGS: SettingTypes = {"item": (str, int), "text": str, "answers": list, "choices": list}
TABLES: Mapping[str, SettingTypes] = {
    "questions": QUESTION_SETTINGS,
    "demographics": DEMOGRAPHIC_SETTINGS,
    "practice": PRACTICE_SETTINGS,
    "checks": CHECK_SETTINGS,
    "tasks": TASK_SETTINGS,
}


def read_settings(
    settings: str | Path | Mapping[str, Any], further: SettingTypes | None = None
) -> dict[str, Any]:
    """Settings from a TOML file or a mapping, with names and types checked; line breaks of the texts
    are LF. `further` has the names and types of settings that this file may have in addition to
    `TOP_SETTINGS`."""
    known = {**TOP_SETTINGS, **(further or {})}
    if isinstance(settings, Mapping):
        return _checked(dict(settings), "These settings", known)
    record = read_toml(settings)
    return _checked(record, str(settings), known)


def _checked(record: dict[str, Any], name: str, known_settings: SettingTypes) -> dict[str, Any]:
    """The settings of a file or dictionary (`name`), with unknown names and wrong types refused."""
    record = all_with_line_feeds(record)
    problems = _problems(record, known_settings, "")
    for table, known in TABLES.items():
        entries = record.get(table)
        for place, entry in enumerate(entries if isinstance(entries, list) else (), start=1):
            where = f"[[{table}]] number {place}: "
            if isinstance(entry, dict):
                problems += _problems(entry, known, where)
            else:
                problems.append(f"{where}a table is needed")
    if problems:
        raise InputError.collect(f"{name} cannot be used:", problems)
    return record


def _problems(record: Mapping[str, Any], known: SettingTypes, where: str) -> list[str]:
    """Unknown names and wrong types in a table of the file. Messages begin with `where`."""
    problems = []
    for name, value in record.items():
        if name not in known:
            problems.append(f"{where}no setting {name!r}.{did_you_mean(name, list(known))}")
        elif not isinstance(value, known[name]) or (
            isinstance(value, bool) and bool not in _types(known[name])
        ):
            kinds = " or ".join(_TYPE_NAMES[kind] for kind in _types(known[name]))
            problems.append(f"{where}{name} must be {kinds}")
        elif name not in TABLES:  # entries of these tables are checked one by one
            problems += [
                f"{where}{place} {NOT_STORABLE}" for place in unstorable_places(value, name)
            ]
    return problems


def _types(kinds: type | tuple[type, ...]) -> tuple[type, ...]:
    return kinds if isinstance(kinds, tuple) else (kinds,)


_TYPE_NAMES: Mapping[type, str] = {
    str: "text", bool: "true or false", int: "a whole number", float: "a number", list: "a list",
    dict: "a table",
}  # fmt: skip


DESIGN_OPTIONS = ("points", "ties", "modulus", "severities", "categories", "weights")
"""Settings that are options of some design."""


def make_settings(
    design: str | Design | None,
    record: Mapping[str, Any],
    *,
    questions: Sequence[str] = (),
    n_checks: int = 0,
    **options: Any,
) -> StudySettings:
    """The settings of a study. `record` are those of the file: they replace the design's defaults.
    `options` that are not None replace both. If a judge is to see `n_checks` attention checks and the
    file has none, they are the design's own."""
    if design is None:
        raise InputError(f"Say how judges answer: design={'|'.join(names())}.")
    given = {**record, **{name: value for name, value in options.items() if value is not None}}
    question_entries = given.get("questions", [])
    words, own_texts = chosen_wording(given.get("language"), given.get("unit"))
    # An option that is false, such as `ties`, is as good as not given: most designs do not have it.
    design = create(
        design, **{n: given[n] for n in DESIGN_OPTIONS if given.get(n, False) is not False}
    )
    design = replace(design, words=words)
    questionnaire = default_questionnaire(
        design,
        questions=tuple(questions) or tuple(entry.get("name", "") for entry in question_entries),
        layout=given.get("layout"),
    )
    entries_by_name = {entry.get("name", ""): entry for entry in question_entries}
    asked_names = [question.name for question in questionnaire.questions]
    if unused := [name for name in entries_by_name if name not in asked_names]:
        raise InputError(f"[[questions]] has {unused[0]!r}, which is not one of questions=.")
    questionnaire = replace(
        questionnaire,
        questions=tuple(
            _question(entries_by_name.get(question.name, {}), question, design)
            for question in questionnaire.questions
        ),
        practice=_practice(given.get("practice", False), design, questionnaire.questions),
        demographics=_demographics(given.get("demographics", False), words),
        consent=_consent(given.get("consent", False), words),
        texts=own_texts,
        break_every=given.get("break_every"),
        comments=given.get("comments", False),
        **{name: given[name] for name in ("title", "instructions", "thanks") if name in given},
    )
    if questionnaire.break_every is not None and questionnaire.break_every < 1:
        raise InputError("break_every= must be at least 1.")
    design.check(questionnaire)
    show = _shown_as(given.get("show", "plain"))
    if show != "plain" and design.shows_plain_text:
        raise InputError(
            f"A {design.name} design shows texts as they are: leave out show={show!r}."
        )
    checks = tuple(_check(entry, design, asked_names) for entry in given.get("checks", []))
    if n_checks and not checks:
        checks = design.checks(questionnaire.questions)
    return StudySettings(
        questionnaire=questionnaire,
        checks=checks,
        tasks=tuple(_task(entry) for entry in given.get("tasks", [])),
        show_source=given.get("show_source", design.shows_source),
        show_reference=given.get("show_reference", False),
        show=show,
    )


def with_categories(
    record: Mapping[str, Any], options: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Replaces the option `categories`, where it is the path of a file, by the settings of this file:
    the tree of categories and other tables. Returns the settings of the study and the options."""
    given = options.get("categories")
    if given is None or isinstance(given, Mapping):
        return dict(record), dict(options)
    return {**record, **read_categories(given)}, {**options, "categories": None}


def _shown_as(given: str) -> ShownAs:
    for name in SHOWN_AS:
        if name == given:
            return name
    raise InputError(f"No show={given!r}; there are {', '.join(SHOWN_AS)}.")


def _question(entry: Mapping[str, Any], question: Question, design: Design) -> Question:
    """The design's question, with the settings of its entry in the file."""
    if "points" in entry:
        question = create(design, points=entry["points"]).question(question.name)
    labels = {str(value): str(words) for value, words in entry.get("labels", {}).items()}
    if labels and question.widget.has_scale:
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


def _consent(value: str | bool, words: Wording) -> str | None:
    """The text of consent: the usual one (true), none (false), or the given one."""
    return words("consent.text") if value is True else value or None


def _demographics(
    value: list[Mapping[str, Any]] | bool, words: Wording
) -> tuple[DemographicField, ...]:
    """The questions about the judge: the usual ones (true), none (false), or the given ones."""
    if isinstance(value, bool):
        return default_demographics(words) if value else ()
    fields: list[DemographicField] = []
    for entry in value:
        name, choices = entry.get("name", ""), tuple(map(str, entry.get("choices", ())))
        kind = entry.get("kind", "choice" if choices else "text")
        if not name or kind not in ("text", "number", "choice"):
            raise InputError(
                "[[demographics]] needs a name, and one of the kinds text, number, choice."
            )
        if any(name == field.name for field in fields):
            raise InputError(f"[[demographics]] has the name {name!r} twice: rename one.")
        fields.append(DemographicField(name, entry.get("text", name), kind, choices))
    return tuple(fields)


def default_demographics(words: Wording) -> tuple[DemographicField, ...]:
    """The questions about a judge in a study whose file gives none: age, first language,
    proficiency."""
    ages, levels = (words.all(f"demographics.{name}_choices") for name in ("age", "proficiency"))
    return (
        DemographicField("age", words("demographics.age"), "choice", ages),
        DemographicField("first-language", words("demographics.first_language")),
        DemographicField("proficiency", words("demographics.proficiency"), "choice", levels),
    )


def _practice(
    value: list[Mapping[str, Any]] | bool, design: Design, questions: Sequence[Question]
) -> tuple[Practice, ...]:
    """The practice trials: those of the design (true), none (false), or the given ones."""
    if isinstance(value, bool):
        return design.practice(questions) if value else ()
    names = [question.name for question in questions]
    return tuple(
        Practice(
            _texts(entry, design, "practice"),
            entry.get("context"),
            entry.get("source"),
            entry.get("question"),
            _expected(entry, names, "practice"),
            entry.get("feedback"),
        )
        for entry in value
    )


def _texts(entry: Mapping[str, Any], design: Design, table: str) -> tuple[str, ...]:
    """The texts of an entry of [[practice]] or [[checks]]. Raises InputError if they are too few or too
    many for the design."""
    texts = tuple(map(str, entry.get("texts", [entry["text"]] if "text" in entry else [])))
    needed = design.n_texts
    if needed is not None and needed > 1 and len(texts) != needed:
        wanted = ", ".join(['"…"'] * needed)
        raise InputError(f"[[{table}]] of a {design.name} design needs texts = [{wanted}].")
    if not texts or (needed == 1 and len(texts) > 1):
        raise InputError(f'[[{table}]] needs text = "…".')
    return texts


def _check(entry: Mapping[str, Any], design: Design, questions: Sequence[str]) -> Check:
    texts = _texts(entry, design, "checks")
    expected = _expected(entry, questions, "checks")
    if not expected:
        raise InputError(_wanted_answers("checks", questions))
    return Check(texts, expected, entry.get("context"), entry.get("source"), entry.get("question"))


def _expected(entry: Mapping[str, Any], questions: Sequence[str], table: str) -> Mapping[str, Any]:
    """The right answers by question; {} if the entry gives none."""
    expected: Mapping[str, Any] = entry.get("expected", {})
    if not set(expected) <= set(questions):
        raise InputError(_wanted_answers(table, questions))
    return expected


def _wanted_answers(table: str, questions: Sequence[str]) -> str:
    return (
        f"[[{table}]] needs expected = {{question = value}} with questions of this study: "
        f"{', '.join(questions)}."
    )


def _task(entry: Mapping[str, Any]) -> Task:
    answers = tuple(map(str, entry.get("answers", ())))
    choices = tuple(map(str, entry.get("choices", ())))
    item, text = str(entry.get("item", "")), entry.get("text", "")
    if not (item and text and answers):
        raise InputError('[[tasks]] needs item = "…", text = "…" and answers = ["…"].')
    if choices and not set(answers) <= set(choices):
        raise InputError(f"The answers to the task of item {item} are not among its choices.")
    return Task(item, text, answers, choices)
