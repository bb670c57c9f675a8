"""The rules that decide which trial a judge gets next.

A *trial* is one item with the outputs to judge. The rules are functions of the trials that judges were
given so far. All random choices depend only on (seed, judge), so the same sequence of requests gives
the same assignment. `judge_queue` applies the rules inside a transaction, and the store writes the
result.

There are two plans. Under `per-item`, each trial gets a fixed number of judgments; the *share* of a
judge is the number of trials that this judge is to judge. Under `within-judge`, each judge has a fixed
list of trials. In both, a judge also gets *checks* (trials with a known answer) and *repeats* (trials
of the same judge, shown again).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wellput.core.errors import InputError, counted
from wellput.core.metric import Integers
from wellput.studies.study_setup import StudyPlan, StudySetup, Trial

TRIAL_ORDER_STREAM, CHECK_STREAM, REPEAT_STREAM, FIXED_LIST_STREAM, SYSTEM_ORDER_STREAM = range(5)
"""The uses of a judge's random numbers. Each use has its own stream, so they do not interfere."""


def rng_for(seed: int, judge: int, use: int) -> np.random.Generator:
    """The random stream of a judge (by number) for one use."""
    return np.random.default_rng([seed, judge, use])


def planned_share(plan: StudyPlan, n_trials: int, judge: int) -> int:
    """The number of trials of a judge under the plan per-item if nobody leaves early. `judge` is the
    judge's number, from 1. The shares of the planned judges add up to all planned judgments."""
    total = n_trials * plan.per_item
    each, rest = divmod(total, plan.judges)
    # The first judges take one trial more; so does a judge who comes in addition to the planned ones.
    n_trials_of_judge = each + (1 if rest and (judge <= rest or judge > plan.judges) else 0)
    return min(n_trials_of_judge, n_trials, plan.at_most or n_trials)


def possible_share(setup: StudySetup, judge: int) -> int:
    """`planned_share`, but at most one trial for each item if the design shows an item only once."""
    n_planned = planned_share(setup.plan, len(setup.trials), judge)
    return min(n_planned, _n_items(setup)) if setup.design.shows_items_once else n_planned


def choose_trial(
    setup: StudySetup, missing: Integers, given: Sequence[int], *, judge: int
) -> int | None:
    """The number of the next trial for a judge; None if no trial is left.

    Takes a trial that lacks the most judgments. Among equal trials, it takes the one whose item the
    judge has seen least often, then the one whose systems the judge has seen least often; then chance
    decides.

    If items belong to documents, a judge reads each document in its order: the next trial of the
    current document comes first, and a new document begins with its first free trial.

    `missing` is the number of judgments that each trial still lacks. `given` are the numbers of the
    trials that the judge was given so far, in their order.
    """
    numbers = eligible_trials(setup, np.flatnonzero(missing), given)
    if not len(numbers):
        return None
    if (documents := setup.document_of_trial) is not None:
        if len(given):
            is_in_document = documents[numbers] == documents[given[-1]]
            later = numbers[is_in_document & (numbers > given[-1])]
            if len(later):
                return int(later[0])
        # The first free trial of each document.
        _, firsts = np.unique(documents[numbers], return_index=True)
        numbers = numbers[firsts]
    items, systems = setup.item_of_trial, setup.systems_of_trial
    item_seen = np.bincount(items[given], minlength=len(setup.items))
    system_seen = np.bincount(systems[given].ravel(), minlength=len(setup.systems) + 1)
    system_seen[-1] = 0  # no system: this number fills the rows of trials that have fewer systems
    order = rng_for(setup.seed, judge, TRIAL_ORDER_STREAM).permutation(len(setup.trials))
    by_preference = np.lexsort(
        (
            order[numbers],
            system_seen[systems[numbers]].sum(axis=1),
            item_seen[items[numbers]],
            -missing[numbers],
        )
    )
    return int(numbers[by_preference[0]])


def eligible_trials(setup: StudySetup, numbers: Integers, given: Sequence[int]) -> Integers:
    """Selects from `numbers` the trials that the judge may still get."""
    is_given = np.zeros(len(setup.trials), bool)
    is_given[given] = True
    numbers = numbers[~is_given[numbers]]
    if setup.design.shows_items_once:
        items = setup.item_of_trial
        numbers = numbers[~np.isin(items[numbers], items[given])]
    return numbers


def special_positions(
    plan: StudyPlan, length: int, *, seed: int, judge: int
) -> dict[str, list[int]]:
    """For each check and each repeat, the number of ordinary trials before it. `length` is the number
    of the judge's ordinary trials.

    Checks come anywhere after the first trial. Repeats come in the second half, some time after the
    trials that they repeat.
    """
    checks = rng_for(seed, judge, CHECK_STREAM).integers(min(1, length), length + 1, plan.checks)
    first = max(1, math.ceil(length / 2))
    repeats = rng_for(seed, judge, REPEAT_STREAM).integers(
        first, max(first, length) + 1, plan.repeats
    )
    return {"check": sorted(map(int, checks)), "repeat": sorted(map(int, repeats))}


def keeps_pair_order(orders: Mapping[bool, int], *, seed: int, trial: int) -> bool:
    """Whether a pair is shown in the order of the trial, not reversed. `orders` says how often each
    order (True: the order of the trial) was shown so far. Takes the order that was shown less often;
    if both were shown equally often, chance decides."""
    if orders.get(True, 0) != orders.get(False, 0):
        return orders.get(True, 0) < orders.get(False, 0)
    return bool(np.random.default_rng([seed, trial]).integers(2))


def shuffled_systems(
    systems: Sequence[str], *, seed: int, judge: int, trial: int
) -> tuple[str, ...]:
    """The systems of a page in a random order, which differs between judges."""
    rng = np.random.default_rng([seed, judge, SYSTEM_ORDER_STREAM, trial])
    return tuple(systems[place] for place in rng.permutation(len(systems)))


def within_judge_trials(setup: StudySetup, judge: int) -> tuple[Trial, ...]:
    """A judge's trials in their order, as in Foster (2008).

    Every pair of systems (for other designs: every system) comes `plan.times` times; each order of the
    pair comes equally often. Each item comes once, and chance decides which pair is shown for it. If
    `plan.times` is None, pairs come as often as the number of items allows.
    """
    if judge not in setup.trials_of_judges:
        setup.trials_of_judges[judge] = _new_fixed_list(setup, judge)
    return setup.trials_of_judges[judge]


def _new_fixed_list(setup: StudySetup, judge: int) -> tuple[Trial, ...]:
    """As `within_judge_trials`, computed anew."""
    shown, times = setup.shown_groups, setup.times
    groups = shown.systems
    rng = rng_for(setup.seed, judge, FIXED_LIST_STREAM)
    items_of_groups = drawn_items(shown, times, rng)
    if items_of_groups is None:
        raise _too_few_items(setup, groups, times)
    slots = [group for group in groups for _ in range(times)]
    items = items_of_groups.ravel().tolist()
    trials: list[Trial] = []
    for place, (group, item) in enumerate(zip(slots, items, strict=True)):
        # The second half of a pair's trials shows the pair in reverse order.
        is_reversed = setup.design.balances_order and place % times >= (times + 1) // 2
        trials.append(Trial(item, group[::-1] if is_reversed else group))
    order = [int(place) for place in rng.permutation(len(trials))]
    if setup.document_of_trial is not None:
        # Documents come in random order; the trials of each keep their order.
        begins: dict[str | int, int] = {}
        documents = [setup.items[trial.item].document or trial.item for trial in trials]
        for rank, place in enumerate(order):
            begins.setdefault(documents[place], rank)
        order.sort(key=lambda place: (begins[documents[place]], trials[place].item))
    return tuple(trials[place] for place in order)


def trials_per_judge(setup: StudySetup) -> int:
    """The number of trials of the first judge, without repeats and checks."""
    if setup.plan.kind == "within-judge":
        return len(within_judge_trials(setup, judge=1))
    return possible_share(setup, judge=1)


def max_times(setup: StudySetup) -> int:
    """How often a judge can see every pair (or system) if each item comes once. For pairs the number is
    even (or 1), so that each order of a pair can come equally often."""
    shown = setup.shown_groups
    n_groups = len(shown.systems)
    n_items_of_group = np.bincount(shown.groups, minlength=n_groups)
    most = min(len(shown.places) // n_groups, int(n_items_of_group.min()))
    step = 2 if setup.design.balances_order else 1
    # What is possible for a number of times is possible for every smaller number.
    possible, too_many = 0, most // step + 1
    while too_many - possible > 1:
        middle = (possible + too_many) // 2
        rng = np.random.default_rng(setup.seed)
        if drawn_items(shown, middle * step, rng) is None:
            too_many = middle
        else:
            possible = middle
    return max(possible * step, 1)


def _groups(setup: StudySetup) -> list[tuple[str, ...]]:
    """The pairs of systems that trials show; for designs without pairs, each system alone."""
    if setup.questionnaire.layout == "page":
        raise InputError(
            "The plan within-judge shows one output (or pair) of each item, but a page shows the "
            "outputs of all systems."
        )
    return list(setup.design.groups(setup.systems, setup.questionnaire.layout))


def _n_items(setup: StudySetup) -> int:
    """The number of items that trials show."""
    return len({trial.item for trial in setup.trials})


def _too_few_items(setup: StudySetup, groups: Sequence[tuple[str, ...]], times: int) -> InputError:
    kind = "pair" if len(groups[0]) == 2 else "system"
    return InputError(
        "The plan within-judge needs a different item for each of a judge's "
        f"{counted(times * len(groups), 'trial')} ({counted(len(groups), kind)} × {times}), and "
        f"{counted(_n_items(setup), 'item')} cannot give it. Lower times=, or bring more items."
    )


@dataclass(frozen=True)
class ShownGroups:
    """Which groups of systems can be shown for which items. A group is a pair of systems, or one system
    in a design without pairs. Groups and shown items are numbered from 0: `systems` has the systems of
    each group, `places` the place of each item in the study. For each trial, `items` has the number of
    its item, and `groups` the number of its group."""

    systems: Sequence[tuple[str, ...]]
    places: Integers
    items: Integers
    groups: Integers


def shown_groups(setup: StudySetup) -> ShownGroups:
    """The groups of a study under the plan within-judge. Raises InputError for a layout without
    groups."""
    systems_of_groups = _groups(setup)
    # A trial may have the systems of its group in another order.
    number_of_set = {frozenset(group): number for number, group in enumerate(systems_of_groups)}
    number_of = {group: number for number, group in enumerate(systems_of_groups)}
    places, items = np.unique(setup.item_of_trial, return_inverse=True)
    groups = np.array(
        [
            number_of.get(trial.systems, number_of_set.get(frozenset(trial.systems), -1))
            for trial in setup.trials
        ]
    )
    return ShownGroups(systems_of_groups, places, items[groups >= 0], groups[groups >= 0])


def drawn_items(shown: ShownGroups, times: int, rng: np.random.Generator) -> Integers | None:
    """A row for each group: the places of `times` random items for it. No item comes twice. None where
    that is impossible."""
    n_items, n_groups = len(shown.places), len(shown.systems)
    if times * n_groups > n_items:
        return None
    if len(shown.items) == n_items * n_groups:  # every group can be shown for every item
        return shown.places[rng.permutation(n_items)[: times * n_groups].reshape(n_groups, times)]
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    # A flow from the source (node 0) through the groups and the items to the sink (the last node): each
    # group takes `times` items, each item goes to one group. Groups and items stand in random order,
    # because the flow prefers the first ones.
    group_nodes = 1 + rng.permutation(n_groups)
    item_nodes = 1 + n_groups + rng.permutation(n_items)
    sink = 1 + n_groups + n_items
    begins = np.concatenate([np.zeros(n_groups, int), group_nodes[shown.groups], item_nodes])
    ends = np.concatenate([group_nodes, item_nodes[shown.items], np.full(n_items, sink)])
    capacities = np.ones(len(begins), np.int32)
    capacities[:n_groups] = times
    network = csr_array((capacities, (begins, ends)), shape=(sink + 1, sink + 1))
    found = maximum_flow(network, 0, sink)
    if found.flow_value < times * n_groups:
        return None
    is_taken = found.flow[group_nodes[shown.groups], item_nodes[shown.items]] > 0
    by_group = np.argsort(shown.groups[is_taken], kind="stable")
    drawn = shown.items[is_taken][by_group].reshape(n_groups, times)
    places: Integers = shown.places[rng.permuted(drawn, axis=1)]
    return places


@dataclass(frozen=True)
class OtherJudge:
    """Another judge who will probably go on: how many trials are left of the other judge's share, and
    the numbers of the trials that were given to the other judge already."""

    n_left: int
    given: Collection[int]


def trials_beyond_share(
    missing: Mapping[int, int], others: Sequence[OtherJudge], n_left_for_uninvited: int
) -> set[int]:
    """The trials that a judge may get after finishing the planned share, because other judges left.

    `missing` is the number of judgments that each trial still lacks. `n_left_for_uninvited` is the
    number of judgments that are left for judges who are not invited yet. If the other judges cannot
    give all missing judgments, all trials are returned. Otherwise only those trials are returned for
    which too few other judges remain: a judge cannot judge the same trial twice.
    """
    n_able = dict.fromkeys(missing, 0)
    n_expected = n_left_for_uninvited
    for other in others:
        open_to_other = [number for number in missing if number not in other.given]
        n_expected += min(other.n_left, len(open_to_other))
        if other.n_left > 0:
            for number in open_to_other:
                n_able[number] += 1
    if sum(missing.values()) > n_expected:
        return set(missing)
    if n_left_for_uninvited:  # judges who are not invited yet can take any of these trials
        return set()
    return {number for number, lacking in missing.items() if lacking > n_able[number]}


ANSWERS_UNTIL_AWAY, ANSWERS_UNTIL_AWAY_PER_JUDGE = 20, 3
"""A judge with an open trial counts as away after the others gave more than 20 answers and more than 3
answers per judge. In a study with fewer than 80 planned answers, a quarter of them replaces the 20."""

ANSWERS_UNTIL_AWAY_WITHOUT_TRIAL, ANSWERS_UNTIL_AWAY_WITHOUT_TRIAL_PER_JUDGE = 4, 1
"""The same limits for a judge without an open trial. They are lower: if the judge comes back, no trial
is judged once too often; the judge only has fewer trials left."""


def is_away(
    *,
    seconds_idle: float,
    answers_since: int,
    has_started: bool,
    holds_open_trial: bool,
    n_judges: int,
    setup: StudySetup,
) -> bool:
    """Whether a judge counts as away: idle for longer than the plan's `lease_minutes`, or idle while
    the others gave many answers (`answers_since`). A judge who never came counts as away after a day,
    or after `lease_minutes` if they are more.

    If the judge `holds_open_trial`, somebody else gets this trial. If the judge then comes back, the
    trial has one judgment too many, so more answers of the others are needed before the judge counts
    as away.
    """
    lease = setup.plan.lease_minutes * 60
    if not has_started:
        return seconds_idle > max(24 * 3600.0, lease)
    if holds_open_trial:
        n_planned = len(setup.trials) * setup.plan.per_item
        n_answers_allowed = max(
            min(ANSWERS_UNTIL_AWAY, n_planned / 4), ANSWERS_UNTIL_AWAY_PER_JUDGE * n_judges
        )
    else:
        n_answers_allowed = max(
            ANSWERS_UNTIL_AWAY_WITHOUT_TRIAL,
            ANSWERS_UNTIL_AWAY_WITHOUT_TRIAL_PER_JUDGE * n_judges,
        )
    return seconds_idle > lease or answers_since > n_answers_allowed
