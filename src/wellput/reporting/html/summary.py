"""What `wellput report` says on the terminal about the file it made."""

from __future__ import annotations

from wellput.reporting.html.contents import Evaluation
from wellput.reporting.html.verdict import likeness
from wellput.reporting.table import Report, Table


def report_summary(evaluation: Evaluation, path: str, size: int) -> Report:
    """The answer in words, what is shown, and where it lies."""
    sample, result = evaluation.sample, evaluation.result
    shown = (
        f"{sample.total:,} items"
        if sample.is_whole
        else (f"{len(sample.items):,} of {sample.total:,} items, drawn at random")
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
        "score": result.values(),
        "agreement": None if agreement is None else agreement.values(),
    }
    record = {key: value[key] for key in ("file", "bytes", "items", "shown")}
    table = Table(columns=["report", ""], rows=rows, notes=_in_words(evaluation), is_prose=True)
    return Report([table], value, list(record), [record])


def _in_words(evaluation: Evaluation) -> list[str]:
    advice = evaluation.agreement.advice if evaluation.agreement else ()
    lines = [sentence for answer in evaluation.answers for sentence in answer.sentences]
    return [*lines, *advice, *filter(None, [likeness(evaluation.sample.items)])]
