"""`agree --level span`: which systems people prefer, which metrics and machine judges blame the words
that people marked as errors, and how far people mark the same words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

from wellput.agreement.analysis import AgreementOptions
from wellput.agreement.blamed_words import (
    BlamedWords,
    against_people,
    blame_of,
    blame_of_judges,
    blaming_metrics,
)
from wellput.agreement.exclusions import answers_left, without_excluded
from wellput.agreement.marked_outputs import MarkedQuestion, has_spans, marked_questions
from wellput.agreement.rankings.ranked_questions import rank_question
from wellput.agreement.result import AgreementResult
from wellput.agreement.span_summary import SpanSummary, summarize_spans
from wellput.core.errors import InputError
from wellput.core.judgment import SPANS_COLUMN, Judgment, is_machine
from wellput.core.metric import Metric
from wellput.core.source import EvalSource
from wellput.core.work import OnPhase, ignore_phase


def with_spans(
    result: AgreementResult,
    source: EvalSource,
    people: Sequence[Judgment],
    options: AgreementOptions,
    *,
    cluster: str | None = None,
    on_phase: OnPhase = ignore_phase,
) -> AgreementResult:
    """Adds to the result how far judges mark the same errors, if their judgments have error spans."""
    if not has_spans(people):
        return result
    on_phase("comparing error spans")
    chosen = [
        judgment
        for judgment in people
        if not options.questions or judgment.question in options.questions
    ]
    not_excluded = answers_left(chosen, options.exclusions)
    return replace(
        result,
        spans=_summaries(marked_questions(source.unparsed, not_excluded, cluster=cluster), options),
    )


def _summaries(
    marked: Sequence[MarkedQuestion], options: AgreementOptions
) -> tuple[SpanSummary, ...]:
    confidence, seed = options.uncertainty.confidence, options.uncertainty.seed
    return tuple(summarize_spans(question, confidence=confidence, seed=seed) for question in marked)


def agree_on_spans(
    source: EvalSource,
    metrics: Sequence[Metric],
    all_judgments: Sequence[Judgment],
    people: Sequence[Judgment],
    options: AgreementOptions,
    *,
    cluster: str | None = None,
    on_phase: OnPhase = ignore_phase,
) -> AgreementResult:
    """The agreement on error spans. The marks of the machine judges in `all_judgments` are compared
    with the marks of `people`, like the words that a metric blames."""
    blaming = blaming_metrics(metrics)
    not_excluded, excluded = without_excluded(people, options.exclusions)
    questions = options.questions or list(
        dict.fromkeys(judgment.question for judgment in not_excluded)
    )
    chosen = [judgment for judgment in not_excluded if judgment.question in questions]
    on_phase("reading error spans")
    marked = marked_questions(source.unparsed, chosen, cluster=cluster)
    if not marked:
        raise InputError(
            f"level='span' needs error spans: no judgment of a person has a column {SPANS_COLUMN!r}."
        )
    counted_as_people = {judgment.judge for judgment in people}
    machines = [
        judgment
        for judgment in all_judgments
        if is_machine(judgment.judge) and judgment.judge not in counted_as_people
    ]
    blamed_by_judges = blame_of_judges(marked_questions(source.unparsed, machines, cluster=cluster))
    on_phase("finding what metrics blame")
    blamed_by_scorer = {**blame_of(source, blaming, marked), **blamed_by_judges}
    rows: list[BlamedWords] = []
    for question in marked:
        rows += against_people(
            question, blamed_by_scorer, confidence=options.uncertainty.confidence
        )
    on_phase("comparing judges")
    marked_names = {question.question for question in marked}
    return AgreementResult(
        level="span",
        ranking=tuple(
            rank_question(
                name,
                [judgment for judgment in chosen if judgment.question == name],
                confidence=options.uncertainty.confidence,
            )
            for name in questions
            if name in marked_names
        ),
        spans=_summaries(marked, options),
        blamed=tuple(rows),
        excluded=tuple({**asdict(exclusion), "of": "all"} for exclusion in excluded),
        seed=options.uncertainty.seed,
        generalize="items",
        confidence=options.uncertainty.confidence,
    )
