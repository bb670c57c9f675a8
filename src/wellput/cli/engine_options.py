"""Options that say where something is computed, and what happens when something fails on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from wellput.core.errors import InputError

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


def segment_targets(
    segments: str | None, *, engine: str, resume: str | None, on_error: str
) -> tuple[str | None, str | None]:
    """Where segment scores go: (file, folder), one of them at most."""
    if segments is None:
        return None, None
    from wellput.io.segment_folder import is_segment_folder

    if is_segment_folder(segments):
        return None, segments
    if engine != "local" or resume is not None or on_error != "stop":
        raise InputError(
            f"--segments {segments}: with --engine ray, --resume and --on-error skip segment scores "
            "are written in parts, into a folder. Give a name without suffix."
        )
    return segments, None
