"""Scoring: what is summed, what is missing, what is compared."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wellput
from wellput.core.evalset import BLOCK_ITEMS

A = ["the cat sat on the mat", "a dog barked", "it rained all day", "birds sing"]
B = ["the cat on sat mat the", "a dog barked", "it rained day", "birds birds"]
REFERENCES = ["the cat sat on the mat", "the dog barked", "it rained all day long", "birds sing"]


def evalset() -> wellput.EvalSet:
    return wellput.EvalSet.of({"A": A, "B": B}, REFERENCES)


def test_a_system_score_is_the_score_of_summed_statistics() -> None:
    # A: 0 + 1 + 1 + 0 errors over 6 + 3 + 5 + 2 reference tokens.
    assert wellput.score(evalset(), "ssa")["A", "ssa"].score == 1 - 2 / 16


def test_kept_rows_give_the_same_digits_as_sums() -> None:
    sums = wellput.score(evalset(), "ssa,bleu,chrf")
    rows = wellput.score(evalset(), ["ssa", "bleu", "chrf"], keep_rows=True)
    for metric in ("ssa", "bleu", "chrf"):
        table = rows.table(metric)
        for place, system in enumerate(table.systems):
            assert table.system_scores[place] == sums[system, metric].score


def test_blocks_and_threads_change_nothing() -> None:
    copies = 2 * BLOCK_ITEMS // len(A) + 5
    large = wellput.EvalSet.of({"A": A * copies, "B": B * copies}, REFERENCES * copies)
    metrics = "ssa,gsa,bleu,chrf,ter,wer,rouge-l,nist,ttr"
    one = wellput.score(large, metrics, threads=1, confidence=True, paired="bs", resamples=20)
    two = wellput.score(large, metrics, threads=3, confidence=True, paired="bs", resamples=20)
    assert one.scores == two.scores


def test_a_missing_output_is_left_out() -> None:
    sets = wellput.EvalSet.of({"A": ["a b", "a x"], "B": ["a b", None]}, ["a b", "a b"])
    result = wellput.score(sets, "ssa", paired="ar", keep_rows=True)
    assert (result["A", "ssa"].score, result["A", "ssa"].n) == (0.75, 2)
    assert (result["B", "ssa"].score, result["B", "ssa"].n) == (1.0, 1)
    # The test compares the one item that both have.
    assert result["B", "ssa"].delta == 0
    assert np.isnan(result.table("ssa").scores[1, 1])


def test_a_system_that_appears_late(tmp_path: Path) -> None:
    rows = [{"id": i, "references": ["a"], "outputs": {"A": "a"}} for i in range(BLOCK_ITEMS + 1)]
    rows[-1]["outputs"] = {"A": "a", "B": "b"}
    path = tmp_path / "e.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = wellput.score(path, "ssa", keep_rows=True)
    assert (result["B", "ssa"].n, result["B", "ssa"].score) == (1, 0.0)
    assert result.table("ssa").present.sum(axis=1).tolist() == [BLOCK_ITEMS + 1, 1]


def test_references_of_one_system_alone() -> None:
    item = wellput.Item(
        "1", {"A": "a b", "B": "a b"}, references=("x y",), references_by_system={"A": ("a b",)}
    )
    result = wellput.score(wellput.EvalSet([item]), "ssa")
    assert result["A", "ssa"].score == 1.0
    assert result["B", "ssa"].score == 0.0


def test_every_pair_with_holms_correction() -> None:
    many = wellput.EvalSet.of({"A": A * 9, "B": B * 9, "C": A * 9}, REFERENCES * 9)
    result = wellput.score(many, "ssa", all_pairs=True, paired="ar", resamples=200)
    pairs = {(pair.a, pair.b): pair for pair in result.comparisons}
    assert set(pairs) == {("A", "B"), ("A", "C"), ("B", "C")}
    smallest = 1 / 201
    assert pairs["A", "B"].p_value == pytest.approx(smallest)
    # The two small p-values are multiplied by 3 and, step-down, by no less than that.
    assert pairs["A", "B"].p_adjusted == pytest.approx(3 * smallest)
    assert pairs["B", "C"].p_adjusted == pytest.approx(3 * smallest)
    assert pairs["A", "C"].p_value == pairs["A", "C"].p_adjusted == 1.0
    assert pairs["A", "B"].delta == -pairs["B", "C"].delta > 0


def test_a_worse_system_is_known_whichever_way_is_better() -> None:
    many = wellput.EvalSet.of({"A": A * 9, "B": B * 9}, REFERENCES * 9)
    result = wellput.score(many, "ssa,ter,length", paired="ar")
    assert [(score.system, score.metric) for score in result.worse] == [("B", "ssa"), ("B", "ter")]


def test_signatures_tell_what_must_be_equal() -> None:
    plain = wellput.score(evalset(), "bleu,length")
    assert plain["A", "bleu"].signature == (
        f"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:wellput-{wellput.__version__}"
    )
    assert "nrefs" not in plain["A", "length"].signature
    tested = wellput.score(evalset(), "bleu", paired="ar", seed=7, resamples=50)
    assert tested["A", "bleu"].signature.startswith("nrefs:1|ar:50|seed:7|case:mixed")
    varying = wellput.EvalSet.of({"A": ["a", "b"]}, [["a"], ["b", "c"]])
    assert wellput.score(varying, "bleu")["A", "bleu"].signature.startswith("nrefs:var|")


def test_transposed_references_are_refused() -> None:
    streams = [REFERENCES, REFERENCES]  # sacreBLEU's way round
    with pytest.raises(wellput.InputError, match=r"transposed.*zip\(\*references\)"):
        wellput.EvalSet.of({"A": A}, streams)


@pytest.mark.parametrize(
    ("metrics", "message"),
    [("sta", "sta needs a tree"), ([], "No metric was given")],
)
def test_what_cannot_be_scored(metrics: str | list[str], message: str) -> None:
    with pytest.raises(wellput.InputError, match=message):
        wellput.score(evalset(), metrics)


def test_rows_that_were_not_kept() -> None:
    with pytest.raises(wellput.InputError, match="keep_rows=True"):
        wellput.score(evalset(), "ssa").table("ssa")
    with pytest.raises(wellput.InputError, match="No score of system 'C'"):
        wellput.score(evalset(), "ssa")["C", "ssa"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"paired": "xx"}, "paired='xx' is none of jackknife, ar, bs"),
        ({"resamples": 0}, "resamples=0"),
        ({"threads": 0}, "threads=0"),
        ({"seed": -1}, "seed=-1"),
        ({"generalize": "both"}, "generalize='both' is not for comparing systems"),
        ({"generalize": "judges"}, "generalize='judges' is none of items, systems, both"),
        ({"margin": 0}, "margin= must be above 0"),
        ({"margin": "bleu=1"}, "margin= names bleu, which is not scored; the metrics are ssa"),
        ({"margin": "much"}, "margin='much': write a number, or METRIC=NUMBER"),
        ({"margin": 1, "paired": "ar"}, "margin= needs the standard error"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any], message: str) -> None:
    evalset = wellput.EvalSet.of({"A": ["a b"], "B": ["b"]}, ["a b"])
    with pytest.raises(wellput.InputError, match=message):
        wellput.score(evalset, "ssa", **options)


def test_a_metric_that_gives_too_few_values_is_refused() -> None:
    @dataclass(frozen=True)
    class Short(wellput.MeanMetric):
        family = "short"
        about = "one value, however many outputs"
        needs = frozenset()

        def values(self, batch: wellput.Batch) -> Any:
            return np.ones(1)

    with pytest.raises(wellput.InputError, match="gave 1 row of statistics for"):
        wellput.score(evalset(), Short())
