"""Real AdaBoost and contexts in plain Python, to hold the kernels against."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, sqrt

MASK = (1 << 64) - 1
BOUNDARY = 0x9AE16A3B2F90404F
COLLOCATION, BAG = 1, 2


def mixed(h: int) -> int:
    h = ((h ^ (h >> 33)) * 0xFF51AFD7ED558CCD) & MASK
    h = ((h ^ (h >> 33)) * 0xC4CEB9FE1A85EC53) & MASK
    return h ^ (h >> 33)


def word_key(word: str) -> int:
    h = 0xCBF29CE484222325
    for byte in word.encode(errors="surrogatepass"):
        h = ((h ^ byte) * 0x100000001B3) & MASK
    return mixed(h)


def ngram_key(kind: int, place: int, keys: Sequence[int]) -> int:
    h = mixed(kind * 256 + place * 16 + len(keys))
    for i, key in enumerate(keys):
        h = (mixed(h ^ key) + i) & MASK
    return h >> 32


def context_keys(words: Sequence[str], first: int, last: int, bag_order: int) -> set[int]:
    """The features of the gap words[first:last]."""
    padded = [BOUNDARY, BOUNDARY, *map(word_key, words), BOUNDARY, BOUNDARY]
    near = [*padded[first : first + 2], *padded[last + 2 : last + 4]]
    found = {
        ngram_key(COLLOCATION, place, near[place : place + n])
        for n in range(1, 5)
        for place in range(5 - n)
    }
    rest = [word_key(word) for word in (*words[:first], *words[last:])]
    for n in range(1, bag_order + 1):
        found |= {ngram_key(BAG, 0, rest[i : i + n]) for i in range(len(rest) - n + 1)}
    return found


def normalizer(
    rows: Sequence[set[int]], labels: Sequence[int], weights: Sequence[float], feature: int
) -> float:
    """Z of the stump on a feature: twice the sum of √(W₊ W₋) over present and absent."""
    sums = {(has, label): 0.0 for has in (False, True) for label in (0, 1)}
    for row, label, weight in zip(rows, labels, weights, strict=True):
        sums[feature in row, label] += weight
    return 2 * sum(sqrt(sums[has, 0] * sums[has, 1]) for has in (False, True))


def reweighted(
    rows: Sequence[set[int]],
    labels: Sequence[int],
    weights: Sequence[float],
    stump: tuple[int, float, float],
) -> list[float]:
    feature, present, absent = stump
    new = [
        weight * exp(-(1 if label else -1) * (present if feature in row else absent))
        for row, label, weight in zip(rows, labels, weights, strict=True)
    ]
    return [weight / sum(new) for weight in new]


def votes(
    rows: Sequence[set[int]],
    labels: Sequence[int],
    weights: Sequence[float],
    feature: int,
    smoothing: float,
) -> tuple[float, float]:
    """½ ln (W₊ + ε) / (W₋ + ε) where the feature is present, and where it is not; ε = smoothing / n."""
    result = []
    for wanted in (True, False):
        sums = [smoothing / len(rows)] * 2
        for row, label, weight in zip(rows, labels, weights, strict=True):
            if (feature in row) == wanted:
                sums[label] += weight
        result.append(0.5 * log(sums[1] / sums[0]))
    return result[0], result[1]
