"""Rewriting references: proposals are filtered, the most probable taken first, each word used once.

A `Proposal` is a word or phrase of a reference with a possible replacement from the output. In Kauchak
& Barzilay a proposal pairs a word that only the reference has with one that only the output has.
Phrases follow the same rule: with the replacement, reference and output must share more words.

By default every proposal is tested in the original reference, as in the paper. Jointly, the best
proposal is made first, and the others are tested again in the changed reference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from wellput.language.models.wordnet import with_capitals_of
from wellput.language.paraphrase.candidates import (
    MAX_PHRASE_WORDS,
    CandidateSource,
    Replacement,
    article_before,
)
from wellput.language.paraphrase.filters import Filter, Query
from wellput.language.paraphrase.sentences import Sentence


@dataclass(slots=True)
class Proposal:
    """The reference's tokens from `first` to before `last`, and a possible replacement.

    `probability` is the filter's, NaN where it does not know the word; `is_kept` is the decision.
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
    """All proposals for a pair, in the order of the reference."""
    here = frozenset(reference.words)
    there = frozenset(output.words)
    only_there = {
        word
        for word, is_fixed in zip(output.words, output.is_fixed, strict=True)
        if word not in here and not is_fixed
    }
    if not only_there:
        return []
    offered = _offered(output, only_there, MAX_PHRASE_WORDS if has_phrases else 1)
    found: list[Proposal] = []
    for first, last, text, tag in _spans(reference, there, source, has_phrases=has_phrases):
        known = source.replacements(text, tag, offered)
        for replacement in sorted(known):
            if last - first == 1 and " " not in replacement:
                is_nearer = True
            else:
                is_nearer = _is_nearer(reference, output, first, last, replacement)
            if is_nearer:
                found.append(Proposal(first, last, text, known[replacement]))
    return found


def _offered(output: Sentence, only_there: set[str], longest: int) -> set[str]:
    """The output's words, and phrases with at least one word, that the reference lacks."""
    offered = set(only_there)
    for n in range(2, longest + 1):
        for first in range(len(output.words) - n + 1):
            words = output.words[first : first + n]
            if not only_there.isdisjoint(words) and not any(output.is_fixed[first : first + n]):
                offered.add(" ".join(words))
    return offered


def _spans(
    reference: Sentence, there: frozenset[str], source: CandidateSource, *, has_phrases: bool
) -> Iterator[tuple[int, int, str, str | None]]:
    """The words and phrases of the reference that the source may know: first, last, text, tag."""
    words, is_fixed, tags = reference.words, reference.is_fixed, reference.tags
    for first, word in enumerate(words):
        if is_fixed[first]:
            continue
        if word not in there:
            yield first, first + 1, word, None if tags is None else tags[first]
        if not has_phrases:
            continue
        for last in range(first + 2, min(first + MAX_PHRASE_WORDS, len(words)) + 1):
            if is_fixed[last - 1]:
                break
            span = words[first:last]
            if not there.issuperset(span) and source.may_be_phrase(span):
                yield first, last, " ".join(span), None


def _is_nearer(
    reference: Sentence, output: Sentence, first: int, last: int, replacement: str
) -> bool:
    there = Counter(output.words)
    before = Counter(reference.words)
    after = before - Counter(reference.words[first:last]) + Counter(replacement.split(" "))
    return (after & there).total() > (before & there).total()


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
    """A reference for one output, the new text, all proposals, and the edits that were made."""

    reference: Sentence
    text: str
    proposals: list[Proposal]
    edits: list[ReferenceEdit]


@dataclass(frozen=True)
class Rewriter:
    """Candidates, a filter and its threshold (None: the filter's own)."""

    source: CandidateSource
    filter: Filter
    threshold: float | None = None
    has_phrases: bool = True
    is_joint: bool = False

    @property
    def least(self) -> float:
        """The least probability with which a proposal passes."""
        return self.filter.threshold if self.threshold is None else self.threshold

    def rewrite(self, pairs: Sequence[SentencePair]) -> list[Rewritten]:
        """Rewrites the reference of each pair of a reference and an output."""
        proposed = [proposals(r, o, self.source, has_phrases=self.has_phrases) for r, o in pairs]
        self._judge([(pair[0].words, own) for pair, own in zip(pairs, proposed, strict=True)])
        if self.is_joint:
            self._keep_jointly(pairs, proposed)
        else:
            for (_, output), own in zip(pairs, proposed, strict=True):
                places = _FreePlaces(output)
                for proposal in sorted(own, key=_rank):
                    proposal.is_kept = self._passes(proposal) and places.take(proposal)
        return [_apply(pair[0], own) for pair, own in zip(pairs, proposed, strict=True)]

    def _passes(self, proposal: Proposal) -> bool:
        return proposal.probability >= self.least  # False for NaN

    def _judge(self, contexts: Sequence[tuple[tuple[str, ...], Sequence[Proposal]]]) -> None:
        queries = [
            Query(words, proposal.first, proposal.last, proposal.replacement)
            for words, own in contexts
            for proposal in own
        ]
        if not queries:
            return
        judged = iter(np.asarray(self.filter.probabilities(queries)).tolist())
        for _, own in contexts:
            for proposal in own:
                proposal.probability = next(judged)

    def _keep_jointly(
        self, pairs: Sequence[SentencePair], proposed: Sequence[Sequence[Proposal]]
    ) -> None:
        """In each round, the best proposal of every pair is made, and the others are judged again."""
        places = [_FreePlaces(output) for _, output in pairs]
        open_pairs = list(range(len(pairs)))
        while open_pairs:
            again = []
            for i in open_pairs:
                for proposal in sorted(proposed[i], key=_rank):
                    if proposal.is_kept or not self._passes(proposal):
                        continue
                    if places[i].take(proposal):
                        proposal.is_kept = True
                        again.append(i)
                        break
            for i in again:
                waiting = [p for p in proposed[i] if not p.is_kept]
                contexts = [_context(pairs[i][0].words, proposed[i], p) for p in waiting]
                queries = [
                    Query(words, first, first + p.last - p.first, p.replacement)
                    for p, (words, first) in zip(waiting, contexts, strict=True)
                ]
                judged = self.filter.probabilities(queries) if queries else np.zeros(0)
                for proposal, probability in zip(waiting, judged.tolist(), strict=True):
                    proposal.probability = probability
            open_pairs = again


def _rank(proposal: Proposal) -> tuple[float, int, int, str]:
    probability = proposal.probability
    known = probability if probability == probability else -1.0
    # Of equally probable ones the longer phrase comes first, then the earlier one.
    return (-known, proposal.first - proposal.last, proposal.first, proposal.replacement.text)


class _FreePlaces:
    """The words of a reference and of an output that are still free."""

    def __init__(self, output: Sentence) -> None:
        self._words = output.words
        self._used_there: set[int] = set()
        self._used_here: set[int] = set()

    def take(self, proposal: Proposal) -> bool:
        """Takes the words of the proposal on both sides, if they are free; returns whether."""
        here = range(proposal.first, proposal.last)
        if not self._used_here.isdisjoint(here):
            return False
        wanted = tuple(proposal.replacement.text.split(" "))
        for first in range(len(self._words) - len(wanted) + 1):
            there = range(first, first + len(wanted))
            if self._words[first : first + len(wanted)] == wanted and self._used_there.isdisjoint(
                there
            ):
                self._used_here.update(here)
                self._used_there.update(there)
                return True
        return False


def _context(
    words: tuple[str, ...], own: Sequence[Proposal], asked: Proposal
) -> tuple[tuple[str, ...], int]:
    """The reference with the kept proposals made, and the place of the asked words in it.

    A proposal that overlaps a kept one is seen in the original; it can no longer be taken.
    """
    kept = sorted((p for p in own if p.is_kept), key=lambda p: p.first)
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


def _apply(reference: Sentence, own: list[Proposal]) -> Rewritten:
    edits: list[ReferenceEdit] = []
    for proposal in sorted((p for p in own if p.is_kept), key=lambda p: p.first):
        text = with_capitals_of(reference.tokens[proposal.first], proposal.replacement.text)
        before = proposal.first - 1
        if before >= 0 and reference.words[before] in ("a", "an"):
            article = article_before(text)
            if article != reference.words[before]:
                kept = with_capitals_of(reference.tokens[before], article)
                edits.append(ReferenceEdit(before, before + 1, kept, lemma_changes=False))
        edits.append(ReferenceEdit(proposal.first, proposal.last, text))
    return Rewritten(reference, replace_tokens(reference, edits), own, edits)


def replace_tokens(reference: Sentence, edits: Sequence[ReferenceEdit]) -> str:
    """The reference's text with the edits made; everything else, including spaces, stays."""
    pieces, place = [], 0
    for edit in edits:
        pieces += [reference.text[place : reference.spans[edit.first][0]], edit.text]
        place = reference.spans[edit.last - 1][1]
    return "".join([*pieces, reference.text[place:]])
