"""Writes tests/golden/mt_metrics_eval.json: what mt-metrics-eval finds in a small folder of its layout,
which tests.metrics.test_logged_in_files writes from the same numbers.

Run in an environment with NumPy, SciPy and google-research/mt-metrics-eval on PYTHONPATH, at commit
68a481aea1a787392d55af8f76ac8ef40c5f4664: python tests/golden/with_mt_metrics_eval.py
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent
N_SYSTEMS, N_ITEMS, N_JUDGED = 7, 24, 20


def scores() -> dict[str, Any]:
    """Human ratings of the first 20 items, in halves, and two metrics: `tied` has few values, and the
    scores of its systems are not the means of its segments; `fine` is a metric where higher is worse,
    negated."""
    rng = np.random.default_rng(20)
    worth = rng.normal(size=(N_SYSTEMS, 1)) + rng.normal(size=(1, N_ITEMS))
    human = np.round(2 * worth + rng.normal(size=(N_SYSTEMS, N_ITEMS))) / 2
    tied = np.round(2 * human + 3 * rng.normal(size=human.shape)) / 4
    fine = human + 2 * rng.normal(size=human.shape) - 9
    return {
        "human": [[*row[:N_JUDGED], *[None] * (N_ITEMS - N_JUDGED)] for row in human.tolist()],
        "tied": tied.tolist(),
        "tied of systems": (tied.mean(axis=1) ** 3 + rng.normal(size=N_SYSTEMS)).tolist(),
        "fine": fine.tolist(),
        "fine of systems": fine.mean(axis=1).tolist(),
    }


def correlations(data: dict[str, Any], metric: str) -> dict[str, float]:
    """By coefficient and average; `given` is the level of systems."""
    stats = import_module("mt_metrics_eval.stats")
    flat = {name: [value for row in data[name] for value in row] for name in ("human", metric)}
    segments = stats.Correlation(N_SYSTEMS, flat["human"], flat[metric])
    means = [float(np.mean(row[:N_JUDGED])) for row in data["human"]]
    systems = stats.Correlation(N_SYSTEMS, means, data[f"{metric} of systems"])
    found: dict[str, float] = {"spa/given": segments.PairwiseConfidenceError()[0]}
    for of, by, name in [
        (segments, "none", "none"),
        (segments, "item", "item"),
        (segments, "sys", "system"),
        (systems, "none", "given"),
    ]:
        found[f"pearson/{name}"] = of.Pearson(by)[0]
        found[f"kendall/{name}"] = of.Kendall(by)[0]
        found[f"acc-t/{name}"] = of.KendallWithTiesOpt(by, sample_rate=1.0)[0]
    return {name: float(value) for name, value in found.items()}


if __name__ == "__main__":
    made = scores()
    made["found"] = {metric: correlations(made, metric) for metric in ("tied", "fine")}
    text = json.dumps(made, indent=1)
    (FOLDER / "mt_metrics_eval.json").write_text(text + "\n", encoding="utf-8")
