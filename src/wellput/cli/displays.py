"""`wellput displays`: one file per subcommand, loaded when called."""

from __future__ import annotations

import click

from wellput.cli.lazy_group import LazyGroup

MEMBERS: dict[str, tuple[str, str]] = {
    "evaluate": (
        "wellput.cli.displays_evaluate:command",
        "Score schedules against the original ones, and each other.",
    ),
}


@click.group(
    cls=LazyGroup,
    members=MEMBERS,
    epilog="\b\nExample:\n  wellput displays evaluate all.jsonl",
)
def command() -> None:
    """Choose facial displays for a talking head, judge them, and see them."""
