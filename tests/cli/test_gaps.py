"""Evalsets and files of scores with gaps: the commands go on, and say what is missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run

Write = Callable[..., None]
N_ITEMS = 20
WITHOUT = (3, 8, 12)
OUTPUTS = {"A": "a b c d {}", "B": "b a {} {}", "C": "c {} a a"}
RARE = {"A": "b d", "B": "a b c {}", "C": "a b"}
"""Outputs of every fifth item, so that no metric is the same for all outputs of a system."""


def item_line(number: int, *, has_reference: bool) -> str:
    words = f"w{number % 7}"
    outputs = RARE if number % 5 == 0 else OUTPUTS
    record = {
        "id": str(number),
        "references": [f"a b c d {words}"] if has_reference else [],
        "outputs": {system: text.format(words, number) for system, text in outputs.items()},
    }
    return json.dumps(record) + "\n"


RATINGS = "judge,item,system,question,value\n" + "".join(
    f"{judge},{n},{system},quality,{value + (n + shift) % 3}\n"
    for judge, shift in (("J1", 0), ("J2", 1))
    for n in range(N_ITEMS)
    for system, value in (("A", 5), ("B", 3), ("C", 1))
)
SCORES = "system,item,score\n" + "".join(
    f"{system},{n},{worse + n % 4}\n"
    for worse, system in enumerate(("A", "B", "C", "D"))
    for n in (*range(N_ITEMS), 99)
)
NOTES = (
    "metricx: lower is better, by its name; higher=true after the path says otherwise.",
    "the scores of 1 system and 1 item that the evalset does not have are not used ('D').",
    "1 row repeats a score that another row has.",
)


@pytest.fixture(autouse=True)
def given_files(files: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wellput.reporting.html.page.chart_library", lambda: "/* library */")
    numbers = range(N_ITEMS)
    files(
        **{
            "whole.jsonl": "".join(item_line(n, has_reference=True) for n in numbers),
            "gaps.jsonl": "".join(item_line(n, has_reference=n not in WITHOUT) for n in numbers),
            "j.csv": RATINGS,
            "metricx.csv": SCORES + "A,0,0\n",
        }
    )


@pytest.mark.parametrize(
    "command",
    [
        "score whole.jsonl -m ./metricx.csv",
        "agree whole.jsonl j.csv -m ./metricx.csv --resamples 20",
        "fit whole.jsonl j.csv --question quality --predictors ./metricx.csv,ssa --generalize items",
        "report whole.jsonl j.csv -m ./metricx.csv --resamples 20 -o r.html",
    ],
)
def test_what_of_a_file_of_scores_is_not_used_is_said(command: str, run: Run) -> None:
    outcome = run(*command.split())
    assert outcome.code == 0, outcome.err
    shown = " ".join(outcome.out.split())
    assert all(shown.count(note) == 1 for note in NOTES), outcome.out


def test_the_page_and_the_json_of_a_report_have_the_notes(run: Run, tmp_path: Path) -> None:
    command = "report whole.jsonl j.csv -m ./metricx.csv --resamples 20 -o r.html --format json"
    notes = run(*command.split()).json["score"]["notes"]
    assert [note.removeprefix("metricx: ") for note in notes[1:]] == list(NOTES[1:])
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert all(page.count(note) == 1 for note in NOTES)


@pytest.mark.parametrize(
    "command",
    [
        "vet j.csv --judge ./metricx.csv --evalset whole.jsonl",
        "estimate whole.jsonl j.csv --proxy ./metricx.csv",
    ],
)
def test_the_json_of_a_machine_s_commands_has_the_notes(command: str, run: Run) -> None:
    outcome = run(*command.split(), "--format", "json")
    assert outcome.code == 0, outcome.err
    notes = outcome.json["notes"]
    assert [note.removeprefix("metricx: ") for note in notes] == [
        note.removeprefix("metricx: ") for note in NOTES
    ]


@pytest.mark.parametrize(
    ("command", "note"),
    [
        (
            "score gaps.jsonl -m chrf,ssa,length",
            "3 items have no reference and are left out for chrf, ssa: 3, 8, 12.",
        ),
        (
            "agree gaps.jsonl j.csv -m chrf,ssa,length --resamples 20",
            "chrf, ssa each have no value for 9 outputs judged on quality: no metric is compared with "
            "people on them.",
        ),
        (
            "report gaps.jsonl j.csv -m chrf,ssa,length --resamples 20 -o r.html",
            "3 items have no reference and are left out for chrf, ssa: 3, 8, 12.",
        ),
        (
            "fit gaps.jsonl j.csv --question quality --predictors chrf,ssa,length --generalize items",
            "Left out: 9 judged outputs, as their items have no reference: items 3, 8, 12.",
        ),
        (
            "estimate gaps.jsonl j.csv --proxy chrf",
            "9 labels not used: the proxy has no score there.",
        ),
    ],
)
def test_items_without_references_are_left_out_with_one_note(
    command: str, note: str, run: Run
) -> None:
    outcome = run(*command.split())
    assert outcome.code == 0, outcome.err
    assert " ".join(outcome.out.split()).count(note) == 1, outcome.out


def test_fitting_proxies_says_which_items_count(run: Run) -> None:
    refused = run("estimate", "gaps.jsonl", "j.csv", "--proxy", "chrf,length")
    assert refused.code == 2
    assert "needs 20 labeled items that all of them have a score for; there are 17" in refused.err


def test_a_wrong_score_file_is_said_to_be_wrong_not_to_be_no_judge(run: Run, files: Write) -> None:
    files(**{"bad.csv": "system,item,score\nA,1,good\n"})
    refused = run("vet", "j.csv", "--judge", "./bad.csv", "--evalset", "whole.jsonl")
    assert refused.code == 2
    assert "line 2: bad: the score 'good' is not a number" in refused.err
    assert "judge" not in refused.err


def test_an_unknown_cluster_is_refused_even_where_no_interval_is_asked_for(run: Run) -> None:
    refused = run("score", "whole.jsonl", "-m", "length", "--cluster", "nosuch")
    assert refused.code == 2
    assert "--cluster nosuch is not a tag of the evalset" in refused.err
