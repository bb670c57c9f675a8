"""`wellput metrics` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.programs import parameters
from wellput.metrics.registry import BUILT_IN


def test_everything_goes_to_a_pipe(run: Run) -> None:
    outcome = run("metrics")
    assert outcome.code == 0
    header, _, first, *_ = outcome.out.splitlines()
    assert header.split() == ["metric", "better", "needs", "options", "about", "paper"]
    assert header.index("options") == first.index("tokenize=13a")  # words begin where headings do


def test_a_narrow_terminal_shows_what_fits(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("metrics", "options"):
        monkeypatch.setattr(f"wellput.cli.{module}.terminal_width", lambda _: 80)
    outcome = run("metrics")
    assert outcome.out.splitlines()[0].split() == ["metric", "better", "needs", "about"]
    assert max(map(len, outcome.out.splitlines())) <= 80
    assert "wellput metrics bleu" in outcome.out


def test_one_metric(run: Run) -> None:
    outcome = run("metrics", "BLEU")
    assert outcome.code == 0
    for fragment in (
        "n-gram precision with a brevity penalty",
        "Give a file of references (--ref FILE), or put them into the evalset.",
        "Papineni et al. 2002",
        " max_ngram_order   4         a whole number\n",
        " smooth_method     exp       exp or floor or add-k or none\n",
        "Example: wellput score --ref ref.txt --hyp A=a.txt -m bleu\n",
    ):
        assert fragment in outcome.out
    [record] = run("metrics", "chrF++", "--format", "json").json["metrics"]
    assert record["metric"] == "chrf"
    assert record["defaults"]["word_order"] == "0" and record["values"]["beta"]
    assert record["examples"][0].endswith(" -m chrf:word_order=2")
    assert "chrF++ is chrf:word_order=2.\n" in run("metrics", "chrF++").out


def test_an_unknown_metric_is_refused(run: Run) -> None:
    outcome = run("metrics", "blue")
    assert outcome.code == 2
    assert "No metric 'blue'. Did you mean bleu?" in outcome.err
    assert "is a fitted metric" in run("metrics", "./q.json").err


OF_TEXT = [name for name in BUILT_IN if name != "logged"]


@pytest.mark.parametrize(
    "name",
    parameters(OF_TEXT, {"gleu-fluency": "link grammar", "meteor": "WordNet"}),
)
def test_the_examples_run(run: Run, tmp_path: Path, name: str) -> None:
    [record] = run("metrics", name, "--format", "json").json["metrics"]
    for file in ("ref.txt", "a.txt"):
        (tmp_path / file).write_text("The ferry leaves at noon.\nIt rained all day.\n")
    arpa = Path(__file__).parents[1] / "metrics" / "tiny.arpa"
    (tmp_path / "evalset.jsonl").write_text(
        '{"id": "1", "source": "It is raining.", "references": ["It rains."], '
        '"outputs": {"A": "It rains."}}\n'
    )
    (tmp_path / "news.arpa").write_text(arpa.read_text())
    (tmp_path / "vectors.txt").write_text((arpa.parent / "vectors.txt").read_text())
    assert record["examples"]
    for example in record["examples"]:
        program, *arguments = example.split()
        assert program == "wellput"
        assert run(*arguments).code == 0, example


def test_display_metrics_have_an_example_too(run: Run) -> None:
    assert run("displays", "example", "-n", "4", "-o", "corpus.jsonl").code == 0
    [record] = run("metrics", "display-f", "--format", "json").json["metrics"]
    [example] = record["examples"]
    assert run(*example.split()[1:]).code == 0
