"""Interpolated modified Kneser-Ney in plain Python, straight from its equations."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache

Ngram = tuple[str, ...]
FALLBACK = (0.5, 1.0, 1.5)


class KneserNey:
    """P(word | context) from sentences of words; `<s>` once before each, `</s>` once after."""

    def __init__(self, sentences: list[list[str]], order: int, min_count: int = 1) -> None:
        seen = Counter(word for sentence in sentences for word in sentence)
        self.order = order
        self.vocabulary = {"<unk>", "</s>", *(w for w, n in seen.items() if n >= min_count)}
        self.counts = [Counter[Ngram]() for _ in range(order)]
        raw = [Counter[Ngram]() for _ in range(order)]
        for sentence in sentences:
            if sentence:
                words = ["<s>", *map(self.known, sentence), "</s>"]
                for n in range(1, order + 1):
                    for end in range(max(n, 2), len(words) + 1):
                        raw[n - 1][tuple(words[end - n : end])] += 1
        for n in range(order):
            if n == order - 1:
                self.counts[n] = raw[n]
                continue
            # Every n-gram counts as often as there are different words before it.
            for longer in raw[n + 1]:
                self.counts[n][longer[1:]] += 1
            for ngram, count in raw[n].items():
                if ngram[0] == "<s>":
                    self.counts[n][ngram] = count
        self.discounts = [discounts(counter) for counter in self.counts]
        self.continuations: list[dict[Ngram, dict[str, int]]] = []
        for counter in self.counts:
            by_context: dict[Ngram, dict[str, int]] = defaultdict(dict)
            for ngram, count in counter.items():
                by_context[ngram[:-1]][ngram[-1]] = count
            self.continuations.append(by_context)
        self.prob = cache(self._prob)

    def known(self, word: str) -> str:
        return word if word in self.vocabulary and word != "</s>" else "<unk>"

    def _prob(self, word: str, context: Ngram) -> float:
        counts = self.continuations[len(context)].get(context)
        lower = self.prob(word, context[1:]) if context else 1 / len(self.vocabulary)
        if counts is None:
            return lower
        discount = (0.0, *self.discounts[len(context)])
        total = sum(counts.values())
        gamma = sum(discount[min(count, 3)] for count in counts.values()) / total
        count = counts.get(word, 0)
        return (count - discount[min(count, 3)]) / total + gamma * lower

    def sentence(self, words: list[str]) -> list[float]:
        """The probability of each word and of `</s>`."""
        path = ["<s>", *map(self.known, words), "</s>"]
        reach = self.order - 1
        return [self.prob(path[i], tuple(path[max(0, i - reach) : i])) for i in range(1, len(path))]


def discounts(counts: Counter[Ngram]) -> tuple[float, ...]:
    """For counts of 1, 2, 3 and more (Chen & Goodman 1998, equation 26)."""
    n = Counter(counts.values())
    if not (n[1] and n[2] and n[3]):
        return FALLBACK
    y = n[1] / (n[1] + 2 * n[2])
    found = tuple(c - (c + 1) * y * n[c + 1] / n[c] for c in (1, 2, 3))
    return found if all(0 < d < c for c, d in enumerate(found, 1)) else FALLBACK
