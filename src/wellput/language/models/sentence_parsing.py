"""Turns lines of text into trees: tokenizes and parses them, and computes their probability.

`SentenceParser` joins a tokenizer, a parser and, if the parser's folder has one, a head-driven model
(`head_driven.py`), which gives the log probability of a sentence and the number of fragments of its
best analysis. (A fragment has a root of its own.) These two become comments of the tree. A sentence
with a log probability is called *weighed*.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any, ClassVar, Self

from wellput import _native
from wellput.core.errors import InputError
from wellput.core.result import Result
from wellput.core.tree import Multiword, Tree
from wellput.io import read_trees, write_trees
from wellput.io.files import PathLike
from wellput.io.output import STANDARD_OUTPUT
from wellput.language import shipped
from wellput.language.models.head_driven import HeadDrivenParse, HeadDrivenParser
from wellput.language.models.language_check import (
    TREE_CONSEQUENCES,
    not_english_sentence,
    reasons_against,
)
from wellput.language.models.learned_tokenizer import LearnedTokenizer
from wellput.language.models.parsers import (
    ENGLISH_PARSER,
    SPACY_PREFIX,
    NetworkParser,
    Parser,
    TaggingParser,
    load_parser,
)
from wellput.text.english import Words, spaced_words, treebank_words

TREEBANK_TOKENS = "treebank"
MAX_WEIGHED_WORDS = 1000
"""Longer texts get no log probability: it would take minutes, and such a text is not a sentence."""


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """A tree with its comments, and the log probability and number of fragments if there is a
    head-driven model."""

    tree: Tree
    log_probability: float | None = None
    fragments: int | None = None


@dataclass(slots=True)
class ParseSummary:
    """Counts of what was parsed. `weighed_words` and `log_probability` are sums over the sentences
    with a log probability; `fragmented` counts those of several fragments."""

    lines: int = 0
    sentences: int = 0
    words: int = 0
    weighed_words: int = 0
    log_probability: float = 0.0
    fragmented: int = 0
    not_english: Counter[str] = field(default_factory=Counter)
    """How many lines are not English prose, by the reason."""

    def add(self, parsed: ParsedSentence) -> None:
        self.sentences += 1
        self.words += len(parsed.tree.words)
        if parsed.log_probability is not None and parsed.fragments is not None:
            self.weighed_words += len(parsed.tree.words)
            self.log_probability += parsed.log_probability
            self.fragmented += parsed.fragments > 1

    def check_language(self, lines: Sequence[str]) -> None:
        """Counts the lines that are not English prose, on which an English parser is not reliable."""
        self.not_english.update(reasons_against(lines))

    @property
    def warning(self) -> str:
        """A sentence on lines that are not English prose; empty if there are none."""
        return not_english_sentence(self.not_english, "line", TREE_CONSEQUENCES)


@dataclass(frozen=True, repr=False)
class ParseResult(Result):
    """The trees, kept in memory or written to a file, and a summary of them."""

    presented_by: ClassVar[str] = "wellput.reporting.language:parse_report"

    kept: tuple[Tree, ...] | None
    summary: ParseSummary
    path: PathLike | None = None

    @cached_property
    def trees(self) -> tuple[Tree, ...]:
        """A tree for each sentence that has words; they are read from the file if they were written to
        one."""
        if self.kept is not None:
            return self.kept
        if self.path is None or str(self.path) == STANDARD_OUTPUT:
            raise InputError("The trees were written to standard output and not kept.")
        return tuple(read_trees(self.path)) if self.summary.sentences else ()

    def save(self, path: PathLike) -> None:
        """Writes the trees to a CoNLL-U file."""
        write_trees(self.trees, path)

    def records(self) -> list[dict[str, Any]]:
        """One record: the numbers of lines, sentences and words, the mean log probability of a word,
        the number of sentences in fragments, and the lines that are not English."""
        summary = self.summary
        is_weighed = summary.weighed_words > 0
        per_word = summary.log_probability / summary.weighed_words if is_weighed else None
        return [
            {
                "lines": summary.lines,
                "sentences": summary.sentences,
                "words": summary.words,
                "log_probability_per_word": per_word,
                "fragmented": summary.fragmented if is_weighed else None,
                "not_english": dict(summary.not_english),
            }
        ]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput parse`."""
        return self.records()[0]


class SentenceParser:
    """Turns lines into trees. `tokenize` is `treebank` or the name of a built-in tokenizer. With
    `treebank`, the `tokenizer` splits words as the parser's treebank does; if it is None, words are
    split as in English treebanks."""

    def __init__(
        self,
        parser: Parser,
        head_driven: HeadDrivenParser | None = None,
        *,
        tokenize: str = TREEBANK_TOKENS,
        tokenizer: LearnedTokenizer | None = None,
    ) -> None:
        self.parser = parser
        self._learned_tokenizer = tokenizer
        self._head_driven = head_driven
        self._tokenize = tokenize

    @classmethod
    def load(cls, name: str, *, tokenize: str = TREEBANK_TOKENS, is_weighed: bool = True) -> Self:
        """The parser that a user named, with the head-driven model in its folder. For a spaCy pipeline
        the head-driven model is the shipped English one. There is none without `is_weighed`, and none
        for a folder with a learned tokenizer."""
        parser = load_parser(name)
        learned = Path(name) / shipped.TOKENIZER_FILE
        if learned.is_file():
            return cls(parser, tokenize=tokenize, tokenizer=LearnedTokenizer.load(learned))
        if not is_weighed:
            return cls(parser, tokenize=tokenize)
        folder = (
            shipped.ENGLISH_FOLDER
            if name == ENGLISH_PARSER or name.startswith(SPACY_PREFIX)
            else Path(name)
        )
        path = folder / shipped.HEAD_DRIVEN_FILE
        head_driven = HeadDrivenParser.load(path) if path.is_file() else None
        return cls(parser, head_driven, tokenize=tokenize)

    def parse(
        self, lines: Sequence[str], *, first: int = 1, threads: int = 1
    ) -> list[ParsedSentence]:
        """The parsed sentences, one for each line that has words; `first` is the number of the first
        line."""
        return list(self._by_line(lines, first=first, threads=threads).values())

    def trees(self, texts: Sequence[str], *, threads: int = 1) -> list[Tree]:
        """A tree for every text; an empty tree for a text without words."""
        parsed = self._by_line(texts, first=0, threads=threads)
        return [parsed[place].tree if place in parsed else Tree(()) for place in range(len(texts))]

    def _by_line(
        self, lines: Sequence[str], *, first: int, threads: int
    ) -> dict[int, ParsedSentence]:
        """The parsed sentences by the number of their line, for each line that has words."""
        tokenized = [
            (number, line, self._words(line)) for number, line in enumerate(lines, start=first)
        ]
        with_words = [(number, line, words) for number, line, words in tokenized if words.forms]
        forms = [words.forms for _, _, words in with_words]
        trees = self.parser.parse(forms, threads=threads)
        weighed: Sequence[HeadDrivenParse | None] = [None] * len(with_words)
        if self._head_driven is not None:
            # With the trees as guesses, the head-driven model need not parse with its own guesser.
            # spaCy's trees do not serve: their relations differ from those with which the model was
            # trained.
            has_same_relations = isinstance(self.parser, TaggingParser | NetworkParser)
            guesses = trees if has_same_relations else None
            weighed = _weighed(self._head_driven, forms, guesses, threads)
        return {
            number: _finished(tree, words, line, number, scored)
            for (number, line, words), tree, scored in zip(with_words, trees, weighed, strict=True)
        }

    def _words(self, line: str) -> Words:
        if self._tokenize == TREEBANK_TOKENS:
            learned = self._learned_tokenizer
            return treebank_words(line) if learned is None else learned.words(line)
        return spaced_words(_native.tokenize([line], self._tokenize, 1)[0])


def _finished(
    tree: Tree, words: Words, line: str, number: int, weighed: HeadDrivenParse | None
) -> ParsedSentence:
    """The tree with its comments (sentence number, text, log probability, fragments), its multiword
    tokens and the mark SpaceAfter=No."""
    inside = {place for first, last in words.surface_tokens for place in range(first, last + 1)}
    spaced = tuple(
        word if has_space or place in inside else replace(word, misc="SpaceAfter=No")
        for place, (word, has_space) in enumerate(
            zip(tree.words, words.has_space_after, strict=True)
        )
    )
    # Without `surface_forms`, the form of a multiword token is its words joined.
    multiwords = tuple(
        Multiword(
            first + 1,
            last + 1,
            form or "".join(words.forms[first : last + 1]),
            "_" if words.has_space_after[last] else "SpaceAfter=No",
        )
        for (first, last), form in zip_longest(words.surface_tokens, words.surface_forms)
    )
    comments = [f"sent_id = {number}", f"text = {' '.join(line.split())}"]
    log_probability = fragments = None
    if weighed is not None:
        log_probability, fragments = weighed.scored.log_probability, weighed.fragments
        comments += [f"log_probability = {log_probability:.4f}", f"fragments = {fragments}"]
    return ParsedSentence(Tree(spaced, multiwords, tuple(comments)), log_probability, fragments)


def _weighed(
    model: HeadDrivenParser,
    sentences: Sequence[Sequence[str]],
    guesses: Sequence[Tree] | None,
    threads: int,
) -> list[HeadDrivenParse | None]:
    """The head-driven model's parse of each sentence; None for sentences that are too long."""
    places = [place for place, words in enumerate(sentences) if len(words) <= MAX_WEIGHED_WORDS]
    chosen_guesses = None if guesses is None else [guesses[place] for place in places]
    parses: list[HeadDrivenParse | None] = [None] * len(sentences)
    chosen = [sentences[place] for place in places]
    for place, parse in zip(
        places, model.parse(chosen, guesses=chosen_guesses, threads=threads), strict=True
    ):
        parses[place] = parse
    return parses
