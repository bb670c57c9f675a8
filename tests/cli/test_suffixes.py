"""An unknown suffix is refused before the work; the message names the known ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

TABLES = ".csv, .tsv, .jsonl, .parquet"


@pytest.fixture(autouse=True)
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Good inputs, and a scoring function that must not be called."""
    row = {"id": "1", "references": ["a b"], "outputs": {"A": "a b"}}
    (tmp_path / "e.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "n.jsonl").write_text('{"id": "1", "candidates": ["a", "b"]}\n')
    (tmp_path / "c.txt").write_text("a b c\n")

    def worked(*_: object, **__: object) -> None:
        raise AssertionError("the work began")

    for place in (
        "wellput.engine.collect.block_statistics",
        "wellput.api.demo.harbor_example",
        "wellput.studies.store.Store.open",
        "wellput.api.paraphrase.make_paraphraser",
        "wellput.displays.example_corpus.example_corpus",
        "wellput.displays.selection.select_displays",
        "wellput.api.degrade.read_source",
        "wellput.language.realize.realizer.Realizer.load",
        "wellput.api.rerank.read_nbest",
        "wellput.reporting.html.page.chart_library",
    ):
        monkeypatch.setattr(place, worked)


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (["score", "e.jsonl", "-m", "bleu", "--segments", "x.xlsx"], TABLES),
        (["score", "e.jsonl", "-m", "bleu", "--segments", "x.xlsx"], "a name without suffix"),
        (["demo", "--no-report", "--save", "x.xlsx"], TABLES),
        (["demo", "--no-report", "--save-judgments", "x.xlsx"], TABLES),
        (["study", "export", "s.db", "-o", "x.xlsx"], TABLES),
        (["study", "export", "s.db", "--as", "evalica", "-o", "x.xlsx"], TABLES),
        (
            ["study", "export", "s.db", "--as", "mt-metrics-eval", "-o", "x.xlsx"],
            ".seg.score or .sys.score",
        ),
        (["paraphrase", "e.jsonl", "-o", "x.xlsx"], TABLES),
        (["paraphrase", "e.jsonl", "--substitutions", "x.xlsx"], TABLES),
        (["displays", "example", "-o", "x.xlsx"], TABLES),
        (["displays", "select", "e.jsonl", "-o", "x.xlsx"], TABLES),
        (["displays", "convert", "e.jsonl", "-o", "x.xlsx"], TABLES),
        (["degrade", "c.txt", "--evalset", "-o", "x.xlsx"], TABLES),
        (["degrade", "c.txt", "-o", "x.xlsx"], ".txt"),
        (["rerank", "n.jsonl", "-m", "length-only", "-o", "x.xlsx"], ".txt or .jsonl"),
        (["realize", "t.conllu", "-o", "x.xlsx"], ".txt or .jsonl"),
        (["realize", "t.conllu", "--evalset", "x.xlsx"], TABLES),
        (["report", "e.jsonl", "-o", "x.xlsx"], ".html"),
        (["score", "e.jsonl", "-m", "bleu", "-o", "x.xlsx"], "CSV (.csv)"),
        (["metrics", "-o", "x.xlsx"], "`wellput report` makes a page"),
    ],
)
def test_an_unknown_suffix(run: Run, tmp_path: Path, arguments: list[str], fragment: str) -> None:
    outcome = run(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("wellput: x.xlsx: ") and fragment in outcome.err
    assert not (tmp_path / "x.xlsx").exists()


def test_the_suffix_names_the_format_unless_it_is_given(run: Run, tmp_path: Path) -> None:
    assert run("metrics", "-o", "x.json").code == 0
    assert "bleu" in json.dumps(json.loads((tmp_path / "x.json").read_text()))
    assert run("metrics", "-o", "x.html", "--format", "markdown").code == 0
    assert (tmp_path / "x.html").read_text().startswith("| ")


@pytest.mark.parametrize("name", ["scores", "scores.v2/", "there.v2"])
def test_folders_may_have_dots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    from wellput.io.segment_scores import is_segment_folder

    (tmp_path / "there.v2").mkdir()
    monkeypatch.chdir(tmp_path)
    assert is_segment_folder(name)
