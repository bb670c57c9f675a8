"""Synonyms from the user's WordNet, in the inflection of the word that they may replace.

>>> wordnet = open_wordnet()                                                    # doctest: +SKIP
>>> [synonym.text for synonym in wordnet.synonyms("cars", "noun")][:3]           # doctest: +SKIP
['autos', 'automobiles', 'machines']

Two words are synonyms if they are members of one synset, a set of words that share a meaning. wellput
comes without a WordNet: `open_wordnet` looks in the folders where Debian, NLTK and WordNet's own tools
put it, or takes a path. `Synsets` finds the words of a synset by NLTK's name for it, such as
`car.n.01`.
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
"""By category: the endings of inflected words that NLTK removes, and what it puts in their place."""
SYSTEM_FOLDERS = ("/usr/share/wordnet", "/usr/local/share/wordnet", "/usr/local/WordNet-3.0/dict")


@dataclass(frozen=True, slots=True)
class Synonym:
    """A synonym of a word.

    `text` is the synonym's lemma in the inflection and capitals of the word. `sense` is the sense of
    the word in which the two are synonyms. `tag_count` is how often the synonym (not the word) occurs
    in this sense in WordNet's tagged texts; None if it is unknown.
    """

    text: str
    lemma: str
    inflection: Inflection
    sense: Sense
    tag_count: int | None


class WordNet:
    """Finds senses and synonyms of words, which may be inflected as in a text."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._irregular_forms = cache(self._irregular_forms_by_lemma)
        self._senses = cache(lexicon.senses)

    @property
    def name(self) -> str:
        """The path from which it was read."""
        return self._lexicon.name

    def analyses(
        self, word: str, category: Category, *, inflection: Inflection | None = None
    ) -> list[LemmaAnalysis]:
        """The lemmas of which the word may be a form, each once, with an inflection. With
        `inflection`, only analyses with this inflection."""
        analyses = analyze(word, category, self._lexicon)
        if inflection is not None:
            return [analysis for analysis in analyses if analysis.inflection == inflection]
        # The first analysis of each lemma.
        first = {analysis.lemma: analysis for analysis in reversed(analyses)}
        return [analysis for analysis in analyses if first[analysis.lemma] is analysis]

    def lemmas(self, word: str, category: Category) -> list[str]:
        """The lemmas of which the word may be a form; if the word itself is a lemma, it comes first."""
        return [analysis.lemma for analysis in self.analyses(word, category)]

    def senses(self, word: str, category: Category) -> list[Sense]:
        """The senses of all lemmas of the word, lemma by lemma, for each lemma in order of rank."""
        lemmas = self.lemmas(word, category)
        return [sense for lemma in lemmas for sense in self._senses(lemma, category)]

    def synonyms(
        self, word: str, category: Category, *, inflection: Inflection | None = None
    ) -> list[Synonym]:
        """Synonyms in the inflection of `word`, each text once, those of its first senses first.

        Pass the inflection if it is known (`INFLECTION_OF_TAG` gives it for a Penn tag). Without it, a
        form such as "walked", which is both past and participle, counts as past; the synonym "go" is
        then always "went", never "gone".
        """
        synonyms_by_text: dict[str, Synonym] = {}
        for analysis in self.analyses(word, category, inflection=inflection):
            for sense in self._senses(analysis.lemma, category):
                for member in sense.members:
                    synonym = self._synonym(word, analysis, sense, member)
                    if synonym and synonym.text.lower() != word.lower():
                        synonyms_by_text.setdefault(synonym.text, synonym)
        return list(synonyms_by_text.values())

    def single_word_synonyms(self, word: str) -> frozenset[str]:
        """The members of all synsets of `word` that are single words, written as in WordNet.

        The lemmas of `word` are found by NLTK's rules, which find fewer than `lemmas` does: only the
        irregular lemmas where there are any, and never by removing two endings."""
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
        """SHA-256 of the lemmas, which identifies a WordNet."""
        digest = hashlib.sha256()
        for category in CATEGORIES:
            digest.update("\n".join(self._lexicon.lemmas(category)).encode(errors="replace"))
        return digest.hexdigest()

    @cached_property
    def phrases(self) -> frozenset[str]:
        """All lemmas of several words, of all categories, in lower case."""
        return frozenset(
            lemma
            for category in CATEGORIES
            for lemma in self._lexicon.lemmas(category)
            if " " in lemma
        )

    def _synonym(
        self, word: str, analysis: LemmaAnalysis, sense: Sense, member: str
    ) -> Synonym | None:
        """A member of a sense of the word as its synonym; None if it is the word's lemma."""
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
        """The tag count of the lemma's sense that belongs to the synset of `shared`."""
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
    """`text` with capitals like `word`: in all letters, in the first letter, or none added."""
    if len(word) > 1 and word.isupper():
        return text.upper()
    if word[:1].isupper():
        return text[:1].upper() + text[1:]
    return text


def open_wordnet(path: str | Path | None = None) -> WordNet:
    """The WordNet at `path`; with None, the first one in the folders where WordNets are usually
    installed.

    A path is a folder with WordNet's own database (`data.noun`, …) or a zip archive with one, a folder
    of Open English WordNet's YAML (`entries-a.yaml`, …), or a WN-LMF file (`.xml`, `.xml.gz`).
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
    """The paths where a WordNet may be installed, in the order in which they are tried."""
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
    """The lexicon in a folder or file, whose format is recognized by its name and contents."""
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
    """A function that finds the words of a synset; the first call opens the user's WordNet."""

    def __init__(self, path: str | None = None) -> None:
        self._path = path

    @cached_property
    def wordnet(self) -> WordNet:
        return open_wordnet(self._path)

    def __call__(self, name: str) -> Sequence[str]:
        """The members of the synset that are single words; the word in `name` comes first."""
        match = SYNSET_NAME.fullmatch(name)
        if match is None:
            raise InputError(f"{name!r} is not the name of a synset, such as car.n.01 or run.v.04.")
        lemma, category = match[1].replace("_", " ").lower(), CATEGORY_OF_LETTER[match[2]]
        senses = self.wordnet.senses(lemma, category)
        rank = int(match[3])
        if not 1 <= rank <= len(senses):
            known = counted(len(senses), "sense")
            raise InputError(f"There is no {name}: {self.wordnet.name} has {known} of {lemma}.")
        members = [member for member in senses[rank - 1].members if " " not in member]
        return sorted(members, key=lambda member: member.lower() != lemma) or [lemma]
