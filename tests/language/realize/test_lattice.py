"""Lattices: sizes, paths, and the text that OpenFst reads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from tests.language.realize.lattices import lattices
from wellput.core.errors import InputError
from wellput.language.realize import lattice
from wellput.language.realize.inputs import Node, input_tree
from wellput.language.realize.lattice import Automaton, Lattice, openfst_text, symbols_text
from wellput.language.realize.unraveler import unravel
from wellput.language.trees.supertags import InducedGrammar, parse_supertag


@settings(max_examples=50, deadline=None)
@given(lattices(max_nodes=5))
def test_sizes_are_those_of_what_is_written_out(lattice: Lattice) -> None:
    assert lattice.n_flat_arcs == len(list(lattice.flat_arcs()))
    assert lattice.n_paths == len(list(lattice.paths()))


def example() -> Lattice:
    """*often* before or after *cats*, both before *slept*."""
    nodes = [Node((form,)) for form in ("slept", "cats", "often")]
    supertags = {
        "slept": parse_supertag("VBD/root[nsubj,_]"),
        "cats": parse_supertag("NNS/nsubj<V[_]"),
        "often": parse_supertag("RB/advmod<V[_]"),
    }
    tree = input_tree(nodes, [-1, 0, 0])
    return unravel(tree, [supertags[node.form] for node in tree.nodes], InducedGrammar()).lattice


def test_openfst_text() -> None:
    # An adverb before the verb may stand before the subject or after it.
    assert openfst_text(example()) == (
        "0\t2\toften\t0\n0\t3\tcats\t0\n2\t4\tcats\t0\n3\t4\toften\t0\n4\t1\tslept\t0\n1\n"
    )
    assert symbols_text([example()]) == "<eps>\t0\nslept\t1\ncats\t2\noften\t3\n"


def test_white_space_within_a_word_does_not_break_the_columns() -> None:
    lattice = Lattice(("New York",), (Automaton(2, np.array([(0, 1, 0)], np.int32), np.zeros(1)),))
    assert openfst_text(lattice) == "0\t1\tNew␣York\t0\n1\n"


def test_a_lattice_too_large_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattice, "MAX_WRITTEN_ARCS", 4)
    with pytest.raises(InputError, match="has 5 arcs when written out"):
        openfst_text(example())
