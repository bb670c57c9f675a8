"""Capitals of first words, which would tell a realizer the order.

A capitalized word becomes lower case wherever it stands if the training text has the lower-case word;
names keep their capitals. After realizing, the first word gets a capital, and so do words whose
capital cannot have come from being first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from wellput.core.tree import Tree
from wellput.language.trees.supertags import NAME_TAGS


@dataclass(frozen=True)
class Capitals:
    """`ordinary` are the words that are usually in lower case."""

    ordinary: Collection[str]

    def lowered(self, form: str) -> str:
        """The form without a capital that only the first word of a sentence has.

        >>> Capitals({"the"}).lowered("The"), Capitals({"the"}).lowered("Rome")
        ('the', 'Rome')
        """
        small = form.lower()
        is_capitalized = form != small and form[1:] == small[1:]
        return small if is_capitalized and small in self.ordinary else form

    def lowered_tree(self, tree: Tree) -> Tree:
        return replace(
            tree, words=tuple(replace(word, form=self.lowered(word.form)) for word in tree.words)
        )


def learn_capitals(trees: Iterable[Tree]) -> Capitals:
    """From treebank trees in their order: a word is ordinary if it is lower case in most places. A
    first word counts as lower case unless its part of speech says it is a name. Sentences without a
    capital are ignored: some treebanks have none."""
    balance: Counter[str] = Counter()
    for tree in trees:
        if all(word.form == word.form.lower() for word in tree.words):
            continue
        for place, word in enumerate(tree.words):
            small = word.form.lower()
            is_small = word.form == small
            if place == 0 and not is_small:
                is_small = word.xpos not in NAME_TAGS and word.upos != "PROPN" and word.form != "I"
            balance[small] += 1 if is_small else -1
    return Capitals(frozenset(word for word, count in balance.items() if count > 0))


def with_first_capital(
    words: tuple[str, ...], taken: Counter[str], are_names: Sequence[bool]
) -> tuple[str, ...]:
    """The words with a capital on the first one that begins with a letter. `taken` says how often each
    word, now in lower case, had a capital. Only one of these was the first of the sentence. Another
    gets its capital back if all words of its form had one and either the first word now also had one
    or the word is a name.

    >>> capitalized(("he", "saw", "new", "York"), Counter(he=1, new=1), [False] * 4)
    ('He', 'saw', 'New', 'York')
    """
    first = next((place for place, word in enumerate(words) if word[:1].isalpha()), 0)
    left = taken - Counter(words[first : first + 1])
    is_explained = words[first] in taken
    counts = Counter(words[:first] + words[first + 1 :])
    return tuple(
        word[:1].upper() + word[1:]
        if place == first
        or (left[word] >= counts[word] and word in left and (is_explained or are_names[place]))
        else word
        for place, word in enumerate(words)
    )
