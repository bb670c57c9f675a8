"""Who won, according to people: `Ranking`, a question's systems, best first.

An estimate is on the question's scale: the mean of ratings, the share of yes among answers that are 0
or 1, or the share of offers in which a system was chosen (a tie is half a choice). Intervals and tests
hold for these systems, other judges and other items (`stats.judged_means`). Two systems are compared by
their ratings, or only by the choices between the two (`head_to_head`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, pairwise
from typing import Any, Literal

import numpy as np

from wellput.agreement.panel import Panel, panels, selection_ratings
from wellput.core.estimates import Estimate
from wellput.core.judgment import Judgment, Preference
from wellput.stats.corrections import holm
from wellput.stats.judged_means import CrossedMeans, head_to_head
from wellput.stats.places import Places, places_of
from wellput.stats.undefined_values import undefined

RankingModel = Literal["mean", "rate", "win rate"]
ESTIMATE_HEADINGS: dict[RankingModel, str] = {
    "mean": "mean rating",
    "rate": "share of yes",
    "win rate": "win rate",
}
ALPHA = 0.05
MAX_NAMED_LEADERS = 4
"""A sentence counts more leaders than this, and names fewer."""
LOWER_IS_BETTER = frozenset({"seconds"})
"""The questions where lower is better: the time that a task took."""
VARIANCE_COMPONENTS = (
    "judge", "item", "document", "judge:system", "item:system", "document:system", "residual",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RankedSystem:
    """One system: its estimate with an interval, its rank (1 is best), the range of ranks that it may
    have, and its cluster. All systems in a better cluster are significantly better."""

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
    """How far the first system is ahead of the second; p is NaN where the spread is unknown.

    For choices, `delta` is the first system's share of the choices between the two minus the second's,
    from −1 to 1, and NaN where they were never offered together.
    """

    systems: tuple[str, str]
    delta: float
    low: float | None
    high: float | None
    p_value: float
    p_adjusted: float
    alpha: float = ALPHA

    def to_dict(self) -> dict[str, Any]:
        """An entry of `differences` in the JSON of a ranking."""
        return {name: value for name, value in asdict(self).items() if name != "alpha"}

    @property
    def is_real(self) -> bool:
        """Whether the difference is significant after Holm's correction for all pairs of the
        question."""
        return self.p_adjusted < self.alpha


@dataclass(frozen=True)
class Ranking:
    """The systems that were judged on one question, best first, and all their differences."""

    question: str
    model: RankingModel
    systems: tuple[RankedSystem, ...]
    differences: tuple[SystemDifference, ...]
    n_judges: int
    n_items: int
    n: int
    are_simulated: bool = False
    """Whether the judges' names begin with "simulated". Their preferences must not look like
    people's."""

    @property
    def who(self) -> str:
        """Whose opinion it is."""
        return "simulated judges" if self.are_simulated else "people"

    @property
    def scope(self) -> str:
        """What the intervals and tests generalize to, in words."""
        if self.n_judges < 2 and self.n_items < 2:
            return "no interval: there is one judge and one item"
        if self.n_judges < 2:
            return "these systems and this one judge, other items"
        if self.n_items < 2:
            return "these systems and this one item, other judges"
        return "these systems, other items and other judges"

    @property
    def leaders(self) -> list[str]:
        """The systems that no other is shown to beat. A system whose difference from the first could
        not be tested counts only where it is equal to the first, or was never offered with it."""
        behind = {d.systems[1] for d in self.differences if d.is_real}
        behind |= {
            d.systems[1] for d in self.of_first if math.isnan(d.p_value) and abs(d.delta) > 0
        }
        return [row.system for row in self.systems if row.system not in behind]

    @property
    def has_tests(self) -> bool:
        """Whether any difference could be tested."""
        return any(not math.isnan(d.p_value) for d in self.differences)

    @property
    def of_first(self) -> list[SystemDifference]:
        """How far every other system is behind the first."""
        return [d for d in self.differences if d.systems[0] == self.systems[0].system]

    def to_dict(self) -> dict[str, Any]:
        """An entry of `questions` in the JSON of a ranking. Variance components and reliability are
        None, because they are not estimated."""
        return {
            "question": self.question,
            "model": self.model,
            "systems": [asdict(row) for row in self.systems],
            "differences": [row.to_dict() for row in self.differences],
            "variance": dict.fromkeys(VARIANCE_COMPONENTS),
            "reliability": None,
            "by": None,
            "judges": self.n_judges,
            "items": self.n_items,
            "n": self.n,
            "scope": self.scope,
        }


def rank_panel(panel: Panel) -> Ranking:
    """The ranking by a panel's ratings."""
    judges, systems, items = np.nonzero(~np.isnan(panel.ratings))
    values = panel.ratings[judges, systems, items]
    model: RankingModel = "rate" if set(np.unique(values)) <= {0.0, 1.0} else "mean"
    means = CrossedMeans.of(
        values,
        groups=systems,
        judges=judges,
        items=items,
        n_groups=len(panel.systems),
        are_shares=model == "rate",
    )
    named = {panel.judges[place] for place in set(judges.tolist())}
    counts = (len(named), len(set(items.tolist())), len(values))
    return _ranking(panel.question, model, panel.systems, means, means.difference, counts, named)


def rank_choices(question: str, choices: Sequence[Preference]) -> Ranking:
    """The ranking by the pairwise choices on one question."""
    ratings = selection_ratings(choices)
    systems = list(dict.fromkeys(rating.system for rating in ratings))
    judges = {rating.judge for rating in ratings}
    judge_of = places_of([rating.judge for rating in ratings])
    item_of = places_of([rating.item for rating in ratings])
    means = CrossedMeans.of(
        np.array([rating.value for rating in ratings]),
        groups=places_of([rating.system for rating in ratings], systems),
        judges=judge_of,
        items=item_of,
        n_groups=len(systems),
        are_shares=True,
    )
    counts = (len(judges), len({rating.item for rating in ratings}), len(choices))
    between = _between(systems, ratings, judge_of, item_of)
    return _ranking(question, "win rate", systems, means, between, counts, judges)


def _between(
    systems: Sequence[str], ratings: Sequence[Judgment], judge_of: Places, item_of: Places
) -> Callable[[int, int], Estimate]:
    """A function that compares two systems by the choices between them. `ratings` has two for each
    choice, as `selection_ratings` makes them."""
    at = {system: place for place, system in enumerate(systems)}
    met = [(at[a.system], at[b.system]) for a, b in zip(ratings[::2], ratings[1::2], strict=True)]
    number = {pair: n for n, pair in enumerate(sorted({(min(p), max(p)) for p in met}))}
    shares = head_to_head(
        [
            rating.number if a < b else 1 - rating.number
            for (a, b), rating in zip(met, ratings[::2], strict=True)
        ],
        pairs=[number[min(pair), max(pair)] for pair in met],
        judges=judge_of[::2],
        items=item_of[::2],
        n_pairs=len(number),
    )

    def difference(a: int, b: int) -> Estimate:
        place = number.get((min(a, b), max(a, b)))
        if place is None:
            return undefined("they were never offered together", n=0)
        share = shares[place]
        if share.low is None or share.high is None:
            value = 2 * share.value - 1
            return Estimate(-value if a > b else value, method=share.method, n=share.n, null=0.0)
        value, low, high = (2 * each - 1 for each in (share.value, share.low, share.high))
        if a > b:
            value, low, high = -value, -high, -low
        return Estimate(value, low, high, share.p_value, share.method, share.n, null=0.0)

    return difference


def rank_answers(answers: Sequence[Judgment] | Sequence[Preference]) -> list[Ranking]:
    """One ranking per question, by the judgments or choices as given."""
    choices = [answer for answer in answers if isinstance(answer, Preference)]
    if choices:
        return [
            rank_choices(question, [one for one in choices if one.question == question])
            for question in dict.fromkeys(one.question for one in choices)
        ]
    ratings = [answer for answer in answers if isinstance(answer, Judgment)]
    if not ratings:
        return []
    systems = list(dict.fromkeys(rating.system for rating in ratings))
    items = list(dict.fromkeys(rating.item for rating in ratings))
    return [rank_panel(panel) for panel in panels(ratings, systems, items).values()]


def _ranking(
    question: str,
    model: RankingModel,
    systems: Sequence[str],
    means: CrossedMeans,
    difference_of: Callable[[int, int], Estimate],
    counts: tuple[int, int, int],
    judges: Collection[str],
) -> Ranking:
    judged = np.flatnonzero(means.counts)
    sign = -1.0 if question in LOWER_IS_BETTER else 1.0
    order = judged[np.argsort(-sign * means.means[judged], kind="stable")].tolist()
    pairs = list(combinations(order, 2))
    found = [difference_of(a, b) for a, b in pairs]
    if model == "win rate":
        # The system that won more choices between the two is ahead, even where it won fewer choices
        # overall.
        pairs = [(b, a) if e.value < 0 else (a, b) for (a, b), e in zip(pairs, found, strict=True)]
        found = [difference_of(a, b) for a, b in pairs]
    p_values = np.array([math.nan if e.p_value is None else e.p_value for e in found])
    differences = tuple(
        SystemDifference(
            (systems[a], systems[b]), e.value, e.low, e.high, float(p), float(adjusted)
        )
        for (a, b), e, p, adjusted in zip(pairs, found, p_values, holm(p_values), strict=True)
    )
    names = [systems[place] for place in order]
    better = dict.fromkeys(names, 0)
    worse = dict.fromkeys(names, 0)
    for difference in differences:
        if difference.is_real:
            worse[difference.systems[0]] += 1
            better[difference.systems[1]] += 1
    clusters = _clusters(names, differences)
    rows = []
    for rank, (place, name) in enumerate(zip(order, names, strict=True), 1):
        estimate = means.mean(place)
        rows.append(
            RankedSystem(
                system=name,
                estimate=estimate.value,
                low=estimate.low,
                high=estimate.high,
                rank=rank,
                rank_low=1 + better[name],
                rank_high=len(names) - worse[name],
                cluster=clusters[name],
                n=int(means.counts[place]),
                raw_mean=estimate.value,
            )
        )
    are_simulated = bool(judges) and all(judge.startswith("simulated") for judge in judges)
    return Ranking(question, model, tuple(rows), differences, *counts, are_simulated)


def _clusters(names: Sequence[str], differences: Sequence[SystemDifference]) -> dict[str, int]:
    """The cluster of each system. A new one begins where all systems above are significantly better
    than all below."""
    real = {difference.systems for difference in differences if difference.is_real}
    clusters = dict.fromkeys(names[:1], 1)
    for place, (above, name) in enumerate(pairwise(names), 1):
        is_cut = all((one, other) in real for one in names[:place] for other in names[place:])
        clusters[name] = clusters[above] + is_cut
    return clusters


def winner_sentence(ranking: Ranking, *, with_question: bool = False) -> str:
    """Which system people prefer and how sure that is, in one sentence."""
    start = f"{ranking.question}: " if with_question else ""
    people = ranking.who if with_question else ranking.who.capitalize()
    first, *others = ranking.systems
    if not others:
        return f"{start}{first.system} is the only system that was judged."
    if not ranking.has_tests:
        return (
            f"{start}{first.system} has the highest {ranking.model}, "
            f"{shown_estimate(first.estimate, ranking.model)}, but how sure that is cannot be said: "
            f"{_why_unknown(ranking)}."
        )
    leaders = ranking.leaders
    if len(leaders) == len(ranking.systems):
        return (
            f"{start}{people} do not tell the {len(leaders)} systems apart: no difference is shown."
        )
    rest = len(ranking.systems) - len(leaders)
    behind = "the other system" if rest == 1 else f"the other {rest} systems"
    if len(leaders) > 1:
        are = "is" if rest == 1 else "are"
        if len(leaders) > MAX_NAMED_LEADERS:
            return (
                f"{start}{people} do not tell {len(leaders)} of the {len(ranking.systems)} systems "
                f"apart; {behind} {are} significantly behind at least one of these."
            )
        return (
            f"{start}No system is shown to be ahead of {listed(leaders)} in the judgment of "
            f"{ranking.who}; {behind} {are} significantly behind at least one of these."
        )
    gap = ranking.of_first[0]
    lead = (
        f"{start}{people} prefer {first.system} ({shown_estimate(first.estimate, ranking.model)})"
    )
    if ranking.model == "win rate":
        share = f"{shown_share(gap.delta)} {_bounds_of_share(gap)}"
        if len(others) == 1:
            return f"{lead} to {gap.systems[1]}: {share} of the choices are for {first.system}."
        return (
            f"{lead} to each of the {len(others)} others: of the choices between it and "
            f"{gap.systems[1]}, the next, {share} are for {first.system}."
        )
    size = f"{shown_estimate(abs(gap.delta), ranking.model)} {_bounds(gap, ranking.model)}"
    if len(others) == 1:
        return f"{lead} to {gap.systems[1]}, which is {size} behind."
    return (
        f"{lead} to each of the {len(others)} others: the next, {gap.systems[1]}, is {size} behind."
    )


def _why_unknown(ranking: Ranking) -> str:
    if ranking.n_judges < 2 and ranking.n_items < 2:
        return "there is one judge and one item"
    return "the judgments of each system are all equal, or come from one judge or item only"


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


def _bounds(gap: SystemDifference, model: RankingModel) -> str:
    if gap.low is None or gap.high is None:
        return ""
    low, high = sorted((abs(gap.low), abs(gap.high)))
    return f"[{shown_estimate(low, model)}, {shown_estimate(high, model)}]"


def shown_estimate(value: float, model: RankingModel) -> str:
    """An estimate as text: ratings with two digits, shares in percent."""
    text = f"{value:.2f}" if model == "mean" else f"{100 * value:.0f}%"
    return text.replace("-", "−")


def shown_interval(row: RankedSystem, model: RankingModel) -> str:
    """`[low, high]`, a dash where there is none."""
    if row.low is None or row.high is None:
        return "–"
    return f"[{shown_estimate(row.low, model)}, {shown_estimate(row.high, model)}]"


def listed(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> listed(["bleu", "chrf", "ter"])
    'bleu, chrf and ter'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
