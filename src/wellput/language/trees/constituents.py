"""Constituents in the Penn Treebank's style: plain labels, heads, and dependency trees.

`fold` walks a constituent bottom-up and left to right. It does so without recursion, because a tree
that a program wrote can be deeper than Python's stack. The table `collins_heads.tsv` finds the head
part of a phrase; the head word of every other part depends on the head word of the head part.
Punctuation depends on the head of its phrase, and is a head only where the phrase has nothing else.

The Penn Treebank marks a subject by the tag SBJ, which parsers do not write. Where a sentence has no
such tag, `with_subjects` adds it to a noun phrase by its place: before the verb phrase, or after the
verb in an inverted clause (*is he here*).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple, TypeVar

from wellput.core.errors import InputError
from wellput.core.tree import Constituent, Tree, Word

# The label of a leaf that stands for no word.
EMPTY_ELEMENT = "-NONE-"
LABEL_SEPARATOR = re.compile(r"[-=|]")
SUBJECT_TAG = "SBJ"
CLAUSE_LABELS = frozenset(["S", "SINV", "SQ"])
INVERTED_CLAUSE_LABELS = frozenset(["SINV", "SQ"])
VERB_TAGS = frozenset(["MD", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ"])

T = TypeVar("T")


def fold(constituent: Constituent, value: Callable[[Constituent, list[T]], T]) -> T:
    """The value of the whole constituent; `value` is called with a node and the values of its parts,
    and returns the value of the node."""
    order: list[Constituent] = []
    waiting = [constituent]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting.extend(node.children)
    done: list[T] = []
    for node in reversed(order):
        first = len(done) - len(node.children)
        done[first:] = [value(node, done[first:])]
    return done[0]


def category(label: str) -> str:
    """The label without function tags and indices; of two labels (`ADVP|PRT`) the first.

    >>> [category(label) for label in ("NP-SBJ-1", "NP=2", "-LRB-", "WP$")]
    ['NP', 'NP', '-LRB-', 'WP$']
    """
    return LABEL_SEPARATOR.split(label, maxsplit=1)[0] or label


def function_tags(label: str) -> frozenset[str]:
    """The function tags of a label, without indices.

    >>> sorted(function_tags("NP-LOC-PRD-2"))
    ['LOC', 'PRD']
    """
    _, *tags = LABEL_SEPARATOR.split(label) if not label.startswith("-") else [label]
    return frozenset(tag for tag in tags if tag and not tag.isdigit())


def without_nameless_bracket(constituent: Constituent) -> Constituent:
    """The constituent without the nameless outermost bracket of a Penn file."""
    while not constituent.label and len(constituent.children) == 1:
        constituent = constituent.children[0]
    return constituent


def without_empty_elements(constituent: Constituent) -> Constituent | None:
    """The constituent without empty elements and without phrases that have only such elements; None if
    nothing is left."""

    def keep(node: Constituent, parts: list[Constituent | None]) -> Constituent | None:
        if node.word is not None:
            return None if node.label == EMPTY_ELEMENT else node
        kept = tuple(part for part in parts if part is not None)
        return Constituent(node.label, kept) if kept else None

    return fold(constituent, keep)


def with_plain_labels(constituent: Constituent) -> Constituent | None:
    """The constituent without empty elements and function tags, None if nothing is left."""
    kept = without_empty_elements(constituent)
    if kept is None:
        return None
    return fold(
        kept, lambda node, parts: Constituent(category(node.label), tuple(parts), node.word)
    )


PUNCTUATION_TAGS = frozenset([",", ":", ".", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP"])
FORMS_OF_BE = frozenset(
    ["be", "am", "is", "are", "was", "were", "been", "being", "'s", "'re", "'m", "’s", "’re", "’m"]
)
AUXILIARY_TAGS = frozenset(["MD", "TO", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ"])
# Phrases in which a predicative noun or adjective can be the head.
VERB_PHRASES = frozenset(["VP", "SQ", "SINV"])
PREDICATIVE_PHRASES = frozenset(["NP", "ADJP"])


@dataclass(frozen=True, slots=True)
class HeadRule:
    """One line of `collins_heads.tsv`: the `groups` of labels are tried in order. The head is the first
    part with a label of the group, looking from the left end of the phrase (`from_left`) or from the
    right."""

    from_left: bool
    groups: tuple[frozenset[str], ...]


class Heading(NamedTuple):
    """The head of a phrase: the place of the part (from 0), and whether it is a copula's predicate."""

    part: int
    is_predicative: bool


@cache
def head_rules() -> dict[str, tuple[HeadRule, ...]]:
    """The rules of each phrase in the order in which they are tried."""
    text = files("wellput.language.trees").joinpath("collins_heads.tsv").read_text(encoding="utf-8")
    rules: dict[str, tuple[HeadRule, ...]] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        phrase, how, categories = line.split("\t")
        names = categories.split()
        one_by_one = tuple(frozenset([name]) for name in names)
        groups = (frozenset(names),) if how.endswith("-any") else one_by_one
        rule = HeadRule(how.startswith("left"), groups)
        rules[phrase] = (*rules.get(phrase, ()), rule)
    return rules


# The rule for phrases that are not in the table: the first part is the head.
UNKNOWN_PHRASE = (HeadRule(from_left=True, groups=()),)


def head_part(constituent: Constituent) -> int:
    """Which of a phrase's parts (from 0) is its head; function tags are ignored.

    Collins' rule for coordination: where the part before the head is a conjunction, the part before
    that conjunction is the head.
    """
    labels = [category(part.label) for part in constituent.children]
    places = [place for place, label in enumerate(labels) if label not in PUNCTUATION_TAGS]
    places = places or list(range(len(labels)))
    at = _by_rules(category(constituent.label), [labels[place] for place in places])
    if at >= 2 and labels[places[at - 1]] == "CC":
        at -= 2
    return places[at]


def head_parts(constituent: Constituent, *, predicative_nouns: bool = False) -> list[int]:
    """The head part of every phrase, the phrases in the order of `fold` (bottom-up, left to right),
    -1 for words. With `predicative_nouns`, the predicate of a form of *be* is the head, not the
    verb."""
    parts: list[int] = []

    def visit(node: Constituent, are_predicative: list[bool]) -> bool:
        if not node.children:
            parts.append(-1)
            return False
        heading = _heading(node, are_predicative, predicative_nouns=predicative_nouns)
        parts.append(heading.part)
        return heading.is_predicative

    fold(constituent, visit)
    return parts


def to_dependencies(constituent: Constituent, *, predicative_nouns: bool = False) -> Tree:
    """The dependency tree over the words of a constituent, without empty elements; the part of
    speech becomes `xpos`.

    With `predicative_nouns` a predicative noun or adjective heads its clause, and the copula (a form of
    *be*) and auxiliaries are its daughters, as in the XTAG grammar (Bangalore, Rambow & Whittaker 2000,
    footnote 1). Otherwise the finite verb heads the clause. A predicate is a phrase that Penn tags
    `PRD`. In trees without such tags it is an NP or ADJP with no function tag after a form of *be*.

    Raises InputError where no word is left.
    """
    kept = without_empty_elements(constituent)
    if kept is None:
        raise InputError(
            "The constituent has no words, only empty elements, so it has no dependencies."
        )
    chosen = iter(head_parts(kept, predicative_nouns=predicative_nouns))
    leaves: list[Constituent] = []
    heads: list[int] = []

    def head_word(node: Constituent, words_of_parts: list[int]) -> int:
        part = next(chosen)
        if not words_of_parts:
            leaves.append(node)
            heads.append(0)
            return len(leaves)
        for place, word in enumerate(words_of_parts):
            if place != part:
                heads[word - 1] = words_of_parts[part]
        return words_of_parts[part]

    fold(kept, head_word)
    return Tree(
        tuple(
            Word(leaf.word or "", head, xpos=leaf.label or "_")
            for leaf, head in zip(leaves, heads, strict=True)
        )
    )


def _by_rules(phrase: str, labels: list[str]) -> int:
    """The place of the head among the labels of a phrase's parts, by the table."""
    rules = head_rules().get(phrase, UNKNOWN_PHRASE)
    for rule in rules:
        places = range(len(labels)) if rule.from_left else range(len(labels) - 1, -1, -1)
        for group in rule.groups:
            for place in places:
                if labels[place] in group:
                    return place
    return 0 if rules[-1].from_left else len(labels) - 1


def _heading(node: Constituent, are_predicative: list[bool], *, predicative_nouns: bool) -> Heading:
    """The head of a phrase; `are_predicative` says of each part whether its head is a predicate.
    `predicative_nouns` is as for `head_parts`."""
    part = head_part(node)
    if not predicative_nouns or category(node.label) not in VERB_PHRASES:
        return Heading(part, False)
    verb = node.children[part]
    if verb.word is None:
        return Heading(part, are_predicative[part])
    if verb.word.lower() in FORMS_OF_BE:
        for place in range(part + 1, len(node.children)):
            if _is_predicate(node.children[place], phrase=node):
                return Heading(place, True)
    if verb.label in AUXILIARY_TAGS:
        for place in range(part + 1, len(node.children)):
            if are_predicative[place]:
                return Heading(place, True)
    return Heading(part, False)


def _is_predicate(part: Constituent, *, phrase: Constituent) -> bool:
    """Whether a part of the phrase is the predicate of a form of *be* before it. A part without
    function tags is a predicate only in a VP; in an inverted clause it is the subject."""
    if category(part.label) not in PREDICATIVE_PHRASES:
        return False
    tags = function_tags(part.label)
    return "PRD" in tags or (not tags and category(phrase.label) == "VP")


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
        if label in CLAUSE_LABELS:
            place = _subject_of_clause(parts, is_inverted=label in INVERTED_CLAUSE_LABELS)
        elif label in ("SBAR", "SBARQ"):
            place = _moved_subject(parts)
        if place is not None:
            part = parts[place]
            parts[place] = Constituent(f"{part.label}-{SUBJECT_TAG}", part.children, part.word)
        return Constituent(node.label, tuple(parts), node.word)

    return fold(constituent, tagged)


def _is_subject(node: Constituent) -> bool:
    return SUBJECT_TAG in function_tags(node.label)


def _subject_of_clause(parts: Sequence[Constituent], *, is_inverted: bool) -> int | None:
    """The place of the subject: the noun phrase before the first verb, or after it if the clause
    `is_inverted`; None if there is no such noun phrase."""
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
    """The place of the question word or relative pronoun before a clause that has no subject itself
    (*who left*, but not *what to do*); None if there is none."""
    wh_places = [place for place, part in enumerate(parts) if category(part.label) == "WHNP"]
    clauses = [part for part in parts if category(part.label) in CLAUSE_LABELS]
    if not wh_places or not clauses or any(map(_is_subject, clauses[0].children)):
        return None
    verbs = [part for part in clauses[0].children if category(part.label) == "VP"]
    is_infinitive = any(part.label == "TO" for verb in verbs for part in verb.children[:1])
    return wh_places[0] if verbs and not is_infinitive else None
