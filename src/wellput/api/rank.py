"""`rank`: ranks systems by people's judgments, and says how certain the ranks are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, cast

from wellput.agreement.exclusions import parse_exclusion, with_unknown_excluded
from wellput.agreement.judged_samples import with_judged_samples
from wellput.agreement.panel import Exclusion, KnownNames, names_of
from wellput.agreement.prepared_panels import chosen_judges
from wellput.agreement.rankings.fitted_question import FittedModelName
from wellput.agreement.rankings.fitted_ranking import RankCorrection
from wellput.agreement.rankings.judgment_design import (
    COMPONENTS,
    Covariates,
    check_components,
    with_documents,
)
from wellput.agreement.rankings.people_ranking import RankOptions, RankResult, rank_judgments
from wellput.api.inputs import (
    Answers,
    Columns,
    Items,
    check_column,
    check_files,
    open_items,
    paths_in,
    read_answers,
)
from wellput.core.errors import InputError
from wellput.core.estimates import refuse_other_than_items
from wellput.core.judgment import Judgment, Preference
from wellput.core.metric import Metric
from wellput.core.options import checks_options
from wellput.core.registries import Names, split_names
from wellput.core.source import EvalSource
from wellput.core.work import OnPhase, available_cores, ignore_phase
from wellput.engine.score import score_source
from wellput.engine.scoring_plan import ScoringPlan
from wellput.io.files import PathLike
from wellput.io.judgment_columns import split_columns
from wellput.metrics.registry import create_all, expand_logged

NO_TAG = "(none)"
"""The name of the slice of items that do not have the tag."""


@checks_options
def rank(
    judgments: Answers,
    *,
    evalset: Items | None = None,
    column: Columns = (),
    question: Names = (),
    model: FittedModelName | Literal["auto"] = "auto",
    by: str | None = None,
    against: str | None = None,
    covariates: Names = (),
    random: Names = (),
    judges: Names = "people",
    exclude: str | list[str] | tuple[str, ...] = (),
    correction: RankCorrection = "holm",
    generalize: Literal["items", "systems", "both"] = "items",
    confidence: float = 0.95,
    sequential: bool = False,
    permutations: int = 1000,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> RankResult:
    """Says which systems people found better, how certain that is, and how much of the differences
    between ratings comes from judges, items and noise.

    Parameters
    ----------
    judgments
        `Judgment`s for ratings or `Preference`s for pairwise choices, a data frame or a list of
        dictionaries with the columns of a file of judgments, or the path of such a file.
    evalset
        The outputs that were judged. The field `document` of its items says which belong together, its
        tags may be given as `by`, and `covariates` are computed from its outputs. Judgments of systems
        or items that are not in the evalset are left out, and counted.
    column
        Names columns, each as FIELD=NAME. Fields of the evalset's file are as for `score`. Fields of
        the judgments are `judge`, `item`, `system`, `question` and `value`, or `system_a`, `system_b`
        and `choice`.
    question
        Only these questions (default: all). A name or a list of names.
    model
        `"linear"` for ratings, `"ordinal"` for grades on a scale of few points, `"binary"` for yes or
        no, `"bradley-terry"` for choices. `"auto"` looks at the answers: it takes bradley-terry for
        choices, binary for yes or no, ordinal for at most five different whole numbers, else linear.
    by
        A further column of the judgments, or a tag of the evalset, such as `domain`: also ranks the
        systems for each of its values, with one model and with p-values corrected together, and tests
        whether the differences of systems depend on the value.
    against
        Compares with this system only; the correction then counts only these comparisons.
    covariates
        Metrics, such as `length`, whose influence on the judgments is removed. They score the outputs
        of the evalset.
    random
        The random effects of the mixed model: any of judge, item, document, and of their interactions
        with systems, judge:system, item:system, document:system. Default: all that can be estimated
        from these judgments.
    judges
        `"people"` leaves out judges named `model:…`, `"all"` uses all judges; or the names of judges.
    exclude
        Judgments to leave out, each with its reason: `"judge=J3: pressed one button"`.
    correction
        `"holm"` corrects the p-values of a question for the number of comparisons; rank ranges and
        clusters follow from them.
    generalize
        `"items"` is the only value allowed; the others raise InputError. Intervals and tests hold for
        these systems, and for other items and other judges.
    confidence
        The confidence level of intervals, rank ranges and clusters.
    sequential
        For a study that is still running: the p-values, intervals and ranks stay valid however often
        you look at them while judgments arrive, from 5 judges and 30 items on. Intervals are wider
        than in a single analysis at the end.
    permutations, seed
        Number of permutations, and seed, of the test that assumes no model.
    path
        Writes the tables to a file; a `.json`, `.csv`, `.tex` or `.md` file is in that format.
    threads, on_phase
        As for `score`.

    Returns
    -------
    RankResult
        `rankings`, one for each question (and slice), with `systems`, `differences`, `variance`;
        `slice_tests`; `answer` in words; `to_pandas()`, a row for each system.

    Raises
    ------
    InputError
        The judgments cannot be ranked (one system, all answers equal, systems that were never
        compared), or an option does not fit them.

    Examples
    --------
    >>> import wellput
    >>> example = wellput.demo(no_report=True)
    >>> ranking = wellput.rank(example.judgments).rankings[0]
    >>> [(row.system, round(row.estimate, 1), row.rank_high) for row in ranking.systems[:2]]
    [('careful', 6.6, 1), ('realizer', 6.1, 2)]
    """
    refuse_other_than_items(generalize, by_people=True)
    check_files([path], [judgments, evalset, *paths_in(covariates)])
    column, judgment_columns = split_columns(column)
    check_column(evalset, column)
    on_phase("reading judgments")
    answers = read_answers(judgments, judgment_columns)
    exclusions = [parse_exclusion(text) for text in _listed(exclude)]
    options = RankOptions(
        model=model,
        random=check_components(split_names(random)) or COMPONENTS,
        correction=correction,
        confidence=confidence,
        against=against,
        by=by,
        sequential=sequential,
        permutations=permutations,
        seed=seed,
    )
    covariate_names = split_names(covariates)
    if evalset is None and covariate_names:
        raise InputError(
            "covariates= are metrics of the outputs that were judged: give these as evalset=."
        )
    covariate_values: Covariates | None = None
    excluded_without_value: list[Exclusion] = []
    notes: tuple[str, ...] = ()
    if evalset is not None:
        metrics = create_all(covariate_names) if covariate_names else []
        source = open_items(evalset, metrics, column=column, threads=threads, on_phase=on_phase)
        # The metric `logged` stands for every scorer in the source's log.
        metrics = expand_logged(metrics, source)
        # Names need no trees: in `unparsed`, no text is parsed.
        known_names = names_of(source.unparsed, on_progress=on_phase("reading items"))
        judged_source = source
        if metrics:
            # Covariates are computed from the samples that were judged.
            chosen_answers, _ = chosen_judges(cast("list[Judgment]", answers), split_names(judges))
            judged_source = with_judged_samples(
                source, chosen_answers, questions=_listed(question), exclusions=exclusions
            )
        exclusions = with_unknown_excluded(answers, exclusions, known_names)
        answers = with_documents(answers, known_names.documents)
        if by is not None:
            answers = _with_tags(answers, source, by)
        if metrics:
            covariate_values, notes = _output_values(
                judged_source, metrics, threads or available_cores(), on_phase
            )
            answers, excluded_without_value = _without_missing_covariates(
                answers, covariate_values, known_names
            )
    result = rank_judgments(
        answers,
        options,
        questions=_listed(question),
        judges=split_names(judges),
        exclusions=exclusions,
        covariates=covariate_values,
        on_phase=on_phase,
    )
    result = replace(
        result,
        excluded=[*result.excluded, *excluded_without_value],
        notes=[*result.notes, *notes],
    )
    if path is not None:
        result.save(path)
    return result


def _without_missing_covariates(
    answers: list[Judgment] | list[Preference], values: Covariates, known: KnownNames
) -> tuple[list[Judgment] | list[Preference], list[Exclusion]]:
    """The judgments of outputs that have a value of every covariate, and exclusions that count the
    other judgments by system. If no judgment would be left, all are kept: the model then raises an
    error about the covariate. Judgments of unknown systems and items stay, too: `rank_judgments` leaves
    them out."""
    with_value: list[Judgment | Preference] = []
    counts_without_value: dict[tuple[str, str, str], int] = {}
    for answer in answers:
        systems = (
            (answer.system_a, answer.system_b)
            if isinstance(answer, Preference)
            else (answer.system,)
        )
        missing = [
            (name, system)
            for name, table in values.items()
            for system in systems
            if (system, answer.item) not in table
            if system in known.systems and answer.item in known.items
        ]
        if missing:
            key = (answer.question, *missing[0])
            counts_without_value[key] = counts_without_value.get(key, 0) + 1
        else:
            with_value.append(answer)
    if not with_value:
        return answers, []
    exclusions = [
        Exclusion(question, f"no value of {name}", system=system, n=n)
        for (question, name, system), n in counts_without_value.items()
    ]
    return cast("list[Judgment]", with_value), exclusions


def _with_tags(
    answers: list[Judgment] | list[Preference], source: EvalSource, by: str
) -> list[Judgment] | list[Preference]:
    """The judgments with the item's value of the tag `by`, unless they have a column of that name."""
    if all(by in answer.extra for answer in answers):
        return answers
    tags = {item.id: item.tags.get(by) for block in source.unparsed.blocks() for item in block}
    if not any(tags.values()):
        return answers  # the caller then says that there is no such column or tag
    return cast(
        "list[Judgment]",
        [
            replace(answer, extra={by: tags.get(answer.item) or NO_TAG, **answer.extra})
            for answer in answers
        ],
    )


def _output_values(
    source: EvalSource, metrics: Sequence[Metric], threads: int, on_phase: OnPhase
) -> tuple[Covariates, tuple[str, ...]]:
    """Each metric's score of each output, and notes on files of scores."""
    plan = ScoringPlan(threads=threads, keep_rows=True)
    scored = score_source(source, metrics, plan=plan, on_phase=on_phase)
    values = {
        table.scorer: {
            (system, item): float(value)
            for system, row in zip(table.systems, table.scores, strict=True)
            for item, value in zip(table.items, row, strict=True)
            if not math.isnan(value)
        }
        for table in scored.tables.values()
    }
    return values, tuple(scored.notes)


def _listed(names: Names) -> list[str]:
    """One or more texts as a list. They may contain commas, so they are not split."""
    return [names] if isinstance(names, str) else list(names)
