"""Small random studies through every analysis: a result or a sentence, never a traceback, a warning or
a number that JSON cannot hold. An interval and the uncorrected p-value beside it never contradict each
other."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import pytest

import wellput
from tests.random_studies import Study, study_of
from wellput.core.errors import InputError

NO_NUMBER = re.compile(r"(?<![a-z])(nan|inf|None)(?![a-z])")
"""What Python writes for values that people should not see."""
METRICS = ("bleu,chrf", "ssa,ter", "exact", "length-only,random,chrf", "rouge-l,gsa")

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


def check_intervals(found: Any) -> None:
    """Everywhere in the record, p is below .05 exactly where the 95% interval leaves the null value
    out: a half for shares, else 0 if the row does not say another. sacreBLEU's p-value of the paired
    bootstrap, which people ask for by name, is another statistic than its interval's."""
    if isinstance(found, list):
        for one in found:
            check_intervals(one)
    if not isinstance(found, dict):
        return
    of = "delta_" if "delta_low" in found else ""  # p is that of the difference
    null = found.get("null", 0.5 if "share" in found else 0.0)
    row: list[float | None] = [found.get(f"{of}low"), found.get(f"{of}high"), found.get("p_value")]
    low, high, p_value = (math.nan if value is None else value for value in row)
    is_sacrebleus = str(found.get(f"{of}method")).startswith("paired bootstrap")
    if null is not None and not math.isnan(low + high + p_value) and not is_sacrebleus:
        is_outside = low > null or high < null
        assert (p_value < 0.05) == is_outside or abs(p_value - 0.05) < 1e-6, found
    for value in found.values():
        check_intervals(value)


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
                record = json.loads(json.dumps(result.to_dict(), allow_nan=False))
                check_intervals(record)
                assert result._repr_html_()
                assert not NO_NUMBER.search(str(result))
                n_results += 1
            except InputError as refused:
                assert str(refused)
            except Exception as error:
                raise AssertionError(f"{name}, seed {seed}") from error
    assert n_results > 0
