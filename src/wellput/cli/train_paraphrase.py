"""The command `wellput train paraphrase` and its options; `wellput.api.train_paraphrase` does the work.
The paper in the help is Kauchak & Barzilay (2006)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from wellput.cli.options import add_options, basic_options, show_summary_of

F = TypeVar("F", bound=Callable[..., Any])


def context_options(function: F) -> F:
    """Options on how the classifiers are learned."""
    count = click.IntRange(min=1)
    return add_options(
        function,
        click.option(
            "--learner",
            type=click.Choice(["boosting", "logistic"]),
            default="boosting",
            show_default=True,
            help="Boosted stumps (rules with one feature each), as in the paper (Kauchak & Barzilay "
            "2006), or logistic regression.",
        ),
        click.option(
            "--rounds",
            type=count,
            default=100,
            show_default=True,
            help="Stumps in a classifier.",
        ),
        click.option(
            "--smoothing",
            type=click.FloatRange(min=0, min_open=True),
            default=5.0,
            show_default=True,
            metavar="X",
            help="Number of examples that are added to each side of a stump before its vote is "
            "computed.",
        ),
        click.option(
            "--penalty",
            type=click.FloatRange(min=0, min_open=True),
            default=1.0,
            show_default=True,
            help="Penalty of logistic regression on squared weights.",
        ),
        click.option(
            "--min-occurrences",
            type=click.IntRange(min=2),
            default=20,
            show_default=True,
            metavar="N",
            help="Words with fewer occurrences get no classifier.",
        ),
        click.option(
            "--max-occurrences",
            type=count,
            default=20_000,
            show_default=True,
            metavar="N",
            help="Use at most N occurrences of a word.",
        ),
        click.option(
            "--negatives",
            type=click.FloatRange(min=0, min_open=True),
            default=5.0,
            show_default=True,
            metavar="X",
            help="Negative examples for each positive one (the paper uses 1).",
        ),
        click.option(
            "--ngrams",
            type=click.IntRange(0, 4),
            default=0,
            show_default=True,
            metavar="N",
            help="Also use n-grams anywhere in the sentence, up to N words.",
        ),
    )


def neighbor_options(function: F) -> F:
    """Options of LSA and of Brown classes. The defaults are those of the paper."""
    count = click.IntRange(min=1)
    return add_options(
        function,
        click.option(
            "--vocabulary",
            type=click.IntRange(2, 60_000),
            default=20_000,
            show_default=True,
            help="How many of the most frequent words get a vector and a class.",
        ),
        click.option(
            "--features",
            type=count,
            default=1000,
            show_default=True,
            help="Number of words that LSA counts as neighbors of other words.",
        ),
        click.option(
            "--window",
            type=count,
            default=15,
            show_default=True,
            help="How many words on each side LSA counts as neighbors.",
        ),
        click.option(
            "--dimensions",
            type=count,
            default=100,
            show_default=True,
            help="Dimensions of LSA vectors.",
        ),
        click.option(
            "--classes",
            type=click.IntRange(0, 60_000),
            default=1000,
            show_default=True,
            help="Number of Brown classes; 0 for none.",
        ),
    )


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
@click.option(
    "--index",
    metavar="FILE",
    help="Write an index of CORPUS to FILE (.wpm); without CORPUS, read it.",
)
@click.option(
    "--judged",
    metavar="FILE.jsonl",
    help="Judged substitutions to learn the context filter from (default: the shipped weights).",
)
@click.option(
    "--encoder",
    metavar="NAME",
    help="Also learn the neural filter, with this encoder: a model name of Hugging Face, or a folder.",
)
@click.option("--wordnet", metavar="PATH", help="A WordNet (default: the first one found).")
@context_options
@neighbor_options
@click.option("-o", "path", required=True, metavar="MODEL", help="Write the model (.wpm).")
@basic_options
def command(format: str, path: str, **options: Any) -> None:
    """Train a paraphrase model: classifiers that say which word fits a context, vectors of words
    (LSA), and clusters of words (Brown classes).

    CORPUS is text with a sentence on each line. Without CORPUS, --index reads an existing index.
    """
    from wellput.api.train_paraphrase import paraphrase

    show_summary_of(
        lambda on_phase: paraphrase(**options, path=path, on_phase=on_phase), format, path
    )
