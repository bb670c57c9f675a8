"""Reports of many items: how long they take to make, how big they are, and how they scroll.

Items are sentences of UD English EWT with their trees. Each simulated system makes more errors in them than the one
before, and four simulated judges rate the first 200. Writes docs/results/report.md. Scrolling is measured in Debian's
chromium through playwright, and left out if there is none.

    python -m benchmarks report
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import ewt
from benchmarks.pages import write_page
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment
from wellput.core.tree import Tree
from wellput.io import write_evalset, write_judgments
from wellput.text.english import detokenize

CHROMIUM = Path("/usr/bin/chromium")
JUDGED, JUDGES = 200, 4
STEPS = 240
"""Frames that are scrolled."""


@dataclass(frozen=True)
class Case:
    """What a report is made of."""

    items: int
    systems: int
    metrics: str
    with_trees: bool

    @property
    def name(self) -> str:
        n_metrics = self.metrics.count(",") + 1
        trees = " with trees" if self.with_trees else ""
        return f"{self.items:,} items{trees} × {self.systems} systems × {n_metrics} metrics"


CASES = (
    Case(2000, 8, "bleu,chrf,ter,wer,rouge-l,nist,ssa,gsa,sta,gta,quality,random", True),
    Case(100_000, 4, "bleu,chrf,gsa,length-only,random", False),
)


@dataclass(frozen=True)
class Cost:
    wall_s: float
    processor_s: float
    memory_mb: float
    size_mb: float


def main() -> None:
    trees = [Tree(t.words) for t in ewt("train") if 5 <= len(t.words) <= 40]
    rows, scrolled = [], ""
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            write_case(case, trees, Path(folder))
            cost = made(case, Path(folder))
            rows.append(
                f"| {case.name} | {cost.processor_s:.1f} s | {cost.wall_s:.1f} s "
                f"| {cost.memory_mb:,.0f} MB | {cost.size_mb:.1f} MB |"
            )
            if case is CASES[0] and CHROMIUM.exists():
                scrolled = SCROLLED.format(rows="\n".join(frames(Path(folder) / "report.html")))
    page = TEMPLATE.format(
        rows="\n".join(rows),
        scrolled=scrolled,
        cores=os.cpu_count(),
        judged=JUDGED,
        seconds=cost.processor_s,
    )
    write_page("report", page)


def write_case(case: Case, trees: list[Tree], folder: Path) -> None:
    rng = np.random.default_rng(1)
    vocabulary = np.array([word.form for tree in trees[:500] for word in tree.words])
    items, judgments = [], []
    for number in range(case.items):
        tree = trees[number % len(trees)]
        words = [word.form for word in tree.words]
        outputs = {
            f"system-{s}": spoiled(words, 0.05 + 0.07 * s, vocabulary, rng)
            for s in range(case.systems)
        }
        references = (" ".join(words), spoiled(words, 0.3, vocabulary, rng))
        own = (tree, None) if case.with_trees else ()
        items.append(Item(str(number + 1), outputs, references, own))
        if number < JUDGED:
            judgments += [
                Judgment(f"J{judge}", str(number + 1), f"system-{s}", "quality", value)
                for s in range(case.systems)
                for judge, value in enumerate(rng.normal(6 - s / 2, 1, JUDGES).round().tolist())
            ]
    write_evalset(EvalSet(items), folder / "items.jsonl")
    write_judgments(judgments, folder / "judgments.csv")


def spoiled(
    words: list[str], share: float, vocabulary: NDArray[np.str_], rng: np.random.Generator
) -> str:
    """The words; this share of them is left out, replaced, or followed by another word."""
    others = vocabulary[rng.integers(len(vocabulary), size=len(words))]
    kept: list[str] = []
    for word, other, chance in zip(words, others.tolist(), rng.random(len(words)), strict=True):
        # 0: left out, 1: replaced, 2: followed by another word, 3: unchanged
        change = int(chance / share * 3) if chance < share else 3
        kept += [[], [other], [word, other], [word]][change]
    return detokenize(kept or words)


def made(case: Case, folder: Path) -> Cost:
    """What making the report costs a process of its own, its start included."""
    command = [sys.executable, "-c", "from wellput.cli import main; main()", "report"]
    command += ["items.jsonl", "judgments.csv", "-m", case.metrics, "-o", "report.html"]
    start = time.perf_counter()
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"wellput report ended with {process.returncode}.")
    size = (folder / "report.html").stat().st_size
    return Cost(
        wall_s=time.perf_counter() - start,
        processor_s=used.ru_utime + used.ru_stime,
        memory_mb=used.ru_maxrss / 1024,
        size_mb=size / 1e6,
    )


def frames(page: Path) -> list[str]:
    """Processor time of the page's thread for each frame while the page, and its list of items, are
    scrolled: other processes do not count."""
    from playwright.sync_api import sync_playwright

    rows = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu"]
        )
        opened = browser.new_page(viewport={"width": 1280, "height": 900})
        protocol = opened.context.new_cdp_session(opened)
        protocol.send("Performance.enable", {"timeDomain": "threadTicks"})
        opened.goto(page.as_uri())
        opened.wait_for_selector("body[data-ready]", timeout=120_000)

        def used_ms() -> float:
            metrics = protocol.send("Performance.getMetrics")["metrics"]
            return 1000 * float(next(m["value"] for m in metrics if m["name"] == "TaskDuration"))

        for what, selector in (("the page", "html"), ("the list of items", "#list")):
            before = used_ms()
            opened.evaluate(SCROLL, [selector, STEPS])
            rows.append(f"| {what} | {(used_ms() - before) / STEPS:.1f} ms |")
        browser.close()
    return rows


SCROLL = """async ([selector, steps]) => {
  const scrolled = document.querySelector(selector);
  for (let step = 0; step < steps; step += 1) {
    scrolled.scrollTop = step * 120;
    await new Promise(requestAnimationFrame);
  }
}"""

TEMPLATE = """\
# Reports of many items

How long does `wellput report` take for many items, and how large is the report? A report of 100,000 items, four systems and five metrics takes {seconds:.1f} seconds of processor time; its file stays small because it shows 2,000 of the items. Scores, tests and agreement are computed from all items.

The items are sentences of EWT (English Web Treebank). The outputs are simulated: each system makes more errors than the one before; four simulated judges rated all outputs of {judged} items. The machine has {cores} cores, which other programs also used, so the times by the clock are less reliable than processor times.

| report | processor time | clock time | peak memory | file |
| --- | ---: | ---: | ---: | ---: |
{rows}
{scrolled}"""

SCROLLED = """
The first report, scrolled in Chromium by 120 pixels at each frame. It scrolls smoothly if a frame takes less than 16.7 ms:

| scrolled | processor time a frame |
| --- | ---: |
{rows}
"""
