"""Rewriting references: proposals are filtered, the most probable taken first, each word used once.

By default every proposal is tested in the reference as it was, as in the paper. Jointly, the best
one of a reference is made first, and the others are tested again in what it became.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wellput.language.paraphrase.agreement import article_before
from wellput.language.paraphrase.candidates import CandidateSource
from wellput.language.paraphrase.filters import Filter, Query
from wellput.language.paraphrase.proposals import Proposal, proposals
from wellput.language.paraphrase.sentences import Sentence
from wellput.language.wordnet import with_capitals_of

Pair = tuple[Sentence, Sentence]


@dataclass(frozen=True, slots=True)
class Edit:
    """The reference's tokens from `first` to before `last` become `text`; `lemma_changes` unless it is
    an article that follows suit."""

    first: int
    last: int
    text: str
    lemma_changes: bool = True


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A reference for one output, all that was proposed, and what was done."""

    reference: Sentence
    text: str
    proposals: list[Proposal]
    edits: list[Edit]


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
        """The probability from which a proposal passes."""
        return self.filter.threshold if self.threshold is None else self.threshold

    def rewrite(self, pairs: Sequence[Pair]) -> list[Rewritten]:
        """By pair of a reference and an output."""
        proposed = [proposals(r, o, self.source, has_phrases=self.has_phrases) for r, o in pairs]
        self._judge([(pair[0].words, own) for pair, own in zip(pairs, proposed, strict=True)])
        if self.is_joint:
            self._keep_jointly(pairs, proposed)
        else:
            for (_, output), own in zip(pairs, proposed, strict=True):
                places = _Places(output)
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

    def _keep_jointly(self, pairs: Sequence[Pair], proposed: Sequence[Sequence[Proposal]]) -> None:
        """Rounds over all pairs: in each, the best of every pair is made, the rest judged anew."""
        places = [_Places(output) for _, output in pairs]
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
    # Of equals the longer phrase, then the first.
    return (-known, proposal.first - proposal.last, proposal.first, proposal.replacement.text)


class _Places:
    """What is still free of a reference and of an output."""

    def __init__(self, output: Sentence) -> None:
        self._words = output.words
        self._used_there: set[int] = set()
        self._used_here: set[int] = set()

    def take(self, proposal: Proposal) -> bool:
        """Whether both ends were free; they are taken then."""
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
    """The reference with what was kept of it replaced, and where the asked words begin there.

    A proposal that overlaps a kept one is seen in the original: it can no longer be taken anyway.
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
    edits: list[Edit] = []
    for proposal in sorted((p for p in own if p.is_kept), key=lambda p: p.first):
        text = with_capitals_of(reference.tokens[proposal.first], proposal.replacement.text)
        before = proposal.first - 1
        if before >= 0 and reference.words[before] in ("a", "an"):
            article = article_before(text)
            if article != reference.words[before]:
                kept = with_capitals_of(reference.tokens[before], article)
                edits.append(Edit(before, before + 1, kept, lemma_changes=False))
        edits.append(Edit(proposal.first, proposal.last, text))
    return Rewritten(reference, replace_tokens(reference, edits), own, edits)


def replace_tokens(reference: Sentence, edits: Sequence[Edit]) -> str:
    """The reference's text with the edits made; all else stays, to the last space."""
    pieces, place = [], 0
    for edit in edits:
        pieces += [reference.text[place : reference.spans[edit.first][0]], edit.text]
        place = reference.spans[edit.last - 1][1]
    return "".join([*pieces, reference.text[place:]])
