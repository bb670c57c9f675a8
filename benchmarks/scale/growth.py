"""How cost grows with each dimension of the data: `python -m benchmarks growth`.

Writes docs/results/growth.md. One dimension at a time is multiplied by ten, the others stay; each run is
a process of its own, whose processor time and highest memory the system counts. The exponent is that
of a power law: 1 means in proportion to the data, 2 with its square. The cost of the command on a few
lines of data is subtracted first.
"""

from __future__ import annotations

import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from benchmarks.pages import write_page
from wellput.io.compression import MAX_LINE_MIB

MAX_EXPONENT = 1.2
WORDS = [
    "the",
    "a",
    "ferry",
    "leaves",
    "at",
    "noon",
    "from",
    "pier",
    "two",
    "with",
    "many",
    "people",
    "on",
    "board",
    "today",
]
LEAST_S = 0.1
"""Less processor time than this above the start says nothing about growth."""
SCORE = "from wellput.cli import main; main()"

Write = Callable[[Path, int], list[str]]


@dataclass(frozen=True)
class Dimension:
    """`write` makes the files of a size in a folder and gives the command that reads them."""

    what: str
    command: str
    small: int
    write: Write
    least: int = 10
    """A size of a few lines, whose cost is that of the start."""


@dataclass(frozen=True)
class Cost:
    processor_s: float
    memory_mb: float


def _sentence(rng: random.Random, n_words: int = 10) -> str:
    return " ".join(rng.choices(WORDS, k=n_words))


def _evalset(path: Path, items: Sequence[dict[str, object]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for number, item in enumerate(items):
            file.write(json.dumps({"id": f"i{number}", **item}) + "\n")


def _judgments(path: Path, n_judges: int, n_ratings: int, n_items: int, n_systems: int) -> None:
    rng = random.Random(1)
    worth = [rng.gauss(0, 1) for _ in range(n_systems)]
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["judge", "item", "system", "question", "value"])
        for judge in range(n_judges):
            severity = rng.gauss(0, 5)
            for _ in range(n_ratings):
                item, system = rng.randrange(n_items), rng.randrange(n_systems)
                value = 50 + 10 * worth[system] + severity + item % 5 + rng.gauss(0, 10)
                rows.writerow([f"j{judge}", f"i{item}", f"s{system}", "quality", round(value, 1)])


def _agree(folder: Path, n: int) -> list[str]:
    rng = random.Random(2)
    items: list[dict[str, object]] = [
        {
            "references": [_sentence(rng)],
            "outputs": {f"s{system}": _sentence(rng) for system in range(4)},
        }
        for _ in range(50)
    ]
    _evalset(folder / "e.jsonl", items)
    _judgments(folder / "j.csv", n, 20, 50, 4)
    return ["agree", "e.jsonl", "j.csv", "-m", "bleu,chrf"]


def _rank_single(folder: Path, n: int) -> list[str]:
    _judgments(folder / "j.csv", n, 1, 50, 4)
    return ["rank", "j.csv"]


def _systems(folder: Path, n: int) -> list[str]:
    rng = random.Random(3)
    outputs = {f"s{system}": _sentence(rng) for system in range(n)}
    _evalset(folder / "e.jsonl", [{"references": [_sentence(rng)], "outputs": outputs}] * 2)
    return ["score", "e.jsonl", "-m", "bleu,chrf"]


def _judged_systems(folder: Path, n: int) -> list[str]:
    _systems(folder, n)
    rng = random.Random(8)
    with (folder / "j.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["judge", "item", "system", "question", "value"])
        for system in range(n):
            for item in ("i0", "i1"):
                judge, value = f"j{rng.randrange(20)}", rng.randint(0, 100)
                rows.writerow([judge, item, f"s{system}", "quality", value])
    return ["agree", "e.jsonl", "j.csv", "-m", "bleu,chrf"]


def _names(folder: Path, n: int) -> list[str]:
    rng = random.Random(4)
    items: list[dict[str, object]] = [
        {"references": [_sentence(rng)], "outputs": {f"s{number}": _sentence(rng)}}
        for number in range(n)
    ]
    _evalset(folder / "e.jsonl", items)
    return ["score", "e.jsonl", "-m", "bleu"]


def _documents(folder: Path, n: int) -> list[str]:
    rng = random.Random(5)
    items: list[dict[str, object]] = [
        {
            "document": f"d{number // 3}",
            "references": [_sentence(rng)],
            "outputs": {"a": _sentence(rng), "b": _sentence(rng)},
        }
        for number in range(3 * n)
    ]
    _evalset(folder / "e.jsonl", items)
    return ["score", "e.jsonl", "-m", "bleu", "--baseline", "a"]


def _tags(folder: Path, n: int) -> list[str]:
    rng = random.Random(6)
    items: list[dict[str, object]] = [
        {
            "tags": {"domain": f"t{number % n}"},
            "references": [_sentence(rng)],
            "outputs": {"a": _sentence(rng), "b": _sentence(rng)},
        }
        for number in range(3_000 * n if n > 2 else 24)
    ]
    _evalset(folder / "e.jsonl", items)
    return ["score", "e.jsonl", "-m", "bleu", "--baseline", "a", "--by", "domain"]


def _line(folder: Path, n: int) -> list[str]:
    rng = random.Random(7)
    item: dict[str, object] = {
        "references": [_sentence(rng, n)],
        "outputs": {"a": _sentence(rng, n)},
    }
    _evalset(folder / "e.jsonl", [item])
    return ["score", "e.jsonl", "-m", "bleu,chrf"]


DIMENSIONS = (
    Dimension("judges of 20 ratings each", "agree", 300, _agree),
    Dimension("judges of one rating each", "rank", 5_000, _rank_single),
    Dimension("systems, 2 items", "score", 4_000, _systems),
    Dimension("systems, 2 items, judged", "agree", 2_000, _judged_systems),
    Dimension("systems, one output each", "score", 5_000, _names),
    Dimension("documents of 3 items, with a test", "score --baseline", 20_000, _documents),
    Dimension("values of a tag, 3,000 items each", "score --by", 10, _tags, least=2),
    Dimension("words in one line", "score", 500_000, _line),
)


def cost_of(write: Write, n: int) -> Cost:
    """What the command costs on data of this size, its start included."""
    with tempfile.TemporaryDirectory() as folder:
        # In another process: a child's highest memory is at least that of its parent.
        with get_context("spawn").Pool(1) as pool:
            arguments = pool.apply(write, (Path(folder), n))
        command = [sys.executable, "-c", SCORE, *arguments]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        with subprocess.Popen(
            command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
        ) as process:
            assert process.stderr is not None
            said = process.stderr.read().decode()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(arguments)}: ended with {process.returncode}: {said}")
    cost = Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
    print(n, *arguments, cost, file=sys.stderr, flush=True)
    return cost


def exponent(least: float, small: float, large: float) -> float:
    """The exponent of the growth above `least` when the size is multiplied by ten.

    >>> exponent(1.0, 2.0, 11.0)
    1.0
    """
    return math.log10(max(large - least, 1e-9) / max(small - least, 1e-9))


def row(one: Dimension) -> tuple[str, float]:
    """The row of the page, and the exponent of the processor time (NaN where there is too little)."""
    least, small, large = (cost_of(one.write, n) for n in (one.least, one.small, 10 * one.small))
    if small.processor_s - least.processor_s > LEAST_S:
        of_time = exponent(least.processor_s, small.processor_s, large.processor_s)
    else:
        of_time = math.nan
    if small.memory_mb - least.memory_mb > 1:
        of_memory = f"{exponent(least.memory_mb, small.memory_mb, large.memory_mb):.2f}"
    else:
        of_memory = "–"
    shown = "–" if math.isnan(of_time) else f"{of_time:.2f}"
    text = (
        f"| {one.what} | `{one.command}` | {one.small:,} → {10 * one.small:,} | {small.processor_s:.2f} | "
        f"{large.processor_s:.2f} | {shown} | {small.memory_mb:,.0f} | {large.memory_mb:,.0f} | {of_memory} |"
    )
    return text, of_time


def refusal() -> str:
    """What is said of a line beyond the limit."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "e.jsonl")
        path.write_bytes(b'{"id": "' + b"x" * ((MAX_LINE_MIB + 1) << 20) + b'"}\n')
        command = [sys.executable, "-c", SCORE, "score", path.name, "-m", "bleu"]
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return ended.stderr.strip()


def main() -> None:
    rows = [row(one) for one in DIMENSIONS]
    highest = max((found for _, found in rows if not math.isnan(found)), default=math.nan)
    table = "\n".join(text for text, _ in rows)
    verdict = "met" if highest <= MAX_EXPONENT else "**not met**"
    write_page(
        "growth", TEMPLATE.format(table=table, highest=highest, verdict=verdict, said=refusal())
    )


TEMPLATE = f"""\
# How time and memory grow with the data

How do the processor time and memory of commands grow if one dimension of the data is multiplied by ten? The highest exponent of processor time is {{highest:.2f}} (goal: at most {MAX_EXPONENT:g}; {{verdict}}).
An exponent of 1 means that the cost grows in proportion to the data, 2 that it grows with the square.

*small → large* are the sizes before and after; s is seconds of processor time, MB the most memory. Both are measured for a whole process, including its start. For the exponents, the
cost of the command on a few lines of data is subtracted first; – means that what remains is too small to measure (at most {LEAST_S:g} s or 1 MB).

| what grows | command | small → large | s, small | s, large | exponent of time | MB, small | MB, large | exponent of memory |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{{table}}

Limits:

- `--by` takes tags with at most 100 values, so larger numbers were not measured.
- `agree` refuses data if judges × systems × items is more than 200,000,000, even if most of these combinations have no judgment.
- `agree` ranks more than 1,000 systems by their means, without a model; `rank` refuses them.

A line of more than {MAX_LINE_MIB} MiB is refused:

    {{said}}
"""


if __name__ == "__main__":
    main()
