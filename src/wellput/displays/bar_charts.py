"""Grouped bars as an SVG picture without scripts and fonts, with a title and a description for
readers who cannot see it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

INK, QUIET, LINE, PAPER = "#1b1f24", "#57606a", "#d8dde3", "#ffffff"
COLORS = ("#0f6257", "#5b8fd0", "#c9792b", "#8a5aa8", "#6b7280", "#b3471d")
"""People who cannot tell red from green can tell these apart; in print they differ in lightness."""

HEIGHT = 240.0
BAR = 22.0
GROUP_GAP = 26.0
LEFT, TOP, BOTTOM = 44.0, 58.0, 34.0
FONT = "font-family='system-ui, sans-serif'"


@dataclass(frozen=True)
class BarPanel:
    """Groups of bars on one axis from 0. A group has a value for each series, NaN for no bar."""

    groups: Sequence[tuple[str, Sequence[float]]]


def bar_chart(
    title: str, series: Sequence[str], panels: Sequence[BarPanel], *, colors: Sequence[int] = ()
) -> str:
    """One or more panels side by side with a common legend.

    `colors` has the place of each series' color, so that a series has the same color in several charts.
    """
    hues = [COLORS[place % len(COLORS)] for place in colors or range(len(series))]
    parts: list[str] = []
    left = LEFT
    for panel in panels:
        left = _draw_panel(parts, panel, hues, left) + LEFT
    width = max(left - LEFT + 12, LEFT + sum(len(name) * 7.5 + 40 for name in series))
    x = LEFT
    for place, name in enumerate(series):
        parts.append(f"<rect x='{x:g}' y='32' width='12' height='12' rx='2' fill='{hues[place]}'/>")
        parts.append(_text(x + 17, 42, name, anchor="start", size=12))
        x += len(name) * 7.5 + 40
    height = TOP + HEIGHT + BOTTOM
    described = "; ".join(
        f"{group}: " + ", ".join(f"{n} {v:.2f}" for n, v in zip(series, values, strict=True))
        for panel in panels
        for group, values in panel.groups
    )
    return "\n".join(
        [
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:g} {height:g}' "
            f"width='{width:g}' height='{height:g}' role='img' {FONT}>",
            f"<title>{escape(title)}</title><desc>{escape(described)}</desc>",
            f"<rect width='{width:g}' height='{height:g}' fill='{PAPER}'/>",
            _text(LEFT, 20, title, anchor="start", size=14, weight=600),
            *parts,
            "</svg>\n",
        ]
    )


def _draw_panel(parts: list[str], panel: BarPanel, hues: Sequence[str], left: float) -> float:
    """Draws the axis and the bars. Returns the right end."""
    n_series = len(hues)
    finite = [v for _, values in panel.groups for v in values if math.isfinite(v)]
    step = _step(max([0.0, *finite]))
    top = step * max(1, math.ceil(max([0.0, *finite]) / step - 1e-9))
    right = left + len(panel.groups) * (n_series * BAR + GROUP_GAP) + 6
    base = TOP + HEIGHT

    def height_of(value: float) -> float:
        return HEIGHT * max(value, 0.0) / top

    for tick in range(round(top / step) + 1):
        y = base - height_of(tick * step)
        parts.append(f"<path d='M{left:g} {y:.1f}H{right:g}' stroke='{LINE}'/>")
        parts.append(_text(left - 6, y + 4, f"{tick * step:g}", anchor="end", fill=QUIET))
    x = left + GROUP_GAP / 2
    for name, values in panel.groups:
        for place, value in enumerate(values):
            if math.isfinite(value):
                tall = height_of(value)
                parts.append(
                    f"<rect x='{x + place * BAR:.1f}' y='{base - tall:.1f}' width='{BAR - 2:g}' "
                    f"height='{tall:.1f}' rx='1.5' fill='{hues[place]}'/>"
                )
                middle = x + place * BAR + BAR / 2 - 1
                parts.append(_text(middle, base - tall - 4, f"{value:.2f}", size=9.5, fill=QUIET))
        parts.append(_text(x + n_series * BAR / 2, base + 18, name, size=12))
        x += n_series * BAR + GROUP_GAP
    return right


def _step(highest: float) -> float:
    """A round distance between ticks that gives about five of them."""
    if highest <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(highest / 4))
    return next(power * n for n in (1, 2, 2.5, 5, 10) if highest / (power * n) <= 6)


def _text(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "middle",
    size: float = 11,
    fill: str = INK,
    weight: int = 400,
) -> str:
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' font-size='{size:g}' "
        f"font-weight='{weight}' fill='{fill}'>{escape(text)}</text>"
    )
