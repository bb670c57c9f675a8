"""Templates of exactly n tags, and words for them (Mutton et al. 2007, section 5.1).

`TagTemplates` are drawn from a bigram model of tags, `GrammarTemplates` from a context-free grammar.
`WordModel.best` takes the most probable words by P(word | tag) P(word | word before), with a penalty
on words that the sentence already has, because frequent words would be repeated. `draw` draws each word
by P(word | tag).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from wellput import _native
from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.language.degrade.corpus import ContextFreeGrammar, Int32Array, TaggedCorpus

MAX_DERIVATIONS = 2000
"""How many derivations are tried for one template."""
EXPANSIONS_PER_TAG = 20
"""A derivation is given up after this many steps for each tag of the template."""
PHRASE_BIAS = 0.7
"""The weight of a rule is multiplied by this for each phrase among its parts, so that trees end."""


class TagTemplates:
    """Tag sequences of `length` tags, drawn by the probability that a bigram model of whole sentences
    gives them among all sequences of that length."""

    def __init__(self, corpus: TaggedCorpus, *, length: int = 24) -> None:
        from scipy.sparse import csr_array

        assert corpus.tags is not None
        n = len(corpus.tag_names)
        is_inner = np.ones(len(corpus.tags), bool)
        is_inner[corpus.starts] = False
        inner = np.flatnonzero(is_inner)
        pairs, counts = np.unique(
            np.stack([corpus.tags[inner - 1], corpus.tags[inner]]), axis=1, return_counts=True
        )
        totals = np.bincount(corpus.tags, minlength=n)
        # There are thousands of supertags and few pairs of them occur, so the matrix is sparse.
        self.transitions = csr_array((counts / totals[pairs[0]], (pairs[0], pairs[1])), (n, n))
        # reach[k][t]: the probability that a sentence ends k tags after a t.
        reach = [np.bincount(corpus.tags[corpus.ends - 1], minlength=n) / totals]
        for _ in range(length - 1):
            reach.append(self.transitions @ reach[-1])
        # Now self.reach[i] is for the i-th tag of a template (from 0).
        self.reach = reach[::-1]
        self.starts = np.bincount(corpus.tags[corpus.starts], minlength=n) * self.reach[0]
        if not self.starts.any():
            raise InputError(f"No sequence of {length} tags can be put together from the corpus.")

    def draw(self, rng: np.random.Generator) -> list[int]:
        """One template, as numbers of tags."""
        tags = [_drawn(self.starts, rng)]
        indices, begins = self.transitions.indices, self.transitions.indptr
        for reach in self.reach[1:]:
            row = slice(begins[tags[-1]], begins[tags[-1] + 1])
            weights = self.transitions.data[row] * reach[indices[row]]
            tags.append(int(indices[row][_drawn(weights, rng)]))
        return tags


class GrammarTemplates:
    """Sequences of `length` parts of speech that a grammar derives. The leftmost phrase is expanded
    first; its rule is drawn by its count, multiplied by `bias` for each phrase among its parts. Rules
    that would make the sentence too long are left out, and sentences that end up too short are dropped
    (Mutton et al. 2007, section 5.1)."""

    def __init__(
        self, grammar: ContextFreeGrammar, *, length: int = 24, bias: float = PHRASE_BIAS
    ) -> None:
        self.length = length
        self.phrases = {rule.phrase for rule in grammar.rules}
        self.rules: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        weights: dict[str, list[float]] = defaultdict(list)
        for rule, count in grammar.rules.items():
            self.rules[rule.phrase].append(rule.parts)
            weights[rule.phrase].append(count * bias ** sum(p in self.phrases for p in rule.parts))
        self.weights = {phrase: np.array(values) for phrase, values in weights.items()}
        self.shortest = _shortest(self.rules)
        self.least_lengths = {  # the fewest tags that each rule can give
            phrase: np.array([self._least(parts) for parts in rules])
            for phrase, rules in self.rules.items()
        }
        self.starts = Counter({s: n for s, n in grammar.starts.items() if s in self.shortest})
        if not self.starts:
            raise InputError("The grammar derives no sentence: the treebank has no complete tree.")

    def draw(self, rng: np.random.Generator) -> list[str]:
        """One template, as parts of speech."""
        names, counts = list(self.starts), np.array(list(self.starts.values()), float)
        for _ in range(MAX_DERIVATIONS):
            template = self._derive(names[_drawn(counts, rng)], rng)
            if len(template) == self.length:
                return template
        raise InputError(
            f"In {MAX_DERIVATIONS:,} tries the grammar derived no sentence of {self.length} words: "
            "give another length= or a larger treebank."
        )

    def _derive(self, start: str, rng: np.random.Generator) -> list[str]:
        """The tags of one random derivation, at most `length`; empty if it had to be given up."""
        tags: list[str] = []
        waiting = [start]  # phrases and tags to come, the next one last
        least_to_come = self.shortest[start]  # the fewest tags that the waiting parts can give
        for _ in range(EXPANSIONS_PER_TAG * self.length):
            if not waiting:
                break
            part = waiting.pop()
            if part not in self.phrases:
                tags.append(part)
                least_to_come -= 1
                continue
            least_to_come -= self.shortest[part]
            fits = len(tags) + least_to_come + self.least_lengths[part] <= self.length
            if not fits.any():
                return []
            rule = _drawn(self.weights[part] * fits, rng)
            least_to_come += int(self.least_lengths[part][rule])
            waiting.extend(reversed(self.rules[part][rule]))
        return [] if waiting else tags

    def _least(self, parts: tuple[str, ...]) -> float:
        """The fewest tags that the parts of a rule can give."""
        return sum(self.shortest.get(part, np.inf) if part in self.phrases else 1 for part in parts)


def _shortest(rules: dict[str, list[tuple[str, ...]]]) -> dict[str, int]:
    """The fewest tags that each phrase can derive; phrases that never end in tags are left out."""
    shortest: dict[str, int] = {}
    while True:
        updated = {
            phrase: min(lengths)
            for phrase, alternatives in rules.items()
            if (
                lengths := [
                    sum(shortest[part] if part in rules else 1 for part in parts)
                    for parts in alternatives
                    if all(part in shortest or part not in rules for part in parts)
                ]
            )
        }
        if updated == shortest:
            return shortest
        shortest = updated


def _drawn(weights: Floats, rng: np.random.Generator) -> int:
    """A place in `weights`, drawn in proportion to them."""
    sums = np.cumsum(weights)
    return int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))


ProbabilityRows: TypeAlias = tuple[Int32Array, Int32Array, Floats]
"""A row has the words that occur with one tag, or after one word. The three arrays are: where each row
begins, the words of all rows, and the log probability of each word in its row."""
BIGRAM_WEIGHT = 0.9
"""The share of the bigram probability in P(word | word before); the rest is the unigram probability, so
that pairs that do not occur in the corpus stay possible."""
REPEATED_LOG_WEIGHT = np.log(0.02)
"""What is added to the log probability of a word that is already in the sentence. The paper states no
value."""


class CountedPairs(NamedTuple):
    """Where each row begins, the words of all rows (as in `ProbabilityRows`), and their counts."""

    begins: Int32Array
    words: Int32Array
    counts: Floats


@dataclass(frozen=True, eq=False)
class WordModel:
    """Log probabilities of words: given their tag (`by_tag`), and given the word before, for the pairs
    of words in the corpus (`by_word`) and for all other pairs (`unigrams`, which depend only on the
    word). The start of a sentence counts as a word before; its number is `len(words)`."""

    words: Sequence[str]
    by_tag: ProbabilityRows
    by_word: ProbabilityRows
    unigrams: Floats

    @classmethod
    def of(cls, corpus: TaggedCorpus) -> WordModel:
        assert corpus.tags is not None
        start = len(corpus.words)
        before = np.roll(corpus.tokens, 1)
        before[corpus.starts] = start
        by_tag = _counted(corpus.tags, corpus.tokens, len(corpus.tag_names))
        by_word = _counted(before, corpus.tokens, start + 1)
        share = np.bincount(corpus.tokens, minlength=start) / len(corpus.tokens)
        smoothed = BIGRAM_WEIGHT * _shares(by_word) + (1 - BIGRAM_WEIGHT) * share[by_word.words]
        return cls(
            corpus.words,
            (by_tag.begins, by_tag.words, np.log(_shares(by_tag))),
            (by_word.begins, by_word.words, np.log(smoothed)),
            np.log((1 - BIGRAM_WEIGHT) * share),
        )

    def best(self, templates: Sequence[Sequence[int]], *, threads: int = 1) -> list[list[str]]:
        """The most probable words for each template; all templates have the same length."""
        filled = _native.fill_words(
            np.array(templates, np.int32),
            *self.by_tag,
            *self.by_word,
            self.unigrams,
            start=len(self.words),
            repeated=float(REPEATED_LOG_WEIGHT),
            threads=threads,
        )
        return [[self.words[word] for word in words] for words in filled]

    def draw(self, template: Sequence[int], rng: np.random.Generator) -> list[str]:
        """Words by P(word | tag) alone."""
        begins, words, log_probs = self.by_tag
        drawn = []
        for tag in template:
            row = slice(begins[tag], begins[tag + 1])
            drawn.append(self.words[int(rng.choice(words[row], p=np.exp(log_probs[row])))])
        return drawn


def _counted(rows: Int32Array, words: Int32Array, n_rows: int) -> CountedPairs:
    pairs, counts = np.unique(np.stack([rows, words]), axis=1, return_counts=True)
    begins = np.searchsorted(pairs[0], np.arange(n_rows + 1)).astype(np.int32)
    return CountedPairs(begins, np.ascontiguousarray(pairs[1]), counts.astype(float))


def _shares(counted: CountedPairs) -> Floats:
    """Each count's share in its row."""
    rows = np.repeat(np.arange(len(counted.begins) - 1), np.diff(counted.begins))
    totals = np.bincount(rows, counted.counts, minlength=len(counted.begins) - 1)
    return np.asarray(counted.counts / totals[rows])
