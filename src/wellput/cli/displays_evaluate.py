"""`wellput displays evaluate`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from wellput.cli.options import common_options, show


@click.command(
    epilog="""\b
Examples:
  wellput displays evaluate all.jsonl
  wellput displays evaluate all.jsonl --charts figure4 --format json -o scores.json
  wellput displays evaluate all.jsonl -m display-f:match=combination,display-ttr --confidence
"""
)
@click.argument("evalset")
@click.option(
    "-m",
    "--metrics",
    "metrics",
    multiple=True,
    metavar="METRICS",
    help="Display metrics, separated by commas (default: all of them).",
)
@click.option("--confidence", is_flag=True, help="Bootstrap intervals.")
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Resamples of the intervals.",
)
@click.option(
    "--charts",
    metavar="PREFIX",
    help="Write two charts, PREFIX-reproduction.svg and PREFIX-intrinsic.svg.",
)
@common_options
def command(
    evalset: str,
    metrics: Sequence[str],
    confidence: bool,
    resamples: int,
    charts: str | None,
    format: str,
    output: str,
    seed: int,
    threads: int | None,
) -> None:
    """Score every system's display schedules against those of the system `original`.

    Systems are tested against each other by Wilcoxon's rank sum test with Bonferroni's correction.
    The JSON is that of `wellput score`, with the tests under rank_sums.
    """
    from wellput.cli.progress import progress
    from wellput.displays.evaluation import (
        FREQUENCIES,
        INTRINSIC,
        REPRODUCTION,
        evaluate_displays,
    )
    from wellput.displays.evaluation_report import displays_charts, displays_report
    from wellput.io import check_distinct, check_writable, read_evalset, replacing_text

    files = {name: f"{charts}-{name}.svg" for name in ("reproduction", "intrinsic")}
    targets = [output, *(files.values() if charts is not None else ())]
    for target in targets:
        check_writable(target)
    check_distinct(targets, [evalset])
    with progress() as on_phase:
        evaluation = evaluate_displays(
            read_evalset(evalset, trees=False),
            metrics or (*REPRODUCTION, *INTRINSIC, *FREQUENCIES),
            confidence=confidence,
            n_resamples=resamples,
            seed=seed,
            threads=threads,
            on_phase=on_phase,
        )
    if charts is not None:
        for name, drawing in displays_charts(evaluation.result).items():
            with replacing_text(files[name]) as file:
                file.write(drawing)
    show(displays_report(evaluation), format, output)
