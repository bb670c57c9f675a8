"""Trains the head-driven parser from counts of the choices that make up trees.

The generative model makes a tree by a sequence of choices (see head_driven_model.h in native/), such as
the next modifier of a head. Every family of choices becomes one smoothed distribution
(`backoff_tables.py`).

The probability of a further fragment after a tree is tuned: one sentence of a treebank should give one
fragment, which needs a low probability, and two joined sentences should give two, which needs a high
one. So the largest probability is taken with which enough sentences stay one fragment. The same trees
give the same bytes.
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
from wellput.language.models.function_tags import (
    CLASS_NAMES,
    TagSet,
    full_tags,
    relation_class,
    two_coarser_tags,
)
from wellput.language.models.head_driven import HeadDrivenParser
from wellput.language.models.ngrams import NgramModel
from wellput.language.models.parsers import Parser
from wellput.language.models.tagger import TaggedSentence, Tagger
from wellput.language.models.word_analysis import ANY_WORD, shape_class, word_number
from wellput.language.trees.projectivity import projectivize

# The probability of a further fragment without tuning, and the values that tuning tries.
DEFAULT_CONTINUING = 0.01
TRIED_CONTINUING = tuple(float(10.0**-power) for power in np.arange(0.3, 6.0, 0.1))
# The share of sentences that must stay one fragment. With a lower share no more pairs of joined
# sentences are separated.
MIN_WHOLE_SHARE = 0.91
MAX_TUNING_SENTENCES = 400


def tuned_continuing(
    arrays: Mapping[str, NDArray[Any]], guesser: Parser, dev: Sequence[Tree]
) -> float:
    """The largest tried probability of a further fragment with which enough sentences of `dev` stay one
    fragment; if there is none, the smallest tried one. `guesser` is the parser whose trees give each
    word one of its possible tags."""
    sentences = [
        [word.form for word in tree.words] for tree in dev[:: len(dev) // MAX_TUNING_SENTENCES + 1]
    ]
    guesses = guesser.parse(sentences)
    for continuing in TRIED_CONTINUING:
        parser = HeadDrivenParser(arrays, guesser, continuing=continuing)
        parsed = parser.parse(sentences, guesses=guesses)
        if np.mean([parse.fragments == 1 for parse in parsed]) >= MIN_WHOLE_SHARE:
            return continuing
    return TRIED_CONTINUING[-1]


def joined_pairs(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    """Each sentence joined with the next one."""
    return [[*first, *second] for first, second in pairwise(sentences)]


# The families of choices: the tag of the next modifier on the left or right of a head (LEFT, RIGHT),
# and the same given the word before (LEFT_AFTER, RIGHT_AFTER); the tag of the root; and a word, given
# the words before it (NEXT_WORD) or its head on the left (HEAD_WORD).
LEFT, RIGHT, ROOT, NEXT_WORD, HEAD_WORD, LEFT_AFTER, RIGHT_AFTER = range(7)
CONTEXT_WIDTHS = (2, 4, 0, 3, 3, 2, 2)  # how many numbers a context has, by family
NO_MODIFIER = len(CLASS_NAMES)
SENTENCE_START = "<s>"
# Tuned on the dev part of the treebank EWT: the least count of the tags and of the words that are
# kept; the share of a word's probability that comes from HEAD_WORD; the share of a modifier's
# probability that comes from LEFT_AFTER or RIGHT_AFTER; and the share of the n-gram model in the final
# log probability.
MIN_TAG_COUNT = 20
MIN_WORD_COUNT = 2
HEAD_SHARE = 0.3
AFTER_SHARE = 0.5
NGRAM_SHARE = 0.5
TAGGER_EPOCHS = 4
MIN_TAGGER_UPDATES = 5


class Events:
    """The choices of one family in the trees: the context of each, a row of `width` numbers, and its
    outcome."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.rows: list[tuple[int, ...]] = []
        self.outcomes: list[int] = []

    def add(self, outcome: int, *context: int) -> None:
        self.rows.append(context)
        self.outcomes.append(outcome)

    def columns(self) -> list[Numbers]:
        """The contexts as an array for each of their numbers."""
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
    """The arrays of a model file (`save_head_driven`). `guesser` is the parser whose trees give
    each word one of its possible tags. The probability of a further fragment and the sharpness of the
    tagger's probabilities are tuned on `dev`. Words that occur fewer than `min_word_count` times are
    treated as unknown. `on_epoch` is called after every pass of the tagger's training. With `ngrams`,
    the parser's log probabilities are averaged with those of the n-gram model."""
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
    """The words of a tree, and the function tag of each word: a kept one if there is one."""
    kept = [(tag, tags.number(tag)) for tag in full_tags(projectivize(tree))]
    function_tags = [tag if number < 0 else tags.tags[number] for tag, number in kept]
    return [word.form for word in tree.words], function_tags


def tree_arrays(
    trees: Sequence[Tree], min_word_count: int = MIN_WORD_COUNT
) -> dict[str, NDArray[Any]]:
    """The arrays of the generative model."""
    if not trees:
        raise InputError("There are no trees to train a parser on.")
    trees = [projectivize(tree) for tree in trees]
    tags = TagSet.from_trees(trees, min_count=MIN_TAG_COUNT)
    vocabulary, unigrams = _vocabulary(trees, min_word_count)
    coarser_tags = [
        two_coarser_tags(tag) for tag in tags.tags
    ]  # of each tag a coarse and a coarsest one
    coarse, coarsest = (_numbered([pair[k] for pair in coarser_tags]) for k in (0, 1))
    classes = np.array([relation_class(tag) for tag in tags.tags], np.int32)
    families = [Events(width) for width in CONTEXT_WIDTHS]
    numbers = {word: number for number, word in enumerate(vocabulary)}
    for tree in trees:
        words = [word_number(word.form, numbers) for word in tree.words]
        _add_tree(tree, [tags.number(tag) for tag in full_tags(tree)], words, classes, families)
    looked_up, listed = _estimates(families, coarse, coarsest)
    return {
        **packed_tables(looked_up),
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
    """The vocabulary: the sentence start, the classes of unknown words, and the words that are
    frequent enough; and the natural log of the relative frequency of each. A rarer word counts as its
    lower-case form if this is frequent enough, otherwise as its class of unknown words."""
    counts = Counter(word.form for tree in trees for word in tree.words)
    kept = Counter({word: n for word, n in counts.items() if n >= min_word_count})
    classes = Counter({ANY_WORD: 1})
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
    """Adds the choices of one tree to the families. `tags` and `words` have the number of each word's
    tag and of the word; `classes` has the class of each tag's relation. The modifiers of a head are
    chosen from left to right, so those on its left from the outermost in."""
    stop = -1  # the choice of no further modifier

    def before(number: int) -> int:
        """The number of the word before a word of the tree; 0 for the sentence start."""
        return words[number - 2] if number > 1 else 0

    modifiers: list[list[int]] = [[] for _ in range(len(words) + 1)]
    for number, tree_word in enumerate(tree.words, start=1):
        modifiers[tree_word.head].append(number)
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
    """The class of the number of words that a head's phrase has on its right so far, as in
    head_driven_model.h in native/."""
    return 0 if words == 0 else 1 if words <= 2 else 2 if words <= 6 else 3


def _estimates(
    families: Sequence[Events], coarse: NDArray[np.int32], coarsest: NDArray[np.int32]
) -> tuple[list[BackoffLevel], list[BackoffLevel]]:
    """The smoothed distributions of all families: first those that are looked up by outcome, then
    those whose outcomes are listed. Events that occur once with a word in their context are left out:
    they would double the size of the file without better results."""

    def smoothed(
        family: int,
        levels: Sequence[Sequence[Numbers]],
        min_counts: Sequence[int],
        continuation: bool,
    ) -> list[BackoffLevel]:
        """The tables of a family of choices, from the most exact context to the widest. `min_counts`
        and `continuation` are as for `estimate_levels`."""
        outcomes = np.array(families[family].outcomes, np.int64)
        if family in (LEFT, RIGHT, LEFT_AFTER, RIGHT_AFTER):
            # The choice of no further modifier gets the number after those of the tags.
            outcomes = np.where(outcomes < 0, len(coarse), outcomes)
        return estimate_levels(
            family, levels, outcomes, continuation=continuation, min_counts=min_counts
        )

    # Columns, for modifiers: t and w are the head's tag and word, c is the class of the last modifier,
    # d a distance, w1 the word before the modifier. For words: t is the word's tag, w1 and w2 are the
    # words before it, and h and w are the tag and word of its head.
    t, c = families[LEFT].columns()
    levels: list[list[Numbers]] = [[t, c], [coarse[t], c], [coarsest[t], c], []]
    listed = smoothed(LEFT, levels, [1, 1, 1, 1], False)
    t, w, c, d = families[RIGHT].columns()
    levels = [[t, w, c], [t, c, d], [coarse[t], c, d], [coarsest[t], c], []]
    listed += smoothed(RIGHT, levels, [2, 1, 1, 1, 1], False)
    looked_up = smoothed(ROOT, [[]], [1], False)
    t, w1, w2 = families[NEXT_WORD].columns()
    levels = [[t, w1, w2], [t, w1], [t], [coarse[t]], [coarsest[t]], []]
    looked_up += smoothed(NEXT_WORD, levels, [2, 2, 1, 1, 1, 1], True)
    t, h, w = families[HEAD_WORD].columns()
    looked_up += smoothed(HEAD_WORD, [[t, w], [t, coarse[h]]], [2, 1], False)
    for family in (LEFT_AFTER, RIGHT_AFTER):
        t, w1 = families[family].columns()
        listed += smoothed(family, [[coarsest[t], w1]], [2], False)
    return looked_up, listed
