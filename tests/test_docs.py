"""The documentation says what is the case."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import click
import pytest

from wellput.cli import COMMANDS, cli
from wellput.metrics.registry import metric_class, names

DOCS = Path(__file__).parents[1] / "docs"


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


def _parts(command: click.Command) -> list[click.Command]:
    if not isinstance(command, click.Group):
        return [command]
    context = click.Context(command)
    found = [command.get_command(context, name) for name in command.list_commands(context)]
    return [part for part in found if part is not None]
