"""The command `wellput completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command(
    epilog="""\b
Examples:
  wellput completion bash >> ~/.bashrc
  wellput completion zsh >> ~/.zshrc
  wellput completion fish > ~/.config/fish/completions/wellput.fish
"""
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the script that completes wellput's commands, options and metrics in your shell."""
    from wellput.cli import cli

    completion = get_completion_class(shell)
    assert completion is not None
    click.echo(completion(cli, {}, "wellput", "_WELLPUT_COMPLETE").source())
