"""The command `wellput judge` and its options; `wellput.api.judge` does the work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from wellput.cli.options import add_options, basic_options, column_option, show_summary_of
from wellput.core.errors import InputError

F = TypeVar("F", bound=Callable[..., Any])


def question_options(function: F) -> F:
    """Options on what is asked, and what the model sees."""
    return add_options(
        function,
        click.option(
            "--question",
            multiple=True,
            metavar="FILE|NAMES",
            help="Names of questions (quality, fluency, adequacy, understandability or your own), or a "
            "TOML file with the wording, as for study create --settings.",
        ),
        click.option(
            "--design",
            metavar="rating|slider|magnitude|pairwise|spans",
            help="How the model answers (default: rating, or as the file says).",
        ),
        click.option("--points", type=int, help="Points of a rating scale (default: 7)."),
        click.option(
            "--ties", is_flag=True, help='For pairs: "no difference" is also an allowed answer.'
        ),
        click.option("--show-source", is_flag=True, help="Show the source of each item."),
        click.option("--show-reference", is_flag=True, help="Show the references of each item."),
        click.option(
            "--unit",
            default="text",
            show_default=True,
            metavar="WORD",
            help="What the outputs are called in wellput's own wording: answer, summary, sentence.",
        ),
        click.option(
            "--repeats",
            type=click.IntRange(min=1),
            default=1,
            show_default=True,
            metavar="N",
            help="Ask every question N times.",
        ),
        click.option("--swap", is_flag=True, help="Show each pair in both orders."),
        click.option(
            "--injection",
            type=click.IntRange(min=0),
            default=0,
            metavar="N",
            help="Judge N outputs again with an instruction to the judge in them, and say how much "
            "better they are judged then.",
        ),
    )


def model_options(function: F) -> F:
    """Options on how the model is asked."""
    return add_options(
        function,
        click.option(
            "--scores",
            type=click.Choice(["auto", "text"]),
            default="auto",
            show_default=True,
            help="auto: expected values from the probabilities of tokens, where there are any; text: "
            "the answer as written.",
        ),
        click.option(
            "--temperature",
            type=click.FloatRange(0, 2),
            default=0.0,
            show_default=True,
            help="Temperature of the model; 0 takes the most probable answer.",
        ),
        click.option(
            "--max-tokens",
            type=click.IntRange(min=1),
            help="The longest answer (default: 16, for spans 512).",
        ),
        click.option(
            "--max-cost",
            type=click.FloatRange(min=0),
            metavar="N",
            help="Never spend more than N: money with --price, else tokens. The limit is for all runs "
            "with the same --cache together.",
        ),
        click.option(
            "--price",
            metavar="IN,OUT",
            help="The price of a million tokens read, and of a million written: 2.5,10.",
        ),
        click.option(
            "--parallel",
            type=click.IntRange(min=1),
            default=8,
            show_default=True,
            help="Requests at a time.",
        ),
        click.option(
            "--timeout",
            type=click.FloatRange(min=0, min_open=True),
            default=60.0,
            show_default=True,
            metavar="SECONDS",
            help="How long to wait for an answer.",
        ),
        click.option(
            "--retries",
            type=click.IntRange(min=0),
            default=8,
            show_default=True,
            help="Tries after a failure.",
        ),
        click.option("--name", metavar="NAME", help="The judge is named model:NAME."),
        click.option(
            "--cache",
            metavar="FILE",
            help="The log of answers; questions that it answers are not asked again (default: a file "
            "beside JUDGMENTS).",
        ),
        click.option(
            "--dry-run",
            is_flag=True,
            help="Ask nothing; print one prompt, the number of requests and the estimated cost.",
        ),
    )


@click.command(
    epilog="""\b
Examples:
  wellput judge evalset.jsonl --question quality --unit answer --dry-run   # shows a prompt
  wellput judge evalset.jsonl --model qwen.gguf --question fluency -o fluency.csv
  wellput judge evalset.jsonl --model gpt-4o-mini --endpoint https://api.openai.com/v1 \\
      --question rubric.toml --price 0.15,0.6 --max-cost 5 -o judgments.csv
  wellput judge evalset.jsonl --model llama --endpoint http://127.0.0.1:8080/v1 \\
      --question quality --design pairwise --swap --dry-run
  wellput judge study.db --model qwen.gguf           # a judge of a study, beside people
"""
)
@click.argument("evalset", metavar="EVALSET|STUDY")
@column_option
@click.option(
    "--model",
    metavar="MODEL",
    help="A GGUF file (needs pip install 'wellput[local]'), or the name of a model at --endpoint. "
    "Required without --dry-run.",
)
@click.option(
    "--endpoint",
    metavar="URL",
    help="A server that speaks the OpenAI protocol. Without it nothing leaves this machine. The key "
    "comes from the environment: WELLPUT_API_KEY.",
)
@question_options
@model_options
@click.option(
    "-o", "path", metavar="JUDGMENTS", help="The file to write: CSV, TSV, JSONL or Parquet."
)
@basic_options
def command(format: str, path: str | None, **options: Any) -> None:
    """Let a language model answer the questions that people answer.

    Its judgments have the same columns as people's; the judge is named model:NAME. An answer that is
    not allowed is recorded as such, never guessed. With a STUDY, the model answers the trials of the
    study, as people do.
    """
    from wellput.api.judge import is_study, judge

    is_path_optional = (
        path or options["cache"] or options["dry_run"] or is_study(options["evalset"])
    )
    if not is_path_optional:
        raise InputError("-o is needed: without a file the answers would be lost.")
    show_summary_of(lambda on_phase: judge(**options, path=path, on_phase=on_phase), format, path)
