"""Choices between two systems' outputs: how often each is chosen, and whether that is chance.

`Choices` counts them: `wins[i, j]` is how often system i was chosen over j, `ties[i, j]` (symmetric)
how often neither was. The tests and intervals assume that choices are independent; for choices of one
judge, or about one item, this is only roughly true.

`homogeneity_rows` tests whether people in two studies preferred each of two systems equally often, by
the χ² test of homogeneity, as in Foster (2008).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wellput.core.errors import InputError
from wellput.core.estimates import Estimate, ratios, undefined
from wellput.core.judgment import PAIRWISE_CHOICES, Preference
from wellput.core.metric import Floats
from wellput.core.options import check_number
from wellput.stats.proportions import wilson

MIN_EXPECTED_COUNT = 5.0
"""Where expected counts are below this, the χ² distribution is only a rough approximation (Cochran)."""


@dataclass(frozen=True, eq=False)
class Choices:
    """How often each system was chosen over each other, and how often neither was."""

    systems: tuple[str, ...]
    wins: NDArray[np.int64]
    ties: NDArray[np.int64]

    @classmethod
    def of(
        cls, triples: Iterable[tuple[str, str, str]], systems: Sequence[str] | None = None
    ) -> Self:
        """From (system a, system b, choice), where the choice is `a`, `b` or `tie`.

        `systems` gives the order; the default is the order of first appearance.
        """
        rows = list(triples)
        names = dict.fromkeys(name for a, b, _ in rows for name in (a, b))
        order = tuple(names) if systems is None else tuple(systems)
        unknown = [repr(name) for name in names if name not in order]
        if unknown:
            raise InputError.collect("The choices name unknown systems:", unknown)
        at = {name: place for place, name in enumerate(order)}
        return cls.of_places(
            [at[a] for a, _, _ in rows], [at[b] for _, b, _ in rows], [c for _, _, c in rows], order
        )

    @classmethod
    def of_places(
        cls, first: ArrayLike, second: ArrayLike, choices: Sequence[str], systems: Sequence[str]
    ) -> Self:
        """As `of`, from arrays with one entry for each choice: the places of the two systems in
        `systems`, and the choice."""
        a, b = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
        chosen = np.asarray(choices, dtype=np.str_)
        if not a.shape == b.shape == chosen.shape or a.ndim != 1:
            raise InputError("Every trial needs a first system, a second system and a choice.")
        beyond = (np.minimum(a, b) < 0) | (np.maximum(a, b) >= len(systems))
        wrong = [
            f"trial {trial + 1}: {problem}"
            for problem, where in (
                (f"a system outside 0 to {len(systems) - 1}", beyond),
                ("a system against itself", a == b),
                (
                    f"the choice is none of {', '.join(PAIRWISE_CHOICES)}",
                    ~np.isin(chosen, PAIRWISE_CHOICES),
                ),
            )
            for trial in np.flatnonzero(where)
        ]
        if wrong:
            raise InputError.collect("Some choices cannot be counted:", wrong)
        wins, ties = np.zeros((2, len(systems), len(systems)), dtype=np.int64)
        np.add.at(wins, (a[chosen == "a"], b[chosen == "a"]), 1)
        np.add.at(wins, (b[chosen == "b"], a[chosen == "b"]), 1)
        np.add.at(ties, (a[chosen == "tie"], b[chosen == "tie"]), 1)
        return cls(tuple(systems), wins, ties + ties.T)

    @property
    def offered(self) -> NDArray[np.int64]:
        """How often each two systems were compared."""
        total: NDArray[np.int64] = self.wins + self.wins.T + self.ties
        return total


def goodness_of_fit(counts: ArrayLike, expected: ArrayLike | None = None) -> Estimate:
    """Pearson's χ² of counts against expected counts (by default, all equal), with its p-value.

    >>> round(goodness_of_fit([123, 93]).value, 2)
    4.17
    """
    observed = np.asarray(counts, dtype=np.float64)
    if observed.ndim != 1 or not _are_counts(observed):
        raise InputError("Counts must be a row of whole numbers, 0 or above.")
    n = int(observed.sum())
    if len(observed) < 2 or not n:
        return undefined("there is nothing to choose between" if n else "no choices", n=n)
    if expected is None:
        expected_counts = np.full(len(observed), n / len(observed))
    else:
        expected_counts = np.asarray(expected, dtype=np.float64)
        if expected_counts.shape != observed.shape or (expected_counts <= 0).any():
            raise InputError(f"There must be {len(observed)} expected counts, all above 0.")
        total = expected_counts.sum()
        if not np.isclose(total, n, rtol=1e-8):
            raise InputError(f"Expected counts add up to {total:g}, observed counts to {n}.")
    return _chi_squared(observed, expected_counts, len(observed) - 1, "χ² goodness of fit", n)


def homogeneity(table: ArrayLike, *, yates: bool = True) -> Estimate:
    """χ² of a table of counts, studies × outcomes: do the studies have the same distribution?

    Yates's correction applies to 2 × 2 tables only: it moves every difference from the expected count
    towards 0 by ½, or to 0 if it is smaller.
    """
    observed = np.asarray(table, dtype=np.float64)
    if observed.ndim != 2 or not _are_counts(observed):
        raise InputError(
            "Counts must be a table of whole numbers, 0 or above, with one row per study."
        )
    rows, columns = observed.sum(axis=1), observed.sum(axis=0)
    n = int(observed.sum())
    if min(observed.shape) < 2 or not rows.all() or not columns.all():
        return undefined("it needs two rows and two columns, none of them all 0", n=n)
    expected = np.outer(rows, columns) / n
    name = "χ² homogeneity"
    if yates and observed.shape == (2, 2):
        difference = expected - observed
        observed = observed + np.sign(difference) * np.minimum(0.5, np.abs(difference))
        name += " with Yates's correction"
    return _chi_squared(observed, expected, (len(rows) - 1) * (len(columns) - 1), name, n)


def _are_counts(numbers: Floats) -> bool:
    """Whether all are whole numbers, at least 0 and at most 2**53: a double is exact up to there."""
    return bool(((numbers >= 0) & (numbers <= 2**53) & (numbers == np.trunc(numbers))).all())


def _chi_squared(observed: Floats, expected: Floats, freedom: int, name: str, n: int) -> Estimate:
    """Pearson's χ² of observed and expected counts. `name` is the name of the test, `n` the number of
    choices."""
    from scipy.special import chdtrc

    value = float(((observed - expected) ** 2 / expected).sum())
    caveat = (
        f"; approximate, expected counts below {MIN_EXPECTED_COUNT:g}"
        if expected.min() < MIN_EXPECTED_COUNT
        else ""
    )
    return Estimate(
        value, p_value=float(chdtrc(freedom, value)), method=f"{name}, df {freedom}{caveat}", n=n
    )


def selection_ratios(choices: Choices, *, confidence: float = 0.95) -> tuple[Estimate, ...]:
    """Each system's times chosen / times offered (Foster 2008), with Wilson's score interval (1927).

    A tie is an offer where neither was chosen.
    """
    return tuple(
        _share(int(chosen), int(offered), confidence)
        for chosen, offered in zip(
            choices.wins.sum(axis=1), choices.offered.sum(axis=1), strict=True
        )
    )


def _share(part: int, whole: int, confidence: float) -> Estimate:
    check_number("confidence", confidence)
    if not whole:
        return undefined("it was never offered", n=0)
    estimate = wilson(part, whole, confidence=confidence)
    return replace(estimate, method="times chosen / offered, Wilson interval")


def win_rates(choices: Choices) -> Floats:
    """The share of choices that the row's system won against the column's, with ties as half a win
    (systems × systems); NaN where the two were never offered together."""
    return ratios(choices.wins + choices.ties / 2, choices.offered)


def homogeneity_rows(
    first: Sequence[Preference], second: Sequence[Preference]
) -> Iterator[dict[str, Any]]:
    """A row for each question and pair of systems that both studies have; `first` and `second` are the
    preferences of the two studies. Ties do not count."""
    has_rows = False
    for question in dict.fromkeys(row.question for row in first):
        rows_of_studies = [
            [row for row in rows if row.question == question] for rows in (first, second)
        ]
        systems = sorted(
            {name for rows in rows_of_studies for row in rows for name in _systems_of(row)}
        )
        counts = [
            Choices.of([(row.system_a, row.system_b, row.choice) for row in rows], systems=systems)
            for rows in rows_of_studies
        ]
        for i, j in combinations(range(len(systems)), 2):
            if all(choices.offered[i, j] for choices in counts):
                has_rows = True
                chosen = [[int(choices.wins[i, j]), int(choices.wins[j, i])] for choices in counts]
                test = homogeneity(chosen)
                yield {
                    "question": question,
                    "systems": [systems[i], systems[j]],
                    "chosen": chosen,
                    "chi_squared": test.value,
                    "p_value": test.p_value,
                    "n": test.n,
                }
    if not has_rows:
        raise InputError("The two studies have no pair of systems in common.")


def _systems_of(row: Preference) -> tuple[str, str]:
    return row.system_a, row.system_b
