"""The noun `Proposal`: a word or phrase of a reference that something of the output might replace.

Kauchak & Barzilay's candidates are pairs of a word that only the reference has and one that only the
output has. Phrases are held to the same: a replacement must bring more words of the reference into
the output than there were.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from wellput.language.paraphrase.candidates import MAX_WORDS, CandidateSource, Replacement
from wellput.language.paraphrase.sentences import Sentence


@dataclass(slots=True)
class Proposal:
    """The reference's tokens from `first` to before `last`, and what may stand there instead.

    `probability` is the filter's, NaN where it has nothing to say; `is_kept` is decided in the end.
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
    """All of a pair, in the order of the reference."""
    here = frozenset(reference.words)
    there = frozenset(output.words)
    only_there = {
        word
        for word, is_fixed in zip(output.words, output.is_fixed, strict=True)
        if word not in here and not is_fixed
    }
    if not only_there:
        return []
    offered = _offered(output, only_there, MAX_WORDS if has_phrases else 1)
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
    """The output's words and phrases with something that the reference lacks."""
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
    """What of the reference the source may know, with its text and its tag."""
    words, is_fixed, tags = reference.words, reference.is_fixed, reference.tags
    for first, word in enumerate(words):
        if is_fixed[first]:
            continue
        if word not in there:
            yield first, first + 1, word, None if tags is None else tags[first]
        if not has_phrases:
            continue
        for last in range(first + 2, min(first + MAX_WORDS, len(words)) + 1):
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
