"""`--trees auto` for the commands that score an evalset on the way to something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def trees_option(function: F) -> F:
    return click.option(
        "--trees",
        metavar="PARSER",
        help="Parse the references that have no tree: auto with wellput's own parser, spacy:NAME with "
        "a spaCy pipeline you have.",
    )(function)
