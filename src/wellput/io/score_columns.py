"""Reads tables of scores fast: column by column with PyArrow, if it is installed.

Names become codes and a list of names (`NameColumn`); scores become arrays, in which NaN is a missing
score. If PyArrow cannot read a table directly (a score is text, the file is compressed), `Unsuitable`
is raised; `external_scores` then reads the rows one by one, and says what is wrong and in which line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from wellput.core.options import MAX_MAGNITUDE, MIN_MAGNITUDE
from wellput.io.files import InputFile
from wellput.io.locations import is_url

T = TypeVar("T", bound=np.generic)

MISSING_CELLS = ("", "nan", "na", "n/a", "none", "null")
PLAIN_SUFFIXES = {".csv": ",", ".tsv": "\t"}
BLOCK_BYTES = 1 << 24
MAX_EQUAL_RUNS = 10_000
"""In many tables the items repeat in the same order for each system or metric. `_equal_runs` looks for
such repeats only with a column of systems or metrics that has fewer names than this."""
MAX_NAMES_AS_LIST = 100_000
"""More names than this are kept as PyArrow has them, not as a list of texts."""


class Unsuitable(Exception):
    """The file must be read row by row."""


@dataclass(frozen=True)
class NameColumn:
    """A column of names: the name of row i is `names[codes[i]]`."""

    codes: NDArray[np.int32]
    names: Sequence[str]

    @property
    def has_empty(self) -> bool:
        """Whether a name is missing."""
        names = self.names
        return names.shortest == 0 if isinstance(names, ArrowNames) else "" in names


class ArrowNames(Sequence[str]):
    """Very many names in PyArrow's memory; a list of Python texts would take six times as much."""

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

    @property
    def shortest(self) -> int:
        """The length of the shortest name in bytes."""
        from pyarrow import compute

        return int(compute.min(compute.binary_length(self._names)).as_py())


def read_score_columns(
    file: InputFile, names: Sequence[str], values: Sequence[str]
) -> tuple[dict[str, NameColumn], dict[str, NDArray[np.float64]]]:
    """The columns `names`, of which the first must be the column of items, and the columns `values`,
    which have scores. Raises `Unsuitable` if the file must be read row by row."""
    try:
        import pyarrow
    except ImportError:
        raise Unsuitable from None
    path = str(file.path)
    if is_url(path) or file.is_read_once or file.is_packed:
        raise Unsuitable
    try:
        if file.suffix == ".parquet":
            read = _parquet_reader(path, names[1:])
        elif file.suffix in PLAIN_SUFFIXES:
            read = _plain_reader(path, names, values, PLAIN_SUFFIXES[file.suffix])
        else:
            raise Unsuitable
        named: dict[str, NameColumn] = {}
        # The items come last: the column of systems shows whether they repeat.
        for name in sorted(names, key=names.index, reverse=True):
            few_names = next(
                (known for known in named.values() if 1 < len(known.names) < MAX_EQUAL_RUNS), None
            )
            named[name] = _named(read(name), few_names)
        return named, {name: _numbers(read(name)) for name in values}
    except (pyarrow.ArrowException, OSError, UnicodeError):
        raise Unsuitable from None


def _parquet_reader(path: str, with_few_names: Sequence[str]) -> Callable[[str], Any]:
    """A function that reads one column of a Parquet file, so that only one column at a time is in
    PyArrow's memory. Columns in `with_few_names` are read as codes if they are text. Categories (a
    dictionary type) are decoded, because some categories may not occur in any row."""
    import pyarrow
    from pyarrow import parquet

    schema = parquet.read_schema(path)

    def read(name: str) -> Any:
        kind = schema.field(name).type
        is_coded = name in with_few_names and _is_text(kind)
        with parquet.ParquetFile(path, read_dictionary=[name] if is_coded else None) as file:
            column = file.read([name]).column(name)
        return column.cast(kind.value_type) if pyarrow.types.is_dictionary(kind) else column

    return read


def _is_text(kind: Any) -> bool:
    import pyarrow

    return bool(pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind))


def _plain_reader(
    path: str, names: Sequence[str], values: Sequence[str], delimiter: str
) -> Callable[[str], Any]:
    """A function that gives one column of a CSV or TSV file, which is read here."""
    import pyarrow
    from pyarrow import csv

    missing_forms = {
        form for cell in MISSING_CELLS for form in (cell, cell.upper(), cell.capitalize())
    }
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
            null_values=[*missing_forms, "NaN"],
            strings_can_be_null=False,
        ),
    )
    with stream:
        columns: dict[str, list[Any]] = {name: [] for name in kinds}
        for batch in stream:
            for name, chunks in columns.items():
                chunks.append(batch.column(name))
    return lambda name: pyarrow.chunked_array(columns.pop(name), kinds[name])


def _named(column: Any, few_names: NameColumn | None) -> NameColumn:
    """A column of PyArrow as a column of names. `few_names` is another column of the table that has few
    names, which may show that this column repeats itself (`_equal_runs`)."""
    import pyarrow
    from pyarrow import compute

    if column.null_count:
        raise Unsuitable
    if pyarrow.types.is_integer(column.type):
        column = column.cast(pyarrow.string())
    kind = column.type.value_type if pyarrow.types.is_dictionary(column.type) else column.type
    if not _is_text(kind):
        raise Unsuitable
    n_runs = 1 if few_names is None else _equal_runs(column, few_names)
    codes, texts = _encoded(column.slice(0, len(column) // n_runs))
    codes = np.tile(codes, n_runs)
    trimmed = compute.utf8_trim_whitespace(texts)
    if not trimmed.equals(texts):  # " a" and "a" are one name
        stripped = trimmed.to_pylist()
        unique = {text: place for place, text in enumerate(dict.fromkeys(stripped))}
        codes = np.array([unique[text] for text in stripped], np.int32)[codes]
        return NameColumn(codes, list(unique))
    return NameColumn(
        codes, ArrowNames(texts) if len(texts) > MAX_NAMES_AS_LIST else texts.to_pylist()
    )


def _equal_runs(column: Any, few_names: NameColumn) -> int:
    """How many times the column repeats the same sequence. In a table with all items of one system,
    then the same items of the next system, and so on, this is the number of names in the column
    `few_names` of systems; otherwise it is 1."""
    n = len(few_names.names)
    size, remainder = divmod(len(column), n)
    # In a table of that form, each run of `size` rows has a single one of the few names.
    if (
        remainder
        or not size
        or not (few_names.codes.reshape(n, size) == few_names.codes[::size, None]).all()
    ):
        return 1
    first = column.slice(0, size)
    is_same = all(
        column.slice(start, size).equals(first) for start in range(size, len(column), size)
    )
    return n if is_same else 1


def _encoded(column: Any) -> tuple[NDArray[np.int32], Any]:
    """The code of each row, and the texts that the codes stand for."""
    import pyarrow
    from pyarrow import compute

    is_coded = pyarrow.types.is_dictionary(column.type)
    encoded = column.unify_dictionaries() if is_coded else compute.dictionary_encode(column)
    chunks = [chunk for chunk in encoded.chunks if len(chunk)]
    if not chunks:
        return np.zeros(0, np.int32), pyarrow.array([], pyarrow.string())
    codes = np.concatenate([_numpy_array(chunk.indices, np.int32) for chunk in chunks])
    names = chunks[-1].dictionary
    if any(len(chunk.dictionary) != len(names) for chunk in chunks):
        raise Unsuitable
    if is_coded and (names.null_count or len(names.unique()) != len(names)):
        raise Unsuitable
    return codes, names


def _numpy_array(numbers: Any, kind: type[T]) -> NDArray[T]:
    """A PyArrow array without missing values as a NumPy array. PyArrow's own `to_numpy` imports pandas,
    which takes longer than reading a million rows."""
    size = np.dtype(kind).itemsize
    values: NDArray[T] = np.frombuffer(
        numbers.buffers()[1], kind, len(numbers), numbers.offset * size
    )
    return values


def _numbers(column: Any) -> NDArray[np.float64]:
    """The scores of a column, NaN where one is missing."""
    import pyarrow
    from pyarrow import compute

    kind = column.type
    is_number = pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind)
    if not is_number and not pyarrow.types.is_boolean(kind):
        raise Unsuitable
    numbers = column.cast(pyarrow.float64())
    if numbers.null_count:
        numbers = compute.fill_null(numbers, float("nan"))
    scores = np.concatenate(
        [np.zeros(0), *(_numpy_array(chunk, np.float64) for chunk in numbers.chunks if len(chunk))]
    )
    magnitudes = np.abs(scores)
    is_too_small = (magnitudes > 0) & (magnitudes < MIN_MAGNITUDE)
    if (magnitudes > MAX_MAGNITUDE).any() or is_too_small.any():  # infinity counts as too large
        raise Unsuitable
    return scores
