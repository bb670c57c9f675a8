"""`wellput train fluency`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from wellput.cli.options import making_options, show
from wellput.core.errors import InputError
from wellput.reporting.table import Report, Table

PATHS = click.Path(path_type=Path)


@click.command(
    epilog="""\b
Example:
  wellput train fluency --text corpus.txt -o my-fluency/
  wellput score --hyp A=a.txt -m fluency:model=my-fluency/
"""
)
@click.option(
    "--text",
    "texts",
    type=PATHS,
    multiple=True,
    required=True,
    metavar="PATH",
    help="Real text: a file, a folder or a tar archive of .txt. Can be repeated.",
)
@click.option(
    "--gleu/--no-gleu",
    "has_gleu",
    default=None,
    help="Train gleu-fluency, too (default: if the link grammar library is there).",
)
@click.option(
    "-o", "output", type=PATHS, required=True, metavar="FOLDER", help="Write models into FOLDER."
)
@making_options
def command(
    texts: Sequence[Path],
    has_gleu: bool | None,
    output: Path,
    format: str,
    seed: int,
    threads: int | None,
) -> None:
    """Fit fluency and gleu-fluency to text of your own kind.

    Half of the text stays as it is; from the other half worse sentences are made whose quality is known
    by construction. No judgments are needed. The models of English stay the shipped ones.
    """
    from wellput.cli.progress import progress_of
    from wellput.core.cores import available_cores
    from wellput.language.link_grammar import is_installed
    from wellput.metrics import fluency, gleu_fluency
    from wellput.metrics.fluency_pools import split_text
    from wellput.metrics.fluency_steps import make_fluency, make_gleu

    if missing := [str(path) for path in texts if not path.exists()]:
        raise InputError(f"No such file or folder: {', '.join(missing)}.")
    with progress_of("reading sentences") as on_progress:
        pools = split_text(texts, on_progress=on_progress)
    output.mkdir(exist_ok=True)
    makers = {fluency.FILE: make_fluency}
    if is_installed() if has_gleu is None else has_gleu:
        makers[gleu_fluency.FILE] = make_gleu
    made: dict[str, dict[str, float]] = {}
    for file, make in makers.items():
        with progress_of("weighing sentences") as on_progress:
            made[file] = make(
                pools,
                output / file,
                seed=seed,
                threads=threads or available_cores(),
                on_progress=on_progress,
            )
    show(fluency_report(made, len(pools.real), len(pools.source)), format, "-")


def fluency_report(made: dict[str, dict[str, float]], n_real: int, n_source: int) -> Report:
    """A row per feature."""
    columns = ("file", "feature", "weight")
    records: list[dict[str, object]] = [
        {"file": file, "feature": feature, "weight": weight}
        for file, weights in made.items()
        for feature, weight in weights.items()
    ]
    table = Table(
        columns,
        [[str(r["file"]), str(r["feature"]), f"{r['weight']:.3f}"] for r in records],
        notes=[f"From {n_real:,} real sentences and {n_source:,} to make worse ones from."],
        caption="Weights of the fluency features",
    )
    value = {"real": n_real, "source": n_source, "files": made}
    return Report([table], value, columns, records)
