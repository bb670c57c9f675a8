"""A user's own table of replacements: CSV or TSV with the header `word,replacement`, and if they like
`weight` (from 0 to 1). Pairs hold in the direction they are written."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Set

from wellput.core.errors import InputError, Problems
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.tables import DELIMITERS, read_table
from wellput.language.paraphrase.candidates import MAX_WORDS, Replacement


class TableCandidates:
    """Replacements as listed, for words and phrases of up to three words."""

    name = "table"

    def __init__(self, pairs: Mapping[tuple[str, str], float]) -> None:
        self._by_word: dict[str, dict[str, Replacement]] = {}
        for (word, text), weight in pairs.items():
            self._by_word.setdefault(word, {})[text] = Replacement(text, self.name, weight)
        listed = "\n".join(f"{word}\t{text}\t{weight}" for (word, text), weight in pairs.items())
        self.fingerprint = hashlib.sha256(listed.encode(errors="surrogatepass")).hexdigest()

    def may_be_phrase(self, words: tuple[str, ...]) -> bool:
        return " ".join(words) in self._by_word

    def replacements(
        self, text: str, tag: str | None, offered: Set[str]
    ) -> Mapping[str, Replacement]:
        found = self._by_word.get(text, {})
        return {other: found[other] for other in found.keys() & offered}


def read_table_candidates(path: PathLike) -> TableCandidates:
    """Reads the table; raises InputError for a missing column and for all bad rows."""
    file = InputFile(path)
    check_readable(file)
    if file.suffix not in DELIMITERS:
        raise InputError(f"{path}: a table of replacements is a .csv or .tsv file.")
    problems = Problems(file.name)
    header, rows = read_table(file, DELIMITERS[file.suffix], problems)
    if not {"word", "replacement"} <= set(header):
        raise InputError(f"{path} needs the columns word and replacement; it has {list(header)}.")
    pairs: dict[tuple[str, str], float] = {}
    for number, row in rows:
        cells = dict(zip(header, row, strict=False))
        word, text = (
            " ".join((cells[key] or "").lower().split()) for key in ("word", "replacement")
        )
        weight = _weight(cells.get("weight"))
        if not word or not text:
            problems.add(f"line {number}", "the word or its replacement is empty")
        elif max(word.count(" "), text.count(" ")) >= MAX_WORDS:
            problems.add(f"line {number}", f"more than {MAX_WORDS} words")
        elif weight is None:
            problems.add(f"line {number}", "the weight is no number from 0 to 1")
        else:
            pairs[word, text] = weight
    problems.raise_if_any()
    return TableCandidates(pairs)


def _weight(cell: str | None) -> float | None:
    """1 where none is given; None where it is none."""
    try:
        weight = float(cell) if cell else 1.0
    except ValueError:
        return None
    return weight if 0 <= weight <= 1 else None
