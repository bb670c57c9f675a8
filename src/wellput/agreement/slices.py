"""Agreement with people by slice: the items that have the same value of a tag.

Every slice is an `AgreementResult` of its own. Its p-values are corrected over the metrics of all
slices together, and those of differences over the pairs of all slices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wellput.agreement.analysis import AgreementOptions, agree
from wellput.agreement.orders import is_sentinel
from wellput.agreement.result import AgreementResult
from wellput.core.errors import InputError
from wellput.core.estimates import ScoreTable
from wellput.core.judgment import Judgment
from wellput.core.work import OnPhase
from wellput.stats.corrections import CORRECTIONS


def agree_by(
    whole: AgreementResult,
    tables: Mapping[str, ScoreTable],
    judgments: Sequence[Judgment],
    options: AgreementOptions,
    masks: Mapping[str, NDArray[np.bool_]],
    by: str,
    *,
    on_phase: OnPhase,
) -> AgreementResult:
    """The result with those of its slices. Slices that cannot be analyzed are named in its notes."""
    found: list[AgreementResult] = []
    refused: list[str] = []
    for name, items in masks.items():
        parts = {metric: table.of_items(items) for metric, table in tables.items()}
        inside = set(next(iter(parts.values())).items)
        own = [judgment for judgment in judgments if judgment.item in inside]
        try:
            if not own:
                raise InputError("no judgments")
            part = agree(parts, own, options, on_phase=on_phase)
            found.append(replace(part, by={by: name}))
        except InputError as problem:
            refused.append(f"{by} {name} is left out: {str(problem).rstrip('.')}.")
    return replace(whole, slices=_corrected(found, options), notes=(*whole.notes, *refused))


def _corrected(
    slices: Sequence[AgreementResult], options: AgreementOptions
) -> tuple[AgreementResult, ...]:
    """The slices with p corrected over all of them; sentinels do not count."""
    correct = CORRECTIONS[options.correction]
    rows = [
        row
        for part in slices
        for row in part.agreement
        if row.p_value is not None and not is_sentinel(row.metric)
    ]
    pairs = [pair for part in slices for pair in part.differences]
    of_rows = iter(correct(np.array([row.p_value for row in rows], float)).tolist())
    of_pairs = iter(correct(np.array([pair.p_value for pair in pairs], float)).tolist())
    return tuple(
        replace(
            part,
            agreement=tuple(
                row
                if row.p_value is None or is_sentinel(row.metric)
                else replace(row, p_adjusted=next(of_rows))
                for row in part.agreement
            ),
            differences=tuple(
                replace(pair, p_adjusted=next(of_pairs)) for pair in part.differences
            ),
        )
        for part in slices
    )
