"""`Table`: cells as they are shown. `Report`: everything that a command shows, in five formats.

CSV and JSON are for programs: they have the values themselves, not the cells of the tables. On a
terminal, drawn alignments are folded to its width.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from wellput.core.printable import printable
from wellput.core.result import Result, strict_json

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
DEFAULT_WIDTH = 120
"""Characters in a line. Output that goes to no terminal is never folded; there this width decides only
whether a table is turned (`Table.fitting`)."""
UNLIMITED_WIDTH = 100_000
"""The width for files and pipes: no line is folded."""


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

    turned: Table | None = None
    """The same table with rows and columns exchanged; it is shown where this table is too wide."""

    @property
    def width(self) -> int:
        """Its width on a terminal, with three characters between columns."""
        return sum(
            max(map(len, column)) + 3 for column in zip(self.columns, *self.rows, strict=True)
        )

    def fitting(self, width: int | None) -> Table:
        """The table; or the turned one, if the table is wider than `width` and the turned one is
        narrower. A `width` of None counts as `DEFAULT_WIDTH`."""
        is_wide = self.width > (width or DEFAULT_WIDTH)
        is_better = self.turned is not None and self.turned.width < self.width
        return self.turned if self.turned is not None and is_wide and is_better else self

    @property
    def printable(self) -> Table:
        """The table with control characters as their escapes (`core.printable`)."""
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
    """Tables for people, a value for JSON, records with these columns for CSV. On a terminal, `before`
    stands above the tables, `drawings` beneath them; `text` replaces all three."""

    tables: Sequence[Table]
    value: Mapping[str, Any]
    columns: Sequence[str]
    records: Sequence[Mapping[str, Any]]
    drawings: Sequence[str] = ()
    before: str = ""
    text: str | None = None


def render(report: Report, format: Format, *, width: int | None = None, color: bool = False) -> str:
    """The report as text. `width` is that of the terminal; None if there is none: no line is folded."""
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


def text_of(result: Result) -> str:
    """The result as the terminal shows it, with lines of any length."""
    return render(result.report(), "table")


def save(result: Result, path: PathLike) -> None:
    """Writes the result in the format that the suffix names."""
    from wellput.io.output import write_text

    text = render(result.report(), SUFFIX_FORMATS.get(Path(path).suffix, "table"))
    write_text(text, path, is_private=result.is_secret)


def as_terminal(tables: Sequence[Table], *, width: int | None, color: bool) -> str:
    """Tables for a terminal; Rich is imported here, only to print."""
    from rich.console import Console
    from rich.text import Text

    target = io.StringIO()
    console = Console(
        file=target,
        width=width or UNLIMITED_WIDTH,
        force_terminal=color,
        color_system="standard" if color else None,
    )
    for order, table in enumerate(tables):
        if order:
            console.print()
        if table.title:  # not the grid's own title, which is folded to the grid's width
            console.print(Text(table.title, style="italic"), soft_wrap=width is None)
        if len(table.rows) > MAX_ROWS_FOLDED and table.width - 2 <= (width or UNLIMITED_WIDTH):
            target.write(_long_grid(table, color=color))
        else:
            console.print(_grid(table) if table.rows else "")
        for note in table.all_notes if color else table.notes:
            console.print(Text(_wrapped(note, width)), soft_wrap=True)
    return "\n".join(line.rstrip() for line in target.getvalue().splitlines()).strip("\n") + "\n"


MAX_ROWS_FOLDED = 1000
"""Rich takes a fifth of a millisecond for a cell. It lays out longer tables only where cells must be
folded."""


def _grid(table: Table) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    grid = RichTable(box=SIMPLE_HEAD, pad_edge=False)
    for place, column in enumerate(table.columns):
        grid.add_column(
            Text(column),
            justify="left" if place == 0 or table.is_prose else "right",
            overflow="fold",
        )
    for i, row in enumerate(table.rows):
        grid.add_row(
            *(Text(cell, "bold" if (i, j) in table.best else "") for j, cell in enumerate(row))
        )
    return grid


def _long_grid(table: Table, *, color: bool) -> str:
    """The grid as Rich draws it where nothing must be folded."""
    from rich.cells import cell_len

    columns = list(zip(table.columns, *table.rows, strict=True))
    widths = [max(map(cell_len, column)) for column in columns]
    is_left = [place == 0 or table.is_prose for place in range(len(widths))]

    def line(cells: Sequence[str], row: int | None) -> str:
        padded = []
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True)):
            space = " " * (width - cell_len(cell))
            is_bold = color and (row is None or (row, place) in table.best)
            shown = f"\x1b[1m{cell}\x1b[0m" if is_bold else cell
            padded.append(shown + space if is_left[place] else space + shown)
        return " " + "   ".join(padded)

    rule = " " + "─" * (sum(widths) + 3 * (len(widths) - 1))
    rows = (line(row, place) for place, row in enumerate(table.rows))
    return "\n".join(["", line(table.columns, None), rule, *rows, "", ""])


def _wrapped(note: str, width: int | None) -> str:
    """The note folded between words: a signature stays one word, so that it can be copied."""
    if width is None or len(note) <= width:
        return note
    return textwrap.fill(note, width, break_long_words=False, break_on_hyphens=False)


def as_markdown(tables: Sequence[Table]) -> str:
    parts: list[str] = []
    for table in tables:
        lines = [f"**{table.title}**", ""] if table.title else []
        others = "---" if table.is_prose else "---:"
        if table.rows:
            lines.append(_pipe(table.columns))
            lines.append(_pipe(["---", *[others] * (len(table.columns) - 1)]))
            lines += [
                _pipe(row, {j for i_, j in table.best if i_ == i})
                for i, row in enumerate(table.rows)
            ]
        for note in table.all_notes:
            lines += ["", _escape_markdown(note)]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _pipe(cells: Sequence[str], bold: Collection[int] = ()) -> str:
    shown = [_escape_markdown(cell) for cell in cells]
    return "| " + " | ".join(f"**{c}**" if j in bold else c for j, c in enumerate(shown)) + " |"


def _escape_markdown(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("*", "\\*").replace("_", "\\_")


LATEX_ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "−": "$-$",
    "±": r"$\pm$", "Δ": r"$\Delta$", "↓": r"$\downarrow$", "²": "$^2$", "α": r"$\alpha$",
    "β": r"$\beta$", "κ": r"$\kappa$", "χ": r"$\chi$", "·": r"$\cdot$", "→": r"$\to$",
    "≤": r"$\leq$", "≥": r"$\geq$", "×": r"$\times$", "↑": r"$\uparrow$", "←": r"$\leftarrow$",
    "▲": r"$\uparrow$", "▼": r"$\downarrow$",
    "|": r"\textbar\allowbreak{}", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


NEEDS_BOOKTABS = r"% Needs \usepackage{booktabs} in the preamble."


def as_latex(tables: Sequence[Table]) -> str:
    """Floating tables with the rules of booktabs, a caption, and the notes in small print beneath."""
    parts: list[str] = []
    labels: list[str] = []
    for table in tables:
        lines = [r"\begin{table}", r"\centering"]
        if caption := _caption(table):
            labels.append(_label(table.name or table.title or table.caption))
            again = f"-{labels.count(labels[-1])}" if labels[-1] in labels[:-1] else ""
            lines.append(rf"\caption{{{_escape_latex(caption)}}}")
            lines.append(rf"\label{{tab:{labels[-1]}{again}}}")
        if table.rows:
            lines += _latex_grid(table)
        if table.notes:
            lines.append(r"\par\smallskip\footnotesize\raggedright")
            lines += [rf"{_escape_latex(note)}\par" for note in table.notes]
        parts.append("\n".join([*lines, r"\end{table}"]))
    return "\n\n".join([NEEDS_BOOKTABS, *parts]) + "\n"


def _caption(table: Table) -> str:
    """The caption as a sentence, with the meaning of bold."""
    text = table.caption or table.title
    if table.bold_meaning:
        text += f"; bold: {table.bold_meaning}"
    return text if not text or text[-1] in ".?!" else f"{text}."


def _label(text: str) -> str:
    """A name for \\ref: lower-case letters and digits, hyphens between words.

    >>> _label("Agreement with people, segment level")
    'agreement-with-people-segment-level'
    """
    words = re.findall(r"[a-z0-9]+", text.lower())
    return "-".join(words) or "wellput"


def _latex_grid(table: Table) -> list[str]:
    return [
        rf"\begin{{tabular}}{{l{('l' if table.is_prose else 'r') * (len(table.columns) - 1)}}}",
        r"\toprule",
        _latex_row(table.columns),
        r"\midrule",
        *(
            _latex_row(row, {j for i_, j in table.best if i_ == i})
            for i, row in enumerate(table.rows)
        ),
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _latex_row(cells: Sequence[str], bold: Collection[int] = ()) -> str:
    shown = [_escape_latex(cell) for cell in cells]
    marked = (rf"\textbf{{{c}}}" if j in bold else c for j, c in enumerate(shown))
    return " & ".join(marked) + r" \\"


def _escape_latex(text: str) -> str:
    return "".join(LATEX_ESCAPES.get(character, character) for character in text)


def as_csv(columns: Sequence[str], records: Sequence[Mapping[str, Any]]) -> str:
    """Records as CSV; None and NaN are empty cells. Names that a spreadsheet would run are marked
    (`io.spreadsheets`)."""
    from wellput.io.spreadsheets import without_formula

    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow([without_formula(column) for column in columns])
    for record in records:
        values = (record.get(column) for column in columns)
        writer.writerow(["" if _is_nothing(value) else without_formula(value) for value in values])
    return target.getvalue()


def as_json(value: Mapping[str, Any]) -> str:
    """Strict JSON: NaN becomes null."""
    return json.dumps(strict_json(value), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _is_nothing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def number(value: float | None, digits: int, *, sign: bool = False) -> str:
    """A number as people read it; NaN and None are "undefined".

    >>> number(-0.125, 2), number(0.5, 1, sign=True), number(float("nan"), 2)
    ('−0.12', '+0.5', 'undefined')
    """
    if value is None or math.isnan(value):
        return "undefined"
    return f"{value:{'+' if sign else ''}.{digits}f}".replace("-", "−")


def p_text(value: float | None, *, is_bound: bool = False) -> str:
    """A p-value; an empty cell where there was no test. `is_bound`: no resample was as extreme, so p is
    at most this value, which is rounded up.

    >>> p_text(0.0204), p_text(0.0204, is_bound=True), p_text(1 / 1001, is_bound=True)
    ('0.020', '≤ 0.021', '< 0.001')
    """
    if value is None:
        return ""
    if math.isnan(value):
        return "undefined"
    if value < 0.001:
        return "< 0.001"
    return f"≤ {math.ceil(value * 1000 - 1e-9) / 1000:.3f}" if is_bound else f"{value:.3f}"


def p_with_relation(value: float | None, *, is_bound: bool = False) -> str:
    """A p-value with =, < or ≤ before it, as it follows "p" in a sentence.

    >>> p_with_relation(0.02), p_with_relation(0.0001)
    ('= 0.020', '< 0.001')
    """
    text = p_text(value, is_bound=is_bound)
    return text if text.startswith(("<", "≤")) else f"= {text}"


def interval_text(low: float | None, high: float | None, digits: int, *, sign: bool = False) -> str:
    """An interval in brackets; empty where there is none.

    >>> interval_text(-0.5, 1, 2), interval_text(None, None, 2)
    ('[−0.50, 1.00]', '')
    """
    if low is None or high is None or math.isnan(low):
        return ""
    return f"[{number(low, digits, sign=sign)}, {number(high, digits, sign=sign)}]"


def with_interval(
    text: str, low: float | None, high: float | None, digits: int, *, sign: bool = False
) -> str:
    """The text of a number and its interval; the text alone where there is no interval."""
    return f"{text} {interval_text(low, high, digits, sign=sign)}".rstrip()


def digits_of(scores: Iterable[float]) -> int:
    """Decimals to show of scores that stand together: 2 if one of them is 10 or more, else 3."""
    return 2 if any(abs(score) >= 10 for score in scores) else 3


def signature_notes(scores: Iterable[Score | RunScore]) -> list[str]:
    """One line for all metrics that share a signature."""
    groups: dict[str, dict[str, None]] = {}
    for score in scores:
        groups.setdefault(score.signature, {})[score.metric] = None
    return [f"{', '.join(metrics)}: {signature}" for signature, metrics in groups.items()]


DRAWING_HEADING = "reference"
DRAWING_MARGIN = 11
"""The column where the words of a drawing begin, after `reference` and `output`."""


def fold_drawing(text: str, width: int | None) -> str:
    """The three lines of an alignment, cut between words into blocks of three lines that fit the width.

    Further lines, and text that is not a drawing, stay as they are.

    >>> print(fold_drawing("reference  a cat sat\\n           . .   d\\noutput     a cat", 18))
    reference  a cat
               . .
    output     a cat
    <BLANKLINE>
    reference  sat
               d
    output
    """
    lines = text.split("\n")
    if width is None or not text.startswith(DRAWING_HEADING) or len(lines) < 3:
        return text
    drawing, rest = lines[:3], lines[3:]
    columns = ["".join(column) for column in zip_longest(*drawing, fillvalue=" ")][DRAWING_MARGIN:]
    blocks: list[str] = []
    while columns:
        end = _cut_between_words(columns, max(width - DRAWING_MARGIN, 1))
        for row, line in enumerate(drawing):
            words = "".join(column[row] for column in columns[:end])
            blocks.append((line[:DRAWING_MARGIN].ljust(DRAWING_MARGIN) + words).rstrip())
        columns = columns[end + 1 :]
        if columns:
            blocks.append("")
    return "\n".join([*blocks, *rest])


def _cut_between_words(columns: list[str], room: int) -> int:
    """The last blank column within the room; where a word is longer, the first blank column after
    it."""
    if len(columns) <= room:
        return len(columns)
    blanks = [place for place, column in enumerate(columns) if not column.strip()]
    within = [place for place in blanks if place <= room]
    return within[-1] if within else next(iter(blanks), len(columns))
