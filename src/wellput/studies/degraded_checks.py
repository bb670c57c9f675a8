"""Attention checks made from the data: an output of the study, spoiled so that nobody who reads it can
miss it.

Half of its words, chosen at random, are replaced by words of another item, and all words are shuffled.
To pass, a judge must put the spoiled output in the lower half of a scale, or, in a pair, prefer the
output that it was made of. Where judges mark errors, one stretch with a third of the words is replaced
instead, and a mark must touch this stretch.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from wellput.core.errors import InputError
from wellput.studies.designs.base import Design, half_of
from wellput.studies.questionnaire import Check, Questionnaire
from wellput.studies.questions import Question
from wellput.studies.study_setup import StudyItem, Trial

DEGRADING_STREAM = 11
"""The random stream of spoiled outputs: random numbers for one use have their own stream."""
MIN_WORDS_TO_SPOIL = 6
"""A shorter output may still look right when it is spoiled."""
N_DEGRADED_CHECKS = 10
"""This many different checks are made, or fewer if there are not enough outputs."""


def degraded_checks(
    questionnaire: Questionnaire,
    design: Design,
    items: Sequence[StudyItem],
    trials: Sequence[Trial],
    *,
    seed: int,
) -> tuple[Check, ...]:
    """Attention checks made from outputs of the trials. Raises InputError where none can be made."""
    asked = questionnaire.questions
    is_pair = design.asks_once and design.n_texts == 2
    has_marks = any(question.kind == "spans" for question in asked)
    if not is_pair and not has_marks and not all(_has_scale(question) for question in asked):
        raise InputError(
            f"degraded_checks=True needs a scale with two ends, or pairs; a {design.name} design has "
            "neither. Give [[checks]] of your own."
        )
    rng = np.random.default_rng([seed, DEGRADING_STREAM])
    # Of each trial, the item, the first system and its output.
    outputs = [
        (trial.item, trial.systems[0], items[trial.item].outputs[trial.systems[0]])
        for trial in trials
        if len(items[trial.item].outputs[trial.systems[0]].split()) >= MIN_WORDS_TO_SPOIL
    ]
    if len({item for item, _, _ in outputs}) < 2:
        raise InputError(
            "degraded_checks=True needs outputs of two items with at least "
            f"{MIN_WORDS_TO_SPOIL} words. Give [[checks]] of your own."
        )
    checks = []
    for place in rng.permutation(len(outputs))[:N_DEGRADED_CHECKS]:
        item_number, system, text = outputs[place]
        others = [other for item, _, other in outputs if item != item_number]
        other = others[rng.integers(len(others))]
        expected: dict[str, object]
        if has_marks:
            spoiled_text, start, end = with_foreign_words(text, other, rng)
            texts: tuple[str, ...] = (spoiled_text,)
            place_of_error = {"start": start, "end": end}
            expected = {
                question.name: place_of_error for question in asked if question.kind == "spans"
            }
        elif is_pair:
            is_first_bad = bool(rng.integers(2))
            spoiled_text = spoiled(text, other, rng)
            texts = (spoiled_text, text) if is_first_bad else (text, spoiled_text)
            better = "b" if is_first_bad else "a"
            expected = {question.name: better for question in asked}
        else:
            texts = (spoiled(text, other, rng),)
            expected = {question.name: list(half_of(question, "lower")) for question in asked}
        item = items[item_number]
        checks.append(
            Check(texts, expected, item.context, item.source, made_of=(item_number, system))
        )
    return tuple(checks)


def spoiled(text: str, other: str, rng: np.random.Generator) -> str:
    """The text with half of its words replaced by words of `other`, and all words in random order."""
    words, foreign = text.split(), other.split()
    for place in rng.permutation(len(words))[: (len(words) + 1) // 2]:
        words[place] = foreign[rng.integers(len(foreign))]
    shuffled = [words[place] for place in rng.permutation(len(words))]
    return " ".join(shuffled)


def with_foreign_words(text: str, other: str, rng: np.random.Generator) -> tuple[str, int, int]:
    """The text with one stretch, a third of its words, replaced by words of `other`; and the start and
    the end of this stretch, in characters."""
    words, foreign = list(re.finditer(r"\S+", text)), other.split()
    n = max(2, len(words) // 3)
    first = int(rng.integers(len(words) - n + 1))
    start, end = words[first].start(), words[first + n - 1].end()
    put_in = " ".join(foreign[place] for place in rng.integers(len(foreign), size=n))
    return text[:start] + put_in + text[end:], start, start + len(put_in)


def _has_scale(question: Question) -> bool:
    return question.widget.has_scale and question.low is not None and question.high is not None
