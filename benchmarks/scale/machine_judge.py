"""10,000 answers of a simulated endpoint with faults, and a kill in the middle: `python -m benchmarks
judge-endpoint`.

The endpoint runs in this process; `wellput judge` runs in another one, is killed (signal 9) when about half of the
answers are there, and is started again. Checks that no answer is missing and that no answer in the log was asked for
again; writes docs/results/judge_endpoint.md.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.pages import write_page
from tests.studies.simulated_endpoint import Faults, SimulatedEndpoint
from wellput.core.evalset import EvalSet, Item
from wellput.io import write_evalset

KEY = "sk-simulated-key-that-must-not-be-found"
STALLS, NONSENSE, GARBLED, LIMIT_EVERY = 0.05, 0.05, 0.01, 40
"""Shares of requests that get no response in time, an answer that is not allowed, or a damaged response; every 40th
request gets status 429 (too many requests)."""


@dataclass(frozen=True)
class Run:
    """What was found after the second start. `known`: answers in the log after the kill. `twice`: trials that the
    endpoint answered a second time. `late`: answers that came after the time-out although the endpoint was not to stall.
    `stalled` and `limited`: requests without a response in time, and with status 429."""

    answers: int
    known: int
    result: dict[str, Any]
    rows: int
    unanswered_rows: int
    twice: int
    late: int
    stalled: int
    limited: int
    tokens_answered: int
    seconds: float
    files_with_key: list[str]


def measure(folder: Path, *, answers: int, parallel: int, timeout: float, limit: float) -> Run:
    """Starts `wellput judge`, kills it, and starts it again."""
    items = [
        Item(
            f"i{n}", outputs={"A": f"The text {n} by A.", "B": f"A text {n} of B, which is longer."}
        )
        for n in range(answers // 2)
    ]
    write_evalset(EvalSet(items), folder / "e.jsonl")
    faults = Faults(
        stalls=STALLS, nonsense=NONSENSE, garbled=GARBLED, limit_every=LIMIT_EVERY,
        retry_after=0.05, stall_seconds=2 * timeout,
    )  # fmt: skip
    began = time.perf_counter()
    with SimulatedEndpoint(faults=faults, key=KEY) as endpoint:
        command = [
            sys.executable, "-m", "wellput", "judge", "e.jsonl", "--model", "simulated", "--question",
            "quality", "--endpoint", endpoint.url, "--timeout", str(timeout), "--parallel",
            str(parallel), "--max-cost", str(limit), "-o", "j.csv", "--format", "json",
        ]  # fmt: skip
        environment = {**os.environ, "WELLPUT_API_KEY": KEY}
        first = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
        while endpoint.answered.total() < answers // 2:
            assert first.poll() is None, "it ended before the kill"
            time.sleep(0.02)
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
        second = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=True
        )
        seconds = time.perf_counter() - began
        log = (folder / "j.answers.jsonl").read_text("utf-8")
        result = json.loads(second.stdout)
        found = [
            path.name
            for path in folder.iterdir()
            if KEY in path.read_text("utf-8", errors="replace")
        ]
        found += ["standard output or error"] * (KEY in second.stdout + second.stderr)
        return Run(
            answers=answers,
            known=result["known"],
            result=result,
            rows=_n_rows(folder / "j.csv"),
            unanswered_rows=_n_rows(folder / "j.unanswered.csv"),
            twice=endpoint.answered.total() - len(endpoint.answered),
            late=max(0, log.count("no answer within") - endpoint.n_stalled),
            stalled=endpoint.n_stalled,
            limited=endpoint.n_limited,
            tokens_answered=endpoint.tokens_answered,
            seconds=seconds,
            files_with_key=found,
        )


def _n_rows(path: Path) -> int:
    return sum(1 for _ in path.open(encoding="utf-8")) - 1


def check(run: Run, parallel: int, limit: float) -> None:
    """Checks that no trial was lost or asked again, that the limit was kept, and that no file has the key."""
    assert run.result["trials"] == run.answers and run.result["complete"]
    assert run.rows + run.unanswered_rows == run.answers
    assert run.result["known"] + run.result["requests"] == run.answers
    assert run.twice <= parallel + run.late, (run.twice, run.late)
    spent = run.result["cost"]["tokens_in"] + run.result["cost"]["tokens_out"]
    assert run.tokens_answered <= spent <= limit
    assert not run.files_with_key


def page(run: Run, *, parallel: int, timeout: float, limit: float) -> str:
    """The figures in a table."""
    cost = run.result["cost"]
    spent = cost["tokens_in"] + cost["tokens_out"]
    rows = [
        ("trials, each of which needs an answer", f"{run.answers:,}"),
        ("faults of the endpoint", f"{STALLS:.0%} time-outs ({run.stalled:,}), {NONSENSE:.0%} answers that are not allowed, {GARBLED:.0%} damaged responses, status 429 for every {LIMIT_EVERY}th request ({run.limited:,})"),
        ("answers in the log after the kill", f"{run.known:,}"),
        ("trials answered after the kill", f"{run.result['requests']:,}"),
        ("trials in the file of judgments", f"{run.rows:,}"),
        ("trials whose answer was not allowed (they are in the file of trials without an answer)", f"{run.unanswered_rows:,}"),
        ("**trials lost (in neither of these files)**", f"**{run.answers - run.rows - run.unanswered_rows:,}**"),
        ("trials answered a second time", f"{run.twice:,} ({parallel + run.late:,} could have been: at most {parallel} whose answers were on their way at the kill, and {run.late:,} whose answer came after the time-out)"),
        ("**trials asked again although the answer was in the log**", f"**{run.known + run.result['requests'] - run.answers:,}**"),
        ("tokens that the endpoint counted", f"{run.tokens_answered:,}"),
        ("tokens that `wellput judge` counted", f"{spent:,} (a request without a reply counts in full)"),
        ("limit that was set, in tokens (`--max-cost`)", f"{limit:,.0f}"),
        ("files and messages that contain the API key", f"{len(run.files_with_key)}"),
        ("requests repeated after a fault, after the kill", f"{run.result['retries']:,}"),
        ("seconds, with both starts", f"{run.seconds:.0f} ({run.answers / run.seconds:.0f} answers a second; time-outs of {timeout:g} s)"),
    ]  # fmt: skip
    table = "\n".join(f"| {name} | {figure} |" for name, figure in rows)
    return f"""# 10,000 answers of an endpoint with faults

Does `wellput judge` lose answers, or pay for them twice, if the endpoint has faults and the program is killed? No: of {run.answers:,} trials none was lost, and no answer that was in the log was asked for again.

The endpoint is **simulated** on the same machine: a formula gives the answers, not a language model. `wellput judge` was killed in the middle (signal 9) and started again with the same command.

| | |
| --- | --- |
{table}
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks judge-endpoint", description=__doc__
    )
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--parallel", type=int, default=16)
    parser.add_argument("--timeout", type=float, default=1.0)
    parser.add_argument("--limit", type=float, default=4e6, help="tokens")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = measure(
            Path(folder), answers=given.answers, parallel=given.parallel, timeout=given.timeout, limit=given.limit
        )  # fmt: skip
    text = page(run, parallel=given.parallel, timeout=given.timeout, limit=given.limit)
    check(run, given.parallel, given.limit)
    write_page("judge-endpoint", text)


if __name__ == "__main__":
    main()
