"""Making the n-gram model of English: treebanks and other texts, each weighing as much as suits.

Each text makes a model of its own, all texts together make one more, and the mixture that fits a
sample best is pruned and rounded. Measured on EWT dev (docs/results/language_ngrams.md): a treebank
alone is too small, everything thrown together is too unlike it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wellput.core.metric import Floats
from wellput.language.english_text import Casing, prose_sentences, treebank_sentences
from wellput.language.english_training import Inputs
from wellput.language.ngram_compact import quantized
from wellput.language.ngram_files import save_model
from wellput.language.ngram_mixing import mixed, mixing_weights
from wellput.language.ngram_pruning import prune
from wellput.language.ngram_training import train
from wellput.language.ngrams import NgramModel

LENGTHS = ("unigrams", "bigrams", "trigrams")
ORDER = len(LENGTHS)
MIN_COUNT = 2
THRESHOLD = 2e-8  # makes 2.7 MB
TOGETHER = "all together"


@dataclass(frozen=True)
class Mixture:
    """A model mixed for a sample of text, by the names of the texts that it was made from."""

    model: NgramModel
    frequencies: list[Floats]  # for pruning
    weights: dict[str, float]
    perplexities: dict[str, float]  # of the sample, by text


def mixture_for(
    sample: Sequence[str], texts: Mapping[str, Sequence[str]], *, threads: int = 1
) -> Mixture:
    """The mixture of models of named texts that suits the sample best; words are joined by spaces."""
    together = [sentence for text in texts.values() for sentence in text]
    known = _known_words(together)
    parts = {
        name: train([text], order=ORDER, known=known, threads=threads)
        for name, text in {**texts, TOGETHER: together}.items()
    }
    weights = mixing_weights([part.model for part in parts.values()], sample)
    model, frequencies = mixed(parts[TOGETHER].model, [*parts.values()], weights)
    return Mixture(
        model,
        frequencies,
        dict(zip(parts, weights.tolist(), strict=True)),
        {name: part.model.perplexity(sample, threads=threads) for name, part in parts.items()},
    )


def make(inputs: Inputs, path: Path) -> dict[str, Any]:
    """The step of `wellput train english`: writes the compact file."""
    texts, sample = decapitalized_texts(inputs)
    mixture = mixture_for(sample, texts, threads=inputs.threads)
    pruned = prune(mixture.model, mixture.frequencies, THRESHOLD)
    model = quantized(pruned)
    save_model(model, path, is_compact=True)
    steps = {"mixed": mixture.model, "pruned": pruned, "rounded": model}
    _, words, _, unknown = model.statistics(sample, threads=inputs.threads).sum(axis=0)
    return {
        "n-grams": dict(zip(LENGTHS, model.sizes, strict=True)),
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


def decapitalized_texts(inputs: Inputs) -> tuple[dict[str, list[str]], list[str]]:
    """Training text by title, and dev, first words of sentences written as inside them."""
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
    """Words seen often enough, the most frequent first: small numbers pack well."""
    counts = Counter(word for text in texts for word in text.split(" "))
    words = [word for word, count in counts.items() if count >= MIN_COUNT]
    return sorted(words, key=lambda word: (-counts[word], word))
