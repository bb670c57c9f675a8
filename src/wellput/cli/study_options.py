"""What the commands of `wellput study` share: opening a study, lists, printing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from wellput.cli.options import emit, is_terminal, terminal_width
from wellput.core.errors import MissingExtra
from wellput.reporting.table import (
    Format,
    Table,
    as_csv,
    as_json,
    as_latex,
    as_markdown,
    as_terminal,
)

if TYPE_CHECKING:
    from wellput.studies.store import Store


def store_class() -> type[Store]:
    try:
        from wellput.studies.store import Store
    except ModuleNotFoundError as error:
        raise MissingExtra("`wellput study`", "judge") from error
    return Store


def open_study(study: str) -> Store:
    return store_class().open(study)


def listed(given: Sequence[str]) -> list[str]:
    return [name.strip() for text in given for name in text.split(",") if name.strip()]


def cell_text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(str(entry) for entry in value)
    return "" if value is None else str(value)


def print_records(
    key: str, records: Sequence[Mapping[str, Any]], table: Table, format: str, output: str
) -> None:
    """The records for programs, the table for people; a lone record is not put in a list."""
    if format == "json":
        is_list = key == "invitations"
        emit(as_json({key: records} if is_list else records[0]), output)
    elif format == "csv":
        flat = [{name: cell_text(value) for name, value in record.items()} for record in records]
        emit(as_csv(list(records[0]), flat), output)
    else:
        emit(rendered([table], format, output), output)


def rendered(tables: Sequence[Table], format: str, output: str) -> str:
    chosen = cast("Format", format)
    if chosen == "latex":
        return as_latex(tables)
    if chosen == "markdown":
        return as_markdown(tables)
    return as_terminal(tables, width=terminal_width(output), color=is_terminal(output))
