"""`MachineQueue`: what a machine judge gets next. A machine gets every trial of the study, and neither
practice trials nor attention checks.

A machine may give thousands of answers, so nothing here reads all of its assignments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Row

from wellput.core.metric import Integers
from wellput.studies import schema
from wellput.studies.assignment_rules import TRIAL_ORDER_STREAM, rng_for
from wellput.studies.judge_queue import NewAssignment, variants_in_order
from wellput.studies.questionnaire import JudgeProgress
from wellput.studies.questions import is_storable
from wellput.studies.study_setup import StudySetup
from wellput.studies.study_transactions import Assignment, StudyReading, StudyTransaction

NUMBERS_AT_A_TIME = 100
"""So many trials are looked up in one statement."""

assignments = schema.assignments.c

# The database would use the index on the judge, and read all of the machine's assignments. With "+ 0"
# it uses the index on the number of the trial.
GIVEN_NUMBERS = sa.select(assignments.number).where(
    assignments.number.in_(sa.bindparam("of_numbers", expanding=True)),
    assignments.judge + 0 == sa.bindparam("own_judge"),
    assignments.purpose == "trial",
)


@dataclass
class MachineOrder:
    """The numbers of all trials in the order in which a machine gets them. The first `n_given` of them
    were given already."""

    numbers: Integers
    n_given: int = 0


class MachineQueue:
    """Chooses what a machine gets next. `judge` is the machine's id as a judge."""

    is_machine = True

    def __init__(
        self, setup: StudySetup, transaction: StudyTransaction | StudyReading, judge: int
    ) -> None:
        self.setup = setup
        self.connection = transaction.connection
        self.judge = judge

    def assignment(self, key: str) -> Assignment | None:
        """The machine's assignment with this key; None where there is none."""
        if not is_storable(key):  # a database may refuse to look for it
            return None
        own = sa.select(schema.assignments).where(
            assignments.key == key, assignments.judge == self.judge
        )
        return self.connection.execute(own).one_or_none()

    def current(self) -> Assignment | None:
        """The assignment that the machine must answer now: one that was reopened, or else the first one
        without an answer. None where there is neither."""
        is_open = sa.or_(assignments.is_reopened, assignments.answered_at.is_(None))
        own = sa.select(schema.assignments).where(assignments.judge == self.judge, is_open)
        first = own.order_by(assignments.is_reopened.desc(), assignments.id).limit(1)
        return self.connection.execute(first).one_or_none()

    def unanswered(self, most: int, *, skip: int = 0) -> Sequence[Row[Any]]:
        """Up to `most` assignments without an answer, the one that was given last first, without the
        first `skip` of them."""
        own = sa.select(schema.assignments).where(
            assignments.judge == self.judge, assignments.answered_at.is_(None)
        )
        newest_first = own.order_by(assignments.id.desc())
        return self.connection.execute(newest_first.offset(skip).limit(most)).all()

    def withdrawn(self, given: NewAssignment) -> Assignment | None:
        """None: nobody takes over the trials of a machine."""
        return None

    def add(self, row: Assignment) -> None:
        """Notes an assignment that was just given: the tables have it already."""

    def next(self) -> NewAssignment | None:
        """The next assignment; None when nothing is left for the machine."""
        return next(iter(self.new_trials(1)), None)

    def new_trials(self, most: int) -> list[NewAssignment]:
        """Up to `most` trials that the machine was not given yet, in a random order that differs
        between machines."""
        numbers = self._not_given(most)
        return [
            NewAssignment("trial", n, variants_in_order(self.setup, n, self.judge)) for n in numbers
        ]

    def progress(self, answered: Assignment | None = None) -> JudgeProgress:
        """The number of answered trials, and of all. The tables have `answered` already."""
        own = sa.select(sa.func.count()).where(assignments.judge == self.judge)
        done = self.connection.scalar(
            own.where(assignments.answered_at.is_not(None), assignments.is_reopened.is_(False))
        )
        return JudgeProgress(done or 0, len(self.setup.trials))

    def _not_given(self, most: int) -> list[int]:
        """The numbers of up to `most` trials that the machine was not given yet."""
        if most <= 0:
            return []
        order = self.setup.machine_orders.get(self.judge)
        if order is None:
            rng = rng_for(self.setup.seed, self.judge, TRIAL_ORDER_STREAM)
            order = MachineOrder(rng.permutation(len(self.setup.trials)))
            self.setup.machine_orders[self.judge] = order
        found = self._search(order, most)
        if len(found) < most and order.n_given and self._has_more(len(found)):
            # `n_given` counts trials whose transaction was undone.
            order.n_given = 0
            found = self._search(order, most)
        return found

    def _search(self, order: MachineOrder, most: int) -> list[int]:
        """As `_not_given`, among the trials after the first `n_given`, which is brought up to date."""
        found: list[int] = []
        for begin in range(order.n_given, len(order.numbers), NUMBERS_AT_A_TIME):
            numbers = order.numbers[begin : begin + NUMBERS_AT_A_TIME].tolist()
            values = {"of_numbers": numbers, "own_judge": self.judge}
            given = set(self.connection.scalars(GIVEN_NUMBERS, values))
            new = [place for place, number in enumerate(numbers) if number not in given]
            if not found:
                order.n_given = begin + (new[0] if new else len(numbers))
            found += [numbers[place] for place in new]
            if len(found) >= most:
                break
        return found[:most]

    def _has_more(self, n_found: int) -> bool:
        """Whether there are more than `n_found` trials that the machine was not given."""
        n_given = self.connection.scalar(
            sa.select(sa.func.count()).where(
                assignments.judge == self.judge, assignments.purpose == "trial"
            )
        )
        return (n_given or 0) + n_found < len(self.setup.trials)
