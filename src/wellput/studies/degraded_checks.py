"""Attention checks made from the data: an output of the study, spoiled so that nobody who reads it can
miss it.

Half of its words, chosen at random, are replaced by words of another item, and all words are shuffled.
On a scale the spoiled output must be put in the lower half; in a pair it must lose to the output that
it was made of.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wellput.core.errors import InputError
from wellput.studies.designs.base import Design
from wellput.studies.questionnaire import Check, Questionnaire
from wellput.studies.questions import Question
from wellput.studies.study_setup import StudyItem, Trial

DEGRADING_STREAM = 11
MIN_WORDS_TO_SPOIL = 6
"""A shorter output may still look right when it is spoiled."""
N_DEGRADED_CHECKS = 10
"""So many different checks are made, where there are enough outputs."""


def degraded_checks(
    questionnaire: Questionnaire,
    design: Design,
    items: Sequence[StudyItem],
    trials: Sequence[Trial],
    *,
    seed: int,
) -> tuple[Check, ...]:
    """Checks made from outputs of the trials. Raises InputError where none can be made."""
    is_pair = design.asks_once and design.n_texts == 2
    if not is_pair and not all(_has_scale(question) for question in questionnaire.questions):
        raise InputError(
            f"degraded_checks=True needs a scale with two ends, or pairs; a {design.name} design has "
            "neither. Give [[checks]] of your own."
        )
    rng = np.random.default_rng([seed, DEGRADING_STREAM])
    outputs = [
        (trial.item, items[trial.item].outputs[trial.systems[0]])
        for trial in trials
        if len(items[trial.item].outputs[trial.systems[0]].split()) >= MIN_WORDS_TO_SPOIL
    ]
    if len({item for item, _ in outputs}) < 2:
        raise InputError(
            "degraded_checks=True needs outputs of two items with at least "
            f"{MIN_WORDS_TO_SPOIL} words. Give [[checks]] of your own."
        )
    checks = []
    for place in rng.permutation(len(outputs))[:N_DEGRADED_CHECKS]:
        number, text = outputs[place]
        others = [other for item, other in outputs if item != number]
        bad = spoiled(text, others[rng.integers(len(others))], rng)
        item = items[number]
        if is_pair:
            is_first_bad = bool(rng.integers(2))
            texts: tuple[str, ...] = (bad, text) if is_first_bad else (text, bad)
            right = "b" if is_first_bad else "a"
            expected: dict[str, object] = {one.name: right for one in questionnaire.questions}
        else:
            texts = (bad,)
            expected = {one.name: _lower_half(one) for one in questionnaire.questions}
        checks.append(Check(texts, expected, item.context, item.source))
    return tuple(checks)


def spoiled(text: str, other: str, rng: np.random.Generator) -> str:
    """The text with half of its words from `other`, in random order."""
    words, foreign = text.split(), other.split()
    for place in rng.permutation(len(words))[: (len(words) + 1) // 2]:
        words[place] = foreign[rng.integers(len(foreign))]
    shuffled = [words[place] for place in rng.permutation(len(words))]
    return " ".join(shuffled)


def _has_scale(question: Question) -> bool:
    return question.widget.has_scale and question.low is not None and question.high is not None


def _lower_half(question: Question) -> list[float]:
    assert question.low is not None and question.high is not None
    return [question.low, (question.low + question.high) / 2]
