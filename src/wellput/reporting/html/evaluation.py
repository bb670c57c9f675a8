"""`Evaluation`, the data of a report; `evaluate_for_page` makes it from items and judgments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from wellput.agreement.analysis import AgreementOptions, agree, agree_by
from wellput.agreement.exclusions import with_unknown, without_excluded
from wellput.agreement.machines.comparison import MachineComparison
from wellput.agreement.panel import KnownNames
from wellput.agreement.preferences import agree_on_preferences
from wellput.agreement.probe_results import ProbeResult
from wellput.agreement.result import AgreementResult
from wellput.agreement.span_level import with_spans
from wellput.core.judgment import Judgment, Preference
from wellput.core.metric import GivesMetric, Metric
from wellput.core.source import EvalSource
from wellput.core.work import OnPhase, ignore_phase
from wellput.engine.result import ScoreResult
from wellput.engine.score import score_source
from wellput.engine.scoring_plan import DEFAULT_PAIRED_TEST, Inference, Resampling, ScoringPlan
from wellput.engine.slices import slice_masks
from wellput.metrics.registry import create_all, each_scorer
from wellput.reporting.html.answer import ReportAnswer, answers_of, system_order
from wellput.reporting.html.people import People, people_of_choices, people_of_ratings
from wellput.reporting.html.shown_items import ShownItems, draw_shown_items, usual_metrics


@dataclass(frozen=True)
class Evaluation:
    """Scores with rows, intervals and all pairs; the items to show; judgments where there are any."""

    title: str
    result: ScoreResult
    metrics: Sequence[Metric]
    sample: ShownItems
    agreement: AgreementResult | None = None
    people: People | None = None
    machines: Sequence[MachineComparison] = ()
    probed: ProbeResult | None = None

    @property
    def answers(self) -> list[ReportAnswer]:
        """The top of the report."""
        scales = {} if self.people is None else self.people.scales
        return answers_of(self.result, self.agreement, scales)

    @property
    def order(self) -> list[str]:
        """The systems, best first."""
        return system_order(self.result, self.agreement)


def evaluate_for_page(
    source: EvalSource,
    answers: Sequence[Judgment] | Sequence[Preference],
    metrics: str | Metric | GivesMetric | Iterable[str | Metric | GivesMetric],
    *,
    title: str,
    baseline: str | None,
    shown: int,
    options: AgreementOptions,
    by: str | None = None,
    on_phase: OnPhase = ignore_phase,
) -> Evaluation:
    """Scores with intervals and all pairs, agreement with the judges where there are any, and the
    items to show; scores and agreement also for the slices of a tag (`by`). Without metrics, those that
    the items allow."""
    uncertainty = options.uncertainty
    judged = {answer.item for answer in answers}
    on_items = on_phase("reading items")
    sample = draw_shown_items(
        source, size=shown, seed=uncertainty.seed, first=judged, on_progress=on_items
    )
    known = KnownNames(sample.systems, sample.found)
    options = replace(options, exclusions=with_unknown(answers, options.exclusions, known))
    named = create_all(metrics or usual_metrics(sample, has_judgments=bool(answers)))
    chosen = each_scorer(named, source)
    has_pairs = len(sample.systems) > 1
    inference = Inference(
        has_intervals=True,
        paired=DEFAULT_PAIRED_TEST if has_pairs else None,
        baseline=baseline,
        all_pairs=has_pairs,
        resampling=Resampling(uncertainty.n_resamples, uncertainty.seed, uncertainty.threads),
        cluster=options.cluster,
        by=by,
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
        if by is not None:
            masks, _ = slice_masks(result.tags, by)
            agreement = agree_by(
                agreement, result.tables, ratings, options, masks, by, on_phase=on_phase
            )
        agreement = with_spans(
            agreement, source, ratings, options, cluster=options.cluster, on_phase=on_phase
        )
        on_phase("preparing charts")
        people = people_of_ratings(result.tables, ratings, options)
    return Evaluation(title, result, chosen, sample, agreement, people)
