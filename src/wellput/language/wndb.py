"""WordNet in its own database files (wndb(5WN)): `index.noun`, `data.noun`, `noun.exc` and so on.

The files of a category are read when it is first asked for: an index maps a lemma to the byte
offsets of its synsets in the data file. Tag counts are in `cntlist.rev`, or else `index.sense`;
either may be missing.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path

from wellput.core.errors import InputError
from wellput.language.lexicon import CATEGORIES, Category, Sense

# The digit after % in a sense key; 5 is a satellite adjective.
CATEGORY_OF_KEY: dict[str, Category] = {
    "1": "noun",
    "2": "verb",
    "3": "adj",
    "4": "adv",
    "5": "adj",
}
# Where the sense number and the count stand on a line.
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
        # Methods that remember belong to the object, so that they are forgotten with it.
        self._index = cache(self._read_index)
        self._data = cache(self._read_data)
        self.exceptions = cache(self._read_exceptions)

    @property
    def name(self) -> str:
        return str(self._folder)

    def __contains__(self, entry: tuple[str, Category]) -> bool:
        lemma, category = entry
        return lemma.replace(" ", "_") in self._index(category)

    def senses(self, lemma: str, category: Category) -> list[Sense]:
        key = lemma.replace(" ", "_")
        line = self._index(category).get(key)
        if line is None:
            return []
        fields = line.split()
        offsets = fields[-int(fields[2]) :]
        return [
            Sense(
                lemma=lemma,
                category=category,
                synset=f"{offset}-{category}",
                rank=rank,
                tag_count=self._tag_count(key, category, rank),
                members=self._members(category, offset),
            )
            for rank, offset in enumerate(offsets, 1)
        ]

    def _members(self, category: Category, offset: str) -> tuple[str, ...]:
        data, start = self._data(category), int(offset)
        line = data[start : data.find(b"\n", start)].decode("latin-1")
        fields = line.split()
        if not fields or fields[0] != offset:
            raise InputError(
                f"{self._folder / f'data.{category}'}: no synset at byte {offset}, where the index "
                "says there is one. The files do not belong together, or line ends were changed."
            )
        words = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
        # Adjectives carry a mark of where they stand: galore(ip).
        return tuple(word.partition("(")[0].replace("_", " ") for word in words)

    def _tag_count(self, key: str, category: Category, rank: int) -> int | None:
        if self._tag_counts is None:
            return None
        return self._tag_counts.get((key, category, rank), 0)

    @cached_property
    def _tag_counts(self) -> dict[tuple[str, Category, int], int] | None:
        for name, (number, count) in COUNT_FILES.items():
            if (self._folder / name).is_file():
                counts: dict[tuple[str, Category, int], int] = {}
                for line in self._read(name).splitlines():
                    fields = line.split()
                    lemma, _, rest = fields[0].rpartition("%")
                    counts[lemma, CATEGORY_OF_KEY[rest[0]], int(fields[number])] = int(
                        fields[count]
                    )
                return counts
        return None

    def _read_index(self, category: Category) -> dict[str, str]:
        lines = self._read(f"index.{category}").splitlines()
        # The license at the top is indented.
        return {line[: line.index(" ")]: line for line in lines if line and line[0] != " "}

    def _read_data(self, category: Category) -> bytes:
        return (self._folder / f"data.{category}").read_bytes()

    def _read_exceptions(self, category: Category) -> Mapping[str, tuple[str, ...]]:
        name = f"{category}.exc"
        if not (self._folder / name).is_file():
            return {}
        rows = (line.split() for line in self._read(name).splitlines())
        return {
            row[0].replace("_", " "): tuple(lemma.replace("_", " ") for lemma in row[1:])
            for row in rows
            if row
        }

    def _read(self, name: str) -> str:
        return (self._folder / name).read_bytes().decode("latin-1")
