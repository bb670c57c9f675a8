"""Whom people prefer in each slice: in `rank`, `agree` and `report`."""

from __future__ import annotations

import random

import pytest

import wellput
from wellput.agreement.rankings.plain_ranking import RankedSystem, Ranking, SystemDifference
from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment
from wellput.reporting.ranking import reordering_sentences


def ranking(order: str, p_value: float) -> Ranking:
    """Two systems, best first; p is of their difference."""
    systems = tuple(
        RankedSystem(name, 5.0 - place, None, None, place + 1, 1, 2, 1, 9, 5.0 - place)
        for place, name in enumerate(order)
    )
    difference = SystemDifference((order[0], order[1]), 1.0, None, None, p_value, p_value)
    return Ranking("quality", "mean", systems, (difference,), 4, 9, 36)


def test_p_is_corrected_over_the_slices() -> None:
    whole = ranking("AB", 0.001)
    # Holm over two slices doubles the smaller p: .02 stays below .05, .03 does not.
    found = reordering_sentences(
        whole, {"chat": ranking("BA", 0.02), "news": ranking("AB", 0.5)}, "t"
    )
    assert found == [
        "t chat differs from the whole: there people prefer B to A on quality (p = 0.040, corrected "
        "for 2 differences of all slices)."
    ]
    found = reordering_sentences(
        whole, {"chat": ranking("BA", 0.03), "news": ranking("AB", 0.5)}, "t"
    )
    assert found == [
        "For people on quality, the order differs from the whole in chat (B before A); no test shows "
        "that this is more than chance."
    ]
    assert not reordering_sentences(whole, {"chat": ranking("AB", 0.01)}, "t")


def evalset() -> EvalSet:
    """A is right on news, B on chat; news has more items."""
    items = []
    for i in range(36):
        domain = "news" if i % 3 else "chat"
        good, bad = f"one two three four five {i}", f"one {i} six seven"
        outputs = {"A": good, "B": bad} if domain == "news" else {"A": bad, "B": good}
        outputs["C"] = "nothing"
        items.append(Item(str(i), outputs, (good,), tags={"domain": domain}))
    return EvalSet(items)


def judgments() -> list[Judgment]:
    values = {"news": {"A": 6.0, "B": 3.0, "C": 1.0}, "chat": {"A": 3.0, "B": 6.0, "C": 1.0}}
    noise = random.Random(3)
    return [
        Judgment(f"J{who}", item.id, system, "quality", value + noise.uniform(-1, 1))
        for item in evalset()
        for who in range(5)
        for system, value in values[item.tags["domain"]].items()
    ]


SENTENCE = "domain chat differs from the whole: there people prefer B to A on quality"


def test_agrees_ranking_has_the_confidence_that_was_asked_for() -> None:
    found = wellput.agree(evalset(), judgments(), "chrf", by="domain", confidence=0.8)
    entry = found.ranking[0].to_dict()
    expected = wellput.rank(judgments(), confidence=0.8, permutations=9).rankings[0].to_dict()
    assert entry["confidence"] == 0.8
    assert [(row["low"], row["high"]) for row in entry["systems"]] == [
        (row["low"], row["high"]) for row in expected["systems"]
    ]
    assert entry["differences"] == expected["differences"]
    assert "80% interval" in str(found)
    assert "95% interval" not in str(found)


def test_the_slices_where_people_part_from_the_whole_are_named_everywhere() -> None:
    ranked = wellput.rank(judgments(), evalset=evalset(), by="domain", permutations=10)
    assert SENTENCE in str(ranked)
    agreed = wellput.agree(evalset(), judgments(), "chrf", by="domain")
    assert SENTENCE in str(agreed)
    assert "Whom people prefer by domain: quality" in str(agreed)
    slices = agreed.to_dict()["by"]
    assert [part["ranking"][0]["systems"][0]["system"] for part in slices] == ["B", "A"]


def test_a_report_by_slice() -> None:
    made = wellput.report(evalset(), judgments(), metrics="chrf,length", by="domain")
    assert SENTENCE in str(made)
    assert "domain chat differs from the whole: there B is better than A on chrf" in str(made)
    # The test of the dependence is among the words of the section, not only in its folded table.
    assert "The difference A − B on chrf depends on domain, p < 0.001: it is +" in str(made)
    assert '"name":"slices","title":"By domain"' in made.html
    assert "How far metrics agree with people, by domain" in made.html
    assert [part["by"] for part in made.to_dict()["score"]["by"]] == [
        {"domain": "chat"},
        {"domain": "news"},
    ]
    # The agreement by slice is shown in the section of slices alone.
    assert made.html.count("How far metrics agree with people, by domain") == 1


def test_a_report_by_an_unknown_tag_is_refused() -> None:
    with pytest.raises(InputError, match="by='topic' is not a tag of the evalset"):
        wellput.report(evalset(), metrics="chrf", by="topic")
    plain = EvalSet([Item("1", {"A": "a"}, ("a",))])
    with pytest.raises(
        InputError, match=r'no tags\. A file of items can have them: "tags": \{"domain"'
    ):
        wellput.score(plain, "chrf", by="topic")
