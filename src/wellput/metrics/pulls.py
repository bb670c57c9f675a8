"""What pulled a score down that is a weighted sum of features, as text for `--explain`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from wellput.core.metric import Floats

SHOWN = 3


def pulls_down(
    texts: Sequence[str],
    about: Mapping[str, str],
    features: Floats,
    contributions: Floats,
    *,
    least: float,
) -> list[str]:
    """For each output its text and the features that cost it most, against an average sentence;
    empty where none does. Less than `least`, on the scale of the score, is not worth a line."""
    return [
        _explained(text, about, row, pulls, least)
        for text, row, pulls in zip(texts, features, contributions, strict=True)
    ]


def _explained(
    text: str, about: Mapping[str, str], row: Floats, pulls: Floats, least: float
) -> str:
    if np.isnan(row).any():
        return "  (no words)"
    names = list(about)
    order = [int(place) for place in np.argsort(pulls, kind="stable")[:SHOWN]]
    lines = [
        f"  loses {-pulls[place]:.2f} by {names[place]} {_signed(row[place])}: {about[names[place]]}"
        for place in order
        if pulls[place] < -least
    ]
    return "\n".join([f"  {text}", *lines]) if lines else ""


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")
