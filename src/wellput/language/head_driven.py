"""The noun `HeadDrivenParser`: how probable a sentence is as words that take other words.

A generative model of dependency trees in Collins's manner (docs/language/head-driven-parser.md). Log
probabilities are natural. A sentence's is summed over all analyses, its tree is the best one. Where
no single tree is plausible the best analysis is several fragments, each with a root of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.tree import Tree, Word
from wellput.io.files import PathLike
from wellput.io.model_files import ModelFile, load_model_file
from wellput.language.function_tags import CLASS_NAMES, relation_of
from wellput.language.word_shapes import word_number

KIND = "head-driven parser"
# A longer sentence is flagged: no arc in it, and no side of a word, reaches further than REACH words.
EXACT_WORDS = 120
REACH = 60


Sentences = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Lattices:
    """The tags that each word of some sentences may have, as the kernel takes them."""

    sentences: NDArray[np.int64]
    words: NDArray[np.int32]
    starts: NDArray[np.int64]
    tags: NDArray[np.int32]
    weights: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Scored:
    """A sentence's natural log probability, and the same by word frequencies alone."""

    log_probability: float
    unigram_log_probability: float
    words: int
    is_limited: bool


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


class HeadDrivenParser:
    """A trained model with the tagger that says which tags its chart tries for each word."""

    def __init__(self, file: ModelFile) -> None:
        arrays = file.arrays
        self.fingerprint = file.fingerprint
        self.tags = file.strings("tags")
        self._relations = [relation_of(tag) for tag in self.tags]
        self._numbers = {word: number for number, word in enumerate(file.strings("words"))}
        self._settings = file.card["settings"]
        self._tagger = _native.TaggerModel(arrays["tagger"].tobytes(), len(self.tags))
        self._kernel = kernel(arrays, self._settings)

    @classmethod
    def load(cls, path: PathLike) -> HeadDrivenParser:
        return cls(load_model_file(path, KIND))

    def parse(self, sentences: Sentences, *, threads: int = 1) -> list[Parsed]:
        """The best analysis of each sentence, given as its words."""
        lattices = self.lattices(sentences, threads=threads)
        heads = np.zeros(len(lattices.words), np.int32)
        tags = np.zeros(len(lattices.words), np.int32)
        rows = self._run(lattices, heads, tags, threads)
        found, start = [], 0
        for words, row in zip(sentences, rows, strict=True):
            own = slice(start, start := start + len(words))
            found.append(self._parsed(words, heads[own].tolist(), tags[own].tolist(), row))
        return found

    def score(self, sentences: Sentences, *, threads: int = 1) -> list[Scored]:
        """The log probabilities alone, in about half the time."""
        none = np.zeros(0, np.int32)
        rows = self._run(self.lattices(sentences, threads=threads), none, none, threads)
        return [_scored(words, row) for words, row in zip(sentences, rows, strict=True)]

    def lattices(self, sentences: Sentences, *, threads: int = 1) -> Lattices:
        """The tags that the tagger leaves to each word, with what it thinks of them."""
        k, margin, trust, sharpness = (self._settings[name] for name in LATTICE_SETTINGS)
        tags, logs = self._tagger.candidates(sentences, k, sharpness, threads)
        kept = logs >= logs[:, :1] - margin
        return Lattices(
            np.cumsum([0, *map(len, sentences)], dtype=np.int64),
            np.array([word_number(form, self._numbers) for s in sentences for form in s], np.int32),
            np.concatenate([[0], np.cumsum(kept.sum(axis=1))]),
            tags[kept],
            np.exp(trust * logs[kept]).astype(np.float32),
        )

    def _run(
        self,
        lattices: Lattices,
        heads: NDArray[np.int32],
        tags: NDArray[np.int32],
        threads: int,
    ) -> NDArray[np.float64]:
        return self._kernel.parse(
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

    def _parsed(
        self, forms: Sequence[str], heads: list[int], tags: list[int], row: NDArray[np.float64]
    ) -> Parsed:
        roots = tuple(number for number, head in enumerate(heads, start=1) if head == 0)
        words = []
        for number, (form, head, tag) in enumerate(zip(forms, heads, tags, strict=True), start=1):
            relation = "root" if number in roots[:1] else self._relations[tag]
            if number in roots[1:]:
                head, relation = roots[0], "parataxis"
            elif relation == "root" and head:
                relation = "dep"
            part = self.tags[tag].split("/", 1)[0]
            words.append(Word(form, head, xpos=part, relation=relation))
        return Parsed(Tree(tuple(words)), roots, _scored(forms, row))


LATTICE_SETTINGS = ("candidates", "margin", "trust", "sharpness")


def kernel(arrays: Mapping[str, NDArray[Any]], settings: Mapping[str, float]) -> _native.HeadDriven:
    """The chart over a model's arrays."""
    parts = ("starts", "keys", "values")
    return _native.HeadDriven(
        [arrays[f"{table}.{part}"] for table in ("events", "contexts") for part in parts],
        [arrays[f"tags.{part}"] for part in ("coarse", "coarsest", "class")],
        arrays["words.unigrams"],
        len(CLASS_NAMES),
        0,
        settings["head_share"],
        settings["continuing"],
    )


def _scored(words: Sequence[str], row: NDArray[np.float64]) -> Scored:
    return Scored(float(row[0]), float(row[2]), len(words), len(words) > EXACT_WORDS)
