"""`fluency` against shuffled sentences, its speed, and how it does against generators it has not seen."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.papers.fluency.figures import interval, mean, table
from benchmarks.papers.fluency.scorers import Scorers
from benchmarks.papers.fluency.texts import LENGTH, Made, texts_of
from wellput.language.models.parsers import ENGLISH_PARSER, load_parser
from wellput.metrics.fluency_training import graded_texts, train_fluency, whole_sentences

GENERATORS = ("sequence", "pos", "supertag", "cfg")
MIN_WORDS = 8


def shuffle_lines(scorers: Scorers, real: Path) -> list[str]:
    rng = np.random.default_rng(3)
    held_out = whole_sentences([real], is_held_out=True)
    sentences = [words for words in held_out if len(words) >= MIN_WORDS]
    shuffled = [_shuffled(words, rng) for words in sentences]
    pair = [scorers.fluency_scores(texts_of(s)) for s in (sentences, shuffled)]
    share = float(np.mean(pair[0] > pair[1]))
    return [
        "## Order and speed\n",
        f"`fluency` is higher for a sentence than for its words in random order (with the full stop at the "
        f"end) in {share:.2%} of {len(sentences):,} held-out sentences of {MIN_WORDS} words and more.\n",
    ]


def _shuffled(words: Sequence[str], rng: np.random.Generator) -> list[str]:
    inner = list(words[:-1])
    while True:
        mixed = [inner[place] for place in rng.permutation(len(inner))]
        if mixed != inner:
            return [mixed[0][:1].upper() + mixed[0][1:], *mixed[1:], words[-1]]


def speed_lines(scorers: Scorers, made: Made) -> list[str]:
    texts = list(dict.fromkeys(text for part in made.sequences.values() for text in part))
    started = time.process_time()
    scorers.models.features(texts)
    rate = len(texts) / (time.process_time() - started)
    return [
        f"`fluency` scores {rate:,.0f} sentences of {LENGTH} words in a second of processor time, after its "
        "models are loaded.\n"
    ]


def left_out_lines(scorers: Scorers, made: Made, real: Path, source: Path) -> list[str]:
    """`fluency` trained without a generator, on that generator's sentences."""
    pools = whole_sentences([real]), whole_sentences([source])
    parser = load_parser(ENGLISH_PARSER)
    texts = {"sequence": made.sequences[1], **made.generated}
    rows = []
    for name in GENERATORS:
        rng = np.random.default_rng(12345)
        graded = list(graded_texts(*pools, parser, rng, left_out=name))
        model = train_fluency(graded, scorers.models)
        means = [
            interval(mean, scorers.fluency_scores(part, model)) for part in (made.real, texts[name])
        ]
        rows.append([name, *means])
    return [
        "## `fluency` trained without one generator\n",
        "The model in the package is trained with sentences of four generators. Here each row is a model "
        "that is trained without one of them, and then scores the sentences of this generator. It still "
        "scores them lower than real sentences.\n",
        *table(["left out", "mean of real sentences", "mean of the generator's sentences"], rows),
    ]
