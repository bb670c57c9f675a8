"""What a segment costs: each metric, each file format, intervals and tests. Part of the benchmark `scale`.

Times are processor times of one thread, the best of several turns: other programs on the machine hardly
matter.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wellput.core.errors import WellputError
from wellput.core.evalset import Batch, Item
from wellput.core.plain_block import batch_of
from wellput.core.tree import Tree
from wellput.engine.blocks import block_statistics
from wellput.io import open_evalset, write_evalset
from wellput.io.duplicates import SeenIds
from wellput.language.shipped import shipped
from wellput.metrics.registry import create
from wellput.stats.resampling import approximate_randomization, bootstrap, paired_bootstrap

METRICS = (
    "bleu", "chrf", "chrf:word_order=2", "ter", "wer", "nist", "rouge-l", "ssa", "gsa", "sta", "gta",
    "understandability", "quality", "exact", "ttr", "distinct", "length", "length-ratio",
    "perplexity", "fluency", "gleu-fluency",
)  # fmt: skip
TREES = frozenset({"sta", "gta", "understandability", "quality"})
MAX_SECONDS = 2.0
"""What a measurement may take; slow metrics are measured on fewer segments."""

PARTITION_ITEMS = 16 * 4096
"""Ids that a worker sends at a time."""

Pair = tuple[str, str]
"""An output and its reference."""


@dataclass(frozen=True)
class Cost:
    """Microseconds a segment (or an item). `growth`: how many times as many if segments are four times as long (or
    the items ten times as many)."""

    what: str
    microseconds: float
    growth: float | None = None


def per_call(work: Callable[[int], object], most: int, least: int = 64) -> float:
    """Microseconds of `work(n)` for each of the n segments. n grows from `least` to `most`, four times at each step,
    until a further step would take too long."""
    n = least
    work(n)  # loads models on first use, which is no cost of a segment
    while True:
        best = min(_timed(work, n) for _ in range(3))
        if n >= most or best * 4 > MAX_SECONDS / 3:
            return best / n * 1e6
        n = min(most, n * 4)


def _timed(work: Callable[[int], object], n: int) -> float:
    start = processor_time()
    work(n)
    return processor_time() - start


def processor_time() -> float:
    """Seconds of this process and of its children, which do the work for link grammar."""
    children: list[str] = []
    for task in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError):  # a thread that has ended since
            children += (task / "children").read_text().split()
    total = time.process_time()
    for child in children:
        fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def metric_costs(pairs: Sequence[Pair]) -> list[Cost]:
    """What each metric takes for a segment, and what parsing a reference takes."""
    long = [
        (" ".join(o for o, _ in pairs[i : i + 4]), " ".join(r for _, r in pairs[i : i + 4]))
        for i in range(0, 4 * (len(pairs) // 4), 4)
    ]
    costs: list[Cost] = []
    for name in METRICS:
        try:
            short_cost = _metric_cost(name, pairs)
            costs.append(Cost(name, short_cost, _metric_cost(name, long) / short_cost))
            print(costs[-1], file=sys.stderr, flush=True)
        except WellputError as error:
            print(f"{name} left out: {error}", file=sys.stderr, flush=True)
    parse = per_call(lambda n: parsed([r for _, r in pairs[:n]]), 4096, 16)
    longer = per_call(lambda n: parsed([r for _, r in long[:n]]), 4096, 16)
    return [*costs, Cost("parsing a reference (`--trees auto`)", parse, longer / parse)]


def _metric_cost(name: str, pairs: Sequence[Pair]) -> float:
    spec = f"perplexity:model={shipped('ngrams.wlm')}" if name == "perplexity" else name
    most = 256 if name in TREES else len(pairs)
    trees = parsed([r for _, r in pairs[:most]]) if name in TREES else []
    items = [
        Item(str(i), {"A": output}, (reference,), trees=(trees[i],) if trees else ())
        for i, (output, reference) in enumerate(pairs[:most])
    ]
    metric = create(spec).prepare([item.references for item in items])
    batch = Batch.of("A", items)

    def work(n: int) -> None:
        metric.statistics(
            Batch(
                "A", batch.ids[:n], batch.outputs[:n], batch.references[:n], batch.trees[:n],
                batch.sources[:n], batch.derivations[:n],
            )
        )  # fmt: skip

    return per_call(work, len(items), min(16, len(items)))


def parsed(texts: Sequence[str]) -> list[Tree]:
    from wellput.language.models.sentence_parsing import SentenceParser

    return list(SentenceParser.load("english", is_weighed=False).trees(texts, threads=1))


def reading_costs(path: Path, n: int, folder: Path) -> list[Cost]:
    """Items from a file of n lines in every format, without any metric."""
    other = folder / "other.jsonl"
    with path.open("rb") as lines, other.open("wb") as target:
        for line in lines:
            target.write(json.dumps({**json.loads(line), "trees": None}).encode() + b"\n")
    files = {"JSONL, plain": path, "JSONL with further keys": other}
    for what, name in (("JSONL.gz", "e.jsonl.gz"), ("CSV", "e.csv"), ("Parquet", "e.parquet")):
        files[what] = folder / name
        write_evalset(open_evalset(path), files[what])

    def read(file: Path) -> None:
        for _ in open_evalset(file).blocks():
            pass

    costs = []
    for what, file in files.items():
        best = min(_timed(lambda _, file=file: read(file), n) for _ in range(3))  # type: ignore[misc]
        costs.append(Cost(what, best / n * 1e6))
    return costs


def engine_cost(path: Path, names: str) -> float:
    """Microseconds that the engine's Python adds to the metrics of a segment: batches, checks, sums."""
    metrics = [create(name) for name in names.split(",")]
    block = next(open_evalset(path).blocks())

    def alone() -> None:
        batch = batch_of("A", block)  # a new batch, because a batch keeps what metrics share
        for metric in metrics:
            metric.statistics(batch)

    bare = min(_timed(lambda _: alone(), 1) for _ in range(25))
    whole = min(_timed(lambda _: block_statistics(block, metrics), 1) for _ in range(25))
    batches = min(_timed(lambda _: batch_of("A", block), 1) for _ in range(25))
    return max(0.0, whole - bare + batches) / len(block) * 1e6


def id_check_cost(n: int = 1 << 24) -> float:
    """Microseconds an id of the check that no id occurs twice, in the first process, with hashes on disk."""
    hashes = np.random.default_rng(7).integers(0, 2**64, n, dtype=np.uint64)

    def work(_: int) -> None:
        seen = SeenIds()
        for begin in range(0, n, PARTITION_ITEMS):
            seen.add_hashes(hashes[begin : begin + PARTITION_ITEMS])
        seen.repeated_hashes()

    return min(_timed(work, n) for _ in range(2)) / n * 1e6


def significance_costs(n: int, resamples: int = 1000) -> list[Cost]:
    """Microseconds for each of n items, with ten statistics an item, as BLEU has; `growth` compares them with those
    of a tenth of the items."""
    rng = np.random.default_rng(7)
    a, b = (rng.integers(0, 30, (n, 10)).astype(float) for _ in range(2))
    metric = create("bleu")
    works: dict[str, Callable[[int], object]] = {
        "interval (bootstrap)": lambda m: bootstrap(
            a[:m], metric.score, n_resamples=resamples, seed=1, threads=1
        ),
        "paired test (ar)": lambda m: approximate_randomization(
            a[:m], b[:m], metric.score, n_resamples=resamples, seed=1, threads=1
        ),
        "paired test (bs)": lambda m: paired_bootstrap(
            a[:m], b[:m], metric.score, n_resamples=resamples, seed=1, threads=1
        ),
    }
    costs = []
    for what, work in works.items():
        small, large = (min(_timed(work, m) for _ in range(2)) / m * 1e6 for m in (n // 10, n))
        costs.append(Cost(what, large, large / small))
    return costs
