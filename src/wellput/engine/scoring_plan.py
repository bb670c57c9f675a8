"""The options of scoring: `ScoringPlan`, `Inference` and `Resampling`.

A `ScoringPlan` says where statistics are computed, what is kept, and what happens after a failure. An
`Inference` says which intervals and tests are wanted, `Resampling` how they are computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from wellput.core.errors import InputError, did_you_mean
from wellput.core.estimates import Estimate, ScoreTable
from wellput.core.work import available_cores
from wellput.io.files import PathLike

Engine = Literal["local", "ray"]
OnError = Literal["stop", "skip"]


@dataclass(frozen=True)
class ScoringPlan:
    """Where statistics are computed and what is kept. `engine`: "local" uses threads of this process,
    "ray" the Ray cluster at `address`, or a new one on this machine. `keep_rows` keeps the statistics
    of single segments. `resume` is the folder of finished partitions, from which a stopped run can be
    continued. `on_error` says whether a partition that fails stops the run or is skipped. `segments`
    is the folder for segment scores."""

    engine: Engine = "local"
    address: str | None = None
    threads: int = field(default_factory=available_cores)
    keep_rows: bool = False
    resume: PathLike | None = None
    on_error: OnError = "stop"
    segments: PathLike | None = None

    def __post_init__(self) -> None:
        for name, value, choices in (
            ("engine", self.engine, get_args(Engine)),
            ("on_error", self.on_error, get_args(OnError)),
        ):
            if value not in choices:
                raise InputError(f"{name}={value!r} is not known; there are {', '.join(choices)}.")
        if self.threads < 1:
            raise InputError(f"threads={self.threads} must be 1 or more.")
        if self.address is not None and self.engine == "local":
            raise InputError(
                f"address={self.address!r} is for a Ray cluster: pass engine='ray', too."
            )

    @property
    def needs_partitions(self) -> bool:
        """Whether the source must be read by partitions, not in one pass."""
        fits_one_pass = self.resume is None and self.segments is None and self.on_error == "stop"
        return self.engine != "local" or not fits_one_pass


PairedTest = Literal["jackknife", "ar", "bs"]  # ar: approximate randomization, bs: paired bootstrap
DEFAULT_PAIRED_TEST: PairedTest = "jackknife"
"""The default, because its interval and its p-value come from the same standard error."""


@dataclass(frozen=True, slots=True)
class Resampling:
    """How uncertainty is computed, for every system, metric and pair. A difference is significant if
    its corrected p-value is below `alpha`; `confidence` is that of intervals. Only methods that draw
    random resamples use the other fields; the jackknife, which leaves out one item at a time, does
    not."""

    n_resamples: int = 1000
    seed: int = 12345
    threads: int = 1
    alpha: float = 0.05
    confidence: float = 0.95

    def interval(self, table: ScoreTable, system: str, *, by_bootstrap: bool = False) -> Estimate:
        """A system's score with its interval, by Wilson's method (for shares of items) or the
        jackknife; or, if `by_bootstrap`, from the percentiles of a bootstrap."""
        row = table.row(system)
        is_present = table.present[row]
        statistics = table.statistics[row][is_present]
        clusters = None
        if table.clusters is not None and is_present.any():
            from wellput.stats.clusters import ClusteredItems

            clusters = ClusteredItems.of(table.clusters.codes[is_present])
        if by_bootstrap:
            from wellput.stats.resampling import bootstrap

            return bootstrap(
                statistics if clusters is None else clusters.sums(statistics),
                table.aggregate,
                n_resamples=self.n_resamples,
                seed=self.seed,
                threads=self.threads,
                confidence=self.confidence,
            )
        if clusters is not None:
            from wellput.stats.clusters import clustered_interval

            return clustered_interval(
                statistics,
                table.aggregate,
                clusters,
                confidence=self.confidence,
                bounds=table.bounds,
            )
        from wellput.stats.jackknife import score_interval

        return score_interval(
            statistics, table.aggregate, confidence=self.confidence, bounds=table.bounds
        )


@dataclass(frozen=True)
class Inference:
    """Which intervals and tests are computed: intervals of scores, and a paired test (`paired`) of
    every system against the `baseline` (by default the first system) or, if `all_pairs`, of all
    pairs. P-values are corrected by Holm's method for all tests.

    A baseline, all pairs or a margin imply the default test. `margin` has for each metric the
    smallest difference that matters, to test whether systems are equivalent. If `has_percentiles`,
    intervals of scores come from a bootstrap. This is always so with the paired bootstrap (`bs`),
    which uses the same resamples for intervals and tests. `cluster` names the groups of items that
    are not independent (see `core.clusters`). `by` names a tag; the items with each of its values are
    also scored separately.
    """

    has_intervals: bool = False
    paired: PairedTest | None = None
    baseline: str | None = None
    all_pairs: bool = False
    resampling: Resampling = field(default_factory=Resampling)
    margin: Mapping[str, float] = field(default_factory=dict)
    has_percentiles: bool = False
    cluster: str | None = None
    by: str | None = None

    def __post_init__(self) -> None:
        resampling = self.resampling
        if self.paired not in (None, *get_args(PairedTest)):
            known = ", ".join(get_args(PairedTest))
            raise InputError(f"paired={self.paired!r} is not a test; there are {known}.")
        if not 0 < resampling.alpha < 1:
            raise InputError(f"alpha={resampling.alpha} must lie between 0 and 1, such as 0.05.")
        if not 0 < resampling.confidence < 1:
            raise InputError(
                f"confidence={resampling.confidence} must lie between 0 and 1, such as 0.95."
            )
        if resampling.n_resamples < 1 or resampling.seed < 0:
            raise InputError(
                f"resamples={resampling.n_resamples} must be 1 or more, seed={resampling.seed} "
                "0 or more."
            )
        if self.margin and self.test not in (None, DEFAULT_PAIRED_TEST):
            raise InputError(
                f"margin= needs the standard error of a difference, which paired={self.paired!r} does "
                f"not give: leave out paired=, or give paired={DEFAULT_PAIRED_TEST!r}."
            )

    @property
    def test(self) -> PairedTest | None:
        """The paired test that is made; None if none is."""
        is_implied = self.baseline is not None or self.all_pairs or bool(self.margin)
        return self.paired or (DEFAULT_PAIRED_TEST if is_implied else None)

    @property
    def random_procedure(self) -> Literal["ar", "bs"] | None:
        """The procedure that draws random resamples: "ar" (approximate randomization) or "bs"
        (bootstrap); None if nothing is drawn."""
        if self.test == "ar" or self.test == "bs":
            return self.test
        return "bs" if self.has_intervals and self.has_percentiles else None

    @property
    def needs_rows(self) -> bool:
        """Whether the statistics of single segments must be kept."""
        return (
            self.has_intervals
            or self.test is not None
            or self.by is not None
            or self.cluster is not None  # only then is it checked that items have what it names
        )

    def baseline_among(self, systems: Sequence[str]) -> str | None:
        """The system among `systems` with which the others are compared; None if nothing is
        compared."""
        if self.test is None:
            return None
        if len(systems) < 2:
            raise InputError(f"A paired test needs two systems; there is only {systems[0]}.")
        if self.baseline is not None and self.baseline not in systems:
            raise InputError(
                f"baseline={self.baseline!r} is not a system of the evalset."
                f"{did_you_mean(self.baseline, systems)} The systems are {', '.join(systems)}."
            )
        return self.baseline if self.baseline is not None else systems[0]
