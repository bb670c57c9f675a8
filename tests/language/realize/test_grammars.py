"""The XTAG format's grammar in the place of the induced one: Figure 2 of the paper."""

from __future__ import annotations

from pathlib import Path

from tests.language.trees.tiny_tag import write_grammar
from wellput.language.realize.fergus import grammar_named
from wellput.language.realize.inputs import parse_input
from wellput.language.realize.realizer import Realizer
from wellput.language.realize.unraveler import unravel

FIGURE_2 = {
    "word": "estimate", "xpos": "NN", "children": [
        {"word": "there", "xpos": "EX"}, {"word": "was", "xpos": "VBD"},
        {"word": "no", "xpos": "DT"}, {"word": "cost", "xpos": "NN"},
        {"word": "for", "xpos": "IN", "children": [
            {"word": "phase", "xpos": "NN", "children": [
                {"word": "the", "xpos": "DT"}, {"word": "second", "xpos": "JJ"}]}]}]}  # fmt: skip


def test_figure_2_by_its_parts_of_speech(tmp_path: Path) -> None:
    ordering = grammar_named(f"xtag:{write_grammar(tmp_path)}")
    tree = parse_input(FIGURE_2, kind="labels")
    supertags = ordering.translate(tree, ())
    by_form = dict(zip((node.form for node in tree.nodes), supertags, strict=True))
    assert ordering.shown(by_form["estimate"]) == "αnx0N1"
    for form in ("was", "for"):
        assert len(ordering.grammar.places(by_form["estimate"], by_form[form])) > 1
    lattice = unravel(tree, supertags, ordering.grammar).lattice
    sentences = {" ".join(lattice.words[word] for word in path) for path, _ in lattice.paths()}
    assert "there was no cost estimate for the second phase" in sentences
    assert "was there no cost estimate for the second phase" in sentences
    assert not any("the second for" in sentence for sentence in sentences)


def test_the_induced_supertags_say_the_side(toy_models: Path, tmp_path: Path) -> None:
    folder = write_grammar(tmp_path)
    tree = {"word": "sleeps", "children": [{"word": "dog", "children": [{"word": "the"}]}]}
    realizer = Realizer.load(toy_models, model="fergus", grammar=f"xtag:{folder}")
    (realized,) = realizer.realize_all([tree])
    assert realized.best[0].text == "the dog sleeps"
    assert realized.supertags[0] == "αnx0V"
