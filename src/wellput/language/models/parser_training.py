"""Trains the tagger and the transition parser on a treebank.

The parser reads tags and hints (a guess of each word's relation and the side of its head). It is
trained with the mistakes that taggers make on new text: the trees are divided into folds, and each
fold is tagged by a tagger trained on the others (jackknifing).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from wellput.core.errors import InputError, counted
from wellput.core.tree import Tree, Word
from wellput.language.models.parsers import TaggingParser
from wellput.language.models.tagger import TaggedSentence, Tagger
from wellput.language.models.transition_parser import TransitionParser, hints_of

TAGGING_FOLDS = 5
# The taggers of the folds are trained for fewer epochs, because only their mistakes are needed.
FOLD_EPOCHS = 4
EPOCHS = 10
HINT_EPOCHS = 6
# The weights of a model are the mean of this many training runs; the numbers were chosen on the dev
# part of the treebank EWT.
TAGGER_RUNS = 2
PARSER_RUNS = 3


class WeightPruning(NamedTuple):
    """Weights that changed less often than `min_updates` times, or whose absolute value is below
    `min_weight`, are left out."""

    min_updates: int
    min_weight: float


# How weights are pruned, for a treebank of at least this many trees and for a smaller one.
LARGE_TREEBANK_TREES = 5000
LARGE_TREEBANK_PRUNING = {
    "tags": WeightPruning(3, 0.5),
    "hints": WeightPruning(8, 2.0),
    "moves": WeightPruning(10, 1.0),
}
SMALL_TREEBANK_PRUNING = {
    "tags": WeightPruning(3, 0.0),
    "hints": WeightPruning(3, 0.0),
    "moves": WeightPruning(6, 0.0),
}

OnEpoch = Callable[[int], None]


def train_tagger(
    trees: Sequence[Tree],
    *,
    dev: Sequence[Tree] = (),
    epochs: int = EPOCHS,
    seed: int = 1,
    on_epoch: OnEpoch = lambda _: None,
) -> Tagger:
    """A tagger of the trees' XPOS tags; its probabilities are fitted to the trees in `dev`."""
    untagged = sum(word.xpos == "_" for tree in trees for word in tree.words)
    if untagged:
        have = "has" if untagged == 1 else "have"
        words = counted(untagged, "word")
        raise InputError(
            f"{words} of the treebank {have} no tag in the column XPOS. For a treebank without XPOS, "
            "name its folder or files with treebank=."
        )
    sentences, held_out = ([_tagged(tree) for tree in part] for part in (trees, dev))
    pruning = (
        LARGE_TREEBANK_PRUNING if len(trees) >= LARGE_TREEBANK_TREES else SMALL_TREEBANK_PRUNING
    )["tags"]
    return Tagger.train(
        sentences,
        epochs=epochs,
        **pruning._asdict(),
        runs=TAGGER_RUNS,
        seed=seed,
        held_out=held_out,
        on_epoch=on_epoch,
    )


def train_parser(
    trees: Sequence[Tree],
    *,
    dev: Sequence[Tree] = (),
    epochs: int = EPOCHS,
    seed: int = 1,
    on_epoch: OnEpoch = lambda _: None,
) -> TaggingParser:
    """A tagger and a transition parser. `on_epoch` is called with 1 after every pass over the trees."""

    def count_epoch(_: int) -> None:  # the trainers pass the number of the epoch
        on_epoch(1)

    tagger = train_tagger(trees, dev=dev, epochs=epochs, seed=seed, on_epoch=count_epoch)
    transitions = train_transitions(trees, epochs=epochs, seed=seed, on_epoch=count_epoch)
    return TaggingParser(tagger, transitions)


def train_transitions(
    trees: Sequence[Tree],
    *,
    epochs: int = EPOCHS,
    seed: int = 1,
    on_epoch: OnEpoch = lambda _: None,
) -> TransitionParser:
    """The transition parser alone, with its tagger of hints. `on_epoch` is called after every pass over
    the trees, also those of the folds' taggers, with the number of the pass in its training run."""
    pruning = (
        LARGE_TREEBANK_PRUNING if len(trees) >= LARGE_TREEBANK_TREES else SMALL_TREEBANK_PRUNING
    )
    tagged = [_tagged(tree) for tree in trees]
    hinted = [(words, hints_of(tree)) for (words, _), tree in zip(tagged, trees, strict=True)]
    tags = jackknifed(tagged, seed=seed, on_epoch=on_epoch)
    hinter = Tagger.train(
        hinted,
        epochs=HINT_EPOCHS,
        **pruning["hints"]._asdict(),
        given=tags,
        seed=seed,
        on_epoch=on_epoch,
    )
    hints = jackknifed(
        hinted,
        given=tags,
        min_updates=pruning["hints"].min_updates,
        seed=seed,
        on_epoch=on_epoch,
    )
    return TransitionParser.train(
        trees,
        tags,
        hints,
        hinter,
        epochs=epochs,
        **pruning["moves"]._asdict(),
        runs=PARSER_RUNS,
        seed=seed,
        on_epoch=on_epoch,
    )


def jackknifed(
    sentences: Sequence[TaggedSentence],
    *,
    given: Sequence[Sequence[str]] = (),
    min_updates: int = 3,
    seed: int = 1,
    on_epoch: OnEpoch = lambda _: None,
) -> list[list[str]]:
    """The tags of each sentence's words from a tagger trained on the other folds. `given` are tags of
    another kind, as for `Tagger.train`."""
    folds = min(TAGGING_FOLDS, len(sentences))
    if folds < 2:
        return [list(tags) for _, tags in sentences]
    tags: list[list[str]] = [[] for _ in sentences]
    for fold in range(folds):
        tagger = Tagger.train(
            [pair for place, pair in enumerate(sentences) if place % folds != fold],
            given=[row for place, row in enumerate(given) if place % folds != fold],
            epochs=FOLD_EPOCHS,
            min_updates=min_updates,
            seed=seed,
            on_epoch=on_epoch,
        )
        words = [words for words, _ in sentences[fold::folds]]
        tags[fold::folds] = tagger.tag(words, given=given[fold::folds])
    return tags


def attachment_scores(gold: Sequence[Tree], parsed: Sequence[Tree]) -> dict[str, float]:
    """The shares of words with the right tags, with the right lemma, with the right head (`uas`), with
    the right head and universal relation (`las`), and with the right head and relation with its
    subtype (`full_las`); and the number of words. `gold` are the treebank's trees.

    Words are counted as in the CoNLL 2018 shared task on gold words: punctuation counts, and `las`
    ignores the subtype of a relation.
    """
    pairs = [
        (gold_word, parsed_word)
        for gold_tree, parsed_tree in zip(gold, parsed, strict=True)
        for gold_word, parsed_word in zip(gold_tree.words, parsed_tree.words, strict=True)
    ]

    def share(is_right: Callable[[Word, Word], bool]) -> float:
        return sum(is_right(gold_word, parsed_word) for gold_word, parsed_word in pairs) / len(
            pairs
        )

    return {
        "words": len(pairs),
        "xpos": share(lambda a, b: a.xpos == b.xpos),
        "upos": share(lambda a, b: a.upos == b.upos),
        "lemma": share(lambda a, b: a.lemma == b.lemma),
        "uas": share(lambda a, b: a.head == b.head),
        "las": share(lambda a, b: (a.head, _universal(a)) == (b.head, _universal(b))),
        "full_las": share(lambda a, b: (a.head, a.relation) == (b.head, b.relation)),
    }


def _universal(word: Word) -> str:
    return word.relation.partition(":")[0]


def _tagged(tree: Tree) -> TaggedSentence:
    return [word.form for word in tree.words], [word.xpos for word in tree.words]
