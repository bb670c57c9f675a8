"""`WordingChooser`: how probable each form of an inflected word is beside its neighbors: *not* or
*n't*, *is* or *'s*, *a* or *an*, *5000* or *5,000*.

A log-linear model, learned from treebank sentences with their words in the original order, scores the
forms of a word by the words before and after it and by other words of the sentence. Where a neighbor
may have several forms itself, its most frequent form is used. `choose_wording` (inflector.py) adds the
n-gram model's scores and chooses a form.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from wellput.core.tree import Tree
from wellput.language.realize.inflector import Inflector, WordForm
from wellput.language.realize.inputs import Node

Forms = Sequence[WordForm]
# Stands for the place before the first word and after the last.
EDGE = "<>"
SHARE_KEY = crc32(b"share")
"""The key of the feature whose value is a form's log share (see `WordForm`)."""
STYLE_WORDS = ("i", "you", "we", "it", "the", "of", "!", "?", "...", "-", "$", ",", "'", ";")
"""Words that are more frequent in formal than in informal sentences, or the other way round."""
EPOCHS, LEARNING_RATE, WEIGHT_DECAY = 4, 0.08, 1e-3
MIN_WEIGHT = 0.1
"""Weights whose absolute value is below this are not stored."""
WORDING_WEIGHT = 2.0
"""The weight of the chooser's natural log probabilities beside those of the n-gram model, tuned on the
dev part of the treebank EWT."""
DIGIT = re.compile(r"\d")


@dataclass(frozen=True, eq=False)
class WordingChooser:
    """A log-linear model. `weights` has the weight of each feature by its key, the CRC-32 of its
    text."""

    weights: Mapping[int, float]

    def scored(self, sentence: Sequence[Forms], is_inflected: Sequence[bool]) -> list[Forms]:
        """The sentence (the possible forms of each word), where the log shares of a word's forms are
        replaced by the chooser's log probabilities. Words that the chooser does not know keep their
        shares, and so do words that were not inflected."""
        return [
            self._scored(sentence, place)
            if is_inflected[place] and len(forms) > 1 and self.knows(forms)
            else forms
            for place, forms in enumerate(sentence)
        ]

    def knows(self, forms: Forms) -> bool:
        """Whether one of the forms occurred in training as a word with several forms."""
        return any(_key(_plain(form)) in self.weights for form in forms)

    def _scored(self, sentence: Sequence[Forms], place: int) -> Forms:
        forms, weights = sentence[place], self.weights
        context = list(form_contexts(sentence, place))
        scores = [
            sum(value * weights.get(key, 0.0) for key, value in features(form, context))
            for form in forms
        ]
        highest = max(scores)
        total = highest + math.log(sum(math.exp(score - highest) for score in scores))
        return tuple(
            replace(form, log_share=score - total)
            for form, score in zip(forms, scores, strict=True)
        )

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        keys = sorted(self.weights)
        return {
            f"{name}.keys": np.array(keys, np.uint32),
            f"{name}.weights": np.array([self.weights[key] for key in keys], np.float32),
        }

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]], name: str) -> WordingChooser:
        keys, weights = arrays[f"{name}.keys"].tolist(), arrays[f"{name}.weights"].tolist()
        if not all(map(math.isfinite, weights)):
            raise ValueError("weights that are not numbers")
        return cls(dict(zip(keys, weights, strict=True)))


def form_contexts(sentence: Sequence[Forms], place: int) -> Iterator[str]:
    """The features of the sentence, as texts, on which the form at a place depends."""

    def at(other: int) -> str:
        return sentence[other][0].form.lower() if 0 <= other < len(sentence) else EDGE

    usual, after, last = at(place), at(place + 1), at(len(sentence) - 1)
    yield ""
    yield f"-1 {at(place - 1)}"
    yield f"+1 {after}"
    yield f"+1 letter {after[:1]}"
    yield f"+1 letters {after[:3]}"
    yield f"-2 {at(place - 2)}"
    yield f"own {usual[:2]} of {len(usual)}"
    yield f"end {last}"
    words = {forms[0].form.lower() for forms in sentence}
    for word in STYLE_WORDS:
        yield f"has {word} {word in words}"
    yield f"length {min(len(sentence) // 5, 8)}"


def features(form: WordForm, context: Iterable[str]) -> Iterator[tuple[int, float]]:
    """The key and value of each feature of a form in a context (see `form_contexts`)."""
    text = _plain(form)
    yield SHARE_KEY, form.log_share
    for context_text in context:
        yield _key(f"{text}\t{context_text}" if context_text else text), 1.0


def _plain(form: WordForm) -> str:
    """The form in lower case, with 0 for every digit."""
    return DIGIT.sub("0", form.form.lower())


def _key(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"))


def possible_forms(node: Node, forms: Forms) -> Forms:
    """The forms of an inflected node; a long number may also have commas.

    >>> from wellput.language.realize.inputs import Node
    >>> [form.form for form in possible_forms(Node(("5000",), xpos="CD", lemma="5000"), ())]
    ['5000', '5,000']
    """
    number = node.lemma
    is_long = number.isascii() and number.isdigit() and 3 < len(number) < 20 and number[0] != "0"
    if node.xpos == "CD" and is_long:
        return (WordForm(number), WordForm(f"{int(number):,}"))
    return forms


def forms_of_words(tree: Tree, inflector: Inflector) -> list[Forms]:
    """For each word of a treebank tree, the forms that it could have. A word that has only one form,
    or whose form in the treebank is not among its possible forms, gets only the form in the
    treebank."""
    possible: list[Forms] = []
    for word in tree.words:
        node = Node((word.form,), word.relation, word.upos, word.xpos, word.lemma, word.feats)
        forms = possible_forms(node, inflector.forms(node))
        has_choice = len(forms) > 1 and any(form.form == word.form for form in forms)
        possible.append(forms if has_choice else (WordForm(word.form),))
    return possible


def train_wording(trees: Sequence[Tree], inflector: Inflector, *, seed: int = 1) -> WordingChooser:
    """A chooser learned from treebank trees in which ordinary words are in lower case at the beginning
    of the sentence too. Trained by AdaGrad with weight decay."""
    # For each word with several forms: the number of the right form, and the features of every form.
    examples: list[tuple[int, list[list[tuple[int, float]]]]] = []
    for tree in trees:
        sentence = forms_of_words(tree, inflector)
        for word, place, forms in zip(tree.words, range(len(sentence)), sentence, strict=True):
            if len(forms) < 2:
                continue
            right = next(n for n, form in enumerate(forms) if form.form == word.form)
            context = list(form_contexts(sentence, place))
            examples.append((right, [list(features(form, context)) for form in forms]))
    rng = np.random.default_rng(seed)
    weights: dict[int, float] = {}
    squares: dict[int, float] = {}
    for _ in range(EPOCHS):
        for number in rng.permutation(len(examples)).tolist():
            right, rows = examples[number]
            scores = [sum(v * weights.get(k, 0.0) for k, v in row) for row in rows]
            highest = max(scores)
            shares = [math.exp(score - highest) for score in scores]
            total = sum(shares)
            for place, row in enumerate(rows):
                slope = (place == right) - shares[place] / total
                if abs(slope) < 1e-3:
                    continue  # it would change the weights too little
                for key, value in row:
                    weight = weights.get(key, 0.0)
                    step = slope * value - WEIGHT_DECAY * weight
                    square = squares[key] = squares.get(key, 1.0) + step * step
                    weights[key] = weight + LEARNING_RATE * step / math.sqrt(square)
    kept = {key: round(value, 2) for key, value in weights.items() if abs(value) >= MIN_WEIGHT}
    # The feature that is only the form's text is always kept, because `knows` looks it up. `features`
    # yields it second, after the log share.
    for _, rows in examples:
        for row in rows:
            key, _ = row[1]
            kept.setdefault(key, round(weights.get(key, 0.0), 2))
    return WordingChooser(kept)
