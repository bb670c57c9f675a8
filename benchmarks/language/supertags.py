"""Supertags, the tree model and the XTAG mapping on EWT: `python -m benchmarks language-supertags`.

Trained on EWT train, measured on EWT dev and test. The XTAG grammar is unpacked into a temporary
folder. Writes docs/results/language_supertags.md.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.data import ewt, unpack_xtag
from benchmarks.pages import write_page
from wellput.core.tree import Tree
from wellput.language.models.tree_model import (
    TreeModel,
    UnorderedTree,
    forms_without_first_capital,
    without_order,
)
from wellput.language.models.tree_training import train_tree_model
from wellput.language.trees.supertags import Supertag, induce_supertags
from wellput.language.trees.xtag import XtagGrammar, read_xtag
from wellput.language.trees.xtag_mapping import xtag_supertags_of_tree
from wellput.language.trees.xtag_places import XtagPlaces

Chosen = Sequence[Sequence[Supertag]]


@dataclass
class Lexicon:
    """The supertags of each word in training."""

    by_word: dict[str, Counter[Supertag]]
    overall: Counter[Supertag]

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> Lexicon:
        by_word: dict[str, Counter[Supertag]] = {}
        overall: Counter[Supertag] = Counter()
        for tree in trees:
            forms = forms_without_first_capital(tree)
            for form, supertag in zip(forms, induce_supertags(tree), strict=True):
                by_word.setdefault(form, Counter())[supertag] += 1
                overall[supertag] += 1
        return cls(by_word, overall)

    def most_frequent(self, form: str) -> Supertag:
        found = self.by_word.get(form) or self.by_word.get(form.lower()) or self.overall
        return found.most_common(1)[0][0]


def coverage_rows(lexicon: Lexicon, parts: dict[str, list[Tree]]) -> list[str]:
    rows = []
    for part, trees in parts.items():
        words = seen = known = seen_with_word = ambiguity = 0
        for tree in trees:
            forms = forms_without_first_capital(tree)
            for form, supertag in zip(forms, induce_supertags(tree), strict=True):
                words += 1
                seen += supertag in lexicon.overall
                if (own := lexicon.by_word.get(form)) is not None:
                    known += 1
                    seen_with_word += supertag in own
                    ambiguity += len(own)
        rows.append(
            f"| {part} | {words:,} | {seen / words:.2%} | {known / words:.2%} | "
            f"{seen_with_word / known:.2%} | {ambiguity / known:.1f} |"
        )
    return rows


def accuracy_row(name: str, gold: Chosen, found: Chosen, speed: float | None) -> str:
    pairs = [
        (g, f)
        for own, best in zip(gold, found, strict=True)
        for g, f in zip(own, best, strict=True)
    ]
    whole = sum(g == f for g, f in pairs) / len(pairs)
    role = sum((g.relation, g.side) == (f.relation, f.side) for g, f in pairs) / len(pairs)
    side = sum(g.side == f.side for g, f in pairs) / len(pairs)
    trees = sum(tuple(g) == tuple(f) for g, f in zip(gold, found, strict=True)) / len(gold)
    shown = f"{speed:,.0f}" if speed is not None else ""
    return f"| {name} | {whole:.2%} | {role:.2%} | {side:.2%} | {trees:.1%} | {shown} |"


def timed(choose: Callable[[], Chosen], n: int) -> tuple[Chosen, float]:
    """What is chosen, and trees a second of processor time."""
    started = time.process_time()
    chosen = choose()
    return chosen, n / (time.process_time() - started)


def chooser_rows(model: TreeModel, lexicon: Lexicon, trees: list[Tree]) -> list[str]:
    gold = [induce_supertags(tree) for tree in trees]
    bare = [without_order(tree) for tree in trees]
    labeled = [without_order(tree, with_labels=True) for tree in trees]

    def best(words: Sequence[UnorderedTree], **options: object) -> Callable[[], Chosen]:
        return lambda: [
            found[0].supertags
            for found in model.choose(words, **options)  # type: ignore[arg-type]
        ]

    frequent = [[lexicon.most_frequent(form) for form in tree.forms] for tree in bare]
    rows = [accuracy_row("most frequent supertag of the word", gold, frequent, None)]
    for name, choose in {
        "tree model, by the word alone": best(bare, method="alone"),
        "tree model, top-down": best(bare, method="top-down"),
        "tree model, exact, 50 candidates": best(bare, candidates=50),
        "tree model, exact, 100 candidates": best(bare),
        "tree model, exact, 200 candidates": best(bare, candidates=200),
        "tree model, exact, tags and relations known": best(labeled),
    }.items():
        chosen, speed = timed(choose, len(trees))
        rows.append(accuracy_row(name, gold, chosen, speed))
    return rows


def unpacked_grammar(folder: str) -> XtagGrammar:
    unpack_xtag(folder)
    [root] = [path.parent for path in Path(folder).rglob("english.gram")]
    return read_xtag(root)


def accepts(places: Sequence[tuple[int, ...]]) -> bool:
    """Whether members at these places may stand in this order; daughters may share a slot."""
    at = 0
    for own in places:
        later = [place for place in own if place >= at]
        if not later:
            return False
        at = later[0]
    return True


def xtag_row(grammar: XtagGrammar, part: str, trees: list[Tree]) -> str:
    grammar_places = XtagPlaces(grammar)
    nodes = named = arcs = allowed = decided = right = treelets = accepted = 0
    for tree in trees:
        supertags = xtag_supertags_of_tree(grammar, tree)
        for number, (word, supertag) in enumerate(zip(tree.words, supertags, strict=True)):
            nodes += 1
            named += supertag.tree in grammar.trees
            if word.head:
                sides = grammar_places.sides(supertags[word.head - 1], supertag)
                side = "<" if number < word.head - 1 else ">"
                arcs += 1
                allowed += side in sides
                decided += len(sides) == 1
                right += sides == side
        for head, mother in enumerate(supertags):
            members = [i for i, w in enumerate(tree.words) if w.head == head + 1 or i == head]
            if len(members) > 1:
                treelets += 1
                accepted += accepts(
                    [
                        (grammar_places.anchor(mother),)
                        if i == head
                        else grammar_places.places(mother, supertags[i])
                        for i in members
                    ]
                )
    return (
        f"| {part} | {nodes:,} | {named / nodes:.2%} | {allowed / arcs:.2%} | {decided / arcs:.1%} | "
        f"{right / decided:.2%} | {accepted / treelets:.1%} |"
    )


def main() -> None:
    train, dev, test = ewt("train"), ewt("dev"), ewt("test")
    parts = {"dev": dev, "test": test}
    lexicon = Lexicon.of(train)
    model = train_tree_model(train)
    size = sum(array.nbytes for array in model.arrays().values())
    frequent = sum(count > 1 for count in lexicon.overall.values())
    text = f"""# Supertags, the tree model and XTAG

How many [supertags](../language/supertags.md) (detailed parts of speech that also say how a word attaches) of new text are known from training, and how often does the [tree model](../language/tree-model.md) choose the right one? Nearly every word of new text has a supertag that occurs in the training data.
The tree model, which knows the tree but not the order of the words, chooses the right supertag for four words in five. The data are EWT (English Web Treebank): the models were trained on train, the weights of the tree model were tuned on dev.

## Known supertags

The training data have {len(lexicon.overall):,} different supertags; {frequent:,} of them occur more than once.

- *supertag known*: the share of words whose supertag occurs in training.
- *word known*: the share of words that occur in training.
- *supertag known with this word*: of the words that occur in training, the share that occur there with the same supertag.
- *supertags a word*: how many different supertags a known word has in training, on average.

| part | words | supertag known | word known | known words: supertag known with this word | known words: supertags a word |
| --- | ---: | ---: | ---: | ---: | ---: |
{chr(10).join(coverage_rows(lexicon, parts))}

## Supertags for unordered trees of words

The input is a tree of words without order. *Side* is the side of its head on which a word stands; *trees/s* is the number of trees in a second of processor time, on one core.

*By the word alone*: each supertag is chosen by the word and the number of its daughters. *Top-down* chooses from the root of the tree down. *Exact* finds the best supertags of the whole tree, if each word has one of its 50, 100 (the default) or 200 most promising supertags (*candidates*). With *tags and relations known*, the input also has each word's part of speech and relation. The tree model has {size / 1e6:.2f} MB.
"""
    for part, trees in parts.items():
        text += f"""
EWT {part}:

| chooser | supertag right | relation and side right | side right | all of a tree right | trees/s |
| --- | ---: | ---: | ---: | ---: | ---: |
{chr(10).join(chooser_rows(model, lexicon, trees))}
"""
    with tempfile.TemporaryDirectory() as folder:
        grammar = unpacked_grammar(folder)
        rows = [xtag_row(grammar, part, trees) for part, trees in parts.items()]
        text += f"""
## XTAG

The [XTAG grammar](../language/xtag.md), written by linguists, has {len(grammar.trees):,} trees in {len(grammar.families)} families. wellput maps each word, by its supertag, to one of these trees, and the tree says on which side of its head the word may stand.

- *tree exists*: the share of words whose tree is in the grammar.
- *side allowed*: of the words with a head, the share whose side in the sentence is allowed.
- *only one side allowed*: of the words with a head, the share for which the tree allows one side only; *this side is right* says how often it is the side in the sentence.
- *order of treelet allowed*: the share of treelets (a head with all its daughters) whose order in the sentence is allowed.

| part | words | tree exists | side allowed | only one side allowed | this side is right | order of treelet allowed |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
{chr(10).join(rows)}
"""
    write_page("language-supertags", text)
