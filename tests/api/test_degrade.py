"""`wellput.degrade` with a corpus in memory, and its result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import wellput
from wellput.core.tree import Tree, Word
from wellput.io import read_evalset, read_judgments

SENTENCES = [
    "The old dog saw a cat in the garden.",
    "A cat in the garden didn't see the old dog.",
    "The dog didn't run and the cat didn't sleep.",
    "The cat ran and a dog in the garden saw it.",
]
TREES = [
    Tree((Word(noun, 2, xpos="NNS"), Word("bark", 0, xpos="VBP"), Word("!", 2, xpos=".")))
    for noun in ("Dogs", "Cats")
]


def test_a_list_is_the_same_corpus_as_its_file(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(SENTENCES) + "\n")
    by_file = wellput.degrade(path, size=2, length=10, n=4)
    by_list = wellput.degrade(iter(SENTENCES), size="2", length=10, n=4)
    assert by_list.to_dict() == by_file.to_dict()
    assert str(by_list).splitlines() == by_list.sentences == by_list.outputs["sequence-2"]


def test_trees_in_memory() -> None:
    made = wellput.degrade(TREES, method="pos", length=3, n=5)
    assert set(made.sentences) <= {"Dogs bark!", "Cats bark!"}
    birds = Tree(
        (Word("Birds", 2, xpos="NNS"), Word("sing", 0, xpos="VBP"), Word(".", 2, xpos="."))
    )
    mixed = wellput.degrade(TREES, method="cfg", length=3, n=40, treebank=[birds])
    assert {sentence.split()[0] for sentence in mixed.sentences} == {"Dogs", "Cats", "Birds"}


def test_an_evalset_and_its_gold_without_files(tmp_path: Path) -> None:
    path, gold = tmp_path / "made.jsonl", tmp_path / "gold.csv"
    made = wellput.degrade(SENTENCES, size=[1, 5], length=10, n=3, evalset=True)
    written = wellput.degrade(
        SENTENCES, size="1,5", length=10, n=3, evalset=True, path=path, gold=gold
    )
    assert made.evalset.systems == ("sequence-1", "sequence-5")
    assert [one.outputs for one in read_evalset(path)] == [one.outputs for one in made.evalset]
    assert read_judgments(gold) == made.gold == written.gold
    assert [one.value for one in made.gold[:2]] == [1, 5]
    assert made.to_dict() == written.to_dict()
    assert [record["sentences"] for record in made.records()] == [3, 3]


def test_saving(tmp_path: Path) -> None:
    made = wellput.degrade(SENTENCES, length=8, n=2)
    made.save(tmp_path / "lines.txt")
    assert (tmp_path / "lines.txt").read_text().splitlines() == made.sentences
    with pytest.raises(wellput.InputError, match="plain text"):
        made.save(tmp_path / "lines.jsonl")


@pytest.mark.parametrize(
    ("corpus", "keywords", "message"),
    [
        (SENTENCES, {"size": [1, 2]}, "need evalset=True"),
        (SENTENCES, {"size": []}, "size= takes whole numbers above 0, such as 1,2,4"),
        (SENTENCES, {"method": []}, "No method was given"),
        (SENTENCES, {"gold": "g.csv"}, "gold= needs evalset=True"),
        (SENTENCES, {"treebank": TREES}, "treebank= is for method=.cfg."),
        (SENTENCES, {"boundary": "none"}, "boundary='none' is none of sentence, literal"),
        (SENTENCES, {"length": 0}, "length=0 must be from 1 to 500"),
        (SENTENCES, {"n": 0}, "n=0 must be 1 or more"),
        (SENTENCES, {"size": 24}, "Give another length="),
        ("The dog ran.", {}, r"Give sentences in a list: \['The dog ran.'\]"),
        ([*SENTENCES, *TREES], {}, "not of both"),
        ([], {}, "The corpus holds no sentence"),
    ],
)
def test_errors_name_keywords(corpus: Any, keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(wellput.InputError, match=message):
        wellput.degrade(corpus, **keywords)
