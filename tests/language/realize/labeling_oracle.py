"""The chooser of labels in plain Python: the features of label_features.h in native/, and the score of
labels that they give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from tests.language.models.perceptron_oracle import Atoms, atoms_of, value
from tests.language.realize.ordering_oracle import mixed
from wellput.language.realize.label_chooser import Label

MOST_RELATIVES = 12


@dataclass(frozen=True)
class LabelingOracle:
    """`heads` count from 1, 0 at the root; `usual` is by a word's key."""

    forms: Sequence[str]
    heads: Sequence[int]
    usual: dict[int, int]
    known: Sequence[str] = ()

    @cached_property
    def atoms(self) -> list[Atoms]:
        return [atoms_of(form) for form in self.forms]

    def usual_numbers(self) -> list[int]:
        if self.known:
            return [value(text) for text in self.known]
        return [
            self.usual[key] + 1
            if (key := word_key(word)) in self.usual
            else mixed(word.suffixes[2], word.shape)
            for word in self.atoms
        ]

    def daughters(self) -> list[list[int]]:
        """Of each word, in the order that unordered_trees.h in native/ gives them."""
        usual = self.usual_numbers()
        looks = [mixed(w.form, u) for w, u in zip(self.atoms, usual, strict=True)]
        found: list[list[int]] = [
            [d for d, head in enumerate(self.heads) if head == word + 1]
            for word in range(len(self.forms))
        ]
        whole: dict[int, int] = {}

        def visit(word: int) -> int:
            for daughter in found[word]:
                visit(daughter)
            found[word].sort(key=lambda d: (whole[d], d))
            code = mixed(looks[word])
            for daughter in found[word]:
                code = mixed(code, whole[daughter])
            whole[word] = code
            return code

        visit(list(self.heads).index(0))
        return found

    @cached_property
    def features(self) -> list[list[int]]:
        words, u, daughters = self.atoms, self.usual_numbers(), self.daughters()
        return [
            [mixed(*template) >> 32 for template in self._templates(i, words, u, daughters)]
            for i in range(len(words))
        ]

    def _templates(
        self,
        i: int,
        words: Sequence[Atoms],
        u: Sequence[int],
        daughters: Sequence[Sequence[int]],
    ) -> Iterator[tuple[int, ...]]:
        m = self.heads[i] - 1
        w, is_root = words[i], m < 0
        n = min(len(daughters[i]), 4)
        own: list[tuple[int, ...]] = [
            (),
            (w.lower,),
            (w.form,),
            *((suffix,) for suffix in w.suffixes[:4]),
            (w.prefixes[1],),
            (w.prefixes[2],),
            (w.shape,),
            (u[i],),
            (n, is_root),
            (w.lower, n),
            (u[i], n, is_root),
            (w.lower, is_root),
            (w.shape, n),
        ]
        yield from ((number, *values) for number, values in enumerate(own))
        um = u[i] if is_root else u[m]
        if not is_root:
            mother = words[m]
            is_top = self.heads[m] == 0
            sisters = min(len(daughters[m]), 6)
            of_mother: list[tuple[int, ...]] = [
                (mother.lower,),
                (um,),
                (mother.suffixes[2],),
                (w.lower, mother.lower),
                (w.lower, um),
                (u[i], mother.lower),
                (u[i], um),
                (w.suffixes[2], um),
                (w.suffixes[2], mother.suffixes[2]),
                (w.shape, um, mother.shape),
                (u[i], um, n),
                (u[i], um, sisters + 10),
                (u[i], um, 0 if is_top else u[self.heads[m] - 1]),
                (w.lower, is_top),
                (u[i], is_top, sisters),
            ]
            yield from ((number, *values) for number, values in enumerate(of_mother, start=30))
        bag = 0
        for d in daughters[i][:MOST_RELATIVES]:
            lower = words[d].lower
            of_daughter: list[tuple[int, ...]] = [
                (lower,),
                (u[d],),
                (u[i], u[d]),
                (w.lower, u[d]),
                (u[i], lower),
                (w.suffixes[2], u[d]),
                (w.shape, lower),
                (u[i], um, u[d]),
            ]
            yield from ((number, *values) for number, values in enumerate(of_daughter, start=60))
            bag = mixed(bag, u[d])
        yield 80, u[i], bag
        bag = 0
        for s in [] if is_root else daughters[m][:MOST_RELATIVES]:
            if s == i:
                continue
            lower = words[s].lower
            of_sister: list[tuple[int, ...]] = [
                (u[s],),
                (u[i], u[s]),
                (w.lower, u[s]),
                (u[i], lower),
                (w.lower, lower),
                (w.suffixes[2], u[s]),
                (w.shape, lower),
                (u[i], um, u[s]),
            ]
            yield from ((number, *values) for number, values in enumerate(of_sister, start=90))
            bag = mixed(bag, u[s])
        yield 110, u[i], um, bag

    def edge(self, labels: Sequence[Label], mother: int, own: int, m: int, d: int) -> Iterator[int]:
        above, word = self.atoms[m].lower, self.atoms[d].lower
        mc, mr = value(labels[mother].category), value(labels[mother].relation)
        dc, dr = value(labels[own].category), value(labels[own].relation)
        for template in [
            (1, mother, own),
            (2, mc, dr),
            (3, mr, dr),
            (4, mc, dc, dr),
            (5, mother, dr),
            (6, above, mc, dr),
            (7, mother, dr, word),
            (8, mr, own, word),
        ]:
            yield mixed(*template) >> 32

    def score(
        self,
        labels: Sequence[Label],
        chosen: Sequence[int],
        local: dict[tuple[int, int], int],
        edges: dict[int, int],
    ) -> int:
        total = 0
        for i, keys in enumerate(self.features):
            total += sum(local.get((key, chosen[i]), 0) for key in keys)
            if (m := self.heads[i] - 1) >= 0:
                keys = list(self.edge(labels, chosen[m], chosen[i], m, i))
                total += sum(edges.get(key, 0) for key in keys)
        return total

    def best_score(
        self, labels: Sequence[Label], local: dict[tuple[int, int], int], edges: dict[int, int]
    ) -> int:
        return max(
            self.score(labels, chosen, local, edges)
            for chosen in product(range(len(labels)), repeat=len(self.forms))
        )


def word_key(word: Atoms) -> int:
    return mixed(word.lower) >> 32


def usual_labels(forms: Sequence[Sequence[str]], labels: Sequence[int]) -> dict[int, int]:
    """The most frequent label of words seen twice, the first of several."""
    counts: dict[int, Counter[int]] = {}
    for form, label in zip((f for tree in forms for f in tree), labels, strict=True):
        if label >= 0:
            counts.setdefault(word_key(atoms_of(form)), Counter())[label] += 1
    return {
        key: min(own, key=lambda label: (-own[label], label))
        for key, own in counts.items()
        if own.total() >= 2
    }
