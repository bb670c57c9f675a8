"""A machine as a judge of a study: it gets the study's own trials in random order, without the names of
systems, and its answers are stored like those of people. The judgments that are planned for people are
still asked from people.

The study describes the machine by the signature of the answers that it has from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wellput.core.errors import InputError
from wellput.core.work import OnProgress, ignore_progress
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
from wellput.studies.questionnaire import ShownTrial
from wellput.studies.store import JudgeRef, Store

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
    signature = signature_of(model, rubric, options)
    ref = store.machine(judge)
    has_answered = store.progress(ref).done > 0
    signature_before = stored_signature(store, judge) if has_answered else ""
    if not has_answered:
        store.machine(judge, {SIGNATURE: signature})
    elif signature_before:
        _check_same_settings(judge, signature_before, signature)
    all_answered: list[Answered] = []
    used = UsedReplies()
    # Trials without a usable answer stay open: `next_trials` would give them again.
    n_left_open = 0
    while True:
        shown = store.next_trials(ref, TRIALS_AT_A_TIME, skip=n_left_open)
        if not shown:
            break
        questions = [question for trial in shown for question in _asked_questions(store, trial)]
        answered = ask_trials(
            model,
            rubric,
            [question.trial for question in questions],
            log,
            options,
            has_answered=has_answered,
        )
        all_answered.append(answered)
        complete = _complete_trials(questions, answered.trials)
        if complete:
            used.add(asked for answers in complete.values() for _, asked in answers)
            signature = signature_of(model, rubric, options, used)
            if signature_before:
                signature = joined_signature(signature_before, signature)
            store.machine(judge, {SIGNATURE: signature})
        for id, answers in complete.items():
            _record(store, ref, id, answers)
        n_left_open += len(shown) - len(complete)
        on_progress(len(shown))
        if answered.outcome.is_cost_limit_reached:
            break
    return _combined(all_answered)


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


def _record(
    store: Store, ref: JudgeRef, id: str, answers: Sequence[tuple[AskedQuestion, AskedTrial]]
) -> None:
    """Stores the answers to a trial, with the milliseconds that the machine took."""
    answers_of_trial: dict[str, Any] = {}
    for question, asked in answers:
        values = answers_of_trial
        if question.variant is not None:
            values = values.setdefault(question.variant, {})
        values[question.trial.question.name] = asked.reading.label
    ms = sum(asked.reply.ms for _, asked in answers if asked.reply is not None)
    store.record(ref, id, answers_of_trial, ms=ms)


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
