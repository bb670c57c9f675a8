"""`HtmlReport`: the page, one file that contains its style, scripts, charts and items; and its summary
on the terminal.

The page loads nothing: its content security policy forbids every request, and allows only the two
embedded scripts. Users' texts are data in the page, never markup: figures are JSON in which `<` is
escaped, items are packed with gzip, and the scripts only set `textContent`.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import resource
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, ClassVar

from wellput import __version__
from wellput.agreement.rankings.plain_ranking import LOWER_IS_BETTER
from wellput.core.errors import InputError, MissingExtra, counted
from wellput.core.metric import is_sentinel
from wellput.core.result import Result, strict_json
from wellput.core.work import OnPhase, ignore_phase
from wellput.io.files import PathLike
from wellput.io.output import write_text
from wellput.reporting.html.answer import references_sentence
from wellput.reporting.html.evaluation import Evaluation
from wellput.reporting.html.items import explorer_items
from wellput.reporting.html.sections import sections_of, slices_words
from wellput.reporting.score import few_items, left_out_sentence
from wellput.reporting.table import Report, Table

SCRIPTS = (
    "dom.js",
    "answer.js",
    "charts.js",
    "pairs.js",
    "alignment.js",
    "tree.js",
    "explorer.js",
    "page.js",
)
"""The files in `assets` that make up the page's own script, in this order."""
LIBRARY_ENTRY = "window.vegaEmbed = vegaEmbed;"
"""The line that vl-convert adds to the chart library, so that the page's own script can call it."""
MIN_FREE_BYTES = 1 << 29
"""The address space, in bytes, that vl-convert needs to bundle the chart library."""


def report_page(evaluation: Evaluation, library: str, *, on_phase: OnPhase = ignore_phase) -> str:
    """The report as HTML; `library` is the script that `chart_library` gives."""
    assets = files("wellput.reporting.html") / "assets"
    page_script = "\n".join((assets / name).read_text(encoding="utf-8") for name in SCRIPTS)
    shown_items = evaluation.shown_items
    n_outputs = sum(len(item.outputs) for item in shown_items.items)
    on_progress = on_phase("drawing alignments of outputs", n_outputs)
    items = explorer_items(
        shown_items,
        evaluation.metrics,
        evaluation.output_tables,
        evaluation.people,
        on_progress,
    )
    on_phase("writing the page")
    page = Template((assets / "page.html").read_text(encoding="utf-8"))
    return page.substitute(
        title=html.escape(evaluation.title),
        policy=content_policy(library, page_script),
        style=(assets / "report.css").read_text(encoding="utf-8"),
        data=embedded_json(page_data(evaluation)),
        items=packed_json(items),
        library=library,
        script=page_script,
    )


def page_data(evaluation: Evaluation) -> dict[str, Any]:
    """The data of the page, without the items."""
    result, shown_items = evaluation.result, evaluation.shown_items
    return {
        "title": evaluation.title,
        "version": __version__,
        "total": shown_items.total,
        "shown": len(shown_items.items),
        "seed": result.seed,
        "systems": list(result.systems),
        "order": [result.systems.index(system) for system in evaluation.order],
        "facts": facts(evaluation),
        "answers": [answer.to_dict() for answer in evaluation.answers],
        "metrics": list(result.metrics),
        "lower": [name for name in result.metrics if result.higher_is_better[name] is False],
        "lower_questions": sorted(LOWER_IS_BETTER),
        "questions": list(evaluation.people.ratings) if evaluation.people else [],
        "unit": evaluation.people.unit if evaluation.people else "",
        "sections": [section.to_dict() for section in sections_of(evaluation)],
    }


def facts(evaluation: Evaluation) -> list[str]:
    """The counts of items, systems, metrics, judges and judgments."""
    result, agreement = evaluation.result, evaluation.agreement
    n_metrics = sum(not is_sentinel(metric) for metric in result.metrics)
    counts = [(result.items, "item"), (len(result.systems), "system"), (n_metrics, "metric")]
    if agreement is not None and agreement.ranking:
        counts.append((max(ranking.n_judges for ranking in agreement.ranking), "judge"))
        counts.append((sum(ranking.n for ranking in agreement.ranking), "judgment"))
    return [counted(n, what) for n, what in counts if n]


def embedded_json(value: Mapping[str, Any]) -> str:
    """Strict JSON without characters that could end the script element in which it stands."""
    strict = strict_json(value)
    text = json.dumps(strict, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def packed_json(value: object) -> str:
    """The value as JSON, packed by gzip and written in base64: a third of the size, and no character
    that has a meaning in HTML."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode("ascii"), 6, mtime=0)).decode("ascii")


def content_policy(*scripts: str) -> str:
    """The content security policy under which only these scripts run, and nothing is loaded. Vega
    compiles expressions, which needs `unsafe-eval`."""
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes} 'unsafe-eval'; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def chart_library() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script."""
    try:
        import vl_convert
    except ImportError:
        raise MissingExtra("A report", "report") from None
    _check_address_space()
    bundle: str = vl_convert.javascript_bundle(LIBRARY_ENTRY)
    return bundle.replace("</script", "<\\/script")


def _check_address_space() -> None:
    """Raises InputError if `ulimit -v` leaves too little memory: vl-convert would then end the whole
    program."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    sizes = Path("/proc/self/statm")
    if limit == resource.RLIM_INFINITY or not sizes.exists():
        return
    free_bytes = limit - int(sizes.read_text().split()[0]) * resource.getpagesize()
    if free_bytes < MIN_FREE_BYTES:
        raise InputError(
            f"The charts of a report need {MIN_FREE_BYTES >> 20} MB of address space, but the limit "
            f"leaves {max(0, free_bytes) >> 20} MB. Raise the limit (ulimit -v), or limit memory "
            "instead."
        )


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


@dataclass(frozen=True, repr=False)
class HtmlReport(Result):
    """`html` is the whole page, one file that needs nothing else."""

    presented_by: ClassVar[str] = "wellput.reporting.html.page:report_summary"

    evaluation: Evaluation = field(repr=False)
    html: str
    path: PathLike | None = None

    def save(self, path: PathLike) -> None:
        """Writes the page."""
        write_text(self.html, path)

    def records(self) -> list[dict[str, Any]]:
        """One record: the file, its size, how many items there are and how many are shown."""
        shown_items = self.evaluation.shown_items
        return [
            {
                "file": None if self.path is None else str(self.path),
                "bytes": len(self.html.encode(errors="backslashreplace")),
                "items": shown_items.total,
                "shown": len(shown_items.items),
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
    """What the terminal shows: the file, what is in it, and the answer in words."""
    evaluation = report.evaluation
    shown_items, result = evaluation.shown_items, evaluation.result
    record = report.records()[0]
    shown = (
        counted(shown_items.total, "item")
        if shown_items.is_whole
        else (f"{len(shown_items.items):,} of {shown_items.total:,} items, drawn at random")
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
    """The sentences of the answer, and notes on what limits it or is missing."""
    agreement = evaluation.agreement
    advice = [] if agreement is None else [*agreement.advice, *agreement.notes]
    lines = [sentence for answer in evaluation.answers for sentence in answer.sentences]
    about_references = [references_sentence(evaluation.shown_items.items)]
    result = evaluation.result
    by_slice = slices_words(result, agreement) if result.slices else []
    missing = [*map(left_out_sentence, result.left_out), *result.notes]
    return [
        *lines,
        *by_slice,
        *few_items(result),
        *advice,
        *missing,
        *filter(None, about_references),
    ]
