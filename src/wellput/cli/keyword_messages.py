"""Messages in the words of the command line: `level='system'` becomes `--level system`."""

from __future__ import annotations

import re
import shlex

import click

PYTHON_CALL = re.compile(r"(\bwellput\.[\w.]+\([^()]*\))")
VALUE = r"(?:'([^']*)'|\"([^\"]*)\"|((?:[^\s,;:.)'\"]|[.:](?=\w))+))?"


def in_options(message: str, command: click.Command) -> str:
    """The message with options in place of keywords; what is to be written in Python stays.

    >>> option = click.Option(["--all-pairs"], is_flag=True)
    >>> in_options("all_pairs=True needs two systems.", click.Command("score", params=[option]))
    '--all-pairs needs two systems.'
    >>> in_options("See `wellput.score(…, all_pairs=True)`.", click.Command("score", params=[option]))
    'See `wellput.score(…, all_pairs=True)`.'
    """
    pieces = PYTHON_CALL.split(message)
    return "".join(
        piece if PYTHON_CALL.fullmatch(piece) else _in_options(piece, command) for piece in pieces
    )


def _in_options(message: str, command: click.Command) -> str:
    for parameter in command.params:
        name = "path" if parameter.name == "output" else parameter.name or ""
        if isinstance(parameter, click.Option):
            flag = max(parameter.opts, key=len)
            takes_value = not parameter.is_flag
        else:
            flag, takes_value = parameter.human_readable_name, False

        def said(found: re.Match[str], flag: str = flag, takes_value: bool = takes_value) -> str:
            value = next((group for group in found.groups() if group is not None), "")
            return f"{flag} {_typed(value)}" if takes_value and value else flag

        message = re.sub(rf"(?<![\w.]){re.escape(name)}={VALUE}", said, message)
    return message


def _typed(value: str) -> str:
    """A value as it is typed in a shell.

    >>> _typed("system"), _typed("judge=J3: asleep"), _typed("item=a $b: gone")
    ('system', '"judge=J3: asleep"', "'item=a $b: gone'")
    """
    if not re.search(r"\s", value):
        return value
    return shlex.quote(value) if set(value) & set('"$`\\!') else f'"{value}"'
