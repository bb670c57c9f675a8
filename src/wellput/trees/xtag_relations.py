"""How words attach in XTAG, by their UD relation (docs/language/xtag.md has this as a table)."""

from __future__ import annotations

from wellput.trees.xtag_frames import Frame
from wellput.trees.xtag_places import Attachment

INDEFINITE = frozenset(
    f"{some}{thing}"
    for some in ("some", "any", "no", "every")
    for thing in ("thing", "one", "body", "where")
)
OPENING = frozenset(["(", "[", "{", "“", "‘", "``", "`", "-LRB-", "«"])
CLOSING = frozenset([")", "]", "}", "”", "''", "-RRB-", "»"])
ENDING = frozenset([".", "?", "!", "...", "…", ";", "!!", "??", "....", "?!", "!!!", "???", ".."])
NEGATIONS = frozenset(["not", "n't", "n’t", "nt"])
DEGREE = frozenset(
    ["very", "so", "too", "as", "how", "most", "more", "less", "least", "pretty", "quite", "rather"]
)
COMPLEMENTIZERS = frozenset(["that", "whether", "if", "for"])

# The nodes of the mother's tree that an argument fills.
FILLS = {
    "nsubj": ("NP_0", "NP_1", "NP_2"),
    "expl": ("NP_0", "NP_1"),
    "csubj": ("S_0", "S_1", "S_2"),
    "obj": ("NP_1", "NP_2", "NP"),
    "iobj": ("NP_2", "NP_1"),
    "ccomp": ("S_1", "S_2"),
    "xcomp": ("S_1", "S_2", "AP_1", "A_1", "AP"),
    "compound:prt": ("PL",),
}
# Attachments that depend on the relation alone.
BY_RELATION = {
    "nsubj": (Attachment("βNs"),),
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
EITHER_SIDE = (Attachment("βvxN"), Attachment("βNvx"), Attachment("βNs"))
CONJUNCTIONS = {"N": "nx1CONJnx2", "M": "nx1CONJnx2", "J": "a1CONJa2", "R": "arb1CONJarb2",
                "P": "p1CONJp2", "D": "d1CONJd2"}  # fmt: skip


def fills_of(frame: Frame) -> tuple[str, ...]:
    """The nodes of its mother's tree that a word may fill; relative pronouns and question words have
    one of their own where there is one, and the noun of *there is* comes after the verb."""
    mother = frame.mother
    if mother is None or frame.relation not in FILLS:
        return ()
    if frame.relation == "nsubj" and mother.kind == "V" and mother.has("expl"):
        return ("NP_1", "NP_0")
    if frame.is_wh:
        return ("NP_w", *FILLS[frame.relation])
    return FILLS[frame.relation]


def attachments_of(frame: Frame) -> tuple[Attachment, ...]:
    """The ways in which a word may attach to its mother; none at the root, and none for what the
    mapping knows nothing about."""
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
                tree = f"β{_conjunction(mother.mother)}"
                return (Attachment(tree, "anchor", "substitution"),)
            return (Attachment("βCONJs", "anchor", "substitution"),)
        case "conj":
            if frame.has("cc"):
                return (Attachment(f"β{_conjunction(mother)}", "substitution"),)
            return (Attachment("βsPUs" if mother.is_predicate else "βnxPUnx", "substitution"),)
        case "nummod":
            if mother.category in ("$", "SYM"):
                return (Attachment("βnxN"),)
            return (Attachment("βDnx"), Attachment("βAn"))
        case "nmod" | "obl" | "obl:npmod" | "obl:tmod" | "obl:unmarked":
            return _oblique(frame, mother)
        case "acl":
            return (Attachment("βNc0nx0V"),)
        case "punct":
            return _punctuation(frame, mother)
    return BY_RELATION.get(frame.relation, ())


def _adjective(frame: Frame, mother: Frame) -> tuple[Attachment, ...]:
    if frame.kind == "V":
        return (Attachment("βVtransn"),)
    after = Attachment("βNc0nx0Ax1")  # as a relative clause: something good
    if mother.form.lower() in INDEFINITE:
        return (after,)
    has_more = frame.has("obl", "xcomp", "ccomp", "advcl", "nmod")
    return (Attachment("βAn"), after) if has_more else (Attachment("βAn"),)


def _adverb(frame: Frame, mother: Frame) -> tuple[Attachment, ...]:
    word = frame.form.lower()
    on_clause = tuple(map(Attachment, ("βARBvx", "βvxARB", "βARBs", "βsARB")))
    if frame.category == "WRB":
        return (Attachment("βARBs"),)
    if word in NEGATIONS:
        return (Attachment("βNEGvx"),)
    if mother.kind in "JR":
        trees = ("βARBa", "βaARB") if mother.kind == "J" else ("βARBarb", "βarbARB")
        if word == "enough":
            return (Attachment(trees[1]),)
        near = (Attachment(trees[0]),)
        return (*near, *on_clause) if mother.is_predicate and word not in DEGREE else near
    if mother.is_predicate:
        return (*on_clause, Attachment("βARBpx")) if mother.has("mark") else on_clause
    if mother.kind in "MD":
        return (Attachment("βARBd"),)
    if mother.kind == "P":
        return (Attachment("βARBpx"),)
    on_phrase = (Attachment("βARBpx"), Attachment("βpxARB")) if mother.has("case") else ()
    return (*on_phrase, Attachment("βARBnx"), Attachment("βnxARB"))


def _marker(frame: Frame, mother: Frame) -> tuple[Attachment, ...]:
    """Prepositions and subordinators: their tree takes in what UD has as their mother."""
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


def _oblique(frame: Frame, mother: Frame) -> tuple[Attachment, ...]:
    if frame.kind == "P":  # a preposition that is the head of its noun
        return (Attachment("βnxPnx"), Attachment("βvxPnx"))
    if frame.relation == "nmod" and not mother.is_predicate:
        if frame.has("case", "mark"):
            return (Attachment("βnxPnx", "substitution"),)
        return (Attachment("βnxN"), Attachment("βNn"))
    if frame.is_wh or any(d.is_wh for d in frame.daughters):
        return (Attachment("βPnxs", "substitution"),)
    if frame.has("case"):
        on_noun = (Attachment("βnxPnx", "substitution"),) if frame.relation == "nmod" else ()
        on_clause = (Attachment("βvxPnx", "substitution"), Attachment("βPnxs", "substitution"))
        return (*on_noun, *on_clause)
    return EITHER_SIDE


def _punctuation(frame: Frame, mother: Frame) -> tuple[Attachment, ...]:
    node = "s" if mother.is_predicate else "nx"
    before, after = Attachment("βPUs"), Attachment("βsPU")
    if frame.form in OPENING or frame.category in ("-LRB-", "``"):
        return (Attachment(f"βPU{node}PU"),)
    if frame.form in CLOSING or frame.category in ("-RRB-", "''"):
        return (Attachment(f"βPU{node}PU", "last anchor"),)
    if frame.form in ENDING or (frame.category == "." and frame.form not in ('"', "'")):
        return (after,)
    if mother.relation in ("appos", "list", "conj", "parataxis") and frame.form in (",", ":", "-"):
        return (Attachment("βnxPUnx", "anchor", "substitution"), after)
    if mother.has("mark", "case", "cc"):  # a comma may come before all of them
        return (before, after, Attachment("βPUpxPU"))
    return (before, after)


def _conjunction(mother: Frame) -> str:
    return "s1CONJs2" if mother.is_predicate else CONJUNCTIONS.get(mother.kind, "nx1CONJnx2")
