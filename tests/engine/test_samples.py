"""Outputs that are several samples: an item's score is the mean of its samples."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import wellput
from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item
from wellput.engine.blocks import means_of_samples
from wellput.engine.result import Comparison


def test_the_score_of_an_item_is_the_mean_of_its_samples() -> None:
    evalset = EvalSet.of({"A": [["x", "y"], "x", ["y", "y", "x"]]}, ["x", "x", "x"])
    result = wellput.score(evalset, "exact", keep_rows=True)
    # items: 1/2, 1, 1/3
    assert result["A", "exact"].score == pytest.approx((1 / 2 + 1 + 1 / 3) / 3)
    assert result.table("exact").scores[0] == pytest.approx([1 / 2, 1, 1 / 3])
    assert result["A", "exact"].n == 3


def test_samples_have_their_own_segment_scores_and_shared_statistics() -> None:
    texts = ["the cat sat on the mat", "a dog"]
    reference = "the cat sat on a mat"
    sampled = wellput.score(EvalSet.of({"A": [texts]}, [reference]), "bleu", keep_rows=True)
    alone = [
        wellput.score(EvalSet.of({"A": [text]}, [reference]), "bleu", keep_rows=True)
        for text in texts
    ]
    tables = [one.table("bleu") for one in alone]
    mean = np.mean([table.scores[0, 0] for table in tables])
    assert sampled.table("bleu").scores[0, 0] == pytest.approx(mean)
    rows = np.mean([table.statistics[0, 0] for table in tables], axis=0)
    assert sampled.table("bleu").statistics[0, 0] == pytest.approx(rows)


def test_samples_without_a_score_count_nothing() -> None:
    rows = np.array([[2.0, 1.0], [0.0, 0.0], [4.0, 1.0], [0.0, 0.0]])
    scores = np.array([2.0, np.nan, 4.0, np.nan])
    means, samples = means_of_samples(rows, scores, np.array([3, 1]))
    assert means.tolist() == [[3.0, 1.0], [0.0, 0.0]]
    # 2 and 4 lie 1 from their mean 3
    assert samples[0].tolist() == [3.0, 2.0, 2.0]
    assert np.isnan(samples[1, 0]) and samples[1, 1:].tolist() == [0.0, 0.0]


def test_partitions_keep_samples(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    items = [
        {"id": str(i), "references": ["a b c"], "outputs": {"A": ["a b", f"a c {i}"], "B": "a"}}
        for i in range(5)
    ]
    path.write_text("".join(json.dumps(item) + "\n" for item in items))
    plain = wellput.score(path, "chrf", keep_rows=True)
    for _ in range(2):  # the second time, finished partitions are read
        again = wellput.score(path, "chrf", keep_rows=True, resume=tmp_path / "finished")
        assert again.scores == plain.scores
        ours, theirs = again.table("chrf").samples, plain.table("chrf").samples
        assert ours is not None and theirs is not None and np.array_equal(ours, theirs)
    assert plain.table("chrf").samples is not None


def test_segment_scores_are_means(tmp_path: Path) -> None:
    evalset = EvalSet.of({"A": [["x", "y"]]}, ["x"])
    wellput.score(evalset, "exact", segments=tmp_path / "s.csv")
    assert (tmp_path / "s.csv").read_text().splitlines()[1].endswith(",0.5")


def test_errors_of_every_sample_are_drawn() -> None:
    evalset = EvalSet.of({"A": [["a b", "a c"]]}, ["a d"])
    drawn = wellput.score(evalset, "gsa", explain=True).explanations
    assert "a b" in drawn[1] and "a c" in drawn[1]


def test_a_study_refuses_samples(tmp_path: Path) -> None:
    evalset = EvalSet([Item("1", {"A": ("a", "b"), "B": "c"})])
    with pytest.raises(InputError, match="item 1: A has several samples; give one text"):
        wellput.Study.create(evalset, path=tmp_path / "s.db", design="rating", questions="quality")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"outputs": {"A": []}}, "the output of A is an empty list"),
        ({"outputs": {"A": ["x", None]}}, "sample 1 of A must be a text, not null"),
        ({"document": ["d"]}, "document must be a text, not a list"),
        ({"tags": "news"}, "tags must be an object of names and texts, not a text"),
        ({"tags": {"domain": 1.5}}, "the tag domain must be a text, not a number"),
        ({"tags": {"": "x"}}, "tags has a tag without a name"),
    ],
)
def test_wrong_structure_is_refused(
    tmp_path: Path, record: dict[str, object], message: str
) -> None:
    path = tmp_path / "e.jsonl"
    path.write_text(json.dumps({"id": "1", **record}))
    with pytest.raises(InputError, match=message):
        wellput.read_evalset(path)


def test_whole_numbers_and_truths_name_documents_and_tags(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    record = {"id": "1", "document": 7, "tags": {"long": True, "n": 3, "none": None}}
    path.write_text(json.dumps(record))
    [item] = wellput.read_evalset(path)
    assert (item.document, item.tags) == ("7", {"long": "true", "n": "3"})


def test_the_sources_of_error_say_whether_items_or_samples_help() -> None:
    """Every item is right in one of two samples: all error comes from samples."""
    evalset = EvalSet.of({"A": [["x", "y"], ["y", "x"]] * 10, "B": ["y"] * 20}, ["x"] * 20)
    result = wellput.score(evalset, "exact", confidence=True)
    [source] = [one for one in result.error_sources if one.system == "A"]
    assert source.parts.item == 0.0
    assert source.parts.sample == pytest.approx(
        0.5 / 2 / 20
    )  # variance 1/2 of 0 and 1, two samples
    assert "Error variance of scores under exact: 0% items, 100% samples." in str(result)
    assert "twice the items: −29%; twice the samples in each item: −29%" in str(result)


def test_plain_outputs_have_no_sources_of_error() -> None:
    evalset = EvalSet.of({"A": ["x", "y"], "B": ["y", "y"]}, ["x", "x"])
    assert wellput.score(evalset, "exact", confidence=True).error_sources == ()


def test_the_order_of_the_samples_does_not_change_a_single_digit() -> None:
    rows = np.array([[0.1, 3], [0.2, 1], [0.7, 2], [0.3, 5]])
    orders = ([0, 1, 2, 3], [2, 1, 0, 3], [1, 2, 0, 3])
    found = [means_of_samples(rows[order], rows[order, 0], np.array([3, 1])) for order in orders]
    for means, own_scores in found[1:]:
        assert means.tolist() == found[0][0].tolist()
        assert own_scores[:, 0].tolist() == found[0][1][:, 0].tolist()


@pytest.mark.parametrize("metric", ["rouge-l", "rouge-1", "gsa", "ttr"])
def test_the_order_of_the_samples_does_not_change_a_test(metric: str) -> None:
    """Only 4 of 30 items differ. The means of the others differ in their last digit, as the mean of
    three numbers depends on their order: such items do not say how much differences vary."""
    words = [
        "the",
        "ferry",
        "leaves",
        "the",
        "harbor",
        "at",
        "noon",
        "every",
        "day",
        "but",
        "sunday",
    ]
    samples = [" ".join(words[:n]) for n in (3, 7, 6)]

    def difference(others: list[str]) -> Comparison:
        better = [[" ".join(words[: 8 + n % 3]), *samples[1:]] for n in range(4)]
        outputs = {"A": [samples] * 30, "B": [*better, *[others] * 26]}
        found = wellput.score(EvalSet.of(outputs, [" ".join(words)] * 30), metric, all_pairs=True)
        (pair,) = found.comparisons
        return pair

    same, reversed_order = difference(samples), difference(samples[::-1])
    assert reversed_order.p_value == pytest.approx(same.p_value, rel=1e-9)
    assert reversed_order.low == pytest.approx(same.low, rel=1e-9)
