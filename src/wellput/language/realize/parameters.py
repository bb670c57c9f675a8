"""`RealizerParameters` and `FergusParts`: the trained parts of FERGUS and of its baseline LR.

`RealizerParameters` has the parts other than the tree model and the n-gram model: the words that are
usually in lower case (`Capitals`), the baseline LR, the model of daughters' orders
(`PrecedenceModel`), and the weight of the n-gram model. Those for English are in `realizer.wpm`.
`FergusParts` has all parts, with the completer, which inflects lemmas and adds missing words.

The capital of a first word would tell a realizer the order. So a capitalized word becomes lower case
wherever it stands if it is usually in lower case in the training text; names keep their capitals. After
realizing, the first word gets a capital, and so do words that must have had one for another reason.

A word's *daughters* are the words that depend on it, its *mother* is the word that it depends on.
FERGUS (`fergus.py`) puts the words of a tree in order. Its extension `fergus+` also weights the orders
of daughters on one side of their mother. A treebank says how often one of two daughters came first: by
their relations; by relations and the sizes of their phrases; by these and their categories; by
relations and words. Each narrower estimate is interpolated with the next wider one. The weight of an
order is the sum of the log probabilities of its pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import log
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wellput.core.metric import Floats
from wellput.core.tree import Tree
from wellput.io.files import PathLike
from wellput.io.model_files import ModelFile, StoredModel, packed_strings
from wellput.io.output import made_folder
from wellput.language.models.ngram_files import save_model
from wellput.language.models.ngrams import NgramModel
from wellput.language.models.tree_model import TreeModel
from wellput.language.realize.baselines import LeftRight
from wellput.language.realize.completer import Completer
from wellput.language.realize.inputs import InputTree
from wellput.language.shipped import COMPLETER_FILE, NGRAMS_FILE, REALIZER_FILE, TREE_MODEL_FILE
from wellput.language.trees.supertags import NAME_TAGS, Supertag, induce_supertags

# For each estimate, from the widest to the narrowest: how many observations the next wider estimate
# counts for. The widest estimate has the probability 0.5 in place of a wider one.
PRIOR_COUNTS = (2.0, 4.0, 4.0, 2.0)
MIN_PAIR_COUNT = 2  # rarer pairs are left out
# The largest count that a file can hold.
MAX_PAIR_COUNT = 65535
MAX_CACHED_PROBABILITIES = 65535
MAX_SIZE_CLASS = 5


class Phrase(NamedTuple):
    """A daughter: the relation, category and side of her supertag, her word, and the size class of her
    phrase, from 1 to 5 (for 1, 2-3, 4-7, 8-15 or more words)."""

    relation: str
    category: str
    side: str
    form: str
    size: int


@dataclass(frozen=True)
class PrecedenceModel:
    """Says which of two daughters on one side of their mother comes first. `counts` says how often a
    pair stood in this order, by the pair's keys (see `_keys`)."""

    counts: Mapping[str, int]
    _cached: dict[tuple[Phrase, Phrase], float] = field(default_factory=dict, repr=False)

    def probability(self, first: Phrase, second: Phrase) -> float:
        """The probability that the first comes before the second, on one side of their mother."""
        probability = self._cached.get((first, second))
        if probability is None:
            probability = 0.5
            keys = zip(_keys(first, second), _keys(second, first), PRIOR_COUNTS, strict=True)
            for key, reverse_key, prior in keys:
                count, reverse = self.counts.get(key, 0), self.counts.get(reverse_key, 0)
                probability = (count + prior * probability) / (count + reverse + prior)
            if len(self._cached) < MAX_CACHED_PROBABILITIES:
                self._cached[first, second] = probability
        return probability

    def weights(self, phrases: Sequence[Phrase]) -> Floats:
        """An array whose entry i, j is the log probability that daughter i comes before daughter j, 0
        where they are on different sides. The last row and column stand for the mother and are 0,
        because the sides of daughters are fixed."""
        log_weights = np.zeros((len(phrases) + 1, len(phrases) + 1))
        for i, j in combinations(range(len(phrases)), 2):
            if phrases[i].side == phrases[j].side:
                probability = self.probability(phrases[i], phrases[j])
                log_weights[i, j], log_weights[j, i] = log(probability), log(1 - probability)
        return log_weights

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        keys = sorted(self.counts)
        numbers = np.array([min(self.counts[key], MAX_PAIR_COUNT) for key in keys], np.uint16)
        return {**packed_strings(f"{name}.pairs", keys), f"{name}.counts": numbers}

    @classmethod
    def of_file(cls, file: ModelFile, name: str) -> PrecedenceModel:
        counts = file.arrays[f"{name}.counts"].tolist()
        if any(not 0 <= count <= MAX_PAIR_COUNT for count in counts):
            raise ValueError("counts of pairs that are no counts")
        return cls(dict(zip(file.strings(f"{name}.pairs"), counts, strict=True)))


def train_precedence(trees: Iterable[Tree]) -> PrecedenceModel:
    """The model of daughters' orders, learned from treebank trees without the capitals of first
    words."""
    counts: Counter[str] = Counter()
    for tree in trees:
        heads = [word.head - 1 for word in tree.words]
        forms = [word.form for word in tree.words]
        phrases = _phrases(forms, induce_supertags(tree), _sizes(heads))
        sisters: dict[tuple[int, str], list[Phrase]] = {}
        for head, phrase in zip(heads, phrases, strict=True):
            sisters.setdefault((head, phrase.side), []).append(phrase)
        for line in sisters.values():
            for first, second in combinations(line, 2):
                counts.update(_keys(first, second))
    return PrecedenceModel({key: count for key, count in counts.items() if count >= MIN_PAIR_COUNT})


def phrases_of(tree: InputTree, supertags: Sequence[Supertag]) -> list[Phrase]:
    """The phrase of each node of an input."""
    return _phrases([node.form for node in tree.nodes], supertags, _sizes(tree.heads))


def _phrases(
    forms: Sequence[str], supertags: Sequence[Supertag], sizes: Sequence[int]
) -> list[Phrase]:
    return [
        Phrase(tag.relation, tag.category, tag.side, form, min(size.bit_length(), MAX_SIZE_CLASS))
        for form, tag, size in zip(forms, supertags, sizes, strict=True)
    ]


def _sizes(heads: Sequence[int]) -> list[int]:
    """The number of nodes in each node's subtree; `heads` count from 0, and the root's is -1."""
    waiting = [0] * len(heads)
    for head in heads:
        if head >= 0:
            waiting[head] += 1
    sizes = [1] * len(heads)
    done = [node for node, n_daughters in enumerate(waiting) if not n_daughters]
    for node in done:
        if (head := heads[node]) >= 0:
            sizes[head] += sizes[node]
            waiting[head] -= 1
            if not waiting[head]:
                done.append(head)
    return sizes


def _keys(first: Phrase, second: Phrase) -> Iterator[str]:
    """The keys of a pair of daughters in this order, from the widest to the narrowest."""
    relations = f"{first.side}{first.relation} {second.relation}"
    sizes = f"{first.size}{second.size}"
    yield relations
    yield f"{relations} {sizes}"
    yield f"{relations} {sizes} {first.category} {second.category}"
    yield f"{relations} {first.form} {second.form}"


@dataclass(frozen=True)
class Capitals:
    """Takes off the capitals of sentence beginnings; `ordinary` are the words that are usually in lower
    case."""

    ordinary: Collection[str]

    def lowered(self, form: str) -> str:
        """The form without a capital that only the first word of a sentence has.

        >>> Capitals({"the"}).lowered("The"), Capitals({"the"}).lowered("Rome")
        ('the', 'Rome')
        """
        lower = form.lower()
        is_capitalized = form != lower and form[1:] == lower[1:]
        return lower if is_capitalized and lower in self.ordinary else form

    def lowered_tree(self, tree: Tree) -> Tree:
        """The tree with the ordinary words in lower case."""
        return replace(
            tree, words=tuple(replace(word, form=self.lowered(word.form)) for word in tree.words)
        )


def learn_capitals(trees: Iterable[Tree]) -> Capitals:
    """The ordinary words of treebank trees: those that are in lower case in most places. A capitalized
    first word counts as lower case unless its part of speech says that it is a name. Sentences without
    any capital are ignored, because some treebanks have no capitals."""
    balance: Counter[str] = Counter()
    for tree in trees:
        if all(word.form == word.form.lower() for word in tree.words):
            continue
        for place, word in enumerate(tree.words):
            lower = word.form.lower()
            is_lower = word.form == lower
            if place == 0 and not is_lower:
                is_lower = word.xpos not in NAME_TAGS and word.upos != "PROPN" and word.form != "I"
            balance[lower] += 1 if is_lower else -1
    return Capitals(frozenset(word for word, count in balance.items() if count > 0))


def with_first_capital(
    words: tuple[str, ...], lost_capitals: Counter[str], are_names: Sequence[bool]
) -> tuple[str, ...]:
    """The words with a capital on the first word that begins with a letter. `lost_capitals` says how
    often each word, now in lower case, had a capital in the input.

    One of these words may have had it only as the first word of the input's sentence. If the new first
    word had a capital, it is taken for this word, so all others get their capitals back; otherwise only
    names do. In both cases all words of the same form must have had a capital.

    >>> with_first_capital(("he", "saw", "new", "York"), Counter(he=1, new=1), [False] * 4)
    ('He', 'saw', 'New', 'York')
    """
    first = next((place for place, word in enumerate(words) if word[:1].isalpha()), 0)
    other_capitals = lost_capitals - Counter(words[first : first + 1])
    first_had_capital = words[first] in lost_capitals
    counts = Counter(words[:first] + words[first + 1 :])
    return tuple(
        word[:1].upper() + word[1:]
        if place == first
        or (
            other_capitals[word] >= counts[word]
            and word in other_capitals
            and (first_had_capital or are_names[place])
        )
        else word
        for place, word in enumerate(words)
    )


@dataclass(frozen=True, eq=False)
class RealizerParameters(StoredModel):
    """The parts of FERGUS and LR other than the tree model and the n-gram model. `lm_weight` is the
    weight of the n-gram model's log probability in `fergus+`, where the precedence model has the
    weight 1."""

    kind: ClassVar[str] = "realizer"
    noun: ClassVar[str] = "realizer"

    capitals: Capitals
    left_right: LeftRight
    precedence: PrecedenceModel
    lm_weight: float = 1.0
    card: Mapping[str, Any] = field(default_factory=dict)

    def arrays(self) -> dict[str, Any]:
        return {
            **packed_strings("ordinary", sorted(self.capitals.ordinary)),
            **self.left_right.arrays("left_right"),
            **self.precedence.arrays("precedence"),
            "weights": np.array([self.lm_weight]),
        }

    @classmethod
    def load(cls, path: PathLike) -> RealizerParameters:
        with cls.reading(path) as file:
            return cls(
                Capitals(frozenset(file.strings("ordinary"))),
                LeftRight.of_file(file, "left_right"),
                PrecedenceModel.of_file(file, "precedence"),
                float(file.arrays["weights"][0]),
                file.card,
            )


@dataclass(frozen=True, eq=False)
class FergusParts:
    """The parts that fergus, fergus+ and lr need; a folder has a file for each of them. The completer
    is for inputs of lemmas and for inputs that leave words out."""

    tree_model: TreeModel
    ngrams: NgramModel
    parameters: RealizerParameters
    completer: Completer

    @property
    def fingerprints(self) -> dict[str, str]:
        return {
            TREE_MODEL_FILE: self.tree_model.fingerprint,
            NGRAMS_FILE: self.ngrams.fingerprint,
            REALIZER_FILE: self.parameters.fingerprint,
            COMPLETER_FILE: self.completer.fingerprint,
        }

    def save(self, path: PathLike) -> None:
        with made_folder(path) as folder:
            self.tree_model.save(folder / TREE_MODEL_FILE)
            save_model(self.ngrams, folder / NGRAMS_FILE)
            self.parameters.save(folder / REALIZER_FILE)
            self.completer.save(folder / COMPLETER_FILE)
