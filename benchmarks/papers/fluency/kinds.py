"""`fluency` on kinds of text that it was not chosen on: `python -m benchmarks fluency-kinds REAL SOURCE KEPT`.

The weights are fitted to sentences into which we put mistakes. The factors in `FEATURE_TRUST` were chosen on
people's ratings. Here they are chosen again without each set of ratings in turn, and judged on that set.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from benchmarks.data import read_jsonl
from benchmarks.pages import write_page
from benchmarks.papers.fluency.figures import advantage, interval, short, spearman, table
from benchmarks.papers.fluency.neural_scores import KeptScores
from benchmarks.papers.fluency.texts import Rated, dialog, gug_alone, lau, some_of, tmu, webnlg
from wellput.core.metric import Floats
from wellput.language.models.english_text import SentenceFeatures
from wellput.language.models.fluency_model import (
    FLUENCY_FEATURES,
    FluencyModel,
    FluencyModels,
    english_models,
)
from wellput.language.models.linear_model import LinearModel, fit_severity
from wellput.language.models.parsers import ENGLISH_PARSER, load_parser
from wellput.language.shipped import shipped
from wellput.metrics.fluency_training import graded_texts, whole_sentences

MAX_TEXTS = 2000
TRAINING_SENTENCES = 600
WRITING = ("spelling", "near_misses", "capital", "stop")
TRIED_FACTORS = {
    "writing": (1.0, 0.5, 0.3, 0.1),
    "likelihood": (1.0, 2.0, 3.0),
    "unusual": (1.0, 2.0, 3.0),
}
NEURAL_SHARE = 0.6
"""The share of the neural model in the combination with `fluency`."""

Factors = tuple[float, ...]
"""Factors of the features of writing, of `likelihood` and of `unusual`."""


def simplicity() -> Rated:
    """Simplifications by programs and people, fluency 0 to 100, 15 raters."""
    rows = list(read_jsonl("nlg_human/simplicity_da.jsonl.gz"))
    ratings = np.array([float(row["fluency"]) for row in rows])
    return Rated("Simplicity-DA", [row["output"] for row in rows], ratings)


def asset() -> Rated:
    """The same from another study."""
    rows = list(read_jsonl("nlg_human/asset_ratings.jsonl.gz"))
    ratings = np.array([float(np.mean(row["fluency"])) for row in rows])
    return Rated("ASSET", [row["output"] for row in rows], ratings)


def translations() -> Rated:
    """Machine translations of news from Chinese; all errors that experts marked, not of fluency alone."""
    rows = list(read_jsonl("mt/mqm_newstest2021_zhen.jsonl.gz"))
    ratings = np.array([float(row["mqm"]) for row in rows])
    return Rated("MQM zh-en", [row["output"] for row in rows], ratings)


def rated_sets(most: int = MAX_TEXTS) -> list[Rated]:
    """Each with at most this many texts, drawn at random."""
    sets = [
        gug_alone("train"),
        gug_alone("dev"),
        tmu(),
        dialog("d2t_sfres.jsonl.gz", "SFRES"),
        dialog("d2t_bagel.jsonl.gz", "BAGEL"),
        webnlg("WebNLG, without empty outputs", with_nothing_said=False),
        simplicity(),
        lau(),
        asset(),
        translations(),
    ]
    return [some_of(one, most) for one in sets]


@dataclass(frozen=True, eq=False)
class Measured:
    """A rated set with the features of its sentences and the PenLP by a neural model (`neural`)."""

    rated: Rated
    features: SentenceFeatures
    neural: Floats

    @classmethod
    def of(cls, rated: Rated, models: FluencyModels, kept: KeptScores) -> Measured:
        log_probs, pieces = kept.rows(rated.texts).T
        penalized = log_probs / ((5 + pieces) / 6) ** 0.8
        filled = np.where(np.isnan(penalized), np.nanmin(penalized), penalized)
        return cls(rated, models.sentence_features(rated.texts), filled)

    def fluency(self, model: FluencyModel) -> Floats:
        return np.nan_to_num(self.features.scores_of_texts(model.scores(self.features.rows)))

    @cached_property
    def brevity(self) -> Floats:
        return np.array([-float(len(text.split())) for text in self.rated.texts])

    def standard_sum(self, model: FluencyModel) -> Floats:
        """The neural model with `fluency`, each in standard deviations of this set. `fluency:neural=`
        has constants instead."""
        return NEURAL_SHARE * _standard(self.neural) + (1 - NEURAL_SHARE) * _standard(
            self.fluency(model)
        )


def _standard(column: Floats) -> Floats:
    return np.asarray((column - column.mean()) / column.std())


def fitted(real: Path, source: Path, models: FluencyModels) -> tuple[LinearModel, Floats]:
    """Weights before any factors, and the features of real sentences."""
    rows, severity, weights = [], [], []
    rng = np.random.default_rng(12345)
    pools = whole_sentences([real]), whole_sentences([source])
    for kind in graded_texts(*pools, load_parser(ENGLISH_PARSER), rng, n=TRAINING_SENTENCES):
        features = models.features(kind.texts)
        has_words = ~np.isnan(features[:, 0])
        mistakes = np.broadcast_to(np.asarray(kind.mistakes), has_words.shape)
        rows.append(features[has_words])
        severity.append(np.log1p(mistakes[has_words]))
        weights.append(np.full(int(has_words.sum()), kind.weight / has_words.sum()))
    found = np.vstack(rows), np.concatenate(severity), np.concatenate(weights)
    return fit_severity(tuple(FLUENCY_FEATURES), *found), rows[0]


def with_factors(sums: LinearModel, real: Floats, factors: Factors) -> FluencyModel:
    """As `FluencyModel.train` does with `FEATURE_TRUST`."""
    writing, likelihood, unusual = factors
    trust = {"likelihood": likelihood, "unusual": unusual, **dict.fromkeys(WRITING, writing)}
    weights = sums.weights * np.array([trust.get(name, 1.0) for name in FLUENCY_FEATURES])
    return FluencyModel.calibrated(replace(sums, weights=weights), real)


def chosen_without(left_out: str, correlations: Mapping[Factors, Mapping[str, float]]) -> Factors:
    """The factors with the highest mean correlation on the other sets; GUG's two parts, and the two
    sets of simplifications, are left out together."""
    together = [("GUG",), ("Simplicity", "ASSET")]
    names = next((own for own in together if left_out.startswith(own)), (left_out,))
    return max(
        correlations,
        key=lambda factors: np.mean(
            [value for name, value in correlations[factors].items() if not name.startswith(names)]
        ),
    )


def lines(real: Path, source: Path, kept: Path) -> list[str]:
    models = english_models()
    scores = KeptScores(kept / "neural.jsonl")
    sets = [Measured.of(rated, models, scores) for rated in rated_sets()]
    sums, real_rows = fitted(real, source, models)
    tried = {
        factors: with_factors(sums, real_rows, factors)
        for factors in product(*TRIED_FACTORS.values())
    }
    correlations = {
        factors: {
            one.rated.name: spearman(one.fluency(model), one.rated.ratings)
            for one in sets
            if one.rated.name != "GUG dev"
        }
        for factors, model in tried.items()
    }
    as_shipped = FluencyModel.load(shipped("fluency.wpm"))
    rows, others, ratios = [], [], []
    for one in sets:
        name, ratings = one.rated.name, one.rated.ratings
        factors = chosen_without(name, correlations)
        left_out = one.fluency(tried[factors])
        ratios.append(spearman(left_out, ratings) / spearman(one.neural, ratings))
        rows.append(
            [
                f"{name} ({len(ratings):,})",
                interval(spearman, one.brevity, ratings),
                interval(spearman, left_out, ratings),
                " ".join(f"{factor:g}" for factor in factors),
                interval(spearman, one.fluency(as_shipped), ratings),
                interval(spearman, one.neural, ratings),
                f"{ratios[-1]:.0%}",
                interval(spearman, one.standard_sum(tried[factors]), ratings),
            ]
        )
        others.append(
            [
                name,
                _advantage(left_out, one.brevity, ratings),
                _advantage(left_out, one.neural, ratings),
                _advantage(one.standard_sum(tried[factors]), one.neural, ratings),
            ]
        )
    features = [
        [name, *(short(spearman(_column(one, place), one.rated.ratings)) for one in sets)]
        for place, name in enumerate(FLUENCY_FEATURES)
    ]
    return [
        INTRODUCTION.format(mean=float(np.mean(ratios)), least=min(ratios)),
        *table(
            [
                "set",
                "brevity",
                "`fluency`, chosen without this set",
                "factors",
                "`fluency`, as shipped",
                "PenLP",
                "ratio",
                "sum",
            ],
            rows,
        ),
        "## Differences\n",
        "The table has differences of the absolute values of correlations; `fluency` has the factors chosen without the set. Bold: the interval is above 0.\n",
        *table(
            ["set", "`fluency` minus brevity", "`fluency` minus PenLP", "sum minus PenLP"], others
        ),
        "## Each feature alone\n",
        "[The features](../metrics/fluency.md#features) are described on the page of the metric. –: the feature "
        "has the same value for all texts of the set.\n",
        *table(["feature", *(one.rated.name for one in sets)], features),
        NOTES,
    ]


def _advantage(x: Floats, other: Floats, ratings: Floats) -> str:
    """By Spearman's correlation."""
    return advantage(rankdata(x), rankdata(other), rankdata(ratings))


def _column(one: Measured, place: int) -> Floats:
    column = one.features.means()[:, place]
    return np.where(np.isnan(column), np.nanmin(column), column)


INTRODUCTION = """# Fluency on every kind of text

How far does [`fluency`](../metrics/fluency.md) agree with people, compared with a neural language model? On ten sets of texts its correlation is on average {mean:.0%} of that of the neural
model's log probability (PenLP), and on every set at least {least:.0%}. `fluency` needs no GPU and no `torch`.

The tables have Spearman's correlations with people's mean ratings, with 95% bootstrap intervals. The sets are described on the pages [Fluency without references](fluency.md#people) and
[Metrics against real judgments](agreement.md). The columns:

- *brevity*: the number of words, negated, because people rate long sentences lower.
- *chosen without this set*: `fluency` is a weighted sum of features. The weights are fitted to sentences into which we put mistakes, and multiplied by three factors, which were chosen on people's
  ratings. So that no set decides its own result, this column has the factors with the highest mean correlation on all other sets except GUG dev, on which nothing was chosen.
- *factors*: these factors. The first is for the [features](../metrics/fluency.md#features) `spelling`, `near_misses`, `capital` and `stop` (tried: 1, .5, .3, .1), the second for `likelihood`, the third for `unusual` (tried for both: 1, 2, 3).
- *as shipped*: `fluency` with the model in the package, whose factors (.3, 3 and 3) were chosen on all sets together, without GUG dev.
- *PenLP*: the log probability of a text by SmolLM2, a language model of 135 million weights, divided by a power of the text's length (`perplexity:measure=penalized`).
- *ratio*: the correlation of `fluency` (chosen without this set), divided by that of PenLP.
- *sum*: .6 times PenLP plus .4 times `fluency` (chosen without this set), each in standard deviations of the set. A single text has no standard deviation; the metric
  [`fluency:neural=FOLDER`](fluency_neural.md) has constants in its place.
"""

NOTES = """## How choices were made

- No choice was made on GUG dev. On the other sets two choices were made besides the factors: of a word that the [small language model](../metrics/fluency.md#the-small-language-model) splits into several pieces, only the spelling is judged; and five features of an n-gram model were left out of `fluency`. So the
  correlations on sets other than GUG dev may be a little too high.
- Where the factors are chosen without a part of GUG, the other part of GUG is left out, too; in the same way, Simplicity-DA and ASSET, which are both simplified sentences, are left out together. The weight .6 in the sum of PenLP and `fluency` was not chosen by ratings.
- MQM zh-en has ratings that count all errors of translation, not only errors of fluency.
"""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("real", type=Path)
    arguments.add_argument("source", type=Path)
    arguments.add_argument("kept", type=Path)
    given = arguments.parse_args()
    write_page("fluency-kinds", "\n".join(lines(given.real, given.source, given.kept)))
