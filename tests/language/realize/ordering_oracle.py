"""The learned orderer in plain Python: the features of ordering_features.h in native/, and the score of
an order that they and an n-gram model give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from tests.language.models.perceptron_oracle import GAMMA, MASK, atoms_of, value
from wellput.language.models.ngrams import NgramModel


def mixed(*values: int) -> int:
    """`FeatureHash` without the cut to 32 bits."""
    state = 0
    for number in values:
        state = ((state ^ number & MASK) + GAMMA) & MASK
        state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
        state ^= state >> 27
    return state


@dataclass(frozen=True)
class OracleWord:
    form: str
    tag: str
    relation: str
    head: int  # from 1, 0 at the root


@dataclass(frozen=True)
class Item:
    word: int = 1
    tag: int = 1
    relation: int = 1
    first: int = 1
    first_tag: int = 1
    last: int = 1
    last_tag: int = 1
    size: int = 0
    label: int = 1
    ending: int = 1
    marks: int = 0
    asks: bool = False


Feature = tuple[int, float]


@dataclass(frozen=True)
class OracleTreelet:
    """`items[0]` is the head's word; the last item stands for both ends."""

    items: Sequence[Item]
    relation: int
    kind: int
    roles: int

    @property
    def n(self) -> int:
        return len(self.items) - 1

    def precedence(self, i: int, j: int) -> Iterator[Feature]:
        a, b, head = self.items[i], self.items[j], self.items[0]
        head_kind = mixed(head.tag, self.relation)
        of_kind = mixed(self.kind, 2)
        of_word = mixed(head.word, 4)
        wa, wb = mixed(a.word, a.relation), mixed(b.word, b.relation)
        sa, sb = mixed(a.size, a.relation), mixed(b.size, b.relation)
        fa, fb = mixed(a.first, a.relation), mixed(b.first, b.relation)
        ma, mb = mixed(a.marks, a.relation), mixed(b.marks, b.relation)
        ea, eb = mixed(a.ending, a.relation), mixed(b.ending, b.relation)
        qa, qb = mixed(a.asks, a.relation), mixed(b.asks, b.relation)
        rels, labels = (a.relation, b.relation), (a.label, b.label)
        # Two of a kind; or what is fine of each, then what is coarse, to be compared both ways.
        templates: list[tuple[tuple[int, ...], int]] = [
            (rels, 0),
            (rels, head.tag),
            (rels, mixed(head.word, 1)),
            (rels, head_kind),
            (rels, mixed(self.kind, head.tag)),
            (labels, 0),
            (labels, head_kind),
            (labels, self.kind),
            ((wa, wb), 0),
            ((wa, wb, *rels), 0),
            ((wa, wb, *labels), head.tag),
            ((wa, wb, *rels), of_kind),
            ((a.word, b.word), 3),
            ((sa, sb), 0),
            ((mixed(sa, a.first_tag), mixed(sb, b.first_tag)), 0),
            ((fa, fb), 0),
            ((fa, fb, *rels), 0),
            ((fa, fb, *rels), of_word),
            ((mixed(a.first_tag, a.label), mixed(b.first_tag, b.label)), 0),
            ((ma, mb), 0),
            ((ma, mb), head_kind),
            ((ma, mb, *labels), 0),
            (labels, mixed(self.roles, 5)),
            ((wa, wb, *rels), mixed(self.roles, 6)),
            ((ea, eb), 0),
            ((ea, eb, *rels), 0),
            ((qa, qb), mixed(self.kind, 7)),
            ((wa, wb, qa, qb), mixed(self.kind, 8)),
        ]
        for number, (values, context) in enumerate(templates, start=1):
            pairs = [values] if len(values) == 2 else [values[::3], (values[2], values[1])]
            for x, y in pairs:
                if x < y:
                    yield mixed(number, x, y, context) >> 32, 1.0
                elif y < x:
                    yield mixed(number, y, x, context) >> 32, -1.0

    def neighbors(self, i: int, j: int, after: bool) -> Iterator[Feature]:
        a, b, head = self.items[i], self.items[j], self.items[0]
        of_side = [
            (a.relation, b.relation, 0),
            (a.relation, b.relation, head.tag),
            (a.relation, b.relation, self.relation),
            (a.label, b.label, 0),
            (a.label, b.label, head.tag),
            (a.relation, b.relation, mixed(a.size, b.size)),
            (a.relation, b.word, 0),
            (a.word, b.relation, 0),
            (a.relation, b.first, 0),
            (a.last, b.relation, 0),
            (a.relation, b.relation, mixed(self.roles, self.kind)),
            (a.label, b.label, self.relation),
            (a.label, b.word, 0),
            (a.word, b.label, 0),
            (mixed(a.relation, a.marks), mixed(b.relation, b.marks), 0),
            (mixed(a.relation, a.asks), mixed(b.relation, b.asks), self.kind),
            (mixed(a.relation, a.last_tag), mixed(b.relation, b.first_tag), 0),
            (a.ending, b.ending, 0),
        ]
        of_none = [
            (a.last, b.first, 0),
            (a.last_tag, b.first_tag, 0),
            (a.last, b.first_tag, 0),
            (a.last_tag, b.first, 0),
            (a.word, b.word, 0),
        ]
        for number, values in enumerate(of_side, start=101 + 50 * after):
            yield mixed(number, *values) >> 32, 1.0
        for number, values in enumerate(of_none, start=201):
            yield mixed(number, *values) >> 32, 1.0

    def triple(self, i: int, j: int, k: int, after: bool) -> Iterator[Feature]:
        a, b, c = self.items[i], self.items[j], self.items[k]
        templates = [
            (300, a.relation, b.relation, c.relation),
            (302, a.relation, b.relation, mixed(c.relation, self.items[0].tag)),
            (304, a.label, b.label, c.label),
            (306, a.relation, b.word, c.relation),
            (308, a.word, b.relation, c.relation),
            (310, a.relation, b.relation, c.word),
            (312, a.last_tag, mixed(b.first_tag, b.last_tag), c.first_tag),
        ]
        for number, *values in templates:
            yield mixed(number + after, *values) >> 32, 1.0

    def features(self, order: Sequence[int]) -> Iterator[Feature]:
        for x, i in enumerate(order):
            for j in order[x + 1 :]:
                yield from self.precedence(i, j)
        line = [self.n, *order, self.n]
        for x in range(1, len(line)):
            after = 0 in line[:x]
            yield from self.neighbors(line[x - 1], line[x], after)
            if x > 1:
                yield from self.triple(line[x - 2], line[x - 1], line[x], after)


ROLES = [
    "nsubj",
    "expl",
    "csubj",
    "obj",
    "xcomp",
    "ccomp",
    "aux",
    "cop",
    "mark",
    "case",
    "det",
    "cc",
]


def plain(relation: str) -> str:
    return relation.partition(":")[0]


def ending_of(form: str) -> int:
    atoms = atoms_of(form)
    return mixed(atoms.suffixes[2], atoms.shape)


def size_class(words: int) -> int:
    return next(c for c, most in enumerate([0, 1, 2, 4, 7, 12, 10**9]) if words <= most)


@dataclass(frozen=True)
class OracleOrderer:
    """`ngram_weight` is in units of the weights."""

    weights: dict[int, int]
    ngrams: NgramModel | None = None
    ngram_weight: float = 0.0

    def treelet(
        self, tree: Sequence[OracleWord], stretches: Sequence[Sequence[int]]
    ) -> OracleTreelet:
        """`stretches[0]` is the head's word alone, the others her daughters' in any order; the head
        word of a stretch is its only one whose head is not in it."""
        items = []
        for place, stretch in enumerate(stretches):
            own = next(w for w in stretch if tree[w].head - 1 not in stretch)
            relation = value("head") if place == 0 else value(tree[own].relation)
            first, last = tree[stretch[0]], tree[stretch[-1]]
            items.append(
                Item(
                    value(tree[own].form),
                    value(tree[own].tag),
                    relation,
                    value(first.form),
                    value(first.tag),
                    value(last.form),
                    value(last.tag),
                    size_class(len(stretch)),
                    mixed(value(tree[own].tag), relation),
                    ending_of(tree[own].form),
                    mixed(*(value(w.form) if w.relation == "punct" else 0 for w in (first, last))),
                    first.tag.startswith("W"),
                )
            )
        head = tree[stretches[0][0]]
        is_question = any(item.word == value("?") for item in items[1:])
        daughters = [w for w in tree if w.head == stretches[0][0] + 1]
        roles = sum({1 << ROLES.index(r) for w in daughters if (r := plain(w.relation)) in ROLES})
        return OracleTreelet(
            [*items, Item()], mixed(value(head.relation), head.head == 0), int(is_question), roles
        )

    def score(
        self, tree: Sequence[OracleWord], stretches: Sequence[Sequence[int]], order: Sequence[int]
    ) -> float:
        treelet = self.treelet(tree, stretches)
        total = sum(sign * self.weights.get(key, 0) for key, sign in treelet.features(order))
        if self.ngrams is None:
            return total
        is_root = tree[stretches[0][0]].head == 0
        return total + self.ngram_weight * self.gain(tree, [stretches[i] for i in order], is_root)

    def gain(
        self, tree: Sequence[OracleWord], stretches: Sequence[Sequence[int]], is_root: bool
    ) -> float:
        """What the model gains on the words after each seam, over what it says within stretches."""
        assert self.ngrams is not None
        words = [tree[w].form for stretch in stretches for w in stretch]
        known = set(self.ngrams.words[3:])
        words = [word if word in known else "<unk>" for word in words]
        line = ["<s>", *words, "</s>"] if is_root else words
        seams = set()
        place = 1 if is_root else 0
        for stretch in stretches:
            seams.add(place)
            place += len(stretch)
        if is_root:
            seams.add(place)
        else:
            seams.discard(0)
        total = 0.0
        for at in range(1, len(line)):
            context = line[max(0, at - 2) : at]
            if at in seams:
                total += self.log_prob(line[at], context) - self.log_prob(line[at], [])
            elif at - 1 in seams and at >= 2:
                total += self.log_prob(line[at], context) - self.log_prob(line[at], context[1:])
        return total

    def log_prob(self, word: str, context: Sequence[str]) -> float:
        """Back-off by the definition, from the model's n-grams."""
        assert self.ngrams is not None
        table = ngram_table(self.ngrams)
        context = tuple(context)
        if (*context, word) in table:
            return table[(*context, word)][0]
        backoff = table[context][1] if context in table else 0.0
        return backoff + self.log_prob(word, context[1:])

    def best_score(self, tree: Sequence[OracleWord]) -> float:
        """The sum over treelets of the best score of any permutation, where each daughter's phrase has
        the order of `tree`. So it does not matter which of two equally good orders a phrase has."""
        total = 0.0

        def phrase(head: int) -> list[int]:
            nonlocal total
            daughters = [w for w, word in enumerate(tree) if word.head == head + 1]
            stretches = [[head], *(phrase(daughter) for daughter in daughters)]
            if len(stretches) > 1:
                orders = permutations(range(len(stretches)))
                total += max(self.score(tree, stretches, order) for order in orders)
            return sorted(word for stretch in stretches for word in stretch)

        phrase(next(w for w, word in enumerate(tree) if word.head == 0))
        return total


def ngram_table(model: NgramModel) -> dict[tuple[str, ...], tuple[float, float]]:
    """Log probability and back-off weight of every n-gram, read from ARPA lines."""
    table = {}
    for depth, size in enumerate(model.sizes):
        for line in model.kernel.arpa_lines(depth, 0, size).decode().splitlines():
            columns = line.split("\t")
            backoff = float(columns[2]) if len(columns) > 2 else 0.0
            table[tuple(columns[1].split(" "))] = (float(columns[0]), backoff)
    return table


def weights_in(data: bytes) -> dict[int, int]:
    """The weights of linear_weights.h in native/."""
    numbers, number, shift = [], 0, 0
    for byte in data:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(number)
            number = shift = 0
    found, key = {}, 0
    for gap, zigzag in zip(numbers[::2], numbers[1::2], strict=True):
        key += gap
        found[key] = zigzag >> 1 if zigzag % 2 == 0 else -(zigzag + 1 >> 1)
    return found
