from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellput.core.errors import InputError
from wellput.core.tree import Constituent
from wellput.io import format_constituent, parse_constituent, read_constituents

CAT = "( (S (NP-SBJ (DT the) (NN cat)) (VP (VBD sat) (NP (-NONE- *T*-1))) (. .)))"


def test_penn_brackets(tmp_path: Path) -> None:
    path = tmp_path / "wsj.mrg"
    path.write_text("\n" + CAT.replace(" (VP", "\n    (VP") + "\n\n(NN dog)(NN\ncow)\n")
    trees = list(read_constituents(path))
    assert [format_constituent(tree) for tree in trees] == [CAT, "(NN dog)", "(NN cow)"]
    assert trees[0].label == ""
    assert trees[0].words == ("the", "cat", "sat", "*T*-1", ".")
    assert trees[1] == Constituent("NN", word="dog")


NAME = st.text(
    st.characters(whitelist_categories=["L", "N", "P"], blacklist_characters="()"), min_size=1
)
TREES = st.recursive(
    st.builds(Constituent, NAME, st.just(()), NAME),
    lambda inner: st.builds(
        Constituent, st.just("") | NAME, st.lists(inner, min_size=1, max_size=4).map(tuple)
    ),
)


@given(TREES)
def test_round_trip(tree: Constituent) -> None:
    assert parse_constituent(format_constituent(tree)) == tree


def test_depth_does_not_matter() -> None:
    text = "(X " * 5000 + "(Y z)" + ")" * 5000
    assert format_constituent(parse_constituent(text)) == text


def test_all_bad_trees_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "bad.mrg"
    path.write_text(
        "(S (A a))\n(S (A a) b)\n  (more of it)\n(S ())\n(S (A a)))\n(S (A a b))\n(S (A a\n"
    )
    with pytest.raises(InputError) as caught:
        list(read_constituents(path))
    assert str(caught.value).split("\n") == [
        f"{path} has 5 problems:",
        "  line 2: 'b' where a bracket was expected",
        "  line 4: the bracket of None holds no word and no bracket",
        "  line 5: ')' outside of a tree",
        "  line 6: 'b' where a bracket was expected",
        "  line 7: a tree begins here that is not closed by line 7",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "this text holds 0"),
        ("(A a) (B b)", "this text holds 2"),
        ("a", "'a' outside of a tree"),
        ("(A a (B b))", "a bracket after the word 'a'"),
        ("(A)", "the bracket of 'A' holds no word and no bracket"),
    ],
)
def test_what_is_not_one_tree(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_constituent(text)
    assert message in str(caught.value)


def test_a_file_without_trees(tmp_path: Path) -> None:
    (tmp_path / "a.mrg").write_text("\n")
    with pytest.raises(InputError, match="holds no tree"):
        list(read_constituents(tmp_path / "a.mrg"))
