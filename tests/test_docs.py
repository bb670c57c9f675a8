"""The documentation says what is the case."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from urllib.parse import urlsplit

import click
import pytest

from wellput.cli import COMMANDS, cli
from wellput.metrics.registry import metric_class, names

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [path for path in [*ROOT.glob("*.md"), *DOCS.rglob("*.md")] if "_build" not in path.parts]


@pytest.mark.parametrize("name", names())
def test_every_metric_has_a_page_that_names_its_options(name: str) -> None:
    page = (DOCS / "metrics" / f"{name}.md").read_text(encoding="utf-8")
    missing = [
        option.name
        for option in fields(metric_class(name))
        if option.init and f"`{option.name}" not in page
    ]
    assert not missing


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
