"""Training `gleu-fluency`: real sentences against words put together at random, as in the paper.

The real sentences and those that the words come from must be disjoint, and none may be among the
texts that the parser was trained on: otherwise a model recognizes what it was made from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from wellput.core.errors import InputError
from wellput.language.degrade.corpus import Corpus
from wellput.language.degrade.sequences import SequenceGenerator
from wellput.language.gleu_features import GleuParsers
from wellput.language.gleu_model import GleuModel
from wellput.text.detokenizer import detokenize

Words = Sequence[str]

LENGTHS = range(20, 29)
"""Around the paper's 24 words: a text of ordinary size has too few sentences of exactly 24."""
SENTENCES = 1000
"""Of either kind, as in the paper."""
BLOCK = 100


def train_gleu(
    real: Sequence[Words],
    source: Sequence[Words],
    parsers: GleuParsers,
    rng: np.random.Generator,
    *,
    n: int = SENTENCES,
    threads: int = 1,
    on_progress: Callable[[int], None] = lambda _: None,
) -> GleuModel:
    """The model from n sentences of either kind, as many of each length; n is less where there are
    fewer real sentences of these lengths."""
    fitting = [words for words in real if len(words) in LENGTHS]
    if not fitting:
        raise InputError("The text holds no sentence of 20 to 28 words to train gleu-fluency on.")
    chosen = [fitting[place] for place in rng.permutation(len(fitting))[:n]]
    corpus = Corpus.of(source)
    made = [
        words
        for length, count in sorted(Counter(map(len, chosen)).items())
        for words in SequenceGenerator(corpus, size=1, length=length).generate(count, rng)
    ]
    texts = [detokenize(words) for words in (*chosen, *made)]
    rows = []
    for begin in range(0, len(texts), BLOCK):
        rows.append(parsers.features(texts[begin : begin + BLOCK], threads=threads))
        on_progress(len(rows[-1]))
    return GleuModel.train(np.vstack(rows), np.arange(len(texts)) < len(chosen))
