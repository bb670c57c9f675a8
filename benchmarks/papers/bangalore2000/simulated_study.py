"""Section 4 with SIMULATED judges: 24 variants of 6 sentences, 10 judges, two questions on scales of 7.

The judges follow the two regressions that the paper prints, with noise: the study shows that the
analysis finds what is there, and nothing about people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wellput import EvalSet, Item, Judgment, ScoreResult, agree, fit, score
from wellput.core.metric import Floats
from wellput.core.tree import Tree
from wellput.language.realize.baselines import random_order
from wellput.language.realize.inputs import unordered
from wellput.metrics.registry import create_all
from wellput.stats.regression import Regression

VARIANTS = (4, 4, 4, 4, 4, 4)
"""Of each sentence; the paper has three to five, 24 in all."""
JUDGES = 10
POOL = 200
MIN_WORDS, MAX_WORDS = 10, 24
PREDICTORS = ("sta", "ssa.substitutions", "length")
# Section 4.1: coefficients of simple tree accuracy, substitutions and length, and the constant.
PRINTED = {
    "understandability": ((1.4728, -0.1015, -0.0228), -0.2127),
    "quality": ((1.2134, -0.0839, -0.0280), -0.0689),
}
PLANTED_R_SQUARED = 0.6
"""The share of the variants' true values that the regression explains; the paper found .51 and .53."""
SHARED_NOISE = 0.94
"""The correlation of the two questions' deviations from the regression."""
RATING_SPREAD, JUDGE_BIAS, JUDGE_NOISE = 1.5, 0.7, 0.8
TABLE_3: tuple[tuple[str, ...], ...] = (
    ("ssa",), ("gsa",), ("sta",), ("gta",), ("sta", "ssa.substitutions"), ("sta", "gsa.moves"),
    ("sta", "length"), PREDICTORS,
)  # fmt: skip
OPTIONS = "tokenize=none,lowercase=true"


@dataclass(frozen=True)
class SimulatedStudy:
    """`correlations` are (r, low, high, p) by question and metric; `models` by predictors and
    question; `printed` and `planted` say what the judges follow."""

    evalset: EvalSet
    between_questions: float
    correlations: Mapping[tuple[str, str], tuple[float, float, float, float]]
    models: Mapping[tuple[tuple[str, ...], str], Regression]
    predicted: Mapping[str, Floats]


def named(predictor: str) -> str:
    """A predictor for the words of a treebank: `sta`, or `ssa.substitutions`."""
    metric, dot, component = predictor.partition(".")
    return f"{metric}:{OPTIONS}{dot}{component}" if metric != "length" else "length:tokenize=none"


def simulated(trees: Sequence[Tree], *, seed: int) -> SimulatedStudy:
    rng = np.random.default_rng(seed)
    fitting = [tree for tree in trees if MIN_WORDS <= len(tree.words) <= MAX_WORDS]
    chosen = [fitting[place] for place in rng.permutation(len(fitting))[: len(VARIANTS)]]
    items = [
        _item(str(number), tree, count, rng)
        for number, (tree, count) in enumerate(zip(chosen, VARIANTS, strict=True), start=1)
    ]
    evalset = EvalSet(items)
    judgments = _judgments(evalset, rng)
    metrics = ("ssa", "gsa", "sta", "gta")
    result = agree(evalset, judgments, [named(metric) for metric in metrics])
    correlations = {
        (row.question, row.metric.partition(":")[0]): (
            row.value,
            row.low if row.low is not None else np.nan,
            row.high if row.high is not None else np.nan,
            row.p_value if row.p_value is not None else np.nan,
        )
        for row in result.agreement
    }
    models = {
        (predictors, question): fit(
            evalset,
            judgments,
            question=question,
            predictors=list(map(named, predictors)),
            no_rescale=True,
        ).regression
        for predictors in TABLE_3
        for question in PRINTED
    }
    predicted = {
        question: models[PREDICTORS, question].predict(_predictors(evalset)) for question in PRINTED
    }
    return SimulatedStudy(evalset, _between(judgments), correlations, models, predicted)


def _item(number: str, tree: Tree, count: int, rng: np.random.Generator) -> Item:
    """Variants spread over the values of simple tree accuracy: random projective orders and orders in
    which some words have changed places, in steps from good to bad."""
    words = [word.form for word in tree.words]
    reference = " ".join(words)
    pool = {reference}
    for swaps in rng.integers(1, len(words) // 2, POOL):
        order = list(words)
        for _ in range(swaps):
            first, second = rng.choice(len(words), 2, replace=False)
            order[first], order[second] = order[second], order[first]
        pool.add(" ".join(order))
    bare = unordered(tree)
    for _ in range(POOL):
        pool.add(" ".join(bare.nodes[n].form for n in random_order(bare, rng, model=None)))
    texts = sorted(pool)
    scored = score(
        EvalSet.of({text: [text] for text in texts}, [reference], trees=[Tree(tree.words)]),
        [named("sta")],
    )
    ranked = sorted(texts, key=lambda text: scored[text, named("sta")].score)
    places = np.linspace(0, len(ranked) - 1, count).round().astype(int)
    outputs = {f"variant {place}": ranked[at] for place, at in enumerate(places[::-1], start=1)}
    return Item(number, outputs, (reference,), trees=(Tree(tree.words),))


def _keys(evalset: EvalSet) -> list[tuple[str, str]]:
    """Every variant, system by system, as the rows of a regression are."""
    return [
        (system, item.id)
        for system in evalset.systems
        for item in evalset
        if system in item.outputs
    ]


def _predictors(evalset: EvalSet) -> Floats:
    scored = score(
        evalset, sorted({named(name.partition(".")[0]) for name in PREDICTORS}), keep_rows=True
    )
    return np.array([[_value(scored, name, *key) for name in PREDICTORS] for key in _keys(evalset)])


def _judgments(evalset: EvalSet, rng: np.random.Generator) -> list[Judgment]:
    keys, x = _keys(evalset), _predictors(evalset)
    common = rng.normal(size=len(keys))
    judgments: list[Judgment] = []
    biases = rng.normal(scale=JUDGE_BIAS, size=JUDGES)
    for question, (coefficients, constant) in PRINTED.items():
        follows = x @ np.array(coefficients) + constant
        own = SHARED_NOISE * common + np.sqrt(1 - SHARED_NOISE**2) * rng.normal(size=len(keys))
        spread = follows.std() * np.sqrt((1 - PLANTED_R_SQUARED) / PLANTED_R_SQUARED)
        true = follows + spread * own
        scaled = 4 + RATING_SPREAD * (true - true.mean()) / true.std()
        for judge, bias in enumerate(biases, start=1):
            rated = scaled + bias + rng.normal(scale=JUDGE_NOISE, size=len(keys))
            judgments += [
                Judgment(f"simulated-{judge}", item, system, question, float(value))
                for (system, item), value in zip(keys, np.clip(rated.round(), 1, 7), strict=True)
            ]
    return judgments


def _value(scored: ScoreResult, predictor: str, system: str, item: str) -> float:
    metric, _, component = predictor.partition(".")
    table = scored.tables[named(metric)]
    row = table.statistics[table.row(system), list(table.items).index(item)]
    if component:
        [made] = create_all([named(metric)])
        return float(made.components(row)[component])
    return float(table.segment(row))


def _between(judgments: Sequence[Judgment]) -> float:
    """r between the two questions over the variants' mean ratings."""
    sums: dict[str, dict[tuple[str, str], list[float]]] = {}
    for one in judgments:
        key = (str(one.item), str(one.system))
        sums.setdefault(one.question, {}).setdefault(key, []).append(float(one.value))
    first, second = sums.values()
    a, b = (np.array([np.mean(by[key]) for key in first]) for by in (first, second))
    return float(np.corrcoef(a, b)[0, 1])
