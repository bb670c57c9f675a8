"""`HeadDrivenParser`: the probability of a sentence, summed over its dependency trees.

The parser is a generative model of dependency trees like that of Collins
(docs/language/head-driven-parser.md). Log probabilities are natural logarithms. The probability of a
sentence is the sum over all its analyses; its tree is the best analysis. Where no single tree is
probable, the best analysis has several fragments, each with a root.

Probabilities are computed in a chart over `TagLattices`, which have the function tags (parts of speech
with relations, see `function_tags.py`) that each word may have. One tag of each word comes from the
tree of a discriminative parser, the *guesser*; other tags come from a tagger of function tags. With two
to four tags for a word on average, few right tags are missed. The sum is over analyses with these tags
only. The tags also have weights from guesser and tagger; these matter for the choice of the best tree,
but not for probabilities.
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

# Tuned on the dev part of the treebank EWT: the most tags of a word; how far the log weight of a tag
# may be below that of the best tag; and the guesser's share in a tag's weight.
MAX_TAGS_A_WORD = 6
MAX_LOGS_BELOW_BEST = 7.0
GUESSER_SHARE = 0.5
# Guesser and tagger assume that there is one root. Every verb may also be the root of a further
# fragment; its tag as a root has this weight if it is not among its other tags.
ROOT_WEIGHT = 0.2


@dataclass(frozen=True, slots=True)
class TagLattices:
    """The tags that each word of some sentences may have, as input of the C++ code. Sentence i has the
    words from `sentences[i]` to before `sentences[i + 1]`, and word w has the `tags` and `weights`
    from `starts[w]` to before `starts[w + 1]`. `words` has the number of each word in the model's
    vocabulary."""

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
    """The lattices of sentences. `words`, `guessed` and `roots` have an entry for each word of all
    sentences: the number of the word, of its guessed tag, and of its tag as a root (-1 for none).
    `sharpness` multiplies the tagger's scores before they are made into probabilities."""
    tags, logs = tagger.candidates(sentences, MAX_TAGS_A_WORD, sharpness, threads)
    weights = (1 - GUESSER_SHARE) * np.exp(logs)
    guesses = np.array(guessed, np.int32)[:, None]
    is_guessed = tags == guesses
    # A guess that is not among the tagger's candidates replaces the last of these.
    is_absent = ~is_guessed.any(axis=1) & (guesses[:, 0] >= 0)
    tags[is_absent, -1], weights[is_absent, -1] = guesses[is_absent, 0], 0.0
    is_guessed[is_absent, -1] = True
    weights += GUESSER_SHARE * is_guessed
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
    """The tags and weights with one more column for the tags of roots; its weight is 0 where a word
    has none or has it already."""
    has_tag = (tags == roots).any(axis=1, keepdims=True)
    root_weights = np.where(has_tag | (roots < 0), 0.0, ROOT_WEIGHT)
    return np.hstack([tags, roots]), np.hstack([weights, root_weights])


# In a sentence of more than MAX_EXACT_WORDS words, no arc is longer than MAX_ARC_WORDS, and no
# word is farther than that from any word above it in the tree.
MAX_EXACT_WORDS = 120
MAX_ARC_WORDS = 60

Sentences = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class HeadDrivenScore:
    """A sentence's natural log probability, and its log probability by word frequencies alone.
    `is_limited` says that the sentence was too long to try all its analyses."""

    log_probability: float
    unigram_log_probability: float
    words: int
    is_limited: bool

    @property
    def per_word(self) -> float:
        """The mean log probability of a word; NaN for a sentence without words."""
        return self.log_probability / self.words if self.words else float("nan")

    @property
    def slor(self) -> float:
        """The log probability minus that by word frequencies alone, per word (SLOR, Lau et al.
        2017)."""
        gain = self.log_probability - self.unigram_log_probability
        return gain / self.words if self.words else float("nan")


@dataclass(frozen=True, slots=True)
class HeadDrivenParse:
    """The best analysis of a sentence. In `tree`, the roots of further fragments depend on the first
    root as `parataxis`; `roots` has the numbers (from 1) of the roots of all fragments."""

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
    """A trained model; the guesser, the parser whose trees give each word one of its possible tags;
    and, if the model was trained with one, the n-gram model whose log probabilities are averaged with
    its own."""

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
        """`arrays` are those of a model file. `continuing`, if not None, replaces the trained
        probability of a further fragment. `path` names the model in messages."""
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
        cls, path: PathLike, *, guesser: Parser | None = None, uses_ngrams: bool = True
    ) -> HeadDrivenParser:
        """The parser in a file. Its n-gram model is in the same folder, and so is the guesser (a parser
        with its own tagger), unless the argument `guesser` is given. Without `uses_ngrams` the log
        probabilities are not averaged with those of the n-gram model."""
        file, folder = load_model_file(path, cls.kind), Path(path).parent
        with noticing_damage(path, "head-driven parser"):
            has_ngrams = uses_ngrams and float(file.arrays["ngrams.share"][0]) > 0
            ngrams = load_model(folder / NGRAMS_FILE) if has_ngrams else None
            return cls(file.arrays, guesser or load_parser(str(folder)), ngrams, path=path)

    def parse(
        self, sentences: Sentences, *, guesses: Sequence[Tree] | None = None, threads: int = 1
    ) -> list[HeadDrivenParse]:
        """The best analysis of each sentence, which is a list of words. `guesses` are the `guesser`'s
        trees, if they are already known."""
        lattices = self._lattices(sentences, guesses, threads)
        heads = np.zeros(len(lattices.words), np.int32)
        tags = np.zeros(len(lattices.words), np.int32)
        rows = self._run(sentences, lattices, heads, tags, threads)
        parses, start = [], 0
        for words, row in zip(sentences, rows, strict=True):
            span = slice(start, start := start + len(words))
            parses.append(self._parsed(words, heads[span].tolist(), tags[span].tolist(), row))
        return parses

    def score(
        self, sentences: Sentences, *, guesses: Sequence[Tree] | None = None, threads: int = 1
    ) -> list[HeadDrivenScore]:
        """The log probabilities of sentences without their trees, which is faster than `parse`."""
        none = np.zeros(0, np.int32)
        lattices = self._lattices(sentences, guesses, threads)
        rows = self._run(sentences, lattices, none, none, threads)
        return [_scored(words, row) for words, row in zip(sentences, rows, strict=True)]

    def _lattices(
        self, sentences: Sentences, guesses: Sequence[Tree] | None, threads: int
    ) -> TagLattices:
        """The lattices of sentences, with the tags of the `guesses` (trees) and those of the tagger."""
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
        """For each sentence: its log probability, that of its best analysis, and that by word
        frequencies. The heads and tags of the best analysis are written into `heads` and `tags`,
        unless these are empty."""
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
            ngram_logs = ngram_log_probabilities(sentences, self._ngrams, threads)
            rows[:, 0] += self._ngram_share * (ngram_logs - rows[:, 0])
        return rows

    def _parsed(
        self, forms: Sequence[str], heads: list[int], tags: list[int], row: NDArray[np.float64]
    ) -> HeadDrivenParse:
        """The parse of one sentence from its heads, its tags and its row of log probabilities."""
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
    """The natural log probability of each sentence under an n-gram model of decapitalized text; 0 for a
    sentence without words."""
    texts = decapitalized([" ".join(words) for words in sentences], ngrams)
    logs = ngrams.sentence_scores(texts, threads=threads) * np.log(10)
    return np.where([bool(words) for words in sentences], logs, 0.0)


def chart_kernel(arrays: Mapping[str, NDArray[Any]], continuing: float) -> _native.HeadDriven:
    """The C++ chart for a model's arrays; `continuing` is the probability of a further fragment."""
    return _native.HeadDriven(
        kernel_tables(arrays),
        [arrays[f"tags.{part}"] for part in ("coarse", "coarsest", "class")],
        arrays["words.unigrams"],
        len(CLASS_NAMES),
        0,  # the number of the word that stands for the start of a sentence
        float(arrays["shares"][0]),  # the share of a word's probability that comes from its head
        # The share of a modifier's probability that depends on the word before the modifier.
        float(arrays["shares"][1]),
        continuing,
    )


def _scored(words: Sequence[str], row: NDArray[np.float64]) -> HeadDrivenScore:
    """The score of a sentence, from its row of `HeadDrivenParser._run`."""
    log_probability, _, unigram_log_probability = row.tolist()
    return HeadDrivenScore(
        log_probability, unigram_log_probability, len(words), len(words) > MAX_EXACT_WORDS
    )
