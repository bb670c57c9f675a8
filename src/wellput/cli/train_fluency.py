"""`wellput train fluency`."""

from __future__ import annotations

from typing import Any

import click

from wellput.cli.options import making_options, show_made


@click.command(
    epilog="""\b
Example:
  wellput train fluency --text corpus.txt -o my-fluency/
  wellput score --hyp A=a.txt -m fluency:model=my-fluency/
"""
)
@click.option(
    "--text",
    multiple=True,
    required=True,
    metavar="PATH",
    help="Real text: a file, a folder or a tar archive of .txt. Can be repeated.",
)
@click.option(
    "--gleu/--no-gleu",
    default=None,
    help="Train gleu-fluency, too (default: if the link grammar library is there).",
)
@click.option("-o", "path", required=True, metavar="FOLDER", help="Write models into FOLDER.")
@making_options
def command(format: str, path: str, **options: Any) -> None:
    """Fit fluency and gleu-fluency to text of your own kind.

    Half of the text stays as it is; from the other half worse sentences are made whose quality is known
    by construction. No judgments are needed. The models of English stay the shipped ones.
    """
    from wellput.api.train_fluency import fluency

    show_made(lambda on_phase: fluency(**options, path=path, on_phase=on_phase), format, path)
