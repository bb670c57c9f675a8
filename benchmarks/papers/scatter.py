"""Scatter plots as SVG text: what a regression predicts, and what was rated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from wellput.core.metric import Floats

SIZE, GAP, MARGIN = 260, 70, 48
COLOR = "#1f5a8a"


@dataclass(frozen=True, eq=False)
class Panel:
    """Points of (predicted, observed), in one unit; the line is where both are equal."""

    title: str
    x_label: str
    y_label: str
    predicted: Floats
    observed: Floats


def svg(panels: Sequence[Panel], *, columns: int, about: str) -> str:
    """The panels in rows of `columns`. The picture needs no script and no font file."""
    rows = -(-len(panels) // columns)
    width = MARGIN + columns * (SIZE + GAP)
    height = rows * (SIZE + MARGIN + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'role="img" font-family="sans-serif" font-size="12">',
        f"<title>{escape(about)}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for number, panel in enumerate(panels):
        left = MARGIN + (number % columns) * (SIZE + GAP)
        top = MARGIN + (number // columns) * (SIZE + MARGIN + GAP)
        parts += _panel(panel, left, top)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(panel: Panel, left: int, top: int) -> list[str]:
    values = np.concatenate([panel.predicted, panel.observed])
    low, high = float(values.min()), float(values.max())
    pad = 0.06 * (high - low)
    low, high = low - pad, high + pad

    def x(value: float) -> float:
        return round(left + SIZE * (value - low) / (high - low), 1)

    def y(value: float) -> float:
        return round(top + SIZE * (high - value) / (high - low), 1)

    middle = left + SIZE / 2
    parts = [
        f'<text x="{middle}" y="{top - 14}" text-anchor="middle" font-weight="bold">{escape(panel.title)}</text>',
        f'<rect x="{left}" y="{top}" width="{SIZE}" height="{SIZE}" fill="none" stroke="#888888"/>',
        f'<line x1="{x(low)}" y1="{y(low)}" x2="{x(high)}" y2="{y(high)}" stroke="#888888" stroke-dasharray="4 3"/>',
        f'<text x="{middle}" y="{top + SIZE + 36}" text-anchor="middle">{escape(panel.x_label)}</text>',
        f'<text transform="translate({left - 32} {top + SIZE / 2}) rotate(-90)" text-anchor="middle">'
        f"{escape(panel.y_label)}</text>",
    ]
    for tick in _ticks(low, high):
        shown = f"{tick:g}".replace("-", "−")
        parts += [
            f'<text x="{x(tick)}" y="{top + SIZE + 16}" text-anchor="middle" fill="#555555">{shown}</text>',
            f'<text x="{left - 6}" y="{y(tick) + 4}" text-anchor="end" fill="#555555">{shown}</text>',
            f'<line x1="{x(tick)}" y1="{top + SIZE}" x2="{x(tick)}" y2="{top + SIZE - 4}" stroke="#888888"/>',
            f'<line x1="{left}" y1="{y(tick)}" x2="{left + 4}" y2="{y(tick)}" stroke="#888888"/>',
        ]
    parts += [
        f'<circle cx="{x(a)}" cy="{y(b)}" r="3.5" fill="{COLOR}" fill-opacity="0.55"/>'
        for a, b in zip(panel.predicted.tolist(), panel.observed.tolist(), strict=True)
    ]
    return parts


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers inside the range, three to six of them."""
    step = 10 ** np.floor(np.log10(high - low))
    for part in (1, 0.5, 0.25, 0.2):
        first = np.ceil(low / (step * part))
        ticks = [float(first + n) * step * part for n in range(12)]
        inside = [round(tick, 6) + 0.0 for tick in ticks if tick <= high]
        if len(inside) >= 3:
            return inside
    return inside
