"""The heads of a tokenizer's tokens, from a tree whose words are divided differently.

A treebank's words are seldom a tokenizer's tokens: `don't` is two words in Universal Dependencies and
one token of the tokenizer 13a, and `and/or` may be one word and several tokens. The characters are the
same, so words and tokens are matched by the characters they cover. A token that covers several words
replaces them all and takes the head of the word that is highest in the tree. Where a word covers
several tokens, the first token stands for the word and the others become its daughters.
"""

from __future__ import annotations

from collections.abc import Sequence

from wellput.core.tree import Tree


def squeezed(text: str) -> str:
    """The text without its whitespace.

    >>> squeezed("10 000 km")
    '10000km'
    """
    return "".join(text.split())


def heads_of_tokens(tree: Tree, tokens: Sequence[str]) -> list[int] | None:
    """The position of each token's head (from 0; -1 for the root), or None if the tokens are not the
    tree's text."""
    if len(tokens) == len(tree.words) and all(
        token == word.form for token, word in zip(tokens, tree.words, strict=True)
    ):
        return [word.head - 1 for word in tree.words]
    target = "".join(tokens)
    # A multiword token of a treebank may be written otherwise than its words (French `du`: `de`, `le`).
    # The tokens may have the characters of either.
    for segments in (_surface_segments(tree), _word_segments(tree)):
        if "".join(form for form, _ in segments) == target:
            return _project_segments(tree, segments, tokens)
    return None


TextSegment = tuple[str, list[int]]  # characters, and the words (from 0) that they belong to


def _word_segments(tree: Tree) -> list[TextSegment]:
    return [(squeezed(word.form), [place]) for place, word in enumerate(tree.words)]


def _surface_segments(tree: Tree) -> list[TextSegment]:
    """The segments of the text as it is written: a multiword token is one segment for several words,
    unless its words joined give its text (`do` + `n't`); then each word is a segment."""
    words = _word_segments(tree)
    covering = {multiword.first - 1: multiword for multiword in tree.multiwords}
    segments: list[TextSegment] = []
    place = 0
    while place < len(words):
        multiword = covering.get(place)
        if multiword is None:
            segments.append(words[place])
            place += 1
            continue
        inside = words[place : multiword.last]
        form = squeezed(multiword.form)
        if "".join(part for part, _ in inside) == form:
            segments += inside
        else:
            segments.append((form, list(range(place, multiword.last))))
        place = multiword.last
    return segments


def _project_segments(
    tree: Tree, segments: Sequence[TextSegment], tokens: Sequence[str]
) -> list[int]:
    """The heads of the tokens, whose characters are those of the segments."""
    depths = _depths(tree)
    token_of_word: dict[int, int] = {}  # word -> the token that stands for it
    highest: list[int | None] = [None] * len(tokens)  # token -> the highest word it stands for
    continued: list[int | None] = [None] * len(tokens)  # token -> the word it continues
    ends: list[int] = []
    total = 0
    for token in tokens:
        total += len(token)
        ends.append(total)
    position, token_at = 0, 0
    for form, words in segments:
        while token_at < len(tokens) - 1 and ends[token_at] <= position:
            token_at += 1
        for word in words:
            token_of_word[word] = token_at
            current = highest[token_at]
            if current is None or depths[word] < depths[current]:
                highest[token_at] = word
        position += len(form)
        continuing = token_at
        while continuing < len(tokens) - 1 and ends[continuing] < position:
            continuing += 1
            continued[continuing] = words[0]
    heads: list[int] = []
    for place in range(len(tokens)):
        top = highest[place]
        if top is None:
            word_continued = continued[place]
            heads.append(token_of_word[word_continued] if word_continued is not None else -1)
        else:
            above = tree.words[top].head - 1
            heads.append(token_of_word[above] if above >= 0 else -1)
    return heads


def _depths(tree: Tree) -> list[int]:
    """For each word, the number of words above it up to the root."""
    depths = [0] * len(tree.words)
    daughters: list[list[int]] = [[] for _ in tree.words]
    order: list[int] = []  # from the root down
    for place, word in enumerate(tree.words):
        (daughters[word.head - 1] if word.head else order).append(place)
    for place in order:
        for daughter in daughters[place]:
            depths[daughter] = depths[place] + 1
        order += daughters[place]
    return depths
