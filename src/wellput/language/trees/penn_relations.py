"""The relation of a part of a Penn phrase to the phrase's head, with the names of Universal
Dependencies. The rules use categories, function tags, traces and the parts of speech of heads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wellput.language.trees.constituents import PUNCTUATION_TAGS, category, function_tags
from wellput.language.trees.supertags import coarse

ADVERBIAL_TAGS = frozenset(["ADV", "TMP", "LOC", "MNR", "PRP", "DIR", "EXT", "BNF", "CLR"])
CLAUSE_ADVERBIAL_TAGS = frozenset(["ADV", "TMP", "LOC", "MNR", "PRP", "DIR"])
NOMINAL_PHRASES = frozenset(["NP", "NX", "NAC", "QP", "WHNP", "NML"])
PREPOSITION_PHRASES = frozenset(["PP", "WHPP"])
CLAUSES = frozenset(["VP", "S", "SINV", "SQ", "SBAR"])
COMPLEMENTIZERS = frozenset(["", "that", "whether", "if", "for"])


@dataclass(frozen=True)
class Part:
    """A word or a phrase among the parts of a phrase. `tag` and `form` are those of its head word;
    `trace` is the label of the place that a question word or relative pronoun was moved from."""

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
        return coarse(self.tag)

    @property
    def is_punctuation(self) -> bool:
        return self.is_word and self.tag in PUNCTUATION_TAGS

    @property
    def is_predicative(self) -> bool:
        """Whether it is a verb phrase whose head is not a verb."""
        return category(self.label) == "VP" and self.kind in "NJM"


def is_predicate(part: Part, *, in_phrase: str) -> bool:
    """Whether a part after a form of *be* is its predicate: a noun or adjective phrase tagged PRD or,
    where a verb phrase has no such tag, one without function tags."""
    if category(part.label) not in ("NP", "ADJP"):
        return False
    tags = function_tags(part.label)
    return "PRD" in tags or (not tags and in_phrase == "VP")


def relation_of(phrase: Part, parts: Sequence[Part], place: int, head: int) -> str:
    """The relation of one part to the head part of its phrase."""
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
        return _moved(part, name)
    if parts[head].kind == "P" and category(phrase.label) in PREPOSITION_PHRASES:
        return _of_preposition(part, name)
    if (
        phrase.kind == "V"
        or phrase.has_subject
        or category(phrase.label) in ("VP", "S", "SINV", "SQ", "SBAR")
    ):
        return _of_predicate(part, name, tags, parts, place, head)
    if phrase.kind in "NMD" or category(phrase.label) in NOMINAL_PHRASES:
        return _of_noun(part, name, tags, parts, place, head)
    return _of_modifier(part, name)


def _is_coordinated(parts: Sequence[Part], place: int, head: int) -> bool:
    """Whether a part after the head is a conjunct: a conjunction stands between the two or after the
    part, and the part is of the same kind as the head."""
    conjunctions = [
        i for i, p in enumerate(parts) if category(p.label) in ("CC", "CONJP") and i > head
    ]
    if not conjunctions:
        return False
    if place > conjunctions[-1] or any(i < place and not parts[i].is_word for i in conjunctions):
        return parts[place].is_word == parts[head].is_word or not parts[place].is_word
    same = category(parts[place].label) == category(parts[head].label)
    return same and place > head and any(i > place for i in conjunctions)


def _moved(part: Part, name: str) -> str:
    """The relation of a question word or relative pronoun, by the place that it was moved from."""
    tags = function_tags(part.trace)
    if name == "WHADVP":
        return "advmod"
    if name == "WHPP":
        return "obl"
    if "SBJ" in tags:
        return "nsubj"
    return "advmod" if name == "WHADJP" else "obj"


def _of_preposition(part: Part, name: str) -> str:
    if name in ("S", "SBAR", "SQ", "VP"):
        return "ccomp"
    if part.tag in ("RB", "RBR", "RBS") or name == "ADVP":
        return "advmod"
    if name in PREPOSITION_PHRASES or (part.is_word and part.kind == "P"):
        return "obl"
    return "obj"


def _of_predicate(
    part: Part, name: str, tags: frozenset[str], parts: Sequence[Part], place: int, head: int
) -> str:
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


def _is_auxiliary(part: Part) -> bool:
    """Whether the head part of a clause is a verb phrase. A verb before it is then its auxiliary, even
    if the head word of that phrase is a predicative noun or adjective."""
    return category(part.label) == "VP"


def _is_object(part: Part) -> bool:
    tags = function_tags(part.label)
    return category(part.label) == "NP" and not tags & (ADVERBIAL_TAGS | {"PRD", "VOC"})


def _of_noun(
    part: Part, name: str, tags: frozenset[str], parts: Sequence[Part], place: int, head: int
) -> str:
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


def _of_modifier(part: Part, name: str) -> str:
    """The relation to an adjective or adverb."""
    if name in PREPOSITION_PHRASES:
        return "obl"
    if name in ("S", "SBAR", "VP"):
        return (
            "xcomp"
            if name == "S" and not part.has_subject
            else "advcl"
            if name == "VP"
            else "ccomp"
        )
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
