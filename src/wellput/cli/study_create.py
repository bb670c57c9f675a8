"""The command `wellput study create`, with its options in groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from wellput.cli.options import (
    add_options,
    basic_options,
    column_option,
    metrics_option,
    show_summary_of,
)
from wellput.core.result import Result
from wellput.core.work import OnPhase

F = TypeVar("F", bound=Callable[..., Any])


def wording_options(function: F) -> F:
    """Options on what judges are asked, and how. Those that are not given (None, also for flags) are as
    in the file of --settings."""
    return add_options(
        function,
        click.option(
            "--design",
            metavar="rating|magnitude|slider|pairwise|spans|mqm|task",
            help="How judges answer: points, free numbers, a slider, a choice between two outputs, "
            "marked errors with a score (spans) or with categories (mqm), or an answer to a question "
            "about the text. Other packages may add designs.",
        ),
        click.option(
            "--questions",
            multiple=True,
            metavar="NAMES",
            help="Names of the questions, separated by commas.",
        ),
        click.option(
            "--settings",
            metavar="FILE.toml",
            help="A file with wording, consent, practice, checks and tasks.",
        ),
        click.option("--points", type=int, help="Points of a rating scale (default: 7)."),
        click.option(
            "--layout",
            type=click.Choice(["single", "page"]),
            help="single: one output at a time (the default); page: all outputs of an item on one "
            "page.",
        ),
        click.option(
            "--ties",
            is_flag=True,
            default=None,
            help="Judges may say that two outputs are equally good.",
        ),
        click.option(
            "--modulus",
            type=float,
            metavar="X",
            help="The number that stands for an average sentence, in --design magnitude.",
        ),
        click.option("--consent", is_flag=True, default=None, help="Ask for consent first."),
        click.option("--practice", is_flag=True, default=None, help="Begin with practice trials."),
        click.option(
            "--demographics", is_flag=True, default=None, help="Ask judges about themselves."
        ),
        click.option(
            "--comments", is_flag=True, default=None, help="Judges may comment on every answer."
        ),
        click.option(
            "--show-source",
            is_flag=True,
            default=None,
            help="Show the source of each item (spans and mqm show it anyway).",
        ),
        click.option(
            "--show-reference",
            is_flag=True,
            default=None,
            help="Show the references of each item.",
        ),
        click.option(
            "--categories",
            metavar="FILE.toml",
            help="For mqm: the kinds of errors (default: the usual ones).",
        ),
        click.option(
            "--weights",
            metavar="NAME=X,…",
            help="For mqm: what an error costs, such as minor=1,major=5,fluency/punctuation:minor=0.1 "
            "(these are the default).",
        ),
        click.option(
            "--prefill",
            metavar="FILE",
            help="For spans and mqm: errors that judges find marked, from a file such as wellput judge "
            "--design spans writes.",
        ),
        click.option(
            "--show",
            type=click.Choice(["plain", "markdown"]),
            help="Show texts as they are (plain, the default), or as markdown: tables, code, formulas, "
            "images and sounds, sanitized.",
        ),
        click.option(
            "--media",
            metavar="FOLDER",
            help="Images and sounds that markdown names by a path; the study keeps them.",
        ),
        click.option(
            "--language",
            metavar="en|de|fr|es|zh|ar|FILE.toml",
            help="The language of the pages, or a language file of your own (default: en).",
        ),
        click.option(
            "--unit",
            metavar="WORD",
            help="What the outputs are called: sentence, text, answer, summary, translation, or in "
            "English any word (default: sentence if most outputs are one, else text).",
        ),
    )


def plan_options(function: F) -> F:
    """Options on who judges what. A trial is what a judge sees at once: an output, or a pair of
    outputs."""
    count = click.IntRange(min=1)
    return add_options(
        function,
        click.option("--judges", type=count, metavar="N", help="How many judges are expected."),
        click.option(
            "--per-item",
            type=count,
            metavar="N",
            help="How many judges answer each trial: an output, or a pair of outputs of one item "
            "(default: 3, or the number of judges if lower).",
        ),
        click.option(
            "--plan",
            type=click.Choice(["per-item", "within-judge"]),
            default="per-item",
            show_default=True,
            help="per-item: each trial is judged as often as --per-item says; within-judge: every "
            "judge sees each item once, and each system (or pair) equally often.",
        ),
        click.option(
            "--times",
            type=count,
            metavar="K",
            help="For within-judge: each system (or pair) K times (default: as often as the items "
            "allow).",
        ),
        click.option(
            "--repeats",
            type=click.IntRange(min=0),
            default=0,
            show_default=True,
            help="Trials that each judge sees twice, to measure consistency.",
        ),
        click.option(
            "--checks",
            type=click.IntRange(min=0),
            default=0,
            show_default=True,
            help="Attention checks for each judge.",
        ),
        click.option(
            "--degraded-checks",
            is_flag=True,
            help="Make the attention checks from outputs of the study that are made worse.",
        ),
        click.option(
            "--break-every", type=count, metavar="N", help="Suggest a break after every N answers."
        ),
        click.option(
            "--at-most",
            type=count,
            metavar="N",
            help="The largest number of trials that one judge gets.",
        ),
        click.option(
            "--lease",
            type=click.FloatRange(min=0, min_open=True),
            default=30.0,
            show_default=True,
            metavar="MINUTES",
            help="A judge who is away for this long loses the open trial to another judge.",
        ),
    )


def selection_options(function: F) -> F:
    """Options on which trials to show, if there are too many."""
    return add_options(
        function,
        click.option(
            "--items",
            metavar="N|FILE",
            help="Show only N items, drawn at random, or the items whose ids are in FILE, one on each "
            "line (default: all).",
        ),
        click.option(
            "--systems",
            multiple=True,
            metavar="NAMES",
            help="Show only these systems, separated by commas (default: all).",
        ),
        click.option(
            "--select",
            type=click.Choice(["random", "spread", "contrast"]),
            help="Show only some trials: drawn at random, spread over the values of a metric, or "
            "where metrics disagree.",
        ),
        metrics_option("The metrics of --select."),
        click.option(
            "--per-stratum",
            type=click.IntRange(min=1),
            default=10,
            show_default=True,
            help="For --select: how many trials from each group. The groups are the systems (random), "
            "the fifths of each metric's range (spread), or the pairs of metrics, in both directions "
            "(contrast).",
        ),
    )


def open_options(function: F) -> F:
    """Options on who may take part by the open link, and what happens at the end."""
    return add_options(
        function,
        click.option(
            "--open",
            is_flag=True,
            help="Make one open link, by which everybody can take part until all places are taken.",
        ),
        click.option(
            "--quota",
            type=click.IntRange(min=1),
            metavar="N",
            help="The number of places of the open link (default: --judges).",
        ),
        click.option(
            "--completion",
            metavar="URL|CODE",
            help="For --open: a code to show at the end, or an address to go to. {PROLIFIC_PID} and "
            "other parameters of the platform are filled in.",
        ),
        click.option(
            "--place-timeout",
            type=click.FloatRange(min=0, min_open=True),
            metavar="MINUTES",
            help="For --open: the place of a judge who is away for this long without having finished "
            "is free again (default: 120).",
        ),
    )


@click.command(
    epilog="""\b
Examples:
  wellput study create evalset.jsonl --design rating --questions understandability,quality \\
      --judges 10 --per-item 3 -o study.db
  wellput study create evalset.jsonl --design pairwise --plan within-judge --items 18 \\
      --systems original,weighted,rule -o pairs.db
  wellput study create evalset.jsonl --design magnitude --select spread -m sta,bleu -o study.db
  wellput study create evalset.jsonl --design spans --prefill machine.csv -o spans.db
"""
)
@click.argument("evalset")
@column_option
@wording_options
@plan_options
@selection_options
@open_options
@click.option(
    "--screening",
    metavar="FILE.toml",
    help="For --open: questions that judges answer first, and the answers with which they may take "
    "part.",
)
@click.option(
    "--from-substitutions",
    is_flag=True,
    help="EVALSET comes from wellput paraphrase --substitutions: ask whether each substitution is "
    "right.",
)
@click.option(
    "-o", "path", metavar="STUDY", required=True, help="The study to make: a file, or a URL."
)
@basic_options
def create(format: str, path: str, **options: Any) -> None:
    """Make a study in which people judge the outputs of an evalset.

    The summary shows the owner's token, which opens the dashboard. It is shown only once.
    """
    from wellput.api.study import Study

    def summary(on_phase: OnPhase) -> Result:
        with Study.create(**options, path=path, on_phase=on_phase) as study:
            return study.summary()

    show_summary_of(summary, format, path)
