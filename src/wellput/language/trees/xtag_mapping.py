"""From dependencies of Universal Dependencies (UD) to elementary trees of the XTAG grammar.

A word that heads a clause gets a tree that fits its arguments (`xtag_clauses.py`). Any other word gets
the tree by which it attaches to its mother, the word it depends on (`attachments_of`, by its UD
relation). If it attaches by another word's tree, it gets the tree of its part of speech.
docs/language/xtag.md has the mapping as a table. Where several trees are possible, they differ in the
side on which the word stands (βARBvx before the verb phrase, βvxARB after it), and all of them are
kept. `xtag_places.py` explains anchor, substitution node, foot and `Attachment`.
"""

from __future__ import annotations

from collections.abc import Sequence

from wellput.core.tree import Tree
from wellput.language.trees.constituents import PUNCTUATION_TAGS
from wellput.language.trees.supertags import Supertag
from wellput.language.trees.xtag import XtagGrammar
from wellput.language.trees.xtag_clauses import (
    WordFrame,
    clause_trees,
    frames_of_tree,
    linked_frames,
)
from wellput.language.trees.xtag_places import Attachment, XtagSupertag, side_of

INDEFINITE_PRONOUNS = frozenset(
    f"{some}{thing}"
    for some in ("some", "any", "no", "every")
    for thing in ("thing", "one", "body", "where")
)
OPENING_MARKS = frozenset(["(", "[", "{", "“", "‘", "``", "`", "-LRB-", "«"])
CLOSING_MARKS = frozenset([")", "]", "}", "”", "''", "-RRB-", "»"])
ENDING_MARKS = frozenset(
    [".", "?", "!", "...", "…", ";", "!!", "??", "....", "?!", "!!!", "???", ".."]
)
NEGATIONS = frozenset(["not", "n't", "n’t", "nt"])
DEGREE_ADVERBS = frozenset(
    ["very", "so", "too", "as", "how", "most", "more", "less", "least", "pretty", "quite", "rather"]
)
COMPLEMENTIZERS = frozenset(["that", "whether", "if", "for"])

# By relation: the names of the nodes in the mother's tree that an argument may fill, tried in order.
NODES_BY_RELATION = {
    "nsubj": ("NP_0", "NP_1", "NP_2"),
    "expl": ("NP_0", "NP_1"),
    "csubj": ("S_0", "S_1", "S_2"),
    "obj": ("NP_1", "NP_2", "NP"),
    "iobj": ("NP_2", "NP_1"),
    "ccomp": ("S_1", "S_2"),
    "xcomp": ("S_1", "S_2", "AP_1", "A_1", "AP"),
    "compound:prt": ("PL",),
}
# Relation and side of arguments that stand on the other side of their verb than usual.
INVERTED_SIDES = frozenset([("nsubj", ">"), ("ccomp", "<")])
# Attachments that depend on the relation alone.
ATTACHMENTS_BY_RELATION = {
    "nsubj": (Attachment("βNs"), Attachment("βvxN")),
    "expl": (Attachment("βNs"),),
    "csubj": (Attachment("βPss", "substitution"), Attachment("βvxPs", "substitution")),
    "obj": (Attachment("βvxN"),),
    "iobj": (Attachment("βvxN"),),
    "ccomp": (Attachment("βsPUs", "substitution"), Attachment("βnxPUs", "substitution")),
    "xcomp": (Attachment("βvxPs", "substitution"),),
    "compound:prt": (Attachment("βvxP"),),
    "det": (Attachment("βDnx"),),
    "det:predet": (Attachment("βDnx"),),
    "compound": (Attachment("βNn"),),
    "flat": (Attachment("βNn", "foot", "anchor"),),
    "goeswith": (Attachment("βNn", "foot", "anchor"),),
    "fixed": (Attachment("αPP", "last anchor", "anchor"),),
    "cc:preconj": (Attachment("βCONJnx1CONJnx2"),),
    "aux": (Attachment("βVvx"), Attachment("βVs")),
    "cop": (Attachment("βVvx"), Attachment("βVs")),
    "appos": (Attachment("βnxPUnx", "substitution"),),
    "list": (Attachment("βnxPUnx", "substitution"),),
    "orphan": (Attachment("βvxN"), Attachment("βvxPnx", "substitution")),
    "discourse": (Attachment("βIs"), Attachment("βsI")),
    "reparandum": (Attachment("βNn"),),
    "vocative": (Attachment("βnxPUs", "substitution"), Attachment("βsPUnx", "substitution")),
    "dislocated": (Attachment("βnxPUs", "substitution"), Attachment("βsPUnx", "substitution")),
    "parataxis": (Attachment("βsPUs", "substitution"), Attachment("βnxPUs", "substitution")),
    "advcl": (Attachment("βvxPs", "substitution"), Attachment("βPss", "substitution")),
    "acl:relcl": (Attachment("βN0nx0V"),),
}
# For nouns used as adverbs, which may stand before or after the clause.
EITHER_SIDE_ATTACHMENTS = (Attachment("βvxN"), Attachment("βNvx"), Attachment("βNs"))
# The tree that coordinates words of each kind, without its β.
CONJUNCTION_TREES = {"N": "nx1CONJnx2", "M": "nx1CONJnx2", "J": "a1CONJa2", "R": "arb1CONJarb2",
                "P": "p1CONJp2", "D": "d1CONJd2"}  # fmt: skip


def fills_of(frame: WordFrame) -> tuple[str, ...]:
    """The nodes of its mother's tree that a word may fill, in the order in which they are tried.
    Relative pronouns and question words try NP_w first; the noun of *there is* tries NP_1, after the
    verb. A subject known to stand after its verb (*said Smith*) and a clause known to stand before its
    verb (*it works, he said*) fill none."""
    mother = frame.mother
    if mother is None or frame.relation not in NODES_BY_RELATION:
        return ()
    if frame.relation == "nsubj" and mother.kind == "V" and mother.has("expl"):
        return ("NP_1", "NP_0")
    if (frame.relation, frame.side) in INVERTED_SIDES and mother.kind == "V":
        return ()
    if frame.is_wh:
        return ("NP_w", *NODES_BY_RELATION[frame.relation])
    return NODES_BY_RELATION[frame.relation]


def attachments_of(frame: WordFrame) -> tuple[Attachment, ...]:
    """The ways in which a word may attach to its mother; none at the root, and none for a relation
    outside the mapping."""
    mother = frame.mother
    if mother is None:
        return ()
    match frame.relation:
        case "amod":
            return _adjective(frame, mother)
        case "advmod":
            return _adverb(frame, mother)
        case "nmod:poss":
            if frame.category in ("PRP$", "WP$") or not frame.has("case"):
                return (Attachment("βDnx"),)
            return (Attachment("βnxGnx", "substitution"),)
        case "case" | "mark":
            return _marker(frame, mother)
        case "cc":
            if mother.relation == "conj" and mother.mother is not None:
                tree = f"β{_conjunction_tree(mother.mother)}"
                return (Attachment(tree, "anchor", "substitution"),)
            return (Attachment("βCONJs", "anchor", "substitution"),)
        case "conj":
            if frame.has("cc"):
                return (Attachment(f"β{_conjunction_tree(mother)}", "substitution"),)
            return (Attachment("βsPUs" if mother.is_predicate else "βnxPUnx", "substitution"),)
        case "nummod":
            if mother.category in ("$", "SYM"):
                return (Attachment("βnxN"),)
            after = (Attachment("βnxN"),) if frame.side == ">" else ()  # May 29
            return (Attachment("βDnx"), Attachment("βAn"), *after)
        case "nmod" | "obl" | "obl:npmod" | "obl:tmod" | "obl:unmarked":
            return _oblique(frame, mother)
        case "acl":
            return (Attachment("βNc0nx0V"),)
        case "punct":
            return _punctuation(frame, mother)
    return ATTACHMENTS_BY_RELATION.get(frame.relation, ())


def _adjective(frame: WordFrame, mother: WordFrame) -> tuple[Attachment, ...]:
    if frame.kind == "V":
        return (Attachment("βVtransn"),)
    after = Attachment("βNc0nx0Ax1")  # as a relative clause: something good
    if frame.side == ">" or mother.form.lower() in INDEFINITE_PRONOUNS:
        return (after,)
    has_complement = frame.has("obl", "xcomp", "ccomp", "advcl", "nmod")
    return (Attachment("βAn"), after) if has_complement else (Attachment("βAn"),)


def _adverb(frame: WordFrame, mother: WordFrame) -> tuple[Attachment, ...]:
    """The attachments of an adverb to a clause, an adjective, an adverb, a number, or a phrase."""
    word = frame.form.lower()
    to_clause = tuple(map(Attachment, ("βARBvx", "βvxARB", "βARBs", "βsARB")))
    if frame.category == "WRB":
        return (Attachment("βARBs"),)
    if word in NEGATIONS:
        return (Attachment("βNEGvx"),)
    if mother.kind in "JR":
        trees = ("βARBa", "βaARB") if mother.kind == "J" else ("βARBarb", "βarbARB")
        if word == "enough":
            return (Attachment(trees[1]),)
        to_word = (Attachment(trees[0]),)
        may_modify_clause = mother.is_predicate and word not in DEGREE_ADVERBS
        return (*to_word, *to_clause) if may_modify_clause else to_word
    if mother.is_predicate:
        return (*to_clause, Attachment("βARBpx")) if mother.has("mark") else to_clause
    if mother.kind in "MD":
        return (Attachment("βARBd"),)
    if mother.kind == "P":
        return (Attachment("βARBpx"),)
    to_phrase = (Attachment("βARBpx"), Attachment("βpxARB")) if mother.has("case") else ()
    return (*to_phrase, Attachment("βARBnx"), Attachment("βnxARB"))


def _marker(frame: WordFrame, mother: WordFrame) -> tuple[Attachment, ...]:
    """The attachment of a possessive *'s*, a preposition or a subordinator, which is the anchor of its
    tree. Its mother in UD fills the substitution node, or is the foot (*to wait*, *that he waits*)."""
    word = frame.form.lower()
    if frame.category == "POS":
        return (Attachment("βnxGnx", "anchor", "substitution"),)
    if frame.category == "TO" and frame.relation == "mark":
        return (Attachment("βVvx"),)
    if frame.relation == "mark":
        if word in COMPLEMENTIZERS and mother.relation != "advcl":
            return (Attachment("βCOMPs"),)
        return (Attachment("βvxPs", "anchor", "substitution"),)
    tree = {"nmod": "βnxPnx", "obl": "βvxPnx"}.get(mother.relation, "αPXPnx")
    return (Attachment(tree, "anchor", "substitution"),)


def _oblique(frame: WordFrame, mother: WordFrame) -> tuple[Attachment, ...]:
    """The attachments of a noun with a preposition, or of a noun used as an adverb."""
    if frame.kind == "P":  # a preposition that is the head of its noun
        to_clause = (Attachment("βvxPnx"), Attachment("βPnxs"))
        to_noun_or_clause = (Attachment("βnxPnx"), Attachment("βvxPnx"))
        return to_noun_or_clause if frame.relation == "nmod" else to_clause
    if frame.relation == "nmod" and not mother.is_predicate:
        if frame.has("case", "mark"):
            return (Attachment("βnxPnx", "substitution"),)
        return (Attachment("βnxN"), Attachment("βNn"))
    if frame.is_wh or any(d.is_wh for d in frame.daughters):
        return (Attachment("βPnxs", "substitution"),)
    if frame.has("case"):
        to_noun = (Attachment("βnxPnx", "substitution"),) if frame.relation == "nmod" else ()
        to_clause = (Attachment("βvxPnx", "substitution"), Attachment("βPnxs", "substitution"))
        return (*to_noun, *to_clause)
    return EITHER_SIDE_ATTACHMENTS


def _punctuation(frame: WordFrame, mother: WordFrame) -> tuple[Attachment, ...]:
    """The ways in which XTAG's trees of punctuation may join this mark to its mother."""
    node = "s" if mother.is_predicate else "nx"
    before, after = Attachment("βPUs"), Attachment("βsPU")
    if frame.form in OPENING_MARKS or frame.category in ("-LRB-", "``"):
        return (Attachment(f"βPU{node}PU"),)
    if frame.form in CLOSING_MARKS or frame.category in ("-RRB-", "''"):
        return (Attachment(f"βPU{node}PU", "last anchor"),)
    if frame.form in ENDING_MARKS or (frame.category == "." and frame.form not in ('"', "'")):
        return (after,)
    if mother.relation in ("appos", "list", "conj", "parataxis") and frame.form in (",", ":", "-"):
        return (Attachment("βnxPUnx", "anchor", "substitution"), after)
    if node == "nx" and mother.kind in "NM" and not mother.has("mark", "case", "cc"):
        return (Attachment("βPUnxPU"), Attachment("βnxPUnx"), before, after)
    if mother.has("mark", "case", "cc"):  # a comma may come before all of them
        return (before, after, Attachment("βPUpxPU"))
    return (before, after)


def _conjunction_tree(mother: WordFrame) -> str:
    """The name, without its β, of the tree that coordinates words of the mother's kind."""
    return "s1CONJs2" if mother.is_predicate else CONJUNCTION_TREES.get(mother.kind, "nx1CONJnx2")


# The tree of a word of each kind, where no other tree fits.
TREE_BY_KIND = {
    "V": "αnx0V",
    "N": "αNXN",
    "M": "αNXN",
    "J": "αAXA",
    "R": "αAd",
    "P": "αPXP",
    "D": "αD",
}
PUNCTUATION_CATEGORIES = PUNCTUATION_TAGS | {"PUNCT"}


def xtag_supertags(
    grammar: XtagGrammar,
    forms: Sequence[str],
    heads: Sequence[int],
    supertags: Sequence[Supertag],
) -> list[XtagSupertag]:
    """The XTAG trees of words with induced supertags, whose sides choose among several trees. Heads
    count from 1, the root's is 0."""
    words = [
        (form, t.category, t.relation, t.side) for form, t in zip(forms, supertags, strict=True)
    ]
    return [supertag_of(grammar, frame) for frame in linked_frames(words, heads)]


def xtag_supertags_of_tree(grammar: XtagGrammar, tree: Tree) -> list[XtagSupertag]:
    """The XTAG trees of a treebank tree's words; the order of the words is not used."""
    return [supertag_of(grammar, frame) for frame in frames_of_tree(tree)]


def supertag_of(grammar: XtagGrammar, frame: WordFrame) -> XtagSupertag:
    """A word's tree (the empty string where the grammar has no fitting one), the nodes it fills and
    how it attaches."""
    attachments = tuple(a for a in attachments_of(frame) if a.tree in grammar.trees)
    if frame.side:
        agreeing = tuple(a for a in attachments if side_of(grammar, a) == frame.side)
        attachments = agreeing or attachments
    fills = fills_of(frame)
    candidates = [*clause_trees(frame), *_trees_outside_clauses(frame, fills, attachments)]
    tree = next((name for name in candidates if name in grammar.trees), "")
    return XtagSupertag(tree, fills, attachments)


def _trees_outside_clauses(
    frame: WordFrame, fills: tuple[str, ...], attachments: tuple[Attachment, ...]
) -> list[str]:
    """The trees of a word that heads no clause, or whose clause has no tree in XTAG; the best first."""
    default = "αPu" if frame.category in PUNCTUATION_CATEGORIES else "αNXN"
    by_kind = TREE_BY_KIND.get(frame.kind, default)
    if fills:
        return ["αPXPnx" if frame.kind == "P" and frame.has("obj") else by_kind, "αNXN"]
    anchored = [a.tree for a in attachments if a.own in ("anchor", "last anchor")]
    return [*anchored, by_kind, "αNXN"]
