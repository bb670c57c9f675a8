"""`agree`: which systems people prefer, and how far metrics agree with people.

`blind_spot_hints` warns of errors that a metric does not notice, even if it agrees with people on these
judgments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Literal, cast

from wellput.agreement.advice import shown_to_agree
from wellput.agreement.analysis import AgreementOptions, MetricItems, agree_by
from wellput.agreement.analysis import agree as agree_on_ratings
from wellput.agreement.correlations import Uncertainty
from wellput.agreement.exclusions import parse_exclusion, with_unknown_excluded
from wellput.agreement.judged_samples import with_judged_samples
from wellput.agreement.panel import Normalization, names_of
from wellput.agreement.preferences import KEPT, REFUSED, agree_on_preferences, decisions_of
from wellput.agreement.prepared_panels import choose_answers
from wellput.agreement.probe_results import BlindSpots
from wellput.agreement.rankings.judgment_design import with_documents
from wellput.agreement.result import AgreementLevel, AgreementResult
from wellput.agreement.span_level import agree_on_spans, with_spans
from wellput.api.inputs import (
    Answers,
    Columns,
    Items,
    Metrics,
    check_files,
    fitted_to,
    open_items,
    paths_in,
    read_answers,
)
from wellput.api.score import with_paraphrases
from wellput.core.errors import InputError, counted, did_you_mean
from wellput.core.estimates import Generalize
from wellput.core.judgment import Judgment, Preference
from wellput.core.metric import Metric
from wellput.core.options import checks_options
from wellput.core.registries import Names, split_names
from wellput.core.scores import MIN_ITEMS_FOR_CLAIMS
from wellput.core.source import EvalSource
from wellput.core.work import OnPhase, available_cores, ignore_phase
from wellput.engine.score import score_source
from wellput.engine.scoring_plan import Inference, ScoringPlan
from wellput.engine.slices import slice_masks
from wellput.io.files import PathLike
from wellput.io.judgment_columns import split_columns
from wellput.metrics.registry import create_all, expand_logged
from wellput.stats.corrections import Correction
from wellput.stats.correlation import COEFFICIENTS, Coefficient, CorrelationAverage
from wellput.stats.metric_comparison import CorrelationTest
from wellput.stats.preferences import homogeneity_rows


@checks_options
def agree(
    evalset: Items,
    judgments: Answers,
    metrics: Metrics = (),
    *,
    column: Columns = (),
    trees: str | None = None,
    paraphrase: Names = (),
    level: AgreementLevel = "segment",
    average: CorrelationAverage = "none",
    coefficient: Names = "pearson",
    question: Names = (),
    normalize: Normalization | None = None,
    judges: Names = "people",
    exclude: str | list[str] | tuple[str, ...] = (),
    exclude_judges_below: float | None = None,
    metric_items: MetricItems = "judged",
    document_size: int = 300,
    documents: int = 10,
    models: bool = False,
    test: CorrelationTest | Literal["auto", "paired-t"] = "auto",
    correction: Correction = "holm",
    homogeneity: Answers | None = None,
    generalize: Generalize = "both",
    cluster: str | None = None,
    by: str | None = None,
    confidence: float = 0.95,
    resamples: int = 1000,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> AgreementResult:
    """Says which systems people prefer, whether metrics rank the systems in the same order, how far
    each metric agrees with people, and how far the judges agree with each other.

    Parameters
    ----------
    evalset, judgments
        An `EvalSet` and judgments (`Judgment` for ratings, `Preference` for pairwise choices), or the
        paths of their files.
    metrics
        As for `score`. `random` and `length-only` show what a metric must beat. None are needed if the
        evalset has substitutions made by `paraphrase`.
    column
        Names columns, each as FIELD=NAME. Fields of the evalset's file are as for `score`. Fields of
        the judgments are `judge`, `item`, `system`, `question` and `value`, or `system_a`, `system_b`
        and `choice`.
    trees
        Parses references that have no tree: `"auto"` with wellput's parser, `"spacy:NAME"` with an
        installed spaCy pipeline.
    paraphrase
        Also compares each metric on references that these methods rewrite, as in `score`.
    level, average
        What is correlated: segments (all together, or within each item or system and then averaged),
        systems, or documents. If items have no documents, `documents` documents of `document_size`
        segments are drawn at random. `"span"` correlates nothing: it compares the words
        that metrics and machine judges blame with the error spans that people marked.
    coefficient
        One or more of pearson, spearman, kendall, kendall-c, acc-t (pairwise accuracy with calibrated
        ties), spa (soft pairwise accuracy, for systems).
    metric_items
        At system level, the score of a system under a metric is computed from its `"judged"` outputs,
        or from `"all"` its outputs, as in mt-metrics-eval.
    question
        Uses only these questions. Default: all. If the values of a question are labels, the result
        only says how far the judges agree on it.
    normalize
        Brings the ratings of each judge to one scale: z, unit, rank or none. Default: z if several
        judges rated the same systems; else none, because z would erase differences between systems
        that had different judges.
    judges
        `"people"` leaves out judges named `model:…`, `"all"` uses all judges; or the names of judges.
    exclude, exclude_judges_below
        Leaves out ratings, each with a reason (`"judge=J3: pressed one button"`), and judges who
        correlate less than this with the other judges.
    models
        Also regresses the ratings on the metrics.
    test, correction
        How two metrics are compared, and how p-values are corrected for the number of metrics and
        pairs. `"auto"` is the method that computes the intervals; the others are tests used in
        papers. `"paired-t"`, for documents: Student's paired test over the documents.
    homogeneity
        Pairwise choices of another study. For the pairs of systems that both studies have, a χ² test
        then says whether people preferred each system equally often in both.
    generalize, confidence
        Whether intervals and p-values hold for other systems and other items (`"both"`, needs 4
        systems), for other `"systems"`, or for these systems and other `"items"`; and the confidence
        of intervals.
    cluster
        What counts as one unit in intervals and tests, as for `score`. Default: documents, if items
        have them.
    by
        A tag, such as `"domain"`: also analyzes the items of each of its values, in `result.slices`.
    resamples, seed
        For the permutation and bootstrap tests; the seed also draws the documents.
    path
        Writes the tables to a file; a `.json`, `.csv`, `.tex` or `.md` file is in that format.
    threads, on_phase
        As for `score`.

    Returns
    -------
    AgreementResult
        `ranking`, `orders`, `agreement`, `differences`, `judges` and more: lists of rows.

    Raises
    ------
    InputError
        A file, a name or a value is wrong, or an option does not fit the judgments.

    Examples
    --------
    >>> import wellput
    >>> texts = {"A": ["a cat sat", "it rains", "we eat"], "B": ["sat a", "rains", "eat eat"]}
    >>> evalset = wellput.EvalSet.of(texts, ["a cat sat", "it rains", "we eat"])
    >>> ratings = [
    ...     wellput.Judgment(judge, item, system, "quality", value)
    ...     for judge in ("Kim", "Lee")
    ...     for item in ("1", "2", "3")
    ...     for system, value in (("A", 6 + (item == "3")), ("B", 2 + (judge == "Kim")))
    ... ]
    >>> wellput.agree(evalset, ratings, "ssa").ranking[0].leaders
    ['A']
    """
    check_files(
        [path],
        [evalset, judgments, homogeneity, *paths_in(metrics), *paths_in(paraphrase)],
    )
    # Without metrics, a random metric is scored, because its table names the systems and items. Its
    # results are dropped at the end.
    metric_objects = with_paraphrases(create_all(metrics or "random"), paraphrase)
    on_phase("reading judgments")
    column, judgment_columns = split_columns(column)
    rules = [exclude] if isinstance(exclude, str) else list(exclude)
    exclusions = [parse_exclusion(text) for text in rules]
    all_answers = read_answers(judgments, judgment_columns)
    chosen_answers = choose_answers(
        all_answers,
        judges=split_names(judges),
        questions=[question] if isinstance(question, str) else list(question),
        exclusions=exclusions,
    )
    answers, questions = chosen_answers.answers, chosen_answers.questions
    cores = threads or available_cores()
    options = AgreementOptions(
        level=level,
        average=average,
        coefficients=coefficient_names(coefficient),
        normalization=normalize,
        questions=questions,
        exclusions=exclusions,
        judges_below=exclude_judges_below,
        test=test,
        correction=correction,
        metric_items=metric_items,
        document_size=document_size,
        documents=documents,
        with_models=models,
        alpha=1 - confidence,
        uncertainty=Uncertainty(generalize, resamples, confidence, seed, cores),
        fitted_to_these_judgments=fitted_to(judgments, metric_objects),
    )
    are_choices = bool(answers) and isinstance(answers[0], Preference)
    if are_choices:
        _refuse_options_of_ratings(options)
        if cluster is not None or by is not None:
            name = "by" if cluster is None else "cluster"
            raise InputError(f"{name}= is for ratings; these judgments are pairwise choices.")
    source = open_items(
        evalset, metric_objects, trees, column=column, threads=threads, on_phase=on_phase
    )
    metric_objects = expand_logged(metric_objects, source)
    known_names = names_of(source.unparsed, on_progress=on_phase("reading items"))
    options = replace(
        options, exclusions=with_unknown_excluded(answers, options.exclusions, known_names)
    )
    answers = with_documents(answers, known_names.documents)
    judged_source = with_judged_samples(source, answers, questions=questions, exclusions=exclusions)
    if level == "span":
        _refuse_options_of_correlations(options, by, homogeneity)
        result = agree_on_spans(
            source,
            metric_objects if metrics else [],
            cast("list[Judgment]", all_answers),
            cast("list[Judgment]", answers),
            options,
            cluster=cluster,
            on_phase=on_phase,
        )
        result = chosen_answers.with_exclusions_noted(result)
        if path is not None:
            result.save(path)
        return result
    plan = ScoringPlan(threads=cores, keep_rows=True)
    # An evalset of substitutions has the systems `kept` and `refused`, and needs no metric.
    if not metrics and not set(known_names.systems) <= {KEPT, REFUSED}:
        raise InputError("Name the metrics to compare with people: metrics='bleu,chrf'.")
    scored = score_source(
        judged_source if metric_items == "judged" else source,
        metric_objects,
        inference=Inference(cluster=cluster),
        plan=plan,
        on_phase=on_phase,
    )
    tables = scored.tables
    mask_by_value = None if by is None else slice_masks(scored.tags, by)[0]
    if are_choices:
        on_phase("counting choices")
        choices = cast("list[Preference]", answers)
        result = agree_on_preferences(
            tables,
            choices,
            questions=questions,
            exclusions=options.exclusions,
            confidence=confidence,
        )
        if homogeneity is not None:
            other_choices = cast("list[Preference]", read_answers(homogeneity, judgment_columns))
            chi_squared_rows = homogeneity_rows(choices, _only_choices(other_choices))
            result = replace(result, homogeneity=tuple(chi_squared_rows))
    else:
        if homogeneity is not None:
            raise InputError("homogeneity= compares pairwise choices; these judgments are ratings.")
        ratings = cast("list[Judgment]", answers)
        # What paraphrase methods decided, if this is an evalset of substitutions.
        decisions = decisions_of(item for block in source.unparsed.blocks() for item in block)
        result = agree_on_ratings(tables, ratings, options, decisions, on_phase=on_phase)
        if mask_by_value is not None and by is not None:
            result = agree_by(
                result, tables, ratings, options, mask_by_value, by, on_phase=on_phase
            )
        result = with_spans(result, source, ratings, options, cluster=cluster, on_phase=on_phase)
    if not metrics:
        result = replace(result, orders=(), agreement=(), differences=(), advice=())
    result = chosen_answers.with_exclusions_noted(result)
    result = replace(result, notes=(*result.notes, *scored.notes))
    if metrics and len(known_names.items) >= MIN_ITEMS_FOR_CLAIMS:
        hints = blind_spot_hints(
            result, metric_objects, source, alpha=options.alpha, threads=threads, on_phase=on_phase
        )
        result = replace(result, advice=(*result.advice, *hints))
    if path is not None:
        result.save(path)
    return result


def _only_choices(answers: list[Preference]) -> list[Preference]:
    if not all(isinstance(answer, Preference) for answer in answers):
        raise InputError("homogeneity= needs pairwise choices; this file has ratings.")
    return answers


def coefficient_names(coefficients: Names) -> tuple[Coefficient, ...]:
    """The names of coefficients, checked, without repeats; pearson if there are none."""
    all_coefficients = COEFFICIENTS
    names = split_names(coefficients)
    for name in names:
        if name not in all_coefficients:
            hint = did_you_mean(name, all_coefficients)
            raise InputError(
                f"coefficient={name!r} is none of {', '.join(all_coefficients)}.{hint}"
            )
    return cast("tuple[Coefficient, ...]", tuple(dict.fromkeys(names))) or ("pearson",)


def _refuse_options_of_correlations(
    options: AgreementOptions, by: str | None, homogeneity: Answers | None
) -> None:
    """Refuses options that have no effect with level='span', which compares words."""
    defaults = AgreementOptions()
    is_changed = {
        "average": options.average != defaults.average,
        "coefficient": tuple(options.coefficients) != tuple(defaults.coefficients),
        "normalize": options.normalization is not None,
        "exclude_judges_below": options.judges_below is not None,
        "metric_items": options.metric_items != defaults.metric_items,
        "models": options.with_models,
        "test": options.test != defaults.test,
        # "items" may be given: intervals of error spans always hold for other items.
        "generalize": options.uncertainty.generalize not in (Uncertainty().generalize, "items"),
        "by": by is not None,
        "homogeneity": homogeneity is not None,
    }
    if names := [f"{name}=" for name, is_set in is_changed.items() if is_set]:
        raise InputError(
            f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} for correlations; level='span' "
            "compares words and correlates nothing."
        )


def _refuse_options_of_ratings(options: AgreementOptions) -> None:
    """Refuses options that the analysis of pairwise choices does not use."""
    defaults, uncertainty, default_uncertainty = (
        AgreementOptions(),
        options.uncertainty,
        Uncertainty(),
    )
    is_changed = {
        "level": options.level != defaults.level,
        "average": options.average != defaults.average,
        "coefficient": tuple(options.coefficients) != tuple(defaults.coefficients),
        "normalize": options.normalization is not None,
        "exclude_judges_below": options.judges_below is not None,
        "metric_items": options.metric_items != defaults.metric_items,
        "document_size": options.document_size != defaults.document_size,
        "documents": options.documents != defaults.documents,
        "models": options.with_models,
        "test": options.test != defaults.test,
        "correction": options.correction != defaults.correction,
        "generalize": uncertainty.generalize != default_uncertainty.generalize,
        "resamples": uncertainty.n_resamples != default_uncertainty.n_resamples,
    }
    names = [f"{name}=" for name, is_set in is_changed.items() if is_set]
    if names:
        raise InputError(
            f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} for ratings; these judgments are "
            "pairwise choices."
        )


QUICK_METRICS = (
    "ssa", "gsa", "bleu", "chrf", "ter", "wer", "cer", "nist", "rouge-1", "rouge-2", "rouge-l",
    "rouge-lsum", "meteor", "exact", "fluency",
)  # fmt: skip
"""Metrics that are fast enough to probe here: they score the changed texts in about a second."""
MAX_NAMED_KINDS = 5
"""A sentence names at most this many kinds of errors."""
N_CHECKED_TEXTS = 20
"""So many outputs are looked at to decide whether the outputs are English."""


def blind_spot_hints(
    result: AgreementResult,
    metrics: Sequence[Metric],
    source: EvalSource,
    *,
    alpha: float,
    threads: int | None,
    on_phase: OnPhase,
) -> tuple[str, ...]:
    """A sentence for each metric that agrees best on some question, and significantly, but does not
    notice some kinds of errors. There are no sentences if outputs are not English, because the texts
    with errors are English."""
    metric_by_name = {metric.name: metric for metric in metrics}
    neutral = [name for name, metric in metric_by_name.items() if metric.higher_is_better is None]
    best_metrics = shown_to_agree(result.agreement, neutral=neutral, alpha=alpha)
    quick_metrics = [
        name
        for name in best_metrics
        if name.partition(":")[0] in QUICK_METRICS and name in metric_by_name
    ]
    if not quick_metrics or not _is_english(source):
        return ()
    from wellput.api.probe import blind_spots

    on_phase("probing the best metric")
    spots_by_metric = {name: blind_spots(metric_by_name[name], threads) for name in quick_metrics}
    return tuple(
        _hint(name, spots)
        for name, spots in spots_by_metric.items()
        if spots is not None and spots.missed
    )


def _hint(name: str, spots: BlindSpots) -> str:
    missed = spots.missed
    n_more = len(missed) - MAX_NAMED_KINDS
    kinds = ", ".join(missed[:MAX_NAMED_KINDS]) + (f" and {n_more} more" if n_more > 0 else "")
    return (
        f"In {counted(spots.texts, 'text')} of the example of wellput demo, {name} does not notice "
        f"these errors: {kinds}. The judgments may not show this, if the systems do not make "
        f"such errors. See wellput probe -m {name}."
    )


def _is_english(source: EvalSource) -> bool:
    from wellput.language.models.language_check import reasons_against

    texts = (
        output
        for block in source.unparsed.blocks()
        for item in block
        for output in item.outputs.values()
        if isinstance(output, str) and output.strip()
    )
    first = list(islice(texts, N_CHECKED_TEXTS))
    n_not_english = reasons_against(first).total()
    return bool(first) and n_not_english <= len(first) / 2
