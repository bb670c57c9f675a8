"""How far judges agree with each other, and how far a perfect metric could agree with them.

A unit is something that judges rate: an output, or a pair of outputs for choices. If judges rated
several samples of an output, each sample is a unit. Results and messages call a unit a trial. `units`
are arrays of judges × units, NaN where a judge gave no rating. κ, α, β and ICC are measures of
agreement: Cohen's kappa, Krippendorff's alpha, Artstein and Poesio's beta, and the intraclass
correlation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wellput.agreement.panel import SHARE_WON_BY_A, Exclusion, Panel, normalized
from wellput.agreement.result import JudgeSummary
from wellput.core.errors import counted
from wellput.core.estimates import Estimate
from wellput.core.judgment import Judgment, Preference, without_lone_samples
from wellput.core.metric import Floats
from wellput.stats.judges.correlations import (
    judges_against_rest,
    pair_correlations,
    pairwise_correlations,
    split_half,
)
from wellput.stats.judges.kappa import pairwise_kappas
from wellput.stats.judges.krippendorff import krippendorff_alpha
from wellput.stats.judges.ratings import MIN_SHARED_UNITS, sharing_pairs
from wellput.stats.judges.reliability import intraclass_correlations, panel_reliability
from wellput.stats.judges.weighted_agreement import interval_beta

MIN_SHARE_TO_SPLIT_JUDGES = 0.5
"""If judges gave less than this share of all possible ratings, split-half reliability divides the
ratings of each trial into halves instead of the judges."""
SAMPLES_ARE_TRIALS = "each judged sample of an output is a trial"
NO_SHARED_SAMPLE = "no two judges judged the same sample of an output, so they cannot be compared"


def summarize_judges(raw: Panel, ready: Panel, *, seed: int) -> JudgeSummary:
    """The figures for the ratings as given (`raw`) and, if ratings were put on a common scale of all
    judges, also for these (`ready`). A panel has the ratings of one question."""
    raw, ready = raw.by_sample.in_order_of_names(), ready.by_sample.in_order_of_names()
    units = raw.units
    n_judges, n_trials = raw.n_judges, units.shape[1]
    if n_judges < 2:
        note = "one judge has nobody to agree with"
        return JudgeSummary(raw.question, n_judges, n_trials, note=note)
    figures = _figures(raw, seed)
    is_scaled = ready.normalization != "none"
    items, outputs = _items_and_outputs(ready)
    reliability = panel_reliability(ready.units, items, outputs, seed=seed)
    return JudgeSummary(
        question=raw.question,
        n_judges=n_judges,
        n_trials=n_trials,
        **figures,
        normalized={"values": ready.normalization, **_figures(ready, seed)} if is_scaled else None,
        reliability=_bounds(reliability.reliability),
        ceiling=_bounds(reliability.ceiling),
        note=_with_samples_noted(
            "; ".join(filter(None, (_few_shared(units, "r, κ and β"), _one_way(units)))),
            units,
            n_outputs=len(set(outputs.tolist())),
        ),
    )


def summarize_choosers(question: str, choices: Sequence[Preference]) -> JudgeSummary:
    """Agreement on choices. A unit is an item with the two systems whose outputs were offered, and the
    number of their samples. A rating is 1 if the output of the first system (in alphabetical order) was
    chosen, 0 if the second, ½ if neither. If a judge chose twice, the mean is used."""
    choices = without_lone_samples(choices)
    judges = list(dict.fromkeys(choice.judge for choice in choices))
    shares_by_unit: dict[tuple[str, tuple[str, ...], str], dict[str, list[float]]] = {}
    for choice in choices:
        pair = (choice.system_a, choice.system_b)
        share_won = (
            SHARE_WON_BY_A[choice.choice]
            if pair == tuple(sorted(pair))
            else 1 - SHARE_WON_BY_A[choice.choice]
        )
        unit = shares_by_unit.setdefault((choice.item, tuple(sorted(pair)), choice.sample), {})
        unit.setdefault(choice.judge, []).append(share_won)
    units = np.full((len(judges), len(shares_by_unit)), np.nan)
    row_of = {judge: row for row, judge in enumerate(judges)}
    for column, unit in enumerate(shares_by_unit.values()):
        for judge, values in unit.items():
            units[row_of[judge], column] = sum(values) / len(values)
    summary = _summary_of_categories(question, units, values="choices")
    n_pairs_of_outputs = len({(item, pair) for item, pair, _ in shares_by_unit})
    note = _with_samples_noted(summary.note, units, n_outputs=n_pairs_of_outputs)
    return replace(summary, note=note)


def summarize_labels(question: str, answers: Sequence[Judgment]) -> JudgeSummary:
    """Agreement on labels. A unit is an output, or a sample of it. If a judge labeled it twice, the
    first label counts."""
    answers = without_lone_samples(answers)
    row_of = {
        judge: row for row, judge in enumerate(dict.fromkeys(answer.judge for answer in answers))
    }
    trials = dict.fromkeys((answer.system, answer.item, answer.sample) for answer in answers)
    column_of = {trial: column for column, trial in enumerate(trials)}
    code_of = {
        label: code for code, label in enumerate(dict.fromkeys(answer.value for answer in answers))
    }
    units = np.full((len(row_of), len(column_of)), np.nan)
    for answer in reversed(answers):
        column = column_of[answer.system, answer.item, answer.sample]
        units[row_of[answer.judge], column] = code_of[answer.value]
    return _summary_of_categories(question, units, values="labels")


def _summary_of_categories(question: str, units: Floats, *, values: str) -> JudgeSummary:
    """The agreement on codes of categories (judges × units); `values` names what the codes are."""
    note = (
        "one judge has nobody to agree with"
        if len(units) < 2
        else _few_shared(units, "values of κ")
    )
    kappas = pairwise_kappas(units, fewest=MIN_SHARED_UNITS)
    return JudgeSummary(
        question,
        len(units),
        units.shape[1],
        kappa=kappas.mean if kappas.n_pairs else None,
        alpha=_known(krippendorff_alpha(units, level="nominal").value),
        values=values,
        scale="nominal",
        note=note,
    )


def _figures(panel: Panel, seed: int) -> dict[str, Any]:
    """All figures of agreement on a panel's ratings. All measure disagreement by squared differences
    of the ratings: κ with quadratic weights, α and β for interval data. For answers yes and no they
    equal the figures for categories."""
    units = panel.units
    rated = np.asarray((~np.isnan(units)).any(axis=1))
    rated_units = units if rated.all() else units[rated]
    rating_judges = [
        name for name, has_ratings in zip(panel.judges, rated, strict=True) if has_ratings
    ]
    pairs = pairwise_correlations(rated_units, fewest=MIN_SHARED_UNITS)
    kappas = pairwise_kappas(rated_units, weights="quadratic", fewest=MIN_SHARED_UNITS)
    against_rest = judges_against_rest(rated_units)
    intraclass = intraclass_correlations(rated_units)
    return {
        "pairwise": {"mean": pairs.mean, "min": pairs.min, "max": pairs.max, "sd": pairs.sd}
        if pairs.n_pairs
        else None,
        "split_half": _known(split_half(rated_units, split=_split(rated_units), seed=seed).value),
        "kappa": kappas.mean if kappas.n_pairs else None,
        "alpha": _known(krippendorff_alpha(rated_units, level="interval").value),
        "beta": _known(interval_beta(rated_units, fewest=MIN_SHARED_UNITS).value),
        "icc": {
            name: {key: value for key, value in asdict(row).items() if key in ICC_KEYS}
            for name, row in intraclass.rows.items()
        }
        or None,
        "against_rest": {
            judge: entry.correlation.value
            for judge, entry in zip(rating_judges, against_rest, strict=True)
        },
    }


ICC_KEYS = ("value", "low", "high", "k")
"""The fields of an intraclass correlation that results show."""


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value


def _bounds(estimate: Estimate) -> dict[str, Any]:
    return {
        "value": _known(estimate.value),
        "low": estimate.low,
        "high": estimate.high,
        "method": estimate.method,
    }


def _items_and_outputs(panel: Panel) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The numbers of the item and of the output of each of the panel's units."""
    flat = panel.ratings.reshape(len(panel.judges), -1)
    is_rated = ~np.isnan(flat).all(axis=0)
    number_of = {item: number for number, item in enumerate(dict.fromkeys(panel.items))}
    numbers = np.array([number_of[item] for item in panel.items], dtype=np.intp)
    items: NDArray[np.intp] = np.tile(numbers, len(panel.systems))
    systems = np.repeat(np.arange(len(panel.systems)), len(panel.items))
    return items[is_rated], (systems * len(number_of) + items)[is_rated]


def _few_shared(units: Floats, figures: str) -> str:
    """A note on the pairs of judges that share too few units for the figures named in `figures`; empty
    if there are no such pairs."""
    n_judges = int((~np.isnan(units)).any(axis=1).sum())
    pairs = sharing_pairs(units, fewest=MIN_SHARED_UNITS)
    if not len(pairs):
        return f"no two judges share the {MIN_SHARED_UNITS} trials that {figures} need"
    rule_note = f"for {figures}, {pairs.sampling_note}" if pairs.sampling_note else ""
    n_few = n_judges * (n_judges - 1) // 2 - pairs.n_sharing
    # If only some judges were drawn, `n_sharing` does not count the pairs of the others.
    if not n_few or pairs.n_judges < pairs.n_able:
        return rule_note
    left_out = (
        f"{counted(n_few, 'pair')} of judges {'shares' if n_few == 1 else 'share'} fewer than "
        f"{MIN_SHARED_UNITS} trials and {'is' if n_few == 1 else 'are'} not in {figures}"
    )
    return "; ".join(filter(None, (left_out, rule_note)))


def _with_samples_noted(note: str, units: Floats, *, n_outputs: int) -> str:
    """The note, with a remark if there are more units than outputs (or pairs of outputs), because
    several samples of one were judged."""
    if units.shape[1] == n_outputs or len(units) < 2:
        return note
    if not ((~np.isnan(units)).sum(axis=0) > 1).any():
        return NO_SHARED_SAMPLE
    return "; ".join(filter(None, (note, SAMPLES_ARE_TRIALS)))


def _one_way(units: Floats) -> str:
    """A note on which ICC was computed, where not every judge rated every trial; else empty."""
    missing = np.isnan(units)
    return (
        "not every judge rated every trial, so the ICC is the one-way ICC1"
        if missing[~missing.all(axis=1)].any()
        else ""
    )


def _split(units: Floats) -> Literal["judges", "units"]:
    """What split-half reliability divides into halves: the judges or, where few judges share a trial,
    the ratings of each trial."""
    return "judges" if (~np.isnan(units)).mean() >= MIN_SHARE_TO_SPLIT_JUDGES else "units"


def outlying_judges(panel: Panel, *, below: float) -> list[Exclusion]:
    """The judges whose correlation with the mean of the others is lower than `below`.

    Ratings are first put on a common scale, so that no judge weighs more by using more of the scale.
    """
    units = normalized(panel, "z").by_sample.units
    return [
        Exclusion(
            panel.question,
            f"correlates {entry.correlation.value:.2f} with the other judges, below {below:g}",
            judge=judge,
        )
        for judge, entry in zip(panel.judges, judges_against_rest(units), strict=True)
        if entry.correlation.value < below
    ]


def question_correlations(panels: Mapping[str, Panel]) -> list[dict[str, Any]]:
    """Correlations between questions, over the mean ratings of the trials that have both."""
    names = list(panels)
    rows = np.stack([panels[name].means.ravel() for name in names])
    return [
        {
            "questions": [names[pair.first], names[pair.second]],
            "coefficient": "pearson",
            "value": pair.estimate.value,
            "n": pair.estimate.n,
        }
        for pair in pair_correlations(rows)
    ]


def ceiling(summary: JudgeSummary) -> float | None:
    """The expected correlation of a perfect metric, which knows the mean opinion of all possible
    judges, with the mean ratings of these judges. It is below 1 because mean ratings have noise. An
    observed correlation may be higher by chance.

    The correlation between two single judges is not a ceiling: the mean of their ratings has less
    noise than the ratings of one judge, so a metric can correlate with the mean more than the judges
    do with each other.
    """
    return summary.ceiling["value"] if summary.ceiling is not None else None
