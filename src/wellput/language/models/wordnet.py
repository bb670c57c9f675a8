"""Synonyms from the user's WordNet, in the inflection of the word they may replace.

>>> wordnet = open_wordnet()                                                    # doctest: +SKIP
>>> [synonym.text for synonym in wordnet.synonyms("cars", "noun")][:3]           # doctest: +SKIP
['autos', 'automobiles', 'machines']

Two words are synonyms if they are members of one synset. wellput comes without a WordNet:
`open_wordnet` looks where Debian, NLTK and WordNet's own tools put it, or takes a path. `Synsets`
finds the words of a synset by NLTK's name for it, such as `car.n.01`.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from wellput.core.errors import InputError, counted
from wellput.language.models.inflection import Inflection, LemmaAnalysis, analyze, inflect
from wellput.language.models.wordnet_files import (
    CATEGORIES,
    CATEGORY_OF_LETTER,
    Category,
    Lexicon,
    Sense,
    WndbLexicon,
    read_lmf,
    read_yaml_folder,
)

NLTK_NAMES = ("wordnet", "wordnet31", "wordnet2022", "wordnet2021")
NLTK_ENDINGS: dict[Category, Sequence[tuple[str, str]]] = {
    "noun": (
        ("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch"),
        ("shes", "sh"), ("men", "man"), ("ies", "y"),
    ),
    "verb": (
        ("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"),
        ("ing", ""),
    ),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}  # fmt: skip
"""Endings of inflected words, and of their lemmas."""
SYSTEM_FOLDERS = ("/usr/share/wordnet", "/usr/local/share/wordnet", "/usr/local/WordNet-3.0/dict")


@dataclass(frozen=True, slots=True)
class Synonym:
    """A word that shares a synset with the one asked for.

    `text` is the synonym's lemma in the inflection and capitals of the word asked for. `sense` is the
    sense of the word asked for in which the two are synonyms. `tag_count` is how often the synonym, not
    the word asked for, occurs in this sense; None if unknown.
    """

    text: str
    lemma: str
    inflection: Inflection
    sense: Sense
    tag_count: int | None


class WordNet:
    """Senses and synonyms of words as they stand in a text."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._irregular_forms = cache(self._irregular_forms_by_lemma)
        self._senses = cache(lexicon.senses)

    @property
    def name(self) -> str:
        """Where it was read from."""
        return self._lexicon.name

    def analyses(
        self, word: str, category: Category, *, inflection: Inflection | None = None
    ) -> list[LemmaAnalysis]:
        """The lemmas that the word may be a form of. If `inflection` is given, only lemmas with that
        inflection."""
        analyses = analyze(word, category, self._lexicon)
        if inflection is not None:
            return [analysis for analysis in analyses if analysis.inflection == inflection]
        first = {analysis.lemma: analysis for analysis in reversed(analyses)}
        return [analysis for analysis in analyses if first[analysis.lemma] is analysis]

    def lemmas(self, word: str, category: Category) -> list[str]:
        """The lemmas the word may be a form of, itself first."""
        return [analysis.lemma for analysis in self.analyses(word, category)]

    def senses(self, word: str, category: Category) -> list[Sense]:
        """The senses of all its lemmas, lemma by lemma, each in order of rank."""
        lemmas = self.lemmas(word, category)
        return [sense for lemma in lemmas for sense in self._senses(lemma, category)]

    def synonyms(
        self, word: str, category: Category, *, inflection: Inflection | None = None
    ) -> list[Synonym]:
        """Synonyms in the form of `word`, those of its first senses first, each text once.

        Pass the inflection if it is known (`INFLECTION_OF_TAG` gives it for a Penn tag). Without it, a
        form such as "walked", which is both past and participle, is taken for the past; then the
        synonym "go" would be "went", never "gone".
        """
        found: dict[str, Synonym] = {}
        for analysis in self.analyses(word, category, inflection=inflection):
            for sense in self._senses(analysis.lemma, category):
                for member in sense.members:
                    synonym = self._synonym(word, analysis, sense, member)
                    if synonym and synonym.text.lower() != word.lower():
                        found.setdefault(synonym.text, synonym)
        return list(found.values())

    def single_word_synonyms(self, word: str) -> frozenset[str]:
        """The single-word members of every synset of `word`, as they are written in WordNet.

        The lemmas of `word` are found as NLTK finds them, and NLTK finds fewer than `lemmas`: only the
        irregular ones where there are any, and never by removing two endings."""
        lower = word.lower().replace("_", " ")
        return frozenset(
            member
            for category in CATEGORIES
            for lemma in {lower, *self._lemmas_in_nltk(lower, category)}
            for sense in self._senses(lemma, category)
            for member in sense.members
            if " " not in member
        )

    def _lemmas_in_nltk(self, word: str, category: Category) -> Sequence[str]:
        irregular = self._lexicon.exceptions(category).get(word)
        if irregular is not None:
            return irregular
        return [
            word.removesuffix(ending) + replacement
            for ending, replacement in NLTK_ENDINGS[category]
            if word.endswith(ending)
        ]

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of its lemmas, which identifies a WordNet."""
        digest = hashlib.sha256()
        for category in CATEGORIES:
            digest.update("\n".join(self._lexicon.lemmas(category)).encode(errors="replace"))
        return digest.hexdigest()

    @cached_property
    def phrases(self) -> frozenset[str]:
        """Every lemma of several words, of any category, lower-cased."""
        return frozenset(
            lemma
            for category in CATEGORIES
            for lemma in self._lexicon.lemmas(category)
            if " " in lemma
        )

    def _synonym(
        self, word: str, analysis: LemmaAnalysis, sense: Sense, member: str
    ) -> Synonym | None:
        lemma = member.lower()
        if lemma == analysis.lemma:
            return None
        irregular = self._irregular_forms(sense.category).get(lemma, ())
        text = inflect(member, sense.category, analysis.inflection, irregular)
        return Synonym(
            text=with_capitals_of(word, text),
            lemma=member,
            inflection=analysis.inflection,
            sense=sense,
            tag_count=self._tag_count(lemma, sense),
        )

    def _tag_count(self, lemma: str, shared: Sense) -> int | None:
        for sense in self._senses(lemma, shared.category):
            if sense.synset == shared.synset:
                return sense.tag_count
        return None

    def _irregular_forms_by_lemma(self, category: Category) -> dict[str, tuple[str, ...]]:
        forms: dict[str, tuple[str, ...]] = {}
        for form, lemmas in self._lexicon.exceptions(category).items():
            for lemma in lemmas:
                if lemma != form:
                    forms[lemma] = (*forms.get(lemma, ()), form)
        return forms


def with_capitals_of(word: str, text: str) -> str:
    """`text` capitalized like `word`: all of it, its first letter, or unchanged."""
    if len(word) > 1 and word.isupper():
        return text.upper()
    if word[:1].isupper():
        return text[:1].upper() + text[1:]
    return text


def open_wordnet(path: str | Path | None = None) -> WordNet:
    """The WordNet at `path`, or the first one found in the usual places.

    A path is a WNDB folder (`data.noun`, …) or a zip archive with one, a folder of Open English
    WordNet's YAML (`entries-a.yaml`, …), or a WN-LMF file (`.xml`, `.xml.gz`).
    """
    if path is not None:
        return WordNet(_lexicon_at(Path(path)))
    for place in _usual_places():
        if (place / "data.noun").is_file() or (place.suffix == ".zip" and place.is_file()):
            return WordNet(_lexicon_at(place))
    raise InputError(
        "No WordNet was found. On Debian and Ubuntu: apt-get install wordnet-base. Elsewhere: "
        "python -m nltk.downloader wordnet, or set WNSEARCHDIR to a folder with the file data.noun."
    )


def _usual_places() -> Iterator[Path]:
    if os.environ.get("WNSEARCHDIR"):
        yield Path(os.environ["WNSEARCHDIR"])
    if os.environ.get("WNHOME"):
        yield Path(os.environ["WNHOME"]) / "dict"
    yield from map(Path, SYSTEM_FOLDERS)
    # NLTK's own search path, in its order.
    folders = [
        Path(folder) for folder in os.environ.get("NLTK_DATA", "").split(os.pathsep) if folder
    ]
    folders.append(Path.home() / "nltk_data")
    folders += [Path(sys.prefix, *parts, "nltk_data") for parts in ((), ("share",), ("lib",))]
    folders += [
        Path(parent, "nltk_data") for parent in ("/usr/share", "/usr/local/share", "/usr/lib")
    ]
    for folder in folders:
        for name in NLTK_NAMES:
            yield folder / "corpora" / name
            yield folder / "corpora" / f"{name}.zip"


def _lexicon_at(path: Path) -> Lexicon:
    if path.is_dir():
        for folder in (path, path / "src" / "yaml"):
            if next(folder.glob("entries-*.yaml"), None):
                return read_yaml_folder(folder)
        return WndbLexicon(path)
    if not path.exists():
        raise InputError(f"{path}: no such WordNet file or folder.")
    if path.suffix == ".zip":
        return WndbLexicon(_folder_in_zip(path))
    if path.suffixes[-1:] == [".xml"] or path.suffixes[-2:] == [".xml", ".gz"]:
        return read_lmf(path)
    raise InputError(
        f"{path} is not a WordNet that wellput can read: expected a folder, a .zip, an .xml or an "
        ".xml.gz."
    )


def _folder_in_zip(path: Path) -> zipfile.Path:
    try:
        names = zipfile.ZipFile(path).namelist()
    except zipfile.BadZipFile as error:
        raise InputError(f"{path} is not a zip archive: {error}.") from error
    for name in names:
        if name.rpartition("/")[2] == "data.noun":
            return zipfile.Path(path, name.removesuffix("data.noun"))
    raise InputError(f"{path} is not a WordNet: it has no file data.noun.")


SYNSET_NAME = re.compile(r"(.+)\.([nvasr])\.(\d+)")


class Synsets:
    """Looks up synsets; the first look-up opens the user's WordNet."""

    def __init__(self, path: str | None = None) -> None:
        self._path = path

    @cached_property
    def wordnet(self) -> WordNet:
        return open_wordnet(self._path)

    def __call__(self, name: str) -> Sequence[str]:
        """The synset's single-word members; the word in `name` comes first."""
        found = SYNSET_NAME.fullmatch(name)
        if found is None:
            raise InputError(f"{name!r} is not the name of a synset, such as car.n.01 or run.v.04.")
        lemma, category = found[1].replace("_", " ").lower(), CATEGORY_OF_LETTER[found[2]]
        senses = self.wordnet.senses(lemma, category)
        rank = int(found[3])
        if not 1 <= rank <= len(senses):
            known = counted(len(senses), "sense")
            raise InputError(f"There is no {name}: {self.wordnet.name} has {known} of {lemma}.")
        members = [member for member in senses[rank - 1].members if " " not in member]
        return sorted(members, key=lambda member: member.lower() != lemma) or [lemma]
