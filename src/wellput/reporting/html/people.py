"""`People`: the judges' ratings of each output, to compare with the metrics' scores.

Arrays are systems × items of the whole evalset, NaN for outputs that nobody judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from wellput.agreement.analysis import AgreementOptions
from wellput.agreement.correlations import cells_of_all
from wellput.agreement.exclusions import exclusions_of_unknown
from wellput.agreement.panel import Exclusion, KnownNames, Panel
from wellput.agreement.prepared_panels import prepared_panels
from wellput.core.estimates import ScoreTable
from wellput.core.judgment import Judgment, Preference
from wellput.core.metric import Floats
from wellput.reporting.table import number

PlaceInTable = tuple[int, int]  # the places of a system and an item


@dataclass(frozen=True)
class People:
    """For each question: the mean rating of every judged output (`ratings`), the reasons why outputs
    do not count in correlations and regression lines (`left_out`), the regressions of the ratings on
    each metric (`lines`), and the lowest and the highest rating that any judge gave (`scales`). `unit`
    says what the numbers in `ratings` are."""

    ratings: Mapping[str, Floats]
    left_out: Mapping[str, Mapping[PlaceInTable, str]] = field(default_factory=dict)
    lines: Sequence[Mapping[str, Any]] = ()
    unit: str = "mean rating"
    scales: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def people_of_ratings(
    tables: Mapping[str, ScoreTable], judgments: Sequence[Judgment], options: AgreementOptions
) -> People:
    """The ratings that `agree` correlates with the metrics, and the ratings that it leaves out."""
    first = next(iter(tables.values()))
    _, panels = prepared_panels(judgments, first.systems, first.items, options)
    known_names = KnownNames(set(first.systems), set(first.items))
    # Only judgments of unknown systems and items stay excluded: no array has a place for them.
    of_unknown_names = exclusions_of_unknown(options.exclusions, known_names)
    complete_options = replace(options, exclusions=of_unknown_names, judges_below=None)
    # By question, a panel that also has the ratings that `agree` leaves out.
    complete = {
        question: prepared_panels(
            judgments,
            first.systems,
            first.items,
            replace(complete_options, questions=(question,), normalization=panel.normalization),
        )[1][question]
        for question, panel in panels.items()
    }
    ratings: dict[str, Floats] = {}
    left_out: dict[str, dict[PlaceInTable, str]] = {}
    lines: list[dict[str, Any]] = []
    for question, panel in panels.items():
        kept_means = panel.means
        ratings[question] = np.where(np.isnan(kept_means), complete[question].means, kept_means)
        cells = cells_of_all(list(tables.values()), panel.table())
        left_out[question] = _reasons(
            ratings[question], kept_means, cells, panel, complete[question]
        )
        for metric, table in tables.items():
            line = regression_line(table.scores[cells], kept_means[cells])
            if line is not None:
                lines.append({"question": question, "metric": metric, **line})
    normalizations = dict.fromkeys(panel.normalization for panel in panels.values())
    is_plain = set(normalizations) == {"none"}
    unit = "mean rating" if is_plain else f"mean rating ({', '.join(normalizations)})"
    return People(ratings, left_out, lines, unit, _scales(judgments))


def _scales(judgments: Sequence[Judgment]) -> dict[str, tuple[float, float]]:
    ratings: dict[str, list[float]] = {}
    for judgment in judgments:
        ratings.setdefault(judgment.question, []).append(judgment.number)
    return {question: (min(values), max(values)) for question, values in ratings.items()}


def people_of_choices(tables: Mapping[str, ScoreTable], answers: Sequence[Preference]) -> People:
    """The share of the comparisons of each output in which it was chosen; a tie is half a choice."""
    first = next(iter(tables.values()))
    systems = {name: place for place, name in enumerate(first.systems)}
    items = {name: place for place, name in enumerate(first.items)}
    shape = len(systems), len(items)
    chosen: dict[str, Floats] = {}
    offered: dict[str, Floats] = {}
    for answer in answers:
        wins = chosen.setdefault(answer.question, np.zeros(shape))
        offers = offered.setdefault(answer.question, np.zeros(shape))
        item = items[answer.item]
        for side, system in (("a", answer.system_a), ("b", answer.system_b)):
            won = 0.5 if answer.choice == "tie" else float(answer.choice == side)
            wins[systems[system], item] += won
            offers[systems[system], item] += 1
    shares = {
        question: np.divide(
            chosen[question],
            offered[question],
            out=np.full(shape, np.nan),
            where=offered[question] > 0,
        )
        for question in chosen
    }
    return People(shares, unit="share of offers chosen")


def regression_line(
    x: Floats, y: Floats, *, names: tuple[str, str] = ("score", "rating")
) -> dict[str, Any] | None:
    """The least-squares line through the points, from the lowest to the highest x, and its equation in
    words (`names` are those of x and y); None for fewer than 3 points, and if all x are equal."""
    known = ~(np.isnan(x) | np.isnan(y))
    x, y = x[known], y[known]
    if len(x) < 3 or np.ptp(x) == 0:
        return None
    slope, intercept = np.polyfit(x, y, 1)
    low, high = float(x.min()), float(x.max())
    r_squared = float(np.corrcoef(x, y)[0, 1] ** 2) if np.ptp(y) > 0 else 0.0
    constant = number(round(float(intercept), 3) + 0.0, 3)  # no −0
    sign = "−" if slope < 0 else "+"
    equation = f"{names[1]} = {constant} {sign} {number(abs(slope), 3)} × {names[0]}"
    return {
        "low": low,
        "high": high,
        "at_low": float(intercept + slope * low),
        "at_high": float(intercept + slope * high),
        "slope": float(slope),
        "r_squared": r_squared,
        "n": len(x),
        "equation": f"{equation} (R² = {number(r_squared, 2)}, n = {len(x):,})",
    }


def _reasons(
    ratings: Floats, kept_means: Floats, cells: Any, panel: Panel, complete: Panel
) -> dict[PlaceInTable, str]:
    """The reasons why judged outputs do not count in correlations and regression lines, by their
    places; `cells` marks the outputs that count."""
    reasons: dict[PlaceInTable, str] = {}
    for system, item in np.argwhere(~np.isnan(ratings) & ~cells).tolist():
        if not np.isnan(kept_means[system, item]):
            reasons[system, item] = "a metric has no score for it"
            continue
        ratings_of_output = complete.ratings[:, system, item]
        judges = {
            complete.judges[place]
            for place in np.flatnonzero(~np.isnan(ratings_of_output)).tolist()
        }
        exclusion_reasons = dict.fromkeys(
            exclusion.reason
            for exclusion in panel.excluded
            if _covers(exclusion, judges, panel.systems[system], panel.items[item])
        )
        reasons[system, item] = "; ".join(exclusion_reasons) or "left out"
    return reasons


def _covers(exclusion: Exclusion, judges: set[str], system: str, item: str) -> bool:
    """Whether an exclusion leaves out the ratings of this output by one of these judges."""
    return (
        exclusion.judge in (None, *judges)
        and exclusion.system in (None, system)
        and exclusion.item in (None, item)
    )
