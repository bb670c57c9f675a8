"""Tagger and parser on UD English EWT: `python -m benchmarks language-parsing [PARSER]`.

PARSER is `english` (default) or a folder made by `wellput train parser` from EWT train. Measures the accuracy with
the treebank's words and predicted tags, then compares the scores of tree metrics with gold and with parsed trees, on
sentences of EWT test that were damaged more and more. Writes docs/results/language_parsing.md.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from benchmarks.data import ewt
from benchmarks.pages import write_page
from wellput.api.score import score
from wellput.core.evalset import EvalSet
from wellput.core.source import EvalSource
from wellput.core.tree import Tree
from wellput.engine.parsed_references import ParsedReferences
from wellput.language.models.parser_training import attachment_scores
from wellput.language.models.parsers import (
    ENGLISH_PARSER,
    NetworkParser,
    TaggingParser,
    load_parser,
)
from wellput.language.models.sentence_parsing import SentenceParser
from wellput.language.shipped import ENGLISH_FOLDER, PARSER_FILE, TAGGER_FILE
from wellput.language.trees.supertags import Supertag, induce_supertags

OwnParser: TypeAlias = TaggingParser | NetworkParser
COLUMNS = ("xpos", "upos", "lemma", "uas", "las", "full_las", "supertag")
METRICS = ("sta", "gta")
SEED = 12345
TURNS = 3
RESAMPLES = 2000


def swapped(tokens: list[str], share: float, rng: random.Random) -> list[str]:
    """Each word changes places with its right neighbor with this probability."""
    moved = list(tokens)
    for i in range(len(moved) - 1):
        if rng.random() < share:
            moved[i], moved[i + 1] = moved[i + 1], moved[i]
    return moved


def scattered(tokens: list[str], share: float, rng: random.Random) -> list[str]:
    """Each word is chosen with this probability; the chosen words exchange their places at random."""
    places = [i for i in range(len(tokens)) if rng.random() < share]
    order = rng.sample(places, len(places))
    moved = list(tokens)
    for place, other in zip(places, order, strict=True):
        moved[place] = tokens[other]
    return moved


def cut(tokens: list[str], share: float, rng: random.Random) -> list[str]:
    """With this probability, the parts before and after a random place exchanged."""
    if len(tokens) < 2 or rng.random() >= share:
        return list(tokens)
    at = rng.randrange(1, len(tokens))
    return tokens[at:] + tokens[:at]


def dropped(tokens: list[str], share: float, rng: random.Random) -> list[str]:
    return [token for token in tokens if rng.random() >= share]


Damage = Callable[[list[str], float, random.Random], list[str]]
DAMAGES: dict[str, Damage] = {"swap": swapped, "scatter": scattered, "cut": cut, "drop": dropped}
SHARES = (0.1, 0.2, 0.4, 0.8)


def systems(references: Sequence[str]) -> dict[str, list[str]]:
    """Outputs by system: each way of damage in four strengths."""
    outputs: dict[str, list[str]] = {}
    for name, damage in DAMAGES.items():
        for share in SHARES:
            rng = random.Random(f"{SEED} {name} {share}")
            outputs[f"{name} {share}"] = [
                " ".join(damage(text.split(), share, rng)) for text in references
            ]
    return outputs


@dataclass(frozen=True)
class Rankings:
    """One metric with gold and with parsed trees: system scores and segment scores of all systems."""

    gold: np.ndarray
    parsed: np.ndarray
    gold_segments: np.ndarray
    parsed_segments: np.ndarray


def compare(trees: Sequence[Tree], parsing: SentenceParser) -> dict[str, Rankings]:
    references = [tree.text for tree in trees]
    outputs = systems(references)
    gold = EvalSet.of(outputs, references, trees=trees)
    parsed = ParsedReferences(
        EvalSet.of(outputs, references), parsing.trees, parsing.parser.signature
    )

    def tables(source: EvalSource) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        result = score(source, ",".join(METRICS), keep_rows=True)
        return {
            metric: (
                np.array([result[system, metric].score for system in outputs]),
                result.table(metric).scores,
            )
            for metric in METRICS
        }

    with_gold, with_parsed = tables(gold), tables(parsed)
    return {
        metric: Rankings(
            with_gold[metric][0],
            with_parsed[metric][0],
            with_gold[metric][1],
            with_parsed[metric][1],
        )
        for metric in METRICS
    }


def changed_pairs(ranking: Rankings) -> tuple[int, int]:
    """Pairs of systems that change their order, and all pairs."""
    n = len(ranking.gold)
    pairs = [(i, j) for i in range(n) for j in range(i)]
    changed = sum(
        (ranking.gold[i] - ranking.gold[j]) * (ranking.parsed[i] - ranking.parsed[j]) < 0
        for i, j in pairs
    )
    return changed, len(pairs)


def speed(parser: OwnParser, sentences: list[list[str]]) -> tuple[float, float]:
    """Sentences a second by one thread (processor time, best of several): tags only; trees."""
    tagging, parsing = [], []
    for _ in range(TURNS):
        start = time.process_time()
        parser.tagger.tag(sentences)
        middle = time.process_time()
        parser.parse(sentences)
        tagging.append(middle - start)
        parsing.append(time.process_time() - middle)
    return len(sentences) / min(tagging), len(sentences) / min(parsing)


def bare(tree: Tree) -> Tree:
    """In lower case, and without final punctuation (if no other word depends on it)."""
    words = tuple(replace(word, form=word.form.lower()) for word in tree.words)
    last = words[-1]
    is_mark = last.upos == "PUNCT" and last.head != 0
    if is_mark and len(words) > 1 and all(word.head != len(words) for word in words):
        words = words[:-1]
    return Tree(words)


def interval(gold: Sequence[Tree], parsed: Sequence[Tree]) -> dict[str, tuple[float, float]]:
    """95% intervals of `uas` and `las` in percent, by drawing sentences."""
    rows = [attachment_scores([a], [b]) for a, b in zip(gold, parsed, strict=True)]
    sizes = np.array([row["words"] for row in rows])
    rng = np.random.default_rng(SEED)
    drawn = rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), RESAMPLES)
    found = {}
    for name in ("uas", "las"):
        right = sizes * np.array([row[name] for row in rows])
        low, high = np.percentile(100 * (drawn @ right) / (drawn @ sizes), [2.5, 97.5])
        found[name] = (float(low), float(high))
    return found


def row_of(name: str, parser: OwnParser, trees: Sequence[Tree]) -> tuple[str, list[Tree]]:
    """A row of the table, and the parsed trees."""
    parsed = parser.parse([[word.form for word in tree.words] for tree in trees])
    found_tags = [p for g, t in zip(trees, parsed, strict=True) for p in supertag_pairs(g, t)]
    right = sum(a == b for a, b in found_tags) / len(found_tags)
    scores = {**attachment_scores(trees, parsed), "supertag": right}
    cells = " | ".join(f"{100 * scores[key]:.2f}" for key in COLUMNS)
    return f"| {name} | {scores['words']:,.0f} | {cells} |", parsed


def supertag_pairs(gold: Tree, parsed: Tree) -> Iterator[tuple[Supertag, Supertag]]:
    return zip(induce_supertags(gold), induce_supertags(parsed), strict=True)


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else ENGLISH_PARSER
    folder = ENGLISH_FOLDER if name == ENGLISH_PARSER else Path(name)
    start = time.perf_counter()
    parser = load_parser(name)
    loading = 1000 * (time.perf_counter() - start)
    assert isinstance(parser, TaggingParser | NetworkParser)
    dev, trees = ewt("dev"), ewt("test")
    words = [[word.form for word in tree.words] for tree in trees]
    rows = [row_of("dev", parser, dev)[0]]
    rows.append(
        row_of("dev, lower case, without final punctuation", parser, [bare(tree) for tree in dev])[
            0
        ]
    )
    row, parsed = row_of("test", parser, trees)
    rows.append(row)
    accuracy = attachment_scores(trees, parsed)
    between = {name: f"{a:.1f} to {b:.1f}" for name, (a, b) in interval(trees, parsed).items()}
    tagging, parsing = speed(parser, words)
    sizes = [(folder / file).stat().st_size / 1e6 for file in (TAGGER_FILE, PARSER_FILE)]
    rankings = compare(trees, SentenceParser(parser))
    lines = []
    for metric, found in rankings.items():
        changed, pairs = changed_pairs(found)
        both = ~np.isnan(found.gold_segments) & ~np.isnan(found.parsed_segments)
        segments = np.corrcoef(found.gold_segments[both], found.parsed_segments[both])[0, 1]
        difference = np.abs(found.gold - found.parsed).max()
        lines.append(
            f"| `{metric}` | {1 - 2 * changed / pairs:.3f} | {changed} of {pairs} | {difference:.3f} | {segments:.3f} |"
        )
    named = "\n".join(
        f"| {system} | "
        + " | ".join(f"{rankings[m].gold[i]:.3f} | {rankings[m].parsed[i]:.3f}" for m in METRICS)
        + " |"
        for i, system in enumerate(systems(["x"]))
    )
    page = f"""# Tagging and parsing

How often are the tagger and the parser of English right, and do tree metrics need trees that people made? On the test part of EWT (English Web Treebank), {100 * accuracy["uas"]:.1f}% of words get the right head, and {100 * accuracy["las"]:.1f}% the right head and relation.
With parsed trees, the tree metrics order systems as they do with trees made by people, or nearly so.

## Accuracy

In percent of words; punctuation counts. The tagger and the parser get the words as the treebank splits them, and the parser gets the tagger's tags. The treebank has two kinds of tags: UPOS, the universal parts of speech, and XPOS, detailed ones for English. UAS counts words with the right head, LAS words with the right head and universal relation, and
*LAS with subtypes* words with the right head, relation and subtype (`acl:relcl`). A [supertag](../language/supertags.md) describes the part of the tree around a word; it is read from the parsed tree and must be right as a whole. Tagger and parser were trained on EWT train and tuned on dev. The test part
was used once with this parser (and three times with an earlier one).

| | words | XPOS | UPOS | lemmas | UAS | LAS | LAS with subtypes | supertags |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{chr(10).join(rows)}

95% intervals on test (bootstrap over sentences): UAS {between["uas"]}, LAS {between["las"]}.

On EWT test, one thread tags {tagging:,.0f} sentences a second, or parses {parsing:,.0f} (with tags and lemmas); another machine has other times. The model's files have {sizes[0]:.2f} MB (`{TAGGER_FILE}`) and {sizes[1]:.2f} MB (`{PARSER_FILE}`); all files that parsing needs are loaded in {loading:.0f} ms.

## Tree metrics with gold and with parsed trees

Do the tree metrics [`sta`](../metrics/sta.md) and [`gta`](../metrics/gta.md) order systems in the same way with trees made by people (*gold*) and with parsed trees? The references are the sentences of EWT test. The outputs of {len(rankings[METRICS[0]].gold)} simulated systems are the same sentences, damaged: neighboring words are swapped (*swap*), words
anywhere in the sentence exchanged (*scatter*), the sentence's first and second part exchanged (*cut*), or words left out (*drop*). The number after the name is the probability of a change: for each word, or in *cut* for each sentence. Parsed trees are those of `--trees auto`, which splits the raw text of the references into words and parses them.

| | Kendall's τ of system scores | pairs of systems in another order | largest difference of a system's score | Pearson's r of segment scores |
| --- | ---: | ---: | ---: | ---: |
{chr(10).join(lines)}

| system | {" | ".join(f"`{m}`, gold | `{m}`, parsed" for m in METRICS)} |
| --- |{" ---: | ---: |" * len(METRICS)}
{named}
"""
    write_page("language-parsing", page)
