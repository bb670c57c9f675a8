from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import wellput
from wellput.core.errors import InputError
from wellput.core.evalset import BLOCK_ITEMS, EvalSet, Item
from wellput.core.scores import Run
from wellput.core.source import EvalSource
from wellput.core.tree import Tree, Word
from wellput.engine.run_changes import run_changes
from wellput.engine.runs import DataHashes, run_of

SETS = EvalSet.of({"A": ["a cat sat", "it rained"], "B": ["a dog", None]}, ["a cat sat", "rain"])


def test_hashes_follow_content_not_files(tmp_path: Path) -> None:
    lines = [
        {"id": f"x{i}", "references": list(item.references), "outputs": dict(item.outputs)}
        for i, item in enumerate(SETS)
    ]
    path = tmp_path / "set.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    here = DataHashes(SETS, [])
    there = DataHashes(wellput.open_evalset(path), [])
    for system in ("A", "B"):
        assert here.data(system, ["references"]) == there.data(system, ["references"])
        assert here.outputs(system) == there.outputs(system)
    assert here.outputs("A") != here.outputs("B")


def test_what_changes_which_hash() -> None:
    other_output = EvalSet.of(
        {"A": ["a cat sat", "it rains"], "B": ["a dog", None]}, ["a cat sat", "rain"]
    )
    other_reference = EvalSet.of(
        {"A": ["a cat sat", "it rained"], "B": ["a dog", None]}, ["a cat sat", "rains"]
    )
    old = DataHashes(SETS, [])
    new = DataHashes(other_output, [])
    assert new.data("A", []) == old.data("A", [])
    assert new.outputs("A") != old.outputs("A")
    assert new.outputs("B") == old.outputs("B")
    new = DataHashes(other_reference, [])
    assert new.data("A", []) != old.data("A", [])
    assert new.outputs("A") == old.outputs("A")


def test_an_output_on_another_item_is_another_output() -> None:
    first = EvalSet.of({"A": ["x", None]}, ["r", "r"])
    second = EvalSet.of({"A": [None, "x"]}, ["r", "r"])
    assert DataHashes(first, []).outputs("A") != DataHashes(second, []).outputs("A")


def test_a_systems_own_references_are_part_of_its_data() -> None:
    item = Item("1", {"A": "x", "B": "x"}, ("r",))
    own = item._replace(references_by_system={"A": ("s",)})
    plain, rewritten = (DataHashes(EvalSet([each]), []) for each in (item, own))
    assert rewritten.data("A", []) != plain.data("A", [])
    assert rewritten.data("B", []) == plain.data("B", [])


def test_trees_count_where_they_are_needed_and_sources_where_there_is_no_reference() -> None:
    tree = Tree((Word("x", 0),))
    item = Item("1", {"A": "x"}, ("x",), (tree,), source="s")
    bare = item._replace(trees=(), source="t")
    hashes, other = (DataHashes(EvalSet([each]), ["tree"]) for each in (item, bare))
    assert hashes.data("A", ["references"]) == other.data("A", ["references"])
    assert hashes.data("A", ["tree"]) != other.data("A", ["tree"])
    free, prompted = (
        DataHashes(EvalSet([Item("1", {"A": "x"}, source=text)]), []) for text in "st"
    )
    assert free.data("A", []) != prompted.data("A", [])


def test_a_systems_own_trees_count_only_where_trees_are_needed() -> None:
    """So that BLEU's data are the same in a run with a metric of trees and without."""
    own = {"A": ((Tree((Word("s", 0),)),))}
    item = Item("1", {"A": "x"}, ("r",), references_by_system={"A": ("s",)}, trees_by_system=own)
    alone, together = DataHashes(EvalSet([item]), []), DataHashes(EvalSet([item]), ["tree"])
    assert alone.data("A", ["references"]) == together.data("A", ["references"])
    assert together.data("A", ["tree"]) != together.data("A", ["references"])


def test_where_blocks_end_does_not_matter() -> None:
    class InOnes(EvalSource):
        def blocks(self) -> Iterator[list[Item]]:
            return ([item] for item in evalset)

    n = BLOCK_ITEMS + 3
    evalset = EvalSet.of({"A": list(map(str, range(n)))}, ["r"] * n)
    whole, ones = DataHashes(evalset, []), DataHashes(InOnes(), [])
    assert whole.data("A", []) == ones.data("A", [])
    assert whole.outputs("A") == ones.outputs("A")


def scored(evalset: EvalSet = SETS, metrics: str = "bleu,ssa", **options: object) -> Run:
    return run_of(wellput.score(evalset, metrics, **options), evalset, metrics)  # type: ignore[arg-type]


def test_a_run_has_what_the_result_has() -> None:
    result = wellput.score(SETS, "ssa", confidence=0.9, all_pairs=True, resamples=50, seed=3)
    run = run_of(result, SETS, "ssa", command="wellput score …")
    score, kept = result["B", "ssa"], run.scores[1]
    assert (kept.score, kept.low, kept.high) == (score.score, score.low, score.high)
    assert (kept.p_value, kept.baseline, kept.n) == (score.p_value, "A", 1)
    assert kept.p_against == {"A": result.comparisons[0].p_adjusted}
    assert kept.components == score.components
    assert (run.seed, run.resamples, run.confidence, run.test) == (3, 50, 0.9, "jackknife")
    assert (run.systems, run.metrics, run.items) == (("A", "B"), ("ssa",), 2)


def test_saved_and_found_again_from_python(tmp_path: Path) -> None:
    result = wellput.score(SETS, "ssa")
    stored = wellput.save_run(tmp_path, result, SETS, "ssa")
    runs, unreadable = wellput.read_runs(tmp_path)
    assert (runs, unreadable) == ([stored], [])


def test_the_same_again_is_the_same_whatever_the_resampling() -> None:
    changes = run_changes(scored(), scored(confidence=True, resamples=20, seed=1)).changes
    assert len(changes) == 4
    for change in changes:
        assert change.is_comparable
        assert (change.delta, change.has_same_outputs, change.cautions) == (0, True, ())


def test_other_outputs_may_be_compared_and_other_references_not() -> None:
    better = EvalSet.of({"A": ["a cat sat", "rain"]}, ["a cat sat", "rain"])
    found = run_changes(scored(), scored(better))
    bleu, ssa = found.changes
    # ssa before: 1 insertion and 1 substitution against 4 words, 1 − 2/4; after: 1.
    assert (ssa.metric, ssa.delta, ssa.cautions) == ("ssa", 0.5, ("the outputs changed",))
    assert bleu.is_comparable
    assert found.only_before == (("B", "bleu"), ("B", "ssa"))
    harder = EvalSet.of({"A": ["a cat sat", "it rained"]}, ["a cat sat", "hail"])
    change = run_changes(scored(), scored(harder)).changes[0]
    assert change.obstacles == ("different items or references",)
    assert change.delta is None


def test_signatures_that_differ() -> None:
    run = scored(metrics="ssa")
    score = run.scores[0]
    assert "tok:13a" in score.signature
    tokenized = replace(score, signature=score.signature.replace("tok:13a", "tok:none|extra:1"))
    changes = run_changes(run, replace(run, scores=(tokenized,))).changes
    assert changes[0].obstacles == ("tok:13a → tok:none", "nothing → extra:1")
    later = replace(score, signature=score.signature + "9")
    change = run_changes(run, replace(run, scores=(later,))).changes[0]
    version = f"version:wellput-{wellput.__version__}"
    assert change.is_comparable
    assert change.cautions == (f"{version} → {version}9",)


def test_a_score_that_changed_by_itself_is_noted() -> None:
    run = scored(metrics="ssa")
    other = replace(run.scores[0], score=0.25)
    change = run_changes(run, replace(run, scores=(other,))).changes[0]
    assert change.cautions == ("the score changed, though the outputs are the same",)


@pytest.mark.parametrize(
    ("before", "after", "overlap"),
    [((1.0, 2.0), (2.5, 3.0), False), ((1.0, 2.0), (2.0, 3.0), True), ((1.0, 2.0), None, None)],
)
def test_intervals(
    before: tuple[float, float], after: tuple[float, float] | None, overlap: bool | None
) -> None:
    run = scored(metrics="ssa")
    old, new = (
        replace(
            run, scores=(replace(run.scores[0], low=ends[0], high=ends[1]),) if ends else run.scores
        )
        for ends in (before, after)
    )
    for first, second in ((old, new), (new, old)):
        assert run_changes(first, second).changes[0].intervals_overlap is overlap


def test_renamed_systems() -> None:
    run = scored(metrics="ssa")
    found = run_changes(run, run, {"A": "B"})
    assert [(c.before.system, c.after.system) for c in found.changes] == [("A", "B")]
    assert found.only_after == (("A", "ssa"),)
    with pytest.raises(InputError, match="No system 'C' in run"):
        run_changes(run, run, {"C": "A"})


def test_listing_runs_loads_no_numpy(tmp_path: Path) -> None:
    program = (
        "import sys, wellput; print(wellput.runs.list(runs=sys.argv[1]).total); "
        "print(*{'numpy', 'pyarrow', 'wellput._native'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "0\n\n"
