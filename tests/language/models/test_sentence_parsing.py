"""Sentences that are too long for the head-driven model are parsed all the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from tests.language.models.small_treebank import TREES
from wellput.core.tree import Tree
from wellput.language.models.head_driven import HeadDrivenParse, HeadDrivenParser, HeadDrivenScore
from wellput.language.models.sentence_parsing import MAX_WEIGHED_WORDS, _weighed


class Model:
    """Says how many words it was given."""

    def parse(
        self, sentences: Sequence[Sequence[str]], *, guesses: Sequence[Tree] | None, threads: int
    ) -> list[HeadDrivenParse]:
        assert guesses is None or len(guesses) == len(sentences)
        return [
            HeadDrivenParse(TREES[0], (1,), HeadDrivenScore(0.0, 0.0, len(words), False))
            for words in sentences
        ]


def test_long_sentences_are_not_weighed() -> None:
    sentences = [["a"] * 2, ["a"] * (MAX_WEIGHED_WORDS + 1), ["a"] * MAX_WEIGHED_WORDS]
    for guesses in (None, [TREES[0]] * 3):
        found = _weighed(cast("HeadDrivenParser", Model()), sentences, guesses, 1)
        assert [one and one.scored.words for one in found] == [2, None, MAX_WEIGHED_WORDS]
