"""`fit`: a metric fitted to people's judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wellput.agreement.analysis import AgreementOptions
from wellput.agreement.exclusions import parse_exclusion, with_unknown_excluded
from wellput.agreement.fit import Criterion, Fit, FitMethod, fit_table, panel_provenance
from wellput.agreement.judged_samples import with_judged_samples
from wellput.agreement.judgment_names import notes_on_names
from wellput.agreement.panel import Normalization, names_of, selection_ratings
from wellput.agreement.prepared_panels import (
    chosen_judges,
    prepared_panels,
    refuse_labels,
)
from wellput.api.inputs import (
    Answers,
    Columns,
    Items,
    check_files,
    open_items,
    paths_in,
    read_answers,
)
from wellput.api.output_values import output_mask
from wellput.core.errors import InputError, did_you_mean
from wellput.core.estimates import Generalize
from wellput.core.judgment import Judgment, Preference
from wellput.core.metric import Metric
from wellput.core.options import checks_options
from wellput.core.registries import Names, refuse_objects, split_names, split_specs
from wellput.core.source import EvalSource
from wellput.core.work import OnPhase, available_cores, ignore_phase
from wellput.engine.score import score_source
from wellput.engine.scoring_plan import Inference, ScoringPlan
from wellput.io.files import PathLike
from wellput.io.judgment_columns import split_columns
from wellput.metrics import registry
from wellput.metrics.fitted import predictor_name, split_predictor
from wellput.metrics.logged import Logged, scorers_named


@checks_options
def fit(
    evalset: Items,
    judgments: Answers,
    *,
    column: Columns = (),
    question: str,
    predictors: Names,
    trees: str | None = None,
    method: FitMethod = "ols",
    stepwise: Criterion | None = None,
    normalize: Normalization | None = None,
    judges: Names = "people",
    exclude: str | list[str] | tuple[str, ...] = (),
    exclude_judges_below: float | None = None,
    no_rescale: bool = False,
    generalize: Generalize = "both",
    cluster: str | None = None,
    no_probe: bool = False,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> Fit:
    """Fits a metric to people's judgments.

    Parameters
    ----------
    evalset, judgments
        As for `agree`. If these are pairwise choices, the metric is fitted to the share of times that
        an output was chosen.
    column
        Names columns, each as FIELD=NAME. Fields of the evalset's file are as for `score`. Fields of
        the judgments are `judge`, `item`, `system`, `question` and `value`, or `system_a`, `system_b`
        and `choice`.
    question
        Fits the answers to this question.
    predictors
        Metrics and their components: `"sta,ssa.substitutions,length"`.
    trees
        Parses references that have no tree: `"auto"` with wellput's parser, `"spacy:NAME"` with an
        installed spaCy pipeline.
    method
        `"ols"`: least squares; `"ridge"`: ridge regression, with a penalty chosen by leave-one-out
        cross-validation.
    stepwise
        Keeps only the best predictors, chosen by `"aic"` or by `"p"`.
    normalize, judges, exclude, exclude_judges_below
        As for `agree`.
    no_rescale
        Keeps all predictors, and the scale of the judgments. Otherwise predictors that have no perfect
        value, such as the number of tokens, are dropped, and a perfect output scores 1.
    cluster
        What counts as one unit in intervals and tests, as for `score`. Default: documents, if items
        have them.
    generalize
        Whether intervals and p-values hold for other systems and other items (`"both"`), for these
        systems and other items (`"items"`), or for other systems and these items (`"systems"`).
    no_probe
        Does not test what the metric misses. Otherwise the metric is probed with 60 English texts, as
        `probe` does.
    path
        Writes the metric to a `.json` file, which `score` accepts as a metric.
    seed, threads, on_phase
        As for `score`.

    Returns
    -------
    Fit
        `fit.model` is the metric, `fit.save("quality.json")` writes it.

    Raises
    ------
    InputError
        Nobody answered the question, a predictor is unknown, or nothing is left to fit.

    Examples
    --------
    >>> import wellput
    >>> evalset = wellput.EvalSet.of({"A": ["a b c", "a b", "c a b", "a", "b c a"]}, ["a b c"] * 5)
    >>> ratings = [
    ...     wellput.Judgment("Kim", item, "A", "quality", value)
    ...     for item, value in (("1", 7), ("2", 5), ("3", 4), ("4", 2), ("5", 3))
    ... ]
    >>> fit = wellput.fit(evalset, ratings, question="quality", predictors="ssa")
    >>> round(fit.regression.r_squared, 2)
    0.86
    """
    from wellput.io.files import file_fingerprint
    from wellput.metrics.fitted import check_savable

    if path is not None:
        check_savable(path)
    check_files([path], [evalset, judgments, *paths_in(predictors)])
    metrics, names = predictor_metrics(predictors)
    rules = [exclude] if isinstance(exclude, str) else list(exclude)
    exclusions = [parse_exclusion(rule, question) for rule in rules]
    on_phase("reading judgments")
    column, judgment_columns = split_columns(column)
    all_answers = _answers_to(question, judgments, judgment_columns)
    answers, left_out = chosen_judges(all_answers, split_names(judges))
    refuse_labels(question, answers)
    choices = [answer for answer in answers if isinstance(answer, Preference)]
    ratings = [answer for answer in answers if isinstance(answer, Judgment)]
    source = open_items(evalset, metrics, trees, column=column, threads=threads, on_phase=on_phase)
    metrics, names = _with_all_scorers(metrics, names, source)
    known_names = names_of(source.unparsed, on_progress=on_phase("reading items"))
    judged_source = with_judged_samples(source, answers, exclusions=exclusions)
    exclusions = with_unknown_excluded(answers, exclusions, known_names)
    plan = ScoringPlan(threads=threads or available_cores(), keep_rows=True)
    scored = score_source(
        judged_source, metrics, inference=Inference(cluster=cluster), plan=plan, on_phase=on_phase
    )
    tables = scored.tables
    first_table = tables[metrics[0].name]
    # The ratings as given are not needed, only those on a common scale.
    _, panels_by_question = prepared_panels(
        selection_ratings(choices) if choices else ratings,
        first_table.systems,
        first_table.items,
        AgreementOptions(
            normalization=normalize or ("none" if choices else None),
            questions=[question],
            exclusions=exclusions,
            judges_below=exclude_judges_below,
        ),
    )
    panel = panels_by_question[question]
    panel = replace(panel, excluded=(*left_out, *panel.excluded))
    files = {"evalset": evalset, "judgments": judgments}
    hashes = {
        name: file_fingerprint(file) for name, file in files.items() if isinstance(file, PathLike)
    }
    result = fit_table(
        tables,
        panel.table(),
        names,
        method=method,
        stepwise=stepwise,
        rescale=not no_rescale,
        generalize=generalize,
        # If items have no reference, some outputs are not scored. This tells them from missing outputs.
        has_output=output_mask(source.unparsed, first_table) if scored.left_out else None,
        seed=seed,
        provenance={**panel_provenance(panel), "sha256": hashes},
        on_phase=on_phase,
    )
    result = replace(result, notes=(*scored.notes, *notes_on_names(answers)))
    if not no_probe:
        from wellput.api.probe import blind_spots

        on_phase("probing the metric")
        result = replace(result, blind_spots=blind_spots(result.as_metric(), threads))
    if path is not None:
        result.save(path)
    return result


def predictor_metrics(predictors: Names) -> tuple[list[Metric], list[str]]:
    """The metrics to score, and the names of the predictors. A file of scores gives a predictor for
    each of its metrics."""
    metrics: dict[str, Metric] = {}
    names: list[str] = []
    for text in [predictors] if isinstance(predictors, str) else predictors:
        refuse_objects(text)
        for name in split_specs(text):
            if name.lower().endswith(".json"):
                raise InputError(f"{name} is a fitted metric; it cannot be a predictor.")
            if registry.SCORE_FILE.match(name):
                from wellput.metrics.external import external_metrics

                # Named by the path, so that another file may have a metric of the same name.
                metrics_of_file = {
                    metric.name: metric
                    for metric in (metric.by_path() for metric in external_metrics(name))
                }
                metrics |= metrics_of_file
                names += metrics_of_file
                continue
            spec, component = split_predictor(name)
            metric = registry.create(spec)
            metrics[metric.name] = metric
            names.append(predictor_name(metric.name, component))
    if not names:
        raise InputError("No predictor was given. Examples are sta, ssa.substitutions and length.")
    return list(metrics.values()), names


def _with_all_scorers(
    metrics: Sequence[Metric], names: Sequence[str], source: EvalSource
) -> tuple[list[Metric], list[str]]:
    """The metrics and the names of predictors. A metric name that stands for several scorers of an
    evaluation log is replaced by one for each scorer."""
    logged_metrics = {
        metric.name: metric
        for metric in metrics
        if isinstance(metric, Logged) and metric.stands_for_several
    }
    names_of_scorers = {
        name: [metric.name for metric in scorers_named([metric_of_log], source)]
        for name, metric_of_log in logged_metrics.items()
    }
    return scorers_named(metrics, source), [
        n for name in names for n in names_of_scorers.get(name, [name])
    ]


def _answers_to(question: str, judgments: Answers, column: Columns) -> list[Judgment | Preference]:
    all_answers = read_answers(judgments, column)
    questions = list(dict.fromkeys(answer.question for answer in all_answers))
    if question not in questions:
        raise InputError(
            f"Nobody answered question={question!r}.{did_you_mean(question, questions)} "
            f"The questions are {', '.join(questions)}."
        )
    return [answer for answer in all_answers if answer.question == question]
