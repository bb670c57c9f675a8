"""The XTAG tree of a word that heads a clause: a verb, or a predicative noun or adjective.

A name is put together as XTAG's are: α or β; W0, W1 for a question about an argument, N0, N1 for a
relative clause with its pronoun and Nc0, Nc1, Nc for one without, I for an imperative; the arguments
around the anchor; -PRO for a clause without its subject. Not all combinations exist, so names come in
the order in which they are to be tried.
"""

from __future__ import annotations

from wellput.trees.xtag_frames import BE, Frame

PRONOUNS = frozenset(["PRP", "WP", "WDT", "DT", "EX"])
MAIN = frozenset(["root", "conj", "parataxis", "ccomp", "dep"])


def clause_trees(frame: Frame) -> list[str]:
    """Names of trees, the best first; none where the word heads no clause."""
    if not frame.is_predicate:
        return []
    subject = "s0" if frame.has("csubj") and not frame.has("expl", "nsubj") else "nx0"
    names = []
    for body in [*_bodies(frame, subject), *_bodies(frame, "nx0")]:
        for before, after in _variants(frame):
            names += [f"{letter}{before}{body}{after}" for letter in _letters(before)]
    return names


def _letters(before: str) -> str:
    return "β" if before.startswith("N") else "αβ"


def _bodies(frame: Frame, subject: str) -> list[str]:
    """The arguments around the anchor, from what the word has to what every word of its kind can."""
    if frame.kind == "J":
        clausal = [f"{subject}A1s1"] if frame.has("expl") and frame.has("csubj", "ccomp") else []
        return [*clausal, f"{subject}Ax1"]
    if frame.kind in "PR":
        return [f"{subject}Px1", f"{subject}N1"]
    if frame.kind != "V":
        return [f"{subject}N1"]
    passive = ["nx1V"] if _is_passive(frame) and not frame.has("obj", "ccomp", "xcomp") else []
    return [*passive, *(f"{subject}{complement}" for complement in _complements(frame))]


def _complements(frame: Frame) -> list[str]:
    has_clause = frame.has("ccomp", "xcomp") or (frame.has("expl") and frame.has("csubj"))
    if frame.has("expl") and frame.has("nsubj"):  # there is …
        return ["Vnx1", "V"]
    if frame.has("compound:prt"):
        thing = frame.first("obj")
        order = ["Vnx1pl", "Vplnx1"] if thing and thing.category in PRONOUNS else ["Vplnx1"]
        return [*(order if thing else ["Vpl"]), "Vnx1", "V"]
    if frame.has("obj"):
        if frame.has("iobj"):
            return ["Vnx2nx1", "Vnx1"]
        return [*(["Vnx1s2"] if has_clause else []), "Vnx1"]
    if frame.has("iobj"):
        return ["Vnx1s2", "Vnx1"] if has_clause else ["Vnx1"]
    if has_clause:
        result = frame.first("xcomp")
        is_verbal = result is None or result.kind == "V" or result.has("cop", "mark")
        return ["Vs1", "V"] if is_verbal else ["Vax1", "Vs1", "V"]
    return ["V"]


def _variants(frame: Frame) -> list[tuple[str, str]]:
    """What stands before and after the arguments in the name."""
    has_subject = frame.has("nsubj", "csubj", "expl")
    plain = [("", "")] if has_subject else [("", "-PRO"), ("", "")]
    asked = _questioned(frame)
    if frame.relation in ("acl", "acl:relcl"):
        if asked:
            return [(f"N{asked}", ""), ("N0", ""), *plain]
        if not has_subject:
            return [("Nc0", ""), *plain]
        return [("Nc1" if frame.kind == "V" and not frame.has("obj") else "Nc", ""), ("Nc", ""),
                *plain]  # fmt: skip
    if frame.kind != "V":
        if frame.is_wh:  # what is it?
            return [("W1", ""), *plain]
        if frame.kind == "J" and any(d.is_wh and d.relation == "advmod" for d in frame.daughters):
            return [("WA1", ""), *plain]
        return plain
    if asked:
        return [(f"W{asked}", ""), *plain]
    if (
        not has_subject
        and frame.category == "VB"
        and frame.relation in MAIN
        and not _is_marked(frame)
    ):
        return [("I", ""), *plain]
    return plain


def _questioned(frame: Frame) -> str:
    """The index of the argument that is a question word or a relative pronoun."""
    for relation, index in (("nsubj", "0"), ("obj", "1"), ("iobj", "2")):
        if any(d.is_wh and d.relation == relation for d in frame.daughters):
            return index
    return ""


def _is_marked(frame: Frame) -> bool:
    return frame.has("mark", "aux")


def _is_passive(frame: Frame) -> bool:
    return frame.category == "VBN" and any(
        d.relation == "aux" and d.form.lower() in BE | {"get", "got", "gets", "getting"}
        for d in frame.daughters
    )
