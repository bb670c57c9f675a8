"""Subjects of Penn constituents without function tags, such as parsers write.

The Penn Treebank marks a subject by the tag SBJ. Where a sentence has no such tag, `with_subjects` adds
it by the place of noun phrases: before the verb phrase of a clause, after the verb of an inverted one.
"""

from __future__ import annotations

from collections.abc import Sequence

from wellput.core.tree import Constituent
from wellput.language.trees.constituents import category, fold, function_tags

SUBJECT = "SBJ"
CLAUSES = frozenset(["S", "SINV", "SQ"])
INVERTED = frozenset(["SINV", "SQ"])
VERB_TAGS = frozenset(["MD", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ"])


def with_subjects(constituent: Constituent) -> Constituent:
    """The constituent with SBJ on its subjects; unchanged if it has that tag anywhere.

    >>> from wellput.io.trees import parse_constituent
    >>> found = with_subjects(parse_constituent("(S (NP (PRP It)) (VP (VBZ rains)))"))
    >>> [part.label for part in found.children]
    ['NP-SBJ', 'VP']
    """
    if fold(constituent, lambda node, below: _is_subject(node) or any(below)):
        return constituent

    def tagged(node: Constituent, parts: list[Constituent]) -> Constituent:
        label = category(node.label)
        place = None
        if label in CLAUSES:
            place = _subject_of_clause(parts, is_inverted=label in INVERTED)
        elif label in ("SBAR", "SBARQ"):
            place = _moved_subject(parts)
        if place is not None:
            part = parts[place]
            parts[place] = Constituent(f"{part.label}-{SUBJECT}", part.children, part.word)
        return Constituent(node.label, tuple(parts), node.word)

    return fold(constituent, tagged)


def _is_subject(node: Constituent) -> bool:
    return SUBJECT in function_tags(node.label)


def _subject_of_clause(parts: Sequence[Constituent], *, is_inverted: bool) -> int | None:
    """The noun phrase next to the verb: after the first verb of an inverted clause, else before it."""
    names = [category(part.label) for part in parts]
    verbs = [place for place, name in enumerate(names) if name == "VP" or name in VERB_TAGS]
    nouns = [
        place
        for place, (part, name) in enumerate(zip(parts, names, strict=True))
        if name == "NP" and not function_tags(part.label)
    ]
    if not verbs:
        return None
    before = [place for place in nouns if place < verbs[0]][-1:]
    after = [place for place in nouns if place > verbs[0]][:1] if is_inverted else []
    return next(iter(after or before), None)


def _moved_subject(parts: Sequence[Constituent]) -> int | None:
    """The question word or relative pronoun before a clause that has no subject of its own (*who left*,
    but not *what to do*)."""
    words = [place for place, part in enumerate(parts) if category(part.label) == "WHNP"]
    clauses = [part for part in parts if category(part.label) in CLAUSES]
    if not words or not clauses or any(map(_is_subject, clauses[0].children)):
        return None
    verbs = [part for part in clauses[0].children if category(part.label) == "VP"]
    is_infinitive = any(part.label == "TO" for verb in verbs for part in verb.children[:1])
    return words[0] if verbs and not is_infinitive else None
