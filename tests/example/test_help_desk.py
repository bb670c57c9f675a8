"""The example of a language-model product: what its files must show."""

from __future__ import annotations

import csv
from pathlib import Path

import wellput
from wellput.example.help_desk import MODELS, answer_rows, write_example
from wellput.io import read_judgments


def test_the_files_are_what_the_tutorial_says(tmp_path: Path) -> None:
    answers, scores, thumbs = write_example(tmp_path)
    with answers.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 40
    assert len({row["prompt_id"] for row in rows}) == 40
    assert len({row["article"] for row in rows}) == 10
    assert len({row["domain"] for row in rows}) == 3
    judgments = read_judgments(thumbs)
    assert {one.judge.partition(" ")[0] for one in judgments} == {"simulated"}
    assert {one.item for one in judgments} < {row["prompt_id"] for row in rows}
    assert scores.read_text(encoding="utf-8").count("correct") == 120


def test_people_and_the_check_agree_and_the_grader_does_not() -> None:
    from wellput.example.help_desk import help_desk_scores, thumb_rows

    ranking = wellput.rank(list(thumb_rows()), permutations=10).rankings[0]
    assert ranking.systems[0].system == "careful"
    sums: dict[str, dict[str, float]] = {}
    for row in help_desk_scores():
        own = sums.setdefault(row["metric"], dict.fromkeys(MODELS, 0.0))
        own[row["system"]] += float(row["score"])
    assert max(sums["correct"], key=sums["correct"].__getitem__) == "careful"
    assert max(sums["grader"], key=sums["grader"].__getitem__) == "chatty"
    assert sums["correct"]["careful"] / len(answer_rows()) == 0.975
