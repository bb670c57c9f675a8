"""`JudgeQueue`: what a judge gets next, and how many trials the judge has in all. It applies
`assignment_rules` to the tables of the study inside one transaction.

Machine judges answer every trial in addition to the people: they do not count as some of the planned
judges, nobody waits for them, and they see neither practice trials nor attention checks.

An *assignment* is a row of the table `assignments`: one trial for one judge. It has one of four
purposes: `trial`, `repeat` (one of the judge's own trials again), `practice` and `check`. A
*withdrawn* assignment went to somebody else while its judge was away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection

from wellput.core.judgment import MACHINE_PREFIX
from wellput.core.metric import Integers
from wellput.studies import schema
from wellput.studies.assignment_rules import (
    CHECK_STREAM,
    ORDER_STREAM,
    OtherJudge,
    choose_trial,
    eligible_trials,
    is_away,
    keeps_pair_order,
    possible_share,
    rng_for,
    shuffled_systems,
    special_positions,
    trials_beyond_share,
    within_judge_trials,
)
from wellput.studies.invitations import opaque_id
from wellput.studies.questionnaire import JudgeProgress
from wellput.studies.study_setup import StudySetup
from wellput.studies.study_transactions import Assignment, StudyReading, StudyTransaction

AssignmentPurpose: TypeAlias = Literal["trial", "repeat", "practice", "check"]

assignments = schema.assignments.c
judges = schema.judges.c

# A statement that every request needs, so it is built only once.
MACHINES = sa.select(judges.id).where(judges.name.startswith(MACHINE_PREFIX, autoescape=True))


@dataclass(frozen=True)
class NewAssignment:
    """An assignment to be written: its purpose; the number of the trial, practice trial or check; and
    the shown texts (`variants`) as (random id, system), with "" for the system in a practice trial or
    check."""

    purpose: AssignmentPurpose
    number: int
    variants: list[tuple[str, str]]


def machine_judges(connection: Connection) -> set[int]:
    """The ids of the judges who are machines."""
    return set(connection.scalars(MACHINES))


def open_assignment(assignments_of_judge: Sequence[Assignment]) -> Assignment | None:
    """The assignment that the judge must answer now: one whose answer the judge took back, or else the
    one without an answer. None where there is neither."""
    valid = [row for row in assignments_of_judge if not row.is_withdrawn]
    for row in valid:
        if row.is_reopened:
            return row
    return next((row for row in valid if row.answered_at is None), None)


class JudgeQueue:
    """Chooses what a judge gets next, and counts the trials that the judge has in all. `judge` is the
    judge's id, `now` the time in seconds since 1970."""

    def __init__(
        self,
        setup: StudySetup,
        transaction: StudyTransaction | StudyReading,
        judge: int,
        now: float,
        *,
        is_machine: bool,
    ) -> None:
        self.setup = setup
        self.transaction = transaction
        self.connection = transaction.connection
        self.judge = judge
        self.now = now
        self.own_assignments: Sequence[Assignment] = transaction.own_assignments(judge)
        self.given_trials: list[Assignment] = []
        self.given_numbers: list[int] = []
        self._set_given()
        self.is_machine = is_machine
        self.is_within = setup.plan.kind == "within-judge" and not self.is_machine
        self.fixed_list = within_judge_trials(setup, judge) if self.is_within else ()

    def add(self, row: Assignment) -> None:
        """Notes an assignment that was just given to the judge."""
        self.own_assignments = [
            *(other for other in self.own_assignments if other.key != row.key),
            row,
        ]
        self._set_given()

    def _set_given(self) -> None:
        """Selects the trials among the judge's assignments, and their numbers."""
        self.given_trials = [
            r for r in self.own_assignments if r.purpose == "trial" and not r.is_withdrawn
        ]
        self.given_numbers = [int(row.number) for row in self.given_trials]

    @cached_property
    def machines(self) -> set[int]:
        return machine_judges(self.connection)

    def next(self) -> NewAssignment | None:
        """The next assignment; None when nothing is left for the judge."""
        if self.is_machine:
            return next(iter(self.for_machine(1)), None)
        n_practice = self._count("practice")
        if n_practice < len(self.setup.questionnaire.practice):
            texts = self.setup.questionnaire.practice[n_practice].texts
            return NewAssignment("practice", n_practice, [(opaque_id(), "") for _ in texts])
        if (special := self._special(self.n_done)) is not None:
            return special
        if (trial := self._trial()) is not None:
            return trial
        return self._special(self.length) if self.given_trials else None

    def for_machine(self, most: int) -> list[NewAssignment]:
        """Up to `most` trials that a machine was not given yet, in a random order that differs between
        machines."""
        order = rng_for(self.setup.seed, self.judge, ORDER_STREAM).permutation(
            len(self.setup.trials)
        )
        given = set(self.given_numbers)
        numbers = [number for number in order.tolist() if number not in given][:most]
        return [NewAssignment("trial", number, self._variants(number)) for number in numbers]

    @property
    def n_done(self) -> int:
        """The number of trials that the judge answered, without repeats, practice and checks."""
        return sum(row.answered_at is not None for row in self.given_trials)

    @property
    def length(self) -> int:
        """The number of trials planned for the judge, without repeats and checks."""
        if self.is_machine:
            return len(self.setup.trials)
        if self.is_within:
            return len(self.fixed_list)
        return possible_share(self.setup, self.judge)

    def total(self) -> int:
        """The number of answers that the judge will have given in the end, as expected now."""
        if self.is_machine:
            return len(self.setup.trials)
        n_trials = len(self.given_trials)
        if n_trials < self.length:
            n_trials = min(self.length, n_trials + self._n_free())
        plan = self.setup.plan
        n_special = plan.checks + min(plan.repeats, n_trials) if n_trials else 0
        return len(self.setup.questionnaire.practice) + n_trials + n_special

    def progress(self, answered: Assignment | None = None) -> JudgeProgress:
        """The judge's answered trials and all of them. `answered` is an assignment that the judge has
        just answered, and that may not be marked as answered yet."""
        just_answered = None if answered is None else answered.key
        done = sum(
            (row.answered_at is not None and not row.is_reopened) or row.key == just_answered
            for row in self.own_assignments
        )
        return JudgeProgress(done, max(done, self.total()))

    def _n_free(self) -> int:
        """The number of further trials that the judge could get."""
        if self.is_within:
            return len(self.fixed_list)
        numbers = np.flatnonzero(self.transaction.missing)
        return len(eligible_trials(self.setup, numbers, self.given_numbers))

    def _count(self, purpose: AssignmentPurpose) -> int:
        return sum(row.purpose == purpose for row in self.own_assignments)

    def _special(self, n_done: int) -> NewAssignment | None:
        """The check or the repeated trial that is due after `n_done` answered trials; None if none
        is."""
        if not (self.setup.plan.checks or self.setup.plan.repeats):
            return None
        positions = special_positions(
            self.setup.plan, self.length, seed=self.setup.seed, judge=self.judge
        )
        n_checks = self._count("check")
        if n_checks < sum(place <= n_done for place in positions["check"]):
            offset = int(rng_for(self.setup.seed, self.judge, CHECK_STREAM).integers(1 << 30))
            number = (offset + n_checks) % len(self.setup.checks)
            texts = self.setup.checks[number].texts
            return NewAssignment("check", number, [(opaque_id(), "") for _ in texts])
        answered = [row for row in self.given_trials if row.answered_at is not None]
        n_repeats = self._count("repeat")
        n_due = sum(place <= n_done for place in positions["repeat"])
        if n_repeats < min(n_due, len(answered)):
            first = answered[n_repeats]
            return NewAssignment(
                "repeat", first.number, [(opaque_id(), s) for _, s in first.variants]
            )
        return None

    def _trial(self) -> NewAssignment | None:
        """The next trial: within the share, one that still lacks judgments, else the open trial of a
        judge who is away; after the share, only trials that the others will not do."""
        if self.is_within:
            # The first trial of the list with a new item: another version of SciPy may draw another
            # list for a judge who has begun.
            seen = {self.setup.trials[number].item for number in self.given_numbers}
            trial = next((trial for trial in self.fixed_list if trial.item not in seen), None)
            if trial is None or len(seen) == len(self.fixed_list):
                return None
            number = self.setup.number_of_trial[trial.item, frozenset(trial.systems)]
            return NewAssignment(
                "trial", number, [(opaque_id(), system) for system in trial.systems]
            )
        missing = self.transaction.missing
        if len(self.given_trials) < self.length:
            chosen = self._choose(missing)
            if chosen is None:
                chosen = self._take_over(self._held_by_absent())
        else:
            held = self._held_by_absent()
            numbers = {*np.flatnonzero(missing).tolist(), *held}
            lacking = {number: int(missing[number]) + (number in held) for number in numbers}
            allowed = self._beyond_share(lacking)
            missing_allowed = np.zeros_like(missing)
            numbers_allowed = np.fromiter(allowed, np.int64, len(allowed))
            missing_allowed[numbers_allowed] = missing[numbers_allowed]
            chosen = self._choose(missing_allowed)
            if chosen is None:
                chosen = self._take_over({n: row for n, row in held.items() if n in allowed})
        return None if chosen is None else NewAssignment("trial", chosen, self._variants(chosen))

    def _choose(self, missing: Integers) -> int | None:
        return choose_trial(self.setup, missing, self.given_numbers, judge=self.judge)

    def _absent(self, *, holds_open_trial: bool) -> set[int]:
        """The ids of the other judges who count as away (`assignment_rules.is_away`).

        If a judge was last seen at a time that is still in the future, the clock was set back since
        then: the judge counts as idle for as long as that time is ahead.
        """
        rows = self.connection.execute(
            sa.select(judges.id, judges.seen_at, judges.seen_answer, judges.started_at).where(
                judges.forgotten_at.is_(None), judges.id != self.judge
            )
        ).all()
        newest = self.connection.scalar(sa.select(sa.func.max(schema.answers.c.id))) or 0
        return {
            row.id
            for row in rows
            if row.id not in self.machines
            and is_away(
                seconds_idle=abs(self.now - row.seen_at),
                answers_since=newest - row.seen_answer,
                has_started=row.started_at is not None,
                holds_open_trial=holds_open_trial,
                n_judges=len(rows) + 1 - len(self.machines),
                setup=self.setup,
            )
        }

    def _held_by_absent(self) -> dict[int, Assignment]:
        """The unanswered assignments of judges who are away, by the number of the trial; of several,
        the one that was given first."""
        rows = self.connection.execute(
            sa.select(schema.assignments)
            .where(
                assignments.purpose == "trial",
                assignments.answered_at.is_(None),
                assignments.is_withdrawn.is_(False),
                assignments.judge != self.judge,
            )
            .order_by(assignments.given_at.desc())
        ).all()
        if not rows:
            return {}
        absent = self._absent(holds_open_trial=True)
        return {row.number: row for row in rows if row.judge in absent}

    def _take_over(self, held: dict[int, Assignment]) -> int | None:
        """Withdraws a trial from a judge who is away: of the assignments `held`, the one that was given
        first and that this judge may get. Returns the number of its trial, None where there is none."""
        numbers = np.fromiter(held, np.int64, len(held))
        takeable = set(eligible_trials(self.setup, numbers, self.given_numbers).tolist())
        oldest = min(
            (row for row in held.values() if row.number in takeable),
            key=lambda row: row.given_at,
            default=None,
        )
        if oldest is None:
            return None
        self.connection.execute(
            sa.update(schema.assignments)
            .where(assignments.id == oldest.id)
            .values(is_withdrawn=True)
        )
        assert isinstance(self.transaction, StudyTransaction), "only a writer hands out trials"
        self.transaction.change_given(oldest.number, -1)
        return int(oldest.number)

    def _beyond_share(self, missing: dict[int, int]) -> set[int]:
        """The trials that the other judges will not do (`assignment_rules.trials_beyond_share`).
        `missing` has the number of judgments that each trial lacks."""
        n_given = len(self.given_trials)
        if not missing or (self.setup.plan.at_most or n_given + 1) <= n_given:
            return set()
        absent = self._absent(holds_open_trial=False)
        is_forgotten = {
            row.id: row.forgotten_at is not None
            for row in self.connection.execute(sa.select(judges.id, judges.forgotten_at))
            if row.id not in self.machines
        }
        given: dict[int, set[int]] = {}
        for judge, number in self.connection.execute(
            sa.select(assignments.judge, assignments.number).where(
                assignments.purpose == "trial", assignments.is_withdrawn.is_(False)
            )
        ):
            given.setdefault(judge, set()).add(number)
        others = []
        for judge, is_erased in is_forgotten.items():
            if is_erased or judge in absent or judge == self.judge:
                continue
            trials = given.get(judge, set())
            n_left = possible_share(self.setup, judge) - len(trials)
            if n_left > 0:
                others.append(OtherJudge(n_left, trials))
        n_left_for_uninvited = sum(
            possible_share(self.setup, judge)
            for judge in range(len(is_forgotten) + 1, self.setup.plan.judges + 1)
        )
        return trials_beyond_share(missing, others, n_left_for_uninvited)

    def _variants(self, number: int) -> list[tuple[str, str]]:
        """The systems of a trial in the order in which the judge sees them, each with a new random
        id."""
        systems: Sequence[str] = self.setup.trials[number].systems
        if self.setup.design.balances_order:
            orders = {True: 0, False: 0}
            for shown in () if self.is_machine else self._shown_to_people(number):
                orders[shown[0][1] == systems[0]] += 1
            if not keeps_pair_order(orders, seed=self.setup.seed, trial=number):
                systems = systems[::-1]
        elif len(systems) > 1:
            systems = shuffled_systems(
                systems, seed=self.setup.seed, judge=self.judge, trial=number
            )
        return [(opaque_id(), system) for system in systems]

    def _shown_to_people(self, number: int) -> list[list[tuple[str, str]]]:
        """The variants of a trial as (id, system) in the order shown, for each person who has seen
        it."""
        rows = self.connection.execute(
            sa.select(assignments.judge, assignments.variants).where(
                assignments.purpose == "trial",
                assignments.number == number,
                assignments.is_withdrawn.is_(False),
            )
        )
        return [row.variants for row in rows if row.judge not in self.machines]
