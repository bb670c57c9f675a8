"""From lines of text to trees: tokenized, parsed, and scored by the head-driven model.

`SentenceParser` joins a tokenizer, a parser and, if there is one beside the parser, the head-driven
model. Its log probability and number of fragments become comments of the tree.
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
"""The log probability of a longer text would take minutes, and such a text is not a sentence."""


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """A tree with its comments, and the head-driven model's figures if there is such a model."""

    tree: Tree
    log_probability: float | None = None
    fragments: int | None = None


@dataclass(slots=True)
class ParseSummary:
    """Counts of what was parsed. `weighed_words` are in sentences with a log probability."""

    lines: int = 0
    sentences: int = 0
    words: int = 0
    weighed_words: int = 0
    log_probability: float = 0.0
    fragmented: int = 0
    not_english: Counter[str] = field(default_factory=Counter)
    """Lines with words that are not English prose, by the reason."""

    def add(self, parsed: ParsedSentence) -> None:
        self.sentences += 1
        self.words += len(parsed.tree.words)
        if parsed.log_probability is not None and parsed.fragments is not None:
            self.weighed_words += len(parsed.tree.words)
            self.log_probability += parsed.log_probability
            self.fragmented += parsed.fragments > 1

    def check_language(self, lines: Sequence[str]) -> None:
        """Counts the lines that a parser of English cannot be trusted with."""
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
        """One for each sentence that has words; read from the file if they were written to one."""
        if self.kept is not None:
            return self.kept
        if self.path is None or str(self.path) == STANDARD_OUTPUT:
            raise InputError("The trees were written to standard output and not kept.")
        return tuple(read_trees(self.path)) if self.summary.sentences else ()

    def save(self, path: PathLike) -> None:
        """Writes the trees to a CoNLL-U file."""
        write_trees(self.trees, path)

    def records(self) -> list[dict[str, Any]]:
        """One record: lines, sentences, words, log probability a word, sentences in fragments."""
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
    """`tokenize` is `treebank` or the name of a native tokenizer. `tokenizer` splits words as the
    treebank of the parser does; without it, they are split as in English."""

    def __init__(
        self,
        parser: Parser,
        head_driven: HeadDrivenParser | None = None,
        *,
        tokenize: str = TREEBANK_TOKENS,
        tokenizer: LearnedTokenizer | None = None,
    ) -> None:
        self.parser = parser
        self._tokenizer = tokenizer
        self._head_driven = head_driven
        self._tokenize = tokenize

    @classmethod
    def load(cls, name: str, *, tokenize: str = TREEBANK_TOKENS, is_weighed: bool = True) -> Self:
        """The parser of this name. With spaCy the head-driven model is the English one; without
        `is_weighed` there is none."""
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
        """The sentences of all lines that have words; `first` is the number of the first line."""
        cut = [(number, line, self._words(line)) for number, line in enumerate(lines, start=first)]
        full = [(number, line, words) for number, line, words in cut if words.forms]
        forms = [words.forms for _, _, words in full]
        trees = self.parser.parse(forms, threads=threads)
        weighed: Sequence[HeadDrivenParse | None] = [None] * len(full)
        if self._head_driven is not None:
            # The relations of another kind of parser differ from those the model was trained with.
            is_own = isinstance(self.parser, TaggingParser | NetworkParser)
            guesses = trees if is_own else None
            weighed = _weighed(self._head_driven, forms, guesses, threads)
        return [
            _finished(tree, words, line, number, scored)
            for (number, line, words), tree, scored in zip(full, trees, weighed, strict=True)
        ]

    def trees(self, texts: Sequence[str], *, threads: int = 1) -> list[Tree]:
        """A tree for every text; an empty one where the text has no words."""
        found = iter(self.parse(texts, threads=threads))
        return [next(found).tree if text.split() else Tree(()) for text in texts]

    def _words(self, line: str) -> Words:
        if self._tokenize == TREEBANK_TOKENS:
            return treebank_words(line) if self._tokenizer is None else self._tokenizer.words(line)
        return spaced_words(_native.tokenize([line], self._tokenize, 1)[0])


def _finished(
    tree: Tree, words: Words, line: str, number: int, weighed: HeadDrivenParse | None
) -> ParsedSentence:
    """The tree with comments, surface tokens and SpaceAfter."""
    inside = {place for first, last in words.surface_tokens for place in range(first, last + 1)}
    spaced = tuple(
        word if is_spaced or place in inside else replace(word, misc="SpaceAfter=No")
        for place, (word, is_spaced) in enumerate(zip(tree.words, words.are_spaced, strict=True))
    )
    multiwords = tuple(
        Multiword(
            first + 1,
            last + 1,
            form or "".join(words.forms[first : last + 1]),
            "_" if words.are_spaced[last] else "SpaceAfter=No",
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
    """The head-driven model's parse of each sentence, None for those too long for it."""
    places = [place for place, words in enumerate(sentences) if len(words) <= MAX_WEIGHED_WORDS]
    chosen = None if guesses is None else [guesses[place] for place in places]
    found: list[HeadDrivenParse | None] = [None] * len(sentences)
    parsed = model.parse([sentences[place] for place in places], guesses=chosen, threads=threads)
    for place, one in zip(places, parsed, strict=True):
        found[place] = one
    return found
