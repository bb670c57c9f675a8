"""`wellput demo`."""

from __future__ import annotations

from importlib.resources import as_file, files

import click

from wellput.cli.options import common_options, emit, show, terminal_width

METRICS = "bleu,chrf,ssa,gsa,sta,gta,quality"
BASELINE = "careful"


@click.command(
    epilog="""\b
Examples:
  wellput demo
  wellput demo --save demo.jsonl && wellput score demo.jsonl -m gsa --explain
"""
)
@click.option("--save", metavar="FILE", help="Write the example's evalset to FILE, to play with.")
@common_options
def command(save: str | None, format: str, output: str, seed: int, threads: int | None) -> None:
    """Show the tool on an embedded example: announcements of a harbor, written by four systems, with
    two references and their trees."""
    from wellput.engine.score import score
    from wellput.io import open_evalset
    from wellput.report.score import score_report

    example = files("wellput") / "demo" / "evalset.jsonl"
    if save is not None:
        emit(example.read_text(encoding="utf-8"), save)
    with as_file(example) as path:
        result = score(
            open_evalset(path),
            METRICS,
            confidence=True,
            paired="ar",
            baseline=BASELINE,
            seed=seed,
            threads=threads,
        )
    report = score_report(result, width=terminal_width(output))
    show(report, format, output, before=introduction(result.items), after=CLOSING)


def introduction(items: int) -> str:
    return (
        f"{items} announcements of a harbor town by four systems, each with two references and their\n"
        "dependency trees. This is what you see below:\n\n"
        f"  wellput score EXAMPLE -m {METRICS} --confidence --paired ar --baseline {BASELINE}\n\n"
    )


CLOSING = """
On your own files:
  wellput score --ref ref.txt --hyp A=a.txt --hyp B=b.txt -m bleu,chrf,ssa,gsa --paired ar
  wellput metrics      every metric, what it needs, its paper
"""
