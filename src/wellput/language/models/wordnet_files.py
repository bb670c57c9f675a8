"""Reads the file formats of WordNets: WordNet's own database, and Open English WordNet's YAML and XML.
All are read as a `Lexicon`, which has the senses of each lemma and its irregular forms.

A *lemma* is looked up in lower case; members of a synset keep their capitals, with spaces between the
words. A *synset* is a set of words that share one meaning; its id is unique within its lexicon. A *tag
count* is how often a word has a sense in WordNet's tagged texts.

`WndbLexicon` reads WordNet's database, wndb(5WN): `index.noun`, `data.noun`, `noun.exc` and so on.
Nothing is parsed in advance: the files are sorted by bytes, so a lemma's lines are found by bisection,
and an index has the byte offsets of a lemma's synsets in the data file. Tag counts are in
`cntlist.rev` or `index.sense`; both may be missing.

`OewnLexicon` reads YAML source files, or one WN-LMF XML file. Both list entries: a lemma with its
category, its irregular forms and its senses in order. Each sense points to a synset, whose members are
the entries that point to it. Only entries are read. The YAML must be as Open English WordNet's own
tools write it (block style, fixed indents), because it is read by lines:

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
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Literal, Protocol
from xml.etree import ElementTree

from wellput.core.errors import InputError

Category = Literal["noun", "verb", "adj", "adv"]
CATEGORIES: tuple[Category, ...] = ("noun", "verb", "adj", "adv")
# The letters of categories in the file formats; s is a satellite adjective.
CATEGORY_OF_LETTER: dict[str, Category] = {
    "n": "noun",
    "v": "verb",
    "a": "adj",
    "s": "adj",
    "r": "adv",
}


@dataclass(frozen=True, slots=True)
class Sense:
    """One meaning of a lemma.

    `rank` is the place of the sense in the lexicon's order, from 1; the first is mostly the most
    frequent sense. `tag_count` is how often the lemma has this sense in the tagged texts of WordNet;
    None where the files do not say.
    """

    lemma: str
    category: Category
    synset: str
    rank: int
    tag_count: int | None
    members: tuple[str, ...]


class Lexicon(Protocol):
    """A WordNet in any file format."""

    @property
    def name(self) -> str:
        """The path from which it was read."""

    def __contains__(self, entry: tuple[str, Category]) -> bool:
        """Whether a lower-cased lemma has a sense in this category."""

    def senses(self, lemma: str, category: Category) -> list[Sense]:
        """The senses of a lower-cased lemma, in order of rank; none for an unknown lemma."""

    def lemmas(self, category: Category) -> Iterable[str]:
        """Every lower-cased lemma of a category."""

    def exceptions(self, category: Category) -> Mapping[str, tuple[str, ...]]:
        """Irregular form → its lemmas, all in lower case."""


# By the digit after % in a sense key; 5 is a satellite adjective.
CATEGORY_OF_KEY: dict[str, Category] = {
    "1": "noun",
    "2": "verb",
    "3": "adj",
    "4": "adv",
    "5": "adj",
}
# By file: the columns (from 0) of the sense number, which is the rank, and of the tag count.
COUNT_FILES = {"cntlist.rev": (1, 2), "index.sense": (2, 3)}


class WndbLexicon:
    """The WordNet in a folder, or in a folder inside a zip archive (as NLTK keeps it)."""

    def __init__(self, folder: Path | zipfile.Path) -> None:
        self._folder = folder
        missing = [
            f"{kind}.{category}"
            for category in CATEGORIES
            for kind in ("index", "data")
            if not (folder / f"{kind}.{category}").is_file()
        ]
        if missing:
            raise InputError(f"{folder} is not a WordNet folder: it has no {', '.join(missing)}.")
        # The caches belong to the object, so that they are freed with it.
        self._bytes = cache(self._read_bytes)
        self.exceptions = cache(self._read_exceptions)

    @property
    def name(self) -> str:
        return str(self._folder)

    def __contains__(self, entry: tuple[str, Category]) -> bool:
        lemma, category = entry
        return bool(self._index_line(lemma, category))

    def senses(self, lemma: str, category: Category) -> list[Sense]:
        fields = self._index_line(lemma, category).split()
        if not fields:
            return []
        try:
            # The third field is the number of synsets, whose offsets are at the end of the line.
            offsets = fields[-int(fields[2]) :]
            counts = self._tag_counts(lemma, category)
            return [
                Sense(
                    lemma=lemma,
                    category=category,
                    synset=f"{offset}-{category}",
                    rank=rank,
                    tag_count=None if counts is None else counts.get(rank, 0),
                    members=self._members(category, offset),
                )
                for rank, offset in enumerate(offsets, 1)
            ]
        except InputError:
            raise
        except (LookupError, ValueError):
            raise InputError(
                f"{self._folder}: the lines of “{lemma}” are not as wndb(5WN) describes them. The "
                "files are damaged: install them again."
            ) from None

    def lemmas(self, category: Category) -> Iterable[str]:
        lines = self._bytes(f"index.{category}").decode("latin-1").splitlines()
        # Lines that begin with a space are the license.
        return (
            line.partition(" ")[0].replace("_", " ") for line in lines if not line.startswith(" ")
        )

    def _index_line(self, lemma: str, category: Category) -> str:
        """The line of a lemma in the index; empty for an unknown lemma."""
        if not lemma:  # the license's lines begin with a space
            return ""
        lines = lines_beginning(self._bytes(f"index.{category}"), f"{_key(lemma)} ")
        return next(lines, "")

    def _members(self, category: Category, offset: str) -> tuple[str, ...]:
        """The words of the synset that begins at a byte of the data file."""
        data, start = self._bytes(f"data.{category}"), int(offset)
        fields = data[start : data.find(b"\n", start)].decode("latin-1").split()
        if not fields or fields[0] != offset:
            raise InputError(
                f"{self._folder / f'data.{category}'}: no synset at byte {offset}, where the index "
                "says there is one. The files do not belong together, or line ends were changed."
            )
        # The fourth field is the number of words, in hexadecimal; a number follows each word.
        words = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
        # Some adjectives have a mark of their position: galore(ip).
        return tuple(word.partition("(")[0].replace("_", " ") for word in words)

    def _tag_counts(self, lemma: str, category: Category) -> dict[int, int] | None:
        """Rank → tag count, for the senses that have one; None without a file of counts."""
        if self._count_file is None:
            return None
        rank_column, count_column = COUNT_FILES[self._count_file]
        counts: dict[int, int] = {}
        for line in lines_beginning(self._bytes(self._count_file), f"{_key(lemma)}%"):
            fields = line.split()
            if CATEGORY_OF_KEY[fields[0].rpartition("%")[2][0]] == category:
                counts[int(fields[rank_column])] = int(fields[count_column])
        return counts

    @cached_property
    def _count_file(self) -> str | None:
        return next((name for name in COUNT_FILES if (self._folder / name).is_file()), None)

    def _read_bytes(self, name: str) -> bytes:
        return (self._folder / name).read_bytes()

    def _read_exceptions(self, category: Category) -> Mapping[str, tuple[str, ...]]:
        """The lemmas of irregular forms of a category, by form."""
        name = f"{category}.exc"
        if not (self._folder / name).is_file():
            return {}
        rows = (line.split() for line in self._read_bytes(name).decode("latin-1").splitlines())
        return {
            row[0].replace("_", " "): tuple(lemma.replace("_", " ") for lemma in row[1:])
            for row in rows
            if row
        }


def _key(lemma: str) -> str:
    return lemma.replace(" ", "_")


def lines_beginning(data: bytes, prefix: str) -> Iterator[str]:
    """The lines that begin with `prefix` in the contents of a file whose lines are sorted by bytes."""
    prefix_bytes = prefix.encode("latin-1", "replace")
    low, high = 0, len(data)  # the first such line begins between low and high
    while low < high:
        start = data.rfind(b"\n", low, (low + high) // 2) + 1 or low
        end = data.find(b"\n", start) + 1 or len(data)
        if data[start:end] < prefix_bytes:
            low = end
        else:
            high = start
    while data.startswith(prefix_bytes, low):
        end = data.find(b"\n", low) + 1 or len(data)
        yield data[low:end].decode("latin-1")
        low = end


# The parts of an entry that are read; all others (pronunciations, relations) are skipped.
YAML_PARTS = re.compile(
    r"""^(?: (?P<lemma> [^ \n\#-] .*) :
          |  [ ]{2} (?P<category> [nvasr]) (?:-\d+)? :
          |  [ ]{4} form: \n (?P<forms> (?: [ ]{4} -[ ] .* \n)+)
          |  [ ]{4} (?:-[ ]|[ ]{2}) synset: [ ] (?P<synset> \S+)
          )""",
    re.MULTILINE | re.VERBOSE,
)


@dataclass(slots=True)
class LemmaEntry:
    """A lemma in one category: its irregular forms, and the synset and tag count of each of its
    senses."""

    lemma: str
    category: Category
    forms: list[str] = field(default_factory=list)
    senses: list[tuple[str, int | None]] = field(default_factory=list)


class OewnLexicon:
    """A WordNet in memory, made from its entries."""

    def __init__(self, name: str, entries: Iterable[LemmaEntry]) -> None:
        self._name = name
        self._senses: dict[tuple[str, Category], list[tuple[str, int | None]]] = {}
        self._members: dict[str, list[str]] = {}
        self._exceptions: dict[Category, dict[str, tuple[str, ...]]] = {
            category: {} for category in CATEGORIES
        }
        for entry in entries:
            lemma = entry.lemma.lower()
            # "Polish" and "polish" are different entries with the same lemma in lower case.
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
        return (lemma for lemma, lemma_category in self._senses if lemma_category == category)

    def exceptions(self, category: Category) -> Mapping[str, tuple[str, ...]]:
        return self._exceptions[category]


def read_yaml_folder(folder: Path) -> OewnLexicon:
    """The lexicon of a folder with `entries-a.yaml` and so on."""
    files = sorted(folder.glob("entries-*.yaml"))
    return OewnLexicon(str(folder), (entry for file in files for entry in yaml_entries(file)))


def yaml_entries(file: Path) -> Iterator[LemmaEntry]:
    """The entries of one YAML file."""
    lemma, entry = "", None
    try:
        content = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{file} is not part of a WordNet: it is not UTF-8 text.") from None
    for match in YAML_PARTS.finditer(content):
        text = match[match.lastgroup or 0]
        match match.lastgroup:
            case "lemma":
                lemma = _scalar(text)
            case "category":
                if entry:
                    yield entry
                entry = LemmaEntry(lemma, CATEGORY_OF_LETTER[text])
            case "forms" if entry:
                entry.forms += [_scalar(line[6:]) for line in text.splitlines()]
            case "synset" if entry:
                entry.senses.append((text, None))
    if entry:
        yield entry


def _scalar(text: str) -> str:
    """The text of a YAML scalar, which may be plain, in single quotes, or in double quotes. In double
    quotes, only escaped quotes and backslashes are understood."""
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return text[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    return text


def read_lmf(file: Path) -> OewnLexicon:
    """The lexicon of a WN-LMF file, plain or gzipped."""
    return OewnLexicon(str(file), lmf_entries(file))


def lmf_entries(file: Path) -> Iterator[LemmaEntry]:
    """The entries of a WN-LMF file."""
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


def _lmf_entry(element: ElementTree.Element) -> LemmaEntry | None:
    """The entry in an XML element; None for categories that WordNet does not have."""
    lemma = element.find("Lemma")
    if lemma is None:
        return None
    category = CATEGORY_OF_LETTER.get(lemma.get("partOfSpeech", ""))
    if category is None:  # WN-LMF has more categories than WordNet: phrases, adpositions
        return None
    senses: list[tuple[str, int | None]] = []
    for sense in element.iterfind("Sense"):
        counts = [int(count.text or 0) for count in sense.iterfind("Count")]
        senses.append((sense.get("synset", ""), sum(counts) if counts else None))
    forms = [form.get("writtenForm", "") for form in element.iterfind("Form")]
    return LemmaEntry(lemma.get("writtenForm", ""), category, forms, senses)
