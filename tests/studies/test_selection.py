from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wellput
from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet
from wellput.studies.designs.registry import create, default_questionnaire
from wellput.studies.media import TextMedium
from wellput.studies.planning import TrialSelection, select_trials, trial_values, used_items
from wellput.studies.questionnaire import Layout
from wellput.studies.shown_items import shown_items
from wellput.studies.study_setup import all_trials, study_items

WORDS = [f"w{n}" for n in range(20)]


def evalset(n: int = 60, systems: int = 3) -> EvalSet:
    """Outputs that keep a varying number of the reference's words, and vary in length."""
    rng = np.random.default_rng(5)
    outputs: dict[str, list[str | None]] = {}
    for system in range(systems):
        texts: list[str | None] = []
        for _ in range(n):
            kept = int(rng.integers(0, 21))
            texts.append(" ".join(WORDS[:kept] + ["x"] * int(rng.integers(1, 20))))
        outputs["ABC"[system]] = texts
    return EvalSet.of(outputs, [" ".join(WORDS)] * n)


def select(kind: str = "rating", layout: Layout = "single", **options: Any) -> TrialSelection:
    source = evalset()
    items = study_items(source, TextMedium())
    questionnaire = default_questionnaire(kind, layout=layout)
    options = {"per_stratum": 5, "seed": 1, **options}
    return select_trials(source, questionnaire, items, all_trials(questionnaire, items), **options)


def scores(metric: str) -> dict[tuple[int, str], float]:
    table = wellput.score(evalset(), metric, keep_rows=True).table(metric)
    return {
        (item, system): table.scores[row, item]
        for row, system in enumerate(table.systems)
        for item in range(60)
    }


def test_random_takes_as_many_of_every_system() -> None:
    chosen = select(method="random")
    assert Counter(trial.systems for trial in chosen.trials) == {("A",): 5, ("B",): 5, ("C",): 5}
    assert chosen.record["chosen"] == 15
    assert select(method="random") == chosen
    assert select(method="random", seed=2) != chosen


def test_random_pairs_and_pages() -> None:
    pairs = select("pairwise", method="random")
    assert set(Counter(trial.systems for trial in pairs.trials).values()) == {5}
    assert len(select(layout="page", method="random").trials) == 5


def test_spread_covers_the_range_of_a_metric() -> None:
    values = scores("rouge-l")
    low, high = min(values.values()), max(values.values())
    chosen = select(method="spread", metrics=["rouge-l"])
    fifths = Counter(
        min(4, int(5 * (values[trial.item, trial.systems[0]] - low) / (high - low)))
        for trial in chosen.trials
    )
    assert fifths == {0: 5, 1: 5, 2: 5, 3: 5, 4: 5}
    assert "rouge-l" in chosen.record["metrics"]
    assert len(chosen.record["strata"]) == 5


def test_contrast_sets_metrics_against_each_other() -> None:
    everything = select(method="contrast", metrics=["rouge-l", "length"], per_stratum=10_000)
    chosen = select(method="contrast", metrics=["rouge-l", "length"], per_stratum=10)
    a, b = scores("rouge-l"), scores("length")
    keys = list(a)
    ranks = [np.argsort(np.argsort([values[key] for key in keys])) for values in (a, b)]
    gap = dict(zip(keys, np.abs(ranks[0] - ranks[1]), strict=True))
    taken = [gap[trial.item, trial.systems[0]] for trial in chosen.trials]
    rest = [gap[trial.item, trial.systems[0]] for trial in everything.trials]
    assert np.mean(taken) > 2 * np.mean(rest)
    assert [one["stratum"] for one in chosen.record["strata"]] == [
        "rouge-l high, length low", "length high, rouge-l low",
    ]  # fmt: skip
    # Both metrics get their ten.
    places = [keys.index((trial.item, trial.systems[0])) for trial in chosen.trials]
    higher = sum(ranks[0][place] > ranks[1][place] for place in places)
    assert (higher, len(chosen.trials)) == (10, 20)


def test_contrast_of_pairs_is_where_metrics_disagree_on_the_better() -> None:
    chosen = select("pairwise", method="contrast", metrics=["rouge-l", "length"])
    a, b = scores("rouge-l"), scores("length")
    disagree = [
        (a[t.item, t.systems[0]] - a[t.item, t.systems[1]])
        * (b[t.item, t.systems[0]] - b[t.item, t.systems[1]])
        for t in chosen.trials
    ]
    assert np.mean(np.array(disagree) < 0) > 0.8


def test_the_value_of_a_page_is_the_mean_also_of_two() -> None:
    table = wellput.score(evalset(systems=2), "length", keep_rows=True).table("length")
    items = study_items(evalset(systems=2), TextMedium())
    questionnaire = default_questionnaire("rating", layout="page")
    trials = all_trials(questionnaire, items)
    values = trial_values(table, create("rating"), items, trials)
    assert values == pytest.approx(table.scores.mean(axis=0))
    values = trial_values(table, create("pairwise"), items, trials)
    assert values == pytest.approx(table.scores[0] - table.scores[1])


def test_items_that_are_not_used_are_left_out() -> None:
    items = study_items(evalset(), TextMedium())
    chosen = select(method="random", per_stratum=1)
    kept, trials = used_items(items, chosen.trials)
    assert len(kept) <= 3
    for new, old in zip(trials, chosen.trials, strict=True):
        assert kept[new.item] == items[old.item]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "spread"}, "needs metrics=: a metric"),
        ({"method": "contrast", "metrics": ["bleu"]}, "two metrics"),
        ({"method": "random", "metrics": ["bleu"]}, "does not use metrics"),
        ({"method": "random", "per_stratum": 0}, "At least one"),
        ({"method": "spread", "metrics": ["blue"]}, "Did you mean bleu"),
    ],
)
def test_selections_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        select(**options)


def test_a_number_of_items_is_drawn_among_those_with_every_shown_system(tmp_path: Path) -> None:
    source = EvalSet(
        [
            item._replace(outputs={"A": item.outputs["A"]}) if place < 30 else item
            for place, item in enumerate(evalset())
        ]
    )
    drawn = shown_items(source, items=10, systems=["C", "A"], seed=1)
    assert len(drawn) == 10
    assert all(int(item.id) > 30 and set(item.outputs) == {"A", "C"} for item in drawn)
    again = shown_items(source, items="10", systems=["C", "A"], seed=1)
    assert [item.id for item in again] == [item.id for item in drawn]
    (tmp_path / "ids.txt").write_text("7\n\n2\n")
    named = shown_items(source, items=tmp_path / "ids.txt", systems=(), seed=1)
    assert [item.id for item in named] == ["2", "7"]
    with pytest.raises(InputError, match="30 items of this evalset have outputs of all of A, B, C"):
        shown_items(source, items=31, systems=(), seed=1)
    with pytest.raises(InputError, match="no such item"):
        shown_items(source, items=["7", "x"], systems=(), seed=1)
    with pytest.raises(InputError, match="no such system"):
        shown_items(source, items=None, systems=["D"], seed=1)


def test_all_judges_of_a_within_judge_study_get_the_same_items(tmp_path: Path) -> None:
    with wellput.Study.create(
        evalset(), path=tmp_path / "s.db", design="pairwise", plan="within-judge", times=6,
        judges=4, items=18, systems="A,B,C",
    ) as study:  # fmt: skip
        assert study.summary().to_dict()["items"] == 18
        assert study.summary().to_dict()["per_judge"] == 18
