"""Verdicts on substitutions, by method and judge; two studies of one pair."""

from __future__ import annotations

import numpy as np
import pytest

from wellput.agreement.panel import Panel, panels
from wellput.agreement.preferences import decisions_of, verdict_rows
from wellput.core.errors import InputError
from wellput.core.evalset import Item
from wellput.core.judgment import Judgment, Preference
from wellput.language.paraphrase.references import drawn_substitutions
from wellput.stats.preferences import homogeneity_rows


def panel(values: dict[str, list[int]]) -> Panel:
    rows = [
        Judgment(judge, str(n), "kept" if n < 200 else "refused", "right", float(value))
        for judge, own in values.items()
        for n, value in enumerate(own)
    ]
    return panels(rows, ["kept", "refused"], [str(n) for n in range(200)])["right"]


def test_the_confusion_of_the_papers_table_8() -> None:
    # Of 200 of WordNet's the filter refuses 67, 40 of them wrong; of the 133 others 33 are wrong.
    # The first judge finds 127 of 200 right (63.5%), and 100 of 133 that ContextWN keeps (75%).
    items = [
        Item(
            str(n),
            {"kept": "x"},
            tags={"wordnet": "kept", "contextwn": "refused" if n < 67 else "kept"},
        )
        for n in range(200)
    ]
    verdicts = [0] * 40 + [1] * 27 + [0] * 33 + [1] * 100
    rows = {
        (row["method"], row["judge"]): row
        for row in verdict_rows([panel({"first": verdicts})], decisions_of(items))
    }
    wordnet, contextwn = rows["wordnet", "first"], rows["contextwn", "first"]
    assert wordnet["accuracy"] == pytest.approx(0.635)
    assert contextwn["accuracy"] == pytest.approx(0.75, abs=0.002)
    assert [
        contextwn[key] for key in ("refused_wrong", "refused_right", "kept_wrong", "kept_right")
    ] == [40, 27, 33, 100]
    assert wordnet["kappa"] is None


def test_judges_are_compared_on_what_a_method_keeps() -> None:
    items = [Item(str(n), {"kept": "x"}, tags={"lsa": "kept"} if n < 4 else {}) for n in range(200)]
    first = [1, 1, 0, 0] + [0] * 196
    second = [1, 0, 0, 0] + [1] * 196
    rows = list(verdict_rows([panel({"a": first, "b": second})], decisions_of(items)))
    # Three of four agree; by chance .5 · .25 + .5 · .75 = .5: kappa is (.75 − .5) / .5.
    assert [row["kappa"] for row in rows] == [pytest.approx(0.5)] * 2
    assert [row["n"] for row in rows] == [4, 4]


def test_each_method_gets_its_sample_and_shared_substitutions_are_there_once() -> None:
    items = [
        Item(str(n), {"kept": "x"}, tags={"a": "kept"} if n % 2 else {"a": "kept", "b": "kept"})
        for n in range(40)
    ]
    drawn = drawn_substitutions(items, 10, np.random.default_rng(1))
    assert len({item.id for item in drawn}) == len(drawn) < 20  # some serve both methods
    assert sum("a" in item.tags for item in drawn) == 10
    assert sum("b" in item.tags for item in drawn) == 10


def test_a_method_is_not_measured_on_what_another_method_drew() -> None:
    # `a` makes 100 substitutions, of which 20 are right, just those that `b` makes too. A sample of 20
    # from each has all of b's. Of a's sample one fifth must be right on average, not half and more.
    items = [
        Item(str(n), {"kept": "x"}, tags={"a": "kept", "b": "kept"} if n < 20 else {"a": "kept"})
        for n in range(100)
    ]
    shares = []
    for seed in range(200):
        drawn = drawn_substitutions(items, 20, np.random.default_rng(seed))
        own = [int(item.id) < 20 for item in drawn if "a" in item.tags]
        assert len(own) == 20
        shares.append(np.mean(own))
    assert np.mean(shares) == pytest.approx(0.2, abs=0.03)  # standard error .006


def test_refusals_stay_in_a_sample() -> None:
    items = [Item(str(n), {"kept": "x"}, tags={"a": "kept", "b": "refused"}) for n in range(5)]
    drawn = drawn_substitutions(items, 2, np.random.default_rng(1))
    assert [item.tags for item in drawn] == [{"a": "kept", "b": "refused"}] * 2


def choices(first: int, second: int) -> list[Preference]:
    return [
        Preference(f"J{n}", "1", "original", "weighted", "preference", "a" if n < first else "b")
        for n in range(first + second)
    ]


def test_fosters_two_studies_do_not_differ() -> None:
    """Foster (2008), section 3.4: χ²(1, N = 664) = 0.02, p ≈ 0.89. The choices of the second study are
    251 : 197; of the first, N = 664 leaves 216, so 123 : 93 rather than the 123 : 92 of Figure 3."""
    [row] = homogeneity_rows(choices(123, 93), choices(251, 197))
    assert row["n"] == 664
    assert row["chi_squared"] == pytest.approx(0.02, abs=0.005)
    assert row["p_value"] == pytest.approx(0.89, abs=0.01)


def test_studies_without_a_common_pair_are_refused() -> None:
    with pytest.raises(InputError, match="no pair of systems in common"):
        list(homogeneity_rows(choices(1, 1), []))
