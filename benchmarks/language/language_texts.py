"""Sentences of many languages, programs and markdown, for the language check. They are in the folder
`languages/` of the data, a sentence on each line."""

from __future__ import annotations

import gzip

from benchmarks.data import data_path
from benchmarks.language.language_names import END_OF_FILE, language_file


def language(name: str) -> list[str]:
    """The sentences of a treebank."""
    return _text(language_file(name)).splitlines()


def files_in(name: str) -> list[str]:
    """The texts of files that were put into one."""
    return _text(name).split(END_OF_FILE)


def _text(name: str) -> str:
    with gzip.open(data_path(name), "rt", encoding="utf-8") as file:
        return file.read()
