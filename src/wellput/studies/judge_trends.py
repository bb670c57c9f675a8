"""How a judge changes over a study: quicker or slower, higher or lower, or stuck at a trial.

Trials come in random order, so the two halves of a judge's answers should be alike.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from wellput.studies.queries import AnsweredRow

MIN_TRIALS_FOR_TRENDS = 16
DRIFT_STANDARD_ERRORS = 3.0
"""Halves that differ by more than this many standard errors are flagged: this is seldom chance."""
SPEED_FACTOR = 2.5
"""A second half that is this many times as quick or as slow is flagged."""


@dataclass(frozen=True)
class JudgeTrends:
    """`speed` is the median time of the second half divided by that of the first. `drift` is the
    difference between the mean answers of the halves, in standard deviations of the judge's answers.
    `stuck_minutes` is how long an unanswered trial has been open without a visit. None: not known."""

    speed: float | None
    drift: float | None
    stuck_minutes: float | None
    flags: tuple[str, ...]


def trends(
    answered: Sequence[AnsweredRow],
    *,
    is_machine: bool,
    is_holding: bool,
    idle_seconds: float,
    lease_seconds: float,
) -> JudgeTrends:
    trials = [one for one in answered if one.purpose == "trial"]
    speed = drift = None
    flags = []
    if len(trials) >= MIN_TRIALS_FOR_TRENDS:
        middle = len(trials) // 2
        before, after = _median_ms(trials[:middle]), _median_ms(trials[middle:])
        speed = after / before if before and after is not None else None
        # A machine's speed tells of its server, not of its care.
        if not is_machine and speed is not None and not 1 / SPEED_FACTOR <= speed <= SPEED_FACTOR:
            flags.append(f"the second half took {speed:.1f} times as long as the first")
        drift, is_clear = _drift([_numbers(one) for one in trials])
        if drift is not None and is_clear:
            way = "higher" if drift > 0 else "lower"
            flags.append(f"drift: answers are {way} in the second half")
    is_stuck = is_holding and not is_machine and idle_seconds > lease_seconds
    stuck = idle_seconds / 60 if is_stuck else None
    if stuck is not None:
        flags.append(f"stuck: has an open trial and was away for {stuck:.0f} minutes")
    return JudgeTrends(speed, drift, stuck, tuple(flags))


def _median_ms(trials: Sequence[AnsweredRow]) -> float | None:
    known = [one.ms for one in trials if one.ms is not None]
    return statistics.median(known) if known else None


def _numbers(one: AnsweredRow) -> list[float]:
    return [
        float(value)
        for values in one.values
        for value in values.values()
        if isinstance(value, int | float)
    ]


def _drift(answers: Sequence[Sequence[float]]) -> tuple[float | None, bool]:
    """The difference of the halves in standard deviations, and whether it is more than chance."""
    means = [statistics.fmean(values) for values in answers if values]
    if len(means) < MIN_TRIALS_FOR_TRENDS:
        return None, False
    middle = len(means) // 2
    first, second = means[:middle], means[middle:]
    spread = statistics.stdev(means)
    if spread == 0:
        return 0.0, False
    difference = statistics.fmean(second) - statistics.fmean(first)
    error = math.sqrt(
        statistics.variance(first) / len(first) + statistics.variance(second) / len(second)
    )
    is_clear = abs(difference) > DRIFT_STANDARD_ERRORS * error if error else difference != 0
    return difference / spread, is_clear
