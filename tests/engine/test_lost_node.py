"""A Ray cluster of two nodes, separate groups of processes on this machine. One node is killed while it
works on a partition: the other node evaluates it again, and every digit is that of one process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import wellput

pytestmark = pytest.mark.heavy  # a cluster

cluster_utils = pytest.importorskip("ray.cluster_utils")

WAITING = '''
import os
import time
from dataclasses import dataclass
from pathlib import Path
from wellput.metrics.bleu import Bleu

@dataclass(frozen=True)
class Waiting(Bleu):
    """BLEU that notes the node it runs on, and waits until it may go on."""
    family = "waiting"
    folder: str = ""

    def statistics(self, batch):
        folder = Path(self.folder)
        node = os.environ["RAY_NODE_ID"] if "RAY_NODE_ID" in os.environ else os.getppid()
        (folder / f"at-{batch.ids[0]}-{os.getpid()}").write_text(str(node))
        while not (folder / "go").exists():
            time.sleep(0.02)
        return super().statistics(batch)
'''
DRIVER = """
import json, sys
import wellput
from waiting import Waiting
files, address, folder = sys.argv[1:]
result = wellput.score(files, [Waiting(folder=folder)], engine="ray", address=address)
print(json.dumps([score.score for score in result.scores]))
"""
SOON = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 300,
    "health_check_failure_threshold": 3,
}


def wait_until(found: list[Path], folder: Path, n: int, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while len(found) < n and time.monotonic() < deadline:
        found[:] = list(folder.glob("at-*"))
        time.sleep(0.05)
    assert len(found) >= n


def test_a_node_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, notes, modules = (tmp_path / name for name in ("files", "notes", "modules"))
    for folder in (files, notes, modules):
        folder.mkdir()
    (modules / "waiting.py").write_text(WAITING)
    for shard in range(4):
        lines = [
            {"id": f"{shard}-{n}", "references": ["the cat sat on the mat"],
             "outputs": {"A": "the cat sat on mat", "B": f"the dog {n} sat on the mat"}}
            for n in range(20)
        ]  # fmt: skip
        (files / f"{shard}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(modules), *filter(None, sys.path)]))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    cluster = cluster_utils.Cluster()
    try:
        options = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 80 << 20}
        cluster.add_node(**options, _system_config=SOON)
        second = cluster.add_node(**options)
        command = [sys.executable, "-c", DRIVER, str(files), cluster.address, str(notes)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
            waiting: list[Path] = []
            wait_until(waiting, notes, 2)  # a partition on each node
            cluster.remove_node(second, allow_graceful=False)
            (notes / "go").touch()
            printed, _ = driver.communicate(timeout=240)
    finally:
        cluster.shutdown()
    assert driver.returncode == 0
    alone = wellput.score(files, "bleu")
    assert json.loads(printed.splitlines()[-1]) == [score.score for score in alone.scores]
    # A partition of the lost node was begun twice, in two processes.
    begun = [path.name.split("-")[1] for path in notes.glob("at-*")]
    assert len(begun) > 4
