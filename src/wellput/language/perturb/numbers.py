"""Changes of numbers: a number becomes another number, which changes the meaning, or is written in
words instead of digits, which does not. As in the module `meaning`, each function finds every place
where its change can be made, and yields the edits of each place."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from wellput.language.perturb.passage import (
    Edit,
    Edits,
    Passage,
    PassageSentence,
    Surroundings,
    capitalized,
    is_joined,
)
from wellput.language.perturb.word_lists import with_capital_of

NUMBER = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)\Z")
TIME = re.compile(r"(\d{1,2}):(\d\d)\Z")
NUMBER_WORDS = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
# Numbers between these two are taken for years.
FIRST_YEAR, LAST_YEAR = 1500, 2100
LAST_DAY = 31
"""A number up to 31 may be a day of a month, so it becomes another number up to 31."""


def number(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator
) -> Iterator[Edits]:
    """A number becomes another number of about the same size."""
    for sentence in passage.sentences:
        for place, word in enumerate(sentence.words):
            if word.tag != "CD" or (place == 0 and len(sentence.words) > 1 and _is_label(sentence)):
                continue
            if place + 1 < len(sentence.words) and sentence.words[place + 1].form in ("-", "/"):
                continue
            if place and sentence.words[place - 1].form in ("/", "-", "#", "."):
                continue
            if other := _other_number(word.form, rng):
                yield [Edit(word.begin, word.end, other)]


def _is_label(sentence: PassageSentence) -> bool:
    """Whether the sentence begins like an entry of a list: `2.` or `3)`."""
    return sentence.words[1].form in (".", ")", ":", "-")


def _other_number(form: str, rng: np.random.Generator) -> str | None:
    """Another number of about the same size, written like `form`; None where none is safe."""
    lowercase = form.lower()
    if lowercase in NUMBER_WORDS:
        other = NUMBER_WORDS[
            (NUMBER_WORDS.index(lowercase) + int(rng.integers(2, 9))) % len(NUMBER_WORDS)
        ]
        return with_capital_of(form, other)
    if time := TIME.match(form):
        hour = int(time[1]) + (-2 if int(time[1]) > 3 else 3)
        return f"{hour}:{time[2]}"
    if not NUMBER.match(form) or form.startswith("0"):
        return None
    if form.isdecimal():
        value = int(form)
        if value < 2:
            return None
        if FIRST_YEAR < value < LAST_YEAR:
            return str(value - int(rng.integers(2, 30)))
        if 10 <= value <= LAST_DAY:  # another number from 10 to 31
            return str(10 + (value - 10 + int(rng.integers(3, 19))) % 22)
        if value < 10:  # another number from 2 to 9
            return str(2 + (value - 2 + int(rng.integers(1, 8))) % 8)
    first = int(form[0])
    other_digit = 1 + (first - 1 + int(rng.integers(1, 9))) % 9
    changed = f"{other_digit}{form[1:]}"
    # After "1" the noun would have to be singular.
    return None if changed in ("1", "1.0") else changed


NUMBER_VALUES = {word: value for value, word in enumerate(NUMBER_WORDS, start=2)}
WORDS_OF_DIGITS = {str(value): word for word, value in NUMBER_VALUES.items()}
GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+\Z")
UNGROUPED = re.compile(r"[1-9]\d{4,8}\Z")


def number_words(
    passage: Passage, surroundings: Surroundings, rng: np.random.Generator
) -> Iterator[Edits]:
    """A number is written in words or in digits (`3`, `three`; `5%`, `5 percent`; `1,000`, `1000`)."""
    for sentence in passage.sentences:
        for place, word in enumerate(sentence.words):
            after = sentence.word_after(place)
            if word.tag != "CD" or after is None or is_joined(passage.text, word):
                continue
            before = sentence.words[place - 1].form if place else ""
            if after.form == "%" and before not in ("-", "–"):
                yield [Edit(word.end, after.end, " percent")]
            elif after.lowercase == "percent" and word.form[0].isdigit():
                yield [Edit(word.end, after.end, "%")]
            elif before in ("$", "£", "€", "#", "-", "."):
                continue
            elif after.tag == "NNS" and word.relation == "nummod" and word.head == place + 1:
                if word.form in WORDS_OF_DIGITS:
                    in_words = WORDS_OF_DIGITS[word.form]
                    new = capitalized(in_words) if place == 0 else in_words
                    yield [Edit(word.begin, word.end, new)]
                elif word.lowercase in NUMBER_VALUES and place > 0:
                    yield [Edit(word.begin, word.end, str(NUMBER_VALUES[word.lowercase]))]
                elif GROUPED.match(word.form):
                    yield [Edit(word.begin, word.end, word.form.replace(",", ""))]
                elif UNGROUPED.match(word.form):
                    yield [Edit(word.begin, word.end, f"{int(word.form):,}")]
