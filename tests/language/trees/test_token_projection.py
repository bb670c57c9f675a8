"""Trees laid over other tokens than their own."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from wellput.core.tree import Multiword, Tree, Word
from wellput.language.trees.token_projection import heads_of_tokens


def tree_of(*words: tuple[str, int], multiwords: tuple[Multiword, ...] = ()) -> Tree:
    return Tree(tuple(Word(form, head) for form, head in words), multiwords)


def test_the_same_tokens() -> None:
    assert heads_of_tokens(tree_of(("a", 2), ("b", 0)), ["a", "b"]) == [1, -1]


def test_a_token_over_two_words_hangs_where_the_higher_of_them_hung() -> None:
    # They do n't know: do and n't both hang on know; don't is one token.
    words = (("They", 4), ("do", 4), ("n't", 4), ("know", 0))
    tree = tree_of(*words, multiwords=(Multiword(2, 3, "don't"),))
    assert heads_of_tokens(tree, ["They", "don't", "know"]) == [2, 2, -1]
    assert heads_of_tokens(tree, ["They", "do", "n't", "know"]) == [3, 3, 3, -1]


def test_a_tree_as_deep_as_it_is_long() -> None:
    # Counting the words above each word one by one would be 2 · 10^8 steps.
    n = 20_000
    tree = tree_of(*((f"w{number}", number) for number in range(n)))
    tokens = [f"w{number}w{number + 1}" for number in range(0, n, 2)]
    assert heads_of_tokens(tree, tokens) == list(range(-1, n // 2 - 1))


def test_a_merged_token_takes_the_daughters_of_all_its_words() -> None:
    # b heads c and hangs on d, a hangs on b: "ab" takes b's place and keeps c.
    tree = tree_of(("a", 2), ("b", 4), ("c", 2), ("d", 0))
    assert heads_of_tokens(tree, ["ab", "c", "d"]) == [2, 0, -1]


def test_a_multiword_token_that_is_not_its_words_run_together() -> None:
    # Spanish: del = de + el; both hang on libro.
    words = (("precio", 0), ("de", 4), ("el", 4), ("libro", 1))
    tree = tree_of(*words, multiwords=(Multiword(2, 3, "del"),))
    assert heads_of_tokens(tree, ["precio", "del", "libro"]) == [-1, 2, 0]
    # A reference written in words rather than surface tokens fits too.
    assert heads_of_tokens(tree, ["precio", "de", "el", "libro"]) == [-1, 3, 3, 0]


def test_of_a_word_over_several_tokens_the_first_stands_for_it() -> None:
    tree = tree_of(("eat", 0), ("and/or", 3), ("drink", 1))
    assert heads_of_tokens(tree, ["eat", "and", "/", "or", "drink"]) == [-1, 4, 1, 1, 0]


def test_boundaries_that_cross() -> None:
    # Words "ab" "cd", tokens "a" "bc" "d": the first token stands for "ab", the second starts in it
    # and takes "cd" in; "d" continues "cd".
    tree = tree_of(("ab", 0), ("cd", 1))
    assert heads_of_tokens(tree, ["a", "bc", "d"]) == [-1, 0, 1]


def test_other_characters() -> None:
    assert heads_of_tokens(tree_of(("a", 0)), ["b"]) is None
    assert heads_of_tokens(tree_of(("a", 0)), []) is None


@given(st.data())
def test_the_result_is_always_a_tree(data: st.DataObject) -> None:
    forms = data.draw(st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=8))
    order = data.draw(st.permutations(range(len(forms))))
    heads = [0] * len(forms)
    for place, node in enumerate(order[1:], start=1):
        heads[node] = order[data.draw(st.integers(0, place - 1))] + 1
    text = "".join(forms)
    cuts = sorted(data.draw(st.sets(st.integers(1, len(text)), max_size=8)) | {0, len(text)})
    tokens = [text[a:b] for a, b in itertools.pairwise(cuts)]
    projected = heads_of_tokens(tree_of(*zip(forms, heads, strict=True)), tokens)
    assert projected is not None
    assert sum(head == -1 for head in projected) == 1
    for node in range(len(tokens)):
        seen: set[int] = set()
        while node != -1:
            assert node not in seen
            seen.add(node)
            node = projected[node]
