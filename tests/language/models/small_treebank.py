"""A few trees, written for the tests, in which words and tags recur."""

from __future__ import annotations

from wellput.core.tree import Tree, Word

CATEGORIES = {"DT": "DET", "NN": "NOUN", "VBZ": "VERB", "JJ": "ADJ", "RB": "ADV", ".": "PUNCT"}
CATEGORIES |= {"VB": "VERB", "PRP": "PRON", "VBP": "VERB"}

# form/lemma/tag/head/relation
SENTENCES = """
The/the/DT/2/det dog/dog/NN/3/nsubj barks/bark/VBZ/0/root ./././3/punct
A/a/DT/2/det cat/cat/NN/3/nsubj sees/see/VBZ/0/root the/the/DT/5/det dog/dog/NN/3/obj ./././3/punct
The/the/DT/3/det old/old/JJ/3/amod cat/cat/NN/4/nsubj sleeps/sleep/VBZ/0/root here/here/RB/4/advmod
The/the/DT/2/det dog/dog/NN/5/nsubj does/do/VBZ/5/aux n't/not/RB/5/advmod bark/bark/VB/0/root
They/they/PRP/2/nsubj see/see/VBP/0/root a/a/DT/4/det bird/bird/NN/2/obj ./././2/punct
It/it/PRP/2/nsubj sleeps/sleep/VBZ/0/root
"""


def tree(line: str) -> Tree:
    words = []
    for part in line.split():
        form, lemma, tag, head, relation = part.split("/")
        words.append(
            Word(form, int(head), lemma=lemma, upos=CATEGORIES[tag], xpos=tag, relation=relation)
        )
    return Tree(tuple(words))


TREES = [tree(line) for line in SENTENCES.strip().splitlines()] * 3
