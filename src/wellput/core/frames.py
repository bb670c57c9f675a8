"""Reading data frames of pandas or Polars, tables of PyArrow, or mappings from names to columns: as
evaluation sets, or row by row.

No library is imported: a frame is anything that has names of columns and gives a column by its name.
None, NaN and pandas' NA are missing cells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import repeat
from numbers import Integral
from reprlib import repr as shortened
from typing import Any, Protocol, TypeGuard

from wellput.core.errors import InputError, Problems, did_you_mean
from wellput.core.evalset import NO_TAGS, EvalSet, Item, Output
from wellput.core.long_tables import AnswerRow, joined_answers


class Frame(Protocol):
    """The part of a pandas or Polars data frame that is used here."""

    @property
    def columns(self) -> Any: ...

    def __getitem__(self, name: Any, /) -> Any: ...


def is_frame(data: object) -> TypeGuard[Frame]:
    """Whether `data` is a frame. A lazy frame of Polars counts as one, so that `frame_rows` can
    refuse it with advice."""
    return isinstance(data, Mapping) or hasattr(type(data), "columns")


def frame_rows(frame: Any) -> tuple[list[str], list[dict[str, Any]]]:
    """The names of the columns, and each row's cells by column; None for a missing cell."""
    _refuse_lazy(frame)
    names = _column_names(frame)
    if repeated := sorted(str(name) for name, n in Counter(names).items() if n > 1):
        raise InputError(
            f"Several columns of the data frame have the same name: {', '.join(repeated)}."
        )
    columns = {str(name): _listed(frame, name) for name in names}
    _check_lengths(columns)
    rows = zip(*columns.values(), strict=True)
    return list(columns), [
        dict(zip(columns, map(none_if_missing, row), strict=True)) for row in rows
    ]


def none_if_missing(cell: Any) -> Any:
    """The cell, or None if it is missing: None, NaN or pandas' NA."""
    return None if _is_missing(cell) else cell


def is_name(value: object) -> bool:
    """Whether the value can name an item, a system or a judge: a text that is not empty, or an
    integer."""
    if isinstance(value, str):
        return value != ""
    return isinstance(value, Integral) and not isinstance(value, bool)


def evalset_of_frame(
    frame: Any,
    *,
    outputs: str | Sequence[str] | Mapping[str, str],
    references: str | Sequence[str],
    id: str | None,
    source: str | None,
    context: str | None,
    document: str | None = None,
    tags: str | Sequence[str] | Mapping[str, str] = (),
    system: str | None = None,
) -> EvalSet:
    """See `EvalSet.from_frame`."""
    by_system = _named_columns("outputs", outputs)
    if not by_system:
        raise InputError("outputs must name at least one column.")
    if system is not None and len(by_system) > 1:
        raise InputError(
            "With system=, every row is one answer: outputs must name one column, with all answers."
        )
    if system is not None and id is None and source is None:
        raise InputError(
            "With system=, give id= or source=, too: it says which item a row belongs to."
        )
    by_tag = _named_columns("tags", tags)
    reference_columns = [references] if isinstance(references, str) else list(references)
    single_columns = {"id": id, "source": source, "context": context, "document": document}
    option_columns = [
        (option, column) for option, column in single_columns.items() if column is not None
    ]
    option_columns += [("references", column) for column in reference_columns]
    option_columns += [("outputs", column) for column in by_system.values()]
    option_columns += [] if system is None else [("system", system)]
    option_columns += [("tags", column) for column in by_tag.values()]
    columns = FrameColumns(_cells(frame, option_columns), id)
    rows = zip(
        columns.ids,
        zip(*(columns.outputs(column) for column in by_system.values()), strict=True),
        columns.lists(reference_columns),
        columns.texts(source),
        columns.texts(context),
        columns.names(document),
        zip(*(columns.names(column) for column in by_tag.values()), strict=True)
        if by_tag
        else repeat((), len(columns.ids)),
        strict=True,
    )
    items = [
        Item(
            identifier,
            {s: text for s, text in zip(by_system, texts, strict=True) if text is not None},
            row_references,
            source=row_source,
            context=row_context,
            document=row_document,
            tags={t: value for t, value in zip(by_tag, values, strict=True) if value is not None}
            or NO_TAGS,
        )
        for identifier, texts, row_references, row_source, row_context, row_document, values in rows
    ]
    if system is None:
        columns.refuse_problems()
        return EvalSet(items, systems=tuple(by_system))
    return _of_answers(items, columns, system, by_source=id is None)


def _of_answers(
    items: Sequence[Item], columns: FrameColumns, system: str, *, by_source: bool
) -> EvalSet:
    """The evalset of a frame with a row for each answer; `items` has one for each row. `by_source`:
    rows have no ids, and those with the same source are one item."""
    names = columns.names(system)
    problems = Problems("The frame")
    for number, (item, name) in enumerate(zip(items, names, strict=True), start=1):
        if name is None:
            problems.add(f"row {number}", f"no {system}; every answer belongs to a system")
        if by_source and item.source is None:
            problems.add(f"row {number}", "no source, and no id; every answer belongs to an item")
    columns.refuse_problems()
    problems.raise_if_any()
    rows = [
        AnswerRow(
            f"row {number}",
            item._replace(outputs={str(name): text for text in item.outputs.values()}),
        )
        for number, (item, name) in enumerate(zip(items, names, strict=True), start=1)
    ]
    joined = joined_answers(rows, problems, by_source=by_source)
    problems.raise_if_any()
    return EvalSet(joined)


class FrameColumns:
    """The cells of the columns that are used. The methods check cells and gather what is wrong with
    them; `refuse_problems` raises it."""

    def __init__(self, cells: Mapping[str, Sequence[Any]], id: str | None) -> None:
        self._cells = cells
        self._problems: list[str] = []
        rows = len(next(iter(cells.values())))
        numbered = [str(row) for row in range(1, rows + 1)]
        self.ids = numbered if id is None else self._ids_in(id)

    def texts(self, column: str | None) -> list[str | None]:
        """The text of each row, None if it is missing."""
        if column is None:
            return [None] * len(self.ids)
        cells = zip(self.ids, self._cells[column], strict=True)
        return [self._text(cell, column, item) for item, cell in cells]

    def names(self, column: str | None) -> list[str | None]:
        """The document, tag or system of each row as text, None if it is missing. Cells may be texts,
        whole numbers, and true or false."""
        if column is None:
            return [None] * len(self.ids)
        names: list[str | None] = []
        for item, cell in zip(self.ids, self._cells[column], strict=True):
            if type(cell) is bool or type(cell).__name__ == "bool_":
                names.append(str(bool(cell)).lower())
            elif is_name(cell):
                names.append(str(cell))
            elif isinstance(cell, float) and cell.is_integer():  # pandas' whole numbers beside NaN
                names.append(str(int(cell)))
            else:
                names.append(None if cell == "" else self._text(cell, column, item))
        return names

    def outputs(self, column: str) -> list[Output | None]:
        """The output of each row: a text, several samples, or None if it is missing."""
        row_outputs: list[Output | None] = []
        for item, cell in zip(self.ids, self._cells[column], strict=True):
            texts = [self._text(entry, column, item) for entry in _entries(cell)]
            known = [text for text in texts if text is not None]
            row_outputs.append(known[0] if len(known) == 1 else tuple(known) or None)
        return row_outputs

    def lists(self, columns: Sequence[str]) -> list[tuple[str, ...]]:
        """The texts of each row in all of the columns; cells may be lists."""
        row_texts: list[tuple[str, ...]] = []
        for row, item in enumerate(self.ids):
            texts = (
                self._text(entry, column, item)
                for column in columns
                for entry in _entries(self._cells[column][row])
            )
            row_texts.append(tuple(text for text in texts if text is not None))
        return row_texts

    def refuse_problems(self) -> None:
        if self._problems:
            raise InputError.collect(
                "These cells of the frame cannot be used:",
                self._problems,
                "Outputs, references, sources and contexts are texts; documents and tags may be whole "
                "numbers, too. None and NaN are missing.",
            )

    def _ids_in(self, column: str) -> list[str]:
        """The ids in a column, texts or whole numbers, as texts."""
        for row, cell in enumerate(self._cells[column], start=1):
            if not is_name(cell):
                what = f"an id is a text or a whole number, not {shortened(cell)}"
                self._problems.append(f"column {column}, row {row}: {what}")
        return [str(cell) for cell in self._cells[column]]

    def _text(self, cell: Any, column: str, item: str) -> str | None:
        """A cell as text, None if it is missing; any other cell is a problem."""
        if isinstance(cell, str):
            return str(cell)
        if not _is_missing(cell):
            self._problems.append(f"column {column}, item {item}: {shortened(cell)} is not a text")
        return None


def _named_columns(
    keyword: str, columns_given: str | Sequence[str] | Mapping[str, str]
) -> dict[str, str]:
    """The column of each system or tag. If `columns_given` is not a mapping, a system or tag has the
    name of its column."""
    if isinstance(columns_given, Mapping):
        return dict(columns_given)
    columns = [columns_given] if isinstance(columns_given, str) else list(columns_given)
    named = {str(column): column for column in columns}
    if len(named) < len(columns):
        raise InputError(f"{keyword} names a column twice: {', '.join(columns)}.")
    return named


def _cells(frame: Any, option_columns: Sequence[tuple[str, str]]) -> dict[str, list[Any]]:
    """The cells of columns, by column; `option_columns` has pairs of an option and its column."""
    _refuse_lazy(frame)
    names = _column_names(frame)
    if not names:
        raise InputError(
            "Give a pandas or Polars data frame, a PyArrow table, or a mapping from names to columns, "
            f"not {type(frame).__name__}."
        )
    known = [str(name) for name in names]
    wrong = [
        f"{option}: no column {column!r}.{did_you_mean(str(column), known)}"
        if column not in names
        else f"{option}: {names.count(column)} columns are named {column!r}."
        for option, column in option_columns
        if names.count(column) != 1
    ]
    if wrong:
        raise InputError.collect(
            "Some columns cannot be found:", wrong, f"The frame has {', '.join(known)}."
        )
    cells = {column: _listed(frame, column) for _, column in option_columns}
    _check_lengths(cells)
    return cells


def _refuse_lazy(frame: Any) -> None:
    if hasattr(type(frame), "collect"):
        raise InputError("Collect the lazy frame first: frame.collect().")


def _column_names(frame: Any) -> list[Any]:
    if isinstance(frame, Mapping):
        return list(frame)
    names = getattr(frame, "column_names", None)  # PyArrow's `columns` are the columns themselves
    return list(getattr(frame, "columns", ()) if names is None else names)


def _check_lengths(cells: Mapping[str, Sequence[Any]]) -> None:
    """Raises InputError for columns of different lengths."""
    if len({len(column) for column in cells.values()}) > 1:
        raise InputError.collect(
            "Columns must be equally long:",
            [f"{column}: {len(listed)}" for column, listed in cells.items()],
        )


def _listed(frame: Any, column: str) -> list[Any]:
    """The cells of a column as a list."""
    cells = frame[column]
    if isinstance(cells, str):
        raise InputError(f"The column {column} must be a list with a cell per item, not one text.")
    names = ("to_pylist", "to_list", "tolist")
    as_list = next((getattr(cells, name) for name in names if hasattr(cells, name)), None)
    return list(cells) if as_list is None else list(as_list())


def _entries(cell: Any) -> Sequence[Any]:
    """The entries of a cell: those of a list or an array, or the cell itself."""
    listed = cell.tolist() if hasattr(cell, "tolist") else cell
    return listed if isinstance(listed, list | tuple) else [listed]


def _is_missing(cell: Any) -> bool:
    if cell is None:
        return True
    try:
        return bool(cell != cell)  # only NaN differs from itself
    except TypeError:  # pandas' NA has no truth value
        return True
    except ValueError:  # an array compares cell by cell
        return False
