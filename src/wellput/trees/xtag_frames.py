"""The noun `Frame`: a word with its mother and its daughters as UD has them, without their order.

It is what the mapping to XTAG looks at. Relations are those of `trees.supertags`; where a tree names
none they are guessed from the parts of speech.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from wellput.core.tree import Tree, Word
from wellput.trees.supertags import Side, attaching_relation, category_of, coarse

BE = frozenset(
    ["be", "am", "is", "are", "was", "were", "been", "being", "'s", "'re", "'m", "’s", "’re", "’m"]
)
WH = frozenset(["WP", "WDT", "WRB", "WP$"])
# Relations of words that serve others: whatever their part of speech, they head no clause.
SERVING = frozenset(
    ["aux", "cop", "case", "mark", "cc", "det", "amod", "compound", "nummod", "fixed", "punct"]
)


@dataclass(eq=False, slots=True)
class Frame:
    """`side` is where the word stands, if that is known already; it chooses among trees that differ in
    nothing else."""

    form: str
    category: str
    relation: str
    side: Side = ""
    mother: Frame | None = None
    daughters: list[Frame] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return coarse(self.category)

    @property
    def is_wh(self) -> bool:
        return self.category in WH

    @property
    def is_predicate(self) -> bool:
        """Whether it heads a clause."""
        if self.relation in SERVING:
            return False
        return self.kind == "V" or self.has("cop", "nsubj", "csubj", "expl")

    def has(self, *relations: str) -> bool:
        return any(daughter.relation in relations for daughter in self.daughters)

    def first(self, *relations: str) -> Frame | None:
        """A daughter with one of these relations."""
        return next((d for d in self.daughters if d.relation in relations), None)


def linked_frames(words: Sequence[tuple[str, str, str, Side]], heads: Sequence[int]) -> list[Frame]:
    """Frames of words (form, category, relation, side) that hang together as their heads say; heads
    count from 1, 0 is the root's."""
    frames = [Frame(*word) for word in words]
    for frame, head in zip(frames, heads, strict=True):
        if head:
            frame.mother = frames[head - 1]
            frame.mother.daughters.append(frame)
    return frames


def frames_of_tree(tree: Tree) -> list[Frame]:
    """The frames of a treebank tree's words; their order decides nothing."""
    words: list[tuple[str, str, str, Side]] = []
    for word in tree.words:
        relation = attaching_relation(word)
        if word.head and word.relation == "_":
            relation = guessed_relation(word, tree.words[word.head - 1])
        words.append((word.form, category_of(word), relation, ""))
    return linked_frames(words, [word.head for word in tree.words])


def guessed_relation(word: Word, mother: Word) -> str:
    """A relation for a tree that names none, such as one made from constituents; there a preposition
    is the head of its noun."""
    category, kind, above = category_of(word), coarse(category_of(word)), category_of(mother)
    if category == "EX":
        return "expl"
    if word.form.lower() in BE:
        return "cop"
    if kind == "V":
        return "aux" if coarse(above) in "VJ" else "acl"
    if coarse(above) == "P":
        return "obj"
    if coarse(above) == "V":
        return {"N": "obj", "R": "advmod", "P": "obl", "J": "xcomp"}.get(kind, "dep")
    return {
        "D": "det",
        "J": "amod",
        "M": "nummod",
        "N": "compound",
        "P": "nmod",
        "R": "advmod",
    }.get(kind, "punct")
