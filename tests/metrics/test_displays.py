"""Display metrics: Foster's Table 2, hand-worked cases, and what must hold of any schedule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

import wellput
from benchmarks.papers.foster_sample import METRICS, PRINTED, sample
from wellput.core.errors import InputError
from wellput.core.evalset import Batch, EvalSet, Item
from wellput.displays.schedules import MOTIONS
from wellput.metrics.registry import create, metric_names

ALL = [name for name in metric_names() if name.startswith("display-")]

Schedules = dict[str, dict[str, list[str]]]


def flat(n: int) -> dict[str, Any]:
    """A root over n − 1 words: n nodes."""
    return {"id": "r", "children": [{"id": f"w{i}", "word": "x"} for i in range(1, n)]}


def evalset(*items: tuple[int, Schedules]) -> EvalSet:
    return EvalSet(
        Item(str(place), outputs, derivation=flat(n)) for place, (n, outputs) in enumerate(items)
    )


def value(sets: EvalSet, metric: str, system: str = "A") -> float:
    return wellput.score(sets, metric)[system, create(metric).name].score


@pytest.mark.parametrize("system", PRINTED)
def test_table_2_of_foster(system: str) -> None:
    specs = [f"display-{name}" for name in METRICS]
    result = wellput.score(sample(), specs)
    found = [result[system, spec].score for spec in specs]
    assert np.abs(np.array(found) - PRINTED[system]).max() <= 0.006  # printed to two digits


def test_the_counts_behind_table_2() -> None:
    result = wellput.score(sample(), "display-precision,display-accuracy")
    counts = result["weighted", "display-precision"].components
    assert counts == {"matched": 2, "chosen": 3, "original": 7}
    nodes = result["weighted", "display-accuracy"].components
    assert (nodes["right"], nodes["decisions"]) == (17, 23)
    assert nodes["no_motion"] == 17 / 23  # the original has displays on 6 of 23 nodes


def test_matching_by_combination_and_by_motion() -> None:
    # One node agrees wholly, one in one of two motions, one not at all; of 5 nodes.
    sets = evalset(
        (
            5,
            {
                "original": {"w1": ["nd=d"], "w2": ["nd=d", "bw=u"], "w3": ["sq"]},
                "A": {"w1": ["nd=d"], "w2": ["nd=d"]},
            },
        )
    )
    assert value(sets, "display-precision") == 1.0  # 2 of 2 motions
    assert value(sets, "display-precision:match=combination") == 0.5
    assert value(sets, "display-recall:match=combination") == 1 / 3
    assert value(sets, "display-accuracy") == 3 / 5
    # 45 decisions, two of them wrong: raised brows on w2, the squint on w3.
    assert value(sets, "display-accuracy:match=motion") == 43 / 45
    assert value(sets, "display-tokens:match=motion", "original") == 4
    assert value(sets, "display-types:match=motion", "original") == 3
    assert value(sets, "display-ttr:match=motion", "original") == 3 / 4


def test_sentences_without_displays() -> None:
    nothing: Schedules = {"original": {}, "A": {}}
    missed: Schedules = {"original": {"w1": ["sq"]}, "A": {"w1": []}}
    right: Schedules = {"original": {"w1": ["sq"]}, "A": {"w1": ["sq"]}}
    sets = evalset((2, nothing), (2, missed), (2, right))
    assert value(sets, "display-precision") == 1.0  # the third alone
    assert value(sets, "display-precision:empty=zero") == 1 / 3
    assert value(sets, "display-precision:empty=agree") == 2 / 3
    assert value(sets, "display-recall") == 1 / 2
    assert value(sets, "display-f") == 1 / 2
    assert value(sets, "display-ttr") == 1.0
    assert value(sets, "display-tokens") == 1 / 3
    assert wellput.score(sets, "display-precision")["A", "display-precision"].undefined == 2


def test_counts_can_be_pooled() -> None:
    sets = evalset(
        (2, {"original": {"w1": ["sq"]}, "A": {"w1": ["sq"]}}),
        (4, {"original": {"w1": ["sq"]}, "A": {"w1": ["nd=d"], "w2": ["sq"], "w3": ["sq"]}}),
    )
    assert value(sets, "display-precision") == 1 / 2  # the mean of 1/1 and 0/3
    assert value(sets, "display-precision:average=corpus") == 1 / 4
    assert value(sets, "display-accuracy") == (2 / 2 + 1 / 4) / 2
    assert value(sets, "display-accuracy:average=corpus") == 3 / 6


def test_a_span_is_a_unit_of_its_own() -> None:
    sets = evalset((3, {"original": {"w1..w2": ["ln=l"]}, "A": {"w1": ["ln=l"]}}))
    # Three nodes and the span: right on the root and on w2.
    assert value(sets, "display-accuracy") == 2 / 4
    assert value(sets, "display-recall") == 0


def test_beta_by_hand() -> None:
    # Four nodes. Original: nod+brows, nod, nothing, nothing; A: nod, nod, squint, nothing.
    sets = evalset(
        (4, {"original": {"r": ["nd=d", "bw=u"], "w1": ["nd=d"]},
             "A": {"r": ["nd=d"], "w1": ["nd=d"], "w2": ["sq"]}}),
    )  # fmt: skip
    # Jaccard distances: nod+brows to nod 1/2; every other pair of different values 1.
    observed = (1 / 2 + 0 + 1 + 0) / 4
    # A: nod 2/4, squint 1/4, nothing 1/4. Original: nod+brows 1/4, nod 1/4, nothing 2/4. A nod meets
    # nod+brows at 1/2, a nod at 0, nothing at 1; a squint meets all at 1; nothing meets nothing at 0.
    expected = 1 / 2 * (1 / 8 + 0 + 1 / 2) + 1 / 4 * 1 + 1 / 4 * (1 / 2)
    assert value(sets, "display-beta") == pytest.approx(1 - observed / expected)
    parts = wellput.score(sets, "display-beta")["A", "display-beta"].components
    assert parts == pytest.approx({"observed": observed, "expected": expected})


def test_beta_of_a_sentence_is_over_the_expectation_of_the_corpus() -> None:
    sets = evalset(
        (2, {"original": {"w1": ["sq"]}, "A": {"w1": ["sq"]}}),
        (2, {"original": {"w1": ["sq"]}, "A": {}}),
    )
    # Original: squint 2 of 4; A: 1 of 4. Expected 2/4 · 3/4 + 2/4 · 1/4 = 1/2; observed 0 and 1/2.
    table = wellput.score(sets, "display-beta", keep_rows=True).table("display-beta")
    assert table.scores[table.row("A")].tolist() == [1.0, 0.0]
    assert value(sets, "display-beta") == 0.5


def test_beta_takes_no_part_in_tests() -> None:
    result = wellput.score(sample(), "display-beta,display-f", paired="ar", all_pairs=True)
    assert result["weighted", "display-beta"].p_value is None
    assert result["weighted", "display-f"].p_value is not None
    assert {pair.metric for pair in result.comparisons} == {"display-f"}


def test_frequencies_over_the_corpus() -> None:
    sets = evalset(
        (4, {"original": {"w1": ["sq"], "w2": ["nd=d"]}, "A": {"w1": ["nd=d"], "w2": ["nd=d"]}}),
        (4, {"original": {"w1": ["sq"], "w2": ["nd=d"]}, "A": {"w1": ["nd=d"], "w2": ["bw=u"]}}),
    )
    assert value(sets, "display-entropy", "original") == 1.0  # two displays, equally common
    assert value(sets, "display-commonest") == 3 / 4
    assert value(sets, "display-distance", "original") == 0.0
    # A (nod 3/4, brows 1/4) against (nod 1/2, squint 1/2); the mixture has nod 5/8, 1/8 and 1/4.
    mixture = -(5 / 8 * np.log2(5 / 8) + 1 / 8 * np.log2(1 / 8) + 1 / 4 * np.log2(1 / 4))
    own = -(3 / 4 * np.log2(3 / 4) + 1 / 4 * np.log2(1 / 4))
    assert value(sets, "display-distance") == pytest.approx(np.sqrt(mixture - (own + 1) / 2))


def test_text_and_schedules_are_not_mixed() -> None:
    text = EvalSet([Item("1", {"A": "a text", "original": {}}, derivation=flat(2))])
    with pytest.raises(InputError, match="scores display schedules, but outputs of A are text"):
        wellput.score(text, "display-tokens")
    alone = EvalSet([Item("1", {"A": {}}, derivation=flat(2))])
    with pytest.raises(InputError, match="outputs of a system named original"):
        wellput.score(alone, "display-recall")


displays = st.lists(st.sampled_from(list(MOTIONS)), unique=True, max_size=3)
schedules = st.dictionaries(st.sampled_from(["r", "w1", "w2", "w3"]), displays)
corpora = st.lists(st.tuples(schedules, schedules), min_size=1, max_size=6)


@pytest.mark.parametrize("name", ALL)
@given(corpora)
@settings(max_examples=30, deadline=None)
def test_statistics_add_up_and_blocks_do_not_matter(
    name: str, corpus: list[tuple[dict[str, list[str]], dict[str, list[str]]]]
) -> None:
    sets = evalset(*((4, {"original": one, "A": other}) for one, other in corpus))
    metric = create(name)
    prepared = metric.prepare_outputs(sets) if hasattr(metric, "prepare_outputs") else metric
    whole = prepared.statistics(Batch.of("A", sets.items))
    parts = [prepared.statistics(Batch.of("A", [item])) for item in sets.items]
    assert np.isfinite(whole).all()
    assert np.array_equal(whole, np.concatenate(parts))
    perfect = prepared.perfect.get("score")
    own = prepared.score(prepared.statistics(Batch.of("original", sets.items)).sum(axis=0))
    assert perfect is None or np.isnan(own) or own == pytest.approx(perfect)


@given(corpora)
@settings(max_examples=50, deadline=None)
def test_beta_with_the_nominal_distance_is_cohens_kappa(
    corpus: list[tuple[dict[str, list[str]], dict[str, list[str]]]],
) -> None:
    sets = evalset(*((4, {"original": one, "A": other}) for one, other in corpus))
    labels = [
        ["+".join(sorted(schedule.get(node, []))) for schedule in (one, other)]
        for one, other in corpus
        for node in ("r", "w1", "w2", "w3")
    ]
    first, second = zip(*labels, strict=True)
    ours = value(sets, "display-beta:distance=nominal")
    if len({*first, *second}) == 1:
        assert np.isnan(ours)
    else:
        assert ours == pytest.approx(cohen_kappa_score(first, second))
