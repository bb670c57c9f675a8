"""People and one machine judge side by side: `MachineComparison`, for the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wellput.agreement.machines.biases import own_systems
from wellput.agreement.machines.estimating import SystemEstimate, estimate_systems
from wellput.agreement.machines.judged_trials import JudgedTrials, judged_trials
from wellput.agreement.machines.proxied_labels import chosen_labels, rated_labels
from wellput.agreement.machines.vetting import VetOptions, VetResult, vet_trials
from wellput.agreement.panel import systems_of
from wellput.core.errors import InputError
from wellput.core.judgment import Judgment, Preference, is_machine

MAX_WORST = 15


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One trial; of choices, `people` and `judge` are shares of the first system."""

    item: str
    systems: tuple[str, ...]
    people: float
    judge: float


@dataclass(frozen=True)
class MachineComparison:
    """`systems` has the machine's means corrected by people's labels; `worst` the trials on which the
    machine is farthest from people's mean, the farthest first."""

    judge: str
    question: str
    vet: VetResult
    systems: Sequence[SystemEstimate]
    worst: Sequence[Disagreement]


def machine_comparisons(
    answers: Sequence[Judgment] | Sequence[Preference], *, questions: Sequence[str] = ()
) -> list[MachineComparison]:
    """One for each machine and question with numbers or choices that two people and the machine
    answered."""
    found = []
    asked = dict.fromkeys(answer.question for answer in answers)
    for question in questions or asked:
        own = [answer for answer in answers if answer.question == question]
        machines = dict.fromkeys(answer.judge for answer in own if is_machine(answer.judge))
        for judge in machines:
            try:
                found.append(_comparison(own, judge, question))
            except InputError:  # labels, or nothing in common with people
                continue
    return found


def _comparison(
    answers: Sequence[Judgment | Preference], judge: str, question: str
) -> MachineComparison:
    given: list[Judgment] = [*answers]  # type: ignore[list-item]
    trials = judged_trials(given, judge)
    if trials.kind == "labels":
        raise InputError("labels have no means")
    systems = sorted({name for answer in answers for name in systems_of(answer)})
    items = sorted({answer.item for answer in answers})
    documents = {one.item: one.extra["document"] for one in answers if one.extra.get("document")}
    people = [one for one in given if not is_machine(one.judge)]
    machine = [one for one in given if one.judge == judge]
    if trials.kind == "choices":
        labels = chosen_labels(
            people,  # type: ignore[arg-type]
            [],
            machine,  # type: ignore[arg-type]
            systems=systems,
            items=items,
            documents=documents,
        )
    else:
        sums: dict[tuple[str, str], list[float]] = {}
        for one in machine:
            sums.setdefault((one.system, one.item), []).append(one.number)
        scores = {key: sum(values) / len(values) for key, values in sums.items()}
        labels = rated_labels(
            people, [scores], systems=systems, items=items, documents=documents, is_judge=True
        )
    vetted = vet_trials(trials, VetOptions(own=own_systems(judge, systems)))
    return MachineComparison(judge, question, vetted, estimate_systems(labels)[0], _worst(trials))


def _worst(trials: JudgedTrials) -> list[Disagreement]:
    gaps = np.abs(trials.gaps)
    known = np.flatnonzero(~np.isnan(gaps))
    order = known[np.argsort(-gaps[known], kind="stable")][:MAX_WORST]
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
