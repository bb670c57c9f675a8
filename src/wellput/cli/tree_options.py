"""`--trees auto` for the commands that score an evalset on the way to something else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from wellput.cli.score import parsed_references, parser_named
from wellput.core.errors import InputError
from wellput.core.progress import OnPhase, unheard_phase

if TYPE_CHECKING:
    from wellput.core.metric import Metric
    from wellput.core.source import EvalSource

F = TypeVar("F", bound=Callable[..., Any])


def trees_option(function: F) -> F:
    return click.option(
        "--trees",
        metavar="PARSER",
        help="Parse the references that have no tree: auto with wellput's own parser, spacy:NAME with "
        "a spaCy pipeline you have.",
    )(function)


def open_items(
    evalset: str,
    metrics: Sequence[Metric],
    trees: str | None,
    *,
    threads: int | None,
    on_phase: OnPhase = unheard_phase,
) -> EvalSource:
    """The items of an evalset, with trees where a metric needs them."""
    from wellput.io import open_evalset

    parser = parser_named(trees)
    if trees is not None and parser is None:
        raise InputError(
            f"--trees {trees}: give auto or spacy:NAME. Trees of your own belong in the evalset."
        )
    needs_trees = any("tree" in metric.needs for metric in metrics)
    source = open_evalset(evalset, trees=needs_trees)
    if parser is None or not needs_trees:
        return source
    return parsed_references(source, parser, threads=threads, on_phase=on_phase)
