from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.optimize import minimize
from statsmodels.discrete.discrete_model import Logit

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.stats.preferences import Choices
from wellput.stats.strengths import BradleyTerry, bradley_terry

# Agresti, Categorical Data Analysis (2nd ed., 2002), page 438: American League, eastern division,
# 1987, winner by row. The counts are those of `baseball` in R's BradleyTerry2, whose tests also have
# the estimates of Agresti's Table 10.11 that are below (Baltimore's is 0).
TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
BASEBALL = np.array(
    [
        [0, 7, 9, 7, 7, 9, 11],
        [6, 0, 7, 5, 11, 9, 9],
        [4, 6, 0, 7, 7, 8, 12],
        [6, 8, 6, 0, 6, 7, 10],
        [6, 2, 6, 7, 0, 7, 12],
        [4, 4, 5, 6, 6, 0, 6],
        [2, 4, 1, 3, 1, 7, 0],
    ]
)


def counted(wins: NDArray[np.int64], ties: NDArray[np.int64] | None = None) -> Choices:
    names = tuple("ABCDEFGH"[: len(wins)])
    return Choices(names, wins, np.zeros_like(wins) if ties is None else ties)


def values(model: BradleyTerry) -> list[float]:
    return [strength.value for strength in model.strengths]


def davidson(parameters: Floats, wins: NDArray[np.int64], ties: NDArray[np.int64]) -> float:
    """The oracle: minus the log-likelihood as in Davidson 1970, pair by pair."""
    strengths, nu = np.exp(parameters[:-1]), np.exp(parameters[-1])
    total = 0.0
    for i in range(len(wins)):
        for j in range(i):
            tie = nu * np.sqrt(strengths[i] * strengths[j])
            whole = strengths[i] + strengths[j] + tie
            total -= wins[i, j] * np.log(strengths[i] / whole)
            total -= wins[j, i] * np.log(strengths[j] / whole)
            total -= ties[i, j] * np.log(tie / whole)
    return total


def test_two_systems_by_hand() -> None:
    # 30 wins to 10: the difference is log 3, its variance 1/30 + 1/10.
    model = bradley_terry(counted(np.array([[0, 30], [10, 0]])))
    difference = model.difference("A", "B")
    error = (1 / 30 + 1 / 10) ** 0.5
    assert difference.value == pytest.approx(np.log(3))
    assert difference.low == pytest.approx(np.log(3) - 1.959964 * error, abs=1e-6)
    assert values(model) == pytest.approx([np.log(3) / 2, -np.log(3) / 2])
    assert (model.ties.value, model.ties.method) == (0.0, "no ties were observed")
    assert model.reason == ""


def test_two_systems_with_ties_by_hand() -> None:
    # 16 wins, 4 losses, 10 ties: π_A/π_B = 4, and ν √(π_A π_B) / (√(wins · losses)) = 10/8.
    ties = np.array([[0, 10], [10, 0]])
    model = bradley_terry(counted(np.array([[0, 16], [4, 0]]), ties))
    assert model.difference("A", "B").value == pytest.approx(np.log(4))
    assert model.ties.value == pytest.approx(1.25)
    assert model.ties.n == 10


def test_agrestis_baseball_teams() -> None:
    model = bradley_terry(Choices(TEAMS, BASEBALL, np.zeros_like(BASEBALL)))
    found = [model.difference(team, "Baltimore").value for team in TEAMS[:-1]]
    np.testing.assert_allclose(found, [1.58, 1.44, 1.29, 1.25, 1.11, 0.68], atol=0.005)
    assert sum(values(model)) == pytest.approx(0, abs=1e-9)


def test_without_ties_it_is_a_logistic_regression() -> None:
    """statsmodels' Logit on one row per game, the last team at 0: estimates, intervals and p-values."""
    rows = []
    for i in range(7):
        for j in range(7):
            row = np.eye(7)[i] - np.eye(7)[j]
            rows += [row[:6] * (1 if i < j else -1)] * BASEBALL[i, j]
    won = [float(i < j) for i in range(7) for j in range(7) for _ in range(BASEBALL[i, j])]
    fit = Logit(np.array(won), np.array(rows)).fit(disp=False)
    model = bradley_terry(Choices(TEAMS, BASEBALL, np.zeros_like(BASEBALL)))
    for team, value, interval, p_value in zip(
        TEAMS, fit.params, fit.conf_int(), fit.pvalues, strict=False
    ):
        ours = model.difference(team, "Baltimore")
        assert ours.value == pytest.approx(value, abs=1e-6)
        assert (ours.low, ours.high) == pytest.approx(tuple(interval), abs=1e-5)
        assert ours.p_value == pytest.approx(p_value, abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(arrays(np.int64, (3, 3), elements=st.integers(0, 9)), st.integers(0, 10**6))
def test_with_ties_it_is_the_maximum_of_davidsons_likelihood(
    wins: NDArray[np.int64], seed: int
) -> None:
    upper = np.triu(np.random.default_rng(seed).integers(1, 6, (3, 3)), 1)
    wins, ties = np.where(np.eye(3) > 0, 0, wins), upper + upper.T
    model = bradley_terry(counted(wins, ties))
    assume(not model.reason)
    ours = np.array([*values(model), np.log(model.ties.value)])
    theirs = minimize(davidson, np.zeros(4), args=(wins, ties), method="BFGS")
    assert davidson(ours, wins, ties) <= theirs.fun + 1e-6
    np.testing.assert_allclose(ours[:3], theirs.x[:3] - theirs.x[:3].mean(), atol=1e-2)


def test_the_errors_with_ties_are_those_of_the_likelihood() -> None:
    rng = np.random.default_rng(0)
    wins = np.where(np.eye(4) > 0, 0, rng.integers(5, 20, (4, 4)))
    upper = np.triu(rng.integers(2, 9, (4, 4)), 1)
    ties = upper + upper.T
    model = bradley_terry(counted(wins, ties))
    at = np.array([*values(model), np.log(model.ties.value)])
    step = 1e-4 * np.eye(5)
    hessian = np.array(
        [
            [
                sum(
                    s * t * davidson(at + s * step[i] + t * step[j], wins, ties)
                    for s in (1, -1)
                    for t in (1, -1)
                )
                / 4e-8
                for j in range(5)
            ]
            for i in range(5)
        ]
    )
    np.testing.assert_allclose(model.covariance, np.linalg.pinv(hessian, rcond=1e-6), atol=1e-5)


@settings(max_examples=30, deadline=None)
@given(arrays(np.int64, (4, 4), elements=st.integers(0, 3)), st.permutations(range(4)))
def test_the_order_of_systems_does_not_matter(wins: NDArray[np.int64], order: list[int]) -> None:
    wins = np.where(np.eye(4) > 0, 0, wins)
    one = bradley_terry(counted(wins))
    other = bradley_terry(counted(wins[np.ix_(order, order)]))
    assume(not one.reason)
    np.testing.assert_allclose(values(other), np.array(values(one))[order], atol=1e-7)


def test_a_winner_and_a_loser_of_all_are_infinite() -> None:
    # A always won, D always lost; B and C are 6 to 3 against each other.
    wins = np.array([[0, 4, 4, 4], [0, 0, 6, 4], [0, 3, 0, 4], [0, 0, 0, 0]])
    model = bradley_terry(counted(wins))
    half = np.log(2) / 2
    assert values(model) == [np.inf, pytest.approx(half), pytest.approx(-half), -np.inf]
    assert model.strengths[0].method == "infinite: it won every comparison"
    assert model.strengths[3].method == "infinite: it lost every comparison"
    assert model.strengths[0].low is None
    assert model.reason.startswith("only B, C each won or tied")
    assert np.isnan(model.difference("A", "B").value)
    assert model.difference("B", "C").value == pytest.approx(np.log(2))


def test_two_groups_where_one_never_lost_to_the_other() -> None:
    # {A, B, C} beat {D, E} whenever they met, though nobody won or lost all.
    wins = np.zeros((5, 5), dtype=np.int64)
    wins[0, 1] = wins[1, 2] = wins[2, 0] = 2
    wins[3, 4], wins[4, 3] = 3, 1
    wins[0, 3] = wins[2, 4] = 5
    model = bradley_terry(counted(wins))
    assert values(model)[:3] == pytest.approx([0, 0, 0], abs=1e-9)
    assert values(model)[3:] == [-np.inf, -np.inf]
    assert model.strengths[3].method == "infinite: it has not won or tied against a stronger"
    assert model.difference("D", "E").value == pytest.approx(np.log(3))


def test_groups_that_never_met_cannot_be_compared() -> None:
    wins = np.zeros((5, 5), dtype=np.int64)
    wins[0, 1] = wins[1, 2] = wins[2, 0] = wins[3, 4] = wins[4, 3] = 2
    model = bradley_terry(counted(wins))
    assert np.isnan(values(model)[3:]).all()
    assert "nothing says" in model.strengths[3].method
    assert "relative to them" in model.reason


def test_a_chain_of_wins_alone_says_nothing() -> None:
    model = bradley_terry(counted(np.array([[0, 2, 0], [0, 0, 2], [0, 0, 0]])))
    assert values(model) == pytest.approx([np.inf, np.nan, -np.inf], nan_ok=True)
    assert model.reason.startswith("no two systems")


def test_a_system_never_offered_is_undefined() -> None:
    model = bradley_terry(counted(np.array([[0, 2, 0], [1, 0, 0], [0, 0, 0]])))
    assert model.strengths[2].method == "undefined: it was never offered"
    assert model.strengths[0].value == pytest.approx(np.log(2) / 2)


@pytest.mark.parametrize(
    ("wins", "ties"),
    [
        ([[0, 0], [0, 0]], [[0, 3], [3, 0]]),
        # With A 2 above B, and C in the middle, more ties always make the choices more likely.
        ([[0, 2, 0], [0, 0, 0], [0, 0, 0]], [[0, 0, 1], [0, 0, 1], [1, 1, 0]]),
    ],
)
def test_ties_without_bound_are_undefined(wins: list[list[int]], ties: list[list[int]]) -> None:
    model = bradley_terry(counted(np.array(wins), np.array(ties)))
    assert np.isnan(values(model)).all()
    assert model.ties.value == np.inf and "no finite tie parameter" in model.reason
    assert np.isnan(model.difference("A", "B").value)


def test_ties_make_systems_comparable() -> None:
    # A never lost, but tied: with ties against wins both ways, strengths are finite.
    wins, ties = (
        np.array([[0, 5, 3], [0, 0, 4], [0, 4, 0]]),
        np.array([[0, 2, 2], [2, 0, 1], [2, 1, 0]]),
    )
    model = bradley_terry(counted(wins, ties))
    assert model.reason == ""
    assert values(model)[0] > 0.5


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.int64, (4, 4), elements=st.sampled_from([0, 0, 1, 2])),
    arrays(np.int64, (4, 4), elements=st.sampled_from([0, 0, 0, 1])),
)
def test_sparse_choices_never_give_nonsense(
    wins: NDArray[np.int64], ties: NDArray[np.int64]
) -> None:
    """Every strength is a moderate number, or it is infinite or NaN with a reason."""
    wins = np.where(np.eye(4) > 0, 0, wins)
    ties = np.triu(ties, 1) + np.triu(ties, 1).T
    for strength in bradley_terry(counted(wins, ties)).strengths:
        if np.isfinite(strength.value):
            assert abs(strength.value) < 8 and strength.low is not None
            assert strength.low < strength.value
        else:
            assert strength.method.startswith(("infinite: ", "undefined: "))


def test_bad_input_is_refused() -> None:
    model = bradley_terry(counted(np.array([[0, 2], [1, 0]])))
    assert np.isnan(model.difference("A", "A").value)
    with pytest.raises(InputError, match="No system 'Z'"):
        model.difference("A", "Z")
    with pytest.raises(InputError, match="between 0 and 1"):
        bradley_terry(counted(np.array([[0, 2], [1, 0]])), confidence=95)


@pytest.mark.slow
@pytest.mark.parametrize("nu", [0.0, 0.8])
@pytest.mark.parametrize("games", [10, 40])
def test_wald_intervals_cover_the_truth(games: int, nu: float) -> None:
    """Four systems, `games` choices a pair; the few studies with infinite strengths do not count."""
    truth = np.array([0.6, 0.2, -0.2, -0.6])
    hits = asked = 0
    for number in range(1000):
        rng = np.random.default_rng([games, number])
        wins, ties = np.zeros((2, 4, 4), dtype=np.int64)
        for i in range(4):
            for j in range(i):
                weights = np.exp([truth[i], truth[j], (truth[i] + truth[j]) / 2])
                weights[2] *= nu
                wins[i, j], wins[j, i], ties[i, j] = rng.multinomial(games, weights / weights.sum())
        model = bradley_terry(counted(wins, ties + ties.T))
        if model.reason:
            continue
        for strength, true in zip(model.strengths, truth, strict=True):
            assert strength.low is not None and strength.high is not None
            hits += strength.low <= true <= strength.high
            asked += 1
    print(f"Bradley–Terry, {games} choices a pair, ν = {nu}: coverage {hits / asked:.3f}")
    assert 0.93 <= hits / asked <= 0.975
