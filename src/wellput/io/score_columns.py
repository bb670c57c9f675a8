"""Tables of scores, read column by column with PyArrow where it is installed.

Names become codes and a list of names (`NameColumn`), scores become arrays, NaN where one is missing.
What PyArrow does not read as it stands (a score that is text, another compression) raises `Unsuitable`:
`external_scores` then reads the rows one by one and says what is wrong, with the line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from wellput.io.files import InputFile
from wellput.io.locations import is_url

MISSING_CELLS = ("", "nan", "na", "n/a", "none", "null")
PLAIN_SUFFIXES = {".csv": ",", ".tsv": "\t"}
BLOCK_BYTES = 1 << 24
MAX_RUNS = 10_000
MAX_NAMES = 100_000


class Unsuitable(Exception):
    """The file must be read row by row."""


@dataclass(frozen=True)
class NameColumn:
    """A column of names: the name of row i is `names[codes[i]]`."""

    codes: NDArray[np.int32]
    names: Sequence[str]


class ArrowNames(Sequence[str]):
    """Very many names, which would take six times the memory as texts of Python."""

    def __init__(self, names: Any) -> None:
        self._names = names

    def __len__(self) -> int:
        return len(self._names)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        found: str | list[str] = (
            self._names[place].to_pylist()
            if isinstance(place, slice)
            else self._names[place].as_py()
        )
        return found

    def __contains__(self, name: object) -> bool:
        from pyarrow import compute

        return bool(compute.index(self._names, name).as_py() >= 0)


def read_score_columns(
    file: InputFile, names: Sequence[str], values: Sequence[str]
) -> tuple[dict[str, NameColumn], dict[str, NDArray[np.float64]]]:
    """The columns of names and the columns of scores. Raises `Unsuitable`."""
    try:
        import pyarrow
    except ImportError:
        raise Unsuitable from None
    path = str(file.path)
    if is_url(path) or file.is_read_once or file.is_packed:
        raise Unsuitable
    try:
        if file.suffix == ".parquet":
            read = _parquet_reader(path)
        elif file.suffix in PLAIN_SUFFIXES:
            read = _plain_reader(path, names, values, PLAIN_SUFFIXES[file.suffix])
        else:
            raise Unsuitable
        named: dict[str, NameColumn] = {}
        for name in sorted(names, key=names.index, reverse=True):  # items last: systems help them
            others = next((one for one in named.values() if 1 < len(one.names) < MAX_RUNS), None)
            named[name] = _named(read(name), others)
        return named, {name: _numbers(read(name)) for name in values}
    except (pyarrow.ArrowException, OSError, UnicodeError):
        raise Unsuitable from None


def _parquet_reader(path: str) -> Callable[[str], Any]:
    """Reads one column after the other: only one is held as PyArrow has it."""
    from pyarrow import parquet

    return lambda name: parquet.read_table(path, columns=[name], pre_buffer=False).column(name)


def _plain_reader(
    path: str, names: Sequence[str], values: Sequence[str], delimiter: str
) -> Callable[[str], Any]:
    import pyarrow
    from pyarrow import csv

    spelled = {form for cell in MISSING_CELLS for form in (cell, cell.upper(), cell.capitalize())}
    kinds: Mapping[str, Any] = {
        **dict.fromkeys(names, pyarrow.string()),
        **dict.fromkeys(values, pyarrow.float64()),
    }
    stream = csv.open_csv(
        path,
        read_options=csv.ReadOptions(block_size=BLOCK_BYTES),
        parse_options=csv.ParseOptions(delimiter=delimiter),
        convert_options=csv.ConvertOptions(
            column_types=kinds,
            include_columns=[*names, *values],
            null_values=[*spelled, "NaN"],
            strings_can_be_null=False,
        ),
    )
    with stream:
        columns: dict[str, list[Any]] = {name: [] for name in kinds}
        for batch in stream:
            for name, chunks in columns.items():
                chunks.append(batch.column(name))
    return lambda name: pyarrow.chunked_array(columns.pop(name), kinds[name])


def _named(column: Any, others: NameColumn | None) -> NameColumn:
    import pyarrow
    from pyarrow import compute

    kind = column.type
    if column.null_count:
        raise Unsuitable
    if pyarrow.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
    elif pyarrow.types.is_integer(kind):
        column = column.cast(pyarrow.string())
    if not (pyarrow.types.is_string(column.type) or pyarrow.types.is_large_string(column.type)):
        raise Unsuitable
    n_runs = 1 if others is None else _equal_runs(column, others)
    codes, texts = _encoded(column.slice(0, len(column) // n_runs))
    codes = np.tile(codes, n_runs)
    trimmed = compute.utf8_trim_whitespace(texts)
    if not trimmed.equals(texts):  # " a" and "a" are one name
        stripped = trimmed.to_pylist()
        unique = {text: place for place, text in enumerate(dict.fromkeys(stripped))}
        codes = np.array([unique[text] for text in stripped], np.int32)[codes]
        return NameColumn(codes, list(unique))
    return NameColumn(codes, ArrowNames(texts) if len(texts) > MAX_NAMES else texts.to_pylist())


def _equal_runs(column: Any, others: NameColumn) -> int:
    """How often the column says the same in a row: once for each name in the other column, if a file
    has all items of one system, and then the same items of the next; else 1."""
    n = len(others.names)
    size, rest = divmod(len(column), n)
    if rest or not size or not (others.codes.reshape(n, size) == others.codes[::size, None]).all():
        return 1
    first = column.slice(0, size)
    is_same = all(
        column.slice(start, size).equals(first) for start in range(size, len(column), size)
    )
    return n if is_same else 1


def _encoded(column: Any) -> tuple[NDArray[np.int32], Any]:
    import pyarrow
    from pyarrow import compute

    encoded = compute.dictionary_encode(column)
    chunks = [encoded.chunk(n) for n in range(encoded.num_chunks)]
    if not chunks:
        return np.zeros(0, np.int32), pyarrow.array([], pyarrow.string())
    codes = np.concatenate([chunk.indices.to_numpy(zero_copy_only=False) for chunk in chunks])
    names = chunks[-1].dictionary
    if any(len(chunk.dictionary) != len(names) for chunk in chunks):
        raise Unsuitable
    return codes.astype(np.int32, copy=False), names


def _numbers(column: Any) -> NDArray[np.float64]:
    import pyarrow

    kind = column.type
    is_number = pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind)
    if not is_number and not pyarrow.types.is_boolean(kind):
        raise Unsuitable
    numbers = column.cast(pyarrow.float64()).to_numpy()
    if np.isinf(numbers).any():
        raise Unsuitable
    found: NDArray[np.float64] = np.asarray(numbers, np.float64)
    return found
