"""What kernels refuse, as they were found to read or write beyond an array, or to go on for ever."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.fuzz.recording import recording
from tests.language.models.test_head_driven import ARRAYS, GUESSER
from tests.language.realize.lattices import trained
from tests.language.realize.toy_treebank import TREES
from wellput import _native
from wellput.language.models.head_driven import HeadDrivenParser
from wellput.language.models.tree_model import TreeModel, without_order


def ints(*values: int, kind: Any = np.int32) -> NDArray[Any]:
    return np.array(values, kind)


def u32(*values: int) -> NDArray[Any]:
    return ints(*values, kind=np.uint32)


def u64(*values: int) -> NDArray[Any]:
    return ints(*values, kind=np.uint64)


def i64(*values: int) -> NDArray[Any]:
    return ints(*values, kind=np.int64)


FLOATS = np.zeros(2)
SCORES = np.zeros((2, 3))
MODEL = trained()
LATTICE = [["a"]], i64(0, 1), i64(0, 1), i64(2), np.array([[0, 1, 0]], np.int32), np.zeros(1)
CLASSIFIER = u32(0, 1), u32(7), np.ones(1, np.float32), np.ones(1, np.float32), 1, True


def lattice(**changed: Any) -> tuple[Any, ...]:
    names = ("words", "begins", "arc_begins", "n_states", "arcs", "weights")
    given = {**dict(zip(names, LATTICE, strict=True)), "n_best": 1, "width": 5, **changed}
    parts = [given[name] for name in names]
    return MODEL.vocabulary, MODEL.levels, *parts, 1.0, given["n_best"], given["width"], 1


REFUSED: list[tuple[str, tuple[Any, ...]]] = [
    ("string_errors", (["a"], [["b"]], "none", (0, 0, 0), 1)),
    ("string_errors", (["a b"], [["b"]], "none", (-3, 3, 4), 1)),
    ("treelet_errors", (["a"], [["b", "c"]], ints(7, -1), "none", (3, 3, 4), 1)),
    ("treelet_details", (["b"], ints(-2), ["a"], (3, 3, 4))),
    ("bleu_statistics", (["a"], [["a"]], "none", -1, False, 1)),
    ("bleu_statistics", (["a"], [["a"]], "none", 2**31 - 1, False, 1)),
    ("chrf_statistics", (["a"], [["a"]], -1, 1, 4.0, False, False, 1)),
    ("bootstrapped_correlations", (SCORES, SCORES[:1], "item", "pearson", "both", 3, 1, 1)),
    ("left_out_correlations", (SCORES, SCORES[:1], "item", "pearson", 0.0)),
    ("left_out_correlations", (SCORES, SCORES, "means", "pearson", 0.0)),
    ("exchanged_correlations", (SCORES, SCORES[:1], "item", "pearson", 3, 1, 1)),
    ("exchanged_correlations", (SCORES, SCORES, "means", "pearson", 3, 1, 1)),
    ("permuted_correlations", (SCORES, SCORES[:1], SCORES, "item", "kendall", "both", 3, 1, 1)),
    ("permuted_correlations", (SCORES, SCORES, SCORES[:, :1], "pooled", "kendall", "both", 3, 1, 1)),
    ("boost", (u64(0, 9), u32(0), np.ones(1, np.uint8), 1, 3, 1.0)),
    ("boost", (u64(0, 1), u32(9), np.ones(1, np.uint8), 1, 3, 1.0)),
    ("boost", (u64(0, 1), u32(0), np.full(1, 9, np.uint8), 1, 3, 1.0)),
    ("fit_logistic", (u64(), u32(0), np.ones(1, np.uint8), 1, 1.0, 3, 0.1)),
    ("fit_logistic", (u64(0, 1), u32(0), np.ones(0, np.uint8), 1, 1.0, 3, 0.1)),
    ("brown_clusters", (u64(0, 1), u32(5), u32(1), u64(0, 0), u32(), u32(), 1)),
    ("brown_clusters", (u64(0, 1), u32(0), u32(1), u64(0, 1), u32(0), u32(1), 0)),
    ("postings", (u32(5), 2)),
    ("context_examples", (u32(0), u64(0, 1), u64(1), u64(), u64(5), 1, True, 1)),
    ("context_examples", (u32(3), u64(0, 1), u64(1), u64(), u64(0), 1, True, 1)),
    ("word_slots", (u64(0, 9), np.zeros(2, np.uint8))),
    ("word_slots", (u64(), np.zeros(0, np.uint8))),
    (
        "fill_words",
        (np.zeros((1, 1), np.int32), ints(0, 1), ints(7), FLOATS[:1], ints(0, 0), ints(), FLOATS[:0],
         FLOATS[:1], 0, 0.0, 1),
    ),
    (
        "fill_words",
        (np.zeros((1, 1), np.int32), ints(0, 0), ints(), FLOATS[:0], ints(0, 0), ints(), FLOATS[:0],
         FLOATS[:1], 0, 0.0, 1),
    ),
    ("usual_labels", ([["a", "b"]], ints(1))),
    ("arc_hybrid_costs", (ints(9, 0), ints())),
    ("train_tagger", ([["a"]], ints(0), 1, 1, 1, 0.0, 1, print)),
    ("best_paths", lattice(arcs=np.array([[0, 9, 0]], np.int32))),
    ("best_paths", lattice(arcs=np.array([[0, 1, 9]], np.int32))),
    ("best_paths", lattice(arcs=np.array([[0, 1, -1]], np.int32))),
    ("best_paths", lattice(arcs=np.array([[1, 1, 0]], np.int32))),
    ("best_paths", lattice(n_states=i64(2**40))),
    ("best_paths", lattice(begins=i64(0, 0))),
    ("best_paths", lattice(words=[])),
    ("best_paths", lattice(width=0)),
    ("best_paths", lattice(n_best=0)),
]  # fmt: skip


@pytest.mark.parametrize(("kernel", "arguments"), REFUSED)
def test_refused(kernel: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError):
        getattr(_native, kernel)(*arguments)


@pytest.mark.parametrize(
    "query", [(1, 0, 1, 0), (0, 1, 0, 0), (0, 0, 5, 0), (0, 0, 1, 3), (-1, 0, 1, 0)]
)
def test_queries_of_what_is_not_there(query: tuple[int, ...]) -> None:
    models = _native.ContextModels(*CLASSIFIER)
    with pytest.raises(ValueError):
        models.margins([["a", "b"]], i64(*query), [])


def test_an_endless_bag_of_words_ends() -> None:
    models = _native.ContextModels(*CLASSIFIER[:4], 2**62, True)
    assert models.margins([["a", "b"]], i64(0, 0, 1, 0), []).tolist() == [1.0]


def test_words_that_no_probability_reaches() -> None:
    """Log 0 for a word that stands twice under its tag: it is filled in all the same."""
    nothing = np.full(2, -np.inf)
    filled = _native.fill_words(
        np.zeros((1, 2), np.int32), ints(0, 2), ints(0, 0), nothing, ints(0, 0, 0), ints(),
        FLOATS[:0], nothing[:1], 0, 0.0, 1,
    )  # fmt: skip
    assert filled == [[0, 0]]


@pytest.mark.parametrize("level", range(3))
@pytest.mark.parametrize("value", [0, 2**32 - 1])
def test_an_n_gram_model_whose_numbers_are_wrong(level: int, value: int) -> None:
    """As a mapped file of gigabytes may have them: probabilities are wrong then, nothing else."""
    words, begins, log_probs, backoffs = MODEL.levels[level]
    levels = list(MODEL.levels)
    levels[level] = np.full_like(words, value), np.full_like(begins, value), log_probs, backoffs
    model = _native.NgramModel(MODEL.vocabulary, levels)
    assert model.scores(["the cat sat", "x y"], "none", 1).shape == (2, 4)
    model.arpa_lines(level, 0, len(log_probs))
    offsets, text, slots = MODEL.vocabulary
    full = _native.NgramModel((offsets, text, np.full_like(slots, 2**32 - 1)), MODEL.levels)
    assert full.scores(["the cat"], "none", 1)[0, 3] == 2  # all words are unknown, and found to be


def test_arrays_of_another_type_are_held_as_they_were_converted() -> None:
    levels: Any = [
        (w, b, p.astype(np.float64), o.astype(np.float64)) for w, b, p, o in MODEL.levels
    ]
    model = _native.NgramModel(MODEL.vocabulary, levels)
    del levels
    assert model.scores(["the cat sat"], "none", 1)[0, 0] == MODEL.statistics(["the cat sat"])[0, 0]


def test_a_bad_line_leaves_nothing_of_itself() -> None:
    reader = _native.ArpaReader(2)
    assert reader.add(0, ["-1 a -0.5", "-1 b x"]) == 1
    assert reader.add(1, ["-1 a b", "-1 a", "-1 a zzz"]) == 1
    vocabulary, levels = reader.finish()
    assert _native.NgramModel(vocabulary, levels).scores(["a b"], "none", 1).shape == (1, 4)
    with pytest.raises(ValueError):
        _native.ArpaReader(2).add(2, [])
    with pytest.raises(ValueError):
        _native.ArpaReader(0)


@pytest.mark.parametrize(
    "arguments",
    [("width", 0), ("known", [["x"], ["y"]]), ("unit", 0.0), ("unit", float("nan"))],
)
def test_labels_for_other_words(arguments: tuple[str, Any]) -> None:
    chooser = _native.LabelChooser(b"", b"", ["N"], ["obj"], u32(), np.zeros(0, np.uint16))
    given: dict[str, Any] = {"known": [], "width": 1, "unit": 0.01}
    given[arguments[0]] = arguments[1]
    words, heads, known, width = [["a", "b"]], ints(0, 1), given["known"], given["width"]
    with pytest.raises(ValueError):
        chooser.probabilities(words, known, heads, width, given["unit"], 1)
    if arguments[0] != "unit":
        with pytest.raises(ValueError):
            chooser.choose(words, known, heads, width, 1, ints(), np.zeros(0, np.uint8))


@pytest.mark.parametrize(
    ("rows", "masks"), [([0], [1]), ([0, 1], [1]), ([0, -1], [1]), ([0, 0], [0]), ([0, 0], [1, 0])]
)
def test_labels_that_are_not_there(rows: list[int], masks: list[int]) -> None:
    chooser = _native.LabelChooser(b"", b"", ["N"], ["obj"], u32(), np.zeros(0, np.uint16))
    with pytest.raises(ValueError):
        chooser.choose([["a", "b"]], [], ints(0, 1), 1, 1, ints(*rows), np.array(masks, np.uint8))


@pytest.mark.parametrize("n_best", [0, 1])
def test_orders_for_other_words(n_best: int) -> None:
    orderer = _native.Orderer(b"")
    tags = [["N", "N"]] if n_best == 0 else [["N"], ["N"]]
    with pytest.raises(ValueError):
        orderer.best_orders([["a", "b"]], tags, [["x", "y"]], ints(0, 1), n_best, 1, 1)


def test_a_score_without_end_is_tied_with_itself() -> None:
    scores = np.array([[np.inf, 1.0, 2.0, 0.5]])
    found = _native.bootstrapped_correlations(
        scores, np.array([[1.0, 2.0, 3.0, 2.0]]), "pooled", "acc-t", "both", 5, 1, 1
    )
    assert np.isfinite(found).all()  # resampling draws the same point twice


def test_nothing_to_draw_from() -> None:
    nothing = np.zeros((0, 9))
    found = _native.bootstrapped_correlations(
        nothing, nothing, "system", "spearman", "both", 5, 1, 2
    )
    assert np.isnan(found[:, 0]).all()


def test_a_trainer_makes_one_model(tmp_path: Path) -> None:
    # Its words are given away; the file of tokens has the numbers from before rare ones were left out.
    trainer = _native.NgramTrainer(2, 4, str(tmp_path), 1)
    trainer.add(["a b c d", "a b e f"], "none")
    trainer.finish(2)
    for ask in (
        lambda: trainer.finish(2),
        lambda: trainer.know_only(["g"]),
        lambda: trainer.add(["a g"], "none"),
        lambda: trainer.resume(0, ["g"]),
        lambda: trainer.words_from(0),
        trainer.checkpoint,
    ):
        with pytest.raises(ValueError, match="one model"):
            ask()


def test_a_reader_makes_one_model() -> None:
    reader = _native.ArpaReader(1)
    reader.add(0, ["-1 a"])
    reader.finish()
    for ask in (reader.finish, lambda: reader.add(0, ["-1 b"])):
        with pytest.raises(ValueError, match="one model"):
            ask()


def test_tokens_that_somebody_else_wrote(tmp_path: Path) -> None:
    trainer = _native.NgramTrainer(2, 4, str(tmp_path), 1)
    trainer.add(["a b c d", "a b e f"], "none")
    trainer.checkpoint()
    np.full(8, 99, np.uint32).tofile(tmp_path / "tokens")
    with pytest.raises(RuntimeError, match="changed during training"):
        trainer.finish(1)


def test_a_sentence_under_the_greatest_limit_there_is() -> None:
    with recording() as scripts:
        HeadDrivenParser(ARRAYS, GUESSER).parse([["the", "dog", "barks"]])
    (script,) = (script for script in scripts["HeadDriven"] if len(script.steps) > 1)
    expected = script.play()
    name, (*arguments, _, threads), named = script.steps[-1]
    script.steps[-1] = name, (*arguments, (0, 2**64 - 1), threads), named
    np.testing.assert_array_equal(script.play(), expected)


def test_a_head_beyond_every_word() -> None:
    model = TreeModel.train(TREES)
    begins, rows, names = model._forest([without_order(TREES[0])])
    rows[0, 2] = 2**31 - 1
    with pytest.raises(ValueError, match="do not form a tree"):
        model.kernel.choose(begins, rows, names, "exact", 1, 8, 1)


def test_scores_without_end_on_both_sides_have_no_tie_calibration() -> None:
    # Their mean is no number; no pair with it has a distance, and the search for one went on for ever.
    x = np.array([[np.inf, -np.inf, 0.5], [0.1, 0.2, 0.3], [0.4, 0.5, 0.7]])
    z = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    found = _native.bootstrapped_correlations(x, z, "means", "acc-t", "items", 20, 1, 2)
    assert np.isnan(found[0, 0])
