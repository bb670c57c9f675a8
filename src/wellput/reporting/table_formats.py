"""Tables and records as text: for a terminal, as Markdown, LaTeX, CSV and JSON.

CSV and JSON are for programs: they have the values themselves, not the cells of the tables. On a
terminal, drawings of an output aligned with its reference are folded to the terminal's width.
"""

from __future__ import annotations

import io
import json
import math
import re
import textwrap
from collections.abc import Collection, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from wellput.core.result import strict_json

if TYPE_CHECKING:
    from wellput.reporting.table import Table

UNLIMITED_WIDTH = 100_000
"""The width for files and pipes: no line is folded."""


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
    for place, table in enumerate(tables):
        if place:
            console.print()
        if table.title:  # printed here, because Rich would fold a grid's title to the grid's width
            console.print(Text(table.title, style="italic"), soft_wrap=width is None)
        # `table.width` counts three characters after each column: two more than a line has.
        if len(table.rows) > MAX_ROWS_FOLDED and table.width - 2 <= (width or UNLIMITED_WIDTH):
            target.write(_long_grid(table, color=color))
        else:
            console.print(_grid(table) if table.rows else "")
        # Without color no cell is bold, so no note says what bold means.
        for note in table.all_notes if color else table.notes:
            console.print(Text(_wrapped(note, width)), soft_wrap=True)
    return "\n".join(line.rstrip() for line in target.getvalue().splitlines()).strip("\n") + "\n"


MAX_ROWS_FOLDED = 1000
"""Rich lays out tables with more rows only if cells must be folded, because it takes a fifth of a
millisecond for each cell."""


def _grid(table: Table) -> Any:
    """The table as a table of Rich."""
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
    """The table as text, exactly as Rich draws it if no cell must be folded."""
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
    """The note folded between words; long words, such as signatures, are not cut, so that they can be
    copied."""
    if width is None or len(note) <= width:
        return note
    return textwrap.fill(note, width, break_long_words=False, break_on_hyphens=False)


def as_markdown(tables: Sequence[Table]) -> str:
    """Tables with pipes between cells, their titles and notes."""
    parts: list[str] = []
    for table in tables:
        title = _escape_markdown(_on_one_line(table.title))
        lines = [f"**{title}**", ""] if title else []
        rule_of_others = "---" if table.is_prose else "---:"
        if table.rows:
            lines.append(_pipe(table.columns))
            lines.append(_pipe(["---", *[rule_of_others] * (len(table.columns) - 1)]))
            lines += [
                _pipe(row, {j for best_row, j in table.best if best_row == i})
                for i, row in enumerate(table.rows)
            ]
        for note in table.all_notes:
            lines += ["", _escape_markdown(note)]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _pipe(cells: Sequence[str], bold: Collection[int] = ()) -> str:
    shown = [_escape_markdown(_on_one_line(cell)) for cell in cells]
    return "| " + " | ".join(f"**{c}**" if j in bold else c for j, c in enumerate(shown)) + " |"


def _on_one_line(cell: str) -> str:
    """The cell with spaces for line feeds, which would end the row of the table."""
    return cell.replace("\n", " ")


MARKDOWN_MARK = re.compile(r"[\\|*_]|<(?=[A-Za-z/!?])|(?<=\])\(")
"""The characters that Markdown would interpret, also `<` where an HTML tag begins, and `(` where the
address of a link or an image begins. It does not match in "p < 0.001" and "[low, high]"."""


def _escape_markdown(text: str) -> str:
    return MARKDOWN_MARK.sub(r"\\\g<0>", text)


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
    """Floating tables with the rules of booktabs, a caption, and the notes in small print below."""
    parts: list[str] = []
    labels: list[str] = []
    for table in tables:
        lines = [r"\begin{table}", r"\centering"]
        if caption := _caption(table):
            labels.append(_label(table.name or table.title or table.caption))
            label_suffix = f"-{labels.count(labels[-1])}" if labels[-1] in labels[:-1] else ""
            lines.append(rf"\caption{{{_escape_latex(caption)}}}")
            lines.append(rf"\label{{tab:{labels[-1]}{label_suffix}}}")
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
    """A name for LaTeX's \\ref: lower-case letters and digits, hyphens between words.

    >>> _label("Agreement with people, segment level")
    'agreement-with-people-segment-level'
    """
    words = re.findall(r"[a-z0-9]+", text.lower())
    return "-".join(words) or "wellput"


def _latex_grid(table: Table) -> list[str]:
    """The lines of the LaTeX environment tabular. The best cells are marked."""
    return [
        rf"\begin{{tabular}}{{l{('l' if table.is_prose else 'r') * (len(table.columns) - 1)}}}",
        r"\toprule",
        _latex_row(table.columns),
        r"\midrule",
        *(
            _latex_row(row, {j for best_row, j in table.best if best_row == i})
            for i, row in enumerate(table.rows)
        ),
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _latex_row(cells: Sequence[str], bold: Collection[int] = ()) -> str:
    shown = [_escape_latex(_on_one_line(cell)) for cell in cells]
    row = " & ".join(rf"\textbf{{{c}}}" if j in bold else c for j, c in enumerate(shown))
    # LaTeX would read [ or * at the start of a row as an argument of the rule or the \\ before it.
    return ("{}" if row.lstrip().startswith(("[", "*")) else "") + row + r" \\"


def _escape_latex(text: str) -> str:
    return "".join(LATEX_ESCAPES.get(character, character) for character in text)


def as_csv(columns: Sequence[str], records: Sequence[Mapping[str, Any]]) -> str:
    """Records as CSV; None and NaN are empty cells. Cells that a spreadsheet would run as formulas are
    marked (`io.tables`)."""
    from wellput.io.tables import TableWriter

    target = io.StringIO()
    table = TableWriter(target, ",", columns, mark_formulas=True)
    for record in records:
        values = (record.get(column) for column in columns)
        table.write([["" if _is_empty(value) else value for value in values]])
    return target.getvalue()


def as_json(value: Mapping[str, Any]) -> str:
    """Strict JSON: NaN becomes null. All control characters are escaped, because a terminal would act
    on them."""
    text = json.dumps(strict_json(value), ensure_ascii=False, indent=2, allow_nan=False)
    return text.translate(CONTROLS_IN_JSON) + "\n"


CONTROLS_IN_JSON = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}
"""Escapes of the control characters that `json.dumps` leaves as they are."""


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


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
    drawing, further_lines = lines[:3], lines[3:]
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
    return "\n".join([*blocks, *further_lines])


def _cut_between_words(columns: list[str], width: int) -> int:
    """The place of the last blank column within the width; if a word is longer, of the first blank
    column after it."""
    if len(columns) <= width:
        return len(columns)
    blanks = [place for place, column in enumerate(columns) if not column.strip()]
    within = [place for place in blanks if place <= width]
    return within[-1] if within else next(iter(blanks), len(columns))
