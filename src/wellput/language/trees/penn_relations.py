"""The relation of each part of a Penn phrase to the phrase's head, for `penn_dependencies`.

Relations have the names of Universal Dependencies. The Penn Treebank has no such relations: rules here
infer them from categories, function tags, traces (empty places of moved words) and the parts of speech
of heads, as in footnote 3 of Bangalore, Rambow & Whittaker (2000).

`PhrasePart` is a word or phrase among the parts of a phrase; `PhraseParts` are all parts of one phrase.
A rule may ask what stands before or after a part. The answers for all parts are found in one pass over
the phrase, because a phrase may have thousands of parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from wellput.language.trees.constituents import PUNCTUATION_TAGS, category, function_tags
from wellput.language.trees.supertags import coarse_category

# Function tags of noun phrases that are adverbials, not objects.
ADVERBIAL_TAGS = frozenset(["ADV", "TMP", "LOC", "MNR", "PRP", "DIR", "EXT", "BNF", "CLR"])
# Function tags of clauses that are adverbials.
CLAUSE_ADVERBIAL_TAGS = frozenset(["ADV", "TMP", "LOC", "MNR", "PRP", "DIR"])
NOMINAL_PHRASES = frozenset(["NP", "NX", "NAC", "QP", "WHNP", "NML"])
PREPOSITION_PHRASES = frozenset(["PP", "WHPP"])
# Words that can introduce a complement clause; the empty string is for a clause without such a word.
COMPLEMENTIZERS = frozenset(["", "that", "whether", "if", "for"])
CONJUNCTIONS = frozenset(["CC", "CONJP"])
NOWHERE = -1
"""The place of a part that a phrase does not have."""


@dataclass(frozen=True)
class PhrasePart:
    """A word or a phrase among the parts of a phrase. `tag` and `form` are those of its head word.
    `moved_from` is the label of the place from which a question word or relative pronoun was moved.
    `marker` is the subordinator of a clause. `has_wh` says that a part below is a question or relative
    phrase."""

    label: str
    tag: str
    form: str
    is_word: bool = True
    has_subject: bool = False
    has_wh: bool = False
    moved_from: str = ""
    is_possessive: bool = False
    marker: str = ""

    @property
    def kind(self) -> str:
        """The head word's kind: V (verbs), N (nouns), M (numbers), J (adjectives), R (adverbs), P
        (prepositions), D (determiners) or X (others)."""
        return coarse_category(self.tag)

    @property
    def is_punctuation(self) -> bool:
        return self.is_word and self.tag in PUNCTUATION_TAGS

    @property
    def is_conjunction(self) -> bool:
        return category(self.label) in CONJUNCTIONS

    @property
    def is_predicative(self) -> bool:
        """Whether it is a verb phrase whose head is not a verb."""
        return category(self.label) == "VP" and self.kind in "NJM"


@dataclass(frozen=True)
class PhraseParts:
    """The parts of one phrase from left to right; `parts[place]` is the part at a place (from 0)."""

    parts: Sequence[PhrasePart]

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, place: int) -> PhrasePart:
        return self.parts[place]

    def conjunction_before(self, place: int) -> int:
        """The place of the last conjunction before this place, `NOWHERE` if there is none."""
        return self._conjunctions_before[place]

    def has_conjunction_phrase_between(self, head: int, place: int) -> bool:
        """Whether a conjunction of several words (*as well as*) stands between the two places."""
        return self._conjunction_phrases_before[place] > head

    def phrase_after(self, place: int) -> int:
        """The place of the first phrase after this place, `NOWHERE` if there is none."""
        return self._phrases_after[place]

    def content_after(self, place: int) -> int:
        """The place of the first part after this place that is not punctuation, `NOWHERE` if there is
        none."""
        return self._content_after[place]

    def last_word_of(self, kind: str) -> int:
        """The place of the last word of a kind, `NOWHERE` if there is none; punctuation is no word."""
        return self._last_words.get(kind, NOWHERE)

    @cached_property
    def last_conjunction(self) -> int:
        return self._last(lambda part: part.is_conjunction)

    @cached_property
    def last_object(self) -> int:
        """The place of the last noun phrase that can be an object, `NOWHERE` if there is none."""
        return self._last(_is_object)

    @cached_property
    def _conjunctions_before(self) -> list[int]:
        return self._before(lambda part: part.is_conjunction)

    @cached_property
    def _conjunction_phrases_before(self) -> list[int]:
        return self._before(lambda part: part.is_conjunction and not part.is_word)

    @cached_property
    def _phrases_after(self) -> list[int]:
        return self._after(lambda part: not part.is_word)

    @cached_property
    def _content_after(self) -> list[int]:
        return self._after(lambda part: not part.is_punctuation)

    @cached_property
    def _last_words(self) -> dict[str, int]:
        return {
            part.kind: place
            for place, part in enumerate(self.parts)
            if part.is_word and not part.is_punctuation
        }

    def _last(self, is_wanted: Callable[[PhrasePart], bool]) -> int:
        places = range(len(self.parts) - 1, -1, -1)
        return next((place for place in places if is_wanted(self.parts[place])), NOWHERE)

    def _before(self, is_wanted: Callable[[PhrasePart], bool]) -> list[int]:
        """For each place, the last place before it with a wanted part."""
        last = NOWHERE
        places: list[int] = []
        for place, part in enumerate(self.parts):
            places.append(last)
            if is_wanted(part):
                last = place
        return places

    def _after(self, is_wanted: Callable[[PhrasePart], bool]) -> list[int]:
        """For each place, the first place after it with a wanted part."""
        following = NOWHERE
        places = [NOWHERE] * len(self.parts)
        for place in range(len(self.parts) - 1, -1, -1):
            places[place] = following
            if is_wanted(self.parts[place]):
                following = place
        return places


def is_predicate(part: PhrasePart, *, in_phrase: str) -> bool:
    """Whether a part after a form of *be* is its predicate: a noun or adjective phrase that is tagged
    PRD or, in a verb phrase, has no function tags."""
    if category(part.label) not in ("NP", "ADJP"):
        return False
    tags = function_tags(part.label)
    return "PRD" in tags or (not tags and in_phrase == "VP")


def relation_of_part(phrase: PhrasePart, parts: PhraseParts, place: int, head: int) -> str:
    """The relation of one part to the head part of its phrase; `place` and `head` are the places of the
    two in `parts` (from 0)."""
    part, plain_label = parts[place], category(parts[place].label)
    tags = function_tags(part.label)
    if part.is_punctuation:
        return "punct"
    if part.is_conjunction:
        return "cc"
    if place > head and _is_coordinated(parts, place, head):
        return "conj"
    if "VOC" in tags:
        return "vocative"
    if "SBJ" in tags:
        if part.tag == "EX":
            return "expl"
        return "csubj" if plain_label in ("S", "SBAR", "VP") else "nsubj"
    if plain_label == "INTJ" or part.tag == "UH":
        return "discourse"
    if plain_label == "PRN":
        return "parataxis"
    if plain_label.startswith("WH") and not part.is_word:
        return _relation_of_moved(part, plain_label)
    if parts[head].kind == "P" and category(phrase.label) in PREPOSITION_PHRASES:
        return _relation_to_preposition(part, plain_label)
    if (
        phrase.kind == "V"
        or phrase.has_subject
        or category(phrase.label) in ("VP", "S", "SINV", "SQ", "SBAR")
    ):
        return _relation_to_predicate(part, plain_label, tags, parts, place, head)
    if phrase.kind in "NMD" or category(phrase.label) in NOMINAL_PHRASES:
        return _relation_to_noun(part, plain_label, tags, parts, place, head)
    return _relation_to_modifier(part, plain_label)


def _is_coordinated(parts: PhraseParts, place: int, head: int) -> bool:
    """Whether a part after the head is a conjunct. A conjunction must stand after the head. Between the
    head and the last conjunction, a conjunct has the category of the head; after the last conjunction,
    or after a conjunction of several words, it is a phrase, or a word if the head is a word."""
    last = parts.last_conjunction
    if last <= head:
        return False
    if place > last or parts.has_conjunction_phrase_between(head, place):
        return parts[place].is_word == parts[head].is_word or not parts[place].is_word
    is_same_category = category(parts[place].label) == category(parts[head].label)
    return is_same_category and last > place


def _relation_of_moved(part: PhrasePart, plain_label: str) -> str:
    """The relation of a question word or relative pronoun, by the place that it was moved from."""
    tags = function_tags(part.moved_from)
    if plain_label == "WHADVP":
        return "advmod"
    if plain_label == "WHPP":
        return "obl"
    if "SBJ" in tags:
        return "nsubj"
    return "advmod" if plain_label == "WHADJP" else "obj"


def _relation_to_preposition(part: PhrasePart, plain_label: str) -> str:
    """The relation to a preposition, which heads its phrase."""
    if plain_label in ("S", "SBAR", "SQ", "VP"):
        return "ccomp"
    if part.tag in ("RB", "RBR", "RBS") or plain_label == "ADVP":
        return "advmod"
    if plain_label in PREPOSITION_PHRASES or (part.is_word and part.kind == "P"):
        return "obl"
    return "obj"


def _relation_to_predicate(
    part: PhrasePart,
    plain_label: str,
    tags: frozenset[str],
    parts: PhraseParts,
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
            return "cop" if is_copula and not _is_verb_phrase(parts[head]) else "aux"
        if part.tag == "RP":
            return "compound:prt"
        if part.kind == "R":
            return "advmod"
    if plain_label == "PRT":
        return "compound:prt"
    if plain_label in NOMINAL_PHRASES or (part.is_word and part.kind in "NM"):
        if "PRD" in tags:
            return "xcomp"
        if tags & ADVERBIAL_TAGS:
            return "obl:tmod" if "TMP" in tags else "obl:unmarked"
        is_before_object = place < parts.last_object
        return "iobj" if place > head and is_before_object and _is_object(part) else "obj"
    if plain_label in PREPOSITION_PHRASES or (part.is_word and part.kind == "P"):
        return "obl"
    if plain_label == "ADVP":
        return "advmod"
    if plain_label == "ADJP" or (part.is_word and part.kind == "J"):
        return "xcomp"
    if plain_label == "SBAR":
        is_adverbial = tags & CLAUSE_ADVERBIAL_TAGS or part.marker not in COMPLEMENTIZERS
        return "advcl" if is_adverbial else "ccomp"
    if plain_label in ("S", "SINV", "SQ", "SBARQ"):
        if tags & CLAUSE_ADVERBIAL_TAGS:
            return "advcl"
        return "ccomp" if part.has_subject else "xcomp"
    return "advcl" if plain_label == "VP" else "dep"


def _is_verb_phrase(part: PhrasePart) -> bool:
    """Whether a part is a verb phrase. A verb before such a head part is its auxiliary, even if the
    head word of the phrase is a predicative noun or adjective."""
    return category(part.label) == "VP"


def _is_object(part: PhrasePart) -> bool:
    tags = function_tags(part.label)
    return category(part.label) == "NP" and not tags & (ADVERBIAL_TAGS | {"PRD", "VOC"})


def _relation_to_noun(
    part: PhrasePart,
    plain_label: str,
    tags: frozenset[str],
    parts: PhraseParts,
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
    if plain_label in NOMINAL_PHRASES:
        if plain_label == "QP":
            return "nummod"
        if place < head:
            return "compound" if not tags & ADVERBIAL_TAGS else "nmod"
        is_apposed = not tags & ADVERBIAL_TAGS
        return "appos" if is_apposed else "nmod"
    match plain_label:
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


def _relation_to_modifier(part: PhrasePart, plain_label: str) -> str:
    """The relation to an adjective or adverb."""
    if plain_label in PREPOSITION_PHRASES:
        return "obl"
    if plain_label in ("S", "SBAR", "VP"):
        if plain_label == "VP":
            return "advcl"
        return "xcomp" if plain_label == "S" and not part.has_subject else "ccomp"
    if plain_label in NOMINAL_PHRASES:
        return "obl:unmarked"
    by_kind = {
        "R": "advmod",
        "J": "amod",
        "N": "obl:unmarked",
        "M": "nummod",
        "D": "det",
        "P": "mark",
    }
    return by_kind.get(part.kind, "advmod" if plain_label == "ADVP" else "dep")
