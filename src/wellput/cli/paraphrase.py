"""The command `wellput paraphrase` and its options; `wellput.api.paraphrase` does the work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from wellput.cli.options import add_options, basic_options, column_option, show_summary_of

F = TypeVar("F", bound=Callable[..., Any])
FILTERS = ("none", "classifier", "contextwn", "context", "lm", "neural")


def choice_options(function: F) -> F:
    """Options on where replacements come from, and which are kept."""
    return add_options(
        function,
        click.option(
            "--method",
            multiple=True,
            metavar="METHODS",
            help="A name for a pair of --candidates and --filter; several need --substitutions. "
            "context (the default): WordNet's synonyms, filtered; contextwn: filtered as in Kauchak & "
            "Barzilay (2006), single words only, best with --corpus; wordnet: WordNet's synonyms, not "
            "filtered; lsa, brown: words with similar contexts, not filtered.",
        ),
        click.option(
            "--candidates",
            metavar="SOURCE",
            help="Where replacements come from: wordnet, lsa, brown or table:FILE.csv.",
        ),
        click.option(
            "--filter",
            type=click.Choice(FILTERS),
            help="The filter that a replacement must pass (default: context for wordnet, else none).",
        ),
        click.option(
            "--threshold",
            type=click.FloatRange(0, 1),
            metavar="P",
            help="Refuse replacements less probable than P (default: set by the filter).",
        ),
        click.option(
            "--relative",
            is_flag=True,
            help="Let the classifier compare the replacement with the word it replaces.",
        ),
        click.option(
            "--joint",
            is_flag=True,
            help="Make the best substitution first, then test the others in the new sentence.",
        ),
        click.option("--words-only", is_flag=True, help="Replace single words only, no phrases."),
        click.option(
            "--model", metavar="FILE.wpm", help="A paraphrase model (default: the shipped one)."
        ),
        click.option("--lm", metavar="FILE", help="An n-gram model for --filter lm (.wlm, .arpa)."),
        click.option(
            "--encoder",
            metavar="NAME",
            help="The encoder of --filter neural: a model name of Hugging Face, or a folder.",
        ),
        click.option("--wordnet", metavar="PATH", help="A WordNet (default: the first one found)."),
    )


@click.command(
    epilog="""\b
Examples:
  wellput paraphrase evalset.jsonl --method context --explain -o rewritten.jsonl
  wellput paraphrase evalset.jsonl --candidates table:ours.csv --filter none -o rewritten.jsonl
  wellput paraphrase evalset.jsonl --method contextwn --corpus news.txt -o rewritten.jsonl
  wellput paraphrase evalset.jsonl --method wordnet,contextwn,lsa,brown --sample 200 \\
      --substitutions judge.jsonl
"""
)
@click.argument("evalset")
@column_option
@choice_options
@click.option(
    "--corpus",
    multiple=True,
    metavar="FILE",
    help="Learn classifiers for the words of EVALSET from this text (one sentence per line) or its "
    "index (.wpm). Can be repeated.",
)
@click.option(
    "--cache",
    metavar="FILE.wpm",
    help="Keep in FILE.wpm what is learned from --corpus, and reuse it next time.",
)
@click.option("--explain", is_flag=True, help="Show every substitution, kept or refused.")
@click.option(
    "--substitutions",
    metavar="FILE",
    help="Write the substitutions as an evalset, for wellput study create --from-substitutions.",
)
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help="Write N substitutions of each method, drawn at random, to --substitutions.",
)
@click.option("-o", "path", metavar="EVALSET", help="Write the evalset with its new references.")
@basic_options
def command(format: str, path: str | None, **options: Any) -> None:
    """Rewrite references for each system, closer in wording to its output.

    The new references are in the field `references_by_system`; everything else stays the same.
    """
    from wellput.api.paraphrase import paraphrase

    show_summary_of(
        lambda on_phase: paraphrase(**options, path=path, on_phase=on_phase), format, path
    )
