"""`ErrorSources`: how much of the error of a score comes from documents, items and samples.

It is computed for differences from the baseline where these are tested, otherwise for scores, and only
where items have clusters or outputs have samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from wellput.core.estimates import ScoreTable
from wellput.engine.result import Comparison
from wellput.stats.nested_variance import ErrorParts, error_parts, variances_of_means


@dataclass(frozen=True, slots=True)
class ErrorSources:
    """The parts of the variance of a mean segment score, or of a mean difference from `baseline`."""

    system: str
    baseline: str | None
    metric: str
    parts: ErrorParts

    def to_dict(self) -> dict[str, Any]:
        """An entry of `error_sources` in the JSON."""
        own = {"system": self.system, "baseline": self.baseline, "metric": self.metric}
        return own | asdict(self.parts)


def error_sources(
    tables: Sequence[ScoreTable], compared: Sequence[Comparison]
) -> tuple[ErrorSources, ...]:
    """The sources of error of every tested difference, or else of every score."""
    found: list[ErrorSources] = []
    for table in tables:
        if table.samples is None and table.clusters is None:
            continue
        pairs: list[tuple[str, str | None]] = [
            (one.a, one.b) for one in compared if one.metric == table.scorer
        ]
        for system, baseline in pairs or [(system, None) for system in table.systems]:
            if (parts := _parts(table, system, baseline)) is not None:
                found.append(ErrorSources(system, baseline, table.scorer, parts))
    return tuple(found)


def _parts(table: ScoreTable, system: str, baseline: str | None) -> ErrorParts | None:
    rows = [table.row(name) for name in (system, baseline) if name is not None]
    scores = [table.scores_of(row) for row in rows]
    there = np.logical_and.reduce([~np.isnan(own) for own in scores])
    values = scores[0][there] - (scores[1][there] if baseline is not None else 0.0)
    variances = None
    if table.samples is not None:
        own = [table.samples[row, there] for row in rows]
        several = [
            variances_of_means(part[:, 1], part[:, 2]) for part in own if part[:, 2].max() > 1
        ]
        variances = np.sum(several, axis=0) if several else None
    codes = None if table.clusters is None else table.clusters.codes[there]
    if variances is None and codes is None:
        return None
    return error_parts(values, variances, codes)
