"""How far judges agree: all figures use the same values, and enough shared trials."""

from __future__ import annotations

import numpy as np
import pytest
from krippendorff import alpha as krippendorffs_alpha

from wellput.agreement.judges import ceiling, summarize_choosers, summarize_judges
from wellput.agreement.panel import Exclusion, Panel, normalized
from wellput.agreement.result import JudgeSummary
from wellput.core.judgment import PairwiseChoice, Preference
from wellput.core.metric import Floats
from wellput.stats.judges.kappa import cohen_kappa


def panel(ratings: Floats) -> Panel:
    judges, systems, items = (
        tuple(f"{kind}{number}" for number in range(size))
        for kind, size in zip("jsi", ratings.shape, strict=True)
    )
    return Panel("quality", judges, systems, items, ratings)


def summary(ratings: Floats, *, scaled: bool = True) -> JudgeSummary:
    raw = panel(ratings)
    return summarize_judges(raw, normalized(raw, "z" if scaled else "none"), seed=1)


def severe(n_judges: int = 4, n_items: int = 30) -> Floats:
    """Judges who agree on what is better, but not on how good anything is."""
    rng = np.random.default_rng(2)
    worth = rng.normal(0, 1, (1, 2, n_items))
    severity = np.linspace(-4, 4, n_judges)[:, None, None]
    return worth + severity + rng.normal(0, 0.4, (n_judges, 2, n_items))


def test_the_order_of_judges_systems_and_items_changes_no_figure() -> None:
    """Some figures draw groups of judges, items or answers at random."""
    rng = np.random.default_rng(3)
    first = panel(
        rng.normal(size=(4, 3, 1)) + severe(n_items=60)[:, :1] + rng.normal(size=(4, 3, 60))
    )
    orders = [rng.permutation(size) for size in first.ratings.shape]
    names = (first.judges, first.systems, first.items)
    judges, systems, items = (
        tuple(own[place] for place in order) for own, order in zip(names, orders, strict=True)
    )
    second = Panel("quality", judges, systems, items, first.ratings[np.ix_(*orders)])
    found, again = (summarize_judges(one, one, seed=1) for one in (first, second))
    assert found.ceiling is not None
    assert found.ceiling["low"] is not None
    assert found == again


def test_figures_beside_each_other_are_on_the_same_values() -> None:
    found = summary(severe())
    assert found.values == "as given"
    assert found.normalized is not None and found.normalized["values"] == "z"
    assert found.pairwise is not None
    # As given, severity is disagreement for κ, α, β and ICC2; correlations ignore it.
    assert found.icc is not None
    as_given = (found.alpha, found.kappa, found.beta, found.icc["ICC2"]["value"])
    assert all(figure is not None and figure < 0.3 for figure in as_given)
    assert found.icc["ICC3"]["value"] > 0.7
    # On a common scale they equal the correlations.
    same = [found.normalized[name] for name in ("alpha", "kappa", "beta")]
    same.append(found.normalized["icc"]["ICC2"]["value"])
    assert same == pytest.approx([found.normalized["pairwise"]["mean"]] * 4, abs=0.02)


def test_alpha_is_krippendorffs_on_either_values() -> None:
    ratings = severe()
    ratings[1, 0, :5] = np.nan
    found = summary(ratings)
    raw = panel(ratings)
    assert found.alpha == pytest.approx(
        krippendorffs_alpha(raw.units, level_of_measurement="interval")
    )
    assert found.normalized is not None
    assert found.normalized["alpha"] == pytest.approx(
        krippendorffs_alpha(normalized(raw, "z").units, level_of_measurement="interval")
    )


def test_yes_and_no_have_the_figures_of_categories() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random((1, 2, 40)) < 0.6
    ratings = (truth ^ (rng.random((2, 2, 40)) < 0.15)).astype(np.float64)
    found = summary(ratings, scaled=False)
    assert found.normalized is None
    units = panel(ratings).units
    assert found.kappa == pytest.approx(cohen_kappa(*units).value)
    assert found.beta == pytest.approx(found.kappa)
    nominal = krippendorffs_alpha(units, level_of_measurement="nominal")
    assert found.alpha == pytest.approx(nominal)


def test_three_shared_trials_are_not_enough() -> None:
    """Neighbors in a chain of judges share three trials: their correlations would be −1 to 1."""
    rng = np.random.default_rng(1)
    ratings = np.full((6, 1, 60), np.nan)
    worth = rng.normal(size=60)
    for judge in range(6):
        there = slice(8 * judge, 8 * judge + 11)
        ratings[judge, 0, there] = worth[there] + rng.normal(0, 0.5, 11)
    found = summary(ratings)
    assert (found.pairwise, found.kappa, found.beta) == (None, None, None)
    assert "no two judges share the 10 trials that r, κ and β need" in found.note
    assert found.alpha is not None and found.icc is not None
    assert list(found.icc) == ["ICC1", "ICC1k"]
    assert "the ICC is the one-way ICC1" in found.note


def test_some_pairs_that_share_too_little_are_counted() -> None:
    ratings = severe(n_judges=3)
    ratings[2, :, 4:] = np.nan
    found = summary(ratings)
    assert "2 pairs of judges share fewer than 10 trials and are not in r, κ and β" in found.note
    assert found.pairwise is not None
    assert found.pairwise["min"] == found.pairwise["max"]


def test_judges_whose_ratings_are_all_left_out_do_not_count() -> None:
    raw = panel(severe()).without(Exclusion("quality", "slept", judge="j3"))
    found = summarize_judges(raw, normalized(raw, "z"), seed=1)
    assert found.n_judges == 3
    assert list(found.against_rest) == ["j0", "j1", "j2"]
    assert raw.table().signature.startswith("judges:3|")


def test_the_ceiling_is_that_of_the_means_that_are_correlated() -> None:
    ratings = severe()
    ratings[:3, :, 15:] = np.nan  # half of the trials have one rating, by the mildest judge
    on_z, as_given = summary(ratings), summary(ratings, scaled=False)
    assert on_z.ceiling is not None and as_given.ceiling is not None
    # Where judges keep their scales, their severity is noise in the means.
    assert on_z.ceiling["value"] > 0.85
    assert ceiling(on_z) == on_z.ceiling["value"]
    value = as_given.ceiling["value"]
    assert value is None or value < 0.5


def test_one_judge_has_nobody_to_agree_with() -> None:
    found = summary(severe(n_judges=1))
    assert (found.n_judges, found.alpha, ceiling(found)) == (1, None, None)
    assert found.note == "one judge has nobody to agree with"


def test_agreement_on_choices() -> None:
    # Twelve items, one pair, shown in either order. Both choose A on 1 to 6 and B on 7 to 10; they
    # differ on 11 and 12. κ: observed 10/12; the first says A 8/12, the second 6/12, so by chance
    # 8/12 · 6/12 + 4/12 · 6/12 = 1/2: (5/6 − 1/2) / (1/2) = 2/3.
    answers = []
    for judge, wins in (("J1", {1, 2, 3, 4, 5, 6, 11, 12}), ("J2", {1, 2, 3, 4, 5, 6})):
        for item in range(1, 13):
            is_turned = judge == "J2" and item % 2 == 0
            choice: PairwiseChoice = "a" if (item in wins) != is_turned else "b"
            pair = ("B", "A") if is_turned else ("A", "B")
            answers.append(Preference(judge, str(item), *pair, "better", choice))
    found = summarize_choosers("better", answers)
    assert (found.n_judges, found.n_trials, found.values, found.scale) == (
        2,
        12,
        "choices",
        "nominal",
    )
    assert found.kappa == pytest.approx(2 / 3)
    # α: 24 ratings, 14 for A; expected 2 · 14 · 10 / (24 · 23), observed 2/12.
    assert found.alpha == pytest.approx(1 - (2 / 12) / (2 * 14 * 10 / (24 * 23)))
    assert found.note == ""


def test_choices_of_judges_who_share_nothing() -> None:
    answers = [
        Preference(f"J{number}", str(number), "A", "B", "better", "a") for number in range(12)
    ]
    found = summarize_choosers("better", answers)
    assert (found.kappa, found.alpha) == (None, None)
    assert found.note == "no two judges share the 10 trials that values of κ need"
