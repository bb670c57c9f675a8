"""Penn constituents to dependencies with relations, for the realizer FERGUS.

Heads are those of XTAG's derivations as Bangalore, Rambow & Whittaker (2000) show them in Figure 2:
a lexical verb heads its auxiliaries, a predicative noun or adjective its copula, and a preposition its
noun. XTAG is silent or differs in three places, where the heads are those of Universal Dependencies: a
clause heads its subordinator, the first conjunct heads the others, and a noun its possessive *'s*.
Relations have the names of Universal Dependencies. The Penn Treebank has no such relations: they
follow from phrases, function tags and traces (heuristics, as in the paper's footnote 3).
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
    category,
    fold,
    function_tags,
    head_part,
)
from wellput.language.trees.penn_relations import Part, is_predicate, relation_of

VERB_PHRASES = frozenset(["VP", "SQ", "SINV"])
CLAUSES = frozenset(["S", "SQ", "SINV", "SBAR", "SBARQ", "VP", "FRAG"])
CONJUNCTIONS = frozenset(["CC", "CONJP"])
TRACE = re.compile(r"\*T\*-(\d+)")
INDEX = re.compile(r"-(\d+)(?:=|$)")


@dataclass(frozen=True)
class _Phrase:
    """A phrase whose words are known: its part for the relations, and its head word's number."""

    part: Part
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
    traces = _traces(constituent)
    words: list[Word] = []

    def visit(node: Constituent, below: list[_Phrase | None]) -> _Phrase | None:
        if node.word is not None:
            if node.label == EMPTY_ELEMENT:
                return None
            words.append(Word(node.word, 0, xpos=node.label or "_"))
            return _Phrase(Part(node.label, tag=node.label, form=node.word), len(words))
        phrases = [phrase for phrase in below if phrase is not None]
        if not phrases:
            return None
        return _joined(node, phrases, words, traces)

    whole = fold(constituent, visit)
    if whole is None:
        raise InputError(
            "The constituent has no words, only empty elements, so it has no dependencies."
        )
    words[whole.head - 1] = replace(words[whole.head - 1], relation="root")
    return Tree(tuple(words))


def _traces(constituent: Constituent) -> dict[str, str]:
    """By the index of a question word or relative pronoun: the label of the phrase that its trace
    stands for."""
    found: dict[str, str] = {}

    def visit(node: Constituent, below: list[None]) -> None:
        for child in node.children:
            if child.label == EMPTY_ELEMENT and (match := TRACE.match(child.word or "")):
                found[match[1]] = node.label

    fold(constituent, visit)
    return found


def _joined(
    node: Constituent, phrases: Sequence[_Phrase], words: list[Word], traces: dict[str, str]
) -> _Phrase:
    """The phrase of these parts; the heads and relations of all but one are written into `words`."""
    label = category(node.label)
    parts = [phrase.part for phrase in phrases]
    head = _head_of(label, parts)
    index = INDEX.search(node.label)
    own = replace(
        parts[head],
        label=node.label,
        is_word=False,
        has_subject=parts[head].has_subject
        or any("SBJ" in function_tags(part.label) for part in parts),
        has_wh=parts[head].has_wh or any(category(p.label).startswith("WH") for p in parts),
        trace=traces.get(index[1], "") if index else "",
        is_possessive=parts[-1].tag == "POS",
        marker=_marker_of(parts) if label == "SBAR" else "",
    )
    for place, phrase in enumerate(phrases):
        if place == head:
            continue
        conjunct = _conjunct_after(parts, place, head)
        above, mother = (head, own) if conjunct is None else (conjunct, parts[conjunct])
        words[phrase.head - 1] = replace(
            words[phrase.head - 1],
            head=phrases[above].head,
            relation=relation_of(mother, parts, place, above),
        )
    return _Phrase(own, phrases[head].head)


def _marker_of(parts: Sequence[Part]) -> str:
    """The subordinator of a clause, in lower case; empty where there is none."""
    return next((p.form.lower() for p in parts if p.is_word and p.tag in ("IN", "DT")), "")


def _head_of(label: str, parts: Sequence[Part]) -> int:
    """Which part is the head; Collins's table decides where nothing here does."""
    labels = [category(part.label) for part in parts]
    if label == "SBAR":
        clauses = [place for place, name in enumerate(labels) if name in CLAUSES]
        if clauses:
            return clauses[0]
    if label == "UCP":
        return next((i for i, name in enumerate(labels) if name not in PUNCTUATION_TAGS), 0)
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


def _conjunct_after(parts: Sequence[Part], place: int, head: int) -> int | None:
    """The conjunct on which a part hangs that stands after a conjunction: a conjunction hangs on the
    conjunct after it, and so do the words between them."""
    if place < head:
        return None
    conjunctions = [
        i for i in range(head + 1, place + 1) if category(parts[i].label) in CONJUNCTIONS
    ]
    if not conjunctions:
        return None
    begin = conjunctions[-1]
    rest = [i for i in range(begin + 1, len(parts)) if not parts[i].is_punctuation]
    alike = [i for i in rest if parts[i].kind == parts[head].kind and parts[i].is_word]
    phrases = [i for i in rest if not parts[i].is_word]
    conjuncts = alike[-1:] if parts[head].is_word and alike else phrases or rest
    return conjuncts[0] if conjuncts and place < conjuncts[0] else None
