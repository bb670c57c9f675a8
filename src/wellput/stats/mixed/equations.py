"""The design of a mixed model of judgments, and the solution of its equations.

A judgment has a fixed effect of its system, fixed effects of covariates, and one random intercept
of each *factor*: a judge, an item, a document, or one of these with a system ("judge:system"). The
values of a factor, such as the single items, are its *levels*; each has a column in the equations. A
choice between two systems has each effect twice, with opposite signs.

The columns of items and documents (or of judges, if there are more of them) are *absorbed*, which means
eliminated one by one, by the *kernel*, native code for sparse equations. The other columns, with the
fixed effects last, form the dense *core*. With very many systems, all effects with a system are
absorbed instead, because those of different systems do not occur in the same judgment.

Random effects are spherical as in lme4 (Bates et al. 2015): an effect is its factor's θ, the standard
deviation in units of the residual's, times a column's solution, so that θ = 0 needs no special case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, solve_triangular

from wellput._native import MixedEquations
from wellput.core.errors import InputError
from wellput.stats.blas_threads import one_blas_thread
from wellput.stats.mixed.merged_columns import MergedColumns, merged_pairs

Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int64]

ITEM_SIDE = ("item:system", "item", "document:system", "document")
JUDGE_SIDE = ("judge:system", "judge")
"""The factors of items and of judges. Usually the side with more levels is absorbed, in this order."""
CONFOUNDED_SHARE = 1e-9
"""If less than this share of a column's variance is not explained by the others, it is a combination of
them."""
MAX_CORE_COLUMNS = 10_000
"""A core of 10,000 columns takes 0.8 GB and about 10 s for each evaluation of the likelihood."""
MIN_CORE_TO_SPLIT = 500
"""With fewer core columns it does not matter much what is absorbed."""
KERNEL_COST = 75
"""How long one arithmetic step of the kernel takes, as a multiple of LAPACK's on dense matrices."""
MAX_SINGLE_SHARE = 0.9
"""If a factor has more levels than this share of the judgments, too few levels occur twice to estimate
their variance."""


@dataclass(frozen=True, eq=False)
class MixedDesign:
    """What was judged by whom: integer codes from 0 without gaps, one row for each judgment.

    `systems` and every array of `factors` have shape (n,) for ratings and (n, 2) for choices
    between two systems; `covariates` has shape (n, c), differences between the two for choices.
    Covariates are taken as they are: where they have mean 0, a system's effect is its mean at the
    average covariates.
    """

    systems: Codes
    factors: Mapping[str, Codes]
    covariates: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    def __post_init__(self) -> None:
        object.__setattr__(self, "systems", np.asarray(self.systems, np.int64))
        factors = {name: np.asarray(codes, np.int64) for name, codes in self.factors.items()}
        object.__setattr__(self, "factors", factors)
        covariates = np.asarray(self.covariates, np.float64)
        if not covariates.size:
            covariates = np.zeros((len(self.systems), 0))
        object.__setattr__(self, "covariates", covariates)
        for name, codes in {"system": self.systems, **factors}.items():
            if codes.shape != self.systems.shape:
                raise InputError(f"factor {name} needs one code for each judgment")
            if not len(codes):
                raise InputError("there are no judgments")
            counts = np.bincount(codes.ravel()) if codes.min() >= 0 else np.zeros(1)
            if not counts.all():
                raise InputError(f"the codes of factor {name} are not 0, 1, 2, … without gaps")
        if len(covariates) != len(self.systems) or not np.isfinite(covariates).all():
            raise InputError("covariates need one finite number for each judgment")

    def __len__(self) -> int:
        return len(self.systems)

    @property
    def is_choice(self) -> bool:
        return self.systems.ndim == 2

    @property
    def n_systems(self) -> int:
        return int(self.systems.max()) + 1

    def only(self, names: tuple[str, ...]) -> MixedDesign:
        """The same judgments with these factors only."""
        factors = {name: codes for name, codes in self.factors.items() if name in names}
        return MixedDesign(self.systems, factors, self.covariates)

    def rows(self, chosen: NDArray[np.bool_]) -> MixedDesign:
        """The design of the chosen judgments, the factors' codes renumbered; systems keep theirs."""
        factors = {name: renumbered(codes[chosen]) for name, codes in self.factors.items()}
        return MixedDesign(self.systems[chosen], factors, self.covariates[chosen])


def renumbered(codes: Codes) -> Codes:
    """Codes without gaps, in the same order."""
    flat = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    return flat.reshape(codes.shape)


def crossed_codes(first: Codes, second: Codes) -> Codes:
    """The codes of a factor such as "judge:system": a level for each pair that occurs."""
    return renumbered(first * (int(second.max()) + 1) + second)


class MixedModel:
    """The equations of a design: `factor` them at some θ and weights, then ask for solutions and
    inverses, which use the latest factorization.

    *Outer* columns are, in this order, those of the absorbed factors, of the other factors, of systems
    (without the first if `fixes_first_system`) and of covariates. *Inner* columns are the ones that the
    kernel computes with: there, `MergedColumns` has replaced two factors by one where this is possible.
    """

    def __init__(self, design: MixedDesign, *, fixes_first_system: bool = False) -> None:
        self.design = design
        self.fixes_first_system = fixes_first_system
        absorbed, others = _absorbed_and_others(design)
        self.names = (*absorbed, *others)
        sizes = [int(design.factors[name].max()) + 1 for name in self.names]
        ends = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        self.places = {
            name: slice(int(ends[k]), int(ends[k + 1])) for k, name in enumerate(self.names)
        }
        self.n_absorbed = int(ends[len(absorbed)])
        self.n_random = int(ends[-1])
        self.n_fixed = design.n_systems - fixes_first_system + design.covariates.shape[1]
        self.n_columns = self.n_random + self.n_fixed
        self.n_core = self.n_columns - self.n_absorbed
        if self.n_core > MAX_CORE_COLUMNS:
            raise InputError(
                f"the model has {self.n_core} effects that cannot be absorbed, at most "
                f"{MAX_CORE_COLUMNS} can be fitted: leave out a random effect, such as judge:system"
            )
        pairs = () if design.is_choice else merged_pairs(others, design.factors, self.places)
        self._merged = MergedColumns(pairs, self.n_absorbed, self.n_columns)
        self._n_inner = self._merged.n_inner
        self._n_inner_random = self._n_inner - self.n_fixed
        columns, values = self._rows()
        self._kernel = MixedEquations(
            columns, values, self.n_absorbed, self._n_inner_random, self._n_inner
        )
        self._core = np.zeros((0, 0))

    def _rows(self) -> tuple[NDArray[np.int32], Floats]:
        """The numbers of each judgment's inner columns that are not 0, and its values there."""
        design, n = self.design, len(self.design)
        signs = np.array([1.0, -1.0]) if design.is_choice else np.array([1.0])
        merged = {pair.whole_name for pair in self._merged.pairs}
        columns, values = [], []
        first = 0
        for name, place in self.places.items():
            if name not in merged:
                columns.append(design.factors[name].reshape(n, -1) + first)
                values.append(np.broadcast_to(signs, (n, len(signs))))
                first += place.stop - place.start
        systems = design.systems.reshape(n, -1) - self.fixes_first_system
        columns.append(first + systems.clip(0))
        values.append(np.where(systems < 0, 0.0, signs))
        n_covariates = design.covariates.shape[1]
        last = np.arange(self._n_inner - n_covariates, self._n_inner)
        columns.append(np.broadcast_to(last, (n, n_covariates)))
        values.append(design.covariates)
        return (
            np.ascontiguousarray(np.concatenate(columns, axis=1), np.int32),
            np.ascontiguousarray(np.concatenate(values, axis=1)),
        )

    def fixed_matrix(self) -> Floats:
        """The columns of fixed effects (n, p) as a dense matrix."""
        return self.times(np.eye(self.n_columns, self.n_fixed, -self.n_random))

    def check_fixed(self) -> None:
        """Raises InputError if some fixed effects are a combination of others."""
        fixed = self.fixed_matrix()
        gram = fixed.T @ fixed
        unit = np.sqrt(np.diag(gram))
        if not unit.all() or np.linalg.eigvalsh(gram / np.outer(unit, unit))[0] < CONFOUNDED_SHARE:
            raise InputError(
                "the covariates cannot be distinguished from the systems or from one another: "
                "leave one out"
            )

    def scale(self, thetas: Mapping[str, float]) -> Floats:
        """θ of each column; 1 for fixed effects."""
        scale = np.ones(self.n_columns)
        for name, place in self.places.items():
            scale[place] = thetas[name]
        return scale

    def times(self, x: Floats) -> Floats:
        """The design matrix times x (columns,) or (columns, k), not scaled."""
        inner = self._merged.gather(x.reshape(len(x), -1))
        product = self._kernel.multiply(np.ascontiguousarray(inner))
        return product.reshape(len(self.design), *x.shape[1:])

    def transposed_times(self, v: Floats) -> Floats:
        """The transposed design matrix times v (n,) or (n, k), not scaled."""
        product = self._kernel.multiply_transposed(np.ascontiguousarray(v.reshape(len(v), -1)))
        return self._merged.gather_transposed(product).reshape(self.n_columns, *v.shape[1:])

    @one_blas_thread()
    def factor(self, thetas: Mapping[str, float], weights: Floats) -> tuple[float, float]:
        """Factor the equations by Cholesky's method, with the θ of each factor and the weight of each
        judgment. Returns two log determinants: that of the random effects' part of the equations, and
        that of the fixed effects' part after the random effects are eliminated.

        The second is NaN if the fixed effects cannot be estimated separately.
        """
        self._merged.set(thetas)
        scale = self._merged.scale(self.scale(thetas))
        log_absorbed, core = self._kernel.factor(scale, weights)
        self._merged.scale_core(core)
        # The lower triangle of a row-major matrix is the upper triangle of LAPACK's column-major one.
        factored, info = lapack.dpotrf(core.T, lower=0, overwrite_a=1, clean=0)
        self._core = factored.T
        n_random_core = self._n_inner_random - self.n_absorbed
        diagonal = np.diag(self._core)
        log_random = log_absorbed + 2 * float(np.log(diagonal[:n_random_core]).sum())
        if info > 0:
            return log_random if info > n_random_core else np.nan, np.nan
        return log_random, 2 * float(np.log(diagonal[n_random_core:]).sum())

    @one_blas_thread()
    def solve(self, x: Floats, *, random_only: bool = False) -> Floats:
        """The solution for right-hand sides (columns,) or (columns, k) of the scaled equations.

        With `random_only` the fixed effects are held at 0: their rows of x are not read.
        """
        outer = x.reshape(self.n_columns, -1)
        if random_only:
            outer = outer.copy()
            outer[self.n_random :] = 0.0
        inner = self._merged.to_inner(outer)
        sides = self._eliminated(inner)
        end = self._n_inner_random if random_only else self._n_inner
        lower = self._core[: end - self.n_absorbed, : end - self.n_absorbed]
        part = sides[self.n_absorbed : end]
        if len(part):
            part = solve_triangular(lower, part, lower=True, check_finite=False)
            part = solve_triangular(lower, part, lower=True, trans=1, check_finite=False)
        sides[self.n_absorbed : end] = part
        sides[end:] = 0.0
        solved = self._merged.to_outer(self._with_absorbed(sides))
        if self._merged.pairs:  # adds x − T T'x, see `merged_columns`
            solved += outer - self._merged.to_outer(inner)
        return solved.reshape(x.shape)

    def _eliminated(self, inner: Floats) -> Floats:
        """Right-hand sides from which the absorbed columns are eliminated."""
        if not self._merged.pairs:
            return self._kernel.forward(np.ascontiguousarray(inner))
        # The kernel computes with effects b, the core with their merged form u': b = R u', see
        # `merged_columns`.
        sides = inner.copy()
        sides[self.n_absorbed :] = 0.0
        sides = self._kernel.forward(sides)
        self._merged.root(sides)
        sides[self.n_absorbed :] += inner[self.n_absorbed :]
        return sides

    def _with_absorbed(self, inner: Floats) -> Floats:
        """The solution of all inner columns from the solution of the core's columns."""
        if not self._merged.pairs:
            return self._kernel.backward(inner)
        effects = inner.copy()
        self._merged.root(effects)
        solved = inner.copy()
        solved[: self.n_absorbed] = self._kernel.backward(effects)[: self.n_absorbed]
        return solved

    @one_blas_thread()
    def invert(self, *, random_only: bool = False, keeps_factor: bool = False) -> Inverse:
        """The parts of the inverse of the equations that a fit needs, of all columns or of the random
        ones only.

        The inverse of all columns overwrites the factorization, unless `keeps_factor`; that of the
        random columns never does.
        """
        n_core = self._n_inner - self.n_absorbed
        if random_only:
            n = n_core - self.n_fixed
            inverse = np.zeros((n_core, n_core))
            if n:
                part, _ = lapack.dpotri(
                    self._core[:n, :n].T.copy(order="F"), lower=0, overwrite_c=1
                )
                inverse[:n, :n] = part.T
        else:
            inverse = lapack.dpotri(self._core.T, lower=0, overwrite_c=not keeps_factor)[0].T
            if not keeps_factor:
                self._core = np.zeros((0, 0))
        columns = np.zeros((self.n_columns, self.n_fixed))
        if not random_only:
            inner = np.zeros((self._n_inner, self.n_fixed))
            first = n_core - self.n_fixed
            fixed = np.tril(inverse[first:, first:])
            inner[self._n_inner_random :] = fixed + np.tril(fixed, -1).T
            inner[self.n_absorbed : self._n_inner_random] = inverse[first:, :first].T
            columns = self._merged.to_outer(self._with_absorbed(inner))
        diagonal = self._merged.core_diagonal(inverse)
        self._merged.scale_both_sides(inverse)
        absorbed, leverages = self._kernel.invert(inverse)
        diagonal[: self.n_absorbed] = absorbed[0]
        return Inverse(diagonal, leverages[0], columns)

    def by_factor(self, values: Floats) -> dict[str, Floats]:
        """Each factor's rows of an array whose rows are the outer columns of the model."""
        return {name: values[place] for name, place in self.places.items()}


@dataclass(frozen=True, eq=False)
class Inverse:
    """Parts of the inverse of the scaled equations: the diagonal, each judgment's leverage, the
    columns of fixed effects."""

    diagonal: Floats
    leverages: Floats
    fixed_columns: Floats


def _absorbed_and_others(design: MixedDesign) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The factors to absorb, in the order that makes the fewest zeros of the equations nonzero, and the
    other factors."""
    levels = {name: int(codes.max()) + 1 for name, codes in design.factors.items()}
    sides = [[name for name in side if name in levels] for side in (ITEM_SIDE, JUDGE_SIDE)]
    # The side with more levels first; the item side, if both have as many.
    sides.sort(key=lambda side: -sum(levels[name] for name in side))
    absorbed, others = sides
    n_fixed = design.n_systems + design.covariates.shape[1]
    n_core = n_fixed + sum(levels[name] for name in others)
    if n_core > MIN_CORE_TO_SPLIT and not design.is_choice:
        crossed = [name for name in (*absorbed, *others) if name.endswith(":system")]
        n_small_core = n_fixed + sum(levels.values()) - sum(levels[name] for name in crossed)
        dense_steps_saved = n_core**3 - n_small_core**3
        if (
            dense_steps_saved > 0
            and KERNEL_COST * _cost_of_systems(design, crossed) < dense_steps_saved
        ):
            absorbed = crossed
    return tuple(absorbed), tuple(name for name in design.factors if name not in absorbed)


def _cost_of_systems(design: MixedDesign, crossed: list[str]) -> float:
    """How many steps it takes to absorb all effects with a system (`crossed`). The effects of one
    system occur only together and with the judges, items and documents of the system. The first
    factor of `crossed` is taken to cost nothing; without it, the system's equations are one dense
    matrix."""
    systems = design.systems
    n_dense, n_met = np.zeros((2, design.n_systems))
    for name, codes in design.factors.items():
        n_levels = int(codes.max()) + 1
        of_systems = np.unique(systems * n_levels + codes) // n_levels
        counts = np.bincount(of_systems, minlength=design.n_systems)
        if name not in crossed:
            n_met += counts
        elif name != crossed[0]:
            n_dense += counts
    # The size of each system's dense matrix; 1 for the effect of the system.
    sizes = n_dense + n_met + 1 + design.covariates.shape[1]
    return float((n_dense * sizes**2).sum())


def part_with_smaller_core(design: MixedDesign, share: float) -> NDArray[np.bool_] | None:
    """Marks the judgments of a random share of the judges, documents or items, whichever make up the
    core: at least ten of them. None for choices, and if these judgments are too few to estimate the
    variances (which is not checked for judges).

    Taking only a share of the factors that are absorbed would not make the core smaller.
    """
    core = _absorbed_and_others(design)[1]
    named = [name for name in ("judge", "document", "item") if name in core]
    if not named or design.is_choice:
        return None
    units = design.factors[named[0]]
    n_units = int(units.max()) + 1
    chosen = np.zeros(n_units, np.bool_)
    order = np.random.default_rng(0).permutation(n_units)
    chosen[order[: max(int(n_units * share), 10)]] = True
    rows = chosen[units]
    if len(np.unique(design.systems[rows])) < design.n_systems:
        return None
    max_levels = MAX_SINGLE_SHARE * float(rows.sum())
    has_repeats = all(
        len(np.unique(codes[rows])) <= max_levels for codes in design.factors.values()
    )
    return rows if has_repeats or named[0] == "judge" else None
