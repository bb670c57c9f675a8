"""The steps of `wellput train english` that learn from trees.

Treebanks without tags in the column XPOS, such as ATIS, are used for the n-gram model only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wellput.core.errors import InputError
from wellput.core.tree import Tree
from wellput.io.trees import read_trees
from wellput.language.models.english_training import SourceRole, TrainingInputs
from wellput.language.models.head_driven import HeadDrivenParser
from wellput.language.models.head_driven_training import save_head_driven, train_head_driven
from wellput.language.models.ngram_files import load_model
from wellput.language.models.parser_training import (
    attachment_scores,
    train_tagger,
    train_transitions,
)
from wellput.language.models.parsers import TaggingParser, load_parser
from wellput.language.models.tagger import Tagger
from wellput.language.models.tree_training import train_tree_model
from wellput.language.shipped import NGRAMS_FILE, TAGGER_FILE


def make_tagger(inputs: TrainingInputs, path: Path) -> dict[str, Any]:
    """Figures: the share of dev's words with the right tag."""
    trees, dev = tagged_trees(inputs, "treebank"), tagged_trees(inputs, "dev")
    tagger = train_tagger(
        trees, dev=dev, seed=inputs.seed, on_epoch=lambda _: inputs.on_progress(len(trees))
    )
    tagger.save(path, _size(trees))
    found = tagger.tag(_forms(dev), threads=inputs.threads)
    pairs = [
        (word.xpos, tag)
        for tree, tags in zip(dev, found, strict=True)
        for word, tag in zip(tree.words, tags, strict=True)
    ]
    return {**_size(trees), "right tags of dev": sum(a == b for a, b in pairs) / len(pairs)}


def make_parser(inputs: TrainingInputs, path: Path) -> dict[str, Any]:
    """Figures: attachment scores on dev's words, with predicted tags."""
    trees, dev = tagged_trees(inputs, "treebank"), tagged_trees(inputs, "dev")
    transitions = train_transitions(
        trees, seed=inputs.seed, on_epoch=lambda _: inputs.on_progress(len(trees))
    )
    transitions.save(path, _size(trees))
    parser = TaggingParser(Tagger.load(inputs.folder / TAGGER_FILE), transitions)
    scores = attachment_scores(dev, parser.parse(_forms(dev), threads=inputs.threads))
    return {**_size(trees), "dev": scores}


def make_head_driven(inputs: TrainingInputs, path: Path) -> dict[str, Any]:
    """Figures: attachment scores on dev's words, and the share of its sentences that stay whole."""
    trees, dev = tagged_trees(inputs, "treebank"), tagged_trees(inputs, "dev")
    guesser, ngrams = load_parser(str(inputs.folder)), load_model(inputs.folder / NGRAMS_FILE)
    arrays = train_head_driven(
        trees,
        guesser,
        ngrams,
        dev=dev,
        seed=inputs.seed,
        on_epoch=lambda _: inputs.on_progress(len(trees)),
    )
    save_head_driven(path, arrays, _size(trees))
    parser = HeadDrivenParser(arrays, guesser, ngrams)
    parsed = parser.parse(_forms(dev), threads=inputs.threads)
    whole = sum(found.fragments == 1 for found in parsed) / len(dev)
    scores = attachment_scores(dev, [found.tree for found in parsed])
    attached = {name: scores[name] for name in ("uas", "las")}
    return {**_size(trees), "dev": attached, "whole sentences of dev": whole}


def make_tree_model(inputs: TrainingInputs, path: Path) -> dict[str, Any]:
    """Figures: the size of the model; docs/results has how well it chooses."""
    trees = tagged_trees(inputs, "treebank")
    model = train_tree_model(trees)
    model.save(path)
    return {**_size(trees), "supertags": len(model.supertags), "known words": len(model.words)}


def tagged_trees(inputs: TrainingInputs, role: SourceRole) -> list[Tree]:
    """The trees of all files whose words have tags in the column XPOS."""
    found = [
        tree
        for path in inputs.paths(role)
        for tree in read_trees(path)
        if all(word.xpos != "_" for word in tree.words)
    ]
    if not found:
        names = ", ".join(path.name for path in inputs.paths(role))
        raise InputError(f"No tree in {names} has a tag in the column XPOS for each of its words.")
    return found


def _forms(trees: list[Tree]) -> list[list[str]]:
    return [[word.form for word in tree.words] for tree in trees]


def _size(trees: list[Tree]) -> dict[str, Any]:
    return {"trees": len(trees), "words": sum(len(tree.words) for tree in trees)}
