"""Whether people in two studies preferred each of two systems equally often: the χ² test of
homogeneity, as in Foster (2008)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from wellput.core.errors import InputError
from wellput.core.judgment import Preference
from wellput.stats.preferences import Choices, homogeneity


def homogeneity_rows(
    first: Sequence[Preference], second: Sequence[Preference]
) -> Iterator[dict[str, Any]]:
    """A row for each question and pair of systems that both studies have. Ties do not count."""
    found = False
    for question in dict.fromkeys(row.question for row in first):
        both = [[row for row in rows if row.question == question] for rows in (first, second)]
        systems = sorted({name for rows in both for row in rows for name in _offered(row)})
        counts = [
            Choices.of([(row.system_a, row.system_b, row.choice) for row in rows], systems=systems)
            for rows in both
        ]
        for i, j in combinations(range(len(systems)), 2):
            if all(one.offered[i, j] for one in counts):
                found = True
                chosen = [[int(one.wins[i, j]), int(one.wins[j, i])] for one in counts]
                test = homogeneity(chosen)
                yield {
                    "question": question,
                    "systems": [systems[i], systems[j]],
                    "chosen": chosen,
                    "chi_squared": test.value,
                    "p_value": test.p_value,
                    "n": test.n,
                }
    if not found:
        raise InputError("The two studies have no pair of systems in common.")


def _offered(row: Preference) -> tuple[str, str]:
    return row.system_a, row.system_b
