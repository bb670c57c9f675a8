"""Making the n-gram model of English from treebanks and other texts.

Each text gives one model, all texts together one more, and the mixture that fits a sample best is
pruned and rounded. Measured on EWT dev (docs/results/language_ngrams.md), a treebank alone is too
small, and all texts together are too different from it.

Models are mixed linearly. They know the same words; `whole` is trained on all texts together, so it
has every n-gram of the others. The mixture has the n-grams of `whole`, each with the weighted mean of
the models' probabilities, and back-off weights with which probabilities sum to one (static
interpolation, as SRILM's -mix-lm does it). Weights are found by expectation maximization.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wellput.core.metric import Floats
from wellput.language.models.english_text import Casing, prose_sentences, treebank_sentences
from wellput.language.models.english_training import TrainingInputs
from wellput.language.models.ngram_files import quantized, save_model
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
ORDER = len(LENGTH_NAMES)
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
        name: train([text], order=ORDER, known=known, threads=threads)
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
