"""What `wellput estimate` shows. The estimates combine people's judgments of some items with the scores
of a proxy, such as a language model, on many more items. The tables compare the estimates with
those by people alone and by the proxy alone, test differences, and say how many labels (judgments of
people) the proxy saves and which items to label next."""

from __future__ import annotations

import math

from wellput.agreement.machines.estimating import MIN_LABELS_FOR_SKEW, EstimateResult
from wellput.agreement.machines.verdict import shown
from wellput.agreement.rankings.plain_ranking import ESTIMATE_HEADINGS, listed
from wellput.core.errors import counted
from wellput.core.estimates import Estimate
from wellput.reporting.rank import left_out_notes
from wellput.reporting.ranking import MAX_PAIRS_SHOWN
from wellput.reporting.table import Report, Table, p_text
from wellput.stats.prediction_powered import MIN_LABELS

CSV_COLUMNS = (
    "system", "estimate", "low", "high", "people_estimate", "people_low", "people_high", "proxy_only",
    "n_labeled", "n_unlabeled", "lambda", "labels_worth", "rank", "rank_low", "rank_high",
)  # fmt: skip
MAX_ITEMS_SHOWN = 20
MAX_JUDGES_NAMED = 4
MIN_SAVED_SHARE = 0.05
"""A proxy that saves a smaller share of the labels is said to save none."""


def estimate_report(result: EstimateResult) -> Report:
    """The tables of systems, of differences, and of the items to label next; CSV has the systems."""
    tables = [_systems_table(result)]
    if result.differences:
        tables.append(_differences_table(result))
    if result.next_items is not None:
        tables.append(_next_table(result))
    return Report(tables, result.values(), CSV_COLUMNS, result.records())


def _systems_table(result: EstimateResult) -> Table:
    level = f"{100 * result.confidence:g}% interval"
    rows = [
        [
            row.system,
            _value(row.estimate.value, result),
            _interval(row.estimate, result),
            _ranks(row.rank_low, row.rank_high),
            _value(row.people.value, result),
            _interval(row.people, result),
            _value(row.proxy_only, result, is_share=result.is_proxy_share),
            f"{row.n_labeled:,}",
            f"{row.n_unlabeled:,}",
        ]
        for row in result.systems
    ]
    heading = ESTIMATE_HEADINGS[result.model]
    return Table(
        [
            "system", heading, level, "rank", "people alone", level, "proxy alone", "labels",
            "unlabeled",
        ],
        rows,
        title=f"What people would say of all items: {result.question}",
        notes=_notes(result),
    )  # fmt: skip


def _notes(result: EstimateResult) -> list[str]:
    notes = [*_winner(result), *_too_few(result), *_equal_labels(result), *_saved(result)]
    names = ", ".join(result.judges[:MAX_JUDGES_NAMED])
    n_hidden = len(result.judges) - MAX_JUDGES_NAMED
    judge_names = names + (f" and {n_hidden} more" if n_hidden > 0 else "")
    several_judges = "The mean of several judges is one label. " if len(result.judges) > 1 else ""
    notes.append(
        f"Labels are the judgments of {judge_names}. {several_judges}Intervals hold for these "
        f"systems, these judges and "
        f"other {_units(result)} like these. rank: the ranks a system may have, corrected by Holm's "
        "method."
    )
    sampling = (
        "Labels are weighted by the chances with which their items were chosen"
        if result.has_probabilities
        else "The estimates are right if the labeled items were chosen at random"
    )
    notes.append(
        f"{sampling}. The estimate is λ times the proxy's mean, plus the mean difference between "
        "people's labels and λ times the proxy where both are known. This removes the proxy's own bias."
    )
    if result.strata is not None:
        notes.append(
            f"Estimated for each {result.strata} with enough labels, and put together by their numbers "
            "of items."
        )
    if result.n_without_proxy:
        notes.append(
            f"{counted(result.n_without_proxy, 'label')} not used: the proxy has no score there."
        )
    if result.is_proxy_a_copy:
        notes.append(
            f"{result.proxy} follows people's labels without any error: it may have been made from "
            "them. Then the intervals are too narrow, and what it saves is not true."
        )
    if skewed := [row.system for row in result.systems if row.is_skewed]:
        notes.append(
            f"The {'interval' if len(skewed) == 1 else 'intervals'} of {listed(skewed)} may be too "
            f"narrow: fewer than {MIN_LABELS_FOR_SKEW} labels, most of them at one end of the scale."
        )
    notes.append(
        "`wellput rank` uses people's judgments alone, in a model of judges and items, and its "
        "intervals hold for other judges too: so its figures and tests may differ from these."
    )
    return [*notes, *left_out_notes(result.excluded), *result.notes]


def _winner(result: EstimateResult) -> list[str]:
    """Which system is first; nothing if no difference could be tested."""
    if all(math.isnan(difference.p_adjusted) for difference in result.differences):
        return []
    leaders = [row for row in result.systems if row.rank_low == 1]
    names = listed([row.system for row in leaders])
    n_others = len(result.systems) - len(leaders)
    if not n_others:
        return [f"No difference is shown between the {len(leaders)} systems."]
    others = "the other system" if n_others == 1 else f"the other {counted(n_others, 'system')}"
    if len(leaders) == 1 and leaders[0].rank_high == 1:
        return [f"{names} is first, significantly ahead of {others}."]
    place = "is first" if len(leaders) == 1 else "share first place"
    verb = "is" if n_others == 1 else "are each"
    return [f"{names} {place}; {others} {verb} significantly behind at least one system."]


def _labels_of_a_system(result: EstimateResult) -> str:
    """How many labels a system has, in words."""
    counts = [row.n_labeled for row in result.systems]
    if min(counts) == max(counts):
        return f"the {counted(counts[0], 'label')} of a system"
    return f"the {min(counts):,} to {max(counts):,} labels of a system"


def _units(result: EstimateResult, n: int = 2) -> str:
    """The units that are assumed to be independent, in words: items, documents, or values of a tag."""
    if result.clustered_by in ("document", "item"):
        return result.clustered_by + ("" if n == 1 else "s")
    return f"{'value' if n == 1 else 'values'} of {result.clustered_by}"


def _too_few(result: EstimateResult) -> list[str]:
    """Which systems have no interval, for lack of labeled units, and what can be done."""
    without_interval = [row for row in result.systems if row.n_clusters < MIN_LABELS]
    if not without_interval:
        return []
    whose = (
        ""
        if len(without_interval) == len(result.systems)
        else f" of {listed([row.system for row in without_interval])}"
    )
    most = max(row.n_clusters for row in without_interval)
    text = (
        f"No interval, p-value or λ{whose}: the labels come from "
        f"{most} {_units(result, most)}, and at least {MIN_LABELS} are needed."
    )
    if result.clustered_by != "item":
        text += " cluster='item' takes every item as independent."
    return [text]


def _equal_labels(result: EstimateResult) -> list[str]:
    """Which systems have enough labels, but no interval, because all labels are equal."""
    without = [
        row.system
        for row in result.systems
        if row.estimate.low is None and row.n_clusters >= MIN_LABELS
    ]
    if not without:
        return []
    return [f"No interval of {listed(without)}: all labels are equal, so their spread is unknown."]


def _saved(result: EstimateResult) -> list[str]:
    """How many labels the proxy saved; nothing if no system has enough labels."""
    labels, labels_worth = result.labels, result.labels_worth
    if math.isnan(labels_worth):
        if all(row.n_clusters < MIN_LABELS for row in result.systems):
            return []
        return ["What the proxy saves cannot be said."]
    if not any(row.n_unlabeled for row in result.systems):
        return [
            f"{result.proxy} can save nothing here: people judged every item that it has scores for. "
            "It helps where it has scores for more items than people judged."
        ]
    saved = labels_worth - labels
    if saved < MIN_SAVED_SHARE * labels:
        return [
            f"{result.proxy} saves no labels: with or without it {_labels_of_a_system(result)} say "
            "about as much."
        ]
    is_same_number = len({row.n_labeled for row in result.systems}) == 1
    average = "" if is_same_number else f" ({labels:.0f} on average)"
    return [
        f"With {result.proxy}, {_labels_of_a_system(result)}{average} are worth {labels_worth:.0f}: "
        f"it saves about {saved:.0f}."
    ]


def _differences_table(result: EstimateResult) -> Table:
    level = f"{100 * result.confidence:g}% interval"
    rows = list(result.differences)
    title = "How far systems are apart"
    if len(rows) > MAX_PAIRS_SHOWN:
        names = [row.system for row in result.systems]
        place = {name: number for number, name in enumerate(names)}
        rows = [
            difference
            for difference in rows
            if place[difference.systems[1]] - place[difference.systems[0]] == 1
        ]
        title += f" (neighbors of {counted(len(result.differences), 'pair')}; JSON has all)"
    cells = [
        [
            f"{difference.systems[0]} − {difference.systems[1]}",
            _value(difference.estimate.value, result, sign=True),
            _interval(difference.estimate, result, sign=True),
            "–" if difference.estimate.p_value is None else p_text(difference.estimate.p_value),
            "–" if math.isnan(difference.p_adjusted) else p_text(difference.p_adjusted),
            _value(difference.people.value, result, sign=True),
            _interval(difference.people, result, sign=True),
            f"{difference.n_labeled:,}" if difference.is_paired else "–",
        ]
        for difference in rows
    ]
    notes = _about_differences(result)
    if result.are_choices:
        notes = [
            "Share of wins of the first system less that of the second, where both were offered."
        ]
    labeled = "labels" if result.are_choices else "both labeled"
    return Table(
        ["systems", "difference", level, "p", "p (Holm)", "people alone", level, labeled],
        cells,
        title=title,
        notes=notes,
    )


def _about_differences(result: EstimateResult) -> list[str]:
    """How differences were estimated: from items with labels of both systems, or from the systems'
    estimates."""
    notes = []
    if any(difference.is_paired for difference in result.differences):
        notes.append(
            "A difference is estimated from the items that have labels of both systems (their number: "
            "both labeled), with a λ of its own: so it is not exactly the difference of the two "
            "estimates above, which use all labels of a system."
        )
    if not all(difference.is_paired for difference in result.differences):
        notes.append(
            "–: too few items have labels of both systems, so the difference is that of the two "
            "estimates above."
        )
    return notes


def _next_table(result: EstimateResult) -> Table:
    """The items to label next, with the probabilities with which they were chosen."""
    assert result.next_items is not None
    chosen = result.next_items.chosen
    rows = [
        [item, f"{result.next_items.probabilities[item]:.3f}"] for item in chosen[:MAX_ITEMS_SHOWN]
    ]
    hidden = len(chosen) - len(rows)
    notes = [f"{hidden} more are in the JSON and in the file of plan=."] if hidden else []
    notes.append(
        f"{_what_to_judge(result)} Items on which the proxy's scores of the systems differ are chosen "
        "more often. Keep the file of plan=, and give it as probabilities= when people have answered: "
        "it corrects for this."
    )
    return Table(
        ["item", "probability"],
        rows,
        title=f"Ask people next about these {counted(len(chosen), 'item')}",
        notes=notes,
    )


def _what_to_judge(result: EstimateResult) -> str:
    if result.are_choices:
        return "People judge all pairs of systems on each of these items."
    if len(result.systems) > 1:
        return (
            "People judge the outputs of all systems for each of these items, so that systems are "
            "compared on the same items."
        )
    return "People judge the output for each of these items."


def _value(
    value: float, result: EstimateResult, *, sign: bool = False, is_share: bool | None = None
) -> str:
    """The number as text: a share as a percentage, a mean with two digits after the point.
    `is_share` is None for estimates; the proxy's own mean may be on another scale."""
    if is_share is None:
        is_share = result.model != "mean"
    if not is_share:
        return shown(value, sign=sign)
    if math.isnan(value):
        return "–"
    return f"{100 * value:{'+' if sign else ''}.0f}%".replace("-", "−")


def _interval(estimate: Estimate, result: EstimateResult, *, sign: bool = False) -> str:
    if estimate.low is None or estimate.high is None:
        return "–"
    low, high = (_value(end, result, sign=sign) for end in (estimate.low, estimate.high))
    return f"[{low}, {high}]"


def _ranks(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"
