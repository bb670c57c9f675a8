"""`demo`: scores, agreement with judgments, and the report of the embedded example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from wellput.agreement.analysis import AgreementOptions
from wellput.agreement.correlations import Uncertainty
from wellput.agreement.result import AgreementResult
from wellput.api.inputs import check_files
from wellput.core.errors import MissingExtra
from wellput.core.evalset import EvalSet
from wellput.core.judgment import Judgment
from wellput.core.options import checks_options
from wellput.core.result import Result
from wellput.core.work import OnPhase, available_cores, ignore_phase
from wellput.engine.result import ScoreResult
from wellput.example.harbor import EXAMPLE_BASELINE, harbor_example, simulated_judgments
from wellput.io import check_table, replacing, write_evalset, write_judgments
from wellput.io.files import PathLike
from wellput.reporting.html import page as html_page
from wellput.reporting.html.evaluation import evaluate_for_page

DEMO_METRICS = "bleu,chrf,gsa,fluency"
DEMO_TITLE = "Harbor announcements (wellput demo, judges simulated)"


@dataclass(frozen=True, repr=False)
class Demo(Result):
    """The evalset and the simulated judgments of the example, with the results of `score` and `agree`.
    `page` is the file of the report; None if it was not written."""

    presented_by: ClassVar[str] = "wellput.reporting.ranking:demo_report"

    evalset: EvalSet
    judgments: list[Judgment]
    scores: ScoreResult
    agreement: AgreementResult
    page: PathLike | None = None

    def records(self) -> list[dict[str, Any]]:
        """A record for each system under each metric."""
        return self.scores.records()

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput score`, with the JSON of `wellput agree` under the key `agreement`."""
        return {**self.scores.values(), "agreement": self.agreement.values()}


@checks_options
def demo(
    *,
    save: PathLike | None = None,
    save_judgments: PathLike | None = None,
    report: PathLike = "wellput-demo.html",
    no_report: bool = False,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> Demo:
    """Shows wellput on an embedded example: announcements of a harbor, written by seven systems, each
    with two references and their trees, and ratings by eight simulated judges.

    Parameters
    ----------
    save, save_judgments
        Write the evalset and the simulated judgments of the example to these files.
    report, no_report
        The HTML file of the report, and whether to leave the report out. It is always left out if the
        extra `report` is not installed.
    path
        Writes the table to a file; a `.json`, `.csv`, `.tex` or `.md` file is in that format.
    seed, threads, on_phase
        As for `score`.

    Returns
    -------
    Demo
        `evalset`, `judgments`, `scores` and `agreement`.

    Raises
    ------
    OutputError
        A file cannot be written.

    Examples
    --------
    >>> import wellput
    >>> wellput.demo(no_report=True).agreement.ranking[0].leaders
    ['careful']
    """
    on_phase("loading the charts")
    library = None if no_report else _chart_library_if_installed()
    page = None if library is None else report
    for table in (save, save_judgments):
        if table is not None:
            check_table(table)
    check_files([path, save, save_judgments, page], [])
    evalset = harbor_example()
    judgments = simulated_judgments(evalset)
    if save is not None:
        write_evalset(evalset, save)
    if save_judgments is not None:
        write_judgments(judgments, save_judgments)
    uncertainty = Uncertainty(seed=seed, threads=threads or available_cores())
    evaluation = evaluate_for_page(
        evalset,
        judgments,
        DEMO_METRICS,
        title=DEMO_TITLE,
        baseline=EXAMPLE_BASELINE,
        max_shown=len(evalset),
        options=AgreementOptions(uncertainty=uncertainty),
        on_phase=on_phase,
    )
    if library is not None:
        text = html_page.report_page(evaluation, library, on_phase=on_phase)
        with replacing(report) as file:
            file.write(text.encode(errors="backslashreplace"))
    assert evaluation.agreement is not None  # because there are judgments
    result = Demo(evalset, judgments, evaluation.result, evaluation.agreement, page)
    if path is not None:
        result.save(path)
    return result


def _chart_library_if_installed() -> str | None:
    """The JavaScript library of the report's charts. None if the extra `report` is not installed: the
    demo then makes no report."""
    try:
        return html_page.chart_library()
    except MissingExtra:
        return None
