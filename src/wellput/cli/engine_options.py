"""Options that say where something is computed, and what happens when something fails on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def engine_options(function: F) -> F:
    """--engine, --address, --resume, --on-error."""
    on_error = click.option(
        "--on-error",
        type=click.Choice(["stop", "skip"]),
        default="stop",
        show_default=True,
        help="What to do about a run of rows that cannot be evaluated; skip: name it and go on.",
    )
    resume = click.option(
        "--resume",
        metavar="FOLDER",
        help="Keep what is finished in FOLDER, and go on from what is finished there.",
    )
    return cluster_options(resume(on_error(function)))


def cluster_options(function: F) -> F:
    """--engine, --address."""
    address = click.option(
        "--address", metavar="HOST:PORT", help="The Ray cluster (default: a local one)."
    )
    engine = click.option(
        "--engine",
        type=click.Choice(["local", "ray"]),
        default="local",
        show_default=True,
        help="Compute with threads of this process, or on a Ray cluster.",
    )
    return engine(address(function))
