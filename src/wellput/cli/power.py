"""`wellput power`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from wellput.cli.options import common_options, show
from wellput.core.errors import InputError

ITEMS = "25,50,100,200,400"
JUDGES = "1,3,5"


@click.command(
    epilog="""\b
Examples:
  wellput power --difference 0.2 --sd-item 0.8 --sd-noise 1.1 --items 50,100,200 --judges 1,3,5
  wellput power --metric-correlations 0.45,0.40,0.80 --items 100,500,1000
"""
)
@click.option("--difference", type=float, metavar="D", help="How far two systems are apart.")
@click.option(
    "--metric-correlations",
    metavar="R1,R2,R12",
    help="Instead: two metrics' correlations with people, and with each other.",
)
@click.option("--items", multiple=True, metavar="N,…", help=f"Numbers of items (default: {ITEMS}).")
@click.option(
    "--judges", multiple=True, metavar="N,…", help=f"Numbers of judges (default: {JUDGES})."
)
@click.option(
    "--sd-item",
    type=click.FloatRange(min=0),
    metavar="SD",
    help="Spread over items of the true difference of two systems (default: 1).",
)
@click.option(
    "--sd-noise",
    type=click.FloatRange(min=0),
    metavar="SD",
    help="Spread of one judge's answer about one item (default: 1).",
)
@click.option(
    "--sd-judge",
    type=click.FloatRange(min=0),
    metavar="SD",
    help="Spread of judges' own preferences for one of the systems (default: 0).",
)
@click.option(
    "--judge-correlation",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="R",
    help="For metrics: how far two single judges correlate; the number of judges then counts.",
)
@click.option(
    "--pilot-judges",
    type=click.IntRange(min=1),
    metavar="N",
    help="For metrics: how many judges R1 and R2 were seen with (default: 1).",
)
@click.option(
    "--target",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    help="The power to reach.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Level of the test.",
)
@click.option(
    "--simulations",
    type=click.IntRange(min=100),
    default=10_000,
    show_default=True,
    help="Simulated studies of each size.",
)
@common_options
def command(
    difference: float | None,
    metric_correlations: str | None,
    items: Sequence[str],
    judges: Sequence[str],
    sd_item: float | None,
    sd_noise: float | None,
    sd_judge: float | None,
    judge_correlation: float | None,
    pilot_judges: int | None,
    target: float,
    alpha: float,
    simulations: int,
    format: str,
    output: str,
    seed: int,
    threads: int | None,
) -> None:
    """Say how many items and judges it takes to tell two systems, or two metrics, apart.

    Power is the chance that a study finds a difference that is there. It comes from simulated panels,
    and every table says so.
    """
    from wellput.cli.progress import progress_of
    from wellput.io import check_writable
    from wellput.reporting.power import power_report
    from wellput.stats.power import power_for_metrics, power_for_systems

    check_writable(output)
    spreads = {"sd_item": sd_item, "sd_noise": sd_noise, "sd_judge": sd_judge}
    given = {name: value for name, value in spreads.items() if value is not None}
    sizes = numbers("--items", items or [ITEMS])
    if (difference is None) == (metric_correlations is None):
        raise InputError(
            "Say what is to be told apart: two systems (--difference 0.2), or two metrics "
            "(--metric-correlations 0.45,0.40,0.80)."
        )
    with progress_of("simulating studies"):
        if difference is not None:
            refuse_unused(
                "two systems",
                {"--judge-correlation": judge_correlation, "--pilot-judges": pilot_judges},
            )
            table = power_for_systems(
                difference,
                items=sizes,
                judges=numbers("--judges", judges or [JUDGES]),
                alpha=alpha,
                target=target,
                simulations=simulations,
                seed=seed,
                **given,
            )
        else:
            refuse_unused(
                "two metrics", {f"--{name.replace('_', '-')}": given[name] for name in given}
            )
            if judge_correlation is None:
                needs = {"--judges": judges or None, "--pilot-judges": pilot_judges}
                refuse_unused("two metrics without --judge-correlation", needs)
            table = power_for_metrics(
                *correlations(metric_correlations or ""),
                items=sizes,
                judges=numbers("--judges", judges or [JUDGES]) if judge_correlation else None,
                judge_correlation=judge_correlation,
                pilot_judges=pilot_judges or 1,
                alpha=alpha,
                target=target,
                simulations=simulations,
                seed=seed,
            )
    show(power_report(table), format, output)


def refuse_unused(what: str, options: Mapping[str, object]) -> None:
    """An option that would change nothing is a misunderstanding."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise InputError(f"{', '.join(given)} says nothing about {what}: leave it out.")


def numbers(option: str, texts: Sequence[str]) -> list[int]:
    """Whole numbers, separated by commas."""
    pieces = [piece.strip() for text in texts for piece in text.split(",") if piece.strip()]
    wrong = [piece for piece in pieces if not piece.isdecimal() or not int(piece)]
    if wrong or not pieces:
        shown = f": {', '.join(wrong)} is not" if wrong else ""
        raise InputError(f"{option} takes whole numbers above 0, such as 50,100{shown}.")
    return [int(piece) for piece in pieces]


def correlations(text: str) -> tuple[float, float, float]:
    try:
        r1, r2, r12 = (float(piece) for piece in text.split(","))
    except ValueError:
        raise InputError(
            f"--metric-correlations takes three numbers, such as 0.45,0.40,0.80; {text!r} is not."
        ) from None
    return r1, r2, r12
