"""An n-gram model from the counts of parts of a text, which may be counted anywhere and in any order.

Two rounds: the words of each part, from which the vocabulary follows, then the n-grams of each part by
numbers of that vocabulary, sorted; merging them gives the model that one training on the whole text
gives, to the last bit.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.errors import InputError
from wellput.core.work import MapParts, map_here
from wellput.io.lines import TextPart
from wellput.language.ngram_training import Training
from wellput.language.ngrams import NgramModel
from wellput.text.tokenizers import NativeName


@dataclass(frozen=True)
class Counting:
    """How text is counted."""

    order: int = 3
    tokenize: NativeName = "none"
    lowercase: bool = False

    def trainer(self, part: TextPart, known: Iterable[str] | None) -> tuple[Any, int, int]:
        """A trainer that has read the part; its sentences and its tokens."""
        trainer = _native.NgramTrainer(self.order, 1 << 62, "", 1)
        if known is not None:
            trainer.know_only(list(known))
        sentences = tokens = 0
        for block in part.blocks():
            texts = [text.lower() for text in block] if self.lowercase else block
            tokens += trainer.add(texts, self.tokenize)
            sentences += len(texts)
        return trainer, sentences, tokens


@dataclass(frozen=True)
class PartWords:
    """The words of a part in order of first appearance, a line each, with counts."""

    words: bytes
    counts: NDArray[np.uint64]
    sentences: int
    tokens: int


def count_words(part: TextPart, how: Counting) -> PartWords:
    trainer, sentences, tokens = how.trainer(part, None)
    words, counts = trainer.word_counts()
    return PartWords(words, counts, sentences, tokens)


def count_ngrams(part: TextPart, how: Counting, known: Iterable[str]) -> NDArray[np.uint32]:
    """The n-grams of a part and their counts, as a sorted run has them."""
    trainer, _, _ = how.trainer(part, known)
    run: NDArray[np.uint32] = trainer.sorted_run()
    return run


def train_in_parts(
    parts: Sequence[TextPart],
    how: Counting,
    *,
    min_count: int = 1,
    map_parts: MapParts = map_here,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Training:
    """The model of all parts. Words seen less than `min_count` times become `<unk>`."""
    counts: dict[str, int] = {}
    sentences = tokens = 0
    for part in map_parts(count_words, parts, how):
        words = part.words.decode(errors="surrogatepass").split("\n")[:-1]
        for word, count in zip(words, part.counts.tolist(), strict=True):
            counts[word] = counts.get(word, 0) + count
        sentences, tokens = sentences + part.sentences, tokens + part.tokens
        on_progress(part.sentences)
    if tokens == 0:
        raise InputError("There are no words to train an n-gram model on.")
    known = [word for word, count in counts.items() if count >= min_count]
    with tempfile.TemporaryDirectory(prefix="wellput-") as folder:
        trainer = _native.NgramTrainer(how.order, 1, folder, 1)
        trainer.know_only(known)
        for number, run in enumerate(map_parts(count_ngrams, parts, how, known)):
            path = Path(folder) / f"run{number}"
            run.tofile(path)
            trainer.take_run(str(path))
        vocabulary, levels, discounts, occurrences = trainer.finish(min_count)
    model = NgramModel(vocabulary, tuple(levels))
    return Training(model, sentences, tokens, discounts, [level / tokens for level in occurrences])
