"""`wellput.parse` with sentences in memory, and access to the trees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import wellput
from wellput.io import read_trees

SENTENCES = ["The dog barks.", "", "It doesn't sleep."]


def test_trees_are_kept_or_read_from_the_file(tmp_path: Path) -> None:
    kept = wellput.parse(SENTENCES)
    assert [tree.comments[0] for tree in kept.trees] == ["sent_id = 1", "sent_id = 3"]
    path = tmp_path / "trees.conllu.gz"
    written = wellput.parse((text for text in SENTENCES), path=path)
    assert written.trees == kept.trees == tuple(read_trees(path))
    assert written.to_dict() == kept.to_dict()
    kept.save(tmp_path / "again.conllu")
    assert tuple(read_trees(tmp_path / "again.conllu")) == kept.trees


def test_printed_trees_cannot_be_read_again(capfd: pytest.CaptureFixture[str]) -> None:
    result = wellput.parse(["It rains."], path="-")
    assert capfd.readouterr().out.startswith("# sent_id = 1\n# text = It rains.\n")
    with pytest.raises(wellput.InputError, match="were not kept"):
        _ = result.trees


def test_nothing_to_parse(tmp_path: Path) -> None:
    assert wellput.parse([]).trees == ()
    assert wellput.parse([""], path=tmp_path / "none.conllu").trees == ()


@pytest.mark.parametrize(
    ("sentences", "keywords", "message"),
    [
        ("The dog barks.", {}, r"Give sentences in a list: \['The dog barks.'\]"),
        ("none.txt", {}, "none.txt"),
        (7, {}, "give a list of texts, .* not int"),
        (pd.DataFrame({"text": ["It rains."]}), {}, "give a list of texts, .* not DataFrame"),
        ([7], {}, "A sentence must be a text; 7 is not"),
        (["Hi"], {"tokenize": "treebnk"}, "tokenize='treebnk' is none of .* Did you mean treebank"),
        (["Hi"], {"parser": "frnech"}, "No parser 'frnech'"),
    ],
)
def test_errors(sentences: Any, keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(wellput.InputError, match=message):
        wellput.parse(sentences, **keywords)
