"""Language files, with all texts of the pages in one language: those that wellput comes with, and files
that the owner of a study gives. A language file must be complete."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wellput.core.errors import InputError, did_you_mean
from wellput.io.files import read_toml
from wellput.studies.wording import (
    ENGLISH,
    SENTENCE,
    Text,
    Wording,
    codes,
    language_of,
    placeholders,
    shipped_record,
    wording,
    wording_about,
)


def chosen_wording(language: str | None, unit: str | None) -> tuple[Wording, dict[str, Any]]:
    """The texts of a language by its code, or of a file whose name ends in .toml, with the contents of
    that file ({} for a language of wellput). `unit` is what the pages call an output, such as
    sentence."""
    if language is None or not language.endswith(".toml"):
        return wording(language or "en", unit or SENTENCE), {}
    record = read_language(language)
    return wording_about(language_of(record), unit or SENTENCE), record


def read_language(path: str) -> dict[str, Any]:
    """The contents of a language file. Missing texts are taken from wellput's own file of the same
    language, if there is one. Raises InputError with all that is still missing or wrong."""
    record = read_toml(path)
    about = record.get("language")
    code = about.get("code") if isinstance(about, dict) else None
    if isinstance(code, str) and code in codes():
        record = _merged(shipped_record(code), record)
    if problems := problems_of(record):
        raise InputError.collect(f"{path} is not a complete language file:", problems)
    return record


def _merged(shipped: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    """The values of `shipped`, replaced by those of `changed` where it has them, also in nested
    tables."""
    merged = dict(shipped)
    for name, value in changed.items():
        before = merged.get(name)
        merged[name] = (
            _merged(before, value)
            if isinstance(before, dict) and isinstance(value, dict)
            else value
        )
    return merged


def problems_of(record: Mapping[str, Any]) -> list[str]:
    """What is missing or wrong in a language file: keys, placeholders, plural forms, units."""
    about = record.get("language")
    if not isinstance(about, dict) or not all(
        isinstance(about.get(name), str) and about[name] for name in ("code", "name", "direction")
    ):
        return ['[language] needs code = "…", name = "…" and direction = "ltr" or "rtl"']
    if about["direction"] not in ("ltr", "rtl"):
        return ['direction must be "ltr" or "rtl"']
    units = record.get("units")
    if (
        not isinstance(units, dict)
        or not units
        or not all(_is_texts(unit_forms) for unit_forms in units.values())
    ):
        return ["[units] needs the forms of at least one unit, such as sentence"]
    forms = set(next(iter(units.values())))
    problems = [
        f"units.{unit} has the forms {', '.join(sorted(forms_of_unit))}; the first unit has "
        f"{', '.join(sorted(forms))}"
        for unit, forms_of_unit in units.items()
        if set(forms_of_unit) != forms
    ]
    language = language_of(record)
    english = ENGLISH.source.texts
    problems += [f"{key} is missing" for key in english if key not in language.texts]
    for key, text in language.texts.items():
        if key not in english:
            problems.append(f"no text {key}.{did_you_mean(key, list(english))}")
        else:
            problems += [
                f"{key}: {problem}" for problem in _text_problems(text, english[key], forms)
            ]
    return problems


def _is_texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def _text_problems(text: Any, english: Text, forms: set[str]) -> list[str]:
    """What is wrong with a text, compared with the English text of the same key. `forms` are the names
    of the forms of a unit, which may be placeholders."""
    if isinstance(english, dict):
        if isinstance(text, str):
            text = {"other": text}
        if not isinstance(text, dict) or "other" not in text or not _is_texts(text):
            return ["needs its plural forms, at least other"]
        return [
            problem
            for form in text.values()
            for problem in _text_problems(form, english["other"], forms)
        ]
    if isinstance(english, list):
        is_right = isinstance(text, list) and all(isinstance(entry, str) for entry in text)
        if not is_right or len(text) != len(english):
            return [f"must be a list of {len(english)} texts"]
        return []
    if not isinstance(text, str):
        return ["must be a text"]
    try:
        used = placeholders(text)
    except ValueError as error:
        return [f"the braces are wrong: {error}"]
    needed = placeholders(english) - set(ENGLISH.forms)
    unknown = used - needed - forms
    return [f"must have {{{name}}}" for name in sorted(needed - used)] + [
        f"cannot have {{{name}}}" for name in sorted(unknown)
    ]
