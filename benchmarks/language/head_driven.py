"""The head-driven parser on EWT dev and test: right heads, preferred orders of words, fragments, speed.

    python -m benchmarks language-head-driven FOLDER

FOLDER has ngrams.wlm, tagger.wpm, parser.wpm and head_driven.wpm, which `wellput train english` writes. Writes
docs/results/language_head_driven.md.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.data import ewt
from benchmarks.pages import write_page
from wellput.core.tree import Tree
from wellput.language.models.head_driven import (
    HeadDrivenParser,
    ngram_log_probabilities,
)
from wellput.language.models.head_driven_training import NGRAM_SHARE, joined_pairs
from wellput.language.models.ngram_files import load_model
from wellput.language.models.ngram_training import train
from wellput.language.models.ngrams import NgramModel
from wellput.language.shipped import NGRAMS_FILE

MIN_WORDS = 8
"""Of the sentences whose words are put into another order."""
Sentences = list[list[str]]


def words_of(some: Sequence[Tree]) -> Sentences:
    return [[word.form for word in tree.words] for tree in some]


def disordered(sentences: Sentences, seed: int) -> tuple[Sentences, Sentences]:
    """Each sentence with two different neighbors exchanged, and wholly shuffled."""
    rng = random.Random(seed)
    swapped, shuffled = [], []
    for sentence in sentences:
        places = [i for i in range(len(sentence) - 1) if sentence[i] != sentence[i + 1]]
        place, copy = rng.choice(places), list(sentence)
        copy[place], copy[place + 1] = copy[place + 1], copy[place]
        swapped.append(copy)
        shuffled.append(rng.sample(sentence, len(sentence)))
    return swapped, shuffled


def attachment(parser: HeadDrivenParser, gold: Sequence[Tree]) -> tuple[float, float]:
    """UAS in percent of the head-driven parser, and of the parser that suggests its tags."""
    sentences = words_of(gold)
    guesses = parser.guesser.parse(sentences)
    found = [parsed.tree for parsed in parser.parse(sentences, guesses=guesses)]
    return uas(gold, found), uas(gold, guesses)


def uas(gold: Sequence[Tree], found: Sequence[Tree]) -> float:
    pairs = [
        (a, b)
        for g, f in zip(gold, found, strict=True)
        for a, b in zip(g.words, f.words, strict=True)
    ]
    return 100 * float(np.mean([a.head == b.head for a, b in pairs]))


@dataclass(frozen=True)
class Preferred:
    """The percentages of sentences that a model finds more probable than the same words with one swap, and
    shuffled. Equally probable does not count."""

    part: str
    model: str
    swap: float
    shuffle: float
    sentences: int


def preferred(
    parser: HeadDrivenParser, shipped: NgramModel, parts: dict[str, list[Tree]]
) -> Iterator[Preferred]:
    text = [" ".join(sentence) for sentence in words_of(ewt("train"))]
    trigrams = train([text], order=3, min_count=2).model
    for part, gold in parts.items():
        sentences = [s for s in words_of(gold) if len(s) >= MIN_WORDS and len(set(s)) > 1]
        versions = (sentences, *disordered(sentences, seed=1))
        pooled = [_logs(parser, version) for version in versions]
        of_ngrams = [ngram_log_probabilities(version, shipped, 1) for version in versions]
        of_trees = [
            (both - NGRAM_SHARE * other) / (1 - NGRAM_SHARE)
            for both, other in zip(pooled, of_ngrams, strict=True)
        ]
        joined = [[" ".join(s) for s in version] for version in versions]
        scores = {
            "head-driven": pooled,
            "head-driven, its trees alone": of_trees,
            "head-driven, its n-gram model alone": of_ngrams,
            "trigram model of EWT train": [trigrams.sentence_scores(one) for one in joined],
        }
        for name, (original, swapped, shuffled) in scores.items():
            shares = [100 * float(np.mean(original > other)) for other in (swapped, shuffled)]
            yield Preferred(part, name, shares[0], shares[1], len(sentences))


def _logs(parser: HeadDrivenParser, sentences: Sentences) -> np.ndarray:
    return np.array([scored.log_probability for scored in parser.score(sentences)])


def fragment_lines(parser: HeadDrivenParser, parts: dict[str, list[Tree]]) -> list[str]:
    lines = []
    for part, gold in parts.items():
        sentences = words_of(gold)
        for name, texts in (
            ("one sentence", sentences),
            ("two sentences as one", joined_pairs(sentences)[::2]),
        ):
            counts = Counter(min(3, parsed.fragments) for parsed in parser.parse(texts))
            shares = " | ".join(f"{100 * counts[n] / len(texts):.1f}%" for n in (1, 2, 3))
            lines.append(f"| {part} | {name} | {shares} | {len(texts):,} |")
    return lines


def speed_lines(parser: HeadDrivenParser, gold: list[Tree]) -> list[str]:
    """By one thread, with tagging and with the parser that suggests tags."""
    sentences = [s for s in words_of(gold) if 22 <= len(s) <= 26][:200]
    parser.parse(sentences)  # fills the caches, as in any longer run
    lines = []
    for name, run in (("log probability", parser.score), ("with the best tree", parser.parse)):
        start = time.process_time()
        run(sentences)
        lines.append(f"| {name} | {len(sentences) / (time.process_time() - start):.0f} |")
    return lines


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    parser = HeadDrivenParser.load(folder / "head_driven.wpm")
    shipped = load_model(folder / NGRAMS_FILE)
    parts = {part: ewt(part) for part in ("dev", "test")}
    size = (folder / "head_driven.wpm").stat().st_size
    heads = {part: attachment(parser, gold) for part, gold in parts.items()}
    order = list(preferred(parser, shipped, parts))
    [best] = [one for one in order if (one.part, one.model) == ("test", "head-driven")]
    head_rows = "\n".join(
        f"| {part} | {own:.2f} | {other:.2f} |" for part, (own, other) in heads.items()
    )
    order_rows = "\n".join(
        f"| {one.part} | {one.model} | {one.swap:.1f} | {one.shuffle:.1f} | {one.sentences:,} |"
        for one in order
    )
    write_page(
        "language-head-driven",
        f"""# Head-driven parser

How well does the [head-driven parser](../language/head-driven-parser.md), which gives the probability of a sentence, distinguish a sentence from its words in another order? In the test part of EWT (English Web Treebank), {best.swap:.1f}% of the sentences of {MIN_WORDS} words or more are more probable than the same sentence with two neighboring words exchanged.
The parser gives {heads["test"][0]:.1f}% of the words the right head; the [parser](../language/parser.md) of `wellput parse` is better at this.

The head-driven parser was trained on EWT train and tuned on EWT dev. Its file has {size / 1e6:.2f} MB.

## Right heads

UAS: the percentage of words with the right head. Punctuation counts; both parsers get the words as the treebank splits them.

| part of EWT | UAS | UAS of the parser of `wellput parse` |
|---|---|---|
{head_rows}

## The original order is more probable

The percentage of sentences that a model finds more probable than the same words in another order: with two neighboring words exchanged (*one swap*), or with all words in random order (*shuffle*). The sentences have {MIN_WORDS} words or more. *Head-driven* combines two probabilities, from its trees and from an n-gram model that was trained on more text than EWT train; each was
also measured alone. The last model is a trigram model of EWT train.

| part of EWT | model | one swap, % | shuffle, % | sentences |
|---|---|---|---|---|
{order_rows}

## Fragments

Into how many fragments (parts without a common tree) the parser divides a sentence, and two sentences written as one: the share of texts with 1, 2, and 3 or more fragments.

| part of EWT | text | 1 | 2 | 3 or more | texts |
|---|---|---|---|---|---|
{chr(10).join(fragment_lines(parser, parts))}

## Speed

Sentences of 22 to 26 words in a second of processor time, by one thread, with tagging.

| what | sentences/s |
|---|---|
{chr(10).join(speed_lines(parser, parts["dev"]))}
""",
    )
