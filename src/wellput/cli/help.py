"""The command `wellput help`, which shows the help of other commands."""

from __future__ import annotations

from collections.abc import Sequence

import click


@click.command(
    epilog="""\b
Examples:
  wellput help
  wellput help score
  wellput help study create
"""
)
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
def command(names: Sequence[str]) -> None:
    """Show the help of a command: wellput help score is wellput score --help."""
    program = click.get_current_context().find_root().command
    program.main([*names, "--help"], prog_name="wellput", standalone_mode=False)
