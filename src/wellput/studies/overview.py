"""`Overview`: the state of a study for its owner: the progress and the time of the judges, what looks
wrong about their answers, which systems they prefer, and how far they agree so far."""

from __future__ import annotations

import math
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from threading import Lock
from typing import Any, ClassVar, Literal, TypeAlias

import sqlalchemy as sa
from sqlalchemy import Connection

from wellput.agreement.panel import AnyJudgment
from wellput.agreement.rankings.plain_ranking import Ranking
from wellput.core.judgment import is_machine
from wellput.core.metric import Floats
from wellput.core.result import Result
from wellput.stats.judges.correlations import pairwise_correlations
from wellput.stats.judges.krippendorff import MeasurementLevel, krippendorff_alpha
from wellput.stats.judges.ratings import MIN_SHARED_UNITS
from wellput.studies import schema
from wellput.studies.assignment_rules import within_judge_trials
from wellput.studies.expected_answers import passes
from wellput.studies.judge_queue import JudgeQueue, machine_judges
from wellput.studies.judge_trends import trends
from wellput.studies.machine_queue import MachineQueue
from wellput.studies.queries import AnsweredRow, judgments_of, known_time, read_answered
from wellput.studies.study_setup import StudySetup
from wellput.studies.study_transactions import StudyReading

JudgeState: TypeAlias = Literal["invited", "working", "done"]

MIN_STRAIGHT_LINE_ANSWERS = 8
"""A judge whose answers to a question are all the same is flagged from this many answers on."""
HASTY_SECONDS = 1.0
"""A judge whose median time per trial is shorter is flagged."""
MIN_TRIALS_TO_CALL_HASTY = 5
"""With fewer trials, a judge is not flagged as hasty."""
MAX_SHOWN_COMMENTS = 50


@dataclass(frozen=True)
class JudgeOverview:
    """One judge: the number of answered trials (`done`) and of all trials of the judge (`total`), the
    median `seconds` per trial, and what looks wrong (`flags`).

    `consistency` is the share of answers to repeated trials that are about the same as the first time:
    within one point of a scale, a tenth of a slider, a factor of two for magnitudes. `speed` and
    `drift` say how much slower and how much higher the second half of the answers is than the first;
    `stuck_minutes` is how long a trial has been left open (`judge_trends.JudgeTrends`).
    """

    name: str
    state: JudgeState
    done: int
    total: int
    seconds: float | None
    last_seen: float | None
    checks: int
    checks_failed: int
    consistency: float | None
    flags: tuple[str, ...]
    speed: float | None = None
    drift: float | None = None
    stuck_minutes: float | None = None


@dataclass(frozen=True)
class ItemOverview:
    """One item: the judgments done and planned, over all its trials."""

    item: str
    done: int
    planned: int


@dataclass(frozen=True)
class AgreementOverview:
    """One question: Krippendorff's α and the correlations between pairs of judges, NaN where they
    are still undefined."""

    question: str
    n_judges: int
    alpha: float
    r_mean: float
    r_min: float
    r_max: float


@dataclass(frozen=True)
class CommentOverview:
    """A comment that a judge added to the answer about an item."""

    judge: str
    item: str
    comment: str
    recorded_at: float | None


@dataclass(frozen=True, repr=False)
class Overview(Result):
    """The state of a study.

    `done` and `planned` count people's answers to trials, without practice, checks and repeats.
    `unreachable` counts planned answers that the invited judges will not give: more judges must be
    invited. `ranking`, `agreement` and `items` are about people's answers, too; machines are only
    among the `judges`. `comments` are the newest ones, at most `MAX_SHOWN_COMMENTS`.
    """

    presented_by: ClassVar[str] = "wellput.reporting.study:status_report"

    title: str
    design: str
    state: str
    seed: int
    done: int
    planned: int
    unreachable: int
    seconds: float | None
    judges: tuple[JudgeOverview, ...]
    items: tuple[ItemOverview, ...]
    ranking: tuple[Ranking, ...]
    agreement: tuple[AgreementOverview, ...]
    forgotten: int
    forgotten_answers: int
    comments: tuple[CommentOverview, ...] = ()

    def records(self) -> list[dict[str, Any]]:
        """A record for each judge."""
        return [{**asdict(judge), "flags": "; ".join(judge.flags)} for judge in self.judges]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput study status`."""
        return asdict(self) | {"ranking": [ranking.to_dict() for ranking in self.ranking]}

    @property
    def is_final(self) -> bool:
        """Whether all answers are in. Until then the rankings are sequential: they stay valid however
        often the owner looks."""
        return _is_final(self.state, self.done, self.planned)


QUICK_RANKING_SECONDS = 0.5
REST_PER_RANKING = 20
"""If a ranking took longer than `QUICK_RANKING_SECONDS`, the dashboard waits this many times as long
before the next ranking, so that the processor is free for the judges."""


@dataclass
class LatestRankings:
    """Keeps the last rankings, because a dashboard asks for them every few seconds. They are computed
    again when there are new answers; for a dashboard, less often if the computation takes long."""

    clock: Callable[[], float] = time.monotonic
    answers: Sequence[AnyJudgment] = ()
    sequential: bool = False
    rankings: tuple[Ranking, ...] = ()
    is_old: bool = False
    """Whether there are newer answers than the rankings have."""
    made_at: float = -math.inf
    """The time of the clock when the rankings were computed, in seconds."""
    took: float = 0.0
    """How long the computation took, in seconds."""
    _lock: Lock = field(default_factory=Lock)

    def of(
        self,
        setup: StudySetup,
        answers: Sequence[AnyJudgment],
        *,
        sequential: bool,
        may_be_old: bool = False,
    ) -> tuple[Ranking, ...]:
        """The ranking of the systems on each question. Intervals and tests of `sequential` rankings
        stay valid however often the owner looks. With `may_be_old`, the newest answers may be
        missing."""
        with self._lock:
            self.is_old = answers != self.answers or sequential != self.sequential
            may_stay = may_be_old and sequential == self.sequential and self._is_resting()
            if self.is_old and not may_stay:
                began = self.clock()
                items = [item.id for item in setup.items]
                rankings = setup.design.rankings(
                    answers, setup.systems, items, sequential=sequential
                )
                self.answers, self.sequential, self.rankings = answers, sequential, tuple(rankings)
                self.made_at = self.clock()
                self.took = self.made_at - began
                self.is_old = False
            return self.rankings

    def _is_resting(self) -> bool:
        """Whether the last ranking took long, and was made only a short time ago."""
        elapsed = self.clock() - self.made_at
        return self.took > QUICK_RANKING_SECONDS and elapsed < REST_PER_RANKING * self.took


def overview(
    setup: StudySetup,
    connection: Connection,
    *,
    state: str,
    now: float,
    latest: LatestRankings,
    ranking_may_be_old: bool = False,
) -> Overview:
    """The state of the study. `state` is open, paused or closed; `now` is in seconds since 1970."""
    reading = StudyReading(connection, len(setup.trials))
    all_answered = read_answered(connection)
    machines = machine_judges(connection)
    answered = [answer for answer in all_answered if answer.judge_id not in machines]
    by_judge: dict[int, list[AnsweredRow]] = {}
    for answer in all_answered:
        by_judge.setdefault(answer.judge_id, []).append(answer)
    rows = connection.execute(sa.select(schema.judges).order_by(schema.judges.c.id)).all()
    judges: list[JudgeOverview] = []
    n_still_expected = 0
    for row in rows:
        if row.forgotten_at is None:
            queue: JudgeQueue | MachineQueue
            if row.id in machines:
                queue = MachineQueue(setup, reading, row.id)
            else:
                queue = JudgeQueue(setup, reading, row.id, now)
            answers_of_judge = by_judge.get(row.id, [])
            judge = _judge(setup, row, answers_of_judge, queue, now)
            judges.append(judge)
            if isinstance(queue, JudgeQueue):
                n_answered = sum(answer.purpose == "trial" for answer in answers_of_judge)
                n_still_expected += max(0, queue.length - n_answered)
    done = sum(answer.purpose == "trial" for answer in answered)
    n_people = len([judge for judge in judges if not is_machine(judge.name)])
    planned = _planned(setup, n_judges=n_people)
    items = _items(setup, answered, n_judges=n_people)
    answers = judgments_of(setup, answered)
    return Overview(
        title=setup.questionnaire.title,
        design=setup.questionnaire.kind,
        state=state,
        seed=setup.seed,
        done=done,
        planned=planned,
        unreachable=max(0, planned - done - n_still_expected),
        seconds=_median_seconds(answered),
        judges=tuple(judges),
        items=tuple(items),
        ranking=latest.of(
            setup,
            answers,
            sequential=not _is_final(state, done, planned),
            may_be_old=ranking_may_be_old,
        ),
        agreement=tuple(agreement(setup, answers)),
        forgotten=sum(row.forgotten_at is not None for row in rows),
        forgotten_answers=sum(row.forgotten_answers or 0 for row in rows),
        comments=tuple(_comments(setup, answered)),
    )


def _comments(setup: StudySetup, answered: Sequence[AnsweredRow]) -> list[CommentOverview]:
    """The newest comments, the last one first."""
    commented = [
        answer for answer in answered if answer.comment and answer.purpose in ("trial", "repeat")
    ]
    commented.sort(key=lambda answer: answer.recorded_at or 0.0, reverse=True)
    return [
        CommentOverview(
            answer.judge,
            setup.items[setup.trials[answer.number].item].id,
            answer.comment or "",
            answer.recorded_at,
        )
        for answer in commented[:MAX_SHOWN_COMMENTS]
    ]


def _is_final(state: str, done: int, planned: int) -> bool:
    return state == "closed" or done >= planned > 0


def _planned(setup: StudySetup, *, n_judges: int) -> int:
    """The number of planned answers, without practice, checks and repeats."""
    if setup.plan.kind == "per-item":
        return len(setup.trials) * setup.plan.per_item
    # The number of trials of judge 1 stands for that of every judge.
    return len(within_judge_trials(setup, judge=1)) * max(n_judges, setup.plan.judges)


def _items(
    setup: StudySetup, answered: Iterable[AnsweredRow], *, n_judges: int
) -> list[ItemOverview]:
    """How many judgments each item has, and how many are planned."""
    done = Counter(
        setup.trials[answer.number].item for answer in answered if answer.purpose == "trial"
    )
    n_trials = Counter(trial.item for trial in setup.trials)
    is_per_item = setup.plan.kind == "per-item"
    return [
        ItemOverview(
            item.id,
            done[place],
            # Under the plan within-judge, chance decides who gets an item: at most every judge does.
            n_trials[place] * setup.plan.per_item if is_per_item else n_judges,
        )
        for place, item in enumerate(setup.items)
        if n_trials[place]
    ]


def _judge(
    setup: StudySetup,
    row: Any,
    answered: Sequence[AnsweredRow],
    queue: JudgeQueue | MachineQueue,
    now: float,
) -> JudgeOverview:
    progress = queue.progress()
    checks = [answer for answer in answered if answer.purpose == "check"]
    n_failed = sum(not passes(setup, setup.checks[check.number], check.values) for check in checks)
    held = queue.current()
    is_done = 0 < progress.done == progress.total and held is None
    changes = trends(
        answered,
        is_machine=queue.is_machine,
        holds_open_trial=held is not None,
        idle_seconds=abs(now - row.seen_at),  # the clock may have been set back
        lease_seconds=60 * setup.plan.lease_minutes,
    )
    return JudgeOverview(
        name=row.name,
        state="invited" if row.started_at is None else "done" if is_done else "working",
        done=progress.done,
        total=progress.total,
        seconds=_median_seconds(answered),
        last_seen=None if row.started_at is None else known_time(row.seen_at),
        checks=len(checks),
        checks_failed=n_failed,
        consistency=_consistency(setup, answered),
        flags=(*_flags(answered, len(checks), n_failed), *changes.flags),
        speed=changes.speed,
        drift=changes.drift,
        stuck_minutes=changes.stuck_minutes,
    )


def _flags(answered: Sequence[AnsweredRow], n_checks: int, n_failed: int) -> list[str]:
    """What looks wrong about a judge's answers, in sentences for the owner."""
    flags = []
    if n_failed:
        flags.append(f"failed {n_failed} of {n_checks} attention checks")
    by_question: dict[str, list[Any]] = {}
    trials = [answer for answer in answered if answer.purpose == "trial"]
    for answer in trials:
        for values in answer.values:
            for question, value in values.items():
                if not isinstance(value, list):  # lists of marked errors may all be empty
                    by_question.setdefault(question, []).append(value)
    for question, column in by_question.items():
        if len(column) >= MIN_STRAIGHT_LINE_ANSWERS and len(set(column)) == 1:
            shown = column[0] if isinstance(column[0], str) else f"{column[0]:g}"
            flags.append(f"straight-lining: every answer to {question} is {shown}")
    seconds = _median_seconds([answer for answer in trials if not is_machine(answer.judge)])
    if seconds is not None and len(trials) >= MIN_TRIALS_TO_CALL_HASTY and seconds < HASTY_SECONDS:
        flags.append(f"hasty: half of the trials took under {HASTY_SECONDS:g} second")
    return flags


def _consistency(setup: StudySetup, answered: Sequence[AnsweredRow]) -> float | None:
    """The share of a judge's answers to repeated trials that are like the first ones; None without
    any."""
    questions = {question.name: question for question in setup.questionnaire.questions}
    first = {answer.number: answer for answer in answered if answer.purpose == "trial"}
    are_alike: list[bool] = []
    for repeated in answered:
        if repeated.purpose != "repeat" or repeated.number not in first:
            continue
        before = first[repeated.number]
        for values, values_before in zip(repeated.values, before.values, strict=True):
            for name, value in values.items():
                is_alike = setup.design.is_alike(questions[name], value, values_before[name])
                are_alike += [] if is_alike is None else [is_alike]
    return sum(are_alike) / len(are_alike) if are_alike else None


def agreement(setup: StudySetup, answers: Sequence[AnyJudgment]) -> list[AgreementOverview]:
    """Krippendorff's α and the pairwise correlations of judges on each question, over the answers so
    far. Correlations are between judges who judged enough of the same outputs (`MIN_SHARED_UNITS`)."""
    if not answers:
        return []
    units = setup.design.units(answers, setup.systems, [item.id for item in setup.items])
    return [_summary(question, table, setup.design.level) for question, table in units.items()]


def _summary(question: str, units: Floats, level: MeasurementLevel) -> AgreementOverview:
    """The agreement on one question. `units` has a row for each judge."""
    n_judges = len(units)
    if n_judges < 2:
        return AgreementOverview(question, n_judges, math.nan, math.nan, math.nan, math.nan)
    pairs = pairwise_correlations(units, fewest=MIN_SHARED_UNITS)
    alpha = krippendorff_alpha(units, level=level).value
    return AgreementOverview(question, n_judges, alpha, pairs.mean, pairs.min, pairs.max)


def _median_seconds(answered: Iterable[AnsweredRow]) -> float | None:
    """The median time of a trial; None where no time is known."""
    known = [row.ms / 1000 for row in answered if row.purpose == "trial" and row.ms is not None]
    return statistics.median(known) if known else None
