"""English inflection, made and undone: plurals of nouns, forms of verbs, degrees of adjectives.

`inflect`: irregular forms come from `irregular_forms.tsv`, then from what the lexicon lists, then
spelling rules apply. Good enough to put a synonym where a word stood; not a lexicon of English: a
rare irregular verb missing from both comes out regular, and doubled consonants of long verbs are
right only where the lexicon lists them.

`analyze`: from a word to the lemmas it may be a form of, by WordNet's own procedure, `morphy(7WN)`:
look the form up among the exceptions, otherwise take endings off by rule, and keep what the lexicon
knows. Here a candidate also carries its inflection, so that another lemma can be put into the same
form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from wellput.language.models.lexicon import Category, Lexicon

Inflection = Literal[
    "base", "plural", "third", "past", "participle", "gerund", "comparative", "superlative"
]
# What a Penn tag says of a word's form; tags not here are of base forms.
INFLECTION_OF_TAG: dict[str, Inflection] = {
    "NNS": "plural",
    "NNPS": "plural",
    "VBZ": "third",
    "VBD": "past",
    "VBN": "participle",
    "VBG": "gerund",
    "JJR": "comparative",
    "RBR": "comparative",
    "JJS": "superlative",
    "RBS": "superlative",
}
IRREGULAR_COLUMNS: dict[Category, tuple[Inflection, ...]] = {
    "noun": ("plural",),
    "verb": ("past", "participle"),
    "adj": ("comparative", "superlative"),
    "adv": ("comparative", "superlative"),
}
OTHER_FORMS: dict[tuple[str, Inflection], str] = {
    ("be", "third"): "is",
    ("have", "third"): "has",
    ("be", "gerund"): "being",
}
PREFIXES = ("over", "under", "out", "re", "un", "mis", "fore", "up", "inter")
# "mother-in-law", "man of letters": the noun before one of these is the head.
WORDS_AFTER_HEAD = {"of", "in", "to", "at", "by", "for", "on", "up", "down", "out", "over", "with"}


@cache
def irregular_forms() -> Mapping[Category, Mapping[str, Mapping[Inflection, str]]]:
    """Category → lemma → inflection → form, from the table."""
    table: dict[Category, dict[str, dict[Inflection, str]]] = {
        category: {} for category in IRREGULAR_COLUMNS
    }
    names = {str(category): category for category in IRREGULAR_COLUMNS}
    text = Path(__file__).with_name("irregular_forms.tsv").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, lemma, *forms = line.split("\t")
        columns = IRREGULAR_COLUMNS[names[name]]
        # A verb of one form uses it for both.
        padded = forms + forms[-1:] * (len(columns) - len(forms))
        table[names[name]][lemma] = dict(zip(columns, padded, strict=True))
    return table


def inflect(
    lemma: str, category: Category, inflection: Inflection, listed: Sequence[str] = ()
) -> str:
    """The form of a lemma; `listed` are the irregular forms a lexicon lists for it.

    >>> inflect("look up", "verb", "gerund"), inflect("mother-in-law", "noun", "plural")
    ('looking up', 'mothers-in-law')
    """
    if inflection == "base":
        return lemma
    known = irregular_forms()[category].get(lemma, {}).get(inflection)
    if known:
        return known
    if (lemma, inflection) in OTHER_FORMS:
        return OTHER_FORMS[lemma, inflection]
    parts = re.split(r"([ -])", lemma)
    if len(parts) > 1 and category in ("noun", "verb"):
        head = _head(parts, category)
        parts[head] = inflect(parts[head], category, inflection)
        return "".join(parts)
    return (
        _listed_form(inflection, listed)
        or _prefixed_form(lemma, category, inflection)
        or _regular_form(lemma, inflection)
    )


def _head(parts: list[str], category: Category) -> int:
    if category == "verb":
        return 0
    return 0 if len(parts) > 2 and parts[2] in WORDS_AFTER_HEAD else len(parts) - 1


def _listed_form(inflection: Inflection, listed: Sequence[str]) -> str | None:
    """Lexica do not say which form is which: the ending tells, or that there is only one."""
    endings = {"gerund": "ing", "past": "ed", "participle": "ed"}
    endings |= {"comparative": "er", "superlative": "est"}
    if inflection == "plural":
        return listed[0] if listed else None
    if inflection not in endings:
        return None
    fitting = [form for form in listed if form.endswith(endings[inflection])]
    if inflection in ("past", "participle") and not fitting:
        fitting = [form for form in listed if not form.endswith(("ing", "s"))]
        if len(fitting) > 1:
            return None
    return fitting[0] if fitting else None


def _prefixed_form(lemma: str, category: Category, inflection: Inflection) -> str | None:
    """`overdo` goes as `do`; nouns in -man as `man`."""
    if category == "noun" and lemma.endswith("man") and len(lemma) > 5:
        return lemma[:-3] + "men"
    if category == "verb":
        for prefix in PREFIXES:
            stem = lemma.removeprefix(prefix)
            if stem != lemma and stem in irregular_forms()["verb"]:
                return prefix + inflect(stem, "verb", inflection)
    return None


def _regular_form(lemma: str, inflection: Inflection) -> str:
    match inflection:
        case "plural":
            return _with_s(lemma, o_takes_es=False)
        case "third":
            return _with_s(lemma, o_takes_es=True)
        case "past" | "participle":
            return _with_vowel(lemma, "ed")
        case "gerund":
            return _with_ing(lemma)
        case _:
            degree, ending = ("more", "er") if inflection == "comparative" else ("most", "est")
            is_short = _syllables(lemma) == 1 or (_syllables(lemma) == 2 and lemma.endswith("y"))
            if is_short and " " not in lemma and not lemma.endswith("ly"):
                return _with_vowel(lemma, ending)
            return f"{degree} {lemma}"


def _with_s(lemma: str, *, o_takes_es: bool) -> str:
    if re.search(r"[^aeiou]y$", lemma):
        return lemma[:-1] + "ies"
    if re.search(r"(s|x|z|ch|sh)$", lemma) or (o_takes_es and re.search(r"[^aeiou]o$", lemma)):
        return lemma + "es"
    return lemma + "s"


def _with_vowel(lemma: str, ending: str) -> str:
    """With an ending that begins with e."""
    if lemma.endswith("e"):
        return lemma + ending[1:]
    if re.search(r"[^aeiou]y$", lemma):
        return lemma[:-1] + "i" + ending
    return _doubled(lemma) + ending


def _with_ing(lemma: str) -> str:
    if lemma.endswith("ie"):
        return lemma[:-2] + "ying"
    if re.search(r"[^eoy]e$", lemma) and _syllables(lemma) >= 1 and len(lemma) > 2:
        return lemma[:-1] + "ing"
    return _doubled(lemma) + "ing"


def _doubled(lemma: str) -> str:
    """One syllable that ends in consonant, vowel, consonant doubles the last: stop, stopp-."""
    is_closed = re.search(r"(^|[^aeiou]|qu)[aeiouy][^aeiouwxy]$", lemma)
    return lemma + lemma[-1] if is_closed and _syllables(lemma) == 1 and len(lemma) > 2 else lemma


def _syllables(lemma: str) -> int:
    """Groups of vowels, without a silent final e: an estimate."""
    text = re.sub(r"(?<=[^aeiou])e$", "", lemma).replace("qu", "q")
    return max(1, len(re.findall(r"[aeiouy]+", text)))


PAST_INFLECTIONS: tuple[Inflection, ...] = ("past", "participle")
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
        *(
            (ending, stem, PAST_INFLECTIONS)
            for ending, stem in (("ed", "e"), ("ed", ""), ("ied", "y"))
        ),
        *((ending, stem, ("gerund",)) for ending, stem in (("ing", "e"), ("ing", ""))),
    ),
    "adj": (
        *((ending, stem, ("comparative",)) for ending, stem in (("er", ""), ("er", "e"))),
        *((ending, stem, ("superlative",)) for ending, stem in (("est", ""), ("est", "e"))),
    ),
    "adv": (),
}


@dataclass(frozen=True, slots=True)
class LemmaAnalysis:
    """A lemma and the inflection that makes the word of it."""

    lemma: str
    inflection: Inflection


def analyze(word: str, category: Category, lexicon: Lexicon) -> list[LemmaAnalysis]:
    """The word's possible analyses, the word itself as a lemma first.

    A verb form that may be past or participle is given as both.
    """
    form = word.lower()
    candidates = _candidates(form, category, lexicon)
    head, space, rest = form.partition(" ")
    if category == "verb" and space:  # a phrasal verb: its first word is inflected
        candidates += [
            LemmaAnalysis(f"{analysis.lemma} {rest}", analysis.inflection)
            for analysis in _candidates(head, category, lexicon)
        ]
    known = (analysis for analysis in candidates if (analysis.lemma, category) in lexicon)
    return list(dict.fromkeys(known))


def _candidates(form: str, category: Category, lexicon: Lexicon) -> list[LemmaAnalysis]:
    candidates = [LemmaAnalysis(form, "base"), *_irregular(form, category, lexicon)]
    if len(candidates) == 1:
        candidates.extend(_detached(form, category))
    return candidates


def _irregular(form: str, category: Category, lexicon: Lexicon) -> Iterator[LemmaAnalysis]:
    tabled = _forms_in_table(category).get(form, ())
    yield from tabled
    said = {analysis.lemma for analysis in tabled}
    for lemma in lexicon.exceptions(category).get(form, ()):
        # "further further" is in the lists to stop the rules, not to name an inflection.
        if lemma not in said and lemma != form:
            for inflection in _inflections_by_look(form, category):
                yield LemmaAnalysis(lemma, inflection)


@cache
def _forms_in_table(category: Category) -> dict[str, tuple[LemmaAnalysis, ...]]:
    forms: dict[str, tuple[LemmaAnalysis, ...]] = {}
    for lemma, by_inflection in irregular_forms()[category].items():
        for inflection, form in by_inflection.items():
            forms[form] = (*forms.get(form, ()), LemmaAnalysis(lemma, inflection))
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
            return ("third",) if head in ("is", "has", "does", "goes") else PAST_INFLECTIONS
        case _:
            return ("superlative",) if form.endswith("st") else ("comparative",)


def _detached(form: str, category: Category) -> Iterator[LemmaAnalysis]:
    if category == "noun" and form.endswith("ss"):  # WordNet's own exemption: "less" is no plural
        return
    for ending, replacement, inflections in DETACHMENTS[category]:
        if form.endswith(ending) and len(form) > len(ending):
            for inflection in inflections:
                yield LemmaAnalysis(form.removesuffix(ending) + replacement, inflection)
