"""`MachineComparison`: people's judgments compared with those of one machine judge, for the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wellput.agreement.judged_samples import on_same_samples
from wellput.agreement.machines.biases import own_systems
from wellput.agreement.machines.estimating import SystemEstimate, estimate_systems
from wellput.agreement.machines.judged_trials import JudgedTrials, OutputValues, judged_trials
from wellput.agreement.machines.proxied_labels import chosen_labels, rated_labels
from wellput.agreement.machines.vetting import VetOptions, VetResult, vet_trials
from wellput.agreement.panel import systems_of
from wellput.core.errors import InputError
from wellput.core.judgment import Judgment, Preference, is_machine

MAX_WORST_TRIALS = 15
"""At most this many trials are shown: those on which the machine differs most from people."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One trial, with people's mean answer and the judge's. For choices, `people` and `judge` are the
    shares won by the first of the two systems."""

    item: str
    systems: tuple[str, ...]
    people: float
    judge: float


@dataclass(frozen=True)
class MachineComparison:
    """`systems` has estimates of what people would say, from the machine's judgments corrected by
    people's. `worst` has the trials on which the machine is farthest from people's mean, the farthest
    first."""

    judge: str
    question: str
    vet: VetResult
    systems: Sequence[SystemEstimate]
    worst: Sequence[Disagreement]


def machine_comparisons(
    answers: Sequence[Judgment] | Sequence[Preference], *, questions: Sequence[str] = ()
) -> list[MachineComparison]:
    """One comparison for each machine and question. The answers must be numbers or choices, and some
    trials must have answers by two people and by the machine. A machine and question for which this
    does not hold get no comparison."""
    comparisons = []
    all_questions = dict.fromkeys(answer.question for answer in answers)
    for question in questions or all_questions:
        question_answers = [answer for answer in answers if answer.question == question]
        machines = dict.fromkeys(
            answer.judge for answer in question_answers if is_machine(answer.judge)
        )
        for judge in machines:
            try:
                comparisons.append(_comparison(question_answers, judge, question))
            except InputError:  # labels, or no trial with answers by two people and the machine
                continue
    return comparisons


def _comparison(
    answers: Sequence[Judgment | Preference], judge: str, question: str
) -> MachineComparison:
    """The comparison of one machine with people. Raises InputError if nothing can be compared."""
    answer_list: list[Judgment] = [*answers]  # type: ignore[list-item]
    trials = judged_trials(answer_list, judge)
    if trials.kind == "labels":
        raise InputError("labels have no means")  # labels: texts without an order
    systems = sorted({name for answer in answers for name in systems_of(answer)})
    items = sorted({answer.item for answer in answers})
    documents = {
        answer.item: answer.extra["document"] for answer in answers if answer.extra.get("document")
    }
    people = [answer for answer in answer_list if not is_machine(answer.judge)]
    machine = on_same_samples([answer for answer in answer_list if answer.judge == judge], people)
    if trials.kind == "choices":
        proxied = chosen_labels(
            people,  # type: ignore[arg-type]
            [],  # no scores of metrics
            machine,  # type: ignore[arg-type]
            systems=systems,
            items=items,
            documents=documents,
        )
    else:
        sums: dict[tuple[str, str], list[float]] = {}
        for answer in machine:
            sums.setdefault((answer.system, answer.item), []).append(answer.number)
        scores: OutputValues = {key: sum(values) / len(values) for key, values in sums.items()}
        proxied = rated_labels(
            people, [scores], systems=systems, items=items, documents=documents, is_judge=True
        )
    vetted = vet_trials(trials, VetOptions(own=own_systems(judge, systems)))
    return MachineComparison(judge, question, vetted, estimate_systems(proxied)[0], _worst(trials))


def _worst(trials: JudgedTrials) -> list[Disagreement]:
    """The trials on which the judge is farthest from people's mean."""
    gaps = np.abs(trials.gaps)
    comparable = np.flatnonzero(~np.isnan(gaps))
    order = comparable[np.argsort(-gaps[comparable], kind="stable")][:MAX_WORST_TRIALS]
    return [
        Disagreement(
            trials.trials[place].item,
            trials.trials[place].systems,
            float(trials.people_means[place]),
            float(trials.judge[place]),
        )
        for place in order
        if gaps[place] > 0
    ]
