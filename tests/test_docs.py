"""The documentation is complete and agrees with the program."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path
from urllib.parse import urlsplit

import click
import pytest

import wellput
import wellput.displays
import wellput.stats
from tests.doc_examples import PACKAGES, blocks
from wellput.cli import COMMANDS, cli
from wellput.metrics.registry import metric_class, metric_names

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [path for path in [*ROOT.glob("*.md"), *DOCS.rglob("*.md")] if "_build" not in path.parts]


@pytest.mark.parametrize("name", metric_names())
def test_every_metric_has_a_page_that_names_its_options(name: str) -> None:
    page = (DOCS / "metrics" / f"{name}.md").read_text(encoding="utf-8")
    missing = [
        option.name
        for option in fields(metric_class(name))
        if option.init and f"`{option.name}" not in page
    ]
    assert not missing


@pytest.mark.parametrize("name", metric_names())
def test_every_metric_has_a_formula_and_says_when_it_misleads(name: str) -> None:
    page = (DOCS / "metrics" / f"{name}.md").read_text(encoding="utf-8")
    assert "$$" in page.partition("\n## ")[0]
    for heading in ("When it misleads", "Example", "Signature"):
        assert f"\n## {heading}\n" in page
    assert re.search(rf"^\$ wellput score .*{name}", page, re.MULTILINE)
    assert re.search(r"^## (Reference|Paper)|Foster 2008|displays.md", page, re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_page_that_names_its_options(name: str) -> None:
    page = (DOCS / "commands" / f"{name}.md").read_text(encoding="utf-8")
    command = cli.get_command(None, name)  # type: ignore[arg-type]
    assert command is not None
    options = [
        option for part in _parts(command) for parameter in part.params for option in parameter.opts
    ]
    assert not [option for option in options if option.startswith("-") and f"`{option}" not in page]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Links within the project to files that exist (Sphinx checks headings), others to a host by https.
    Nothing is fetched."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    targets = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text))
    assert not [target for target in targets if not _leads_somewhere(page, target)]


def test_a_tutorial_quotes_what_was_measured() -> None:
    """The table of "Which metric should I use?" equals the results, rounded."""
    page = (DOCS / "tutorials" / "which-metric.md").read_text(encoding="utf-8")
    quoted = _table_rows(page.split("## What was measured")[1])
    columns, rows = quoted[0][3:], quoted[1:]
    results = (DOCS / "results" / "agreement.md").read_text(encoding="utf-8")
    measured = {
        (heading, question): [(row[0], row[column]) for row in table[1:]]
        for heading, _, section in (part.partition("\n") for part in results.split("\n## ")[1:])
        if heading.endswith("segment level") and "with empty" not in heading
        for table in [_table_rows(section)]
        for column, question in enumerate(table[0])
        if column
    }
    assert len(rows) == len(measured)
    for row, ((heading, question), scores) in zip(rows, measured.items(), strict=True):
        figures = {metric: _first_figure(cell) for metric, cell in scores if cell}
        best = next(metric for metric, cell in scores if cell.startswith("**"))
        assert heading.startswith(row[0])
        assert row[1:] == [question, f"{best} {figures[best]}", *(figures[m] for m in columns)]


def _table_rows(text: str) -> list[list[str]]:
    """The cells of the first table, header first."""
    lines = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert lines is not None
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[0].split("\n")]
    return [row for row in rows[:-1] if not set(row[0]) <= set("-: ")]


def _first_figure(cell: str) -> str:
    figure = re.search(r"-?\d\.\d+", cell)
    return "–" if figure is None else f"{float(figure[0]):.2f}".replace("-", "−")


def test_the_plugin_page_makes_a_plugin(tmp_path: Path) -> None:
    """Its two files as pip would install them: the module, and entry points beside it."""
    files = {
        block.file: "\n".join(block.lines) + "\n"
        for block in blocks((DOCS / "plugin.md").read_text(encoding="utf-8"))
        if block.file is not None
    }
    project = tomllib.loads(files["pyproject.toml"])["project"]
    (tmp_path / "says.py").write_text(files["says.py"], encoding="utf-8")
    about = tmp_path / f"wellput_says-{project['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    [(group, entries)] = project["entry-points"].items()
    points = "".join(f"{name} = {target}\n" for name, target in entries.items())
    (about / "entry_points.txt").write_text(f"[{group}]\n{points}")
    (tmp_path / "a.txt").write_text("The ferry leaves.\nIt rains.\n")
    command = "from wellput.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", command, "score", "--hyp", "A=a.txt", "-m", "says:word=ferry"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}:{PACKAGES}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert " A                  0.500\n" in done.stdout


def test_every_public_name_has_its_place_in_the_reference() -> None:
    page = (DOCS / "reference.md").read_text(encoding="utf-8")
    named = set(re.findall(r":: wellput\.([\w.]+)", page))
    packages = {"runs", "train", "displays"}  # their members are named one by one
    public = set(dir(wellput)) - packages
    public |= {f"stats.{name}" for name in dir(wellput.stats)}
    public |= {f"displays.{name}" for name in dir(wellput.displays)}
    assert public <= named


def test_the_architecture_page_shows_the_order_that_is_checked() -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract, *_ = project["tool"]["importlinter"]["contracts"]
    layers = [re.sub(r"wellput\.|[()]", "", layer) for layer in contract["layers"]]
    assert "".join(f"    {layer}\n" for layer in layers) in page
    rooms = [path.name for path in (ROOT / "src" / "wellput").iterdir() if path.is_dir()]
    assert not [room for room in rooms if room != "__pycache__" and f"| `{room}/` |" not in page]


def _leads_somewhere(page: Path, target: str) -> bool:
    url = urlsplit(target)
    if url.scheme:
        return url.scheme == "https" and "." in url.netloc
    return not url.path or (page.parent / url.path).exists()


def _parts(command: click.Command) -> list[click.Command]:
    if not isinstance(command, click.Group):
        return [command]
    context = click.Context(command)
    found = [command.get_command(context, name) for name in command.list_commands(context)]
    return [part for part in found if part is not None]


def test_the_page_on_python_has_the_keywords_of_score() -> None:
    page = (DOCS / "python.md").read_text(encoding="utf-8")
    rows = _table_rows(page[page.index("\n| `confidence` |") :])
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row[0])]
    keywords = list(inspect.signature(wellput.score).parameters)[2:]
    assert sorted(named) == sorted(keywords)


@pytest.mark.parametrize(
    "verb", [name for name in COMMANDS if inspect.isfunction(getattr(wellput, name, None))]
)
def test_every_verb_has_an_entry_to_link_to(verb: str) -> None:
    assert f"[`{verb}`](reference.md#{verb})" in (DOCS / "python.md").read_text(encoding="utf-8")
    assert f"\n### `{verb}`\n" in (DOCS / "reference.md").read_text(encoding="utf-8")
