"""Makes ppi_means.json with ppi-python 0.2.3 (pip install ppi-python==0.2.3): python ppi_means.py

Ratings of two systems on 60 items, the first 24 of them with labels, and a proxy's scores of all.
"""

from __future__ import annotations

import json
from pathlib import Path

N_ITEMS, N_LABELED = 60, 24


def scores(system: int) -> tuple[list[float], list[float]]:
    """Labels and proxy scores of all items, made without random numbers."""
    proxies = [1 + ((item * 37 + system * 11) % 41) / 10 for item in range(N_ITEMS)]
    labels = [
        round(1.5 + 0.6 * proxy + 0.4 * system + ((item * 53 + system * 29) % 23) / 23 - 0.5, 3)
        for item, proxy in enumerate(proxies)
    ]
    return labels, proxies


if __name__ == "__main__":
    import numpy as np
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate  # type: ignore[import-not-found]

    found = {}
    pairs = [tuple(map(np.array, scores(system))) for system in (0, 1)]
    series = {"A": pairs[0], "B": pairs[1]}
    series["A − B"] = tuple(a - b for a, b in zip(*pairs, strict=True))
    for name, (labels, proxies) in series.items():
        parts = labels[:N_LABELED], proxies[:N_LABELED], proxies[N_LABELED:]
        bounds = ppi_mean_ci(*parts, alpha=0.05)
        found[name] = {
            "tuned": float(np.squeeze(ppi_mean_pointestimate(*parts))),
            "lambda 1": float(np.squeeze(ppi_mean_pointestimate(*parts, lam=1))),
            "error": float(np.squeeze(bounds[1] - bounds[0])) / (2 * 1.959963984540054),
        }
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    Path(__file__).with_suffix(".json").write_text(text, encoding="utf-8")
