"""`vet`: says whether a judge or a metric may judge in place of people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from wellput.agreement.exclusions import parse_exclusion, with_unknown_excluded, without_excluded
from wellput.agreement.judgment_names import notes_on_names
from wellput.agreement.machines.biases import own_systems
from wellput.agreement.machines.judged_trials import OutputValues, unknown_judge
from wellput.agreement.machines.vetting import VetOptions, VetResult, vet_judge
from wellput.agreement.panel import names_of, systems_of
from wellput.api.inputs import (
    Answers,
    Columns,
    Items,
    check_column,
    check_files,
    open_items,
    read_answers,
)
from wellput.api.output_values import documents_of, metric_values, output_lengths, trial_values
from wellput.core.errors import InputError, did_you_mean
from wellput.core.judgment import Judgment, Preference, is_machine
from wellput.core.options import checks_options
from wellput.core.registries import Names, split_names
from wellput.core.source import EvalSource
from wellput.core.work import OnPhase, available_cores, ignore_phase
from wellput.io.files import PathLike
from wellput.io.judgment_columns import split_columns
from wellput.metrics.registry import SCORE_FILE, create_all
from wellput.stats.judges.alternative_annotator import Scoring


@checks_options
def vet(
    judgments: Answers,
    judge: str,
    *,
    evalset: Items | None = None,
    column: Columns = (),
    question: Names = (),
    epsilon: float = 0.1,
    scoring: Scoring | None = None,
    min_items: int = 30,
    own: Names = (),
    exclude: str | list[str] | tuple[str, ...] = (),
    confidence: float = 0.95,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> VetResult:
    """Says whether a judge (a model, a person or a metric) may judge in place of people, by the
    alternative annotator test (Calderon et al. 2025). Also says how far the judge agrees with people,
    compared with how far people agree with each other, how consistent it is, and what biases it has.

    Parameters
    ----------
    judgments
        Judgments of people and of the judge, as for `rank`; numbers, labels or choices.
    judge
        The name of one of the judges, such as `"model:gpt-4o"`; or, with `evalset`, a metric, such as
        `"bleu"` or `"./comet.csv"`. Scores that are on the question's scale (0 and 1 where people said
        yes or no, or grades in the range of people's grades) are used as they are. Other scores are
        converted to this scale by a regression, which is fitted, for each item, to judgments of other
        items. Other judges named `model:…` are left out.
    evalset
        The outputs that were judged: with them, the result says whether the judge favors longer
        outputs.
    column
        Names columns, each as FIELD=NAME. Fields of the evalset's file are as for `score`. Fields of
        the judgments are `judge`, `item`, `system`, `question` and `value`, or `system_a`, `system_b`
        and `choice`.
    question
        Only these questions. Default: all questions together.
    epsilon
        The test compares the judge with each person: who is nearer to the other people's answers?
        `epsilon` is how much less often this may be the judge, because it costs less: 0.2 if people
        are experts, 0.15 if they are trained, 0.1 for crowd workers.
    scoring
        How it is measured how near an answer is to other people's answers: `"accuracy"` (share of
        equal answers) or `"neg_rmse"` (negated root mean squared difference). Default: accuracy for
        labels, choices and yes or no, else neg_rmse.
    min_items
        People with fewer trials than this do not take part in the test.
    own
        Systems of the judge's own family, which it may favor. Default: systems whose names begin with
        the same word as the judge's name.
    exclude
        Judgments to leave out, each with its reason: `"judge=J3: pressed one button"`.
    confidence
        The confidence of intervals.
    path
        Writes the tables to a file; a `.json`, `.csv`, `.tex` or `.md` file is in that format.
    seed
        Seed for dividing many judges or items into groups. This is needed for the interval of the
        highest possible agreement (the ceiling).
    threads, on_phase
        As for `score`.

    Returns
    -------
    VetResult
        `verdict` in words; `alt_test`, `agreement`, `consistency`, `biases`.

    Raises
    ------
    InputError
        There is no such judge, or no trial that two people and the judge answered.

    Examples
    --------
    >>> import wellput
    >>> example = wellput.demo(no_report=True)
    >>> result = wellput.vet(example.judgments, "simulated 8")
    >>> result.alt_test.passed, round(result.biases.severity.value, 2)  # half a point too severe
    (False, -0.55)
    """
    check_files([path], [judgments, evalset])
    column, judgment_columns = split_columns(column)
    check_column(evalset, column)
    on_phase("reading judgments")
    answers = _of_questions(read_answers(judgments, judgment_columns), question)
    exclusions = [
        parse_exclusion(text) for text in ([exclude] if isinstance(exclude, str) else exclude)
    ]
    source = None
    if evalset is not None:
        source = open_items(evalset, [], column=column, threads=threads, on_phase=on_phase)
        # Names need no trees: in `unparsed`, no text is parsed.
        known_names = names_of(source.unparsed, on_progress=on_phase("reading items"))
        exclusions = with_unknown_excluded(answers, exclusions, known_names)
    answers, excluded = without_excluded(cast("list[Judgment]", answers), exclusions)
    if not answers:
        raise InputError("There are no judgments.")
    scores: OutputValues | None = None
    notes: tuple[str, ...] = ()
    judge_names = list(dict.fromkeys(answer.judge for answer in answers))
    if judge not in judge_names and evalset is not None:  # then `judge` is a metric
        scores, notes = _scores_of(judge, answers, evalset, column, threads, on_phase)
    else:
        notes = _scale_notes(judge, answers)
    systems = list(dict.fromkeys(name for answer in answers for name in systems_of(answer)))
    options = VetOptions(
        epsilon=epsilon,
        scoring=scoring,
        min_items=min_items,
        confidence=confidence,
        own=_systems_of_family(judge, split_names(own), systems),
        seed=seed,
    )
    on_phase(f"vetting {judge}")
    result = vet_judge(
        answers,
        judge,
        options,
        documents=None if source is None else documents_of(source),
        lengths=None if source is None else trial_values(source, answers, output_lengths),
        scores=scores,
    )
    result = replace(result, excluded=excluded, notes=(*notes, *notes_on_names(answers)))
    if path is not None:
        result.save(path)
    return result


def _of_questions(
    answers: list[Judgment] | list[Preference], question: Names
) -> list[Judgment] | list[Preference]:
    """The answers to these questions, or all. Raises InputError for a question that was not asked."""
    names = [question] if isinstance(question, str) else list(question)
    questions = list(dict.fromkeys(answer.question for answer in answers))
    for name in names:
        if name not in questions:
            raise InputError(
                f"question={name!r} was not asked.{did_you_mean(name, questions)} "
                f"The questions are {', '.join(questions)}."
            )
    if not names:
        return answers
    return cast("list[Judgment]", [answer for answer in answers if answer.question in names])


MIN_SHARE_BEYOND_SCALE = 0.1
"""If at least this share of the judge's ratings is outside the range of people's ratings, a note says
so."""


def _scale_notes(judge: str, answers: Sequence[Judgment | Preference]) -> tuple[str, ...]:
    """A note if the judge seems to rate on another scale than people: many of its ratings lie outside
    the range of all people's ratings."""
    ratings = [answer for answer in answers if isinstance(answer, Judgment)]
    if any(isinstance(rating.value, str) for rating in ratings):
        return ()
    judge_ratings = [rating.number for rating in ratings if rating.judge == judge]
    people_ratings = [r.number for r in ratings if r.judge != judge and not is_machine(r.judge)]
    if not judge_ratings or not people_ratings:
        return ()
    low, high = min(people_ratings), max(people_ratings)
    share_beyond = sum(not low <= value <= high for value in judge_ratings) / len(judge_ratings)
    if share_beyond < MIN_SHARE_BEYOND_SCALE:
        return ()
    return (
        f"{judge} answers from {min(judge_ratings):g} to {max(judge_ratings):g}, "
        f"people from {low:g} to {high:g}. If it was asked on another scale, "
        "the figures in points and the verdict mean nothing: ask it on people's scale, such as "
        "`wellput judge --points 5`.",
    )


def _systems_of_family(judge: str, named: Sequence[str], systems: Sequence[str]) -> list[str]:
    """The systems of the judge's own family: those that the user `named`; if none, those that
    `own_systems` finds by their names."""
    for name in named:
        if name not in systems:
            raise InputError(
                f"own={name!r} was not judged.{did_you_mean(name, systems)} "
                f"The systems are {', '.join(systems)}."
            )
    return list(named) or own_systems(judge, systems)


def _scores_of(
    name: str,
    answers: Sequence[Judgment | Preference],
    evalset: Items | EvalSource,
    column: Columns,
    threads: int | None,
    on_phase: OnPhase,
) -> tuple[OutputValues, tuple[str, ...]]:
    """A metric's scores of all outputs, or of the samples that the answers name, and notes. Raises
    InputError if there is no such metric."""
    try:
        metrics = create_all([name])
    except InputError as problem:
        if SCORE_FILE.match(name):
            raise
        judges = list(dict.fromkeys(answer.judge for answer in answers))
        raise InputError(
            f"judge={name!r}: {unknown_judge(name, judges)} It is not a metric either: {problem}"
        ) from None
    if len(metrics) > 1:
        raise InputError(f"judge={name!r} names several metrics: give one.")
    source = open_items(evalset, metrics, column=column, threads=threads, on_phase=on_phase)
    notes: dict[str, None] = {}

    def scores_in(source: EvalSource) -> OutputValues:
        values, more_notes = metric_values(source, metrics, threads or available_cores(), on_phase)
        notes.update(dict.fromkeys(more_notes))
        return values[0]

    return trial_values(source, answers, scores_in), tuple(notes)
