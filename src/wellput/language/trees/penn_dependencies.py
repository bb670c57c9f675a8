"""Turns Penn constituents into dependencies with relations, for FERGUS, which realizes trees as
sentences.

Heads are those of the XTAG grammar's derivations, as in Bangalore, Rambow & Whittaker (2000): a
lexical verb heads its auxiliaries, a predicative noun or adjective heads its copula, and a preposition
heads its noun. In four cases XTAG does not say the head or differs, and the head is that of Universal
Dependencies: a clause heads its subordinator, the first conjunct heads the others, a conjunct heads
the conjunction before it, and a noun heads its possessive *'s*.

Relations have the names of Universal Dependencies. The Penn Treebank has no such relations: rules here
infer them from categories, function tags, traces (empty places of moved words) and the parts of speech
of heads, as in the paper's footnote 3.
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
    with_subjects,
)
from wellput.language.trees.supertags import coarse

# Function tags of noun phrases that are adverbials, not objects.
ADVERBIAL_TAGS = frozenset(["ADV", "TMP", "LOC", "MNR", "PRP", "DIR", "EXT", "BNF", "CLR"])
# Function tags of clauses that are adverbials.
CLAUSE_ADVERBIAL_TAGS = frozenset(["ADV", "TMP", "LOC", "MNR", "PRP", "DIR"])
NOMINAL_PHRASES = frozenset(["NP", "NX", "NAC", "QP", "WHNP", "NML"])
PREPOSITION_PHRASES = frozenset(["PP", "WHPP"])
# Words that can introduce a complement clause; it may also have none.
COMPLEMENTIZERS = frozenset(["", "that", "whether", "if", "for"])


@dataclass(frozen=True)
class PhrasePart:
    """A word or a phrase among the parts of a phrase. `tag` and `form` are those of its head word.
    `trace` is the label of the place that a question word or relative pronoun was moved from. `marker`
    is the subordinator of a clause. `has_wh` says that a part below is a question or relative
    phrase."""

    label: str
    tag: str
    form: str
    is_word: bool = True
    has_subject: bool = False
    has_wh: bool = False
    trace: str = ""
    is_possessive: bool = False
    marker: str = ""

    @property
    def kind(self) -> str:
        """The head word's kind: V, N, M (numbers), J (adjectives), R (adverbs), P, D or X."""
        return coarse(self.tag)

    @property
    def is_punctuation(self) -> bool:
        return self.is_word and self.tag in PUNCTUATION_TAGS

    @property
    def is_predicative(self) -> bool:
        """Whether it is a verb phrase whose head is not a verb."""
        return category(self.label) == "VP" and self.kind in "NJM"


def is_predicate(part: PhrasePart, *, in_phrase: str) -> bool:
    """Whether a part after a form of *be* is its predicate: a noun or adjective phrase tagged PRD or,
    where a verb phrase has no such tag, one without function tags."""
    if category(part.label) not in ("NP", "ADJP"):
        return False
    tags = function_tags(part.label)
    return "PRD" in tags or (not tags and in_phrase == "VP")


def relation_of_part(phrase: PhrasePart, parts: Sequence[PhrasePart], place: int, head: int) -> str:
    """The relation of one part to the head part of its phrase; `place` and `head` are the places of the
    two in `parts` (from 0)."""
    part, name = parts[place], category(parts[place].label)
    tags = function_tags(part.label)
    if part.is_punctuation:
        return "punct"
    if name in ("CC", "CONJP"):
        return "cc"
    if place > head and _is_coordinated(parts, place, head):
        return "conj"
    if "VOC" in tags:
        return "vocative"
    if "SBJ" in tags:
        if part.tag == "EX":
            return "expl"
        return "csubj" if name in ("S", "SBAR", "VP") else "nsubj"
    if name == "INTJ" or part.tag == "UH":
        return "discourse"
    if name == "PRN":
        return "parataxis"
    if name.startswith("WH") and not part.is_word:
        return _relation_of_moved(part, name)
    if parts[head].kind == "P" and category(phrase.label) in PREPOSITION_PHRASES:
        return _relation_to_preposition(part, name)
    if (
        phrase.kind == "V"
        or phrase.has_subject
        or category(phrase.label) in ("VP", "S", "SINV", "SQ", "SBAR")
    ):
        return _relation_to_predicate(part, name, tags, parts, place, head)
    if phrase.kind in "NMD" or category(phrase.label) in NOMINAL_PHRASES:
        return _relation_to_noun(part, name, tags, parts, place, head)
    return _relation_to_modifier(part, name)


def _is_coordinated(parts: Sequence[PhrasePart], place: int, head: int) -> bool:
    """Whether a part after the head is a conjunct: a conjunction stands between the two or after the
    part, and the part is of the same kind as the head."""
    conjunctions = [
        i for i, p in enumerate(parts) if category(p.label) in ("CC", "CONJP") and i > head
    ]
    if not conjunctions:
        return False
    if place > conjunctions[-1] or any(i < place and not parts[i].is_word for i in conjunctions):
        return parts[place].is_word == parts[head].is_word or not parts[place].is_word
    is_same_category = category(parts[place].label) == category(parts[head].label)
    return is_same_category and place > head and any(i > place for i in conjunctions)


def _relation_of_moved(part: PhrasePart, name: str) -> str:
    """The relation of a question word or relative pronoun, by the place that it was moved from."""
    tags = function_tags(part.trace)
    if name == "WHADVP":
        return "advmod"
    if name == "WHPP":
        return "obl"
    if "SBJ" in tags:
        return "nsubj"
    return "advmod" if name == "WHADJP" else "obj"


def _relation_to_preposition(part: PhrasePart, name: str) -> str:
    """The relation to a preposition, which heads its phrase."""
    if name in ("S", "SBAR", "SQ", "VP"):
        return "ccomp"
    if part.tag in ("RB", "RBR", "RBS") or name == "ADVP":
        return "advmod"
    if name in PREPOSITION_PHRASES or (part.is_word and part.kind == "P"):
        return "obl"
    return "obj"


def _relation_to_predicate(
    part: PhrasePart,
    name: str,
    tags: frozenset[str],
    parts: Sequence[PhrasePart],
    place: int,
    head: int,
) -> str:
    """The relation to a predicate: a verb, or a predicative noun or adjective."""
    if part.is_word:
        if part.tag == "TO":
            return "mark"
        if part.tag in ("IN", "DT", "WDT") and place < head:
            return "mark"
        if part.kind == "V" or part.tag == "MD":
            is_copula = parts[head].kind != "V" and part.tag != "MD"
            return "cop" if is_copula and not _is_auxiliary(parts[head]) else "aux"
        if part.tag == "RP":
            return "compound:prt"
        if part.kind == "R":
            return "advmod"
    if name == "PRT":
        return "compound:prt"
    if name in NOMINAL_PHRASES or (part.is_word and part.kind in "NM"):
        if "PRD" in tags:
            return "xcomp"
        if tags & ADVERBIAL_TAGS:
            return "obl:tmod" if "TMP" in tags else "obl:unmarked"
        later = [p for p in parts[place + 1 :] if _is_object(p)]
        return "iobj" if place > head and later and _is_object(part) else "obj"
    if name in PREPOSITION_PHRASES or (part.is_word and part.kind == "P"):
        return "obl"
    if name == "ADVP":
        return "advmod"
    if name == "ADJP" or (part.is_word and part.kind == "J"):
        return "xcomp"
    if name == "SBAR":
        is_adverbial = tags & CLAUSE_ADVERBIAL_TAGS or part.marker not in COMPLEMENTIZERS
        return "advcl" if is_adverbial else "ccomp"
    if name in ("S", "SINV", "SQ", "SBARQ"):
        if tags & CLAUSE_ADVERBIAL_TAGS:
            return "advcl"
        return "ccomp" if part.has_subject else "xcomp"
    return "advcl" if name == "VP" else "dep"


def _is_auxiliary(part: PhrasePart) -> bool:
    """Whether the head part of a clause is a verb phrase. A verb before it is then its auxiliary, even
    if the head word of that phrase is a predicative noun or adjective."""
    return category(part.label) == "VP"


def _is_object(part: PhrasePart) -> bool:
    tags = function_tags(part.label)
    return category(part.label) == "NP" and not tags & (ADVERBIAL_TAGS | {"PRD", "VOC"})


def _relation_to_noun(
    part: PhrasePart,
    name: str,
    tags: frozenset[str],
    parts: Sequence[PhrasePart],
    place: int,
    head: int,
) -> str:
    """The relation to a noun."""
    if part.is_word:
        match part.tag:
            case "DT" | "WDT":
                return "det"
            case "PDT":
                return "det:predet"
            case "PRP$" | "WP$":
                return "nmod:poss"
            case "POS":
                return "case"
            case "CD" | "$" | "#":
                return "nummod"
            case "IN" | "TO":
                return "case" if place < head else "nmod"
        by_kind = {"J": "amod", "V": "amod", "R": "advmod", "N": "compound", "D": "det"}
        return by_kind.get(part.kind, "dep")
    if part.is_possessive:
        return "nmod:poss"
    if name in NOMINAL_PHRASES:
        if name == "QP":
            return "nummod"
        if place < head:
            return "compound" if not tags & ADVERBIAL_TAGS else "nmod"
        is_apposed = not tags & ADVERBIAL_TAGS
        return "appos" if is_apposed else "nmod"
    match name:
        case "PP":
            return "nmod"
        case "ADJP":
            return "amod"
        case "ADVP":
            return "advmod"
        case "SBAR":
            return "acl:relcl" if part.has_wh or part.marker == "" else "acl"
        case "VP" | "S" | "RRC":
            return "acl"
    return "dep"


def _relation_to_modifier(part: PhrasePart, name: str) -> str:
    """The relation to an adjective or adverb."""
    if name in PREPOSITION_PHRASES:
        return "obl"
    if name in ("S", "SBAR", "VP"):
        if name == "VP":
            return "advcl"
        return "xcomp" if name == "S" and not part.has_subject else "ccomp"
    if name in NOMINAL_PHRASES:
        return "obl:unmarked"
    by_kind = {
        "R": "advmod",
        "J": "amod",
        "N": "obl:unmarked",
        "M": "nummod",
        "D": "det",
        "P": "mark",
    }
    return by_kind.get(part.kind, "advmod" if name == "ADVP" else "dep")


VERB_PHRASES = frozenset(["VP", "SQ", "SINV"])
CLAUSE_LABELS = frozenset(["S", "SQ", "SINV", "SBAR", "SBARQ", "VP", "FRAG"])
CONJUNCTIONS = frozenset(["CC", "CONJP"])
TRACE_PATTERN = re.compile(r"\*T\*-(\d+)")
INDEX_PATTERN = re.compile(r"-(\d+)(?:=|$)")


@dataclass(frozen=True)
class _Phrase:
    """A phrase: its description as a `PhrasePart`, and the number of its head word in the sentence."""

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
    traces = _traces(constituent)
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
    moved_from: dict[str, str] = {}

    def visit(node: Constituent, below: list[None]) -> None:
        for child in node.children:
            if child.label == EMPTY_ELEMENT and (match := TRACE_PATTERN.match(child.word or "")):
                moved_from[match[1]] = node.label

    fold(constituent, visit)
    return moved_from


def _joined(
    node: Constituent, phrases: Sequence[_Phrase], words: list[Word], traces: dict[str, str]
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
        trace=traces.get(index[1], "") if index else "",
        is_possessive=parts[-1].tag == "POS",
        marker=_marker_of(parts) if label == "SBAR" else "",
    )
    for place, phrase in enumerate(phrases):
        if place == head:
            continue
        conjunct = _conjunct_after(parts, place, head)
        above, mother = (head, joined) if conjunct is None else (conjunct, parts[conjunct])
        words[phrase.head - 1] = replace(
            words[phrase.head - 1],
            head=phrases[above].head,
            relation=relation_of_part(mother, parts, place, above),
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
        clauses = [place for place, name in enumerate(labels) if name in CLAUSE_LABELS]
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


def _conjunct_after(parts: Sequence[PhrasePart], place: int, head: int) -> int | None:
    """The conjunct that is the head of this part: a conjunction, and the words between it and the
    conjunct after it, depend on that conjunct. None for other parts."""
    if place < head:
        return None
    conjunctions = [
        i for i in range(head + 1, place + 1) if category(parts[i].label) in CONJUNCTIONS
    ]
    if not conjunctions:
        return None
    begin = conjunctions[-1]
    after = [i for i in range(begin + 1, len(parts)) if not parts[i].is_punctuation]
    alike = [i for i in after if parts[i].kind == parts[head].kind and parts[i].is_word]
    phrases = [i for i in after if not parts[i].is_word]
    conjuncts = alike[-1:] if parts[head].is_word and alike else phrases or after
    return conjuncts[0] if conjuncts and place < conjuncts[0] else None
