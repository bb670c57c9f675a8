"""How many of WordNet's proposals the filter of ContextWN lets through, by set.

The share of substitutions on the page differs from it a little: where several proposals for a word pass, one
is made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.agreement.human_data import HumanData
from benchmarks.pages import table
from benchmarks.papers.kauchak_experiment import contextwn
from benchmarks.papers.paraphrase.correlation import with_references
from wellput.language.paraphrase.corpus_index import CorpusIndex

RESAMPLES = 2000


def proposals_table(sets: Sequence[HumanData], index: CorpusIndex) -> str:
    rows = []
    for data in sets:
        filtered = contextwn(data, index)
        _, found = filtered.rewrite_items(with_references(data, 1).evalset.items)
        least = filtered.rewriter.least
        passes = np.array([one.probability >= least for one in found])  # unknown words: NaN
        low, high = share_bounds([one.item for one in found], passes)
        known = np.array([not np.isnan(one.probability) for one in found])
        distinct = {
            (one.item, one.word, one.replacement): passed
            for one, passed in zip(found, passes, strict=True)
        }
        rows.append(
            [
                data.name,
                f"{len(found):,}",
                f"{known.mean():.0%}",
                f"{passes[known].mean():.0%}",
                f"{passes.mean():.1%} ({low:.1%} to {high:.1%})",
                f"{len(distinct):,}",
                f"{np.mean(list(distinct.values())):.1%}",
            ]
        )
    heads = [
        "set", "proposals", "of known words", "of those, pass", "of all proposals, pass",
        "distinct proposals", "of distinct, pass",
    ]  # fmt: skip
    return table(heads, rows)


def share_bounds(
    groups: Sequence[str], passes: np.ndarray, *, seed: int = 1
) -> tuple[float, float]:
    """A 95% bootstrap interval of the share that passes, groups drawn.

    >>> share_bounds(["a", "b"], np.array([True, True]))
    (1.0, 1.0)
    """
    _, place = np.unique(groups, return_inverse=True)
    total, passed = np.bincount(place), np.bincount(place, weights=passes)
    drawn = np.random.default_rng(seed).integers(0, len(total), (RESAMPLES, len(total)))
    low, high = np.quantile(passed[drawn].sum(1) / total[drawn].sum(1), [0.025, 0.975])
    return float(low), float(high)
