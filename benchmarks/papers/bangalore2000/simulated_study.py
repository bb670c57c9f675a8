"""Section 4 as a study with SIMULATED judges: 24 variants of 6 sentences, 10 judges, two questions on
scales of 7, all variants of a sentence on a page.

The judges follow the two regressions that the paper prints, with noise: the study shows that the
analysis finds what is there, and nothing about people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from benchmarks.papers.simulated_answers import study_ratings
from wellput import EvalSet, Item, Judgment, ScoreResult, agree, fit, score
from wellput.core.metric import Floats
from wellput.core.tree import Tree
from wellput.io import write_evalset
from wellput.language.realize.baselines import random_order
from wellput.language.realize.inputs import unordered
from wellput.metrics.registry import create_all
from wellput.stats.regression import Regression
from wellput.studies.questionnaire import ShownTrial

VARIANTS = (3, 3, 4, 4, 5, 5)
"""The number of variants of each sentence; the paper has three to five, 24 in all."""
CONTRASTS = 2
"""The number of a sentence's variants that a string metric and a tree metric rank differently."""
JUDGES = 10
POOL = 200
MIN_WORDS, MAX_WORDS = 10, 24
CONTEXT_SENTENCES = 2
"""This many sentences before it in the file are shown above the variants: the paper shows a short
paragraph."""
QUESTIONS = ("understandability", "quality")
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
    question."""

    evalset: EvalSet
    judgments: Sequence[Judgment]
    between_questions: float
    correlations: Mapping[tuple[str, str], tuple[float, float, float, float]]
    models: Mapping[tuple[tuple[str, ...], str], Regression]
    predicted: Mapping[str, Floats]
    substitutions: Floats

    @property
    def n(self) -> int:
        return sum(len(item.outputs) for item in self.evalset)


def named(predictor: str) -> str:
    """A predictor for the words of a treebank: `sta`, or `ssa.substitutions`."""
    metric, dot, component = predictor.partition(".")
    return f"{metric}:{OPTIONS}{dot}{component}" if metric != "length" else "length:tokenize=none"


def simulated(files: Sequence[Sequence[Tree]], *, seed: int, folder: Path) -> SimulatedStudy:
    """A study of sentences from these files; the folder gets `variants.jsonl`, `judgments.csv` and the
    study itself."""
    rng = np.random.default_rng(seed)
    evalset = EvalSet(list(_items(files, rng)))
    write_evalset(evalset, folder / "variants.jsonl")
    judgments = _judgments(evalset, rng, folder, seed)
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
    x = _predictors(evalset)
    predicted = {question: models[PREDICTORS, question].predict(x) for question in PRINTED}
    substitutions = x[:, PREDICTORS.index("ssa.substitutions")]
    return SimulatedStudy(
        evalset, judgments, _between(judgments), correlations, models, predicted, substitutions
    )


def _items(files: Sequence[Sequence[Tree]], rng: np.random.Generator) -> Iterator[Item]:
    """Six sentences with their variants, each after the sentences before it."""
    fitting = [
        (trees, place)
        for trees in files
        for place, tree in enumerate(trees)
        if MIN_WORDS <= len(tree.words) <= MAX_WORDS and place >= CONTEXT_SENTENCES
    ]
    drawn = rng.permutation(len(fitting))[: len(VARIANTS)]
    for number, (at, count) in enumerate(zip(drawn, VARIANTS, strict=True), start=1):
        trees, place = fitting[at]
        before = trees[place - CONTEXT_SENTENCES : place]
        context = " ".join(word.form for tree in before for word in tree.words)
        yield _item(str(number), trees[place], count, rng)._replace(context=context)


def _item(number: str, tree: Tree, count: int, rng: np.random.Generator) -> Item:
    """Variants of two kinds, from random projective orders and orders in which some words have changed
    places: in steps from good to bad by simple tree accuracy, and those that simple tree accuracy ranks
    highest above simple string accuracy, and lowest below it."""
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
        [named("sta"), named("ssa")],
    )
    by = {
        metric: np.array([scored[text, named(metric)].score for text in texts])
        for metric in ("sta", "ssa")
    }
    ranks = np.argsort(by["sta"], kind="stable")
    steps = np.linspace(len(ranks) - 1, 0, count - CONTRASTS).round().astype(int)
    chosen = [int(ranks[step]) for step in steps]
    apart = np.argsort(rankdata(by["sta"]) - rankdata(by["ssa"]), kind="stable")
    for ranked in (apart[::-1], apart):
        chosen.append(int(next(place for place in ranked if place not in chosen)))
    outputs = {f"variant {n}": texts[place] for n, place in enumerate(chosen, start=1)}
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


def _judgments(
    evalset: EvalSet, rng: np.random.Generator, folder: Path, seed: int
) -> list[Judgment]:
    """The answers of simulated judges to the study, whose pages show all variants of a sentence."""
    keys, x = _keys(evalset), _predictors(evalset)
    common = rng.normal(size=len(keys))
    biases = rng.normal(scale=JUDGE_BIAS, size=JUDGES)
    texts = {item.id: item.outputs for item in evalset}
    true: dict[tuple[str, str], float] = {}
    for question, (coefficients, constant) in PRINTED.items():
        follows = x @ np.array(coefficients) + constant
        own = SHARED_NOISE * common + np.sqrt(1 - SHARED_NOISE**2) * rng.normal(size=len(keys))
        spread = follows.std() * np.sqrt((1 - PLANTED_R_SQUARED) / PLANTED_R_SQUARED)
        values = follows + spread * own
        scaled = 4 + RATING_SPREAD * (values - values.mean()) / values.std()
        for (system, item), value in zip(keys, scaled, strict=True):
            true[question, str(texts[item][system])] = float(value)

    def ratings(judge: int, trial: ShownTrial) -> dict[str, dict[str, float]]:
        def rating(question: str, text: str) -> float:
            heard = true[question, text] + biases[judge] + rng.normal(scale=JUDGE_NOISE)
            return float(np.clip(round(heard), 1, 7))

        return {
            variant.id: {one.name: rating(one.name, str(variant.text)) for one in trial.questions}
            for variant in trial.variants
        }

    return study_ratings(
        evalset,
        ratings,
        folder=folder,
        name="judgments",
        judges=JUDGES,
        design="rating",
        questions=",".join(QUESTIONS),
        layout="page",
        per_item=JUDGES,
        seed=seed,
    )


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
