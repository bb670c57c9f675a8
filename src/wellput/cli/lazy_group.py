"""A group of commands whose modules are imported only when they are called, so that `--help` is
quick."""

from __future__ import annotations

from typing import Any

import click

from wellput.core.errors import did_you_mean
from wellput.core.lazy_names import import_object


class LazyGroup(click.Group):
    """`members` maps the name of each command to its `module:attribute` and its one-line help."""

    def __init__(self, *args: Any, members: dict[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.members = members

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.members)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.members:
            return None
        command: click.Command = import_object(self.members[name][0])
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        # Resilient parsing is for shell completion, where an incomplete command is no error.
        if args[0] not in self.members and not ctx.resilient_parsing:
            names = list(self.members)
            hint = did_you_mean(args[0], names) or f" The commands are {', '.join(names)}."
            ctx.fail(f"No command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in self.members.items()])
