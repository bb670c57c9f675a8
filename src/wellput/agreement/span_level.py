"""`agree --level span`: whom people prefer, which metrics and machines blame the words that people
marked, and how far people mark the same words."""

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
    """The result, with how far judges mark the same errors where their judgments have spans."""
    if not has_spans(people):
        return result
    on_phase("comparing error spans")
    asked = [one for one in people if not options.questions or one.question in options.questions]
    kept = answers_left(asked, options.exclusions)
    return replace(
        result, spans=_summaries(marked_questions(source.unparsed, kept, cluster=cluster), options)
    )


def _summaries(
    marked: Sequence[MarkedQuestion], options: AgreementOptions
) -> tuple[SpanSummary, ...]:
    confidence, seed = options.uncertainty.confidence, options.uncertainty.seed
    return tuple(summarize_spans(one, confidence=confidence, seed=seed) for one in marked)


def agree_on_spans(
    source: EvalSource,
    metrics: Sequence[Metric],
    everything: Sequence[Judgment],
    people: Sequence[Judgment],
    options: AgreementOptions,
    *,
    cluster: str | None = None,
    on_phase: OnPhase = ignore_phase,
) -> AgreementResult:
    """`everything` has all judgments: those of machines are compared with those of `people`."""
    blaming = blaming_metrics(metrics)
    kept, excluded = without_excluded(people, options.exclusions)
    questions = options.questions or list(dict.fromkeys(one.question for one in kept))
    asked = [one for one in kept if one.question in questions]
    on_phase("reading error spans")
    marked = marked_questions(source.unparsed, asked, cluster=cluster)
    if not marked:
        raise InputError(
            f"level='span' needs error spans: no judgment of a person has a column {SPANS_COLUMN!r}."
        )
    seen = {one.judge for one in people}
    machines = [one for one in everything if is_machine(one.judge) and one.judge not in seen]
    blame = blame_of_judges(marked_questions(source.unparsed, machines, cluster=cluster))
    on_phase("finding what metrics blame")
    blame = {**blame_of(source, blaming, marked), **blame}
    rows: list[BlamedWords] = []
    for question in marked:
        rows += against_people(question, blame, confidence=options.uncertainty.confidence)
    on_phase("comparing judges")
    with_marks = {question.question for question in marked}
    return AgreementResult(
        level="span",
        ranking=tuple(
            rank_question(
                name,
                [one for one in asked if one.question == name],
                confidence=options.uncertainty.confidence,
            )
            for name in questions
            if name in with_marks
        ),
        spans=_summaries(marked, options),
        blamed=tuple(rows),
        excluded=tuple({**asdict(one), "of": "all"} for one in excluded),
        seed=options.uncertainty.seed,
        generalize="items",
        confidence=options.uncertainty.confidence,
    )
