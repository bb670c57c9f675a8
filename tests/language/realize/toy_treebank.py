"""A treebank of a few sentences, and the models that realizing needs, trained on it."""

from __future__ import annotations

from pathlib import Path

from wellput.core.tree import Tree, Word
from wellput.language import shipped
from wellput.language.models.ngram_files import save_model
from wellput.language.models.ngram_training import train
from wellput.language.models.tree_model import TreeModel
from wellput.language.realize.label_chooser import ChooserTraining
from wellput.language.realize.learned_realizer import OrdererTraining
from wellput.language.realize.parameters import learn_capitals
from wellput.language.realize.training import (
    LearnedRealizerTraining,
    train_learned_realizer,
    train_realizer,
)

# word/tag/relation/head
SENTENCES = (
    "The/DT/det/2 dog/NN/nsubj/3 sees/VBZ/root/0 a/DT/det/5 cat/NN/obj/3 ././punct/3",
    "A/DT/det/2 cat/NN/nsubj/3 sees/VBZ/root/0 the/DT/det/5 dog/NN/obj/3 ././punct/3",
    "The/DT/det/3 old/JJ/amod/3 dog/NN/nsubj/4 sleeps/VBZ/root/0 ././punct/4",
    "A/DT/det/2 cat/NN/nsubj/4 often/RB/advmod/4 sleeps/VBZ/root/0 ././punct/4",
    "The/DT/det/2 dog/NN/nsubj/3 sleeps/VBZ/root/0 in/IN/case/6 the/DT/det/6 house/NN/obl/3",
    "Now/RB/advmod/4 the/DT/det/3 cat/NN/nsubj/4 sees/VBZ/root/0 a/DT/det/7 old/JJ/amod/7 dog/NN/obj/4",
    "Rome/NNP/nsubj/2 sees/VBZ/root/0 a/DT/det/4 dog/NN/obj/2 in/IN/case/7 the/DT/det/7 den/NN/obl/2",
)


def tree_of(text: str) -> Tree:
    words = []
    for token in text.split():
        form, tag, relation, head = token.rsplit("/", 3)
        words.append(Word(form, int(head), xpos=tag, relation=relation))
    return Tree(tuple(words))


TREES = [tree_of(sentence) for sentence in SENTENCES]


def save_toy_models(folder: Path) -> None:
    """The four files of a language, and the shipped language check."""
    check = shipped.shipped(shipped.LANGUAGE_FILE)
    (folder / check.name).write_bytes(check.read_bytes())
    tree_model = TreeModel.train(TREES)
    capitals = learn_capitals(TREES)
    lowered = [capitals.lowered_tree(tree) for tree in TREES]
    ngrams = train([[" ".join(word.form for word in tree.words) for tree in lowered]]).model
    tree_model.save(folder / "tree.wpm")
    save_model(ngrams, folder / "ngrams.wlm")
    chooser = ChooserTraining(min_updates=1, min_count=1, min_weight=0.0)
    settings = LearnedRealizerTraining(
        chooser, OrdererTraining(min_updates=1, min_weight=0.0), chooser, folds=2
    )
    learned = train_learned_realizer(TREES * 5, TREES, ngrams, settings=settings)
    learned.save(folder / "learned.wpm")
    train_realizer(TREES, tree_model=tree_model, ngrams=ngrams).save(folder / "realizer.wpm")
