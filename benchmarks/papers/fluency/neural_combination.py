"""`fluency:neural=` beside its two parts on rated sets: `make bench-fluency-neural ARGS="KEPT"`."""

from __future__ import annotations

import argparse
from pathlib import Path

from scipy.stats import rankdata

from benchmarks.pages import write_page
from benchmarks.papers.fluency import kinds
from benchmarks.papers.fluency.figures import advantage, interval, spearman, table
from benchmarks.papers.fluency.neural_scores import KeptScores
from wellput.language.models.fluency_model import FluencyModel, english_models
from wellput.language.shipped import shipped
from wellput.metrics.fluency import joined_scores

MAX_TEXTS = 500

INTRODUCTION = """# Fluency together with a neural model

Does `fluency` add to a neural language model? The combination [`fluency:neural=FOLDER`](../metrics/fluency.md#with-a-neural-model) agrees significantly better with people than the neural model alone (PenLP) on {better} of {n} sets. On the
other sets, chance may explain the difference. On {fluency_higher} sets `fluency` alone correlates more with people than the combination.

PenLP is the log probability of a text by SmolLM2, a language model of 135 million weights, divided by a power of the text's length. The combination is a weighted sum of PenLP (weight .6) and `fluency` (.4).
The weights were not chosen by ratings, and the constants that put the two parts on one scale come from 320 sentences that we made worse ourselves. Only three factors inside `fluency` were chosen on
these sets ([how, and what the sets are](fluency_kinds.md)).

The table has Spearman's correlations with people's mean ratings, with 95% bootstrap intervals, on at most {most} texts of each set (the number after its name). *gain over PenLP* is the
correlation of the combination minus that of PenLP; it is bold if the interval is above 0.
"""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("kept", type=Path)
    scores = KeptScores(arguments.parse_args().kept / "neural.jsonl")
    models, weights = english_models(), FluencyModel.load(shipped("fluency.wpm"))
    rows = []
    fluency_higher = 0
    for rated in kinds.rated_sets(MAX_TEXTS):
        if missing := sum(text not in scores.found for text in rated.texts):
            raise SystemExit(f"{scores.path} lacks {missing} texts of {rated.name}.")
        one = kinds.Measured.of(rated, models, scores)
        ratings, fluency = one.rated.ratings, one.fluency(weights)
        both = joined_scores(fluency, one.neural)
        fluency_higher += spearman(fluency, ratings) > spearman(both, ratings)
        ranks = [rankdata(column) for column in (both, one.neural, ratings)]
        rows.append(
            [
                f"{rated.name} ({len(ratings)})",
                interval(spearman, fluency, ratings),
                interval(spearman, one.neural, ratings),
                interval(spearman, both, ratings),
                advantage(*ranks),
            ]
        )
    introduction = INTRODUCTION.format(
        better=sum(row[-1].startswith("**") for row in rows),
        n=len(rows),
        fluency_higher=fluency_higher,
        most=MAX_TEXTS,
    )
    header = ["set", "`fluency`", "PenLP", "`fluency:neural=`", "gain over PenLP"]
    write_page("fluency-neural", "\n".join([introduction, *table(header, rows)]))
