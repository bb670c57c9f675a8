from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from wellput.core.errors import InputError
from wellput.core.evalset import BLOCK_ITEMS, Item
from wellput.core.source import EvalSource
from wellput.io import open_evalset, parse_tree, read_evalset

GO = "1\tgo\t_\t_\t_\t_\t0\troot\t_\t_\n"
DONT = (
    "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tdo\t_\t_\t_\t_\t0\t_\t_\t_\n2\tn't\t_\t_\t_\t_\t1\t_\t_\t_\n"
)


def write(folder: Path, *records: object) -> Path:
    path = folder / "e.jsonl"
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))
    return path


def problem_with(folder: Path, *records: object) -> str:
    with pytest.raises(InputError) as caught:
        read_evalset(write(folder, *records))
    return str(caught.value)


def test_every_key(tmp_path: Path) -> None:
    derivation = {
        "id": "n0",
        "label": "S",
        "features": {},
        "children": [{"id": "n1", "word": "go"}],
    }
    path = write(
        tmp_path,
        {
            "id": "7",
            "source": "geh",
            "context": "c",
            "references": ["go", "do n't"],
            "trees": [None, DONT],
            "outputs": {"A": "leave", "B": "", "C": None, "D": {"n1": ["nd=d", "bw=u"]}},
            "references_by_system": {"A": ["go"], "B": None},
            "trees_by_system": {"A": [GO]},
            "derivation": derivation,
            "note": "other keys are nobody's business",
        },
        {"id": 8},
    )
    assert list(read_evalset(path)) == [
        Item(
            "7",
            {"A": "leave", "B": "", "D": {"n1": ["nd=d", "bw=u"]}},
            ("go", "do n't"),
            (None, parse_tree(DONT)),
            "geh",
            "c",
            derivation,
            {"A": ("go",)},
            {"A": (parse_tree(GO),)},
        ),
        Item("8", {}),
    ]


def test_texts_of_trees_may_be_the_references(tmp_path: Path) -> None:
    records: list[dict[str, Any]] = [
        {"id": 1, "tree": GO},
        {"id": 2, "trees": [DONT, GO]},
        {"id": 3, "references": ["don't", "go"], "tree": DONT},
        {"id": 4, "references": ["go"], "trees": []},
    ]
    items = read_evalset(write(tmp_path, *records)).items
    assert [item.references for item in items] == [
        ("go",),
        ("don't", "go"),
        ("don't", "go"),
        ("go",),
    ]
    assert items[2].trees == (parse_tree(DONT), None)
    bare = read_evalset(write(tmp_path, *records), trees=False).items
    assert bare[0].references == ("go",)
    assert bare[2].trees == ()


def test_blank_lines_are_skipped_and_a_second_pass_works(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_text('\n{"id": "1"}\n   \n{"id": "2"}\r\n\n')
    source = open_evalset(path)
    assert isinstance(source, EvalSource)
    for _ in range(2):
        assert [[item.id for item in block] for block in source.blocks()] == [["1", "2"]]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"id": 1}\n{"id": 1}\n')))
    with pytest.raises(InputError, match=r"standard input has a problem:\n  lines 1, 2: the id 1"):
        list(open_evalset("-").blocks())


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ([], "an object is needed, not a list"),
        ({}, 'no "id"'),
        ({"id": None}, "not null"),
        ({"id": ""}, "not the empty text"),
        ({"id": 1.5}, "the id must be a text or a whole number, not a number"),
        ({"id": True}, "not true or false"),
        ({"id": 1, "references": "a"}, 'put the one text in brackets: ["…"]'),
        ({"id": 1, "references": {"0": "a"}}, "must be a list of texts, not an object"),
        ({"id": 1, "references": ["a", None]}, "references[1] must be a text, not null"),
        ({"id": 1, "references": [["a"]]}, "references[0] must be a text, not a list"),
        ({"id": 1, "outputs": ["a"]}, "must be an object whose keys are system names, not a list"),
        ({"id": 1, "outputs": {"A": [["a"]]}}, "sample 0 of A must be a text, not a list"),
        ({"id": 1, "outputs": {"A": 3}}, "the output of A must be a text, not a number"),
        ({"id": 1, "outputs": {"": "a"}}, "outputs has a system without a name"),
        ({"id": 1, "outputs": {"A": {"n1": "u"}}}, "node n1 must have a list of texts"),
        ({"id": 1, "source": 1}, "source must be a text, not a number"),
        ({"id": 1, "context": ["a"]}, "context must be a text, not a list"),
        ({"id": 1, "tree": GO, "trees": [GO]}, 'both "tree" and "trees"'),
        ({"id": 1, "trees": GO}, "trees must be a list of CoNLL-U texts or nulls"),
        ({"id": 1, "trees": [1]}, "trees must be a list of CoNLL-U texts or nulls"),
        (
            {"id": 1, "references": ["go"], "trees": [GO, GO]},
            "trees has 2 entries for 1 reference",
        ),
        ({"id": 1, "trees": [GO, None]}, "trees[1] is null, and there is no reference for it"),
        ({"id": 1, "tree": "1\tgo\n"}, "trees[0], line 1: 2 columns; a word has 10"),
        ({"id": 1, "tree": ""}, "trees[0], One tree is needed here"),
        (
            {"id": 1, "references": ["stay"], "tree": GO},
            "the tree of “go”, the reference is “stay”",
        ),
        ({"id": 1, "references_by_system": {"A": "a"}}, "references_by_system of A must be a list"),
        ({"id": 1, "references_by_system": []}, "references_by_system must be an object"),
        ({"id": 1, "trees_by_system": {"A": [GO]}}, "trees_by_system of A has 1 entry for 0"),
        ({"id": 1, "derivation": []}, "every node of the derivation must be an object"),
        ({"id": 1, "derivation": {}}, 'every node of the derivation needs an "id"'),
        ({"id": 1, "derivation": {"id": "n", "children": {}}}, "children of derivation node n"),
        ({"id": 1, "derivation": {"id": "n", "children": [{"id": "n"}]}}, "two nodes n"),
        ({"id": 1, "derivation": {"id": "n", "word": 1}}, "word of derivation node n"),
        ({"id": 1, "derivation": {"id": "n", "features": 1}}, "features of derivation node n"),
        (
            {"id": 1, "derivation": {"id": "n"}, "outputs": {"A": {"m": []}}},
            "the output of A has node m, which is not in the derivation",
        ),
        ({"id": 1, "reference": ["a"]}, 'unknown key "reference". Did you mean "references"?'),
        ({"id": 1, "hypotheses": {}}, 'unknown key "hypotheses". Did you mean "outputs"?'),
        ({"id": 1, "output": {}}, 'unknown key "output". Did you mean "outputs"?'),
        ({"ID": 1}, 'unknown key "ID". Did you mean "id"?'),
    ],
)
def test_wrong_records(tmp_path: Path, record: object, message: str) -> None:
    text = problem_with(tmp_path, {"id": "fine"}, record)
    assert message in text
    assert "e.jsonl has a problem:\n  line 2" in text


def test_a_similar_key_beside_the_right_one_is_ignored(tmp_path: Path) -> None:
    assert len(read_evalset(write(tmp_path, {"id": 1, "references": ["a"], "reference": 3}))) == 1


def test_a_tree_matches_words_or_tokens_or_text(tmp_path: Path) -> None:
    texted = "# text = don’t\n" + DONT
    records = [{"id": t, "references": [t], "tree": texted} for t in ("do n't", "don't", "don’ t")]
    assert len(read_evalset(write(tmp_path, *records))) == 3


def test_all_bad_lines_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    lines = [
        '{"id": "1"}',
        '{"id": "2"',
        "plain text",
        '{"id": "4", "outputs": {"A": "x", "A": "y"}}',
        '{"id": "5", "outputs": {"A": NaN}}',
        '{"id": "1"}',
        "[" * 100_000,
    ]
    path.write_text("\n".join(lines))
    with pytest.raises(InputError) as caught:
        read_evalset(path)
    assert str(caught.value).split("\n") == [
        f"{path} has 6 problems:",
        "  line 2: not JSON: expecting ',' delimiter",
        "  line 3: not JSON at character 1: expecting value",
        '  line 4: the key "A" is given twice in one object',
        "  line 5: NaN is not JSON; write null for a missing value",
        "  line 7: nested too deeply",
        "  lines 1, 6: the id 1 is used 2 times",
    ]


def test_many_problems_are_counted_but_not_all_shown(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_text("x\n" * 5000)
    with pytest.raises(InputError) as caught:
        read_evalset(path)
    assert "has 5000 problems" in str(caught.value)
    assert "… and 4980 more" in str(caught.value)
    assert len(str(caught.value).split("\n")) == 22


def test_repeated_ids_across_blocks(tmp_path: Path) -> None:
    records = [{"id": i} for i in range(1, BLOCK_ITEMS + 10)]
    text = problem_with(tmp_path, *records, {"id": "5"}, {"id": 5}, {"id": "9"})
    assert f"lines 5, {BLOCK_ITEMS + 10}, {BLOCK_ITEMS + 11}: the id 5 is used 3 times" in text
    assert f"lines 9, {BLOCK_ITEMS + 12}: the id 9 is used 2 times" in text


def test_a_bad_line_holds_back_its_block_and_those_after_it(tmp_path: Path) -> None:
    records: list[object] = [{"id": i} for i in range(3 * BLOCK_ITEMS)]
    records[BLOCK_ITEMS + 1] = "bad"
    blocks = []
    with pytest.raises(InputError):
        for block in open_evalset(write(tmp_path, *records)).blocks():
            blocks.append(block)  # noqa: PERF402
    assert len(blocks) == 1


def test_nothing_inside_and_unknown_suffixes(tmp_path: Path) -> None:
    (tmp_path / "e.jsonl").write_text("\n")
    with pytest.raises(InputError, match="holds no items"):
        read_evalset(tmp_path / "e.jsonl")
    (tmp_path / "e.yaml").write_text("{}")
    with pytest.raises(InputError, match=r"must end in \.csv, \.tsv, \.jsonl, \.parquet"):
        open_evalset(tmp_path / "e.yaml")
    with pytest.raises(InputError, match="No such file"):
        open_evalset(tmp_path / "nothing.jsonl")
