"""Rankings by people: order, ranks, clusters and sentences, and how metrics order the systems."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import wellput
from wellput.agreement.orders import MetricOrder, metric_orders, misplaced, order_sentence
from wellput.agreement.panel import mean_of
from wellput.agreement.rankings.plain_ranking import (
    RankedSystem,
    Ranking,
    SystemDifference,
    winner_sentence,
)
from wellput.agreement.rankings.ranked_questions import rank_answers
from wellput.core.estimates import ScoreTable
from wellput.core.judgment import Judgment, PairwiseChoice, Preference
from wellput.reporting.ranking import ranking_table

JUDGES = [f"J{number}" for number in range(6)]
ITEMS = [f"i{number}" for number in range(20)]


def ratings(worth: dict[str, float], *, question: str = "quality") -> list[Judgment]:
    """Ratings of systems with these `worth`s by judges with different severity, with noise."""
    rng = np.random.default_rng(1)
    severity = rng.normal(0, 0.5, len(JUDGES))
    return [
        Judgment(judge, item, system, question, value + severity[j] + rng.normal(0, 0.5))
        for item in ITEMS
        for j, judge in enumerate(JUDGES)
        for system, value in worth.items()
    ]


def ranked(worth: dict[str, float], *, question: str = "quality") -> Ranking:
    (ranking,) = rank_answers(ratings(worth, question=question))
    return ranking


def metric(name: str, scores: dict[str, float], *, higher_is_better: bool = True) -> ScoreTable:
    statistics = np.array([[[value, 1.0]] for value in scores.values()])
    return ScoreTable(
        scorer=name,
        signature="",
        systems=tuple(scores),
        items=("i0",),
        statistics=statistics,
        present=np.ones((len(scores), 1), dtype=bool),
        aggregate=mean_of,
        segment=mean_of,
        higher_is_better=higher_is_better,
    )


def test_best_first_with_ranks_and_clusters() -> None:
    ranking = ranked({"poor": 2.0, "good": 5.0, "twin": 5.02, "fair": 3.5})
    names = [row.system for row in ranking.systems]
    assert set(names[:2]) == {"good", "twin"}
    assert names[2:] == ["fair", "poor"]
    assert [row.rank for row in ranking.systems] == [1, 2, 3, 4]
    assert [(row.rank_low, row.rank_high) for row in ranking.systems] == [
        (1, 2), (1, 2), (3, 3), (4, 4),
    ]  # fmt: skip
    assert [row.cluster for row in ranking.systems] == [1, 1, 2, 3]
    assert set(ranking.leaders) == {"good", "twin"}
    assert len(ranking.differences) == 6
    for difference in ranking.differences:
        # The uncorrected p and its interval are one inference.
        assert difference.low is not None
        assert (difference.p_value < 0.05) == (difference.low > 0)
        assert difference.p_adjusted >= difference.p_value
    assert (ranking.n_judges, ranking.n_items, ranking.n) == (6, 20, 480)


def test_the_estimate_is_the_mean_on_the_question_s_own_scale() -> None:
    answers = ratings({"A": 5.0, "B": 3.0})
    (ranking,) = rank_answers(answers)
    for row in ranking.systems:
        own = [answer.number for answer in answers if answer.system == row.system]
        assert row.raw_mean == pytest.approx(np.mean(own))
        assert row.estimate == pytest.approx(row.raw_mean)  # every judge rated everything
        assert row.low is not None
        assert row.high is not None
        assert row.low < row.estimate < row.high
        assert row.n == 120


def test_json_has_the_keys_of_a_ranking() -> None:
    entry = ranked({"A": 5.0, "B": 3.0}).to_dict()
    assert entry.keys() >= {
        "question", "model", "systems", "differences", "variance", "reliability", "by",
    }  # fmt: skip
    assert entry["systems"][0].keys() == {
        "system", "estimate", "low", "high", "rank", "rank_low", "rank_high", "cluster", "n",
        "raw_mean",
    }  # fmt: skip
    assert entry["differences"][0].keys() == {
        "systems", "delta", "low", "high", "p_value", "p_adjusted",
    }  # fmt: skip
    assert entry["variance"].keys() == {
        "judge", "item", "document", "judge:system", "item:system", "document:system", "residual",
    }  # fmt: skip


def test_yes_and_no_make_rates() -> None:
    answers = [
        Judgment(judge, item, system, "correct", float((i + j) % modulus != 0))
        for i, item in enumerate(ITEMS)
        for j, judge in enumerate(JUDGES)
        for system, modulus in (("A", 5), ("B", 2))
    ]
    (ranking,) = rank_answers(answers)
    assert ranking.model == "rate"
    assert [row.system for row in ranking.systems] == ["A", "B"]
    assert ranking.systems[0].estimate == pytest.approx(0.8)
    assert winner_sentence(ranking) == (
        "People prefer A (80%) to B, which is 30 [18, 41] percentage points behind."
    )


def test_choices_make_win_rates() -> None:
    picks: list[PairwiseChoice] = ["a", "a", "a", "tie"]
    answers = [
        Preference(judge, item, "A", "B", "better", picks[(i + 3 * j) % 4])
        for i, item in enumerate(ITEMS)
        for j, judge in enumerate(JUDGES)
    ]
    (ranking,) = rank_answers(answers)
    assert ranking.model == "win rate"
    # Three of four choices and half of the fourth: (3 + .5) / 4.
    assert ranking.systems[0].system == "A"
    assert ranking.systems[0].estimate == pytest.approx(0.875)
    assert ranking.systems[1].estimate == pytest.approx(0.125)
    assert ranking.n == 120


def chosen(pairs: dict[tuple[str, str], float]) -> Ranking:
    """Every judge chooses on every item in each pair; the first wins with the given probability."""
    rng = np.random.default_rng(7)
    (ranking,) = rank_answers(
        [
            Preference(judge, item, a, b, "better", "a" if rng.random() < share else "b")
            for judge in JUDGES
            for item in ITEMS
            for (a, b), share in pairs.items()
        ]
    )
    return ranking


def test_choices_against_other_systems_do_not_decide_between_two() -> None:
    """A and B are equal, but A met the weak C and B the strong D: A's raw win rate is far above
    B's."""
    ranking = chosen({("A", "B"): 0.5, ("A", "C"): 0.95, ("B", "D"): 0.05})
    rows = {row.system: row for row in ranking.systems}
    assert rows["A"].raw_mean > rows["B"].raw_mean + 0.3
    assert abs(rows["A"].estimate - rows["B"].estimate) < 0.1
    between = {frozenset(d.systems): d for d in ranking.differences}
    assert not between[frozenset("AB")].is_real
    assert between[frozenset("BD")].is_real
    # C and D were never offered together, but D is far ahead of B, who is far ahead of C.
    assert between[frozenset("CD")].is_real
    assert ranking.leaders == ["D"]


@pytest.mark.parametrize(("seed", "n_systems", "n_judges"), [(1, 2, 5), (2, 3, 4), (3, 4, 5)])
def test_p_of_choices_and_their_interval_are_one_statement(
    seed: int, n_systems: int, n_judges: int
) -> None:
    rng = np.random.default_rng(seed)
    answers = []
    for judge in range(n_judges):
        for item in range(8):
            a, b = rng.choice(n_systems, 2, replace=False).tolist()
            options: list[PairwiseChoice] = ["a", "b", "tie"]
            pick = rng.choice(3, p=[0.8, 0.1, 0.1] if a < b else [0.1, 0.8, 0.1])
            answers.append(
                Preference(f"J{judge}", f"i{item}", f"S{a}", f"S{b}", "better", options[pick])
            )
    (ranking,) = rank_answers(answers)
    for difference in ranking.differences:
        if np.isnan(difference.delta) or difference.low is None:
            assert np.isnan(difference.p_value)
            continue
        assert difference.low is not None and difference.high is not None
        assert 0 <= difference.delta <= 1
        assert difference.low <= difference.delta <= difference.high
        assert (difference.p_value < 0.05) == (difference.low > 0)
        assert difference.p_adjusted >= difference.p_value


def test_the_sentence_on_choices_says_how_many_of_them() -> None:
    sentence = winner_sentence(chosen({("A", "B"): 0.8}))
    assert sentence.startswith("People prefer A (")
    assert "of the choices are for A." in sentence


def test_less_time_is_better() -> None:
    ranking = ranked({"slow": 9.0, "quick": 4.0}, question="seconds")
    assert [row.system for row in ranking.systems] == ["quick", "slow"]
    assert ranking.leaders == ["quick"]


def test_less_time_is_ahead_of_the_system_that_all_are_compared_with() -> None:
    times = ratings({"slow": 9.0, "quick": 4.0, "slower": 14.0}, question="seconds")
    shown = str(wellput.rank(times, against="slow", permutations=10))
    assert "quick is significantly ahead of slow; slower is significantly behind slow." in shown


def test_sentences_say_who_won_and_who_is_tied() -> None:
    alone = winner_sentence(ranked({"good": 6.0, "fair": 4.0, "poor": 2.0}))
    assert alone.startswith("People prefer good (")
    assert "to each of the 2 others: the next, fair, is " in alone
    tied = winner_sentence(ranked({"good": 5.0, "twin": 5.0, "poor": 2.0}))
    assert "good and twin share first place in the judgment of people; " in tied
    nobody = winner_sentence(ranked({"A": 5.0, "B": 5.0, "C": 5.0}))
    assert nobody == "People do not tell the 3 systems apart: no difference is shown."


def test_two_judges_are_too_few_to_speak_for_others() -> None:
    answers = [a for a in ratings({"A": 5.0, "B": 4.5}) if a.judge in ("J0", "J1")]
    (ranking,) = rank_answers(answers)
    assert ranking.leaders == ["A", "B"]
    assert winner_sentence(ranking).endswith(
        "from these 2 judges, but 2 judges are too few to speak for others: no difference is shown. "
        "Ask at least 4."
    )


def test_systems_that_look_equal_lead_together() -> None:
    (ranking,) = rank_answers([a for a in ratings({"A": 5.0, "B": 4.5}) if a.judge in ("J0", "J1")])
    first, second = ranking.systems
    close = replace(ranking, systems=(first, replace(second, estimate=first.estimate - 1e-6)))
    assert winner_sentence(close).startswith("A and B have the highest mean rating, ")


def test_one_judge_speaks_for_one_judge() -> None:
    answers = [answer for answer in ratings({"A": 6.0, "B": 2.0}) if answer.judge == "J0"]
    (ranking,) = rank_answers(answers)
    assert ranking.scope == "these systems and this one judge, other items"
    assert ranking.leaders == ["A"]


def test_one_judge_and_one_item_show_nothing() -> None:
    answers = [Judgment("J", "i", system, "q", value) for system, value in (("A", 6), ("B", 2))]
    (ranking,) = rank_answers(answers)
    assert all(row.low is None for row in ranking.systems)
    assert "how sure that is cannot be said. One judge judged one item" in winner_sentence(ranking)


def test_one_system_has_no_rival() -> None:
    assert winner_sentence(ranked({"A": 6.0})) == "A is the only system that was judged."


def test_a_metric_is_right_where_it_orders_as_people_do() -> None:
    ranking = ranked({"good": 6.0, "fair": 4.0, "smooth": 2.0})
    tables = {
        "sees": metric("sees", {"good": 3, "fair": 2, "smooth": 1}),
        "errors": metric("errors", {"good": 1, "fair": 2, "smooth": 3}, higher_is_better=False),
        "fooled": metric("fooled", {"good": 2, "fair": 1, "smooth": 3}),
        "random": metric("random", {"good": 1, "fair": 2, "smooth": 3}),
    }
    orders = metric_orders(tables, [ranking])
    assert [order.metric for order in orders] == ["sees", "errors", "fooled"]
    assert [order.agreeing for order in orders] == [3, 3, 1]
    assert orders[2].against == (("good", "smooth"), ("fair", "smooth"))
    assert orders[2].overrated == "smooth"
    by_people = {row.system: row for row in ranking.systems}
    assert misplaced(by_people["smooth"], orders[2]) == 2
    assert misplaced(by_people["fair"], orders[2]) == -1
    assert misplaced(by_people["good"], orders[0]) == 0
    sentence = order_sentence(orders, ranking)
    assert sentence == (
        "errors and sees order these systems as people do; fooled does not (1 of 3 pairs). "
        "fooled is fooled by smooth: it ranks smooth first, people rank it last."
    )
    assert order_sentence(orders[:2], ranking) == "Both metrics order these systems as people do."


def test_one_metric_that_mostly_agrees_does() -> None:
    ranking = ranked({"A": 6.0, "B": 5.0, "C": 4.0, "D": 3.0})
    orders = metric_orders(
        {
            "sees": metric("sees", {"A": 4, "B": 3, "C": 2, "D": 1}),
            "nearly": metric("nearly", {"A": 4, "B": 3, "C": 1, "D": 2}),
        },
        [ranking],
    )
    assert order_sentence(orders, ranking).startswith(
        "sees orders these systems as people do; nearly mostly does (5 of 6 pairs)"
    )


def test_metrics_that_agree_equally_often_have_no_best_and_worst() -> None:
    ranking = ranked({"good": 6.0, "fair": 4.5, "smooth": 3.0})
    scores = {"good": 2.0, "fair": 1.0, "smooth": 3.0}
    orders = metric_orders({f"m{n}": metric(f"m{n}", scores) for n in range(5)}, [ranking])
    assert order_sentence(orders, ranking).startswith(
        "None of the 5 metrics orders the systems as people do (1 each of 3 pairs)."
    )


def test_a_tie_of_a_metric_is_not_right() -> None:
    ranking = ranked({"good": 6.0, "poor": 2.0})
    (order,) = metric_orders({"m": metric("m", {"good": 1.0, "poor": 1.0})}, [ranking])
    assert (order.pairs, order.agreeing) == (1, 0)


def test_no_metric_is_wrong_about_pairs_that_people_do_not_tell_apart() -> None:
    ranking = ranked({"A": 5.0, "B": 5.0})
    orders = metric_orders({"m": metric("m", {"A": 1.0, "B": 2.0})}, [ranking])
    assert orders[0].pairs == 0
    assert order_sentence(orders, ranking).startswith("People tell no two systems apart")


def test_the_order_of_many_systems_is_shown_in_part() -> None:
    names = [f"s{n}" for n in range(60)]
    order = MetricOrder("m", "q", tuple(names), tuple(range(60)), 0, 0, ())
    assert order.text == f"{' > '.join(names[:50])} … (10 more)"


def test_scores_of_no_pair_that_people_tell_apart_are_said_to_be_missing() -> None:
    ranking = ranked({"good": 6.0, "twin": 6.0, "poor": 2.0})
    orders = metric_orders({"m": metric("m", {"good": 1.0, "twin": 2.0})}, [ranking])
    assert order_sentence(orders, ranking) == (
        "The metrics have no scores for two systems that people tell apart."
    )


def test_a_system_behind_any_other_is_no_leader() -> None:
    """C is not shown to differ from the first, A, but is behind B."""
    rows = tuple(
        RankedSystem(name, mean, None, None, rank, 1, 3, 1, 10, mean)
        for rank, (name, mean) in enumerate((("A", 5.0), ("B", 4.9), ("C", 4.0)), 1)
    )
    differences = (
        SystemDifference(("A", "B"), 0.1, -1.0, 1.2, 0.8, 0.8),
        SystemDifference(("A", "C"), 1.0, -0.5, 2.5, 0.2, 0.4),
        SystemDifference(("B", "C"), 0.9, 0.5, 1.3, 0.001, 0.003),
    )
    ranking = Ranking("quality", "mean", rows, differences, 3, 40, 360)
    assert ranking.leaders == ["A", "B"]
    assert "the other system is significantly behind at least one of these" in winner_sentence(
        ranking
    )


def thumbs(system: str, yes: float, n: int, *, judges: int = 5) -> list[Judgment]:
    """`n` answers about a system, about a share `yes` of them yes."""
    rng = np.random.default_rng(1)
    return [
        Judgment(f"J{k % judges}", f"i{k // judges}", system, "helpful", float(rng.random() < yes))
        for k in range(n)
    ]


def test_a_system_with_very_few_judgments_is_marked_and_not_called_the_winner() -> None:
    answers = [
        *thumbs("base", 0.3, 200), *thumbs("tuned", 0.7, 200),
        *(Judgment("J1", f"i{k}", "newcomer", "helpful", 1.0) for k in range(4)),
    ]  # fmt: skip
    (ranking,) = rank_answers(answers)
    assert ranking.systems[0].system == "newcomer"
    assert ranking.rarely_judged == ["newcomer"]
    sentence = winner_sentence(ranking)
    assert sentence.startswith("People prefer tuned (")
    assert sentence.endswith("newcomer has only 4 judgments: its rank may be 1 or 2.")
    assert ranking.highlighted == {"tuned"}
    table = ranking_table(ranking)
    assert [row[3] for row in table.rows] == ["4 (few)", "200", "200"]


def test_a_system_with_few_judgments_that_is_significantly_ahead_wins_with_a_warning() -> None:
    answers = [
        one
        for one in ratings({"A": 7.0, "B": 2.0, "C": 1.0})
        if one.system != "A" or (one.item == "i3" and one.judge in JUDGES[:4])
    ]
    (ranking,) = rank_answers(answers)
    assert winner_sentence(ranking).startswith("People prefer A (")
    assert winner_sentence(ranking).endswith(
        "A has only 4 judgments: collect more before you rely on its rank."
    )


def test_few_judgments_of_every_system_are_not_few_beside_the_others() -> None:
    (ranking,) = rank_answers([*thumbs("A", 0.7, 9), *thumbs("B", 0.3, 9)])
    assert ranking.rarely_judged == []


def test_a_lone_leader_that_is_not_shown_to_beat_everyone_is_not_preferred_to_each() -> None:
    """B is behind A and C is behind B, but A and C, of whom little is known, are not told apart."""
    rows = tuple(
        RankedSystem(name, value, value - 1, value + 1, rank, 1, 3, 1, 20, value)
        for rank, (name, value) in enumerate((("A", 5.0), ("B", 4.0), ("C", 3.0)), 1)
    )
    differences = tuple(
        SystemDifference(pair, 1.0, 0.5, 1.5, p, p)
        for pair, p in ((("A", "B"), 0.01), (("A", "C"), 0.2), (("B", "C"), 0.01))
    )
    ranking = Ranking("quality", "mean", rows, differences, 5, 20, 60)
    assert ranking.leaders == ["A"]
    assert winner_sentence(ranking) == (
        "No system is shown to be ahead of A in the judgment of people, but A is not shown to be "
        "ahead of C."
    )
