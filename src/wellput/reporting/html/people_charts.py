"""Charts of people: metrics against them, judges among themselves, their choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wellput.reporting.html.charts import (
    BLUE,
    GRAY,
    ORANGE,
    SKY,
    VERMILION,
    WIDTH,
    Chart,
    altair,
    scatter_spec,
)


def agreement_chart(rows: Sequence[Mapping[str, Any]], questions: Sequence[str]) -> Chart:
    """Metrics ranked by agreement with people, with the ceiling that the judges' noise sets."""
    alt = altair()
    kinds = {"metric": BLUE, "sentinel": GRAY}
    data = alt.NamedData("rows")
    base = alt.Chart(data).encode(
        y=alt.Y("metric:N", sort=alt.EncodingSortField("order", op="min"), title=None)
    )
    bars = base.mark_bar(height={"band": 0.62}).encode(
        x=alt.X("value:Q", title="$coefficient with people on $question"),
        color=alt.Color(
            "kind:N",
            scale=alt.Scale(domain=list(kinds), range=list(kinds.values())),
            legend=alt.Legend(title=None, orient="top"),
        ),
        tooltip=["metric:N", "value:Q", "low:Q", "high:Q", "p:N", "n:Q", "note:N"],
    )
    interval = base.mark_rule(strokeWidth=2, color=ORANGE).encode(x="low:Q", x2="high:Q")
    # One row is enough for the ceiling: drawn for each, its dashes would run together.
    top = alt.Chart(data).transform_filter("datum.order == 0 && isValid(datum.ceiling)")
    line = top.mark_rule(strokeDash=[5, 4], strokeWidth=2, color=VERMILION).encode(x="ceiling:Q")
    # Above the plot, where no interval runs into it.
    label = top.mark_text(align="right", dx=4, baseline="bottom", y=-3, color=VERMILION).encode(
        x="ceiling:Q", text=alt.value("ceiling: the judges’ own noise")
    )
    spec = (
        (bars + interval + line + label)
        .properties(width=WIDTH, height={"step": 26})
        .to_dict(validate=False)
    )
    coefficients = list(dict.fromkeys(row["coefficient"] for row in rows))
    return Chart(
        "agreement",
        "Agreement of the metrics with people",
        spec,
        rows,
        note="Gray bars are sentinels: what chance and the length of the output alone reach.",
        choices={"question": list(questions), "coefficient": coefficients},
    )


def people_chart(
    metrics: Sequence[str],
    questions: Sequence[str],
    systems: Sequence[str],
    unit: str,
    lines: Sequence[Mapping[str, Any]],
) -> Chart:
    """Metric against judgment, a point an output, as Figures 3 and 4 of Bangalore et al. (2000)."""
    spec = scatter_spec(
        "score", "$metric", "rating", f"$question: {unit}", systems, with_reason=True
    )
    return Chart(
        "scatter",
        "Metric against people, output by output",
        spec,
        "people",
        note="The line is the least-squares line over all judged outputs that are in the figures. "
        "Crossed rings are outputs left out of them; point at one to read the reason.",
        choices={"metric": list(metrics), "question": list(questions)},
        lines=lines,
    )


def judges_chart(rows: Sequence[Mapping[str, Any]], questions: Sequence[str]) -> Chart:
    """Each judge's correlation with the mean of the others."""
    alt = altair()
    base = alt.Chart(alt.NamedData("rows")).encode(
        y=alt.Y("judge:N", sort="-x", title=None),
        x=alt.X("value:Q", title="r with the other judges on $question"),
    )
    stems = base.mark_rule(strokeWidth=2, color=SKY).encode(x2=alt.datum(0))
    dots = base.mark_point(size=80, filled=True, opacity=1, color=BLUE).encode(
        tooltip=["judge:N", "value:Q"]
    )
    spec = (stems + dots).properties(width=WIDTH, height={"step": 20}).to_dict(validate=False)
    return Chart(
        "judges",
        "Each judge against the others",
        spec,
        rows,
        choices={"question": list(questions)},
    )


def preferences_chart(rows: Sequence[Mapping[str, Any]], questions: Sequence[str]) -> Chart:
    """How often each system was chosen when it was offered."""
    alt = altair()
    base = alt.Chart(alt.NamedData("rows")).encode(y=alt.Y("system:N", sort="-x", title=None))
    scale = alt.Scale(domain=[0, 1])
    rules = base.mark_rule(strokeWidth=2, color=BLUE).encode(
        x=alt.X("low:Q", scale=scale, title="chosen / offered on $question"), x2="high:Q"
    )
    dots = base.mark_point(size=80, filled=True, opacity=1, color=BLUE).encode(
        x="selection_ratio:Q", tooltip=["system:N", "selection_ratio:Q", "strength:Q", "n:Q"]
    )
    spec = (rules + dots).properties(width=WIDTH, height={"step": 28}).to_dict(validate=False)
    return Chart(
        "preferences", "People’s choices", spec, rows, choices={"question": list(questions)}
    )
