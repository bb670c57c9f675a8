"""Understandability and quality: accuracy, weighted to predict people's judgments.

Equations 4 and 5 of Bangalore, Rambow & Whittaker (2000): a linear model of judgments on 7-point
scales, from simple tree accuracy and the number of substitutions in the *string* alignment, divided
by its value for a perfect sentence. A perfect sentence scores 1; below 0 is possible. A corpus score
is the mean over sentences. With several references a sentence takes the one with the best score, among
those that have a tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from wellput.core.estimates import Bounds
from wellput.core.evalset import Batch
from wellput.core.metric import Floats
from wellput.metrics.accuracy import (
    ACCURACY_PAPER,
    DELETIONS,
    INSERTIONS,
    REFERENCE,
    STRING_SUBSTITUTIONS,
    SUBSTITUTIONS,
    AlignmentOptions,
    SimpleTreeAccuracy,
    accuracy,
    best_of,
    treelet_errors,
)
from wellput.metrics.base import ratio


@dataclass(frozen=True)
class JudgmentModel(AlignmentOptions):
    """Statistics: the sums of the sentences' values, tree accuracies and substitutions, and the
    number of sentences for which they are defined."""

    tree_accuracy: ClassVar[float]
    substitutions: ClassVar[float]
    constant: ClassVar[float]
    at_perfect: ClassVar[float]
    needs = frozenset({"references", "tree"})
    bounds: ClassVar[Bounds] = (None, 1.0)
    perfect: ClassVar[Mapping[str, float]] = {"score": 1.0, "sta": 1.0, "substitutions": 0.0}
    paper = ACCURACY_PAPER

    def statistics(self, batch: Batch) -> Floats:
        counts, per_row = treelet_errors(batch, self)
        problems = counts[:, [SUBSTITUTIONS, INSERTIONS, DELETIONS]].sum(axis=1)
        trees = accuracy(problems, counts[:, REFERENCE])
        substitutions = counts[:, STRING_SUBSTITUTIONS]
        values = (
            self.tree_accuracy * trees + self.substitutions * substitutions + self.constant
        ) / self.at_perfect
        chosen = best_of(values, per_row)
        table = np.column_stack([values, trees, substitutions, np.ones(len(values))])[chosen]
        table[np.isnan(table[:, 0])] = 0.0
        return table

    def score(self, statistics: Floats) -> Floats:
        return ratio(statistics[..., 0], statistics[..., 3])

    def components(self, statistics: Floats) -> dict[str, Floats]:
        """Means per sentence."""
        return {
            "sta": ratio(statistics[..., 1], statistics[..., 3]),
            "substitutions": ratio(statistics[..., 2], statistics[..., 3]),
        }

    def explain(self, batch: Batch) -> list[str]:
        """The explanation of simple tree accuracy, on which the value rests."""
        options = {option.name: getattr(self, option.name) for option in fields(AlignmentOptions)}
        return SimpleTreeAccuracy(**options).explain(batch)

    def signature(self) -> str:
        return self.alignment_signature()


@dataclass(frozen=True)
class Understandability(JudgmentModel):
    family = "understandability"
    about = "sta and substitutions, weighted to predict judged understandability (eq. 4)"
    tree_accuracy = 1.3147
    substitutions = -0.1039
    constant = -0.4458
    at_perfect = 0.8689


@dataclass(frozen=True)
class Quality(JudgmentModel):
    family = "quality"
    about = "sta and substitutions, weighted to predict judged quality (eq. 5)"
    tree_accuracy = 1.0192
    substitutions = -0.0869
    constant = -0.3553
    at_perfect = 0.6639
