"""Scores by slice."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import binomtest
from statsmodels.stats.oneway import anova_oneway

import wellput
from wellput.core.errors import InputError
from wellput.core.estimates import ScoreTable
from wellput.core.evalset import EvalSet, Item
from wellput.core.metric import Floats
from wellput.engine.slices import MAX_SLICES, slice_tests

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
    assert "domain chat differs from the whole: there B is better than A on chrf" in text
    assert "1 item has no domain" in text


def test_differences_that_depend_on_the_slice_are_named_also_without_a_baseline() -> None:
    result = wellput.score(evalset_with(), "chrf", by="domain")
    text = str(result)
    assert "The difference A − B on chrf depends on domain, p < 0.001: it is +" in text
    assert "more than chance" not in text
    (test,) = result.slice_tests
    assert list(test.deltas) == ["chat", "news"]
    assert test.n == 40
    assert result.to_dict()["slice_tests"][0]["p_adjusted"] == test.p_adjusted


def test_an_order_that_differs_by_chance_depends_on_nothing() -> None:
    rng = np.random.default_rng(3)
    items = []
    for i in range(60):
        outputs = {name: " ".join(rng.choice(WORDS.split(), 8)) for name in "AB"}
        items.append(Item(str(i), outputs, (WORDS,), tags={"domain": "news" if i % 3 else "chat"}))
    text = str(wellput.score(EvalSet(items), "chrf", by="domain"))
    assert "No pair's difference is shown to depend on domain (smallest p = " in text


def mean(sums: Floats) -> Floats:
    quotient: Floats = sums[..., 0] / sums[..., 1]
    return quotient


def slice_of_means(a: list[float], b: list[float]) -> dict[str, ScoreTable]:
    values = np.array([a, b])
    return {
        "mean": ScoreTable(
            "mean",
            "",
            ("A", "B"),
            tuple(map(str, range(len(a)))),
            np.stack([values, np.ones_like(values)], axis=2),
            np.ones_like(values, dtype=np.bool_),
            mean,
            mean,
        )
    }


def test_slice_tests_are_welchs_analysis_of_variance() -> None:
    rng = np.random.default_rng(5)
    slices, groups = {}, []
    for number, n in enumerate((8, 14, 30)):
        a, b = rng.normal(number / 2, 1 + number, n), rng.normal(0, 1, n)
        slices[f"s{number}"] = slice_of_means(list(a), list(b))
        groups.append(a - b)
    (test,) = slice_tests(slices, [("A", "B")])
    expected = anova_oneway(groups, use_var="unequal")
    assert test.statistic == pytest.approx(expected.statistic)
    assert test.p_value == pytest.approx(expected.pvalue)
    assert test.freedom == pytest.approx((expected.df_num, expected.df_denom))


def test_slice_tests_keep_their_level() -> None:
    """Slices of 8 to 40 items, of unequal spread; the true difference is the same in all."""
    rng = np.random.default_rng(11)
    sizes, studies, found = (8, 15, 25, 40), 400, 0
    for _ in range(studies):
        slices = {}
        for number, n in enumerate(sizes):
            a = 0.3 + rng.normal(0, 1 + (number % 2), n)
            slices[str(number)] = slice_of_means(list(a), [0.0] * n)
        (test,) = slice_tests(slices, [("A", "B")])
        found += test.p_value < 0.05
    assert binomtest(found, studies, 0.05).pvalue > 0.01


def test_shares_without_any_error_in_a_slice_are_tested() -> None:
    right = slice_of_means([1.0] * 20, [0.0] * 20)
    same = slice_of_means([1.0] * 20, [1.0] * 20)
    (test,) = slice_tests({"easy": same, "hard": right}, [("A", "B")])
    assert test.deltas == {"easy": 0.0, "hard": 1.0}
    assert test.p_value < 0.001
    few = slice_of_means([1.0] * 3, [0.0] * 3)
    assert slice_tests({"easy": same, "few": few}, [("A", "B")]) == ()


def test_a_slice_of_outputs_without_references_says_so() -> None:
    items = [*evalset_with(), Item("x", {"A": "x", "B": "y"}, (), tags={"domain": "noref"})]
    text = str(wellput.score(EvalSet(items), "chrf,exact", by="domain"))
    assert "No output with a reference in domain noref: chrf, exact need both." in text
    assert "No output in" not in text
    mixed = str(wellput.score(EvalSet(items), "chrf,length", by="domain"))
    assert "No output with a reference in domain noref: chrf needs both." in mixed


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


def test_a_slice_that_is_too_small_for_the_test_is_named() -> None:
    items = [
        *evalset_with(),
        *(
            Item(f"x{i}", {"A": "x", "B": "y z"}, ("y z w",), tags={"domain": "zoo"})
            for i in range(3)
        ),
    ]
    text = str(wellput.score(EvalSet(items), "chrf", by="domain"))
    assert "domain zoo has too few items that differ for this test." in text
    small = EvalSet([item for item in items if int(item.id.strip("x")) < 6])
    text = str(wellput.score(small, "chrf", by="domain"))
    assert (
        "Too few items differ in each slice to test whether differences depend on domain." in text
    )
