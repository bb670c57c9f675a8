"""The results of agreement analysis, as in the JSON of `wellput agree`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal

from wellput.agreement.blamed_words import BlamedWords
from wellput.agreement.orders import MetricOrder
from wellput.agreement.rankings.plain_ranking import Ranking
from wellput.agreement.span_summary import SpanSummary
from wellput.core.clusters import Clusters
from wellput.core.estimates import Generalize
from wellput.core.result import Result
from wellput.stats.correlation import Coefficient, CorrelationAverage, CorrelationLevel

AgreementLevel = CorrelationLevel | Literal["document", "span"]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far one metric agrees with the judges on one question.

    Scores of metrics where lower is better are negated, so a positive value means agreement. `n`
    counts what was correlated: systems, outputs, or the groups whose coefficients were averaged.
    `value` is NaN where it is undefined, and `note` says why; `note` also has the tie threshold of
    `acc-t`: metric scores at most this far apart are ties.

    `null` is the value that chance gives. `p_value` tests whether the agreement differs from it;
    p-value and interval come from the same method. `p_adjusted` is corrected for the number of metrics
    compared with people; it is None for a sentinel (a metric such as `random`, for comparison). 95% of
    metrics with scores at random reach values between `chance_low` and `chance_high`.
    """

    metric: str
    question: str
    level: AgreementLevel
    average: CorrelationAverage | None
    coefficient: Coefficient
    value: float
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    null: float | None = None
    chance_low: float | None = None
    chance_high: float | None = None
    n: int = 0
    method: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """Whether two metrics agree with people to different degrees. `delta` is the coefficient of the
    first metric minus that of the second.

    The interval and `p_value` come from the same method. A `test` chosen by name may have no interval.
    `p_adjusted` is corrected for all pairs with the same question and coefficient.
    """

    metrics: tuple[str, str]
    question: str
    level: AgreementLevel
    coefficient: Coefficient
    delta: float
    p_value: float
    p_adjusted: float
    test: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class JudgeSummary:
    """How far the judges of one question agree with each other.

    All figures use the same `values`: the ratings as given, or choices. `scale` says how much two
    values disagree: `interval` by (a − b)², `nominal` by 1 if they differ. A trial is something that
    judges rate: an output, or two outputs for choices; if several samples of an output were judged,
    each sample. `pairwise` are correlations between judges, `icc` the intraclass correlations by name,
    `against_rest` each judge's correlation with the mean of the others. If metrics are not compared
    with the ratings as given, but with normalized ratings, `normalized` has the same figures for these.
    `reliability` is that of the mean ratings, and `ceiling` the correlation that a perfect metric would
    reach with them.
    """

    question: str
    n_judges: int
    n_trials: int
    pairwise: Mapping[str, float] | None = None
    split_half: float | None = None
    kappa: float | None = None
    alpha: float | None = None
    beta: float | None = None
    icc: Mapping[str, Mapping[str, float]] | None = None
    against_rest: Mapping[str, float] = field(default_factory=dict)
    values: str = "as given"
    scale: str = "interval"
    normalized: Mapping[str, Any] | None = None
    reliability: Mapping[str, Any] | None = None
    ceiling: Mapping[str, Any] | None = None
    note: str = ""


@dataclass(frozen=True, repr=False)
class AgreementResult(Result):
    """All results of `wellput agree`: which systems people prefer, whether metrics order the systems as
    people do, and how far each metric agrees with people on single outputs.

    `undefined` counts the judged outputs without a score, by question and metric; no metric is compared
    on them. `preferences` and `confusion` are about choices (`agreement.preferences`), `substitutions`
    about verdicts on paraphrases, and `homogeneity` about choices of two studies.
    """

    presented_by: ClassVar[str] = "wellput.reporting.agree:agreement_report"

    level: AgreementLevel
    ranking: tuple[Ranking, ...] = ()
    orders: tuple[MetricOrder, ...] = ()
    agreement: tuple[Agreement, ...] = ()
    differences: tuple[MetricDifference, ...] = ()
    judges: tuple[JudgeSummary, ...] = ()
    spans: tuple[SpanSummary, ...] = ()
    blamed: tuple[BlamedWords, ...] = ()
    questions: tuple[Mapping[str, Any], ...] = ()
    preferences: tuple[Mapping[str, Any], ...] = ()
    models: tuple[Mapping[str, Any], ...] = ()
    confusion: tuple[Mapping[str, Any], ...] = ()
    substitutions: tuple[Mapping[str, Any], ...] = ()
    homogeneity: tuple[Mapping[str, Any], ...] = ()
    excluded: tuple[Mapping[str, Any], ...] = ()
    undefined: tuple[Mapping[str, Any], ...] = ()
    advice: tuple[str, ...] = ()
    seed: int = 0
    n_resamples: int = 0
    normalization: Mapping[str, str] = field(default_factory=dict)
    generalize: Generalize = "both"
    clusters: Clusters | None = field(default=None, repr=False)
    by: Mapping[str, str] | None = None
    slices: tuple[AgreementResult, ...] = field(default=(), repr=False)
    confidence: float = 0.95
    notes: tuple[str, ...] = ()

    def records(self) -> list[dict[str, Any]]:
        """One record for each metric and question: its agreement or, for choices, its confusion
        matrix. At the level of spans, one record for each metric or judge that blames words."""
        if self.blamed:
            return [row.flat() for row in self.blamed]
        return [asdict(row) for row in self.agreement] or [dict(row) for row in self.confusion]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput agree`."""
        return {
            "ranking": [row.to_dict() for row in self.ranking],
            "orders": [asdict(row) for row in self.orders],
            "agreement": [asdict(row) for row in self.agreement],
            "differences": [asdict(row) for row in self.differences],
            "judges": [asdict(row) for row in self.judges],
            "spans": [asdict(row) for row in self.spans],
            "blamed": [asdict(row) for row in self.blamed],
            "questions": list(self.questions),
            "preferences": list(self.preferences),
            "models": list(self.models),
            "confusion": list(self.confusion),
            "substitutions": list(self.substitutions),
            "homogeneity": list(self.homogeneity),
            "excluded": list(self.excluded),
            "undefined": list(self.undefined),
            "advice": list(self.advice),
            "normalize": dict(self.normalization),
            "generalize": self.generalize,
            "cluster": None if self.clusters is None else self.clusters.unit,
            "clusters": None if self.clusters is None else self.clusters.n,
            "by": [
                {
                    "by": dict(part.by or {}),
                    "ranking": [row.to_dict() for row in part.ranking],
                    "agreement": [asdict(row) for row in part.agreement],
                    "differences": [asdict(pair) for pair in part.differences],
                }
                for part in self.slices
            ]
            or None,
            "confidence": self.confidence,
            "notes": list(self.notes),
            "resamples": self.n_resamples,
            "seed": self.seed,
        }
