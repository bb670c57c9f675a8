"""The four accuracies: Table 1 of Bangalore et al. (2000), rules for what the paper leaves open, and
the kernels against a textbook implementation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellput import _native
from wellput.core.errors import InputError
from wellput.core.evalset import Batch, EvalSet
from wellput.core.metric import Metric
from wellput.core.tree import Tree, Word
from wellput.metrics.registry import create

TARGET = "There was no cost estimate for the second phase"
GENERATED = "There was estimate for phase the second no cost"
# Figure 2, as it follows from the text: estimate is the root; There, was, no, cost and for are its
# daughters; phase hangs on for, the and second on phase.
FIGURE_2 = [5, 5, 5, 5, 0, 5, 9, 9, 6]
COSTS = (3, 3, 4)


def tree_of(sentence: str, heads: Sequence[int]) -> Tree:
    return Tree(tuple(Word(w, h) for w, h in zip(sentence.split(), heads, strict=True)))


def batch_of(output: str, references: Sequence[str], trees: Sequence[Tree | None] = ()) -> Batch:
    batch = Batch.from_texts([output], [references])
    return Batch(**{**vars(batch), "trees": [trees], "memo": {}})


def table_1() -> Batch:
    return batch_of(GENERATED, [TARGET], [tree_of(TARGET, FIGURE_2)])


def segment(metric: str | Metric, batch: Batch) -> float:
    made = create(metric)
    return float(made.segment_score(made.statistics(batch))[0])


# Table 1: unchanged, substitutions, insertions, deletions, moves, problems, score.
@pytest.mark.parametrize(
    ("name", "unchanged", "s", "i", "d", "m", "problems", "score"),
    [
        ("ssa", 6, 1, 2, 2, None, 5, 0.44),
        ("gsa", 6, 1, 1, 1, 1, 4, 0.56),
        ("sta", 6, 0, 3, 3, None, 6, 0.33),
        ("gta", 6, 0, 0, 0, 3, 3, 0.67),
    ],
)
def test_table_1(
    name: str, unchanged: int, s: int, i: int, d: int, m: int | None, problems: int, score: float
) -> None:
    metric = create(name)
    statistics = metric.statistics(table_1())
    parts = {part: float(value[0]) for part, value in metric.components(statistics).items()}
    expected = {
        "unchanged": unchanged, "substitutions": s, "insertions": i, "deletions": d,
        "problems": problems, "length": 9,
    }  # fmt: skip
    assert parts == (expected if m is None else {**expected, "moves": m})
    assert round(float(metric.score(statistics)[0]), 2) == score


@pytest.mark.parametrize(("name", "problems"), [("ssa", 6), ("gsa", 3)])
def test_footnote_5_a_dear_substitution(name: str, problems: int) -> None:
    metric = create(f"{name}:substitution=7")
    components = metric.components(metric.statistics(table_1()))
    assert components["problems"][0] == problems
    assert "costs:3/3/7" in metric.signature()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # (1.3147 · 3/9 − 0.1039 · 1 − 0.4458) / 0.8689 = (0.4382 − 0.1039 − 0.4458) / 0.8689
        ("understandability", -0.1283),
        # (1.0192 · 3/9 − 0.0869 · 1 − 0.3553) / 0.6639 = (0.3397 − 0.0869 − 0.3553) / 0.6639
        ("quality", -0.1543),
    ],
)
def test_equations_4_and_5(name: str, expected: float) -> None:
    assert segment(name, table_1()) == pytest.approx(expected, abs=5e-5)
    perfect = batch_of(TARGET, [TARGET], [tree_of(TARGET, FIGURE_2)])
    assert segment(name, perfect) == pytest.approx(1.0)


def test_understandability_takes_the_substitutions_of_the_string() -> None:
    # The treelets of Table 1 have none, the string has one.
    metric = create("understandability")
    assert metric.components(metric.statistics(table_1()))["substitutions"][0] == 1.0


def test_a_missing_word_is_missing_from_both_its_treelets() -> None:
    # b has the daughter c and hangs on a. Without b: deleted from (a b) and from (b c): 2 problems.
    batch = batch_of("a c", ["a b c"], [tree_of("a b c", [0, 1, 2])])
    assert segment("sta", batch) == pytest.approx(1 - 2 / 3)


def test_a_word_of_no_node_is_one_insertion() -> None:
    batch = batch_of("a x b c", ["a b c"], [tree_of("a b c", [0, 1, 2])])
    assert segment("sta", batch) == pytest.approx(1 - 1 / 3)
    assert segment("gta", batch) == pytest.approx(1 - 1 / 3)


def test_a_substituted_word_counts_once_and_fills_its_place() -> None:
    # x stands for b, which is a daughter of a and the mother of c: one substitution, both orders kept.
    metric = create("sta")
    batch = batch_of("a x c", ["a b c"], [tree_of("a b c", [0, 1, 2])])
    components = metric.components(metric.statistics(batch))
    assert components["substitutions"][0] == 1
    assert components["problems"][0] == 1


def test_a_root_without_daughters_is_a_treelet_of_one() -> None:
    tree = tree_of("yes", [0])
    assert segment("sta", batch_of("yes", ["yes"], [tree])) == 1.0
    # Nothing is said: the node is missing. Something else is said: one substitution.
    assert segment("sta", batch_of("", ["yes"], [tree])) == 0.0
    assert segment("sta", batch_of("no", ["yes"], [tree])) == 0.0


def test_a_non_projective_tree() -> None:
    # a → c, b → d crosses: treelets (a c), (b d), (a b) with a the root.
    tree = tree_of("a b c d", [0, 1, 1, 2])
    assert segment("sta", batch_of("a b c d", ["a b c d"], [tree])) == 1.0
    # b before a: treelet (a b c) / (b a c) is one move; treelet (b d) is untouched.
    assert segment("gta", batch_of("b a c d", ["a b c d"], [tree])) == pytest.approx(1 - 1 / 4)


def test_only_references_with_a_tree_count_for_tree_metrics() -> None:
    tree = tree_of("a b c", [0, 1, 1])
    batch = batch_of("x y z", ["x y z", "a b c"], [None, tree])
    assert segment("ssa", batch) == 1.0
    assert segment("sta", batch) == 0.0


def test_pooled_and_sentence_averages() -> None:
    # 1 error of 4 tokens and 1 of 2: pooled 1 − 2/6, mean (3/4 + 1/2) / 2.
    batch = Batch.from_texts(["a b c x", "a x"], [["a b c d"], ["a b"]])
    for name, expected in (("ssa", 1 - 2 / 6), ("ssa:average=sentence", 0.625)):
        metric = create(name)
        assert metric.score(metric.statistics(batch).sum(axis=0)) == pytest.approx(expected)


def test_an_empty_reference() -> None:
    batch = Batch.from_texts(["", "a b", "a"], [[""], [""], ["a"]])
    metric = create("ssa")
    statistics = metric.statistics(batch)
    scores = metric.segment_score(statistics)
    assert scores[0] == 1.0
    assert np.isnan(scores[1])
    # Two insertions over one reference token in all.
    assert metric.score(statistics.sum(axis=0)) == 1 - 2 / 1


def test_case_and_tokenizer() -> None:
    batch = Batch.from_texts(["The cat."], [["the cat ."]])
    assert segment("ssa", batch) == pytest.approx(1 - 1 / 3)
    assert segment("ssa:lowercase=true", batch) == 1.0
    assert segment("ssa:tokenize=none,lowercase=true", batch) == pytest.approx(1 - 2 / 3)


def test_a_cost_must_be_positive() -> None:
    with pytest.raises(InputError, match="insertion=0 must be between 1 and 1000"):
        create("ssa:insertion=0")


def test_a_tree_of_another_sentence_is_refused() -> None:
    with pytest.raises(InputError, match="the tree does not match its reference"):
        segment("sta", batch_of("a b", ["a b"], [tree_of("a c", [0, 1])]))


def test_what_the_explanation_shows() -> None:
    metric = create("gta")
    (text,) = metric.explain(table_1())  # type: ignore[attr-defined]
    assert text.splitlines() == [
        "reference  There was no cost estimate for       the second    phase",
        "           .     .   m  d    .        .   i     .   .      m  s",
        "output     There was         estimate for phase the second no cost",
        "treelet of estimate: There was no cost estimate for → "
        "There was estimate for no cost (2 moved)",
        "treelet of phase: the second phase → phase the second (1 moved)",
    ]


# --- the kernels against a textbook implementation --------------------------------------------

Path = list[tuple[int, int]]


def oracle_path(
    reference: Sequence[object], hypothesis: Sequence[object], costs: Sequence[int]
) -> Path:
    """Minimal (cost, errors) by the textbook; from the end, diagonal, deletion, insertion."""
    insertion, deletion, substitution = costs
    n, m = len(reference), len(hypothesis)
    best: list[list[tuple[int, int]]] = [[(0, 0)] * (m + 1) for _ in range(n + 1)]

    def candidates(i: int, j: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        found = []
        if i and j:
            cost, errors = best[i - 1][j - 1]
            same = reference[i - 1] == hypothesis[j - 1]
            found.append(
                ((cost, errors) if same else (cost + substitution, errors + 1), (i - 1, j - 1))
            )
        if i:
            cost, errors = best[i - 1][j]
            found.append(((cost + deletion, errors + 1), (i - 1, j)))
        if j:
            cost, errors = best[i][j - 1]
            found.append(((cost + insertion, errors + 1), (i, j - 1)))
        return found

    for i in range(n + 1):
        for j in range(m + 1):
            if i or j:
                best[i][j] = min(value for value, _ in candidates(i, j))
    path: Path = []
    i, j = n, m
    while i or j:
        came = next(origin for value, origin in candidates(i, j) if value == best[i][j])
        path.append((i - 1 if came[0] < i else -1, j - 1 if came[1] < j else -1))
        i, j = came
    return path[::-1]


def oracle_errors(
    reference: Sequence[object], hypothesis: Sequence[object], costs: Sequence[int] = COSTS
) -> tuple[int, int, int, int]:
    path = oracle_path(reference, hypothesis, costs)
    deleted = Counter(reference[i] for i, j in path if j < 0)
    inserted = Counter(hypothesis[j] for i, j in path if i < 0)
    substituted = sum(i >= 0 and j >= 0 and reference[i] != hypothesis[j] for i, j in path)
    return substituted, inserted.total(), deleted.total(), (deleted & inserted).total()


def oracle_treelets(
    reference: Sequence[str], heads: Sequence[int], hypothesis: Sequence[str]
) -> tuple[int, int, int, int]:
    """The rules of the module docstring of treelets.h in native/, step by step."""
    path = oracle_path(reference, hypothesis, COSTS)
    token: dict[int, int] = {
        i: j for i, j in path if i >= 0 and j >= 0 and reference[i] == hypothesis[j]
    }
    for i, word in enumerate(reference):
        free = [j for j, w in enumerate(hypothesis) if w == word and j not in token.values()]
        if i not in token and free:
            token[i] = free[0]
    replaced: set[int] = set()
    for i, j in path:
        if i >= 0 and j >= 0 and i not in token and j not in token.values():
            token[i] = j
            replaced.add(i)
    totals = np.array([len(replaced), len(hypothesis) - len(token), 0, 0])
    for head in range(len(reference)):
        daughters = [i for i in range(len(reference)) if heads[i] == head]
        if not daughters and heads[head] >= 0:
            continue
        members = sorted([head, *daughters])
        symbols = [("node", i) if i in replaced else reference[i] for i in range(len(reference))]
        expected = [symbols[i] for i in members]
        found = [
            symbols[i] for i in sorted((i for i in members if i in token), key=token.__getitem__)
        ]
        totals += oracle_errors(expected, found)
    return int(totals[0]), int(totals[1]), int(totals[2]), int(totals[3])


words = st.lists(st.sampled_from("abcdef"), max_size=14)
costs = st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9))


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[str], list[int]]:
    sentence = draw(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=10))
    order = draw(st.permutations(range(len(sentence))))
    heads = [-1] * len(sentence)
    for place, node in enumerate(order[1:], start=1):
        heads[node] = order[draw(st.integers(0, place - 1))]
    return sentence, heads


@given(words, words, costs)
def test_string_kernel_equals_the_textbook(
    reference: list[str], hypothesis: list[str], weights: tuple[int, int, int]
) -> None:
    (row,) = _native.string_errors(
        [" ".join(hypothesis)], [[" ".join(reference)]], "none", weights, 1
    )
    assert tuple(row) == (
        len(hypothesis), len(reference), *oracle_errors(reference, hypothesis, weights),
    )  # fmt: skip


@given(st.lists(st.text(max_size=3), max_size=8), st.lists(st.text(max_size=3), max_size=8))
def test_string_kernel_on_arbitrary_unicode(reference: list[str], hypothesis: list[str]) -> None:
    left, right = " ".join(reference), " ".join(hypothesis)
    (row,) = _native.string_errors([right], [[left]], "none", COSTS, 1)
    assert tuple(row[2:]) == oracle_errors(left.split(), right.split())


@given(words, words)
def test_counts_are_symmetric(reference: list[str], hypothesis: list[str]) -> None:
    """Footnote 4. Moves depend on the path, the other counts do not."""
    (there,) = _native.string_errors(
        [" ".join(hypothesis)], [[" ".join(reference)]], "none", COSTS, 1
    )
    (back,) = _native.string_errors(
        [" ".join(reference)], [[" ".join(hypothesis)]], "none", COSTS, 1
    )
    assert (there[2], there[3], there[4]) == (back[2], back[4], back[3])


@given(trees(), words)
def test_treelet_kernel_equals_the_textbook(
    tree: tuple[list[str], list[int]], hypothesis: list[str]
) -> None:
    sentence, heads = tree
    (row,) = _native.treelet_errors(
        [" ".join(hypothesis)], [sentence], np.array(heads, dtype=np.int32), "none", COSTS, 1
    )
    assert tuple(row[2:6]) == oracle_treelets(sentence, heads, hypothesis)
    assert row[6] == oracle_errors(sentence, hypothesis)[0]


@settings(max_examples=25)
@given(st.data())
def test_wide_and_long_sentences_take_other_ways_to_the_same_counts(data: st.DataObject) -> None:
    """Dear costs leave 16 bits; the path must be the same as with cheap ones."""
    reference = data.draw(st.lists(st.sampled_from("abcdef"), min_size=20, max_size=60))
    hypothesis = data.draw(st.lists(st.sampled_from("abcdef"), min_size=20, max_size=60))
    cheap = _native.alignment_path(reference, hypothesis, (3, 3, 4))
    dear = _native.alignment_path(reference, hypothesis, (600, 600, 800))
    assert cheap == dear == oracle_path(reference, hypothesis, (3, 3, 4))


def test_a_text_too_long_for_a_table_of_values() -> None:
    rng = np.random.default_rng(5)
    reference = [str(word) for word in rng.integers(0, 500, 4000)]
    hypothesis = [
        *reference[:1000],
        "new",
        *reference[1001:3000],
        *reference[3100:],
        "more",
        "more",
    ]
    (row,) = _native.string_errors(
        [" ".join(hypothesis)], [[" ".join(reference)]], "none", COSTS, 1
    )
    # One word replaced, a hundred left out, two added at the end.
    assert tuple(row) == (len(hypothesis), 4000, 1, 2, 100, 0)


@given(st.lists(st.tuples(words, words), min_size=1, max_size=300))
@settings(max_examples=20)
def test_threads_change_nothing(pairs: list[tuple[list[str], list[str]]]) -> None:
    outputs = [" ".join(pair[0]) for pair in pairs]
    references = [[" ".join(pair[1])] for pair in pairs]
    one = _native.string_errors(outputs, references, "13a", COSTS, 1)
    assert np.array_equal(one, _native.string_errors(outputs, references, "13a", COSTS, 4))


# --- what holds for every accuracy ------------------------------------------------------------

ALL = ["ssa", "gsa", "sta", "gta", "understandability", "quality"]


@pytest.mark.parametrize("name", ALL)
@given(tree=trees())
def test_identity_scores_best(name: str, tree: tuple[list[str], list[int]]) -> None:
    sentence = " ".join(tree[0])
    batch = batch_of(sentence, [sentence], [tree_of(sentence, [head + 1 for head in tree[1]])])
    assert segment(name, batch) == pytest.approx(1.0)


@pytest.mark.parametrize("name", ALL)
@given(first=trees(), second=trees(), output=words)
def test_one_more_reference_never_lowers_a_segment(
    name: str,
    first: tuple[list[str], list[int]],
    second: tuple[list[str], list[int]],
    output: list[str],
) -> None:
    texts = [" ".join(tree[0]) for tree in (first, second)]
    made = [tree_of(" ".join(w), [head + 1 for head in heads]) for w, heads in (first, second)]
    hypothesis = " ".join(output)
    both = segment(name, batch_of(hypothesis, texts, made))
    assert both >= segment(name, batch_of(hypothesis, texts[:1], made[:1]))
    assert both >= segment(name, batch_of(hypothesis, texts[1:], made[1:]))


def test_metrics_of_one_batch_share_the_alignment() -> None:
    evalset = EvalSet.of({"A": [GENERATED]}, [TARGET])
    batch = Batch.of("A", evalset.items)
    for name in ("ssa", "gsa"):
        create(name).statistics(batch)
    assert len(batch.memo) == 1
