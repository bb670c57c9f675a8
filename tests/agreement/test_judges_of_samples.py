"""Judges of different samples of an output did not judge the same thing, so they are not compared."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest

import wellput
from wellput.agreement.judges import (
    NO_SHARED_SAMPLE,
    SAMPLES_ARE_TRIALS,
    outlying_judges,
    summarize_choosers,
    summarize_judges,
)
from wellput.agreement.panel import Exclusion, Panel, normalized, panels, selection_ratings
from wellput.agreement.preferences import verdict_rows
from wellput.agreement.result import JudgeSummary
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment, PairwiseChoice, Preference
from wellput.stats.judges.reliability import panel_reliability

N_ITEMS, SYSTEMS = 20, ("A", "B")
ITEMS = [f"i{number}" for number in range(N_ITEMS)]
WORTH = np.random.default_rng(4).integers(1, 8, (2, len(SYSTEMS), N_ITEMS))
"""The quality of both samples of each output: samples × systems × items."""


def rated(judge: str, sample: int, *, noise: int = 0, is_named: bool = True) -> list[Judgment]:
    """A judge's ratings of this sample of each output, with errors of at most `noise`."""
    errors = np.random.default_rng([*judge.encode(), sample]).integers(
        -noise, noise + 1, (2, N_ITEMS)
    )
    return [
        Judgment(
            judge,
            item,
            system,
            "q",
            float(WORTH[sample, row, column] + errors[row, column]),
            {"sample": str(sample)} if is_named else {},
        )
        for row, system in enumerate(SYSTEMS)
        for column, item in enumerate(ITEMS)
    ]


def panel_of(answers: list[Judgment], items: list[str] = ITEMS) -> Panel:
    return panels(answers, SYSTEMS, items)["q"]


def summary(answers: list[Judgment], items: list[str] = ITEMS) -> JudgeSummary:
    raw = panel_of(answers, items)
    return summarize_judges(raw, normalized(raw, "z"), seed=1)


def figures(found: JudgeSummary) -> dict[str, object]:
    """All figures but those of the mean rating of an output."""
    fields = asdict(found)
    return {key: fields[key] for key in fields if key not in ("reliability", "ceiling", "note")}


def test_judges_without_a_common_sample_have_no_figures() -> None:
    texts = [["good " * n + "." for n in samples] for samples in WORTH.reshape(2, -1).T.tolist()]
    outputs = np.array([tuple(own) for own in texts], dtype="U99").reshape(2, N_ITEMS, 2)
    evalset = EvalSet(
        [
            Item(item, {s: tuple(outputs[row, column]) for row, s in enumerate(SYSTEMS)}, ("good",))
            for column, item in enumerate(ITEMS)
        ]
    )
    result = wellput.agree(evalset, rated("x", 0) + rated("y", 1), "length-only")
    (found,) = result.judges
    assert (found.n_judges, found.n_trials) == (2, 2 * len(SYSTEMS) * N_ITEMS)
    assert found.note == NO_SHARED_SAMPLE
    for values in (asdict(found), found.normalized):
        assert values is not None
        names = ("pairwise", "split_half", "kappa", "alpha", "beta", "icc")
        assert [values[name] for name in names] == [None] * 6
    assert found.ceiling is not None and found.ceiling["value"] is None
    # A metric is still compared with the mean over the samples.
    (row,) = result.agreement
    assert row.value > 0.95 and row.n == len(SYSTEMS) * N_ITEMS


def test_a_sample_is_a_trial() -> None:
    """Judges of the same samples agree as on items of their own."""
    answers = [
        *rated("x", 0, noise=1),
        *rated("y", 0, noise=1),
        *rated("y", 1),
        *rated("z", 1, noise=2),
    ]
    found = summary(answers)
    apart = [replace(a, item=f"{a.item} {a.sample}", extra={}) for a in answers]
    expected = summary(apart, [f"{item} {sample}" for item in ITEMS for sample in "01"])
    assert figures(found) == figures(expected)
    assert found.alpha is not None and found.alpha > 0.5
    assert found.note.endswith(SAMPLES_ARE_TRIALS)


def test_one_judged_sample_of_each_output_changes_nothing() -> None:
    named, plain = (
        [a for judge in "xyz" for a in rated(judge, 1, noise=1, is_named=is_named)]
        for is_named in (True, False)
    )
    assert panel_of(named).samples is None
    assert summary(named) == summary(plain)


def test_the_order_of_answers_changes_no_figure() -> None:
    answers = [a for judge in "xyz" for sample in (0, 1) for a in rated(judge, sample, noise=2)]
    assert summary(answers) == summary(answers[::-1])


def test_exclusions_also_hold_for_samples() -> None:
    answers = [a for judge in "xyz" for sample in (0, 1) for a in rated(judge, sample, noise=1)]
    panel = panel_of(answers)
    for exclusion in (
        Exclusion("q", "late", judge="x"),
        Exclusion("q", "broken", item="i3"),
        Exclusion("q", "broken", system="A", item="i3"),
    ):
        left = panel.without(exclusion)
        kept = [
            a
            for a in answers
            if not (
                exclusion.judge in (None, a.judge)
                and exclusion.system in (None, a.system)
                and exclusion.item in (None, a.item)
            )
        ]
        found = summarize_judges(left, normalized(left, "z"), seed=1)
        assert figures(found) | {"against_rest": {}} == figures(summary(kept)) | {
            "against_rest": {}
        }


def test_a_judge_who_cannot_be_normalized_is_left_out_of_both() -> None:
    # y rated the samples of every output 1 and 3: the mean is always 2.
    of_y = [replace(a, judge="y", value=1.0 + 2 * s) for s in (0, 1) for a in rated("x", s)]
    ready = normalized(panel_of([*rated("x", 0), *rated("x", 1), *of_y]), "z")
    assert ready.n_judges == ready.by_sample.n_judges == 1


def test_judges_of_another_sample_are_not_outliers() -> None:
    answers = [*rated("x", 0), *rated("y", 0, noise=1), *rated("z", 1)]
    assert outlying_judges(panel_of(answers), below=0.7) == []
    # Without the column, z's ratings would be about the same texts.
    unnamed = [replace(answer, extra={}) for answer in answers]
    assert "z" in {exclusion.judge for exclusion in outlying_judges(panel_of(unnamed), below=0.7)}


def chosen(judge: str, sample: int) -> list[Preference]:
    """The choices of a judge who sees what is better, among these samples of both systems."""
    choices: list[Preference] = []
    for column, item in enumerate(ITEMS):
        a, b = WORTH[sample, :, column]
        choice: PairwiseChoice = "tie" if a == b else "a" if a > b else "b"
        choices.append(Preference(judge, item, "A", "B", "q", choice, {"sample": str(sample)}))
    return choices


def test_choices_between_different_samples_are_not_compared() -> None:
    found = summarize_choosers("q", [*chosen("x", 0), *chosen("y", 1)])
    assert (found.kappa, found.alpha, found.n_trials) == (None, None, 2 * N_ITEMS)
    assert found.note == NO_SHARED_SAMPLE
    found = summarize_choosers("q", [*chosen("x", 0), *chosen("y", 1), *chosen("z", 1)])
    assert (found.kappa, found.alpha) == (1, 1)
    assert found.note.endswith(SAMPLES_ARE_TRIALS)


def test_ratings_made_of_choices_keep_the_sample() -> None:
    assert {rating.sample for rating in selection_ratings(chosen("x", 1))} == {"1"}


def test_verdicts_on_samples_are_cases_of_their_own() -> None:
    answers = [
        Judgment(judge, item, "kept", "q", float(sample), {"sample": str(sample)})
        for judge in "xy"
        for sample in (0, 1)
        for item in ITEMS
    ]
    panel = panels(answers, ["kept", "refused"], ITEMS)["q"]
    rows = list(verdict_rows([panel.by_sample], {"wordnet": dict.fromkeys(ITEMS, True)}))
    assert [(row["accuracy"], row["n"], row["kappa"]) for row in rows] == [
        (0.5, 2 * N_ITEMS, 1)
    ] * 2


def drawn(design: str, seed: int) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """The correlation of the true means of outputs with their mean ratings; ratings (judges × units),
    the output of each unit, and each judge's means (judges × outputs). There are two samples of each
    output. A judge's taste for an output is the same for both."""
    rng = np.random.default_rng(seed)
    n_judges, n_outputs, n_samples = 4, 2_000, 2
    shape = (n_judges, n_outputs, n_samples)
    true = rng.normal(size=(n_outputs, 1)) + 0.7 * rng.normal(size=(n_outputs, n_samples))
    taste = 0.6 * rng.normal(size=(n_judges, n_outputs, 1))
    ratings = true + taste + 0.8 * rng.normal(size=shape)
    judge_sees = np.zeros(shape, bool)
    if design == "all samples":
        judge_sees[:] = True
    elif design == "a drawn sample":
        judge_sees[:] = np.arange(n_samples) == rng.integers(n_samples, size=(*shape[:2], 1))
    elif design == "two judges a sample":
        judge_sees[:] = np.arange(n_samples) == (np.arange(n_judges) // 2)[:, None, None]
    else:
        judge_sees[:2] = np.arange(n_samples) == np.arange(2)[:, None, None]
        ratings, judge_sees = ratings[:2], judge_sees[:2]
    ratings = np.where(judge_sees, ratings, np.nan)
    of_judges = np.nanmean(ratings, axis=2)
    of_truth = np.nanmean(np.where(judge_sees, true, np.nan), axis=2).mean(axis=0)
    reached = float(np.corrcoef(of_truth, of_judges.mean(axis=0))[0, 1])
    units = ratings.reshape(len(ratings), -1)
    is_rated = ~np.isnan(units).all(axis=0)
    outputs = np.repeat(np.arange(n_outputs), n_samples)
    return reached, units[:, is_rated], outputs[is_rated], of_judges


@pytest.mark.parametrize("design", ["all samples", "a drawn sample", "two judges a sample"])
def test_the_ceiling_is_that_of_the_means_over_samples(design: str) -> None:
    reached, units, outputs, of_judges = drawn(design, seed=1)
    found = panel_reliability(units, outputs, outputs).ceiling
    assert found.value == pytest.approx(reached, abs=0.008)
    assert found.low is not None and found.high is not None
    assert found.low < reached < found.high
    # As if all judges of an output had rated the same thing; true only if they did.
    as_outputs = panel_reliability(of_judges).ceiling.value
    if design == "all samples":
        assert found.value == pytest.approx(as_outputs, abs=1e-9)
    else:
        assert as_outputs < reached - 0.015


def test_without_a_shared_sample_there_is_no_ceiling() -> None:
    _, units, outputs, of_judges = drawn("different samples", seed=1)
    found = panel_reliability(units, outputs, outputs)
    assert np.isnan(found.ceiling.value) and "ratings of two judges" in found.ceiling.method
    assert panel_reliability(of_judges).ceiling.value > 0.5
