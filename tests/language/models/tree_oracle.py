"""The tree model in plain Python: probabilities from raw counts, all choices tried."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

from wellput.core.tree import Tree
from wellput.language.models.tree_model import (
    BACKOFF_WEIGHTS,
    UnorderedTree,
    forms_without_first_capital,
)
from wellput.language.models.word_analysis import widening_shapes
from wellput.language.trees.supertags import Supertag, coarse_category, induce_supertags

ROLE, LEXEME, FRAME, ADJUNCTS = (
    BACKOFF_WEIGHTS[:4],
    BACKOFF_WEIGHTS[4:7],
    BACKOFF_WEIGHTS[7:11],
    BACKOFF_WEIGHTS[11:],
)


class Chain:
    """Events in contexts from the widest to the narrowest, interpolated as Witten and Bell do."""

    def __init__(self, weights: Sequence[float], unseen: float) -> None:
        self.weights, self.unseen = weights, unseen
        self.levels: list[dict[Hashable, Counter[Hashable]]] = [{} for _ in weights]
        self.names: list[Counter[Hashable]] = [Counter() for _ in weights]

    def add(self, contexts: Sequence[Hashable], event: Hashable) -> None:
        for level, context in zip(self.levels, contexts, strict=False):
            if context is not None:
                level.setdefault(context, Counter())[event] += 1

    def probability(self, contexts: Sequence[Hashable], event: Hashable) -> float:
        p = self.unseen
        for level, names, weight, context in zip(
            self.levels, self.names, self.weights, contexts, strict=False
        ):
            seen = level.get(context) if context is not None else None
            if seen:
                backed = weight * len(seen)
                count = seen[event] + names[context, event]
                p = (count + backed * p) / (seen.total() + backed)
        return p


class Oracle:
    """Pairs of lexemes seen once and what rare lexemes have for daughters are left out."""

    def __init__(self, trees: Sequence[Tree]) -> None:
        self.roles = Chain(ROLE, 1e-5)
        self.lexemes = Chain(LEXEME, 1e-6)
        self.frames = Chain(FRAME, 1e-5)
        self.adjuncts = Chain(ADJUNCTS, 1 / 9)
        forms = [forms_without_first_capital(tree) for tree in trees]
        self.words = Counter(form for sentence in forms for form in sentence)
        rare = (word for word, count in self.words.items() if count <= 2)
        self.shapes = {shape for word in rare for shape in widening_shapes(word)}
        pairs: Counter[tuple[Hashable, ...]] = Counter()
        for tree, sentence in zip(trees, forms, strict=True):
            self.count(tree, sentence, pairs)
        for (context, event), count in pairs.items():
            if count >= 2:
                self.lexemes.levels[2].setdefault(context, Counter())[event] += count

    def count(self, tree: Tree, forms: Sequence[str], pairs: Counter[tuple[Hashable, ...]]) -> None:
        supertags = induce_supertags(tree)
        daughters = Counter(word.head for word in tree.words)
        for number, (word, form, t) in enumerate(zip(tree.words, forms, supertags, strict=True), 1):
            mother = supertags[word.head - 1] if word.head else None
            lexeme = forms[word.head - 1] if word.head else None
            contexts = role_contexts(t, mother, lexeme)
            is_rare = lexeme is not None and self.words[lexeme] <= 2
            self.roles.add(contexts[:3] if is_rare else contexts, role(t))
            self.lexemes.add([t.category, stem(t)], form)
            if word.head:
                pairs[(lexeme, stem(t)), form] += 1
            self.frames.add([t.category, stem(t), (form, t.category), (form, stem(t))], frame(t))
            n = min(daughters[number] - len(t.left) - len(t.right), 8)
            self.adjuncts.add([t.category, (t.category, frame(t)), t], n)
            if self.words[form] <= 2:
                for shape in widening_shapes(form):
                    name = f"shape {shape}"
                    self.lexemes.names[0][t.category, name] += 1
                    self.lexemes.names[1][stem(t), name] += 1
                    self.frames.levels[2].setdefault((name, t.category), Counter())[frame(t)] += 1
                    self.frames.levels[3].setdefault((name, stem(t)), Counter())[frame(t)] += 1

    def lexeme(self, form: str) -> str:
        for known in (form, form.lower()):
            if known in self.words:
                return known
        return next(f"shape {shape}" for shape in widening_shapes(form) if shape in self.shapes)

    def log_prob(self, tree: UnorderedTree, supertags: Sequence[Supertag]) -> float:
        lexemes = [self.lexeme(form) for form in tree.forms]
        total = 0.0
        for number, (lexeme, head, t) in enumerate(
            zip(lexemes, tree.heads, supertags, strict=True), start=1
        ):
            below = [s for s, h in zip(supertags, tree.heads, strict=True) if h == number]
            mother = supertags[head - 1] if head else None
            over = lexemes[head - 1] if head else None
            if mother is None or coarse_category(mother.category) == t.mother:
                p = self.roles.probability(role_contexts(t, mother, over), role(t))
                total += math.log(p)
            else:
                total -= 20
            pair = (over, stem(t)) if head else None
            total += math.log(self.lexemes.probability([t.category, stem(t), pair], lexeme))
            contexts = [t.category, stem(t), (lexeme, t.category), (lexeme, stem(t))]
            total += math.log(self.frames.probability(contexts, frame(t)))
            n = min(max(len(below) - len(t.left) - len(t.right), 0), 8)
            total += math.log(self.adjuncts.probability([t.category, (t.category, frame(t)), t], n))
            total += math.log(math.factorial(n)) - 15 * misplaced(t, below)
        return total


def misplaced(mother: Supertag, daughters: Sequence[Supertag]) -> int:
    """Slots that stay empty, and arguments without a slot."""
    slots = Counter([f"{slot}<" for slot in mother.left] + [f"{slot}>" for slot in mother.right])
    fillers = Counter(
        f"{t.relation}{t.side}"
        for t in daughters
        if t.is_argument and t.mother == coarse_category(mother.category)
    )
    return (slots - fillers).total() + (fillers - slots).total()


def all_choices(candidates: Sequence[Sequence[Supertag]]) -> Iterator[tuple[Supertag, ...]]:
    return itertools.product(*candidates)


def role(t: Supertag) -> Hashable:
    return t.category, t.relation, t.side


def stem(t: Supertag) -> Hashable:
    return t.category, t.relation, t.side, t.mother


def frame(t: Supertag) -> Hashable:
    return t.left, t.right


def role_contexts(t: Supertag, mother: Supertag | None, lexeme: str | None) -> list[Hashable]:
    if mother is None:
        return ["root"]
    slot = (t.relation, t.side) if t.is_argument else "adjunct"
    slots = {*mother.left, *mother.right}
    clause = (bool(slots & {"nsubj", "csubj", "expl"}), "cop" in slots, "mark" in slots)
    return [
        slot,
        (slot, coarse_category(mother.category)),
        (slot, role(mother), clause),
        (slot, mother.category, lexeme),
    ]
