"""The corpus from which degraders draw words: `TaggedCorpus`, `CorpusSource` and context-free grammars.

A degrader is a system that builds sentences of known quality (see `degraders.py`).

`TaggedCorpus` holds each word of a sentence as a number, and perhaps the word's tag too. Words and tags
are numbered in the order in which they first occur, so that the same text and the same seed give the
same sentences. `CorpusSource` holds the text or the trees, and makes a `TaggedCorpus` of them: without
tags, with parts of speech, or with supertags (tags that also say how a word attaches to others).

`ContextFreeGrammar` holds the rules and words of a treebank with their counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError
from wellput.core.tree import Constituent, Tree
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.trees import TREES_SUFFIX, check_is_corpus, read_constituents, read_trees
from wellput.language.trees.constituents import (
    fold,
    head_parts,
    with_plain_labels,
    without_empty_elements,
    without_nameless_bracket,
)
from wellput.language.trees.projectivity import projectivize
from wellput.language.trees.supertags import induce_supertags
from wellput.text.english import treebank_words


class PhraseRule(NamedTuple):
    """A phrase and its parts; `head` is the place of the head among them (from 0), or None in a
    grammar without heads."""

    phrase: str
    parts: tuple[str, ...]
    head: int | None = None

    def __str__(self) -> str:
        marked = (
            f"{part}*" if place == self.head else part for place, part in enumerate(self.parts)
        )
        return f"{self.phrase} → {' '.join(marked)}"


@dataclass(frozen=True, slots=True)
class ContextFreeGrammar:
    """A grammar as counts: `starts` counts the categories of whole sentences, `rules` the rules, and
    `lexicon[tag, word]` the words with their tags."""

    starts: Counter[str] = field(default_factory=Counter)
    rules: Counter[PhraseRule] = field(default_factory=Counter)
    lexicon: Counter[tuple[str, str]] = field(default_factory=Counter)


def grammar_of_constituents(
    constituents: Iterable[Constituent],
    *,
    with_heads: bool = False,
    predicative_nouns: bool = False,
) -> ContextFreeGrammar:
    """Reads a grammar off constituent trees. It ignores empty elements (leaves that stand for no word),
    function tags such as SBJ, and the outermost bracket if it has no name.

    `with_heads` marks the head of each rule. Then `predicative_nouns` says that a predicative noun or
    adjective heads its clause, as in `to_dependencies`; otherwise it has no effect.
    """
    grammar = ContextFreeGrammar()
    for constituent in constituents:
        kept = without_empty_elements(constituent)
        bare = with_plain_labels(constituent)
        if kept is None or bare is None:
            continue
        # The heads come from the tree with its function tags, which mark predicates.
        heads = head_parts(kept, predicative_nouns=predicative_nouns) if with_heads else None
        _count(bare, heads, grammar)
    return grammar


def grammar_of_dependencies(
    trees: Iterable[Tree], *, column: Literal["upos", "xpos"] = "upos"
) -> ContextFreeGrammar:
    """The grammar of dependency trees. A word of category C and all words below it form a phrase [C];
    its parts are C itself and the phrases of the word's daughters, in the order of the words.

    Such rules cannot give the word order of a non-projective tree; `projectivize` it first.

    >>> from wellput.core.tree import Word
    >>> tree = Tree((Word("I", 2, upos="PRON"), Word("see", 0, upos="VERB")))
    >>> [str(rule) for rule in grammar_of_dependencies([tree]).rules]
    ['[PRON] → PRON*', '[VERB] → [PRON] VERB*']
    """
    grammar = ContextFreeGrammar()
    for tree in trees:
        categories = [getattr(word, column) for word in tree.words]
        parts: list[list[str]] = [[] for _ in tree.words]
        heads = [0] * len(tree.words)
        for place, word in enumerate(tree.words):
            # Words come from left to right: daughters on the left are there already, those on the
            # right are added later.
            heads[place] = len(parts[place])
            parts[place].append(categories[place])
            phrase = f"[{categories[place]}]"
            if word.head == 0:
                grammar.starts[phrase] += 1
            else:
                parts[word.head - 1].append(phrase)
            grammar.lexicon[categories[place], word.form] += 1
        for place, category in enumerate(categories):
            grammar.rules[PhraseRule(f"[{category}]", tuple(parts[place]), heads[place])] += 1
    return grammar


def _count(constituent: Constituent, heads: list[int] | None, grammar: ContextFreeGrammar) -> None:
    """Adds a tree's rules and words to the grammar; `heads` are the head parts from `head_parts`."""
    grammar.starts[without_nameless_bracket(constituent).label] += 1
    places = iter(heads or ())

    def visit(node: Constituent, parts: list[str]) -> str:
        head = next(places, None)
        if node.word is not None:
            grammar.lexicon[node.label, node.word] += 1
        elif node.label:
            grammar.rules[PhraseRule(node.label, tuple(parts), head)] += 1
        return node.label

    fold(constituent, visit)


Int32Array: TypeAlias = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class TaggedCorpus:
    """Sentences as arrays of numbers. `tokens` has the number in `words` of each token, all sentences
    one after the other; sentence i goes from place `ends[i - 1]` to before place `ends[i]`. `tags` has
    the number in `tag_names` of each token's tag, or is None."""

    words: Sequence[str]
    tokens: Int32Array
    ends: Int32Array
    tag_names: Sequence[str] = ()
    tags: Int32Array | None = None

    @classmethod
    def of(
        cls, sentences: Iterable[Sequence[str]], tags: Iterable[Sequence[str]] | None = None
    ) -> TaggedCorpus:
        """From lists of words; empty lists are left out. `tags` has a list for each sentence, with one
        tag for each word."""
        kept = [sentence for sentence in sentences if sentence]
        if not kept:
            raise InputError("The corpus has no sentences.")
        words, tokens = _numbered(kept)
        ends = np.cumsum([len(sentence) for sentence in kept], dtype=np.int32)
        if tags is None:
            return cls(words, tokens, ends)
        kept_tags = [sentence for sentence in tags if sentence]
        if [len(sentence) for sentence in kept_tags] != [len(sentence) for sentence in kept]:
            raise InputError("The corpus must have one tag for each word.")
        return cls(words, tokens, ends, *_numbered(kept_tags))

    @cached_property
    def starts(self) -> Int32Array:
        """The place of each sentence's first token."""
        return np.concatenate([np.zeros(1, np.int32), self.ends[:-1]])

    @cached_property
    def sentence_numbers(self) -> Int32Array:
        """The number of the sentence (from 0) that each token is in."""
        numbers = np.arange(len(self.ends), dtype=np.int32)
        return np.repeat(numbers, self.ends - self.starts)

    def text(self, tokens: Iterable[int]) -> list[str]:
        return [self.words[token] for token in tokens]


def _numbered(sentences: Sequence[Sequence[str]]) -> tuple[list[str], Int32Array]:
    numbers: dict[str, int] = {}
    tokens = [numbers.setdefault(name, len(numbers)) for names in sentences for name in names]
    return list(numbers), np.array(tokens, np.int32)


TagKind: TypeAlias = Literal["pos", "supertag"]


@dataclass(frozen=True, eq=False)
class CorpusSource:
    """Sentences as lists of words, and their trees (`given_trees`) if the user gave trees. Otherwise
    tags come from the English tagger and trees from the English parser."""

    sentences: Sequence[Sequence[str]]
    given_trees: Sequence[Tree] | None = None
    threads: int = 1

    @cached_property
    def trees(self) -> Sequence[Tree]:
        if self.given_trees is not None:
            return self.given_trees
        from wellput.language.models.parsers import ENGLISH_PARSER, load_parser

        return load_parser(ENGLISH_PARSER).parse(self.sentences, threads=self.threads)

    @cached_property
    def has_own_tags(self) -> bool:
        """Whether all words have a tag of the language's tag set (XPOS) beside the universal one."""
        return all(word.xpos != "_" for tree in self.trees for word in tree.words)

    def corpus(self, tags: TagKind | None = None) -> TaggedCorpus:
        """The sentences, with parts of speech or with the supertags read off the trees."""
        if tags is None:
            return TaggedCorpus.of(self.sentences)
        if tags == "supertag":
            supertags = [[str(tag) for tag in induce_supertags(tree)] for tree in self.trees]
            return TaggedCorpus.of(self.sentences, supertags)
        if self.given_trees is None:
            from wellput.language.models.tagger import Tagger
            from wellput.language.shipped import TAGGER_FILE, shipped

            tagger = Tagger.load(shipped(TAGGER_FILE))
            return TaggedCorpus.of(self.sentences, tagger.tag(self.sentences, threads=self.threads))
        column = "xpos" if self.has_own_tags else "upos"
        parts_of_speech = [[getattr(word, column) for word in tree.words] for tree in self.trees]
        return TaggedCorpus.of(self.sentences, parts_of_speech)

    def grammar(self) -> ContextFreeGrammar:
        """The grammar of the trees, with the same parts of speech as `corpus("pos")`."""
        column: Literal["xpos", "upos"] = "xpos" if self.has_own_tags else "upos"
        return grammar_of_dependencies(map(projectivize, self.trees), column=column)


def read_source(path: PathLike, *, is_tokenized: bool = False, threads: int = 1) -> CorpusSource:
    """The source in a file: trees in CoNLL-U, or text with one sentence on each line. `is_tokenized`
    says that white space separates all words and marks of the text."""
    file = InputFile(path)
    if file.suffix == TREES_SUFFIX:
        return _source_of_trees(list(read_trees(path)), threads)
    check_readable(file)
    check_is_corpus(file)
    return _source_of_text(file.lines(), is_tokenized, threads)


def source_of(
    given: Iterable[str] | Iterable[Tree], *, is_tokenized: bool = False, threads: int = 1
) -> CorpusSource:
    """The source of sentences or trees in memory; all must be of the same kind. `is_tokenized`: the
    words of sentences are separated by spaces."""
    entries = list(given)
    trees = [entry for entry in entries if isinstance(entry, Tree)]
    if trees and len(trees) == len(entries):
        return _source_of_trees(trees, threads)
    lines = [entry for entry in entries if isinstance(entry, str)]
    if len(lines) < len(entries):
        raise InputError("A corpus is a list of sentences or of Tree objects, but not of both.")
    return _source_of_text(lines, is_tokenized, threads)


def _source_of_trees(trees: Sequence[Tree], threads: int) -> CorpusSource:
    return CorpusSource([[word.form for word in tree.words] for tree in trees], trees, threads)


def _source_of_text(lines: Iterable[str], is_tokenized: bool, threads: int) -> CorpusSource:
    split = str.split if is_tokenized else _treebank_forms
    return CorpusSource([words for line in lines if (words := split(line))], None, threads)


def _treebank_forms(text: str) -> list[str]:
    return list(treebank_words(text).forms)


def read_grammar(path: PathLike) -> ContextFreeGrammar:
    """The grammar of a treebank: CoNLL-U if its suffix says so, otherwise bracketed trees."""
    if InputFile(path).suffix == TREES_SUFFIX:
        return read_source(path).grammar()
    return grammar_of_constituents(read_constituents(path))
