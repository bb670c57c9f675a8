"""`Wording`: the texts of the pages that judges read, in one language.

All texts of a language are in one file, `texts/CODE.toml`; docs/interface_languages.md says how to
write another. A text has a dotted key, such as "pages.next". Placeholders `{…}` in a text are filled
in by values, or by forms of the *unit*: the noun for the texts to judge ("sentence", "answer"). A text
that depends on a number is a table of its forms by plural category (one, few, other, …).

Plural categories of whole numbers follow the rules of the Unicode CLDR, a database of languages. The
texts that wellput comes with are about sentences; in English, another unit can take the place of
*sentence*.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import Any, TypeAlias

from wellput.core.errors import InputError, did_you_mean

SENTENCE = "sentence"
DEFAULT_UNIT = "text"
SENTENCE_PATTERN = re.compile(r"\b(?P<article>[Aa] )?(?P<noun>sentences?)\b")
"""Where an English text of wellput names its unit, with the indefinite article before it."""

MAX_SENTENCE_CHARACTERS = 300
NEXT_SENTENCE = re.compile(r"[.!?؟]\W*\s\W*[^\Wa-z_]|[。！？].|\n")
"""Matches where a second sentence begins."""


def usual_unit(texts: Iterable[str]) -> str:
    """The unit by default: `sentence` if at least half of the texts are one sentence, else `text`.

    >>> usual_unit(["The ferry leaves at 9.", "It rained."]), usual_unit(["It rained. We left."])
    ('sentence', 'text')
    """
    n = n_sentences = 0
    for text in texts:
        n += 1
        is_short = len(text) <= MAX_SENTENCE_CHARACTERS
        n_sentences += is_short and NEXT_SENTENCE.search(text.strip()) is None
    return SENTENCE if 2 * n_sentences >= n else DEFAULT_UNIT


def check_unit(unit: str) -> None:
    """Raises InputError for a unit that is not one or more words."""
    if not re.fullmatch(r"[^\W\d_]+(?: [^\W\d_]+)*", unit):
        raise InputError(f"unit={unit!r} must be a word, such as 'answer'.")


def in_unit(words: str, unit: str) -> str:
    """An English text with another noun in place of *sentence*.

    >>> in_unit("Two versions of a sentence. Rate the sentences.", "essay")
    'Two versions of an essay. Rate the essays.'
    """

    def renamed(match: re.Match[str]) -> str:
        noun = _plural(unit) if match["noun"].endswith("s") else unit
        if not match["article"]:
            return noun
        return f"{match['article'].strip()}{'n' if unit[0] in 'aeiou' else ''} {noun}"

    return words if unit == SENTENCE else SENTENCE_PATTERN.sub(renamed, words)


def _plural(unit: str) -> str:
    if unit.endswith("y") and unit[-2:-1] not in "aeiou":
        return f"{unit[:-1]}ies"
    return f"{unit}s"


PLURAL_CATEGORIES = ("zero", "one", "two", "few", "many", "other")
PluralRule: TypeAlias = Callable[[int], str]


def _one_or_other(n: int) -> str:
    return "one" if n == 1 else "other"


def _arabic(n: int) -> str:
    if n <= 2:
        return ("zero", "one", "two")[n]
    last = n % 100
    return "few" if 3 <= last <= 10 else "many" if 11 <= last <= 99 else "other"


def _east_slavic(n: int) -> str:
    if n % 10 == 1 and n % 100 != 11:
        return "one"
    return "few" if 2 <= n % 10 <= 4 and not 12 <= n % 100 <= 14 else "many"


def _polish(n: int) -> str:
    return "one" if n == 1 else "many" if n % 10 == 1 else _east_slavic(n)


def _czech(n: int) -> str:
    return "one" if n == 1 else "few" if 2 <= n <= 4 else "other"


PLURAL_RULES: Mapping[str, PluralRule] = {
    **dict.fromkeys(("zh", "ja", "ko", "vi", "th", "id", "ms"), lambda n: "other"),
    **dict.fromkeys(("fr", "pt", "hi", "fa"), lambda n: "one" if n <= 1 else "other"),
    **dict.fromkeys(("ru", "uk", "be"), _east_slavic),
    **dict.fromkeys(("cs", "sk"), _czech),
    "pl": _polish,
    "ar": _arabic,
}
"""The rules by language. Languages that are not named here have the categories one and other, as
English has."""


def plural_category(language: str, n: int) -> str:
    """The plural category of a number.

    >>> [plural_category("ar", n) for n in (0, 1, 2, 3, 11, 100)]
    ['zero', 'one', 'two', 'few', 'many', 'other']
    """
    return PLURAL_RULES.get(language.partition("-")[0], _one_or_other)(n)


Text: TypeAlias = str | list[str] | dict[str, str]
"""A text, a list of texts, or the forms of a text by plural category."""


@dataclass(frozen=True, eq=False)
class Language:
    """The contents of one language file: the forms of each unit, and the texts by key. `direction` is
    "ltr" (left to right) or "rtl"."""

    code: str
    name: str
    direction: str
    units: Mapping[str, Mapping[str, str]]
    texts: Mapping[str, Text]


@dataclass(frozen=True)
class Wording:
    """The texts of a language, in which the outputs to judge are called `unit`.

    >>> english = wording("en", "answer")
    >>> english("questions.quality.text"), english("pages.progress", done=2, total=9)
    ('How well-written is this answer?', '2 of 9 done')
    """

    source: Language
    unit: str = SENTENCE

    @property
    def language(self) -> str:
        return self.source.code

    @property
    def direction(self) -> str:
        """The direction of the page: "ltr" or "rtl"."""
        return self.source.direction

    def __call__(self, key: str, *, n: int | None = None, **values: object) -> str:
        """The text of a key. `n` chooses among plural forms and is the value of {n}. A placeholder
        without a value stays as it is."""
        text = self._text(key)
        if isinstance(text, dict):
            category = plural_category(self.language, 0 if n is None else n)
            text = text.get(category, text["other"])
        assert isinstance(text, str), key
        given = values if n is None else {**values, "n": n}
        return text.format_map(_Filled(**self.forms, **given))

    def all(self, key: str) -> tuple[str, ...]:
        """The texts of a key that has a list of them."""
        texts = self._text(key)
        assert isinstance(texts, list), key
        return tuple(text.format_map(_Filled(**self.forms)) for text in texts)

    def has(self, key: str) -> bool:
        return key in self.source.texts

    @property
    def forms(self) -> Mapping[str, str]:
        """The forms of the unit, by name, as in `english_forms`."""
        known = self.source.units.get(self.unit)
        return english_forms(self.unit) if known is None else known

    def translated(self, english: str) -> str:
        """An English message of the server in this language; the English message if the language file
        does not have it."""
        if self.language == "en" and self.source is ENGLISH.source:
            return english
        for key, pattern in _server_sentences():
            if match := pattern.fullmatch(english):
                values = match.groupdict()
                if "reason" in values:
                    values["reason"] = self.translated(values["reason"])
                n = values.pop("n", None)
                return self(key, n=None if n is None else int(n), **values)
        return english

    def _text(self, key: str) -> Text:
        text = self.source.texts.get(key)
        return ENGLISH.source.texts[key] if text is None else text


class _Filled(dict[str, object]):
    """Values of placeholders. A placeholder without a value is replaced by itself."""

    def __missing__(self, name: str) -> str:
        return f"{{{name}}}"


def english_forms(unit: str) -> dict[str, str]:
    """The forms of any English noun.

    >>> english_forms("essay")
    {'a': 'an essay', 'one': 'essay', 'this': 'this essay', 'many': 'essays'}
    """
    of_sentence = {"a": "a sentence", "one": SENTENCE, "this": "this sentence", "many": "sentences"}
    return {form: in_unit(words, unit) for form, words in of_sentence.items()}


def codes() -> list[str]:
    """The codes of the languages that wellput comes with, English first."""
    folder = files("wellput.studies") / "texts"
    shipped_codes = sorted(
        file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml")
    )
    return sorted(shipped_codes, key=lambda code: code != "en")


def shipped_record(code: str) -> dict[str, Any]:
    """The contents of a language file that wellput comes with."""
    file = files("wellput.studies") / "texts" / f"{code}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


@cache
def shipped(code: str) -> Language:
    return language_of(shipped_record(code))


def language_of(record: Mapping[str, Any]) -> Language:
    """A language from the contents of its file, which must have been checked."""
    about = record["language"]
    tables = {name: table for name, table in record.items() if name not in ("language", "units")}
    return Language(
        about["code"], about["name"], about["direction"], record["units"], dict(_flat(tables, ""))
    )


def _flat(table: Mapping[str, Any], prefix: str) -> list[tuple[str, Text]]:
    """The texts of nested tables with their dotted keys, which begin with `prefix`."""
    texts: list[tuple[str, Text]] = []
    for name, value in table.items():
        key = f"{prefix}{name}"
        if isinstance(value, dict) and not set(value) <= set(PLURAL_CATEGORIES):
            texts += _flat(value, f"{key}.")
        else:
            texts.append((key, value))
    return texts


ENGLISH = Wording(shipped("en"))


def wording(language: str = "en", unit: str = SENTENCE) -> Wording:
    """The texts of a language that wellput comes with. Raises InputError for others, and for a unit
    that the language does not have."""
    if language not in codes():
        raise InputError(
            f"No language={language!r}.{did_you_mean(language, codes())} The languages are "
            f"{', '.join(codes())}. A file of your own has a name that ends in .toml."
        )
    return wording_about(shipped(language), unit)


def wording_about(language: Language, unit: str) -> Wording:
    """The texts of a language with this unit. Raises InputError if the language does not have the
    unit."""
    check_unit(unit)
    if unit not in language.units and language.code != "en":
        raise InputError(
            f"unit={unit!r}: in {language.name} texts can be called {', '.join(language.units)}. Add a "
            "unit in a language file of your own, or give the questions in your own words."
        )
    return Wording(language, unit)


def placeholders(text: str) -> set[str]:
    """The names in braces.

    >>> sorted(placeholders("{number} of {total}"))
    ['number', 'total']
    """
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@cache
def _server_sentences() -> list[tuple[str, re.Pattern[str]]]:
    """The keys and patterns of the English messages of the server, the most general pattern last."""
    patterns = []
    for key, text in ENGLISH.source.texts.items():
        if key.startswith(("errors.", "reasons.")):
            forms = text.values() if isinstance(text, dict) else [text]
            patterns += [(key, _pattern(form)) for form in forms if isinstance(form, str)]
    order = {"reasons.about_text": 0, "reasons.about_question": 2}
    return sorted(patterns, key=lambda pair: order.get(pair[0], 1))


def _pattern(text: str) -> re.Pattern[str]:
    """A pattern that matches a text with any values in its placeholders."""
    parts = []
    for literal, name, _, _ in Formatter().parse(text):
        parts.append(re.escape(literal))
        if name is not None:
            parts.append(rf"(?P<{name}>\d+)" if name in ("n", "number") else rf"(?P<{name}>.+?)")
    return re.compile("".join(parts), re.DOTALL)
