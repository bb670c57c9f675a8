"""Turns Penn constituents into dependencies with relations, for FERGUS, which realizes trees as
sentences.

Heads are those of the XTAG grammar's derivations, as in Bangalore, Rambow & Whittaker (2000): a
lexical verb heads its auxiliaries, a predicative noun or adjective heads its copula, and a preposition
heads its noun. In four cases XTAG does not say the head or differs, and the head is that of Universal
Dependencies: a clause heads its subordinator, the first conjunct heads the others, a conjunct heads
the conjunction before it, and a noun heads its possessive *'s*. `penn_relations` infers the relations.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from wellput.core.errors import InputError
from wellput.core.tree import Constituent, Tree, Word
from wellput.language.trees.constituents import (
    AUXILIARY_TAGS,
    EMPTY_ELEMENT,
    FORMS_OF_BE,
    PUNCTUATION_TAGS,
    VERB_PHRASES,
    category,
    fold,
    function_tags,
    head_part,
    with_subjects,
)
from wellput.language.trees.penn_relations import (
    NOWHERE,
    PhrasePart,
    PhraseParts,
    is_predicate,
    relation_of_part,
)

SBAR_HEAD_LABELS = frozenset(["S", "SQ", "SINV", "SBAR", "SBARQ", "VP", "FRAG"])
TRACE_PATTERN = re.compile(r"\*T\*-(\d+)")
INDEX_PATTERN = re.compile(r"-(\d+)(?:=|$)")


@dataclass(frozen=True)
class _Phrase:
    """A word or phrase: its description as a `PhrasePart`, and the number of its head word in the
    sentence, from 1."""

    part: PhrasePart
    head: int


def labeled_dependencies(constituent: Constituent) -> Tree:
    """The dependency tree over the words of a constituent, without empty elements. Parts of speech
    become `xpos`; a word keeps its spelling in the treebank. Raises InputError where no word is left.

    >>> from wellput.io.trees import parse_constituent
    >>> sentence = parse_constituent("(S (NP-SBJ (PRP It)) (VP (MD can) (VP (VB wait))))")
    >>> tree = labeled_dependencies(sentence)
    >>> [(word.form, word.head, word.relation) for word in tree.words]
    [('It', 3, 'nsubj'), ('can', 3, 'aux'), ('wait', 0, 'root')]
    """
    constituent = with_subjects(constituent)
    moved_from = _labels_around_traces(constituent)
    words: list[Word] = []

    def visit(node: Constituent, below: list[_Phrase | None]) -> _Phrase | None:
        if node.word is not None:
            if node.label == EMPTY_ELEMENT:
                return None
            words.append(Word(node.word, 0, xpos=node.label or "_"))
            return _Phrase(PhrasePart(node.label, tag=node.label, form=node.word), len(words))
        phrases = [phrase for phrase in below if phrase is not None]
        if not phrases:
            return None
        return _joined(node, phrases, words, moved_from)

    whole = fold(constituent, visit)
    if whole is None:
        raise InputError(
            "The constituent has no words, only empty elements, so it has no dependencies."
        )
    words[whole.head - 1] = replace(words[whole.head - 1], relation="root")
    return Tree(tuple(words))


def _labels_around_traces(constituent: Constituent) -> dict[str, str]:
    """The label of the phrase around each trace, by the trace's index. A trace is the empty element at
    the place from which a question word or relative pronoun was moved. Both have the same index:
    `WHNP-1` and `*T*-1`."""
    moved_from: dict[str, str] = {}

    def visit(node: Constituent, below: list[None]) -> None:
        for child in node.children:
            if child.label == EMPTY_ELEMENT and (match := TRACE_PATTERN.match(child.word or "")):
                moved_from[match[1]] = node.label

    fold(constituent, visit)
    return moved_from


def _joined(
    node: Constituent, phrases: Sequence[_Phrase], words: list[Word], moved_from: dict[str, str]
) -> _Phrase:
    """The phrase made of these parts. The head words of all parts but the head part get their heads and
    relations in `words`."""
    label = category(node.label)
    parts = [phrase.part for phrase in phrases]
    head = _head_of(label, parts)
    index = INDEX_PATTERN.search(node.label)
    joined = replace(
        parts[head],
        label=node.label,
        is_word=False,
        has_subject=parts[head].has_subject
        or any("SBJ" in function_tags(part.label) for part in parts),
        has_wh=parts[head].has_wh or any(category(p.label).startswith("WH") for p in parts),
        moved_from=moved_from.get(index[1], "") if index else "",
        is_possessive=parts[-1].tag == "POS",
        marker=_marker_of(parts) if label == "SBAR" else "",
    )
    phrase_parts = PhraseParts(parts)
    for place, phrase in enumerate(phrases):
        if place == head:
            continue
        conjunct = _conjunct_after(phrase_parts, place, head)
        # A part depends on the head part of the whole phrase, or on a conjunct (`_conjunct_after`).
        above, mother = (head, joined) if conjunct is None else (conjunct, parts[conjunct])
        words[phrase.head - 1] = replace(
            words[phrase.head - 1],
            head=phrases[above].head,
            relation=relation_of_part(mother, phrase_parts, place, above),
        )
    return _Phrase(joined, phrases[head].head)


def _marker_of(parts: Sequence[PhrasePart]) -> str:
    """The subordinator of a clause, in lower case; empty where there is none."""
    return next((p.form.lower() for p in parts if p.is_word and p.tag in ("IN", "DT")), "")


def _head_of(label: str, parts: Sequence[PhrasePart]) -> int:
    """The place of the head part, by the table of head rules (`constituents.py`) unless a rule here
    says otherwise."""
    labels = [category(part.label) for part in parts]
    if label == "SBAR":
        clauses = [place for place, name in enumerate(labels) if name in SBAR_HEAD_LABELS]
        if clauses:
            return clauses[0]
    if label == "UCP":
        return next((i for i, name in enumerate(labels) if name not in PUNCTUATION_TAGS), 0)
    # The table would make a possessive *'s* the head of its phrase, so it gets the label X here.
    stand_in = Constituent(
        label,
        tuple(
            Constituent("X" if part.tag == "POS" and part.is_word else name, word="x")
            for part, name in zip(parts, labels, strict=True)
        ),
    )
    head = head_part(stand_in)
    if label not in VERB_PHRASES or not parts[head].is_word:
        return head
    after = range(head + 1, len(parts))
    if parts[head].form.lower() in FORMS_OF_BE:
        for place in after:
            if is_predicate(parts[place], in_phrase=label):
                return place
    if parts[head].tag in AUXILIARY_TAGS:
        for place in after:
            if labels[place] == "VP" or parts[place].is_predicative:
                return place
    return head


def _conjunct_after(parts: PhraseParts, place: int, head: int) -> int | None:
    """The conjunct that is the head of this part: a conjunction, and the words between it and the
    conjunct after it, depend on that conjunct. None for other parts."""
    conjunction = place if parts[place].is_conjunction else parts.conjunction_before(place)
    if conjunction <= head or place < head:
        return None
    conjunct = parts.last_word_of(parts[head].kind) if parts[head].is_word else NOWHERE
    if conjunct <= conjunction:
        conjunct = parts.phrase_after(conjunction)
    if conjunct == NOWHERE:
        conjunct = parts.content_after(conjunction)
    return conjunct if place < conjunct else None
