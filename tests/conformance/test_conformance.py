"""Other tools' values for the same inputs; README.md says how the tables were made.

Every case gives the peer's value or stands in `left_out.tsv` with the reason. A case that is left out
must really differ, so that the list stays true.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from wellput.core.errors import InputError
from wellput.core.evalset import Batch
from wellput.io import read_trees
from wellput.metrics.registry import create
from wellput.stats import fisher, williams_test
from wellput.stats.correlation import (
    Coefficient,
    Correlation,
    CorrelationAverage,
    correlation_value,
)

FOLDER = Path(__file__).parent
PEERS = ("sacrebleu", "jiwer", "rouge_score", "mt_metrics_eval", "nlpstats", "ud_level_1")
EXACT = 1e-9


def table(peer: str) -> Any:
    return json.loads((FOLDER / f"{peer}.json").read_text(encoding="utf-8"))


def left_out() -> dict[tuple[str, str], str]:
    with (FOLDER / "left_out.tsv").open(encoding="utf-8", newline="") as file:
        return {
            (row["peer"], row["case"]): row["reason"]
            for row in csv.DictReader(file, delimiter="\t")
        }


LEFT_OUT = left_out()


def all_text_cases() -> Iterator[Any]:
    for peer in ("sacrebleu", "jiwer", "rouge_score"):
        found = table(peer)
        for case in found["cases"]:
            texts = found["texts"][case["texts"]]
            label = f"{peer} {case['metric']} {len(texts['references'][0])} references"
            yield pytest.param(case, texts, id=f"{label}, texts {case['texts']}")


@pytest.mark.parametrize(("case", "texts"), list(all_text_cases()))
def test_texts_score_as_the_peer_says(case: dict[str, Any], texts: dict[str, Any]) -> None:
    metric = create(case["metric"])
    rows = metric.statistics(Batch.from_texts(texts["outputs"], texts["references"]))
    np.testing.assert_allclose(metric.segment_score(rows), case["segments"], rtol=EXACT, atol=EXACT)
    assert float(metric.score(rows.sum(axis=0))) == pytest.approx(case["corpus"], rel=EXACT)
    for name in ("precision", "recall"):
        if name in case:
            found = metric.components(rows)[name]
            np.testing.assert_allclose(found, case[name], rtol=EXACT, atol=EXACT)


def score_cases(peer: str) -> Iterator[Any]:
    for number, case in enumerate(table(peer)["cases"]):
        scores = [np.array(case[name], np.float64) for name in ("metric", "human")]
        for name, value in case["found"].items():
            if (peer, name) not in LEFT_OUT:
                yield pytest.param(*scores, name, value, id=f"{number} {name}")


def value_of(x: Any, z: Any, name: str, levels: dict[str, Correlation]) -> float:
    coefficient, _, average = name.partition("/")
    asked = replace(levels[average], coefficient=cast("Coefficient", coefficient))
    return correlation_value(x, z, asked).value


AVERAGES: tuple[CorrelationAverage, ...] = ("none", "item", "system")
MT_LEVELS = {str(name): Correlation(average=name) for name in AVERAGES}
NLP_LEVELS = {
    "system": Correlation(level="system"),
    "input": Correlation(average="item"),
    "global": Correlation(),
}


@pytest.mark.parametrize(("x", "z", "name", "value"), list(score_cases("mt_metrics_eval")))
def test_scores_correlate_as_mt_metrics_eval_says(x: Any, z: Any, name: str, value: float) -> None:
    assert value_of(x, z, name, MT_LEVELS) == pytest.approx(value, rel=EXACT)


@pytest.mark.parametrize(("x", "z", "name", "value"), list(score_cases("nlpstats")))
def test_scores_correlate_as_nlpstats_says(x: Any, z: Any, name: str, value: Any) -> None:
    kind, _, rest = name.partition("/")
    if kind == "fisher":
        r = value_of(x, z, f"{rest}/global", NLP_LEVELS)
        found = fisher(r, x.size, coefficient=rest)  # type: ignore[arg-type]
        assert [found.low, found.high] == pytest.approx(value, rel=EXACT)
    elif kind == "williams":
        p_value = williams_test(x, (x + z) / 2, z, alternative=rest).p_value  # type: ignore[arg-type]
        assert p_value == pytest.approx(value, rel=EXACT)
    else:
        assert value_of(x, z, name, NLP_LEVELS) == pytest.approx(value, rel=EXACT)


def is_refused(text: str, folder: Path) -> bool:
    path = folder / "trees.conllu"
    path.write_bytes(text.encode())
    try:
        list(read_trees(path))
    except InputError:
        return True
    return False


@pytest.mark.parametrize("case", table("ud_level_1")["cases"], ids=lambda case: str(case["case"]))
def test_trees_are_refused_as_by_the_validator(case: dict[str, Any], tmp_path: Path) -> None:
    is_listed = ("ud_level_1", case["case"]) in LEFT_OUT
    assert (is_refused(case["text"], tmp_path) == case["is_refused"]) is not is_listed


def test_what_is_left_out_has_a_reason_and_a_case() -> None:
    assert {peer for peer, _ in LEFT_OUT} <= set(PEERS)
    for (peer, case), reason in LEFT_OUT.items():
        assert len(reason.split()) >= 4, case
        if peer in ("mt_metrics_eval", "nlpstats"):
            assert any(case in one["found"] for one in table(peer)["cases"]), case
        if peer == "ud_level_1":
            assert case in {one["case"] for one in table(peer)["cases"]}, case
