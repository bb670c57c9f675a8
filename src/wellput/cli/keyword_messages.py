"""Rewrites messages for the command line. The library's messages name Python keywords (`seed=7`); here
they are replaced by the options of the command (`--seed 7`)."""

from __future__ import annotations

import ast
import re
import shlex

import click

PYTHON_CALL_PATTERN = re.compile(r"(\bwellput\.[\w.]+\([^()]*\))")
KEYWORD_START = r"(?<![\w.:,])"
"""A keyword does not follow a colon or a comma, because options of metrics do: `random:seed=1`."""
# In single quotes, in double quotes, or up to a blank or a punctuation mark that ends the value.
VALUE_PATTERN = r"(?:'([^']*)'|\"([^\"]*)\"|((?:[^\s,;:.)'\"]|[.:](?=\w))+))?"


def keywords_as_options(message: str, command: click.Command) -> str:
    """The message with options in place of keywords. Calls of Python functions are not changed.

    >>> command = click.Command("score", params=[click.Option(["--all-pairs"], is_flag=True)])
    >>> keywords_as_options("all_pairs=True needs two systems.", command)
    '--all-pairs needs two systems.'
    >>> keywords_as_options("See `wellput.score(…, all_pairs=True)`.", command)
    'See `wellput.score(…, all_pairs=True)`.'
    >>> seeded = click.Command("score", params=[click.Option(["--seed"])])
    >>> keywords_as_options("random:seed=1 does not use seed=7.", seeded)
    'random:seed=1 does not use --seed 7.'
    """
    pieces = PYTHON_CALL_PATTERN.split(message)
    return "".join(
        piece if PYTHON_CALL_PATTERN.fullmatch(piece) else _keywords_replaced(piece, command)
        for piece in pieces
    )


# A list of quoted values.
LIST_PATTERN = r"\[((?:'[^']*'|\"[^\"]*\")(?:, (?:'[^']*'|\"[^\"]*\"))*)\]"


def _keywords_replaced(message: str, command: click.Command) -> str:
    """Replaces single values and lists: `column=['id=a', 'outputs=b']` becomes `--column id=a --column
    outputs=b`."""
    for parameter in command.params:
        # The file of -o is `output` in some commands; the library's keyword is always `path`.
        name = "path" if parameter.name == "output" else parameter.name or ""
        if isinstance(parameter, click.Option):
            shown_name = max(parameter.opts, key=len)
            takes_value = not parameter.is_flag
        else:
            shown_name, takes_value = parameter.human_readable_name, False

        def option_for(
            match: re.Match[str], shown_name: str = shown_name, takes_value: bool = takes_value
        ) -> str:
            value = next((group for group in match.groups() if group is not None), "")
            return f"{shown_name} {_typed(value)}" if takes_value and value else shown_name

        def options_for(match: re.Match[str], shown_name: str = shown_name) -> str:
            values = ast.literal_eval(f"[{match.group(1)}]")
            return " ".join(f"{shown_name} {_typed(value)}" for value in values)

        message = re.sub(rf"{KEYWORD_START}{re.escape(name)}={LIST_PATTERN}", options_for, message)
        message = re.sub(rf"{KEYWORD_START}{re.escape(name)}={VALUE_PATTERN}", option_for, message)
    return message


def _typed(value: str) -> str:
    """A value as typed in a shell.

    >>> _typed("system"), _typed("judge=J3: asleep"), _typed("item=a $b: gone")
    ('system', '"judge=J3: asleep"', "'item=a $b: gone'")
    """
    if not re.search(r"\s", value):
        return value
    return shlex.quote(value) if set(value) & set('"$`\\!') else f'"{value}"'
