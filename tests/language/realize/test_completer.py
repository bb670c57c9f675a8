"""fergus and lr behind a completer: lemmas inflected and words added, then ordered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.language.realize.treebank import ngram_lines, treebank
from wellput.core.errors import InputError
from wellput.core.tree import Tree
from wellput.language.realize import completer
from wellput.language.realize.completer import Completer, train_completer
from wellput.language.realize.inputs import InputKind, unordered
from wellput.language.realize.inserter import Insertion, pruned_tree
from wellput.language.realize.label_chooser import ChooserTraining
from wellput.language.realize.parameters import FergusParts
from wellput.language.realize.realizer import Realizer
from wellput.language.realize.training import train_fergus

BOTH: tuple[Insertion, ...] = ("punctuation", "function")


@pytest.fixture(scope="module")
def parts() -> FergusParts:
    # A bundle of words must be seen 15 times, and each sentence is there as often as asked for.
    return train_fergus(treebank(40))


def pruned() -> list[Tree]:
    return [pruned_tree(tree, BOTH).tree for tree in treebank(1)]


@pytest.mark.parametrize("kind", ["words", "labels", "lemmas"])
def test_fergus_adds_the_words_that_were_taken_out(parts: FergusParts, kind: InputKind) -> None:
    realizer = Realizer.of_parts(parts, model="fergus", insert=BOTH, inflects=kind == "lemmas")
    texts = [realizer.realize(tree, kind=kind).text.lower() for tree in pruned()]
    assert texts == ngram_lines(treebank(1))
    bare = Realizer.of_parts(parts, model="fergus")
    assert "." not in bare.realize(pruned()[0]).text.split()


def test_only_the_kinds_asked_for_are_added(parts: FergusParts) -> None:
    [first, *_] = pruned()
    dotted = Realizer.of_parts(parts, model="fergus", insert=["punctuation"]).realize(first)
    assert sorted(dotted.words) == sorted([*(word.form for word in first.words), "."])


def test_the_completer_comes_back_from_its_file(parts: FergusParts, tmp_path: Path) -> None:
    parts.save(tmp_path)
    again = Completer.load(tmp_path / "completer.wpm")
    assert again.fingerprint == parts.completer.fingerprint
    inserting = replace(parts.completer, insert=frozenset(BOTH))
    for kind in ("words", "labels", "lemmas"):
        inputs = [unordered(tree, kind=kind) for tree in pruned()]
        found = replace(again, insert=frozenset(BOTH)).completed(inputs)
        assert found == inserting.completed(inputs)
        # Given all together or one by one, trees with and without labels.
        assert [inserting.completed([tree])[0] for tree in inputs] == found
    for model in ("fergus", "lr"):
        loaded = Realizer.load(tmp_path, model=model, insert=BOTH)
        made = Realizer.of_parts(parts, model=model, insert=BOTH)
        assert [loaded.realize(tree) for tree in pruned()] == [
            made.realize(tree) for tree in pruned()
        ]


def test_without_a_dictionary_no_forms_are_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    how = ChooserTraining(epochs=1)
    trees = [*treebank(4)]
    assert ("a", "DT", "") in train_completer(trees, how, how).inflector.seen  # a, an
    monkeypatch.setattr(completer, "has_dictionary", lambda: False)
    assert not train_completer(trees, how, how).inflector.seen


def test_lemmas_must_be_there(parts: FergusParts) -> None:
    [tree, *_] = treebank(1)
    bare = replace(tree, words=tuple(replace(word, lemma="_") for word in tree.words))
    realizer = Realizer.of_parts(parts, model="fergus", inflects=True)
    with pytest.raises(InputError, match=r"no lemma of 'The', 'dog', 'barks'.*convert --lemmas"):
        realizer.realize(bare, kind="lemmas")
