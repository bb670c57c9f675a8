"""`wellput rank`: from a file of judgments to who won."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run
from wellput.example.harbor import harbor_example, simulated_judgments


def write_judgments(path: Path) -> None:
    lines = ["judge,item,system,question,value"]
    lines += [
        f"{one.judge},{one.item},{one.system},{one.question},{one.value}"
        for one in simulated_judgments(harbor_example())
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_who_won_stands_first(run: Run, tmp_path: Path) -> None:
    write_judgments(tmp_path / "j.csv")
    outcome = run("rank", "j.csv")
    assert outcome.code == 0
    assert outcome.out.startswith("Whom people prefer: quality")
    assert "Simulated judges prefer careful" in outcome.out
    assert "(simulated)" in outcome.out


def test_the_json_has_the_keys_of_the_design(run: Run, tmp_path: Path) -> None:
    write_judgments(tmp_path / "j.csv")
    outcome = run("rank", "j.csv", "--format", "json")
    value = json.loads(outcome.out)
    assert {"questions", "excluded"} <= value.keys()
    (question,) = value["questions"]
    assert {
        "question", "model", "systems", "differences", "variance", "reliability", "by",
    } <= question.keys()  # fmt: skip
    assert {
        "system", "estimate", "low", "high", "rank", "rank_low", "rank_high", "cluster", "n",
        "raw_mean",
    } <= question["systems"][0].keys()  # fmt: skip
    first = question["differences"][0]
    assert {"systems", "delta", "low", "high", "p_value", "p_adjusted"} <= first.keys()
    assert list(question["variance"]) == [
        "judge", "item", "document", "judge:system", "item:system", "document:system", "residual",
    ]  # fmt: skip
    estimates = [row["estimate"] for row in question["systems"]]
    assert estimates == sorted(estimates, reverse=True)


def test_wrong_names_are_refused_with_what_there_is(run: Run, tmp_path: Path) -> None:
    write_judgments(tmp_path / "j.csv")
    for option, message in (
        (("--question", "fluency"), "was not asked"),
        (("--against", "carefull"), "Did you mean careful?"),
        (("--random", "jugde"), "Did you mean judge?"),
        (("--judges", "Zoe"), "--judges Zoe: no judge has this name. The judges are simulated"),
        (("--generalize", "both"), "hold for these systems, other items and other judges"),
        (("--covariates", "length"), "--evalset"),
    ):
        outcome = run("rank", "j.csv", *option)
        assert outcome.code == 2, option
        assert message in outcome.err, outcome.err


def test_columns_of_another_table_are_refused_with_options_to_type(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "scores.csv").write_text("system,item,metric,score\nA,1,bleu,1\n", encoding="utf-8")
    outcome = run("rank", "scores.csv")
    assert outcome.code == 2
    assert "say which: --column judge=NAME --column item=NAME and so on." in outcome.err


def test_tables_of_several_questions_are_told_apart(run: Run, tmp_path: Path) -> None:
    write_judgments(tmp_path / "j.csv")
    head, *lines = (tmp_path / "j.csv").read_text(encoding="utf-8").splitlines()
    more = [line.replace("quality", "fluency") for line in lines]
    (tmp_path / "two.csv").write_text("\n".join([head, *lines, *more]) + "\n", encoding="utf-8")
    outcome = run("rank", "two.csv", "--permutations", "10")
    assert "How far systems are apart (quality (simulated))" in outcome.out
    assert "Within a system, judgments differ by (fluency (simulated))" in outcome.out
    latex = run("rank", "two.csv", "--permutations", "10", "--format", "latex").out
    labels = [line for line in latex.splitlines() if line.startswith("\\label")]
    assert len(labels) == len(set(labels)) == 8
    alone = run("rank", "j.csv", "--permutations", "10").out
    assert "How far systems are apart\n" in alone
