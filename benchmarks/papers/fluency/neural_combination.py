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

MOST = 500

INTRODUCTION = """# Fluency together with a neural model

[`fluency:neural=FOLDER`](../metrics/fluency.md) is a weighted sum of `fluency` and of PenLP, the log probability by a neural language model, divided by a power of the text's length. The model here is SmolLM2 with 135 million weights. The table has Spearman's correlations with people's mean ratings,
with 95% bootstrap intervals, on at most 500 texts of each set.

The two parts are put on one scale by constants from 320 sentences that we made worse ourselves; their weights, .6 for PenLP and .4 for `fluency`, were not chosen by ratings. So nothing in the combination was chosen on these sets.
Only three factors inside `fluency` were chosen on these sets ([how, and what the sets are](fluency_kinds.md)).
"""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("kept", type=Path)
    scores = KeptScores(arguments.parse_args().kept / "neural.jsonl")
    models, weights = english_models(), FluencyModel.load(shipped("fluency.wpm"))
    rows = []
    fluency_higher = 0
    for rated in kinds.rated_sets(MOST):
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
    shown = sum(row[-1].startswith("**") for row in rows)
    header = ["set", "`fluency`", "PenLP", "`fluency:neural=`", "gain over PenLP"]
    parts = [
        INTRODUCTION,
        *table(header, rows),
        f"The combination agrees significantly better with people than PenLP on {shown} of {len(rows)} "
        "sets (bold: the interval of the difference is above 0). "
        f"On the other sets, chance may explain the difference. On {fluency_higher} sets `fluency` alone "
        "is above the combination.\n",
    ]
    write_page("fluency-neural", "\n".join(parts))
