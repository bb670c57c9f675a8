"""Protects readers of CSV and TSV files from formulas. A text that a spreadsheet would run, such as
`=HYPERLINK(…)` as the name of a judge, is written with an apostrophe before it.
Our readers take the apostrophe away.

A text begins dangerously if `=`, `+`, `-`, `@`, a tab or a line break stands first, or one of the wide
signs `＝＋－＠` (OWASP, "CSV injection"). Numbers are no danger and stay as they are. A text that has
apostrophes before such a sign gets one more, so that reading gives back exactly what was written.
"""

from __future__ import annotations

import re
from typing import TypeVar

_DANGEROUS = r"[=+\-@\t\r\n＝＋－＠]"
_FORMULA = re.compile(_DANGEROUS)
_MARKED = re.compile(rf"'+{_DANGEROUS}")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)

Cell = TypeVar("Cell")


def without_formula(cell: Cell) -> Cell | str:
    """The cell as it is written.

    >>> without_formula("=1+1"), without_formula("-1.5"), without_formula("Ann"), without_formula(-2)
    ("'=1+1", '-1.5', 'Ann', -2)
    """
    if not isinstance(cell, str):
        return cell
    is_formula = _FORMULA.match(cell) and not _NUMBER.match(cell)
    return f"'{cell}" if is_formula or _MARKED.match(cell) else cell


def with_formula(cell: str) -> str:
    """The inverse of `without_formula`.

    >>> with_formula("'=1+1"), with_formula("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if cell[:1] == "'" and _MARKED.match(cell) else cell
