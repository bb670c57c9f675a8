"""`wellput displays preview`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from wellput.cli.options import emit, making_options, show
from wellput.core.errors import InputError, did_you_mean
from wellput.reporting.table import Report, Table

if TYPE_CHECKING:
    from wellput.core.evalset import EvalSet, Item


@click.command(
    epilog="""\b
Examples:
  wellput displays preview all.jsonl --system weighted
  wellput displays preview all.jsonl --items 3,7 -o page.html
"""
)
@click.argument("evalset")
@click.option("--system", metavar="NAME", help="The system shown first (default: the first).")
@click.option("--items", metavar="IDS", help="Sentences to show, separated by commas.")
@click.option(
    "-n",
    "n",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Sentences to show, the first ones, where --items names none.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to serve at.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8010,
    show_default=True,
    help="Port, 0 for any.",
)
@click.option("--browser/--no-browser", default=True, help="Open the page in the browser.")
@click.option("-o", "output", metavar="FILE.html", help="Write the page, and serve nothing.")
@making_options
def command(
    evalset: str,
    system: str | None,
    items: str | None,
    n: int,
    host: str,
    port: int,
    browser: bool,
    output: str | None,
    format: str,
    seed: int,
    threads: int | None,
) -> None:
    """Let the head perform the schedules of an evalset, in the browser.

    Speech is made ahead by the program espeak-ng where it is installed; without it the head is silent.
    The page needs no network. It is served until Ctrl-C, or written to the file of -o, with
    a summary to standard output.
    """
    import webbrowser

    from wellput.cli.progress import progress_of
    from wellput.displays.previewing import page_server, preview_page
    from wellput.io import check_distinct, check_writable, read_evalset

    if output is not None:
        check_writable(output)
        check_distinct([output], [evalset])
    sets = read_evalset(evalset, trees=False)
    systems = _systems(sets, system)
    shown = _chosen(sets, items, n)
    with progress_of("speaking sentences") as on_progress:
        page = preview_page(shown, systems, title=evalset, on_progress=on_progress)
    if output is not None:
        emit(page, output)
        if output != "-":
            show(_summary(shown, systems, output), format, "-")
        return
    with page_server(page, host, port) as server, suppress(KeyboardInterrupt):
        address = f"http://{host}:{server.server_address[1]}/"
        click.echo(f"The head is at {address} (Ctrl-C to end).")
        if browser:
            webbrowser.open(address)
        server.serve_forever()


def _summary(items: Sequence[Item], systems: Sequence[str], output: str) -> Report:
    record = {"sentences": len(items), "systems": list(systems), "output": output}
    cells = [str(len(items)), ", ".join(systems), output]
    table = Table(["sentences", "systems", "page"], [cells], is_prose=True, caption="The preview")
    return Report([table], record, list(record), [{**record, "systems": cells[1]}])


def _systems(sets: EvalSet, first: str | None) -> list[str]:
    """The systems with schedules, the one asked for first."""
    found = [
        name
        for name in sets.systems
        if any(not isinstance(item.outputs.get(name, ""), str) for item in sets)
    ]
    if not found:
        raise InputError("Nothing to perform: no system has display schedules.")
    if first is not None and first not in found:
        raise InputError(
            f"No system {first!r} with schedules.{did_you_mean(first, found)} "
            f"There are {', '.join(found)}."
        )
    return found if first is None else [first, *(name for name in found if name != first)]


def _chosen(sets: EvalSet, ids: str | None, n: int) -> Sequence[Item]:
    if ids is None:
        return sets.items[:n]
    by_id = {item.id: item for item in sets}
    wanted = [name.strip() for name in ids.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in by_id]
    if unknown:
        raise InputError(
            f"There is no item {', '.join(unknown)}.{did_you_mean(unknown[0], list(by_id))}"
        )
    return [by_id[name] for name in wanted]
