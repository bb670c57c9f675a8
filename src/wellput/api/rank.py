"""`rank`: who won, according to people, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, cast

from wellput.agreement.exclusions import parse_exclusion, with_unknown
from wellput.agreement.panel import Exclusion, KnownNames, names_of
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
from wellput.metrics.registry import create_all, each_scorer

NO_TAG = "(none)"
"""The slice of items that lack the tag."""


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
    """Says which system people found better, how sure that is, and how much of the spread comes from
    judges, items and noise.

    Parameters
    ----------
    judgments
        `Judgment`s for ratings or `Preference`s for pairwise choices, a data frame or a list of
        dictionaries with the columns of a file of judgments, or the path of such a file.
    evalset
        The outputs that were judged: its `document` says which items belong together, its tags may be
        given as `by`, its outputs are needed for `covariates`. With it, judgments of systems or items
        that it does not have are left out, and counted.
    column
        The columns of the evalset's file, as for `score`, and those of the judgments: `judge`, `item`,
        `system`, `question` and `value`, or `system_a`, `system_b` and `choice`.
    question
        Only these questions (default: all). A name or a list of names.
    model
        `"linear"` for ratings, `"ordinal"` for grades of few points, `"binary"` for yes or no,
        `"bradley-terry"` for choices. `"auto"` chooses by the answers: choices, yes or no, up to five
        whole grades, else linear.
    by
        A further column of the judgments, or a tag of the evalset, such as `domain`: also ranks the
        systems on each of its values, with one model and with p-values corrected together, and tests
        whether differences depend on it.
    against
        Compares with this system only; the correction then counts only these comparisons.
    covariates
        Metrics of the evalset, such as `length`, whose influence on the judgments is taken out.
    random
        The random effects, any of judge, item, document, judge:system, item:system, document:system;
        default: all that can be estimated from these judgments.
    judges
        `"people"` leaves out judges named `model:…`, `"all"` takes all; or the names of judges.
    exclude
        Judgments to leave out, each with its reason: `"judge=J3: pressed one button"`.
    correction
        `"holm"` corrects the p-values of a question for the number of comparisons; rank ranges and
        clusters follow from them.
    generalize
        Only `"items"`: intervals and tests hold for these systems, other items and other judges.
    confidence
        The confidence level of intervals, rank ranges and clusters.
    sequential
        For a study that is still running: differences, p-values and ranks that hold however often one
        looks, from 5 judges and 30 items on. Intervals are wider than those of one look at the end.
    permutations, seed
        Number of permutations, and seed, of the test that assumes no model.
    path
        Writes the tables to a file; `.json`, `.csv`, `.tex` and `.md` in that format.
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
    >>> shown = wellput.demo(no_report=True)
    >>> ranking = wellput.rank(shown.judgments).rankings[0]
    >>> [(row.system, round(row.estimate, 1), row.rank_high) for row in ranking.systems[:2]]
    [('careful', 6.6, 1), ('realizer', 6.1, 2)]
    """
    refuse_other_than_items(generalize, by_people=True)
    check_files([path], [judgments, *([] if evalset is None else [evalset])])
    column, own_columns = split_columns(column)
    check_column(evalset, column)
    on_phase("reading judgments")
    answers = read_answers(judgments, own_columns)
    exclusions = [parse_exclusion(text, "") for text in _listed(exclude)]
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
    names = split_names(covariates)
    if evalset is None and names:
        raise InputError(
            "covariates= are metrics of the outputs that were judged: give these as evalset=."
        )
    values: Covariates | None = None
    without_value: list[Exclusion] = []
    notes: tuple[str, ...] = ()
    if evalset is not None:
        metrics = create_all(names) if names else []
        source = open_items(evalset, metrics, column=column, threads=threads, on_phase=on_phase)
        metrics = each_scorer(metrics, source)
        known = names_of(source.unparsed, on_progress=on_phase("reading items"))
        exclusions = with_unknown(answers, exclusions, known)
        answers = with_documents(answers, known.documents)
        if by is not None:
            answers = _with_tags(answers, source, by)
        if metrics:
            values, notes = _output_values(source, metrics, threads or available_cores(), on_phase)
            answers, without_value = _with_covariates(answers, values, known)
    result = rank_judgments(
        answers,
        options,
        questions=_listed(question),
        judges=split_names(judges),
        exclusions=exclusions,
        covariates=values,
        on_phase=on_phase,
    )
    result = replace(
        result, excluded=[*result.excluded, *without_value], notes=[*result.notes, *notes]
    )
    if path is not None:
        result.save(path)
    return result


def _with_covariates(
    answers: list[Judgment] | list[Preference], values: Covariates, known: KnownNames
) -> tuple[list[Judgment] | list[Preference], list[Exclusion]]:
    """The judgments of outputs that have a value of every covariate, and the others, counted by
    system. If no output has one, all are kept: the model then says which value is missing."""
    kept: list[Judgment | Preference] = []
    lacking: dict[tuple[str, str, str], int] = {}
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
            if system in known.systems
            and answer.item in known.items  # others are left out as unknown
        ]
        if missing:
            key = (answer.question, *missing[0])
            lacking[key] = lacking.get(key, 0) + 1
        else:
            kept.append(answer)
    if not kept:
        return answers, []
    found = [
        Exclusion(question, f"no value of {name}", system=system, n=n)
        for (question, name, system), n in lacking.items()
    ]
    return cast("list[Judgment]", kept), found


def _with_tags(
    answers: list[Judgment] | list[Preference], source: EvalSource, by: str
) -> list[Judgment] | list[Preference]:
    """The judgments with the value of their item's tag, where they have no column of that name."""
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
    """What each metric says of each output, and the notes on files of scores."""
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


def _listed(given: Names) -> list[str]:
    return [given] if isinstance(given, str) else list(given)
