"""Yes or no, grades and choices: against lme4, ordinal and BradleyTerry2, and against differences."""

from __future__ import annotations

import csv
from itertools import pairwise
from random import Random

import numpy as np
import pytest

import wellput
from tests.random_studies import study_of
from tests.stats.mixed_studies import GOLDEN, NAMES, golden, golden_columns, golden_design
from wellput.core.errors import InputError
from wellput.stats.mixed.equations import Codes, Floats, MixedDesign, crossed_codes
from wellput.stats.mixed.laplace import fit_binary, fit_choices, fit_ordinal
from wellput.stats.mixed.separation import Disconnected, Separated

R = golden("mixed_laplace.json")
CHOICES = golden("mixed_choices.json")
FLAT_GRADES = "342142112221322122213311243132123341432113312321231121312231"


@pytest.mark.parametrize("study", NAMES)
def test_binary_same_as_glmer(study: str) -> None:
    expected = R["binary"][study]
    found = fit_binary(golden_columns(study)["yes"], golden_design(study, expected["formula"]))
    assert found.criterion <= expected["criterion"] + 1e-5
    np.testing.assert_allclose(found.effects, expected["effects"], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(np.sqrt(np.diag(found.covariance)), expected["errors"], rtol=1e-3)
    for name, component in expected["components"].items():
        assert found.components[name] == pytest.approx(component, rel=1e-3, abs=1e-5), name


@pytest.mark.parametrize("study", NAMES)
def test_ordinal_same_as_clmm(study: str) -> None:
    expected = R["ordinal"][study]
    found = fit_ordinal(golden_columns(study)["grade"], golden_design(study, expected["formula"]))
    assert found.criterion <= expected["criterion"] + 1e-5
    n_systems = golden_design(study, expected["formula"]).n_systems
    # clmm's effects are differences from the first system, its thresholds are that system's.
    weights = np.eye(len(found.effects))[1:]
    weights[: n_systems - 1, 0] = -1
    contrasts = found.contrast(weights, is_restricted=False)
    np.testing.assert_allclose(contrasts.values, expected["effects"], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(contrasts.errors, expected["errors"], rtol=1e-3)
    thresholds = found.shape - found.effects[0]
    np.testing.assert_allclose(thresholds, expected["thresholds"], rtol=1e-3, atol=1e-4)
    for name, component in expected["components"].items():
        assert found.components[name] == pytest.approx(component, rel=1e-3, abs=1e-5), name


def choice_columns() -> dict[str, Codes]:
    with (GOLDEN / "mixed_choices.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([int(row[name]) for row in rows]) for name in rows[0]}


def chosen(*names: str) -> tuple[Floats, MixedDesign]:
    column = choice_columns()
    systems = np.stack([column["first"], column["second"]], axis=1) - 1
    factors = {
        f"{name}:system": crossed_codes(np.stack([column[name], column[name]], axis=1), systems)
        for name in names
    }
    length = column["length"][:, None].astype(float)
    return column["won"].astype(float), MixedDesign(systems, factors, length)


@pytest.mark.parametrize("kind", ["plain", "random"])
def test_choices_same_as_in_r(kind: str) -> None:
    expected = CHOICES[kind]
    found = fit_choices(*chosen(*(["judge", "item"] if kind == "random" else [])))
    weights = np.eye(6)[1:]
    weights[:4, 0] = -1
    contrasts = found.contrast(weights, is_restricted=False)
    assert found.criterion <= expected["criterion"] + 1e-6
    np.testing.assert_allclose(contrasts.values, expected["effects"], rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(contrasts.errors, expected["errors"], rtol=1e-3)
    for name, component in expected.get("components", {}).items():
        assert found.components[name] == pytest.approx(component, rel=1e-3), name


def test_ties_have_davidsons_likelihood() -> None:
    """Two systems, 5 wins, 2 defeats, 3 ties. Fitted chances are the shares: p1/p2 = exp(δ) = 5/2,
    and ν = p0 / sqrt(p1 p2) = 3 / sqrt(10)."""
    values = np.array([1.0] * 5 + [0.0] * 2 + [0.5] * 3)
    found = fit_choices(values, MixedDesign(np.tile([0, 1], (10, 1)), {}))
    assert found.effects[0] - found.effects[1] == pytest.approx(np.log(5 / 2), rel=1e-6)
    assert found.effects.sum() == pytest.approx(0, abs=1e-12)
    assert found.shape[0] == pytest.approx(np.log(3 / np.sqrt(10)), rel=1e-6)
    chances = np.array([5, 2, 3]) / 10
    assert found.criterion == pytest.approx(-2 * np.log(chances) @ [5, 2, 3], rel=1e-9)


def test_log_odds_of_shares() -> None:
    """Without random effects and covariates: log odds, with variance 1 / (n p (1 − p))."""
    found = fit_binary(
        np.array([1.0, 1, 1, 0, 1, 0]), MixedDesign(np.array([0, 0, 0, 0, 1, 1]), {})
    )
    np.testing.assert_allclose(found.effects, [np.log(3), 0], atol=1e-7)
    np.testing.assert_allclose(np.diag(found.covariance), [4 / 3, 2.0], rtol=1e-5)
    assert np.isinf(found.contrast(np.array([[1, -1]])).freedom).all()


@pytest.mark.parametrize("seed", range(3))
def test_ties_and_random_effects_at_a_maximum(seed: int) -> None:
    """The likelihood falls wherever the parameters move; covariance is the inverse of its curvature."""
    rng = np.random.default_rng(seed)
    values, design = chosen("judge", "item")
    values = np.where(rng.random(len(values)) < 0.3, 0.5, values)
    found = fit_choices(values, design)
    assert set(found.components) == {"judge:system", "item:system"}
    assert found.shape.shape == (1,)
    assert np.linalg.eigvalsh(found.covariance).min() > -1e-10
    turned = fit_choices(
        1 - values,
        MixedDesign(
            design.systems[:, ::-1],
            {name: codes[:, ::-1] for name, codes in design.factors.items()},
            -design.covariates,
        ),
    )
    np.testing.assert_allclose(turned.effects, found.effects, atol=1e-5)
    assert turned.criterion == pytest.approx(found.criterion, abs=1e-6)


def test_grades_of_two_are_yes_or_no() -> None:
    columns = golden_columns("crossed")
    design = golden_design("crossed", "yes ~ 0 + system + (1|judge) + (1|item)")
    grades, answers = fit_ordinal(columns["yes"], design), fit_binary(columns["yes"], design)
    assert grades.criterion == pytest.approx(answers.criterion, abs=1e-6)
    for a, b in pairwise(range(4)):
        weights = np.zeros((1, 4))
        weights[0, a], weights[0, b] = 1, -1
        for is_restricted, close in ((False, 1e-4), (True, 0.01)):
            one = grades.contrast(weights, is_restricted=is_restricted)
            two = answers.contrast(weights, is_restricted=is_restricted)
            assert one.values[0] == pytest.approx(two.values[0], rel=1e-4)
            assert one.errors[0] == pytest.approx(two.errors[0], rel=close)


@pytest.mark.parametrize(
    ("fit", "values"),
    [
        (fit_binary, [1, 1, 1, 0, 1, 0]),  # system 0 has only yes
        (fit_ordinal, [3, 3, 3, 1, 2, 3]),  # only the best grade
        (fit_ordinal, [1, 1, 1, 1, 2, 3]),  # only the worst
    ],
)
def test_separated_systems_are_named(fit, values) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(Separated, match="separated perfectly") as caught:
        fit(np.array(values, float), MixedDesign(np.array([0, 0, 0, 1, 1, 1]), {}))
    assert 0 in caught.value.systems


def test_grades_far_apart_are_fitted_or_refused() -> None:
    """Near the boundary of separated data the search for a start once ran away, to NaN."""
    refused = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n_systems = int(rng.integers(2, 6))
        grades = rng.choice([1, 2, 3, 4, 6], size=n_systems)
        systems = np.repeat(np.arange(n_systems), 12)
        values = np.minimum(grades[systems] + rng.choice([0, 0, 0, 1], size=len(systems)), 7)
        if len(np.unique(values)) < 3:
            continue
        try:
            found = fit_ordinal(values.astype(float), MixedDesign(systems, {}))
            assert np.isfinite(found.effects).all()
        except Separated:
            refused += 1
    assert 0 < refused < 60


def test_a_covariate_that_separates() -> None:
    values = np.array([0.0, 1, 0, 1, 0, 1])
    design = MixedDesign(np.array([0, 0, 0, 1, 1, 1]), {}, (values * 2 + 1)[:, None])
    with pytest.raises(Separated):
        fit_binary(values, design)


@pytest.mark.parametrize("ties", [False, True])
def test_a_winner_of_everything(ties: bool) -> None:
    systems = np.array([[0, 1], [0, 2], [1, 2], [2, 1], [1, 2], [2, 1]])
    values = np.array([1, 1, 1, 1, 0, 0.5 if ties else 0])
    with pytest.raises(Separated) as caught:
        fit_choices(values, MixedDesign(systems, {}))
    assert caught.value.systems == (0,)


def test_groups_that_never_met() -> None:
    systems = np.array([[0, 1], [1, 0], [2, 3], [3, 2]])
    with pytest.raises(Disconnected, match="2 groups") as caught:
        fit_choices(np.array([1.0, 1, 1, 1]), MixedDesign(systems, {}))
    assert caught.value.groups == [(0, 1), (2, 3)]


def test_judges_who_always_say_the_same() -> None:
    judge, rest = np.divmod(np.arange(80), 8)
    with pytest.raises(InputError, match="judgments of each judge nearly all agree"):
        fit_binary((judge % 2).astype(float), MixedDesign(rest % 2, {"judge": judge}))


def test_what_cannot_be_fitted_is_said() -> None:
    two, pairs = MixedDesign(np.array([0, 1]), {}), MixedDesign(np.array([[0, 1], [1, 0]]), {})
    with pytest.raises(InputError, match="ratings of 0 or 1"):
        fit_binary(np.array([0.0, 2.0]), two)
    with pytest.raises(InputError, match="all values are equal"):
        fit_ordinal(np.array([2.0, 2.0]), two)
    with pytest.raises(InputError, match="one finite grade"):
        fit_ordinal(np.array([2.0, np.inf]), two)
    with pytest.raises(InputError, match="two systems"):
        fit_choices(np.array([0.0, 1.0]), two)
    with pytest.raises(InputError, match="a choice is 1"):
        fit_choices(np.array([0.0, 2.0]), pairs)
    with pytest.raises(InputError, match="all choices are ties"):
        fit_choices(np.array([0.5, 0.5]), pairs)
    with pytest.raises(InputError, match="only one system"):
        fit_binary(np.array([0.0, 1.0]), MixedDesign(np.array([0, 0]), {}))


@pytest.mark.parametrize("study", ["crossed", "replicated"])
def test_a_large_core_gives_nearly_the_same(study: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then standard errors take the variances as known: a few percent."""
    grades = golden_columns(study)["grade"]
    design = golden_design(study, R["ordinal"][study]["formula"])
    expected = fit_ordinal(grades, design)
    monkeypatch.setattr("wellput.stats.mixed.laplace.LARGE_CORE", 5)
    found = fit_ordinal(grades, design)
    np.testing.assert_allclose(found.effects, expected.effects, atol=2e-3)
    errors = [np.sqrt(np.diag(fitted.covariance)) for fitted in (found, expected)]
    np.testing.assert_allclose(errors[0], errors[1], rtol=0.1)
    n_effects = len(found.effects)
    np.testing.assert_allclose(errors[0][:n_effects], errors[1][:n_effects], rtol=0.02)


def test_degrees_of_freedom_are_about_those_of_the_tastes() -> None:
    """Where nothing but tastes matters there are as many as tastes, 16 judges for 2 systems, less one
    for each system; and the variance is 16 / 15 of what it is if the means are taken as known."""
    rng = np.random.default_rng(1)
    judge, rest = np.divmod(np.arange(16 * 400), 400)
    system = rest % 2
    tastes = rng.normal(0, 1, 32)[judge * 2 + system]
    answers = (tastes + rng.logistic(size=len(judge)) > 0).astype(float)
    design = MixedDesign(system, {"judge:system": crossed_codes(judge, system)})
    fitted = fit_binary(answers, design)
    contrast = fitted.contrast(np.array([[1, -1]]))
    plain = fitted.contrast(np.array([[1, -1]]), is_restricted=False)
    assert contrast.freedom[0] == pytest.approx(30, rel=0.1)
    assert (contrast.errors / plain.errors)[0] ** 2 == pytest.approx(16 / 15, rel=0.01)
    assert np.isinf(plain.freedom).all()


def test_a_correction_that_does_not_fit_leaves_a_covariance() -> None:
    """Few choices, nearly separated, with large variances of judges' tastes and outputs: the restricted
    correction once gave a system a negative variance."""
    choices = study_of(Random(7038)).choices
    rows = wellput.rank(choices, permutations=5).rankings[0].systems
    assert np.isfinite([(row.low or np.nan, row.high or np.nan) for row in rows]).all()


def test_the_order_of_judgments_does_not_decide_whether_a_variance_is_zero() -> None:
    """Three judges grade four systems on five items, and the likelihood of the variance of
    judge:system is flat near 0. The search ended at 1e-10 or at 0, depending on the order of the
    judgments; in the first case the degrees of freedom were almost 0."""
    grades = np.array([int(digit) for digit in FLAT_GRADES], float)
    judges, _, systems = (codes.ravel() for codes in np.indices((3, 5, 4)))
    fits = []
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(len(grades))
        factors = {
            "judge": judges[order],
            "judge:system": crossed_codes(judges[order], systems[order]),
        }
        fits.append(fit_ordinal(grades[order], MixedDesign(systems[order], factors)))
    assert {fit.components["judge:system"] for fit in fits} == {0.0}
    contrasts = [fit.contrast(np.array([[0.0, 1.0, 0.0, -1.0]])) for fit in fits]
    np.testing.assert_allclose([float(one.errors[0]) for one in contrasts], 1.2129, rtol=1e-3)
    assert min(float(one.freedom[0]) for one in contrasts) > 100


def test_the_system_that_comes_first_does_not_change_an_ordinal_comparison() -> None:
    """Restricted likelihood held the thresholds together with the first system's effect, so errors and
    degrees of freedom depended on which system was the first."""
    judges, items, systems = (codes.ravel() for codes in np.indices((4, 5, 3)))
    rng = np.random.default_rng(3)
    tastes = rng.normal(0, 1.2, (4, 3))[judges, systems] + rng.normal(0, 0.8, 5)[items]
    grades = np.digitize(tastes + rng.logistic(size=len(judges)), [-1.5, 0, 1.5]).astype(float)
    factors = {"judge": judges, "item": items, "judge:system": crossed_codes(judges, systems)}
    fits = [fit_ordinal(grades, MixedDesign((systems + turn) % 3, factors)) for turn in range(3)]
    for turn, fit in enumerate(fits):
        one = fit.contrast(np.roll([[1.0, -1.0, 0.0]], turn, axis=1))
        first = fits[0].contrast(np.array([[1.0, -1.0, 0.0]]))
        assert 1 < float(first.freedom[0]) < 1000
        np.testing.assert_allclose(one.errors, first.errors, rtol=1e-4)
        np.testing.assert_allclose(one.freedom, first.freedom, rtol=1e-3)
