"""What costs a score that is a weighted sum of features most."""

from __future__ import annotations

import numpy as np

from wellput.metrics.fluency import feature_costs

ABOUT = {"a": "the first", "b": "the second", "c": "the third"}


def test_the_greatest_costs_come_first_and_small_ones_are_left_out() -> None:
    features = np.array([[0.5, -2.0, 0.0], [0.0, 0.0, 0.0], [np.nan] * 3])
    contributions = np.array([[-0.2, -1.5, -0.05], [0.3, 0.0, -0.1], [0.0] * 3])
    worse, fine, empty = feature_costs(
        ["badly put", "well put", ""], ABOUT, features, contributions, min_cost=0.1
    )
    assert worse.splitlines() == [
        "  badly put",
        "  loses 1.50 by b −2.00: the second",
        "  loses 0.20 by a +0.50: the first",
    ]
    assert fine == ""
    assert empty == "  (no words)"
