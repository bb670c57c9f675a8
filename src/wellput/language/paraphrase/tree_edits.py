"""A reference's tree kept while its words are replaced, so that tree metrics work on it.

A word for a word takes its place in the tree. Where a phrase changes its number of words, the new
phrase hangs where the old one's head hung: its first word is the head, the others are `fixed` to it,
and whatever hung from the old words hangs from the head.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wellput.core.tree import Multiword, Tree, Word
from wellput.language.paraphrase.rewriting import Edit
from wellput.language.paraphrase.sentences import Sentence


def word_numbers(tree: Tree, sentence: Sentence) -> list[int | None]:
    """By token of the sentence, the number of the tree's word that it is (from 1); None where tokens
    and words do not coincide, or lie in a multiword token."""
    covered = {n for m in tree.multiwords for n in range(m.first, m.last + 1)}
    by_span: dict[tuple[int, int], int] = {}
    place = 0
    for number, form, is_single in _surface(tree, covered):
        begin = sentence.text.find(form, place)
        if begin < 0:
            return [None] * len(sentence.tokens)
        place = begin + len(form)
        if is_single:
            by_span[begin, place] = number
    return [by_span.get(span) for span in sentence.spans]


def _surface(tree: Tree, covered: set[int]) -> list[tuple[int, str, bool]]:
    tokens = [(n, w.form, True) for n, w in enumerate(tree.words, 1) if n not in covered]
    tokens += [(m.first, m.form, False) for m in tree.multiwords]
    return sorted(tokens)


def edited_tree(
    tree: Tree, numbers: Sequence[int | None], edits: Sequence[Edit], text: str
) -> Tree:
    """The tree of the rewritten reference; every edited token must have a number."""
    words = list(tree.words)
    # From the end, so that the numbers of what is still to come stay right.
    multiwords = list(tree.multiwords)
    for edit in sorted(edits, key=lambda edit: -edit.first):
        span = [number for number in numbers[edit.first : edit.last] if number is not None]
        words = _replaced(words, span, edit)
        grown = len(edit.text.split(" ")) - len(span)
        multiwords = [
            replace(m, first=m.first + grown, last=m.last + grown) if m.first > span[-1] else m
            for m in multiwords
        ]
    comments = tuple(
        f"text = {text}" if comment.partition("=")[0].strip() == "text" else comment
        for comment in tree.comments
    )
    return Tree(tuple(words), tuple[Multiword, ...](multiwords), comments)


def _replaced(words: list[Word], span: list[int], edit: Edit) -> list[Word]:
    first, last = span[0], span[-1]
    forms = edit.text.split(" ")
    head = next((n for n in span if not first <= words[n - 1].head <= last), first)
    # Where a word's head is now: within the span it is the new head, behind it the numbers move.
    grown = len(forms) - len(span)

    def moved(number: int) -> int:
        if first <= number <= last:
            return first
        return number + grown if number > last else number

    old = words[head - 1]
    tail_misc = words[last - 1].misc
    new = []
    for place, form in enumerate(forms):
        misc = tail_misc if place == len(forms) - 1 else "_"
        lemma = "_" if edit.lemma_changes else old.lemma
        if place == 0:
            new.append(replace(old, form=form, lemma=lemma, head=moved(old.head), misc=misc))
        else:
            new.append(Word(form, first, upos=old.upos, relation="fixed", misc=misc))
    before = [replace(word, head=moved(word.head)) for word in words[: first - 1]]
    after = [replace(word, head=moved(word.head)) for word in words[last:]]
    return [*before, *new, *after]
