"""The result of vetting a judge in words. No sentence claims more than the figures show.

In the alternative annotator test, the test that takes whole items as clusters decides where items have
several trials. The published test, which takes all trials as independent, is then only mentioned.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from wellput.agreement.machines.biases import SystemSeverity
from wellput.agreement.rankings.plain_ranking import listed
from wellput.core.errors import counted
from wellput.core.estimates import Estimate
from wellput.stats.corrections import holm
from wellput.stats.judges.alternative_annotator import MIN_PEOPLE_TESTED, AlternativeAnnotatorTest

if TYPE_CHECKING:
    from wellput.agreement.machines.vetting import VetResult

MAX_NAMED_SYSTEMS = 3
MAX_NAMED_PEOPLE = 8


def verdict_sentences(result: VetResult) -> list[str]:
    """The sentences of the verdict: first the answer, then its limits."""
    return [
        _answer(result),
        *_copy_sentence(result),
        *_agreement_sentence(result),
        *_means_sentence(result),
        *_order_sentence(result),
        *_bias_sentences(result),
    ]


def uneven_systems(result: VetResult) -> list[SystemSeverity]:
    """The systems that the judge treats significantly differently from the others, the most extreme
    first."""
    judged = result.biases.by_system
    if len(judged) < 2:
        return []  # a single system has no others to compare with
    rows = [row for row in judged if _is_shown(_tested(row), result)]
    return sorted(rows, key=lambda row: -abs(_tested(row).value))


def _tested(row: SystemSeverity) -> Estimate:
    """What is tested: the deviation from the average of all systems; the severity where there is
    none. Above 0, the judge gives more points than people do."""
    return row.deviation or row.severity


def _is_shown(estimate: Estimate, result: VetResult) -> bool:
    """Whether the estimate differs significantly from 0."""
    p = estimate.p_value if estimate.p_adjusted is None else estimate.p_adjusted
    return p is not None and p < 1 - result.confidence


def _answer(result: VetResult) -> str:
    """The first sentence: whether the judge may judge in place of people, by the alternative
    annotator test."""
    test = result.alt_test
    if test.passed is None:
        advice = "min_items= sets how many are needed."  # the keyword of the API for `min_trials`
        if (lower := test.lower_min_trials) is not None:
            advice = f"min_items={lower.min_trials} would test {_people(lower.n_people)}."
        return (
            f"Whether {result.judge} may stand in for people cannot be said: nobody has at least "
            f"{test.min_trials} trials with another person and the judge ({untested_people(result)}). "
            f"{advice}"
        )
    n_beaten = sum(person.is_beaten for person in test.people)
    people = _people(len(test.people))
    if not test.has_enough_people:
        return _no_verdict(result, f"it beat {n_beaten} of {people} tested")
    test_result = (
        f"it beat {n_beaten} of {people} ({_allowance(test)}{_published(test)}), and the test asks for "
        "half of them"
    )
    if not test.passes_deciding_test:
        return (
            f"{result.judge} is not shown to be able to stand in for a person: in the alternative "
            f"annotator test {test_result}."
        )
    if doubt := _doubt(result):
        return (
            f"{result.judge} passes the alternative annotator test ({test_result}), but {doubt}. It "
            "should not stand in for anyone."
        )
    uses = _uses(result)
    return (
        f"{result.judge} may stand in for one of these people on items like these{uses}: in the "
        f"alternative annotator test {test_result}."
    )


def _allowance(test: AlternativeAnnotatorTest) -> str:
    return f"allowance: a person's share of nearer answers may be up to {test.epsilon:g} higher"


def _published(test: AlternativeAnnotatorTest) -> str:
    """The result of the published test, if it differs from the test that is used here."""
    n_beaten = sum(person.is_beaten_in_published_test for person in test.people)
    if n_beaten == sum(person.is_beaten for person in test.people):
        return ""
    return f"; {n_beaten} by the published test, which takes trials of the same item as independent"


def _doubt(result: VetResult) -> str:
    """Why a judge that passed the test may be useless: its answers are not shown to agree with
    people's. Empty if they are."""
    agreement = result.agreement
    are_labels = result.alt_test.scoring != "neg_rmse"
    estimate = agreement.beyond_chance if are_labels else agreement.judge
    if estimate is None:
        return "its answers cannot be compared with people's"
    if math.isnan(estimate.value):
        if are_labels:
            return "all answers are equal: whether it would notice a difference is not shown"
        return (
            "its answers, or people's, do not differ enough to be compared: any answer near the middle "
            "may pass"
        )
    if _is_above_zero(estimate):
        return ""
    interval = "no interval" if estimate.low is None else signed_interval(estimate)
    if are_labels:
        return (
            f"is not shown to agree with people more than by chance (κ = {shown(estimate.value)}, "
            f"{interval}): where people disagree much, the answer that most people give passes"
        )
    return (
        f"is not shown to agree with people (r = {shown(estimate.value)} {interval}): where people "
        "disagree much, any answer near the middle passes"
    )


def _is_above_zero(agreement: Estimate) -> bool:
    """Whether agreement is significantly above 0. Perfect agreement counts, although it has no
    interval."""
    if agreement.low is None:
        return agreement.value > 1 - 1e-9
    return agreement.low > 0


def _people(n: int) -> str:
    return counted(n, "person").replace("persons", "people")


def _no_verdict(result: VetResult, found: str) -> str:
    """The answer if too few people were tested. `found` is a clause with the test's result."""
    test = result.alt_test
    tested, untested = len(test.people), test.untested
    start = f"This is no verdict on whether {result.judge} may stand in for people: "
    if not untested:
        return (
            f"{start}only {_people(tested)} shared trials with it and with each other, and the test "
            f"needs {MIN_PEOPLE_TESTED}. In the alternative annotator test {found} "
            f"({_allowance(test)})."
        )
    verb = "has" if tested == 1 else "have"
    advice = ""
    if (lower := test.lower_min_trials) is not None:
        advice = f"; min_items={lower.min_trials} would test {lower.n_people}"
    return (
        f"{start}only {tested} of {_people(tested + len(untested))} {verb} at least "
        f"{test.min_trials} trials with the judge, so nothing can be said of the others "
        f"({untested_people(result)}){advice}. In the alternative annotator test {found} "
        f"({_allowance(test)})."
    )


def untested_people(result: VetResult) -> str:
    """The people who had too few trials, each with the number of their trials: `Kim 26, Lee 29
    trials`."""
    names_and_counts = [
        f"{result.people[judge]} {n}" for judge, n in result.alt_test.untested[:MAX_NAMED_PEOPLE]
    ]
    n_more = len(result.alt_test.untested) - len(names_and_counts)
    return (
        ", ".join(names_and_counts) + " trials" + (f", and {n_more} more people" if n_more else "")
    )


def _uses(result: VetResult) -> str:
    """The use to which the judge is limited, as in `, for ranking systems, not for their means`; or
    empty."""
    if uneven_systems(result):
        return ", but not for comparing systems without correction"
    overall = result.biases.severity
    if overall is not None and _is_shown(overall, result):
        return ", for ranking systems, not for their means"
    return ""


def _agreement_figures(result: VetResult) -> str:
    people, judge = (
        shown(estimate.value) for estimate in (result.agreement.people, result.agreement.judge)
    )
    if result.alt_test.scoring == "accuracy":
        return f"{judge} of answers are equal, {people} between people"
    return f"r = {judge}, {people} between people"


def _agreement_sentence(result: VetResult) -> list[str]:
    """Whether the judge agrees more or less with people than they do with each other; empty if no
    difference is shown. If the judge passed the test but agrees less, the sentence is a warning."""
    agreement, test = result.agreement, result.alt_test
    if not _is_shown(agreement.difference, result):
        return []
    figures = _agreement_figures(result)
    if (
        agreement.difference.value < 0
        and test.has_enough_people
        and test.passes_deciding_test
        and not _doubt(result)
    ):
        return [
            f"But it agrees less with people than they do with each other ({figures}): the test counts "
            "how often its answer is nearer to theirs than a person's, not by how much."
        ]
    more = "more" if agreement.difference.value > 0 else "less"
    return [f"It agrees {more} with people than they do with each other ({figures})."]


def _copy_sentence(result: VetResult) -> list[str]:
    """A warning if the judge agrees better than a perfect judge would: then it has probably seen the
    answers."""
    # The correlations of the judge, and of a perfect judge, with the mean of people's answers.
    panel, ceiling = result.panel, result.ceiling
    if panel is None or ceiling is None or ceiling.high is None or not panel.value > ceiling.value:
        return []
    # A perfect correlation (except for rounding) has no interval.
    is_above = panel.value > 1 - 1e-9 or (panel.low is not None and panel.low > ceiling.high)
    if not is_above:
        return []
    return [
        f"It agrees with the mean of these people (r = {shown(panel.value)}) better than a perfect "
        f"judge would ({shown(ceiling.value)}): it may have been made from these judgments. Then "
        "nothing here says how good it is."
    ]


def _means_sentence(result: VetResult) -> list[str]:
    """Sentences on severity, over all systems and towards single systems."""
    unit = "share of wins" if result.kind == "choices" else "points"
    uneven = uneven_systems(result)
    sentences: list[str] = []
    overall = result.biases.severity
    if overall is not None and _is_shown(overall, result):
        more = "more" if overall.value > 0 else "less"
        # A significant severity has no interval only if it is the same for all items.
        interval = signed_interval(overall) or "on average, for every item alike"
        sentences.append(
            f"It gives {shown(abs(overall.value))} points {more} than people do {interval}."
        )
    if uneven:
        parts = [
            f"{row.system} {shown(tested.value, sign=True)} {signed_interval(tested)}".rstrip()
            for row in uneven[:MAX_NAMED_SYSTEMS]
            for tested in [_tested(row)]
        ]
        n_more = len(uneven) - len(parts)
        parts += [f"{n_more} more"] if n_more > 0 else []
        note = "" if result.kind == "choices" else ", compared with its average"
        sentences.append(
            f"It treats systems differently from people ({unit}{note}): {listed(parts)}. "
            "A few of people's judgments correct for this: `wellput estimate`."
        )
    return sentences


def _order_sentence(result: VetResult) -> list[str]:
    """How many pairs of systems the judge orders as people do; empty if people tell none apart."""
    pairs = result.pairs
    if pairs is None or not pairs.pairs:
        return []
    noun = "pair of systems" if pairs.pairs == 1 else "pairs of systems"
    tied = f"; to {pairs.tied} it gives equal means" if pairs.tied else ""
    start = f"Of the {pairs.pairs} {noun} that these people tell apart"
    return [f"{start}, it orders {pairs.right} as they do{tied}."]


def _bias_sentences(result: VetResult) -> list[str]:
    """Sentences on the biases of length, position and self-preference, with corrected p-values."""
    biases = result.biases
    unit = "" if result.kind == "choices" else " points"
    bias_by_name = {
        "length": biases.length,
        "position": biases.position,
        "self_preference": biases.self_preference,
    }
    measured = {name: estimate for name, estimate in bias_by_name.items() if estimate is not None}
    p_values = np.array([np.nan if e.p_value is None else e.p_value for e in measured.values()])
    adjusted = dict(zip(measured, holm(p_values), strict=True))
    sentences = []
    for name, estimate in measured.items():
        if not adjusted[name] < 1 - result.confidence:
            continue
        size = f"{shown(abs(estimate.value))}{unit} {signed_interval(estimate)}"
        if name == "length":
            direction = "longer" if estimate.value > 0 else "shorter"
            sentences.append(
                f"It favors {direction} outputs: {size} for each doubling of the length."
            )
        elif name == "position" and result.kind != "choices":
            direction = "earlier" if estimate.value > 0 else "later"
            sentences.append(f"It favors outputs shown {direction}: {size} for each place.")
        elif name == "position":
            direction = "first" if estimate.value > 0 else "last"
            sentences.append(f"It favors the output shown {direction}, by {size}.")
        else:
            verb = "favors" if estimate.value > 0 else "disfavors"
            sentences.append(f"It {verb} outputs of its own family, by {size}.")
    not_shown = [
        name.replace("_", "-") for name in measured if not adjusted[name] < 1 - result.confidence
    ]
    if not_shown:
        sentences.append(
            f"No bias is shown in {listed(not_shown)}. That does not prove that there is none; the "
            "interval says how large it may be."
        )
    return sentences


def shown(value: float, *, sign: bool = False) -> str:
    """The number with two decimals, and with a typographic minus sign."""
    if math.isnan(value):
        return "–"
    return f"{value:{'+' if sign else ''}.2f}".replace("-", "−")


def signed_interval(estimate: Estimate) -> str:
    """The interval as `[low, high]`, both with a sign, even if the sentence gives the value without its
    sign."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"[{shown(estimate.low, sign=True)}, {shown(estimate.high, sign=True)}]"
