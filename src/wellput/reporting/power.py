"""The table of `wellput power`. It says that its figures are simulated.

A *proxy*, such as a metric, also scores items that people do not rate. A study with a proxy combines
the proxy's scores with people's ratings."""

from __future__ import annotations

import math

from wellput.core.errors import counted
from wellput.reporting.table import Report, Table, number, with_interval
from wellput.stats.mixed.contrasts import MIN_JUDGES_FOR_FREEDOM
from wellput.stats.power import PowerRow, PowerTable, SmallestStudy

CSV_COLUMNS = ("items", "judges", "power", "low", "high", "method")


def power_report(table: PowerTable) -> Report:
    """Power by items and judges."""
    columns = (*CSV_COLUMNS, "people_only") if table.has_proxy else CSV_COLUMNS
    return Report([power_table(table)], table.values(), columns, table.records())


def power_table(table: PowerTable) -> Table:
    """A row for each number of items, a column for each number of judges."""
    judges = list(dict.fromkeys(row.n_judges for row in table.rows))
    items = list(dict.fromkeys(row.n_items for row in table.rows))
    row_of = {(row.n_items, row.n_judges): row for row in table.rows}
    first_power = table.rows[0].power
    undefined = dict.fromkeys(row.power.method for row in table.rows if math.isnan(row.power.value))
    return Table(
        columns=[
            "rated items" if table.has_proxy else "items",
            *(heading for k in judges for heading in _headings(k, table)),
        ],
        rows=[[str(n), *(cell for k in judges for cell in _cells(row_of[n, k]))] for n in items],
        title=f"Power to tell two {table.what} apart (simulated)",
        notes=[
            *(_needed(study, table) for study in table.smallest),
            *table.notes,
            *(f"undefined: {_reason(method)}." for method in undefined),
            *_one_judge(table),
            *_few_judges(table),
            f"Simulated: {table.test} at {table.alpha:g}, {first_power.n or 0:,} studies of each size, "
            f"seed {first_power.seed}; [low, high] is the simulation's own 95% interval.",
        ],
    )


def _reason(method: str) -> str:
    """The reason in a method such as "simulated: REASON, 1000 simulations"."""
    return method.partition(": ")[2].rpartition(", ")[0]


def _one_judge(table: PowerTable) -> list[str]:
    """A note that the result will hold for these judges only, where the test is over items alone."""
    judged = [row for row in table.rows if row.n_judges == 1 and not math.isnan(row.power.value)]
    if table.has_proxy:
        return ["The result of the study will hold for its judges and other items."]
    if table.what != "systems" or not judged:
        return []
    return ["With 1 judge the result of the study will hold for that judge only."]


def _few_judges(table: PowerTable) -> list[str]:
    """A note if there are two or three judges: they show little about other judges, so power is
    lower than with one judge, whose result holds for that judge only."""
    has_few = any(1 < (row.n_judges or 0) < MIN_JUDGES_FOR_FREEDOM for row in table.rows)
    if table.what != "systems" or table.has_proxy or not has_few:
        return []
    return [
        "With several judges, the result is meant to hold for other judges, too. Two or three are "
        f"hardly enough for that; {MIN_JUDGES_FOR_FREEDOM} or more need far fewer items, or reach a "
        "power that two or three cannot."
    ]


def _headings(judges: int | None, table: PowerTable) -> list[str]:
    """The headings of the one or two columns for this number of judges."""
    heading = "power" if judges is None else counted(judges, "judge")
    return [heading, "with the proxy"] if table.has_proxy else [heading]


def _cells(row: PowerRow) -> list[str]:
    """The power by people alone, if there is a proxy; then the power of the study."""
    powers = [row.power] if row.people_only is None else [row.people_only, row.power]
    return [with_interval(number(power.value, 3), power.low, power.high, 3) for power in powers]


def _needed(study: SmallestStudy, table: PowerTable) -> str:
    """How many items a study with this many judges needs, in words."""
    with_judges = "" if study.n_judges is None else f" with {counted(study.n_judges, 'judge')}"
    start = f"A power of {table.target:g}{with_judges}"
    if not table.has_proxy:
        if study.n_items is None:
            return f"{start}: {study.note}."
        return f"{start} takes about {counted(study.n_items, 'item')}."
    people_only = (
        "more than a million" if study.people_only is None else f"about {study.people_only:,}"
    ) + " by people alone"
    if study.n_items is None:
        return (
            f"{start} takes {people_only.replace(' by', ' items by')}; with the proxy {study.note}."
        )
    return f"{start} takes about {counted(study.n_items, 'item')} with the proxy, {people_only}."
