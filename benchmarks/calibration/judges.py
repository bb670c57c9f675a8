"""Simulated choices, ceilings and intraclass correlations whose truth is known: parts of
docs/results/ranking_calibration.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from wellput.agreement.prepared_panels import MIN_KEPT_SHARE, kept_share
from wellput.core.estimates import Estimate
from wellput.core.metric import Floats
from wellput.stats.corrections import holm
from wellput.stats.judged_means import head_to_head
from wellput.stats.judged_strengths import judged_strengths
from wellput.stats.preferences import Choices, goodness_of_fit
from wellput.stats.reliability import IntraclassName, intraclass_correlations, panel_reliability
from wellput.stats.strengths import bradley_terry

ITEM_SD = 0.6


def rate(hits: float, n: int) -> str:
    """A share with two standard errors of the simulation."""
    share = hits / n
    return f"{share:.3f} ± {2 * math.sqrt(max(share * (1 - share), 1 / n) / n):.3f}"


@dataclass(frozen=True)
class ChoiceWorld:
    """Judges who choose between two outputs; `share` of all (judge, item, pair) are asked. Tastes are a
    judge's own for each system, on the log scale of the odds; items suit systems by ITEM_SD."""

    title: str
    judges: int
    items: int
    systems: int = 2
    taste: float = 0.6
    share: float = 1.0
    ties: float = 0.0
    gap: float = 0.0

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(self.systems), 2))

    def study(self, rng: np.random.Generator) -> dict[str, Floats]:
        worth = np.arange(self.systems)[::-1] * self.gap
        tastes = rng.normal(0, self.taste, (self.judges, self.systems)) + worth
        fits = rng.normal(0, ITEM_SD, (self.items, self.systems))
        shape = (self.judges, self.items, len(self.pairs))
        judges, items, pairs = np.nonzero(rng.random(shape) < self.share)
        a, b = np.array(self.pairs)[pairs].T
        liking = tastes[judges, a] - tastes[judges, b] + fits[items, a] - fits[items, b]
        shares = (rng.random(len(judges)) < expit(liking)).astype(np.float64)
        shares[rng.random(len(judges)) < self.ties] = 0.5
        return {
            "shares": shares, "pairs": pairs, "judges": judges, "items": items, "a": a, "b": b,
        }  # fmt: skip


CHOICES = (
    ChoiceWorld("2 judges", 2, 60),
    ChoiceWorld("3 judges", 3, 60),
    ChoiceWorld("6 judges", 6, 40),
    ChoiceWorld("6 judges without tastes", 6, 40, taste=0.0),
    ChoiceWorld("6 judges of strong tastes", 6, 40, taste=1.2),
    ChoiceWorld("6 judges, a third ties", 6, 40, ties=0.33),
    ChoiceWorld("20 judges, 5 items", 20, 5),
    ChoiceWorld("4 systems, 5 judges", 5, 40, systems=4, share=0.5),
    ChoiceWorld("6 systems, 12 judges, sparse", 12, 30, systems=6, share=0.1),
    ChoiceWorld("6 systems, a crowd of 40", 40, 40, systems=6, share=0.02),
)
CHOICE_COLUMNS = (
    "| study | items | pairs | χ²: any of them | any of them, Holm | one pair, χ² | one pair | coverage |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
)


def choice_row(world: ChoiceWorld, studies: int, seed: int) -> str:
    rng = np.random.default_rng(seed)
    studies = max(studies * 2 // (1 + len(world.pairs)), 1)
    any_chi = any_holm = 0
    chi: list[bool] = []
    single: list[bool] = []
    for _ in range(studies):
        trials = world.study(rng)
        naive = np.array([_chi_squared(trials, pair) for pair in range(len(world.pairs))])
        ours = np.array([found.p_value for found in _estimates(trials, world)], dtype=np.float64)
        any_chi += bool((naive < 0.05).any())
        any_holm += bool((holm(ours) < 0.05).any())
        chi += (naive < 0.05).tolist()
        single += (ours < 0.05).tolist()
    better = replace(world, gap=0.5)
    truth = _expected_shares(better, rng)
    covered = [
        found.low is not None and found.high is not None and found.low <= true <= found.high
        for _ in range(studies)
        for found, true in zip(_estimates(better.study(rng), better), truth, strict=True)
        if found.n
    ]
    cells = (
        rate(any_chi, studies), rate(any_holm, studies), rate(sum(chi), len(chi)),
        rate(sum(single), len(single)), rate(sum(covered), len(covered)),
    )  # fmt: skip
    return f"| {world.title} | {world.items} | {len(world.pairs)} | " + " | ".join(cells) + " |"


def _estimates(trials: dict[str, Floats], world: ChoiceWorld) -> Sequence[Estimate]:
    return head_to_head(
        trials["shares"],
        pairs=trials["pairs"],
        judges=trials["judges"],
        items=trials["items"],
        n_pairs=len(world.pairs),
    )


def _chi_squared(trials: dict[str, Floats], pair: int) -> float:
    shares = trials["shares"][trials["pairs"] == pair]
    found = goodness_of_fit([int((shares == 1).sum()), int((shares == 0).sum())])
    return math.nan if found.p_value is None else found.p_value


def _expected_shares(world: ChoiceWorld, rng: np.random.Generator) -> Floats:
    """What all judges and items there are would say of each pair."""
    drawn = rng.normal(0, math.sqrt(2) * math.hypot(world.taste, ITEM_SD), 400_000)
    shares = [float(expit((b - a) * world.gap + drawn).mean()) for a, b in world.pairs]
    return 0.5 + (1 - world.ties) * (np.array(shares) - 0.5)


STRENGTHS = (
    ChoiceWorld("3 judges", 3, 60, systems=4, share=0.3, gap=0.4),
    ChoiceWorld("6 judges", 6, 40, systems=4, share=0.3, gap=0.4),
    ChoiceWorld("6 judges without tastes", 6, 40, systems=4, share=0.3, gap=0.4, taste=0.0),
    ChoiceWorld("a crowd of 30, a tenth ties", 30, 40, systems=4, share=0.05, ties=0.1, gap=0.4),
)
STRENGTH_COLUMNS = (
    "| study, 4 systems | items | coverage, Wald | coverage, wellput |",
    "| --- | ---: | ---: | ---: |",
)


def strength_row(world: ChoiceWorld, studies: int, seed: int) -> str:
    rng = np.random.default_rng(seed)
    studies = max(studies // 8, 1)
    names = [str(system) for system in range(world.systems)]
    many = replace(world, judges=500, items=500, share=0.4).study(rng)
    truth = bradley_terry(Choices.of_places(many["a"], many["b"], _words(many), names)).logs
    wald = ours = n = 0
    for _ in range(studies):
        trials = world.study(rng)
        words = _words(trials)
        fitted = judged_strengths(
            trials["a"], trials["b"], words,
            judges=trials["judges"], items=trials["items"], systems=names,
        )  # fmt: skip
        naive = bradley_terry(Choices.of_places(trials["a"], trials["b"], words, names))
        for robust, plain, true in zip(fitted.strengths, naive.strengths, truth, strict=True):
            if robust.low is None or robust.high is None or plain.low is None or plain.high is None:
                continue
            n += 1
            ours += robust.low <= true <= robust.high
            wald += plain.low <= true <= plain.high
    return f"| {world.title} | {world.items} | {rate(wald, n)} | {rate(ours, n)} |"


def _words(trials: dict[str, Floats]) -> list[str]:
    words = {1.0: "a", 0.0: "b", 0.5: "tie"}
    return [words[share] for share in trials["shares"].tolist()]


WORTH = np.array([-0.6, -0.2, 0.0, 0.3, 0.5])


@dataclass(frozen=True)
class PanelWorld:
    """Judges × 5 systems × items; each output of item i has `numbers[i]` ratings, by judges drawn anew."""

    title: str
    judges: int
    numbers: NDArray[np.int64]
    severity: float = 0.5
    taste: float = 0.3

    def study(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """The true values, systems × items, and the ratings."""
        shape = (self.judges, len(WORTH), len(self.numbers))
        true = WORTH[:, None] + rng.normal(0, 0.4, shape[2]) + rng.normal(0, 0.6, shape[1:])
        ratings = (
            true
            + rng.normal(0, self.severity, (self.judges, 1, 1))
            + rng.normal(0, self.taste, (*shape[:2], 1))
            + rng.normal(0, 0.9, shape)
        )
        ratings[np.argsort(rng.random(shape), axis=0) >= self.numbers] = np.nan
        return true, ratings


PANELS = (
    PanelWorld("3 judges rate everything", 3, np.full(40, 3)),
    PanelWorld("6 judges rate everything", 6, np.full(40, 6)),
    PanelWorld("6 judges of strong tastes", 6, np.full(40, 6), taste=0.6),
    PanelWorld("6 judges, half of the items by one", 6, np.where(np.arange(40) < 20, 1, 6)),
    PanelWorld("6 judges, 1 to 6 an output", 6, 1 + np.arange(60) % 6),
    PanelWorld("a crowd of 40, three an output", 40, np.full(40, 3)),
    PanelWorld("a crowd of 40, one to five an output", 40, 1 + np.arange(40) % 5),
)
PANEL_COLUMNS = (
    "| panel | outputs | the truth correlates | ceiling, mean | coverage |",
    "| --- | ---: | ---: | ---: | ---: |",
)


def panel_row(world: PanelWorld, studies: int, seed: int) -> str:
    rng = np.random.default_rng(seed)
    studies = max(studies // 5, 2)
    n_items = len(world.numbers)
    items = np.tile(np.arange(n_items), len(WORTH))
    reached, ceilings, bounds = [], [], []
    for _ in range(studies):
        true, ratings = world.study(rng)
        reached.append(np.corrcoef(true.ravel(), np.nanmean(ratings, axis=0).ravel())[0, 1])
        found = panel_reliability(ratings.reshape(world.judges, -1), items).ceiling
        ceilings.append(found.value)
        bounds.append((found.low or 0.0, found.high or 0.0))
    truth = float(np.mean(reached))
    held = sum(low <= truth <= high for low, high in bounds)
    cells = (mean_of(reached), mean_of(ceilings), rate(held, studies))
    return f"| {world.title} | {len(items)} | " + " | ".join(cells) + " |"


def mean_of(values: Sequence[float]) -> str:
    """A mean with two standard errors of the simulation."""
    return f"{np.mean(values):.3f} ± {2 * np.std(values) / math.sqrt(len(values)):.3f}"


NESTED_COLUMNS = (
    "| 12 judges, 6 systems | z keeps of a difference | r, z | r, as given | the default |",
    "| --- | ---: | ---: | ---: | --- |",
)


def nested_row(per_judge: int, studies: int, seed: int) -> str:
    """Each judge rates all of 40 items of so many systems, drawn at random."""
    rng = np.random.default_rng(seed)
    kept, by_z, raw = [], [], []
    for _ in range(max(studies // 20, 2)):
        true = rng.normal(0, 0.5, (6, 1)) + rng.normal(0, 0.4, 40) + rng.normal(0, 0.6, (6, 40))
        felt = true + rng.normal(0, 0.5, (12, 1, 1)) + rng.normal(0, 0.9, (12, 6, 40))
        for judge in range(12):
            # In turn, so that every system has judges; the others at random.
            others = [system for system in range(6) if system != judge % 6]
            chosen = [judge % 6, *rng.permutation(others)[: per_judge - 1]]
            felt[judge, [system for system in range(6) if system not in chosen]] = np.nan
        kept.append(kept_share((~np.isnan(felt)).sum(axis=2).astype(np.float64)))
        own = np.nanmean(felt, axis=(1, 2), keepdims=True)
        spread = np.nanstd(felt, axis=(1, 2), keepdims=True)
        by_z.append(_with_truth(true, np.nanmean((felt - own) / spread, axis=0)))
        raw.append(_with_truth(true, np.nanmean(felt, axis=0)))
    default = "z" if np.mean(kept) >= MIN_KEPT_SHARE else "as given"
    title = "1 system a judge" if per_judge == 1 else f"{per_judge} systems a judge"
    cells = (mean_of(kept), mean_of(by_z), mean_of(raw), default)
    return f"| {title} | " + " | ".join(cells) + " |"


def _with_truth(true: Floats, means: Floats) -> float:
    there = ~np.isnan(means)
    return float(np.corrcoef(true[there], means[there])[0, 1])


ICC_COLUMNS = ("| ratings | coefficient | truth | coverage |", "| --- | --- | ---: | ---: |")


@dataclass(frozen=True)
class ClassWorld:
    """Units of variance 1 and noise of variance 1, normal; `severity` is the variance of judges."""

    title: str
    judges: int
    numbers: NDArray[np.int64]
    names: tuple[IntraclassName, ...]
    severity: float = 0.0

    def truth(self, name: IntraclassName) -> float:
        noise = 1.0 + (0.0 if name.startswith("ICC3") else self.severity)
        k = len(self.numbers) / float((1 / self.numbers).sum())
        return 1 / (1 + noise / (k if name.endswith("k") else 1))


CLASSES = (
    ClassWorld("40 units × 4 judges", 4, np.full(40, 4), ("ICC1", "ICC1k")),
    ClassWorld("40 units × 4 judges", 4, np.full(40, 4), ("ICC2", "ICC3", "ICC2k", "ICC3k"), 0.25),
    ClassWorld("10 units × 3 judges", 3, np.full(10, 3), ("ICC2", "ICC3", "ICC2k", "ICC3k"), 0.25),
    ClassWorld("100 units × 20 judges", 20, np.full(100, 20), ("ICC2", "ICC3"), 0.25),
    ClassWorld("60 units, 1 to 6 ratings each", 6, 1 + np.arange(60) % 6, ("ICC1", "ICC1k")),
)


def class_rows(world: ClassWorld, studies: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    held = dict.fromkeys(world.names, 0)
    shape = (world.judges, len(world.numbers))
    for _ in range(studies):
        severity = rng.normal(0, math.sqrt(world.severity), (world.judges, 1))
        felt = rng.normal(0, 1, shape[1]) + severity + rng.normal(0, 1, shape)
        felt[np.arange(world.judges)[:, None] >= world.numbers] = np.nan
        found = intraclass_correlations(felt).rows
        for name in world.names:
            held[name] += found[name].low <= world.truth(name) <= found[name].high
    return [
        f"| {world.title} | {name} | {world.truth(name):.3f} | {rate(held[name], studies)} |"
        for name in world.names
    ]
