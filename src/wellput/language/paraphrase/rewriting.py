"""Rewrites references: proposals are filtered, and those that pass are made, the most probable first;
each word is used once.

A `Proposal` is a word or phrase of a reference with a possible replacement from the output. As in
Kauchak & Barzilay (2006), a proposal pairs a word that only the reference has with a word that only the
output has. For phrases the rule is that, after the replacement, reference and output share more words.

By default a filter tests every proposal in the original reference, as in the paper. With `is_joint`,
the best proposal is made first, and the others are tested again in the changed reference.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from wellput.language.articles import indefinite_article
from wellput.language.models.wordnet import with_capitals_of
from wellput.language.paraphrase.candidates import (
    MAX_PHRASE_WORDS,
    CandidateSource,
    Replacement,
)
from wellput.language.paraphrase.filters import Filter, Query
from wellput.language.paraphrase.sentences import Sentence


@dataclass(slots=True)
class Proposal:
    """The reference's tokens from `first` to before `last`, and a possible replacement.

    `probability` comes from the filter, NaN where it does not know the word; `is_kept` says whether the
    replacement is made.
    """

    first: int
    last: int
    word: str
    replacement: Replacement
    probability: float = float("nan")
    is_kept: bool = False


def proposals(
    reference: Sentence, output: Sentence, source: CandidateSource, *, has_phrases: bool
) -> list[Proposal]:
    """All proposals for a reference and an output, in the order of the reference; for single words
    only, unless `has_phrases`."""
    reference_words = frozenset(reference.words)
    output_words = frozenset(output.words)
    new_words = {
        word
        for word, is_fixed in zip(output.words, output.is_fixed, strict=True)
        if word not in reference_words and not is_fixed
    }
    if not new_words:
        return []
    offered = _offered(output, new_words, MAX_PHRASE_WORDS if has_phrases else 1)
    found: list[Proposal] = []
    for first, last, text, tag in _spans(reference, output_words, source, has_phrases=has_phrases):
        known = source.replacements(text, tag, offered)
        for replacement in sorted(known):
            if last - first == 1 and " " not in replacement:
                is_nearer = True  # a word that the output lacks becomes one that it has
            else:
                is_nearer = _is_nearer(reference, output, first, last, replacement)
            if is_nearer:
                found.append(Proposal(first, last, text, known[replacement]))
    return found


def _offered(output: Sentence, new_words: set[str], max_words: int) -> set[str]:
    """The `new_words`, which the reference lacks, and the output's phrases of up to `max_words` words
    that have at least one of them."""
    offered = set(new_words)
    for n in range(2, max_words + 1):
        for first in range(len(output.words) - n + 1):
            words = output.words[first : first + n]
            if not new_words.isdisjoint(words) and not any(output.is_fixed[first : first + n]):
                offered.add(" ".join(words))
    return offered


def _spans(
    reference: Sentence, output_words: frozenset[str], source: CandidateSource, *, has_phrases: bool
) -> Iterator[tuple[int, int, str, str | None]]:
    """The words and phrases of the reference that the output lacks and the source may know: the first
    token, the token after the last, the text, and the Penn tag of a word if it is known."""
    words, is_fixed, tags = reference.words, reference.is_fixed, reference.tags
    for first, word in enumerate(words):
        if is_fixed[first]:
            continue
        if word not in output_words:
            yield first, first + 1, word, None if tags is None else tags[first]
        if not has_phrases:
            continue
        for last in range(first + 2, min(first + MAX_PHRASE_WORDS, len(words)) + 1):
            if is_fixed[last - 1]:
                break
            span = words[first:last]
            if not output_words.issuperset(span) and source.may_be_phrase(span):
                yield first, last, " ".join(span), None


def _is_nearer(
    reference: Sentence, output: Sentence, first: int, last: int, replacement: str
) -> bool:
    """Whether reference and output share more words after the replacement than before."""
    output_counts = Counter(output.words)
    before = Counter(reference.words)
    after = before - Counter(reference.words[first:last]) + Counter(replacement.split(" "))
    return (after & output_counts).total() > (before & output_counts).total()


SentencePair = tuple[Sentence, Sentence]


@dataclass(frozen=True, slots=True)
class ReferenceEdit:
    """The reference's tokens from `first` to before `last` become `text`. `lemma_changes` is False for
    an article that only agrees with the new word."""

    first: int
    last: int
    text: str
    lemma_changes: bool = True


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A reference that was rewritten for one output: the original, the new text, all proposals, and the
    edits that were made."""

    reference: Sentence
    text: str
    proposals: list[Proposal]
    edits: list[ReferenceEdit]


@dataclass(frozen=True)
class Rewriter:
    """Rewrites references with the candidates of a source, a filter and a threshold (None: the default
    threshold of the filter). Without `has_phrases`, only single words are replaced. With
    `is_joint`, the best replacement is made first, and the others are judged again in the changed
    reference."""

    source: CandidateSource
    filter: Filter
    threshold: float | None = None
    has_phrases: bool = True
    is_joint: bool = False

    @property
    def min_probability(self) -> float:
        """The least probability of a proposal that passes the filter."""
        return self.filter.threshold if self.threshold is None else self.threshold

    def rewrite(self, pairs: Sequence[SentencePair]) -> list[Rewritten]:
        """Rewrites the reference of each pair of a reference and an output."""
        proposed = [
            proposals(reference, output, self.source, has_phrases=self.has_phrases)
            for reference, output in pairs
        ]
        self._judge(
            [
                (reference.words, own_proposals)
                for (reference, _), own_proposals in zip(pairs, proposed, strict=True)
            ]
        )
        if self.is_joint:
            self._keep_jointly(pairs, proposed)
        else:
            for (_, output), own_proposals in zip(pairs, proposed, strict=True):
                places = _FreePlaces(output)
                for proposal in sorted(own_proposals, key=_rank):
                    proposal.is_kept = self._passes(proposal) and places.take(proposal)
        return [
            _apply(reference, own_proposals)
            for (reference, _), own_proposals in zip(pairs, proposed, strict=True)
        ]

    def _passes(self, proposal: Proposal) -> bool:
        return proposal.probability >= self.min_probability  # False for NaN

    def _judge(self, contexts: Sequence[tuple[tuple[str, ...], Sequence[Proposal]]]) -> None:
        """Sets the probability of each proposal. A context is the words of a reference with its
        proposals."""
        queries = [
            Query(words, proposal.first, proposal.last, proposal.replacement)
            for words, own_proposals in contexts
            for proposal in own_proposals
        ]
        if not queries:
            return
        judged = iter(np.asarray(self.filter.probabilities(queries)).tolist())
        for _, own_proposals in contexts:
            for proposal in own_proposals:
                proposal.probability = next(judged)

    def _keep_jointly(
        self, pairs: Sequence[SentencePair], proposed: Sequence[Sequence[Proposal]]
    ) -> None:
        """Decides on the proposals of each pair in rounds. In each round the best proposal of every
        pair is kept, and its other proposals are judged again."""
        places = [_FreePlaces(output) for _, output in pairs]
        open_pairs = list(range(len(pairs)))
        while open_pairs:
            changed_pairs = []
            for i in open_pairs:
                for proposal in sorted(proposed[i], key=_rank):
                    if proposal.is_kept or not self._passes(proposal):
                        continue
                    if places[i].take(proposal):
                        proposal.is_kept = True
                        changed_pairs.append(i)
                        break
            for i in changed_pairs:
                waiting = [p for p in proposed[i] if not p.is_kept]
                contexts = [_context(pairs[i][0].words, proposed[i], p) for p in waiting]
                queries = [
                    Query(words, first, first + p.last - p.first, p.replacement)
                    for p, (words, first) in zip(waiting, contexts, strict=True)
                ]
                judged = self.filter.probabilities(queries) if queries else np.zeros(0)
                for proposal, probability in zip(waiting, judged.tolist(), strict=True):
                    proposal.probability = probability
            open_pairs = changed_pairs


def _rank(proposal: Proposal) -> tuple[float, int, int, str]:
    """A sort key: the most probable proposals first, then longer phrases, then earlier ones."""
    probability = -1.0 if math.isnan(proposal.probability) else proposal.probability
    n_words = proposal.last - proposal.first
    return (-probability, -n_words, proposal.first, proposal.replacement.text)


class _FreePlaces:
    """Keeps count of the words of a reference and its output that a kept proposal already uses."""

    def __init__(self, output: Sentence) -> None:
        self._output_words = output.words
        self._used_in_output: set[int] = set()
        self._used_in_reference: set[int] = set()

    def take(self, proposal: Proposal) -> bool:
        """Marks the proposal's words in reference and output as used, and returns True; returns False
        if some are used already."""
        in_reference = range(proposal.first, proposal.last)
        if not self._used_in_reference.isdisjoint(in_reference):
            return False
        new_words = tuple(proposal.replacement.text.split(" "))
        for first in range(len(self._output_words) - len(new_words) + 1):
            in_output = range(first, first + len(new_words))
            is_match = self._output_words[first : first + len(new_words)] == new_words
            if is_match and self._used_in_output.isdisjoint(in_output):
                self._used_in_reference.update(in_reference)
                self._used_in_output.update(in_output)
                return True
        return False


def _context(
    words: tuple[str, ...], all_proposals: Sequence[Proposal], asked: Proposal
) -> tuple[tuple[str, ...], int]:
    """The words of the reference after the kept proposals are made, and the place in them of the words
    that the proposal `asked` replaces.

    A proposal that overlaps a kept one gets the original words; it can no longer be made.
    """
    kept = sorted((p for p in all_proposals if p.is_kept), key=lambda p: p.first)
    if any(p.first < asked.last and asked.first < p.last for p in kept):
        return words, asked.first
    result, place, begin = [], 0, asked.first
    for proposal in kept:
        new = proposal.replacement.text.split(" ")
        result += [*words[place : proposal.first], *new]
        place = proposal.last
        if proposal.last <= asked.first:
            begin += len(new) - (proposal.last - proposal.first)
    return (*result, *words[place:]), begin


def _apply(reference: Sentence, all_proposals: list[Proposal]) -> Rewritten:
    """The reference with its kept proposals made; *a* or *an* before them is made to agree."""
    edits: list[ReferenceEdit] = []
    for proposal in sorted((p for p in all_proposals if p.is_kept), key=lambda p: p.first):
        text = with_capitals_of(reference.tokens[proposal.first], proposal.replacement.text)
        before = proposal.first - 1
        if before >= 0 and reference.words[before] in ("a", "an"):
            article = indefinite_article(text)
            if article != reference.words[before]:
                new_article = with_capitals_of(reference.tokens[before], article)
                edits.append(ReferenceEdit(before, before + 1, new_article, lemma_changes=False))
        edits.append(ReferenceEdit(proposal.first, proposal.last, text))
    return Rewritten(reference, replace_tokens(reference, edits), all_proposals, edits)


def replace_tokens(reference: Sentence, edits: Sequence[ReferenceEdit]) -> str:
    """The reference's text with the edits made; everything else, including spaces, stays."""
    pieces, place = [], 0
    for edit in edits:
        pieces += [reference.text[place : reference.spans[edit.first][0]], edit.text]
        place = reference.spans[edit.last - 1][1]
    return "".join([*pieces, reference.text[place:]])
