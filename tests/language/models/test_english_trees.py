"""The steps that learn from trees, on a treebank of four sentences."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wellput.core.errors import InputError
from wellput.language.models.english_steps import tagged_trees
from wellput.language.models.english_training import (
    TRAINING_STEPS,
    TrainingInputs,
    TrainingSource,
    make_all,
)
from wellput.language.models.parsers import load_parser
from wellput.language.models.tree_model import TreeModel

TREES = """1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_
2\tcat\tcat\tNOUN\tNN\t_\t3\tnsubj\t_\t_
3\tsleeps\tsleep\tVERB\tVBZ\t_\t0\troot\t_\t_

1\tA\ta\tDET\tDT\t_\t2\tdet\t_\t_
2\tdog\tdog\tNOUN\tNN\t_\t3\tnsubj\t_\t_
3\tbarks\tbark\tVERB\tVBZ\t_\t0\troot\t_\t_

"""
# Fluency is learned from a text and a model of its own, see tests/metrics.
FROM_TREES = [step for step in TRAINING_STEPS if "real" not in step.roles]
UNTAGGED = "1\tno\tno\tX\t_\t_\t0\troot\t_\t_\n\n"


@pytest.fixture
def inputs(tmp_path: Path) -> TrainingInputs:
    (tmp_path / "train.conllu").write_text(TREES * 4)
    (tmp_path / "bare.conllu").write_text(UNTAGGED)
    (tmp_path / "dev.conllu").write_text(TREES)
    names = {"train.conllu": "treebank", "bare.conllu": "treebank", "dev.conllu": "dev"}
    sources = [TrainingSource(tmp_path / name, role) for name, role in names.items()]  # type: ignore[arg-type]
    return TrainingInputs(sources, tmp_path / "english")


def test_all_files_are_made_and_can_be_used(inputs: TrainingInputs) -> None:
    cards = {card.file: card for card in make_all(FROM_TREES, inputs, command="c")}
    assert cards["tagger.wpm"].figures == {"trees": 8, "words": 24, "right tags of dev": 1.0}
    assert cards["parser.wpm"].figures["dev"]["uas"] == 1
    assert cards["tree.wpm"].figures["known words"] == 6
    assert cards["realizer.wpm"].figures["trees"] == 8
    (tree,) = load_parser(str(inputs.folder)).parse([["The", "dog", "sleeps"]])
    assert [word.head for word in tree.words] == [2, 3, 0]
    assert TreeModel.load(inputs.folder / "tree.wpm").supertags
    card = json.loads((inputs.folder / "parser.card.json").read_text())
    assert card["needs"] == {"tagger.wpm": cards["tagger.wpm"].sha256}


def test_the_same_trees_give_the_same_bytes(inputs: TrainingInputs, tmp_path: Path) -> None:
    again = TrainingInputs(inputs.sources, tmp_path / "again", threads=3)
    hashes = [
        [card.sha256 for card in make_all(FROM_TREES, either, command="c")]
        for either in (inputs, again)
    ]
    assert hashes[0] == hashes[1]


def test_trees_without_tags_are_left_out_and_must_not_be_all(inputs: TrainingInputs) -> None:
    assert len(tagged_trees(inputs, "treebank")) == 8
    with pytest.raises(InputError, match=r"bare\.conllu.*XPOS"):
        tagged_trees(TrainingInputs(inputs.sources[1:2], inputs.folder), "treebank")
