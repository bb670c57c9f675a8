"""Function tags: a word's part of speech with its function in the tree.

A tag such as `NN/obl:in` or `VBD/root` has the part of speech (XPOS, where a few rare ones are joined
with others) and the relation to the head. Nouns also have their preposition, clauses their marker
(such as *that*), and predicates without a verb the mark `+cop` for their copula. With such tags, a
head-driven parser can distinguish a subject from an object and a clause from a sentence; with plain
tags it cannot (docs/language/head-driven-parser.md). The Penn Treebank's function tags, such as SBJ,
are something else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from wellput.core.tree import Tree, Word

# Rare parts of speech and those with which they are joined.
JOINED_TAGS = {
    "NNPS": "NNP",
    "JJR": "JJ",
    "JJS": "JJ",
    "RBR": "RB",
    "RBS": "RB",
    "AFX": "JJ",
    "LS": "CD",
}
# For each relation whose words have a preposition or marker in their tag: the relation of this
# preposition or marker to the word.
MARKER_OF_RELATION = {
    "obl": "case",
    "nmod": "case",
    "advcl": "mark",
    "acl": "mark",
    "xcomp": "mark",
    "ccomp": "mark",
}
# Classes of relations. When the head-driven parser adds a modifier to a head, it takes into account
# only the class of the modifier that was added before.
MODIFIER_CLASSES: dict[str, tuple[str, ...]] = {
    "punctuation": ("punct",),
    "determiner": ("det", "det:predet", "nmod:poss"),
    "marker": ("case", "mark", "cc", "cc:preconj"),
    "subject": ("nsubj", "nsubj:pass", "nsubj:outer", "csubj", "csubj:pass", "expl"),
    "object": ("obj", "iobj", "xcomp", "ccomp"),
    "oblique": ("obl", "obl:unmarked", "obl:agent"),
    "auxiliary": ("aux", "aux:pass", "cop"),
    "adverb": ("advmod", "discourse", "compound:prt"),
    "adjective": ("amod", "nummod"),
    "compound": ("compound", "flat", "fixed", "goeswith"),
    "noun": ("nmod", "nmod:unmarked", "nmod:desc", "appos"),
    "clause": ("advcl", "acl", "acl:relcl", "advcl:relcl"),
    "coordination": ("conj",),
    "loose": ("parataxis", "list", "vocative", "dislocated", "orphan", "reparandum", "dep", "root"),
}
CLASS_NAMES = tuple(MODIFIER_CLASSES)
_CLASS_OF = {
    relation: number
    for number, name in enumerate(CLASS_NAMES)
    for relation in MODIFIER_CLASSES[name]
}


def part_of_speech(word: Word) -> str:
    """The part of speech of a word for its function tag: a rare one is replaced by the one that it is
    joined with in `JOINED_TAGS`."""
    return JOINED_TAGS.get(word.xpos, word.xpos)


def full_tags(tree: Tree) -> list[str]:
    """Each word's tag with all its detail, however rare."""
    dependents: dict[int, dict[str, str]] = {}
    for word in tree.words:
        dependents.setdefault(word.head, {}).setdefault(word.relation, word.form.lower())
    return [
        _tag(word, dependents.get(number, {})) for number, word in enumerate(tree.words, start=1)
    ]


def _tag(word: Word, dependents: dict[str, str]) -> str:
    """The tag of a word; `dependents` has the first of the words that depend on it, for each
    relation."""
    tag = f"{part_of_speech(word)}/{word.relation}"
    if "cop" in dependents:
        return f"{tag}+cop"
    marker = MARKER_OF_RELATION.get(word.relation)
    return f"{tag}:{dependents[marker]}" if marker in dependents else tag


class TagSet:
    """Function tags that are frequent enough to be kept; rarer tags are replaced by simpler ones."""

    def __init__(self, tags: Sequence[str]) -> None:
        self.tags = tuple(tags)
        self._numbers = {tag: number for number, tag in enumerate(self.tags)}

    @classmethod
    def from_trees(cls, trees: Iterable[Tree], *, min_count: int) -> TagSet:
        """The tags that occur at least `min_count` times. A rarer tag counts as the simpler tag that
        `fallback` gives for it."""
        counts = Counter(tag for tree in trees for tag in full_tags(tree))
        kept: set[str] = set()
        while counts:
            rare = {tag: n for tag, n in counts.items() if n < min_count and fallback(tag) != tag}
            kept |= counts.keys() - rare.keys()
            counts = Counter()
            for tag, n in rare.items():
                counts[fallback(tag)] += n
        return cls(sorted(kept))

    def __len__(self) -> int:
        return len(self.tags)

    def number(self, tag: str) -> int:
        """The number of the tag or, where it is not kept, of the next simpler tag that is kept; -1 if
        there is none."""
        while tag not in self._numbers:
            simpler = fallback(tag)
            if simpler == tag:
                return -1
            tag = simpler
        return self._numbers[tag]

    def root_number(self, word: Word) -> int:
        """The number of a verb's tag if it were a root; -1 for other words."""
        return self._numbers.get(f"{part_of_speech(word)}/root", -1) if word.xpos[:1] == "V" else -1


def fallback(tag: str) -> str:
    """The next simpler tag: first without the copula or preposition, then without the subtype of the
    relation, then with the relation `dep`. The simplest tag is returned as it is."""
    part, relation = tag.split("/", 1)
    for sign in ("+", ":"):
        if sign in relation:
            return f"{part}/{relation.rpartition(sign)[0]}"
    return f"{part}/dep" if relation != "dep" else tag


def relation_of(tag: str) -> str:
    """The relation in a tag, as Universal Dependencies name it.

    >>> relation_of("NN/obl:in"), relation_of("NN/root+cop"), relation_of("VBN/acl:relcl")
    ('obl', 'root', 'acl:relcl')
    """
    relation = tag.split("/", 1)[1].partition("+")[0]
    return relation if relation in _CLASS_OF else relation.partition(":")[0]


def relation_class(tag: str) -> int:
    """The number of the relation's class in `CLASS_NAMES`, for a word with this tag."""
    return _CLASS_OF.get(relation_of(tag), CLASS_NAMES.index("loose"))


def two_coarser_tags(tag: str) -> tuple[str, str]:
    """Two coarser forms of a tag, to which the parser's probabilities back off: the tag without its
    preposition, marker or copula; and the first two letters of the part of speech with the class of the
    relation."""
    part = tag.split("/", 1)[0]
    kind = part[:2] if part[:1].isalpha() else "PU"
    return f"{part}/{relation_of(tag)}", f"{kind}/{CLASS_NAMES[relation_class(tag)]}"
