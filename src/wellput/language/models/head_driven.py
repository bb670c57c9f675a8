"""`HeadDrivenParser`: the probability of a sentence, summed over dependency trees.

A generative model of dependency trees in the manner of Collins (docs/language/head-driven-parser.md).
Log probabilities are natural. A sentence's probability is the sum over all analyses, its tree the best
one. Where no single tree is plausible, the best analysis is several fragments, each with its own root.

The chart works on `TagLattices`, the function tags that each word may have. A discriminative parser
guesses one tag for each word, a tagger over function tags gives others; with two to four tags for each
word, they miss few right tags. The chart's probabilities are summed over these tags alone. The parser's
and tagger's weights of a tag count in the choice of the best tree, not in the probabilities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.tree import Tree, Word
from wellput.io.files import PathLike
from wellput.io.model_files import load_model_file, noticing_damage, unpacked_strings
from wellput.language.models.backoff_tables import kernel_tables
from wellput.language.models.biaffine_parser import FURTHER_ROOT_RELATION
from wellput.language.models.english_text import decapitalized
from wellput.language.models.function_tags import CLASS_NAMES, TagSet, full_tags, relation_of
from wellput.language.models.ngram_files import load_model
from wellput.language.models.ngrams import NgramModel
from wellput.language.models.parsers import Parser, load_parser
from wellput.language.models.word_analysis import ANY_WORD, word_number
from wellput.language.shipped import NGRAMS_FILE

# Tuned on EWT dev: the most tags of a word, how far (a natural log) their weights may be below the
# best, and the parser's share in a tag's weight.
MAX_TAGS_A_WORD = 6
MAX_LOGS_BELOW_BEST = 7.0
PARSER_SHARE = 0.5
# Parser and tagger assume one sentence. A verb can always be the root of another one, with at least
# this weight.
ROOT_WEIGHT = 0.2


@dataclass(frozen=True, slots=True)
class TagLattices:
    """The tags that each word of some sentences may have, as input of the kernel."""

    sentences: NDArray[np.int64]
    words: NDArray[np.int32]
    starts: NDArray[np.int64]
    tags: NDArray[np.int32]
    weights: NDArray[np.float32]


def tag_lattices(
    tagger: _native.TaggerModel,
    sharpness: float,
    sentences: Sequence[Sequence[str]],
    words: Sequence[int],
    guessed: Sequence[int],
    roots: Sequence[int],
    *,
    threads: int = 1,
) -> TagLattices:
    """The sentences' lattices. `words`, `guessed` and `roots` have, for all words in a row, the number
    of the word, of its guessed tag, and of its tag as a root (-1 for none)."""
    tags, logs = tagger.candidates(sentences, MAX_TAGS_A_WORD, sharpness, threads)
    weights = (1 - PARSER_SHARE) * np.exp(logs)
    guesses = np.array(guessed, np.int32)[:, None]
    same = tags == guesses
    # A guess that is not among the tagger's candidates replaces the last of these.
    absent = ~same.any(axis=1) & (guesses[:, 0] >= 0)
    tags[absent, -1], weights[absent, -1] = guesses[absent, 0], 0.0
    same[absent, -1] = True
    weights += PARSER_SHARE * same
    tags, weights = _with_roots(tags, weights, np.array(roots, np.int32)[:, None])
    kept = weights >= weights.max(axis=1, initial=0.0, keepdims=True) * np.exp(-MAX_LOGS_BELOW_BEST)
    return TagLattices(
        np.cumsum([0, *map(len, sentences)], dtype=np.int64),
        np.array(words, np.int32),
        np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int64),
        tags[kept],
        weights[kept].astype(np.float32),
    )


def _with_roots(
    tags: NDArray[np.int32], weights: NDArray[np.float64], roots: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """A further column for roots that are not among the tags yet."""
    own = np.where((tags == roots).any(axis=1, keepdims=True) | (roots < 0), 0.0, ROOT_WEIGHT)
    return np.hstack([tags, roots]), np.hstack([weights, own])


# In a longer sentence no arc, and no side of a word, reaches further than MAX_ARC_WORDS.
MAX_EXACT_WORDS = 120
MAX_ARC_WORDS = 60

Sentences = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class HeadDrivenScore:
    """A sentence's natural log probability, and the same by word frequencies alone. `is_limited`: the
    sentence was too long to try all its analyses."""

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
        """The gain in log probability over frequencies alone, per word (SLOR, Lau et al. 2017)."""
        gained = self.log_probability - self.unigram_log_probability
        return gained / self.words if self.words else float("nan")


@dataclass(frozen=True, slots=True)
class HeadDrivenParse:
    """The best analysis. Roots of further fragments hang on the first root as `parataxis`, so that
    `tree` is a tree; `roots` has the numbers of all of them."""

    tree: Tree
    roots: tuple[int, ...]
    scored: HeadDrivenScore

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
    """A trained model, the parser whose guesses its chart starts from and, if it was trained with one,
    the n-gram model that its probabilities are averaged with."""

    kind: ClassVar[str] = "head-driven parser"

    def __init__(
        self,
        arrays: Mapping[str, NDArray[Any]],
        guesser: Parser,
        ngrams: NgramModel | None = None,
        *,
        continuing: float | None = None,
        path: PathLike = "The model",
    ) -> None:
        """`continuing` replaces the trained probability of a further fragment. `path` names the model
        in messages."""
        self._path = path
        tags, words = unpacked_strings(arrays, "tags"), unpacked_strings(arrays, "words")
        self.tag_set = TagSet(tags)
        self.guesser = guesser
        self._relations = [relation_of(tag) for tag in tags]
        self._numbers = {word: number for number, word in enumerate(words)}
        if ANY_WORD not in self._numbers:
            raise ValueError("the class of unknown words is missing")
        self._tagger = _native.TaggerModel(arrays["tagger"].tobytes(), len(tags))
        self._ngrams, self._ngram_share = ngrams, float(arrays["ngrams.share"][0])
        if not 0 <= self._ngram_share <= 1:
            raise ValueError("the share of the n-gram model is not between 0 and 1")
        self._sharpness = float(arrays["tagger.sharpness"][0])
        if continuing is None:
            continuing = float(arrays["continuing"][0])
        self._kernel = chart_kernel(arrays, continuing)

    @classmethod
    def load(
        cls, path: PathLike, *, guesser: Parser | None = None, is_pooled: bool = True
    ) -> HeadDrivenParser:
        """The parser in a file. Its n-gram model is in the same folder, and so are the tagger and
        parser that guess, unless a `guesser` is given. Without `is_pooled` its log probabilities are
        not averaged with those of the n-gram model, even if it was trained with one."""
        file, folder = load_model_file(path, cls.kind), Path(path).parent
        with noticing_damage(path, "head-driven parser"):
            has_ngrams = is_pooled and float(file.arrays["ngrams.share"][0]) > 0
            ngrams = load_model(folder / NGRAMS_FILE) if has_ngrams else None
            return cls(file.arrays, guesser or load_parser(str(folder)), ngrams, path=path)

    def parse(
        self, sentences: Sentences, *, guesses: Sequence[Tree] | None = None, threads: int = 1
    ) -> list[HeadDrivenParse]:
        """The best analysis of each sentence, given as its words. `guesses` are the `guesser`'s trees,
        if they are already known."""
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
    ) -> list[HeadDrivenScore]:
        """The log probabilities alone, which is faster."""
        none = np.zeros(0, np.int32)
        lattices = self._lattices(sentences, guesses, threads)
        rows = self._run(sentences, lattices, none, none, threads)
        return [_scored(words, row) for words, row in zip(sentences, rows, strict=True)]

    def _lattices(
        self, sentences: Sentences, guesses: Sequence[Tree] | None, threads: int
    ) -> TagLattices:
        if guesses is None:
            guesses = self._guessed(sentences, threads)
        guessed = [self.tag_set.number(tag) for tree in guesses for tag in full_tags(tree)]
        roots = [self.tag_set.root_number(word) for tree in guesses for word in tree.words]
        numbers = [word_number(form, self._numbers) for words in sentences for form in words]
        return tag_lattices(
            self._tagger, self._sharpness, sentences, numbers, guessed, roots, threads=threads
        )

    def _guessed(self, sentences: Sentences, threads: int) -> list[Tree]:
        """The guesser's trees; sentences without words are left out."""
        return self.guesser.parse([words for words in sentences if words], threads=threads)

    def _run(
        self,
        sentences: Sentences,
        lattices: TagLattices,
        heads: NDArray[np.int32],
        tags: NDArray[np.int32],
        threads: int,
    ) -> NDArray[np.float64]:
        """The kernel's rows: log probability, that of the best forest, that by word frequencies."""
        with noticing_damage(self._path, "head-driven parser"):
            rows = self._kernel.parse(
                lattices.sentences,
                lattices.words,
                lattices.starts,
                lattices.tags,
                lattices.weights,
                heads,
                tags,
                (MAX_EXACT_WORDS, MAX_ARC_WORDS),
                threads,
            )
        if self._ngrams is not None:
            others = ngram_log_probabilities(sentences, self._ngrams, threads)
            rows[:, 0] += self._ngram_share * (others - rows[:, 0])
        return rows

    def _parsed(
        self, forms: Sequence[str], heads: list[int], tags: list[int], row: NDArray[np.float64]
    ) -> HeadDrivenParse:
        roots = tuple(number for number, head in enumerate(heads, start=1) if head == 0)
        words = []
        for number, (form, head, tag) in enumerate(zip(forms, heads, tags, strict=True), start=1):
            relation = self._relations[tag] if head else "root"
            if number in roots[1:]:
                head, relation = roots[0], FURTHER_ROOT_RELATION
            elif relation == "root" and head:
                relation = "dep"  # a word with a root's tag may have a head
            part = self.tag_set.tags[tag].split("/", 1)[0]
            words.append(Word(form, head, xpos=part, relation=relation))
        return HeadDrivenParse(Tree(tuple(words)), roots, _scored(forms, row))


def ngram_log_probabilities(
    sentences: Sentences, ngrams: NgramModel, threads: int
) -> NDArray[np.float64]:
    """Natural logs, by a model of decapitalized text; 0 for a sentence without words."""
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


def _scored(words: Sequence[str], row: NDArray[np.float64]) -> HeadDrivenScore:
    return HeadDrivenScore(float(row[0]), float(row[2]), len(words), len(words) > MAX_EXACT_WORDS)
