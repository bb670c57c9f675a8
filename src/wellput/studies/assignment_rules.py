"""The rules of which trial a judge gets next, as functions of the trials that judges have had so far.

Everything random depends only on (seed, judge), so that the same sequence of requests gives the same
assignment. `judge_queue` applies these rules inside a transaction, and the store writes the result.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wellput.core.errors import InputError, counted
from wellput.core.metric import Integers
from wellput.studies.study_setup import StudyPlan, StudySetup, Trial

ORDER_STREAM, CHECK_STREAM, REPEAT_STREAM, ALLOTMENT_STREAM, VARIANT_STREAM = range(5)
"""The uses of a judge's random numbers. Each use has its own stream, so they do not interfere."""


def rng_for(seed: int, judge: int, use: int) -> np.random.Generator:
    """The random stream of a judge (by number) for one use."""
    return np.random.default_rng([seed, judge, use])


def share(plan: StudyPlan, n_trials: int, judge: int) -> int:
    """The number of trials of a judge (by number, from 1) under the plan per-item when nobody leaves.
    The shares of the planned judges add up to all planned judgments."""
    total = n_trials * plan.per_item
    each, left = divmod(total, plan.judges)
    own = each + (1 if left and (judge <= left or judge > plan.judges) else 0)
    return min(own, n_trials, plan.at_most or n_trials)


def possible_share(setup: StudySetup, judge: int) -> int:
    """The share of a judge, at most one trial of each item where the design shows an item once."""
    own = share(setup.plan, len(setup.trials), judge)
    return min(own, _n_items(setup)) if setup.design.shows_items_once else own


def choose(setup: StudySetup, missing: Integers, had: Sequence[int], *, judge: int) -> int | None:
    """The next trial for a judge, None where there is none. It lacks the most judgments; among such
    trials its item, then its systems are those that the judge has seen least; then chance decides.

    A document that judges read is given in its order: what follows in the document of the last trial
    comes first, and a new document begins with the first of its trials that is free. `missing` is the
    number of judgments that each trial still lacks, `had` the judge's trials so far, in their order.
    """
    numbers = candidates(setup, np.flatnonzero(missing), had)
    if not len(numbers):
        return None
    if (documents := setup.document_of_trial) is not None:
        if len(had):
            follow = numbers[(documents[numbers] == documents[had[-1]]) & (numbers > had[-1])]
            if len(follow):
                return int(follow[0])
        _, firsts = np.unique(documents[numbers], return_index=True)
        numbers = numbers[firsts]
    items, systems = setup.item_of_trial, setup.systems_of_trial
    item_seen = np.bincount(items[had], minlength=len(setup.items))
    system_seen = np.bincount(systems[had].ravel(), minlength=len(setup.systems) + 1)
    system_seen[-1] = 0  # the filling of shorter rows
    order = rng_for(setup.seed, judge, ORDER_STREAM).permutation(len(setup.trials))
    by_preference = np.lexsort(
        (
            order[numbers],
            system_seen[systems[numbers]].sum(axis=1),
            item_seen[items[numbers]],
            -missing[numbers],
        )
    )
    return int(numbers[by_preference[0]])


def candidates(setup: StudySetup, numbers: Integers, had: Sequence[int]) -> Integers:
    """Those of the trials that the judge may still get."""
    had_already = np.zeros(len(setup.trials), bool)
    had_already[had] = True
    numbers = numbers[~had_already[numbers]]
    if setup.design.shows_items_once:
        items = setup.item_of_trial
        numbers = numbers[~np.isin(items[numbers], items[had])]
    return numbers


def special_positions(
    plan: StudyPlan, length: int, *, seed: int, judge: int
) -> dict[str, list[int]]:
    """For each check and each repeat, the number of ordinary trials before it.

    Checks come anywhere after the first trial. Repeats come in the second half, some time after the
    trials that they repeat.
    """
    checks = rng_for(seed, judge, CHECK_STREAM).integers(min(1, length), length + 1, plan.checks)
    first = max(1, math.ceil(length / 2))
    repeats = rng_for(seed, judge, REPEAT_STREAM).integers(
        first, max(first, length) + 1, plan.repeats
    )
    return {"check": sorted(map(int, checks)), "repeat": sorted(map(int, repeats))}


def is_first_shown_first(orders: Mapping[bool, int], *, seed: int, trial: int) -> bool:
    """Whether a pair is shown in its own order. The order that was used less often is taken; where both
    were used equally often, chance decides."""
    if orders.get(True, 0) != orders.get(False, 0):
        return orders.get(True, 0) < orders.get(False, 0)
    return bool(np.random.default_rng([seed, trial]).integers(2))


def shuffled(systems: Sequence[str], *, seed: int, judge: int, trial: int) -> tuple[str, ...]:
    """The variants of a page in random order, the judge's own."""
    rng = np.random.default_rng([seed, judge, VARIANT_STREAM, trial])
    return tuple(systems[place] for place in rng.permutation(len(systems)))


def within_judge(setup: StudySetup, judge: int) -> tuple[Trial, ...]:
    """A judge's trials in their order, as in Foster (2008): every pair of systems (for other designs:
    every system) comes `times` times, half of them in each order of the pair. Each item comes once,
    and chance decides which pair it gets. `times` None means as often as the items allow.
    """
    if judge not in setup.memo:
        setup.memo[judge] = _allotment(setup, judge)
    return setup.memo[judge]


def _allotment(setup: StudySetup, judge: int) -> tuple[Trial, ...]:
    times = setup.plan.times or most_times(setup)
    groups = _groups(setup)
    rng = rng_for(setup.seed, judge, ALLOTMENT_STREAM)
    if times * len(groups) > _n_items(setup):
        raise _too_few_items(setup, groups, times)
    slots = [group for group in groups for _ in range(times)]
    items = _matching(setup, slots, rng)
    if items is None:
        raise _too_few_items(setup, groups, times)
    trials: list[Trial] = []
    for place, (group, item) in enumerate(zip(slots, items, strict=True)):
        is_turned = setup.design.balances_order and place % times >= (times + 1) // 2
        trials.append(Trial(item, group[::-1] if is_turned else group))
    order = [int(place) for place in rng.permutation(len(trials))]
    if setup.document_of_trial is not None:  # documents at random, each in its order
        begins: dict[str | int, int] = {}
        documents = [setup.items[trial.item].document or trial.item for trial in trials]
        for rank, place in enumerate(order):
            begins.setdefault(documents[place], rank)
        order.sort(key=lambda place: (begins[documents[place]], trials[place].item))
    return tuple(trials[place] for place in order)


def trials_per_judge(setup: StudySetup) -> int:
    """The number of trials of the first judge, without repeats and checks."""
    if setup.plan.kind == "within-judge":
        return len(within_judge(setup, judge=1))
    return possible_share(setup, judge=1)


def most_times(setup: StudySetup) -> int:
    """How often a judge can see every pair (or system) when each item comes once; even for pairs."""
    groups = _groups(setup)
    is_even = setup.design.balances_order
    times = _n_items(setup) // len(groups)
    if is_even and times > 1:
        times -= times % 2
    while times > 1:
        slots = [group for group in groups for _ in range(times)]
        if _matching(setup, slots, np.random.default_rng(setup.seed)) is not None:
            break
        times -= 2 if is_even and times > 2 else 1
    return max(times, 1)


def _groups(setup: StudySetup) -> list[tuple[str, ...]]:
    if setup.questionnaire.layout == "page":
        raise InputError(
            "The plan within-judge shows one variant of each item, but a page shows all its variants."
        )
    return list(setup.design.groups(setup.systems, setup.questionnaire.layout))


def _n_items(setup: StudySetup) -> int:
    return len({trial.item for trial in setup.trials})


def _too_few_items(setup: StudySetup, groups: Sequence[tuple[str, ...]], times: int) -> InputError:
    kind = "pair" if len(groups[0]) == 2 else "system"
    return InputError(
        "The plan within-judge needs a different item for each of a judge's "
        f"{counted(times * len(groups), 'trial')} ({counted(len(groups), kind)} × {times}), and "
        f"{counted(_n_items(setup), 'item')} cannot give it. Lower times=, or bring more items."
    )


def _matching(
    setup: StudySetup, slots: Sequence[tuple[str, ...]], rng: np.random.Generator
) -> list[int] | None:
    """A random item for each slot, each item at most once; None where that is impossible."""
    from scipy.optimize import linear_sum_assignment

    items = sorted({trial.item for trial in setup.trials})
    if len(slots) > len(items):
        return None
    allowed = {(trial.item, trial.systems) for trial in setup.trials}
    # Random costs give every allotment a chance. A forbidden place costs more than all others together.
    costs = rng.random((len(slots), len(items)))
    for row, group in enumerate(slots):
        for column, item in enumerate(items):
            if (item, group) not in allowed:
                costs[row, column] = 2.0 * len(slots)
    rows, columns = linear_sum_assignment(costs)
    if costs[rows, columns].max(initial=0.0) > 1.0:
        return None
    return [items[column] for column in columns]


@dataclass(frozen=True)
class OtherJudge:
    """Another judge who is still expected: the trials left in the share, and the trials had."""

    left: int
    had: Collection[int]


def beyond_share(
    missing: Mapping[int, int], others: Sequence[OtherJudge], uninvited: int
) -> set[int]:
    """The further trials for a judge who has finished the share, because other judges left.

    `missing` is the number of judgments that each trial still lacks, `uninvited` the number that is
    left for judges who are not invited yet. If the others cannot do everything, these are all trials.
    Otherwise they are the trials for which too few others remain who have not had them.
    """
    able = dict.fromkeys(missing, 0)
    expected = uninvited
    for other in others:
        open_to_other = [number for number in missing if number not in other.had]
        expected += min(other.left, len(open_to_other))
        if other.left > 0:
            for number in open_to_other:
                able[number] += 1
    if sum(missing.values()) > expected:
        return set(missing)
    if uninvited:
        return set()
    return {number for number, lacking in missing.items() if lacking > able[number]}


ANSWERS_UNTIL_AWAY, ANSWERS_UNTIL_AWAY_PER_JUDGE = 20, 3
"""A judge who has not answered an open trial while the others gave this many answers (in all, and
times the number of judges) is away. In a small study a quarter of all answers is enough."""

ANSWERS_UNTIL_SLOW, ANSWERS_UNTIL_SLOW_PER_JUDGE = 4, 1
"""The same for a slow judge, whose remaining share others may do: nothing is judged twice."""


def is_away(
    *,
    seconds_idle: float,
    answers_since: int,
    has_started: bool,
    is_holding: bool,
    n_judges: int,
    setup: StudySetup,
) -> bool:
    """Whether a judge counts as away: idle for longer than the lease, or idle while the others gave
    many answers. A judge who never came counts as away after a day.

    If the judge `is_holding` an open trial that others would get, a mistake costs one judgment too
    many, so more answers are needed.
    """
    lease = setup.plan.lease_minutes * 60
    if not has_started:
        return seconds_idle > max(24 * 3600.0, lease)
    if is_holding:
        n_planned = len(setup.trials) * setup.plan.per_item
        passed_by = max(
            min(ANSWERS_UNTIL_AWAY, n_planned / 4), ANSWERS_UNTIL_AWAY_PER_JUDGE * n_judges
        )
    else:
        passed_by = max(ANSWERS_UNTIL_SLOW, ANSWERS_UNTIL_SLOW_PER_JUDGE * n_judges)
    return seconds_idle > lease or answers_since > passed_by
