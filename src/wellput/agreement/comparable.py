"""May judges be brought to a common scale? Only where they rated enough of the same systems.

Whatever brings each judge's ratings to the same mean takes the difference between two systems with it,
as far as they had different judges. `kept_share` says how much of it stays, by the design alone: 1
where every judge rated all systems equally often, 0 where some systems share no judge with the others.
"""

from __future__ import annotations

import numpy as np

from wellput.agreement.panel import Normalization, Panel
from wellput.core.counted import counted
from wellput.core.metric import Floats

MIN_KEPT_SHARE = 0.75
"""With less of a difference between systems left, judges keep their own scales by default. In simulated
crowds whose judges differ in severity by half a point of standard deviation (outputs by one), z gains
from about 0.6 on; where they differ less, from 0.85 on."""


def kept_share(counts: Floats) -> float:
    """The least share of a difference between systems, or groups of them, that stays when every judge's
    mean is taken from their ratings; `counts` are ratings, judges × systems.

    It is the smallest canonical efficiency factor of the design (James & Wilkinson 1971).

    >>> kept_share(np.array([[5.0, 5.0], [5.0, 5.0]])), kept_share(np.array([[5.0, 0.0], [0.0, 5.0]]))
    (1.0, 0.0)
    """
    counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
    n_systems = counts.shape[1]
    if n_systems < 2:
        return 1.0
    of_system, of_judge = counts.sum(axis=0), counts.sum(axis=1)
    scaled = counts / np.sqrt(np.outer(of_judge, of_system))
    # The largest singular value, 1, is that of the mean of all; the second says what judges take away.
    lost = np.linalg.svd(scaled, compute_uv=False)
    return float(round(1 - lost[1] ** 2, 9)) if len(lost) > 1 else 1.0


def default_normalization(panel: Panel) -> tuple[Normalization, str]:
    """What is done where nobody says, and why it is not `z`, if so."""
    if panel.n_judges < 2:
        return "none", ""
    kept = kept_share(panel.counts)
    if kept >= MIN_KEPT_SHARE:
        return "z", ""
    return "none", (
        f"{panel.question}: judges rated different systems{_of_one_system(panel)}, so they keep their "
        f"own scales: z would leave {_share(kept)} of a difference between systems."
    )


def warning(panel: Panel, normalization: Normalization) -> str:
    """What a reader must know of a normalization that was asked for; empty where there is nothing."""
    if normalization == "none" or panel.n_judges < 2:
        return ""
    kept = kept_share(panel.counts)
    if kept >= MIN_KEPT_SHARE:
        return ""
    return (
        f"{panel.question}: judges rated different systems{_of_one_system(panel)}, so {normalization} "
        f"leaves {_share(kept)} of a difference between systems. Take --normalize none."
    )


def _share(kept: float) -> str:
    return "nothing" if kept < 0.005 else f"only {100 * kept:.0f}%"


def _of_one_system(panel: Panel) -> str:
    rated = (panel.counts > 0).sum(axis=1)
    alone = int((rated == 1).sum())
    if not alone:
        return ""
    return f" ({alone} of {counted(int((rated > 0).sum()), 'judge')} rated one system only)"
