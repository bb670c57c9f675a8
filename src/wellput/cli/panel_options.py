"""Options of the commands that read people's ratings: which of them count, and on what scale."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def panel_options(function: F) -> F:
    """--question, --normalize, --exclude, --exclude-judges-below."""
    for option in (
        click.option(
            "--exclude-judges-below",
            type=click.FloatRange(-1, 1),
            metavar="R",
            help="Leave out judges who correlate less than R with the others.",
        ),
        click.option(
            "--exclude",
            multiple=True,
            metavar='"RULE: REASON"',
            help='Leave judgments out: "judge=J3: pressed one button", "system=B,item=7: …" '
            "(repeatable). Charts still show ratings, with the reason.",
        ),
        click.option(
            "--normalize",
            type=click.Choice(["none", "z", "unit", "rank"]),
            help="Ratings per judge (default: z where judges rated the same systems, else none).",
        ),
        click.option(
            "--question",
            multiple=True,
            metavar="Q",
            help="Only this question (repeatable).",
        ),
    ):
        function = option(function)
    return function
