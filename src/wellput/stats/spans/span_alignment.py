"""The best alignment of the spans of several judges (Mathet, Widlöcher & Métivier 2015).

A *unitary alignment* has a place for each judge; it takes at most one span of each judge, and its other
places are empty. An alignment puts every span into exactly one unitary alignment. The *disorder* of a
unitary alignment is the mean, over all pairs of judges, of how different the two spans are: the
distance of their starts plus that of their ends, divided by the sum of their lengths, squared; plus 1
for two different categories. The difference is 1 where one or both places of the pair are empty. The
best alignment has the least sum of disorders. The paper's weights α and β and its difference Δ from an
empty place are 1, as in pygamma-agreement.

Spans that are far apart are never aligned, so the best alignment is found for each group of near spans
separately. With two judges it is a matching. With more it is a partition of the spans into sets, found
by dynamic programming in small groups and by an integer program in large ones. `Effort` counts the
steps of this before they are taken, and ends an alignment that would take too many.

`severity_alpha` says how far two judges give the same severity to spans that both marked. For this the
two judges' spans are paired (`overlapping_pairs`) so that the paired spans share the most characters.
Its α, which is not the weight above, is Krippendorff's nominal alpha over all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wellput.core.clusters import Places
from wellput.core.estimates import Estimate, ratios, undefined
from wellput.core.judgment import ErrorSpan
from wellput.core.metric import Floats
from wellput.stats.clusters import ClusteredItems, clustered_interval

MAX_STEPS_OF_ALIGNMENT = 100_000_000
"""The steps that one alignment may take, where the caller sets no other limit."""
STEPS_OF_ALIGNMENT = 5_000
"""Every alignment takes at least this many steps. A step is about 0.1 µs."""
STEPS_OF_COMPARED_PAIR = 2
STEPS_OF_NEAR_PAIR = 10
STEPS_OF_UNITARY = 250
STEPS_OF_PROGRAM = 50_000
"""The steps counted for each pair of spans that is compared, for each pair that may be aligned, for
each unitary alignment that is tried, and for each integer program."""
MAX_NODES = 1_000
"""The most nodes of the search tree of one integer program. Random spans need one node."""
MAX_SPANS_FOR_SETS = 8
"""Groups with more spans are solved as an integer program."""


MATCHING_UNIT = 2.0**-36
"""Matching computes with multiples of this, so that its sums are exact: SciPy's search may never end
where rounding makes two equal sums differ."""


class TooManyAlignments(Exception):
    """There are too many ways to align these spans. A caller may then align the spans of each pair of
    judges instead, for which there are fewer ways."""


class Effort:
    """The steps that alignments have taken, and the most they may take. The number of steps depends on
    the spans only, not on the machine."""

    __slots__ = ("max_steps", "steps")

    def __init__(self, max_steps: int) -> None:
        self.max_steps = max_steps
        self.steps = 0

    def spend(self, steps: int) -> None:
        """Counts steps that are about to be taken. Raises TooManyAlignments if they are too many; then
        they are not counted."""
        if self.steps + steps > self.max_steps:
            raise TooManyAlignments
        self.steps += steps


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


def aligned_disorders(spans: MarkedSpans, effort: Effort | None = None) -> Floats:
    """The disorder of the best alignment, distributed over the spans: each span gets the disorder of
    its unitary alignment, divided by the number of spans in it. The sum is the disorder of the whole
    alignment. Raises TooManyAlignments if this would take more steps than `effort` allows.

    >>> two = MarkedSpans(
    ...     np.array([0, 1, 1]), np.array([0.0, 0.0, 50.0]), np.array([10.0, 5.0, 60.0]),
    ...     np.array([0, 0, 0]), 2,
    ... )
    >>> aligned_disorders(two)  # (5 / 15)² for the first two, 1 for the last
    array([0.05555556, 0.05555556, 1.        ])
    """
    effort = effort or Effort(MAX_STEPS_OF_ALIGNMENT)
    effort.spend(STEPS_OF_ALIGNMENT)
    first, second, difference = _near_pairs(spans, effort)
    if spans.n_judges == 2:
        return _matched(spans, first, second, difference, effort)
    return _partitioned(spans, first, second, difference, effort)


def _max_difference(n_judges: int) -> float:
    """The largest difference that two spans in one unitary alignment of the best alignment can have:
    with a larger difference, a span would be better alone."""
    return n_judges * (n_judges - 1) / 2 + n_judges - 1


def _near_pairs(spans: MarkedSpans, effort: Effort) -> tuple[Places, Places, Floats]:
    """The pairs of spans of different judges that may be aligned (the places of both), and how
    different they are."""
    limit = _max_difference(spans.n_judges)
    order = np.argsort(spans.starts, kind="stable")
    starts, ends = spans.starts[order], spans.ends[order]
    lengths = ends - starts
    longest = float(lengths.max(initial=0.0))
    # Spans whose starts are further apart than this differ by more than `limit`.
    reach = np.searchsorted(starts, starts + math.sqrt(limit) * (lengths + longest), "right")
    counts = reach - np.arange(len(starts)) - 1
    effort.spend(STEPS_OF_COMPARED_PAIR * int(counts.sum()))
    left = np.repeat(np.arange(len(starts)), counts)
    offsets = np.arange(len(left)) - np.repeat(np.cumsum(counts) - counts, counts)
    right = left + 1 + offsets
    distances = np.abs(starts[left] - starts[right]) + np.abs(ends[left] - ends[right])
    left_span, right_span = order[left], order[right]
    difference = (distances / (lengths[left] + lengths[right])) ** 2
    difference += spans.categories[left_span] != spans.categories[right_span]
    is_near = (difference <= limit) & (spans.judges[left_span] != spans.judges[right_span])
    return left_span[is_near], right_span[is_near], difference[is_near]


def _matched(
    spans: MarkedSpans, first: Places, second: Places, difference: Floats, effort: Effort
) -> Floats:
    """The spans' disorders for two judges: each span is matched with one of the other judge, or with
    its own empty place."""
    disorders = np.ones(len(spans))
    is_useful = difference < 2  # two spans alone have a disorder of 1 each
    first, second, difference = first[is_useful], second[is_useful], difference[is_useful]
    if not len(first):
        return disorders
    # For each span, a path is searched through the spans near it and those near them.
    n_near = np.bincount(np.concatenate([first, second]))
    effort.spend(int(n_near @ n_near))
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    span_of_judge_0 = np.where(spans.judges[first] == 0, first, second)
    span_of_judge_1 = np.where(spans.judges[first] == 0, second, first)
    rows, row_of = np.unique(span_of_judge_0, return_inverse=True)
    columns, column_of = np.unique(span_of_judge_1, return_inverse=True)
    m, k = len(rows), len(columns)
    # Row m + j is the empty place of column j, and column k + i that of row i. Empty places that no
    # span needs are matched with each other. A full matching has m + k edges, so adding 1 to each
    # weight does not change which is best; it is added because a stored weight must not be 0.
    weights = np.concatenate([difference, np.ones(m), np.ones(k), np.zeros(len(difference))]) + 1.0
    from_row = np.concatenate([row_of, np.arange(m), m + np.arange(k), m + column_of])
    to_column = np.concatenate([column_of, k + np.arange(m), np.arange(k), k + row_of])
    graph = csr_array((weights, (from_row, to_column)), shape=(m + k, m + k))
    in_units = graph.copy()
    in_units.data = np.rint(graph.data / MATCHING_UNIT) * MATCHING_UNIT
    row, column = min_weight_full_bipartite_matching(in_units)
    is_pair = (row < m) & (column < k)
    row, column = row[is_pair], column[is_pair]
    half = (np.asarray(graph[row, column]).ravel() - 1.0) / 2
    disorders[rows[row]] = half
    disorders[columns[column]] = half
    return disorders


def _partitioned(
    spans: MarkedSpans, first: Places, second: Places, difference: Floats, effort: Effort
) -> Floats:
    """The spans' disorders for three judges or more."""
    disorders = np.ones(len(spans))
    effort.spend(STEPS_OF_NEAR_PAIR * len(first))
    if not len(first):
        return disorders
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    graph = csr_array((np.ones(len(first)), (first, second)), shape=(len(spans), len(spans)))
    _, groups = connected_components(graph, directed=False)
    near_of: dict[int, dict[int, float]] = {}
    for a, b, pair_difference in zip(
        first.tolist(), second.tolist(), difference.tolist(), strict=True
    ):
        near_of.setdefault(a, {})[b] = near_of.setdefault(b, {})[a] = pair_difference
    order = np.argsort(groups, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
        if len(members) < 2:
            continue
        group = members.tolist()
        if len(group) > MAX_SPANS_FOR_SETS:
            effort.spend(STEPS_OF_PROGRAM)
        candidates = list(_unitary_alignments(spans, group, near_of, effort))
        for chosen, disorder in _best_partition(group, candidates):
            disorders[list(chosen)] = disorder / len(chosen)
    return disorders


Unitary = tuple[tuple[int, ...], float]
"""The spans of a unitary alignment, and its disorder."""


def _best_partition(members: Sequence[int], candidates: Sequence[Unitary]) -> list[Unitary]:
    """Candidates with the least sum of disorders that contain every span of `members` once."""
    if len(members) > MAX_SPANS_FOR_SETS:
        return _by_integer_program(members, candidates)
    return _by_sets(members, candidates)


def _unitary_alignments(
    spans: MarkedSpans,
    members: Sequence[int],
    near_of: Mapping[int, Mapping[int, float]],
    effort: Effort,
) -> Iterator[Unitary]:
    """All unitary alignments of these spans that may be part of a best alignment; `near_of` has the
    near spans of each span, with the differences. One is left out if a span in it would be better
    alone: then each pair of this span would have the difference 1, and a further unitary alignment has
    a disorder of 1."""
    pairs = spans.n_judges * (spans.n_judges - 1) / 2
    for chosen, n_later in _sets_of_near(spans, members, near_of):
        # To list the larger sets, the n_later² / 2 pairs of later spans are compared, at a third of a
        # step each.
        effort.spend(STEPS_OF_UNITARY + n_later**2 // 6)
        within = [[near_of[a][b] for b in chosen if b != a] for a in chosen]
        if all(sum(differences) <= pairs + len(chosen) - 1 for differences in within):
            total_difference = sum(map(sum, within)) / 2
            n_empty = pairs - len(chosen) * (len(chosen) - 1) / 2  # pairs with an empty place
            yield chosen, (total_difference + n_empty) / pairs


def _sets_of_near(
    spans: MarkedSpans, members: Sequence[int], near_of: Mapping[int, Mapping[int, float]]
) -> Iterator[tuple[tuple[int, ...], int]]:
    """All sets of spans in which every two are near, each in the order of its judges; and how many
    spans of later judges are near all of the set. Two spans of the same judge are never near each
    other in `near_of`."""
    ordered = sorted(members, key=lambda member: int(spans.judges[member]))
    rank = {member: place for place, member in enumerate(ordered)}
    # Each set that is still to come, with the later spans that are near all of its spans.
    waiting: list[tuple[tuple[int, ...], list[int]]] = []
    for first in ordered:
        later = sorted(
            (other for other in near_of[first] if rank[other] > rank[first]), key=rank.__getitem__
        )
        waiting.append(((first,), later))
        while waiting:
            chosen, later = waiting.pop()
            yield chosen, len(later)
            for place in range(len(later) - 1, -1, -1):
                near = near_of[later[place]]
                waiting.append(
                    (
                        (*chosen, later[place]),
                        [other for other in later[place + 1 :] if other in near],
                    )
                )


def _by_sets(members: Sequence[int], candidates: Sequence[Unitary]) -> list[Unitary]:
    """The best partition, by dynamic programming: a set of spans is an integer with a bit for each
    span, and the best partition of every set that is reached is remembered."""
    bit_of = {member: 1 << place for place, member in enumerate(members)}
    # Candidates by their first span, which is the lowest bit.
    by_lowest_bit: dict[int, list[tuple[int, Unitary]]] = {}
    for unitary in candidates:
        mask = sum(bit_of[member] for member in unitary[0])
        by_lowest_bit.setdefault(mask & -mask, []).append((mask, unitary))
    best_of: dict[int, tuple[float, tuple[int, Unitary] | None]] = {0: (0.0, None)}

    def best(remaining: int) -> float:
        if remaining in best_of:
            return best_of[remaining][0]
        best_choice: tuple[float, tuple[int, Unitary] | None] = (math.inf, None)
        for mask, unitary in by_lowest_bit[remaining & -remaining]:
            if (
                mask & remaining == mask
                and (total := unitary[1] + best(remaining & ~mask)) < best_choice[0]
            ):
                best_choice = total, (mask, unitary)
        best_of[remaining] = best_choice
        return best_choice[0]

    remaining = (1 << len(members)) - 1
    best(remaining)
    chosen: list[Unitary] = []
    while (choice := best_of[remaining][1]) is not None:
        mask, unitary = choice
        chosen.append(unitary)
        remaining &= ~mask
    return chosen


def _by_integer_program(members: Sequence[int], candidates: Sequence[Unitary]) -> list[Unitary]:
    """The best partition, by an integer program."""
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
        options={"mip_rel_gap": 0.0, "node_limit": MAX_NODES},
    )
    if not solved.success:
        raise TooManyAlignments
    taken: NDArray[np.bool_] = solved.x > 0.5
    return [candidates[place] for place in np.flatnonzero(taken).tolist()]


def overlapping_pairs(
    first: Sequence[ErrorSpan], second: Sequence[ErrorSpan]
) -> list[tuple[ErrorSpan, ErrorSpan]]:
    """The pairs of a span of each judge that share the most characters in all; a span is in at most one
    pair. Pairs that share no character are left out.

    >>> a, b = ErrorSpan(0, 5, "minor"), ErrorSpan(3, 9, "major")
    >>> overlapping_pairs([a], [b, ErrorSpan(20, 30)]) == [(a, b)]
    True
    """
    # A span that says that something is missing has no characters.
    first_spans = [span for span in first if not span.is_missing]
    second_spans = [span for span in second if not span.is_missing]
    if not first_spans or not second_spans:
        return []
    a_start, a_end = np.array([(a.start, a.end) for a in first_spans]).T[:, :, None]
    b_start, b_end = np.array([(b.start, b.end) for b in second_spans]).T[:, None, :]
    shared = np.maximum(np.minimum(a_end, b_end) - np.maximum(a_start, b_start), 0)
    if not shared.any():
        return []
    from scipy.optimize import linear_sum_assignment  # imported late: SciPy takes long to load

    rows, columns = linear_sum_assignment(shared, maximize=True)
    return [
        (first_spans[row], second_spans[column])
        for row, column in zip(rows, columns, strict=True)
        if shared[row, column]
    ]


def coincidences(pairs: Sequence[tuple[str, str]], names: Sequence[str]) -> Floats:
    """How often each two severities are paired, counted in both orders: a table of names × names, as
    one row."""
    counts = np.zeros((len(names), len(names)))
    at = {name: place for place, name in enumerate(names)}
    for first, second in pairs:
        counts[at[first], at[second]] += 1
        counts[at[second], at[first]] += 1
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


def share_of_same_severity(rows: Floats) -> Floats:
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
