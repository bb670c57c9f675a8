"""`wellput vet`: from a file of judgments to a verdict."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import Run
from tests.cli.test_rank import write_judgments

Files = Callable[..., None]
HEADER = "judge,item,system,question,value\n"


def test_the_json_has_the_keys_of_the_design(run: Run, tmp_path: Path) -> None:
    write_judgments(tmp_path / "j.csv")
    value = json.loads(run("vet", "j.csv", "--judge", "simulated 8", "--format", "json").out)
    assert {
        "judge", "n_judges", "n_items", "alt_test", "agreement", "consistency", "bias",
    } <= value.keys()  # fmt: skip
    assert value["n_judges"] == 7
    assert list(value["alt_test"])[:5] == [
        "epsilon", "scoring", "winning_rate", "advantage_probability", "passed",
    ]  # fmt: skip
    assert {"judge", "p_value", "won"} <= value["alt_test"]["judges"][0].keys()
    assert {"people", "judge"} <= value["agreement"].keys()
    assert {"position", "length", "self_preference"} <= value["bias"].keys()
    assert value["bias"]["position"] is None


def test_the_verdict_stands_beneath_the_test(run: Run, tmp_path: Path) -> None:
    write_judgments(tmp_path / "j.csv")
    out = run("vet", "j.csv", "--judge", "simulated 8").out
    assert out.startswith("May simulated 8 stand in for people?")
    assert "simulated 8 is not shown to be able to stand in for a person" in out
    assert "give --evalset" in out


def test_labels_are_compared_as_text(run: Run, files: Files) -> None:
    rows = [
        f"{judge},{item},s,kind,{'cause' if item % 2 else 'part'}"
        for judge in ("Kim", "Lee", "model:m")
        for item in range(30)
    ]
    files(**{"j.csv": HEADER + "\n".join(rows) + "\n"})
    value = json.loads(run("vet", "j.csv", "--judge", "model:m", "--format", "json").out)
    assert value["alt_test"]["scoring"] == "accuracy"
    assert value["alt_test"]["winning_rate"] == 1
    assert value["agreement"]["judge"]["value"] == 1


def test_wrong_names_are_refused_with_what_there_is(run: Run, files: Files) -> None:
    rows = [f"{judge},{item},A,q,{item}" for judge in ("Kim", "Lee") for item in range(3)]
    files(
        **{
            "j.csv": HEADER + "\n".join(rows) + "\n",
            "e.jsonl": '{"id": "0", "outputs": {"A": "a"}}\n',
        }
    )
    outcome = run("vet", "j.csv", "--judge", "Leee")
    assert outcome.code == 2
    assert "Did you mean Lee?" in outcome.err
    outcome = run("vet", "j.csv", "--judge", "Kim", "--question", "qq")
    assert "was not asked" in outcome.err
    outcome = run("vet", "j.csv", "--judge", "chrrf", "--evalset", "e.jsonl")
    assert "not a metric either" in outcome.err


def test_judgments_of_unknown_items_are_left_out_with_a_note(run: Run, files: Files) -> None:
    rows = [
        f"{p},{item},A,q,{item + i}" for i, p in enumerate(("K", "L", "M")) for item in range(9)
    ]
    evalset = "".join(f'{{"id": "{item}", "outputs": {{"A": "a"}}}}\n' for item in range(8))
    files(**{"j.csv": HEADER + "\n".join(rows) + "\n", "e.jsonl": evalset})
    outcome = run("vet", "j.csv", "--judge", "K", "--evalset", "e.jsonl", "--min-items", "2")
    assert "Left out (not in the evalset): 3 judgments of 8." in outcome.out
