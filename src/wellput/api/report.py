"""`report`: makes an HTML file with the results, charts and every item."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

from wellput.agreement.analysis import AgreementOptions
from wellput.agreement.correlations import Uncertainty
from wellput.agreement.exclusions import answers_left, parse_exclusion
from wellput.agreement.machines.comparison import machine_comparisons
from wellput.agreement.panel import Normalization
from wellput.agreement.prepared_panels import choose_answers
from wellput.agreement.probe_results import ProbeResult
from wellput.agreement.rankings.judgment_design import with_documents
from wellput.api.inputs import (
    Answers,
    Columns,
    Items,
    Metrics,
    check_files,
    fitted_to,
    open_source,
    paths_in,
    read_answers,
)
from wellput.api.output_values import documents_of
from wellput.core.errors import InputError
from wellput.core.estimates import Generalize
from wellput.core.evalset import EvalSet
from wellput.core.judgment import Judgment, is_machine
from wellput.core.metric import is_sentinel
from wellput.core.options import checks_options
from wellput.core.registries import Names, split_names
from wellput.core.source import EvalSource
from wellput.core.work import OnPhase, available_cores, ignore_phase
from wellput.io.files import PathLike
from wellput.io.judgment_columns import split_columns
from wellput.metrics.external import ExternalMetric
from wellput.metrics.registry import create_all
from wellput.reporting.html import page as html_page
from wellput.reporting.html.evaluation import Evaluation, evaluate_for_page
from wellput.reporting.html.page import HtmlReport


@checks_options
def report(
    evalset: Items,
    judgments: Answers | None = None,
    *,
    column: Columns = (),
    metrics: Metrics = (),
    baseline: str | None = None,
    question: Names = (),
    normalize: Normalization | None = None,
    judges: Names = "people",
    exclude: str | list[str] | tuple[str, ...] = (),
    exclude_judges_below: float | None = None,
    items: int = 2000,
    generalize: Generalize = "both",
    cluster: str | None = None,
    by: str | None = None,
    probe: bool = False,
    resamples: int = 1000,
    title: str | None = None,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> HtmlReport:
    """Makes a report that opens in a browser: one file with the results, charts, and every item with
    the alignment of outputs and references. Items can be searched, filtered and sorted. Needs the
    extra `report`.

    Parameters
    ----------
    evalset, judgments
        As for `agree`. Without judgments the report shows metrics only.
    column
        Names columns, each as FIELD=NAME. Fields of the evalset's file are as for `score`. Fields of
        the judgments are `judge`, `item`, `system`, `question` and `value`, or `system_a`, `system_b`
        and `choice`.
    metrics
        As for `score`. Default: the metrics whose data (such as references or trees) the items have.
    baseline
        The system to compare with. Default: the first.
    question, normalize, judges, exclude, exclude_judges_below
        As for `agree`.
    items
        Shows at most this many items. Scores are computed from all items.
    cluster
        What counts as one unit in intervals and tests, as for `score`. Default: documents, if items
        have them.
    by
        A tag, such as `"domain"`: a section of the report also shows the results for the items of each
        of its values, with p-values corrected over all values. It names the values for which the order
        of systems differs from the order on all items.
    probe
        A section says which errors the metrics notice. `wellput.probe` finds this with the texts of the
        shown items, which must be English.
    generalize
        As for `agree`, for the agreement of metrics with people. Intervals of scores hold for these
        systems and other items.
    resamples, seed
        For the tests of metrics against people.
    title
        Heading of the report. Default: the name of the evalset file.
    path
        Where to write the page.
    threads, on_phase
        As for `score`.

    Returns
    -------
    HtmlReport
        `report.html` is the page, `report.save("report.html")` writes it.

    Raises
    ------
    InputError
        A file, a name or a value is wrong, or an option needs judgments that were not given.
    MissingExtra
        The extra `report` is not installed.

    Examples
    --------
    >>> import wellput
    >>> texts = {"A": ["a cat sat"] * 3, "B": ["sat a cat"] * 3}
    >>> evalset = wellput.EvalSet.of(texts, ["a cat sat"] * 3)
    >>> "<!doctype html>" in wellput.report(evalset, metrics="ssa").html
    True
    """
    judgment_options = {
        "question": question,
        "normalize": normalize,
        "judges": None if judges in ("people", ["people"], ("people",)) else judges,
        "exclude": exclude,
        "exclude_judges_below": exclude_judges_below,
        "generalize": None if generalize == "both" else generalize,
    }
    set_options = [
        name for name, value in judgment_options.items() if value not in ((), [], "", None)
    ]
    if judgments is None and set_options:
        raise InputError(f"{set_options[0]}= is about judgments: give judgments, too.")
    if path is not None and Path(path).suffix.lower() not in ("", ".html", ".htm"):
        raise InputError(f"{path}: a report is an HTML page; give a name that ends in .html.")
    check_files([path], [evalset, judgments, *paths_in(metrics)])
    rules = [exclude] if isinstance(exclude, str) else list(exclude)
    exclusions = [parse_exclusion(text) for text in rules]
    on_phase("loading the charts")
    library = html_page.chart_library()  # fails at once if the extra is missing
    on_phase("reading judgments")
    column, judgment_columns = split_columns(column)
    source = open_source(evalset, column)
    all_answers = (
        []
        if judgments is None
        else with_documents(read_answers(judgments, judgment_columns), documents_of(source))
    )
    chosen_answers = choose_answers(
        all_answers,
        judges=split_names(judges),
        questions=[question] if isinstance(question, str) else list(question),
        exclusions=exclusions,
    )
    options = AgreementOptions(
        cluster=cluster,
        normalization=normalize,
        questions=chosen_answers.questions,
        exclusions=exclusions,
        judges_below=exclude_judges_below,
        uncertainty=Uncertainty(
            generalize=generalize,
            n_resamples=resamples,
            seed=seed,
            threads=threads or available_cores(),
        ),
        fitted_to_these_judgments=fitted_to(judgments, create_all(metrics) if metrics else ()),
    )
    evaluation = evaluate_for_page(
        source,
        chosen_answers.answers,
        metrics,
        title=title or _title(evalset),
        baseline=baseline,
        max_shown=items,
        options=options,
        by=by,
        on_phase=on_phase,
    )
    if evaluation.agreement is not None:
        evaluation = replace(
            evaluation, agreement=chosen_answers.with_exclusions_noted(evaluation.agreement)
        )
    if any(is_machine(answer.judge) for answer in all_answers):
        on_phase("comparing machine judges with people")
        answers_not_excluded = answers_left(cast("list[Judgment]", all_answers), exclusions)
        machines = machine_comparisons(answers_not_excluded, questions=chosen_answers.questions)
        evaluation = replace(evaluation, machines=machines)
    if probe:
        evaluation = replace(evaluation, probed=_probed(evaluation, seed, threads, on_phase))
    page = HtmlReport(
        evaluation, html_page.report_page(evaluation, library, on_phase=on_phase), path
    )
    if path is not None:
        page.save(path)
    return page


def _title(evalset: Items) -> str:
    return "Evaluation" if isinstance(evalset, EvalSource) else Path(evalset).name


def _probed(
    evaluation: Evaluation, seed: int, threads: int | None, on_phase: OnPhase
) -> ProbeResult:
    """A probe of the report's metrics on the shown items. Left out are sentinels, metrics of which
    neither higher nor lower scores are better, and metrics that cannot score new texts."""
    from wellput.api.probe import probe

    scorable = [
        metric
        for metric in evaluation.metrics
        if metric.higher_is_better is not None
        and metric.needs <= {"references", "tree", "source"}
        and not is_sentinel(metric.name)
        and not isinstance(metric, ExternalMetric)
    ]
    if not scorable:
        raise InputError("probe=True: none of the metrics can score changed texts.")
    texts = EvalSet(evaluation.shown_items.items)
    trees = "auto" if any("tree" in metric.needs for metric in scorable) else None
    return probe(scorable, texts, trees=trees, seed=seed, threads=threads, on_phase=on_phase)
