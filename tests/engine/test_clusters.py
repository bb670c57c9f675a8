"""Scoring items that belong to documents, or share a tag."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import wellput
from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item
from wellput.engine.scoring_plan import PairedTest


def evalset_of(n_documents: int, *, per_document: int = 4, without: int = 0) -> EvalSet:
    rng = np.random.default_rng(3)
    items = []
    for i in range(n_documents * per_document + without):
        document = None if i >= n_documents * per_document else f"d{i // per_document}"
        words = rng.choice(list("abcdef"), size=8)
        worse = rng.permutation(words) if (i // per_document) % 2 else words
        items.append(
            Item(
                str(i),
                {"A": " ".join(words), "B": " ".join(worse)},
                (" ".join(words),),
                document=document,
                tags={"domain": "news" if i % 2 else "chat"},
            )
        )
    return EvalSet(items)


def test_documents_take_the_items_place_by_default() -> None:
    evalset = evalset_of(12)
    plain = wellput.score(evalset, "gsa", baseline="A", cluster="item")
    ours = wellput.score(evalset, "gsa", baseline="A")
    assert ours.clusters is not None and ours.clusters.n == 12
    assert (plain.to_dict()["cluster"], ours.to_dict()["cluster"]) == (None, "document")
    assert ours.to_dict()["clusters"] == 12
    assert ours["B", "gsa"].delta == plain["B", "gsa"].delta
    assert ours["B", "gsa"].n_common == 48
    low = [one["B", "gsa"].delta_low for one in (ours, plain)]
    assert low[0] is not None and low[1] is not None and low[0] < low[1]
    assert "the units are 12 documents" in str(ours)
    assert "Intervals and p hold for these systems, other documents." in str(ours)


def test_items_without_a_document_count_alone() -> None:
    result = wellput.score(evalset_of(12, without=3), "gsa", confidence=True)
    assert result.clusters is not None and result.clusters.n == 15
    assert result.clusters.alone == {12, 13, 14}  # codes after those of the 12 documents
    assert "3 items have no document and count alone." in str(result)


@pytest.mark.parametrize("paired", ["ar", "bs"])
def test_tests_by_resampling_use_whole_documents(paired: str) -> None:
    """Two documents of which one is better by far: chance exchanges both or none in half of the
    cases, so p is about 1/2, whereas 40 items exchanged one by one make p small."""
    evalset = EvalSet(
        [
            Item(str(i), {"A": "x", "B": "y" if i < 20 else "x"}, ("x",), document=f"d{i // 20}")
            for i in range(40)
        ]
    )
    ours = wellput.score(evalset, "exact", paired=paired)["B", "exact"]  # type: ignore[arg-type]
    items = wellput.score(evalset, "exact", paired=paired, cluster="item")["B", "exact"]  # type: ignore[arg-type]
    assert ours.p_value is not None and items.p_value is not None
    assert items.p_value < 0.01 < 0.2 < ours.p_value


def test_few_documents_claim_nothing() -> None:
    result = wellput.score(evalset_of(4), "gsa", baseline="A")
    assert "4 documents are too few to claim a difference; at least 5 are needed." in str(result)
    assert result["B", "gsa"].is_worse is None
    alone = wellput.score(evalset_of(1), "gsa", baseline="A")
    assert "1 document is too few to claim a difference" in str(alone)


@pytest.mark.parametrize("documents", [True, False])
@pytest.mark.parametrize("paired", [None, "ar"])
def test_systems_without_a_common_item_are_not_compared(
    paired: PairedTest | None, documents: bool
) -> None:
    items = [
        Item(
            str(i),
            {"A": "a b c", "B": "a b"} if i < 12 else {"C": "a"},
            ("a b c",),
            document=f"d{i // 2}" if documents else None,
        )
        for i in range(13)
    ]
    result = wellput.score(EvalSet(items), "gsa", baseline="A", paired=paired)
    assert np.isnan(result["C", "gsa"].delta or 0) and result["C", "gsa"].n_common == 0
    assert "C against A: no scored item has outputs of both." in str(result)


def test_a_tag_may_be_the_unit() -> None:
    result = wellput.score(evalset_of(12), "gsa", baseline="A", cluster="domain")
    assert result.clusters is not None and result.clusters.n == 2
    assert "the units are 2 values of domain" in str(result)


@pytest.mark.parametrize(
    ("cluster", "message"),
    [
        ("domian", r"cluster='domian' is not a tag of the evalset\. Did you mean domain\?"),
        ("prompt", r"cluster='prompt' is not a tag of the evalset\. The tags are domain\."),
    ],
)
def test_unknown_tags_are_refused(cluster: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        wellput.score(evalset_of(6), "gsa", confidence=True, cluster=cluster)


def test_without_documents_the_document_is_refused() -> None:
    evalset = EvalSet.of({"A": ["a"]}, ["a"])
    with pytest.raises(InputError, match="no item of the evalset has a document"):
        wellput.score(evalset, "exact", confidence=True, cluster="document")


def test_partitions_keep_documents(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    rows = [
        {"id": str(i), "document": f"d{i // 3}", "tags": {"t": "x"}, "references": ["a b"]}
        | {"outputs": {"A": "a b" if i % 4 else "a", "B": "a c"}}
        for i in range(30)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    plain = wellput.score(path, "chrf", baseline="A")
    for _ in range(2):
        again = wellput.score(path, "chrf", baseline="A", resume=tmp_path / "finished")
        assert again.scores == plain.scores
        assert again.clusters is not None and again.clusters.n == 10
