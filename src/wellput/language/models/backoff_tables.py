"""Conditional distributions that back off, smoothed and packed into hash tables.

The head-driven parser (`head_driven.py`) uses these tables. A *family* is a distribution
P(outcome | context) with a chain of contexts, from the fullest to the empty one; each context of the
chain is a *level*. At each level the counts are discounted absolutely (with the three discounts of Chen
& Goodman 1999), and the probability that this frees goes to the level below:

    p(x | c) = d(c, x) + w(c) p(x | shorter c)

d is the discounted share of outcome x in context c, and w the weight of the shorter context. Under the
last level is a uniform distribution. The C++ code (head_driven_model.h in native/, called *the kernel*
below) reads d and w from two tables that the families share, by 32 bits of a hash; about one in 10,000
keys that are not stored is mistaken for a stored one. d is rounded to 8 bits; w is computed from the
rounded d and has 16 bits, so that a distribution sums to 1 within one part in 1,000. Where the kernel
needs all outcomes of a context, and these are few, they are listed under the context.

A pair of a context and an outcome is called an *event*.
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
# How many bits of a key choose its bucket in a hash table.
BUCKET_BITS = 16
EVENT_STEPS = 16.0  # -log d is stored in steps of 1/16, with the natural logarithm
WEIGHT_STEPS = 4096.0  # -log w is stored in steps of 1/4096
MAX_STORED_SUM = 0.995  # the largest sum of d in a context


def mixed_hash(keys: Keys, values: Numbers | int) -> Keys:
    """Mixes one more number into a hash, as the kernel does."""
    with np.errstate(over="ignore"):
        keys = (keys ^ (np.asarray(values).astype(np.uint64) + np.uint64(1))) * HASH_MULTIPLIER
    return keys ^ (keys >> np.uint64(32))


def context_keys(family: int, level: int, columns: Sequence[Numbers], size: int) -> Keys:
    """The hash of the context of each of `size` events at one level of a family. `columns` are the
    numbers that make up the contexts, an array for each, with an entry for each event."""
    keys = mixed_hash(mixed_hash(np.zeros(size, np.uint64), family), level)
    for column in columns:
        keys = mixed_hash(keys, column)
    return keys


@dataclass(frozen=True)
class BackoffLevel:
    """One level of a family. `shares` has d by `event_keys` and `weights` has w by `context_keys`,
    which have the full 64 bits of the hashes. `outcomes` has the outcome of each event, and `owners`
    the place of its context among `context_keys`."""

    event_keys: Keys
    shares: NDArray[np.floating[Any]]
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
    """The levels of a family, estimated from observations. `levels` has the columns of each context,
    from the fullest context to the shortest, and `outcomes` the outcome of each observation.

    With `continuation` (Kneser & Ney 1995) a shorter context counts the fuller contexts in which an
    outcome occurs, not its occurrences. Events that occur fewer than `min_counts[level]` times are not
    stored.
    """
    estimates = []
    counts = np.ones(len(outcomes), np.int64)
    counted = np.arange(len(outcomes))  # the observations that this level counts
    for level, columns in enumerate(levels):
        contexts = context_keys(family, level, [c[counted] for c in columns], len(counted))
        events = mixed_hash(contexts, outcomes[counted])
        keys, first, inverse = np.unique(events, return_index=True, return_inverse=True)
        event_counts = np.bincount(inverse, counts, len(keys)).astype(np.int64)
        estimates.append(
            _discounted(
                keys, contexts[first], outcomes[counted][first], event_counts, min_counts[level]
            )
        )
        if continuation:
            counted, counts = counted[first], np.ones(len(first), np.int64)
    return estimates


def _discounted(
    events: Keys, contexts: Keys, outcomes: Numbers, counts: Numbers, min_count: int
) -> BackoffLevel:
    """The level with these distinct events; each has its context, its outcome and its count."""
    # The distinct contexts, and for each event the place of its context among them.
    distinct, owner = np.unique(contexts, return_inverse=True)
    totals = np.bincount(owner, counts, len(distinct))
    d = (counts - discounts(counts)[np.minimum(counts, 3)]) / totals[owner]
    d = np.where(counts >= min_count, d, 0.0)
    steps = np.round(-np.log(np.maximum(d, 1e-9)) * EVENT_STEPS)
    kept = (d > 0) & (steps < 256)  # smaller shares do not fit into a byte
    d = np.where(kept, np.exp(-steps / EVENT_STEPS), 0.0)
    sums = np.bincount(owner, d, len(distinct))
    # Rounding can bring the sum of a context to 1 or more, but something must be left for outcomes that
    # do not occur in the context.
    scale = np.minimum(1.0, MAX_STORED_SUM / np.maximum(sums, 1e-12))
    # Rounded down, so that the sum stays below 1; 1e-6 keeps steps that are whole already.
    d = np.exp(
        -np.ceil(-np.log(np.maximum(d * scale[owner], 1e-9)) * EVENT_STEPS - 1e-6) / EVENT_STEPS
    )
    d = np.where(kept, d, 0.0)
    weights = 1.0 - np.bincount(owner, d, len(distinct))
    # A context without stored events is left out, as if it did not occur.
    has_events = np.bincount(owner, kept, len(distinct)) > 0
    places = np.cumsum(has_events) - 1
    return BackoffLevel(
        events[kept],
        d[kept],
        distinct[has_events],
        weights[has_events],
        outcomes[kept],
        places[owner[kept]],
    )


def discounts(counts: Numbers) -> NDArray[np.float64]:
    """The discounts of the counts 0 (no discount), 1, 2, and 3 or more, by the formula of Chen &
    Goodman, limited so that something of each count is left. It needs the number of events with each
    count from 1 to 4; where one of these numbers is 0, all three discounts are 0.5."""
    n = np.bincount(np.minimum(counts, 5), minlength=6)[:5].astype(float)
    if (n[1:5] == 0).any():
        return np.array([0.0, 0.5, 0.5, 0.5])
    y = n[1] / (n[1] + 2 * n[2])
    d = [k - (k + 1) * y * n[k + 1] / n[k] for k in (1, 2, 3)]
    return np.array([0.0, *np.clip(d, 0.05, [0.95, 1.9, 2.8])])


def packed_tables(estimates: Sequence[BackoffLevel]) -> dict[str, NDArray[Any]]:
    """The arrays of the two tables: d by event, and w by context."""
    event_keys = np.concatenate([e.event_keys for e in estimates])
    shares = np.concatenate([e.shares for e in estimates])
    keys = np.concatenate([e.context_keys for e in estimates])
    weights = np.concatenate([e.weights for e in estimates])
    return _table("events", event_keys, _event_steps(shares)) | _table(
        "contexts", keys, _weight_steps(weights)
    )


def packed_lists(estimates: Sequence[BackoffLevel]) -> dict[str, NDArray[Any]]:
    """The arrays of contexts whose outcomes are listed; context i has `lists.sizes[i]` outcomes."""
    keys = np.concatenate([e.context_keys for e in estimates])
    weights = np.concatenate([e.weights for e in estimates])
    starts = np.cumsum([0, *(len(e.context_keys) for e in estimates)])
    owners = np.concatenate([e.owners + start for e, start in zip(estimates, starts, strict=False)])
    table = _table("lists", keys, _weight_steps(weights))
    # Of contexts whose keys have the same upper 32 bits only the first is kept, as in `_table`.
    _, first = np.unique(keys >> np.uint64(32), return_index=True)
    list_of_context = np.full(len(keys), -1)
    list_of_context[first] = np.arange(len(first))
    list_of_event = list_of_context[owners]
    order = np.argsort(list_of_event, kind="stable")
    order = order[list_of_event[order] >= 0]
    shares = np.concatenate([e.shares for e in estimates])[order]
    outcomes = np.concatenate([e.outcomes for e in estimates])[order]
    return table | {
        "lists.sizes": np.bincount(list_of_event[order], minlength=len(first)).astype(np.uint16),
        "lists.outcomes": outcomes.astype(np.uint16),
        "lists.steps": _event_steps(shares),
    }


def kernel_tables(arrays: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
    """All tables as input of the kernel, which needs the place where each bucket or list begins instead
    of its size."""
    tables = []
    for name in ("events", "contexts", "lists"):
        starts = _starts(arrays[f"{name}.buckets"])
        tables += [starts, arrays[f"{name}.keys"], arrays[f"{name}.values"]]
    starts = _starts(arrays["lists.sizes"])
    return [*tables, starts, arrays["lists.outcomes"], arrays["lists.steps"]]


def _starts(sizes: NDArray[np.uint16]) -> NDArray[np.uint32]:
    """The place where each part begins, and the end of the last part."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint32)


def _event_steps(shares: NDArray[np.floating[Any]]) -> NDArray[np.uint8]:
    """The stored bytes of discounted shares d."""
    steps: NDArray[np.uint8] = np.round(-np.log(shares) * EVENT_STEPS).astype(np.uint8)
    return steps


def _weight_steps(weights: NDArray[np.floating[Any]]) -> NDArray[np.uint16]:
    """The stored numbers of weights w."""
    steps = np.round(-np.log(weights) * WEIGHT_STEPS).clip(0, 65535)
    narrow: NDArray[np.uint16] = steps.astype(np.uint16)
    return narrow


def _table(name: str, keys: Keys, values: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """A hash table: the values sorted by the upper 32 bits of their keys. Where these bits are equal,
    only the first value is kept. The first 16 of these bits are the bucket (`buckets` has the size of
    each); the other 16 bits are stored (`keys`)."""
    short, first = np.unique((keys >> np.uint64(32)).astype(np.uint32), return_index=True)
    buckets = short >> np.uint32(32 - BUCKET_BITS)
    return {
        f"{name}.buckets": np.bincount(buckets, minlength=1 << BUCKET_BITS).astype(np.uint16),
        f"{name}.keys": (short & np.uint32(0xFFFF)).astype(np.uint16),
        f"{name}.values": values[first],
    }
