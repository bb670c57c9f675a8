"""`Ranking`: the systems that people judged on one question, best first.

An estimate is on the question's scale: the mean of ratings, the share of yes among answers that are 0
or 1, or the share of comparisons that a system wins (a tie is half a win). `ranked_questions` makes
rankings from judgments.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Literal

from wellput.core.errors import counted
from wellput.stats.mixed.contrasts import MIN_JUDGES_FOR_FREEDOM

EstimateScale = Literal["mean", "rate", "win rate"]
ESTIMATE_HEADINGS: dict[EstimateScale, str] = {
    "mean": "mean rating",
    "rate": "share of yes",
    "win rate": "win rate",
}
SIGNIFICANT_P = 0.05  # by default, a difference with a smaller corrected p-value is called real
MAX_NAMED_LEADERS = 4  # of more leaders, a sentence gives only the number
MIN_SYSTEM_JUDGMENTS = 10
"""The rank of a system with fewer judgments than this, and with less than half of the median number in
the study, may be luck."""
MAX_RANKED_SYSTEMS = 1_000
"""With more systems, no model is fitted and not every pair is compared: the number of pairs grows with
the square of the number of systems."""
LOWER_IS_BETTER = frozenset({"seconds"})  # questions where lower is better: the time of a task
NAME_OF_SINGLE_JUDGE = {
    "people": "the one judge",
    "simulated judges": "the one simulated judge",
    "machine judges": "the one machine judge",
}
"""The words used instead of `Ranking.who` if there is only one judge."""
MAX_DECIMALS = 8  # of estimates, where they are shown
VARIANCE_COMPONENTS = (
    "judge", "item", "document", "judge:system", "item:system", "document:system", "residual",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RankedSystem:
    """One system: its estimate with an interval, its rank (1 is best), the range of ranks that it may
    have, and its cluster: every system of cluster 1 is significantly better than all of cluster 2, and
    so on. `n` counts the judgments of the system, `raw_mean` is their mean."""

    system: str
    estimate: float
    low: float | None
    high: float | None
    rank: int
    rank_low: int
    rank_high: int
    cluster: int
    n: int
    raw_mean: float


@dataclass(frozen=True, slots=True)
class SystemDifference:
    """How much higher the first system is than the second (for seconds, lower is better). P-values are
    NaN if the difference cannot be tested.

    For choices, `delta` is the first system's share of the choices between the two minus the second's,
    from −1 to 1; NaN if no model is fitted and the two were never offered together.
    """

    systems: tuple[str, str]
    delta: float
    low: float | None
    high: float | None
    p_value: float
    p_adjusted: float
    alpha: float = SIGNIFICANT_P

    def to_dict(self) -> dict[str, Any]:
        """An entry of `differences` in the JSON of a ranking."""
        return {name: value for name, value in asdict(self).items() if name != "alpha"}

    @property
    def swapped(self) -> SystemDifference:
        """The same difference with the second system first."""
        return replace(
            self,
            systems=self.systems[::-1],
            delta=-self.delta,
            low=None if self.high is None else -self.high,
            high=None if self.low is None else -self.low,
        )

    @property
    def is_real(self) -> bool:
        """Whether the difference is significant: `p_adjusted` is below `alpha`."""
        return self.p_adjusted < self.alpha


@dataclass(frozen=True)
class Ranking:
    """The systems that were judged on one question, best first, and the differences of all pairs. If
    there are more than `MAX_RANKED_SYSTEMS` systems, there are only the differences from the first."""

    question: str
    model: EstimateScale
    """The scale of the estimates."""
    systems: tuple[RankedSystem, ...]
    differences: tuple[SystemDifference, ...]
    n_judges: int
    n_items: int
    n: int
    are_simulated: bool = False
    """Whether the judges' names begin with "simulated". Their preferences must not look like
    people's."""
    refusal: str = ""
    """A sentence on why no difference could be tested; empty if some could be."""
    sequential: bool = False
    """Whether differences, p-values and ranks hold however often you look at them while judgments
    arrive. Systems then have no intervals."""
    notes: tuple[str, ...] = ()
    """Further notes, in sentences."""
    n_documents: int | None = None
    """How many documents the items belong to; None if they belong to none."""
    confidence: float = 0.95

    @property
    def label(self) -> str:
        """The question; `FittedRanking` adds the slice."""
        return self.question

    @property
    def who(self) -> str:
        """Whose judgments these are, in words."""
        return "simulated judges" if self.are_simulated else "people"

    @property
    def scope(self) -> str:
        """What the intervals and tests generalize to, in words."""
        if self.n_judges < 2 and self.n_items < 2:
            return "no interval: there is one judge and one item"
        others = (
            "other items"
            if self.n_documents is None
            else "other items of this one document"
            if self.n_documents == 1
            else "other documents"
        )
        if self.n_judges < 2:
            return f"these systems and this one judge, {others}"
        if self.n_items < 2:
            return "these systems and this one item, other judges"
        return f"these systems, {others} and other judges"

    @property
    def size(self) -> str:
        """How many judges and items there are, in words."""
        documents = (
            "" if self.n_documents is None else f" of {counted(self.n_documents, 'document')}"
        )
        judges, items = counted(self.n_judges, "judge"), counted(self.n_items, "item")
        return f"{judges}, {items}{documents}"

    @cached_property
    def leaders(self) -> list[str]:
        """The systems that no other system is shown to beat. If the difference of a system from the
        first could not be tested, the system is a leader only if it is equal to the first, or if the
        two were never offered together."""
        behind = {d.systems[1] for d in self.differences if d.is_real}
        behind |= {
            d.systems[1]
            for d in self.differences_from_first
            if math.isnan(d.p_value) and abs(d.delta) > 0
        }
        return [row.system for row in self.systems if row.system not in behind]

    @cached_property
    def rarely_judged(self) -> list[str]:
        """The systems with so few judgments, compared with the others, that their rank may be luck."""
        median_judgments = statistics.median(row.n for row in self.systems)
        return [
            row.system
            for row in self.systems
            if row.n < MIN_SYSTEM_JUDGMENTS and row.n < median_judgments / 2
        ]

    @cached_property
    def highlighted(self) -> set[str]:
        """The systems that charts and tables mark as best: the leaders, without those that were rarely
        judged (unless only one leads). Empty if all systems lead, or no difference could be tested."""
        if not self.has_tests:
            return set()
        leaders = self.leaders
        highlighted = set(leaders) if len(leaders) == 1 else set(leaders) - set(self.rarely_judged)
        return highlighted if len(highlighted) < len(self.systems) else set()

    @property
    def has_too_few_judges(self) -> bool:
        """Whether the result should hold for other judges but there are only two or three judges. Then
        hardly any difference is significant, even if these judges agree."""
        return 1 < self.n_judges < MIN_JUDGES_FOR_FREEDOM and "other judges" in self.scope

    @cached_property
    def has_tests(self) -> bool:
        """Whether any difference could be tested."""
        return any(not math.isnan(d.p_value) for d in self.differences)

    @cached_property
    def decimals(self) -> int:
        """The number of decimals with which ratings are shown: two, or more if half of the narrowest
        interval of a difference (without intervals: the range of the estimates) would look like 0."""
        halves = [
            (d.high - d.low) / 2
            for d in self.differences
            if d.low is not None and d.high is not None
        ]
        estimates = [row.estimate for row in self.systems]
        widths = [width for width in halves if width > 0] or [max(estimates) - min(estimates)]
        narrowest = min(widths)
        needed = math.ceil(-math.log10(narrowest)) if narrowest > 0 else 0
        return min(max(2, needed), MAX_DECIMALS)

    @cached_property
    def differences_from_first(self) -> list[SystemDifference]:
        """The differences of the first system from every other system."""
        return [d for d in self.differences if d.systems[0] == self.systems[0].system]

    def to_dict(self) -> dict[str, Any]:
        """An entry of `questions` in the JSON of `wellput rank`. The model is None if none could be
        fitted. Only `rank` fills in `permutation_p`, `other_orders` and `larger_studies`."""
        return {
            "question": self.question,
            "model": None,
            "systems": [asdict(row) for row in self.systems],
            "differences": [row.to_dict() for row in self.differences],
            "variance": dict.fromkeys(VARIANCE_COMPONENTS),
            "reliability": None,
            "by": None,
            "judges": self.n_judges,
            "items": self.n_items,
            "documents": self.n_documents,
            "n": self.n,
            "scope": self.scope,
            "notes": [*self.notes, *filter(None, [self.refusal])],
            "correction": None,
            "confidence": None,
            "sequential": self.sequential,
            "permutation_p": None,
            "other_orders": [],
            "larger_studies": [],
        }


SEQUENTIAL_NOTE = (
    "The study is still running, so the figures will change. What is said about differences and ranks "
    "holds however often you look."
)


def winner_sentence(ranking: Ranking, *, with_question: bool = False) -> str:
    """Which system people prefer and how certain that is. Systems that were rarely judged are left out
    of this sentence, unless one of them alone is ahead; a second sentence names them."""
    has_several_leaders = ranking.has_tests and len(ranking.leaders) > 1
    rarely_judged = ranking.rarely_judged if has_several_leaders else []
    well_judged = [row for row in ranking.systems if row.system not in rarely_judged]
    if rarely_judged and len(well_judged) > 1:
        names = {row.system for row in well_judged}
        ranking_of_well_judged = replace(
            ranking,
            systems=tuple(well_judged),
            differences=tuple(d for d in ranking.differences if set(d.systems) <= names),
        )
        sentence = winner_sentence(ranking_of_well_judged, with_question=with_question)
        return f"{sentence} {_rarely_judged_sentence(ranking)}"
    note = f" {_rarely_judged_sentence(ranking)}" if ranking.rarely_judged else ""
    return f"{_sentence_without_notes(ranking, with_question=with_question)}{note}"


def _rarely_judged_sentence(ranking: Ranking) -> str:
    """Which systems have so few judgments that their rank may be luck, and which ranks are possible."""
    sentences = []
    for row in ranking.systems:
        if row.system not in ranking.rarely_judged:
            continue
        has_several_ranks = ranking.has_tests and row.rank_low < row.rank_high
        conjunction = "or" if row.rank_high == row.rank_low + 1 else "to"
        rank_clause = (
            f"its rank may be {row.rank_low} {conjunction} {row.rank_high}"
            if has_several_ranks
            else "collect more before you rely on its rank"
        )
        sentences.append(f"{row.system} has only {counted(row.n, 'judgment')}: {rank_clause}.")
    return " ".join(sentences)


def _sentence_without_notes(ranking: Ranking, *, with_question: bool) -> str:
    """The sentence on which system people prefer, without notes on systems that were rarely judged."""
    start = f"{ranking.label}: " if with_question else ""
    is_one = ranking.n_judges == 1
    who = NAME_OF_SINGLE_JUDGE[ranking.who] if is_one else ranking.who
    people = who if with_question else who[0].upper() + who[1:]
    do = "does" if is_one else "do"
    first, *others = ranking.systems
    if not others:
        return f"{start}{first.system} is the only system that was judged."
    if not ranking.has_tests:
        return f"{start}{_untested_sentence(ranking)}"
    leaders = ranking.leaders
    if len(leaders) == len(ranking.systems):
        are_equal = math.isclose(first.estimate, others[-1].estimate, rel_tol=1e-9)
        if ranking.has_too_few_judges and not are_equal:
            return f"{start}{_too_few_judges_sentence(ranking)}"
        apart = f"not tell the {len(leaders)} systems apart: no difference is shown"
        return f"{start}{people} {do} {apart}."
    n_behind = len(ranking.systems) - len(leaders)
    behind = "the other system" if n_behind == 1 else f"the other {n_behind} systems"
    if len(leaders) > 1:
        are = "is" if n_behind == 1 else "are"
        if len(leaders) > MAX_NAMED_LEADERS:
            return (
                f"{start}{people} {do} not tell {len(leaders)} of the {len(ranking.systems)} systems "
                f"apart; {behind} {are} significantly behind at least one of these."
            )
        return (
            f"{start}{listed(leaders)} share first place in the judgment of {who}; {behind} {are} "
            "significantly behind at least one of these."
        )
    unclear = [d.systems[1] for d in ranking.differences_from_first if not d.is_real]
    if unclear:
        return (
            f"{start}No system is shown to be ahead of {first.system} in the judgment of "
            f"{who}, but {first.system} is not shown to be ahead of {listed(unclear)}."
        )
    return f"{start}{people} prefer{'s' if is_one else ''} {_first_and_next(ranking)}"


def _first_and_next(ranking: Ranking) -> str:
    """The end of a sentence: the first system, which is ahead of all others, and how far the next is
    behind."""
    first, *others = ranking.systems
    gap = ranking.differences_from_first[0]
    lead = f"{first.system} ({shown_estimate(first.estimate, ranking)})"
    if ranking.model == "win rate":
        share = f"{shown_share(gap.delta)} {_bounds_of_share(gap)}"
        if len(others) == 1:
            return f"{lead} to {gap.systems[1]}: {share} of the choices are for {first.system}."
        return (
            f"{lead} to each of the {len(others)} others: of choices between it and "
            f"{gap.systems[1]}, the next, {share} are expected to be for {first.system}."
        )
    size = f"{shown_difference(abs(gap.delta), ranking)} {_bounds(gap, ranking)}"
    if ranking.model == "rate":
        size += " percentage points"
    if len(others) == 1:
        return f"{lead} to {gap.systems[1]}, which is {size} behind."
    return (
        f"{lead} to each of the {len(others)} others: the next, {gap.systems[1]}, is {size} behind."
    )


def _untested_sentence(ranking: Ranking) -> str:
    """Which system is ahead in these judgments, and why this cannot be generalized."""
    first, second = ranking.systems[:2]
    if first.estimate == second.estimate:
        return ranking.refusal
    return f"{_leader_clause(ranking)}, but how sure that is cannot be said. {ranking.refusal}"


def _too_few_judges_sentence(ranking: Ranking) -> str:
    judges = f"{ranking.n_judges} judges"
    return (
        f"{_leader_clause(ranking)} from these {judges}, but {judges} are too few to speak for others: "
        f"no difference is shown. Ask at least {MIN_JUDGES_FOR_FREEDOM}."
    )


def _leader_clause(ranking: Ranking) -> str:
    """Which systems have the best estimate. Several are named if their estimates look the same when
    they are rounded for display."""
    best = "lowest" if ranking.question in LOWER_IS_BETTER else "highest"
    value = shown_estimate(ranking.systems[0].estimate, ranking)
    leader_names = [
        row.system for row in ranking.systems if shown_estimate(row.estimate, ranking) == value
    ]
    verb = "has" if len(leader_names) == 1 else "have"
    return f"{listed(leader_names)} {verb} the {best} {ESTIMATE_HEADINGS[ranking.model]}, {value}"


def shown_share(delta: float) -> str:
    """The first system's share of the choices, from the difference of the two shares.

    >>> shown_share(0.5)
    '75%'
    """
    return "–" if math.isnan(delta) else f"{50 * (1 + delta):.0f}%"


def _bounds_of_share(gap: SystemDifference) -> str:
    if gap.low is None or gap.high is None:
        return ""
    return f"[{shown_share(gap.low)}, {shown_share(gap.high)}]"


def _bounds(gap: SystemDifference, ranking: Ranking) -> str:
    if gap.low is None or gap.high is None:
        return ""
    low, high = sorted((abs(gap.low), abs(gap.high)))
    return f"[{shown_difference(low, ranking)}, {shown_difference(high, ranking)}]"


def shown_difference(value: float, ranking: Ranking) -> str:
    """A difference of two estimates as text; a difference of shares is in percentage points."""
    return shown_estimate(value, ranking).removesuffix("%")


def shown_estimate(value: float, ranking: Ranking) -> str:
    """An estimate as text: ratings with the ranking's decimals, shares in percent."""
    is_mean = ranking.model == "mean"
    text = f"{value:.{ranking.decimals}f}" if is_mean else f"{100 * value:.0f}%"
    return text.replace("-", "−")


def shown_interval(row: RankedSystem, ranking: Ranking) -> str:
    """The interval as text, `[low, high]`; a dash if there is none."""
    if row.low is None or row.high is None:
        return "–"
    return f"[{shown_estimate(row.low, ranking)}, {shown_estimate(row.high, ranking)}]"


def shown_rank(row: RankedSystem) -> str:
    """The rank or, if the tests allow several, the range of ranks.

    >>> shown_rank(RankedSystem("A", 5.0, 4.0, 6.0, 1, 1, 2, 1, 10, 5.0))
    '1–2'
    """
    if row.rank_low == row.rank_high:
        return str(row.rank_low)
    return f"{row.rank_low}–{row.rank_high}"


def listed(names: Sequence[str]) -> str:
    """Names as part of a sentence.

    >>> listed(["bleu", "chrf", "ter"])
    'bleu, chrf and ter'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
