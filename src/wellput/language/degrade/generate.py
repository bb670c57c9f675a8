"""Degraded sentences by method, and several methods side by side as an EvalSet.

A degrader is a system: it has a name and gives sentences. Between sequences of different sizes the
order of quality is known by construction: a gold standard that needs no judges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, Protocol, TypeAlias, get_args

import numpy as np

from wellput.core.errors import InputError
from wellput.core.judgment import Judgment
from wellput.language.degrade.corpus import Corpus
from wellput.language.degrade.sequences import SequenceGenerator
from wellput.language.degrade.templates import GrammarTemplates, TagTemplates
from wellput.language.degrade.words import WordModel
from wellput.trees.grammar import Grammar

Method: TypeAlias = Literal["sequence", "pos", "supertag", "cfg", "errors"]
METHODS: tuple[Method, ...] = get_args(Method)
BLOCK = 100
CONSTRUCTION = "construction"
"""The judge of what is known by construction: nobody judged it."""


class Degrader(Protocol):
    """Anything that makes sentences, as lists of words."""

    def generate(self, n: int, rng: np.random.Generator) -> list[list[str]]: ...


class TemplateGenerator:
    """Templates of tags filled with their most probable words: `pos` and `supertag`, which differ in
    the tags of the corpus only."""

    def __init__(self, corpus: Corpus, *, length: int = 24, threads: int = 1) -> None:
        self.templates = TagTemplates(corpus, length=length)
        self.words = WordModel.of(corpus)
        self.threads = threads

    def generate(self, n: int, rng: np.random.Generator) -> list[list[str]]:
        drawn = [self.templates.draw(rng) for _ in range(n)]
        return self.words.best(drawn, threads=self.threads) if drawn else []


class GrammarGenerator:
    """Parts of speech derived by a grammar, each with a word drawn from those of the tagged corpus and
    of the treebank together."""

    def __init__(self, corpus: Corpus, grammar: Grammar, *, length: int = 24) -> None:
        self.templates = GrammarTemplates(grammar, length=length)
        both = _with_lexicon(corpus, grammar)
        self.numbers = {name: number for number, name in enumerate(both.tag_names)}
        self.words = WordModel.of(both)

    def generate(self, n: int, rng: np.random.Generator) -> list[list[str]]:
        return [
            self.words.draw([self.numbers[tag] for tag in self.templates.draw(rng)], rng)
            for _ in range(n)
        ]


def in_blocks(degrader: Degrader, n: int, rng: np.random.Generator) -> Iterator[list[list[str]]]:
    """The same sentences in blocks, for a progress bar."""
    if isinstance(degrader, SequenceGenerator) and degrader.is_whole:
        yield degrader.generate(n, rng)  # each sentence once: they must be drawn together
        return
    for begin in range(0, n, BLOCK):
        yield degrader.generate(min(BLOCK, n - begin), rng)


def known_order(n: int, sizes: Mapping[str, int]) -> list[Judgment]:
    """What is known by construction of the items 1 to n: the larger the sequences, the better."""
    return [
        Judgment(CONSTRUCTION, str(item), system, "size", float(size))
        for item in range(1, n + 1)
        for system, size in sizes.items()
    ]


def _with_lexicon(corpus: Corpus, grammar: Grammar) -> Corpus:
    """The corpus with the words of a treebank as sentences of one word after it."""
    assert corpus.tags is not None
    tags = [corpus.tag_names[tag] for tag in corpus.tags]
    entries: Iterable[tuple[tuple[str, str], int]] = grammar.lexicon.items()
    pairs = [pair for pair, count in entries for _ in range(count)]
    known = {*tags, *(tag for tag, _ in pairs)}
    needed = {part for rule in grammar.rules for part in rule.parts} - {
        rule.phrase for rule in grammar.rules
    }
    if without := sorted(needed - known):
        raise InputError(f"No word is known for {', '.join(without)}: the tag sets do not fit.")
    words = [[word] for word in corpus.text(corpus.tokens)] + [[word] for _, word in pairs]
    return Corpus.of(words, [[tag] for tag in tags] + [[tag] for tag, _ in pairs])
