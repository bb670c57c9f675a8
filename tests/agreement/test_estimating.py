"""`estimate` on judgments: equal to ppi-python, choices, documents, strata, and what to label next."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import wellput
from tests.golden.ppi_means import N_ITEMS, N_LABELED, scores
from wellput.agreement.machines.estimating import choose_next
from wellput.agreement.machines.proxied_labels import ProxiedLabels
from wellput.core.errors import InputError
from wellput.core.evalset import Item
from wellput.core.judgment import Judgment, PairwiseChoice, Preference
from wellput.reporting.estimate import estimate_report
from wellput.stats.prediction_powered import prediction_powered_mean

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "ppi_means.json").read_text(encoding="utf-8")
)
MACHINE = "model:m"


def evalset(n: int = N_ITEMS, *, per_document: int = 0, tag: bool = False) -> wellput.EvalSet:
    return wellput.EvalSet(
        [
            Item(
                f"{item:02}",
                {"A": "a" * (1 + item % 7), "B": "b"},
                document=f"d{item // per_document}" if per_document else None,
                tags={"domain": "news" if item % 3 else "chat"} if tag else {},
            )
            for item in range(n)
        ]
    )


def ratings() -> list[Judgment]:
    """Labels of the first items, and the machine's answers to all."""
    found = []
    for system, name in enumerate("AB"):
        labels, proxies = scores(system)
        for item in range(N_ITEMS):
            found.append(Judgment(MACHINE, f"{item:02}", name, "q", proxies[item]))
            if item < N_LABELED:  # two people about the label
                found.append(Judgment("Kim", f"{item:02}", name, "q", labels[item] - 0.25))
                found.append(Judgment("Lee", f"{item:02}", name, "q", labels[item] + 0.25))
    return found


def test_means_and_differences_equal_ppi_python() -> None:
    found = wellput.estimate(evalset(), ratings(), f"judge:{MACHINE}")
    by_system = {row.system: row for row in found.systems}
    for name in "AB":
        assert by_system[name].estimate.value == pytest.approx(GOLDEN[name]["tuned"], abs=1e-9)
        assert (by_system[name].n_labeled, by_system[name].n_unlabeled) == (24, 36)
    (difference,) = found.differences
    sign = 1 if difference.systems == ("A", "B") else -1
    assert sign * difference.estimate.value == pytest.approx(GOLDEN["A − B"]["tuned"], abs=1e-9)
    assert found.judges == ("Kim", "Lee")
    assert found.labels_worth > found.labels


def test_a_file_of_scores_is_stretched_to_the_labels(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["system", "item", "metric", "score"])
        for system, name in enumerate("AB"):
            for item, proxy in enumerate(scores(system)[1]):
                writer.writerow([name, f"{item:02}", "m", proxy / 1000])
    people = [one for one in ratings() if one.judge != MACHINE]
    found = wellput.estimate(evalset(), people, str(path))
    judge = wellput.estimate(evalset(), ratings(), f"judge:{MACHINE}")
    for one, other in zip(found.systems, judge.systems, strict=True):
        assert one.estimate.value == pytest.approx(other.estimate.value, abs=1e-9)
        assert one.tuning == pytest.approx(1000 * other.tuning)


def test_choices_give_win_rates() -> None:
    choices = []
    for item in range(40):
        choice: PairwiseChoice = "a" if item % 4 else "b"
        choices.append(Preference(MACHINE, f"{item:02}", "A", "B", "q", choice))
        if item < 20:
            choices.append(Preference("Kim", f"{item:02}", "B", "A", "q", "b" if item % 2 else "a"))
    found = wellput.estimate(evalset(40), choices, f"judge:{MACHINE}")
    by_system = {row.system: row for row in found.systems}
    assert by_system["A"].people.value == pytest.approx(0.5)
    assert by_system["A"].estimate.value + by_system["B"].estimate.value == pytest.approx(1)
    (difference,) = found.differences
    assert difference.estimate.value == pytest.approx(
        by_system[difference.systems[0]].estimate.value * 2 - 1
    )
    metric = wellput.estimate(evalset(40), choices, "length")
    assert metric.are_choices


def test_items_of_a_document_are_not_independent() -> None:
    alone = wellput.estimate(evalset(), ratings(), MACHINE)
    documents = wellput.estimate(evalset(per_document=3), ratings(), MACHINE)
    assert documents.clustered_by == "document"
    assert alone.systems[0].estimate.low != documents.systems[0].estimate.low


def test_strata_and_several_metrics_are_estimated() -> None:
    found = wellput.estimate(evalset(tag=True), ratings(), MACHINE, strata="domain")
    assert found.strata == "domain"
    assert found.systems[0].n_labeled == N_LABELED
    fitted = wellput.estimate(evalset(), ratings(), "length,ttr")
    assert fitted.proxy == "length, ttr"
    with pytest.raises(InputError, match=r"no item has this tag\. Items have no tags\."):
        wellput.estimate(evalset(), ratings(), MACHINE, strata="domain")
    with pytest.raises(InputError, match=r"Did you mean domain\? The tags are domain\."):
        wellput.estimate(evalset(tag=True), ratings(), MACHINE, strata="domains")


def by_topic(labeled: Mapping[str, Sequence[int]]) -> wellput.EstimateResult:
    """40 items on the sea, 12 on the moon, 8 without a topic."""
    items = [
        Item(
            f"{item:02}",
            {"A": "a", "B": "b"},
            tags={"topic": "sea" if item < 40 else "moon"} if item < 52 else {},
        )
        for item in range(60)
    ]
    answers = [
        Judgment(judge, f"{item:02}", name, "q", float((item * shift) % 7))
        for name, labels in labeled.items()
        for judge, judged, shift in (("Kim", labels, 3), (MACHINE, range(60), 2))
        for item in judged
    ]
    return wellput.estimate(wellput.EvalSet(items), answers, MACHINE, strata="topic")


def test_strata_with_too_few_labels_are_named() -> None:
    few = "Values of topic that were estimated as one, because some have labels of fewer than 5 items:"
    rule = "For the difference of two systems, only items with labels of both are counted."
    enough = by_topic({"A": range(5, 60), "B": range(60)})
    assert enough.to_dict()["notes"] == []
    # 24 labels on the sea, 2 on the moon, 3 without a topic: the two have 5 together.
    two = by_topic(dict.fromkeys("AB", (*range(24), 40, 41, 52, 53, 54)))
    assert two.to_dict()["notes"] == [f"{few} moon and the items without topic. {rule}"]
    assert two.notes[0] in str(two)
    # The moon alone has too few labels, and is joined with another topic.
    alone = by_topic(dict.fromkeys("AB", (*range(24), 40, *range(52, 60))))
    assert alone.notes == [f"{few} moon and the items without topic. {rule}"]
    # Only system B has too few.
    one = by_topic({"A": [*range(60)], "B": [*range(24), 40, 52]})
    assert one.notes == [f"{few} moon, sea and the items without topic (of B). {rule}"]


def yes_no(labeled: dict[str, range]) -> list[Judgment]:
    """Kim says yes on items whose number is not a multiple of 4, the machine on odd ones."""
    found = [
        Judgment(MACHINE, f"{item:02}", name, "q", item % 2) for name in "AB" for item in range(40)
    ]
    return found + [
        Judgment("Kim", f"{item:02}", name, "q", float(item % 4 > 0))
        for name, items in labeled.items()
        for item in items
    ]


def test_yes_and_no_are_shares_and_labels_are_a_range() -> None:
    found = wellput.estimate(evalset(40), yes_no({"A": range(24), "B": range(20)}), MACHINE)
    assert found.to_dict()["model"] == "rate"
    systems, differences = estimate_report(found).tables
    assert systems.columns[1] == "share of yes"
    assert [row[4] for row in systems.rows] == ["75%", "75%"]
    assert [row[6] for row in systems.rows] == ["50%", "50%"]
    assert "the 20 to 24 labels of a system" in systems.notes[0]
    assert differences.rows[0][1].endswith("%")
    assert differences.rows[0][-1] == "20"
    assert "items that have labels of both systems" in differences.notes[0]
    assert any("`wellput rank`" in note for note in systems.notes)


def test_a_difference_without_common_items_is_that_of_the_estimates() -> None:
    found = wellput.estimate(evalset(40), yes_no({"A": range(20), "B": range(20, 40)}), MACHINE)
    (one,) = found.differences
    assert not one.is_paired
    a, b = (row.estimate.value for row in found.systems)
    assert one.estimate.value == pytest.approx(a - b)
    table = estimate_report(found).tables[1]
    assert table.rows[0][-1] == "–"
    assert "the difference is that of the two estimates above" in table.notes[0]


def test_narrow_intervals_are_named_only_where_they_may_be() -> None:
    def narrow(found: wellput.EstimateResult) -> list[str]:
        return [note for note in estimate_report(found).tables[0].notes if "too narrow" in note]

    few = wellput.estimate(evalset(40), yes_no({"A": range(16), "B": range(24)}), MACHINE)
    assert narrow(few) == [
        "The interval of A may be too narrow: fewer than 20 labels, most of them at one end of the "
        "scale."
    ]
    many = wellput.estimate(evalset(40), yes_no({"A": range(24), "B": range(24)}), MACHINE)
    assert not narrow(many)
    whole = wellput.estimate(evalset(40), yes_no({"A": range(1, 8), "B": range(24)}), MACHINE)
    seven = next(row for row in whole.systems if row.system == "A")
    assert (seven.estimate.low, seven.estimate.high) == (0, 1)
    assert not narrow(whole)


def test_a_budget_that_is_too_large_says_which_outputs_have_no_label() -> None:
    given = yes_no({"A": range(39), "B": range(30)})
    with pytest.raises(InputError) as found:
        wellput.estimate(evalset(40), given, MACHINE, budget=5)
    assert str(found.value) == (
        "budget=5 is more than the 1 item without any label. Items with a label of any system are not "
        "chosen again, though some of their outputs have no label: 9 of B."
    )


def test_a_plan_is_read_back_as_weights(tmp_path: Path) -> None:
    plan = tmp_path / "plan.csv"
    found = wellput.estimate(evalset(), ratings(), MACHINE, budget=10, plan=plan)
    assert found.next_items is not None
    assert len(found.next_items.chosen) == 10
    labeled = {f"{item:02}" for item in range(N_LABELED)}
    assert not labeled & set(found.next_items.chosen)
    chances = np.array(list(found.next_items.probabilities.values()))
    assert len(chances) == N_ITEMS
    assert ((chances > N_LABELED / N_ITEMS - 1e-9) & (chances <= 1)).all()
    again = wellput.estimate(evalset(), ratings(), MACHINE, probabilities=plan)
    assert again.has_probabilities
    assert again.systems[0].estimate.value == pytest.approx(
        found.systems[0].estimate.value, abs=0.3
    )
    plan.write_text("item,probability,chosen\n00,1.5,0\n", encoding="utf-8")
    with pytest.raises(InputError, match="is not above 0"):
        wellput.estimate(evalset(), ratings(), MACHINE, probabilities=plan)


def test_wrong_input_is_refused_with_what_to_do() -> None:
    two = [*ratings(), Judgment("Kim", "00", "A", "r", 1.0)]
    with pytest.raises(InputError, match="2 questions: choose with question="):
        wellput.estimate(evalset(), two, MACHINE)
    with pytest.raises(InputError, match="no judge has this name"):
        wellput.estimate(evalset(), ratings(), "judge:model:n")
    with pytest.raises(InputError, match="budget=99"):
        wellput.estimate(evalset(), ratings(), MACHINE, budget=99)
    with pytest.raises(InputError, match="plan="):
        wellput.estimate(evalset(), ratings(), MACHINE, plan="p.csv")
    labels = [Judgment("Kim", "00", "A", "q", "good"), Judgment(MACHINE, "00", "A", "q", "bad")]
    with pytest.raises(InputError, match="labels"):
        wellput.estimate(evalset(), labels, MACHINE)


def test_items_of_a_budget_leave_the_estimate_right_on_average() -> None:
    """The difference of two systems is larger on items that are chosen more often: unweighted labels
    exaggerate it. The chances of the plan correct for that."""
    rng = np.random.default_rng(1)
    hard = rng.exponential(1, 60)
    proxies = 3 + hard * rng.normal(size=(2, 60))
    labels = 0.5 * proxies + 0.3 * rng.normal(size=(2, 60)) + np.array([[0.8], [-0.5]]) * hard
    truth = float((labels[0] - labels[1]).mean())
    weighted, plain = [], []
    for _ in range(300):
        given = ProxiedLabels(
            ("A", "B"), tuple(map(str, range(60))), np.full((2, 60), np.nan), proxies, np.arange(60)
        )
        first = rng.choice(60, 12, replace=False)
        given.labels[:, first] = labels[:, first]
        found = choose_next(given, 12, before=None, rng=rng)
        chosen = [int(item) for item in found.chosen]
        assert not set(chosen) & set(first.tolist())
        given.labels[:, chosen] = labels[:, chosen]  # of both systems: paired
        (part,) = given.of_pair(0, 1)
        chances = np.array(list(found.probabilities.values()))
        plain.append(prediction_powered_mean(part).value - truth)
        weighted.append(prediction_powered_mean(replace(part, weights=1 / chances)).value - truth)
    error = float(np.std(weighted)) / np.sqrt(300)
    assert abs(float(np.mean(weighted))) < 4 * error
    assert float(np.mean(plain)) > 10 * error


def test_the_plan_says_that_people_judge_all_systems() -> None:
    text = str(wellput.estimate(evalset(), ratings(), MACHINE, budget=3))
    assert "People judge the outputs of all systems for each of these items" in text


def test_a_proxy_that_is_the_labels_is_noticed() -> None:
    copied = [
        *(one for one in ratings() if one.judge != MACHINE),
        *(
            Judgment(MACHINE, f"{item:02}", name, "q", 10 + 2 * scores(system)[0][item])
            for system, name in enumerate("AB")
            for item in range(N_LABELED)
        ),
    ]
    found = wellput.estimate(evalset(), copied, MACHINE)
    assert found.is_proxy_a_copy
    assert "it may have been made from them" in str(found)
    assert not wellput.estimate(evalset(), ratings(), MACHINE).is_proxy_a_copy


def test_labels_of_few_documents_give_no_interval_and_the_reason() -> None:
    """24 labeled items of 3 documents: too few documents, though many items."""
    found = wellput.estimate(evalset(per_document=8), ratings(), f"judge:{MACHINE}")
    assert all(row.estimate.low is None for row in found.systems)
    (difference,) = found.differences
    assert difference.is_paired  # all labeled items have labels of both systems
    assert difference.n_labeled == N_LABELED
    shown = str(found)
    assert (
        "No interval, p-value or λ: the labels come from 3 documents, and at least 5 are needed. "
        "cluster='item' takes every item as independent." in shown
    )
    assert "cannot be said" not in shown
    assert "too few items have labels of both" not in shown


def test_equal_labels_give_no_interval_and_the_reason() -> None:
    equal = [replace(one, value=3.0) if one.judge != MACHINE else one for one in ratings()]
    shown = str(wellput.estimate(evalset(), equal, f"judge:{MACHINE}"))
    assert "No interval of A and B: all labels are equal, so their spread is unknown." in shown


def test_the_units_of_an_estimate_can_be_chosen() -> None:
    documents, judge = evalset(per_document=8, tag=True), f"judge:{MACHINE}"
    alone = wellput.estimate(evalset(), ratings(), judge)
    items = wellput.estimate(documents, ratings(), judge, cluster="item")
    assert [row.to_dict() for row in items.systems] == [row.to_dict() for row in alone.systems]
    assert items.clustered_by == "item"
    tagged = wellput.estimate(documents, ratings(), judge, cluster="domain")
    assert "the labels come from 2 values of domain" in str(tagged)
    with pytest.raises(InputError, match="cluster='document': no item of the evalset has"):
        wellput.estimate(evalset(), ratings(), judge, cluster="document")
    with pytest.raises(InputError, match=r"cluster='size' is not a tag.*The tags are domain"):
        wellput.estimate(documents, ratings(), judge, cluster="size")


def test_a_proxy_saves_nothing_where_people_judged_everything() -> None:
    judged = [one for one in ratings() if int(one.item) < N_LABELED]
    shown = str(wellput.estimate(evalset(), judged, MACHINE))
    assert f"{MACHINE} can save nothing here: people judged every item" in shown
    assert "can save nothing" not in str(wellput.estimate(evalset(), ratings(), MACHINE))


def test_a_system_that_is_ahead_by_the_same_on_every_item_is_ahead() -> None:
    """Without a spread there is no t test; the sign test of 10 equal differences has p = 2 / 2¹⁰."""
    items = [
        Item(str(n), {"A": "a b", "B": "a", "C": "b a"}, references=("a b",)) for n in range(20)
    ]
    values = {"A": (1, 1), "B": (0, 0), "C": (0, 1)}
    answers = [
        Judgment("J", str(n), system, "q", float(pair[n % 2]), {})
        for n in range(10)
        for system, pair in values.items()
    ]
    found = wellput.estimate(wellput.EvalSet(items), answers, proxy="chrf")
    ranks = {row.system: (row.rank_low, row.rank_high) for row in found.systems}
    assert ranks == {"A": (1, 1), "C": (2, 2), "B": (3, 3)}
    (a_b,) = (one for one in found.differences if one.systems == ("A", "B"))
    assert a_b.estimate.p_value == pytest.approx(2 / 2**10)
    assert a_b.estimate.low is None


@pytest.mark.parametrize("ahead", [1.0, 0.1, 1 / 3])
def test_a_difference_that_is_equal_but_for_rounding_has_the_sign_test(ahead: float) -> None:
    """5.1 − 5 and 3.1 − 3 differ in their last digits: that is no spread to test by."""
    items = [Item(str(n), {"A": "a b", "B": "a"}, references=("a b",)) for n in range(20)]
    answers = [
        Judgment("J", str(n), system, "q", 1 + n % 5 + more, {})
        for n in range(6)
        for system, more in {"A": ahead, "B": 0.0}.items()
    ]
    found = wellput.estimate(wellput.EvalSet(items), answers, proxy="chrf")
    (difference,) = found.differences
    assert difference.estimate.value == pytest.approx(ahead, rel=1e-15)
    assert difference.estimate.p_value == pytest.approx(2 / 2**6)
    assert difference.estimate.low is None


def test_equal_labels_have_no_interval() -> None:
    """13 / 3 on every item: the mean of the labels without one item may differ in its last digit."""
    items = [Item(str(n), {"A": "a b", "B": "a"}, references=("a b",)) for n in range(20)]
    answers = [
        Judgment(judge, str(n), "A", "q", value, {})
        for n in range(7)
        for judge, value in {"J": 4.0, "K": 4.0, "L": 5.0}.items()
    ]
    found = wellput.estimate(wellput.EvalSet(items), answers, proxy="chrf")
    assert found.systems[0].estimate.low is None
