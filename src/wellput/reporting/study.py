"""The tables of `wellput study`: a new study, its judges' links, its state, what was exported,
copied and erased."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from wellput.core.errors import counted
from wellput.reporting.ranking import ranking_table
from wellput.reporting.table import Report, Table, number

if TYPE_CHECKING:
    from wellput.studies.datasheet import Datasheet
    from wellput.studies.overview import Overview
    from wellput.studies.summaries import Backup, Export, Forgotten, InvitationList, StudySummary


TO_FILL_IN = "[to be filled in]"
"""Stands for an answer of the datasheet that only those who run the study know."""


def summary_report(summary: StudySummary) -> Report:
    """A row for each fact of the study; how its items were selected is only in JSON and CSV."""
    [record] = summary.records()
    rows = [
        [name.replace("_", " "), _cell(value)]
        for name, value in record.items()
        if name != "selection" and (name != "open_link" or value is not None)
    ]
    notes = []
    if summary.owner_token is not None:
        notes.append("The owner's token opens the dashboard; it is not shown again.")
    if (summary.selection or {}).get("method") == "import":  # the answers were imported
        notes.append("The study is closed, with all answers.")
        notes.append(f"Next: wellput study status {summary.study}")
    elif summary.open_link is not None:
        notes.append("Whoever has the open link can take a place, until all are taken.")
        notes.append(f"Next: wellput study serve {summary.study}")
    else:
        judges = summary.judges
        n_lacking = summary.trials * (summary.per_item or 0) - judges * summary.per_judge
        if n_lacking > 0:  # some designs show an item only once to a judge
            judges = math.ceil(summary.trials * (summary.per_item or 0) / summary.items)
            notes.append(
                f"A judge sees each item once, so {counted(summary.judges, 'judge')} cannot give all "
                f"answers: it takes at least {counted(judges, 'judge')}."
            )
        notes.append(f"Next: wellput study invite {summary.study} --judges {judges}")
    table = Table(["study", ""], rows, notes=notes, caption="The study")
    return _report(table, summary.values(), record)


def invitations_report(invited: InvitationList) -> Report:
    """The link of each judge."""
    table = Table(
        ["judge", "link"],
        [[invitation.judge, invitation.url] for invitation in invited],
        notes=["Give each judge their own link. Links are not shown again."],
        caption="Invitations",
    )
    return _report(table, invited.values(), *invited.records())


def export_report(export: Export) -> Report:
    """How many answers were written, and where."""
    # An export for Label Studio writes its labeling interface (XML) instead of the design.
    design_kind = "labeling interface" if (export.design or "").endswith(".xml") else "design"
    other_files = f", the {design_kind} to {export.design}" if export.design else ""
    other_files += f", the payments to {export.payments}" if export.payments else ""
    note = f"{counted(export.answers, 'answer')} written to {export.output}{other_files}."
    row = [str(export.answers), export.output]
    table = Table(["answers", "output"], [row], notes=[note], caption="The export")
    return _report(table, export.values(), export.values())


def backup_report(backup: Backup) -> Report:
    """Where the copy is, and how many answers and judges it has."""
    row = [backup.output, str(backup.answers), str(backup.judges)]
    table = Table(["output", "answers", "judges"], [row], caption="The backup")
    return _report(table, backup.values(), backup.values())


def datasheet_report(sheet: Datasheet) -> Report:
    """A table for each section of the datasheet. Answers that only those who run the study know
    are marked as missing."""
    sections = dict.fromkeys(answer.section for answer in sheet.answers)
    tables = [
        Table(
            ["question", "answer"],
            [
                [answer.question, TO_FILL_IN if answer.answer is None else answer.answer]
                for answer in sheet.answers
                if answer.section == section
            ],
            title=section,
        )
        for section in sections
    ]
    return Report(tables, sheet.values(), ["section", "question", "answer"], sheet.records())


def forgotten_report(forgotten: Forgotten) -> Report:
    """The judge whose answers were erased."""
    row = [forgotten.judge, str(forgotten.answers_erased)]
    table = Table(["judge", "answers erased"], [row], caption="Judge erased")
    return _report(table, forgotten.values(), forgotten.values())


def status_report(overview: Overview) -> Report:
    """Tables of the systems that the judges prefer, of the judges and their progress, and of how far
    they agree. CSV has only the judges."""
    tables = [
        *(ranking_table(ranking) for ranking in overview.ranking),
        _judges_table(overview),
    ]
    if overview.agreement:
        tables.append(_agreement_table(overview))
    records = overview.records()
    columns = list(records[0]) if records else ["name"]
    return Report(tables, overview.values(), columns, records)


def _judges_table(overview: Overview) -> Table:
    rows = [
        [
            judge.name,
            judge.state,
            f"{judge.done}/{judge.total}",
            "" if judge.seconds is None else number(judge.seconds, 1),
            "; ".join(judge.flags),
        ]
        for judge in overview.judges
    ]
    answered = f"{overview.done:,} of {counted(overview.planned, 'trial')} answered"
    notes = [f"{answered}; the study is {overview.state}."]
    if overview.unreachable:
        are = "is" if overview.unreachable == 1 else "are"
        notes.append(
            f"{overview.unreachable:,} of the planned answers {are} assigned to no judge: "
            "invite more judges."
        )
    if overview.forgotten:
        notes.append(
            f"{counted(overview.forgotten, 'judge')} withdrew, "
            f"{counted(overview.forgotten_answers, 'answer')} erased."
        )
    return Table(["judge", "state", "trials", "seconds", "flags"], rows, overview.title, notes)


def _agreement_table(overview: Overview) -> Table:
    return Table(
        ["question", "judges", "α", "mean r", "lowest r", "highest r"],
        [
            [
                row.question,
                str(row.n_judges),
                *(number(value, 2) for value in (row.alpha, row.r_mean, row.r_min, row.r_max)),
            ]
            for row in overview.agreement
        ],
        title="Agreement so far",
    )


def _report(table: Table, value: Mapping[str, Any], *records: Mapping[str, Any]) -> Report:
    return Report([table], value, list(records[0]) if records else [], records)


def _cell(value: object) -> str:
    return "" if value is None else str(value)
