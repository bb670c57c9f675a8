"""What `wellput degrade` shows: the sentences, or how many each system has."""

from __future__ import annotations

from wellput.language.degrade.result import DegradedSentences
from wellput.reporting.table import Report, Table


def degrade_report(result: DegradedSentences) -> Report:
    """A row for each record; on a terminal the sentences alone, a line each."""
    records = result.records()
    columns = ("system", "sentences", "example") if result.is_summary else ("system", "sentence")
    rows = [[str(record[column]) for column in columns] for record in records]
    table = Table(columns, rows, is_prose=True, caption="Sentences by system")
    lines = "".join(f"{text}\n" for text in result.sentences)
    return Report(
        [table], result.values(), columns, records, text=None if result.is_summary else lines
    )
