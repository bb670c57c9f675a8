"""`wellput study create`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from wellput.cli.options import making_options, show_made
from wellput.core.progress import OnPhase
from wellput.core.result import Result

F = TypeVar("F", bound=Callable[..., Any])


def wording_options(function: F) -> F:
    """What judges are asked, and how."""
    for option in reversed(
        (
            click.option(
                "--design",
                metavar="rating|magnitude|slider|pairwise|task",
                help="Rate on points, by numbers of one's own, or by a slider; choose between two; or "
                "answer a question about the text. Other packages may add designs.",
            ),
            click.option(
                "--questions",
                multiple=True,
                metavar="NAMES",
                help="What is asked (comma-separated).",
            ),
            click.option(
                "--settings", metavar="FILE.toml", help="Wording, consent, practice, checks, tasks."
            ),
            click.option("--points", type=int, help="Points of a rating scale (default: 7)."),
            click.option(
                "--layout",
                type=click.Choice(["single", "page"]),
                help="One variant at a time (the default), or all variants of an item on a page.",
            ),
            click.option("--ties", is_flag=True, default=None, help="Pairs may tie."),
            click.option(
                "--modulus", type=float, metavar="X", help="The number of a middling sentence."
            ),
            click.option("--consent", is_flag=True, default=None, help="Ask for consent first."),
            click.option(
                "--practice", is_flag=True, default=None, help="Begin with practice trials."
            ),
            click.option(
                "--demographics", is_flag=True, default=None, help="Ask judges about themselves."
            ),
            click.option(
                "--show-source", is_flag=True, default=None, help="Show the source of each item."
            ),
        )
    ):
        function = option(function)
    return function


def plan_options(function: F) -> F:
    """Who judges what."""
    count = click.IntRange(min=1)
    for option in reversed(
        (
            click.option("--judges", type=count, metavar="N", help="How many judges are expected."),
            click.option(
                "--per-item",
                type=count,
                metavar="N",
                help="Judgments of every trial (default: 3, or the number of judges if fewer).",
            ),
            click.option(
                "--plan",
                type=click.Choice(["per-item", "within-judge"]),
                default="per-item",
                show_default=True,
                help="N judgments a trial; or every judge sees each item once and every system (pair) "
                "equally often.",
            ),
            click.option(
                "--times",
                type=count,
                metavar="K",
                help="Within a judge: every system (pair) K times (default: as the items allow).",
            ),
            click.option(
                "--repeats",
                type=click.IntRange(min=0),
                default=0,
                show_default=True,
                help="Trials that each judge sees twice, for self-consistency.",
            ),
            click.option(
                "--checks",
                type=click.IntRange(min=0),
                default=0,
                show_default=True,
                help="Attention checks for each judge.",
            ),
            click.option("--at-most", type=count, metavar="N", help="Trials for a judge, at most."),
            click.option(
                "--lease",
                type=click.FloatRange(min=0, min_open=True),
                default=30.0,
                show_default=True,
                metavar="MINUTES",
                help="After so long an absence a judge's trial goes to others.",
            ),
        )
    ):
        function = option(function)
    return function


def selection_options(function: F) -> F:
    """What to show of an evalset that is too large."""
    for option in reversed(
        (
            click.option(
                "--select",
                type=click.Choice(["random", "spread", "contrast"]),
                help="Only some trials: at random, spread over a metric's values, or where metrics "
                "disagree.",
            ),
            click.option("-m", "--metrics", multiple=True, metavar="METRICS", help="For --select."),
            click.option(
                "--per-stratum",
                type=click.IntRange(min=1),
                default=10,
                show_default=True,
                help="Trials from each system, fifth of a metric's range, or disagreement.",
            ),
        )
    ):
        function = option(function)
    return function


@click.command(
    epilog="""\b
Examples:
  wellput study create evalset.jsonl --design rating --questions understandability,quality \\
      --judges 10 --per-item 3 -o study.db
  wellput study create evalset.jsonl --design pairwise --plan within-judge --times 6 -o pairs.db
  wellput study create evalset.jsonl --design magnitude --select spread -m sta,bleu -o study.db
"""
)
@click.argument("evalset")
@wording_options
@plan_options
@selection_options
@click.option(
    "--from-substitutions",
    is_flag=True,
    help="EVALSET holds substitutions (wellput paraphrase --substitutions): ask whether each is right.",
)
@click.option("-o", "path", metavar="STUDY", required=True, help="The study: a file, or a URL.")
@making_options
def command(format: str, path: str, **options: Any) -> None:
    """Make a study of an evalset.

    The summary holds the owner's token, which opens the dashboard: it is shown only now.
    """
    from wellput.api.study import Study

    def summary(on_phase: OnPhase) -> Result:
        with Study.create(**options, path=path, on_phase=on_phase) as study:
            return study.summary()

    show_made(summary, format, path)
