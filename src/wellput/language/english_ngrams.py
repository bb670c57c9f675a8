"""Making the n-gram model of English: treebanks and other texts, each weighing as much as suits.

Each text makes a model of its own, all texts together make one more, and the mixture that fits the
sample best is pruned and rounded. Measured on EWT dev (docs/results/language_ngrams.md): a treebank
alone is too small, everything thrown together is too unlike it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
THRESHOLD = 2e-8
TOGETHER = "all together"


@dataclass(frozen=True)
class EnglishNgrams:
    """The model with what was measured on the way; perplexities are those of the sample."""

    model: NgramModel
    weights: dict[str, float]
    perplexities: dict[str, float]
    unknown: int  # words of the sample
    words: int  # of the sample, ends of sentences among them


def train_english_ngrams(
    texts: Mapping[str, Sequence[str]],
    sample: Sequence[str],
    *,
    threshold: float = THRESHOLD,
    threads: int = 1,
) -> EnglishNgrams:
    """The model from named texts, mixed for the sample; sentences are words joined by spaces."""
    casing = Casing([sentence for text in texts.values() for sentence in text])
    texts = {name: [*map(casing.decapitalized, text)] for name, text in texts.items()}
    sample = [*map(casing.decapitalized, sample)]
    together = [sentence for text in texts.values() for sentence in text]
    known = _known_words(together)
    parts = {
        name: train([text], order=ORDER, known=known, threads=threads)
        for name, text in {**texts, TOGETHER: together}.items()
    }
    weights = mixing_weights([part.model for part in parts.values()], sample)
    mixture, frequencies = mixed(parts[TOGETHER].model, [*parts.values()], weights)
    pruned = prune(mixture, frequencies, threshold)
    model = quantized(pruned)
    models = {name: part.model for name, part in parts.items()}
    models |= {"mixed": mixture, "pruned": pruned, "rounded": model}
    _, words, _, unknown = model.statistics(sample).sum(axis=0)
    return EnglishNgrams(
        model,
        dict(zip(parts, weights.tolist(), strict=True)),
        {name: one.perplexity(sample, threads=threads) for name, one in models.items()},
        int(unknown),
        int(words),
    )


def _known_words(texts: Sequence[str]) -> list[str]:
    """Words seen often enough, the most frequent first: small numbers pack well."""
    counts = Counter(word for text in texts for word in text.split(" "))
    words = [word for word, count in counts.items() if count >= MIN_COUNT]
    return sorted(words, key=lambda word: (-counts[word], word))


def make(inputs: Inputs, path: Path) -> dict[str, Any]:
    """The step of `wellput train english`: writes the compact file."""
    texts: dict[str, list[str]] = {}
    for source in inputs.sources:
        if source.role != "dev":
            read = treebank_sentences if source.role == "treebank" else prose_sentences
            texts.setdefault(source.title, []).extend(read(source.path, inputs.on_progress))
    sample = [sentence for path in inputs.paths("dev") for sentence in treebank_sentences(path)]
    made = train_english_ngrams(texts, sample, threads=inputs.threads)
    save_model(made.model, path, is_compact=True)
    return {
        "n-grams": dict(zip(LENGTHS, made.model.sizes, strict=True)),
        "words of training text": {
            name: sum(sentence.count(" ") + 1 for sentence in text) for name, text in texts.items()
        },
        "weights": made.weights,
        "words of dev": made.words,
        "unknown words of dev": made.unknown,
        "perplexity of dev": made.perplexities,
        "model hash": made.model.fingerprint,
    }
