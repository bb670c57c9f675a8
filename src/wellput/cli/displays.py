"""The commands `wellput displays example`, `convert`, `select`, `evaluate` and `preview`, for the
facial displays (nods, raised brows) of a talking head.

Each command imports what it needs when it is called.
"""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.lazy_group import LazyGroup
from wellput.cli.options import (
    basic_options,
    common_options,
    metrics_option,
    show_result_of,
    show_summary_of,
)

DISPLAY_COMMANDS: dict[str, tuple[str, str]] = {
    "example": (
        "wellput.cli.displays:displays_example",
        "Write a synthetic example corpus.",
    ),
    "convert": (
        "wellput.cli.displays:displays_convert",
        "Read ELAN, TextGrid and OpenCCG files; write BML.",
    ),
    "select": (
        "wellput.cli.displays:displays_select",
        "Choose displays for sentences, by rules or as in a corpus.",
    ),
    "evaluate": (
        "wellput.cli.displays:displays_evaluate",
        "Compare schedules with people's, and systems with each other.",
    ),
    "preview": (
        "wellput.cli.displays:displays_preview",
        "Show the talking head in the browser.",
    ),
}


@click.group(
    cls=LazyGroup,
    members=DISPLAY_COMMANDS,
    epilog="""\b
Example:
  wellput displays example -o corpus.jsonl
  wellput displays select corpus.jsonl --strategy rule,majority,weighted -o all.jsonl
  wellput displays evaluate all.jsonl
""",
)
def command() -> None:
    """Choose, score and show facial displays of a talking head."""


@click.command(epilog="\b\nExample:\n  wellput displays example -o corpus.jsonl")
@click.option(
    "-n",
    "n",
    type=click.IntRange(min=1),
    default=240,
    show_default=True,
    help="Number of sentences.",
)
@click.option(
    "--noise",
    type=click.FloatRange(0, 1),
    default=0.05,
    show_default=True,
    help="Share of nodes (of a sentence's derivation) whose display does not depend on the context.",
)
@click.option("-o", "path", metavar="EVALSET", required=True, help="Write the corpus to EVALSET.")
@basic_options
def displays_example(format: str, path: str, **options: Any) -> None:
    """Write an example corpus: sentences from a small grammar, displays of an invented speaker.

    The corpus is synthetic. It shows how the commands work, not what people do or like.
    """
    from wellput.displays.example_corpus import example

    show_summary_of(lambda _: example(**options, path=path), format, path)


@click.command(
    epilog="""\b
Examples:
  wellput displays convert rec1.eaf rec2.eaf --words words -o corpus.jsonl
  wellput displays convert talk.TextGrid --displays head,brows -o corpus.jsonl
  wellput displays convert testbed.xml -o sentences.jsonl
  wellput displays convert all.jsonl --system weighted -o weighted.bml
"""
)
@click.argument("inputs", nargs=-1, required=True)
@click.option(
    "--words", default="words", show_default=True, help="Name of the tier with the words."
)
@click.option(
    "--displays",
    multiple=True,
    metavar="TIERS",
    help="Names of the tiers with displays, separated by commas (default: all other tiers).",
)
@click.option(
    "--sentences",
    default="sentences",
    show_default=True,
    help="Name of the tier with the sentences; without such a tier a recording is one sentence.",
)
@click.option("--system", metavar="NAME", help="Write the schedules of this system as BML.")
@click.option(
    "-o",
    "path",
    metavar="FILE",
    required=True,
    help="Write an evalset, or BML if FILE ends in .bml.",
)
@basic_options
def displays_convert(format: str, path: str, **options: Any) -> None:
    """Read annotations into a display corpus, or write schedules as BML.

    INPUTS are recordings annotated with ELAN (.eaf) or Praat (.TextGrid), OpenCCG testbeds (.xml), or
    evalsets. If the output ends in .bml, the schedules of --system are written in Behavior Markup
    Language.
    """
    from wellput.displays.conversion import convert

    show_summary_of(lambda _: convert(**options, path=path), format, path)


@click.command(
    epilog="""\b
Examples:
  wellput displays select corpus.jsonl --strategy rule,majority,weighted --folds 10 -o all.jsonl
  wellput displays select new.jsonl --train corpus.jsonl --strategy learned -o chosen.jsonl
"""
)
@click.argument("evalset")
@click.option(
    "--strategy",
    multiple=True,
    metavar="NAMES",
    help="One or more of rule, majority, weighted, learned, separated by commas (default: the first "
    "three).",
)
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    default=10,
    show_default=True,
    help="Number of folds in cross-validation.",
)
@click.option(
    "--train", metavar="FILE", help="Learn from the sentences of FILE instead of cross-validation."
)
@click.option(
    "--context",
    multiple=True,
    metavar="FEATURES",
    help="Features of the context, the most important first (default: all, label first).",
)
@click.option(
    "--backoff/--no-backoff",
    default=True,
    show_default=True,
    help="If a context was not seen in training: drop its least important features, or stop with an "
    "error.",
)
@click.option(
    "--rules",
    default="foster2008",
    show_default=True,
    metavar="RULES",
    help="Rules of --strategy rule: foster2008, foster2008-table1, foster2008-comic, or a JSON file.",
)
@click.option(
    "--temperature",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    help="For --strategy learned: 1 draws by probability, 0 takes the most probable display.",
)
@click.option("--replace", is_flag=True, help="Replace systems that have the same name.")
@click.option(
    "-o", "path", metavar="EVALSET", required=True, help="Write the evalset with the new systems."
)
@basic_options
def displays_select(format: str, path: str, **options: Any) -> None:
    """Choose displays for the nodes of every sentence's derivation, by one or more strategies.

    EVALSET has sentences with derivations. To learn from it, it also needs a system named original,
    whose outputs are the displays that people showed. Each strategy becomes a system.
    """
    from wellput.displays.selection import select

    show_summary_of(lambda _: select(**options, path=path), format, path)


@click.command(
    epilog="""\b
Examples:
  wellput displays evaluate all.jsonl
  wellput displays evaluate all.jsonl --charts figure4 --format json -o scores.json
  wellput displays evaluate all.jsonl -m display-f:match=combination,display-ttr --confidence
"""
)
@click.argument("evalset")
@metrics_option("Display metrics, separated by commas (default: all of them).")
@click.option("--confidence", is_flag=True, help="Show 95% intervals.")
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --confidence: percentile intervals of N bootstrap resamples instead.",
)
@click.option(
    "--charts",
    metavar="PREFIX",
    help="Write two charts, PREFIX-reproduction.svg and PREFIX-intrinsic.svg.",
)
@common_options
def displays_evaluate(format: str, output: str, charts: str | None, **options: Any) -> None:
    """Compare every system's display schedules with the schedules of the system `original`.

    Systems are tested against each other by Wilcoxon's rank sum test with Bonferroni's correction.
    The JSON is like the JSON of `wellput score`, with the tests under rank_sums.
    """
    from wellput.displays.evaluation import chart_files, evaluate
    from wellput.io import check_files

    # `show_result_of` checks the report's file. This also checks the charts, and that all differ.
    check_files([output, *chart_files(charts).values()], [])
    show_result_of(
        lambda on_phase: evaluate(**options, charts=charts, on_phase=on_phase), format, output
    )


@click.command(
    epilog="""\b
Examples:
  wellput displays preview all.jsonl --system weighted
  wellput displays preview all.jsonl --items 3,7 -o page.html
"""
)
@click.argument("evalset")
@click.option("--system", metavar="NAME", help="Show this system first (default: the first one).")
@click.option("--items", metavar="IDS", help="Ids of the sentences to show, separated by commas.")
@click.option(
    "-n",
    "n",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Without --items: show the first N sentences.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8010,
    show_default=True,
    help="The port to listen on; 0: any free port.",
)
@click.option("--browser/--no-browser", default=True, help="Open the page in the browser.")
@click.option(
    "-o", "path", metavar="FILE.html", help="Write the page to a file instead of serving it."
)
@basic_options
def displays_preview(format: str, path: str | None, **options: Any) -> None:
    """Show in the browser how the talking head performs the schedules of an evalset.

    The program espeak-ng makes the speech; without it the head is silent. The page needs no network.
    It is served until Ctrl-C. With -o it is written to a file, and a summary is printed.
    """
    from wellput.cli.progress import progress
    from wellput.displays.previewing import preview

    if path is not None:
        show_summary_of(
            lambda on_phase: preview(**options, path=path, on_phase=on_phase), format, path
        )
        return
    with progress() as on_phase:
        page = preview(**options, on_phase=on_phase)
    page.serve(lambda address: click.echo(f"The head is at {address} (Ctrl-C to end)."))
