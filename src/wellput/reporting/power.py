"""The table of `wellput power`. It says that its figures are simulated."""

from __future__ import annotations

import math

from wellput.core.errors import counted
from wellput.reporting.table import Report, Table, number, with_interval
from wellput.stats.mixed.balanced_panel import MIN_JUDGES_FOR_FREEDOM
from wellput.stats.power import PowerRow, PowerTable, SmallestStudy

CSV_COLUMNS = ("items", "judges", "power", "low", "high", "method")


def power_report(table: PowerTable) -> Report:
    """Power by items and judges."""
    return Report([power_table(table)], table.values(), CSV_COLUMNS, table.records())


def power_table(table: PowerTable) -> Table:
    """A row for each number of items, a column for each number of judges."""
    judges = list(dict.fromkeys(row.n_judges for row in table.rows))
    items = list(dict.fromkeys(row.n_items for row in table.rows))
    cells = {(row.n_items, row.n_judges): row for row in table.rows}
    first = table.rows[0].power
    undefined = dict.fromkeys(row.power.method for row in table.rows if math.isnan(row.power.value))
    return Table(
        columns=["items", *(_heading(k) for k in judges)],
        rows=[[str(n), *(_cell(cells[n, k]) for k in judges)] for n in items],
        title=f"Power to tell two {table.what} apart (simulated)",
        notes=[
            *(_needed(one, table.target) for one in table.smallest),
            *table.notes,
            *(f"undefined: {method.partition(': ')[2]}." for method in undefined),
            *_one_judge(table),
            *_few_judges(table),
            f"Simulated: {table.test} at {table.alpha:g}, {first.n or 0:,} studies of each size, seed "
            f"{first.seed}; [low, high] is the simulation's own 95% interval.",
        ],
    )


def _one_judge(table: PowerTable) -> list[str]:
    """With one judge, the test is over items alone and cannot speak for other judges."""
    judged = [row for row in table.rows if row.n_judges == 1 and not math.isnan(row.power.value)]
    if table.what != "systems" or not judged:
        return []
    return ["With 1 judge the result of the study will hold for that judge only."]


def _few_judges(table: PowerTable) -> list[str]:
    """Two or three judges can hardly speak for others, so adding one to a single judge costs power."""
    has_few = any(1 < (row.n_judges or 0) < MIN_JUDGES_FOR_FREEDOM for row in table.rows)
    if table.what != "systems" or not has_few:
        return []
    return [
        "With several judges the result shall hold for other judges, too. Two or three are hardly "
        f"enough for that; from {MIN_JUDGES_FOR_FREEDOM} on far fewer items are needed."
    ]


def _heading(judges: int | None) -> str:
    return "power" if judges is None else counted(judges, "judge")


def _cell(row: PowerRow) -> str:
    return with_interval(number(row.power.value, 3), row.power.low, row.power.high, 3)


def _needed(one: SmallestStudy, target: float) -> str:
    who = "" if one.n_judges is None else f" with {counted(one.n_judges, 'judge')}"
    if one.n_items is None:
        return f"A power of {target:g}{who}: {one.note}."
    return f"A power of {target:g}{who} takes about {counted(one.n_items, 'item')}."
