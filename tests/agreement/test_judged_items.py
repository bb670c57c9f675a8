"""What `agree` says where only some items were judged."""

from typing import Literal

import pytest

import wellput
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment, Preference

LETTERS = "abcdefgh"
JUDGED = 6


def text(good: int) -> str:
    return " ".join(LETTERS[:good])


def partly_judged() -> tuple[EvalSet, list[Judgment]]:
    """Four systems, of which `last` is best on the items that nobody judged, and worst on the others.
    The documents of the unjudged items have no judgment."""
    items = [
        Item(
            str(place),
            references=(text(8),),
            outputs={
                "first": text(7 - place % 2),
                "second": text(5 - place % 2),
                "third": text(4 - place % 3),
                "last": text(2 if place < JUDGED else 8),
            },
            document=f"d{place // 2}" if place else None,
        )
        for place in range(20)
    ]
    ratings = {"first": 7, "second": 5, "third": 3, "last": 1}
    judgments = [
        Judgment(judge, item.id, system, "quality", float(value + (place + offset) % 2))
        for place, item in enumerate(items[:JUDGED])
        for offset, judge in enumerate(["ann", "bob", "cleo", "dan"])
        for system, value in ratings.items()
    ]
    return EvalSet(items), judgments


@pytest.mark.parametrize("level", ["segment", "system"])
def test_metrics_order_systems_by_the_judged_items(level: Literal["segment", "system"]) -> None:
    evalset, judgments = partly_judged()
    (order,) = wellput.agree(evalset, judgments, metrics="rouge-1", level=level).orders
    assert order.systems[-1] == "last"


def test_metrics_order_systems_by_the_items_of_choices() -> None:
    evalset, judgments = partly_judged()
    value = {(one.judge, one.item, one.system): one.number for one in judgments}
    choices = [
        Preference(judge, item, a, b, "quality", "a" if number > value[judge, item, b] else "b")
        for (judge, item, a), number in value.items()
        for b in evalset.systems
        if a < b
    ]
    (order,) = wellput.agree(evalset, choices, metrics="rouge-1").orders
    assert order.systems[-1] == "last"


def test_all_items_where_asked() -> None:
    evalset, judgments = partly_judged()
    result = wellput.agree(
        evalset, judgments, metrics="rouge-1", level="system", metric_items="all"
    )
    assert result.orders[0].systems[-1] != "last"
    assert result.to_dict()["clusters"] == 11


def test_only_judged_documents_are_counted() -> None:
    evalset, judgments = partly_judged()
    result = wellput.agree(evalset, judgments, metrics="rouge-1")
    assert result.to_dict()["clusters"] == 4
    assert "the units are 4 documents. 1 item has no document and counts alone." in str(result)


def test_differences_of_correlations_stay_possible() -> None:
    evalset, judgments = partly_judged()
    found = wellput.agree(evalset, judgments, metrics="rouge-1,random", level="system")
    assert all(-2 <= (one.low or 0) <= (one.high or 0) <= 2 for one in found.differences)
