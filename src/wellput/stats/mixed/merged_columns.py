"""Fewer columns for the same model: a factor merged into its interaction with systems.

Every output belongs to one item, so the columns of "item" are sums of the columns of "item:system":
the equations of both need no more columns than there are outputs. An effect is written as θ times u:
θ² is the variance of the factor's effects in units of the residual variance, and all u have variance
1 (they are *spherical*). In these terms, an output's effect is b = θ_output u_output + θ_item u_item.
For the outputs of an item, b has the covariance θ_output² I + θ_item² J, where J is all ones. With
the square root R of this matrix, b = R u' for merged effects u', one for each output.

The columns of a model are the *outer* ones, those of `MergedColumns` the *inner* ones. A matrix T turns
u' into u without changing its length: u = T u'. No judgment depends on the directions of u that T does
not reach, so there the matrix of the equations is the identity. So the solution of the outer equations
C for a right-hand side x is T (T'C T)⁻¹ T'x + x − T T'x.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wellput._native import scale_blocks

Floats = NDArray[np.float64]
MIN_LEVELS_TO_MERGE = 100
"""With fewer levels, the dense equations are solved faster than columns are merged."""


@dataclass(frozen=True, eq=False)
class MergedPair:
    """A factor, such as "item" (its levels are *wholes*), and its interaction with systems, such as
    "item:system" (its levels are the *parts* of the wholes): names, and slices of the outer columns.

    `begins` has the place of the first part of each whole, and the number of parts at the end.
    """

    whole_name: str
    part_name: str
    wholes: slice
    parts: slice
    begins: NDArray[np.int64]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of parts of each whole."""
        return np.diff(self.begins)

    def sums(self, of_parts: Floats) -> Floats:
        """The sum over the parts of each whole."""
        return np.asarray(np.add.reduceat(of_parts, self.begins[:-1], axis=0))

    def repeated(self, of_wholes: Floats) -> Floats:
        """For each part, the value of its whole."""
        return np.repeat(of_wholes, self.sizes, axis=0)


def merged_pairs(
    names: Sequence[str],
    factors: Mapping[str, NDArray[np.int64]],
    places: Mapping[str, slice],
) -> list[MergedPair]:
    """The pairs that can be merged among these factors of ratings, where `factors` are each judgment's
    codes and `places` the outer columns. A pair whose parts are not sorted by their wholes is not
    merged."""
    pairs = []
    for name in names:
        other = f"{name}:system"
        if other not in names or places[name].stop - places[name].start < MIN_LEVELS_TO_MERGE:
            continue
        of_part = np.zeros(places[other].stop - places[other].start, np.int64)
        of_part[factors[other]] = factors[name]
        is_nested = bool((of_part[factors[other]] == factors[name]).all())
        if is_nested and (np.diff(of_part) >= 0).all():
            ends = np.cumsum(np.bincount(of_part))
            begins = np.concatenate([[0], ends]).astype(np.int64)
            pairs.append(MergedPair(name, other, places[name], places[other], begins))
    return pairs


class MergedColumns:
    """The inner columns of a model with `n_outer` columns. The first `n_absorbed` of them are absorbed
    (eliminated first, see `equations`); the others form the dense *core*.

    `set` takes the θ that R and T (see the top of this module) depend on. Arrays have a row for each
    column.
    """

    def __init__(self, pairs: Sequence[MergedPair], n_absorbed: int, n_outer: int) -> None:
        self.pairs = tuple(pairs)
        self.n_absorbed = n_absorbed
        kept = np.ones(n_outer, np.bool_)
        for pair in self.pairs:
            kept[pair.wholes] = False
        self._kept = kept
        self.n_inner = int(kept.sum())
        inner = np.cumsum(kept) - 1
        self._inner_parts = [
            slice(int(inner[pair.parts.start]), int(inner[pair.parts.stop - 1]) + 1)
            for pair in self.pairs
        ]
        self._roots = [(1.0, np.zeros(0))] * len(self.pairs)
        self._maps = [(np.zeros(0), np.zeros(0))] * len(self.pairs)

    def set(self, thetas: Mapping[str, float]) -> None:
        """Sets R = own · I + shared · J for each whole, and T: u_part = u' + to_part · S and
        u_whole = to_whole · S, where S is the sum of u' over the parts of a whole. `_roots` has the
        pair (own, shared) of each merged pair, `_maps` the pair (to_part, to_whole)."""
        self._roots, self._maps = [], []
        for pair in self.pairs:
            whole, part = thetas[pair.whole_name], thetas[pair.part_name]
            sizes = pair.sizes.astype(np.float64)
            # R stretches equal effects of all parts of a whole by this factor.
            stretches = np.sqrt(part**2 + sizes * whole**2)
            self._roots.append((part, (stretches - part) / sizes))
            if whole == part == 0.0:
                self._maps.append((np.zeros(len(sizes)), np.zeros(len(sizes))))
            else:
                self._maps.append(((part / stretches - 1) / sizes, whole / stretches))

    def gather(self, x: Floats) -> Floats:
        """Effects b of the outer columns (b = θ u) as effects of the inner columns: the effect of a
        whole is added to the effects of its parts."""
        if not self.pairs:
            return x
        inner = x[self._kept]
        for pair, place in zip(self.pairs, self._inner_parts, strict=True):
            inner[place] += pair.repeated(x[pair.wholes])
        return inner

    def gather_transposed(self, sums: Floats) -> Floats:
        """Sums over the judgments of each inner column as sums over those of each outer one."""
        if not self.pairs:
            return sums
        outer = self._spread(sums)
        for pair in self.pairs:
            outer[pair.wholes] = pair.sums(outer[pair.parts])
        return outer

    def scale(self, outer: Floats) -> Floats:
        """The scales of the inner columns, from those of the outer ones: 1 for the columns of pairs,
        which R scales."""
        if not self.pairs:
            return outer
        inner = outer[self._kept]
        for place in self._inner_parts:
            inner[place] = 1.0
        return inner

    def to_inner(self, x: Floats) -> Floats:
        """T'x."""
        if not self.pairs:
            return x
        merged = x[self._kept]
        for pair, place, (to_part, to_whole) in self._mapped():
            part = x[pair.parts]
            merged[place] += pair.repeated(_times(to_part, pair.sums(part)))
            merged[place] += pair.repeated(_times(to_whole, x[pair.wholes]))
        return merged

    def to_outer(self, u: Floats) -> Floats:
        """T u."""
        if not self.pairs:
            return u
        effects = self._spread(u)
        for pair, place, (to_part, to_whole) in self._mapped():
            sums = pair.sums(u[place])
            effects[pair.parts] += pair.repeated(_times(to_part, sums))
            effects[pair.wholes] = _times(to_whole, sums)
        return effects

    def root(self, x: Floats) -> None:
        """R x, in place."""
        for pair, place, (own, shared) in zip(
            self.pairs, self._inner_parts, self._roots, strict=True
        ):
            sums = pair.sums(x[place])
            x[place] *= own
            x[place] += pair.repeated(_times(shared, sums))

    def scale_core(self, core: Floats) -> None:
        """Replaces the lower triangle of a core X, to which the identity was added, by
        R (X − I) R + I."""
        if not self.pairs:
            return
        self._add_to_diagonal(core, -1.0)
        self.scale_both_sides(core)
        self._add_to_diagonal(core, 1.0)

    def scale_both_sides(self, x: Floats) -> None:
        """Replaces a matrix X of the core's columns by R X R. If X is the inverse of the core, R X R is
        the covariance of the effects b."""
        if self.pairs:
            scale_blocks(x, *self._blocks(len(x)))

    def core_diagonal(self, inverse: Floats) -> Floats:
        """The diagonal of the outer inverse, from the core's inverse; 0 at the absorbed columns."""
        diagonal = np.concatenate([np.zeros(self.n_absorbed), np.diag(inverse)])
        if not self.pairs:
            return diagonal
        diagonal = self._spread(diagonal)
        # The outer inverse is T (X − I) T' + I, where X is the core's inverse.
        for pair, place, (to_part, to_whole) in self._mapped():
            first = place.start - self.n_absorbed
            rows = pair_row_sums(inverse, first + pair.begins)
            totals = pair.sums(rows)
            diagonal[pair.parts] += pair.repeated(2 * to_part) * rows - pair.repeated(2 * to_part)
            diagonal[pair.parts] += pair.repeated(to_part**2 * (totals - pair.sizes))
            diagonal[pair.wholes] = 1 + to_whole**2 * (totals - pair.sizes)
        return diagonal

    def _mapped(self) -> zip[tuple[MergedPair, slice, tuple[Floats, Floats]]]:
        """Each merged pair with its inner columns and the two factors of T (see `set`)."""
        return zip(self.pairs, self._inner_parts, self._maps, strict=True)

    def _spread(self, inner: Floats) -> Floats:
        """The inner rows moved to their outer places, with 0 at the wholes of pairs."""
        outer = np.zeros((len(self._kept), *inner.shape[1:]))
        outer[self._kept] = inner
        return outer

    def _add_to_diagonal(self, core: Floats, value: float) -> None:
        for place in self._inner_parts:
            at = np.arange(place.start - self.n_absorbed, place.stop - self.n_absorbed)
            core[at, at] += value

    def _blocks(self, n_core: int) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Where the blocks of R begin, and the two numbers of each block (see `set`). A column outside
        of pairs is a block of its own."""
        is_begin = np.ones(n_core + 1, np.bool_)
        own, shared = np.ones(n_core), np.zeros(n_core)
        for pair, place, (own_of_pair, shared_of_pair) in zip(
            self.pairs, self._inner_parts, self._roots, strict=True
        ):
            first = place.start - self.n_absorbed
            is_begin[first : first + pair.begins[-1]] = False
            begins = first + pair.begins[:-1]
            is_begin[begins] = True
            own[begins], shared[begins] = own_of_pair, shared_of_pair
        begins = np.flatnonzero(is_begin)
        return begins, own[begins[:-1]], shared[begins[:-1]]


def pair_row_sums(inverse: Floats, begins: NDArray[np.int64]) -> Floats:
    """The sums of the rows of each block on the diagonal of a symmetric matrix, given by its lower
    triangle. Block b has the columns from `begins[b]` up to `begins[b + 1]`."""
    sizes = np.diff(begins)
    first, last = int(begins[0]), int(begins[-1])
    places = np.arange(first, last)
    within = places - np.repeat(begins[:-1], sizes)  # how many columns of the block come before
    sums: Floats = inverse[places, places]
    for back in range(1, int(sizes.max(initial=0))):
        rows = places[within >= back]
        entries = inverse[rows, rows - back]
        sums[rows - first] += entries
        sums[rows - back - first] += entries
    return sums


def _times(of_wholes: Floats, x: Floats) -> Floats:
    """The row (or the number) that `x` has for each whole, times the number of the whole."""
    return np.asarray((of_wholes * x.T).T)
