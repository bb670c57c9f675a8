"""Warnings about names in judgments: people with the name of a language model, names that look alike,
and judges with answers in several files."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from wellput.agreement.panel import AnyJudgment, systems_of
from wellput.core.judgment import MACHINE_PREFIX, is_machine, seems_machine

MAX_NAMES_SHOWN = 4


def notes_on_names(answers: Sequence[AnyJudgment]) -> list[str]:
    """The warnings on names in judgments: `alike_note` and `shared_judges_note`."""
    return [*alike_note(answers), *shared_judges_note(answers)]


def machine_note(answers: Iterable[AnyJudgment], judges: Sequence[str]) -> list[str]:
    """A warning where judges who count as people have names of language models. `judges` is the
    option judges=."""
    if list(judges) != ["people"]:
        return []  # the user chose other judges
    names = [
        name for name in dict.fromkeys(answer.judge for answer in answers) if seems_machine(name)
    ]
    if not names:
        return []
    names_in_words = ", ".join(names[:MAX_NAMES_SHOWN]) + (
        ", …" if len(names) > MAX_NAMES_SHOWN else ""
    )
    machine_name = f"{MACHINE_PREFIX}{names[0]}"
    seems = "counts as a person, but has the name of a model"
    advice = f"if it is no person, call it {machine_name} in the judgments"
    if len(names) > 1:
        seems = "count as people, but have names of models"
        advice = f"if they are no people, give each the beginning {MACHINE_PREFIX} ({machine_name})"
    return [f"{names_in_words} {seems}: {advice}, or give judges= the names of the people."]


def alike_note(answers: Iterable[AnyJudgment]) -> list[str]:
    """A warning where names differ only in white space, the encoding of a letter, or (for judges and
    systems) letter case: they look alike in a table, but count as different names."""
    names: dict[str, dict[str, None]] = {"judge": {}, "system": {}, "item": {}, "question": {}}
    for answer in answers:
        names["judge"][answer.judge] = names["item"][answer.item] = names["question"][
            answer.question
        ] = None
        names["system"].update(dict.fromkeys(systems_of(answer)))
    names_by_form: dict[tuple[str, str], list[str]] = {}
    for kind, names_of_kind in names.items():
        for name in names_of_kind:
            standard_form = " ".join(unicodedata.normalize("NFC", name).split())
            key = standard_form.casefold() if kind in ("judge", "system") else standard_form
            names_by_form.setdefault((kind, key), []).append(name)
    groups = [(kind, alike) for (kind, _), alike in names_by_form.items() if len(alike) > 1]
    if not groups:
        return []
    groups_in_words = "; ".join(
        f"{kind} {' and '.join(map(repr, alike[:MAX_NAMES_SHOWN]))}"
        for kind, alike in groups[:MAX_NAMES_SHOWN]
    ) + ("; …" if len(groups) > MAX_NAMES_SHOWN else "")
    return [
        f"Names that differ only in spaces, letter case or encoding count as different: "
        f"{groups_in_words}. If they mean the same, write them in the same way."
    ]


def shared_judges_note(answers: Iterable[AnyJudgment]) -> list[str]:
    """A warning where a person's answers to one question come from several files: if these are of
    different studies, they may be two people with the same name, such as J1. It is no error, because
    the answers of one study may be in several files."""
    files_by_judge: dict[tuple[str, str], dict[str, None]] = {}
    for answer in answers:
        if answer.file and not is_machine(answer.judge):
            files_by_judge.setdefault((answer.question, answer.judge), {})[answer.file] = None
    shared = {key: files for key, files in files_by_judge.items() if len(files) > 1}
    if not shared:
        return []
    judges = list(dict.fromkeys(judge for _, judge in shared))
    files = list(dict.fromkeys(file for files in shared.values() for file in files))
    is_one = len(judges) == 1
    return [
        f"{_first_names(judges)} {'has' if is_one else 'have'} answers in several files "
        f"({_first_names(files)}), and {'counts' if is_one else 'each counts'} as one person. If the "
        "files are of different studies, one name may stand for several people: then write different "
        "names in the files, such as 'study 2 J1'."
    ]


def _first_names(names: Sequence[str]) -> str:
    """The first few names, and the number of the others: `J1, J2, J3, J4 and 8 more`."""
    n_hidden = len(names) - MAX_NAMES_SHOWN
    shown = ", ".join(names[:MAX_NAMES_SHOWN])
    return f"{shown} and {n_hidden:,} more" if n_hidden > 0 else shown
