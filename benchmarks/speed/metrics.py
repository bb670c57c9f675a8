"""wellput beside other tools on the same text, in one run: `make bench`.

Writes docs/results/speed.md. Machines differ, so only ratios count: wellput's time and the other tool's are measured in
turns, and the best of several turns counts. With one thread it is processor time, which other programs on the machine hardly change; for two
threads and for the start of the program it is clock time.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import jiwer
from rapidfuzz.distance import Levenshtein
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from sacrebleu.significance import PairedTest

import wellput
from benchmarks.data import wmt21
from benchmarks.pages import write_page
from wellput.core.evalset import Batch
from wellput.metrics.registry import create

TURNS = 7


@dataclass(frozen=True)
class Row:
    """A row of the page: `peer` is the other tool, `goal` the ratio that wellput should reach."""

    what: str
    peer: str
    goal: str
    ours_s: float
    peer_s: float
    segments: int

    @property
    def ratio(self) -> float:
        return self.peer_s / self.ours_s


def best_times(
    ours: Callable[[], object],
    peer: Callable[[], object],
    *,
    turns: int = TURNS,
    clock: Callable[[], float] = time.process_time,
) -> tuple[float, float]:
    """The shortest time of each, measured in turns."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(turns):
        for function, taken in zip((ours, peer), times, strict=True):
            start = clock()
            function()
            taken.append(clock() - start)
    return min(times[0]), min(times[1])


def corpus_score(
    names: str, outputs: list[str], references: list[list[str]], threads: int
) -> float:
    """Text in, corpus score out."""
    batch = Batch.from_texts(outputs, references, threads=threads)
    score = 0.0
    for name in names.split(","):
        metric = create(name)
        score = float(metric.score(metric.statistics(batch).sum(axis=0)))
    return score


def metric_rows(outputs: list[str], references: list[str]) -> list[Row]:
    lists = [[reference] for reference in references]
    distinct = [f"{text} {number}" for number, text in enumerate(outputs)]
    distinct_references = [f"{text} {number}" for number, text in enumerate(references)]
    distinct_lists = [[text] for text in distinct_references]
    few = slice(0, 1500)
    rows: list[Row] = []

    def compare(
        what: str, peer: str, goal: str, ours: Callable[[], object], theirs: Callable[[], object],
        n: int,
        turns: int = TURNS,
    ) -> None:  # fmt: skip
        rows.append(Row(what, peer, goal, *best_times(ours, theirs, turns=turns), n))
        print(f"{what}: {rows[-1].ratio:.1f}×", file=sys.stderr)

    n = len(outputs)
    compare(
        "bleu", "sacreBLEU", "≥ 50", lambda: corpus_score("bleu", outputs, lists, 1),
        lambda: BLEU().corpus_score(outputs, [references]), n,
    )  # fmt: skip
    compare(
        "bleu, all strings distinct", "sacreBLEU", "≥ 80",
        lambda: corpus_score("bleu", distinct, distinct_lists, 1),
        lambda: BLEU().corpus_score(distinct, [distinct_references]), n, 3,
    )  # fmt: skip
    compare(
        "chrf", "sacreBLEU", "≥ 60", lambda: corpus_score("chrf", outputs, lists, 1),
        lambda: CHRF().corpus_score(outputs, [references]), n, 3,
    )  # fmt: skip
    compare(
        "ter", "sacreBLEU", "≥ 250", lambda: corpus_score("ter", outputs[few], lists[few], 1),
        lambda: TER().corpus_score(outputs[few], [references[few]]), len(outputs[few]), 3,
    )  # fmt: skip
    compare(
        "wer", "jiwer", "≥ 25", lambda: corpus_score("wer", outputs, lists, 1),
        lambda: jiwer.wer(references, outputs), n,
    )  # fmt: skip

    def edit_operations() -> None:
        for reference, output in zip(references, outputs, strict=True):
            Levenshtein.editops(reference.split(), output.split())

    compare(
        "ssa and gsa, split at spaces", "rapidfuzz (split at spaces, `editops`)", "≥ 2",
        lambda: corpus_score("ssa:tokenize=none,gsa:tokenize=none", outputs, lists, 1),
        edit_operations, n,
    )  # fmt: skip
    compare(
        "ssa and gsa, split by sacreBLEU's tokenizer 13a", "rapidfuzz (split at spaces, `editops`)", "",
        lambda: corpus_score("ssa,gsa", outputs, lists, 1), edit_operations, n,
    )  # fmt: skip
    return rows


def paired_rows(a: list[str], b: list[str], references: list[str]) -> list[Row]:
    """The whole test: text in, p-value out."""
    evalset = wellput.EvalSet.of({"A": a, "B": b}, references)
    rows: list[Row] = []
    for test, goal in (("ar", "≥ 40"), ("bs", "≥ 25")):

        def ours(test: str = test) -> object:
            return wellput.score(evalset, "bleu", paired=test, threads=1)  # type: ignore[arg-type]

        def theirs(test: str = test) -> object:
            metrics = {"BLEU": BLEU(references=[references])}
            return PairedTest([("A", a), ("B", b)], metrics, None, test_type=test, n_samples=1000)()

        rows.append(
            Row(
                f"paired {test}, 1,000 resamples",
                "sacreBLEU",
                goal,
                *best_times(ours, theirs, turns=3),
                len(a),
            )
        )
        print(f"paired {test}: {rows[-1].ratio:.1f}×", file=sys.stderr)
    return rows


def thread_rows(outputs: list[str], references: list[str]) -> list[Row]:
    """Two threads beside one thread."""
    lists = [[reference] for reference in references]
    rows: list[Row] = []
    for name in ("bleu", "chrf", "ter", "ssa"):
        times = best_times(
            lambda name=name: corpus_score(name, outputs, lists, 2),  # type: ignore[misc]
            lambda name=name: corpus_score(name, outputs, lists, 1),  # type: ignore[misc]
            turns=25,
            clock=time.perf_counter,
        )
        rows.append(Row(f"{name}, two threads", "one thread", "nearly 2", *times, len(outputs)))
    return rows


def startup_row() -> Row:
    """The start of wellput beside that of Python. `ours_s` is Python's time here and `peer_s` wellput's, so that the
    ratio says how many times longer wellput takes."""
    program = [sys.executable, "-c", "from wellput.cli import main; main()", "--help"]
    ours, bare = best_times(
        lambda: subprocess.run(program, stdout=subprocess.DEVNULL, check=True),
        lambda: subprocess.run([sys.executable, "-c", "pass"], check=True),
        turns=15,
        clock=time.perf_counter,
    )
    return Row("start of the program: `wellput --help`", "`python -c pass`", "≤ 10", bare, ours, 0)


def page(rows: list[Row]) -> str:
    lines = [
        "# Speed",
        "",
        "How fast is wellput compared with other tools? It computes the same scores at least 50 times faster than sacreBLEU and jiwer, and sacreBLEU's significance tests more than 30 times faster. Each row has the time from text to score, on the same text (WMT 2021 German–English news outputs) in one run.",
        "",
        "Each time is the best of several runs. It is processor time with one thread; for two threads and for the start of the program it is clock time. Other machines have other times, but similar ratios. *Ratio*: the other tool's time divided by wellput's (in the rows *two threads* both are wellput's); in the last row, wellput's time divided by Python's. *Goal*: the ratio that we want to reach.",
        "*All strings distinct*: no segment occurs twice, so nothing can be cached. *ar* and *bs*: [approximate randomization and paired bootstrap](../significance.md) with BLEU.",
        "",
        "| what | other tool | segments | wellput, ms | other tool, ms | ratio | goal |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {row.what} | {row.peer} | {row.segments or '':,} | {row.ours_s * 1e3:,.1f} "
        f"| {row.peer_s * 1e3:,.1f} | {row.ratio:.1f} | {row.goal} |"
        if row.segments
        else f"| {row.what} | {row.peer} | | {row.peer_s * 1e3:,.1f} | {row.ours_s * 1e3:,.1f} "
        f"| {row.ratio:.1f} | {row.goal} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    systems, references = wmt21()
    names = list(systems)
    half = len(names) // 2
    pairs = [
        (systems[a][segment], systems[b][segment], references[segment][0])
        for a, b in zip(names[:half], names[half:], strict=True)
        for segment in systems[a]
        if segment in systems[b]
    ]
    first, second, targets = (list(column) for column in zip(*pairs, strict=True))
    rows = [
        *metric_rows(first, targets),
        *paired_rows(first, second, targets),
        *thread_rows(first, targets),
        startup_row(),
    ]
    write_page("speed", page(rows))
