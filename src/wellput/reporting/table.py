"""`Table`: cells as they are shown. `Report`: everything that a command shows, which `render` turns
into one of five formats (`table_formats`). The functions at the end write numbers for people.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from wellput.core.errors import InputError, printable
from wellput.core.result import Result
from wellput.reporting.table_formats import (
    as_csv,
    as_json,
    as_latex,
    as_markdown,
    as_terminal,
    fold_drawing,
)

if TYPE_CHECKING:
    from wellput.core.scores import RunScore, Score
    from wellput.io.files import PathLike

Format = Literal["table", "json", "csv", "latex", "markdown"]
FORMATS: tuple[str, ...] = get_args(Format)
SUFFIX_FORMATS: dict[str, Format] = {
    ".json": "json",
    ".csv": "csv",
    ".tex": "latex",
    ".md": "markdown",
}
REFUSED_SUFFIXES = (".html", ".htm", ".pdf", ".xlsx", ".xls", ".parquet")
"""Suffixes of pages, spreadsheets and data files: no table is written to such a file."""
DEFAULT_WIDTH = 120
"""Characters in a line if there is no terminal. Lines are then never folded; this width only decides
whether a table is shown with rows and columns exchanged (`Table.fitting`)."""


@dataclass(frozen=True)
class Table:
    """A table for people. The first column holds names, the others numbers as text, or words if
    `is_prose`. The cells (row, column) in `best` are bold, and `bold_meaning` says what bold means. For
    LaTeX, `caption` says in words what the table shows, and the label is made from `name`; both are the
    title unless given."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    notes: Sequence[str] = ()
    is_prose: bool = False
    best: frozenset[tuple[int, int]] = frozenset()
    bold_meaning: str = ""
    caption: str = ""
    name: str = ""
    text_columns: frozenset[int] = frozenset()
    """Columns of whole texts, which the page of `wellput report` wraps."""

    transposed: Table | None = None
    """The same table with rows and columns exchanged; it is shown if this table is too wide."""

    @property
    def width(self) -> int:
        """The table's width on a terminal, with three characters between columns."""
        return sum(
            max(map(len, column)) + 3 for column in zip(self.columns, *self.rows, strict=True)
        )

    def fitting(self, width: int | None) -> Table:
        """The table; or `transposed`, if the table is wider than `width` and `transposed` is narrower.
        A `width` of None counts as `DEFAULT_WIDTH`."""
        is_wide = self.width > (width or DEFAULT_WIDTH)
        is_better = self.transposed is not None and self.transposed.width < self.width
        return self.transposed if self.transposed is not None and is_wide and is_better else self

    @property
    def printable(self) -> Table:
        """The table with control characters replaced by escapes (`core.errors.printable`)."""
        return replace(
            self,
            columns=[printable(column) for column in self.columns],
            rows=[[printable(cell) for cell in row] for row in self.rows],
            title=printable(self.title),
            notes=[printable(note) for note in self.notes],
            caption=printable(self.caption),
        )

    @property
    def all_notes(self) -> Sequence[str]:
        """The notes; if cells are bold, the first note says what bold means."""
        return [f"Bold: {self.bold_meaning}.", *self.notes] if self.bold_meaning else self.notes

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as the page of `wellput report` reads them."""
        return {
            "title": self.title,
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
            "notes": list(self.all_notes),
            "best": [list(cell) for cell in sorted(self.best)],
            "texts": sorted(self.text_columns),
        }


@dataclass(frozen=True)
class Report:
    """Tables for people, a value for JSON, and records with the named columns for CSV. On a terminal,
    `before` stands above the tables, `drawings` below them; `text` replaces all three."""

    tables: Sequence[Table]
    value: Mapping[str, Any]
    columns: Sequence[str]
    records: Sequence[Mapping[str, Any]]
    drawings: Sequence[str] = ()
    before: str = ""
    text: str | None = None


def render(report: Report, format: Format, *, width: int | None = None, color: bool = False) -> str:
    """The report as text. `width` is that of the terminal in characters; None if there is no terminal:
    then no line is folded."""
    if format == "json":
        return as_json(report.value)
    if format == "csv":
        return as_csv(report.columns, report.records)
    if format == "table" and report.text is not None:
        return printable(report.text)
    tables = [table.fitting(width).printable for table in report.tables]
    if format == "latex":
        return as_latex(tables)
    if format == "markdown":
        return as_markdown(tables)
    text = printable(report.before) + as_terminal(tables, width=width, color=color)
    if report.drawings:
        text += "".join(
            f"\n{fold_drawing(printable(drawing), width)}" for drawing in report.drawings
        )
    return text


def terminal_text(result: Result) -> str:
    """The result as the terminal shows it, with lines of any length."""
    return render(result.report(), "table")


def save(result: Result, path: PathLike) -> None:
    """Writes the result in the format that the suffix names."""
    from wellput.io.output import write_text

    text = render(result.report(), suffix_format(path))
    write_text(text, path, is_private=result.is_secret)


def suffix_format(path: PathLike) -> Format:
    """The format that the suffix of a file names. Raises InputError for the suffixes of pages and
    spreadsheets, because the file would contain plain text.

    >>> suffix_format("a.md"), suffix_format("a.txt"), suffix_format("-")
    ('markdown', 'table', 'table')
    """
    suffix = Path(path).suffix.lower()
    if suffix in REFUSED_SUFFIXES:
        raise InputError(
            f"{path}: a table is written as text (.txt), JSON (.json), CSV (.csv), LaTeX (.tex) or "
            f"Markdown (.md), not as {suffix}. `wellput report` makes a page for browsers."
        )
    return SUFFIX_FORMATS.get(suffix, "table")


def number(value: float | None, digits: int, *, sign: bool = False) -> str:
    """A number as people read it; NaN and None are "undefined".

    >>> number(-0.125, 2), number(0.5, 1, sign=True), number(float("nan"), 2), number(-0.0, 1)
    ('−0.12', '+0.5', 'undefined', '0.0')
    >>> number(float("inf"), 2)
    '∞'
    """
    if value is None or math.isnan(value):
        return "undefined"
    shown = f"{value + 0.0:{'+' if sign else ''}.{digits}f}"  # −0.0 + 0.0 is 0.0
    return shown.replace("-", "−").replace("inf", "∞")


def p_text(value: float | None, *, is_bound: bool = False) -> str:
    """A p-value as text; empty if there was no test. `is_bound`: no resample was as extreme, so p is
    at most this value, which is rounded up. Just below .05, p has more digits: "0.050" next to a star
    (significant) would look like a mistake.

    >>> p_text(0.0204), p_text(0.0204, is_bound=True), p_text(1 / 1001, is_bound=True)
    ('0.020', '≤ 0.021', '< 0.001')
    >>> p_text(0.04985), p_text(0.05)
    ('0.0498', '0.050')
    """
    if value is None:
        return ""
    if math.isnan(value):
        return "undefined"
    if value < 0.001:
        return "< 0.001"
    if is_bound:
        # Less 1e-9, so that 0.021, which may be a little more in binary, is not rounded up to 0.022.
        return f"≤ {math.ceil(value * 1000 - 1e-9) / 1000:.3f}"
    if 0.0495 <= value < 0.05:
        return f"{math.floor(value * 10_000) / 10_000:.4f}"
    return f"{value:.3f}"


def p_with_relation(value: float | None, *, is_bound: bool = False) -> str:
    """A p-value with =, < or ≤ before it, as it follows "p" in a sentence.

    >>> p_with_relation(0.02), p_with_relation(0.0001)
    ('= 0.020', '< 0.001')
    """
    text = p_text(value, is_bound=is_bound)
    return text if text.startswith(("<", "≤")) else f"= {text}"


def interval_text(low: float | None, high: float | None, digits: int, *, sign: bool = False) -> str:
    """An interval in brackets; empty if there is none.

    >>> interval_text(-0.5, 1, 2), interval_text(None, None, 2)
    ('[−0.50, 1.00]', '')
    """
    if low is None or high is None or math.isnan(low):
        return ""
    return f"[{number(low, digits, sign=sign)}, {number(high, digits, sign=sign)}]"


def with_interval(
    text: str, low: float | None, high: float | None, digits: int, *, sign: bool = False
) -> str:
    """The text of a number and its interval; the text alone if there is no interval."""
    return f"{text} {interval_text(low, high, digits, sign=sign)}".rstrip()


def digits_of(scores: Iterable[float]) -> int:
    """The number of decimals for scores that are shown together: 2 if one of them is 10 or more,
    else 3."""
    return 2 if any(abs(score) >= 10 for score in scores) else 3


def signature_notes(scores: Iterable[Score | RunScore]) -> list[str]:
    """The signatures (the exact versions of the metrics), with one line for all metrics that share a
    signature."""
    groups: dict[str, dict[str, None]] = {}
    for score in scores:
        groups.setdefault(score.signature, {})[score.metric] = None
    return [f"{', '.join(metrics)}: {signature}" for signature, metrics in groups.items()]
