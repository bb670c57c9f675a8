"""People and a machine judge side by side, and the section of the report about it."""

from __future__ import annotations

from itertools import product

import pytest

import wellput
from wellput.agreement.machines.comparison import machine_comparisons
from wellput.core.judgment import Judgment, Preference
from wellput.reporting.html.machines import machine_rows, machine_tables
from wellput.reporting.html.sections import sections_of

MACHINE = "model:m"


def ratings() -> list[Judgment]:
    """Two people on 12 of 20 items; the machine is a point too severe, and 4 points on item 3 of B."""
    found = []
    for item, system in product(range(20), "AB"):
        quality = 3.0 + item % 3 + (system == "A")
        gap = -4.0 if (item, system) == (3, "B") else -1.0
        found.append(Judgment(MACHINE, str(item), system, "q", quality + gap))
        if item < 12:
            found += [Judgment(p, str(item), system, "q", quality) for p in ("Kim", "Lee")]
    return found


def test_the_machine_is_corrected_and_the_worst_stands_first() -> None:
    (found,) = machine_comparisons(ratings())
    first = found.systems[0]
    assert (first.system, first.n_labeled, first.n_unlabeled) == ("A", 12, 8)
    # A is 4, 5, 6 in turn: 4.95 over all 20 items; the machine says a point less.
    assert first.proxy_only == pytest.approx(3.95)
    assert first.estimate.value == pytest.approx(4.95, abs=0.1)
    worst = found.worst[0]
    assert (worst.item, worst.systems, worst.people, worst.judge) == ("3", ("B",), 3.0, -1.0)


def test_choices_are_compared_too_and_labels_are_not() -> None:
    choices = []
    for item in range(12):
        choices += [Preference(p, str(item), "A", "B", "q", "a") for p in ("Kim", "Lee")]
        choices.append(Preference(MACHINE, str(item), "B", "A", "q", "b" if item else "a"))
    (found,) = machine_comparisons(choices)
    assert [one.item for one in found.worst] == ["0"]
    assert "Shares of choices" in machine_tables(found, [])[1].notes[0]
    labels = [Judgment(judge, "1", "A", "q", "x") for judge in ("Kim", "Lee", MACHINE)]
    assert machine_comparisons(labels) == []


def test_a_report_has_the_section_only_with_a_machine() -> None:
    pytest.importorskip("altair")
    evalset = wellput.EvalSet.of(
        {name: [f"{name} {item}" for item in range(20)] for name in "AB"}, ["A 1"] * 20
    )
    answers = [
        Judgment(one.judge, str(int(one.item) + 1), one.system, one.question, one.value)
        for one in ratings()
    ]
    report = wellput.report(evalset, answers, metrics="chrf", resamples=50)
    (section,) = [one for one in sections_of(report.evaluation) if one.name == "machines"]
    assert section.words[0].startswith("Whether model:m may stand in")
    assert section.tables[1].rows[0][:2] == ["B", "4"]
    assert section.tables[1].rows[0][-1] == "B 3"
    assert len(machine_rows(report.evaluation.machines[0])) == 6
    people = [one for one in answers if one.judge != MACHINE]
    alone = wellput.report(evalset, people, metrics="chrf", resamples=50)
    assert "machines" not in [one.name for one in sections_of(alone.evaluation)]
