"""The charts of a report.

About scores: systems under metrics, scores against length, metrics against each other. About people:
metrics against people, each judge against the others, people's choices, machine judges beside people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from wellput.reporting.html.charts import (
    BLUE,
    CHART_WIDTH,
    CLAIM_MARKS,
    GRAY,
    GREEN,
    SKY,
    VERMILION,
    Chart,
    Condition,
    altair,
    has_panels,
    scatter_note,
    scatter_spec,
)


def forest_chart(rows: Sequence[Mapping[str, Any]]) -> Chart:
    """Scores with their intervals, a panel for each metric. Rows: system, metric, score, low, high,
    claim; systems are drawn in the order in which rows name them."""
    spec = _forest_spec(rows, "metric", x="independent")
    return Chart("scores", "Scores with their intervals", spec, rows, _whisker_note(rows))


def slices_chart(rows: Sequence[Mapping[str, Any]], tag: str, more: str = "") -> Chart:
    """As `forest_chart`, with a panel for each slice of the items (those with one value of the tag),
    for the metric that the reader chooses. Rows also have `slice`. `more` is a further note."""
    spec = _forest_spec(rows, "slice", x="shared")
    notes = _whisker_note(rows)
    notes["always"] = f"{notes.get('always', '')} {more}".strip()
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    return Chart("slices", f"Scores by {tag}", spec, rows, notes, choices={"metric": metrics})


def _whisker_note(rows: Sequence[Mapping[str, Any]]) -> dict[Condition, str]:
    has_intervals = any(row["low"] is not None for row in rows)
    return {"always": "Whiskers: 95% intervals."} if has_intervals else {}


def _forest_spec(
    rows: Sequence[Mapping[str, Any]], panel: str, *, x: Literal["independent", "shared"]
) -> dict[str, Any]:
    """The specification with a panel for each value of the column `panel` of the rows, in the rows'
    order; the panels' x axes are independent or shared."""
    alt = altair()
    systems = list(dict.fromkeys(row["system"] for row in rows))
    panels = list(dict.fromkeys(row[panel] for row in rows))
    claims = [claim for claim in CLAIM_MARKS if any(row["claim"] == claim for row in rows)]
    color = alt.Color(
        "claim:N",
        scale=alt.Scale(domain=claims, range=[CLAIM_MARKS[claim][0] for claim in claims]),
        legend=alt.Legend(title=_compared_with(rows), orient="top"),
    )
    base = alt.Chart().encode(y=alt.Y("system:N", sort=systems, title=None), color=color)
    scale = alt.Scale(zero=False, padding=8)
    rule = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title=None, scale=scale, axis=alt.Axis(tickCount=4)),
        x2="high:Q",
    )
    point = base.mark_point(size=70, filled=True, opacity=1).encode(
        x=alt.X("score:Q", title=None, scale=scale),
        shape=alt.Shape(
            "claim:N",
            scale=alt.Scale(domain=claims, range=[CLAIM_MARKS[claim][1] for claim in claims]),
        ),
        tooltip=["system:N", f"{panel}:N", "score:Q", "low:Q", "high:Q", "delta:Q", "p:N"],
    )
    layered = alt.layer(rule, point, data=alt.NamedData("rows"))
    sized = layered.properties(width=290, height={"step": 24})
    spec: dict[str, Any] = (
        sized.facet(
            facet=alt.Facet(
                f"{panel}:N", sort=panels, title=None, header=alt.Header(labelFontSize=13)
            ),
            columns=3,
        )
        .resolve_scale(x=x)
        .to_dict(validate=False)
    )
    return spec


def length_chart(
    metrics: Sequence[str], systems: Sequence[str], lines: Sequence[Mapping[str, Any]]
) -> Chart:
    """Scores against the output's length in words. `lines` are the regression lines of each metric."""
    spec = scatter_spec(
        "length", "words of the output", "score", "$metric", systems, with_reason=False
    )
    return Chart(
        "length",
        "Score against length",
        spec,
        "lengths",
        notes={
            "always": scatter_note(systems),
            "lines": "The dashed line is the least-squares line: $equation. If scores rise or fall "
            "with length, a system can game the metric by length alone.",
        },
        choices={"metric": list(metrics)},
        lines=lines,
    )


def correlations_chart(rows: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> Chart:
    """The correlation of each two metrics over outputs, as a table of colored cells."""
    alt = altair()
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=alt.X(
            "other:N", sort=list(metrics), title=None, axis=alt.Axis(orient="top", labelAngle=-40)
        ),
        y=alt.Y("metric:N", sort=list(metrics), title=None),
    )
    colors = alt.Scale(domain=[-1, 0, 1], range=[VERMILION, "#f4f4f4", BLUE])
    cells = base.mark_rect(cornerRadius=2).encode(
        color=alt.Color("r:Q", scale=colors, legend=alt.Legend(title="r")),
        tooltip=["metric:N", "other:N", "r:Q", "n:Q"],
    )
    ink = alt.condition("abs(datum.r) > 0.6", alt.value("#fff"), alt.value("#222"))
    words = base.mark_text(fontSize=11).encode(text=alt.Text("r:Q", format=".2f"), color=ink)
    spec = (
        (cells + words).properties(width={"step": 46}, height={"step": 30}).to_dict(validate=False)
    )
    return Chart(
        "correlations",
        "Metrics against each other",
        spec,
        rows,
        notes={
            "always": "Pearson’s r of segment scores (metrics where lower is better are negated). "
            "Metrics that correlate near 1 say the same."
        },
    )


def _compared_with(rows: Sequence[Mapping[str, Any]]) -> str:
    baselines = {row["system"] for row in rows if row["claim"] == "baseline"}
    return f"against {baselines.pop()}, the baseline" if len(baselines) == 1 else ""


def agreement_chart(rows: Sequence[Mapping[str, Any]], questions: Sequence[str]) -> Chart:
    """Metrics ranked by agreement with people, and the ceiling: the agreement expected of a perfect
    metric, with its interval. The axis always shows the whole range, so that a small coefficient
    looks small."""
    alt = altair()
    kinds = [kind for kind in ("metric", "sentinel") if any(row["kind"] == kind for row in rows)]
    looks = {"metric": (BLUE, "circle"), "sentinel": (GRAY, "diamond")}
    data = alt.NamedData("rows")
    scale = alt.Scale(domain=agreement_domain(rows), nice=False)
    color = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=kinds, range=[looks[kind][0] for kind in kinds]),
        legend=None,
    )
    base = alt.Chart(data).encode(
        y=alt.Y("metric:N", sort=alt.EncodingSortField("order", op="min"), title=None), color=color
    )
    tips = ["metric:N", "value:Q", "low:Q", "high:Q", "p:N", "n:Q", "note:N"]
    title = "$coefficient with people on $question"
    zero = (
        alt.Chart(data).transform_filter("datum.order == 0").mark_rule(color=GRAY, strokeWidth=1.5)
    )
    chance_band = base.mark_rule(strokeWidth=16, opacity=0.18).encode(
        x=alt.X("chance_low:Q", scale=scale, title=title),
        x2="chance_high:Q",
        color=alt.value(GRAY),
        tooltip=tips,
    )
    interval = base.mark_rule(strokeWidth=3, opacity=0.55).encode(
        x=alt.X("low:Q", scale=scale, title=title, axis=alt.Axis(tickCount=10)),
        x2="high:Q",
        tooltip=tips,
    )
    dots = base.mark_point(size=90, filled=True, opacity=1).encode(
        x=alt.X("value:Q", scale=scale, title=title),
        shape=alt.Shape(
            "kind:N",
            scale=alt.Scale(domain=kinds, range=[looks[kind][1] for kind in kinds]),
            legend=None,
        ),
        tooltip=tips,
    )
    values = base.mark_text(fontSize=12, fontWeight="bold", dy=-11).encode(
        x="value:Q", text=alt.Text("value:Q", format=".2f")
    )
    # The ceiling is drawn for one row only: drawn for every row, its dashes would overlap.
    first_row = alt.Chart(data).transform_filter("datum.order == 0 && isValid(datum.ceiling)")
    ceiling = first_row.mark_rule(strokeDash=[5, 4], strokeWidth=2, color=VERMILION).encode(
        x="ceiling:Q"
    )
    ceiling_band = first_row.mark_rect(opacity=0.12, color=VERMILION).encode(
        x="ceiling_low:Q", x2="ceiling_high:Q"
    )
    # The label stands above the plot, where it covers no interval.
    label = first_row.mark_text(
        align="right", dx=4, baseline="bottom", y=-3, color=VERMILION
    ).encode(x="ceiling:Q", text=alt.value("ceiling: expected of a perfect metric"))
    spec = (
        (
            chance_band
            + interval
            + ceiling_band
            + zero.encode(x=alt.datum(0))
            + dots
            + values
            + ceiling
            + label
        )
        .properties(width=CHART_WIDTH, height={"step": 34})
        .to_dict(validate=False)
    )
    coefficients = list(dict.fromkeys(row["coefficient"] for row in rows))
    whiskers = "Whiskers: 95% intervals. " if any(row["low"] is not None for row in rows) else ""
    chance_note = (
        "Gray bands: the range of chance. With its systems and items exchanged at random, a metric "
        "stays in its band in 95% of draws. "
    )
    if "sentinel" in kinds:
        chance_note += "Gray diamonds are sentinels: random numbers, the length of the output."
    has_ceiling = any(row["ceiling"] is not None for row in rows)
    ceiling_note = (
        " Dashed line: the agreement that a perfect metric is expected to reach, with its 95% interval "
        "(below 1, because the judges' ratings are noisy). A metric may exceed it by chance."
        if has_ceiling
        else ""
    )
    return Chart(
        "agreement",
        "Agreement of the metrics with people",
        spec,
        rows,
        notes={"always": (whiskers + chance_note + ceiling_note).strip()},
        choices={"question": list(questions), "coefficient": coefficients},
    )


def agreement_domain(rows: Sequence[Mapping[str, Any]]) -> list[float]:
    """The range of the axis: from 0 to 1, or from −1 if any number that is drawn is negative."""
    keys = ("value", "low", "high", "chance_low")
    drawn = [row[key] for row in rows for key in keys if row[key] is not None]
    return [-1.0 if any(value < 0 for value in drawn) else 0.0, 1.0]


def people_chart(
    metrics: Sequence[str],
    questions: Sequence[str],
    systems: Sequence[str],
    unit: str,
    lines: Sequence[Mapping[str, Any]],
) -> Chart:
    """Scores against ratings, a point for each output, as in Figures 3 and 4 of Bangalore et al.
    (2000)."""
    # A panel has no room for the question; the page shows it above the panels.
    title = unit if has_panels(systems) else f"$question: {unit}"
    spec = scatter_spec("score", "$metric", "rating", title, systems, with_reason=True)
    return Chart(
        "scatter",
        "Metric against people, output by output",
        spec,
        "people",
        notes={
            "always": scatter_note(systems),
            "lines": "The dashed line is the least-squares line over all outputs that are not left "
            "out: $equation.",
            "left_out": "Crossed rings are outputs that the correlations and the line leave out; "
            "point at one to see why.",
        },
        choices={"metric": list(metrics), "question": list(questions)},
        lines=lines,
    )


def judges_chart(rows: Sequence[Mapping[str, Any]], questions: Sequence[str]) -> Chart:
    """Each judge's correlation with the mean of the others."""
    alt = altair()
    low = -1.0 if any(row["value"] < 0 for row in rows) else 0.0
    base = alt.Chart(alt.NamedData("rows")).encode(
        y=alt.Y("judge:N", sort="-x", title=None),
        x=alt.X(
            "value:Q",
            title="r with the other judges on $question",
            scale=alt.Scale(domain=[low, 1.0], nice=False),
            axis=alt.Axis(tickCount=10),
        ),
    )
    stems = base.mark_rule(strokeWidth=2, color=SKY).encode(x2=alt.datum(0))
    dots = base.mark_point(size=80, filled=True, opacity=1, color=BLUE).encode(
        tooltip=["judge:N", "value:Q"]
    )
    spec = (stems + dots).properties(width=CHART_WIDTH, height={"step": 20}).to_dict(validate=False)
    return Chart(
        "judges",
        "Each judge against the others",
        spec,
        rows,
        choices={"question": list(questions)},
    )


def preferences_chart(rows: Sequence[Mapping[str, Any]], questions: Sequence[str]) -> Chart:
    """The share of comparisons that each system is expected to win."""
    alt = altair()
    order = alt.EncodingSortField("win_rate", order="descending")
    base = alt.Chart(alt.NamedData("rows")).encode(y=alt.Y("system:N", sort=order, title=None))
    scale = alt.Scale(domain=[0, 1])
    rules = base.mark_rule(strokeWidth=2, color=BLUE).encode(
        x=alt.X("low:Q", scale=scale, title="win rate on $question"), x2="high:Q"
    )
    dots = base.mark_point(size=80, filled=True, opacity=1, color=BLUE).encode(
        x="win_rate:Q", tooltip=["system:N", "win_rate:Q", "selection_ratio:Q", "strength:Q", "n:Q"]
    )
    spec = (rules + dots).properties(width=CHART_WIDTH, height={"step": 28}).to_dict(validate=False)
    return Chart(
        "preferences", "People’s choices", spec, rows, choices={"question": list(questions)}
    )


MACHINE_MARKS = {
    "people": (BLUE, "circle"),
    "machine": (VERMILION, "cross"),
    "corrected": (GREEN, "diamond"),
}


def machines_chart(rows: Sequence[Mapping[str, Any]], comparisons: Sequence[str]) -> Chart:
    """Each system by people alone, by the machine alone, and corrected. Rows: comparison, system, who,
    value, low, high."""
    alt = altair()
    systems = list(dict.fromkeys(row["system"] for row in rows))
    names = list(MACHINE_MARKS)
    color = alt.Color(
        "who:N",
        sort=names,
        scale=alt.Scale(domain=names, range=[MACHINE_MARKS[name][0] for name in names]),
        legend=alt.Legend(title=None, orient="top"),
    )
    base = alt.Chart(alt.NamedData("rows")).encode(
        y=alt.Y("system:N", sort=systems, title=None),
        yOffset=alt.YOffset("who:N", sort=names),
        color=color,
    )
    scale = alt.Scale(zero=False, padding=8)
    rules = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title="$comparison", scale=scale), x2="high:Q"
    )
    dots = base.mark_point(size=70, filled=True, opacity=1).encode(
        x=alt.X("value:Q", scale=scale),
        shape=alt.Shape(
            "who:N",
            sort=names,
            scale=alt.Scale(domain=names, range=[MACHINE_MARKS[name][1] for name in names]),
        ),
        tooltip=["system:N", "who:N", "value:Q", "low:Q", "high:Q"],
    )
    spec = (rules + dots).properties(width=CHART_WIDTH, height={"step": 14}).to_dict(validate=False)
    notes: dict[Condition, str] = {
        "always": "Whiskers: 95% intervals for other items. The machine's mean has no interval: what "
        "is wrong with it is not chance."
    }
    return Chart(
        "machines",
        "People, the machine, and the machine corrected by people",
        spec,
        rows,
        notes,
        choices={"comparison": list(comparisons)},
    )


def probe_chart(rows: Sequence[Mapping[str, Any]]) -> Chart:
    """A heat map: how often each metric prefers the better text, by kind of change. Blue is more than
    half of the pairs, red fewer."""
    alt = altair()
    shared = alt.Chart(alt.NamedData("rows")).encode(
        x=alt.X("metric:N", title=None, sort=None, axis=alt.Axis(orient="top", labelAngle=0)),
        y=alt.Y("change:N", title=None, sort=None),
        tooltip=["metric:N", "change:N", "right:Q", "low:Q", "high:Q", "ties:Q", "texts:Q"],
    )
    scale = alt.Scale(domain=[0, 50, 100], range=[VERMILION, "#f7f7f7", BLUE])
    cells = shared.mark_rect().encode(color=alt.Color("right:Q", scale=scale, legend=None))
    text = shared.mark_text(fontSize=11).encode(
        text=alt.Text("right:Q", format=".0f"),
        color=alt.condition(
            "datum.right > 85 || datum.right < 15", alt.value("white"), alt.value("black")
        ),
    )
    spec = (
        (cells + text).properties(width={"step": 90}, height={"step": 20}).to_dict(validate=False)
    )
    note = (
        "Percent of pairs in which the better text scores strictly higher. For a harmful change, the "
        "better text is the one without the change. For a harmless change, it is the changed text, and "
        "the other text has an error."
    )
    return Chart("probe", "How often does the better text win?", spec, rows, notes={"always": note})
