"""From items and judgments to all that a report is made from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from wellput.agreement.analysis import AgreementOptions, agree
from wellput.agreement.exclusions import known_answers, without_excluded
from wellput.agreement.panel import KnownNames
from wellput.agreement.preferences import agree_on_preferences
from wellput.core.judgment import Judgment, Preference
from wellput.core.metric import GivesMetric, Metric
from wellput.core.progress import OnPhase, unheard_phase
from wellput.core.source import EvalSource
from wellput.engine.score import score_source
from wellput.engine.scoring_plan import DEFAULT_PAIRED_TEST, Inference, Resampling, ScoringPlan
from wellput.metrics.registry import create_all
from wellput.reporting.html.contents import Evaluation
from wellput.reporting.html.people import people_of_choices, people_of_ratings
from wellput.reporting.html.sample import draw_sample, usual_metrics


def evaluate(
    source: EvalSource,
    answers: Sequence[Judgment] | Sequence[Preference],
    metrics: str | Metric | GivesMetric | Iterable[str | Metric | GivesMetric],
    *,
    title: str,
    baseline: str | None,
    shown: int,
    options: AgreementOptions,
    on_phase: OnPhase = unheard_phase,
) -> Evaluation:
    """Scores with intervals and all pairs, agreement with the judges where there are any, and the
    items to show. Without metrics, those that the items allow."""
    uncertainty = options.uncertainty
    judged = {answer.item for answer in answers}
    on_items = on_phase("reading items")
    sample = draw_sample(
        source, size=shown, seed=uncertainty.seed, first=judged, on_progress=on_items
    )
    known = KnownNames(sample.systems, sample.found)
    known_answers(answers, options.exclusions, known)  # before anything is scored
    chosen = create_all(metrics or usual_metrics(sample, has_judgments=bool(answers)))
    has_pairs = len(sample.systems) > 1
    inference = Inference(
        has_intervals=True,
        paired=DEFAULT_PAIRED_TEST if has_pairs else None,
        baseline=baseline,
        all_pairs=has_pairs,
        resampling=Resampling(uncertainty.n_resamples, uncertainty.seed, uncertainty.threads),
    )
    result = score_source(
        source,
        chosen,
        inference=inference,
        plan=ScoringPlan(threads=uncertainty.threads),
        on_phase=on_phase,
    )
    agreement = people = None
    if answers and isinstance(answers[0], Preference):
        on_phase("counting choices")
        choices = cast("Sequence[Preference]", answers)
        agreement = agree_on_preferences(
            result.tables, choices, questions=options.questions, exclusions=options.exclusions
        )
        asked = {entry["question"] for entry in agreement.preferences}
        kept, _ = without_excluded(choices, options.exclusions)
        people = people_of_choices(result.tables, [c for c in kept if c.question in asked])
    elif answers:
        ratings = cast("Sequence[Judgment]", answers)
        agreement = agree(result.tables, ratings, options, on_phase=on_phase)
        on_phase("preparing charts")
        people = people_of_ratings(result.tables, ratings, options)
    return Evaluation(title, result, chosen, sample, agreement, people)
