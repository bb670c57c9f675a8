"""Agreement with people where items come in documents."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

import wellput
from wellput.core.clusters import Clusters
from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment
from wellput.stats.correlation import Correlation, correlation_value
from wellput.stats.correlation_intervals import leave_out
from wellput.stats.student import FISHER_Z


def study(n_documents: int, per_document: int = 5) -> tuple[EvalSet, list[Judgment]]:
    """Ratings follow the length of outputs, with an error that the items of a document share."""
    rng = np.random.default_rng(4)
    items, ratings = [], []
    shared = rng.normal(0, 1.5, (5, n_documents))
    for i in range(n_documents * per_document):
        lengths = rng.integers(2, 9, 5)
        outputs = {f"S{s}": "w " * int(lengths[s]) for s in range(5)}
        document = i // per_document
        items.append(Item(str(i), outputs, ("w w w",), document=f"d{document}"))
        ratings += [
            Judgment(
                "J", str(i), f"S{s}", "q", float(lengths[s] + shared[s, document] + rng.normal())
            )
            for s in range(5)
        ]
    return EvalSet(items), ratings


def test_documents_take_the_items_place() -> None:
    evalset, ratings = study(12)
    ours = wellput.agree(evalset, ratings, "length", generalize="items")
    alone = wellput.agree(evalset, ratings, "length", generalize="items", cluster="item")
    [one], [other] = ours.agreement, alone.agreement
    assert one.value == other.value
    assert None not in (one.low, one.high, other.low, other.high)
    assert (one.high or 0) - (one.low or 0) > 1.2 * ((other.high or 0) - (other.low or 0))
    assert ours.to_dict()["cluster"] == "document" and ours.to_dict()["clusters"] == 12
    assert "Intervals and p hold for these systems, other documents, and these judges." in str(ours)


def test_leaving_out_clusters_is_close_to_doing_it_one_by_one() -> None:
    rng = np.random.default_rng(1)
    codes = np.repeat(np.arange(15), rng.integers(1, 6, 15))
    z = rng.normal(size=(6, len(codes))) + rng.normal(size=(6, 15))[:, codes]
    x = z + rng.normal(size=z.shape)
    figure = leave_out(x, z)
    from dataclasses import replace

    ours = replace(figure, clusters=Clusters("document", codes))._without(FISHER_Z)
    one_by_one = np.array(
        [
            correlation_value(x[:, codes != c], z[:, codes != c], Correlation()).value
            for c in range(15)
        ]
    )
    expected = np.arctanh(one_by_one)
    assert ours.items == pytest.approx(expected, abs=0.01)
    assert np.std(ours.items) == pytest.approx(np.std(expected), rel=0.1)


def test_the_level_of_documents_uses_the_items_own() -> None:
    evalset, ratings = study(12)
    result = wellput.agree(evalset, ratings, "length", level="document")
    [row] = result.agreement
    assert row.n == 12 and row.low is not None
    # by hand: mean length and mean rating of each system in each document, correlated over systems
    values = []
    for document in range(12):
        own = [item for item in evalset if item.document == f"d{document}"]
        ids = {item.id for item in own}
        x = [sum(len(str(i.outputs[s]).split()) for i in own) for s in evalset.systems]
        z = [
            sum(r.number for r in ratings if r.item in ids and r.system == s)
            for s in evalset.systems
        ]
        values.append(np.corrcoef(x, z)[0, 1])
    assert row.value == pytest.approx(np.mean(values))


def test_drawn_documents_do_not_matter_where_items_have_their_own() -> None:
    evalset, ratings = study(12)
    few = wellput.agree(evalset, ratings, "length", level="document", documents=3)
    many = wellput.agree(evalset, ratings, "length", level="document", documents=100)
    assert few.agreement == many.agreement


def test_few_documents_have_no_interval() -> None:
    evalset, ratings = study(3)
    [row] = wellput.agree(evalset, ratings, "length").agreement
    assert row.low is None and "3 documents cannot show how others differ" in row.method


def test_choices_refuse_clusters() -> None:
    evalset, _ = study(3)
    choices = [wellput.Preference("J", "0", "S0", "S1", "q", "a")]
    with pytest.raises(InputError, match="cluster= is for ratings"):
        wellput.agree(evalset, choices, "length", cluster="document")


def test_agreement_by_slice() -> None:
    evalset, ratings = study(12)
    tagged = EvalSet(
        [
            item._replace(tags={"half": "first" if int(item.id) < 30 else "second"})
            for item in evalset
        ]
    )
    result = wellput.agree(tagged, ratings, "length,chrf", by="half", cluster="item")
    assert [part.by for part in result.slices] == [{"half": "first"}, {"half": "second"}]
    alone = wellput.agree(
        EvalSet(list(tagged)[:30]),
        [one for one in ratings if int(one.item) < 30],
        "length,chrf",
        cluster="item",
    )
    first = result.slices[0].agreement
    assert [row.value for row in first] == [row.value for row in alone.agreement]
    assert [row.p_value for row in first] == [row.p_value for row in alone.agreement]
    p_values = sorted(row.p_value or 0 for part in result.slices for row in part.agreement)
    adjusted = min(row.p_adjusted or 0 for part in result.slices for row in part.agreement)
    assert adjusted == pytest.approx(4 * p_values[0])  # Holm: the smallest of four
    assert [entry["by"] for entry in result.to_dict()["by"]] == [part.by for part in result.slices]
    assert "How far metrics agree with people, by half" in str(result)


def test_slices_without_judgments_are_named() -> None:
    evalset, ratings = study(6)
    items = [item._replace(tags={"t": "judged"}) for item in evalset]
    items.append(Item("x", {"S0": "w"}, ("w",), tags={"t": "other"}))
    result = wellput.agree(EvalSet(items), ratings, "length", by="t", cluster="item")
    assert "t other is left out: no judgments." in result.notes


def test_rank_takes_the_tags_of_the_evalset() -> None:
    evalset, ratings = study(8)
    tagged = EvalSet([item._replace(tags={"half": str(int(item.id) % 2)}) for item in evalset])
    result = wellput.rank(ratings, evalset=tagged, by="half", permutations=10)
    assert [one.by for one in result.rankings] == [None, {"half": "0"}, {"half": "1"}]


def test_fit_leaves_out_documents() -> None:
    evalset, ratings = study(10)
    ours = wellput.fit(evalset, ratings, question="q", predictors="length", no_rescale=True)
    alone = wellput.fit(
        evalset, ratings, question="q", predictors="length", no_rescale=True, cluster="item"
    )
    assert ours.records()[0]["coefficient"] == alone.records()[0]["coefficient"]
    assert ours.records()[0]["low"] != alone.records()[0]["low"]
    assert ours.model.card["cluster"] == "document" and "cluster" not in alone.model.card
    assert "the units are 10 documents" in str(ours)
    of_documents, of_items = (one.to_dict()["models"][0] for one in (ours, alone))
    assert of_documents["r_squared"] == of_items["r_squared"]
    # Errors that the items of a document share make single items look too sure.
    assert of_documents["p_value"] > of_items["p_value"]


def test_a_named_test_that_takes_items_alone_says_so() -> None:
    evalset, ratings = study(12)
    noted = (
        "perm-inputs takes every item alone, as in the paper: it does not know the 12 documents."
    )

    def text(test: Literal["perm-inputs", "perm-systems"], cluster: str | None = None) -> str:
        return str(
            wellput.agree(evalset, ratings, "length,chrf", test=test, resamples=10, cluster=cluster)
        )

    assert noted in text("perm-inputs")
    assert "takes every item alone" not in text("perm-inputs", cluster="item")
    assert "takes every item alone" not in text("perm-systems")
