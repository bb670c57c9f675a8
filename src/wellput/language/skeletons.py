"""Sentences as skeletons: small words as they are, every other word as its part of speech.

*The old cats have been sleeping.* is *the JJ NNS have been VBG .* An n-gram model of such texts has
seen most of the grammar that holds between neighbors (*have* goes with *VBN*, *a* not with *NNS*),
where one of words has seen little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any

from wellput.language.english_text import prose_sentences, treebank_sentences
from wellput.language.english_training import Inputs
from wellput.language.ngram_compact import quantized
from wellput.language.ngram_files import save_model
from wellput.language.ngram_pruning import prune
from wellput.language.ngram_training import train
from wellput.language.parsers import TAGGER_FILE
from wellput.language.tagger import Tagger

FILE = "skeletons.wlm"
ORDER = 4
MIN_COUNT = 100
THRESHOLD = 2e-7
BLOCK = 10_000
CLOSED = frozenset(
    [
        *(
            "DT",
            "IN",
            "TO",
            "MD",
            "PRP",
            "PRP$",
            "WDT",
            "WP",
            "WP$",
            "WRB",
            "CC",
            "EX",
            "POS",
            "RP",
        ),
        *("PDT", ",", ".", ":", "-LRB-", "-RRB-", "''", "``", "HYPH"),
    ]
)
AUXILIARIES = frozenset(
    [
        *("be", "am", "is", "are", "was", "were", "been", "being", "have", "has", "had", "having"),
        *("do", "does", "did", "done", "'s", "'m", "'re", "'ve", "'d", "'ll", "n't", "not"),
    ]
)


def skeleton(words: Sequence[str], tags: Sequence[str], small_words: Container[str]) -> str:
    """The skeleton, joined by spaces; words are small if they are of a closed class and among
    `small_words`, which are in lower case."""
    return " ".join(
        small if (tag in CLOSED or small in AUXILIARIES) and small in small_words else tag
        for small, tag in zip((word.lower() for word in words), tags, strict=True)
    )


def make(inputs: Inputs, path: Path) -> dict[str, Any]:
    """The step of `wellput train english`: an n-gram model of skeletons of treebanks and texts."""
    tagger = Tagger.load(inputs.folder / TAGGER_FILE)
    sentences = [
        text.split(" ")
        for source in inputs.sources
        if source.role in ("treebank", "text")
        for text in (prose_sentences if source.role == "text" else treebank_sentences)(source.path)
    ]
    tags: list[list[str]] = []
    for begin in range(0, len(sentences), BLOCK):
        block = sentences[begin : begin + BLOCK]
        tags += tagger.tag(block, threads=inputs.threads)
        inputs.on_progress(len(block))
    counts = Counter(
        word.lower()
        for words, own in zip(sentences, tags, strict=True)
        for word, tag in zip(words, own, strict=True)
        if tag in CLOSED or word.lower() in AUXILIARIES
    )
    small_words = {word for word, count in counts.items() if count >= MIN_COUNT}
    texts = [skeleton(*both, small_words) for both in zip(sentences, tags, strict=True)]
    training = train([texts], order=ORDER, threads=inputs.threads)
    model = quantized(prune(training.model, training.frequencies, THRESHOLD))
    save_model(model, path, is_compact=True)
    return {"sentences": len(texts), "small words": len(small_words), "n-grams": model.sizes}
