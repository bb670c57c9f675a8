"""`JudgeQueue`: what a judge gets next, and how much there is in all. It applies
`assignment_rules` to the tables inside one transaction.

Machine judges answer every trial, beside the people: they take no share of people's trials, are never
waited for, and see neither practice nor checks.

An assignment has one of four purposes: `trial`, `repeat` (one of the judge's own trials again),
`practice` and `check`. A withdrawn assignment went to somebody else while its judge was away.
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
    beyond_share,
    candidates,
    choose,
    is_away,
    is_first_shown_first,
    possible_share,
    rng_for,
    shuffled,
    special_positions,
    within_judge,
)
from wellput.studies.invitations import opaque_id
from wellput.studies.questionnaire import JudgeProgress
from wellput.studies.study_setup import StudySetup, Trial
from wellput.studies.study_transactions import Assignment, StudyReading, StudyTransaction

AssignmentPurpose: TypeAlias = Literal["trial", "repeat", "practice", "check"]

assignments = schema.assignments.c
judges = schema.judges.c

# Statements of every request, built once.
MACHINES = sa.select(judges.id).where(judges.name.startswith(MACHINE_PREFIX, autoescape=True))


@dataclass(frozen=True)
class NewAssignment:
    """An assignment to be written: its purpose; the number of the trial, practice or check; the
    variants as (opaque id, system). A practice or check has "" for its systems."""

    purpose: AssignmentPurpose
    number: int
    variants: list[tuple[str, str]]


def machine_judges(connection: Connection) -> set[int]:
    """The judges who are machines."""
    return set(connection.scalars(MACHINES))


def open_assignment(own: Sequence[Assignment]) -> Assignment | None:
    """What the judge must answer now: a trial whose answer was taken back, or else the last one."""
    live = [row for row in own if not row.is_withdrawn]
    for row in live:
        if row.is_reopened:
            return row
    return next((row for row in live if row.answered_at is None), None)


class JudgeQueue:
    """Chooses what a judge gets next, and counts how much there is for the judge in all."""

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
        self.own: Sequence[Assignment] = transaction.own_assignments(judge)
        self.had: list[Assignment] = [
            r for r in self.own if r.purpose == "trial" and not r.is_withdrawn
        ]
        self.had_numbers = [int(row.number) for row in self.had]
        self.is_machine = is_machine
        self.is_within = setup.plan.kind == "within-judge" and not self.is_machine
        self.listed = within_judge(setup, judge) if self.is_within else ()

    def add(self, row: Assignment) -> None:
        """Notes an assignment that was just given to the judge."""
        self.own = [*(other for other in self.own if other.key != row.key), row]
        self.had = [r for r in self.own if r.purpose == "trial" and not r.is_withdrawn]
        self.had_numbers = [int(row.number) for row in self.had]

    @cached_property
    def machines(self) -> set[int]:
        return machine_judges(self.connection)

    def next(self) -> NewAssignment | None:
        """The next assignment; None when the judge has had everything."""
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
        return self._special(self.length) if self.had else None

    def for_machine(self, most: int) -> list[NewAssignment]:
        """Up to `most` trials that a machine has not had, in an order of its own."""
        order = rng_for(self.setup.seed, self.judge, ORDER_STREAM).permutation(
            len(self.setup.trials)
        )
        had = set(self.had_numbers)
        numbers = [number for number in order.tolist() if number not in had][:most]
        return [NewAssignment("trial", number, self._variants(number)) for number in numbers]

    @property
    def n_done(self) -> int:
        return sum(row.answered_at is not None for row in self.had)

    @property
    def length(self) -> int:
        """The number of trials planned for the judge, without repeats and checks."""
        if self.is_machine:
            return len(self.setup.trials)
        if self.is_within:
            return len(self.listed)
        return possible_share(self.setup, self.judge)

    def total(self) -> int:
        """The number of answers that the judge will have given in the end, as far as is known now."""
        if self.is_machine:
            return len(self.setup.trials)
        regular = len(self.had)
        if regular < self.length:
            regular = min(self.length, regular + self._n_free())
        plan = self.setup.plan
        extra = plan.checks + min(plan.repeats, regular) if regular else 0
        return len(self.setup.questionnaire.practice) + regular + extra

    def progress(self, answered: Assignment | None = None) -> JudgeProgress:
        """How far the judge is; `answered` is an assignment that the judge has just answered."""
        just_answered = None if answered is None else answered.key
        done = sum(
            (row.answered_at is not None and not row.is_reopened) or row.key == just_answered
            for row in self.own
        )
        return JudgeProgress(done, max(done, self.total()))

    def _n_free(self) -> int:
        """The number of further trials that the judge could have."""
        if self.is_within:
            return len(self.listed)
        numbers = np.flatnonzero(self.transaction.missing)
        return len(candidates(self.setup, numbers, self.had_numbers))

    def _count(self, purpose: AssignmentPurpose) -> int:
        return sum(row.purpose == purpose for row in self.own)

    def _special(self, n_done: int) -> NewAssignment | None:
        """The check or the repeat that is due after `n_done` trials."""
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
        answered = [row for row in self.had if row.answered_at is not None]
        n_repeats = self._count("repeat")
        due = sum(place <= n_done for place in positions["repeat"])
        if n_repeats < min(due, len(answered)):
            first = answered[n_repeats]
            return NewAssignment(
                "repeat", first.number, [(opaque_id(), s) for _, s in first.variants]
            )
        return None

    def _trial(self) -> NewAssignment | None:
        if self.is_within:
            if len(self.had) == len(self.listed):
                return None
            trial = self.listed[len(self.had)]
            number = self._number_of(trial)
            return NewAssignment(
                "trial", number, [(opaque_id(), system) for system in trial.systems]
            )
        missing = self.transaction.missing
        if len(self.had) < self.length:
            chosen = self._choose(missing)
            if chosen is None:
                chosen = self._take_over(self._held_by_absent())
        else:
            held = self._held_by_absent()
            numbers = {*np.flatnonzero(missing).tolist(), *held}
            lacking = {number: int(missing[number]) + (number in held) for number in numbers}
            allowed = self._beyond_share(lacking)
            further = np.zeros_like(missing)
            numbers_allowed = np.fromiter(allowed, np.int64, len(allowed))
            further[numbers_allowed] = missing[numbers_allowed]
            chosen = self._choose(further)
            if chosen is None:
                chosen = self._take_over({n: row for n, row in held.items() if n in allowed})
        return None if chosen is None else NewAssignment("trial", chosen, self._variants(chosen))

    def _choose(self, missing: Integers) -> int | None:
        return choose(self.setup, missing, self.had_numbers, judge=self.judge)

    def _absent(self, *, is_holding: bool) -> set[int]:
        """The other judges who count as away (`assignment_rules.is_away`).

        A judge who was last seen in the future was seen before the clock was set back. The time until
        then counts as if it had passed.
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
                is_holding=is_holding,
                n_judges=len(rows) + 1 - len(self.machines),
                setup=self.setup,
            )
        }

    def _held_by_absent(self) -> dict[int, Assignment]:
        """By trial, the assignment that a judge who is away has held longest without an answer."""
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
        absent = self._absent(is_holding=True)
        return {row.number: row for row in rows if row.judge in absent}

    def _take_over(self, held: dict[int, Assignment]) -> int | None:
        """Withdraws a trial from a judge who is away, where there is nothing else to give."""
        numbers = np.fromiter(held, np.int64, len(held))
        takeable = set(candidates(self.setup, numbers, self.had_numbers).tolist())
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
        """The trials that others will not do (`assignment_rules.beyond_share`)."""
        if not missing or (self.setup.plan.at_most or len(self.had) + 1) <= len(self.had):
            return set()
        absent = self._absent(is_holding=False)
        everyone = {
            row.id: row.forgotten_at is not None
            for row in self.connection.execute(sa.select(judges.id, judges.forgotten_at))
            if row.id not in self.machines
        }
        had: dict[int, set[int]] = {}
        for judge, number in self.connection.execute(
            sa.select(assignments.judge, assignments.number).where(
                assignments.purpose == "trial", assignments.is_withdrawn.is_(False)
            )
        ):
            had.setdefault(judge, set()).add(number)
        others = [
            OtherJudge(possible_share(self.setup, judge) - len(seen := had.get(judge, set())), seen)
            for judge, is_forgotten in everyone.items()
            if not (is_forgotten or judge in absent or judge == self.judge)
        ]
        uninvited = sum(
            possible_share(self.setup, judge)
            for judge in range(len(everyone) + 1, self.setup.plan.judges + 1)
        )
        return beyond_share(missing, [other for other in others if other.left > 0], uninvited)

    def _variants(self, number: int) -> list[tuple[str, str]]:
        """The systems of a trial in the order in which the judge sees them."""
        systems: Sequence[str] = self.setup.trials[number].systems
        if self.setup.design.balances_order:
            orders = {True: 0, False: 0}
            for shown in () if self.is_machine else self._shown_to_people(number):
                orders[shown[0][1] == systems[0]] += 1
            if not is_first_shown_first(orders, seed=self.setup.seed, trial=number):
                systems = systems[::-1]
        elif len(systems) > 1:
            systems = shuffled(systems, seed=self.setup.seed, judge=self.judge, trial=number)
        return [(opaque_id(), system) for system in systems]

    def _shown_to_people(self, number: int) -> list[list[tuple[str, str]]]:
        """The variants of a trial in the orders in which people have seen them."""
        rows = self.connection.execute(
            sa.select(assignments.judge, assignments.variants).where(
                assignments.purpose == "trial",
                assignments.number == number,
                assignments.is_withdrawn.is_(False),
            )
        )
        return [row.variants for row in rows if row.judge not in self.machines]

    def _number_of(self, trial: Trial) -> int:
        """The number of a trial, in any order of its systems."""
        return next(
            number
            for number, known in enumerate(self.setup.trials)
            if known.item == trial.item and {*known.systems} == {*trial.systems}
        )
