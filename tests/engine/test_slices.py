"""Scores by slice."""

from __future__ import annotations

import json

import pytest

import wellput
from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item
from wellput.engine.slices import MAX_SLICES

WORDS = "one two three four five six seven eight nine ten"


def evalset_with(n: int = 40) -> EvalSet:
    """A is right on news, B on chat; news has more items, so A is better over all. The last item has no
    domain."""
    items = []
    for i in range(n + 1):
        domain = "news" if i % 4 else "chat"
        good = f"{WORDS} {i}"
        bad = " ".join(WORDS.split()[: 3 + i % 3])
        outputs = {"A": good, "B": bad} if domain == "news" else {"A": bad, "B": good}
        items.append(Item(str(i), outputs, (good,), tags={"domain": domain} if i < n else {}))
    return EvalSet(items)


def test_slices_are_scored_and_compared_alone() -> None:
    result = wellput.score(evalset_with(), "chrf", baseline="A", by="domain")
    assert [part.by for part in result.slices] == [{"domain": "chat"}, {"domain": "news"}]
    chat, news = result.slices
    alone = wellput.score(
        EvalSet([item for item in evalset_with() if item.tags.get("domain") == "chat"]),
        "chrf",
        baseline="A",
    )
    assert chat["B", "chrf"].score == alone["B", "chrf"].score
    assert chat["B", "chrf"].p_value == alone["B", "chrf"].p_value
    assert (chat.items, news.items, result.in_no_slice) == (10, 30, 1)
    p_values = [part["B", "chrf"].p_value or 0 for part in result.slices]
    adjusted = [part["B", "chrf"].p_adjusted for part in result.slices]
    # Holm over two slices: the smaller p is doubled, the larger one is at least that.
    assert min(adjusted, key=lambda p: p or 0) == pytest.approx(2 * min(p_values))


def test_slices_that_part_from_the_whole_are_named() -> None:
    result = wellput.score(evalset_with(), "chrf", baseline="A", by="domain")
    text = str(result)
    assert "domain chat parts from the whole: there B is better than A on chrf" in text
    assert "1 item has no domain" in text
    untested = str(wellput.score(evalset_with(), "chrf", by="domain"))
    assert "differs from the whole in domain chat (chrf); not tested" in untested


def test_json_and_records_name_the_slice() -> None:
    result = wellput.score(evalset_with(), "chrf", baseline="A", by="domain")
    value = json.loads(json.dumps(result.to_dict()))
    assert [entry["by"] for entry in value["by"]] == [{"domain": "chat"}, {"domain": "news"}]
    assert value["by"][0]["scores"][0]["n"] == 10
    names = [record["by"] for record in result.records()]
    assert names == [None, None, "domain chat", "domain chat", "domain news", "domain news"]
    assert wellput.score(evalset_with(), "chrf").to_dict()["by"] is None


def test_a_slice_without_outputs_is_named() -> None:
    items = [*evalset_with(), Item("x", {}, ("r",), tags={"domain": "zoo"})]
    result = wellput.score(EvalSet(items), "chrf", baseline="A", by="domain", confidence=True)
    assert "No output in domain zoo." in str(result)
    assert result.slices[2]["A", "chrf"].n == 0


def test_too_many_slices_are_refused() -> None:
    items = [Item(str(i), {"A": "x"}, ("x",), tags={"user": str(i)}) for i in range(MAX_SLICES + 1)]
    with pytest.raises(InputError, match=r"by='user' has 101 values \(0, 1, 10, …\)"):
        wellput.score(EvalSet(items), "exact", by="user")


def test_an_unknown_tag_is_refused() -> None:
    with pytest.raises(InputError, match=r"by='topic' is not a tag of the evalset"):
        wellput.score(evalset_with(), "exact", by="topic")


def test_slices_with_all_pairs_samples_and_resampling() -> None:
    sampled = EvalSet(
        [
            item._replace(outputs={**item.outputs, "C": (item.references[0], "x")})
            for item in evalset_with()
        ]
    )
    result = wellput.score(sampled, "chrf", all_pairs=True, paired="ar", by="domain")
    assert [len(part.comparisons) for part in result.slices] == [3, 3]
