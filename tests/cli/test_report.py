"""`wellput report` on the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run

Write = Callable[..., None]
ITEMS = "".join(
    f'{{"id": "{n}", "references": ["a b c {n}"], "outputs": {{"A": "a b c {n}", "B": "b a {n}"}}}}\n'
    for n in range(12)
)
HEADER = "judge,item,system,question,value\n"
RATINGS = HEADER + "".join(
    f"{judge},{n},{system},quality,{value + n % 3}\n"
    for judge in ("J1", "J2")
    for n in range(12)
    for system, value in (("A", 4), ("B", 1))
)


@pytest.fixture(autouse=True)
def quick_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Making the chart library takes a second; the browser tests have the real one."""
    monkeypatch.setattr("wellput.reporting.html.page.chart_library", lambda: "/* library */")


@pytest.mark.heavy
def test_a_report_is_one_file_and_the_verdict(run: Run, files: Write, tmp_path: Path) -> None:
    files(**{"set.jsonl": ITEMS})
    outcome = run("report", "set.jsonl", "-o", "r.html", "--resamples", "100")
    assert outcome.code == 0, outcome.err
    assert "A scores best under all 5 metrics" in outcome.out and "r.html" in outcome.out
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "<title>set.jsonl</title>" in page


def test_with_judgments_and_exclusions(run: Run, files: Write) -> None:
    files(**{"set.jsonl": ITEMS, "j.csv": RATINGS})
    outcome = run(
        "report", "set.jsonl", "j.csv", "-o", "r.html", "-m", "ssa,random", "--resamples", "50",
        "--exclude", "item=3: a typing error", "--title", "Mine", "--format", "json",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    assert outcome.json["items"] == outcome.json["shown"] == 12
    assert outcome.json["agreement"]["excluded"][0]["reason"] == "a typing error"
    assert outcome.json["bytes"] == Path("r.html").stat().st_size


def test_pairwise_choices(run: Run, files: Write) -> None:
    choices = "judge,item,system_a,system_b,question,choice\n" + "".join(
        f"J1,{n},A,B,better,{'a' if n else 'b'}\n" for n in range(12)
    )
    files(**{"set.jsonl": ITEMS, "c.csv": choices})
    outcome = run("report", "set.jsonl", "c.csv", "-o", "r.html", "-m", "ssa", "--resamples", "50")
    assert outcome.code == 0, outcome.err


def test_one_system_alone(run: Run, files: Write) -> None:
    files(**{"set.jsonl": '{"id": "1", "references": ["a b"], "outputs": {"A": "a"}}\n'})
    outcome = run("report", "set.jsonl", "-o", "r.html")
    assert outcome.code == 0, outcome.err
    assert "1 system under 5 metrics." in outcome.out


def test_it_says_that_items_are_sampled(run: Run, files: Write) -> None:
    files(**{"set.jsonl": ITEMS})
    outcome = run("report", "set.jsonl", "-o", "r.html", "-m", "ssa", "--items", "5")
    assert "5 of 12 items, drawn at random" in outcome.out


def test_standard_output_gets_only_the_page(run: Run, files: Write) -> None:
    files(**{"set.jsonl": ITEMS})
    outcome = run("report", "set.jsonl", "-o", "-", "-m", "ssa", "--resamples", "20")
    assert outcome.out.startswith("<!doctype html>") and outcome.out.endswith("</html>\n")


@pytest.mark.parametrize(
    "option", [("--question", "q"), ("--exclude-judges-below", "0"), ("--normalize", "none")]
)
def test_options_about_people_need_people(run: Run, files: Write, option: tuple[str, str]) -> None:
    files(**{"set.jsonl": ITEMS})
    outcome = run("report", "set.jsonl", *option, "-o", "r.html")
    assert outcome.code == 2
    assert f"{option[0]} is about judgments: give judgments, too." in outcome.err


def test_bad_input_is_refused_before_anything_is_written(run: Run, files: Write) -> None:
    files(**{"set.jsonl": ITEMS, "j.csv": HEADER + "J1,99,A,quality,3\n"})
    outcome = run("report", "set.jsonl", "j.csv", "-o", "r.html", "-m", "ssa")
    assert outcome.code == 2 and "item '99'" in outcome.err
    assert not Path("r.html").exists()
    assert run("report", "set.jsonl", "-o", "set.jsonl").code == 2
