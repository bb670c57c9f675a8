"""English inflection in both directions: plurals of nouns, forms of verbs, degrees of adjectives.

`inflect` makes a form of a lemma. Irregular forms come from `irregular_forms.tsv` or, if they are not
there, from WordNet; other forms follow spelling rules. This is good enough to put a synonym in the
place of a word, but it is not complete: a rare irregular verb that is in neither list gets regular
forms, and a verb of several syllables gets a doubled consonant (*preferred*) only if a list has it.

`analyze` finds the lemmas of a form by WordNet's procedure, `morphy(7WN)`: it looks the form up among
the exceptions, or removes endings by rule, and keeps the lemmas that WordNet has. An analysis also has
the inflection, so that another lemma can be put into the same form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from wellput.language.models.wordnet_files import Category, Lexicon

Inflection = Literal[
    "base", "plural", "third", "past", "participle", "gerund", "comparative", "superlative"
]
# The inflection of a word with a Penn tag; words with other tags are base forms.
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
# By category: the inflections whose forms stand in a line of `irregular_forms.tsv`.
IRREGULAR_COLUMNS: dict[Category, tuple[Inflection, ...]] = {
    "noun": ("plural",),
    "verb": ("past", "participle"),
    "adj": ("comparative", "superlative"),
    "adv": ("comparative", "superlative"),
}
# Irregular forms with an inflection for which the table has no column.
OTHER_FORMS: dict[tuple[str, Inflection], str] = {
    ("be", "third"): "is",
    ("have", "third"): "has",
    ("be", "gerund"): "being",
}
# Verbs with these prefixes are inflected like the verb without: *overdo* like *do*.
PREFIXES = ("over", "under", "out", "re", "un", "mis", "fore", "up", "inter")
# The noun before one of these words is the one to inflect: "mother-in-law", "man of letters".
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
        # A verb with one form in the table uses it as past and participle.
        padded = forms + forms[-1:] * (len(columns) - len(forms))
        table[names[name]][lemma] = dict(zip(columns, padded, strict=True))
    return table


def inflect(
    lemma: str, category: Category, inflection: Inflection, listed: Sequence[str] = ()
) -> str:
    """The form of a lemma with an inflection; `listed` are its irregular forms in a lexicon.

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
    """The place of the word to inflect among the parts of a phrase (words, and the spaces and
    hyphens between them)."""
    if category == "verb":
        return 0
    return 0 if len(parts) > 2 and parts[2] in WORDS_AFTER_HEAD else len(parts) - 1


def _listed_form(inflection: Inflection, listed: Sequence[str]) -> str | None:
    """The listed form that has this inflection, by its ending, because lexica do not name inflections;
    None if there is none."""
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
    """`overdo` is inflected like `do`, nouns in -man like `man`."""
    if category == "noun" and lemma.endswith("man") and len(lemma) > 5:
        return lemma[:-3] + "men"
    if category == "verb":
        for prefix in PREFIXES:
            stem = lemma.removeprefix(prefix)
            if stem != lemma and stem in irregular_forms()["verb"]:
                return prefix + inflect(stem, "verb", inflection)
    return None


def _regular_form(lemma: str, inflection: Inflection) -> str:
    """The form by the rules of spelling."""
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
    """The lemma with the ending -s or -es. `o_takes_es`: it is -es after a consonant and o, too."""
    if re.search(r"[^aeiou]y$", lemma):
        return lemma[:-1] + "ies"
    if re.search(r"(s|x|z|ch|sh)$", lemma) or (o_takes_es and re.search(r"[^aeiou]o$", lemma)):
        return lemma + "es"
    return lemma + "s"


def _with_vowel(lemma: str, ending: str) -> str:
    """The lemma with an ending that begins with e."""
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
    """The lemma with its last letter doubled if it is one syllable of consonant, vowel, consonant:
    *stopp-* for *stop*."""
    is_closed = re.search(r"(^|[^aeiou]|qu)[aeiouy][^aeiouwxy]$", lemma)
    return lemma + lemma[-1] if is_closed and _syllables(lemma) == 1 and len(lemma) > 2 else lemma


def _syllables(lemma: str) -> int:
    """An estimate of the number of syllables: that of the groups of vowels, without a silent final
    e."""
    text = re.sub(r"(?<=[^aeiou])e$", "", lemma).replace("qu", "q")
    return max(1, len(re.findall(r"[aeiouy]+", text)))


PAST_INFLECTIONS: tuple[Inflection, ...] = ("past", "participle")
# By category: an ending of a form, what replaces it in the lemma, and the inflections of such forms.
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
    """A lemma of a word, and the inflection with which it gives the word."""

    lemma: str
    inflection: Inflection


def analyze(word: str, category: Category, lexicon: Lexicon) -> list[LemmaAnalysis]:
    """The possible analyses of a word in the lexicon; if the word itself is a lemma, this comes first.
    A verb form that may be past or participle has an analysis as each."""
    form = word.lower()
    candidates = _candidates(form, category, lexicon)
    head, space, particle = form.partition(" ")
    if category == "verb" and space:  # a phrasal verb: its first word is inflected
        candidates += [
            LemmaAnalysis(f"{analysis.lemma} {particle}", analysis.inflection)
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
    from_table = _forms_in_table(category).get(form, ())
    yield from from_table
    table_lemmas = {analysis.lemma for analysis in from_table}
    for lemma in lexicon.exceptions(category).get(form, ()):
        # An entry such as "further further" only keeps the rules from being applied.
        if lemma not in table_lemmas and lemma != form:
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
    """The possible inflections of a form in WordNet's lists of exceptions, which do not name
    inflections."""
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
    """The analyses that removing an ending gives, whether their lemmas exist or not."""
    if category == "noun" and form.endswith("ss"):  # WordNet's exemption: "less" is not a plural
        return
    for ending, replacement, inflections in DETACHMENTS[category]:
        if form.endswith(ending) and len(form) > len(ending):
            for inflection in inflections:
                yield LemmaAnalysis(form.removesuffix(ending) + replacement, inflection)
