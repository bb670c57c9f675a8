"""`wellput train paraphrase`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from wellput.cli.options import making_options, show_made

F = TypeVar("F", bound=Callable[..., Any])


def context_options(function: F) -> F:
    """How the classifiers are learned."""
    count = click.IntRange(min=1)
    for option in reversed(
        (
            click.option(
                "--learner",
                type=click.Choice(["boosting", "logistic"]),
                default="boosting",
                show_default=True,
                help="Boosted stumps, as in the paper, or logistic regression.",
            ),
            click.option(
                "--rounds",
                type=count,
                default=100,
                show_default=True,
                help="Stumps of a classifier.",
            ),
            click.option(
                "--smoothing",
                type=click.FloatRange(min=0, min_open=True),
                default=5.0,
                show_default=True,
                metavar="X",
                help="Of a stump's votes, in examples (BoosTexter's: 1).",
            ),
            click.option(
                "--penalty",
                type=click.FloatRange(min=0, min_open=True),
                default=1.0,
                show_default=True,
                help="Of logistic regression, on squared weights.",
            ),
            click.option(
                "--min-occurrences",
                type=click.IntRange(min=2),
                default=20,
                show_default=True,
                metavar="N",
                help="Rarer words get no classifier.",
            ),
            click.option(
                "--max-occurrences",
                type=count,
                default=20_000,
                show_default=True,
                metavar="N",
                help="Of more frequent words so many occurrences are used.",
            ),
            click.option(
                "--negatives",
                type=click.FloatRange(min=0, min_open=True),
                default=5.0,
                show_default=True,
                metavar="X",
                help="Places without the word, for each with it (the paper's: 1).",
            ),
            click.option(
                "--ngrams",
                type=click.IntRange(0, 4),
                default=0,
                show_default=True,
                metavar="N",
                help="Also n-grams anywhere in the sentence, up to this length.",
            ),
        )
    ):
        function = option(function)
    return function


def neighbor_options(function: F) -> F:
    """LSA and Brown classes; the defaults are the paper's."""
    count = click.IntRange(min=1)
    for option in reversed(
        (
            click.option(
                "--vocabulary",
                type=click.IntRange(2, 60_000),
                default=20_000,
                show_default=True,
                help="Words with a vector and a class, the most frequent.",
            ),
            click.option(
                "--features", type=count, default=1000, show_default=True, help="Words LSA counts."
            ),
            click.option(
                "--window",
                type=count,
                default=15,
                show_default=True,
                help="Words on either side that LSA counts in.",
            ),
            click.option(
                "--dimensions", type=count, default=100, show_default=True, help="Of LSA vectors."
            ),
            click.option(
                "--classes",
                type=click.IntRange(0, 60_000),
                default=1000,
                show_default=True,
                help="Brown classes; 0 for none.",
            ),
        )
    ):
        function = option(function)
    return function


@click.command(
    epilog="""\b
Examples:
  wellput train paraphrase news.txt.gz -o news.wpm
  wellput train paraphrase news.txt --classes 0 --min-occurrences 100 -o news.wpm
  wellput train paraphrase news.txt --index index.wpm -o news.wpm
  wellput paraphrase evalset.jsonl --model news.wpm -o rewritten.jsonl
"""
)
@click.argument("corpus", nargs=-1)
@click.option("--index", metavar="FILE", help="Read the corpus index FILE, or write it (.wpm).")
@click.option(
    "--judged",
    metavar="FILE.jsonl",
    help="Judged substitutions to learn the context filter from (default: the shipped weights).",
)
@click.option(
    "--encoder",
    metavar="NAME",
    help="Learn the neural filter as well, with this encoder of the Hugging Face library.",
)
@click.option("--wordnet", metavar="PATH", help="A WordNet (default: the first one found).")
@context_options
@neighbor_options
@click.option("-o", "path", required=True, metavar="MODEL", help="Write the model (.wpm).")
@making_options
def command(format: str, path: str, **options: Any) -> None:
    """Train what paraphrasing needs: classifiers of contexts, LSA, Brown classes.

    CORPUS is text with a sentence on each line. Without it, --index names an index made before.
    """
    from wellput.api.train_paraphrase import paraphrase

    show_made(lambda on_phase: paraphrase(**options, path=path, on_phase=on_phase), format, path)
