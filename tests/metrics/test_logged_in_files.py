"""Scores in a folder of mt-metrics-eval: read as metrics, and the same agreement as its own code."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

import wellput
from wellput import InputError

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "golden" / "mt_metrics_eval.json").read_text(encoding="utf-8")
)
SYSTEMS = [f"S{number}" for number in range(len(GOLDEN["human"]))]
N_ITEMS = len(GOLDEN["human"][0])


def write_scores(path: Path, rows: Sequence[Sequence[float | None]]) -> None:
    lines = [
        f"{system}\t{value!r}\n" for system, row in zip(SYSTEMS, rows, strict=True) for value in row
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "tiny24"
    texts = "".join(f"line {number}\n" for number in range(N_ITEMS))
    files = ["sources/en-de.txt", "references/en-de.refA.txt"]
    for name in files + [f"system-outputs/en-de/{system}.txt" for system in SYSTEMS]:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(texts, encoding="utf-8")
    write_scores(path / "human-scores" / "en-de.mqm.seg.score", GOLDEN["human"])
    scores = path / "metric-scores" / "en-de"
    for metric, name in (("tied", "TER-tied-refA"), ("fine", "MetricX-fine-src")):
        write_scores(scores / f"{name}.seg.score", GOLDEN[metric])
        write_scores(
            scores / f"{name}.sys.score", [[value] for value in GOLDEN[f"{metric} of systems"]]
        )
    return path


def found(result: wellput.AgreementResult, average: str) -> dict[str, dict[str, float]]:
    values: dict[str, dict[str, float]] = {"tied": {}, "fine": {}}
    for row in result.agreement:
        values["tied" if "tied" in row.metric else "fine"][f"{row.coefficient}/{average}"] = (
            row.value
        )
    return values


@pytest.mark.parametrize("average", ["none", "item", "system"])
def test_segments_as_in_mt_metrics_eval(
    folder: Path, average: Literal["none", "item", "system"]
) -> None:
    result = wellput.agree(
        folder, folder, "logged:scorer=all", coefficient="pearson,kendall,acc-t", average=average
    )
    for metric, values in found(result, average).items():
        assert len(values) == 3
        for name, value in values.items():
            assert value == pytest.approx(GOLDEN["found"][metric][name], abs=1e-9), (metric, name)


def test_systems_as_in_mt_metrics_eval(folder: Path) -> None:
    result = wellput.agree(
        folder,
        folder,
        "logged:scorer=*",
        coefficient="pearson,kendall,acc-t,spa",
        level="system",
        metric_items="all",
    )
    for metric, values in found(result, "given").items():
        assert len(values) == 4
        for name, value in values.items():
            # An exchange that ties in single precision may count or not, by the machine: 1/1000/21.
            margin = 1e-4 if name == "spa/given" else 1e-9
            assert value == pytest.approx(GOLDEN["found"][metric][name], abs=margin), (metric, name)


def test_a_system_has_the_score_that_the_folder_gives(folder: Path) -> None:
    """Higher is better in this format, also for TER and MetricX."""
    result = wellput.score(folder, "logged:scorer=TER-tied-refA", keep_rows=True)
    metric = "logged:scorer=TER-tied-refA"
    assert result.higher_is_better[metric] is True
    for place, system in enumerate(SYSTEMS):
        assert result[system, metric].score == pytest.approx(GOLDEN["tied of systems"][place])
    assert result.table(metric).scores.tolist() == GOLDEN["tied"]
    assert "|file:" in result["S0", metric].signature


def test_a_pattern_and_unknown_names(folder: Path) -> None:
    assert wellput.score(folder, "logged:scorer=Metric*").metrics == (
        "logged:scorer=MetricX-fine-src",
    )
    with pytest.raises(InputError, match=r"No scorer matches 'x\*'.* MetricX-fine-src, TER-tied"):
        wellput.score(folder, "logged:scorer=x*")
    with pytest.raises(InputError, match="Did you mean MetricX-fine-src"):
        wellput.score(folder, "logged:scorer=metricx")
    with pytest.raises(InputError, match=r"several scores.*logged:scorer=all"):
        wellput.score(folder, "logged")


def test_a_damaged_file_of_scores(folder: Path) -> None:
    bad = folder / "metric-scores" / "en-de" / "bad.seg.score"
    try:
        bad.write_text("S0\t1\nS0\nS0\tinf\n", encoding="utf-8")
        with pytest.raises(
            InputError, match=r"line 2: not SYSTEM SCORE(?s:.*)line 3: .*not finite"
        ):
            wellput.score(folder, "logged:scorer=bad")
    finally:
        bad.unlink()


def test_all_outputs_only_at_the_level_of_systems(folder: Path) -> None:
    with pytest.raises(InputError, match="needs level='system'"):
        wellput.agree(folder, folder, "logged:scorer=all", metric_items="all")
