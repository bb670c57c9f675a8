"""Trains a tree model (`tree_model.py`) by counting in dependency trees.

A lexeme is a word as it is written, but without the capital of a sentence's first word. A supertag
(`trees/supertags.py`) is a part of speech with the way in which a word attaches, and with slots for
the word's arguments; an adjunct is a daughter (a word that depends on this one) without a slot. Rare
words also count for their shapes, which stand for unknown words. To keep the model small, the
roles of daughters are not counted by the lexeme of a rare mother, and pairs of lexemes that occur once
are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError
from wellput.core.tree import Tree
from wellput.language.models.tree_model import (
    BACKOFF_WEIGHTS,
    MAX_RARE_COUNT,
    TreeModel,
    forms_without_first_capital,
)
from wellput.language.models.word_analysis import widening_shapes
from wellput.language.trees.supertags import (
    Supertag,
    SupertagInventory,
    induce_supertags,
    role,
    site,
    stem_of,
)

# Supertags with more slots are left out, and more adjuncts are counted as this many.
MAX_SLOTS = 8
MAX_ADJUNCTS = 8
MAX_STORED_COUNT = 65535  # counts are stored in two bytes
MIN_PAIR_COUNT = 2  # rarer pairs are left out
# The count of a pair is stored in one byte. Few pairs are more frequent, and for these the exact count
# hardly matters.
MAX_PAIR_COUNT = 255


@dataclass
class TreeCounts:
    """The counts for a tree model. Keys are: in `lexicon` a word and its supertag; in `adjuncts` a
    supertag and the number of adjuncts; in `roles` the supertags of mother and daughter; in `lexical`
    the mother's lexeme and category and the daughter's supertag; in `bilexical` the mother's lexeme
    and the daughter's supertag and lexeme."""

    words: Counter[str] = field(default_factory=Counter)
    lexicon: Counter[tuple[str, Supertag]] = field(default_factory=Counter)
    adjuncts: Counter[tuple[Supertag, int]] = field(default_factory=Counter)
    roles: Counter[tuple[Supertag, Supertag]] = field(default_factory=Counter)
    lexical: Counter[tuple[str, str, Supertag]] = field(default_factory=Counter)
    bilexical: Counter[tuple[str, Supertag, str]] = field(default_factory=Counter)
    trees: int = 0

    def add(self, tree: Tree) -> None:
        """Counts the words of one tree; words with more than `MAX_SLOTS` arguments are left out."""
        supertags = induce_supertags(tree)
        forms = forms_without_first_capital(tree)
        daughters = Counter(word.head for word in tree.words)
        self.trees += 1
        for number, (word, form, supertag) in enumerate(
            zip(tree.words, forms, supertags, strict=True), start=1
        ):
            slots = len(supertag.left) + len(supertag.right)
            if slots > MAX_SLOTS:
                continue
            self.words[form] += 1
            self.lexicon[form, supertag] += 1
            self.adjuncts[supertag, min(daughters[number] - slots, MAX_ADJUNCTS)] += 1
            if word.head:
                mother, lexeme = supertags[word.head - 1], forms[word.head - 1]
                if len(mother.left) + len(mother.right) <= MAX_SLOTS:
                    self.roles[mother, supertag] += 1
                    self.lexical[lexeme, mother.category, supertag] += 1
                    self.bilexical[lexeme, supertag, form] += 1


def train_tree_model(
    trees: Iterable[Tree],
    *,
    card: dict[str, Any] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> TreeModel:
    """The model of these trees; `on_progress` is called with 1 after each tree."""
    counts = TreeCounts()
    for tree in trees:
        counts.add(tree)
        if on_progress is not None:
            on_progress(1)
    if not any(not supertag.side for _, supertag in counts.lexicon):
        raise InputError("There is no tree with a usable root to train a tree model on.")
    inventory = SupertagInventory(sorted({t for _, t in counts.lexicon}, key=str))
    words = sorted(counts.words)
    # Without a rare word, the shapes come from all words.
    rare = [word for word in words if counts.words[word] <= MAX_RARE_COUNT] or words
    shape_names = sorted({shape for word in rare for shape in widening_shapes(word)})
    arrays = {
        **_lexicon_and_adjuncts(counts, inventory, words, rare, shape_names),
        **_arcs(counts, inventory, {word: number for number, word in enumerate(words)}),
        "weights": np.array(BACKOFF_WEIGHTS),
    }
    full_card = {"trees": counts.trees, "words": counts.words.total(), **(card or {})}
    return TreeModel(inventory.supertags, tuple(words), tuple(shape_names), arrays, full_card)


def _lexicon_and_adjuncts(
    counts: TreeCounts,
    inventory: SupertagInventory,
    words: Sequence[str],
    rare: Sequence[str],
    shape_names: Sequence[str],
) -> dict[str, NDArray[Any]]:
    """The arrays with the supertags of each word and of each shape, and with the numbers of
    adjuncts."""
    lexemes = {word: number for number, word in enumerate(words)}
    shape_numbers = {shape: len(words) + number for number, shape in enumerate(shape_names)}
    rare_words = set(rare)
    entries: Counter[tuple[int, int]] = Counter()
    for (word, supertag), count in counts.lexicon.items():
        number = inventory.numbers[supertag]
        entries[lexemes[word], number] += count
        if word in rare_words:
            for shape in widening_shapes(word):
                entries[shape_numbers[shape], number] += count
    rows = _rows((*key, count) for key, count in entries.items())
    sizes = np.bincount(rows[:, 0], minlength=len(words) + len(shape_names))
    adjuncts = _rows((inventory.numbers[t], n, count) for (t, n), count in counts.adjuncts.items())
    return {
        "lexicon.sizes": sizes.astype(np.uint16),
        "lexicon.supertags": rows[:, 1].astype(np.uint16),
        "lexicon.counts": rows[:, 2].astype(np.uint16),
        "adjuncts.supertags": adjuncts[:, 0].astype(np.uint16),
        "adjuncts.numbers": adjuncts[:, 1].astype(np.uint8),
        "adjuncts.counts": adjuncts[:, 2].astype(np.uint16),
    }


def _arcs(
    counts: TreeCounts, inventory: SupertagInventory, lexemes: dict[str, int]
) -> dict[str, NDArray[Any]]:
    """The arrays with the counts of daughters' roles by the mother's site and by her lexeme, and of
    pairs of lexemes. (`trees/supertags.py` explains roles, sites and stems.)"""
    roles: Counter[tuple[int, int]] = Counter()  # (site, role)
    for (mother, daughter), count in counts.roles.items():
        roles[inventory.sites[site(mother)], inventory.roles[role(daughter)]] += count
    lexical: Counter[tuple[int, int, int]] = Counter()  # (mother's lexeme, category, role)
    for (lexeme, category, daughter), count in counts.lexical.items():
        if counts.words[lexeme] <= MAX_RARE_COUNT:
            continue
        numbers = inventory.categories[category], inventory.roles[role(daughter)]
        lexical[lexemes[lexeme], *numbers] += count
    # (mother's lexeme, stem, daughter's lexeme)
    bilexical: Counter[tuple[int, int, int]] = Counter()
    for (lexeme, daughter, form), count in counts.bilexical.items():
        bilexical[lexemes[lexeme], inventory.stems[stem_of(daughter)], lexemes[form]] += count
    by_site = _rows((*key, count) for key, count in roles.items())
    by_lexeme = _rows((*key, count) for key, count in lexical.items())
    pairs = _rows((*key, count) for key, count in bilexical.items() if count >= MIN_PAIR_COUNT)
    return {
        "roles.sites": by_site[:, 0].astype(np.uint16),
        "roles.roles": by_site[:, 1].astype(np.uint16),
        "roles.counts": by_site[:, 2].astype(np.uint16),
        "lexical.sizes": np.bincount(by_lexeme[:, 0], minlength=len(lexemes)).astype(np.uint16),
        "lexical.categories": by_lexeme[:, 1].astype(np.uint8),
        "lexical.roles": by_lexeme[:, 2].astype(np.uint16),
        "lexical.counts": np.minimum(by_lexeme[:, 3], MAX_PAIR_COUNT).astype(np.uint8),
        "pairs.sizes": np.bincount(pairs[:, 0], minlength=len(lexemes)).astype(np.uint16),
        "pairs.stems": pairs[:, 1].astype(np.uint16),
        "pairs.daughters": pairs[:, 2].astype(np.uint32),
        "pairs.counts": np.minimum(pairs[:, 3], MAX_PAIR_COUNT).astype(np.uint8),
    }


def _rows(tuples: Iterable[tuple[int, ...]]) -> NDArray[np.int64]:
    """The tuples as sorted rows; the last column is a count, which is limited so that it fits the
    file."""
    rows = np.array(sorted(tuples) or np.zeros((0, 4)), np.int64)
    rows[:, -1] = np.minimum(rows[:, -1], MAX_STORED_COUNT)
    return rows
