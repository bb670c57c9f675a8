"""`agree` compares metrics on the same data, and counts only the systems and judges that take part."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import wellput
from wellput.core.evalset import Item
from wellput.core.judgment import Judgment

SYSTEMS = "ABCDE"
N_ITEMS = 12


def evalset() -> wellput.EvalSet:
    """Outputs of five systems, each longer than those of the one before it."""
    rng = np.random.default_rng(5)
    return wellput.EvalSet(
        [
            Item(
                f"i{item:02}",
                {
                    name: "x " * int(10 * place + rng.integers(1, 30))
                    for place, name in enumerate(SYSTEMS)
                },
            )
            for item in range(N_ITEMS)
        ]
    )


def judgments(
    systems: str = SYSTEMS, judges: tuple[str, ...] = ("J1", "J2", "J3")
) -> list[Judgment]:
    rng = np.random.default_rng(6)
    return [
        Judgment(judge, f"i{item:02}", name, "q", float(3 * place + rng.normal(0, 4)))
        for judge in judges
        for item in range(N_ITEMS)
        for place, name in enumerate(SYSTEMS)
        if name in systems
    ]


def test_a_system_that_nobody_judged_leaves_the_interval() -> None:
    found = wellput.agree(evalset(), judgments("ABCD"), "length-only").to_dict()["agreement"][0]
    judged = wellput.EvalSet(
        [
            item._replace(outputs={name: item.outputs[name] for name in "ABCD"})
            for item in evalset().items
        ]
    )
    alone = wellput.agree(judged, judgments("ABCD"), "length-only").to_dict()["agreement"][0]
    assert found["low"] is not None
    assert (found["value"], found["low"], found["high"], found["p_value"]) == pytest.approx(
        (alone["value"], alone["low"], alone["high"], alone["p_value"])
    )


def test_judges_that_are_left_out_are_not_counted() -> None:
    found = wellput.agree(
        evalset(), judgments(), "length-only", exclude=["judge=J2: pressed one button"]
    ).to_dict()
    assert found["judges"][0]["n_judges"] == 2
    assert found["ranking"][0]["judges"] == 2


def test_averages_by_item_are_of_the_items_that_all_metrics_have(tmp_path: Path) -> None:
    """The file has scores of the first seven items: the other metric is averaged over these, too."""
    path = tmp_path / "part.csv"
    rng = np.random.default_rng(7)
    lines = [
        f"{name},i{item:02},{place + rng.normal():.6f}"
        for item in range(7)
        for place, name in enumerate(SYSTEMS)
    ]
    path.write_text("system,item,score\n" + "\n".join(lines) + "\n", encoding="utf-8")
    both = wellput.agree(evalset(), judgments(), f"length-only,{path}", average="item").to_dict()
    by_metric = {row["metric"]: row for row in both["agreement"]}
    assert [row["n"] for row in by_metric.values()] == [7, 7]
    seven = [one for one in judgments() if int(one.item[1:]) < 7]
    alone = wellput.agree(
        evalset(), seven, "length-only", average="item", normalize="none"
    ).to_dict()
    paired = wellput.agree(
        evalset(), judgments(), f"length-only,{path}", average="item", normalize="none"
    ).to_dict()
    value = next(row["value"] for row in paired["agreement"] if row["metric"] == "length-only")
    assert value == pytest.approx(alone["agreement"][0]["value"])
