"""Results of `wellput judge`: `JudgeResult` says what a model answered, `JudgePlan` what it would be
asked (`--dry-run`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from wellput.core.estimates import Estimate
from wellput.core.judgment import Judgment, Preference
from wellput.core.result import Result


@dataclass(frozen=True)
class Spending:
    """The tokens and the money that were spent, over all runs with the same log of answers. `money` is
    None without a price. `limit` is an amount of money if there is a price, else a number of
    tokens."""

    tokens_in: int
    tokens_out: int
    money: float | None
    limit: float | None


@dataclass(frozen=True)
class JudgedSystem:
    """The mean of the `n` answers about a system: on the question's scale, or the share of the choices
    that the system won."""

    question: str
    system: str
    mean: float
    n: int


@dataclass(frozen=True, repr=False)
class JudgeResult(Result):
    """What a model answered.

    `trials` is the number of questions about outputs; `answered` is how many of them have a usable
    answer. `unanswered` counts the other trials by reason; `left_out` is how many the limit of costs
    did not allow. `requests` is the number of requests of this run that were answered, `known` the
    number of answers from the log. `scores_from` counts how scores were read: from `probabilities` of
    tokens or from `text`. `injection` is how far the judge obeys orders in the texts. `files` are the
    written files, each under a word for what it contains.
    """

    presented_by: ClassVar[str] = "wellput.reporting.machine_judge:judge_report"

    judge: str
    model: str
    digest: str
    design: str
    signature: str
    trials: int
    answered: int
    unanswered: Mapping[str, int]
    left_out: int
    requests: int
    retries: int
    known: int
    scores_from: Mapping[str, int]
    spending: Spending
    systems: tuple[JudgedSystem, ...]
    injection: Estimate | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    judgments: tuple[Judgment, ...] | tuple[Preference, ...] = field(default=(), repr=False)

    @property
    def is_complete(self) -> bool:
        """Whether every trial was asked, and no request failed."""
        return not self.left_out and not self.unanswered.get("failed", 0)

    def __iter__(self) -> Iterator[Judgment | Preference]:
        """The judgments, as `wellput.agree` and `wellput.rank` take them."""
        return iter(self.judgments)

    def __len__(self) -> int:
        return len(self.judgments)

    def records(self) -> list[dict[str, Any]]:
        """A record for each question and system."""
        return [{"judge": self.judge, **asdict(system)} for system in self.systems]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput judge`."""
        return {
            "judge": self.judge,
            "model": self.model,
            "digest": self.digest,
            "design": self.design,
            "signature": self.signature,
            "trials": self.trials,
            "answered": self.answered,
            "unanswered": dict(self.unanswered),
            "left_out": self.left_out,
            "complete": self.is_complete,
            "requests": self.requests,
            "retries": self.retries,
            "known": self.known,
            "scores_from": dict(self.scores_from),
            "cost": asdict(self.spending),
            "systems": [asdict(system) for system in self.systems],
            "bias": {"injection": None if self.injection is None else asdict(self.injection)},
            "files": dict(self.files),
        }


@dataclass(frozen=True, repr=False)
class JudgePlan(Result):
    """What a model would be asked: the `messages` of the first prompt, the number of trials, the
    number of requests that the log has no answer to, and an estimate of their cost (`most_…` and
    `tokens_out` are upper limits). Nothing was sent."""

    presented_by: ClassVar[str] = "wellput.reporting.machine_judge:plan_report"

    judge: str
    model: str
    design: str
    signature: str
    endpoint: str
    messages: tuple[Mapping[str, str], ...]
    trials: int
    requests: int
    known: int
    tokens_in: int
    tokens_out: int
    most_tokens_in: int
    money: float | None
    most_money: float | None

    def records(self) -> list[dict[str, Any]]:
        """One record."""
        values = self.values()
        return [{name: value for name, value in values.items() if name != "messages"}]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput judge --dry-run`."""
        return {**asdict(self), "messages": [dict(message) for message in self.messages]}
