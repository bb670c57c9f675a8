"""Metrics' scores in a folder of mt-metrics-eval: `metric-scores/PAIR/NAME.seg.score`, with a line
SYSTEM<tab>SCORE for each segment of each system in turn, and `NAME.sys.score`, with a line for each
system.

Higher is better in all of these files, also for error rates and MetricX: the format says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from wellput.core.errors import InputError, Problems
from wellput.io.external_scores import ExternalScores, ItemPlaces
from wellput.io.files import InputFile, check_readable, file_fingerprint
from wellput.io.mt_metrics_eval import LEVEL_SUFFIXES, LanguagePair

SEGMENT_SUFFIX, SYSTEM_SUFFIX = LEVEL_SUFFIXES


def metric_names(pair: LanguagePair) -> list[str]:
    """The metrics that have scores of segments, in the order of their names."""
    return sorted(file.name.removesuffix(SEGMENT_SUFFIX) for file in _segment_files(pair))


def _segment_files(pair: LanguagePair) -> Sequence[Path]:
    return list(_folder(pair).glob(f"*{SEGMENT_SUFFIX}"))


def _folder(pair: LanguagePair) -> Path:
    return pair.folder / "metric-scores" / pair.name


def read_metric_scores(pair: LanguagePair, name: str) -> ExternalScores:
    """One metric's scores; items are the numbers of the segments, from 1."""
    path = _folder(pair) / f"{name}{SEGMENT_SUFFIX}"
    segments = _read(path)
    if not segments:
        raise InputError(f"{path} has no scores.")
    of_systems = _folder(pair) / f"{name}{SYSTEM_SUFFIX}"
    systems = _read(of_systems) if of_systems.exists() else {}
    n_items = max(map(len, segments.values()))
    return ExternalScores(
        metric=name,
        path=str(path),
        items=ItemPlaces([str(number) for number in range(1, n_items + 1)]),
        scores={system: np.array(scores) for system, scores in segments.items()},
        version="",
        fingerprint=(file_fingerprint(path) or "unknown")[:12],
        system_scores={system: scores[0] for system, scores in systems.items()},
    )


def _read(path: Path) -> dict[str, list[float]]:
    """Each system's scores in the order of the lines, NaN for None."""
    file = InputFile(path)
    check_readable(file)
    problems = Problems(file.name)
    found: dict[str, list[float]] = {}
    for number, line in enumerate(file.lines(), start=1):
        try:
            system, score = line.split()
            value = np.nan if score == "None" else float(score)
        except ValueError:
            problems.add(f"line {number}", f"not SYSTEM SCORE: {line[:80]!r}")
            continue
        if np.isinf(value):
            problems.add(f"line {number}", f"the score {score} is not finite")
        found.setdefault(system, []).append(value)
    problems.raise_if_any()
    return found
