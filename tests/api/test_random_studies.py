"""Small random studies through every analysis: a result or a sentence, never a traceback, a warning or
a number that JSON cannot hold.

The studies are what people have on the first day: few items, few judges, outputs that are empty or
missing, items without references, ratings that are all equal, tiny or far apart.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal, TypeAlias

import pytest

import wellput
from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet, Item
from wellput.core.judgment import Judgment, Preference

WORDS = (
    "the cat",
    "sat on",
    "a",
    "it rains",
    "in harbor",
    "ferry",
    "leaves at",
    "noon",
    "not",
    "two",
    "3",
)
METRICS = ("bleu,chrf", "ssa,ter", "exact", "length-only,random,chrf", "rouge-l,gsa")
SHARE_WITH_OUTPUT = 0.95


def text_of(rng: Random) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.choice([0, 1, 2, 3, 5, 8])))


@dataclass(frozen=True)
class Study:
    evalset: EvalSet
    ratings: list[Judgment]
    choices: list[Preference]


def study_of(rng: Random) -> Study:
    systems = [f"S{k}" for k in range(rng.randint(1, 6))]
    quality = {system: rng.choice([1, 2, 3, 4, 6]) for system in systems}
    has_documents, has_tags = rng.random() < 0.3, rng.random() < 0.4
    items = []
    for i in range(rng.choice([1, 2, 3, 5, 9, 11, 14, 25])):
        outputs: dict[str, Any] = {
            system: text_of(rng) for system in systems if rng.random() < SHARE_WITH_OUTPUT
        }
        if outputs and rng.random() < 0.15:
            outputs[next(iter(outputs))] = (text_of(rng), text_of(rng))
        references = tuple(text_of(rng) or "x" for _ in range(rng.choice([0, 1, 1, 1, 1, 2])))
        document = f"d{i // 2}" if has_documents else None
        tags = {"domain": rng.choice("ab")} if has_tags else {}
        items.append(Item(str(i), outputs, references, document=document, tags=tags))
    judges = [f"j{j}" for j in range(rng.randint(1, 5))]
    value = value_of(rng, quality)
    left_out = rng.choice([0, 0.3])
    ratings = [
        Judgment(
            judge if rng.random() < 0.97 else "model:x", item.id, system, "q", value(j, system)
        )
        for j, judge in enumerate(judges)
        for item in items
        for system in item.outputs
        if rng.random() >= left_out
    ]
    spread = rng.choice([0, 2])
    choices = []
    for judge in judges:
        for item in items:
            if len(item.outputs) > 1 and rng.random() < 0.8:
                a, b = rng.sample(list(item.outputs), 2)
                better = quality[a] - quality[b] + rng.gauss(0, spread)
                choice: Literal["a", "b", "tie"]
                choice = "a" if better > 0 else "b" if better < 0 else "tie"
                choices.append(Preference(judge, item.id, a, b, "q", choice))
    return Study(EvalSet(items), ratings, choices)


def value_of(rng: Random, quality: dict[str, int]) -> Callable[[int, str], float]:
    """A function from judge and system to a rating, of one of many kinds of scales."""
    kinds: list[Callable[[int, str], float]] = [
        lambda judge, system: 3.0,
        lambda judge, system: float(rng.randint(1, 5)),
        lambda judge, system: quality[system] + 0.5 * judge + rng.gauss(0, 1),
        lambda judge, system: float(rng.random() < quality[system] / 7),
        lambda judge, system: float(min(7, quality[system] + rng.choice([0, 0, 1]))),
        lambda judge, system: 1e9 * rng.random(),
        lambda judge, system: 1e-9 * rng.random(),
        lambda judge, system: float(judge),
    ]
    return rng.choice(kinds)


Analysis: TypeAlias = Callable[[Study, Random], Any]


def scored(study: Study, rng: Random) -> Any:
    options: list[dict[str, Any]] = [
        {}, {"paired": "ar"}, {"paired": "bs"}, {"all_pairs": True}, {"by": "domain"},
        {"all_pairs": True, "margin": 1.0}, {"paired": "ar", "cluster": "document"},
    ]  # fmt: skip
    return wellput.score(study.evalset, rng.choice(METRICS), **rng.choice(options))


def ranked(study: Study, rng: Random) -> Any:
    options: list[dict[str, Any]] = [
        {}, {"sequential": True}, {"model": "linear"}, {"model": "ordinal"}, {"random": "judge"},
        {"evalset": study.evalset, "by": "domain"},
        {"evalset": study.evalset, "covariates": "length"},
    ]  # fmt: skip
    return wellput.rank(study.ratings, permutations=5, **rng.choice(options))


def ranked_by_choices(study: Study, rng: Random) -> Any:
    options: list[dict[str, Any]] = [
        {},
        {"sequential": True},
        {"evalset": study.evalset, "covariates": "length"},
    ]
    return wellput.rank(study.choices, permutations=5, **rng.choice(options))


def agreed(study: Study, rng: Random) -> Any:
    options: list[dict[str, Any]] = [
        {}, {"level": "system"}, {"level": "document", "documents": 3, "document_size": 5},
        {"coefficient": "kendall,acc-t,spa"}, {"average": "item"}, {"test": "perm-both"},
        {"models": True}, {"normalize": "z"}, {"test": "williams"}, {"coefficient": "spearman"},
        {"generalize": "items"}, {"generalize": "systems"},
    ]  # fmt: skip
    given = rng.choice(options)
    return wellput.agree(study.evalset, study.ratings, rng.choice(METRICS), resamples=50, **given)


def agreed_on_choices(study: Study, rng: Random) -> Any:
    return wellput.agree(study.evalset, study.choices, rng.choice(METRICS))


def vetted(study: Study, rng: Random) -> Any:
    evalset = study.evalset if rng.random() < 0.5 else None
    return wellput.vet(study.ratings, judge="j0", min_items=2, evalset=evalset)


def estimated(study: Study, rng: Random) -> Any:
    options: list[dict[str, Any]] = [
        {},
        {"budget": 3},
        {"cluster": "document"},
        {"strata": "domain"},
    ]
    judgments: Any = rng.choice([study.ratings, study.choices])
    return wellput.estimate(study.evalset, judgments, proxy="chrf", **rng.choice(options))


def fitted(study: Study, rng: Random) -> Any:
    predictors = rng.choice(["bleu,length", "chrf", "ssa,gsa,length"])
    return wellput.fit(study.evalset, study.ratings, question="q", predictors=predictors)


def planned(study: Study, rng: Random) -> Any:
    return wellput.power(pilot=study.ratings, difference=0.3)


def reported(study: Study, rng: Random) -> Any:
    judgments: Any = rng.choice([study.ratings, study.choices])
    return wellput.report(study.evalset, judgments, metrics=rng.choice(METRICS), path="r.html")


ANALYSES: dict[str, tuple[Analysis, int]] = {
    "score": (scored, 24),
    "rank": (ranked, 24),
    "rank choices": (ranked_by_choices, 12),
    "agree": (agreed, 30),
    "agree on choices": (agreed_on_choices, 8),
    "vet": (vetted, 10),
    "estimate": (estimated, 16),
    "fit": (fitted, 16),
    "power": (planned, 6),
    "report": (reported, 6),
}
"""Each with the number of studies."""


@pytest.mark.parametrize("name", ANALYSES)
def test_a_result_or_a_sentence(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    analysis, n_studies = ANALYSES[name]
    n_results = 0
    for seed in range(n_studies):
        rng = Random(seed)
        study = study_of(rng)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                result = analysis(study, rng)
                json.dumps(result.to_dict(), allow_nan=False)
                assert str(result) and result._repr_html_()
                n_results += 1
            except InputError as refused:
                assert str(refused)
            except Exception as error:
                raise AssertionError(f"{name}, seed {seed}") from error
    assert n_results > 0
