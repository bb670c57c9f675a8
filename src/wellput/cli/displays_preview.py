"""`wellput displays preview`."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import making_options, show_made


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
@click.option("-o", "path", metavar="FILE.html", help="Write the page, and serve nothing.")
@making_options
def command(format: str, path: str | None, **options: Any) -> None:
    """Let the head perform the schedules of an evalset, in the browser.

    Speech is made ahead by the program espeak-ng where it is installed; without it the head is silent.
    The page needs no network. It is served until Ctrl-C, or written to the file of -o, with
    a summary to standard output.
    """
    from wellput.cli.progress import progress
    from wellput.displays.previewing import preview

    if path is not None:
        show_made(lambda on_phase: preview(**options, path=path, on_phase=on_phase), format, path)
        return
    with progress() as on_phase:
        page = preview(**options, on_phase=on_phase)
    page.serve(lambda address: click.echo(f"The head is at {address} (Ctrl-C to end)."))
