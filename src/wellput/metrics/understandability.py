"""`understandability` and `quality`: linear models that predict people's judgments from tree accuracy.

They are equations 4 and 5 of Bangalore, Rambow & Whittaker (2000), which predict judgments on 7-point
scales from simple tree accuracy (`sta`) and from the number of substitutions in the alignment of the
whole *string*. The prediction is divided by its value for a perfect sentence, so a perfect sentence
has the score 1; scores below 0 are possible. A corpus score is the mean over sentences. With several
references, the one with the best score counts, among those that have a tree.
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
    REFERENCE_TOKENS,
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
    """A prediction: (`accuracy_weight` · tree accuracy + `substitution_weight` · substitutions +
    `constant`) / `at_perfect`. Statistics: the sums of the predictions, of the tree accuracies and of
    the substitutions, and the number of sentences for which they are defined."""

    accuracy_weight: ClassVar[float]
    substitution_weight: ClassVar[float]
    constant: ClassVar[float]
    at_perfect: ClassVar[float]
    needs = frozenset({"references", "tree"})
    bounds: ClassVar[Bounds] = (None, 1.0)
    perfect: ClassVar[Mapping[str, float]] = {"score": 1.0, "sta": 1.0, "substitutions": 0.0}
    paper = ACCURACY_PAPER

    def statistics(self, batch: Batch) -> Floats:
        # `counts` has a row for each reference with a tree, `n_per_output` the number of these rows for
        # each output.
        counts, n_per_output = treelet_errors(batch, self)
        problems = counts[:, [SUBSTITUTIONS, INSERTIONS, DELETIONS]].sum(axis=1)
        tree_accuracies = accuracy(problems, counts[:, REFERENCE_TOKENS])
        substitutions = counts[:, STRING_SUBSTITUTIONS]
        values = (
            self.accuracy_weight * tree_accuracies
            + self.substitution_weight * substitutions
            + self.constant
        ) / self.at_perfect
        chosen = best_of(values, n_per_output)
        # A sentence whose tree accuracy is undefined (NaN) is not counted.
        columns = [values, tree_accuracies, substitutions, np.ones(len(values))]
        table = np.column_stack(columns)[chosen]
        table[np.isnan(table[:, 0])] = 0.0
        return table

    def score(self, statistics: Floats) -> Floats:
        return ratio(statistics[..., 0], statistics[..., 3])

    def components(self, statistics: Floats) -> dict[str, Floats]:
        """The mean tree accuracy and the mean number of substitutions of a sentence."""
        return {
            "sta": ratio(statistics[..., 1], statistics[..., 3]),
            "substitutions": ratio(statistics[..., 2], statistics[..., 3]),
        }

    def explain(self, batch: Batch) -> list[str]:
        """The explanation of simple tree accuracy, which is the main part of the prediction."""
        options = {option.name: getattr(self, option.name) for option in fields(AlignmentOptions)}
        return SimpleTreeAccuracy(**options).explain(batch)

    def signature(self) -> str:
        return self.alignment_signature()


@dataclass(frozen=True)
class Understandability(JudgmentModel):
    """Equation 4: predicted understandability."""

    family = "understandability"
    about = "sta and substitutions, weighted to predict judged understandability (eq. 4)"
    accuracy_weight = 1.3147
    substitution_weight = -0.1039
    constant = -0.4458
    at_perfect = 0.8689


@dataclass(frozen=True)
class Quality(JudgmentModel):
    """Equation 5: predicted quality."""

    family = "quality"
    about = "sta and substitutions, weighted to predict judged quality (eq. 5)"
    accuracy_weight = 1.0192
    substitution_weight = -0.0869
    constant = -0.3553
    at_perfect = 0.6639
