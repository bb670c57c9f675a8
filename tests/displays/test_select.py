"""Strategies: what they choose, what they learn from, and what they refuse."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from wellput.core.errors import InputError
from wellput.core.evalset import Item
from wellput.displays.corpus import DisplayCorpus, displays_by_node
from wellput.displays.example_corpus import SYNTHETIC_NOTICE, example_corpus
from wellput.displays.schedules import display_code, nodes_of
from wellput.displays.selection import STRATEGIES, select_displays
from wellput.displays.strategies import (
    ContextFrequencies,
    DisplayModel,
    DisplayRule,
    choose_by_rules,
    indicators,
    read_rules,
)

pytestmark = pytest.mark.heavy  # trained strategies

NOD, BOTH = ["nd=d"], ["nd=d", "bw=u"]


def sentence(name: str, *words: tuple[dict[str, str], list[str] | None]) -> Item:
    """Words under a root, each with its features and its display."""
    children = [
        {"id": f"w{i}", "label": "W", "word": "x", "features": f} for i, (f, _) in enumerate(words)
    ]
    derivation = {"id": "r", "label": "S", "children": children}
    shown = {f"w{i}": motions for i, (_, motions) in enumerate(words) if motions}
    return Item(name, {"original": shown}, derivation=derivation)


def new(*words: dict[str, str]) -> Item:
    return sentence("new", *((features, None) for features in words))._replace(outputs={})


def test_rules_of_the_paper() -> None:
    item = new(
        {"property": "color", "evaluation": "positive"},
        {"property": "motif", "evaluation": "negative"},
        {"property": "series", "evaluation": "neutral"},
        {"property": "maker"},
        {"evaluation": "positive"},
    )
    corpus = DisplayCorpus.of([item])
    chosen = choose_by_rules(corpus, read_rules("foster2008"))
    shown = [["tn=r", "bw=u"], ["tn=l", "bw=d", "sq"], NOD, NOD, []]
    assert chosen.tolist() == [0, *map(display_code, shown)]  # nothing on the root
    table1 = choose_by_rules(corpus, read_rules("foster2008-table1"))
    assert table1[2] == display_code(["ln=l", "bw=d"])


def test_majority_and_weighted_follow_the_frequencies() -> None:
    # The paper's example: no motion 80%, a nod 15%, a nod with raised brows 5% of the time.
    shown: list[list[str] | None] = [*[None] * 80, *[NOD] * 15, *[BOTH] * 5]
    training = [sentence(str(i), ({"evaluation": "positive"}, d)) for i, d in enumerate(shown)]
    items = [new({"evaluation": "positive"})._replace(id=str(i)) for i in range(4000)]
    selection = select_displays(items, ["majority", "weighted"], training=training, seed=5)
    drawn = Counter(tuple(i.outputs["weighted"].get("w0", ())) for i in selection.evalset)  # type: ignore[union-attr]
    assert all(item.outputs["majority"] == {} for item in selection.evalset)
    for display, share in (((), 0.8), (tuple(NOD), 0.15), (tuple(BOTH), 0.05)):
        assert drawn[display] / 4000 == pytest.approx(share, abs=4 * (share / 4000) ** 0.5)


def test_an_unseen_context_is_shortened_from_the_end() -> None:
    training = [
        sentence("1", ({"evaluation": "positive", "prosody": "H*"}, NOD)),
        sentence("2", ({"evaluation": "positive", "prosody": "H*"}, NOD)),
        sentence("3", ({"evaluation": "negative", "prosody": "H*"}, BOTH)),
    ]
    # Positive with another accent: as positive; an unknown evaluation: as any word, mostly nods.
    item = new({"evaluation": "positive", "prosody": "L*"}, {"evaluation": "odd", "prosody": "H*"})
    chosen = select_displays([item], ["majority"], training=training)
    assert chosen.evalset.items[0].outputs["majority"] == {"w0": NOD, "w1": NOD}
    assert chosen.backed_off["majority"] == {2: 1, 1: 1}
    with pytest.raises(InputError) as error:
        select_displays([item], ["majority"], training=training, backoff=False)
    assert "2 nodes have a context without a training example" in str(error.value)
    assert "item new, node w0: label=W, evaluation=positive, prosody=L*" in str(error.value)


def test_a_tie_goes_to_what_is_more_common_in_all() -> None:
    training = [
        sentence("1", ({"evaluation": "positive"}, BOTH), ({"evaluation": "negative"}, BOTH)),
        sentence("2", ({"evaluation": "positive"}, NOD)),
    ]
    corpus = DisplayCorpus.of(training)
    contexts = corpus.contexts(["label", "evaluation"])
    counted = ContextFrequencies(contexts, corpus.displays, np.ones(len(corpus.rows), np.bool_))
    chosen = dict(zip(contexts.values, counted.majority().tolist(), strict=True))
    assert chosen["W", "positive"] == display_code(BOTH)


def test_no_sentence_is_chosen_for_by_its_own_displays() -> None:
    # Every sentence has a feature of its own: its context is known from nowhere else.
    items = [sentence(str(i), ({"semantics": f"s{i}"}, NOD if i else BOTH)) for i in range(6)]
    chosen = select_displays(items, ["majority"], folds=6, seed=1)
    assert [item.outputs["majority"] for item in chosen.evalset] == [{"w0": NOD}] * 6
    assert chosen.backed_off["majority"] == {1: 6}


def test_a_span_teaches_the_lowest_node_that_covers_it() -> None:
    derivation: dict[str, Any] = {
        "id": "s",
        "children": [
            {"id": "np", "children": [{"id": "a", "word": "x"}, {"id": "b", "word": "x"}]},
            {"id": "c", "word": "x"},
        ],
    }
    assert displays_by_node(derivation, {"a..b": NOD, "b..c": ["sq"], "np": ["bw=u"]}) == {
        "np": display_code(BOTH),
        "s": display_code(["sq"]),
    }


def test_the_learned_strategy_is_logistic_regression() -> None:
    corpus = DisplayCorpus.of(example_corpus(40, seed=3).items)
    contexts = corpus.contexts(["label", "evaluation", "information"])
    every = np.ones(len(corpus.rows), np.bool_)
    ours = DisplayModel(contexts, corpus.displays, every)
    x = indicators(contexts).toarray()[:, 1:]  # scikit-learn has an intercept of its own
    theirs = LogisticRegression(C=1.0, tol=1e-8, max_iter=5000)
    theirs.fit(x[contexts.numbers], corpus.displays)
    assert theirs.classes_.tolist() == ours.seen.tolist()
    difference = np.exp(ours.log_probabilities()) - theirs.predict_proba(x)
    assert np.abs(difference).max() < 2e-3
    draws = np.random.default_rng(1).random(len(corpus.rows))
    surest = ours.choose(contexts.numbers, draws, temperature=0)
    assert np.array_equal(surest, ours.seen[ours.log_probabilities().argmax(1)][contexts.numbers])
    assert (surest == ours.choose(contexts.numbers, draws, temperature=0.01)).mean() > 0.99


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_seeds_decide_and_strategies_do_not_disturb_each_other(strategy: Any) -> None:
    items = example_corpus(30).items
    alone = select_displays(items, [strategy], folds=3, seed=2)
    among = select_displays(items, STRATEGIES, folds=3, seed=2)
    for one, other in zip(alone.evalset, among.evalset, strict=True):
        assert one.outputs[strategy] == other.outputs[strategy]
    again = select_displays(items, [strategy], folds=3, seed=9)
    same = [a.outputs == b.outputs for a, b in zip(alone.evalset, again.evalset, strict=True)]
    assert all(same) == (strategy == "rule")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folds": 7}, "7 folds need at least 7 annotated sentences, and there are 3"),
        ({"context": ["label", "mood"]}, "No node has the feature mood"),
        ({"rules": "foster2009", "strategies": ["rule"]}, "Did you mean foster2008"),
        ({"items": [new({})], "folds": 2}, "There is nothing to learn from"),
        ({"items": [Item("1", {})]}, "Displays are chosen on the nodes of a derivation"),
        ({"training": [new({})]}, "No training sentence has original displays"),
    ],
)
def test_what_is_refused(options: dict[str, Any], message: str) -> None:
    items = [sentence(str(i), ({"evaluation": "positive"}, NOD)) for i in range(3)]
    arguments = {"items": items, "strategies": ["majority"], **options}
    with pytest.raises(InputError, match=message):
        select_displays(**arguments)


def test_a_system_is_not_replaced_unasked() -> None:
    items = [sentence(str(i), ({"evaluation": "positive"}, NOD)) for i in range(3)]
    once = select_displays(items, ["rule"]).evalset.items
    with pytest.raises(InputError, match="There is already a system rule"):
        select_displays(once, ["rule"])
    assert select_displays(once, ["rule"], replace=True).evalset.items == once


def test_rules_that_cannot_be_used(tmp_path: Any) -> None:
    file = tmp_path / "rules.json"
    file.write_text('{"rules": [{"when": {"a": [[]]}, "display": ["nd=q"]}, {"display": []}]}')
    with pytest.raises(InputError) as error:
        read_rules(str(file))
    assert "rule 1: unknown motion 'nd=q'" in str(error.value)
    assert "rule 1: a must be a value" in str(error.value)
    assert 'rule 2: "when" must be an object' in str(error.value)
    file.write_text('{"rules": [{"when": {"a": ["x", 1]}, "display": ["sq"]}]}')
    assert read_rules(str(file)) == [DisplayRule({"a": frozenset({"x", 1})}, display_code(["sq"]))]


def test_the_example_corpus_is_labeled_and_the_same_for_a_seed() -> None:
    corpus = example_corpus()
    assert len(corpus) >= 60
    assert all(
        item.context == SYNTHETIC_NOTICE and item.id.startswith("synthetic") for item in corpus
    )
    assert corpus.items == example_corpus().items
    assert corpus.items != example_corpus(seed=1).items
    assert all(
        set(item.outputs["original"]) <= {node["id"] for node in nodes_of(item.derivation or {})}
        for item in corpus
    )
