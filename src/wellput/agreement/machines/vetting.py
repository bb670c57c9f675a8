"""`VetResult`: whether a judge may judge in place of people. It has the alternative annotator test, the
judge's agreement with people compared with people's agreement with each other, its consistency (how
far it repeats its own answers) and its biases. `machines.verdict` puts the result in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from wellput.agreement.machines.biases import (
    JudgeBiases,
    PairsInOrder,
    judge_biases,
    pairs_in_order,
)
from wellput.agreement.machines.judged_trials import (
    AnswerKind,
    JudgedTrials,
    OutputValues,
    judged_trials,
)
from wellput.agreement.machines.verdict import verdict_sentences
from wellput.agreement.panel import Exclusion
from wellput.core.clusters import places_of
from wellput.core.errors import InputError
from wellput.core.estimates import Estimate
from wellput.core.judgment import Judgment, Preference
from wellput.core.metric import Floats
from wellput.core.result import Result
from wellput.stats.judges.alternative_annotator import (
    AlternativeAnnotatorTest,
    Scoring,
    alternative_annotator_test,
)
from wellput.stats.judges.one_more_judge import (
    JudgeAgreement,
    judge_agreement,
    panel_correlation,
    repeat_consistency,
)
from wellput.stats.judges.reliability import panel_reliability


@dataclass(frozen=True)
class VetOptions:
    """The options of a vetting, as for `wellput.vet`. If `scoring` is None, it is chosen by the kind of
    answers. `own` are the systems of the judge's own family."""

    epsilon: float = 0.1
    scoring: Scoring | None = None
    min_items: int = 30
    confidence: float = 0.95
    own: Collection[str] = ()
    seed: int = 12345


@dataclass(frozen=True, repr=False)
class VetResult(Result):
    """The result of vetting one judge. `panel` is the judge's correlation with the mean of all people,
    `ceiling` the correlation that a perfect judge would reach; both are None for labels and choices.
    `pairs` compares the order of systems by the judge and by people."""

    judge: str
    kind: AnswerKind
    is_metric: bool
    questions: tuple[str, ...]
    people: tuple[str, ...]
    n_items: int
    alt_test: AlternativeAnnotatorTest
    agreement: JudgeAgreement
    panel: Estimate | None
    ceiling: Estimate | None
    consistency: Estimate | None
    biases: JudgeBiases
    pairs: PairsInOrder | None
    is_refitted: bool = False
    """Whether a metric's scores were converted to the question's scale."""
    other_machines: tuple[str, ...] = ()
    """Machines other than the judge. Their answers were not used."""
    excluded: Sequence[Exclusion] = ()
    confidence: float = 0.95
    notes: Sequence[str] = ()
    """Which scores in a file of scores were not used."""

    presented_by: ClassVar[str] = "wellput.reporting.vet:vet_report"

    @property
    def verdict(self) -> str:
        """Whether the judge may judge in place of people, in words."""
        return "\n".join(verdict_sentences(self))

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput vet`."""
        test = self.alt_test
        return {
            "judge": self.judge,
            "n_judges": len(self.people),
            "n_items": self.n_items,
            "n_trials": test.n_trials,
            "questions": list(self.questions),
            "verdict": self.verdict,
            "alt_test": {
                "epsilon": test.epsilon,
                "scoring": test.scoring,
                "winning_rate": test.winning_rate,
                "advantage_probability": test.advantage_probability,
                "passed": test.passed,
                # Where trials are clustered, the test that decides is the clustered one.
                "clustered": {"winning_rate": test.beaten_rate, "passed": test.passes_deciding_test}
                if test.is_clustered
                else None,
                "is_enough": test.has_enough_people,
                "untested": [{"judge": self.people[judge], "n": n} for judge, n in test.untested],
                "judges": self.records(),
            },
            "agreement": {
                "people": asdict(self.agreement.people),
                "judge": asdict(self.agreement.judge),
                "difference": asdict(self.agreement.difference),
                "beyond_chance": _dict(self.agreement.beyond_chance),
                "panel": _dict(self.panel),
                "ceiling": _dict(self.ceiling),
            },
            "consistency": _dict(self.consistency),
            "bias": {
                "position": _dict(self.biases.position),
                "length": _dict(self.biases.length),
                "self_preference": _dict(self.biases.self_preference),
                "severity": _dict(self.biases.severity),
            },
            "not_measured": dict(self.biases.missing),
            "severity_by_system": [
                {
                    "system": row.system,
                    "severity": asdict(row.severity),
                    "deviation": _dict(row.deviation),
                }
                for row in self.biases.by_system
            ],
            "order": None if self.pairs is None else asdict(self.pairs),
            "excluded": [asdict(exclusion) for exclusion in self.excluded],
            "notes": list(self.notes),
        }

    def records(self) -> list[dict[str, Any]]:
        """A row for each person of the alternative annotator test."""
        return [
            {
                "judge": self.people[person.judge],
                "n": person.n_trials,
                "advantage_probability": person.advantage_probability,
                "p_value": person.p_value,
                "p_adjusted": person.p_adjusted,
                "won": person.is_beaten_in_published_test,
                "p_clustered": None if person.clustered is None else person.clustered.p_value,
                "p_clustered_adjusted": None
                if person.clustered is None
                else person.clustered.p_adjusted,
                "won_clustered": None if person.clustered is None else person.clustered.is_beaten,
            }
            for person in self.alt_test.people
        ]


def _dict(estimate: Estimate | None) -> dict[str, Any] | None:
    return None if estimate is None else asdict(estimate)


def vet_judge(
    answers: Sequence[Judgment] | Sequence[Preference],
    judge: str,
    options: VetOptions,
    *,
    documents: Mapping[str, str] | None = None,
    lengths: OutputValues | None = None,
    scores: OutputValues | None = None,
) -> VetResult:
    """Vets one of the judges or, with `scores`, a metric."""
    return vet_trials(
        judged_trials(answers, judge, documents=documents, scores=scores), options, lengths=lengths
    )


def vet_trials(
    trials: JudgedTrials, options: VetOptions, *, lengths: OutputValues | None = None
) -> VetResult:
    """Vets the judge of these trials."""
    scoring = _scoring(trials, options.scoring)
    judge = trials.judge
    if scoring == "accuracy" and trials.is_metric and trials.kind == "numbers":
        # A metric's score counts as the nearest answer that people gave.
        judge = _nearest(judge, np.unique(trials.people[~np.isnan(trials.people)]))
    test = alternative_annotator_test(
        trials.people,
        judge,
        scoring=scoring,
        epsilon=options.epsilon,
        min_trials=options.min_items,
        clusters=trials.clusters,
    )
    if not test.n_trials:
        raise InputError(
            f"judge={trials.judge_name!r} answered no trial that two people answered: there is nothing "
            "to compare."
        )
    # Intervals leave out one document at a time, or one item if there are no documents.
    places = {"items": trials.clusters, "questions": trials.questions}
    panel = ceiling = None
    if trials.kind == "numbers":
        panel = panel_correlation(
            trials.people, trials.judge, confidence=options.confidence, **places
        )
        ceiling = _ceiling(trials, options)
    is_compared = ~np.isnan(judge) & ((~np.isnan(trials.people)).sum(axis=0) >= 2)
    return VetResult(
        judge=trials.judge_name,
        kind=trials.kind,
        is_metric=trials.is_metric,
        questions=trials.question_names,
        people=trials.people_names,
        n_items=len(np.unique(trials.items[is_compared])),
        alt_test=test,
        agreement=judge_agreement(
            trials.people, judge, scoring=scoring, confidence=options.confidence, **places
        ),
        panel=panel,
        ceiling=ceiling,
        consistency=repeat_consistency(
            trials.given.values,
            trials.given.trials,
            trials.clusters[trials.given.trials],
            are_labels=trials.kind != "numbers",
            confidence=options.confidence,
        ),
        biases=judge_biases(
            trials, lengths=lengths, own=options.own, confidence=options.confidence
        ),
        pairs=pairs_in_order(trials, confidence=options.confidence),
        is_refitted=trials.is_refitted,
        other_machines=trials.other_machines,
        confidence=options.confidence,
    )


def _scoring(trials: JudgedTrials, asked: Scoring | None) -> Scoring:
    """The scoring that was asked for or, if that is None, the one that fits the answers."""
    if trials.kind == "labels" and asked == "neg_rmse":
        raise InputError("scoring='neg_rmse' needs numbers, and these answers are labels.")
    if asked is not None:
        return asked
    values = np.unique(trials.people[~np.isnan(trials.people)])
    is_yes_no = bool(np.isin(values, (0.0, 1.0)).all())
    return "neg_rmse" if trials.kind == "numbers" and not is_yes_no else "accuracy"


def _nearest(values: Floats, known: Floats) -> Floats:
    """For each value the nearest known value; NaN if it is NaN."""
    places = np.abs(values[:, None] - known).argmin(axis=1)
    return np.where(np.isnan(values), np.nan, known[places])


def _ceiling(trials: JudgedTrials, options: VetOptions) -> Estimate | None:
    """The correlation that a perfect judge would reach on the trials that the judge answered.
    Differences between questions are removed first."""
    is_compared = ~np.isnan(trials.judge) & ~np.isnan(trials.people_means)
    # Where there are many judges, items or answers, the jackknife leaves out random groups of them
    # instead of one at a time. They are sorted here, so that these groups do not depend on the order in
    # which the judgments were given.
    order = sorted(np.flatnonzero(is_compared).tolist(), key=lambda place: trials.trials[place])
    judges = sorted(range(len(trials.people_names)), key=lambda row: trials.people_names[row])
    people, questions = trials.people[judges][:, order], trials.questions[order]
    sums = np.bincount(questions, trials.people_means[order])
    means = sums / np.maximum(np.bincount(questions), 1)
    ceiling = panel_reliability(
        people - means[questions],
        places_of([str(code) for code in trials.clusters[order]]),
        confidence=options.confidence,
        seed=options.seed,
    ).ceiling
    return None if np.isnan(ceiling.value) else ceiling
