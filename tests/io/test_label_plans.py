"""The probabilities by which items were chosen to be labeled."""

from __future__ import annotations

from pathlib import Path

import pytest

from wellput.core.errors import InputError
from wellput.io.label_plans import read_label_probabilities


@pytest.mark.parametrize("probability", ["0", "-1", "1.5", "nan", "", "1e-320"])
def test_a_probability_that_gives_no_weight_is_refused(tmp_path: Path, probability: str) -> None:
    path = tmp_path / "plan.csv"
    path.write_text(f"item,probability\n1,0.5\n2,{probability}\n")
    with pytest.raises(
        InputError, match=r"line 3: the probability .* is not above 0 and at most 1"
    ):
        read_label_probabilities(path, ["1", "2"])
