"""`Chart`: a Vega-Lite specification made with Altair, and the rows it draws.

The specification does not contain the rows: a script of the page adds the rows that the reader chose,
and saves the same rows as CSV. In the specification, `$metric`, `$question`, `$coefficient` and
`$comparison` stand for the reader's choice. In a note, `$equation` stands for the equation of the line
that is drawn.

Colors are those of Okabe and Ito, which people with color blindness can distinguish. Nothing is shown
by color alone. If there are too many systems for different shapes, each has its own panel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from wellput.core.errors import MissingExtra

BLUE, VERMILION, GREEN, ORANGE, SKY, PURPLE, YELLOW, GRAY = (
    "#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#CC79A7", "#B8A800", "#7f7f7f",
)  # fmt: skip
"""Okabe and Ito's colors, with a darker yellow for a white background, and gray instead of black."""

SYSTEM_COLORS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, YELLOW, GRAY)
POINT_SHAPES = (
    "circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right",
    "triangle-left",
)  # fmt: skip
CLAIM_MARKS = {
    "baseline": (GRAY, "diamond"),
    "better": (BLUE, "triangle-up"),
    "worse": (VERMILION, "triangle-down"),
    "different": (PURPLE, "square"),
    "no difference shown": (GRAY, "circle"),
    "not tested": (GRAY, "cross"),
}
"""The color and the shape for each claim about a system's score, compared with the baseline."""
CHART_WIDTH = 950
"""In pixels."""
MAX_SYSTEMS_IN_A_PANEL = 6
"""The points of more systems cannot be distinguished by shape and color."""
PANEL_WIDTH = 148
"""In pixels; panels are square."""

Condition = Literal["always", "lines", "left_out"]
"""When a note is shown: always; if a line is drawn; or if the line leaves out some outputs."""


@dataclass(frozen=True)
class Chart:
    """`rows` is a list of rows, or the name of a table that the page makes from its items: `people` or
    `lengths`. `choices` maps a column to the values that the reader can choose. `notes` are the
    sentences below the chart, each with the condition under which it is shown. `lines` are the fitted
    lines, each with the choices that it belongs to and its two ends."""

    name: str
    title: str
    spec: Mapping[str, Any]
    rows: Sequence[Mapping[str, Any]] | str
    notes: Mapping[Condition, str] = field(default_factory=dict)
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    lines: Sequence[Mapping[str, Any]] = ()

    def to_dict(self) -> dict[str, Any]:
        """The values as the scripts of the page read them."""
        return {
            "kind": "chart",
            "name": self.name,
            "title": self.title,
            "spec": self.spec,
            "rows": self.rows,
            "notes": self.notes,
            "choices": self.choices,
            "lines": self.lines,
        }


def altair() -> Any:
    """The module Altair, imported only when a chart is made; raises MissingExtra without it."""
    try:
        import altair
    except ImportError:
        raise MissingExtra("A chart", "report") from None
    return altair


def has_panels(systems: Sequence[str]) -> bool:
    """Whether each system has its own panel."""
    return len(systems) > MAX_SYSTEMS_IN_A_PANEL


def scatter_note(systems: Sequence[str]) -> str:
    """What the reader can do with the points."""
    single_system = " Choose a name above to see one system alone." if len(systems) > 1 else ""
    return "Choose a point to open its item." + ("" if has_panels(systems) else single_system)


def scatter_spec(
    x: str, x_title: str, y: str, y_title: str, systems: Sequence[str], *, with_reason: bool
) -> dict[str, Any]:
    """The Vega-Lite specification of a scatter plot, with a point for each output. All systems
    share one panel if they are few (see `has_panels`); otherwise each has a panel, in the order given.
    `with_reason`: rows have a `reason` if the line leaves their output out, and are then drawn as
    crossed rings."""
    alt = altair()
    is_split = has_panels(systems)
    scale = alt.Scale(zero=False, nice=True)
    axis = alt.Axis(tickCount=4, titleLimit=PANEL_WIDTH) if is_split else alt.Undefined
    data = alt.Undefined if is_split else alt.NamedData("rows")
    base = alt.Chart(data).encode(
        x=alt.X(f"{x}:Q", title=x_title, scale=scale, axis=axis),
        y=alt.Y(f"{y}:Q", title=y_title, scale=scale, axis=axis),
    )
    tips = ["item:N", "system:N", f"{x}:Q", f"{y}:Q", *(["reason:N"] if with_reason else [])]
    points = base.transform_filter("!datum.reason").mark_point(
        size=20 if is_split else 36, filled=True, opacity=0.65, color=BLUE, cursor="pointer"
    )
    marks = {} if is_split else _system_marks(alt, systems)
    layers = [points.encode(tooltip=tips, **marks)]
    if not is_split:
        chosen = alt.selection_point(name="chosen", fields=["system"], bind="legend")
        opacity = alt.condition(chosen, alt.value(0.7), alt.value(0.06))
        layers[0] = layers[0].encode(opacity=opacity).add_params(chosen)
    if with_reason:
        left_out = base.transform_filter("datum.reason").encode(tooltip=tips)
        layers += [
            left_out.mark_point(
                size=90, filled=False, strokeWidth=1.5, color=GRAY, cursor="pointer"
            ),
            left_out.mark_text(text="×", fontSize=15, color=GRAY, cursor="pointer"),
        ]
    line_ends = alt.Chart(alt.NamedData("lines"))
    layers.append(
        line_ends.mark_line(
            strokeWidth=2 if is_split else 2.5, color=VERMILION, strokeDash=[7, 3]
        ).encode(x="x:Q", y="y:Q", tooltip=["r_squared:Q", "slope:Q", "n:Q"])
    )
    layered = alt.layer(*layers)
    if is_split:
        sized = layered.properties(width=PANEL_WIDTH, height=PANEL_WIDTH)
        facet = alt.Facet("system:N", sort=list(systems), title=None, header=_panel_title(alt))
        chart = sized.facet(data=alt.NamedData("rows"), facet=facet, columns=6)
    else:
        chart = layered.properties(width=CHART_WIDTH, height=380)
    spec: dict[str, Any] = chart.to_dict(validate=False)
    return spec


def _system_marks(alt: Any, systems: Sequence[str]) -> dict[str, Any]:
    """The encoding that gives each system a color and a shape."""
    shown = list(systems)
    colors = alt.Scale(domain=shown, range=list(SYSTEM_COLORS[: len(shown)]))
    shapes = alt.Scale(domain=shown, range=list(POINT_SHAPES[: len(shown)]))
    legend = alt.Legend(title=None, orient="top", labelLimit=160, symbolSize=90)
    return {
        "color": alt.Color("system:N", scale=colors, legend=legend),
        "shape": alt.Shape("system:N", scale=shapes),
    }


def _panel_title(alt: Any) -> Any:
    return alt.Header(
        labelFontSize=12, labelFontWeight="bold", labelLimit=PANEL_WIDTH, labelPadding=4
    )
