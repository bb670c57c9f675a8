"""The noun `Chart`: a Vega-Lite specification made with Altair, and the rows it draws.

The rows stand beside the specification, not in it: the page puts in those that the reader chose, and
gives the same rows as CSV. `$metric` and `$question` in titles stand for what was chosen. Colors are
those of Okabe and Ito, told apart by people who see red and green alike; nothing is said by color
alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wellput.core.errors import MissingExtra

BLUE, VERMILION, GREEN, ORANGE, SKY, PURPLE, YELLOW, GRAY = (
    "#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#CC79A7", "#B8A800", "#7f7f7f",
)  # fmt: skip
"""Okabe and Ito's, with a yellow dark enough for a white ground, and a gray for black."""

SYSTEMS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, YELLOW, GRAY)
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right",
          "triangle-left")  # fmt: skip
CLAIMS = {
    "baseline": (GRAY, "diamond"),
    "better": (BLUE, "triangle-up"),
    "worse": (VERMILION, "triangle-down"),
    "different": (PURPLE, "square"),
    "no difference shown": (GRAY, "circle"),
    "not tested": (GRAY, "cross"),
}
WIDTH = 900


@dataclass(frozen=True)
class Chart:
    """`rows` is a list of rows, or the name of a table that the page makes of the items it holds:
    `people` or `lengths`. `choices` lets the reader choose the rows: column to its values."""

    name: str
    title: str
    spec: Mapping[str, Any]
    rows: Sequence[Mapping[str, Any]] | str
    note: str = ""
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    lines: Sequence[Mapping[str, Any]] = ()

    def to_dict(self) -> dict[str, Any]:
        """As the page gets it."""
        return {
            "name": self.name,
            "title": self.title,
            "spec": self.spec,
            "rows": self.rows,
            "note": self.note,
            "choices": self.choices,
            "lines": self.lines,
        }


def altair() -> Any:
    """Altair, which is imported only to draw."""
    try:
        import altair
    except ImportError:
        raise MissingExtra("A chart", "report") from None
    return altair


def scatter_spec(
    x: str, x_title: str, y: str, y_title: str, systems: Sequence[str], *, with_reason: bool
) -> dict[str, Any]:
    alt = altair()
    scale = alt.Scale(zero=False, nice=True)
    shown = list(systems)
    colors = [SYSTEMS[place % len(SYSTEMS)] for place in range(len(shown))]
    shapes = [SHAPES[place % len(SHAPES)] for place in range(len(shown))]
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=alt.X(f"{x}:Q", title=x_title, scale=scale), y=alt.Y(f"{y}:Q", title=y_title, scale=scale)
    )
    tips = ["item:N", "system:N", f"{x}:Q", f"{y}:Q", *(["reason:N"] if with_reason else [])]
    points = (
        base.transform_filter("!datum.reason")
        .mark_point(size=36, filled=True, opacity=0.65)
        .encode(
            color=alt.Color(
                "system:N",
                scale=alt.Scale(domain=shown, range=colors),
                legend=alt.Legend(title=None, orient="top", labelLimit=160),
            ),
            shape=alt.Shape("system:N", scale=alt.Scale(domain=shown, range=shapes)),
            tooltip=tips,
        )
    )
    layers = [points]
    if with_reason:
        out = base.transform_filter("datum.reason")
        layers += [
            out.mark_point(size=90, filled=False, strokeWidth=1.5, color=GRAY).encode(tooltip=tips),
            out.mark_text(text="×", fontSize=15, color=GRAY).encode(tooltip=tips),
        ]
    ends = alt.Chart(alt.NamedData("lines"))
    layers.append(
        ends.mark_line(strokeWidth=2.5, color=VERMILION, strokeDash=[7, 3]).encode(
            x="x:Q", y="y:Q", tooltip=["r_squared:Q", "slope:Q", "n:Q"]
        )
    )
    layered: dict[str, Any] = (
        alt.layer(*layers).properties(width=WIDTH, height=380).to_dict(validate=False)
    )
    return layered
