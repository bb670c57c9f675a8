from __future__ import annotations

from wellput.core.tree import Multiword, Tree, Word


def test_the_text_comment_wins() -> None:
    tree = Tree((Word("Hi", 0),), comments=("sent_id = 1", "text = Hi  there = you"))
    assert tree.text == "Hi  there = you"


def test_tokens_are_joined_by_space_after() -> None:
    tree = Tree(
        (
            Word("I", 3),
            Word("do", 3),
            Word("go", 0, misc="Gloss=x|SpaceAfter=No"),
            Word(".", 3, misc="SpaceAfter=Nothing"),
        ),
    )
    assert tree.text == "I do go."


def test_a_multiword_token_replaces_its_words() -> None:
    tree = Tree(
        (Word("du", 3), Word("not", 3), Word("go", 0), Word("now", 3)),
        (Multiword(1, 2, "don't"), Multiword(3, 4, "gonow", "SpaceAfter=No")),
    )
    assert tree.surface() == [("don't", "_"), ("gonow", "SpaceAfter=No")]
    assert tree.text == "don't gonow"
