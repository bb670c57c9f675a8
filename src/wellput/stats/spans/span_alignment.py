"""The best alignment of the spans of several judges (Mathet, Widlöcher & Métivier 2015).

A *unitary alignment* takes at most one span of each judge; its other places are empty. An alignment
puts every span into exactly one of them. The disorder of a unitary alignment is the mean, over all
pairs of judges, of how different the two spans are: the square of the differences of their ends
divided by the sum of their lengths, plus 1 for two different categories; 1 where a place of the pair is
empty, or both are. The best alignment has the least sum of disorders. α, β and the empty place's Δ are
1, as in pygamma-agreement.

Spans that are far apart are never aligned, so the alignment is found for each group of near spans
alone. With two judges it is a matching. With more it is a set partition: small groups by dynamic
programming over sets of spans, large ones as an integer program.

`severity_alpha` says how far two judges give the spans that both marked the same severity. For this the
two judges' spans are paired (`overlapping_pairs`) so that the paired spans share the most characters. α
is Krippendorff's, for names, over all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from wellput.core.clusters import Places
from wellput.core.estimates import Estimate, ratios, undefined
from wellput.core.judgment import ErrorSpan
from wellput.core.metric import Floats
from wellput.stats.clusters import ClusteredItems, clustered_interval

MAX_UNITARY_ALIGNMENTS = 100_000
"""With many judges, or many spans at one place, there are too many to try."""
MAX_SPANS_FOR_SETS = 8
"""Groups with more spans are solved as an integer program."""


class TooManyAlignments(Exception):
    """The spans of all judges cannot be aligned at once; those of each pair of judges can."""


@dataclass(frozen=True, slots=True, eq=False)
class MarkedSpans:
    """Spans on one line of characters: the judge of each (from 0 on), its start and end, its category.
    A judge may have none."""

    judges: Places
    starts: Floats
    ends: Floats
    categories: Places
    n_judges: int

    def __len__(self) -> int:
        return len(self.judges)


def aligned_disorders(spans: MarkedSpans) -> Floats:
    """The disorder of the best alignment, given to the spans: each has the disorder of its unitary
    alignment, divided by the number of spans in it. The sum is that of the alignment. Raises
    TooManyAlignments, never for two judges.

    >>> two = MarkedSpans(
    ...     np.array([0, 1, 1]), np.array([0.0, 0.0, 50.0]), np.array([10.0, 5.0, 60.0]),
    ...     np.array([0, 0, 0]), 2,
    ... )
    >>> aligned_disorders(two)  # (5 / 15)² for the first two, 1 for the last
    array([0.05555556, 0.05555556, 1.        ])
    """
    first, second, difference = _near_pairs(spans)
    if spans.n_judges == 2:
        return _matched(spans, first, second, difference)
    return _partitioned(spans, first, second, difference)


def _most_apart(n_judges: int) -> float:
    """The largest difference of two spans in a unitary alignment of the best alignment: a span with
    a larger one is better alone."""
    return n_judges * (n_judges - 1) / 2 + n_judges - 1


def _near_pairs(spans: MarkedSpans) -> tuple[Places, Places, Floats]:
    """The pairs of spans of different judges that may be aligned, and their differences."""
    limit = _most_apart(spans.n_judges)
    order = np.argsort(spans.starts, kind="stable")
    starts, ends = spans.starts[order], spans.ends[order]
    lengths = ends - starts
    longest = float(lengths.max(initial=0.0))
    reach = np.searchsorted(starts, starts + math.sqrt(limit) * (lengths + longest), "right")
    counts = reach - np.arange(len(starts)) - 1
    left = np.repeat(np.arange(len(starts)), counts)
    offsets = np.arange(len(left)) - np.repeat(np.cumsum(counts) - counts, counts)
    right = left + 1 + offsets
    apart = np.abs(starts[left] - starts[right]) + np.abs(ends[left] - ends[right])
    left_span, right_span = order[left], order[right]
    difference = (apart / (lengths[left] + lengths[right])) ** 2
    difference += spans.categories[left_span] != spans.categories[right_span]
    kept = (difference <= limit) & (spans.judges[left_span] != spans.judges[right_span])
    return left_span[kept], right_span[kept], difference[kept]


def _matched(spans: MarkedSpans, first: Places, second: Places, difference: Floats) -> Floats:
    """Two judges: each span is matched with one of the other judge, or with its own empty place."""
    found = np.ones(len(spans))
    is_worth = difference < 2  # two spans alone have a disorder of 1 each
    first, second, difference = first[is_worth], second[is_worth], difference[is_worth]
    if not len(first):
        return found
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    of_first = np.where(spans.judges[first] == 0, first, second)
    of_second = np.where(spans.judges[first] == 0, second, first)
    rows, row_of = np.unique(of_first, return_inverse=True)
    columns, column_of = np.unique(of_second, return_inverse=True)
    m, k = len(rows), len(columns)
    # Row m + j is the empty place of column j, and column k + i that of row i. Two empty places left
    # over are matched with each other. A full matching has m + k edges: 1 on each changes nothing, and
    # a stored weight must not be 0.
    weights = np.concatenate([difference, np.ones(m), np.ones(k), np.zeros(len(difference))]) + 1.0
    from_row = np.concatenate([row_of, np.arange(m), m + np.arange(k), m + column_of])
    to_column = np.concatenate([column_of, k + np.arange(m), np.arange(k), k + row_of])
    graph = csr_array((weights, (from_row, to_column)), shape=(m + k, m + k))
    row, column = min_weight_full_bipartite_matching(graph)
    is_pair = (row < m) & (column < k)
    row, column = row[is_pair], column[is_pair]
    half = (np.asarray(graph[row, column]).ravel() - 1.0) / 2
    found[rows[row]] = half
    found[columns[column]] = half
    return found


def _partitioned(spans: MarkedSpans, first: Places, second: Places, difference: Floats) -> Floats:
    """Three judges or more."""
    found = np.ones(len(spans))
    if not len(first):
        return found
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    graph = csr_array((np.ones(len(first)), (first, second)), shape=(len(spans), len(spans)))
    _, groups = connected_components(graph, directed=False)
    between: dict[tuple[int, int], float] = {}
    for a, b, own in zip(first.tolist(), second.tolist(), difference.tolist(), strict=True):
        between[a, b] = between[b, a] = own
    order = np.argsort(groups, kind="stable")
    room = MAX_UNITARY_ALIGNMENTS
    for members in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
        if len(members) < 2:
            continue
        near = members.tolist()
        candidates = list(islice(_unitary_alignments(spans, near, between), room + 1))
        room -= len(candidates)
        if room < 0:
            raise TooManyAlignments
        for chosen, disorder in _best_partition(near, candidates):
            found[list(chosen)] = disorder / len(chosen)
    return found


Unitary = tuple[tuple[int, ...], float]
"""The spans of a unitary alignment, and its disorder."""


def _best_partition(members: Sequence[int], candidates: Sequence[Unitary]) -> list[Unitary]:
    if len(members) > MAX_SPANS_FOR_SETS:
        return _by_integer_program(members, candidates)
    return _by_sets(members, candidates)


def _unitary_alignments(
    spans: MarkedSpans, members: Sequence[int], between: dict[tuple[int, int], float]
) -> Iterator[Unitary]:
    """All that may be in a best alignment. One is left out where a span in it would be better alone:
    then its own pairs would be 1 each, and a unitary alignment with a disorder of 1 is added."""
    pairs = spans.n_judges * (spans.n_judges - 1) / 2
    by_judge: dict[int, list[int]] = {}
    for member in members:
        by_judge.setdefault(int(spans.judges[member]), []).append(member)
    judges = sorted(by_judge)

    def extended(chosen: tuple[int, ...], place: int) -> Iterator[tuple[int, ...]]:
        if chosen:
            yield chosen
        for later in range(place, len(judges)):
            for member in by_judge[judges[later]]:
                if all((member, other) in between for other in chosen):
                    yield from extended((*chosen, member), later + 1)

    for tried, chosen in enumerate(extended((), 0)):
        if tried > MAX_UNITARY_ALIGNMENTS:
            raise TooManyAlignments
        within = [[between[a, b] for b in chosen if b != a] for a in chosen]
        if all(sum(own) <= pairs + len(chosen) - 1 for own in within):
            inside = sum(map(sum, within)) / 2
            empty = pairs - len(chosen) * (len(chosen) - 1) / 2
            yield chosen, (inside + empty) / pairs


def _by_sets(members: Sequence[int], candidates: Sequence[Unitary]) -> list[Unitary]:
    """The cheapest partition, by the best partition of every set of spans that is met."""
    bit_of = {member: 1 << place for place, member in enumerate(members)}
    by_first: dict[int, list[tuple[int, Unitary]]] = {}
    for one in candidates:
        mask = sum(bit_of[member] for member in one[0])
        by_first.setdefault(mask & -mask, []).append((mask, one))
    known: dict[int, tuple[float, tuple[int, Unitary] | None]] = {0: (0.0, None)}

    def best(rest: int) -> float:
        if rest in known:
            return known[rest][0]
        found: tuple[float, tuple[int, Unitary] | None] = (math.inf, None)
        for mask, one in by_first[rest & -rest]:
            if mask & rest == mask and (total := one[1] + best(rest & ~mask)) < found[0]:
                found = total, (mask, one)
        known[rest] = found
        return found[0]

    rest = (1 << len(members)) - 1
    best(rest)
    chosen: list[Unitary] = []
    while (step := known[rest][1]) is not None:
        chosen.append(step[1])
        rest &= ~step[0]
    return chosen


def _by_integer_program(members: Sequence[int], candidates: Sequence[Unitary]) -> list[Unitary]:
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csc_array

    row_of = {member: row for row, member in enumerate(members)}
    rows = [row_of[member] for chosen, _ in candidates for member in chosen]
    columns = [place for place, (chosen, _) in enumerate(candidates) for _ in chosen]
    cover = csc_array((np.ones(len(rows)), (rows, columns)), shape=(len(members), len(candidates)))
    solved = milp(
        np.array([disorder for _, disorder in candidates]),
        constraints=LinearConstraint(cover, 1.0, 1.0),
        integrality=np.ones(len(candidates)),
        bounds=Bounds(0.0, 1.0),
        options={"mip_rel_gap": 0.0},
    )
    taken: NDArray[np.bool_] = solved.x > 0.5
    return [candidates[place] for place in np.flatnonzero(taken).tolist()]


def overlapping_pairs(
    first: Sequence[ErrorSpan], second: Sequence[ErrorSpan]
) -> list[tuple[ErrorSpan, ErrorSpan]]:
    """The spans paired, without those that share no character with their partner.

    >>> a, b = ErrorSpan(0, 5, "minor"), ErrorSpan(3, 9, "major")
    >>> overlapping_pairs([a], [b, ErrorSpan(20, 30)]) == [(a, b)]
    True
    """
    own = [span for span in first if not span.is_missing]
    others = [span for span in second if not span.is_missing]
    if not own or not others:
        return []
    shared = np.array(
        [[max(0, min(a.end, b.end) - max(a.start, b.start)) for b in others] for a in own]
    )
    if not shared.any():
        return []
    from scipy.optimize import linear_sum_assignment  # imported late: SciPy takes long to load

    rows, columns = linear_sum_assignment(shared, maximize=True)
    return [
        (own[row], others[column])
        for row, column in zip(rows, columns, strict=True)
        if shared[row, column]
    ]


def coincidences(pairs: Sequence[tuple[str, str]], names: Sequence[str]) -> Floats:
    """How often two severities meet, both ways round, as a row: names × names."""
    counts = np.zeros((len(names), len(names)))
    at = {name: place for place, name in enumerate(names)}
    for one, other in pairs:
        counts[at[one], at[other]] += 1
        counts[at[other], at[one]] += 1
    return counts.ravel()


def nominal_alpha(rows: Floats) -> Floats:
    """Krippendorff's α from summed coincidences, (..., names²) -> (...); NaN where all are the same."""
    size = round(rows.shape[-1] ** 0.5)
    table = rows.reshape(*rows.shape[:-1], size, size)
    marginals = table.sum(axis=-1)
    n = marginals.sum(axis=-1)
    unlike = n - np.trace(table, axis1=-2, axis2=-1)
    by_chance = n**2 - (marginals**2).sum(axis=-1)
    return 1.0 - ratios(unlike * (n - 1), by_chance)


def same_share(rows: Floats) -> Floats:
    """The share of pairs with the same severity."""
    size = round(rows.shape[-1] ** 0.5)
    table = rows.reshape(*rows.shape[:-1], size, size)
    return ratios(np.trace(table, axis1=-2, axis2=-1), table.sum(axis=(-1, -2)))


def severity_alpha(rows: Floats, clusters: ClusteredItems, *, confidence: float = 0.95) -> Estimate:
    """α from the coincidences of each item, with its interval for other clusters of items."""
    if not np.isfinite(nominal_alpha(rows.sum(axis=0))):
        return undefined("no two severities can be compared", n=len(rows))
    return clustered_interval(
        rows, nominal_alpha, clusters, confidence=confidence, bounds=(None, 1.0)
    )
