"""What `wellput report` says on the terminal about the file it made."""

from __future__ import annotations

from wellput.core.counted import counted
from wellput.report.html.contents import Evaluation, verdict_section
from wellput.report.table import Report, Table


def report_summary(evaluation: Evaluation, path: str, size: int) -> Report:
    """The verdict, what is shown, and where it lies."""
    sample, result = evaluation.sample, evaluation.result
    shown = (
        counted(sample.total, "item")
        if sample.is_whole
        else f"{len(sample.items):,} of {counted(sample.total, 'item')}, drawn at random"
    )
    rows = [
        ["file", path],
        ["size", f"{size / 1e6:.1f} MB"],
        ["shows", shown],
        ["systems", ", ".join(result.systems)],
        ["metrics", ", ".join(result.metrics)],
    ]
    agreement = evaluation.agreement
    value = {
        "file": path,
        "bytes": size,
        "items": sample.total,
        "shown": len(sample.items),
        "score": result.to_dict(),
        "agreement": None if agreement is None else agreement.to_dict(),
    }
    record = {key: value[key] for key in ("file", "bytes", "items", "shown")}
    table = Table(
        columns=["report", ""],
        rows=rows,
        notes=verdict_section(evaluation).words,
        is_prose=True,
        caption="What the report shows",
    )
    return Report([table], value, list(record), [record])
