"""A treebank of a few sentences, written for tests."""

from __future__ import annotations

from wellput.core.tree import Tree, Word

# form/lemma/upos/xpos/feats/relation/head
SENTENCES = (
    "The/the/DET/DT/_/det/2 dog/dog/NOUN/NN/Number=Sing/nsubj/3 barks/bark/VERB/VBZ/Tense=Pres/root/0 "
    "././PUNCT/./_/punct/3",
    "A/a/DET/DT/_/det/2 cat/cat/NOUN/NN/Number=Sing/nsubj/3 saw/see/VERB/VBD/Tense=Past/root/0 "
    "the/the/DET/DT/_/det/5 mice/mouse/NOUN/NNS/Number=Plur/obj/3 in/in/ADP/IN/_/case/8 "
    "the/the/DET/DT/_/det/8 garden/garden/NOUN/NN/Number=Sing/obl/3 ././PUNCT/./_/punct/3",
    "An/a/DET/DT/_/det/3 old/old/ADJ/JJ/Degree=Pos/amod/3 dog/dog/NOUN/NN/Number=Sing/nsubj/6 "
    "did/do/AUX/VBD/Tense=Past/aux/6 n't/not/PART/RB/_/advmod/6 see/see/VERB/VB/VerbForm=Inf/root/0 "
    "the/the/DET/DT/_/det/8 cat/cat/NOUN/NN/Number=Sing/obj/6 ././PUNCT/./_/punct/6",
    "The/the/DET/DT/_/det/2 cats/cat/NOUN/NNS/Number=Plur/nsubj/3 sleep/sleep/VERB/VBP/_/root/0 "
    "in/in/ADP/IN/_/case/7 an/a/DET/DT/_/det/7 old/old/ADJ/JJ/Degree=Pos/amod/7 "
    "house/house/NOUN/NN/Number=Sing/obl/3 ././PUNCT/./_/punct/3",
    "Did/do/AUX/VBD/Tense=Past/aux/4 the/the/DET/DT/_/det/3 dog/dog/NOUN/NN/Number=Sing/nsubj/4 "
    "bark/bark/VERB/VB/VerbForm=Inf/root/0 ?/?/PUNCT/./_/punct/4",
)


def word_of(text: str) -> Word:
    form, lemma, upos, xpos, feats, relation, head = text.split("/")
    return Word(form, int(head), lemma, upos, xpos, feats, relation)


def treebank(times: int = 4) -> list[Tree]:
    trees = [Tree(tuple(word_of(word) for word in text.split())) for text in SENTENCES]
    return trees * times


def ngram_lines(trees: list[Tree]) -> list[str]:
    """The sentences in lower case."""
    return [" ".join(word.form.lower() for word in tree.words) for tree in trees]
