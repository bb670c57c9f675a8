"""`wellput probe`: from texts to what a metric misses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import wellput
from tests.cli.conftest import Run
from wellput.agreement.probing import UNCHANGED
from wellput.io.minimal_pairs import DEMETR_KEYS

Files = Callable[..., None]
NOTICES = """The ferry has left the harbor.
We can see the island from here.
She did not pay 30 euros.
"""


def test_the_json_has_the_keys_of_the_design(run: Run, files: Files) -> None:
    files(**{"n.txt": NOTICES})
    value = run(
        "probe",
        "-m",
        "ssa,exact",
        "n.txt",
        "--perturbations",
        "negation,number",
        "--format",
        "json",
    ).json
    assert [(row["metric"], row["perturbation"]) for row in value["probes"]] == [
        ("ssa", "negation"), ("ssa", "number"), ("exact", "negation"), ("exact", "number"),
    ]  # fmt: skip
    keys = "metric perturbation severity n accuracy ties low high effect"
    assert set(keys.split()) <= value["probes"][0].keys()
    assert value["probes"][0]["accuracy"] == 1.0
    assert value["probes"][0]["n"] == 3
    # A changed sentence is no longer equal to its reference, which it was before.
    assert value["probes"][2]["effect"] == 1.0


def test_kinds_of_change_that_no_text_allows_are_named(run: Run, files: Files) -> None:
    files(**{"n.txt": "The ship did not come.\nNobody opened the old gate.\n"})
    out = run("probe", "-m", "ssa", "n.txt", "--perturbations", "negation,number").out
    assert "No text can be changed in this way: number." in out


def test_texts_are_written_scored_elsewhere_and_read_back(run: Run, files: Files) -> None:
    files(**{"n.txt": NOTICES})
    made = run("probe", "n.txt", "--perturbations", "negation,casing", "--write", "t.jsonl")
    assert made.code == 0, made.err
    assert "give the scores as --scores" in made.out
    texts = wellput.read_evalset("t.jsonl")
    assert texts.systems == (UNCHANGED, "negation/critical", "casing/harmless")
    # Another program gives every text its length: the negated text is longer, twice of three times.
    rows = [
        f"{system},{item.id},words,{len(str(text).split())}"
        for item in texts
        for system, text in item.outputs.items()
    ]
    files(**{"s.csv": "\n".join(["system,item,metric,score", *rows])})
    got = run("probe", "--dataset", "t.jsonl", "--scores", "s.csv", "--format", "json").json
    (negation, casing) = got["probes"]
    # + not, + not (cannot is one word: a tie), − not: 1 win, 1 tie, 1 loss.
    assert (negation["accuracy"], negation["ties"]) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert casing["effect"] == 0.0
    both = run(
        "probe", "-m", "ssa", "--dataset", "t.jsonl", "--scores", "s.csv", "--format", "json"
    )
    direct = run(
        "probe", "-m", "ssa", "n.txt", "--perturbations", "negation,casing", "--format", "json"
    )
    assert both.json["probes"][:2] == direct.json["probes"]


def test_judgments_are_scores_too(run: Run, files: Files) -> None:
    files(**{"n.txt": NOTICES})
    run("probe", "n.txt", "--perturbations", "negation", "--write", "t.jsonl")
    rows = [
        f"model:m,{item},{system},quality,{value}"
        for item in "123"
        for system, value in ((UNCHANGED, 4), ("negation/critical", 2))
    ]
    rows.append(f"model:m,1,{UNCHANGED},quality,0")  # asked again: the mean is 2, a tie
    files(**{"j.csv": "\n".join(["judge,item,system,question,value", *rows])})
    got = run("probe", "--dataset", "t.jsonl", "--scores", "j.csv", "--format", "json").json
    (row,) = got["probes"]
    assert (row["metric"], row["n"]) == ("model:m", 3)
    assert (row["accuracy"], row["ties"]) == (pytest.approx(2 / 3), pytest.approx(1 / 3))


def test_pairs_of_others_are_grouped_and_equal_ones_left_out(run: Run, files: Files) -> None:
    header = "reference,better,worse,perturbation,severity\n"
    rows = "r,a b,a,cut,major\nr,a b,a b,cut,major\nr,a b,b,cut,major\nr,a b,A B,case,harmless\n"
    files(**{"p.csv": header + rows})
    outcome = run("probe", "-m", "length-only", "--dataset", "p.csv", "--format", "json")
    cut, case = outcome.json["probes"]
    assert (cut["n"], cut["accuracy"]) == (2, 1.0)
    assert (case["severity"], case["n"], case["accuracy"]) == ("harmless", 1, 1.0)
    assert "1 pair of equal texts is left out." in outcome.json["notes"]


def test_which_text_is_changed(run: Run, files: Files) -> None:
    outputs = '{"A": "We can run.", "B": "We can sit."}'
    line = f'{{"id": "1", "references": ["We can go."], "outputs": {outputs}}}'
    files(**{"e.jsonl": line})
    for options, text in (([], "We cannot run."), (["--system", "B"], "We cannot sit.")):
        run("probe", "e.jsonl", "--perturbations", "negation", "--write", "t.jsonl", *options)
        item = wellput.read_evalset("t.jsonl").items[0]
        assert item.outputs["negation/critical"] == text
        assert item.references == ("We can go.",)
    two = line.replace('["We can go."]', '["We can go.", "We can leave."]')
    files(**{"two.jsonl": two})
    run("probe", "two.jsonl", "--perturbations", "negation", "--write", "t.jsonl")
    item = wellput.read_evalset("t.jsonl").items[0]
    assert item.outputs["negation/critical"] == "We cannot leave."
    assert item.references == ("We can go.",)


def test_examples_show_what_was_got_wrong(run: Run, files: Files) -> None:
    files(**{"n.txt": NOTICES})
    out = run("probe", "-m", "length-only", "n.txt", "--perturbations", "negation", "--explain").out
    assert "length-only, negation (critical), item 1" in out
    assert "  worse  8.000  The ferry has not left the harbor." in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", "length"], "length is neither good nor bad"),
        (["--perturbations", "negatoin"], "Did you mean negation"),
        (["--system", "nobody"], "--system nobody has no outputs"),
        (["n.txt", "--dataset", "p.csv"], "--dataset has its own texts"),
        (["n.txt", "--perturbations", "passive"], "None of the changes could be made"),
        (
            ["--dataset", "p.csv", "--perturbations", "swap"],
            "The dataset has no perturbation 'swap'",
        ),
        (["empty.txt"], "no text to change"),
        (["missing.jsonl"], "missing.jsonl"),
        (["-m", "chrf", "free.jsonl"], "reference"),
        (["p.csv"], "p.csv has minimal pairs: give it as --dataset"),
        (["d.json"], "d.json has minimal pairs: give it as --dataset"),
        (["--dataset", "free.jsonl"], "has no minimal pairs: give it as the corpus"),
    ],
)
def test_what_cannot_be_done_is_said(
    run: Run, files: Files, arguments: list[str], message: str
) -> None:
    files(
        **{
            "n.txt": NOTICES,
            "empty.txt": "\n \n",
            "p.csv": "better,worse,perturbation,severity\na,b,cut,major\n",
            "d.json": json.dumps([dict.fromkeys(DEMETR_KEYS, "a")]),
            "free.jsonl": '{"id": "1", "outputs": {"A": "We can run."}}',
        }
    )
    outcome = run("probe", *arguments)
    assert outcome.code == 2
    assert message in outcome.err


def test_the_report_says_first_what_is_missed(run: Run, tmp_path: Path) -> None:
    assert run("probe", "-m", "bleu,random", "-n", "40", "-o", "p.md").code == 0
    outcome = run("probe", "-m", "bleu,random", "-n", "40")
    assert outcome.out.startswith("What does each metric miss?")
    assert "How often does the better text win?" in outcome.out
    assert "Do harmless changes cost more than errors?" in outcome.out
    shown = run("probe", "-m", "bleu,random", "-n", "40", "--format", "json").json
    assert "Blind to" in shown["summary"]["random"]
    assert json.loads(json.dumps(shown)) == shown


def test_a_report_has_a_heat_map(run: Run) -> None:
    run("demo", "--no-report", "--save", "e.jsonl", "--save-judgments", "j.csv")
    outcome = run(
        "report", "e.jsonl", "-m", "ssa,length", "--probe", "-o", "r.html", "--threads", "1"
    )
    assert outcome.code == 0, outcome.err
    page = Path("r.html").read_text(encoding="utf-8")
    assert '"name":"probe","title":"What metrics notice"' in page
    assert '"metric":"ssa","change":"negation, critical"' in page
    assert '"metric":"length","change"' not in page  # a length is neither good nor bad
    refused = run("report", "e.jsonl", "-m", "length", "--probe", "-o", "r.html")
    assert "none of the metrics can score changed texts" in refused.err


def test_the_plot_is_a_heat_map_of_kinds_with_enough_texts() -> None:
    chart = wellput.probe("ssa", perturbations="negation,pronoun").plot().to_dict()
    rows = (
        chart["data"]["values"]
        if "values" in chart["data"]
        else next(iter(chart["datasets"].values()))
    )
    assert {row["change"] for row in rows} == {"negation, critical"}  # one text has a pronoun


GERMAN = "Das Schiff fährt heute um zwölf Uhr vom alten Hafen ab.\n"


def test_texts_that_are_not_english_are_left_out_and_counted(run: Run, files: Files) -> None:
    files(**{"n.txt": NOTICES + GERMAN})
    got = run("probe", "-m", "ssa", "n.txt", "--perturbations", "negation", "--format", "json").json
    assert got["probes"][0]["n"] == 3
    assert got["notes"][-1] == ("1 of 4 texts is not English prose and is left out: not English 1.")


def test_a_corpus_of_another_language_is_refused(run: Run, files: Files) -> None:
    files(**{"n.txt": 2 * GERMAN})
    refused = run("probe", "-m", "ssa", "n.txt", "--perturbations", "negation")
    assert refused.code == 2
    assert "No text of the corpus is English prose: not English 2." in refused.err
    assert "--dataset" in refused.err
