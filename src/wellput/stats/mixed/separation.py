"""Whether a model of yes or no, grades or choices has a finite best fit at all.

If moving the parameters in some direction makes no judgment less likely and some more likely, the
likelihood grows without end in that direction (Albert & Anderson 1984). For example, a system that won
every comparison is infinitely strong. Such data, called *separated*, are refused with a message.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from wellput.core.errors import InputError
from wellput.stats.mixed.equations import Floats, MixedDesign
from wellput.stats.mixed.families import ChoicesWithTies, Family, Grades, YesNo


def comparable_groups(design: MixedDesign) -> list[tuple[int, ...]]:
    """The systems that judges chose between, in groups; two systems can be compared only within a
    group, directly or through other systems."""
    n = design.n_systems
    pairs = csr_matrix((np.ones(len(design)), design.systems.T), shape=(n, n))
    _, labels = connected_components(pairs, directed=False)
    return [tuple(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)]


def require_connected(design: MixedDesign) -> None:
    """Raises `Disconnected` for choices in which some systems cannot be compared with others, not even
    through a third system."""
    groups = comparable_groups(design)
    if len(groups) > 1:
        raise Disconnected(groups)


class Disconnected(InputError):
    """Some systems cannot be compared. `groups` has the codes of the systems that can be compared with
    one another, group by group."""

    def __init__(self, groups: list[tuple[int, ...]]) -> None:
        self.groups = groups
        super().__init__(
            f"the systems fall into {len(groups)} groups that were never compared with one another: "
            "rank each group by itself, or collect choices between them"
        )


def require_finite(family: Family, fixed: Floats, design: MixedDesign) -> None:
    """Raises `Separated` for separated data. `fixed` (judgments × fixed effects) is the design
    matrix."""
    rows = np.unique(_inequalities(family, fixed), axis=0)
    direction = _separating_direction(rows)
    if direction is not None:
        raise Separated(family, direction, design)


class Separated(InputError):
    """The likelihood has no maximum. `systems` are the codes of the systems whose effects grow without
    end; there are none if a covariate is the reason."""

    def __init__(self, family: Family, direction: Floats, design: MixedDesign) -> None:
        n = design.n_systems - family.fixes_first_system
        system_directions = np.concatenate(
            [np.zeros(int(family.fixes_first_system)), direction[:n]]
        )
        if family.fixes_first_system:
            system_directions = system_directions - np.median(system_directions)
        self.systems: tuple[int, ...] = tuple(
            np.flatnonzero(np.abs(system_directions) > 1e-6).tolist()  # smaller ones are rounding
        )
        super().__init__(
            f"{SEPARATION_MESSAGES[family.name]}: no finite estimate fits best; collect more judgments"
        )


SEPARATION_MESSAGES = {
    "binary": "the answers are separated perfectly: a system has only yes or only no, or a covariate "
    "divides them",
    "ordinal": "the grades are separated perfectly: a system has only the best or only the worst "
    "grade, or a covariate divides them",
    "bradley-terry": "the choices are separated perfectly: a system, or a group of them, won or lost "
    "every comparison with the others, or a covariate decides them",
}


def _inequalities(family: Family, fixed: Floats) -> Floats:
    """Rows c with this property: a direction d of the parameters makes no judgment less likely if
    c·d ≥ 0 for all rows."""
    if isinstance(family, YesNo):
        return np.asarray(np.where(family.values > 0, 1.0, -1.0)[:, None] * fixed)
    if isinstance(family, Grades):
        # The shape parameters of grades are the thresholds.
        n_thresholds = len(family.first_shape())
        thresholds = np.eye(n_thresholds)
        has_upper, has_lower = family.values < n_thresholds, family.values > 0
        upper = np.hstack([-fixed[has_upper], thresholds[family.values[has_upper]]])
        lower = np.hstack([fixed[has_lower], -thresholds[family.values[has_lower] - 1]])
        return np.vstack([upper, lower])
    if isinstance(family, ChoicesWithTies):
        values = family.values
        signed = np.where(values > 0.5, 1.0, -1.0)[:, None] * fixed
        decided, tied = signed[values != 0.5], fixed[values == 0.5]
        # The last parameter is log ν, which says how often there are ties (Davidson 1970). A win is not
        # less likely if the winner's lead does not fall and log ν grows by at most half as much. A tie
        # is not less likely if log ν grows by at least half of the change of the lead.
        ones = np.ones((len(values), 1))
        return np.vstack(
            [
                np.hstack([decided, 0 * ones[: len(decided)]]),
                np.hstack([decided / 2, -ones[: len(decided)]]),
                np.hstack([tied / 2, ones[: len(tied)]]),
                np.hstack([-tied / 2, ones[: len(tied)]]),
            ]
        )
    raise TypeError(f"no inequalities are known for {family.name}")


def _separating_direction(rows: Floats) -> Floats | None:
    """A direction d with c·d ≥ 0 for all rows c and c·d > 0 for some; None where there is none. It is
    found by linear programming (Konis 2007)."""
    from scipy.optimize import linprog  # imported late: SciPy takes long to load

    program = linprog(-rows.sum(axis=0), A_ub=-rows, b_ub=np.zeros(len(rows)), bounds=(-1, 1))
    direction = np.asarray(program.x)
    scale = np.abs(rows).max()
    # A smaller gain is rounding: no judgment becomes more likely.
    return direction if float((rows @ direction).max()) > 1e-7 * scale else None
