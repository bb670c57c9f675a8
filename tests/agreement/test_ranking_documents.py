"""Rankings where items belong to documents, which may come from the evalset."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import t as student

import wellput
from tests.agreement.ranked_studies import LETTERS, golden_judgments
from tests.stats.mixed_studies import golden
from wellput import Judgment, Preference


def study_without_documents() -> tuple[list[Judgment], wellput.EvalSet]:
    """The golden study whose items have documents, with these in the evalset alone."""
    judged = golden_judgments("documents")
    documents = {one.item: one.extra["document"] for one in judged}
    systems = sorted({one.system for one in judged})
    items = [
        wellput.Item(
            id=item,
            outputs={system: f"{system} says {item}" for system in systems},
            references=(f"A says {item}",),
            document=document,
            tags={"half": "odd" if int(document[1:]) % 2 else "even"},
        )
        for item, document in documents.items()
    ]
    return [replace(one, extra={}) for one in judged], wellput.EvalSet(items)


def test_documents_come_from_the_evalset() -> None:
    """Against tests/golden/mixed_linear.json (R 4.2.2, lme4 1.1-31, lmerTest 3.1-3): value ~ 0 + system
    + (1|judge) + (1|item) + (1|document) + (1|judge:system) + (1|document:system) + (1|item:system)."""
    expected = golden("mixed_linear.json")["documents"]
    judged, evalset = study_without_documents()
    found = wellput.rank(judged, evalset=evalset, permutations=1).rankings[0]
    assert {row.system: row.estimate for row in found.systems} == pytest.approx(
        dict(zip(LETTERS, expected["effects"], strict=False)), rel=1e-4
    )
    components = {name.lower(): value for name, value in expected["components"].items()}
    assert found.variance == pytest.approx(components, rel=1e-3, abs=1e-3)
    rows = zip(
        combinations(LETTERS[:4], 2),
        expected["differences"],
        expected["difference_errors"],
        expected["freedom"],
        strict=True,
    )
    p_values = {frozenset(one.systems): one.p_value for one in found.differences}
    for pair, delta, error, freedom in rows:
        p = 2 * student.sf(abs(delta / error), freedom)
        assert p_values[frozenset(pair)] == pytest.approx(p, rel=5e-3)


def test_the_document_of_the_evalset_goes_before_that_of_the_judgments() -> None:
    judged, evalset = study_without_documents()
    own = [replace(one, extra={"document": one.item}) for one in judged]
    assert (
        wellput.rank(own, evalset=evalset, permutations=1).to_dict()
        == wellput.rank(judged, evalset=evalset, permutations=1).to_dict()
    )


def test_agree_and_report_rank_as_rank_does_with_the_evalset(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("wellput.reporting.html.page.chart_library", lambda: "")
    monkeypatch.setattr("wellput.reporting.html.page.report_page", lambda *_, **__: "")
    judged, evalset = study_without_documents()
    ranked = wellput.rank(judged, evalset=evalset, permutations=1).rankings[0]
    assert ranked.variance["document:system"] > 1
    agreed = wellput.agree(evalset, judged, "length").ranking
    reported = wellput.report(evalset, judged, metrics="length", resamples=10).evaluation.agreement
    assert reported is not None
    for (found,) in (agreed, reported.ranking):
        assert found.to_dict() == ranked.to_dict()


def test_choices_have_the_documents_of_the_evalset_in_agree_and_rank() -> None:
    rng = np.random.default_rng(3)
    likes_a = rng.normal(0.5, 1.5, 12)
    choices = [
        Preference(f"J{judge}", f"i{item}", "A", "B", "better", "a" if is_a else "b")
        for judge in range(4)
        for item in range(48)
        for is_a in [likes_a[item // 4] + rng.logistic() > 0]
    ]
    items = [
        wellput.Item(f"i{n}", {"A": "one", "B": "two"}, ("one",), document=f"d{n // 4}")
        for n in range(48)
    ]
    evalset = wellput.EvalSet(items)
    ranked = wellput.rank(choices, evalset=evalset, permutations=1).rankings[0]
    assert ranked.variance["document:system"] > 0.1
    assert "document:system" not in wellput.rank(choices, permutations=1).rankings[0].variance
    (agreed,) = wellput.agree(evalset, choices, "length").ranking
    assert agreed.to_dict() == ranked.to_dict()


def test_a_tag_of_the_evalset_makes_slices_with_its_documents() -> None:
    judged, evalset = study_without_documents()
    result = wellput.rank(judged, evalset=evalset, by="half", permutations=1)
    whole, even, odd = result.rankings
    assert (even.by, odd.by) == ({"half": "even"}, {"half": "odd"})
    assert even.n + odd.n == whole.n
    evens = {item.id for item in evalset.items if item.tags["half"] == "even"}
    alone = wellput.rank(
        [one for one in judged if one.item in evens], evalset=evalset, permutations=1
    )
    (only,) = alone.rankings
    assert (even.systems[0].estimate, even.variance) == (only.systems[0].estimate, only.variance)
    assert [one.p_value for one in even.differences] == [one.p_value for one in only.differences]
