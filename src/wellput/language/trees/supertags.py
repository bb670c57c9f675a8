"""`Supertag`: a word's part of speech together with how the word attaches, read off a dependency
treebank.

A word's *mother* is the word that it depends on; its *daughters* depend on it. A supertag names a
word's category (its part of speech), how the word attaches (by which relation, on which side of what
kind of mother), and the slots for its own arguments from left to right. `VBD/root[nsubj,_,obj]` is a
past-tense root with a subject before it and an object after it; `DT/det<N[_]` is a determiner before a
noun. Words with one of the `ARGUMENT_RELATIONS` fill slots of their mothers. All other words are
adjuncts, which may stand anywhere on their side of the mother.

A mother and her daughters stand on a line of numbered places. Her slots and her own word (the anchor)
have the odd places 1, 3, 5, … from left to right; the gaps around and between them have the even places
0, 2, 4, …. A slot is for one daughter; a gap takes any number of adjuncts, in any order. See
docs/language/supertags.md.

`SupertagInventory` divides the supertags of a tree model into parts and numbers the parts. The mother
is given as a coarse category (`V`, `N`, …); the *side* says whether the word stands before (`<`) or
after (`>`) the mother. The parts, with the noun `NN/nsubj<V[_]` and the verb `VBD/root[nsubj,_,obj]`
as examples:

- *role*: category, relation and side; the noun's is `("NN", "nsubj", "<")`;
- *stem*: the role and the kind of mother; the noun's is `("NN", "nsubj", "<", "V")`;
- *frame*: the slots on the left and on the right; the verb's is `(("nsubj",), ("obj",))`;
- *site*: what matters for the word's daughters: the role, and whether the word has slots for a
  subject, a copula and a marker, as heads of clauses have; the verb's is
  `("VBD", "root", "", "subject", "", "")`.

Parts are numbered in the order in which they first occur in the supertags.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError
from wellput.core.tree import Tree, Word

Side = Literal["", "<", ">"]

# Daughters whose order around the mother is fixed in English: they fill slots.
ARGUMENT_RELATIONS = frozenset(
    [
        "nsubj",
        "csubj",
        "expl",
        "obj",
        "iobj",
        "ccomp",
        "xcomp",
        "compound:prt",
        "aux",
        "cop",
        "mark",
        "case",
        "cc",
        "det",
        "nmod:poss",
    ]
)
# Subtypes whose words stand elsewhere in the sentence than those of the main type. All other subtypes
# are dropped: `nsubj:pass` becomes `nsubj`.
KEPT_SUBTYPES = frozenset(
    [
        "nmod:poss",
        "compound:prt",
        "det:predet",
        "cc:preconj",
        "acl:relcl",
        "obl:npmod",
        "obl:tmod",
        "obl:unmarked",
    ]
)
UNLABELED_RELATION = "dep"
ANCHOR_MARK = "_"
RELATION_PATTERN = r"[a-z]+(?::[a-z]+)?"
WRITTEN_SUPERTAG = re.compile(
    rf"(.+)/({RELATION_PATTERN})(?:([<>])(\w+))?\[([a-z:,_]*)\]", re.DOTALL
)
WRITTEN_RELATION = re.compile(RELATION_PATTERN)

# Part of speech → coarse category.
KIND_OF_CATEGORY = {
    **dict.fromkeys(["MD", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "VERB", "AUX"], "V"),
    **dict.fromkeys(
        ["NN", "NNS", "NNP", "NNPS", "NOUN", "PROPN", "PRP", "EX", "WP", "PRON", "ADD", "GW", "FW"],
        "N",
    ),
    **dict.fromkeys(["CD", "NUM", "$", "SYM"], "M"),
    **dict.fromkeys(["JJ", "JJR", "JJS", "ADJ"], "J"),
    **dict.fromkeys(["RB", "RBR", "RBS", "WRB", "ADV"], "R"),
    **dict.fromkeys(["IN", "TO", "RP", "ADP", "SCONJ", "PART"], "P"),
    **dict.fromkeys(["DT", "PDT", "WDT", "DET", "PRP$", "WP$"], "D"),
}

NAME_TAGS = frozenset(["NNP", "NNPS"])


@dataclass(frozen=True)
class Supertag:
    """A word's category and relation; `side`, which is `<` where the word stands before its mother and
    `>` where it stands after her; and `mother`, her coarse category. Side and mother are empty at the
    root. `left` and `right` are the relations that fill the slots before and after the word, in the
    order of the sentence."""

    category: str
    relation: str = "root"
    side: Side = ""
    mother: str = ""
    left: tuple[str, ...] = ()
    right: tuple[str, ...] = ()

    @property
    def is_argument(self) -> bool:
        return self.relation in ARGUMENT_RELATIONS and self.side != ""

    @property
    def anchor(self) -> int:
        """The place of the word itself on its own line."""
        return 2 * len(self.left) + 1

    @property
    def last_place(self) -> int:
        """The gap after the last slot."""
        return 2 * (len(self.left) + len(self.right)) + 2

    @cached_property
    def text(self) -> str:
        """The supertag as it is written; `parse_supertag` reads it back."""
        attachment = f"{self.side}{self.mother}" if self.side else ""
        slots = ",".join([*self.left, ANCHOR_MARK, *self.right])
        return f"{self.category}/{self.relation}{attachment}[{slots}]"

    def __str__(self) -> str:
        return self.text


S = TypeVar("S", contravariant=True)


class OrderingGrammar(Protocol[S]):
    """What a grammar must say to put a word and its daughters into order."""

    def anchor(self, mother: S) -> int:
        """The place of the mother's own word on her line, an odd number."""

    def places(self, mother: S, daughter: S) -> tuple[int, ...]:
        """The places on her mother's line where a daughter may stand, from left to right; at least one.
        An odd place is a slot for one daughter, an even place a gap for any number of daughters."""


class InducedGrammar:
    """The places that the slots and sides of two induced supertags allow."""

    def anchor(self, mother: Supertag) -> int:
        return mother.anchor

    def places(self, mother: Supertag, daughter: Supertag) -> tuple[int, ...]:
        """The slots that the daughter can fill if she is an argument (several where the mother has,
        say, two auxiliaries); otherwise the gaps on her side, or all gaps if her supertag has no side,
        being that of a root.

        >>> mother = parse_supertag("VBD/root[nsubj,_,obj]")
        >>> InducedGrammar().places(mother, parse_supertag("PRP/nsubj<V[_]"))
        (1,)
        >>> InducedGrammar().places(mother, parse_supertag("RB/advmod<V[_]"))
        (0, 2)
        """
        if daughter.is_argument and (slots := matching_slots(mother, daughter)):
            return slots
        first = mother.anchor + 1 if daughter.side == ">" else 0
        last = mother.anchor - 1 if daughter.side == "<" else mother.last_place
        return tuple(range(first, last + 1, 2))


def matching_slots(mother: Supertag, daughter: Supertag) -> tuple[int, ...]:
    """The odd places of her mother's slots that an argument can fill."""
    if daughter.side == "<":
        first, slots = 1, mother.left
    else:
        first, slots = mother.anchor + 2, mother.right
    return tuple(first + 2 * i for i, slot in enumerate(slots) if slot == daughter.relation)


def induce_supertags(tree: Tree) -> tuple[Supertag, ...]:
    """The supertag of each word of a tree in its order."""
    left: list[list[str]] = [[] for _ in tree.words]
    right: list[list[str]] = [[] for _ in tree.words]
    relations = [attaching_relation(word) for word in tree.words]
    for number, (word, relation) in enumerate(zip(tree.words, relations, strict=True), start=1):
        if word.head and relation in ARGUMENT_RELATIONS:
            (left if number < word.head else right)[word.head - 1].append(relation)
    supertags = []
    for number, (word, relation) in enumerate(zip(tree.words, relations, strict=True), start=1):
        side: Side = "" if not word.head else "<" if number < word.head else ">"
        mother = coarse_category(category_of(tree.words[word.head - 1])) if word.head else ""
        slots = tuple(left[number - 1]), tuple(right[number - 1])
        supertags.append(Supertag(category_of(word), relation, side, mother, *slots))
    return tuple(supertags)


def attaching_relation(word: Word) -> str:
    """A word's relation without subtypes that do not matter for the order; always `root` at the
    root, and `dep` where the word has no relation that a supertag can be written with."""
    if not word.head:
        return "root"
    if word.relation in KEPT_SUBTYPES:
        return word.relation
    relation = word.relation.partition(":")[0]
    is_writable = WRITTEN_RELATION.fullmatch(relation) and relation != "root"
    return relation if is_writable else UNLABELED_RELATION


def category_of(word: Word) -> str:
    """The part of speech of the language's own tag set, or the universal one."""
    return word.xpos if word.xpos != "_" else word.upos if word.upos != "_" else "X"


def coarse_category(category: str) -> str:
    """The kind of a part of speech: V (verbs), N (nouns), M (numbers), J (adjectives), R (adverbs), P
    (prepositions), D (determiners) or X (others)."""
    return KIND_OF_CATEGORY.get(category, "X")


def parse_supertag(text: str) -> Supertag:
    """Reads what `str` writes.

    >>> parse_supertag("VBD/root[nsubj,_,obj]").left
    ('nsubj',)
    """
    match = WRITTEN_SUPERTAG.fullmatch(text)
    slots = match[5].split(",") if match else []
    # A root, and only a root, is written without a side.
    if match is None or (match[2] == "root") != (match[3] is None) or slots.count(ANCHOR_MARK) != 1:
        raise InputError(
            f"{text!r} is not a supertag such as VBD/root[nsubj,_,obj] or DT/det<N[_]."
        )
    place = slots.index(ANCHOR_MARK)
    left, right = slots[:place], slots[place + 1 :]
    if not all(slot in ARGUMENT_RELATIONS for slot in (*left, *right)):
        raise InputError(f"{text!r}: a slot is one of {', '.join(sorted(ARGUMENT_RELATIONS))}.")
    side: Side = "" if match[3] is None else "<" if match[3] == "<" else ">"
    return Supertag(match[1], match[2], side, match[4] or "", tuple(left), tuple(right))


# The most that a tree model's file can number.
MAX_CATEGORIES = 255
MAX_STEMS = 65535
SUBJECT_RELATIONS = frozenset(["nsubj", "csubj", "expl"])
# Slot kinds for words that fill no slot of a mother: adjuncts and the root.
ADJUNCT_SLOT = ""
ROOT_SLOT = "root"
# The kinds of mothers that `coarse_category` gives. They are numbered first, so that each has a number
# even if no supertag has such a mother.
COARSE_CATEGORIES = tuple("VNMJRPDX")

Ints = NDArray[np.int32]
SupertagPart = tuple[str, ...]
T = TypeVar("T", bound=Hashable)


class SupertagInventory:
    """Supertags with the numbers of their parts, as the C++ code takes them."""

    def __init__(self, supertags: Iterable[Supertag]) -> None:
        self.supertags = tuple(supertags)
        self.numbers = {supertag: number for number, supertag in enumerate(self.supertags)}
        self.categories = numbered(supertag.category for supertag in self.supertags)
        self.relations = numbered(supertag.relation for supertag in self.supertags)
        self._roles = [role(supertag) for supertag in self.supertags]
        self._stems = [stem_of(supertag) for supertag in self.supertags]
        self._sites = [site(supertag) for supertag in self.supertags]
        self.roles, self.stems = numbered(self._roles), numbered(self._stems)
        self.sites = numbered(self._sites)
        if len(self.categories) > MAX_CATEGORIES or len(self.stems) > MAX_STEMS:
            raise InputError(
                f"The trees have {len(self.categories)} parts of speech and {len(self.stems)} ways "
                f"to attach; a tree model takes {MAX_CATEGORIES} and {MAX_STEMS}. Use a smaller tag "
                "set, such as the universal one."
            )

    def arrays(self) -> dict[str, Ints | int]:
        """What the C++ code needs to know about supertags, by name. `category`, `stem`, `site` and
        `frame` have a number for each supertag; arrays named `stem_…`, `role_…` and `site_…` have one
        for each stem, role or site. The slots of supertag s are `slots[slot_begin[s]:slot_begin[s +
        1]]`.
        """
        frames = [(supertag.left, supertag.right) for supertag in self.supertags]
        frame_numbers = numbered(frames)
        kinds_of_frames = [slot_kinds(*frame) for frame in frame_numbers]
        filled = [kind_of_slot_filled_by(supertag) for supertag in self.supertags]
        kinds = numbered(
            [ADJUNCT_SLOT, ROOT_SLOT, *(k for frame in kinds_of_frames for k in frame), *filled]
        )
        slots_of_frames = [[kinds[kind] for kind in frame] for frame in kinds_of_frames]
        slots = [slots_of_frames[frame_numbers[frame]] for frame in frames]
        mothers = numbered([*COARSE_CATEGORIES, *(supertag.mother for supertag in self.supertags)])
        by_role = dict(zip(self._roles, filled, strict=True))
        return {
            "category": ints(self.categories[supertag.category] for supertag in self.supertags),
            "stem": ints(self.stems[key] for key in self._stems),
            "site": ints(self.sites[key] for key in self._sites),
            "frame": ints(frame_numbers[frame] for frame in frames),
            "slot_begin": ints(np.cumsum([0, *map(len, slots)]).tolist()),
            "slots": ints(kind for supertag_slots in slots for kind in supertag_slots),
            "stem_role": ints(self.roles[key[:3]] for key in self.stems),
            "stem_mother": ints(mothers[key[3]] for key in self.stems),
            "role_slot": ints(kinds[by_role[key]] for key in self.roles),
            "role_relation": ints(self.relations[key[1]] for key in self.roles),
            "site_category": ints(self.categories[key[0]] for key in self.sites),
            "site_coarse": ints(mothers[coarse_category(key[0])] for key in self.sites),
            "root_slot": kinds[ROOT_SLOT],
        }


def role(supertag: Supertag) -> SupertagPart:
    """Category, relation and side."""
    return supertag.category, supertag.relation, supertag.side


def stem_of(supertag: Supertag) -> SupertagPart:
    """The role, then the kind of mother."""
    return supertag.category, supertag.relation, supertag.side, supertag.mother


def site(supertag: Supertag) -> SupertagPart:
    """The role, then whether the word has slots for a subject, a copula and a marker."""
    slots = (*supertag.left, *supertag.right)
    subject_mark = "subject" if SUBJECT_RELATIONS.intersection(slots) else ""
    copula_mark = "copula" if "cop" in slots else ""
    marker_mark = "mark" if "mark" in slots else ""
    return (*role(supertag), subject_mark, copula_mark, marker_mark)


def slot_kinds(left: SupertagPart, right: SupertagPart) -> list[str]:
    """The kinds of a frame's slots from left to right: relation and side."""
    return [f"{slot}<" for slot in left] + [f"{slot}>" for slot in right]


def kind_of_slot_filled_by(supertag: Supertag) -> str:
    """The kind of slot that a daughter with this supertag fills."""
    if supertag.is_argument:
        return f"{supertag.relation}{supertag.side}"
    return ADJUNCT_SLOT if supertag.side else ROOT_SLOT


def numbered(things: Iterable[T]) -> dict[T, int]:
    """A number for each thing, in the order of first occurrence."""
    return {thing: number for number, thing in enumerate(dict.fromkeys(things))}


def ints(values: Iterable[int]) -> Ints:
    return np.fromiter(values, np.int32)
