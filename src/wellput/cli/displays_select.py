"""`wellput displays select`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import click

from wellput.cli.options import making_options, refuse_stdin_twice, show
from wellput.core.counted import counted
from wellput.core.errors import InputError, did_you_mean
from wellput.reporting.table import Report, Table

if TYPE_CHECKING:
    from wellput.displays.selection import Selection, Strategy


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
    "strategies",
    multiple=True,
    metavar="NAMES",
    help="rule, majority, weighted, learned, separated by commas (default: the first three).",
)
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    default=10,
    show_default=True,
    help="Folds of the cross-validation.",
)
@click.option("--train", metavar="FILE", help="Learn from the sentences of FILE instead.")
@click.option(
    "--context",
    "context",
    multiple=True,
    metavar="FEATURES",
    help="Features to go by, the one to give up last first (default: all, label first).",
)
@click.option(
    "--backoff/--no-backoff",
    default=True,
    show_default=True,
    help="Shorten contexts that were not seen in training, or refuse them.",
)
@click.option(
    "--rules",
    default="foster2008",
    show_default=True,
    metavar="RULES",
    help="Rules of the strategy rule: foster2008, foster2008-table1, or a JSON file.",
)
@click.option(
    "--temperature",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    help="Of the strategy learned: 1 draws by probability, 0 takes the likeliest.",
)
@click.option("--replace", is_flag=True, help="Replace systems of the same names.")
@click.option(
    "-o", "output", metavar="EVALSET", required=True, help="The evalset with the systems."
)
@making_options
def command(
    evalset: str,
    strategies: Sequence[str],
    folds: int,
    train: str | None,
    context: Sequence[str],
    backoff: bool,
    rules: str,
    temperature: float,
    replace: bool,
    output: str,
    format: str,
    seed: int,
    threads: int | None,
) -> None:
    """Choose displays for the nodes of every sentence, by one or more strategies.

    EVALSET has sentences with derivations, and where they are to be learned from the displays that
    people showed as the outputs of a system named original. Each strategy becomes a system.
    """
    from wellput.displays.selection import select_displays
    from wellput.io import check_distinct, check_table, read_evalset, write_evalset

    refuse_stdin_twice(evalset, train or "")
    check_table(output)
    check_distinct([output], [file for file in (evalset, train) if file is not None])
    chosen = _strategies(strategies)
    selection = select_displays(
        read_evalset(evalset).items,
        chosen,
        training=read_evalset(train, trees=False).items if train is not None else (),
        folds=folds,
        context=[name for text in context for name in text.split(",") if name] or None,
        backoff=backoff,
        rules=rules,
        temperature=temperature,
        replace=replace,
        seed=seed,
    )
    write_evalset(selection.evalset, output)
    if output != "-":
        show(_report(selection, seed), format, "-")


def _strategies(texts: Sequence[str]) -> list[Strategy]:
    from wellput.displays.selection import STRATEGIES

    names = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    for name in names:
        if name not in STRATEGIES:
            raise InputError(
                f"No strategy {name!r}.{did_you_mean(name, STRATEGIES)} "
                f"There are {', '.join(STRATEGIES)}."
            )
    return cast("list[Strategy]", list(dict.fromkeys(names)) or list(STRATEGIES[:3]))


def _report(selection: Selection, seed: int) -> Report:
    value = {**selection.to_dict(), "seed": seed}
    rows = []
    for name, displays in selection.displays.items():
        shortened = sum(selection.backed_off.get(name, {}).values())
        share = "" if name not in selection.backed_off else f"{shortened / selection.nodes:.1%}"
        per_sentence = displays / len(selection.evalset)
        rows.append([name, f"{displays:,}", f"{per_sentence:.2f}", share])
    notes = [
        f"{counted(len(selection.evalset), 'sentence')}, {counted(selection.nodes, 'node')}, "
        f"seed {seed}. "
        f"Context: {', '.join(selection.context) or 'none'}.",
    ]
    columns = ["system", "displays", "per sentence", "contexts shortened"]
    records = [
        {"system": name, "displays": n, "nodes": selection.nodes}
        for name, n in selection.displays.items()
    ]
    table = Table(columns, rows, notes=notes, caption="Displays chosen by each system")
    return Report([table], value, ("system", "displays", "nodes"), records)
