"""How long `wellput agree` takes for all pairs of 20 metrics on 20 systems × 1000 segments."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.agreement import human_data
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment
from wellput.io import write_evalset

SYSTEMS = 20
METRICS = (
    "bleu", "bleu:lowercase=true", "bleu:max_ngram_order=2", "bleu:max_ngram_order=3",
    "chrf", "chrf:word_order=1", "chrf:word_order=2", "chrf:char_order=3", "chrf:beta=1",
    "chrf:lowercase=true", "ter", "ter:normalized=true", "wer", "nist", "rouge-l", "ssa", "gsa",
    "length-ratio", "ttr", "distinct",
)  # fmt: skip
SETTINGS = {
    "Pearson's r, pooled": [],
    "Kendall's τ-b by item": ["--coefficient", "kendall", "--average", "item"],
}


def matrix() -> tuple[EvalSet, list[Judgment]]:
    """WMT21 de-en with 20 systems: the 18 whose text is there, and two that take each output, with its
    judgment, from one of these in turn."""
    data = human_data.wmt21("de-en")
    systems = data.evalset.systems
    rated = {(answer.system, answer.item): answer.value for answer in data.judgments}
    judgments = list(data.judgments)
    items: list[Item] = []
    for place, item in enumerate(data.evalset):
        outputs = dict(item.outputs)
        for number in range(len(systems), SYSTEMS):
            turn = [systems[(place * number + step) % len(systems)] for step in range(len(systems))]
            source = next(system for system in turn if system in item.outputs)
            outputs[f"mixed-{number}"] = item.outputs[source]
            judgments.append(
                Judgment("mean", item.id, f"mixed-{number}", "DA", rated[source, item.id])
            )
        items.append(item._replace(outputs=outputs))
    return EvalSet(items), judgments


def section() -> str:
    """The part of the page about speed."""
    evalset, judgments = matrix()
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        outputs, answers = Path(folder) / "evalset.jsonl", Path(folder) / "judgments.csv"
        write_evalset(evalset, outputs)
        with answers.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["judge", "item", "system", "question", "value"])
            writer.writerows(
                (one.judge, one.item, one.system, one.question, one.value) for one in judgments
            )
        for what, options in SETTINGS.items():
            command = ["agree", str(outputs), str(answers), "-m", ",".join(METRICS), *options]
            started = time.perf_counter()
            done = subprocess.run(
                [
                    sys.executable,
                    "-c",
                    "from wellput.cli import main; main()",
                    *command,
                    "--format",
                    "json",
                ],
                capture_output=True,
                check=True,
            )
            taken = time.perf_counter() - started
            pairs = json.loads(done.stdout)["differences"]
            different = sum(pair["p_adjusted"] < 0.05 for pair in pairs)
            lines.append(f"| {what} | {len(pairs)} | {different} | {taken:.0f} s |")
    return "\n".join(
        [
            "## All pairs of 20 metrics in one command",
            "",
            "The table has the time of the whole command `wellput agree evalset.jsonl judgments.csv -m …` on "
            f"two cores shared with other work: scoring with {len(METRICS)} metrics and variants, intervals, "
            "and a test of every pair with Holm's correction. The data are "
            f"{len(evalset.systems)} systems × {len(evalset)} segments ({len(judgments):,} outputs judged): "
            "the 18 systems of WMT21 de-en and two that repeat outputs of these. *Pooled*: the coefficient "
            "over all outputs together; *by item*: the mean of the coefficients within each item.",
            "",
            "| coefficient | pairs | pairs that differ (p < .05) | time |",
            "|---|---|---|---|",
            *lines,
        ]
    )
