"""The command `wellput score` and its options; `wellput.api.score` does the work."""

from __future__ import annotations

import shlex
import sys
from typing import Any

import click

from wellput.cli.options import (
    RUNS_VARIABLE,
    CommandWithConfidence,
    by_option,
    cluster_option,
    column_option,
    common_options,
    confidence_option,
    engine_options,
    generalize_to_items_option,
    metrics_option,
    paraphrase_option,
    show_result_of,
)
from wellput.core.errors import InputError


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
@column_option
@click.option(
    "--ref",
    multiple=True,
    metavar="FILE",
    help="A file of references, one line per item. Can be repeated.",
)
@click.option(
    "--hyp",
    multiple=True,
    metavar="NAME=FILE",
    help="The outputs of the system NAME, one line per item. Can be repeated.",
)
@click.option(
    "--trees",
    metavar="FILE",
    help="A CoNLL-U file with the trees of the first --ref, in order. auto: parse the references "
    "with wellput's own parser; spacy:NAME: with a spaCy pipeline that you have installed.",
)
@metrics_option(
    "Metrics, separated by commas, with options: bleu,chrf:word_order=2; or files of scores made "
    "elsewhere: ./comet.csv.",
    required=True,
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
    help="Test each system against the baseline. jackknife: the default test; ar: approximate "
    "randomization; bs: sacreBLEU's paired bootstrap.",
)
@click.option("--baseline", metavar="NAME", help="Compare with this system (default: the first).")
@click.option("--all-pairs", is_flag=True, help="Test every pair of systems.")
@click.option(
    "--margin",
    multiple=True,
    metavar="[METRIC=]X",
    help="Test whether differences are smaller than X, the smallest difference that matters. Can be "
    "repeated.",
)
@generalize_to_items_option
@cluster_option
@by_option
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Number of resamples of --paired ar and bs.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Differences with a corrected p below this are called real.",
)
@click.option(
    "--segments",
    metavar="FILE|FOLDER",
    help="Write the score of every output: a CSV, TSV, JSONL or Parquet file, or a folder of Parquet "
    "files.",
)
@engine_options
@click.option(
    "--explain",
    is_flag=True,
    help="Show the three worst items of each system, with what is wrong in them (for ssa, gsa, sta, "
    "gta, understandability, quality, fluency and gleu-fluency).",
)
@paraphrase_option("Also score with references rewritten by these methods")
@click.option(
    "--fail-if-worse",
    is_flag=True,
    help="Exit with 1 if a system is significantly worse than the baseline on any metric.",
)
@click.option(
    "--runs",
    metavar="FOLDER",
    envvar=RUNS_VARIABLE,
    help=f"Also store the scores in FOLDER, for wellput runs (or set {RUNS_VARIABLE}).",
)
@common_options
def command(
    format: str, output: str, level: float | None, confidence: float | None, **options: Any
) -> None:
    """Score systems with one or more metrics; say whether their differences are real.

    EVALSET is a file with items, references and outputs (JSONL, CSV, TSV or Parquet; - is standard
    input), a folder of such files, a quoted pattern, or a URL. Or give text files with one line per
    item: --ref for each set of references, --hyp for each system.
    """
    from wellput.api.score import score
    from wellput.cli.progress import say
    from wellput.core.work import OnPhase
    from wellput.engine.result import ScoreResult

    if options["explain"] and format != "table":
        raise InputError("--explain needs --format table.")
    if level is not None:
        click.echo(f"wellput: --level is now --confidence {level:g}", err=True)

    def scored(on_phase: OnPhase) -> ScoreResult:
        result = score(
            **options,
            confidence=level or confidence or False,
            command=shlex.join(["wellput", *sys.argv[1:]]),  # --runs stores it with the scores
            on_phase=on_phase,
        )
        if result.run is not None:
            say(f"wellput: stored in {options['runs']} as run {result.run}")
        return result

    show_result_of(scored, format, output)
