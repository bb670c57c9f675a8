"""Trains realizers: the parts of FERGUS and its baseline LR, and the learned realizer.

Every part is learned from one treebank; the weights of the parts are tuned on other trees. A label is a
part of speech with a relation. The learned realizer has an orderer for inputs with labels, and one for
inputs without. For an input without labels, a chooser chooses them first, and may be wrong. So this
orderer is trained on chosen labels, not on the treebank's right ones, which it would trust too much.
The choosers of these labels were trained on other sentences (jackknifing).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from wellput.core.errors import InputError
from wellput.core.tree import Tree
from wellput.language.models.english_steps import tagged_trees
from wellput.language.models.english_training import TrainingInputs
from wellput.language.models.ngram_files import load_model, save_model
from wellput.language.models.ngram_training import train as train_ngrams
from wellput.language.models.ngrams import NgramModel
from wellput.language.models.tree_model import TreeModel
from wellput.language.models.tree_training import train_tree_model
from wellput.language.realize.baselines import train_left_right
from wellput.language.realize.completer import LabelKind, train_completer
from wellput.language.realize.fergus import Fergus, induced_grammar
from wellput.language.realize.inflector import learn_inflection_rules, learn_inflections
from wellput.language.realize.inputs import UNKNOWN_LABEL, InputKind, unordered
from wellput.language.realize.inserter import train_inserter
from wellput.language.realize.label_chooser import (
    ChooserTraining,
    Forest,
    Label,
    jackknifed_labels,
    train_chooser,
)
from wellput.language.realize.learned_realizer import (
    ORDERER_KINDS,
    SPACE_INSIDE,
    LearnedRealizer,
    Orderer,
    OrdererTraining,
    train_orderer,
)
from wellput.language.realize.parameters import (
    FergusParts,
    RealizerParameters,
    learn_capitals,
    train_precedence,
)
from wellput.language.shipped import (
    LEARNED_REALIZER_FILE,
    NGRAMS_FILE,
    REALIZER_FILE,
    TREE_MODEL_FILE,
)
from wellput.language.trees.supertags import category_of

SEED = 12345
FERGUS_NGRAM_WEIGHTS = (0.125, 0.25, 0.375, 0.5, 0.75, 1.0, 1.5)
"""The weights of the n-gram model that are tried for FERGUS."""


def train_realizer(
    trees: Sequence[Tree],
    *,
    sample: Sequence[Tree] = (),
    tree_model: TreeModel,
    ngrams: NgramModel,
    seed: int = SEED,
    card: Mapping[str, Any] | None = None,
    threads: int = 1,
    on_progress: Callable[[int], None] = lambda _: None,
) -> RealizerParameters:
    """The parameters of FERGUS and LR, learned from treebank trees. The weight of the n-gram model is
    the one with which the trees of the `sample` are realized best; without a sample it is 1. Neither
    the tree model nor the n-gram model may be trained on the sample."""
    capitals = learn_capitals(trees)
    lowered = [capitals.lowered_tree(tree) for tree in trees]
    left_right = train_left_right(lowered, rng=np.random.default_rng(seed))
    precedence = train_precedence(lowered)
    on_progress(len(trees))
    words = sum(len(tree.words) for tree in trees)
    full_card = {"trees": len(trees), "words": words, "seed": seed, **(card or {})}
    model = RealizerParameters(capitals, left_right, precedence, card=full_card)
    if not sample:
        return model
    fergus = Fergus("fergus+", tree_model, ngrams, induced_grammar(), precedence=precedence)
    kept_by_weight = {}
    inputs = [unordered(capitals.lowered_tree(tree)) for tree in sample]
    supertags = fergus.choose_supertags(inputs, threads=threads)
    for lm_weight in FERGUS_NGRAM_WEIGHTS:
        weighed = replace(fergus, lm_weight=lm_weight)
        realized = weighed.order(inputs, supertags, threads=threads)
        sentences = [result.best[0].words for result in realized]
        kept_by_weight[lm_weight] = neighbors_kept(sentences, sample)
        on_progress(len(sample))
    best = max(kept_by_weight, key=kept_by_weight.__getitem__)
    rounded_shares = {f"{weight:g}": round(share, 5) for weight, share in kept_by_weight.items()}
    return replace(model, lm_weight=best, card={**full_card, "neighbors_kept": rounded_shares})


def train_fergus(
    trees: Sequence[Tree],
    *,
    sample: Sequence[Tree] = (),
    seed: int = SEED,
    threads: int = 1,
    on_progress: Callable[[int], None] = lambda _: None,
) -> FergusParts:
    """All parts of FERGUS from one treebank, as in the paper: the n-gram model learns from the same
    sentences as the tree model."""
    if not trees:
        raise InputError("There are no trees to train FERGUS on.")
    capitals = learn_capitals(trees)
    lowered = [capitals.lowered_tree(tree) for tree in trees]
    tree_model = train_tree_model(lowered)
    ngrams = train_ngrams([spaced_sentences(lowered)]).model
    parameters = train_realizer(
        trees,
        sample=sample,
        tree_model=tree_model,
        ngrams=ngrams,
        seed=seed,
        threads=threads,
        on_progress=on_progress,
    )
    completer = train_completer(
        lowered, replace(INSERTER_TRAINING, seed=seed), replace(LABELER_TRAINING, seed=seed)
    )
    return FergusParts(tree_model, ngrams, parameters, completer)


def spaced_sentences(trees: Sequence[Tree]) -> list[str]:
    """The words of each tree, joined by spaces; spaces inside words become `_`."""
    return [" ".join(word.form.replace(" ", SPACE_INSIDE) for word in tree.words) for tree in trees]


@dataclass(frozen=True, eq=False)
class TreebankRealizer:
    """The parts of the models `learned`, `fergus`, `fergus+` and `lr` for a language. `kept` is, by
    kind of input (`words` or `labels`, as in `ORDERER_KINDS`), the share of pairs of neighboring words
    that `learned` gets right on the trees on which it was tuned."""

    tree_model: TreeModel
    ngrams: NgramModel
    parameters: RealizerParameters
    learned: LearnedRealizer
    kept: Mapping[str, float]

    def save(self, folder: Path) -> None:
        self.tree_model.save(folder / TREE_MODEL_FILE)
        save_model(self.ngrams, folder / NGRAMS_FILE)
        self.parameters.save(folder / REALIZER_FILE)
        self.learned.save(folder / LEARNED_REALIZER_FILE)


SAMPLE_TREES = 200
"""The number of trees on which the weights of the n-gram model are tuned."""


def train_treebank_realizer(
    trees: Sequence[Tree],
    dev: Sequence[Tree],
    *,
    text: Sequence[str] = (),
    seed: int = SEED,
    threads: int = 1,
    on_step: Callable[[str], None] = lambda _: None,
) -> TreebankRealizer:
    """The realizers of any language from one treebank, tuned on the first trees of `dev`. `text` has
    more sentences for the n-gram model, each with spaces between its words."""
    capitals = learn_capitals(trees)
    lowered = [capitals.lowered_tree(tree) for tree in trees]
    on_step("tree model")
    tree_model = train_tree_model(lowered)
    more_sentences = [" ".join(map(capitals.lowered, line.split(" "))) for line in text]
    ngrams = train_ngrams([[*spaced_sentences(lowered), *more_sentences]]).model
    sample = dev[:SAMPLE_TREES]
    parameters = train_realizer(
        trees,
        sample=sample,
        tree_model=tree_model,
        ngrams=ngrams,
        seed=seed,
        threads=threads,
    )
    learned = train_learned_realizer(
        trees,
        sample,
        ngrams,
        settings=LearnedRealizerTraining(
            replace(CHOOSER_TRAINING, seed=seed),
            replace(ORDERER_TRAINING, seed=seed),
            replace(INSERTER_TRAINING, seed=seed),
            replace(LABELER_TRAINING, seed=seed),
        ),
        is_english=False,
        on_step=on_step,
    )
    lowered_sample = [capitals.lowered_tree(tree) for tree in sample]
    n_pairs = sum(len(tree.words) + 1 for tree in lowered_sample)
    kinds: tuple[LabelKind, ...] = ORDERER_KINDS if n_pairs else ()
    kept = {str(kind): right_neighbors(learned, lowered_sample, kind) / n_pairs for kind in kinds}
    return TreebankRealizer(tree_model, ngrams, parameters, learned, kept)


def make_realizer(inputs: TrainingInputs, path: Path) -> dict[str, Any]:
    """The step of `wellput train english` that makes the parameters of FERGUS. It returns the
    model's card and the tuned weight of the n-gram model. The card has, for each weight that was tried,
    the share of pairs of neighboring words of the development trees that stay neighbors."""
    model = train_realizer(
        tagged_trees(inputs, "treebank"),
        sample=tagged_trees(inputs, "dev"),
        tree_model=TreeModel.load(inputs.folder / TREE_MODEL_FILE),
        ngrams=load_model(inputs.folder / NGRAMS_FILE),
        seed=inputs.seed,
        threads=inputs.threads,
        on_progress=inputs.on_progress,
    )
    model.save(path)
    return {**model.card, "weight of the n-gram model": model.lm_weight}


def neighbors_kept(sentences: Sequence[Sequence[str]], trees: Sequence[Tree]) -> float:
    """The share of the trees' pairs of neighboring words that are also neighbors in the sentences. The
    beginning and the end of a sentence count as neighbors too. Capitals do not matter."""
    kept = total = 0
    for words, tree in zip(sentences, trees, strict=True):
        right_pairs = _neighbors([word.form for word in tree.words])
        kept += (right_pairs & _neighbors(words)).total()
        total += right_pairs.total()
    return kept / total


def _neighbors(words: Sequence[str]) -> Counter[tuple[str, str]]:
    return Counter(pairwise(["", *(word.lower() for word in words), ""]))


LEARNED_NGRAM_WEIGHTS = (0.0, 0.5, 0.8, 1.1, 1.5)
"""The weights of the n-gram model that are tried for the learned realizer."""
FORM_FREQUENCY_WEIGHTS = (0.0, 0.25, 0.5, 1.0, 2.0)
"""The weights that are tried for the frequency of a word's form, where a word may have several
forms."""

CHOOSER_TRAINING, ORDERER_TRAINING = ChooserTraining(), OrdererTraining()
INSERTER_TRAINING = ChooserTraining(min_updates=12, min_count=15, min_weight=0.12)
# For the chooser that labels trees before words are added to them.
LABELER_TRAINING = ChooserTraining(min_updates=12, min_weight=0.12)


@dataclass(frozen=True)
class LearnedRealizerTraining:
    """How the parts are trained; the defaults are best on the dev part of the treebank EWT. `folds` and
    `jackknifing` are for the choosers that label the training trees of the orderer; without
    `jackknifing` they are trained like `chooser`."""

    chooser: ChooserTraining = CHOOSER_TRAINING
    orderer: OrdererTraining = ORDERER_TRAINING
    inserter: ChooserTraining = INSERTER_TRAINING
    labeler: ChooserTraining = LABELER_TRAINING
    folds: int = 4
    jackknifing: ChooserTraining | None = None


def train_learned_realizer(
    trees: Sequence[Tree],
    dev: Sequence[Tree],
    ngrams: NgramModel | None,
    *,
    settings: LearnedRealizerTraining | None = None,
    is_english: bool = True,
    card: Mapping[str, Any] | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> LearnedRealizer:
    """A learned realizer from treebank trees. The weights of the n-gram model and of form frequencies
    are tuned on `dev`, which may be empty. Lemmas of English are inflected by lemminflect, those of
    other languages by rules that are learned. The n-gram model must have ordinary words in lower case
    (`parameters.py`). `on_step` gets the name of each step before it starts. The same input gives the
    same model."""
    settings = settings or LearnedRealizerTraining()
    capitals = learn_capitals(trees)
    lowered = [capitals.lowered_tree(tree) for tree in trees]
    forest = Forest.of_trees(lowered)
    treebank_labels = [Label(category_of(w), w.relation) for tree in lowered for w in tree.words]
    on_step("chooser of labels")
    chooser = train_chooser(forest, treebank_labels, settings.chooser)
    on_step("jackknifed labels")
    jackknifing = settings.jackknifing or settings.chooser
    chosen = jackknifed_labels(forest, treebank_labels, jackknifing, folds=settings.folds)
    orderers: dict[LabelKind, Orderer] = {}
    for kind in ORDERER_KINDS:
        labels = chosen if kind == "words" else treebank_labels  # "words": inputs without labels
        on_step(f"orderer for {kind}")
        weights = train_orderer(forest, forest.by_tree(labels), settings.orderer)
        orderers[kind] = Orderer(weights, ngrams)
    on_step("inserter")
    inserter = train_inserter(lowered, settings.inserter, settings.labeler)
    realizer = LearnedRealizer(
        chooser,
        orderers,
        inserter,
        learn_inflections(lowered) if is_english else learn_inflection_rules(lowered),
        card={"trees": len(trees), "words": len(treebank_labels), **(card or {})},
    )
    if not dev or ngrams is None:
        return realizer
    on_step("tuning")
    return tuned(realizer, [capitals.lowered_tree(tree) for tree in dev])


def make_learned_realizer(inputs: TrainingInputs, path: Path) -> dict[str, Any]:
    """The step of `wellput train english` that makes the learned realizer. It returns the model's
    card and the weights of the n-gram model, which were tuned on the development trees. More small
    weights are left out than by default, because the English realizer also has an order network
    (`order_network.py`), which makes up for them."""
    realizer = train_learned_realizer(
        tagged_trees(inputs, "treebank"),
        tagged_trees(inputs, "dev"),
        load_model(inputs.folder / NGRAMS_FILE),
        settings=LearnedRealizerTraining(
            replace(CHOOSER_TRAINING, seed=inputs.seed, min_weight=0.135),
            replace(ORDERER_TRAINING, seed=inputs.seed, min_weight=0.165),
            replace(INSERTER_TRAINING, seed=inputs.seed, min_weight=0.135),
            replace(LABELER_TRAINING, seed=inputs.seed, min_weight=0.155),
            jackknifing=replace(CHOOSER_TRAINING, seed=inputs.seed),
        ),
    )
    realizer.save(path)
    weights = {kind: orderer.ngram_weight for kind, orderer in realizer.orderers.items()}
    return {**realizer.card, "weights of the n-gram model": weights}


def tuned(realizer: LearnedRealizer, dev: Sequence[Tree]) -> LearnedRealizer:
    """The realizer with the tried weights that get most pairs of neighboring words in `dev` right."""
    for kind in ORDERER_KINDS:
        tried = [with_ngram_weight(realizer, kind, weight) for weight in LEARNED_NGRAM_WEIGHTS]
        realizer = max(tried, key=partial(right_neighbors, trees=dev, kind=kind))
    # Without lemmas there is nothing to inflect, so the weight of forms has no effect.
    if any(word.lemma == UNKNOWN_LABEL != word.form for tree in dev for word in tree.words):
        return realizer
    tried = [replace(realizer, form_frequency_weight=weight) for weight in FORM_FREQUENCY_WEIGHTS]
    return max(tried, key=partial(right_neighbors, trees=dev, kind="lemmas"))


def with_ngram_weight(realizer: LearnedRealizer, kind: LabelKind, weight: float) -> LearnedRealizer:
    """The realizer with another weight of the n-gram model in its orderer for a kind of input."""
    orderer = replace(realizer.orderers[kind], ngram_weight=weight)
    orderers: Mapping[LabelKind, Orderer] = {**realizer.orderers, kind: orderer}
    return replace(realizer, orderers=orderers)


def right_neighbors(realizer: LearnedRealizer, trees: Sequence[Tree], kind: InputKind) -> int:
    """The number of pairs of neighbors in the realizations that are neighbors in the treebank."""
    realized = realizer.realize([unordered(tree, kind=kind) for tree in trees])
    right = 0
    for tree, result in zip(trees, realized, strict=True):
        right_pairs = set(pairwise(["", *(word.form for word in tree.words), ""]))
        realized_words = ["", *result.best[0].words, ""]
        right += sum(pair in right_pairs for pair in pairwise(realized_words))
    return right
