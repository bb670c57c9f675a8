"""Finds the reader for a path: readers of special formats are asked, in order, whether they know the
path.

A reader is a module or an object with `knows(path)`, which looks at the name or the beginning of the
file, and with `open_evalset(path)`, `read_judgments(path)` or both. Readers of other packages are
asked first (the entry-point group `wellput.readers`, in the order of names), because many formats end
in `.json`. Then wellput's own readers are asked; each is imported only for a folder or a suffix that
it may know. A path that no reader knows is read as a table (`evalsets`, `judgments`). Standard input,
pipes and patterns are always read as tables.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import chain, islice
from os import SEEK_END
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wellput.core.errors import InputError, WellputError
from wellput.core.evalset import BLOCK_ITEMS, EvalSet, Item
from wellput.core.registries import plugin_in_words, plugin_object, plugins
from wellput.core.source import EvalSource
from wellput.io.duplicates import SeenIds, repeated
from wellput.io.files import InputFile
from wellput.io.locations import is_pattern

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from wellput.core.judgment import Judgment, Preference

GROUP = "wellput.readers"

FOLDER = "a folder"

EVALSET_READERS = {
    "wellput.io.mt_metrics_eval": (FOLDER, ""),
    "wellput.io.lm_eval_logs": (FOLDER, ".jsonl"),
    "wellput.io.openai_eval_logs": (FOLDER, ".jsonl"),
    "wellput.io.ragas_logs": (".csv", ".tsv", ".jsonl", ".parquet"),
    "wellput.io.appraise": (".json",),
    "wellput.io.eval_logs": (FOLDER, ".json", ".eval"),
}
"""Modules that read evaluation sets, each with the kinds of paths that it may know: folders,
suffixes, and "" for names without a suffix."""

FORMAT_MARKS = {
    "wellput.io.lm_eval_logs": b'"doc_id"',
    "wellput.io.openai_eval_logs": b'"spec"',
    "wellput.io.ragas_logs": b"user_input",
}
"""A text that is in the first line of every table that this reader knows, or near the end of every
Parquet file that it knows. The reader is imported only for files with this text, because most tables
are wellput's own."""
PEEKED_BYTES = 1 << 16
"""The number of bytes in which the text is searched."""

# Modules that read judgments, with the kinds of paths that each may know, as in `EVALSET_READERS`.
JUDGMENT_READERS = {
    "wellput.io.mt_metrics_eval": (FOLDER, "", ".score"),
    "wellput.io.potato": (FOLDER, ".jsonl", ".json", ".tsv", ".csv"),
    "wellput.io.label_studio": (".json",),
    "wellput.io.evalica": (".csv", ".tsv"),
    "wellput.io.appraise": (".csv",),
    "wellput.io.mqm": (".tsv",),
}


def open_known_evalset(path: str) -> EvalSource | None:
    """The evaluation set, from the first reader that knows the path; None if none does."""
    if not _can_be_asked_about(path):
        return None
    if (foreign := _foreign_reader(path, "open_evalset")) is None:
        module = _own_reader(path, EVALSET_READERS)
        return None if module is None else module.open_evalset(path)
    point, reader = foreign
    with _naming_reader_in_errors(point, path):
        source = reader.open_evalset(path)
    if not isinstance(source, EvalSource):
        raise InputError(
            f"{plugin_in_words(point)} must return an EvalSource, such as an EvalSet, for {path}, not "
            f"{type(source).__name__}."
        )
    return source if isinstance(source, EvalSet) else ForeignSource(source, point, path)


def read_known_judgments(path: str) -> list[Judgment] | list[Preference] | None:
    """The judgments, from the first reader that knows the path; None if none does."""
    if not _can_be_asked_about(path):
        return None
    if (foreign := _foreign_reader(path, "read_judgments")) is None:
        module = _own_reader(path, JUDGMENT_READERS)
        return None if module is None else module.read_judgments(path)
    from wellput.core.judgment import Judgment, Preference

    point, reader = foreign
    with _naming_reader_in_errors(point, path):
        answers = list(reader.read_judgments(path))
    if not answers:
        raise InputError(f"{plugin_in_words(point)} found no judgments in {path}.")
    if {type(answer) for answer in answers} not in ({Judgment}, {Preference}):
        raise InputError(
            f"{plugin_in_words(point)} must return a list of Judgment or a list of Preference for "
            f"{path}."
        )
    return answers


def is_known(path: str) -> bool:
    """Whether a reader of evaluation sets or of judgments knows the path."""
    methods = ("open_evalset", "read_judgments")
    try:
        return _own_reader(path, EVALSET_READERS | JUDGMENT_READERS) is not None or any(
            _foreign_reader(path, method) is not None for method in methods
        )
    except InputError:  # a reader knows the path and finds it wrong
        return True


class ForeignSource(EvalSource):
    """A source that a reader of another package returned. This class divides its items into blocks of
    the usual size, checks that their ids are unique, and names the reader in errors."""

    def __init__(self, source: EvalSource, point: EntryPoint, path: str) -> None:
        self._source = source
        self._point = point
        self._path = path
        self.parser = source.parser

    def blocks(self) -> Iterator[Sequence[Item]]:
        with _naming_reader_in_errors(self._point, self._path):
            seen_ids = SeenIds()
            items = self._items()
            while block := list(islice(items, BLOCK_ITEMS)):
                seen_ids.add([item.id for item in block])
                yield block
            if repeated_hashes := seen_ids.repeated_hashes():
                numbered = ((str(n), item.id) for n, item in enumerate(self._items(), start=1))
                repeated_ids = repeated(numbered, repeated_hashes)
                if repeated_ids:
                    raise InputError.collect(
                        "Item ids must be unique; these are not:", [*repeated_ids]
                    )

    def _items(self) -> Iterator[Item]:
        return chain.from_iterable(self._source.blocks())


def _can_be_asked_about(path: str) -> bool:
    """Whether readers may look at the path: patterns, standard input and pipes are read as tables."""
    return not is_pattern(path) and not InputFile(path).is_read_once


def _own_reader(path: str, readers: dict[str, tuple[str, ...]]) -> Any:
    """The first of wellput's readers that knows the path; None if none does."""
    kind = FOLDER if Path(path).is_dir() else InputFile(path).suffix
    modules = (
        import_module(module)
        for module, kinds in readers.items()
        if kind in kinds
        and (kind == FOLDER or module not in FORMAT_MARKS or _has_mark(path, FORMAT_MARKS[module]))
    )
    return next((module for module in modules if module.knows(path)), None)


def _has_mark(path: str, mark: bytes) -> bool:
    """Whether the first line of the file, or the end of a Parquet file, has the text `mark`."""
    try:
        if InputFile(path).suffix != ".parquet":
            first = next(InputFile(path).chunks(), b"")
            return mark in first[:PEEKED_BYTES].partition(b"\n")[0]
        with Path(path).open("rb") as file:
            file.seek(-min(PEEKED_BYTES, Path(path).stat().st_size), SEEK_END)
            return mark in file.read()
    except (WellputError, OSError):  # the reader of the file says why it cannot be read
        return False


def _foreign_reader(path: str, method: str) -> tuple[EntryPoint, Any] | None:
    """The first reader of another package that has this method and knows the path, with its entry
    point; None if there is none. A reader that fails is left out with a warning, so that a broken
    package does not affect other files."""
    for point in plugins(GROUP).values():
        try:
            reader = plugin_object(point)
            if hasattr(reader, method) and _knows(reader, point, path):
                return point, reader
        except InputError as error:
            warnings.warn(f"{error} It is left out.", stacklevel=4)
    return None


def _knows(reader: Any, point: EntryPoint, path: str) -> bool:
    try:
        return bool(reader.knows(path))
    except Exception as error:
        raise InputError(
            f"{plugin_in_words(point)} fails to say whether it knows {path} "
            f"({type(error).__name__}: {error})."
        ) from error


@contextmanager
def _naming_reader_in_errors(point: EntryPoint, path: str) -> Iterator[None]:
    """Names the reader of another package in its errors."""
    try:
        yield
    except MemoryError:
        raise
    except InputError as error:
        raise InputError(f"{plugin_in_words(point)} cannot read {path}. {error}") from error
    except Exception as error:
        raise InputError(
            f"{plugin_in_words(point)} cannot read {path}. {type(error).__name__}: {error}"
        ) from error
