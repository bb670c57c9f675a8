"""The noun `UnorderedTree`: a dependency tree of inflected words that says nothing about their order.

It is what a realizer starts from. The words are listed in some order, because a list has one; what
is done with the tree must not depend on it. Heads count from 1 in that list, 0 is above the root. The
capital that a sentence begins with would tell which word is first: it is taken away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wellput.core.errors import InputError
from wellput.core.tree import Tree
from wellput.trees.supertags import attaching_relation, category_of

PROPER = frozenset(["PROPN", "NNP", "NNPS"])


@dataclass(frozen=True, slots=True)
class UnorderedTree:
    """Words and their heads; where they are known, also each word's category and relation (those
    of `trees.supertags`), with None for a single word that has none."""

    forms: tuple[str, ...]
    heads: tuple[int, ...]
    categories: tuple[str | None, ...] | None = None
    relations: tuple[str | None, ...] | None = None

    def __post_init__(self) -> None:
        if not self.forms or not all(isinstance(form, str) for form in self.forms):
            raise InputError("A tree needs words, and each must be a string.")
        for labels in (self.heads, self.categories, self.relations):
            if labels is not None and len(labels) != len(self.forms):
                raise InputError(
                    f"A tree of {len(self.forms)} words has {len(labels)} heads, categories or "
                    "relations; it needs one for each word."
                )
        check_heads(self.heads)


def check_heads(heads: Sequence[int]) -> None:
    """Raises InputError unless there is one root, and all words hang on it."""
    strays = [number for number, head in enumerate(heads, 1) if not 0 <= head <= len(heads)]
    if strays:
        raise InputError(
            f"Word {strays[0]} of a tree has the head {heads[strays[0] - 1]}; heads are 0 (the root) "
            f"to {len(heads)}."
        )
    roots = [number for number, head in enumerate(heads, 1) if head == 0]
    if len(roots) != 1:
        which = f" ({', '.join(map(str, roots))})" if roots else ""
        raise InputError(
            f"A tree has {len(roots)} roots{which}; exactly one word must have the head 0."
        )
    below: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for number, head in enumerate(heads, 1):
        below[head].append(number)
    reached = [0]
    for number in reached:
        reached.extend(below[number])
    if missing := set(range(1, len(heads) + 1)).difference(reached):
        raise InputError(f"The heads of a tree form a circle at or above word {min(missing)}.")


def unordered(tree: Tree, *, with_labels: bool = False) -> UnorderedTree:
    """A tree's words with their heads, in the order of the sentence still; `with_labels` also their
    categories and relations."""
    return UnorderedTree(
        forms_without_first_capital(tree),
        tuple(word.head for word in tree.words),
        tuple(category_of(word) for word in tree.words) if with_labels else None,
        tuple(attaching_relation(word) for word in tree.words) if with_labels else None,
    )


def forms_without_first_capital(tree: Tree) -> tuple[str, ...]:
    """The words, the first that has a letter in lower case if only its place gave it a capital: not
    a proper noun, not *I*, no second capital."""
    forms = [word.form for word in tree.words]
    for place, word in enumerate(tree.words):
        if any(character.isalpha() for character in word.form):
            is_name = word.upos in PROPER or word.xpos in PROPER
            if not is_name and word.form != "I" and word.form[1:] == word.form[1:].lower():
                forms[place] = word.form.lower()
            break
    return tuple(forms)
