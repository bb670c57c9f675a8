"""Training the tagger and the transition parser from a treebank.

The parser learns from tags and hints with the mistakes taggers make on new text: the trees are dealt
into folds, and each fold is tagged by a tagger that has seen only the others (jackknifing).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wellput.core.errors import InputError
from wellput.core.tree import Tree, Word
from wellput.language.parsers import TaggingParser
from wellput.language.tagger import Tagged, Tagger
from wellput.language.transition_parser import TransitionParser, hints_of

FOLDS = 5
# Taggers of the folds see fewer rounds: they are wanted for their mistakes.
FOLD_EPOCHS = 4
EPOCHS = 10
# Hints matter less than tags: their tagger is kept small.
HINT_EPOCHS = 6
HINT_MIN_UPDATES = 4
# Weights below these are hardly missed where there is much to learn from: on EWT they are two fifths
# of the moves' bytes and worth 0.05 points of UAS on dev. A small treebank needs them all.
SMALLEST = 2.0
HINT_SMALLEST = 1.0
LARGE_TREEBANK = 5000

Progress = Callable[[int], None]


def train_tagger(
    trees: Sequence[Tree],
    *,
    dev: Sequence[Tree] = (),
    epochs: int = EPOCHS,
    seed: int = 1,
    on_epoch: Progress = lambda _: None,
) -> Tagger:
    """A tagger of the trees' XPOS; its probabilities are fitted to `dev`."""
    untagged = sum(word.xpos == "_" for tree in trees for word in tree.words)
    if untagged:
        raise InputError(f"{untagged} words of the treebank have no tag in the column XPOS.")
    sentences, held_out = ([_tagged(tree) for tree in some] for some in (trees, dev))
    return Tagger.train(sentences, epochs=epochs, seed=seed, held_out=held_out, on_epoch=on_epoch)


def train_parser(
    trees: Sequence[Tree],
    *,
    dev: Sequence[Tree] = (),
    epochs: int = EPOCHS,
    seed: int = 1,
    on_epoch: Progress = lambda _: None,
) -> TaggingParser:
    """The tagger and the parser that goes with it. `on_epoch` is called with 1 after every round over
    the trees."""

    def one_more(_: int) -> None:
        on_epoch(1)

    tagger = train_tagger(trees, dev=dev, epochs=epochs, seed=seed, on_epoch=one_more)
    transitions = train_transitions(trees, epochs=epochs, seed=seed, on_epoch=one_more)
    return TaggingParser(tagger, transitions)


def train_transitions(
    trees: Sequence[Tree],
    *,
    epochs: int = EPOCHS,
    seed: int = 1,
    on_epoch: Progress = lambda _: None,
) -> TransitionParser:
    """The transition parser alone, with its hints; `on_epoch` is called after every round over the
    trees, those of the folds' taggers too."""
    is_large = len(trees) >= LARGE_TREEBANK
    tagged = [_tagged(tree) for tree in trees]
    hinted = [(words, hints_of(tree)) for (words, _), tree in zip(tagged, trees, strict=True)]
    hinter = Tagger.train(
        hinted,
        epochs=HINT_EPOCHS,
        min_updates=HINT_MIN_UPDATES,
        smallest=HINT_SMALLEST if is_large else 0.0,
        seed=seed,
        on_epoch=on_epoch,
    )
    tags, hints = (jackknifed(some, seed=seed, on_epoch=on_epoch) for some in (tagged, hinted))
    return TransitionParser.train(
        trees,
        tags,
        hints,
        hinter,
        epochs=epochs,
        smallest=SMALLEST if is_large else 0.0,
        seed=seed,
        on_epoch=on_epoch,
    )


def jackknifed(
    sentences: Sequence[Tagged], *, seed: int = 1, on_epoch: Progress = lambda _: None
) -> list[list[str]]:
    """The tags of each sentence's words by a tagger trained on the other folds."""
    folds = min(FOLDS, len(sentences))
    if folds < 2:
        return [list(tags) for _, tags in sentences]
    tags: list[list[str]] = [[] for _ in sentences]
    for fold in range(folds):
        others = [pair for place, pair in enumerate(sentences) if place % folds != fold]
        tagger = Tagger.train(others, epochs=FOLD_EPOCHS, seed=seed, on_epoch=on_epoch)
        tags[fold::folds] = tagger.tag([words for words, _ in sentences[fold::folds]])
    return tags


def attachment_scores(gold: Sequence[Tree], parsed: Sequence[Tree]) -> dict[str, float]:
    """Shares of words with the right tags, lemma, head (`uas`), head and universal relation (`las`),
    head and relation with its subtype (`full_las`).

    As the CoNLL 2018 shared task counts on gold words: punctuation counts, a relation's subtype does
    not (in `las`).
    """
    pairs = [
        (right, found)
        for tree, other in zip(gold, parsed, strict=True)
        for right, found in zip(tree.words, other.words, strict=True)
    ]

    def share(is_right: Callable[[Word, Word], bool]) -> float:
        return sum(is_right(right, found) for right, found in pairs) / len(pairs)

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


def _tagged(tree: Tree) -> Tagged:
    return [word.form for word in tree.words], [word.xpos for word in tree.words]
