"""The digits of a ranking do not depend on the number of cores."""

from __future__ import annotations

import os
import subprocess
import sys

from wellput.stats.blas_threads import one_blas_thread, openblas_threads

RANK = """
import numpy as np, wellput
from wellput import Judgment
rng = np.random.default_rng(1)
means = dict(zip("ABCDE", (6, 5, 4, 3, 2)))
judges = dict(zip(["J0", "J1", "J2", "J3", "J4"], rng.normal(0, 0.4, 5)))
print(wellput.rank([
    Judgment(judge, f"i{item}", system, "quality", round(mean + bias + rng.normal(0, 0.8)))
    for system, mean in means.items() for item in range(36)
    for judge, bias in judges.items() if rng.random() < 0.6
]).to_dict())
"""


def test_a_ranking_has_the_same_digits_with_one_thread_and_with_four() -> None:
    one, four = (
        subprocess.run(
            [sys.executable, "-c", RANK],
            env=os.environ | {"OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "4")
    )
    assert one == four


def test_blocks_leave_the_number_of_threads_as_it_was() -> None:
    count = openblas_threads()
    if count is None:  # another library than OpenBLAS
        return
    before = count.get()
    try:
        count.set(3)
        with one_blas_thread():
            assert count.get() == 1
            with one_blas_thread():
                assert count.get() == 1
            assert count.get() == 1
        assert count.get() == 3
    finally:
        count.set(before)
