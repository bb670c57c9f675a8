"""`wellput fit` on the command line, and the metric it makes."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm

import wellput
from tests.cli.conftest import Outcome, Run

Write = Callable[..., None]

WORDS = [
    "the",
    "ferry",
    "leaves",
    "harbor",
    "at",
    "nine",
    "because",
    "storm",
    "boats",
    "sail",
    "late",
]
SYSTEMS = ("A", "B", "C")


def refused(outcome: Outcome, *fragments: str) -> None:
    assert outcome.code == 2, outcome
    assert outcome.out == ""
    assert "Traceback" not in outcome.err
    for fragment in fragments:
        assert fragment in outcome.err, outcome.err


def damaged(words: list[str], rng: random.Random, errors: int) -> str:
    result = list(words)
    for _ in range(errors):
        place = rng.randrange(len(result))
        kind = rng.choice("sid")
        if kind == "s":
            result[place] = f"{rng.choice(WORDS)}x"
        elif kind == "i":
            result.insert(place, rng.choice(WORDS))
        elif len(result) > 2:
            del result[place]
    return " ".join(result)


def evalset(items: int = 20) -> str:
    rng = random.Random(7)
    lines = []
    for number in range(items):
        reference = [rng.choice(WORDS) for _ in range(rng.randint(4, 14))]
        outputs = {
            system: damaged(reference, rng, rng.randint(0, 3 + place))
            for place, system in enumerate(SYSTEMS)
        }
        item = {"id": str(number), "references": [" ".join(reference)], "outputs": outputs}
        lines.append(json.dumps(item))
    return "\n".join(lines) + "\n"


def ratings(folder: Path, *, judges: int = 3, noise: float = 0.3) -> str:
    """Judges who agree with ssa, dislike substitutions, and use different scales."""
    table = wellput.score(folder / "evalset.jsonl", "ssa", keep_rows=True).table("ssa")
    substitutions = table.components(table.statistics)["substitutions"]
    liking = 2 * table.scores - 0.3 * substitutions
    rng = np.random.default_rng(3)
    rows = ["judge,item,system,question,value"]
    for judge in range(judges):
        for s, system in enumerate(table.systems):
            for i, item in enumerate(table.items):
                value = (1 + judge) * (liking[s, i] + noise * rng.normal()) + 10 * judge
                rows.append(f"J{judge},{item},{system},quality,{value:.4f}")
    rows.append("J0,0,A,clarity,3")
    return "\n".join(rows) + "\n"


@pytest.fixture
def study(files: Write, tmp_path: Path) -> None:
    files(**{"evalset.jsonl": evalset()})
    files(**{"judgments.csv": ratings(tmp_path)})


def fit(run: Run, *arguments: str) -> Outcome:
    given = ["fit", "evalset.jsonl", "judgments.csv"]
    for name, value in (
        ("--question", "quality"),
        ("--predictors", "ssa,ssa.substitutions,length"),
    ):
        given += [] if name in arguments else [name, value]
    return run(*given, *arguments)


def test_one_item_is_not_helped_by_asking_about_items(run: Run, tmp_path: Path) -> None:
    words = ["the", "ferry", "leaves", "the", "harbor", "at", "noon"]
    outputs = {name: " ".join(words[: 7 - place]) for place, name in enumerate("ABCDE")}
    Path("one.jsonl").write_text(
        json.dumps({"id": "1", "references": [" ".join(words)], "outputs": outputs}) + "\n"
    )
    rows = [
        f"J{j},1,{name},q,{9 - place - (j * place) % 3}"
        for place, name in enumerate("ABCDE")
        for j in (1, 2, 3)
    ]
    Path("one.csv").write_text("\n".join(["judge,item,system,question,value", *rows]) + "\n")
    shown = run("fit", "one.jsonl", "one.csv", "--question", "q", "--predictors", "ssa").out
    assert "No interval and no p: 1 item cannot show how others differ, it takes 4." in shown


@pytest.mark.usefixtures("study")
def test_fit_then_score(run: Run, tmp_path: Path) -> None:
    outcome = fit(run, "-o", "quality.json")
    assert outcome.code == 0, outcome.err
    for part in (
        "Models of quality",
        "60 judged outputs of 3 systems for 20 items, 3 judges, normalization z",
        "No value of length is perfect: fitted again without it",
        "so that a perfect sentence scores 1",
        "judgments it was not fitted to",
        "No interval and no p: 3 systems cannot show how others differ, it takes 4",
        "--generalize items asks about other items",
        "the best single predictor (ssa",
        "It is unknown whether the difference",
    ):
        assert part in outcome.out
    result = run(
        "score", "evalset.jsonl", "-m", "./quality.json,ssa", "--format", "json", "--confidence"
    ).json
    row = result["scores"][0]
    assert row["metric"] == "./quality.json"
    assert set(row["components"]) == {"ssa", "ssa.substitutions"}
    content = json.loads((tmp_path / "quality.json").read_text(encoding="utf-8"))
    assert f"fitted:{fit(run, '--format', 'json').json['hash']}|ssa(" in row["signature"]
    assert content["card"]["judges"] == 3
    assert content["card"]["n"] == 60
    assert len(content["card"]["sha256"]["evalset"]) == 64
    assert row["low"] < row["score"] < row["high"]


@pytest.mark.usefixtures("study")
def test_the_figures_equal_statsmodels(run: Run, tmp_path: Path) -> None:
    table = wellput.score(tmp_path / "evalset.jsonl", "ssa", keep_rows=True).table("ssa")
    values: dict[tuple[str, str, str], float] = {}
    with (tmp_path / "judgments.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["question"] == "quality":
                values[row["judge"], row["system"], row["item"]] = float(row["value"])
    by_judge = []
    for judge in ("J0", "J1", "J2"):
        own = np.array([[values[judge, s, i] for i in table.items] for s in table.systems])
        by_judge.append((own - own.mean()) / own.std(ddof=1))
    y = np.mean(by_judge, axis=0).ravel()
    x = np.column_stack(
        [table.scores.ravel(), table.components(table.statistics)["substitutions"].ravel()]
    )
    theirs = sm.OLS(y, sm.add_constant(x)).fit()
    ours = fit(run, "--predictors", "ssa,ssa.substitutions", "--format", "json").json
    assert [row["coefficient"] for row in ours["coefficients"]] == pytest.approx(theirs.params[1:])
    assert ours["r_squared"] == pytest.approx(theirs.rsquared)
    assert ours["f"] == pytest.approx(theirs.fvalue)
    assert ours["aic"] == pytest.approx(theirs.aic)
    assert ours["scale"] == pytest.approx(theirs.params[0] + theirs.params[1])


@pytest.mark.usefixtures("study")
def test_the_same_input_gives_the_same_file(run: Run, tmp_path: Path) -> None:
    for name in ("one.json", "two.json"):
        assert fit(run, "--stepwise", "aic", "-o", name).code == 0
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


@pytest.mark.usefixtures("study")
@pytest.mark.parametrize("format", ["table", "json", "csv", "latex", "markdown"])
def test_every_format(run: Run, format: str) -> None:
    outcome = fit(run, "--format", format, "--stepwise", "p")
    assert outcome.code == 0
    assert "ssa.substitutions" in outcome.out
    if format == "csv":
        rows = list(csv.DictReader(io.StringIO(outcome.out)))
        assert [row["predictor"] for row in rows][-1] == "(constant)"
        assert float(rows[0]["coefficient"]) > 0
    if format == "json":
        result = outcome.json
        assert result["steps"][0]["change"] == "start"
        assert [one["left_out"] for one in result["cross_validation"]] == [
            "sentence",
            "item",
            "system",
            "both",
        ]
        assert result["models"][0]["predictors"] == ["ssa"]


@pytest.mark.usefixtures("study")
def test_the_metric_can_go_to_standard_output(run: Run) -> None:
    assert fit(run, "-o", "-").json["wellput"] == "fitted metric"


@pytest.mark.usefixtures("study")
def test_options_of_a_metric_go_into_the_file(run: Run, tmp_path: Path) -> None:
    outcome = fit(
        run, "--predictors", "ssa:lowercase=true,insertion=3.substitutions", "--predictors", "wer",
        "-o", "q.json", "--no-rescale",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    content = json.loads((tmp_path / "q.json").read_text(encoding="utf-8"))
    assert [(p["metric"], p["component"]) for p in content["predictors"]] == [
        ("ssa:lowercase=true", "substitutions"),
        ("wer", None),
    ]
    assert run("score", "evalset.jsonl", "-m", "q.json").code == 0


@pytest.mark.usefixtures("study")
def test_normalization_and_exclusions_are_listed(run: Run) -> None:
    result = fit(
        run, "--normalize", "rank", "--exclude", "judge=J1: asleep", "--format", "json"
    ).json
    assert (result["normalization"], result["judges"]) == ("rank", 2)
    assert result["excluded"] == [
        {"question": "quality", "reason": "asleep", "judge": "J1", "n": 60}
    ]
    assert (
        "Excluded judge J1 (60 judgments): asleep." in fit(run, "--exclude", "judge=J1: asleep").out
    )


def test_ratings_of_one_judge_are_not_normalized(run: Run, files: Write, tmp_path: Path) -> None:
    files(**{"evalset.jsonl": evalset()})
    files(**{"judgments.csv": ratings(tmp_path, judges=1)})
    assert fit(run, "--format", "json").json["normalization"] == "none"


def test_a_judge_who_disagrees_with_the_rest(run: Run, files: Write, tmp_path: Path) -> None:
    files(**{"evalset.jsonl": evalset()})
    rows = ratings(tmp_path, judges=5).splitlines()
    turned = [
        ",".join([*row.split(",")[:4], str(-float(row.split(",")[4]))]) if row[:2] == "J2" else row
        for row in rows
    ]
    files(**{"judgments.csv": "\n".join(turned) + "\n"})
    result = fit(run, "--exclude-judges-below", "0", "--format", "json").json
    assert [one["judge"] for one in result["excluded"]] == ["J2"]
    assert "with the other judges, below 0" in result["excluded"][0]["reason"]


def test_pairwise_choices_are_fitted_by_how_often_each_was_chosen(
    run: Run, files: Write, tmp_path: Path
) -> None:
    files(**{"evalset.jsonl": evalset()})
    table = wellput.score(tmp_path / "evalset.jsonl", "ssa", keep_rows=True).table("ssa")
    rng = np.random.default_rng(5)
    rows = ["judge,item,system_a,system_b,question,choice"]
    for judge in range(6):
        for i, item in enumerate(table.items):
            a, b = rng.permutation(3)[:2]
            better = table.scores[a, i] - table.scores[b, i] + 0.2 * rng.normal()
            choice = "tie" if abs(better) < 0.05 else "a" if better > 0 else "b"
            rows.append(f"J{judge},{item},{SYSTEMS[a]},{SYSTEMS[b]},quality,{choice}")
    files(**{"judgments.csv": "\n".join(rows) + "\n"})
    result = fit(
        run, "--predictors", "ssa", "--generalize", "items", "--format", "json"
    ).json  # fmt: skip
    assert result["normalization"] == "none"
    assert result["coefficients"][0]["coefficient"] > 0
    assert result["p_value"] < 0.001


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.usefixtures("study")
@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        (["--question", "qualty"], ["Did you mean quality?", "quality, clarity"]),
        (["--question", "clarity"], ["need at least 5 rows; there is 1"]),
        (["--predictors", "ssaa"], ["No metric 'ssaa'", "Did you mean ssa"]),
        (
            ["--predictors", "ssa.substitution"],
            ["Did you mean ssa.substitutions", "It has unchanged"],
        ),
        (["--predictors", "ssa,ssa"], ["ssa is given twice"]),
        (["--predictors", ","], ["No predictor was given"]),
        (["--predictors", "./quality.json"], ["cannot be a predictor"]),
        (["--predictors", "length"], ["length has no perfect value", "--no-rescale"]),
        (["--predictors", "sta"], ["sta needs a tree"]),
        (
            ["--predictors", "ssa.problems,ssa.insertions,ssa.deletions,ssa.substitutions"],
            ["ssa.substitutions is a combination of", "leave one of them out"],
        ),
        (["--method", "ridge", "--stepwise", "p"], ["Ridge regression keeps all predictors"]),
        (["--exclude", "judge=J1"], ["has no reason"]),
        (["--exclude", "judge=J9: asleep"], ["no judgment is about J9"]),
        (["-o", "quality"], ["must end in .json"]),
        (["-o", "no/quality.json"], ["does not exist"]),
        (["-o", "evalset.jsonl"], ["must end in .json"]),
    ],
)
def test_bad_calls(run: Run, tmp_path: Path, arguments: list[str], fragments: list[str]) -> None:
    refused(fit(run, *arguments), *fragments)
    assert {path.name for path in tmp_path.iterdir()} == {"evalset.jsonl", "judgments.csv"}


@pytest.mark.usefixtures("study")
def test_judgments_of_unknown_outputs_are_left_out(run: Run, files: Write) -> None:
    rows = [
        f"J,{i},{s},quality,{(3 * i + n) % 7}" for i in range(20) for n, s in enumerate(SYSTEMS)
    ]
    rows += ["J,99,A,quality,2", "J,1,Z,quality,3", "J,2,Z,quality,3"]
    files(**{"judgments.csv": "\n".join(["judge,item,system,question,value", *rows])})
    outcome = fit(run, "--format", "json")
    assert outcome.code == 0, outcome.err
    excluded = [(one.get("system"), one.get("item"), one["n"]) for one in outcome.json["excluded"]]
    assert sorted(excluded, key=str) == [("Z", None, 2), (None, "99", 1)]


@pytest.mark.usefixtures("study")
def test_judgments_that_are_all_equal(run: Run, files: Write) -> None:
    rows = [f"J,{i},{s},quality,4" for i in range(20) for s in SYSTEMS]
    files(**{"judgments.csv": "\n".join(["judge,item,system,question,value", *rows])})
    refused(fit(run), "All judgments are equal")
    refused(fit(run, "--normalize", "z"), "No rating of 'quality' is left", "every rating is 4")


@pytest.mark.usefixtures("study")
def test_fewer_rows_than_predictors(run: Run, files: Write) -> None:
    rows = [f"J,{i},A,quality,{i}" for i in range(4)]
    files(**{"judgments.csv": "\n".join(["judge,item,system,question,value", *rows])})
    refused(fit(run), "need at least 5 rows; there are 4")


@pytest.mark.usefixtures("study")
def test_a_broken_metric_file_is_refused_by_score(run: Run, files: Write) -> None:
    files(**{"q.json": '{"wellput": "fitted metric", "format": 1}'})
    refused(run("score", "evalset.jsonl", "-m", "./q.json"), "q.json", "no key 'predictors'")
    refused(run("score", "evalset.jsonl", "-m", "./nothing.json"), "No such file: ./nothing.json")
    refused(run("score", "evalset.jsonl", "-m", "./q.json:x=1"), "takes no options")
