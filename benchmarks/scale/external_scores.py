"""Large files of scores, read by PyArrow and by wellput: `python -m benchmarks external-scores`.

Writes docs/results/external_scores.md. The files (1.2 GB) are made in a temporary folder and deleted;
`--items N` for smaller ones. Every reading is a process of its own, whose processor time and highest
memory the system counts; PyArrow and wellput take turns.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import median

from benchmarks.pages import write_page

N_SYSTEMS = 10
TURNS = 3
MAX_MEMORY_MB = 1024
MAX_RATIO = 2.0

FILES = {
    "system.parquet": "Parquet, one system after the other",
    "item.parquet": "Parquet, one item after the other",
    "system.csv": "CSV, one system after the other",
    "item.csv": "CSV, one item after the other",
}
PYARROW = """
import sys
from pyarrow import csv, parquet
read = parquet.read_table if sys.argv[1].endswith(".parquet") else csv.read_csv
print(read(sys.argv[1]).num_rows)
"""
WELLPUT = """
import sys
from wellput.io.external_scores import read_external_scores
(found,) = read_external_scores(sys.argv[1]).values()
print(sum(len(scores) for scores in found.scores.values()))
"""
SCORE = "from wellput.cli import main; main()"


@dataclass(frozen=True)
class Cost:
    processor_s: float
    memory_mb: float


def write_files(folder: Path, n_items: int) -> None:
    """The same scores in two orders and two formats, and an evalset with the outputs."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import csv, parquet

    rng = np.random.default_rng(1)
    items = pa.array([f"item-{n:07}" for n in range(n_items)])
    systems = pa.array([f"system-{n}" for n in range(N_SYSTEMS)])
    scores = rng.normal(0.7, 0.1, n_items * N_SYSTEMS).round(6)
    by_system = np.arange(n_items * N_SYSTEMS)
    by_item = by_system.reshape(N_SYSTEMS, n_items).T.ravel()
    for order, rows in (("system", by_system), ("item", by_item)):
        table = pa.table(
            {
                "system": systems.take(pa.array(rows // n_items)),
                "item": items.take(pa.array(rows % n_items)),
                "score": scores[rows],
            }
        )
        parquet.write_table(table, folder / f"{order}.parquet")
        csv.write_csv(table, folder / f"{order}.csv")
    outputs = ",".join(f'"system-{n}":"an output"' for n in range(N_SYSTEMS))
    with (folder / "evalset.jsonl").open("w") as file:
        for name in items.to_pylist():
            file.write(f'{{"id":"{name}","outputs":{{{outputs}}}}}\n')


def cost_of(code: str, arguments: Sequence[str], folder: Path, expected: str = "") -> Cost:
    """What a process costs, its start included. Ends the benchmark if it does not print `expected`."""
    command = [sys.executable, "-c", code, *arguments]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode or expected not in printed:
        sys.exit(f"{' '.join(arguments)}: ended with {process.returncode}, printed {printed!r}.")
    cost = Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
    print(*arguments, cost, file=sys.stderr, flush=True)
    return cost


def middle(costs: Sequence[Cost]) -> Cost:
    return Cost(
        median(cost.processor_s for cost in costs), median(cost.memory_mb for cost in costs)
    )


def reading_costs(name: str, n_rows: int, folder: Path) -> tuple[Cost, Cost]:
    """The costs of PyArrow and of wellput."""
    turns = [
        [cost_of(code, [name], folder, str(n_rows)) for code in (PYARROW, WELLPUT)]
        for _ in range(TURNS)
    ]
    arrow, own = (middle(costs) for costs in zip(*turns, strict=True))
    return arrow, own


def page(costs: dict[str, tuple[Cost, Cost]], whole: Cost, n_items: int) -> str:
    rows = [
        f"| {FILES[name]} | {arrow.processor_s:.1f} s | {own.processor_s:.1f} s "
        f"| {own.processor_s / arrow.processor_s:.2f} | {arrow.memory_mb:,.0f} MB "
        f"| {own.memory_mb:,.0f} MB |"
        for name, (arrow, own) in costs.items()
    ]
    most = max(own.memory_mb for _, own in costs.values())
    ratios = {name: own.processor_s / arrow.processor_s for name, (arrow, own) in costs.items()}
    slowest = max(ratio for name, ratio in ratios.items() if name.endswith(".parquet"))
    return TEMPLATE.format(
        n_rows=n_items * N_SYSTEMS,
        n_items=n_items,
        lowest=min(ratios.values()),
        highest=max(ratios.values()),
        rows="\n".join(rows),
        most=most,
        memory="met" if most < MAX_MEMORY_MB else "**not met**",
        slowest=slowest,
        time="met" if slowest <= MAX_RATIO else "**not met**",
        whole_s=whole.processor_s,
        whole_mb=whole.memory_mb,
    )


TEMPLATE = f"""\
# Large files of scores

What does it cost to read a large file of scores that another program made (`-m ./scores.parquet`)? wellput needs {{lowest:.2f}} to {{highest:.2f}} times the processor time of PyArrow, and at most
{{most:,.0f}} MB of memory, for {{n_rows:,}} rows ({N_SYSTEMS} systems × {{n_items:,}} items) with the columns `system`, `item` and `score`. PyArrow only reads the table; wellput
reads it, checks it (repeated rows, scores that are not numbers, empty names) and puts every score in its place by system and item.

Processor time is summed over all threads. Each file is read in a process of its own, and the start of this process is included. The numbers are medians of {TURNS} runs.

| file | PyArrow, processor time | wellput, processor time | ratio | PyArrow, memory | wellput, memory |
| --- | ---: | ---: | ---: | ---: | ---: |
{{rows}}

| aim for wellput | measured | result |
| --- | ---: | --- |
| less than {MAX_MEMORY_MB:,} MB of memory, every file | {{most:,.0f}} MB | {{memory}} |
| at most {MAX_RATIO:.0f} times PyArrow's processor time, Parquet | {{slowest:.2f}} | {{time}} |

The whole command `wellput score evalset.jsonl -m ./system.parquet`, with an evalset of {{n_items:,}} items in JSONL: {{whole_s:.0f}} s of processor time,
{{whole_mb:,.0f}} MB.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=1_000_000)
    n_items = parser.parse_args().items
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # A process counts as its memory what the one that started it had: this one must stay small.
        writer = get_context("spawn").Process(target=write_files, args=(folder, n_items))
        writer.start()
        writer.join()
        costs = {name: reading_costs(name, n_items * N_SYSTEMS, folder) for name in FILES}
        arguments = ["score", "evalset.jsonl", "-m", "./system.parquet"]
        whole = cost_of(SCORE, arguments, folder, f"{n_items:,} items.")
    write_page("external-scores", page(costs, whole, n_items))


if __name__ == "__main__":
    main()
