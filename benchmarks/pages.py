"""The one way to write a page of docs/results."""

from __future__ import annotations

from pathlib import Path

from benchmarks.catalog import BENCHMARKS
from wellput.io import replacing

ROOT = Path(__file__).parents[1]


def write_page(name: str, text: str) -> None:
    """Prints the page of a benchmark and writes it, whole or not at all."""
    whole = text.rstrip() + "\n"
    print(whole, flush=True)
    with replacing(ROOT / BENCHMARKS[name].page) as file:
        file.write(whole.encode())


def replace_between(page: Path, begin: str, end: str, text: str) -> None:
    """Replaces the part of a page that stands between two marks."""
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, _, after = rest.partition(end)
    with replacing(page) as file:
        file.write(f"{before}{begin}{text}{end}{after}".encode())
