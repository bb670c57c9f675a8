"""Inflections undone: from a word to the lemmas it may be a form of, each with the form it would be.

WordNet's own procedure, `morphy(7WN)`: look the form up among the exceptions, otherwise take endings
off by rule, and keep what the lexicon knows. Here a candidate also carries its inflection, so that
another lemma can be put into the same form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from wellput.language.inflection import Inflection, irregular_forms
from wellput.language.lexicon import Category, Lexicon

PAST: tuple[Inflection, ...] = ("past", "participle")
# Ending, what replaces it, what it marks.
DETACHMENTS: dict[Category, tuple[tuple[str, str, tuple[Inflection, ...]], ...]] = {
    "noun": tuple(
        (ending, replacement, ("plural",))
        for ending, replacement in (
            *(("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z")),
            *(("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y")),
        )
    ),
    "verb": (
        *((ending, stem, ("third",)) for ending, stem in (("s", ""), ("ies", "y"))),
        *((ending, stem, ("third",)) for ending, stem in (("es", "e"), ("es", ""))),
        *((ending, stem, PAST) for ending, stem in (("ed", "e"), ("ed", ""), ("ied", "y"))),
        *((ending, stem, ("gerund",)) for ending, stem in (("ing", "e"), ("ing", ""))),
    ),
    "adj": (
        *((ending, stem, ("comparative",)) for ending, stem in (("er", ""), ("er", "e"))),
        *((ending, stem, ("superlative",)) for ending, stem in (("est", ""), ("est", "e"))),
    ),
    "adv": (),
}


@dataclass(frozen=True, slots=True)
class Analysis:
    """A lemma and the inflection that makes the word of it."""

    lemma: str
    inflection: Inflection


def analyze(word: str, category: Category, lexicon: Lexicon) -> list[Analysis]:
    """The word's possible analyses, the word itself as a lemma first.

    A verb form that may be past or participle is given as both.
    """
    form = word.lower()
    candidates = _candidates(form, category, lexicon)
    head, space, rest = form.partition(" ")
    if category == "verb" and space:  # a phrasal verb: its first word is inflected
        candidates += [
            Analysis(f"{analysis.lemma} {rest}", analysis.inflection)
            for analysis in _candidates(head, category, lexicon)
        ]
    known = (analysis for analysis in candidates if (analysis.lemma, category) in lexicon)
    return list(dict.fromkeys(known))


def _candidates(form: str, category: Category, lexicon: Lexicon) -> list[Analysis]:
    candidates = [Analysis(form, "base"), *_irregular(form, category, lexicon)]
    if len(candidates) == 1:
        candidates.extend(_detached(form, category))
    return candidates


def _irregular(form: str, category: Category, lexicon: Lexicon) -> Iterator[Analysis]:
    tabled = _forms_in_table(category).get(form, ())
    yield from tabled
    said = {analysis.lemma for analysis in tabled}
    for lemma in lexicon.exceptions(category).get(form, ()):
        # "further further" is in the lists to stop the rules, not to name an inflection.
        if lemma not in said and lemma != form:
            for inflection in _inflections_by_look(form, category):
                yield Analysis(lemma, inflection)


@cache
def _forms_in_table(category: Category) -> dict[str, tuple[Analysis, ...]]:
    forms: dict[str, tuple[Analysis, ...]] = {}
    for lemma, by_inflection in irregular_forms()[category].items():
        for inflection, form in by_inflection.items():
            forms[form] = (*forms.get(form, ()), Analysis(lemma, inflection))
    return forms


def _inflections_by_look(form: str, category: Category) -> tuple[Inflection, ...]:
    """Of a form listed as an exception; lists do not say which one it is."""
    match category:
        case "noun":
            return ("plural",)
        case "verb":
            head = form.split()[0]
            if head.endswith("ing"):
                return ("gerund",)
            return ("third",) if head in ("is", "has", "does", "goes") else PAST
        case _:
            return ("superlative",) if form.endswith("st") else ("comparative",)


def _detached(form: str, category: Category) -> Iterator[Analysis]:
    if category == "noun" and form.endswith("ss"):  # WordNet's own exemption: "less" is no plural
        return
    for ending, replacement, inflections in DETACHMENTS[category]:
        if form.endswith(ending) and len(form) > len(ending):
            for inflection in inflections:
                yield Analysis(form.removesuffix(ending) + replacement, inflection)
