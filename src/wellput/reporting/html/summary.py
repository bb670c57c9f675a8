"""The noun `HtmlReport`: the page, and what the terminal says of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from wellput.core.result import Result
from wellput.io import replacing
from wellput.io.files import PathLike
from wellput.reporting.html.contents import Evaluation
from wellput.reporting.html.verdict import likeness
from wellput.reporting.score import few_items
from wellput.reporting.table import Report, Table


@dataclass(frozen=True, repr=False)
class HtmlReport(Result):
    """`html` is the whole page, one file that needs nothing else."""

    presented_by: ClassVar[str] = "wellput.reporting.html.summary:report_summary"

    evaluation: Evaluation = field(repr=False)
    html: str
    path: PathLike | None = None

    def save(self, path: PathLike) -> None:
        """Writes the page."""
        with replacing(path) as file:
            file.write(self.html.encode(errors="backslashreplace"))

    def records(self) -> list[dict[str, Any]]:
        """One record: the file, its size, how many items there are and how many are shown."""
        sample = self.evaluation.sample
        return [
            {
                "file": None if self.path is None else str(self.path),
                "bytes": len(self.html.encode(errors="backslashreplace")),
                "items": sample.total,
                "shown": len(sample.items),
            }
        ]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput report`: the file, and the figures of `score` and `agree`."""
        agreement = self.evaluation.agreement
        return {
            **self.records()[0],
            "score": self.evaluation.result.values(),
            "agreement": None if agreement is None else agreement.values(),
        }


def report_summary(report: HtmlReport) -> Report:
    """The answer in words, what is shown, and where it lies."""
    evaluation = report.evaluation
    sample, result = evaluation.sample, evaluation.result
    record = report.records()[0]
    shown = (
        f"{sample.total:,} items"
        if sample.is_whole
        else (f"{len(sample.items):,} of {sample.total:,} items, drawn at random")
    )
    rows = [
        ["file", record["file"] or "not written"],
        ["size", f"{record['bytes'] / 1e6:.1f} MB"],
        ["shows", shown],
        ["systems", ", ".join(result.systems)],
        ["metrics", ", ".join(result.metrics)],
    ]
    table = Table(
        columns=["report", ""],
        rows=rows,
        notes=_in_words(evaluation),
        is_prose=True,
        caption="What the report shows",
    )
    return Report([table], report.values(), list(record), [record])


def _in_words(evaluation: Evaluation) -> list[str]:
    advice = evaluation.agreement.advice if evaluation.agreement else ()
    lines = [sentence for answer in evaluation.answers for sentence in answer.sentences]
    alike = likeness(evaluation.sample.items)
    return [*lines, *few_items(evaluation.result), *advice, *([alike] if alike else [])]
