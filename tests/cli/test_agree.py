"""`wellput agree` on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run

Write = Callable[..., None]

REFERENCES = [
    "the ferry leaves at nine", "it rains in the harbor", "tickets cost four euros",
    "the museum opens at ten", "no boats will sail today", "the cafe is closed on monday",
]  # fmt: skip
# How each system changes a reference, and how its outputs are rated.
SYSTEMS: dict[str, tuple[Callable[[str], str], int]] = {
    "same": (lambda text: text, 6),
    "turned": (lambda text: " ".join(reversed(text.split())), 2),
    "short": (lambda text: " ".join(text.split()[:-1]), 4),
}
KEYS = {
    "agreement", "differences", "judges", "questions", "preferences", "models", "confusion", "excluded",
}  # fmt: skip


@pytest.fixture
def evalset(files: Write) -> None:
    items = [
        {
            "id": f"i{n}",
            "references": [text],
            "outputs": {name: make(text) for name, (make, _) in SYSTEMS.items()},
        }
        for n, text in enumerate(REFERENCES)
    ]
    ratings = ["judge,item,system,question,value"]
    choices = ["judge,item,system_a,system_b,question,choice"]
    for j, judge in enumerate(("J1", "J2", "J3")):
        for n in range(len(REFERENCES)):
            for s, (name, (_, rating)) in enumerate(SYSTEMS.items()):
                ratings.append(f"{judge},i{n},{name},quality,{rating + (n + j + s) % 2}")
            choices.append(f"{judge},i{n},same,turned,better,{'b' if n + j == 3 else 'a'}")
            choices.append(f"{judge},i{n},short,same,better,{'tie' if n == 0 else 'b'}")
    files(
        **{
            "e.jsonl": "".join(json.dumps(item) + "\n" for item in items),
            "ratings.csv": "\n".join(ratings) + "\n",
            "choices.csv": "\n".join(choices) + "\n",
        }
    )


@pytest.mark.usefixtures("evalset")
def test_the_table_and_its_advice(run: Run) -> None:
    outcome = run("agree", "e.jsonl", "ratings.csv", "-m", "ssa,gsa,random", "--resamples", "50")
    assert outcome.code == 0, outcome.err
    assert outcome.out.startswith("Whom people prefer: quality\n")
    assert "Do the metrics order the systems as people do?" in outcome.out
    assert "How far metrics agree with people, segment level" in outcome.out
    assert "6 judged items cannot show how far a metric agrees: more are needed." in outcome.out
    assert "Judges among themselves" in outcome.out
    assert "Which metrics really differ" not in outcome.out  # 3 systems cannot show it
    tested = run("agree", "e.jsonl", "ratings.csv", "-m", "ssa,gsa", "--test", "perm-both")
    assert "Which metrics really differ" in tested.out


@pytest.mark.usefixtures("evalset")
@pytest.mark.parametrize("level", ["segment", "system", "document"])
def test_json_at_every_level(run: Run, level: str) -> None:
    result = run(
        "agree", "e.jsonl", "ratings.csv", "-m", "ssa,gsa", "--level", level, "--coefficient",
        "pearson,kendall", "--resamples", "50", "--document-size", "3", "--format", "json",
    ).json  # fmt: skip
    assert result.keys() >= KEYS
    assert len(result["agreement"]) == 4
    row = result["agreement"][0]
    assert (row["metric"], row["question"], row["level"]) == ("ssa", "quality", level)
    assert row["value"] > 0.5
    assert result["differences"][0]["metrics"] == ["ssa", "gsa"]
    assert result["judges"][0]["n_judges"] == 3
    assert result["judges"][0]["pairwise"].keys() == {"mean", "min", "max", "sd"}


@pytest.mark.usefixtures("evalset")
def test_pairwise_choices(run: Run) -> None:
    result = run("agree", "e.jsonl", "choices.csv", "-m", "ssa,ter", "--format", "json").json
    (question,) = result["preferences"]
    ratios = {row["system"]: row["selection_ratio"] for row in question["systems"]}
    # same: 15 of 18 against turned and 15 of 18 against short; a tie is no choice.
    assert ratios["same"] == pytest.approx(30 / 36)
    pairs = {tuple(row["systems"]): row for row in question["pairs"]}
    # χ² of 15 : 3 is (6² + 6²) / 9.
    pair = pairs["same", "turned"]
    assert pair["chi_squared"] == pytest.approx(8.0)
    # χ² treats 18 choices of three judges as independent; the deciding test does not.
    assert pair["chi_squared_p"] < 0.005 < pair["p_value"] <= pair["p_adjusted"]
    assert pair["share"] == pytest.approx(15 / 18)
    ranked = {frozenset(row["systems"]): row for row in result["ranking"][0]["differences"]}
    for row in question["pairs"]:
        one = ranked[frozenset(row["systems"])]
        assert (row["p_value"], row["p_adjusted"]) == (one["p_value"], one["p_adjusted"])
        assert abs(row["share"] - 0.5) == pytest.approx(abs(one["delta"]) / 2)
        assert (row["p_value"] < 0.05) == (row["low"] > 0.5 or row["high"] < 0.5)
    # turned and short were never compared, but lost to same as often as each other.
    assert ranked[frozenset(("turned", "short"))]["p_value"] > 0.3
    (judges,) = result["judges"]
    assert (judges["n_judges"], judges["n_trials"], judges["values"]) == (3, 12, "choices")
    assert judges["kappa"] is not None and judges["alpha"] is not None
    assert question["systems"][0]["strength_low"] < question["systems"][0]["strength"]
    by_metric = {row["metric"]: row for row in result["confusion"]}
    assert by_metric["ssa"]["accuracy"] == pytest.approx(30 / 33)
    assert by_metric["ter"]["accuracy"] == pytest.approx(30 / 33)
    shown = run("agree", "e.jsonl", "choices.csv", "-m", "ssa")
    assert "Preferences: better, 36 choices of 3 judges" in shown.out
    assert "first's share" in shown.out and "Judges among themselves" in shown.out


@pytest.mark.usefixtures("evalset")
def test_intervals_of_choices_follow_the_confidence(run: Run) -> None:
    def first_system(*options: str) -> dict[str, Any]:
        found = run("agree", "e.jsonl", "choices.csv", "-m", "ssa", "--format", "json", *options)
        row: dict[str, Any] = json.loads(found.out)["preferences"][0]["systems"][0]
        return row

    usual, wide = first_system(), first_system("--confidence", "0.999")
    assert wide["low"] < usual["low"] and wide["strength_low"] < usual["strength_low"]
    shown = run("agree", "e.jsonl", "choices.csv", "-m", "ssa", "--confidence", "0.999")
    assert "[low, high]: 99.9% interval" in shown.out


@pytest.mark.usefixtures("evalset")
@pytest.mark.parametrize(
    "option", [["--models"], ["--normalize", "z"], ["--level", "system"], ["--test", "williams"]]
)
def test_options_of_ratings_are_refused_for_choices(run: Run, option: list[str]) -> None:
    outcome = run("agree", "e.jsonl", "choices.csv", "-m", "ssa", *option)
    assert (outcome.code, outcome.out) == (2, "")
    assert f"{option[0]} is for ratings; these judgments are pairwise choices." in outcome.err


@pytest.mark.usefixtures("evalset")
@pytest.mark.parametrize("format", ["csv", "latex", "markdown"])
def test_other_formats(run: Run, format: str) -> None:
    outcome = run(
        "agree", "e.jsonl", "ratings.csv", "-m", "ssa", "--format", format, "--resamples", "20"
    )
    assert outcome.code == 0
    assert "ssa" in outcome.out


@pytest.mark.usefixtures("evalset")
@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        (["--coefficient", "pearsn"], ["--coefficient pearsn is none of", "pearson"]),
        (["--question", "qualty"], ["Did you mean quality?"]),
        (["--exclude", "judge=J1"], ["has no reason"]),
        (["--exclude", "judge=model:x"], ["has no reason", "judge=model:x: an outlier"]),
        (["--exclude", "judge=model:x:odd"], ["no judgment is about model:x"]),
        (["--paraphrase", "wordnot"], ["--paraphrase wordnot is none of", "Did you mean wordnet?"]),
        (["--exclude", "judge=J9: odd"], ["no judgment is about J9"]),
        (["--level", "document"], ["--document-size 3"]),
        (["--coefficient", "spa"], ["--level system"]),
    ],
)
def test_bad_calls(run: Run, arguments: list[str], fragments: list[str]) -> None:
    outcome = run("agree", "e.jsonl", "ratings.csv", "-m", "ssa,gsa", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    for fragment in fragments:
        assert fragment in outcome.err


@pytest.mark.usefixtures("evalset")
def test_judgments_of_unknown_items_are_listed(run: Run, files: Write) -> None:
    rows = "J1,x1,same,quality,1\nJ1,i0,other,quality,1\n"
    files(**{"bad.csv": "judge,item,system,question,value\n" + rows})
    outcome = run("agree", "e.jsonl", "bad.csv", "-m", "ssa")
    assert outcome.code == 2
    for fragment in ("item 'x1'", "system 'other'"):
        assert fragment in outcome.err


@pytest.mark.usefixtures("evalset")
def test_models_of_the_ratings(run: Run) -> None:
    result = run(
        "agree", "e.jsonl", "ratings.csv", "-m", "ssa,length", "--models", "--resamples", "20",
        "--format", "json",
    ).json  # fmt: skip
    names = [row["predictors"] for row in result["models"]]
    assert names == [["ssa"], ["length"], ["ssa", "length"]]
    r = result["agreement"][0]["value"]
    assert result["models"][0]["r_squared"] == pytest.approx(r**2)


@pytest.mark.usefixtures("evalset")
def test_exclusions_are_listed(run: Run) -> None:
    outcome = run(
        "agree", "e.jsonl", "ratings.csv", "-m", "ssa", "--exclude", "judge=J2: pressed one button",
        "--resamples", "20",
    )  # fmt: skip
    assert "Left out: judge J2 on quality (18 ratings): pressed one button." in outcome.out


@pytest.mark.usefixtures("evalset")
def test_options_of_ratings_are_refused_with_choices(run: Run) -> None:
    outcome = run(
        "agree", "e.jsonl", "choices.csv", "-m", "ssa", "--level", "system", "--resamples", "9"
    )
    assert (outcome.code, outcome.out) == (2, "")
    assert "--level, --resamples are for ratings" in outcome.err


@pytest.mark.usefixtures("evalset")
def test_standard_input_is_read_once(run: Run) -> None:
    assert "given twice" in run("agree", "-", "-", "-m", "ssa").err


@pytest.mark.usefixtures("evalset")
def test_constant_ratings_leave_nothing_to_correlate(run: Run, files: Write) -> None:
    rows = "".join(f"{judge},i0,same,q,3\n{judge},i1,same,q,3\n" for judge in ("J1", "J2"))
    files(**{"flat.csv": "judge,item,system,question,value\n" + rows})
    outcome = run("agree", "e.jsonl", "flat.csv", "-m", "ssa")
    assert outcome.code == 2
    assert outcome.err.startswith(
        "wellput: No rating of 'q' is left:\n  judge J1: every rating is 3"
    )


def test_too_few_choices_show_no_difference(run: Run, files: Write) -> None:
    row = {"id": "1", "references": ["a b"], "outputs": {"A": "a b", "B": "a"}}
    choices = "judge,item,system_a,system_b,question,choice\nJ,1,A,B,better,a\nK,1,A,B,better,b\n"
    files(**{"e.jsonl": json.dumps(row) + "\n", "c.csv": choices})
    outcome = run("agree", "e.jsonl", "c.csv", "-m", "ssa")
    assert outcome.code == 0
    assert "With 1 judged item no difference is claimed: more are needed.\n" in outcome.out
    assert "A : B    1 : 1" in outcome.out


X = "--exclude", "system=X: not in the evalset"


@pytest.fixture
def with_others(evalset: None, tmp_path: Path) -> None:
    """The judgments with a system and an item that the evalset does not have."""
    ratings = (tmp_path / "ratings.csv").read_text()
    (tmp_path / "more.csv").write_text(f"{ratings}J1,i0,X,quality,3\nJ2,i1,X,quality,4\n")
    choices = (tmp_path / "choices.csv").read_text()
    (tmp_path / "pairs.csv").write_text(
        f"{choices}J1,i0,same,X,better,a\nJ1,i99,same,short,better,a\n"
    )


@pytest.mark.usefixtures("with_others")
def test_only_unknown_names_are_refused_before_anything_is_scored(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for file in ("more.csv", "pairs.csv"):
        header, *rows = (tmp_path / file).read_text().splitlines()
        only = [header, *(row for row in rows if ",X," in row or "i99" in row)]
        (tmp_path / file).write_text("\n".join(only) + "\n")

    def scored(*_: object, **__: object) -> None:
        raise AssertionError("scoring began")

    monkeypatch.setattr("wellput.engine.collect.block_statistics", scored)
    monkeypatch.setattr("wellput.reporting.html.page.chart_library", lambda: "")
    fit = ["fit", "e.jsonl", "more.csv", "--question", "quality", "--predictors", "ssa"]
    for arguments in (
        ["agree", "e.jsonl", "more.csv", "-m", "ssa"],
        ["agree", "e.jsonl", "pairs.csv", "-m", "ssa"],
        ["report", "e.jsonl", "more.csv", "-m", "ssa", "-o", "r.html"],
        ["report", "e.jsonl", "pairs.csv", "-m", "ssa", "-o", "r.html"],
        fit,
    ):
        outcome = run(*arguments)
        assert outcome.code == 2
        assert '--exclude "system=X: not in the evalset"' in outcome.err


@pytest.mark.usefixtures("with_others")
def test_unknown_names_do_not_stop_what_can_go_on(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wellput.reporting.html.page.chart_library", lambda: "")
    shown = run("agree", "e.jsonl", "more.csv", "-m", "ssa").out
    assert shown.count("Left out: 2 ratings of 1 system that the evalset does not have: X.") == 1
    assert '--exclude "system=X: REASON"' in shown
    outcome = run("agree", "e.jsonl", "pairs.csv", "-m", "ssa", "--format", "json")
    assert [(row["system"], row["item"], row["n"]) for row in outcome.json["excluded"]] == [
        ("X", None, 1),
        (None, "i99", 1),
    ]
    report = ["report", "e.jsonl", "more.csv", "-m", "ssa", "-o", "r.html", "--format", "json"]
    assert run(*report).json["agreement"]["excluded"][0]["system"] == "X"
    fit = ["fit", "e.jsonl", "more.csv", "--question", "quality", "--predictors", "ssa"]
    assert "Excluded system X (2 judgments): not in the evalset." in run(*fit, "--no-rescale").out
    ranked = run("rank", "more.csv", "--evalset", "e.jsonl")
    assert "Left out (not in the evalset): 2 judgments of X." in ranked.out


@pytest.mark.usefixtures("with_others")
def test_unknown_names_are_left_out_when_asked(run: Run) -> None:
    arguments = ["-m", "ssa,gsa", "--resamples", "50", "--format", "json"]
    plain = run("agree", "e.jsonl", "ratings.csv", *arguments).json
    outcome = run("agree", "e.jsonl", "more.csv", *arguments, *X)
    assert outcome.code == 0, outcome.err
    [left_out] = outcome.json["excluded"]
    assert (left_out["system"], left_out["n"], left_out["question"]) == ("X", 2, "quality")
    assert {**outcome.json, "excluded": []} == plain
    shown = run("agree", "e.jsonl", "more.csv", "-m", "ssa", *X).out
    assert "Left out: 2 ratings of 1 system that the evalset does not have: X. " in shown


@pytest.mark.usefixtures("with_others")
def test_choices_are_left_out_by_system_item_and_judge(run: Run) -> None:
    arguments = ["-m", "ssa,gsa", "--format", "json"]
    item = "--exclude", "item=i99: not in the evalset"
    plain = run("agree", "e.jsonl", "choices.csv", *arguments).json
    outcome = run("agree", "e.jsonl", "pairs.csv", *arguments, *X, *item)
    assert outcome.code == 0, outcome.err
    assert {**outcome.json, "excluded": []} == plain
    assert [(row["system"], row["item"], row["n"]) for row in outcome.json["excluded"]] == [
        ("X", None, 1),
        (None, "i99", 1),
    ]
    shown = run("agree", "e.jsonl", "choices.csv", "-m", "ssa", "--exclude", "judge=J3: slept").out
    assert "24 choices of 2 judges" in shown
    assert "Left out: judge J3 on better (12 choices): slept.\n" in shown
    known = run("agree", "e.jsonl", "choices.csv", "-m", "ssa", "--exclude", "system=short: late")
    assert "18 choices of 3 judges" in known.out and "short : " not in known.out


@pytest.mark.usefixtures("with_others")
def test_report_and_fit_also_exclude_unknown_names(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wellput.reporting.html.page.chart_library", lambda: "")
    common = ["-m", "ssa,gsa", "--resamples", "50", "-o", "r.html", "--format", "json"]
    for file, n in (("more.csv", 2), ("pairs.csv", 1)):
        more = ["--exclude", "item=i99: a draft"] if file == "pairs.csv" else []
        outcome = run("report", "e.jsonl", file, *common, *X, *more)
        assert outcome.code == 0, outcome.err
        assert outcome.json["agreement"]["excluded"][0]["n"] == n
    fit = ["fit", "e.jsonl", "more.csv", "--question", "quality", "--predictors", "ssa"]
    outcome = run(*fit, *X, "--no-rescale")
    assert outcome.code == 0, outcome.err
    assert "Excluded system X (2 judgments): not in the evalset." in outcome.out
