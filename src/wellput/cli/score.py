"""`wellput score`."""

from __future__ import annotations

import shlex
import sys
from typing import Any

import click
from click.shell_completion import CompletionItem

from wellput.cli.options import (
    CommandWithConfidence,
    common_options,
    confidence_option,
    engine_options,
    show_result_of,
)
from wellput.core.errors import InputError


def complete_metric(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Completes the last of the metrics typed so far."""
    from wellput.metrics import registry

    done, comma, last = incomplete.rpartition(",")
    return [CompletionItem(done + comma + n) for n in registry.names() if n.startswith(last)]


@click.command(
    cls=CommandWithConfidence,
    epilog="""\b
Examples:
  wellput score --ref ref.txt --hyp A=a.txt --hyp B=b.txt -m bleu,chrf,ssa,gsa --baseline A
  wellput score evalset.jsonl -m sta,gta,understandability,quality --segments seg.csv --format json
  wellput score evalset.jsonl -m chrf:word_order=2 --confidence
  wellput score 'shards/*.jsonl' -m bleu --engine ray --segments scores --resume finished
""",
)
@click.argument("evalset", required=False)
@click.option("--ref", multiple=True, metavar="FILE", help="References, a line each.")
@click.option(
    "--hyp",
    multiple=True,
    metavar="NAME=FILE",
    help="A system's outputs, a line each.",
)
@click.option(
    "--trees",
    metavar="FILE",
    help="Dependency trees (CoNLL-U) of the first references, in order; auto: parse the references, "
    "with wellput's own parser; spacy:NAME: with a spaCy pipeline you have.",
)
@click.option(
    "-m",
    "--metrics",
    "metrics",
    multiple=True,
    required=True,
    metavar="METRICS",
    shell_complete=complete_metric,
    help="Metrics, separated by commas, with options: bleu,chrf:word_order=2.",
)
@confidence_option
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    hidden=True,
)
@click.option(
    "--paired",
    type=click.Choice(["jackknife", "ar", "bs"]),
    help="Test each system against the baseline: by the jackknife (unless another test is named), ar: "
    "approximate randomization, bs: sacreBLEU's paired bootstrap.",
)
@click.option("--baseline", metavar="NAME", help="The system to compare with (default: the first).")
@click.option("--all-pairs", is_flag=True, help="Test every pair of systems.")
@click.option(
    "--margin",
    multiple=True,
    metavar="[METRIC=]X",
    help="Test whether differences are smaller than X, the smallest that matters under a metric.",
)
@click.option(
    "--generalize",
    type=click.Choice(["items", "systems", "both"]),
    default="items",
    show_default=True,
    help="What intervals and p hold for: these systems, other items. The others are refused here.",
)
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Resamples of --paired ar and bs.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Differences with a smaller corrected p are called real.",
)
@click.option(
    "--segments",
    metavar="FILE|FOLDER",
    help="Write segment scores: CSV, TSV, JSONL, Parquet, or a folder of Parquet files.",
)
@engine_options
@click.option("--explain", is_flag=True, help="Show what is wrong in each system's worst items.")
@click.option(
    "--paraphrase",
    type=click.Choice(["context", "wordnet", "lsa", "brown"]),
    help="Score also on references rewritten to be closer to each output.",
)
@click.option(
    "--fail-if-worse",
    is_flag=True,
    help="Exit with 1 if a system is significantly worse than the baseline on any metric.",
)
@click.option(
    "--runs",
    metavar="FOLDER",
    envvar="WELLPUT_RUNS",
    help="Store the scores there too, for wellput runs (or set WELLPUT_RUNS).",
)
@common_options
def command(
    format: str, output: str, level: float | None, confidence: float | None, **options: Any
) -> None:
    """Score systems under one or more metrics, with intervals and significance.

    EVALSET is a file with items, references and outputs (JSONL, CSV, TSV, Parquet; - for standard
    input), a folder or a quoted pattern of such files, or their URL. Or give line-aligned text: --ref
    for each set of references, --hyp for each system.
    """
    from wellput.api.score import score
    from wellput.cli.progress import say
    from wellput.core.work import OnPhase
    from wellput.engine.result import ScoreResult

    if options["explain"] and format != "table":
        raise InputError("explain=True is for reading: it goes with --format table.")
    if level is not None:
        click.echo(f"wellput: --level is now --confidence {level:g}", err=True)

    def scored(on_phase: OnPhase) -> ScoreResult:
        result = score(
            **options,
            confidence=level or confidence or False,
            command=shlex.join(["wellput", *sys.argv[1:]]),
            on_phase=on_phase,
        )
        if result.run is not None:
            say(f"wellput: stored in {options['runs']} as run {result.run}")
        return result

    show_result_of(scored, format, output)
