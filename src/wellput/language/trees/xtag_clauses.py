"""`WordFrame`, and the XTAG tree of a word that heads a clause.

XTAG is a grammar of English whose elementary trees have names such as αnx0Vnx1 (see `xtag.py`). A frame
is a word with its mother (the word it depends on) and its daughters (the words that depend on it) in
Universal Dependencies, without their order. The mapping to XTAG uses nothing else. Relations are those
of `supertags.py`; where a tree has none they are guessed from the parts of speech.

The head of a clause is a verb, or a predicative noun or adjective. The name of its XTAG tree has these
parts: α or β; W0, W1 or W2 for a question about argument 0, 1 or 2, N0, N1 or N2 for a relative clause
with a relative pronoun, Nc0, Nc1 or Nc for a relative clause without one, I for an imperative; the
arguments around the anchor, as in nx0Vs1 (a noun phrase, the verb, a clause); and -PRO for a clause
without its subject. Not all combinations exist, so a frame gets several names, the best first; the
first of them that the grammar has is its tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from wellput.core.tree import Tree, Word
from wellput.language.trees.constituents import FORMS_OF_BE
from wellput.language.trees.supertags import Side, attaching_relation, category_of, coarse_category

WH_TAGS = frozenset(["WP", "WDT", "WRB", "WP$"])
# Relations of function words and modifiers: such words head no clause, whatever their part of speech.
SERVING_RELATIONS = frozenset(
    ["aux", "cop", "case", "mark", "cc", "det", "amod", "compound", "nummod", "fixed", "punct"]
)


@dataclass(eq=False, slots=True)
class WordFrame:
    """A word with its category, its relation, its mother and its daughters. `side` is `<` or `>` where
    the word is known to stand before or after its mother; it chooses among trees that differ only in
    the side."""

    form: str
    category: str
    relation: str
    side: Side = ""
    mother: WordFrame | None = None
    daughters: list[WordFrame] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return coarse_category(self.category)

    @property
    def is_wh(self) -> bool:
        return self.category in WH_TAGS

    @property
    def is_predicate(self) -> bool:
        """Whether it heads a clause."""
        if self.relation in SERVING_RELATIONS:
            return False
        return self.kind == "V" or self.has("cop", "nsubj", "csubj", "expl")

    def has(self, *relations: str) -> bool:
        return any(daughter.relation in relations for daughter in self.daughters)

    def first(self, *relations: str) -> WordFrame | None:
        """A daughter with one of these relations."""
        return next((d for d in self.daughters if d.relation in relations), None)


def linked_frames(
    words: Sequence[tuple[str, str, str, Side]], heads: Sequence[int]
) -> list[WordFrame]:
    """Frames of words (form, category, relation, side), linked by their heads. Heads count from 1, the
    root's is 0."""
    frames = [WordFrame(*word) for word in words]
    for frame, head in zip(frames, heads, strict=True):
        if head:
            frame.mother = frames[head - 1]
            frame.mother.daughters.append(frame)
    return frames


def frames_of_tree(tree: Tree) -> list[WordFrame]:
    """The frames of a treebank tree's words; the order of the words is not used."""
    # The form, the category, the relation and the side of each word; the side is unknown.
    words: list[tuple[str, str, str, Side]] = []
    for word in tree.words:
        relation = attaching_relation(word)
        if word.head and word.relation == "_":
            relation = guessed_relation(word, tree.words[word.head - 1])
        words.append((word.form, category_of(word), relation, ""))
    return linked_frames(words, [word.head for word in tree.words])


def guessed_relation(word: Word, mother: Word) -> str:
    """The most likely relation in a tree without relations, such as one made from constituents, where a
    preposition is the head of its noun."""
    category, kind, mother_category = (
        category_of(word),
        coarse_category(category_of(word)),
        category_of(mother),
    )
    if category == "EX":
        return "expl"
    if word.form.lower() in FORMS_OF_BE:
        return "cop"
    if kind == "V":
        return "aux" if coarse_category(mother_category) in "VJ" else "acl"
    if coarse_category(mother_category) == "P":
        return "obj"
    if coarse_category(mother_category) == "V":
        return {"N": "obj", "R": "advmod", "P": "obl", "J": "xcomp"}.get(kind, "dep")
    return {
        "D": "det",
        "J": "amod",
        "M": "nummod",
        "N": "compound",
        "P": "nmod",
        "R": "advmod",
    }.get(kind, "punct")


PRONOUN_TAGS = frozenset(["PRP", "WP", "WDT", "DT", "EX"])
# Relations of words that may head a main clause, such as an imperative.
MAIN_CLAUSE_RELATIONS = frozenset(["root", "conj", "parataxis", "ccomp", "dep"])


def clause_trees(frame: WordFrame) -> list[str]:
    """The names of the trees that fit a word, the best first; none where the word heads no clause."""
    if not frame.is_predicate:
        return []
    subject = "s0" if frame.has("csubj") and not frame.has("expl", "nsubj") else "nx0"
    names = []
    # If the grammar has no tree with a clause as subject (s0), one with a noun subject is taken.
    for body in [*_bodies(frame, subject), *_bodies(frame, "nx0")]:
        for before, after in _variants(frame):
            names += [f"{letter}{before}{body}{after}" for letter in _letters(before)]
    return names


def _letters(before: str) -> str:
    """The Greek letters that a tree's name may begin with; relative clauses are β trees only."""
    return "β" if before.startswith("N") else "αβ"


def _bodies(frame: WordFrame, subject: str) -> list[str]:
    """Name parts for the anchor and its arguments, such as nx0Vnx1: first those that fit the arguments
    the word has, last those that fit any word of its kind."""
    if frame.kind == "J":
        clausal = [f"{subject}A1s1"] if frame.has("expl") and frame.has("csubj", "ccomp") else []
        return [*clausal, f"{subject}Ax1"]
    if frame.kind in "PR":
        return [f"{subject}Px1", f"{subject}N1"]
    if frame.kind != "V":
        return [f"{subject}N1"]
    passive = ["nx1V"] if _is_passive(frame) and not frame.has("obj", "ccomp", "xcomp") else []
    return [*passive, *(f"{subject}{complement}" for complement in _complements(frame))]


def _complements(frame: WordFrame) -> list[str]:
    """Name parts for a verb and the arguments after its subject, the best first."""
    has_clause = frame.has("ccomp", "xcomp") or (frame.has("expl") and frame.has("csubj"))
    if frame.has("expl") and frame.has("nsubj"):  # there is …
        return ["Vnx1", "V"]
    if frame.has("compound:prt"):
        object_ = frame.first("obj")
        is_pronoun = object_ is not None and object_.category in PRONOUN_TAGS
        order = ["Vnx1pl", "Vplnx1"] if is_pronoun else ["Vplnx1"]
        return [*(order if object_ else ["Vpl"]), "Vnx1", "V"]
    if frame.has("obj"):
        if frame.has("iobj"):
            return ["Vnx2nx1", "Vnx1"]
        return [*(["Vnx1s2"] if has_clause else []), "Vnx1"]
    if frame.has("iobj"):
        return ["Vnx1s2", "Vnx1"] if has_clause else ["Vnx1"]
    if has_clause:
        xcomp = frame.first("xcomp")
        is_verbal = xcomp is None or xcomp.kind == "V" or xcomp.has("cop", "mark")
        return ["Vs1", "V"] if is_verbal else ["Vax1", "Vs1", "V"]
    return ["V"]


def _variants(frame: WordFrame) -> list[tuple[str, str]]:
    """Pairs of the name parts before and after the arguments, the best first."""
    has_subject = frame.has("nsubj", "csubj", "expl")
    plain = [("", "")] if has_subject else [("", "-PRO"), ("", "")]
    asked_argument = _questioned(frame)
    if frame.relation in ("acl", "acl:relcl"):
        if asked_argument:
            return [(f"N{asked_argument}", ""), ("N0", ""), *plain]
        if not has_subject:
            return [("Nc0", ""), *plain]
        return [("Nc1" if frame.kind == "V" and not frame.has("obj") else "Nc", ""), ("Nc", ""),
                *plain]  # fmt: skip
    if frame.kind != "V":
        if frame.is_wh:  # what is it?
            return [("W1", ""), *plain]
        # how big is it?
        if frame.kind == "J" and any(d.is_wh and d.relation == "advmod" for d in frame.daughters):
            return [("WA1", ""), *plain]
        return plain
    if asked_argument:
        return [(f"W{asked_argument}", ""), *plain]
    if (
        not has_subject
        and frame.category == "VB"
        and frame.relation in MAIN_CLAUSE_RELATIONS
        and not _is_marked(frame)
    ):
        return [("I", ""), *plain]
    return plain


def _questioned(frame: WordFrame) -> str:
    """The index of the argument that is a question word or a relative pronoun; empty if there is
    none."""
    for relation, index in (("nsubj", "0"), ("obj", "1"), ("iobj", "2")):
        if any(d.is_wh and d.relation == relation for d in frame.daughters):
            return index
    return ""


def _is_marked(frame: WordFrame) -> bool:
    return frame.has("mark", "aux")


def _is_passive(frame: WordFrame) -> bool:
    return frame.category == "VBN" and any(
        d.relation == "aux" and d.form.lower() in FORMS_OF_BE | {"get", "got", "gets", "getting"}
        for d in frame.daughters
    )
