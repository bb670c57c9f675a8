"""The digits of a ranking do not depend on the number of cores."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from wellput.stats.blas_threads import one_blas_thread, openblas_threads

RANK = """
import sys, numpy as np, wellput
from wellput import Judgment
rng = np.random.default_rng(1)
means = dict(zip("ABCDE", (6, 5, 4, 3, 2)))
judges = dict(zip(["J0", "J1", "J2", "J3", "J4"], rng.normal(0, 0.4, 5)))
print(wellput.rank([
    Judgment(judge, f"i{item}", system, "quality", round(mean + bias + rng.normal(0, 0.8)))
    for system, mean in means.items() for item in range(36)
    for judge, bias in judges.items() if rng.random() < 0.6
], model=sys.argv[1], permutations=20).to_dict())
"""


@pytest.mark.parametrize("model", ["linear", "ordinal"])
def test_a_ranking_has_the_same_digits_with_one_thread_and_with_four(model: str) -> None:
    one, four = (
        subprocess.run(
            [sys.executable, "-c", RANK, model],
            env=os.environ | {"OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "4")
    )
    assert one == four


def test_blocks_leave_the_numbers_of_threads_as_they_were() -> None:
    counts = openblas_threads()  # none with another library than OpenBLAS
    before = [count.get() for count in counts]

    def all_are(n: int) -> bool:
        return all(count.get() == n for count in counts)

    try:
        for count in counts:
            count.set(3)
        with one_blas_thread():
            assert all_are(1)
            with one_blas_thread():
                assert all_are(1)
            assert all_are(1)
        assert all_are(3)
    finally:
        for count, n in zip(counts, before, strict=True):
            count.set(n)
