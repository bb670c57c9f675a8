"""`wellput paraphrase`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from wellput.cli.options import making_options, show_made

F = TypeVar("F", bound=Callable[..., Any])
METHODS = ("context", "wordnet", "lsa", "brown")
FILTERS = ("none", "classifier", "context", "lm", "neural")


def choice_options(function: F) -> F:
    """Where replacements come from, and which pass."""
    for option in reversed(
        (
            click.option(
                "--method",
                type=click.Choice(METHODS),
                help="Short for candidates with a filter: context (the default) and wordnet are "
                "WordNet's synonyms, filtered and not; lsa and brown are not filtered.",
            ),
            click.option(
                "--candidates", metavar="SOURCE", help="wordnet, lsa, brown or table:FILE.csv."
            ),
            click.option(
                "--filter",
                type=click.Choice(FILTERS),
                help="What a replacement must pass (default: context for wordnet, else none).",
            ),
            click.option(
                "--threshold",
                type=click.FloatRange(0, 1),
                metavar="P",
                help="Refuse what is less probable (default: the filter's own).",
            ),
            click.option(
                "--relative",
                is_flag=True,
                help="Let the classifier compare the replacement with the word it replaces.",
            ),
            click.option(
                "--joint",
                is_flag=True,
                help="Make the best substitution first, and test the others in what it became.",
            ),
            click.option("--words-only", is_flag=True, help="No phrases: one word for one word."),
            click.option(
                "--model", metavar="FILE.wpm", help="A paraphrase model (default: the shipped one)."
            ),
            click.option(
                "--lm", metavar="FILE", help="An n-gram model for --filter lm (.wlm, .arpa)."
            ),
            click.option(
                "--encoder",
                metavar="NAME",
                help="The encoder of --filter neural: a name of the Hugging Face library, or a folder.",
            ),
            click.option("--wordnet", metavar="PATH", help="A WordNet (default: the first found)."),
        )
    ):
        function = option(function)
    return function


@click.command(
    epilog="""\b
Examples:
  wellput paraphrase evalset.jsonl --method context --explain -o rewritten.jsonl
  wellput paraphrase evalset.jsonl --candidates table:ours.csv --filter none -o rewritten.jsonl
  wellput paraphrase evalset.jsonl --corpus news.txt --filter classifier -o rewritten.jsonl
"""
)
@click.argument("evalset")
@choice_options
@click.option(
    "--corpus",
    multiple=True,
    metavar="FILE",
    help="Learn classifiers for the words at hand from this text (a sentence a line), or from an "
    "index of it (.wpm).",
)
@click.option(
    "--cache",
    metavar="FILE.wpm",
    help="Keep what is learned from --corpus in FILE, and take from it what is there already.",
)
@click.option("--explain", is_flag=True, help="Show every substitution, kept or refused.")
@click.option(
    "--substitutions",
    metavar="FILE",
    help="Write the substitutions as an evalset, for judges: study create --from-substitutions.",
)
@click.option("-o", "path", metavar="EVALSET", help="Write the evalset with its new references.")
@making_options
def command(format: str, path: str | None, **options: Any) -> None:
    """Rewrite references for each system, closer in wording to its output.

    Every output gets references of its own (`references_by_system`); all else stays as it is.
    """
    from wellput.api.paraphrase import paraphrase

    show_made(lambda on_phase: paraphrase(**options, path=path, on_phase=on_phase), format, path)
