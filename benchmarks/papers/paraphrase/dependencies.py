"""An ablation: the paper's classifier with dependency features beside collocations.

A word's features are its relation to its head, its head with that relation, and its dependents with
theirs, as the shipped parser finds them; at a replacement's place they are those of the word that stands
there, whose tree is all there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.metric import Floats
from wellput.core.tree import Tree
from wellput.language.models.parsers import ENGLISH_PARSER, load_parser
from wellput.language.paraphrase.classifiers import (
    NO_CLASSES,
    ContextTraining,
    boosted,
    places_without,
)
from wellput.language.paraphrase.corpus_index import CorpusIndex
from wellput.language.paraphrase.filters import Query

BATCH = 4096
ENDS = frozenset(".!?")


class Features(NamedTuple):
    """By example, its feature keys: example i has keys[rows[i] : rows[i + 1]]."""

    rows: NDArray[np.int64]
    keys: NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class ParsedCorpus:
    """An index with the dependency features of each of its tokens."""

    index: CorpusIndex
    dependencies: Features

    def features(self, places: NDArray[np.uint64], *, has_dependencies: bool) -> Features:
        index = self.index
        keys, rows, columns = _native.context_examples(
            index.tokens, index.starts, index.word_keys, NO_CLASSES, places, 0, True, 1
        )
        near = Features(rows.astype(np.int64), keys[columns].astype(np.uint64))
        return _beside(near, _chosen(self.dependencies, places)) if has_dependencies else near


def parsed_corpus(index: CorpusIndex) -> ParsedCorpus:
    """Parses all of it, as the lower-cased words it holds."""
    bounds = pairwise(index.starts.astype(int).tolist())
    sentences = [[index.words[n] for n in index.tokens[a:b].tolist()] for a, b in bounds]
    return ParsedCorpus(index, _dependencies(sentences))


def _dependencies(sentences: Sequence[Sequence[str]]) -> Features:
    parser = load_parser(ENGLISH_PARSER)
    sizes: list[int] = [0]
    keys: list[NDArray[np.uint64]] = []
    for begin in range(0, len(sentences), BATCH):
        trees = parser.parse(sentences[begin : begin + BATCH])
        found = [own for tree in trees for own in _of_tree(tree)]
        sizes += [len(own) for own in found]
        keys.append(_native.word_keys([feature for own in found for feature in own]))
    return Features(np.cumsum(sizes), np.concatenate(keys) >> np.uint64(32) | np.uint64(1 << 40))


def _of_tree(tree: Tree) -> list[list[str]]:
    """By word, the names of its features."""
    found = [[f"is {word.relation}"] for word in tree.words]
    for place, word in enumerate(tree.words):
        if word.head > 0:
            found[place].append(f"{word.relation} of {tree.words[word.head - 1].form}")
            found[word.head - 1].append(f"has {word.relation} {word.form}")
    return found


def _chosen(features: Features, places: NDArray[np.uint64]) -> Features:
    at = places.astype(np.int64)
    sizes = features.rows[at + 1] - features.rows[at]
    rows = np.concatenate([[0], np.cumsum(sizes)])
    begins = np.repeat(features.rows[at] - rows[:-1], sizes)
    return Features(rows, features.keys[begins + np.arange(rows[-1])])


def _beside(first: Features, second: Features) -> Features:
    example = np.concatenate(
        [np.repeat(np.arange(len(f.rows) - 1), np.diff(f.rows)) for f in (first, second)]
    )
    order = np.argsort(example, kind="stable")
    return Features(first.rows + second.rows, np.concatenate([first.keys, second.keys])[order])


def dependency_margins(
    corpus: ParsedCorpus,
    queries: Sequence[Query],
    words: Sequence[str],
    how: ContextTraining,
    *,
    seed: int,
    has_dependencies: bool = True,
) -> Floats:
    """By query, the log odds of its word in `words`; NaN where that is too rare."""
    asked = _query_corpus(queries)
    whole = asked.features(_places(asked.index, queries), has_dependencies=has_dependencies)
    result = np.full(len(queries), np.nan)
    for word in sorted(set(words)):
        model = _model(corpus, word, how, seed, has_dependencies=has_dependencies)
        if model is None:
            continue
        bias, keys, weights = model
        for place in (i for i, own in enumerate(words) if own == word):
            own = np.unique(whole.keys[whole.rows[place] : whole.rows[place + 1]])
            at = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
            result[place] = 2 * (bias + weights[at][keys[at] == own].sum())
    return result


def _model(
    corpus: ParsedCorpus, word: str, how: ContextTraining, seed: int, *, has_dependencies: bool
) -> tuple[float, NDArray[np.uint64], Floats] | None:
    """Bias, sorted keys and weights of a word's boosted classifier."""
    occurrences = corpus.index.places_of(word)
    if len(occurrences) < how.min_occurrences:
        return None
    rng = np.random.default_rng([seed, *word.encode()])
    if len(occurrences) > how.max_occurrences:
        occurrences = np.sort(rng.choice(occurrences, how.max_occurrences, replace=False))
    others = places_without(corpus.index, word, round(how.negatives * len(occurrences)), rng)
    places = np.concatenate([occurrences, others]).astype(np.uint64)
    found = corpus.features(places, has_dependencies=has_dependencies)
    keys, columns, counts = np.unique(found.keys, return_inverse=True, return_counts=True)
    often = counts >= how.min_feature_count
    used = often[columns]
    rows = np.concatenate([[0], np.cumsum(used)])[found.rows].astype(np.uint64)
    renumbered = (np.cumsum(often) - 1)[columns[used]].astype(np.uint32)
    labels = (np.arange(len(places)) < len(occurrences)).astype(np.uint8)
    bias, weights = boosted(rows, renumbered, labels, int(often.sum()), how)
    return bias, keys[often], weights


def _query_corpus(queries: Sequence[Query]) -> ParsedCorpus:
    """The queries' sentences as a corpus: each text cut at full stops, where a parser would want it."""
    pieces = [_piece(query) for query in queries]
    sentences = list(dict.fromkeys(words for words, _ in pieces))
    numbers = {word: n for n, word in enumerate(dict.fromkeys(w for s in sentences for w in s))}
    tokens = np.array([numbers[word] for words in sentences for word in words], np.uint32)
    starts = np.cumsum([0, *map(len, sentences)]).astype(np.uint64)
    places = np.argsort(tokens, kind="stable").astype(np.uint32)
    begins = np.searchsorted(tokens[places], np.arange(len(numbers) + 1)).astype(np.uint64)
    index = CorpusIndex(list(numbers), tokens, starts, begins, places, {"tokens": len(tokens)})
    return ParsedCorpus(index, _dependencies(sentences))


def _places(index: CorpusIndex, queries: Sequence[Query]) -> NDArray[np.uint64]:
    bounds = pairwise(index.starts.astype(int).tolist())
    begin_of = {tuple(index.words[n] for n in index.tokens[a:b].tolist()): a for a, b in bounds}
    return np.array([begin_of[words] + place for words, place in map(_piece, queries)], np.uint64)


def _piece(query: Query) -> tuple[tuple[str, ...], int]:
    """The sentence of a query's text that its word stands in, and the word's place there."""
    words = query.words
    before = (i + 1 for i in range(query.first - 1, -1, -1) if words[i] in ENDS)
    after = (i + 1 for i in range(query.last, len(words)) if words[i] in ENDS)
    begin, end = next(before, 0), next(after, len(words))
    return words[begin:end], query.first - begin
