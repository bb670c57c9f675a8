"""Charts of scores: systems under metrics, pairs of systems, length, metrics among themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wellput.reporting.html.charts import (
    BLUE,
    CLAIMS,
    PURPLE,
    VERMILION,
    Chart,
    altair,
    scatter_spec,
)


def forest_chart(rows: Sequence[Mapping[str, Any]]) -> Chart:
    """Systems × metrics with their intervals, one panel a metric. Rows: system, metric, score, low,
    high, claim."""
    alt = altair()
    systems = list(dict.fromkeys(row["system"] for row in rows))
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    claims = [claim for claim in CLAIMS if any(row["claim"] == claim for row in rows)]
    base = alt.Chart().encode(y=alt.Y("system:N", sort=systems, title=None))
    scale = alt.Scale(zero=False, padding=8)
    rule = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title=None, scale=scale, axis=alt.Axis(tickCount=4)),
        x2="high:Q",
        color=_claim_color(alt, claims),
    )
    point = base.mark_point(size=70, filled=True, opacity=1).encode(
        x=alt.X("score:Q", title=None, scale=scale),
        color=_claim_color(alt, claims),
        shape=alt.Shape(
            "claim:N",
            scale=alt.Scale(domain=claims, range=[CLAIMS[claim][1] for claim in claims]),
            legend=alt.Legend(title="against the baseline", orient="top"),
        ),
        tooltip=["system:N", "metric:N", "score:Q", "low:Q", "high:Q", "delta:Q", "p:N"],
    )
    layered = alt.layer(rule, point, data=alt.NamedData("rows"))
    sized = layered.properties(width=270, height={"step": 24})
    spec = (
        sized.facet(
            facet=alt.Facet(
                "metric:N", sort=metrics, title=None, header=alt.Header(labelFontSize=13)
            ),
            columns=3,
        )
        .resolve_scale(x="independent")
        .to_dict(validate=False)
    )
    return Chart("scores", "Scores with their intervals", spec, rows)


def pairs_chart(rows: Sequence[Mapping[str, Any]], systems: Sequence[str]) -> Chart:
    """Every system (row) against every other (column) under the chosen metric."""
    alt = altair()
    size = 96 if len(systems) <= 6 else 84
    verdicts = {
        "row is better": BLUE,
        "row is worse": VERMILION,
        "differ": PURPLE,
        "no difference shown": "#c9ccd1",
    }
    used = [verdict for verdict in verdicts if any(row["verdict"] == verdict for row in rows)]
    gap = alt.Scale(paddingInner=0.04)
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=alt.X(
            "other:N",
            sort=list(systems),
            title=None,
            axis=alt.Axis(orient="top", labelAngle=0, labelLimit=size - 8),
            scale=gap,
        ),
        y=alt.Y("system:N", sort=list(systems), title=None, scale=gap),
    )
    cells = base.mark_rect(cornerRadius=3).encode(
        color=alt.Color(
            "verdict:N",
            scale=alt.Scale(domain=used, range=[verdicts[verdict] for verdict in used]),
            legend=alt.Legend(title=None, orient="bottom"),
        ),
        tooltip=["system:N", "other:N", "metric:N", "difference:Q", "p:N", "p_holm:N", "n:Q"],
    )
    ink = alt.condition(
        "datum.verdict == 'no difference shown'", alt.value("#222"), alt.value("#fff")
    )
    words = base.mark_text(fontSize=12, fontWeight="bold", dy=-7).encode(text="shown:N", color=ink)
    below = base.mark_text(fontSize=10.5, dy=9).encode(text="p_shown:N", color=ink)
    spec = (
        (cells + words + below)
        .properties(width={"step": size}, height={"step": 46})
        .to_dict(validate=False)
    )
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    return Chart(
        "pairs",
        "Every pair of systems",
        spec,
        rows,
        note="Row minus column; p corrected by Holm’s method over all pairs under the metric.",
        choices={"metric": metrics},
    )


def length_chart(
    metrics: Sequence[str], systems: Sequence[str], lines: Sequence[Mapping[str, Any]]
) -> Chart:
    """Score against the output's length in words."""
    spec = scatter_spec(
        "length", "words of the output", "score", "$metric", systems, with_reason=False
    )
    return Chart(
        "length",
        "Score against length",
        spec,
        "lengths",
        note="A metric that rises or falls with length alone can be gamed by it.",
        choices={"metric": list(metrics)},
        lines=lines,
    )


def correlations_chart(rows: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> Chart:
    """Metric against metric over outputs."""
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
        "Metrics among themselves",
        spec,
        rows,
        note="Pearson’s r of segment scores, metrics for which lower is better turned round. Metrics "
        "that correlate near 1 say the same thing twice.",
    )


def _claim_color(alt: Any, claims: Sequence[str]) -> Any:
    return alt.Color(
        "claim:N",
        scale=alt.Scale(domain=list(claims), range=[CLAIMS[claim][0] for claim in claims]),
        legend=alt.Legend(title="against the baseline", orient="top"),
    )
