"""Steps of `wellput train english`: taggers, parsers and the tree model from treebanks, and n-gram
models of words and of skeletons from treebanks and other texts. A *skeleton* is a sentence in which
all words but function words are replaced by their parts of speech (`fluency_model.py`).

For the n-gram model of words, one model is trained on each text and one more on all texts together.
They are mixed so that the mixture fits a sample (the development part, *dev*, of a treebank) best, and
the mixture is pruned and rounded. As docs/results/language_ngrams.md shows, the treebank alone is too
small for a good model, and all texts together are too different from the treebank.

Models are mixed linearly. They know the same words; `whole` is the model trained on all texts
together, so it has every n-gram of the others. The mixture has the n-grams of `whole`, each with the
weighted mean of the models' probabilities, and back-off weights with which probabilities sum to one
(static interpolation, as SRILM's -mix-lm does it). The weights are found by expectation maximization.

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
from wellput.language.models.ngram_training import TrainedNgrams
from wellput.language.models.ngram_training import train as train_ngrams
from wellput.language.models.ngram_trie import (
    Nodes,
    backoffs,
    find_children,
    node_contexts,
    parents,
    pruned_model,
)
from wellput.language.models.ngrams import LEVEL_WORDS, NgramModel
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
"""The rounds of expectation maximization that find the weights of mixed models."""


def mixing_weights(models: Sequence[NgramModel], sample: Sequence[str]) -> Floats:
    """The weights of the models, which sum to one, that make the sample most probable. The sample is
    sentences with spaces between their words."""
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
    """The mixture of the models in `parts`, with the n-grams of `whole`; and the relative frequencies
    of contexts, as in `TrainedNgrams`."""
    contexts, above = node_contexts(whole), parents(whole)
    probs = [np.zeros(size) for size in whole.sizes]
    frequencies = [np.zeros(size) for size in whole.sizes[:-1]]
    for part, weight in zip(parts, weights, strict=True):
        places = _places(whole, part.model)
        part_probs = _probs(part.model, places, contexts, above)
        for total, probs_of_length in zip(probs, part_probs, strict=True):
            total += weight * probs_of_length
        for sums, shares, place in zip(frequencies, part.frequencies, places, strict=False):
            sums[place] += weight * shares
    levels = []
    for depth, (words, begins, log_probs, backoff_logs) in enumerate(whole.levels):
        if depth + 1 < whole.order:
            shorter = probs[depth][above[depth + 1]]
            ratio = backoffs(probs[depth + 1], shorter, contexts[depth + 1], len(log_probs))
            backoff_logs = np.log10(ratio).astype(np.float32)
        levels.append((words, begins, np.log10(probs[depth]).astype(np.float32), backoff_logs))
    return NgramModel(whole.vocabulary, tuple(levels)), frequencies


def _places(whole: NgramModel, model: NgramModel) -> list[Nodes]:
    """For each n-gram length, the places of the n-grams of `model` among those of `whole`."""
    places = [np.arange(whole.sizes[0])]
    for depth, above in enumerate(parents(model)[1:], 1):
        words = model.levels[depth][LEVEL_WORDS].astype(np.int64)
        places.append(find_children(whole, depth, places[-1][above], words))
    return places


def _probs(
    model: NgramModel, places: Sequence[Nodes], contexts: Sequence[Nodes], above: Sequence[Nodes]
) -> list[Floats]:
    """For each n-gram length, the probabilities that `model` gives the n-grams of `whole`; where it
    lacks an n-gram, it backs off. `places` are from `_places`; `contexts` and `above` have the place
    of each n-gram's context (without the last word) and of its shorter n-gram (without the first
    word)."""
    result: list[Floats] = []
    weights = np.empty(0)
    for depth, (_, _, log_probs, backoff_logs) in enumerate(model.levels):
        probs = np.empty(len(places[0]))
        if depth:
            probs = result[-1][above[depth]] * weights[contexts[depth]]
        probs[places[depth]] = np.power(10.0, log_probs.astype(np.float64))
        result.append(probs)
        weights = np.ones(len(probs))
        if depth + 1 < model.order:
            weights[places[depth]] = np.power(10.0, backoff_logs.astype(np.float64))
    return result


LENGTH_NAMES = ("unigrams", "bigrams", "trigrams")
NGRAM_ORDER = len(LENGTH_NAMES)
MIN_WORD_COUNT = 2  # rarer words are unknown words
PRUNING_THRESHOLD = 2e-8  # as for `pruned_model`
# The name of the model of all texts together.
TOGETHER_NAME = "all together"


@dataclass(frozen=True)
class Mixture:
    """A model mixed for a sample of text, with the weight of each text's model and its perplexity, by
    the texts' names."""

    model: NgramModel
    frequencies: list[Floats]  # for pruning
    weights: dict[str, float]
    perplexities: dict[str, float]  # of the sample, under the model of each text alone


def mixture_for(
    sample: Sequence[str], texts: Mapping[str, Sequence[str]], *, threads: int = 1
) -> Mixture:
    """The mixture of the models of named texts that fits the sample best. Texts and sample are lists of
    sentences with spaces between their words."""
    together = [sentence for text in texts.values() for sentence in text]
    known = _known_words(together)
    parts = {
        name: train_ngrams([text], order=NGRAM_ORDER, known=known, threads=threads)
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
    """The step of `wellput train english` that writes the n-gram model of words; returns its
    figures."""
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
        | {
            name: step_model.perplexity(sample, threads=inputs.threads)
            for name, step_model in steps.items()
        },
        "model hash": model.fingerprint,
    }


def decapitalized_texts(inputs: TrainingInputs) -> tuple[dict[str, list[str]], list[str]]:
    """The training texts by title, and the sentences of dev. First words of sentences are in the case
    that they mostly have inside sentences."""
    texts: dict[str, list[str]] = {}
    sample: list[str] = []
    for source in inputs.sources:
        if source.role not in ("treebank", "dev", "text"):
            continue
        read = prose_sentences if source.role == "text" else treebank_sentences
        read_sentences = read(source.path, inputs.on_progress)
        target = sample if source.role == "dev" else texts.setdefault(source.title, [])
        target.extend(read_sentences)
    casing = Casing(sentence for text in texts.values() for sentence in text)
    lowered = {name: [*map(casing.decapitalized, text)] for name, text in texts.items()}
    return lowered, [*map(casing.decapitalized, sample)]


def _known_words(texts: Sequence[str]) -> list[str]:
    """The words that occur at least `MIN_WORD_COUNT` times, the most frequent first: they get small
    numbers, which compress well."""
    counts = Counter(word for text in texts for word in text.split(" "))
    words = [word for word, count in counts.items() if count >= MIN_WORD_COUNT]
    return sorted(words, key=lambda word: (-counts[word], word))


def make_tagger(inputs: TrainingInputs, path: Path) -> dict[str, Any]:
    """Makes the tagger. The figures that it returns are the share of dev's words that get the right
    tag."""
    trees, dev = tagged_trees(inputs, "treebank"), tagged_trees(inputs, "dev")
    tagger = train_tagger(
        trees, dev=dev, seed=inputs.seed, on_epoch=lambda _: inputs.on_progress(len(trees))
    )
    tagger.save(path, _size(trees))
    tagged = tagger.tag(_forms(dev), threads=inputs.threads)
    pairs = [
        (word.xpos, tag)
        for tree, tags in zip(dev, tagged, strict=True)
        for word, tag in zip(tree.words, tags, strict=True)
    ]
    return {**_size(trees), "right tags of dev": sum(a == b for a, b in pairs) / len(pairs)}


def make_parser(inputs: TrainingInputs, path: Path) -> dict[str, Any]:
    """Makes the dependency parser. The figures that it returns are attachment scores on dev's words,
    with the tagger's tags."""
    trees, dev = tagged_trees(inputs, "treebank"), tagged_trees(inputs, "dev")
    transitions = train_transitions(
        trees, seed=inputs.seed, on_epoch=lambda _: inputs.on_progress(len(trees))
    )
    transitions.save(path, _size(trees))
    parser = TaggingParser(Tagger.load(inputs.folder / TAGGER_FILE), transitions)
    scores = attachment_scores(dev, parser.parse(_forms(dev), threads=inputs.threads))
    return {**_size(trees), "dev": scores}


def make_head_driven(inputs: TrainingInputs, path: Path) -> dict[str, Any]:
    """Makes the head-driven parser. The figures that it returns are attachment scores on dev's words,
    and the share of dev's sentences that are not divided into fragments."""
    trees, dev = tagged_trees(inputs, "treebank"), tagged_trees(inputs, "dev")
    # The guesser is the parser whose trees give each word one of its possible tags.
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
    whole_share = sum(parse.fragments == 1 for parse in parsed) / len(dev)
    scores = attachment_scores(dev, [parse.tree for parse in parsed])
    attached = {name: scores[name] for name in ("uas", "las")}
    return {**_size(trees), "dev": attached, "whole sentences of dev": whole_share}


def make_tree_model(inputs: TrainingInputs, path: Path) -> dict[str, Any]:
    """Makes the tree model, which chooses supertags for words without an order. The figures that it
    returns are its sizes; docs/results says how well it chooses supertags."""
    trees = tagged_trees(inputs, "treebank")
    model = train_tree_model(trees)
    model.save(path)
    return {**_size(trees), "supertags": len(model.supertags), "known words": len(model.words)}


def tagged_trees(inputs: TrainingInputs, role: SourceRole) -> list[Tree]:
    """The trees, from all files with this role, whose words all have a tag in the column XPOS."""
    trees = [
        tree
        for path in inputs.paths(role)
        for tree in read_trees(path)
        if all(word.xpos != "_" for word in tree.words)
    ]
    if not trees:
        names = ", ".join(path.name for path in inputs.paths(role))
        raise InputError(f"No tree in {names} has a tag in the column XPOS for each of its words.")
    return trees


def _forms(trees: list[Tree]) -> list[list[str]]:
    return [[word.form for word in tree.words] for tree in trees]


def _size(trees: list[Tree]) -> dict[str, Any]:
    return {"trees": len(trees), "words": sum(len(tree.words) for tree in trees)}


# The length of the longest n-grams of skeletons.
SKELETON_ORDER = 4
# How often a function word must occur to be kept in skeletons.
MIN_FUNCTION_WORD_COUNT = 100
# The pruning threshold of the n-gram model of skeletons.
SKELETON_THRESHOLD = 2e-7
TAGGED_SENTENCES_A_BLOCK = 10_000


def make_skeletons(inputs: TrainingInputs, path: Path) -> dict[str, Any]:
    """The step of `wellput train english` that writes the n-gram model of skeletons."""
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
        for words, word_tags in zip(sentences, tags, strict=True)
        for word, tag in zip(words, word_tags, strict=True)
        if tag in CLOSED_CLASS_TAGS or word.lower() in AUXILIARIES
    )
    kept_words = {word for word, count in counts.items() if count >= MIN_FUNCTION_WORD_COUNT}
    texts = [
        skeleton(words, word_tags, kept_words)
        for words, word_tags in zip(sentences, tags, strict=True)
    ]
    training = train_ngrams([texts], order=SKELETON_ORDER, threads=inputs.threads)
    model = quantized(pruned_model(training.model, training.frequencies, SKELETON_THRESHOLD))
    save_model(model, path, is_compact=True)
    return {"sentences": len(texts), "small words": len(kept_words), "n-grams": model.sizes}
