"""Degraded sentences by one or more methods, and the result: `DegradedSentences`.

A degrader is a system that builds sentences from the words of a corpus. Its name is made of its method
and size: `sequence-4` joins sequences of 4 words, `pos` has no size. Longer sequences make better
sentences, so the right order of the systems is known without judges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, get_args

import numpy as np

from wellput.core.errors import InputError, did_you_mean
from wellput.core.evalset import EvalSet
from wellput.core.judgment import Judgment
from wellput.core.result import Result
from wellput.io import check_table, check_text, write_evalset
from wellput.io.files import PathLike
from wellput.io.output import write_text
from wellput.language.degrade.corpus import ContextFreeGrammar, CorpusSource, TaggedCorpus
from wellput.language.degrade.errors import ErrorGenerator
from wellput.language.degrade.sequences import Boundary, SequenceGenerator
from wellput.language.degrade.templates import GrammarTemplates, TagTemplates, WordModel

DegradeMethod: TypeAlias = Literal["sequence", "pos", "supertag", "cfg", "errors"]
DEGRADE_METHODS: tuple[DegradeMethod, ...] = get_args(DegradeMethod)
SENTENCES_A_BLOCK = 100
"""The progress bar moves on after this many sentences."""
CONSTRUCTION_JUDGE = "construction"
"""The judge's name for scores that are known by construction."""


class Degrader(Protocol):
    """A system that makes `n` sentences, each a list of words."""

    def generate(self, n: int, rng: np.random.Generator) -> list[list[str]]: ...


class TemplateGenerator:
    """Draws a sequence of tags (a template) and fills it with the most probable words. The methods
    `pos` and `supertag` differ only in the tags of the corpus."""

    def __init__(self, corpus: TaggedCorpus, *, length: int = 24, threads: int = 1) -> None:
        self.templates = TagTemplates(corpus, length=length)
        self.words = WordModel.of(corpus)
        self.threads = threads

    def generate(self, n: int, rng: np.random.Generator) -> list[list[str]]:
        drawn = [self.templates.draw(rng) for _ in range(n)]
        return self.words.best(drawn, threads=self.threads) if drawn else []


class GrammarGenerator:
    """The method `cfg`: derives parts of speech by a grammar and draws a word for each, from the tagged
    corpus and the grammar's treebank together."""

    def __init__(
        self, corpus: TaggedCorpus, grammar: ContextFreeGrammar, *, length: int = 24
    ) -> None:
        self.templates = GrammarTemplates(grammar, length=length)
        tagged_words = _with_lexicon(corpus, grammar)
        self.tag_numbers = {name: number for number, name in enumerate(tagged_words.tag_names)}
        self.words = WordModel.of(tagged_words)

    def generate(self, n: int, rng: np.random.Generator) -> list[list[str]]:
        return [
            self.words.draw([self.tag_numbers[tag] for tag in self.templates.draw(rng)], rng)
            for _ in range(n)
        ]


def in_blocks(degrader: Degrader, n: int, rng: np.random.Generator) -> Iterator[list[list[str]]]:
    """The `n` sentences of a degrader in several lists, so that a progress bar can be shown."""
    if isinstance(degrader, SequenceGenerator) and degrader.draws_whole_sentences:
        yield degrader.generate(n, rng)  # drawn together, so that no sentence comes twice
        return
    for begin in range(0, n, SENTENCES_A_BLOCK):
        yield degrader.generate(min(SENTENCES_A_BLOCK, n - begin), rng)


def known_order(n: int, sizes: Mapping[str, int]) -> list[Judgment]:
    """Judgments of items 1 to n. A system's score for every item is the number of words in its
    sequences, from `sizes`."""
    return [
        Judgment(CONSTRUCTION_JUDGE, str(item), system, "size", float(size))
        for item in range(1, n + 1)
        for system, size in sizes.items()
    ]


def _with_lexicon(corpus: TaggedCorpus, grammar: ContextFreeGrammar) -> TaggedCorpus:
    """The words of the corpus and of the treebank, as sentences of one word each."""
    assert corpus.tags is not None
    tags = [corpus.tag_names[tag] for tag in corpus.tags]
    entries: Iterable[tuple[tuple[str, str], int]] = grammar.lexicon.items()
    pairs = [pair for pair, count in entries for _ in range(count)]
    known = {*tags, *(tag for tag, _ in pairs)}
    needed = {part for rule in grammar.rules for part in rule.parts} - {
        rule.phrase for rule in grammar.rules
    }
    if lacking := sorted(needed - known):
        raise InputError(
            f"There are no words for {', '.join(lacking)}: corpus and treebank have different tag sets."
        )
    words = [[word] for word in corpus.text(corpus.tokens)] + [[word] for _, word in pairs]
    return TaggedCorpus.of(words, [[tag] for tag in tags] + [[tag] for tag, _ in pairs])


def degraded_systems(methods: Sequence[str], sizes: Sequence[int]) -> dict[str, int]:
    """The names of the systems, each with the length of its sequences in words; 0 for other methods.

    >>> degraded_systems(["sequence", "pos"], [1, 4])
    {'sequence-1': 1, 'sequence-4': 4, 'pos': 0}
    """
    for name in methods:
        if name not in DEGRADE_METHODS:
            raise InputError(
                f"There is no method {name!r}.{did_you_mean(name, DEGRADE_METHODS)} The methods are "
                f"{', '.join(DEGRADE_METHODS)}."
            )
    if not methods:
        raise InputError(f"No method was given. The methods are {', '.join(DEGRADE_METHODS)}.")
    if sizes and "sequence" not in methods:
        raise InputError("size= is for the method sequence.")
    sizes_by_system: dict[str, int] = {}
    for name in methods:
        if name == "sequence":
            sizes_by_system |= {f"sequence-{size}": size for size in sizes or [1]}
        else:
            sizes_by_system[name] = 0
    return sizes_by_system


def degrader_of(
    system: str,
    source: CorpusSource,
    grammar: ContextFreeGrammar | None,
    *,
    size: int,
    length: int,
    boundary: Boundary,
) -> Degrader:
    """The degrader of a system; without a `grammar`, `cfg` uses the grammar of the source's trees."""
    if size:
        return SequenceGenerator(source.corpus(), size=size, length=length, boundary=boundary)
    if system == "errors":
        return ErrorGenerator(source.corpus(), length=length)
    if system == "cfg":
        return GrammarGenerator(source.corpus("pos"), grammar or source.grammar(), length=length)
    tags = source.corpus("pos" if system == "pos" else "supertag")
    return TemplateGenerator(tags, length=length, threads=source.threads)


@dataclass(frozen=True, repr=False)
class DegradedSentences(Result):
    """The sentences of each system (`outputs`); for systems that join sequences, also the number of
    words in a sequence (`sizes`)."""

    presented_by: ClassVar[str] = "wellput.reporting.language:degrade_report"

    outputs: Mapping[str, Sequence[str]]
    sizes: Mapping[str, int]
    is_evalset: bool = False
    """Whether the result is an evalset, which may have several systems, or lines of text."""
    path: PathLike | None = None

    @property
    def sentences(self) -> list[str]:
        """The sentences of all systems, one system after the other."""
        return [text for texts in self.outputs.values() for text in texts]

    @property
    def evalset(self) -> EvalSet:
        """Item n has the n-th sentence of each system, and no references."""
        return EvalSet.of(self.outputs)

    @property
    def gold(self) -> list[Judgment]:
        """Judgments by the length of the sequences: longer ones are better. See `known_order`."""
        n = len(next(iter(self.outputs.values())))
        return known_order(n, self.sizes)

    @property
    def is_summary(self) -> bool:
        """Whether to show one example for each system, not every sentence."""
        return self.is_evalset or self.path is not None

    def save(self, path: PathLike) -> None:
        """Writes the evalset if this is one, otherwise the sentences, one a line."""
        if self.is_evalset:
            check_table(path)
            write_evalset(self.evalset, path)
        else:
            check_text(path)
            write_text("".join(f"{text}\n" for text in self.sentences), path)

    def records(self) -> list[dict[str, Any]]:
        """A record for each system with its first sentence, or one for each sentence."""
        if self.is_summary:
            return [
                {"system": system, "sentences": len(texts), "example": texts[0]}
                for system, texts in self.outputs.items()
            ]
        return [
            {"system": system, "sentence": text}
            for system, texts in self.outputs.items()
            for text in texts
        ]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput degrade`."""
        return {"systems" if self.is_summary else "sentences": self.records()}
