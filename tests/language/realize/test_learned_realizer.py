"""The learned realizer, trained on a few sentences."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.language.realize.order_networks import small_network
from tests.language.realize.treebank import ngram_lines, treebank
from wellput.api.realize import realize
from wellput.core.errors import InputError
from wellput.core.tree import Tree
from wellput.io.model_files import load_model_file, save_model_file
from wellput.io.trees import format_tree
from wellput.language.models.english_training import TrainingInputs, TrainingSource
from wellput.language.models.ngram_files import save_model
from wellput.language.models.ngram_training import train
from wellput.language.models.ngrams import NgramModel
from wellput.language.realize.inputs import InputKind, Node, input_tree, unordered
from wellput.language.realize.inserter import pruned_tree
from wellput.language.realize.label_chooser import ChooserTraining
from wellput.language.realize.learned_realizer import LearnedRealizer, OrdererTraining
from wellput.language.realize.order_network import TunedWeights
from wellput.language.realize.training import (
    LearnedRealizerTraining,
    make_learned_realizer,
    train_learned_realizer,
)

CHOOSER = ChooserTraining(epochs=15, min_updates=1, min_count=1, min_weight=0.0)
SETTINGS = LearnedRealizerTraining(
    CHOOSER, OrdererTraining(min_updates=1, min_weight=0.0), CHOOSER, folds=2
)


def lowered() -> list[Tree]:
    """One of each sentence, without capitals."""
    return [
        replace(tree, words=tuple(replace(w, form=w.form.lower()) for w in tree.words))
        for tree in treebank(1)
    ]


@pytest.fixture(scope="module")
def ngrams() -> NgramModel:
    return train([ngram_lines(treebank())], order=3).model


@pytest.fixture(scope="module")
def realizer(ngrams: NgramModel) -> LearnedRealizer:
    return train_learned_realizer(treebank(8), treebank(1), ngrams, settings=SETTINGS)


@pytest.mark.parametrize("kind", ["words", "labels", "lemmas"])
def test_known_sentences_come_out_as_they_were(realizer: LearnedRealizer, kind: InputKind) -> None:
    realized = realizer.realize([unordered(tree, kind=kind) for tree in lowered()])
    assert [one.best[0].text for one in realized] == ngram_lines(treebank(1))


@pytest.mark.parametrize("kind", ["words", "labels", "lemmas"])
def test_the_order_of_the_nodes_never_matters(realizer: LearnedRealizer, kind: InputKind) -> None:
    rng = np.random.default_rng(5)
    for tree in lowered():
        turned = rng.permutation(len(tree.words)).tolist()
        places = {place: number for number, place in enumerate(turned, start=1)}
        words = tuple(
            replace(tree.words[p], head=places[tree.words[p].head - 1] if tree.words[p].head else 0)
            for p in turned
        )
        pair = [unordered(Tree(w), kind=kind) for w in (tree.words, words)]
        first, second = realizer.realize(pair)
        assert first.best[0].text == second.best[0].text


def test_missing_words_are_put_in(realizer: LearnedRealizer) -> None:
    inserting = replace(realizer, insert=frozenset(["punctuation", "function"]))
    pruned = [pruned_tree(tree, ("punctuation", "function")).tree for tree in lowered()]
    for kind in ("words", "labels"):
        inputs = [unordered(tree, kind=kind) for tree in pruned]
        texts = [one.best[0].text for one in inserting.realize(inputs)]
        assert texts == ngram_lines(treebank(1))


def test_supertags_are_those_of_the_realization(realizer: LearnedRealizer) -> None:
    realized = realizer.realize([unordered(lowered()[0])])[0]
    by_word = {
        node.form: tag for node, tag in zip(realized.tree.nodes, realized.supertags, strict=True)
    }
    assert by_word["barks"] == "VBZ/root[nsubj,_]"
    assert by_word["the"] == "DT/det<N[_]"


def test_n_best_are_different_and_start_with_the_best(realizer: LearnedRealizer) -> None:
    tree = unordered(lowered()[1])
    best = realizer.realize([tree], n_best=5)[0].best
    assert len({one.words for one in best}) == 5
    assert best[0].words == realizer.realize([tree])[0].best[0].words
    assert [one.score for one in best] == sorted((one.score for one in best), reverse=True)


def test_alternatives_are_chosen_by_the_words_around_them(realizer: LearnedRealizer) -> None:
    nodes = [Node(("dog",)), Node(("a", "an")), Node(("old",))]
    assert realizer.realize([input_tree(nodes, [-1, 0, 0])])[0].best[0].text == "an old dog"


def test_a_realizer_comes_back_from_its_file(
    realizer: LearnedRealizer, ngrams: NgramModel, tmp_path: Path
) -> None:
    path = tmp_path / "learned.wpm"
    realizer.save(path)
    again = LearnedRealizer.load(path, ngrams)
    assert again.fingerprint == realizer.fingerprint
    inputs = [unordered(tree, kind="lemmas") for tree in lowered()]
    assert [one.best for one in again.realize(inputs)] == [
        one.best for one in realizer.realize(inputs)
    ]


def test_training_is_deterministic(realizer: LearnedRealizer, ngrams: NgramModel) -> None:
    again = train_learned_realizer(treebank(8), treebank(1), ngrams, settings=SETTINGS)
    assert again.fingerprint == realizer.fingerprint


def test_the_step_of_train_english(ngrams: NgramModel, tmp_path: Path) -> None:
    save_model(ngrams, tmp_path / "ngrams.wlm")
    sources = []
    for role, times in (("treebank", 8), ("dev", 1)):
        path = tmp_path / f"{role}.conllu"
        path.write_text("".join(map(format_tree, treebank(times))), encoding="utf-8")
        sources.append(TrainingSource(path, "treebank" if role == "treebank" else "dev"))
    path = tmp_path / "learned.wpm"
    figures = make_learned_realizer(TrainingInputs(sources, tmp_path), path)
    assert figures["trees"] == 40
    realized = LearnedRealizer.load(path, ngrams).realize([unordered(lowered()[0])])[0]
    assert sorted(realized.best[0].words) == [".", "barks", "dog", "the"]


def test_with_an_order_network_its_weights_count(
    realizer: LearnedRealizer, ngrams: NgramModel, tmp_path: Path
) -> None:
    path = tmp_path / "learned.wpm"
    realizer.save(path)
    network = small_network()
    helped = LearnedRealizer.load(path, ngrams, network)
    for kind, orderer in helped.orderers.items():
        assert orderer.network is network
        assert orderer.ngram_weight == network.tuned[kind].ngrams
        assert orderer.are_labels_chosen == (kind == "words")
    kinds: tuple[InputKind, ...] = ("words", "labels", "lemmas")
    for given in kinds:
        inputs = [unordered(tree, kind=given) for tree in lowered()]
        for tree, one in zip(lowered(), helped.realize(inputs), strict=True):
            assert len(one.best[0].words) == len(tree.words)
    strong = replace(
        network, tuned=dict.fromkeys(network.tuned, TunedWeights(network=100.0, ngrams=0.0))
    )
    inputs = [unordered(tree) for tree in lowered()]
    orders = [
        [one.best[0].nodes for one in LearnedRealizer.load(path, ngrams, own).realize(inputs)]
        for own in (None, strong)
    ]
    assert orders[0] != orders[1]


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "learned.wpm"
    save_model_file(path, LearnedRealizer.kind, {}, {"tuned": np.zeros(3)})
    with pytest.raises(InputError, match="damaged realizer"):
        LearnedRealizer.load(path, None)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("inserter.categories.text", b"[["),
        ("inserter.relations.text", b"[1]"),
        ("inserter.local", b"\xff"),
        ("inserter.usual", b"\1\0"),
        ("inserter.labeler.edges", b"\xff"),
    ],
)
def test_a_forged_inserter_is_refused(
    tmp_path: Path, realizer: LearnedRealizer, name: str, value: bytes
) -> None:
    """When the file is read, not when words are first inserted."""
    path = tmp_path / "learned.wpm"
    realizer.save(path)
    file = load_model_file(path, LearnedRealizer.kind)
    kept = np.array(file.arrays[name])
    forged = np.resize(np.frombuffer(value, np.uint8), kept.nbytes).view(kept.dtype)
    if name == "inserter.usual":
        forged = forged[:1]
    save_model_file(path, LearnedRealizer.kind, {}, {**file.arrays, name: forged})
    with pytest.raises(InputError, match="damaged realizer"):
        LearnedRealizer.load(path, None)


def test_unknown_words_only_give_a_sentence(realizer: LearnedRealizer) -> None:
    nodes = [Node((word,)) for word in ("blick", "zörp", "\ud800", "😀")]
    text = realizer.realize([input_tree(nodes, [-1, 0, 0, 1])])[0].best[0].words
    assert sorted(text) == sorted(["blick", "zörp", "\ud800", "😀"])


@pytest.mark.parametrize("stop", [[], [{"word": "."}]])
@pytest.mark.parametrize("verb", ["barks", "barked"])
def test_the_only_noun_of_a_verb_comes_first(verb: str, stop: list[dict[str, str]]) -> None:
    """The chooser of the shipped models takes this dog for an object."""
    dog = {"word": "dog", "children": [{"word": "a"}]}
    [sentence] = realize([{"word": verb, "children": [dog, *stop]}]).sentences
    assert sentence == " ".join(["a dog", verb, *("." for _ in stop)])


def test_relations_without_tags_are_used() -> None:
    """Of words alone, *saw a cat the dog* could have either noun as its subject."""
    texts = set()
    for subject, other in (("dog", "cat"), ("cat", "dog")):
        nodes = [
            {"word": subject, "relation": "nsubj", "children": [{"word": "a", "relation": "det"}]},
            {"word": other, "relation": "obj", "children": [{"word": "a", "relation": "det"}]},
        ]
        tree = {"word": "saw", "relation": "root", "children": nodes}
        [text] = realize([tree], input="labels").sentences
        texts.add(text)
    assert texts == {"a dog saw a cat", "a cat saw a dog"}
