"""`JudgeQueue`: what a person gets next, and how many trials this judge has in all. It applies
`assignment_rules` to the tables of the study inside one transaction.

Machine judges (`machine_queue`) answer every trial in addition to the people: they do not count as some
of the planned judges, and nobody waits for them.

An *assignment* is a row of the table `assignments`: one trial for one judge. It has one of four
purposes: `trial`, `repeat` (one of the judge's own trials again), `practice` and `check`. A *withdrawn*
assignment went to somebody else while its judge was away. The *share* of a judge is the number of
trials planned for this judge (`assignment_rules`). Under the plan `within-judge`, each judge has a
fixed list of trials.
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
MACHINE_IDS = sa.select(judges.id).where(judges.name.startswith(MACHINE_PREFIX, autoescape=True))


@dataclass(frozen=True)
class NewAssignment:
    """An assignment to be written: its purpose; the number of the trial, practice trial or check; and
    the shown texts (`variants`) as (random id, system), with "" for the system in a practice trial or
    check. `taken_from` is the assignment of a judge who is away, which is withdrawn."""

    purpose: AssignmentPurpose
    number: int
    variants: list[tuple[str, str]]
    taken_from: Assignment | None = None


def machine_judges(connection: Connection) -> set[int]:
    """The ids of the judges who are machines."""
    return set(connection.scalars(MACHINE_IDS))


def variants_in_order(
    setup: StudySetup, number: int, judge: int, seen: Sequence[Sequence[tuple[str, str]]] = ()
) -> list[tuple[str, str]]:
    """The systems of a trial in the order in which a judge sees them, each with a new random id. `seen`
    has the variants as the people before saw them: a pair is shown equally often in both orders."""
    systems: Sequence[str] = setup.trials[number].systems
    if setup.design.balances_order:
        # How often people saw the pair in the trial's order (True), and reversed (False).
        orders = {True: 0, False: 0}
        for (_, first), *_ in seen:
            orders[first == systems[0]] += 1
        if not keeps_pair_order(orders, seed=setup.seed, trial=number):
            systems = systems[::-1]
    elif len(systems) > 1:
        systems = shuffled_systems(systems, seed=setup.seed, judge=judge, trial=number)
    return [(opaque_id(), system) for system in systems]


class JudgeQueue:
    """Chooses what a person gets next, and counts the trials that this judge has in all. `judge` is the
    judge's id, `now` the time in seconds since 1970."""

    is_machine = False

    def __init__(
        self,
        setup: StudySetup,
        transaction: StudyTransaction | StudyReading,
        judge: int,
        now: float,
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
        self.is_within_judge = setup.plan.kind == "within-judge"
        self.fixed_list = within_judge_trials(setup, judge) if self.is_within_judge else ()

    def assignment(self, key: str) -> Assignment | None:
        """The judge's assignment with this key; None where there is none."""
        return next((row for row in self.own_assignments if row.key == key), None)

    def current(self) -> Assignment | None:
        """The assignment that the judge must answer now: one whose answer the judge took back, or else
        the one without an answer. None where there is neither."""
        valid = [row for row in self.own_assignments if not row.is_withdrawn]
        for row in valid:
            if row.is_reopened:
                return row
        return next((row for row in valid if row.answered_at is None), None)

    def withdrawn(self, given: NewAssignment) -> Assignment | None:
        """The same assignment as `given` if it was withdrawn from the judge; else None."""
        for row in self.own_assignments:
            if row.is_withdrawn and (row.purpose, row.number) == (given.purpose, given.number):
                return row
        return None

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
        """The next assignment; None when nothing is left for the judge. Nothing is written: that is
        for `queries.give_assignment`."""
        n_practice = self._count("practice")
        if n_practice < len(self.setup.questionnaire.practice):
            texts = self.setup.questionnaire.practice[n_practice].texts
            return NewAssignment("practice", n_practice, [(opaque_id(), "") for _ in texts])
        if (special := self._special(self.n_done)) is not None:
            return special
        if (trial := self._trial()) is not None:
            return trial
        # No trial is left: the checks and repeats that were not due yet come now.
        return self._special(self.length) if self.given_trials else None

    @property
    def n_done(self) -> int:
        """The number of trials that the judge answered, without repeats, practice and checks."""
        return sum(row.answered_at is not None for row in self.given_trials)

    @property
    def length(self) -> int:
        """The number of trials planned for the judge, without repeats and checks."""
        if self.is_within_judge:
            return len(self.fixed_list)
        return possible_share(self.setup, self.judge)

    def total(self) -> int:
        """The number of answers that the judge will have given in the end, as expected now."""
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
        """An upper limit of the number of further trials that the judge could get. `total` also limits
        it to the planned trials."""
        if self.is_within_judge:
            return len(self.fixed_list)
        numbers = np.flatnonzero(self.transaction.missing)
        return len(eligible_trials(self.setup, numbers, self.given_numbers))

    def _count(self, purpose: AssignmentPurpose) -> int:
        """How many assignments with this purpose the judge got."""
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
            # The first check is drawn at random; the others follow it.
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
        """The next trial. Within the judge's share, it is one that still lacks judgments, else the open
        trial of a judge who is away. After the share, it must also be one that the other judges will
        not do."""
        if self.is_within_judge:
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
                return self._taken_over(self._held_by_absent())
        else:
            held = self._held_by_absent()
            # A trial lacks one judgment more if a judge who is away holds it.
            numbers = {*np.flatnonzero(missing).tolist(), *held}
            lacking = {number: int(missing[number]) + (number in held) for number in numbers}
            allowed = self._beyond_share(lacking)
            missing_allowed = np.zeros_like(missing)
            numbers_allowed = np.fromiter(allowed, np.int64, len(allowed))
            missing_allowed[numbers_allowed] = missing[numbers_allowed]
            chosen = self._choose(missing_allowed)
            if chosen is None:
                return self._taken_over({n: row for n, row in held.items() if n in allowed})
        return None if chosen is None else NewAssignment("trial", chosen, self._variants(chosen))

    def _choose(self, missing: Integers) -> int | None:
        return choose_trial(self.setup, missing, self.given_numbers, judge=self.judge)

    def _absent(self, *, holds_open_trial: bool) -> set[int]:
        """The ids of the other judges who count as away (`assignment_rules.is_away`).

        If the time when a judge was last seen lies in the future, the clock was set back since then.
        The judge then counts as idle for as many seconds as that time lies ahead.
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
        # The rows begin with the latest assignment, so the earliest one of a trial stays.
        return {row.number: row for row in rows if row.judge in absent}

    def _taken_over(self, held: dict[int, Assignment]) -> NewAssignment | None:
        """A trial of a judge who is away: of the assignments `held`, the one that was given first and
        that this judge may get. None where there is none."""
        numbers = np.fromiter(held, np.int64, len(held))
        takeable = set(eligible_trials(self.setup, numbers, self.given_numbers).tolist())
        oldest = min(
            (row for row in held.values() if row.number in takeable),
            key=lambda row: row.given_at,
            default=None,
        )
        if oldest is None:
            return None
        number = int(oldest.number)
        return NewAssignment("trial", number, self._variants(number, without=oldest), oldest)

    def _beyond_share(self, missing: dict[int, int]) -> set[int]:
        """The trials that the other judges will not do (`assignment_rules.trials_beyond_share`).
        `missing` has the number of judgments that each trial lacks."""
        n_given = len(self.given_trials)
        limit = self.setup.plan.at_most  # the most trials of one judge; None for no limit
        if not missing or (limit is not None and n_given >= limit):
            return set()
        absent = self._absent(holds_open_trial=False)
        # For each judge who is not a machine: whether the judge's data were erased (`withdrawal`).
        is_erased = {
            row.id: row.forgotten_at is not None
            for row in self.connection.execute(sa.select(judges.id, judges.forgotten_at))
            if row.id not in self.machines
        }
        given: dict[int, set[int]] = {}
        for judge, number in self.connection.execute(
            sa.select(assignments.judge, assignments.number).where(
                assignments.purpose == "trial",
                assignments.is_withdrawn.is_(False),
                assignments.judge.not_in(self.machines),
            )
        ):
            given.setdefault(judge, set()).add(number)
        others = []
        for judge in is_erased:
            if is_erased[judge] or judge in absent or judge == self.judge:
                continue
            trials = given.get(judge, set())
            n_left = possible_share(self.setup, judge) - len(trials)
            if n_left > 0:
                others.append(OtherJudge(n_left, trials))
        n_left_for_uninvited = sum(
            possible_share(self.setup, judge)
            for judge in range(len(is_erased) + 1, self.setup.plan.judges + 1)
        )
        return trials_beyond_share(missing, others, n_left_for_uninvited)

    def _variants(self, number: int, without: Assignment | None = None) -> list[tuple[str, str]]:
        """The systems of a trial as this judge sees them. The order that `without` shows does not
        count."""
        balances = self.setup.design.balances_order
        seen = self._shown_to_people(number, without) if balances else ()
        return variants_in_order(self.setup, number, self.judge, seen)

    def _shown_to_people(
        self, number: int, without: Assignment | None
    ) -> list[list[tuple[str, str]]]:
        """The variants of a trial as (id, system) in the order shown, for each person who has seen it.
        The assignment `without` does not count."""
        rows = self.connection.execute(
            sa.select(assignments.key, assignments.judge, assignments.variants).where(
                assignments.purpose == "trial",
                assignments.number == number,
                assignments.is_withdrawn.is_(False),
            )
        )
        left_out = None if without is None else without.key
        return [
            row.variants for row in rows if row.judge not in self.machines and row.key != left_out
        ]
