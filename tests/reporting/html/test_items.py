"""What the explorer is given of each item."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reporting.html.evaluations import TREE, small_evalset, small_evaluation
from wellput.core.evalset import Batch, EvalSet, Item
from wellput.core.judgment import Judgment
from wellput.core.tree import Tree
from wellput.metrics.accuracy import GenerationStringAccuracy, GenerationTreeAccuracy
from wellput.metrics.alignments import alignment_steps, origins
from wellput.reporting.html.evaluation import draw_shown_items, usual_metrics
from wellput.reporting.html.items import (
    WORD_JOINER,
    _percentiles,
    _rounded,
    _shown,
    drawn_alignments,
    drawn_tree,
    drawn_treelets,
    explorer_items,
    sent_text,
)


def batch(output: str, *references: str) -> Batch:
    return Batch.from_texts([output], [references])


def test_a_move_is_drawn_with_its_origin() -> None:
    # the cat sat down -> down the cat sat: `down` arrives at place 0 of the output, from place 3.
    (drawn,) = drawn_alignments(
        batch("down the cat sat", "the cat sat down"), GenerationStringAccuracy()
    )
    assert drawn == {"reference": "the cat sat down", "marks": "M...m", "moves": [[0, 3]]}


def test_every_kind_of_error_has_its_mark() -> None:
    # the cat sat down on it -> the dog sat right on it: cat/dog and down/right are substituted.
    metric = GenerationStringAccuracy()
    (drawn,) = drawn_alignments(batch("the dog sat on it now", "the cat sat down on it"), metric)
    assert drawn is not None and drawn["marks"] == ".s.d..i"


def test_the_closest_reference_is_the_one_drawn() -> None:
    (drawn,) = drawn_alignments(batch("b c", "a a a", "b c"), GenerationStringAccuracy())
    assert drawn is not None and (drawn["reference"], drawn["marks"]) == ("b c", "..")


def test_texts_too_long_to_align_have_no_alignment() -> None:
    assert drawn_alignments(batch("a " * 2001, "a"), GenerationStringAccuracy()) == [None]


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), max_size=8))
def test_every_moved_word_comes_from_a_place_of_its_own(left: list[str], right: list[str]) -> None:
    steps = alignment_steps(left, right, (3, 3, 4), with_moves=True)
    found = origins(left, right, steps)
    assert len(set(found.values())) == len(found)
    assert all(right[to] == left[at] for to, at in found.items())
    arrived = [step.hypothesis for step in steps if step.mark == "m" and step.hypothesis >= 0]
    gone = [step.reference for step in steps if step.mark == "m" and step.reference >= 0]
    assert (sorted(found), sorted(found.values())) == (sorted(arrived), sorted(gone))


@given(st.text(max_size=40))
def test_a_text_is_sent_as_it_was_written_with_its_tokens(text: str) -> None:
    tokens = GenerationStringAccuracy().tokens(text)
    sent = sent_text(text, tokens)
    apart = [token for token in sent["text"].replace(WORD_JOINER, " ").split(" ") if token]
    assert sent["text"].replace(WORD_JOINER, "") == text.replace(WORD_JOINER, "")
    assert sent.get("tokens", apart) == tokens


def test_white_space_and_rewritten_tokens_are_kept() -> None:
    assert sent_text("a  b", ["a", "b"]) == {"text": "a  b", "tokens": ["a", "b"]}
    assert sent_text("A b.", ["a", "b", "."]) == {"text": "A b.", "tokens": ["a", "b", "."]}
    assert sent_text("a b.", ["a", "b", "."]) == {"text": f"a b{WORD_JOINER}."}


def test_wrong_treelets_are_listed_with_what_is_wrong() -> None:
    # In "down the cat sat", `the cat` is whole; of `cat sat down` the word `down` has moved.
    items = [Item("1", {"A": "down the cat sat"}, ("the cat sat down",), (TREE,))]
    (drawn,) = drawn_treelets(Batch.of("A", items), GenerationTreeAccuracy())
    assert drawn["wrong"] == [
        {"head": 2, "expected": "cat sat down", "found": "down cat sat", "errors": "1 moved"}
    ]
    assert drawn["loose"] == ""


def test_treelets_ignore_case_if_the_metric_does() -> None:
    # For gta:lowercase=true "The" is "the": the one error is that "down" moved.
    first, *others = TREE.words
    tree = Tree((replace(first, form="The"), *others))
    items = [Item("1", {"A": "Down the cat sat"}, ("The cat sat down",), (tree,))]
    (found,) = drawn_treelets(Batch.of("A", items), GenerationTreeAccuracy(lowercase=True))
    assert [treelet["errors"] for treelet in found["wrong"]] == ["1 moved"]


def test_a_tree_is_drawn_over_the_tokens() -> None:
    drawn = drawn_tree("the cat sat down", TREE, GenerationTreeAccuracy(), "1")
    assert drawn["words"] == ["the", "cat", "sat", "down"]
    assert drawn["heads"] == [1, 2, -1, 2]
    assert drawn["heights"] == [1, 1, 0, 1]


def test_ranks_count_the_outputs_that_are_worse() -> None:
    ranks = _percentiles(np.array([[3.0, 1.0, np.nan, 2.0, 2.0]]))
    np.testing.assert_array_equal(ranks, [[100.0, 0.0, np.nan, 50.0, 50.0]])


def test_ranks_of_a_metric_for_which_lower_is_better_are_reversed() -> None:
    evaluation = small_evaluation()
    records = explorer_items(
        evaluation.shown_items, evaluation.metrics, evaluation.result.tables, evaluation.people
    )
    a, _, c = records[0]["outputs"]
    ter = evaluation.result.metrics.index("ter")
    assert a["scores"][ter] == 0 < c["scores"][ter]
    assert a["ranks"][ter] > c["ranks"][ter]
    assert a["people_ranks"][0] > c["people_ranks"][0]


def test_ranks_of_a_question_whose_lowest_value_is_best_are_reversed() -> None:
    fast_first = [
        Judgment(judge, f"i{n}", system, "seconds", value + n / 10)
        for judge in ("J1", "J2")
        for n in range(1, 7)
        for system, value in (("A", 2.0), ("B", 5.0), ("C", 9.0))
    ]
    evaluation = small_evaluation(answers=fast_first)
    records = explorer_items(
        evaluation.shown_items, evaluation.metrics, evaluation.result.tables, evaluation.people
    )
    a, b, c = (output["people_ranks"][0] for output in records[0]["outputs"])
    assert a > b > c
    assert evaluation.order == ["A", "B", "C"]


def test_missing_outputs_and_displays_are_shown_as_they_are() -> None:
    evalset = EvalSet([Item("1", {"A": "a b"}, ("a b",)), Item("2", {"B": "a"}, ("a b",))])
    evaluation = small_evaluation(evalset, [], metrics="random")
    first, second = explorer_items(
        evaluation.shown_items, evaluation.metrics, evaluation.result.tables, None
    )
    assert first["outputs"][1] is None and second["outputs"][0] is None
    displays = {"n1": ["nod", "blink"], "n2": []}
    assert _shown(displays, GenerationStringAccuracy()) == {"text": "n1: nod, blink; n2: "}


def test_paraphrased_references_come_last_with_their_new_words_marked() -> None:
    item = Item(
        "1",
        {"A": "the big cat"},
        ("the large cat",),
        references_by_system={"A": ("the big cat",)},
    )
    evaluation = small_evaluation(EvalSet([item, item._replace(id="2")]), [], metrics="gsa")
    (record, _) = explorer_items(
        evaluation.shown_items, evaluation.metrics, evaluation.result.tables, None
    )
    given_one, paraphrased = record["references"]
    assert "changed" not in given_one and paraphrased["changed"] == [1]
    assert record["outputs"][0]["alignment"] == {"reference": 1, "marks": "..."}


@pytest.mark.parametrize("metric", ["gsa", "gsa:tokenize=char"])
def test_the_alignment_is_that_of_the_metric_asked_for(metric: str) -> None:
    evalset = EvalSet.of({"A": ["ab", "ab"]}, ["ac", "ac"])
    evaluation = small_evaluation(evalset, [], metrics=metric)
    (record, _) = explorer_items(
        evaluation.shown_items, evaluation.metrics, evaluation.result.tables, None
    )
    assert record["outputs"][0]["alignment"]["marks"] == ("s" if metric == "gsa" else ".s")


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True, width=32), min_size=1, max_size=6))
def test_figures_are_sent_with_four_digits(values: list[float]) -> None:
    (row,) = _rounded(np.array(values, dtype=np.float64)[None, None, :])
    for value, (shown,) in zip(values, row, strict=True):
        expected = float(f"{value:.4g}")
        if not np.isfinite(value):
            assert shown is None
        else:  # ties may go either way
            assert shown == pytest.approx(expected, rel=1.01e-3)


def test_items_without_references_are_shown_without_alignments() -> None:
    bare = Item("i0", {"A": "the cat sat down", "B": "down", "C": "off"})
    evalset = EvalSet([bare, *small_evalset()])
    evaluation = small_evaluation(evalset, metrics="gsa,gta,understandability,length")
    records = explorer_items(
        evaluation.shown_items, evaluation.metrics, evaluation.result.tables, None
    )
    first, second = records[0], records[1]
    assert first["references"] == []
    assert all("alignment" not in output for output in first["outputs"])
    assert all("alignment" in output and "treelets" in output for output in second["outputs"])
    assert first["outputs"][0]["scores"] == [None, None, None, 4.0]


def test_the_usual_metrics_where_some_items_lack_references() -> None:
    bare = Item("i0", {"A": "a", "B": "b", "C": "c"})
    mixed = draw_shown_items(EvalSet([bare, *small_evalset()]), size=5, seed=1)
    assert usual_metrics(mixed, has_judgments=False) == ["bleu,chrf,ter,ssa,gsa,sta,gta,quality"]
    alone = EvalSet([Item("i0", {"D": "a"}), *small_evalset()])  # D has nothing to compare with
    assert usual_metrics(draw_shown_items(alone, size=5, seed=1), has_judgments=False) == [
        "length,ttr,distinct"
    ]
