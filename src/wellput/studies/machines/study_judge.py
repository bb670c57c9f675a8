"""A machine as a judge of a study: it gets the study's own trials in random order, without the names of
systems, and its answers are stored like those of people. The judgments that are planned for people are
still asked from people.

The study describes the machine by the signature of the answers that it has from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import sqlalchemy as sa

from wellput.core.errors import InputError
from wellput.core.work import OnProgress, ignore_progress
from wellput.studies import schema
from wellput.studies.judge_turns import (
    AlreadyAnswered,
    answer_turn,
    machine_judge,
    queue_of,
)
from wellput.studies.machines.answer_log import AnswerLog
from wellput.studies.machines.asking import ChatModel, RequestOutcome
from wellput.studies.machines.machine_judge import (
    Answered,
    AskedTrial,
    AskingOptions,
    ask_trials,
)
from wellput.studies.machines.prompts import ShownTexts
from wellput.studies.machines.rubrics import MachineTrial, Rubric
from wellput.studies.machines.signatures import (
    UsedReplies,
    different_settings,
    joined_signature,
    signature_of,
)
from wellput.studies.media import TextMedium
from wellput.studies.queries import update_judge
from wellput.studies.questionnaire import ShownTrial
from wellput.studies.store import Store
from wellput.studies.study_transactions import StudyTransaction

SIGNATURE = "signature"
"""The entry of a machine's description, among what other judges say about themselves."""
TRIALS_AT_A_TIME = 64
"""The answers to this many trials are stored at once, so a run that is killed loses no more than
these."""


@dataclass(frozen=True)
class AskedQuestion:
    """One question of a study's trial: the trial as the study shows it (`shown`), and the question as
    a trial for the machine (`trial`). `variant` is the id of the output (variant) that the question
    is about. It is None if the question is about all outputs of the trial, or if the trial has only
    one."""

    shown: ShownTrial
    variant: str | None
    trial: MachineTrial


def answer_study(
    store: Store,
    model: ChatModel,
    judge: str,
    log: AnswerLog,
    options: AskingOptions,
    *,
    on_progress: OnProgress = ignore_progress,
) -> Answered:
    """Lets the model answer every trial that it has not answered yet. If a question of a trial gets no
    usable answer, the trial stays open. `judge` is the name of the machine as a judge.

    Raises InputError if the study has answers of this judge that were asked for in another way."""
    rubric = study_rubric(store)
    machine = MachineAnswers(store, judge, model, rubric, options)
    all_answered: list[Answered] = []
    # Trials without a usable answer stay open: `next_trials` would give them again.
    n_left_open = 0
    while True:
        shown = store.next_trials(machine.ref, TRIALS_AT_A_TIME, skip=n_left_open)
        if not shown:
            machine.check()  # perhaps another run answered everything since this one began
            break
        questions = [question for trial in shown for question in _asked_questions(store, trial)]
        answered = ask_trials(
            model,
            rubric,
            [question.trial for question in questions],
            log,
            options,
            has_answered=machine.had_answers,
        )
        all_answered.append(answered)
        complete = _complete_trials(questions, answered.trials)
        machine.add(complete)
        n_left_open += len(shown) - len(complete)
        on_progress(len(shown))
        if answered.outcome.is_cost_limit_reached:
            break
    return _combined(all_answered)


class MachineAnswers:
    """The answers of a machine in a study, to which one run adds its own (`add`). `had_answers` says
    whether the study had answers of this machine when the run began.

    Another run may add answers under the same name at the same time. So every transaction first
    compares the signature that the study has by then. It raises InputError if the study has answers
    that were asked for in another way.
    """

    def __init__(
        self, store: Store, judge: str, model: ChatModel, rubric: Rubric, options: AskingOptions
    ) -> None:
        self._store = store
        self._judge = judge
        self._signature_of = partial(signature_of, model, rubric, options)
        self._used = UsedReplies()
        # The signature of the answers of other runs, and the one that this run wrote last.
        self._before = ""
        self._written = ""
        with store.writing() as transaction:
            self.ref = machine_judge(transaction, judge, store.clock())
            self.had_answers = self._compare(transaction)
            if not self.had_answers:
                self._describe(transaction, self._signature_of())

    def add(self, complete: Mapping[str, Sequence[tuple[AskedQuestion, AskedTrial]]]) -> None:
        """Stores the answers to trials, and the signature of all answers, in one transaction. A trial
        that another run has answered meanwhile keeps its answer if the design allows no change."""
        stored = []
        with self._store.writing() as transaction:
            self._compare(transaction)
            for id, answers in complete.items():
                try:
                    self._record(transaction, id, answers)
                except AlreadyAnswered:
                    continue
                stored += [asked for _, asked in answers]
            if not stored:
                return
            self._used.add(stored)
            signature = self._signature_of(self._used)
            if self._before:
                signature = joined_signature(self._before, signature)
            self._describe(transaction, signature)
        self._written = signature

    def check(self) -> None:
        """Raises InputError if the study has answers that were asked for in another way."""
        with self._store.writing() as transaction:
            self._compare(transaction)

    def _compare(self, transaction: StudyTransaction) -> bool:
        """Whether the study has answers of this machine now. Raises InputError if their settings are
        not those of this run."""
        query = sa.select(schema.judges).where(schema.judges.c.id == self.ref.id)
        row = transaction.connection.execute(query).one()
        if row.name != self._judge:
            raise InputError(f"{self._judge} was erased from this study while it answered.")
        queue = queue_of(self._store.setup, transaction, self.ref, self._store.clock())
        if queue.progress().done == 0:
            return False
        stored = (row.demographics or {}).get(SIGNATURE, "")
        if stored and stored != self._written:
            _check_same_settings(self._judge, stored, self._signature_of())
            self._before = stored
        return True

    def _describe(self, transaction: StudyTransaction, signature: str) -> None:
        update_judge(transaction.connection, self.ref.id, demographics={SIGNATURE: signature})

    def _record(
        self,
        transaction: StudyTransaction,
        id: str,
        answers: Sequence[tuple[AskedQuestion, AskedTrial]],
    ) -> None:
        """Stores the answers to a trial, with the milliseconds that the machine took."""
        answers_of_trial: dict[str, Any] = {}
        for question, asked in answers:
            values = answers_of_trial
            if question.variant is not None:
                values = values.setdefault(question.variant, {})
            values[question.trial.question.name] = asked.reading.label
        ms = sum(asked.reply.ms for _, asked in answers if asked.reply is not None)
        setup, now = self._store.setup, self._store.clock()
        answer_turn(setup, transaction, self.ref, id, answers_of_trial, ms=ms, now=now)


def stored_signature(store: Store, judge: str) -> str:
    """The signature of the answers that the study has from a machine, empty if there is none."""
    return store.all_demographics().get(judge, {}).get(SIGNATURE, "")


def _check_same_settings(judge: str, stored: str, new: str) -> None:
    """Raises InputError if the settings of a new run are not those of the stored answers."""
    different = different_settings(stored, new)
    if different:
        before, after = (" and ".join(settings) for settings in zip(*different, strict=True))
        raise InputError(
            f"{judge} has answers in this study that were asked for with {before}; this run has "
            f"{after}. Give this run another name=."
        )


def study_rubric(store: Store) -> Rubric:
    """The questions of the study as a rubric for a machine. Raises InputError if a machine cannot
    answer them."""
    setup = store.setup
    if not isinstance(setup.medium, TextMedium):
        raise InputError("A machine judges texts; this study shows outputs of another kind.")
    if any(question.kind == "spans" for question in setup.questionnaire.questions):
        raise InputError(
            "In a study only people mark errors. `wellput judge EVALSET --design spans` lets a machine "
            "mark them, and `wellput study create --prefill` shows people what it marked."
        )
    return Rubric(setup.questionnaire, show_source=any(item.source for item in setup.items))


def _asked_questions(store: Store, shown: ShownTrial) -> Iterator[AskedQuestion]:
    """The questions of a trial, each with the texts that are shown for it. The machine's trials have
    random ids in place of the names of systems and items."""
    texts = ShownTexts(
        tuple(variant.text for variant in shown.variants), shown.context, shown.source
    )
    if store.setup.design.asks_once or len(shown.variants) == 1:
        for question in shown.questions:
            # No system is named: the question is about all outputs of the trial.
            trial = MachineTrial(shown.id, ("",), question, texts)
            yield AskedQuestion(shown, None, trial)
        return
    for variant in shown.variants:
        alone = replace(texts, outputs=(variant.text,))
        for question in shown.questions:
            trial = MachineTrial(shown.id, (variant.id,), question, alone)
            yield AskedQuestion(shown, variant.id, trial)


def _complete_trials(
    questions: Sequence[AskedQuestion], answered: Sequence[AskedTrial]
) -> dict[str, list[tuple[AskedQuestion, AskedTrial]]]:
    """The trials whose questions all have a usable answer, by their id: the questions with their
    answers."""
    by_key = {asked.trial.key: asked for asked in answered}
    complete: dict[str, list[tuple[AskedQuestion, AskedTrial]]] = {}
    incomplete: set[str] = set()
    for question in questions:
        asked = by_key.get(question.trial.key)
        if asked is None or asked.reading.label is None or asked.reply is None:
            incomplete.add(question.shown.id)
        else:
            complete.setdefault(question.shown.id, []).append((question, asked))
    return {id: answers for id, answers in complete.items() if id not in incomplete}


def _combined(parts: Sequence[Answered]) -> Answered:
    """The outcomes of several calls of `ask_trials` as one."""
    outcome = RequestOutcome()
    for part in parts:
        outcome.n_answered += part.outcome.n_answered
        outcome.n_retries += part.outcome.n_retries
        outcome.is_cost_limit_reached |= part.outcome.is_cost_limit_reached
    return Answered(
        tuple(trial for part in parts for trial in part.trials),
        outcome,
        sum(part.n_left_out for part in parts),
        sum(part.n_known_before for part in parts),
        tuple(sorted({name for part in parts for name in part.models})),
    )
