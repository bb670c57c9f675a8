"""`wellput.realize` with trees in memory and the models of a toy language."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import wellput
from tests.language.realize.toy_treebank import TREES, save_toy_models
from wellput.io import read_evalset
from wellput.language import shipped
from wellput.language.models.sentence_parsing import (
    ParsedSentence,
    ParseResult,
    ParseSummary,
    SentenceParser,
)
from wellput.language.realize.inputs import unordered

NODES = {"word": "sleeps", "children": [{"word": "dog", "children": [{"word": "the"}]}]}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toy")
    save_toy_models(folder)
    return folder


@pytest.fixture(autouse=True)
def toy_language(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "ENGLISH_FOLDER", models)


def test_the_result_of_parse_is_accepted() -> None:
    parsed = ParseResult(tuple(TREES), ParseSummary())
    assert wellput.realize(parsed).sentences == wellput.realize(TREES).sentences
    assert wellput.realize(parsed, evaluate=True).evaluation is not None


def test_one_tree_or_several_of_any_kind() -> None:
    assert wellput.realize(NODES).sentences == ["the dog sleeps"]
    assert wellput.realize(TREES[2]).sentences == ["The old dog sleeps ."]
    mixed = wellput.realize([NODES, TREES[2], unordered(TREES[2])])
    assert mixed.sentences == ["the dog sleeps", "The old dog sleeps .", "The old dog sleeps ."]
    assert mixed.orders == []
    assert wellput.realize(iter(TREES)).orders[2] == "The old dog sleeps ."


def test_all_sentences_go_to_rerank() -> None:
    result = wellput.realize(TREES[3], model="fergus", nbest=3)
    [own] = result.nbest
    assert len(own.texts) == 2 and own.texts[0] == result.sentences[0]
    assert own.references == tuple(result.orders)


def test_the_evalset_in_memory_equals_the_file(tmp_path: Path) -> None:
    result = wellput.realize(TREES, evalset=tmp_path / "set.jsonl")
    written = read_evalset(tmp_path / "set.jsonl")
    assert written.systems == result.evalset.systems == ("learned",)
    assert [item.outputs for item in written] == [item.outputs for item in result.evalset]
    with pytest.raises(wellput.InputError, match="no word order to compare with"):
        _ = wellput.realize(NODES).evalset


def test_what_is_shown(tmp_path: Path) -> None:
    assert str(wellput.realize([NODES, NODES])) == "the dog sleeps\nthe dog sleeps"
    path = tmp_path / "out.txt"
    assert str(wellput.realize(NODES, path=path)) == f"1 sentence written to {path}."
    explained = wellput.realize(NODES, explain=True)
    assert "VBZ/root[nsubj,_]" in explained.explanations[0]
    assert str(explained) == explained.explanations[0].strip()
    assert "<td>the dog sleeps</td>" in explained._repr_html_()
    both = str(wellput.realize(NODES, explain=True, nbest=1))
    assert both.index("VBZ/root[nsubj,_]") < both.index("tree   rank")


def test_sentences_are_parsed_first(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(self: object, lines: list[str], **_: object) -> list[ParsedSentence]:
        return [ParsedSentence(TREES[2]) for line in lines if line == "The old dog sleeps."]

    monkeypatch.setattr(SentenceParser, "load", lambda name, **_: SentenceParser(None))  # type: ignore[arg-type]
    monkeypatch.setattr(SentenceParser, "parse", parse)
    result = wellput.realize(["The old dog sleeps."], from_text=True)
    assert result.sentences == result.orders == ["The old dog sleeps ."]
    with pytest.raises(wellput.InputError, match="The list has no sentence to parse"):
        wellput.realize([""], from_text=True)


def test_saving(tmp_path: Path) -> None:
    result = wellput.realize(NODES, nbest=2)
    result.save(tmp_path / "one.txt")
    assert (tmp_path / "one.txt").read_text() == "the dog sleeps\n"
    result.save(tmp_path / "all.jsonl")
    candidates = json.loads((tmp_path / "all.jsonl").read_text())["candidates"]
    assert candidates == [record["sentence"] for record in result.records()]


@pytest.mark.parametrize(
    ("trees", "keywords", "message"),
    [
        (["A dog."], {}, "'A dog.' is text, not a tree: add from_text=True"),
        ([NODES], {"evaluate": True}, "evaluate= and evalset= need Tree objects"),
        ([NODES], {"input": "letters"}, "input='letters' is none of words, labels, lemmas"),
        ([NODES], {"nbest": 0}, "nbest=0 must be 1 or more"),
        ([NODES], {"lattice": "x"}, "use lattice= with model='fergus'"),
        ([NODES], {"insert": ["adverbs"]}, "insert= takes .* not 'adverbs'"),
        ([7], {}, "a node is an object"),
        (7, {}, "give trees, the result of parse, or the path of a file of trees, not int"),
        ("A dog.", {}, r"Give sentences in a list, with from_text=True: \['A dog.'\]"),
    ],
)
def test_errors_name_keywords(trees: Any, keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(wellput.InputError, match=message):
        wellput.realize(trees, **keywords)
