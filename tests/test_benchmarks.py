"""The table of benchmarks: every page of docs/results and docs/papers has one, every module exists."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from benchmarks import pages
from benchmarks.catalog import BENCHMARKS, command
from benchmarks.data import sources
from benchmarks.papers.__main__ import PAPERS
from benchmarks.papers.kauchak_simulation import SIMULATED_JUDGES, simulated_verdicts
from benchmarks.speed import mixed_models
from wellput.core.evalset import Item

ROOT = Path(__file__).parents[1]


def run(*arguments: str, folder: str | None = None) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name != "WELLPUT_DATA"}
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments],
        cwd=ROOT,
        env={**kept, "WELLPUT_DATA": folder} if folder else kept,
        capture_output=True,
        text=True,
        check=False,
    )


def test_each_page_of_results_and_papers_has_one_benchmark() -> None:
    written = sorted(benchmark.page for benchmark in BENCHMARKS.values() if benchmark.page)
    pages = [*(ROOT / "docs/results").glob("*.md"), *(ROOT / "docs/papers").glob("*[0-9].md")]
    assert written == sorted(str(path.relative_to(ROOT)) for path in pages)


def test_a_page_has_the_name_of_its_benchmark() -> None:
    for name, benchmark in BENCHMARKS.items():
        folder = "papers" if "papers" in benchmark.page else "results"
        assert benchmark.page in ("", f"docs/{folder}/{name.replace('-', '_')}.md")


def test_each_module_is_there_and_has_a_main() -> None:
    for benchmark in BENCHMARKS.values():
        spec = find_spec(f"benchmarks.{benchmark.module}")
        assert spec is not None and spec.origin is not None, benchmark.module
        assert "\ndef main() -> None:" in Path(spec.origin).read_text("utf-8"), benchmark.module


def test_the_list_names_every_benchmark_page_and_file() -> None:
    listed = run("--list").stdout
    for name, benchmark in BENCHMARKS.items():
        assert f"\n{name}: " in f"\n{listed}"
        assert f"command: {command(name)}\n" in listed
        assert benchmark.page in listed
        assert all(file in listed for file in benchmark.data)


def test_an_unknown_name_is_refused() -> None:
    done = run("sped")
    assert done.returncode == 1
    assert "There is no benchmark 'sped'" in done.stderr


def test_a_benchmark_shows_its_own_options() -> None:
    done = run("power", "--help")
    assert done.returncode == 0
    assert "--studies" in done.stdout


@pytest.mark.parametrize("name", ["demetr", "foster2008", "bangalore2000", "mutton2007"])
def test_help_runs_no_benchmark(name: str) -> None:
    done = run(name, "--help")
    assert done.returncode == 0, done.stderr
    assert "python -m benchmarks" in done.stdout and "missing" not in done.stderr


def papers(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.papers", *arguments],
        cwd=ROOT,
        env={**os.environ, "WELLPUT_DATA": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_papers_are_the_benchmarks_of_their_pages() -> None:
    pages_of_papers = {
        name for name, one in BENCHMARKS.items() if one.page.startswith("docs/papers/")
    }
    assert set(PAPERS) == pages_of_papers
    assert not any(BENCHMARKS[name].arguments for name in PAPERS)  # one plain command for all


def test_all_that_papers_lack_is_said_before_the_first_is_made(tmp_path: Path) -> None:
    done = papers(folder=tmp_path)
    assert done.returncode == 1
    for name in PAPERS:
        for file in BENCHMARKS[name].data:
            assert f"{tmp_path / file} is missing. It is" in done.stderr
    assert "make bench" not in done.stderr


def test_an_unknown_set_of_judged_outputs_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.agreement.human_files", "folder", "bagels"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "there is no set bagels; the sets are bagel, sfres" in done.stderr


def test_a_command_has_the_arguments_that_it_cannot_do_without() -> None:
    assert command("speed") == "make bench-speed"
    assert command("language-head-driven") == 'make bench-language-head-driven ARGS="FOLDER"'


def test_the_source_of_each_file_is_known() -> None:
    read = {file for benchmark in BENCHMARKS.values() for file in benchmark.data}
    known = sources()
    assert read == set(known)
    assert {source.how for source in known.values()} == {"copied", "packed", "part", "converted"}
    assert all(len(source.sha256) == 64 for source in known.values())


def test_without_a_data_folder_a_message_says_how_to_name_one() -> None:
    done = run("speed")
    assert done.returncode == 1
    assert "mt/wmt21_de-en_da.jsonl.gz" in done.stderr
    assert "--data" in done.stderr and "WELLPUT_DATA" in done.stderr


@pytest.mark.parametrize("as_option", [True, False])
def test_a_missing_file_is_named_with_its_source(tmp_path: Path, as_option: bool) -> None:
    folder = str(tmp_path)
    done = run("speed", "--data", folder) if as_option else run("speed", folder=folder)
    assert done.returncode == 1
    assert f"{tmp_path / 'mt/wmt21_de-en_da.jsonl.gz'} is missing." in done.stderr
    assert "wmt-conference/wmt21-news-systems" in done.stderr


def test_a_page_is_written_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["power", "--studies", "10"])
    (tmp_path / "docs/results").mkdir(parents=True)
    pages.write_page("power", "# Title\n\nText.\n\n")
    written = (tmp_path / "docs/results/power.md").read_text("utf-8")
    assert written == (
        "# Title\n\nText.\n\n## How to repeat this\n\n"
        '`make bench-power ARGS="--studies 10"` writes this page.\n\nIt reads no data.\n'
    )
    assert capsys.readouterr().out == f"{written}\n"


def test_only_the_part_between_marks_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<a>\nold\n<b>\nafter\n", "utf-8")
    pages.replace_between(page, "<a>\n", "<b>", "new\n")
    assert page.read_text("utf-8") == "before\n<a>\nnew\n<b>\nafter\n"


def test_each_page_says_how_to_repeat_it() -> None:
    """With the options it was made with, none of which is a path of the machine that made it."""
    for name, benchmark in BENCHMARKS.items():
        if benchmark.page:
            text = (ROOT / benchmark.page).read_text("utf-8")
            _, title, rest = text.partition(pages.ENDING_TITLE)
            given = re.search(f'`make bench-{name} ARGS="(.*)"` writes', rest)
            options = given[1].split() if given and not benchmark.arguments else []
            assert title + rest == pages.ending(name, options), benchmark.page
            assert not any("/" in option for option in options), benchmark.page


@pytest.mark.parametrize("name", ["foster2008", "kauchak2006"])
def test_a_page_has_the_words_of_its_template(name: str) -> None:
    """Whoever changes a page by hand must change its template too, or the next run takes it back."""
    page = (ROOT / BENCHMARKS[name].page).read_text("utf-8")
    template = (ROOT / f"benchmarks/papers/{name}.template.md").read_text("utf-8")
    parts = re.split(r"@[A-Z_0-9]+@", template.rstrip())
    assert len(parts) > 10
    pattern = ".*?".join(map(re.escape, parts)) + rf"\n\n{pages.ENDING_TITLE}"
    assert re.match(pattern, page, re.DOTALL), name


def test_a_page_does_not_name_the_folder_that_keeps_its_rows() -> None:
    given = ["--studies", "1000", "--resume", "kept", "--seed", "1", "--kept", "x", "--index", "y"]
    assert pages.figure_options(given) == ["--studies", "1000", "--seed", "1"]


def test_an_ending_gathers_the_files_of_one_source() -> None:
    lines = pages.ending("speed").splitlines()
    assert (
        "- `mt/wmt21_de-en_da.jsonl.gz`, `mt/wmt21_de-en_refs.jsonl.gz`: converted from "
        "wmt-conference/wmt21-news-systems (licence: research only)"
    ) in lines


def test_a_fit_of_lme4_that_was_stopped_gives_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> None:
        raise mixed_models.StoppedFit(180.9)

    monkeypatch.setattr(mixed_models, "lme4", stopped)
    ours: dict[str, float | list[float]] = {"fit": 7.0, "ranking": 0.4}
    # 180 / 7.4 = 24.3
    assert (
        mixed_models.columns_of_lme4((20_000, 20, 200), 1, ours, 180) == "> 180 | – | > 24 | – | –"
    )


def test_lme4_is_stopped_in_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    sleeper = tmp_path / "Rscript"
    sleeper.write_text("#!/bin/sh\nexec sleep 60\n")
    sleeper.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(mixed_models.StoppedFit) as stopped:
        mixed_models.lme4((20, 5, 3), 1, seconds=0.05)
    assert stopped.value.seconds < 1


def test_items_of_one_text_have_one_simulated_verdict() -> None:
    """One item of the text is made by `contextwn`, the other by `lsa`. The text counts as that of
    `contextwn`, whichever item comes first: 100/133 are right, and a judge errs in .07."""
    made, other = (
        Item("a", {"kept": "the [same → same]"}, tags={"contextwn": "kept"}),
        Item("b", {"kept": "the [same → same]"}, tags={"lsa": "kept"}),
    )
    for items in ([made, other], [other, made]):
        said = [simulated_verdicts(items, np.random.default_rng(seed)) for seed in range(1000)]
        assert all(len(own) == SIMULATED_JUDGES for own in said)
        share = np.mean([own[0, "the [same → same]"] for own in said])
        # .752 · .93 + .248 · .07 = .717; with `lsa` it would be .328. Four standard errors are .057.
        assert share == pytest.approx(0.717, abs=0.057)
