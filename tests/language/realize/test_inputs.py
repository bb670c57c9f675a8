"""Inputs: trees without order, from CoNLL-U and JSON, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellput.core.errors import InputError
from wellput.core.tree import Tree, Word
from wellput.language.realize.baselines import random_heads
from wellput.language.realize.inputs import Node, input_tree, parse_input, read_inputs, unordered

# Figure 2 of Bangalore, Rambow & Whittaker 2000, as its text describes it.
ESTIMATE = {
    "word": "estimate",
    "children": [
        {"word": "There"}, {"word": "was"}, {"word": "no"}, {"word": "cost"},
        {"word": "for", "children": [
            {"word": "phase", "children": [{"word": "the"}, {"word": "second"}]}]},
    ],
}  # fmt: skip


@given(st.lists(st.sampled_from("ab"), min_size=1, max_size=12), st.integers(0, 2**32))
def test_the_order_of_the_nodes_never_shows(forms: list[str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    heads = [head - 1 for head in random_heads(len(forms), rng)]
    nodes = [Node((form,)) for form in forms]
    order = [int(node) for node in rng.permutation(len(forms))]
    places = {node: place for place, node in enumerate(order)} | {-1: -1}
    shuffled = input_tree([nodes[n] for n in order], [places[heads[n]] for n in order])
    assert shuffled == input_tree(nodes, heads)


def test_nodes_come_top_down_and_mothers_before_daughters() -> None:
    tree = parse_input(ESTIMATE)
    assert tree.nodes[0].form == "estimate"
    assert all(head < node for node, head in enumerate(tree.heads))
    assert [tree.nodes[d].form for d in tree.daughters[0]] == ["There", "cost", "no", "was", "for"]


def test_an_input_knows_only_what_its_kind_tells() -> None:
    word = Word("sat", 0, lemma="sit", upos="VERB", xpos="VBD", feats="Tense=Past", relation="root")
    tree = Tree((word,))
    assert unordered(tree).nodes == (Node(("sat",)),)
    assert unordered(tree, kind="labels").nodes == (Node(("sat",), "root", "VERB", "VBD"),)
    assert unordered(tree, kind="lemmas").nodes == (
        Node(("sit",), "root", "VERB", "VBD", "sit", "Tense=Past"),
    )


def test_a_node_without_a_lemma_is_refused_where_lemmas_are_needed() -> None:
    assert parse_input({"lemma": "cat"}, kind="lemmas").nodes[0].forms == ("cat",)
    with pytest.raises(InputError, match="needs a lemma for each node"):
        parse_input({"word": "cat"}, kind="lemmas")


@pytest.mark.parametrize(
    ("nodes", "heads", "message"),
    [
        ([], [], "empty"),
        ([("a",), ("b",)], [-1, -1], "one root, this one has 2: nodes 1, 2"),
        ([("a",), ("b",)], [1, 0], "one root, this one has 0"),
        ([("a",), ("b",), ("c",)], [-1, 2, 1], "circle; nodes 2, 3"),
        ([("a",), ("b",)], [-1, 5], "its head is 6"),
        ([("a",), (7,)], [-1, 0], "node 2: the word must be text"),
        ([("a",), (" ",)], [-1, 0], "node 2: the word is blank"),
        ([("a",), ()], [-1, 0], "node 2"),
    ],
)
def test_what_is_no_tree_is_refused(
    nodes: list[tuple[Any, ...]], heads: list[int], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        input_tree([Node(forms) for forms in nodes], heads)


def test_a_node_may_leave_the_word_open() -> None:
    assert parse_input({"words": ["big", "large", "big"]}).nodes[0].forms == ("big", "large")
    synset = parse_input({"synset": "car.n.01"}, lambda name: ["car", "auto"])
    assert synset.nodes[0].forms == ("car", "auto")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "a node is an object"),
        ({"word": 5}, "word must be text"),
        ({"words": []}, "words must be text"),
        ({"words": "big"}, "words must be text"),
        ({"word": ""}, "not blank"),
        ({"word": "a\nb"}, "must be on one line"),
        ({"children": []}, "one of word, words and synset"),
        ({"word": "a", "words": ["b"]}, "one of word, words and synset"),
        ({"word": "a", "children": {"word": "b"}}, "children must be a list"),
        ({"word": "a", "daughters": []}, "no key daughters"),
        ({"synset": "car.n.01"}, "needs a WordNet"),
    ],
)
def test_json_that_is_no_tree_is_refused(value: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_input(value)


def test_an_object_that_contains_itself_is_refused() -> None:
    endless: dict[str, Any] = {"word": "a", "children": []}
    endless["children"].append(endless)
    with pytest.raises(InputError, match="contains itself"):
        parse_input(endless)


def test_files_hold_one_tree_or_many(tmp_path: Path) -> None:
    def forms(name: str, text: str) -> list[str]:
        (tmp_path / name).write_text(text)
        trees = read_inputs(tmp_path / name, lambda _: [], kind="words")
        return [tree.nodes[0].form for tree in trees]

    assert forms("one.json", json.dumps(ESTIMATE)) == ["estimate"]
    assert forms("list.json", '[{"word": "a"}, {"word": "b"}]') == ["a", "b"]
    assert forms("lines.jsonl", '{"word": "a"}\n\n{"word": "b"}\n') == ["a", "b"]
    with pytest.raises(InputError, match=r"bad.jsonl, line 2: .*one of word"):
        forms("bad.jsonl", '{"word": "a"}\n{}\n')
    with pytest.raises(InputError, match=r"cut.json, line 1: this is not JSON"):
        forms("cut.json", '{"word": "a"')
    with pytest.raises(InputError, match=r"deep.json, line 1: nodes are nested too deeply"):
        forms("deep.json", '{"word": "a", "children": [' * 100_000)
    with pytest.raises(InputError, match=r"none.json has no trees"):
        forms("none.json", "[]")
