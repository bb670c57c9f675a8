"""An averaged perceptron in plain Python: as class_trainers.h and tagger.cpp in native/ compute it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

MASK = (1 << 64) - 1
GAMMA = 0x9E3779B97F4A7C15


def string_value(text: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in text:
        value = (value ^ byte) * 0x100000001B3 & MASK
    return value


def feature_key(*values: int) -> int:
    """Of a template's number and its values."""
    state = 0
    for value in values:
        state = ((state ^ value & MASK) + GAMMA) & MASK
        state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
        state ^= state >> 27
    return state >> 32


def mixed(z: int) -> int:
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def random_numbers(seed: int, number: int) -> Iterator[int]:
    """`Stream` of random_stream.h in native/."""
    state = mixed(mixed((seed + GAMMA) & MASK) + number & MASK)
    while True:
        state = state + GAMMA & MASK
        yield mixed(state)


def shuffle(things: list[int], numbers: Iterator[int]) -> None:
    for left in range(len(things), 1, -1):
        other = next(numbers) % left
        things[left - 1], things[other] = things[other], things[left - 1]


def rounded(value: float) -> int:
    """Half away from zero."""
    return int(abs(value) + 0.5) * (1 if value >= 0 else -1)


@dataclass
class Perceptron:
    """Weights by (feature, class); averages by adding every weight up after every decision."""

    min_updates: int = 1
    weights: dict[tuple[int, int], int] = field(default_factory=lambda: defaultdict(int))
    totals: dict[tuple[int, int], int] = field(default_factory=lambda: defaultdict(int))
    updates: dict[tuple[int, int], int] = field(default_factory=lambda: defaultdict(int))
    decisions: int = 0

    def scores(self, features: Sequence[int], classes: int) -> list[int]:
        return [
            sum(
                self.weights[key, cls]
                for key in features
                if self.updates[key, cls] >= self.min_updates
            )
            for cls in range(classes)
        ]

    def update(self, features: Sequence[int], cls: int, change: int) -> None:
        for key in features:
            self.weights[key, cls] += change
            self.updates[key, cls] += 1

    def tick(self) -> None:
        self.decisions += 1
        for pair, weight in self.weights.items():
            self.totals[pair] += weight

    def finished(self, unit: float) -> dict[tuple[int, int], int]:
        found = {
            pair: rounded(total / max(self.decisions, 1) / unit)
            for pair, total in self.totals.items()
            if self.updates[pair] >= self.min_updates
        }
        return {pair: weight for pair, weight in found.items() if weight}


def weights_in(data: bytes) -> dict[tuple[int, int], int]:
    """The weights that were written as bytes."""
    places = iter(data)

    def take() -> int:
        value = shift = 0
        for byte in places:
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
        raise StopIteration

    found: dict[tuple[int, int], int] = {}
    key = 0
    while True:
        try:
            key += take()
        except StopIteration:
            return found
        cls = 0
        for _ in range(take()):
            cls += take()
            zigzag = take()
            found[key, cls] = zigzag >> 1 if zigzag % 2 == 0 else -(zigzag + 1 >> 1)


def bytes_of(weights: dict[tuple[int, int], int]) -> bytes:
    """Small weights as bytes: keys, classes and weights below 64 take one byte each."""
    found = bytearray()
    last_key = 0
    for key in sorted({key for key, _ in weights}):
        row = sorted((cls, weight) for (own, cls), weight in weights.items() if own == key)
        found += bytes([key - last_key, len(row)])
        last_key, last_class = key, 0
        for cls, weight in row:
            found += bytes([cls - last_class, 2 * weight if weight >= 0 else -2 * weight - 1])
            last_class = cls
    return bytes(found)


@dataclass(frozen=True)
class Atoms:
    form: int = 1
    lower: int = 1
    suffixes: tuple[int, ...] = (1,) * 5
    prefixes: tuple[int, ...] = (1,) * 4
    shape: int = 1


def atoms_of(word: str) -> Atoms:
    lower = re.sub("[A-Z]", lambda m: m[0].lower(), word)
    lower = re.sub("[0-9]", "0", lower)
    return Atoms(
        value(word),
        value(lower),
        tuple(value(lower[max(len(lower) - n, 0) :]) for n in range(1, 6)),
        tuple(value(word[:n]) for n in range(1, 5)),
        value(shape_of(word)),
    )


def shape_of(word: str) -> str:
    kinds = (
        "X" if "A" <= c <= "Z" else "x" if "a" <= c <= "z" else "d" if "0" <= c <= "9" else c
        for c in word
    )
    kinds = ("u" if c >= "\x80" else c for c in kinds)
    collapsed = ""
    for kind in kinds:
        if not collapsed.endswith(kind):
            collapsed += kind
    return collapsed


def value(text: str) -> int:
    return string_value(text.encode(errors="surrogatepass"))


def tag_features(
    words: Sequence[Atoms], given: Sequence[int], i: int, tag: int, tag2: int
) -> list[int]:
    def at(place: int) -> Atoms:
        return words[place] if 0 <= place < len(words) else Atoms()

    word, left, left2, right, right2 = (at(i + step) for step in (0, -1, -2, 1, 2))
    templates: list[tuple[int, ...]] = [
        (),
        (word.form,),
        (word.lower,),
        *((suffix,) for suffix in word.suffixes),
        *((prefix,) for prefix in word.prefixes),
        (word.shape,),
        (word.shape, i == 0),
        (word.shape, left.shape, right.shape),
        (tag,),
        (tag, tag2),
        (tag, word.lower),
        (tag, word.suffixes[2]),
        (tag, left.lower),
        (tag, left.suffixes[1]),
        (tag, word.shape),
        (tag, tag2, word.lower),
        (left.lower,),
        (left2.lower,),
        (right.lower,),
        (right2.lower,),
        (left.suffixes[2],),
        (right.suffixes[2],),
        (left.shape,),
        (left.lower, word.lower),
        (word.lower, right.lower),
        (left.lower, right.lower),
        (left.suffixes[2], word.suffixes[2]),
        (left2.lower, left.lower),
        (right.lower, right2.lower),
    ]
    if given:
        templates += given_templates(words, given, i, tag, tag2)
    return [feature_key(number, *values) for number, values in enumerate(templates)]


def given_templates(
    words: Sequence[Atoms], given: Sequence[int], i: int, tag: int, tag2: int
) -> list[tuple[int, ...]]:
    def form(place: int) -> int:
        return words[place].lower if 0 <= place < len(words) else Atoms().lower

    around = {step: given[i + step] if 0 <= i + step < len(given) else 1 for step in range(-3, 4)}
    before2, before, own, next_, next2, next3 = (around[step] for step in range(-2, 4))
    word, left, right = form(i), form(i - 1), form(i + 1)
    return [
        *((value,) for value in around.values()),
        (before, own),
        (own, next_),
        (next_, next2),
        (before2, before, own),
        (before, own, next_),
        (own, next_, next2),
        (next_, next2, next3),
        (before2, before, own, next_),
        (before, own, next_, next2),
        (own, next_, next2, next3),
        (word, own),
        (word, before),
        (word, next_),
        (word, own, next_),
        (left, own),
        (own, right),
        (left, own, next_),
        (tag, own),
        (tag, own, next_),
        (tag, tag2, own),
        (tag, before, own),
    ]


def walk(
    words: Sequence[str], given: Sequence[str], decide: Callable[[int, list[int]], int]
) -> list[int]:
    """decide(place, features) says which tag the word gets."""
    atoms, values = [atoms_of(word) for word in words], [value(tag) for tag in given]
    tags = [-2, -1]
    for i in reversed(range(len(words))):
        tags.append(decide(i, tag_features(atoms, values, i, tags[-1], tags[-2])))
    return tags[:1:-1]


def train(
    sentences: Sequence[Sequence[str]],
    given: Sequence[Sequence[str]],
    tags: Sequence[Sequence[int]],
    *,
    classes: int,
    epochs: int,
    min_updates: int,
    seed: int,
) -> Perceptron:
    perceptron = Perceptron(min_updates)
    order = list(range(len(sentences)))
    for epoch in range(epochs):
        shuffle(order, random_numbers(seed, epoch))
        for s in order:

            def decide(i: int, features: list[int], gold: Sequence[int] = tags[s]) -> int:
                scores = perceptron.scores(features, classes)
                guess = scores.index(max(scores))
                if guess != gold[i]:
                    perceptron.update(features, gold[i], 1)
                    perceptron.update(features, guess, -1)
                perceptron.tick()
                return guess

            walk(sentences[s], given[s], decide)
    return perceptron
