"""`wellput train fluency` and the fluency metrics on the command line, with the shipped models."""

from __future__ import annotations

import time
from itertools import product
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.programs import parameters

pytestmark = pytest.mark.heavy  # trained models

PEOPLE = ("man", "woman", "child", "teacher", "farmer", "doctor")
THINGS = ("house", "garden", "river", "letter", "book", "picture")
VERBS = ("saw", "found", "liked", "forgot", "described", "remembered")
TALES = (
    "The old {0} {2} the small {1} near the church .",
    "When the {0} came home , she {2} a {1} that her friends had never seen .",
    "It was late , but the {0} still {2} the {1} on the table , and nobody said anything about it .",
    "My {0} always {2} every {1} in the town before the winter came to the valley .",
)
LONG = "The man who came in the morning said " + "that he had seen a ship and " * 42 + "left."


def corpus() -> str:
    """864 different sentences."""
    told = (
        tale.format(*names).replace(" .", ".").replace(" ,", ",")
        for names in product(PEOPLE, THINGS, VERBS)
        for tale in TALES
    )
    return "\n\n".join(told)


def test_a_trained_model_tells_order_from_disorder(run: Run, tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text(corpus())
    made = run(
        *("train", "fluency", "--text", "corpus.txt", "--no-gleu", "-o", "own", "--format", "json")
    )
    assert made.code == 0, made.err
    assert made.json["real"] + made.json["source"] == 864
    weights = made.json["files"]["fluency.wpm"]
    assert all(weight >= 0 for weight in weights.values())
    assert weights["spelling"] > 0
    (tmp_path / "a.txt").write_text("The old teacher liked the small garden near the river.\n")
    (tmp_path / "b.txt").write_text("Teacher the gardn small old liked near river the the\n")
    scored = run(
        *("score", "--hyp", "A=a.txt", "--hyp", "B=b.txt", "-m", "fluency:model=own"),
        *("--format", "json"),
    )
    better, worse = (row["score"] for row in scored.json["scores"])
    assert better > 0.5 > worse


def test_too_little_text_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("The cat sat on the mat.\n" * 20)
    outcome = run("train", "fluency", "--text", "corpus.txt", "--no-gleu", "-o", "own")
    assert outcome.code == 2
    assert "give more text" in outcome.err


@pytest.mark.parametrize(
    "metric", parameters(["fluency", "gleu-fluency"], {"gleu-fluency": "link grammar"})
)
def test_any_output_is_scored_in_bounded_time(run: Run, tmp_path: Path, metric: str) -> None:
    # 300 words are too many for link grammar; the parser's chart is split into fragments.
    assert len(LONG.split()) == 303
    (tmp_path / "a.txt").write_text(f"{LONG}\n\nnull\nThe cat sat on the mat.\n")
    started = time.monotonic()
    outcome = run("score", "--hyp", "A=a.txt", "-m", metric, "--segments", "s.csv")
    assert outcome.code == 0, outcome.err
    assert time.monotonic() - started < 60
    scores = [line.split(",")[-1] for line in (tmp_path / "s.csv").read_text().splitlines()[1:]]
    long, empty, null, fine = scores
    assert float(fine) > float(null)
    assert float(fine) > float(long)
    # An empty output is not fluent, but the parsers give it no score.
    assert (empty == "") if metric == "gleu-fluency" else (float(empty) == 0)
