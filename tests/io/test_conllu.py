from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellput.core.errors import InputError
from wellput.core.tree import Multiword, Tree, Word
from wellput.io import format_tree, parse_tree, read_trees

SENTENCES = """\
# newdoc
# sent_id = 1
# text = Don't go to Zürich.
#no space
# #doubled
1-2\tDon't\t_\t_\t_\tTypo=Yes\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\tMood=Imp\t3\taux\t3:aux\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t3:advmod\t_
3\tgo\tgo\tVERB\tVB\t_\t0\troot\t0:root\t_
4\tto\tto\tADP\tIN\t_\t5\tcase\t5:case\t_
5\tZürich\tZürich\tPROPN\tNNP\t_\t3\tobl\t3:obl:to\tSpaceAfter=No
6\t.\t.\tPUNCT\t.\t_\t3\tpunct\t3:punct\t_

1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
2\t!\t!\tPUNCT\t.\t_\t1\tpunct\t_\t_

"""


def test_round_trip_is_exact(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(SENTENCES)
    trees = list(read_trees(path))
    assert "".join(map(format_tree, trees)) == SENTENCES
    assert trees[0].multiwords == (Multiword(1, 2, "Don't", feats="Typo=Yes"),)
    assert trees[0].comments[1] == "sent_id = 1"
    assert trees[1].text == "Go!"


def test_empty_nodes_are_left_out_and_carriage_returns_tolerated() -> None:
    tree = parse_tree(
        "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\r\n1.1\tgone\t_\t_\t_\t_\t_\t_\t1:dep\t_\r\n"
        "2\tb\t_\t_\t_\t_\t1\tdep\t_\t_\r\n"
    )
    assert tree == Tree((Word("a", 0, relation="root"), Word("b", 1, relation="dep")))


def test_a_non_projective_tree_is_a_tree() -> None:
    # 1 → 3, 2 → 4: the arcs cross
    heads = [3, 4, 0, 3]
    assert [word.head for word in parse_tree(rows(heads)).words] == heads


def rows(heads: list[int]) -> str:
    return "".join(
        f"{number}\tw{number}\t_\t_\t_\t_\t{head}\t_\t_\t_\n"
        for number, head in enumerate(heads, start=1)
    )


@given(st.lists(st.integers(0, 7), min_size=1, max_size=7))
def test_it_is_a_tree_exactly_if_every_word_leads_to_the_root(heads: list[int]) -> None:
    n = len(heads)

    def leads_to_root(number: int) -> bool:
        for _ in range(n):
            number = heads[number - 1] if 0 < number <= n else number
        return number == 0

    is_tree = heads.count(0) == 1 and all(leads_to_root(number) for number in range(1, n + 1))
    try:
        parse_tree(rows(heads))
    except InputError:
        assert not is_tree
    else:
        assert is_tree


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (rows([2, 1]), "no root"),
        (rows([0, 0]), "line 2: a second root; the first is on line 1"),
        (rows([0, 3, 2]), "circle: 2 w2 → 3 w3 → 2 w2"),
        (rows([0, 2]), "circle: 2 w2 → 2 w2"),
        (rows([0, 9]), "the head of 'w2' is 9; there are 2 words"),
        (rows([0]).replace("0", "_"), "head of 'w1' is '_', not a number"),
        (rows([0]).replace("0", "-1"), "not a number"),
        (rows([0]).replace("1\t", "2\t"), "the id is 2, 1 was expected"),
        (rows([0]).replace("1\t", "x\t", 1), "the id 'x' is not a number"),
        (rows([0]).replace("\t", " "), "1 column; a word has 10 separated by tabs, not spaces"),
        ("1\ta\n", "2 columns; a word has 10"),
        (rows([0]).replace("w1", ""), "empty column"),
        (rows([0]) + "# late\n", "a comment after the sentence's first word"),
        ("1-2\tx\t_\t_\t_\t_\t_\t_\t_\t_\n" + rows([0]), "a range ends at 2; there are 1 words"),
        (rows([0, 1]) + "1-2\tx\t_\t_\t_\t_\t_\t_\t_\t_\n", "must come before word 1"),
        ("1-1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n" + rows([0]), "has fewer than two words"),
        ("# only a comment\n", "a sentence without words"),
        ("", "this text holds 0"),
        (rows([0]) + "\n" + rows([0]), "this text holds 2"),
    ],
)
def test_what_is_not_a_tree(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_tree(text)
    assert message in str(caught.value)


def test_all_bad_lines_of_a_file_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "bad.conllu"
    path.write_text(rows([0, 1]) + "\n" + rows([0, 0]) + "\n" + "1\ta\n\n" + rows([1]) + "\n")
    with pytest.raises(InputError) as caught:
        list(read_trees(path))
    message = str(caught.value)
    assert message.startswith(f"{path} has 3 problems:")
    assert "line 5: a second root" in message
    assert "line 7: 2 columns" in message
    assert "line 9: the sentence has no root" in message


def test_a_file_without_sentences(tmp_path: Path) -> None:
    path = tmp_path / "empty.conllu"
    path.write_text("\n\n")
    with pytest.raises(InputError, match="holds no sentence"):
        list(read_trees(path))
