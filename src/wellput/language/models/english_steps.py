"""Steps of `wellput train english`: taggers, parsers and the tree model from treebanks, and n-gram
models of words and of skeletons from treebanks and other texts.

For the n-gram model of words, each text gives one model, all texts together one more, and the mixture
that fits a sample best is pruned and rounded. Measured on EWT dev (docs/results/language_ngrams.md), a
treebank alone is too small, and all texts together are too different from it.

Models are mixed linearly. They know the same words; `whole` is trained on all texts together, so it
has every n-gram of the others. The mixture has the n-grams of `whole`, each with the weighted mean of
the models' probabilities, and back-off weights with which probabilities sum to one (static
interpolation, as SRILM's -mix-lm does it). Weights are found by expectation maximization.

Treebanks without tags in the column XPOS, such as ATIS, are used for the n-gram model only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.core.tree import Tree
from wellput.io.trees import read_trees
from wellput.language.models.english_text import Casing, prose_sentences, treebank_sentences
from wellput.language.models.english_training import SourceRole, TrainingInputs
from wellput.language.models.fluency_model import AUXILIARIES, CLOSED_CLASS_TAGS, skeleton
from wellput.language.models.head_driven import HeadDrivenParser
from wellput.language.models.head_driven_training import save_head_driven, train_head_driven
from wellput.language.models.ngram_files import load_model, quantized, save_model
from wellput.language.models.ngram_training import TrainedNgrams, train
from wellput.language.models.ngram_trie import (
    Nodes,
    backoffs,
    find,
    node_contexts,
    parents,
    pruned_model,
)
from wellput.language.models.ngrams import NgramModel
from wellput.language.models.parser_training import (
    attachment_scores,
    train_tagger,
    train_transitions,
)
from wellput.language.models.parsers import TaggingParser, load_parser
from wellput.language.models.tagger import Tagger
from wellput.language.models.tree_training import train_tree_model
from wellput.language.shipped import NGRAMS_FILE, TAGGER_FILE

EM_ROUNDS = 100


def mixing_weights(models: Sequence[NgramModel], sample: Sequence[str]) -> Floats:
    """The weights, which sum to one, that make the sample (tokenized) most probable."""
    logs = [
        [word.log_prob for text in sample for word in model.word_scores(text)] for model in models
    ]
    probs = np.power(10.0, np.array(logs))
    weights = np.full(len(models), 1 / len(models))
    for _ in range(EM_ROUNDS):
        shares = weights[:, None] * probs
        weights = (shares / shares.sum(axis=0)).mean(axis=1)
    return weights


def mixture_of(
    whole: NgramModel, parts: Sequence[TrainedNgrams], weights: Floats
) -> tuple[NgramModel, list[Floats]]:
    """The mixture, on the n-grams of `whole`, and relative frequencies as in `TrainedNgrams`."""
    histories, above = node_contexts(whole), parents(whole)
    probs = [np.zeros(size) for size in whole.sizes]
    frequencies = [np.zeros(size) for size in whole.sizes[:-1]]
    for part, weight in zip(parts, weights, strict=True):
        places = _places(whole, part.model)
        for total, own in zip(probs, _probs(part.model, places, histories, above), strict=True):
            total += weight * own
        for sums, own, place in zip(frequencies, part.frequencies, places, strict=False):
            sums[place] += weight * own
    levels = []
    for depth, (words, begins, log_probs, logs) in enumerate(whole.levels):
        if depth + 1 < whole.order:
            shorter = probs[depth][above[depth + 1]]
            ratio = backoffs(probs[depth + 1], shorter, histories[depth + 1], len(log_probs))
            logs = np.log10(ratio).astype(np.float32)
        levels.append((words, begins, np.log10(probs[depth]).astype(np.float32), logs))
    return NgramModel(whole.vocabulary, tuple(levels)), frequencies


def _places(whole: NgramModel, model: NgramModel) -> list[Nodes]:
    """By length, the places of `model`'s n-grams among those of `whole`."""
    places = [np.arange(whole.sizes[0])]
    for depth, above in enumerate(parents(model)[1:], 1):
        words = model.levels[depth][0].astype(np.int64)
        places.append(find(whole, depth, places[-1][above], words))
    return places


def _probs(
    model: NgramModel, places: Sequence[Nodes], histories: Sequence[Nodes], above: Sequence[Nodes]
) -> list[Floats]:
    """`model`'s probabilities of the whole's n-grams; it backs off where it lacks one."""
    result: list[Floats] = []
    weights = np.empty(0)
    for depth, (_, _, log_probs, logs) in enumerate(model.levels):
        probs = np.empty(len(places[0]))
        if depth:
            probs = result[-1][above[depth]] * weights[histories[depth]]
        probs[places[depth]] = np.power(10.0, log_probs.astype(np.float64))
        result.append(probs)
        weights = np.ones(len(probs))
        if depth + 1 < model.order:
            weights[places[depth]] = np.power(10.0, logs.astype(np.float64))
    return result


LENGTH_NAMES = ("unigrams", "bigrams", "trigrams")
NGRAM_ORDER = len(LENGTH_NAMES)
MIN_WORD_COUNT = 2
PRUNING_THRESHOLD = 2e-8  # makes 2.7 MB
TOGETHER_NAME = "all together"


@dataclass(frozen=True)
class Mixture:
    """A model mixed for a sample of text, with weights and perplexities by the names of its texts."""

    model: NgramModel
    frequencies: list[Floats]  # for pruning
    weights: dict[str, float]
    perplexities: dict[str, float]  # of the sample, by text


def mixture_for(
    sample: Sequence[str], texts: Mapping[str, Sequence[str]], *, threads: int = 1
) -> Mixture:
    """The mixture of models of named texts that fits the sample best; words are joined by spaces."""
    together = [sentence for text in texts.values() for sentence in text]
    known = _known_words(together)
    parts = {
        name: train([text], order=NGRAM_ORDER, known=known, threads=threads)
        for name, text in {**texts, TOGETHER_NAME: together}.items()
    }
    weights = mixing_weights([part.model for part in parts.values()], sample)
    model, frequencies = mixture_of(parts[TOGETHER_NAME].model, [*parts.values()], weights)
    return Mixture(
        model,
        frequencies,
        dict(zip(parts, weights.tolist(), strict=True)),
        {name: part.model.perplexity(sample, threads=threads) for name, part in parts.items()},
    )


def ngrams_step(inputs: TrainingInputs, path: Path) -> dict[str, Any]:
    """The step of `wellput train english`: writes the compact file."""
    texts, sample = decapitalized_texts(inputs)
    mixture = mixture_for(sample, texts, threads=inputs.threads)
    pruned = pruned_model(mixture.model, mixture.frequencies, PRUNING_THRESHOLD)
    model = quantized(pruned)
    save_model(model, path, is_compact=True)
    steps = {"mixed": mixture.model, "pruned": pruned, "rounded": model}
    _, words, _, unknown = model.statistics(sample, threads=inputs.threads).sum(axis=0)
    return {
        "n-grams": dict(zip(LENGTH_NAMES, model.sizes, strict=True)),
        "words of training text": {
            name: sum(sentence.count(" ") + 1 for sentence in text) for name, text in texts.items()
        },
        "weights": mixture.weights,
        "words of dev": int(words),
        "unknown words of dev": int(unknown),
        "perplexity of dev": mixture.perplexities
        | {name: one.perplexity(sample, threads=inputs.threads) for name, one in steps.items()},
        "model hash": model.fingerprint,
    }


def decapitalized_texts(inputs: TrainingInputs) -> tuple[dict[str, list[str]], list[str]]:
    """Training text by title, and dev, with first words in the case they have inside sentences."""
    texts: dict[str, list[str]] = {}
    sample: list[str] = []
    for source in inputs.sources:
        if source.role not in ("treebank", "dev", "text"):
            continue
        read = prose_sentences if source.role == "text" else treebank_sentences
        found = read(source.path, inputs.on_progress)
        (sample if source.role == "dev" else texts.setdefault(source.title, [])).extend(found)
    casing = Casing(sentence for text in texts.values() for sentence in text)
    small = {name: [*map(casing.decapitalized, text)] for name, text in texts.items()}
    return small, [*map(casing.decapitalized, sample)]


def _known_words(texts: Sequence[str]) -> list[str]:
    """Words seen often enough, the most frequent first, because small numbers compress well."""
    counts = Counter(word for text in texts for word in text.split(" "))
    words = [word for word, count in counts.items() if count >= MIN_WORD_COUNT]
    return sorted(words, key=lambda word: (-counts[word], word))


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


SKELETON_ORDER = 4
MIN_SMALL_WORD_COUNT = 100
SKELETON_THRESHOLD = 2e-7
TAGGED_SENTENCES_A_BLOCK = 10_000


def make_skeletons(inputs: TrainingInputs, path: Path) -> dict[str, Any]:
    """The step of `wellput train english`: an n-gram model of skeletons of treebanks and texts."""
    tagger = Tagger.load(inputs.folder / TAGGER_FILE)
    sentences = [
        text.split(" ")
        for source in inputs.sources
        if source.role in ("treebank", "text")
        for text in (prose_sentences if source.role == "text" else treebank_sentences)(source.path)
    ]
    tags: list[list[str]] = []
    for begin in range(0, len(sentences), TAGGED_SENTENCES_A_BLOCK):
        block = sentences[begin : begin + TAGGED_SENTENCES_A_BLOCK]
        tags += tagger.tag(block, threads=inputs.threads)
        inputs.on_progress(len(block))
    counts = Counter(
        word.lower()
        for words, own in zip(sentences, tags, strict=True)
        for word, tag in zip(words, own, strict=True)
        if tag in CLOSED_CLASS_TAGS or word.lower() in AUXILIARIES
    )
    small_words = {word for word, count in counts.items() if count >= MIN_SMALL_WORD_COUNT}
    texts = [skeleton(*both, small_words) for both in zip(sentences, tags, strict=True)]
    training = train([texts], order=SKELETON_ORDER, threads=inputs.threads)
    model = quantized(pruned_model(training.model, training.frequencies, SKELETON_THRESHOLD))
    save_model(model, path, is_compact=True)
    return {"sentences": len(texts), "small words": len(small_words), "n-grams": model.sizes}
