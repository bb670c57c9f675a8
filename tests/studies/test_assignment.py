from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.studies.studies import Clock, answer_all, answer_to, judges_of, new_setup
from wellput.core.errors import InputError
from wellput.studies.assignment_rules import (
    OtherJudge,
    keeps_pair_order,
    max_times,
    planned_share,
    special_positions,
    trials_beyond_share,
    within_judge_trials,
)
from wellput.studies.designs.registry import default_questionnaire
from wellput.studies.questionnaire import Check, Layout, Task
from wellput.studies.store import JudgeRef, Store
from wellput.studies.study_setup import StudyItem, StudyPlan, StudySetup, all_trials, make_setup

PAIRWISE = default_questionnaire("pairwise")


def counts_of(store: Store) -> Counter[tuple[str, str]]:
    """How often each output was judged, on the first question."""
    question = store.questionnaire.questions[0].name
    found = [one for one in store.judgments() if one.question == question]
    return Counter((one.item, getattr(one, "system", "")) for one in found)


def test_shares_add_up() -> None:
    # 24 trials × 3 = 72 judgments for 10 judges: two judges have 8, eight have 7
    plan = StudyPlan(judges=10, per_item=3)
    assert [planned_share(plan, 24, judge) for judge in range(1, 11)] == [8, 8, *[7] * 8]
    assert planned_share(plan, 24, 11) == 8


@pytest.mark.heavy
def test_every_trial_gets_exactly_its_number(url: str) -> None:
    store = Store.create(url, new_setup(n_items=8, judges=10, per_item=3))
    for judge in judges_of(store, 10):
        answer_all(store, judge)
    assert set(counts_of(store).values()) == {3}
    assert len(counts_of(store)) == 24
    assert {judge.done for judge in store.overview().judges} == {7, 8}


@pytest.mark.heavy
def test_others_take_over_what_judges_leave(url: str) -> None:
    # Two of ten judges leave early, one with a trial still open.
    store = Store.create(url, new_setup(n_items=8, judges=10, per_item=3))
    judges = judges_of(store, 10)
    answer_all(store, judges[0], at_most=2)
    store.next_trial(judges[0])
    answer_all(store, judges[1], at_most=3)
    for _ in range(3):
        for judge in judges[2:]:
            answer_all(store, judge)
    assert set(counts_of(store).values()) == {3}


def test_in_a_small_study_too_others_take_over_what_a_judge_leaves(url: str) -> None:
    # 8 trials x 2 = 16 judgments of 4 judges, 4 each. The first leaves after one with another open;
    # the others come in turn, not again. The third finds the first behind and does 3 more; the open
    # trial goes to the fourth, when 12 have passed by.
    store = Store.create(url, new_setup(n_items=4, systems="AB", judges=4, per_item=2))
    judges = judges_of(store, 4)
    answer_all(store, judges[0], at_most=1)
    store.next_trial(judges[0])
    for judge in judges[1:]:
        answer_all(store, judge)
    answer_all(store, judges[1])
    assert set(counts_of(store).values()) == {2}


def test_a_trial_that_is_held_goes_to_others_when_its_lease_is_over(tmp_path: Path) -> None:
    clock = Clock()
    store = Store.create(
        tmp_path / "s.db", new_setup(n_items=1, systems="A", judges=2, per_item=1), clock=clock
    )
    first, second = judges_of(store, 2)
    held = store.next_trial(first)
    assert held is not None
    assert store.next_trial(second) is None
    clock.now += 31 * 60
    taken = store.next_trial(second)
    assert taken is not None and taken.variants[0].text == held.variants[0].text
    # The first comes back: nothing is left, but an answer that was on its way is kept.
    assert store.next_trial(first) is None
    assert store.record(first, held.id, answer_to(held), ms=1) == "created"


def test_a_judge_who_comes_back_in_time_keeps_the_trial(tmp_path: Path) -> None:
    clock = Clock()
    store = Store.create(
        tmp_path / "s.db", new_setup(n_items=1, systems="A", judges=2, per_item=1), clock=clock
    )
    first, second = judges_of(store, 2)
    held = store.next_trial(first)
    clock.now += 20 * 60
    assert store.next_trial(first) == held
    clock.now += 20 * 60
    assert store.next_trial(second) is None


def test_a_trial_that_comes_back_to_a_judge_shows_its_texts_in_the_same_order(
    new_url: Callable[[], str],
) -> None:
    """An older page of the trial may still be open, or the browser may have kept an answer to it."""
    page = default_questionnaire("rating", layout="page")
    for questionnaire, seed in [(PAIRWISE, 0), (PAIRWISE, 1), (page, 0)]:
        clock = Clock()
        setup = new_setup(questionnaire, n_items=1, systems="AB", judges=2, per_item=2, seed=seed)
        store = Store.create(new_url(), setup, clock=clock)
        first, second, third = judges_of(store, 3)
        shown_first = store.next_trial(first)
        clock.now += 60
        shown_third = store.next_trial(third)
        assert shown_first is not None and shown_third is not None
        clock.now += 3600
        assert store.next_trial(second) is not None  # takes over the trial of the first
        assert store.next_trial(first) == shown_first  # which takes over that of the third
        answer = answer_to(shown_first)
        assert store.record(first, shown_first.id, answer, ms=1) == "created"
        (chosen, *_) = store.judgments()
        if questionnaire is PAIRWISE:
            text = shown_first.variants[0].text  # "A says 0"
            assert (chosen.system_a, chosen.choice) == (text[0], "a")  # type: ignore[union-attr]


@pytest.mark.parametrize("hours", [-5, 5])
def test_a_clock_that_jumps_costs_at_most_a_judgment_for_each_trial_held(
    tmp_path: Path, hours: int
) -> None:
    clock = Clock()
    setup = new_setup(n_items=6, systems="A", judges=3, per_item=1)
    store = Store.create(tmp_path / "s.db", setup, clock=clock)
    judges = judges_of(store, 3)
    held = [store.next_trial(judge) for judge in judges]
    clock.now += hours * 3600
    for judge, trial in zip(judges, held, strict=True):
        assert trial is not None
        assert store.record(judge, trial.id, answer_to(trial), ms=1) == "created", "none is lost"
        answer_all(store, judge)
    counts = counts_of(store)
    assert len(counts) == 6
    assert set(counts.values()) <= {1, 2}
    assert sum(counts.values()) <= 6 + len(held)


def test_a_clock_set_back_holds_nothing_up(tmp_path: Path) -> None:
    clock = Clock()
    setup = new_setup(n_items=1, systems="A", judges=2, per_item=1)
    store = Store.create(tmp_path / "s.db", setup, clock=clock)
    first, second = judges_of(store, 2)
    assert store.next_trial(first) is not None  # and leaves
    clock.now -= 20 * 60
    assert store.next_trial(second) is None
    clock.now -= 5 * 3600
    assert store.next_trial(second) is not None


@pytest.mark.heavy
def test_nobody_gets_a_trial_twice_and_orders_differ(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s.db", new_setup(n_items=10, judges=3, per_item=3))
    orders = []
    for judge in judges_of(store, 3):
        texts = [trial.variants[0].text for trial in answer_all(store, judge)]
        assert len(set(texts)) == len(texts) == 30
        orders.append(tuple(texts))
    assert len(set(orders)) == 3


@pytest.mark.heavy
def test_the_same_requests_give_the_same_assignment(tmp_path: Path) -> None:
    def run(name: str, seed: int) -> list[list[str]]:
        setup = new_setup(n_items=5, judges=4, per_item=2, repeats=1, seed=seed)
        store = Store.create(tmp_path / name, setup)
        return [
            [trial.variants[0].text for trial in answer_all(store, judge)]
            for judge in judges_of(store, 4)
        ]

    assert run("a.db", 1) == run("b.db", 1)
    assert run("c.db", 1) != run("d.db", 2)


def test_a_judge_sees_systems_and_items_evenly(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s.db", new_setup(n_items=6, judges=6, per_item=2))
    (judge, *_) = judges_of(store, 6)
    texts = [trial.variants[0].text.split() for trial in answer_all(store, judge)]
    # 18 trials × 2 / 6 judges = 6: each item once, each system twice
    assert len({text[2] for text in texts}) == 6
    assert set(Counter(text[0] for text in texts).values()) == {2}


@pytest.mark.heavy
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    n_items=st.integers(1, 6),
    n_judges=st.integers(2, 6),
    per_item=st.integers(1, 4),
    seed=st.integers(0, 2**32),
)
def test_judges_in_any_order_who_leave_at_any_time_complete_the_study(
    tmp_path_factory: pytest.TempPathFactory, n_items: int, n_judges: int, per_item: int, seed: int
) -> None:
    """As long as enough judges stay and come back, every trial gets exactly its number."""
    per_item = min(per_item, n_judges)
    rng = np.random.default_rng(seed)
    clock = Clock()
    setup = new_setup(n_items=n_items, systems="AB", judges=n_judges, per_item=per_item, seed=seed)
    store = Store.create(tmp_path_factory.mktemp("study") / "s.db", setup, clock=clock)
    judges = judges_of(store, n_judges)
    n_leaving = int(rng.integers(0, n_judges - per_item + 1))
    leaving = {judge.id: int(rng.integers(0, 4)) for judge in judges[:n_leaving]}

    def step(judge: JudgeRef) -> bool:
        trial = store.next_trial(judge)
        if trial is None or leaving.get(judge.id, 1) == 0:
            return False
        leaving[judge.id] = leaving.get(judge.id, 1000) - 1
        store.record(judge, trial.id, answer_to(trial), ms=100)
        return True

    for _ in range(40 * n_items):
        step(judges[int(rng.integers(n_judges))])
    clock.now += 3 * 24 * 3600
    for _ in range(2):
        for judge in judges[n_leaving:]:
            while step(judge):
                pass
        clock.now += 3600
    assert set(counts_of(store).values()) == {per_item}
    assert len(counts_of(store)) == 2 * n_items


def test_more_than_the_share_is_asked_only_when_others_cannot() -> None:
    missing = {0: 1, 1: 1}
    ready = OtherJudge(n_left=2, given={5})
    assert trials_beyond_share(missing, [ready], 0) == set()
    assert trials_beyond_share(missing, [OtherJudge(n_left=1, given=set())], 0) == {0, 1}
    # The other one has had trial 0, so only that is left to us.
    assert trials_beyond_share({0: 1, 1: 1, 2: 0}, [OtherJudge(2, {0}), OtherJudge(2, {0})], 0) == {
        0
    }
    assert trials_beyond_share(missing, [], 2) == set()


def test_judges_yet_to_be_invited_keep_their_share(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s.db", new_setup(n_items=4, judges=6, per_item=3))
    for judge in judges_of(store, 3):
        assert len(answer_all(store, judge)) == 6
    assert store.overview().unreachable == 18
    for judge in judges_of(store, 3):
        answer_all(store, judge)
    assert set(counts_of(store).values()) == {3}


def test_no_judge_gets_more_than_the_most(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s.db", new_setup(judges=4, per_item=2, at_most=6))
    judges = judges_of(store, 2)
    for judge in judges:
        assert len(answer_all(store, judge)) == 6
    with pytest.raises(InputError, match="cannot give"):
        new_setup(judges=4, per_item=2, at_most=5)


def test_pairs_are_shown_in_each_order_equally_often(url: str) -> None:
    setup = new_setup(PAIRWISE, n_items=3, judges=4, per_item=4)
    store = Store.create(url, setup)
    for judge in judges_of(store, 4):
        answer_all(store, judge)
    orders = Counter((one.item, one.system_a, one.system_b) for one in store.judgments())  # type: ignore[union-attr]
    assert set(orders.values()) == {2}
    assert len(orders) == 3 * 3 * 2


def test_the_rarer_order_is_next() -> None:
    assert keeps_pair_order({True: 1, False: 2}, seed=1, trial=1)
    assert not keeps_pair_order({True: 2, False: 1}, seed=1, trial=1)
    drawn = [keeps_pair_order({}, seed=1, trial=trial) for trial in range(200)]
    assert 70 < sum(drawn) < 130


def test_foster_every_pair_six_times_three_in_each_order_each_item_once() -> None:
    # Foster 2008: 3 systems, 3 pairs × 6 = 18 items
    setup = new_setup(PAIRWISE, n_items=18, kind="within-judge", times=6)
    allotments = set()
    for judge in range(1, 6):
        trials = within_judge_trials(setup, judge)
        assert sorted(trial.item for trial in trials) == list(range(18))
        orders = Counter(trial.systems for trial in trials)
        assert set(orders.values()) == {3}
        assert len(orders) == 6
        allotments.add(tuple(trials))
    assert len(allotments) == 5


def test_within_judges_through_the_store(url: str) -> None:
    setup = new_setup(PAIRWISE, n_items=6, kind="within-judge", judges=2)
    assert max_times(setup) == 2
    store = Store.create(url, setup)
    for judge in judges_of(store, 2):
        shown = answer_all(store, judge)
        assert len(shown) == 6
        assert store.progress(judge).done == store.progress(judge).total == 6
    pairs = Counter(
        (one.judge, *sorted((one.system_a, one.system_b)))  # type: ignore[union-attr]
        for one in store.judgments()
    )
    assert set(pairs.values()) == {2}


def test_within_judges_where_outputs_are_missing() -> None:
    # A and B both exist for items 0 and 1 only: the random allotment must find them.
    items = (
        StudyItem("0", {"A": "a0", "B": "b0", "C": "c0"}),
        StudyItem("1", {"A": "a1", "B": "b1"}),
        StudyItem("2", {"A": "a2", "C": "c2"}),
        StudyItem("3", {"B": "b3", "C": "c3"}),
    )
    setup = make_setup(
        PAIRWISE,
        StudyPlan(kind="within-judge", times=1),
        items,
        all_trials(PAIRWISE, items),
        seed=1,
    )
    for judge in range(1, 20):
        trials = within_judge_trials(setup, judge)
        assert len({trial.item for trial in trials}) == 3
        for trial in trials:
            assert set(trial.systems) <= set(items[trial.item].outputs)


def within_judge_setup(outputs: Sequence[Mapping[str, str]], design: str = "rating") -> StudySetup:
    """A study under the plan within-judge of items with these outputs by system."""
    questionnaire = default_questionnaire(design)
    items = tuple(StudyItem(f"i{place}", each) for place, each in enumerate(outputs))
    plan = StudyPlan(kind="within-judge")
    return make_setup(questionnaire, plan, items, all_trials(questionnaire, items), seed=1)


def test_within_judges_with_many_items() -> None:
    outputs = [{"A": "a", "B": "b"}] * 20_000
    assert len(within_judge_trials(within_judge_setup(outputs), judge=2)) == 20_000
    outputs[0] = {"A": "a"}
    trials = within_judge_trials(within_judge_setup(outputs), judge=2)
    assert Counter(trial.systems for trial in trials) == {("A",): 10_000, ("B",): 10_000}
    assert len({trial.item for trial in trials}) == 20_000
    outputs[0] = {"A": "a", "B": "b", "C": "c"}
    with pytest.raises(InputError, match=r"3 trials .3 pairs × 1., and 20,000 items cannot give"):
        within_judge_setup(outputs, "pairwise")


@settings(max_examples=60)
@given(
    shown=st.lists(st.sets(st.sampled_from("ABC"), min_size=1), min_size=3, max_size=12),
    seed=st.integers(0, 2**32),
)
def test_within_judges_show_systems_as_often_as_the_outputs_allow(
    shown: list[set[str]], seed: int
) -> None:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    systems = sorted(set().union(*shown))

    def is_possible(times: int) -> bool:
        slots = [system for system in systems for _ in range(times)]
        allowed = csr_array([[slot in item for item in shown] for slot in slots])
        return bool((maximum_bipartite_matching(allowed, perm_type="column") >= 0).all())

    possible = [times for times in range(1, len(shown) + 1) if is_possible(times)]
    outputs = [{system: system for system in sorted(item)} for item in shown]
    if not possible:
        with pytest.raises(InputError, match="cannot give it"):
            within_judge_setup(outputs)
        return
    setup = within_judge_setup(outputs)
    assert setup.times == max(possible)
    trials = within_judge_trials(setup, seed)
    assert len({trial.item for trial in trials}) == len(trials)
    assert all(trial.systems[0] in shown[trial.item] for trial in trials)
    counts = Counter(system for trial in trials for system in trial.systems)
    assert counts == dict.fromkeys(systems, max(possible))


def test_within_judges_chance_decides_which_items_a_system_has() -> None:
    # C exists for the last 4 of 8 items. Each system comes twice, so C has each of its items in half of
    # the draws, and A and B have the same chances. 300 draws: 6 standard errors of a share are 0.17.
    setup = within_judge_setup(
        [{"A": "a", "B": "b", **({"C": "c"} if n > 3 else {})} for n in range(8)]
    )
    drawn = Counter(
        (trial.systems[0], trial.item)
        for judge in range(1, 301)
        for trial in within_judge_trials(setup, judge)
    )
    shares = {key: n / 300 for key, n in drawn.items()}
    assert all(abs(shares["C", item] - 1 / 2) < 0.17 for item in range(4, 8))
    assert all(abs(shares["A", item] - shares["B", item]) < 0.24 for item in range(8))
    for system in "AB":
        for items in (range(4), range(4, 8)):
            mean = sum(shares[system, item] for item in items) / 4
            assert all(abs(shares[system, item] - mean) < 0.17 for item in items)


def test_within_judges_where_the_first_outputs_of_two_systems_are_the_same() -> None:
    outputs = [{"A": "same", "B": "same", "C": "c"}, *[{"A": "a", "B": "b", "C": "c"}] * 5]
    setup = within_judge_setup(outputs, "pairwise")
    pairs = Counter(frozenset(trial.systems) for trial in within_judge_trials(setup, 1))
    assert sorted(pairs.values()) == [2, 2, 2]


def test_a_judge_who_has_begun_sees_no_item_twice_if_the_draw_changes(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s.db", new_setup(n_items=6, kind="within-judge", judges=1))
    (judge,) = judges_of(store, 1)
    shown = answer_all(store, judge, at_most=2)
    own_list = store.setup.trials_of_judges[judge.id]
    store.setup.trials_of_judges[judge.id] = own_list[::-1]
    shown += answer_all(store, judge)
    assert len({trial.context for trial in shown}) == len(shown) == 6


def test_within_judges_needs_enough_items() -> None:
    with pytest.raises(InputError, match="9 trials") as caught:
        new_setup(PAIRWISE, n_items=4, kind="within-judge", times=3)
    assert "Lower times=" in str(caught.value)
    with pytest.raises(InputError, match="a page shows the outputs of all systems"):
        new_setup(default_questionnaire("rating", layout="page"), kind="within-judge")


def test_within_judges_for_ratings_shows_every_system_equally_often(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s.db", new_setup(n_items=6, kind="within-judge", judges=1))
    (judge,) = judges_of(store, 1)
    texts = [trial.variants[0].text.split() for trial in answer_all(store, judge)]
    assert Counter(text[0] for text in texts) == {"A": 2, "B": 2, "C": 2}
    assert len({text[2] for text in texts}) == 6


def test_repeats_come_later_and_make_no_judgments(url: str) -> None:
    store = Store.create(url, new_setup(n_items=4, judges=1, per_item=1, repeats=2))
    (judge,) = judges_of(store, 1)
    texts = [trial.variants[0].text for trial in answer_all(store, judge)]
    assert len(texts) == 14
    twice = [text for text, n in Counter(texts).items() if n == 2]
    assert len(twice) == 2
    for text in twice:
        first, again = (place for place, one in enumerate(texts) if one == text)
        assert again - first >= 4
    assert len(store.judgments()) == 24
    assert len(store.judgments(repeats=True)) == 28
    assert store.overview().judges[0].consistency is not None


def test_checks_are_shown_and_failures_flagged(url: str) -> None:
    check = Check(("Please answer 2.",), {"understandability": 2, "quality": 2})
    setup = new_setup(n_items=4, judges=2, per_item=2, checks=2, check_trials=[check])
    store = Store.create(url, setup)
    attentive, careless = judges_of(store, 2)
    for judge in (attentive, careless):
        n_checks = 0
        while (trial := store.next_trial(judge)) is not None:
            is_check = trial.variants[0].text == "Please answer 2."
            n_checks += is_check
            is_right = is_check and judge is attentive
            given = {"understandability": 2 if is_right else 5, "quality": 2 if is_right else 3}
            store.record(judge, trial.id, given, ms=900)
        assert n_checks == 2
        assert store.progress(judge).total == 14
    first, second = store.overview().judges
    assert (first.checks, first.checks_failed) == (2, 0)
    assert (second.checks, second.checks_failed) == (2, 2)
    assert "failed 2 of 2 attention checks" in second.flags
    assert len(store.judgments()) == 2 * 12 * 2


def test_special_trials_keep_their_distance() -> None:
    plan = StudyPlan(repeats=3, checks=3)
    for judge in range(50):
        found = special_positions(plan, 20, seed=1, judge=judge)
        assert all(10 <= place <= 20 for place in found["repeat"])
        assert all(1 <= place <= 20 for place in found["check"])


def test_practice_comes_first_and_is_kept_apart(url: str) -> None:
    from wellput.studies.settings import make_settings

    questionnaire = make_settings("rating", {"practice": True}).questionnaire
    store = Store.create(url, new_setup(questionnaire, n_items=1, judges=1, per_item=1))
    (judge,) = judges_of(store, 1)
    shown = answer_all(store, judge)
    assert [trial.is_practice for trial in shown] == [True, True, False, False, False]
    assert len(store.judgments()) == 6


def test_a_page_shows_all_variants_in_an_order_of_the_judges_own(url: str) -> None:
    questionnaire = default_questionnaire("rating", layout="page")
    store = Store.create(url, new_setup(questionnaire, n_items=6, judges=3, per_item=3))
    orders = set()
    for judge in judges_of(store, 3):
        for trial in answer_all(store, judge):
            assert len(trial.variants) == 3
            orders.add("".join(variant.text[0] for variant in trial.variants))
    assert len(orders) > 2
    assert set(counts_of(store).values()) == {3}


def test_a_task_shows_an_item_once_to_a_judge(url: str) -> None:
    tasks = [Task(f"i{k}", "Which?", (f"n{k}",)) for k in range(4)]
    setup = new_setup(default_questionnaire("task"), n_items=4, judges=3, per_item=1, tasks=tasks)
    store = Store.create(url, setup)
    for judge in judges_of(store, 3):
        shown = answer_all(store, judge)
        assert len({trial.variants[0].text[-1] for trial in shown}) == len(shown) == 4
    assert set(counts_of(store).values()) == {1}


def test_a_task_counts_what_its_judges_cannot_answer(tmp_path: Path) -> None:
    # 4 items × 3 systems × 2 = 24 answers; each of the 2 judges sees an item once and gives 4
    tasks = [Task(f"i{k}", "Which?", (f"n{k}",)) for k in range(4)]
    setup = new_setup(default_questionnaire("task"), n_items=4, judges=2, per_item=2, tasks=tasks)
    store = Store.create(tmp_path / "s.db", setup)
    judges = judges_of(store, 2)
    assert [one.total for one in store.overview().judges] == [4, 4]
    assert store.overview().unreachable == 16
    for judge in judges:
        answer_all(store, judge)
    found = store.overview()
    assert (found.done, found.planned, found.unreachable) == (8, 24, 16)
    for judge in judges_of(store, 4):
        answer_all(store, judge)
    assert (store.overview().done, store.overview().unreachable) == (24, 0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: new_setup(per_item=4), "4 judgments of a trial need 4 judges"),
        (lambda: new_setup(PAIRWISE, systems="A"), "this evalset has one system"),
        (lambda: new_setup(judges=0), "at least one judge"),
        (lambda: new_setup(default_questionnaire("task")), "item i0 has no .*tasks"),
        (lambda: new_setup(tasks=[Task("i0", "?", ("x",))]), "does not use"),
        (lambda: new_setup(lease_minutes=0), "a lease must last"),
    ],
)
def test_studies_that_cannot_be(make: Callable[[], StudySetup], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_more_trials_than_the_memory_holds_are_refused() -> None:
    systems = [f"s{number}" for number in range(20_000)]  # two hundred million pairs
    items = (StudyItem("i", {system: system for system in systems}),)
    began = time.process_time()
    with pytest.raises(InputError, match="more than 1,000,000 trials"):
        all_trials(PAIRWISE, items)
    # Each item has another system: the cost is that of the outputs, not of items times systems.
    alone = tuple(StudyItem(system, {system: system}) for system in systems)
    assert len(all_trials(default_questionnaire("rating"), alone)) == len(systems)
    assert time.process_time() - began < 10


def documents_setup(design: str, *, layout: Layout | None = None, **plan: Any) -> StudySetup:
    """Three documents of four segments each, their items mixed, by two systems."""
    questionnaire = default_questionnaire(design, layout=layout)
    items = tuple(
        StudyItem(f"i{n}", {"A": f"a {n}", "B": f"b {n}"}, document=f"d{n % 3}") for n in range(12)
    )
    trials = all_trials(questionnaire, items)
    return make_setup(questionnaire, StudyPlan(**plan), items, trials, seed=3)


def read_texts(store: Store, judge: Any) -> list[str]:
    """The texts in the order in which a judge gets them."""
    found = []
    while (trial := store.next_trial(judge)) is not None:
        one: dict[str, Any] = {"errors": [], "quality": 5}
        given = {v.id: one for v in trial.variants} if len(trial.variants) > 1 else one
        store.record(judge, trial.id, given, ms=1)
        found.append(trial.variants[0].text)
    return found


def runs(texts: list[str], *, by_system: bool) -> list[list[int]]:
    """The numbers of the items, a list for each document (as a system wrote it) without a break."""
    found: list[list[int]] = []
    last = None
    for text in texts:
        system, number = text.split()
        key = (int(number) % 3, system if by_system else "")
        if key != last:
            found.append([])
        found[-1].append(int(number))
        last = key
    return found


@pytest.mark.parametrize("layout", [None, "page"])
def test_a_judge_reads_documents_whole_and_in_order(tmp_path: Path, layout: Layout | None) -> None:
    setup = documents_setup("spans", layout=layout, judges=2, per_item=2)
    store = Store.create(tmp_path / "study.db", setup)
    for judge in judges_of(store, 2):
        texts = read_texts(store, judge)
        parts = runs(texts, by_system=layout is None)
        assert len(parts) == (6 if layout is None else 3)
        assert all(part == sorted(part) and len(part) == 4 for part in parts)


def test_documents_that_two_judges_share_are_finished(tmp_path: Path) -> None:
    """Nobody has more than the planned share; what one leaves of a document, the other goes on with."""
    setup = documents_setup("spans", judges=5, per_item=1)
    store = Store.create(tmp_path / "study.db", setup)
    read = [read_texts(store, judge) for judge in judges_of(store, 5)]
    assert sorted(map(len, read)) == [4, 5, 5, 5, 5]
    assert len({text for own in read for text in own}) == 24
    for own in read:
        assert all(part == sorted(part) for part in runs(own, by_system=True))


def test_within_judge_documents_are_in_order_too(tmp_path: Path) -> None:
    setup = documents_setup("spans", kind="within-judge", judges=1)
    store = Store.create(tmp_path / "study.db", setup)
    (judge,) = judges_of(store, 1)
    parts = runs(read_texts(store, judge), by_system=False)
    assert len(parts) == 3 and all(part == sorted(part) for part in parts)


def test_an_item_without_a_document_is_in_none_whatever_documents_are_called() -> None:
    questionnaire = default_questionnaire("spans")
    items = tuple(
        StudyItem(f"i{n}", {"A": f"a {n}", "B": f"b {n}"}, document="2" if n < 2 else None)
        for n in range(4)
    )
    plan = StudyPlan(kind="within-judge", judges=20)
    setup = make_setup(questionnaire, plan, items, all_trials(questionnaire, items), seed=3)
    orders = [[trial.item for trial in within_judge_trials(setup, judge)] for judge in range(20)]
    assert any(order.index(2) < order.index(0) for order in orders)
    assert all(order.index(1) == order.index(0) + 1 for order in orders)


def test_other_designs_mix_the_items(tmp_path: Path) -> None:
    setup = documents_setup("slider", judges=1, per_item=1)
    store = Store.create(tmp_path / "study.db", setup)
    (judge,) = judges_of(store, 1)
    found = [trial.variants[0].text for trial in answer_all(store, judge)]
    assert len(runs(found, by_system=True)) > 8
