"""The head-driven model spelled out: every projective forest over every choice of tags, each with its
probability as the product of its choices."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wellput.language.models.backoff_tables import EVENT_STEPS, WEIGHT_STEPS
from wellput.language.models.function_tags import CLASS_NAMES

MASK = (1 << 64) - 1
LEFT, RIGHT, ROOT, NEXT_WORD, HEAD_WORD, LEFT_AFTER, RIGHT_AFTER = range(7)


def _key(*numbers: int) -> int:
    key = 0
    for number in numbers:
        key = ((key ^ (number + 1)) * 0x9E3779B97F4A7C15) & MASK
        key ^= key >> 32
    return key >> 32


class Oracle:
    def __init__(self, arrays: Mapping[str, NDArray[Any]], *, continuing: float) -> None:
        self.events = _table(arrays, "events", EVENT_STEPS)
        self.weights = _table(arrays, "contexts", WEIGHT_STEPS)
        self.list_weights = _table(arrays, "lists", WEIGHT_STEPS)
        self.lists = _lists(arrays)
        self.coarse = arrays["tags.coarse"].tolist()
        self.coarsest = arrays["tags.coarsest"].tolist()
        self.classes = arrays["tags.class"].tolist()
        self.n_words = len(arrays["words.unigrams"])
        self.head_share, self.after_share = (float(share) for share in arrays["shares"])
        self.continuing = continuing

    def analyses(
        self, words: Sequence[int], choices: Sequence[Sequence[int]]
    ) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], float]]:
        """(heads, tags, probability) of every forest."""
        forests = [heads for heads in _all_heads(len(words)) if _is_projective_forest(heads)]
        for tags in itertools.product(*choices):
            for heads in forests:
                yield heads, tags, self.probability(words, tags, heads)

    def probability(self, words: Sequence[int], tags: Sequence[int], heads: Sequence[int]) -> float:
        stop, nothing = len(self.classes), len(CLASS_NAMES)
        roots = heads.count(0)

        def before(number: int) -> int:
            return words[number - 2] if number not in firsts else 0

        firsts = beginnings(heads)
        p = (1 - self.continuing) * self.continuing ** (roots - 1)
        for place, (word, tag, head) in enumerate(zip(words, tags, heads, strict=True)):
            number = place + 1
            if head == 0:
                p *= self.backed_off(ROOT, [[]], tag, 1 / len(self.classes))
            p *= self._word(words, tags, place, head, is_first=number in firsts)
            mine = [m for m, h in enumerate(heads, start=1) if h == number]
            last = nothing
            for m in [m for m in mine if m < number]:
                p *= self.left(tag, last, tags[m - 1], before(_first_below(m, heads)))
                last = self.classes[tags[m - 1]]
            p *= self.left(tag, last, stop, before(number))
            last, reach = nothing, 0
            for m in [m for m in mine if m > number]:
                p *= self.right(tag, word, last, reach, tags[m - 1], words[number + reach - 1])
                last, reach = self.classes[tags[m - 1]], _last_below(m, heads) - number
            p *= self.right(tag, word, last, reach, stop, words[number + reach - 1])
        return p

    def left(self, tag: int, last: int, outcome: int, before: int) -> float:
        chain = [[tag, last], [self.coarse[tag], last], [self.coarsest[tag], last], []]
        p = self.backed_off(LEFT, chain, outcome, 1 / (len(self.classes) + 1))
        return self._after(LEFT_AFTER, tag, before, outcome, p)

    def right(self, tag: int, word: int, last: int, reach: int, outcome: int, before: int) -> float:
        far = 0 if reach == 0 else 1 if reach <= 2 else 2 if reach <= 6 else 3
        chain = [[tag, word, last], [tag, last, far], [self.coarse[tag], last, far]]
        chain += [[self.coarsest[tag], last], []]
        p = self.backed_off(RIGHT, chain, outcome, 1 / (len(self.classes) + 1))
        return self._after(RIGHT_AFTER, tag, before, outcome, p)

    def _after(self, family: int, tag: int, before: int, outcome: int, p: float) -> float:
        known = self.backed_off(family, [[self.coarsest[tag], before]], outcome, p)
        return (1 - self.after_share) * p + self.after_share * known

    def _word(
        self,
        words: Sequence[int],
        tags: Sequence[int],
        place: int,
        head: int,
        *,
        is_first: bool,
    ) -> float:
        word, tag = words[place], tags[place]
        before, before_that = [0, 0, *words][place + 1], [0, 0, *words][place]
        if is_first:
            before = before_that = 0
        plain = [[tag], [self.coarse[tag]], [self.coarsest[tag]], []]
        chain = [[tag, before, before_that], [tag, before], *plain]
        following = self.backed_off(NEXT_WORD, chain, word, 1 / self.n_words)
        if not 0 < head <= place:
            return following
        p = self.backed_off(NEXT_WORD, plain, word, 1 / self.n_words, first_level=2)
        chain = [[tag, words[head - 1]], [tag, self.coarse[tags[head - 1]]]]
        p = self.backed_off(HEAD_WORD, chain, word, p)
        return (1 - self.head_share) * following + self.head_share * p

    def backed_off(
        self,
        family: int,
        chain: Sequence[Sequence[int]],
        outcome: int,
        p: float,
        *,
        first_level: int = 0,
    ) -> float:
        for level, context in reversed(list(enumerate(chain, start=first_level))):
            key = (family, level, *context)
            if _key(*key) in self.lists:
                p *= self.list_weights[_key(*key)]
                p += self.lists[_key(*key)].get(outcome, 0.0)
            if _key(*key) in self.weights:
                p = p * self.weights[_key(*key)] + self.events.get(_key(*key, outcome), 0.0)
        return p


def _table(arrays: Mapping[str, NDArray[Any]], name: str, steps: float) -> dict[int, float]:
    values = np.exp(-arrays[f"{name}.values"].astype(float) / steps)
    return dict(zip(_keys(arrays, name), values.tolist(), strict=True))


def _keys(arrays: Mapping[str, NDArray[Any]], name: str) -> list[int]:
    sizes = arrays[f"{name}.buckets"].astype(np.int64)
    buckets = np.repeat(np.arange(len(sizes)), sizes)
    return [int(key) for key in (buckets << 16) + arrays[f"{name}.keys"]]


def _lists(arrays: Mapping[str, NDArray[Any]]) -> dict[int, dict[int, float]]:
    """By the key of a context the outcomes listed under it."""
    values = np.exp(-arrays["lists.steps"].astype(float) / EVENT_STEPS).tolist()
    events = iter(zip(arrays["lists.outcomes"].tolist(), values, strict=True))
    sizes = arrays["lists.sizes"].tolist()
    return {
        key: dict(itertools.islice(events, size))
        for key, size in zip(_keys(arrays, "lists"), sizes, strict=True)
    }


def _all_heads(n: int) -> Iterator[tuple[int, ...]]:
    return itertools.product(range(n + 1), repeat=n)


def _is_projective_forest(heads: Sequence[int]) -> bool:
    n = len(heads)
    for number in range(1, n + 1):
        above, steps = number, 0
        while above and steps <= n:
            above, steps = heads[above - 1], steps + 1
        if above:
            return False
    return all(
        min(number, head) <= heads[between - 1] <= max(number, head)
        for number, head in enumerate(heads, start=1)
        if head
        for between in range(min(number, head) + 1, max(number, head))
    )


def beginnings(heads: Sequence[int]) -> tuple[int, ...]:
    """The first word of each fragment."""
    return tuple(_first_below(m, heads) for m, head in enumerate(heads, start=1) if head == 0)


def _first_below(number: int, heads: Sequence[int]) -> int:
    below = [m for m, head in enumerate(heads, start=1) if head == number]
    return min([number, *(_first_below(m, heads) for m in below)])


def _last_below(number: int, heads: Sequence[int]) -> int:
    below = [m for m, head in enumerate(heads, start=1) if head == number]
    return max([number, *(_last_below(m, heads) for m in below)])


def log_sum(values: Sequence[float]) -> float:
    return math.log(math.fsum(values))
