"""The head-driven parser on EWT: attachment, speed, order and fragments, on dev and test.

    python -m benchmarks language-head-driven FOLDER

FOLDER has ngrams.wlm, tagger.wpm, parser.wpm and head_driven.wpm, as `wellput train english` leaves them
(EWT train, with dev for tuning; ngrams.wlm from other texts too). Writes docs/results/language_head_driven.md.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
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

LEAST_WORDS = 8
SUGGESTED = """It was trained with tags from an earlier, linear parser of wellput; now it gets the tags of today's parser, without new training.
"""
NGRAMS = ((2, 1), (2, 2), (3, 2))  # order, least count of a known word
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


def attachment_lines(parser: HeadDrivenParser, parts: dict[str, list[Tree]]) -> list[str]:
    lines = [
        "| part | UAS | UAS of the [parser](../language/parser.md) that suggests its tags |",
        "|---|---|---|",
    ]
    for part, gold in parts.items():
        sentences = words_of(gold)
        guesses = parser.guesser.parse(sentences)
        found = [parsed.tree for parsed in parser.parse(sentences, guesses=guesses)]
        lines.append(f"| {part} | {uas(gold, found):.2f} | {uas(gold, guesses):.2f} |")
    return lines


def uas(gold: Sequence[Tree], found: Sequence[Tree]) -> float:
    pairs = [
        (a, b)
        for g, f in zip(gold, found, strict=True)
        for a, b in zip(g.words, f.words, strict=True)
    ]
    return 100 * float(np.mean([a.head == b.head for a, b in pairs]))


def order_lines(
    parser: HeadDrivenParser, shipped: NgramModel, parts: dict[str, list[Tree]]
) -> list[str]:
    """How often the original is preferred: strictly, a tie counts against the model."""
    text = [" ".join(sentence) for sentence in words_of(ewt("train"))]
    models = {}
    for order, least in NGRAMS:
        known = "all words" if least == 1 else f"words seen {least} times or more"
        models[f"{order}-gram, {known}"] = train([text], order=order, min_count=least).model
    lines = [
        "How often a model finds a sentence more probable than the same words in another order. The row "
        "*head-driven, pooled* is the model as it is used: it combines the probability by its trees with "
        "the probability by the n-gram model. *One swap*: two neighboring words are exchanged. *Shuffle*: "
        f"all words are in random order. Sentences have {LEAST_WORDS} words or more.",
        "",
        "| part | model | one swap | shuffle | sentences |",
        "|---|---|---|---|---|",
    ]
    for part, gold in parts.items():
        sentences = [s for s in words_of(gold) if len(s) >= LEAST_WORDS and len(set(s)) > 1]
        versions = (sentences, *disordered(sentences, seed=1))
        pooled = [_logs(parser, version) for version in versions]
        others = [ngram_log_probabilities(version, shipped, 1) for version in versions]
        scores = {
            "head-driven, pooled": pooled,
            "its trees alone": [
                (both - NGRAM_SHARE * other) / (1 - NGRAM_SHARE)
                for both, other in zip(pooled, others, strict=True)
            ],
            "its n-grams alone (more text)": others,
        }
        for name, model in models.items():
            joined = [[" ".join(s) for s in version] for version in versions]
            scores[name] = [model.sentence_scores(version) for version in joined]
        for name, (original, swapped, shuffled) in scores.items():
            swap, shuffle = np.mean(original > swapped), np.mean(original > shuffled)
            lines.append(
                f"| {part} | {name} | {100 * swap:.1f} | {100 * shuffle:.1f} | {len(sentences)} |"
            )
    return lines


def _logs(parser: HeadDrivenParser, sentences: Sentences) -> np.ndarray:
    return np.array([scored.log_probability for scored in parser.score(sentences)])


def fragment_lines(parser: HeadDrivenParser, parts: dict[str, list[Tree]]) -> list[str]:
    lines = [
        "Into how many fragments the parser divides a sentence, and two sentences written as one "
        "(*two glued*): the share of texts with 1, 2, and 3 or more fragments, and the number of "
        "texts (n).",
        "",
        "| part | text | 1 | 2 | 3 or more | n |",
        "|---|---|---|---|---|---|",
    ]
    for part, gold in parts.items():
        sentences = words_of(gold)
        for name, texts in (
            ("one sentence", sentences),
            ("two glued", joined_pairs(sentences)[::2]),
        ):
            counts = Counter(min(3, parsed.fragments) for parsed in parser.parse(texts))
            shares = " | ".join(f"{100 * counts[n] / len(texts):.1f} %" for n in (1, 2, 3))
            lines.append(f"| {part} | {name} | {shares} | {len(texts)} |")
    parsed = parser.parse([["Everybody", "likes", "big", "cakes", "do"]])[0]
    return [*lines, "", f"*Everybody likes big cakes do*: {parsed.fragments} fragments."]


def speed_lines(parser: HeadDrivenParser, gold: list[Tree]) -> list[str]:
    """Sentences of 24 words, one thread, processor time with tagging and guessing."""
    sentences = [s for s in words_of(gold) if 22 <= len(s) <= 26][:200]
    parser.parse(sentences)  # the rows of the cache are there in any longer run
    lines = ["| what | sentences/s |", "|---|---|"]
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
    sections = {
        "Attachment (UAS, punctuation included, gold words, predicted tags)": attachment_lines(
            parser, parts
        ),
        "Order: the original is more probable (%)": order_lines(parser, shipped, parts),
        "Fragments": fragment_lines(parser, parts),
        "Speed at 22 to 26 words": speed_lines(parser, parts["dev"]),
    }
    size = (folder / "head_driven.wpm").stat().st_size
    text = (
        "# Head-driven parser\n\nHow well the [head-driven "
        "parser](../language/head-driven-parser.md) finds heads, and how often it finds a "
        "sentence more probable than its words in another order. This parser gives probabilities "
        "of sentences. UAS is the percentage of words with the right head. *Gold words* are the "
        "words of the treebank; *predicted tags* are those of a parser. The parser was trained "
        "on EWT (English Web Treebank) train and "
    )
    text += f"tuned on dev. The model's file has {size / 1e6:.2f} MB.\n{SUGGESTED}"
    for title, lines in sections.items():
        text += f"\n## {title}\n\n" + "\n".join(lines) + "\n"
    write_page("language-head-driven", text)
