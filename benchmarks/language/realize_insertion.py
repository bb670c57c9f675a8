"""Inserting missing words: the learned realizer beside the most frequent word and the trigram model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import sacrebleu

from wellput.core.tree import Tree
from wellput.language.models.ngrams import NgramModel
from wellput.language.realize.inputs import unordered
from wellput.language.realize.inserter import Insertion, pruned_tree
from wellput.language.realize.lattice import Automaton, Lattice, choose_paths
from wellput.language.realize.learned_realizer import LearnedRealizer

BOTH: tuple[Insertion, ...] = ("punctuation", "function")
MOST_FREQUENT = 60
"""Words that the trigram model may insert: the most frequent of those that were removed from dev."""
BONUSES = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
"""Log scores that are tried as the reward for an inserted word."""


def insertion_table(
    realizer: LearnedRealizer, ngrams: NgramModel, test: Sequence[Tree], dev: Sequence[Tree]
) -> str:
    """Precision, recall and F1 of the inserted words (each sentence is a bag of words), and BLEU of the sentences."""
    pruned = [pruned_tree(tree, BOTH).tree for tree in test]
    missing = missing_words(test, pruned)
    usual = Counter(
        word
        for words in missing_words(dev, [pruned_tree(t, BOTH).tree for t in dev])
        for word in words
    )
    frequent = [word for word, _ in usual.most_common(MOST_FREQUENT)]
    inserting = replace(realizer, insert=frozenset(BOTH))
    lines = [
        "| inserted by | precision | recall | F1 | BLEU |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]

    def row(name: str, inserted: Sequence[Sequence[str]], texts: Sequence[str]) -> None:
        right = sum(
            (Counter(a) & Counter(b)).total() for a, b in zip(inserted, missing, strict=True)
        )
        precision = right / max(sum(map(len, inserted)), 1)
        recall = right / sum(map(len, missing))
        f1 = 2 * precision * recall / max(precision + recall, 1e-12)
        references = [" ".join(word.form for word in tree.words).lower() for tree in test]
        bleu = sacrebleu.corpus_bleu(
            [text.lower() for text in texts], [references], tokenize="none", force=True
        ).score
        lines.append(f"| {name} | {precision:.3f} | {recall:.3f} | {f1:.3f} | {bleu:.1f} |")

    for kind in ("words", "labels"):
        given = [unordered(tree, kind=kind) for tree in pruned]
        bare = [one.best[0].words for one in realizer.realize(given)]
        if kind == "words":
            row("nothing, `words`", [[] for _ in bare], [" ".join(words) for words in bare])
            row(
                f"the most frequent word (`{frequent[0]}`), `words`",
                [[frequent[0]] for _ in bare],
                [" ".join((*words, frequent[0])) for words in bare],
            )
            bonus = best_bonus(ngrams, frequent, dev)
            filled = with_trigrams(bare, ngrams, frequent, bonus)
            extra = [added(words, own) for words, own in zip(filled, bare, strict=True)]
            row("the trigram model, `words`", extra, [" ".join(words) for words in filled])
        whole = [one.best[0].words for one in inserting.realize(given)]
        extra = [added(words, own) for words, own in zip(whole, bare, strict=True)]
        row(f"the learned realizer, `{kind}`", extra, [" ".join(words) for words in whole])
    return "\n".join(lines)


def missing_words(trees: Sequence[Tree], pruned: Sequence[Tree]) -> list[list[str]]:
    return [
        added([w.form for w in tree.words], [w.form for w in rest.words])
        for tree, rest in zip(trees, pruned, strict=True)
    ]


def added(words: Sequence[str], bare: Sequence[str]) -> list[str]:
    return list((Counter(words) - Counter(bare)).elements())


def with_trigrams(
    sentences: Sequence[Sequence[str]], ngrams: NgramModel, frequent: Sequence[str], bonus: float
) -> list[list[str]]:
    """The most probable sentences by the trigram model, if one frequent word may be inserted before each word
    and at the end. Each inserted word gets a bonus, because every word makes a sentence less probable."""
    lattices = []
    for sentence in sentences:
        words = [*frequent, "", *sentence]
        first = len(frequent) + 1
        arcs, weights = [], []
        for place in range(len(sentence) + 1):
            state = 2 * place
            arcs += [(state, state + 1, word) for word in range(first)]
            weights += [bonus] * len(frequent) + [0.0]
            if place < len(sentence):
                arcs.append((state + 1, state + 2, first + place))
                weights.append(0.0)
        automaton = Automaton(2 * len(sentence) + 2, np.array(arcs, np.int32), np.array(weights))
        lattices.append(Lattice(tuple(words), (automaton,)))
    return [
        [word for place in choice.paths[0].words if (word := lattice.words[place])]
        for lattice, choice in zip(lattices, choose_paths(lattices, ngrams), strict=True)
    ]


def best_bonus(ngrams: NgramModel, frequent: Sequence[str], dev: Sequence[Tree]) -> float:
    """The bonus with the best F1 of inserted words on a tenth of dev, in its original order."""
    trees = dev[::10]
    bare = [[word.form for word in pruned_tree(tree, BOTH).tree.words] for tree in trees]
    missing = missing_words(trees, [pruned_tree(tree, BOTH).tree for tree in trees])

    def f1(bonus: float) -> float:
        filled = with_trigrams(bare, ngrams, frequent, bonus)
        found = [added(words, own) for words, own in zip(filled, bare, strict=True)]
        right = sum((Counter(a) & Counter(b)).total() for a, b in zip(found, missing, strict=True))
        return 2 * right / max(sum(map(len, found)) + sum(map(len, missing)), 1)

    return max(BONUSES, key=f1)
