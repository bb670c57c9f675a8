"""Conditional distributions that back off, smoothed and packed into hash tables.

A *family* is P(outcome | context) with a chain of contexts, from the fullest to the empty one. Each
level is discounted absolutely (with the three discounts of Chen & Goodman 1999), and the mass goes to
the level below: p(x | c) = d(c, x) + w(c) p(x | shorter c), with a uniform distribution under the
last level. The kernel (head_driven_model.h in native/) reads d and w from two tables that the
families share, keyed by 32 bits of a hash: an unseen key is mistaken for a stored one about once in
10,000. d has 8 bits; w is computed from the rounded d and has 16, so that a distribution sums to 1
within one part in 1,000. Where the kernel needs all outcomes of a context, and there are few, they
are listed under the context.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
Numbers = NDArray[np.signedinteger[Any]]

HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
BUCKET_BITS = 16
EVENT_STEPS = 16.0  # steps of -log d in one unit of a natural logarithm
WEIGHT_STEPS = 4096.0


def mixed_hash(keys: Keys, values: Numbers | int) -> Keys:
    """Mixes one more number into a hash, as the kernel does."""
    with np.errstate(over="ignore"):
        keys = (keys ^ (np.asarray(values).astype(np.uint64) + np.uint64(1))) * HASH_MULTIPLIER
    return keys ^ (keys >> np.uint64(32))


def context_keys(family: int, level: int, columns: Sequence[Numbers], size: int) -> Keys:
    """The hash of each event's context at one level of a family."""
    keys = mixed_hash(mixed_hash(np.zeros(size, np.uint64), family), level)
    for column in columns:
        keys = mixed_hash(keys, column)
    return keys


@dataclass(frozen=True)
class BackoffLevel:
    """d by event key and w by context key, both with the full 64 bits; and for each event its outcome
    and the place of its context."""

    event_keys: Keys
    events: NDArray[np.floating[Any]]
    context_keys: Keys
    weights: NDArray[np.floating[Any]]
    outcomes: Numbers
    owners: Numbers


def estimate_levels(
    family: int,
    levels: Sequence[Sequence[Numbers]],
    outcomes: Numbers,
    *,
    continuation: bool,
    min_counts: Sequence[int],
) -> list[BackoffLevel]:
    """One `BackoffLevel` per level; `levels` go from the fullest context to the shortest.

    With `continuation` (Kneser & Ney 1995) a shorter context counts the fuller contexts in which the
    outcome was seen, not its occurrences. Events seen less than `min_counts[level]` times are not
    stored.
    """
    found = []
    counts = np.ones(len(outcomes), np.int64)
    alive = np.arange(len(outcomes))
    for level, columns in enumerate(levels):
        contexts = context_keys(family, level, [c[alive] for c in columns], len(alive))
        events = mixed_hash(contexts, outcomes[alive])
        keys, first, inverse = np.unique(events, return_index=True, return_inverse=True)
        met = np.bincount(inverse, counts, len(keys)).astype(np.int64)
        found.append(
            _discounted(keys, contexts[first], outcomes[alive][first], met, min_counts[level])
        )
        if continuation:
            alive, counts = alive[first], np.ones(len(first), np.int64)
    return found


def _discounted(
    events: Keys, contexts: Keys, outcomes: Numbers, counts: Numbers, min_count: int
) -> BackoffLevel:
    owners, owner = np.unique(contexts, return_inverse=True)
    totals = np.bincount(owner, counts, len(owners))
    d = (counts - discounts(counts)[np.minimum(counts, 3)]) / totals[owner]
    d = np.where(counts >= min_count, d, 0.0)
    steps = np.round(-np.log(np.maximum(d, 1e-9)) * EVENT_STEPS)
    kept = (d > 0) & (steps < 256)
    d = np.where(kept, np.exp(-steps / EVENT_STEPS), 0.0)
    sums = np.bincount(owner, d, len(owners))
    # Rounding up may bring a context to 1 or more; some mass must be left for unseen outcomes.
    scale = np.minimum(1.0, 0.995 / np.maximum(sums, 1e-12))
    d = np.exp(
        -np.ceil(-np.log(np.maximum(d * scale[owner], 1e-9)) * EVENT_STEPS - 1e-6) / EVENT_STEPS
    )
    d = np.where(kept, d, 0.0)
    weights = 1.0 - np.bincount(owner, d, len(owners))
    # A context without stored events is treated as unseen.
    told = np.bincount(owner, kept, len(owners)) > 0
    places = np.cumsum(told) - 1
    return BackoffLevel(
        events[kept], d[kept], owners[told], weights[told], outcomes[kept], places[owner[kept]]
    )


def discounts(counts: Numbers) -> NDArray[np.float64]:
    """The discounts of counts 1, 2, and 3 or more, by Chen & Goodman's formula; 0.5 where a count of
    counts that it needs is 0."""
    n = np.bincount(np.minimum(counts, 5), minlength=6)[:5].astype(float)
    if (n[1:5] == 0).any():
        return np.array([0.0, 0.5, 0.5, 0.5])
    y = n[1] / (n[1] + 2 * n[2])
    d = [k - (k + 1) * y * n[k + 1] / n[k] for k in (1, 2, 3)]
    return np.array([0.0, *np.clip(d, 0.05, [0.95, 1.9, 2.8])])


def packed_tables(estimates: Sequence[BackoffLevel]) -> dict[str, NDArray[Any]]:
    """The arrays of the two tables of events and contexts."""
    event_keys = np.concatenate([e.event_keys for e in estimates])
    events = np.concatenate([e.events for e in estimates])
    keys = np.concatenate([e.context_keys for e in estimates])
    weights = np.concatenate([e.weights for e in estimates])
    return _table("events", event_keys, _event_steps(events)) | _table(
        "contexts", keys, _weight_steps(weights)
    )


def packed_lists(estimates: Sequence[BackoffLevel]) -> dict[str, NDArray[Any]]:
    """The arrays of contexts with listed outcomes; context i has `lists.sizes[i]` of them."""
    keys = np.concatenate([e.context_keys for e in estimates])
    weights = np.concatenate([e.weights for e in estimates])
    starts = np.cumsum([0, *(len(e.context_keys) for e in estimates)])
    owners = np.concatenate([e.owners + start for e, start in zip(estimates, starts, strict=False)])
    table = _table("lists", keys, _weight_steps(weights))
    _, first = np.unique(keys >> np.uint64(32), return_index=True)
    places = np.full(len(keys), -1)
    places[first] = np.arange(len(first))
    places = places[owners]
    order = np.argsort(places, kind="stable")
    order = order[places[order] >= 0]
    events = np.concatenate([e.events for e in estimates])[order]
    outcomes = np.concatenate([e.outcomes for e in estimates])[order]
    return table | {
        "lists.sizes": np.bincount(places[order], minlength=len(first)).astype(np.uint16),
        "lists.outcomes": outcomes.astype(np.uint16),
        "lists.steps": _event_steps(events),
    }


def kernel_tables(arrays: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
    """All tables as input of the kernel; sizes become places."""
    found = []
    for name in ("events", "contexts", "lists"):
        starts = _ends(arrays[f"{name}.buckets"])
        found += [starts, arrays[f"{name}.keys"], arrays[f"{name}.values"]]
    return [*found, _ends(arrays["lists.sizes"]), arrays["lists.outcomes"], arrays["lists.steps"]]


def _ends(sizes: NDArray[np.uint16]) -> NDArray[np.uint32]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint32)


def _event_steps(events: NDArray[np.floating[Any]]) -> NDArray[np.uint8]:
    steps: NDArray[np.uint8] = np.round(-np.log(events) * EVENT_STEPS).astype(np.uint8)
    return steps


def _weight_steps(weights: NDArray[np.floating[Any]]) -> NDArray[np.uint16]:
    steps = np.round(-np.log(weights) * WEIGHT_STEPS).clip(0, 65535)
    narrow: NDArray[np.uint16] = steps.astype(np.uint16)
    return narrow


def _table(name: str, keys: Keys, values: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Values in order of their keys' upper 32 bits: the first 16 bits are the bucket (`buckets` has
    their sizes), the others are stored (`keys`)."""
    short, first = np.unique((keys >> np.uint64(32)).astype(np.uint32), return_index=True)
    buckets = short >> np.uint32(32 - BUCKET_BITS)
    return {
        f"{name}.buckets": np.bincount(buckets, minlength=1 << BUCKET_BITS).astype(np.uint16),
        f"{name}.keys": (short & np.uint32(0xFFFF)).astype(np.uint16),
        f"{name}.values": values[first],
    }
