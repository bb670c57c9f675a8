"""The one way to write a page of docs/results. Each ends with the command and the data that made it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.catalog import BENCHMARKS, command
from benchmarks.data import FOLDER_VARIABLE, Source, sources
from wellput.io import replacing

ROOT = Path(__file__).parents[1]
ENDING_TITLE = "## How to repeat this"
VERBS = {
    "copied": "from",
    "packed": "packed from",
    "part": "a part of",
    "converted": "converted from",
}


def write_page(name: str, text: str) -> None:
    """Prints the page of a benchmark and writes it, whole or not at all."""
    names_files = bool(BENCHMARKS[name].arguments)  # of this machine: not for the page
    options = () if names_files else figure_options(sys.argv[1:])
    whole = f"{text.rstrip()}\n\n{ending(name, options)}"
    print(whole, flush=True)
    with replacing(ROOT / BENCHMARKS[name].page) as file:
        file.write(whole.encode())


OPTIONS_WITH_FILES = ("--resume", "--kept", "--index")


def figure_options(options: Sequence[str]) -> list[str]:
    """The options that change figures: without those that name a file or folder of this machine.

    >>> figure_options(["--studies", "10", "--resume", "kept"])
    ['--studies', '10']
    """
    kept = list(options)
    while named := [place for place, one in enumerate(kept) if one in OPTIONS_WITH_FILES]:
        del kept[named[0] : named[0] + 2]
    return kept


def ending(name: str, options: Sequence[str] = ()) -> str:
    """The last section of a page: the command, what it needs, and where its data come from."""
    benchmark = BENCHMARKS[name]
    parts = [ENDING_TITLE, f"`{command(name, ' '.join(options))}` writes this page."]
    if benchmark.needs:
        parts[-1] += " It needs:"
        parts.append("\n".join(f"- {one}" for one in benchmark.needs))
    if not benchmark.data:
        if not benchmark.needs:
            parts.append("It reads no data.")
        return "\n\n".join(parts) + "\n"
    known = sources()
    files = [known[file] for file in benchmark.data]
    parts.append(
        f"The data are not part of this project. Put these files into a folder, and set `{FOLDER_VARIABLE}` to it "
        "(the repositories are on GitHub):"
    )
    parts.append("\n".join(source_lines(files)))
    if any(source.how in ("converted", "part") for source in files):
        parts.append(
            "The scripts that converted files or chose a part are not in this project, and other choices may change the "
            "results. `benchmarks/data.tsv` has the SHA-256 of each file."
        )
    return "\n\n".join(parts) + "\n"


def source_lines(files: Sequence[Source]) -> list[str]:
    """A line for each source, with the files that come from it."""
    by_source: dict[tuple[str, str, str], list[str]] = {}
    for file in files:
        by_source.setdefault((file.how, file.source, file.licence), []).append(f"`{file.file}`")
    return [
        f"- {', '.join(names)}: {VERBS[how]} {source} (licence: {licence})"
        for (how, source, licence), names in by_source.items()
    ]


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table without the empty line that must stand behind it."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def replace_between(page: Path, begin: str, end: str, text: str) -> None:
    """Replaces the part of a page that stands between two marks."""
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, _, after = rest.partition(end)
    with replacing(page) as file:
        file.write(f"{before}{begin}{text}{end}{after}".encode())
