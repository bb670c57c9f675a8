"""Whether a judge changes during a study: answers quicker or slower, gives higher or lower values, or
is stuck at a trial.

Trials come in random order, so the first and the second half of a judge's answers should be alike.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from wellput.studies.queries import AnsweredRow

MIN_TRIALS_FOR_TRENDS = 16
"""With fewer trials, nothing is said about changes."""
DRIFT_STANDARD_ERRORS = 3.0
"""If the mean answers of the halves differ by more than this many standard errors of the difference,
the judge is flagged: chance seldom makes so large a difference."""
SPEED_FACTOR = 2.5
"""If the second half is this many times as quick or as slow as the first, the judge is flagged."""


@dataclass(frozen=True)
class JudgeTrends:
    """`speed` is the median time of the second half divided by that of the first: a judge whose `speed`
    is above 1 became slower. `drift` is the difference between the mean answers of the halves, in
    standard deviations of the judge's answers. `stuck_minutes` is the time since the last visit of a
    judge who has left a trial open. Each is None where it is not known. `flags` are sentences for the
    owner."""

    speed: float | None
    drift: float | None
    stuck_minutes: float | None
    flags: tuple[str, ...]


def trends(
    answered: Sequence[AnsweredRow],
    *,
    is_machine: bool,
    holds_open_trial: bool,
    idle_seconds: float,
    lease_seconds: float,
) -> JudgeTrends:
    """The changes of one judge. `answered` are the judge's answered trials in their order; a judge who
    `holds_open_trial` is stuck after `lease_seconds` without a visit."""
    trials = [row for row in answered if row.purpose == "trial"]
    speed = drift = None
    flags = []
    if len(trials) >= MIN_TRIALS_FOR_TRENDS:
        middle = len(trials) // 2
        before, after = _median_ms(trials[:middle]), _median_ms(trials[middle:])
        speed = after / before if before and after is not None else None
        # A machine's speed tells of its server, not of its care.
        if not is_machine and speed is not None and not 1 / SPEED_FACTOR <= speed <= SPEED_FACTOR:
            flags.append(f"the second half took {speed:.1f} times as long as the first")
        drift, is_clear = _drift([_numbers(row) for row in trials])
        if drift is not None and is_clear:
            way = "higher" if drift > 0 else "lower"
            flags.append(f"drift: answers are {way} in the second half")
    is_stuck = holds_open_trial and not is_machine and idle_seconds > lease_seconds
    stuck = idle_seconds / 60 if is_stuck else None
    if stuck is not None:
        flags.append(f"stuck: has an open trial and was away for {stuck:.0f} minutes")
    return JudgeTrends(speed, drift, stuck, tuple(flags))


def _median_ms(trials: Sequence[AnsweredRow]) -> float | None:
    known = [row.ms for row in trials if row.ms is not None]
    return statistics.median(known) if known else None


def _numbers(row: AnsweredRow) -> list[float]:
    return [
        float(value)
        for values in row.values
        for value in values.values()
        if isinstance(value, int | float)
    ]


def _drift(answers: Sequence[Sequence[float]]) -> tuple[float | None, bool]:
    """The difference of the halves in standard deviations of the judge's answers, and whether it is too
    large to be chance. `answers` are the numbers of each answer, in their order."""
    means = [statistics.fmean(values) for values in answers if values]
    if len(means) < MIN_TRIALS_FOR_TRENDS:
        return None, False
    middle = len(means) // 2
    first, second = means[:middle], means[middle:]
    spread = statistics.stdev(means)
    if spread == 0:
        return 0.0, False
    difference = statistics.fmean(second) - statistics.fmean(first)
    standard_error = math.sqrt(
        statistics.variance(first) / len(first) + statistics.variance(second) / len(second)
    )
    if standard_error:
        is_clear = abs(difference) > DRIFT_STANDARD_ERRORS * standard_error
    else:
        is_clear = difference != 0
    return difference / spread, is_clear
