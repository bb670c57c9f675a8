"""A machine as a judge of a study: it gets the study's own trials, blind and in random order, and its
answers are stored as people's are. It takes none of the judgments that are planned for people.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wellput.core.errors import InputError
from wellput.core.work import OnProgress, ignore_progress
from wellput.studies.machines.answer_log import AnswerLog
from wellput.studies.machines.asking import Asked, ChatModel
from wellput.studies.machines.machine_judge import (
    Answered,
    AskedTrial,
    AskingOptions,
    ask_trials,
    signature_of,
)
from wellput.studies.machines.prompts import ShownTexts
from wellput.studies.machines.rubrics import MachineTrial, Rubric
from wellput.studies.media import TextMedium
from wellput.studies.questionnaire import ShownTrial
from wellput.studies.store import JudgeRef, Store

TRIALS_AT_A_TIME = 64
"""This many trials are asked before their answers are stored, so a kill loses no more than these."""


@dataclass(frozen=True)
class Part:
    """One question of a trial about one variant (or about all, where the design asks once)."""

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
    """Answers every trial that the machine has not answered yet. A trial with a question that has no
    answer stays open."""
    rubric = study_rubric(store)
    signature = signature_of(model, rubric, options, None)
    ref = store.machine(judge, {"signature": signature})
    everything: list[Answered] = []
    n_skipped = 0
    while True:
        shown = store.next_trials(ref, TRIALS_AT_A_TIME + n_skipped)[n_skipped:]
        if not shown:
            break
        parts = [part for one in shown for part in _parts(store, one)]
        answered = ask_trials(model, rubric, [part.trial for part in parts], log, options)
        everything.append(answered)
        n_skipped += len(shown) - _store(store, ref, parts, answered.trials)
        on_progress(len(shown))
        if answered.asked.is_limit_reached:
            break
    whole = _together(everything)
    store.machine(judge, {"signature": signature_of(model, rubric, options, whole)})
    return whole


def study_rubric(store: Store) -> Rubric:
    """What the study asks."""
    setup = store.setup
    if not isinstance(setup.medium, TextMedium):
        raise InputError("A machine judges texts; this study shows outputs of another kind.")
    if any(question.kind == "spans" for question in setup.questionnaire.questions):
        raise InputError(
            "In a study only people mark errors. `wellput judge EVALSET --design spans` lets a machine "
            "mark them, and `wellput study create --prefill` shows people what it marked."
        )
    return Rubric(setup.questionnaire, show_source=any(item.source for item in setup.items))


def _parts(store: Store, shown: ShownTrial) -> Iterator[Part]:
    """The questions of a trial, each with what is shown for it. Trials are told apart by their random
    ids: the machine's side never learns systems or items."""
    texts = ShownTexts(
        tuple(variant.text for variant in shown.variants), shown.context, shown.source
    )
    if store.setup.design.asks_once or len(shown.variants) == 1:
        for question in shown.questions:
            yield Part(shown, None, MachineTrial(shown.id, ("",), question, texts))
        return
    for variant in shown.variants:
        alone = replace(texts, outputs=(variant.text,))
        for question in shown.questions:
            yield Part(shown, variant.id, MachineTrial(shown.id, (variant.id,), question, alone))


def _store(
    store: Store, ref: JudgeRef, parts: Sequence[Part], answered: Sequence[AskedTrial]
) -> int:
    """Stores the trials whose questions are all answered; returns how many."""
    by_key = {one.trial.key: one for one in answered}
    given: dict[str, dict[str, Any]] = {}
    ms: dict[str, int] = {}
    incomplete: set[str] = set()
    for part in parts:
        id = part.shown.id
        one = by_key.get(part.trial.key)
        if one is None or one.reading.label is None or one.reply is None:
            incomplete.add(id)
            continue
        values = given.setdefault(id, {})
        if part.variant is not None:
            values = values.setdefault(part.variant, {})
        values[part.trial.question.name] = one.reading.label
        ms[id] = ms.get(id, 0) + one.reply.ms
    stored = 0
    for id, answers in given.items():
        if id not in incomplete:
            store.record(ref, id, answers, ms=ms[id])
            stored += 1
    return stored


def _together(parts: Sequence[Answered]) -> Answered:
    asked = Asked()
    for part in parts:
        asked.n_answered += part.asked.n_answered
        asked.n_retries += part.asked.n_retries
        asked.is_limit_reached |= part.asked.is_limit_reached
    return Answered(
        tuple(one for part in parts for one in part.trials),
        asked,
        sum(part.n_left_out for part in parts),
        sum(part.n_known_before for part in parts),
        tuple(sorted({name for part in parts for name in part.models})),
        tuple(sorted({name for part in parts for name in part.fingerprints})),
    )
