"""The Open English WordNet, as YAML source files or as one WN-LMF XML file.

Both list entries: a lemma with its category, its irregular forms and its senses in order, each
pointing to a synset; a synset's members are the entries pointing to it. Only entries are read. The
YAML is what Open English WordNet's own tools write (block style, fixed indents), read by lines:

    lie:                          a lemma, quoted where YAML demands it
      v:                          its category; v-1 and v-2 where pronunciations differ
        form:
        - lain
        sense:
        - id: 'lie%2:42:00::'
          synset: 02696503-v
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from wellput.core.errors import InputError
from wellput.language.lexicon import CATEGORIES, Category, Sense

CATEGORY_OF_LETTER: dict[str, Category] = {
    "n": "noun",
    "v": "verb",
    "a": "adj",
    "s": "adj",
    "r": "adv",
}
# The parts of an entry that matter; all else (pronunciations, relations) is passed over.
YAML_PARTS = re.compile(
    r"""^(?: (?P<lemma> [^ \n\#-] .*) :
          |  [ ]{2} (?P<category> [nvasr]) (?:-\d+)? :
          |  [ ]{4} form: \n (?P<forms> (?: [ ]{4} -[ ] .* \n)+)
          |  [ ]{4} (?:-[ ]|[ ]{2}) synset: [ ] (?P<synset> \S+)
          )""",
    re.MULTILINE | re.VERBOSE,
)


@dataclass(slots=True)
class Entry:
    """A lemma in one category: its irregular forms, and (synset, tag count) of its senses."""

    lemma: str
    category: Category
    forms: list[str] = field(default_factory=list)
    senses: list[tuple[str, int | None]] = field(default_factory=list)


class OewnLexicon:
    """A WordNet held in memory, from its entries."""

    def __init__(self, name: str, entries: Iterable[Entry]) -> None:
        self._name = name
        self._senses: dict[tuple[str, Category], list[tuple[str, int | None]]] = {}
        self._members: dict[str, list[str]] = {}
        self._exceptions: dict[Category, dict[str, tuple[str, ...]]] = {
            category: {} for category in CATEGORIES
        }
        for entry in entries:
            lemma = entry.lemma.lower()
            # "Polish" and "polish" are entries of their own with one lower-cased lemma.
            self._senses.setdefault((lemma, entry.category), []).extend(entry.senses)
            for synset, _ in entry.senses:
                self._members.setdefault(synset, []).append(entry.lemma)
            forms = self._exceptions[entry.category]
            for form in entry.forms:
                forms[form.lower()] = (*forms.get(form.lower(), ()), lemma)
        if not self._senses:
            raise InputError(f"{name} holds no WordNet entries.")

    @property
    def name(self) -> str:
        return self._name

    def __contains__(self, entry: tuple[str, Category]) -> bool:
        return entry in self._senses

    def senses(self, lemma: str, category: Category) -> list[Sense]:
        return [
            Sense(lemma, category, synset, rank, tag_count, tuple(self._members[synset]))
            for rank, (synset, tag_count) in enumerate(self._senses.get((lemma, category), ()), 1)
        ]

    def lemmas(self, category: Category) -> Iterable[str]:
        return (lemma for lemma, own in self._senses if own == category)

    def exceptions(self, category: Category) -> Mapping[str, tuple[str, ...]]:
        return self._exceptions[category]


def read_yaml_folder(folder: Path) -> OewnLexicon:
    """The lexicon of a folder with `entries-a.yaml` and its sisters."""
    files = sorted(folder.glob("entries-*.yaml"))
    return OewnLexicon(str(folder), (entry for file in files for entry in yaml_entries(file)))


def yaml_entries(file: Path) -> Iterator[Entry]:
    lemma, entry = "", None
    try:
        content = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{file} is no part of a WordNet: it is not UTF-8 text.") from None
    for match in YAML_PARTS.finditer(content):
        text = match[match.lastgroup or 0]
        match match.lastgroup:
            case "lemma":
                lemma = _scalar(text)
            case "category":
                if entry:
                    yield entry
                entry = Entry(lemma, CATEGORY_OF_LETTER[text])
            case "forms" if entry:
                entry.forms += [_scalar(line[6:]) for line in text.splitlines()]
            case "synset" if entry:
                entry.senses.append((text, None))
    if entry:
        yield entry


def _scalar(text: str) -> str:
    """A plain or single-quoted YAML scalar; double quotes only as far as JSON and YAML agree."""
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return text[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    return text


def read_lmf(file: Path) -> OewnLexicon:
    """The lexicon of a WN-LMF file, plain or gzipped."""
    return OewnLexicon(str(file), lmf_entries(file))


def lmf_entries(file: Path) -> Iterator[Entry]:
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as stream:
            for _, element in ElementTree.iterparse(stream):
                if element.tag == "LexicalEntry":
                    entry = _lmf_entry(element)
                    if entry:
                        yield entry
                if element.tag in ("LexicalEntry", "Synset"):
                    element.clear()
    except (
        ElementTree.ParseError,
        EOFError,
        LookupError,
        OSError,
        ValueError,
        zlib.error,
    ) as error:
        raise InputError(f"{file} is not a WN-LMF file: {error}.") from error


def _lmf_entry(element: ElementTree.Element) -> Entry | None:
    lemma = element.find("Lemma")
    if lemma is None:
        return None
    category = CATEGORY_OF_LETTER.get(lemma.get("partOfSpeech", ""))
    if category is None:  # WN-LMF knows more categories than WordNet has: phrases, adpositions
        return None
    senses: list[tuple[str, int | None]] = []
    for sense in element.iterfind("Sense"):
        counts = [int(count.text or 0) for count in sense.iterfind("Count")]
        senses.append((sense.get("synset", ""), sum(counts) if counts else None))
    forms = [form.get("writtenForm", "") for form in element.iterfind("Form")]
    return Entry(lemma.get("writtenForm", ""), category, forms, senses)
