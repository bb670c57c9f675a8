"""The noun `Source`: what degraders draw from, read from a file of text or of trees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from wellput.core.errors import InputError
from wellput.core.tree import Tree
from wellput.io.files import InputFile, PathLike, check_readable
from wellput.io.trees import read_constituents, read_trees
from wellput.language.degrade.corpus import Corpus
from wellput.text.english import treebank_words
from wellput.trees.grammar import Grammar, grammar_of_constituents, grammar_of_dependencies
from wellput.trees.projectivity import projectivize
from wellput.trees.supertags import induce_supertags

Tags: TypeAlias = Literal["pos", "supertag"]
TREES = ".conllu"
TABLES = (".json", ".jsonl", ".csv", ".tsv", ".parquet")
"""Files of evalsets and judgments, whose quotes and commas would become words."""


@dataclass(frozen=True, eq=False)
class Source:
    """Sentences in words, with their trees where they came with them; else tags come from the English
    tagger, trees from the English parser."""

    sentences: Sequence[Sequence[str]]
    given_trees: Sequence[Tree] | None = None
    threads: int = 1

    @cached_property
    def trees(self) -> Sequence[Tree]:
        if self.given_trees is not None:
            return self.given_trees
        from wellput.language.parsers import ENGLISH, load_parser

        return load_parser(ENGLISH).parse(self.sentences, threads=self.threads)

    @cached_property
    def has_own_tags(self) -> bool:
        """Whether the trees have a tag set of their own beside the universal one."""
        return all(word.xpos != "_" for tree in self.trees for word in tree.words)

    def corpus(self, tags: Tags | None = None) -> Corpus:
        """The sentences, with parts of speech or with the supertags read off the trees."""
        if tags is None:
            return Corpus.of(self.sentences)
        if tags == "supertag":
            found = [[str(tag) for tag in induce_supertags(tree)] for tree in self.trees]
            return Corpus.of(self.sentences, found)
        if self.given_trees is None:
            from wellput.language.parsers import TAGGER_FILE
            from wellput.language.shipped import shipped
            from wellput.language.tagger import Tagger

            tagger = Tagger.load(shipped(TAGGER_FILE))
            return Corpus.of(self.sentences, tagger.tag(self.sentences, threads=self.threads))
        column = "xpos" if self.has_own_tags else "upos"
        found = [[getattr(word, column) for word in tree.words] for tree in self.trees]
        return Corpus.of(self.sentences, found)

    def grammar(self) -> Grammar:
        """The grammar of the trees, over the same parts of speech as those of `corpus`."""
        column: Literal["xpos", "upos"] = "xpos" if self.has_own_tags else "upos"
        return grammar_of_dependencies(map(projectivize, self.trees), column=column)


def read_source(path: PathLike, *, is_tokenized: bool = False, threads: int = 1) -> Source:
    """Trees from CoNLL-U, else text with a sentence a line; where it `is_tokenized`, its words are what
    white space separates."""
    file = InputFile(path)
    if file.suffix == TREES:
        return _source_of_trees(list(read_trees(path)), threads)
    check_readable(file)
    if file.suffix in TABLES:
        raise InputError(
            f"{file.name} is no text: a corpus has a sentence on each line, or is CoNLL-U ({TREES})."
        )
    return _source_of_text(file.lines(), is_tokenized, threads)


def source_of(
    given: Iterable[str] | Iterable[Tree], *, is_tokenized: bool = False, threads: int = 1
) -> Source:
    """The same from sentences or trees in memory."""
    sentences = list(given)
    trees = [one for one in sentences if isinstance(one, Tree)]
    if trees and len(trees) == len(sentences):
        return _source_of_trees(trees, threads)
    lines = [one for one in sentences if isinstance(one, str)]
    if len(lines) < len(sentences):
        raise InputError("A corpus is a list of sentences, or of Tree objects, not of both.")
    return _source_of_text(lines, is_tokenized, threads)


def _source_of_trees(trees: Sequence[Tree], threads: int) -> Source:
    return Source([[word.form for word in tree.words] for tree in trees], trees, threads)


def _source_of_text(lines: Iterable[str], is_tokenized: bool, threads: int) -> Source:
    split = str.split if is_tokenized else _treebank_forms
    return Source([words for line in lines if (words := split(line))], None, threads)


def _treebank_forms(text: str) -> list[str]:
    return list(treebank_words(text).forms)


def read_grammar(path: PathLike) -> Grammar:
    """The grammar of a treebank: CoNLL-U by its suffix, else bracketed trees."""
    if InputFile(path).suffix == TREES:
        return read_source(path).grammar()
    return grammar_of_constituents(read_constituents(path))
