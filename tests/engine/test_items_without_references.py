"""Items without references: metrics that need them leave such items out, and say so."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

import wellput
from wellput.core.evalset import BLOCK_ITEMS
from wellput.core.source import EvalSource
from wellput.engine.parsed_references import NamedParser, ParsedReferences

COMPARING = "bleu,chrf,ter,wer,nist,rouge-l,ssa,gsa,exact,length-ratio"
WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "under", "mat", "rug", "quickly", "slowly"]


def items(n: int, *, every: int = 7, seed: int = 1) -> list[wellput.Item]:
    """One item in `every` has no reference; B has no output for one in five."""
    rng = random.Random(seed)

    def sentence() -> str:
        return " ".join(rng.choices(WORDS, k=rng.randint(2, 9)))

    made = []
    for i in range(n):
        outputs = {"A": sentence(), "B": sentence()}
        references = (sentence(), sentence())[: 1 + i % 2]
        if i % 5 == 0:
            del outputs["B"]
        made.append(wellput.Item(f"i{i}", outputs, () if i % every == 3 else references))
    return made


def referenced(evalset: list[wellput.Item]) -> wellput.EvalSet:
    return wellput.EvalSet(item for item in evalset if item.references)


def written(evalset: list[wellput.Item], path: Path) -> Path:
    records = [{"id": i.id, "references": i.references, "outputs": i.outputs} for i in evalset]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def without_count(result: wellput.ScoreResult) -> list[Any]:
    return [replace(score, left_out=0) for score in result.scores]


def test_the_others_score_as_if_they_were_alone() -> None:
    mixed = items(60)
    options: dict[str, Any] = {
        "confidence": True, "paired": "ar", "all_pairs": True, "resamples": 50,
    }  # fmt: skip
    whole = wellput.score(wellput.EvalSet(mixed), COMPARING, **options)
    alone = wellput.score(referenced(mixed), COMPARING, **options)
    assert without_count(whole) == list(alone.scores)
    assert whole.comparisons == alone.comparisons
    # Of 60 items, those at places 3, 10, … 59 have no reference; B has no output for 10 and 45.
    assert (whole.items, whole["A", "bleu"].n, whole["A", "bleu"].left_out) == (60, 51, 9)
    assert (whole["B", "bleu"].n, whole["B", "bleu"].left_out) == (41, 7)
    (left_out,) = whole.left_out
    assert left_out.n == 9 and left_out.metrics == tuple(COMPARING.split(","))
    assert left_out.first == ("i3", "i10", "i17", "i24", "i31")
    assert not alone.left_out


def test_equal_to_sacrebleu_on_the_others() -> None:
    mixed = items(60)
    scored = wellput.score(wellput.EvalSet(mixed), "bleu,chrf,ter")
    pairs = [(item.outputs["A"], item.references) for item in mixed if item.references]
    outputs = [str(output) for output, _ in pairs]
    streams = [[own[0] for _, own in pairs], [own[-1] for _, own in pairs]]
    for name, metric in (("bleu", BLEU()), ("chrf", CHRF()), ("ter", TER())):
        expected = metric.corpus_score(outputs, streams).score
        assert scored["A", name].score == pytest.approx(expected, abs=1e-9)


def test_metrics_that_need_no_references_score_all_items() -> None:
    mixed = wellput.EvalSet(items(30))
    together = wellput.score(mixed, "bleu,length,ttr", keep_rows=True)
    assert together["A", "length"].score == wellput.score(mixed, "length")["A", "length"].score
    assert (together["A", "length"].n, together["A", "length"].left_out) == (30, 0)
    assert together.left_out[0].metrics == ("bleu",)
    present = together.table("bleu").present
    assert not present[:, 3].any() and together.table("length").present[0].all()
    assert np.isnan(together.table("bleu").scores[:, 3]).all()


@pytest.mark.heavy
@pytest.mark.parametrize("n", [40, 2 * BLOCK_ITEMS + 30])
def test_every_way_of_running_gives_the_same_digits(tmp_path: Path, n: int) -> None:
    mixed = items(n)
    path = written(mixed, tmp_path / "e.jsonl")
    metrics = "rouge-l,bleu,chrf,nist,length"
    held = wellput.score(wellput.EvalSet(mixed), metrics)
    results = [
        wellput.score(path, metrics),
        wellput.score(path, metrics, threads=1),
        wellput.score(path, metrics, on_error="skip"),
        *(wellput.score(path, metrics, resume=tmp_path / "finished") for _ in range(2)),
    ]
    for result in results:
        assert result.scores == held.scores
        assert result.left_out == held.left_out
    rows = [
        wellput.score(path, metrics, keep_rows=True),
        *(wellput.score(path, metrics, keep_rows=True, resume=tmp_path / "rows") for _ in range(2)),
    ]
    for result in rows:
        assert result.scores == held.scores
        for metric in metrics.split(","):
            table = result.table(metric)
            assert (table.statistics == rows[0].table(metric).statistics).all()
            assert (table.present == rows[0].table(metric).present).all()
            assert table.system_scores.tolist() == [held[s, metric].score for s in table.systems]


def test_blocks_in_which_no_item_has_a_reference() -> None:
    plain = [wellput.Item(f"p{i}", {"A": "a cat sat"}) for i in range(BLOCK_ITEMS)]
    mixed = [*plain, wellput.Item("last", {"A": "a cat sat"}, ("a cat sat",))]
    result = wellput.score(wellput.EvalSet(mixed), "ssa,length", keep_rows=True)
    assert result["A", "ssa"].score == 1 and result["A", "ssa"].n == 1
    assert result["A", "ssa"].signature.startswith("nrefs:1|")
    assert result.left_out[0].n == BLOCK_ITEMS
    assert result.table("ssa").present.sum() == 1


def test_references_of_one_system_alone() -> None:
    own = wellput.Item("2", {"A": "a b", "B": "a b"}, references_by_system={"A": ("a b",)})
    shared = wellput.Item("1", {"A": "a x", "B": "a x"}, ("a b",))
    result = wellput.score(wellput.EvalSet([shared, own]), "ssa", paired="ar")
    assert (result["A", "ssa"].n, result["A", "ssa"].left_out) == (2, 0)
    assert (result["B", "ssa"].n, result["B", "ssa"].left_out) == (1, 1)
    assert result["B", "ssa"].n_common == 1
    assert (result.left_out[0].n, result.left_out[0].first) == (1, ("2",))


def test_trees_from_a_parser() -> None:
    mixed = items(12)

    def scored(source: EvalSource) -> wellput.ScoreResult:
        parse = NamedParser("english")
        return wellput.score(ParsedReferences(source, parse, parse.signature), "sta,gta,ssa")

    assert without_count(scored(wellput.EvalSet(mixed))) == list(scored(referenced(mixed)).scores)


def test_segment_scores_are_of_the_others() -> None:
    seen: dict[str, list[str]] = {}

    def remember(system: str, ids: Any, metric: str, scores: Any) -> None:
        seen[f"{system} {metric}"] = list(ids)

    wellput.score(wellput.EvalSet(items(5)), "ssa,length", on_segments=remember)
    assert seen["A ssa"] == ["i0", "i1", "i2", "i4"]
    assert seen["A length"] == ["i0", "i1", "i2", "i3", "i4"]
    assert seen["B ssa"] == ["i1", "i2", "i4"]


@pytest.mark.parametrize("options", [{}, {"on_error": "skip"}])
def test_no_references_at_all_are_refused(options: dict[str, Any], tmp_path: Path) -> None:
    bare = [item._replace(references=()) for item in items(3)]
    with pytest.raises(wellput.InputError, match="chrf needs a reference; no") as raised:
        wellput.score(written(bare, tmp_path / "e.jsonl"), "length,chrf", **options)
    assert "Give a file of references" in str(raised.value)


def test_it_is_refused_before_anything_is_scored() -> None:
    bare = [item._replace(references=()) for item in items(3)]
    scored: list[str] = []
    with pytest.raises(wellput.InputError, match="needs a reference"):
        wellput.score(
            wellput.EvalSet(bare),
            "length,chrf",
            on_segments=lambda system, ids, metric, scores: scored.append(metric),
        )
    assert not scored


def test_a_system_without_any_reference_is_refused() -> None:
    both = [
        wellput.Item("1", {"A": "a"}, ("a",)),
        wellput.Item("2", {"A": "a", "B": "b"}),
        wellput.Item("3", {"A": "a", "B": "b"}),
    ]
    message = "bleu needs a reference; none of the 2 items that B has an output for has one"
    with pytest.raises(wellput.InputError, match=message):
        wellput.score(wellput.EvalSet(both), "bleu")


def test_a_missing_tree_is_still_refused() -> None:
    tree = wellput.Tree((wellput.Word("a", 0),))
    both = [
        wellput.Item("1", {"A": "a"}, ("a",), (tree,)),
        wellput.Item("2", {"A": "a"}),
        wellput.Item("3", {"A": "a"}, ("a",)),
    ]
    with pytest.raises(
        wellput.InputError, match="Of the 2 items with an output of A, 1 has none:\n  item 3"
    ):
        wellput.score(wellput.EvalSet(both), "sta")
