"""The noun `HeadDrivenParser`: how probable a sentence is as words that take other words.

A generative model of dependency trees in Collins's manner (docs/language/head-driven-parser.md). Log
probabilities are natural. A sentence's is summed over all analyses, its tree is the best one. Where
no single tree is plausible the best analysis is several fragments, each with a root of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.tree import Tree, Word
from wellput.io.files import PathLike
from wellput.io.model_files import load_model_file, noticing_damage
from wellput.language.backoff_tables import kernel_tables
from wellput.language.english_text import decapitalized
from wellput.language.function_tags import CLASS_NAMES, TagSet, full_tags, relation_of
from wellput.language.ngram_files import load_model
from wellput.language.ngrams import NgramModel
from wellput.language.parsers import Parser, load_parser
from wellput.language.tag_lattices import Lattices, tag_lattices
from wellput.language.word_shapes import word_number

KIND = "head-driven parser"
NGRAMS_FILE = "ngrams.wlm"
# In a longer sentence no arc, and no side of a word, reaches further than REACH words.
EXACT_WORDS = 120
REACH = 60

Sentences = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Scored:
    """A sentence's natural log probability, and the same by word frequencies alone. `is_limited` says
    that the sentence was too long for all its analyses to be tried."""

    log_probability: float
    unigram_log_probability: float
    words: int
    is_limited: bool

    @property
    def per_word(self) -> float:
        """The log probability of a word on average; NaN without words."""
        return self.log_probability / self.words if self.words else float("nan")

    @property
    def slor(self) -> float:
        """How much better a word is predicted than by frequency alone (Lau et al. 2017, SLOR)."""
        gained = self.log_probability - self.unigram_log_probability
        return gained / self.words if self.words else float("nan")


@dataclass(frozen=True, slots=True)
class Parsed:
    """The best analysis. Roots of further fragments hang on the first root as `parataxis`, so that
    `tree` is a tree; `roots` has the numbers of all of them."""

    tree: Tree
    roots: tuple[int, ...]
    scored: Scored

    @property
    def fragments(self) -> int:
        return len(self.roots)

    @property
    def log_probability(self) -> float:
        return self.scored.log_probability

    @property
    def unigram_log_probability(self) -> float:
        return self.scored.unigram_log_probability


class HeadDrivenParser:
    """A trained model with the parser and the tagger whose guesses its chart starts from, and the
    n-gram model that its probabilities are pooled with where it was trained so."""

    def __init__(
        self,
        arrays: Mapping[str, NDArray[Any]],
        guesser: Parser,
        ngrams: NgramModel | None = None,
        *,
        continuing: float | None = None,
    ) -> None:
        """`continuing`: another probability of a further fragment than the trained one."""
        tags, words = strings_of(arrays, "tags"), strings_of(arrays, "words")
        self.tag_set = TagSet(tags)
        self.guesser = guesser
        self._relations = [relation_of(tag) for tag in tags]
        self._numbers = {word: number for number, word in enumerate(words)}
        self._tagger = _native.TaggerModel(arrays["tagger"].tobytes(), len(tags))
        self._ngrams, self._ngram_share = ngrams, float(arrays["ngrams.share"][0])
        if not 0 <= self._ngram_share <= 1:
            raise ValueError("the share of the n-gram model is no share")
        self._sharpness = float(arrays["tagger.sharpness"][0])
        if continuing is None:
            continuing = float(arrays["continuing"][0])
        self._kernel = chart_kernel(arrays, continuing)

    @classmethod
    def load(cls, path: PathLike, *, guesser: Parser | None = None) -> HeadDrivenParser:
        """The parser in a file; its guesses come from the tagger and parser in the same folder where
        no other `guesser` is given. The n-gram model lies there too."""
        file, folder = load_model_file(path, KIND), Path(path).parent
        with noticing_damage(path, "head-driven parser"):
            is_pooled = float(file.arrays["ngrams.share"][0]) > 0
            ngrams = load_model(folder / NGRAMS_FILE) if is_pooled else None
            return cls(file.arrays, guesser or load_parser(str(folder)), ngrams)

    def parse(
        self, sentences: Sentences, *, guesses: Sequence[Tree] | None = None, threads: int = 1
    ) -> list[Parsed]:
        """The best analysis of each sentence, given as its words. `guesses`: the trees of the
        `guesser` where they are there already."""
        lattices = self._lattices(sentences, guesses, threads)
        heads = np.zeros(len(lattices.words), np.int32)
        tags = np.zeros(len(lattices.words), np.int32)
        rows = self._run(sentences, lattices, heads, tags, threads)
        found, start = [], 0
        for words, row in zip(sentences, rows, strict=True):
            own = slice(start, start := start + len(words))
            found.append(self._parsed(words, heads[own].tolist(), tags[own].tolist(), row))
        return found

    def score(
        self, sentences: Sentences, *, guesses: Sequence[Tree] | None = None, threads: int = 1
    ) -> list[Scored]:
        """The log probabilities alone, in less time."""
        none = np.zeros(0, np.int32)
        lattices = self._lattices(sentences, guesses, threads)
        rows = self._run(sentences, lattices, none, none, threads)
        return [_scored(words, row) for words, row in zip(sentences, rows, strict=True)]

    def _lattices(
        self, sentences: Sentences, guesses: Sequence[Tree] | None, threads: int
    ) -> Lattices:
        if guesses is None:
            guesses = self._guessed(sentences, threads)
        guessed = [self.tag_set.number(tag) for tree in guesses for tag in full_tags(tree)]
        roots = [self.tag_set.root_number(word) for tree in guesses for word in tree.words]
        numbers = [word_number(form, self._numbers) for words in sentences for form in words]
        return tag_lattices(
            self._tagger, self._sharpness, sentences, numbers, guessed, roots, threads=threads
        )

    def _guessed(self, sentences: Sentences, threads: int) -> list[Tree]:
        """The guesser's trees; it takes no sentence without words."""
        return self.guesser.parse([words for words in sentences if words], threads=threads)

    def _run(
        self,
        sentences: Sentences,
        lattices: Lattices,
        heads: NDArray[np.int32],
        tags: NDArray[np.int32],
        threads: int,
    ) -> NDArray[np.float64]:
        """The kernel's rows: log probability, that of the best forest, that by word frequencies."""
        rows = self._kernel.parse(
            lattices.sentences,
            lattices.words,
            lattices.starts,
            lattices.tags,
            lattices.weights,
            heads,
            tags,
            (EXACT_WORDS, REACH),
            threads,
        )
        if self._ngrams is not None:
            others = ngram_log_probabilities(sentences, self._ngrams, threads)
            rows[:, 0] += self._ngram_share * (others - rows[:, 0])
        return rows

    def _parsed(
        self, forms: Sequence[str], heads: list[int], tags: list[int], row: NDArray[np.float64]
    ) -> Parsed:
        roots = tuple(number for number, head in enumerate(heads, start=1) if head == 0)
        words = []
        for number, (form, head, tag) in enumerate(zip(forms, heads, tags, strict=True), start=1):
            relation = self._relations[tag] if head else "root"
            if number in roots[1:]:
                head, relation = roots[0], "parataxis"
            elif relation == "root" and head:
                relation = "dep"  # a tag learned from roots may turn up under a head
            part = self.tag_set.tags[tag].split("/", 1)[0]
            words.append(Word(form, head, xpos=part, relation=relation))
        return Parsed(Tree(tuple(words)), roots, _scored(forms, row))


def strings_of(arrays: Mapping[str, NDArray[Any]], name: str) -> list[str]:
    """Strings packed by `io.model_files.packed_strings`."""
    data, ends = arrays[f"{name}.text"].tobytes(), arrays[f"{name}.ends"].tolist()
    return [data[a:b].decode(errors="surrogatepass") for a, b in pairwise([0, *ends])]


def ngram_log_probabilities(
    sentences: Sentences, ngrams: NgramModel, threads: int
) -> NDArray[np.float64]:
    """Natural logs, by a model of text whose sentences begin small; 0 for no words."""
    texts = decapitalized([" ".join(words) for words in sentences], ngrams)
    logs = ngrams.sentence_scores(texts, threads=threads) * np.log(10)
    return np.where([bool(words) for words in sentences], logs, 0.0)


def chart_kernel(arrays: Mapping[str, NDArray[Any]], continuing: float) -> _native.HeadDriven:
    """The chart over a model's arrays; `continuing` is the probability of a further fragment."""
    return _native.HeadDriven(
        kernel_tables(arrays),
        [arrays[f"tags.{part}"] for part in ("coarse", "coarsest", "class")],
        arrays["words.unigrams"],
        len(CLASS_NAMES),
        0,
        float(arrays["shares"][0]),
        float(arrays["shares"][1]),
        continuing,
    )


def _scored(words: Sequence[str], row: NDArray[np.float64]) -> Scored:
    return Scored(float(row[0]), float(row[2]), len(words), len(words) > EXACT_WORDS)
