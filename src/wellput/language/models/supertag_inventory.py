"""`SupertagInventory`: the supertags of a tree model, divided into parts and numbered.

A supertag is the elementary tree of a word (`language.trees.supertags`). Its *slots* are the places
for the word's arguments. Its *mother* is the word that this word depends on, given as a coarse
category (`V`, `N`, …); its *side* says whether the word stands before (`<`) or after (`>`) the mother.
The parts, with the noun `NN/nsubj<V[_]` and the verb `VBD/root[nsubj,_,obj]` as examples:

- *role*: category, relation and side; the noun's is `("NN", "nsubj", "<")`;
- *stem*: the role and the kind of mother; the noun's is `("NN", "nsubj", "<", "V")`;
- *frame*: the slots on the left and on the right; the verb's is `(("nsubj",), ("obj",))`;
- *site*: what matters for the word's daughters: the role, and whether the word has slots for a
  subject, a copula and a marker, as heads of clauses have; the verb's is
  `("VBD", "root", "", "subject", "", "")`.

Numbers follow from the order of the supertags.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError
from wellput.language.trees.supertags import Supertag, coarse

MAX_CATEGORIES = 255
MAX_STEMS = 65535
SUBJECT_RELATIONS = frozenset(["nsubj", "csubj", "expl"])
# The kinds of slots that no mother has: an adjunct's and the root's.
ADJUNCT_SLOT = ""
ROOT_SLOT = "root"
# The kinds of mothers that `coarse` gives. They are numbered first, so that each has a number even if
# no supertag has such a mother.
COARSE_CATEGORIES = tuple("VNMJRPDX")

Ints = NDArray[np.int32]
SupertagPart = tuple[str, ...]
T = TypeVar("T", bound=Hashable)


class SupertagInventory:
    """The numbers of each supertag's parts, as input of the C++ code."""

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
        """Everything that the C++ code needs to know about supertags."""
        all_ = self.supertags
        frames = [(supertag.left, supertag.right) for supertag in all_]
        frame_numbers = numbered(frames)
        kinds_of_frames = [slot_kinds(*frame) for frame in frame_numbers]
        filled = [kind_of_slot_filled_by(supertag) for supertag in all_]
        kinds = numbered(
            [ADJUNCT_SLOT, ROOT_SLOT, *(k for own in kinds_of_frames for k in own), *filled]
        )
        slots = [[kinds[kind] for kind in own] for own in kinds_of_frames]
        own_slots = [slots[frame_numbers[frame]] for frame in frames]
        mothers = numbered([*COARSE_CATEGORIES, *(supertag.mother for supertag in all_)])
        by_role = dict(zip(self._roles, filled, strict=True))
        return {
            "category": ints(self.categories[t.category] for t in all_),
            "stem": ints(self.stems[key] for key in self._stems),
            "site": ints(self.sites[key] for key in self._sites),
            "frame": ints(frame_numbers[frame] for frame in frames),
            "slot_begin": ints(np.cumsum([0, *map(len, own_slots)]).tolist()),
            "slots": ints(kind for own in own_slots for kind in own),
            "stem_role": ints(self.roles[key[:3]] for key in self.stems),
            "stem_mother": ints(mothers[key[3]] for key in self.stems),
            "role_slot": ints(kinds[by_role[key]] for key in self.roles),
            "role_relation": ints(self.relations[key[1]] for key in self.roles),
            "site_category": ints(self.categories[key[0]] for key in self.sites),
            "site_coarse": ints(mothers[coarse(key[0])] for key in self.sites),
            "root_slot": kinds[ROOT_SLOT],
        }


def role(supertag: Supertag) -> SupertagPart:
    return supertag.category, supertag.relation, supertag.side


def stem_of(supertag: Supertag) -> SupertagPart:
    """Role first, then the kind of mother."""
    return supertag.category, supertag.relation, supertag.side, supertag.mother


def site(supertag: Supertag) -> SupertagPart:
    """Role first, then what kind of clause it heads."""
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
    """Numbers in the order in which things first come."""
    return {thing: number for number, thing in enumerate(dict.fromkeys(things))}


def ints(values: Iterable[int]) -> Ints:
    return np.fromiter(values, np.int32)
