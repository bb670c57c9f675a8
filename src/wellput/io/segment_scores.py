"""Reads and writes segment scores (a score for each system, item and metric): a table with the
columns `system,item,metric,score` in CSV, TSV, JSONL or Parquet, or a folder of Parquet files. An
undefined score (NaN) is an empty cell, or null in JSONL and Parquet.

A folder has a file for each partition of the evaluation set, in order: `part-00000.parquet` and so
on. The process that evaluates a partition writes its file; it may run on another machine. The files
are collected in a working folder, which is renamed to the target at the end. If the target is a URL,
they are written there directly; each file appears only when it is complete.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from wellput.core.errors import InputError, OutputError, Problems, Unreachable
from wellput.core.metric import Floats
from wellput.io.files import TABLE_FORMATS, InputFile, PathLike, check_readable
from wellput.io.folder_locks import locked_folder
from wellput.io.locations import Url, delete_url, is_url, names_at, write_url
from wellput.io.opened_files import note_own_folder
from wellput.io.output import replacing
from wellput.io.parquet import import_pyarrow, opened_parquet
from wellput.io.tables import RowSink, encodable, read_records, writing_table

SEGMENT_COLUMNS = ("system", "item", "metric", "score")


class SegmentScore(NamedTuple):
    """One metric's score of one system's output for one item; NaN is undefined."""

    system: str
    item: str
    metric: str
    score: float


class SegmentWriter:
    """Writes scores block by block, as they are computed."""

    def __init__(self, sink: RowSink) -> None:
        self._sink = sink

    def write(
        self, system: str, items: Sequence[str], metric: str, scores: Iterable[float]
    ) -> None:
        """Writes the scores of one system and metric; `scores` has the score of each of `items`."""
        self._sink.write(
            (system, item, metric, None if math.isnan(score) else float(score))
            for item, score in zip(items, scores, strict=True)
        )


@contextmanager
def writing_segments(path: PathLike) -> Iterator[SegmentWriter]:
    """A writer whose file replaces `path` when the block ends without an error; `-` is CSV on
    standard output."""
    with writing_table(path, SEGMENT_COLUMNS, numbers=["score"]) as sink:
        yield SegmentWriter(sink)


def read_segments(path: PathLike) -> Iterator[SegmentScore]:
    """The scores of a file in order. At the end, raises InputError for all bad rows."""
    file = InputFile(path)
    check_readable(file)
    problems = Problems(file.name)
    unit = "row" if file.suffix == ".parquet" else "line"
    for number, record in read_records(file, problems, SEGMENT_COLUMNS, is_number="score".__eq__):
        score = record["score"]
        try:
            value = math.nan if score in ("", None) else float(score)
        except (TypeError, ValueError):
            problems.add(f"{unit} {number}", f"the score {score!r} is not a number")
            continue
        names = [str(record[name]) for name in SEGMENT_COLUMNS[:3]]
        if not all(names):
            problems.add(f"{unit} {number}", "system, item and metric must not be empty")
        elif not problems:
            yield SegmentScore(names[0], names[1], names[2], value)
    problems.raise_if_any()


PART_FILE = "part-{:05}.parquet"
PART_FILE_NAME = re.compile(r"part-\d+\.parquet")
FINGERPRINT_KEY = b"wellput.fingerprint"
AT_FDCWD, RENAME_EXCHANGE = -100, 2
"""Numbers of Linux's <fcntl.h> and <linux/fs.h>, for `renameat2`."""
MIN_ROWS_PER_GROUP = 1 << 17
"""The smallest number of rows in a row group of a Parquet file, except in the last group."""


def is_segment_folder(path: PathLike) -> bool:
    """Whether scores are to be written into a folder: the name has no suffix, ends in a slash, or is a
    folder that exists. Raises InputError for an unknown suffix."""
    name = str(path)
    if name == "-" or InputFile(path).suffix in TABLE_FORMATS:
        return False
    is_folder = not InputFile(path).suffix or name.endswith("/") or Path(name).is_dir()
    if not is_folder and not is_url(name):
        raise InputError(
            f"{path}: segment scores are written to a file that ends in {', '.join(TABLE_FORMATS)} "
            "(.gz or .xz may follow), or to a folder: a name without suffix, or with / at its end."
        )
    return True


@contextlib.contextmanager
def gathering_parts(target: PathLike, *, is_resumed: bool) -> Iterator[str]:
    """The working folder for the parts; it replaces `target` when the block ends without an error.

    After an error the working folder is removed, unless a later run may continue from it
    (`is_resumed`). Only one run at a time may write to a folder of this machine; a second one gets an
    OutputError.
    """
    if is_url(str(target)):
        _refuse_others(str(target), names_at(str(target)), str(target), is_resumed=is_resumed)
        yield str(target)
        return
    final = Path(os.path.realpath(target))
    working = final.with_name(f".{final.name}.part")
    _check_replaceable(final, str(target), is_resumed=is_resumed)
    refusal = (
        f"Cannot write {target}: another run is writing scores there. Wait until it ends, or give "
        "another name."
    )
    with locked_folder(working, str(target), refusal):
        note_own_folder(working)
        try:
            _tidy(final)
            if not is_resumed:
                _clear(working)
            elif final.exists() and not any(working.iterdir()):
                # Hard links are safe: a part is replaced, never changed in place.
                shutil.copytree(final, working, copy_function=os.link, dirs_exist_ok=True)
        except OSError as error:
            raise OutputError(f"Cannot write {target}: {error.strerror}.") from None
        try:
            yield str(working)
        except BaseException:
            if not is_resumed:
                shutil.rmtree(working, ignore_errors=True)
            raise
        _check_replaceable(
            final, str(target), is_resumed=is_resumed
        )  # the folder may have changed during the run
        try:
            _exchange(working, final)
        except OSError as error:
            raise OutputError(
                f"Cannot write {target}: {error.strerror}. The scores are in {working}."
            ) from None


def _exchange(working: Path, final: Path) -> None:
    """Gives the folder `working` the name `final`. An older folder of this name is removed afterwards:
    if it were removed before, a program that is stopped meanwhile would leave a part of it."""
    if not final.exists():
        working.rename(final)
        return
    replaced = final.with_name(f".{final.name}.{secrets.token_hex(6)}.old")
    if _swap_names(working, final):
        working.rename(replaced)
    else:
        try:
            final.rename(replaced)
            working.rename(final)
        except BaseException:
            if replaced.exists() and not final.exists():
                replaced.rename(final)
            raise
    shutil.rmtree(replaced, ignore_errors=True)


def _swap_names(first: Path, second: Path) -> bool:
    """Exchanges the names of two folders in one step, which no signal can interrupt; False where the
    system cannot do this."""
    import ctypes

    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    names = (os.fsencode(first), os.fsencode(second))
    return bool(renameat2(AT_FDCWD, names[0], AT_FDCWD, names[1], RENAME_EXCHANGE) == 0)


def _tidy(final: Path) -> None:
    """Completes an exchange during which a run was killed."""
    name = re.compile(rf"\.{re.escape(final.name)}\.[0-9a-f]{{12}}\.old")
    for replaced in sorted(final.parent.iterdir()):
        if not name.fullmatch(replaced.name):
            continue
        if final.exists():
            shutil.rmtree(replaced)
        else:
            replaced.rename(final)


def _clear(folder: Path) -> None:
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _check_replaceable(final: Path, name: str, *, is_resumed: bool) -> None:
    """Raises OutputError unless `final` does not exist or is a folder that has only parts that wellput
    wrote."""
    if not final.exists():
        return
    if not final.is_dir():
        raise OutputError(f"Cannot write the folder {name}: a file has that name.")
    names = [file.name for file in final.iterdir()]
    _refuse_others(str(final), names, name, is_resumed=is_resumed)


def _refuse_others(folder: str, names: Sequence[str], name: str, *, is_resumed: bool) -> None:
    """Raises OutputError if a file of the folder is not a part that wellput wrote. A name alone does
    not decide: other programs also name the files of a data set part-00000.parquet. `names` are those
    of the files; `name` is the folder's name in messages.

    A run that is resumed writes damaged parts again. So for such a run, a file that cannot be read
    counts as a part if another file is one.
    """
    are_parts = {
        file: _is_part(_path(folder, file)) if PART_FILE_NAME.fullmatch(file) else False
        for file in sorted(names)
    }
    may_be_damaged = is_resumed and True in are_parts.values()
    for file, is_part in are_parts.items():
        if is_part is None and not may_be_damaged:
            raise OutputError(
                f"Cannot write {name}: the folder holds {file}, which cannot be read. If it is a "
                "damaged part of an earlier run, remove it; otherwise give a new name."
            )
        if is_part is False:
            raise OutputError(
                f"Cannot write {name}: the folder holds {file}, which is not a file of segment scores "
                "by wellput. Give a new name."
            )


def _is_part(path: str) -> bool | None:
    """Whether a Parquet file has the columns of a part, with exactly the types that `PartWriter`
    writes. None if the file cannot be read."""
    arrow, _ = import_pyarrow()
    try:
        with opened_parquet(InputFile(path)) as table:
            return bool(table.schema_arrow.equals(_part_schema(arrow)))
    except Unreachable:
        raise
    except InputError:
        return None


def _part_schema(arrow: Any) -> Any:
    """The columns of a part with their types in PyArrow."""
    name = arrow.dictionary(arrow.int32(), arrow.string())
    types = (name, arrow.string(), name, arrow.float64())
    return arrow.schema(list(zip(SEGMENT_COLUMNS, types, strict=True)))


def drop_other_parts(working: str, numbers: Iterable[int]) -> None:
    """Removes the parts whose number is not in `numbers`, and the temporary files of killed workers."""
    wanted = {PART_FILE.format(number) for number in numbers}
    if is_url(working):
        for name in names_at(working):
            if PART_FILE_NAME.fullmatch(name) and name not in wanted:
                delete_url(_path(working, name))
        return
    for file in Path(working).iterdir():
        if file.name not in wanted:
            file.unlink()


def refuse_parts_of_other_runs(working: str, fingerprints: Mapping[int, str | None]) -> None:
    """Raises OutputError if, at a URL, a part is not the one that this run wrote: there is no lock
    there, so another run may have written at the same time. `fingerprints` has that of each part, by
    the part's number."""
    if not is_url(working):
        return
    others = [
        PART_FILE.format(number)
        for number, fingerprint in fingerprints.items()
        if fingerprint is not None and not has_part(working, number, fingerprint)
    ]
    if others:
        raise OutputError(
            f"The scores in {working} are not those of this run: another run wrote there at the same "
            f"time, such as {others[0]}. Score again, with a folder for each run."
        )


def has_part(working: str, number: int, fingerprint: str) -> bool:
    """Whether the part exists and was computed from the data and metrics that have this fingerprint."""
    path = _path(working, PART_FILE.format(number))
    if not is_url(path) and not Path(path).exists():
        return False
    try:
        with opened_parquet(InputFile(path)) as table:
            metadata = table.schema_arrow.metadata or {}
    except Unreachable:
        raise
    except InputError:  # missing or damaged
        return False
    return bool(metadata.get(FINGERPRINT_KEY) == fingerprint.encode())


@contextlib.contextmanager
def writing_part(working: str, number: int, fingerprint: str | None) -> Iterator[PartWriter]:
    """A writer whose file appears, complete, when the block ends without an error."""
    path = _path(working, PART_FILE.format(number))
    with contextlib.ExitStack() as stack:
        file = io.BytesIO() if is_url(path) else stack.enter_context(replacing(path))
        stack.enter_context(encodable(path))
        writer = PartWriter(file, fingerprint)
        try:
            yield writer
            writer.flush()
        finally:
            writer.close()
        if isinstance(file, io.BytesIO):
            write_url(path, file.getbuffer())


def _path(working: str, name: str) -> str:
    return str(Url.of(working).below(name)) if is_url(working) else f"{working}/{name}"


class PartWriter:
    """Writes scores block by block to a Parquet file; an undefined score is null."""

    def __init__(self, file: IO[bytes], fingerprint: str | None) -> None:
        self._arrow, parquet = import_pyarrow()
        self._schema = _part_schema(self._arrow)
        if fingerprint is not None:
            self._schema = self._schema.with_metadata({FINGERPRINT_KEY: fingerprint})
        self._writer = parquet.ParquetWriter(file, self._schema)
        self._batches: list[Any] = []
        self._rows = 0

    def write(self, system: str, items: Sequence[str], metric: str, scores: Floats) -> None:
        """Writes the scores of one system and metric; `scores` has the score of each of `items`."""
        codes = np.zeros(len(items), np.int32)  # code 0 is the only name of the dictionary
        columns = [
            self._arrow.DictionaryArray.from_arrays(codes, self._arrow.array([system])),
            self._arrow.array(items, self._arrow.string()),
            self._arrow.DictionaryArray.from_arrays(codes, self._arrow.array([metric])),
            self._arrow.array(scores, mask=np.isnan(scores)),
        ]
        self._batches.append(self._arrow.record_batch(columns, schema=self._schema))
        self._rows += len(items)
        if self._rows >= MIN_ROWS_PER_GROUP:
            self.flush()

    def flush(self) -> None:
        table = self._arrow.Table.from_batches(self._batches, schema=self._schema)
        self._writer.write_table(table.unify_dictionaries())
        self._batches, self._rows = [], 0

    def close(self) -> None:
        self._writer.close()
