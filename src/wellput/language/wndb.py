"""WordNet in its own database files (wndb(5WN)): `index.noun`, `data.noun`, `noun.exc` and so on.

Nothing is parsed ahead: the files are sorted by bytes, so that a lemma's lines are found by
bisection; an index gives the byte offsets of its synsets in the data file. Tag counts are in
`cntlist.rev`, or else `index.sense`; either may be missing.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator, Mapping
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
        # What remembers belongs to the object, so that it is forgotten with it.
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
        # What begins with a space is the license.
        return (
            line.partition(" ")[0].replace("_", " ") for line in lines if not line.startswith(" ")
        )

    def _index_line(self, lemma: str, category: Category) -> str:
        """Empty for an unknown lemma."""
        if not lemma:  # what begins with a space is the license
            return ""
        lines = lines_beginning(self._bytes(f"index.{category}"), f"{_key(lemma)} ")
        return next(lines, "")

    def _members(self, category: Category, offset: str) -> tuple[str, ...]:
        data, start = self._bytes(f"data.{category}"), int(offset)
        fields = data[start : data.find(b"\n", start)].decode("latin-1").split()
        if not fields or fields[0] != offset:
            raise InputError(
                f"{self._folder / f'data.{category}'}: no synset at byte {offset}, where the index "
                "says there is one. The files do not belong together, or line ends were changed."
            )
        words = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
        # Adjectives carry a mark of where they stand: galore(ip).
        return tuple(word.partition("(")[0].replace("_", " ") for word in words)

    def _tag_counts(self, lemma: str, category: Category) -> dict[int, int] | None:
        """Rank → count for the senses that were met; None where no file says."""
        if self._count_file is None:
            return None
        number, count = COUNT_FILES[self._count_file]
        counts: dict[int, int] = {}
        for line in lines_beginning(self._bytes(self._count_file), f"{_key(lemma)}%"):
            fields = line.split()
            if CATEGORY_OF_KEY[fields[0].rpartition("%")[2][0]] == category:
                counts[int(fields[number])] = int(fields[count])
        return counts

    @cached_property
    def _count_file(self) -> str | None:
        return next((name for name in COUNT_FILES if (self._folder / name).is_file()), None)

    def _read_bytes(self, name: str) -> bytes:
        return (self._folder / name).read_bytes()

    def _read_exceptions(self, category: Category) -> Mapping[str, tuple[str, ...]]:
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
    """The lines that begin with `prefix`, of a file whose lines are sorted by bytes."""
    wanted = prefix.encode("latin-1", "replace")
    low, high = 0, len(data)  # the first such line begins at or after low, and not after high
    while low < high:
        start = data.rfind(b"\n", low, (low + high) // 2) + 1 or low
        end = data.find(b"\n", start) + 1 or len(data)
        if data[start:end] < wanted:
            low = end
        else:
            high = start
    while data.startswith(wanted, low):
        end = data.find(b"\n", low) + 1 or len(data)
        yield data[low:end].decode("latin-1")
        low = end
