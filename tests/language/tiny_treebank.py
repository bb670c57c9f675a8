"""A tiny treebank of a made-up language, with what treebanks may have: words with a space inside
(`ka ti`), surface tokens of two words (`deli` = `de li`), empty nodes, a word written on to the one
before (`'ro`), and no XPOS."""

from __future__ import annotations

from pathlib import Path

import numpy as np

NOUNS = ("pona", "tulo", "ka ti", "meru", "sibo", "lano")
VERBS = ("vidu", "amas", "trovi", "kanti")
ADJECTIVES = ("bela", "granda", "rugi")


def sentence(number: int, rng: np.random.Generator) -> str:
    """Adjective and noun, verb, `de li` as one token, noun with its case, full stop."""
    adjective, noun, verb, other = (
        str(rng.choice(words)) for words in (ADJECTIVES, NOUNS, VERBS, NOUNS)
    )
    rows = [
        ("1", adjective.capitalize(), adjective, "ADJ", "_", "2", "amod", "_"),
        ("2", noun, noun, "NOUN", "Case=Nom", "3", "nsubj", "_"),
        ("3", verb, verb, "VERB", "VerbForm=Fin", "0", "root", "_"),
        ("3.1", "_", "_", "_", "_", "_", "_", "_"),
        ("4-5", "deli", "_", "_", "_", "_", "_", "_"),
        ("4", "de", "de", "ADP", "_", "6", "case", "_"),
        ("5", "li", "li", "DET", "_", "6", "det", "_"),
        ("6", f"{other}n", other, "NOUN", "Case=Acc", "3", "obl", "SpaceAfter=No"),
        ("7", "'ro", "ro", "PART", "_", "6", "discourse", "SpaceAfter=No"),
        ("8", ".", ".", "PUNCT", "_", "3", "punct", "_"),
    ]
    lines = [f"# sent_id = {number}"]
    for name, form, lemma, upos, feats, head, relation, misc in rows:
        lines.append("\t".join((name, form, lemma, upos, "_", feats, head, relation, "_", misc)))
    return "\n".join(lines) + "\n\n"


def write_treebank(folder: Path, *, trees: int = 150, dev: int = 40) -> Path:
    """Files for training and development, and one for testing that nobody may read."""
    folder.mkdir()
    rng = np.random.default_rng(1)
    for part, count in (("train", trees), ("dev", dev)):
        text = "".join(sentence(number, rng) for number in range(count))
        (folder / f"xx_tiny-ud-{part}.conllu").write_text(text, encoding="utf-8")
    (folder / "xx_tiny-ud-test.conllu").write_text("not a tree")
    return folder
