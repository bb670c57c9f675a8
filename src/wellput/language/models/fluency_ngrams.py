"""The n-gram model of skeletons, for `fluency`.

A skeleton keeps small words and replaces every other word by its part of speech: *The old cats have
been sleeping.* becomes *the JJ NNS have been VBG .* An n-gram model of skeletons (`skeletons.wlm`) has
seen most of the grammar between neighbors (*have* goes with *VBN*, *a* does not go with *NNS*); a
model of words has seen little of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any

from wellput.language.models.english_text import prose_sentences, treebank_sentences
from wellput.language.models.english_training import TrainingInputs
from wellput.language.models.ngram_files import quantized, save_model
from wellput.language.models.ngram_training import train
from wellput.language.models.ngram_trie import pruned_model
from wellput.language.models.tagger import Tagger
from wellput.language.shipped import TAGGER_FILE

SKELETON_ORDER = 4
MIN_SMALL_WORD_COUNT = 100
SKELETON_THRESHOLD = 2e-7
TAGGED_SENTENCES_A_BLOCK = 10_000
CLOSED_CLASS_TAGS = frozenset(
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
    """The skeleton, joined by spaces. A word is small if it belongs to a closed class and is among
    `small_words`, which are in lower case."""
    return " ".join(
        small
        if (tag in CLOSED_CLASS_TAGS or small in AUXILIARIES) and small in small_words
        else tag
        for small, tag in zip((word.lower() for word in words), tags, strict=True)
    )


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
