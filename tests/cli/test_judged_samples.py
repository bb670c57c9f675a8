"""Judgments of single samples on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.cli.conftest import Run

REFERENCE = "the cat sat on a mat"


@pytest.fixture
def study(files: Callable[..., None]) -> None:
    """Two samples of each output; people count the right words of the second one."""
    items, rows = [], ["judge,item,system,question,value,sample"]
    for number in range(12):
        outputs = {}
        for place, system in enumerate("ABCD"):
            n_right = [(5 * number + place * place) % 7, (3 * number + 2 * place) % 7]
            outputs[system] = [
                " ".join((REFERENCE.split()[:n] + ["wrong"] * 6)[:6]) for n in n_right
            ]
            rows += [f"{judge},i{number},{system},q,{n_right[1]},1" for judge in ("Kim", "Lee")]
        items.append({"id": f"i{number}", "references": [REFERENCE], "outputs": outputs})
    files(
        **{
            "e.jsonl": "".join(json.dumps(item) + "\n" for item in items),
            "j.csv": "\n".join(rows) + "\n",
            "wrong.csv": "\n".join([*rows, "Kim,i3,B,q,2,2"]) + "\n",
        }
    )


@pytest.mark.usefixtures("study")
def test_agree_scores_the_sample_that_was_judged(run: Run) -> None:
    arguments = "-m", "gsa", "--normalize", "none", "--format", "json"
    result = run("agree", "e.jsonl", "j.csv", *arguments).json
    assert result["agreement"][0]["value"] == pytest.approx(1)
    assert any("which samples were judged" in note for note in result["notes"])


@pytest.mark.usefixtures("study")
def test_an_unknown_sample_is_refused_and_the_exclusion_in_the_message_works(run: Run) -> None:
    outcome = run("agree", "e.jsonl", "wrong.csv", "-m", "gsa")
    assert outcome.code == 2
    assert "sample 2 of system 'B', item 'i3' (1 judgment)" in outcome.err
    rule = "system=B,item=i3: no such sample"
    assert f'--exclude "{rule}"' in outcome.err
    assert run("agree", "e.jsonl", "wrong.csv", "-m", "gsa", "--exclude", rule).code == 0
