"""γ, character F1 and severities of error spans, beside pygamma-agreement and by hand."""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellput.core.judgment import ErrorSpan
from wellput.core.metric import Floats
from wellput.stats.clusters import ClusteredItems
from wellput.stats.judges.krippendorff import krippendorff_alpha
from wellput.stats.spans import span_alignment
from wellput.stats.spans.gamma import MarkedPanel, gamma, random_panel
from wellput.stats.spans.marked_characters import (
    chance_f1,
    f1,
    marked_alike,
    marked_counts,
    precision,
    recall,
)
from wellput.stats.spans.span_alignment import (
    Effort,
    MarkedSpans,
    TooManyAlignments,
    aligned_disorders,
    coincidences,
    nominal_alpha,
    overlapping_pairs,
)

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "span_gamma.json").read_text(encoding="utf-8")
)


def marked(rows: Any, n_judges: int) -> MarkedSpans:
    table = np.array(rows, float).reshape(-1, 4)
    return MarkedSpans(
        table[:, 0].astype(np.intp), table[:, 1], table[:, 2], table[:, 3].astype(np.intp), n_judges
    )


def disorder(spans: MarkedSpans) -> float:
    return float(aligned_disorders(spans).sum()) * spans.n_judges / len(spans)


def ends_of(n_texts: int) -> Floats:
    """The ends of texts of 100 characters."""
    return np.array([100.0 * (place + 1) for place in range(n_texts)])


def items(n: int) -> ClusteredItems:
    return ClusteredItems.of(np.arange(n))


@pytest.mark.parametrize("most_for_sets", [0, 8])
def test_best_alignments_are_those_of_pygamma_agreement(
    monkeypatch: pytest.MonkeyPatch, most_for_sets: int
) -> None:
    """Both ways of solving; pygamma-agreement computes with 32 bits."""
    monkeypatch.setattr(span_alignment, "MAX_SPANS_FOR_SETS", most_for_sets)
    for case in GOLDEN["alignments"]:
        found = disorder(marked(case["spans"], case["judges"]))
        assert found == pytest.approx(case["disorder"], abs=1e-6)


def test_random_panels_of_pygamma_agreement_have_the_same_disorder() -> None:
    """So γ has the same digits where the random panels are the same."""
    for case in GOLDEN["panels"]:
        spans = marked(case["spans"], case["judges"])
        assert disorder(spans) == pytest.approx(case["observed"], abs=1e-6)
        for drawn in case["drawn"]:
            found = disorder(marked(drawn["spans"], case["judges"]))
            assert found == pytest.approx(drawn["disorder"], abs=1e-6)


def test_the_expected_disorder_is_that_of_pygamma_agreement_up_to_the_draws() -> None:
    for case in GOLDEN["panels"]:
        spans = marked(case["spans"], case["judges"])
        panel = MarkedPanel(spans, np.array([float(case["length"])]), np.array([0]))
        found = gamma([panel], clusters=items(1))
        error = case["sd"] * math.sqrt(1 / case["n"] + 1 / found.draws)
        assert found.observed == pytest.approx(case["observed"], abs=1e-6)
        assert abs(found.expected - case["mean"]) < 4 * error
        assert found.estimate.value == pytest.approx(1 - found.observed / found.expected)
        assert found.estimate.low is None  # one item says nothing about others


spans_of = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 40), st.integers(1, 15), st.integers(0, 1)),
    min_size=1,
    max_size=6,
)


@given(spans_of, st.integers(3, 4))
def test_no_alignment_is_better(drawn: list[tuple[int, int, int, int]], n_judges: int) -> None:
    """Against every partition of the spans, tried one by one."""
    rows = [(judge, start, start + size, kind) for judge, start, size, kind in drawn]
    assert aligned_disorders(marked(rows, n_judges)).sum() == pytest.approx(
        least_disorder(rows, n_judges)
    )


def least_disorder(rows: list[tuple[int, int, int, int]], n_judges: int) -> float:
    pairs = n_judges * (n_judges - 1) / 2
    best = math.inf
    for groups in product(range(len(rows)), repeat=len(rows)):
        if any(group > max((*groups[:place], -1)) + 1 for place, group in enumerate(groups)):
            continue  # the same partition with other numbers
        total = 0.0
        for group in set(groups):
            own = [row for row, of in zip(rows, groups, strict=True) if of == group]
            if len({row[0] for row in own}) < len(own):
                break
            inside = [
                ((abs(a[1] - b[1]) + abs(a[2] - b[2])) / (a[2] - a[1] + b[2] - b[1])) ** 2
                + (a[3] != b[3])
                for place, a in enumerate(own)
                for b in own[:place]
            ]
            total += (sum(inside) + pairs - len(inside)) / pairs
        else:
            best = min(best, total)
    return best


@given(spans_of)
def test_two_judges_are_matched_as_well_as_by_trying_all(
    drawn: list[tuple[int, int, int, int]],
) -> None:
    rows = [(judge % 2, start, start + size, kind) for judge, start, size, kind in drawn]
    assert aligned_disorders(marked(rows, 2)).sum() == pytest.approx(least_disorder(rows, 2))


def test_matching_ends_where_sums_of_differences_are_nearly_equal() -> None:
    """Where sums are rounded, SciPy's search for the best matching of these spans never ends."""
    rows = [
        (0, 5562, 5573, 0), (0, 5565, 5567, 0), (0, 5560, 5573, 0), (1, 5565, 5572, 1),
        (1, 5564, 5571, 0),
    ]  # fmt: skip
    assert aligned_disorders(marked(rows, 2)).sum() == pytest.approx(least_disorder(rows, 2))


@pytest.mark.parametrize(
    ("n_judges", "n_spans"), [pytest.param(2, 6000, id="matching"), pytest.param(4, 800, id="sets")]
)
def test_dense_spans_are_refused_before_they_are_aligned(n_judges: int, n_spans: int) -> None:
    rng = np.random.default_rng(1)
    starts = rng.integers(0, 300, n_spans)
    rows = np.stack([np.arange(n_spans) % n_judges, starts, starts + 100, starts % 2], axis=1)
    effort = Effort(2_000_000)
    with pytest.raises(TooManyAlignments):
        aligned_disorders(marked(rows, n_judges), effort)


def test_a_span_of_each_of_very_many_judges_at_one_place_is_refused() -> None:
    with pytest.raises(TooManyAlignments):
        aligned_disorders(
            marked([(judge, 0, 5, 0) for judge in range(1200)], 1200), Effort(20_000_000)
        )


def panel_of(rng: np.random.Generator, n_texts: int, shift: int) -> MarkedPanel:
    """Two judges who mark one span in a third of the texts; the second marks it `shift` later."""
    rows = []
    for text in range(n_texts):
        if rng.random() < 1 / 3:
            start = 100 * text + int(rng.integers(10, 60))
            rows += [(0, start, start + 10, 0), (1, start + shift, start + shift + 10, 0)]
    ends = ends_of(n_texts)
    return MarkedPanel(marked(rows, 2), ends, np.arange(n_texts))


def test_judges_who_mark_the_same_agree_perfectly() -> None:
    found = gamma([panel_of(np.random.default_rng(1), 30, 0)], clusters=items(30))
    assert found.estimate.value == 1.0
    assert found.observed == 0.0


@pytest.mark.heavy
def test_judges_who_mark_at_random_agree_by_chance() -> None:
    """The interval has 0 in about 95 of 100 studies; in 40, at least 33."""
    rng = np.random.default_rng(2)
    values, covered = [], 0
    for _ in range(40):
        rows = [
            (judge, start, start + 8, 0)
            for judge in (0, 1)
            for start in rng.choice(1900, 30, replace=False).tolist()
        ]
        panel = MarkedPanel(marked(rows, 2), ends_of(20), np.arange(20))
        found = gamma([panel], clusters=items(20), seed=int(rng.integers(1000))).estimate
        values.append(found.value)
        assert found.low is not None and found.high is not None
        covered += found.low <= 0 <= found.high
    assert abs(np.mean(values)) < 0.03
    assert covered >= 33


@pytest.mark.heavy
def test_leaving_an_item_out_is_close_to_computing_without_it() -> None:
    """The interval's shortcut, against γ of the panel without the text."""
    rng = np.random.default_rng(3)
    rows = []
    for text in range(12):
        start = 100 * text + int(rng.integers(0, 60))
        rows.append((0, start, start + 12, 0))
        if text % 3:
            rows.append((1, start + 2 * (text % 4), start + 12, text % 2))
    whole = MarkedPanel(marked(rows, 2), ends_of(12), np.arange(12))
    interval = gamma([whole], clusters=items(12)).estimate
    without: list[float] = []
    for left_out in range(12):
        kept = [
            (judge, start - 100 * (start > 100 * left_out), end - 100 * (start > 100 * left_out), k)
            for judge, start, end, k in rows
            if start // 100 != left_out
        ]
        part = MarkedPanel(marked(kept, 2), ends_of(11), np.arange(11))
        without.append(gamma([part], clusters=items(11)).estimate.value)
    error = math.sqrt(11 * float(np.var(without)))
    assert interval.low is not None and interval.high is not None
    assert interval.high - interval.low == pytest.approx(2 * 2.2 * error, rel=0.35)


def test_random_panels_keep_lengths_and_name_the_items() -> None:
    panel = panel_of(np.random.default_rng(4), 20, 3)
    spans, places = random_panel(panel, np.random.default_rng(5))
    assert set((spans.ends - spans.starts).tolist()) == {10.0}
    assert spans.starts.min() >= 0 and spans.starts.max() <= 2000
    assert len(places) == 2 and all(len(own) == len(spans) for own in places)


def test_nothing_marked_has_no_gamma() -> None:
    empty = MarkedPanel(marked([], 2), np.array([50.0]), np.array([0]))
    found = gamma([empty], clusters=items(1))
    assert math.isnan(found.estimate.value)
    assert found.estimate.method == "undefined: nothing is marked"


def test_characters_by_hand() -> None:
    """Of 10 characters the first marks 4, the second 5, both 3: by chance 4 · 5 / 10 = 2."""
    first, second = np.zeros(10, bool), np.zeros(10, bool)
    first[2:6] = second[3:8] = True
    row = marked_counts(first, second)
    assert row.tolist() == [3, 4, 5, 2]
    assert precision(row) == 3 / 4
    assert recall(row) == 3 / 5
    assert f1(row) == 6 / 9
    assert chance_f1(row) == 4 / 9


markings = st.lists(
    st.tuples(
        st.lists(st.booleans(), min_size=5, max_size=5),
        st.lists(st.booleans(), min_size=5, max_size=5),
    ),
    min_size=5,
    max_size=8,
)


@given(markings)
def test_figures_of_characters_stay_in_bounds_and_do_not_depend_on_the_order(
    drawn: list[tuple[list[bool], list[bool]]],
) -> None:
    rows = np.array([marked_counts(np.array(a), np.array(b)) for a, b in drawn])
    swapped = np.array([marked_counts(np.array(b), np.array(a)) for a, b in drawn])
    found, other = marked_alike(rows, items(len(rows))), marked_alike(swapped, items(len(rows)))
    np.testing.assert_equal(found.f1.value, other.f1.value)
    np.testing.assert_equal(found.precision.value, other.recall.value)
    if rows[:, :3].sum():
        assert 0 <= found.f1.value <= 1
        if found.f1.low is not None and found.f1.high is not None:
            assert 0 <= found.f1.low <= found.f1.value <= found.f1.high <= 1


def test_spans_are_paired_by_what_they_share() -> None:
    long, short = ErrorSpan(0, 20, "major"), ErrorSpan(18, 22, "minor")
    left, right = ErrorSpan(2, 10, "major"), ErrorSpan(17, 21, "minor")
    assert overlapping_pairs([long, short], [left, right, ErrorSpan(-1, -1, "minor")]) == [
        (long, left),
        (short, right),
    ]
    assert overlapping_pairs([left], [right]) == []


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=2))
def test_alpha_of_pairs_is_krippendorffs(pairs: list[tuple[str, str]]) -> None:
    units = np.array([["abc".index(a), "abc".index(b)] for a, b in pairs], float).T
    found = nominal_alpha(coincidences(pairs, "abc"))
    np.testing.assert_allclose(found, krippendorff_alpha(units, level="nominal").value, atol=1e-12)
