"""Training the head-driven parser: counts of the choices in trees, smoothed.

A tree is divided into the choices that made it, in the order of head_driven_model.h in native/; every
family of choices becomes one smoothed distribution (`backoff_tables.py`). The probability of a further
fragment after a tree is tuned on sentences: one sentence of a treebank should give one fragment, and
two sentences in a row should give two, which pull in opposite directions. The same trees give the same
bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError
from wellput.core.tree import Tree
from wellput.io.files import PathLike
from wellput.io.model_files import packed_strings, save_model_file, unpacked_strings
from wellput.language.models.backoff_tables import (
    BackoffLevel,
    Numbers,
    estimate_levels,
    packed_lists,
    packed_tables,
)
from wellput.language.models.function_tags import CLASS_NAMES, TagSet, class_of, coarser, full_tags
from wellput.language.models.head_driven import HeadDrivenParser
from wellput.language.models.ngrams import NgramModel
from wellput.language.models.parsers import Parser
from wellput.language.models.tagger import TaggedSentence, Tagger
from wellput.language.models.word_analysis import shape_class, word_number
from wellput.language.trees.projectivity import projectivize

DEFAULT_CONTINUING = 0.01
TRIED_CONTINUING = tuple(float(10.0**-power) for power in np.arange(0.3, 6.0, 0.1))
# The share of sentences that must stay whole, a little over the required 0.9. A lower share does not
# separate more pairs of joined sentences.
MIN_WHOLE_SHARE = 0.91
MAX_TUNING_SENTENCES = 400


def tuned_continuing(
    arrays: Mapping[str, NDArray[Any]], guesser: Parser, dev: Sequence[Tree]
) -> float:
    """The largest tried value that leaves enough single sentences whole; if none does, the
    smallest."""
    sentences = [
        [word.form for word in tree.words] for tree in dev[:: len(dev) // MAX_TUNING_SENTENCES + 1]
    ]
    guesses = guesser.parse(sentences)
    for continuing in TRIED_CONTINUING:
        parser = HeadDrivenParser(arrays, guesser, continuing=continuing)
        parsed = parser.parse(sentences, guesses=guesses)
        if np.mean([found.fragments == 1 for found in parsed]) >= MIN_WHOLE_SHARE:
            return continuing
    return TRIED_CONTINUING[-1]


def joined_pairs(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    """Each sentence joined with the next one."""
    return [[*first, *second] for first, second in pairwise(sentences)]


LEFT, RIGHT, ROOT, NEXT_WORD, HEAD_WORD, LEFT_AFTER, RIGHT_AFTER = range(7)
CONTEXT_WIDTHS = (2, 4, 0, 3, 3, 2, 2)  # numbers in a context, by family
NO_MODIFIER = len(CLASS_NAMES)
SENTENCE_START = "<s>"
# Tuned on EWT dev: the least count of a tag and of a word that are kept, the share of a word's
# probability that depends on its head on the left, and of a modifier's on the word just before it.
MIN_TAG_COUNT = 20
MIN_WORD_COUNT = 2
HEAD_SHARE = 0.3
AFTER_SHARE = 0.5
NGRAM_SHARE = 0.5
TAGGER_EPOCHS = 4
MIN_TAGGER_UPDATES = 5


class Events:
    """The choices of one family: rows of numbers, which are the contexts, and the outcomes."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.rows: list[tuple[int, ...]] = []
        self.outcomes: list[int] = []

    def add(self, outcome: int, *context: int) -> None:
        self.rows.append(context)
        self.outcomes.append(outcome)

    def columns(self) -> list[Numbers]:
        return list(np.array(self.rows, np.int64).reshape(-1, self.width).T)


def train_head_driven(
    trees: Sequence[Tree],
    guesser: Parser,
    ngrams: NgramModel | None = None,
    *,
    dev: Sequence[Tree] = (),
    min_word_count: int = MIN_WORD_COUNT,
    epochs: int = TAGGER_EPOCHS,
    seed: int = 1,
    on_epoch: Callable[[int], None] = lambda _: None,
) -> dict[str, NDArray[Any]]:
    """The arrays of a model file (`save_head_driven`). `guesser` is the parser whose guesses the chart
    starts from. The probability of a further fragment is tuned on `dev`, and the tagger's
    probabilities are fitted to it. Words seen less than `min_word_count` times are unknown words.
    `on_epoch` is called after every round of the tagger. With
    `ngrams`, the parser's log probabilities are averaged with theirs."""
    arrays = tree_arrays(trees, min_word_count)
    tags = TagSet(unpacked_strings(arrays, "tags"))
    tagger = Tagger.train(
        [_tagged(tree, tags) for tree in trees],
        epochs=epochs,
        min_updates=MIN_TAGGER_UPDATES,
        seed=seed,
        held_out=[_tagged(tree, tags) for tree in dev],
        on_epoch=on_epoch,
    )
    arrays["tagger"], arrays["tagger.sharpness"] = tagger.weights, np.array([tagger.sharpness])
    arrays["ngrams.share"] = np.array([NGRAM_SHARE if ngrams else 0.0])
    arrays["continuing"] = np.array([DEFAULT_CONTINUING])
    if dev:
        arrays["continuing"] = np.array([tuned_continuing(arrays, guesser, dev)])
    return arrays


def save_head_driven(
    path: PathLike, arrays: Mapping[str, NDArray[Any]], card: Mapping[str, Any]
) -> None:
    save_model_file(path, HeadDrivenParser.kind, card, arrays)


def _tagged(tree: Tree, tags: TagSet) -> TaggedSentence:
    numbers = [tags.number(tag) for tag in full_tags(projectivize(tree))]
    return [word.form for word in tree.words], [tags.tags[number] for number in numbers]


def tree_arrays(
    trees: Sequence[Tree], min_word_count: int = MIN_WORD_COUNT
) -> dict[str, NDArray[Any]]:
    """The arrays of the generative model."""
    if not trees:
        raise InputError("There are no trees to train a parser on.")
    trees = [projectivize(tree) for tree in trees]
    tags = TagSet.from_trees(trees, min_count=MIN_TAG_COUNT)
    vocabulary, unigrams = _vocabulary(trees, min_word_count)
    views = [coarser(tag) for tag in tags.tags]
    coarse, coarsest = (_numbered([view[k] for view in views]) for k in (0, 1))
    classes = np.array([class_of(tag) for tag in tags.tags], np.int32)
    families = [Events(width) for width in CONTEXT_WIDTHS]
    numbers = {word: number for number, word in enumerate(vocabulary)}
    for tree in trees:
        words = [word_number(word.form, numbers) for word in tree.words]
        _add_tree(tree, [tags.number(tag) for tag in full_tags(tree)], words, classes, families)
    estimates, listed = _estimates(families, coarse, coarsest)
    return {
        **packed_tables(estimates),
        **packed_lists(listed),
        **packed_strings("tags", tags.tags),
        **packed_strings("words", vocabulary),
        "tags.coarse": coarse,
        "tags.coarsest": coarsest,
        "tags.class": classes,
        "words.unigrams": unigrams,
        "shares": np.array([HEAD_SHARE, AFTER_SHARE]),
    }


def _vocabulary(
    trees: Sequence[Tree], min_word_count: int
) -> tuple[list[str], NDArray[np.float32]]:
    """The sentence start, the classes of unknown words and the words seen often enough, with the
    natural log of their frequency. The classes are learned from rarer words."""
    counts = Counter(word.form for tree in trees for word in tree.words)
    kept = Counter({word: n for word, n in counts.items() if n >= min_word_count})
    classes = Counter({"<xx>": 1})
    for word, n in counts.items():
        if word not in kept:
            if word.lower() in kept:
                kept[word.lower()] += n
            else:
                classes[shape_class(word)] += n
    words = [SENTENCE_START, *sorted(classes), *sorted(kept)]
    total = sum(kept.values()) + sum(classes.values())
    frequencies = [1.0, *(classes[w] for w in sorted(classes)), *(kept[w] for w in sorted(kept))]
    return words, np.log(np.array(frequencies) / total).astype(np.float32)


def _numbered(names: Sequence[str]) -> NDArray[np.int32]:
    places = {name: number for number, name in enumerate(sorted(set(names)))}
    return np.array([places[name] for name in names], np.int32)


def _add_tree(
    tree: Tree,
    tags: Sequence[int],
    words: Sequence[int],
    classes: NDArray[np.int32],
    families: Sequence[Events],
) -> None:
    stop = -1

    def before(number: int) -> int:
        return words[number - 2] if number > 1 else 0

    modifiers: list[list[int]] = [[] for _ in range(len(words) + 1)]
    for number, own in enumerate(tree.words, start=1):
        modifiers[own.head].append(number)
    for head in range(1, len(words) + 1):
        tag, word = tags[head - 1], words[head - 1]
        last = NO_MODIFIER
        for m in (m for m in modifiers[head] if m < head):
            families[LEFT].add(tags[m - 1], tag, last)
            families[LEFT_AFTER].add(tags[m - 1], tag, before(_begin(m, modifiers)))
            last = int(classes[tags[m - 1]])
        families[LEFT].add(stop, tag, last)
        families[LEFT_AFTER].add(stop, tag, before(head))
        last, reach = NO_MODIFIER, 0
        for m in (m for m in modifiers[head] if m > head):
            families[RIGHT].add(tags[m - 1], tag, word, last, distance_class(reach))
            families[RIGHT_AFTER].add(tags[m - 1], tag, before(head + reach + 1))
            families[HEAD_WORD].add(words[m - 1], tags[m - 1], tag, word)
            last, reach = int(classes[tags[m - 1]]), _end(m, modifiers) - head
        families[RIGHT].add(stop, tag, word, last, distance_class(reach))
        families[RIGHT_AFTER].add(stop, tag, before(head + reach + 1))
        families[NEXT_WORD].add(word, tag, before(head), before(head - 1))
    families[ROOT].add(tags[modifiers[0][0] - 1])


def _begin(number: int, modifiers: Sequence[Sequence[int]]) -> int:
    """The first word below a word of a projective tree."""
    while modifiers[number] and modifiers[number][0] < number:
        number = modifiers[number][0]
    return number


def _end(number: int, modifiers: Sequence[Sequence[int]]) -> int:
    """The last word below a word of a projective tree."""
    while modifiers[number] and modifiers[number][-1] > number:
        number = modifiers[number][-1]
    return number


def distance_class(words: int) -> int:
    """The class of how far a head's right side reaches so far, as in head_driven_model.h in native/."""
    return 0 if words == 0 else 1 if words <= 2 else 2 if words <= 6 else 3


def _estimates(
    families: Sequence[Events], coarse: NDArray[np.int32], coarsest: NDArray[np.int32]
) -> tuple[list[BackoffLevel], list[BackoffLevel]]:
    """The distributions, those looked up by outcome and those listed, each with its chain of contexts
    from the fullest to the empty one. Events seen once with words in their context are left out: they
    would double the file and gain nothing."""

    def smoothed(
        family: int, levels: Sequence[Sequence[Numbers]], mins: Sequence[int], continuation: bool
    ) -> list[BackoffLevel]:
        outcomes = np.array(families[family].outcomes, np.int64)
        if family in (LEFT, RIGHT, LEFT_AFTER, RIGHT_AFTER):
            outcomes = np.where(outcomes < 0, len(coarse), outcomes)
        return estimate_levels(family, levels, outcomes, continuation=continuation, min_counts=mins)

    t, c = families[LEFT].columns()
    levels: list[list[Numbers]] = [[t, c], [coarse[t], c], [coarsest[t], c], []]
    listed = smoothed(LEFT, levels, [1, 1, 1, 1], False)
    t, w, c, d = families[RIGHT].columns()
    levels = [[t, w, c], [t, c, d], [coarse[t], c, d], [coarsest[t], c], []]
    listed += smoothed(RIGHT, levels, [2, 1, 1, 1, 1], False)
    found = smoothed(ROOT, [[]], [1], False)
    t, w1, w2 = families[NEXT_WORD].columns()
    levels = [[t, w1, w2], [t, w1], [t], [coarse[t]], [coarsest[t]], []]
    found += smoothed(NEXT_WORD, levels, [2, 2, 1, 1, 1, 1], True)
    t, h, w = families[HEAD_WORD].columns()
    found += smoothed(HEAD_WORD, [[t, w], [t, coarse[h]]], [2, 1], False)
    for family in (LEFT_AFTER, RIGHT_AFTER):
        t, w = families[family].columns()
        listed += smoothed(family, [[coarsest[t], w]], [2], False)
    return found, listed
