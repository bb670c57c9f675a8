"""What the commands on displays print. `wellput displays evaluate` shows Figure 4 of Foster (2008) as
tables and two charts; the other commands show one small table.

The charts are grouped bars: SVG pictures without scripts and fonts, each with a title and a description
for readers who cannot see it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from wellput.core.errors import counted
from wellput.core.evalset import ORIGINAL
from wellput.displays.evaluation import (
    INTRINSIC_METRICS,
    NO_MOTION,
    REPRODUCTION_METRICS,
    DisplayEvaluation,
    RankSum,
)
from wellput.engine.result import ScoreResult
from wellput.reporting.score import CSV_COLUMNS
from wellput.reporting.table import Report, Table, number, p_text

if TYPE_CHECKING:
    from wellput.displays.conversion import Conversion
    from wellput.displays.example_corpus import ExampleCorpus
    from wellput.displays.previewing import Preview
    from wellput.displays.selection import Selection

INK_COLOR, QUIET_COLOR, LINE_COLOR, PAPER_COLOR = "#1b1f24", "#57606a", "#d8dde3", "#ffffff"
COLORS = ("#0f6257", "#5b8fd0", "#c9792b", "#8a5aa8", "#6b7280", "#b3471d")
"""The colors of systems. People with red-green color blindness can distinguish them, and they differ in
lightness in print."""

BARS_HEIGHT_PX = 240.0
BAR_WIDTH_PX = 22.0
GROUP_GAP_PX = 26.0
LEFT_MARGIN_PX, TOP_MARGIN_PX, BOTTOM_MARGIN_PX = 44.0, 58.0, 34.0
LEGEND_CHARACTER_PX, LEGEND_ENTRY_PX = 7.5, 40
"""In the legend, the width of a character, and what an entry takes besides its name."""
FONT_STYLE = "font-family='system-ui, sans-serif'"


@dataclass(frozen=True)
class BarPanel:
    """Groups of bars on one axis that begins at 0. A group has a name and a value for each series, such
    as each system; NaN for no bar."""

    groups: Sequence[tuple[str, Sequence[float]]]


def bar_chart(
    title: str, series: Sequence[str], panels: Sequence[BarPanel], *, colors: Sequence[int] = ()
) -> str:
    """A chart as SVG: one or more panels side by side with a common legend.

    `colors` has the place of each series' color in `COLORS`, so that a series has the same color in
    several charts.
    """
    hues = [COLORS[place % len(COLORS)] for place in colors or range(len(series))]
    parts: list[str] = []
    left = LEFT_MARGIN_PX
    for panel in panels:
        left = _draw_panel(parts, panel, hues, left) + LEFT_MARGIN_PX
    width = max(left - LEFT_MARGIN_PX + 12, LEFT_MARGIN_PX + sum(map(_legend_width, series)))
    x = LEFT_MARGIN_PX
    for place, name in enumerate(series):
        parts.append(f"<rect x='{x:g}' y='32' width='12' height='12' rx='2' fill='{hues[place]}'/>")
        parts.append(_text(x + 17, 42, name, anchor="start", size=12))
        x += _legend_width(name)
    height = TOP_MARGIN_PX + BARS_HEIGHT_PX + BOTTOM_MARGIN_PX
    described = "; ".join(
        f"{group}: " + ", ".join(f"{n} {v:.2f}" for n, v in zip(series, values, strict=True))
        for panel in panels
        for group, values in panel.groups
    )
    return "\n".join(
        [
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:g} {height:g}' "
            f"width='{width:g}' height='{height:g}' role='img' {FONT_STYLE}>",
            f"<title>{escape(title)}</title><desc>{escape(described)}</desc>",
            f"<rect width='{width:g}' height='{height:g}' fill='{PAPER_COLOR}'/>",
            _text(LEFT_MARGIN_PX, 20, title, anchor="start", size=14, weight=600),
            *parts,
            "</svg>\n",
        ]
    )


def _legend_width(name: str) -> float:
    """The width of an entry of the legend in pixels."""
    return len(name) * LEGEND_CHARACTER_PX + LEGEND_ENTRY_PX


def _draw_panel(parts: list[str], panel: BarPanel, hues: Sequence[str], left: float) -> float:
    """Adds the axis and the bars of a panel that begins at `left` to `parts`, in SVG, and returns the
    panel's right end in pixels."""
    n_series = len(hues)
    finite = [value for _, values in panel.groups for value in values if math.isfinite(value)]
    step = _step(max([0.0, *finite]))
    top = step * max(1, math.ceil(max([0.0, *finite]) / step - 1e-9))
    right = left + len(panel.groups) * (n_series * BAR_WIDTH_PX + GROUP_GAP_PX) + 6
    base = TOP_MARGIN_PX + BARS_HEIGHT_PX

    def height_of(value: float) -> float:
        return BARS_HEIGHT_PX * max(value, 0.0) / top

    for tick in range(round(top / step) + 1):
        y = base - height_of(tick * step)
        parts.append(f"<path d='M{left:g} {y:.1f}H{right:g}' stroke='{LINE_COLOR}'/>")
        parts.append(_text(left - 6, y + 4, f"{tick * step:g}", anchor="end", fill=QUIET_COLOR))
    x = left + GROUP_GAP_PX / 2
    for name, values in panel.groups:
        for place, value in enumerate(values):
            if math.isfinite(value):
                height = height_of(value)
                parts.append(
                    f"<rect x='{x + place * BAR_WIDTH_PX:.1f}' y='{base - height:.1f}'"
                    f" width='{BAR_WIDTH_PX - 2:g}' "
                    f"height='{height:.1f}' rx='1.5' fill='{hues[place]}'/>"
                )
                middle = x + place * BAR_WIDTH_PX + BAR_WIDTH_PX / 2 - 1
                parts.append(
                    _text(middle, base - height - 4, f"{value:.2f}", size=9.5, fill=QUIET_COLOR)
                )
        parts.append(_text(x + n_series * BAR_WIDTH_PX / 2, base + 18, name, size=12))
        x += n_series * BAR_WIDTH_PX + GROUP_GAP_PX
    return right


def _step(highest: float) -> float:
    """A round distance between the ticks of an axis that gives about five ticks."""
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
    fill: str = INK_COLOR,
    weight: int = 400,
) -> str:
    """A text element of SVG."""
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' font-size='{size:g}' "
        f"font-weight='{weight}' fill='{fill}'>{escape(text)}</text>"
    )


NOT_WRITTEN = "not written"


def example_summary(corpus: ExampleCorpus) -> Report:
    """How the example corpus was made."""
    value = corpus.values()
    rows = [[name, NOT_WRITTEN if fact is None else str(fact)] for name, fact in value.items()]
    table = Table(["corpus", ""], rows, is_prose=True, caption="The example corpus")
    return Report([table], value, tuple(value), [value])


def conversion_summary(conversion: Conversion) -> Report:
    """What was written: the file, and how many items and which systems are in it."""
    value = conversion.values()
    rows = [
        ["file", value["file"] or NOT_WRITTEN],
        ["items", str(value["items"])],
        ["systems", ", ".join(value["systems"])],
    ]
    table = Table(["written", ""], rows, is_prose=True, caption="The evalset")
    return Report([table], value, ("file", "items"), [value])


def selection_summary(selection: Selection) -> Report:
    """How many displays each strategy chose, and how often it shortened a context."""
    rows = []
    for name, displays in selection.displays.items():
        shortened = sum(selection.backed_off.get(name, {}).values())
        share = "" if name not in selection.backed_off else f"{shortened / selection.nodes:.1%}"
        per_sentence = displays / len(selection.evalset)
        rows.append([name, f"{displays:,}", f"{per_sentence:.2f}", share])
    notes = [
        f"{len(selection.evalset):,} sentences, {selection.nodes:,} nodes, seed {selection.seed}. "
        f"Context: {', '.join(selection.context) or 'none'}.",
    ]
    columns = ["system", "displays", "per sentence", "contexts shortened"]
    table = Table(columns, rows, notes=notes, caption="Chosen displays")
    return Report([table], selection.values(), ("system", "displays", "nodes"), selection.records())


def preview_summary(page: Preview) -> Report:
    """What the page shows, and where it is."""
    value = page.values()
    systems = ", ".join(page.systems)
    cells = [str(page.sentences), systems, value["output"] or NOT_WRITTEN]
    table = Table(["sentences", "systems", "page"], [cells], is_prose=True, caption="The preview")
    return Report([table], value, list(value), [{**value, "systems": systems}])


METRIC_PREFIX = "display-"
SENTENCE_MEAN_METRICS = tuple(
    f"{METRIC_PREFIX}{name}" for name in ("precision", "recall", "f", "ttr")
)
"""Metrics that are means over sentences, and that may have no score for some sentences."""

COUNT_METRICS = tuple(f"{METRIC_PREFIX}{name}" for name in ("tokens", "types"))
"""Metrics that may be larger than 1, and so need another axis than ratios."""


def displays_report(evaluation: DisplayEvaluation) -> Report:
    """Scores that compare with the original, other scores, and the tests between systems."""
    result = evaluation.result
    with_original = [metric for metric in result.metrics if _needs_original(metric)]
    without_original = [metric for metric in result.metrics if metric not in with_original]
    others = [system for system in result.systems if system != ORIGINAL]
    tables = []
    if with_original and others:
        notes = _accuracy_notes(evaluation)
        tables.append(
            _scores_table(result, others, with_original, "Against the original displays", notes)
        )
    if without_original:
        tables.append(
            _scores_table(
                result, result.systems, without_original, "Number and variety", _notes(result)
            )
        )
    if evaluation.rank_sums:
        tables.append(_tests_table(evaluation.rank_sums))
    value = evaluation.values()
    return Report(tables, value, CSV_COLUMNS, value["scores"])


def displays_charts(result: ScoreResult) -> dict[str, str]:
    """Charts like Figure 4 of Foster (2008), as SVG: `reproduction`, and `intrinsic`, where counts and
    ratios have separate axes."""
    others = [system for system in result.systems if system != ORIGINAL]
    reproduction = [metric for metric in REPRODUCTION_METRICS if metric in result.metrics]
    counts = [
        metric
        for metric in INTRINSIC_METRICS
        if metric in result.metrics and metric in COUNT_METRICS
    ]
    ratios = [
        metric
        for metric in INTRINSIC_METRICS
        if metric in result.metrics and metric not in COUNT_METRICS
    ]
    charts: dict[str, str] = {}
    if reproduction and others:
        panel = _panel(result, others, reproduction)
        colors = [result.systems.index(system) for system in others]
        charts["reproduction"] = bar_chart(
            "Against the original displays", others, [panel], colors=colors
        )
    if counts or ratios:
        panels = [_panel(result, result.systems, names) for names in (counts, ratios) if names]
        charts["intrinsic"] = bar_chart("Number and variety of displays", result.systems, panels)
    return charts


def _panel(result: ScoreResult, systems: Sequence[str], metrics: Sequence[str]) -> BarPanel:
    """A panel with a group for each metric, and a bar for each system."""
    return BarPanel([(_short(m), [result[system, m].score for system in systems]) for m in metrics])


def _needs_original(metric: str) -> bool:
    """Whether the metric compares displays with the original ones."""
    family = metric.partition(":")[0]
    return family in REPRODUCTION_METRICS or family == f"{METRIC_PREFIX}distance"


def _short(metric: str) -> str:
    """The name of the metric without `display-`."""
    return metric.removeprefix(METRIC_PREFIX)


def _scores_table(
    result: ScoreResult,
    systems: Sequence[str],
    metrics: Sequence[str],
    title: str,
    notes: Sequence[str],
) -> Table:
    """A row for each system and a column for each metric, with intervals if there are any."""
    rows = []
    for system in systems:
        cells = []
        for metric in metrics:
            score = result[system, metric]
            text = number(score.score, 3)
            if score.low is not None and score.high is not None:
                text += f" [{number(score.low, 3)}, {number(score.high, 3)}]"
            cells.append(text)
        rows.append([system, *cells])
    return Table(["system", *map(_short, metrics)], rows, title=title, notes=notes)


def _accuracy_notes(evaluation: DisplayEvaluation) -> list[str]:
    """The accuracy of a system that never shows a display."""
    baseline = evaluation.no_motion
    if baseline is None or math.isnan(baseline):
        return []
    return [f"accuracy of never showing anything: {number(baseline, 3)}"]


def _notes(result: ScoreResult) -> list[str]:
    """The number of sentences, and which sentences the means leave out."""
    lines = [f"{counted(result.items, 'sentence')}."]
    undefined: dict[tuple[str, int], list[str]] = {}
    for score in result.scores:
        if score.undefined and score.metric.partition(":")[0] in SENTENCE_MEAN_METRICS:
            key = (score.system, score.undefined)
            undefined.setdefault(key, []).append(_short(score.metric))
    lines += [
        f"{system}: {counted(n, 'sentence')} without displays, left out of its {', '.join(metrics)}."
        for (system, n), metrics in undefined.items()
    ]
    return lines


def _tests_table(tests: Sequence[RankSum]) -> Table:
    """A row for each pair of systems, a column for each metric."""
    metrics = list(dict.fromkeys(test.metric for test in tests))
    cells = {(test.a, test.b, test.metric): _difference(test) for test in tests}
    rows = [
        [f"{a} − {b}", *(cells.get((a, b, metric), "") for metric in metrics)]
        for a, b in dict.fromkeys((test.a, test.b) for test in tests)
    ]
    return Table(
        ["pair", *map(_short, metrics)],
        rows,
        title="Differences between systems",
        notes=[
            "In parentheses the p-value of Wilcoxon's rank sum test over sentences, with Bonferroni's "
            "correction for the pairs under one metric. "
            f"{NO_MOTION!r} is a system that never shows anything."
        ],
    )


def _difference(test: RankSum) -> str:
    """The difference of two systems' scores, and p in parentheses."""
    p = p_text(test.p_adjusted)
    return f"{number(test.delta, 3, sign=True)} ({'p undefined' if p == 'undefined' else p})"
