"""The sentence on how metrics order systems counts the pairs of each metric."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from wellput.agreement.orders import MetricOrder, order_sentence
from wellput.agreement.rankings.plain_ranking import Ranking


def order(metric: str, systems: str, pairs: int, against: int) -> MetricOrder:
    wrong = tuple(("A", "B") for _ in range(against))
    scores = tuple(map(float, range(len(systems))))
    return MetricOrder(metric, "q", tuple(systems), scores, pairs, pairs - against, wrong)


def ranking(systems: str, n_real: int, refusal: str = "") -> Ranking:
    rows = [SimpleNamespace(system=system, rank_low=1, rank_high=9) for system in systems]
    differences = [SimpleNamespace(is_real=place < n_real) for place in range(n_real + 1)]
    found: Any = SimpleNamespace(
        question="q",
        systems=rows,
        who="people",
        differences=differences,
        leaders=["A", "B"],
        refusal=refusal,
    )
    return cast("Ranking", found)


def test_metrics_that_lack_a_system_are_counted_by_their_own_pairs() -> None:
    said = order_sentence(
        [order("chrf", "ABC", 47, 7), order("random", "ABCD", 57, 18)], ranking("ABCD", 57)
    )
    assert "40 of 47 and 39 of 57 pairs" in said


def test_a_metric_without_errors_is_credited_with_the_pairs_that_it_has_scores_for() -> None:
    said = order_sentence(
        [order("chrf", "ABC", 2, 0), order("bleu", "ABCD", 5, 1)], ranking("ABCD", 5)
    )
    assert said.startswith(
        "chrf puts the 2 pairs that people tell apart and it has scores for in the same order"
    )
    assert "bleu mostly does (4 of 5 pairs)" in said


def test_counts_without_pairs_only_where_the_pairs_are_the_same() -> None:
    said = order_sentence(
        [order("chrf", "ABC", 6, 1), order("bleu", "ABCD", 9, 5)], ranking("ABCD", 9)
    )
    assert "(5 of 6 pairs)" in said
    assert "(4 of 9 pairs)" in said


def test_systems_that_could_not_be_tested_are_not_called_equal() -> None:
    untested = ranking("AB", 0, refusal="A won all 120 comparisons.")
    said = order_sentence([order("chrf", "AB", 0, 0)], untested)
    assert "could not be tested" in said and "no two systems apart" not in said
    assert "People tell no two systems apart" in order_sentence(
        [order("chrf", "AB", 0, 0)], ranking("AB", 0)
    )
