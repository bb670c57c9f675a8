"""Coverage and width of the intervals of `wellput estimate` on ratings of summaries (SummEval).

A world is a question of SummEval and a model: 1,600 summaries with the experts' mean rating and the model's score.
From it summaries are drawn again and again, with replacement: a few with labels, 1,000 with the model's score
alone. The benchmark counts how often the interval contains the mean of all 1,600 ratings, and compares its width with
that of the interval from the same labels alone. It does the same for the difference of two systems.

    python -m benchmarks estimate
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from benchmarks.agreement.alternative_annotators import expected, judge_of, judgments
from benchmarks.pages import write_page
from wellput.core.judgment import Judgment, is_machine
from wellput.core.metric import Floats
from wellput.stats.prediction_powered import ProxyLabels, prediction_powered_mean

QUESTIONS = ("coherence", "consistency", "fluency", "relevance")
LABELS = (20, 50, 100)
UNLABELED = 1000
OTHER_SETS = ("cebab_stars", "lesion")
HEAD = "| labels | covered | people alone | width | worth | no interval |"
RULE = "|---|---|---|---|---|---|"
PAIRS = 10
"""Pairs of systems for differences, those with neighboring means."""


@dataclass(frozen=True)
class World:
    """The labels of a population for a question (or of a data set), and a model's scores as proxies."""

    question: str
    model: str
    labels: Floats
    proxies: Floats


@dataclass(frozen=True)
class Outcome:
    """Over all samples: coverage with the proxy and of the labels alone, mean widths, the share of
    samples without interval, and how many labels alone would be as precise."""

    covered: float
    covered_alone: float
    width: float
    undefined: float
    worth: float


def worlds() -> tuple[list[World], list[World]]:
    """The worlds of means, and those of differences."""
    answers = judgments("summeval")
    models = [judge_of(row.model) for row in expected() if row.dataset == "summeval"]
    items = sorted({one.item for one in answers})
    systems = sorted({one.system for one in answers if isinstance(one, Judgment)})
    item_at, system_at = ({name: n for n, name in enumerate(names)} for names in (items, systems))
    means, differences = [], []
    for question in QUESTIONS:
        tables: dict[str, list[Floats]] = {}
        for one in answers:
            assert isinstance(one, Judgment)
            if one.question == question:
                empty = np.full((len(systems), len(items)), np.nan)
                table = tables.setdefault(one.judge, [empty])[0]
                table[system_at[one.system], item_at[one.item]] = one.number
        labels = np.mean(
            [table[0] for name, table in tables.items() if not is_machine(name)], axis=0
        )
        order = np.argsort(labels.mean(axis=1))
        for model in models:
            proxies = tables[model][0]
            known = ~np.isnan(proxies)
            name = model.partition(":")[2]
            means.append(World(question, name, labels[known], proxies[known]))
            near = [pair for pair in combinations(range(len(systems)), 2) if pair[1] - pair[0] == 1]
            for low, high in near[:PAIRS]:
                a, b = order[low], order[high]
                both = known[a] & known[b]
                differences.append(
                    World(
                        question,
                        name,
                        (labels[a] - labels[b])[both],
                        (proxies[a] - proxies[b])[both],
                    )
                )
    return means, differences


def other_worlds() -> list[World]:
    """Two more data sets: stars of restaurant reviews (CEBaB), and ratings of skin lesions. Nothing in the
    method was chosen on them."""
    found = []
    for dataset in OTHER_SETS:
        answers = [one for one in judgments(dataset) if isinstance(one, Judgment)]
        for question in sorted({one.question for one in answers}):
            own = [one for one in answers if one.question == question]
            for model in sorted({one.judge for one in own if is_machine(one.judge)}):
                labels: dict[str, list[float]] = {}
                for one in own:
                    if not is_machine(one.judge):
                        labels.setdefault(one.item, []).append(one.number)
                scores = {one.item: one.number for one in own if one.judge == model}
                both = [item for item in labels if item in scores]
                found.append(
                    World(
                        dataset,
                        model.partition(":")[2],
                        np.array([np.mean(labels[item]) for item in both]),
                        np.array([scores[item] for item in both]),
                    )
                )
    return found


def other_section(samples: int, seed: int) -> list[str]:
    """The lines about the other data sets."""
    rng = np.random.default_rng([seed, 1])
    found = [
        (world, n, outcome(world, n, samples, rng)) for world in other_worlds() for n in LABELS
    ]
    return [
        "## Other data (means, over questions and models)",
        "",
        f"| data {HEAD}",
        f"|---{RULE}",
        *rows(found, by_model=False),
        "",
        "*cebab_stars* are ratings of restaurant reviews (CEBaB), from 1 to 5 stars; *lesion* are "
        "ratings of features of skin lesions in pictures, such as color and border. A label is the "
        "mean of people's ratings, and the proxies are again language models. Nothing in the method "
        "was chosen on these data.",
    ]


def outcome(
    world: World, n: int, samples: int, rng: np.random.Generator, *, is_difference: bool = False
) -> Outcome:
    """Samples of n labels."""
    truth = float(world.labels.mean())
    covered, alone, widths, widths_alone, worth = [], [], [], [], []
    for _ in range(samples):
        drawn = rng.integers(0, len(world.labels), n)
        others = rng.integers(0, len(world.labels), UNLABELED)
        given = ProxyLabels.of(world.labels[drawn], world.proxies[drawn], world.proxies[others])
        found = prediction_powered_mean(given)
        people = prediction_powered_mean(given, tuning=0.0)
        if is_difference:
            one, other = found.difference(), people.difference()
        else:
            one, other = found.estimate(), people.estimate()
        if one.low is None or one.high is None or other.low is None or other.high is None:
            continue
        covered.append(one.low <= truth <= one.high)
        alone.append(other.low <= truth <= other.high)
        widths.append(one.high - one.low)
        widths_alone.append(other.high - other.low)
        worth.append((people.error / found.error) ** 2)
    return Outcome(
        float(np.mean(covered)),
        float(np.mean(alone)),
        float(np.mean(widths) / np.mean(widths_alone)),
        1 - len(covered) / samples,
        n * float(np.mean(worth)),
    )


def rows(found: Sequence[tuple[World, int, Outcome]], *, by_model: bool) -> list[str]:
    """For each number of labels a row for each question (with `by_model`, for each model) and one for all."""
    lines = []
    for n in LABELS:
        groups: dict[str, list[Outcome]] = {}
        for world, labels, one in found:
            if labels == n:
                groups.setdefault(world.model if by_model else world.question, []).append(one)
        every = [one for own in groups.values() for one in own]
        lines += [_row(name, n, own) for name, own in groups.items()]
        lines.append(_row("**all**", n, every))
    return lines


def _row(name: str, n: int, own: Sequence[Outcome]) -> str:
    covered, alone, width, undefined, worth = (
        float(np.mean([getattr(one, field) for one in own]))
        for field in ("covered", "covered_alone", "width", "undefined", "worth")
    )
    return (
        f"| {name} | {n} | {100 * covered:.1f}% | {100 * alone:.1f}% | {width:.2f} | {worth:.0f} | "
        f"{100 * undefined:.1f}% |"
    )


def mean_of(found: Sequence[tuple[World, int, Outcome]], n: int, field: str) -> float:
    """The mean of a field over all worlds with n labels."""
    return float(np.mean([getattr(one, field) for _, labels, one in found if labels == n]))


def page(samples: int, seed: int) -> str:
    rng = np.random.default_rng(seed)
    means, differences = worlds()
    of_means = [(world, n, outcome(world, n, samples, rng)) for world in means for n in LABELS]
    few = max(samples // 10, 1)  # there are ten times as many worlds of differences
    of_differences = [
        (world, n, outcome(world, n, few, rng, is_difference=True))
        for world in differences
        for n in LABELS
    ]
    return "\n".join(
        [
            "# Are corrected estimates right, and how many labels does a proxy save?",
            "",
            "[`wellput estimate`](../commands/estimate.md) corrects the many scores of a proxy (a metric or "
            "a machine judge) by a few labels (judgments of people). Measured on ratings of summaries, its 95% "
            f"intervals contain the true mean in {100 * mean_of(of_means, 20, 'covered'):.1f}% of the "
            f"samples with 20 labels and in {100 * mean_of(of_means, 100, 'covered'):.1f}% with 100 labels. "
            f"With a language model as proxy, 100 labels are worth {mean_of(of_means, 100, 'worth'):.0f} "
            "labels without a proxy.",
            "",
            "In the first tables the labels are mean ratings of summaries by three experts (SummEval), and "
            "the proxies are scores by six language models. For each question, model and number of labels, "
            f"{samples:,} samples of summaries with labels are drawn, each with {UNLABELED:,} further "
            "summaries that have only the model's score. The true mean is that of all ratings.",
            "",
            "- **covered**: the share of 95% intervals that contain the true mean.",
            "- **people alone**: the same share for intervals from the labels alone, without the proxy.",
            "- **width**: the mean width of the intervals, divided by the mean width of those from the labels "
            "alone. Below 1, the proxy makes the interval narrower.",
            "- **worth**: how many labels without the proxy would give the same standard error.",
            "- **no interval**: the share of samples without an interval, because all labels are equal.",
            "",
            "## Means, by question (over six models)",
            "",
            f"| question {HEAD}",
            f"|---{RULE}",
            *rows(of_means, by_model=False),
            "",
            "Ratings of consistency and fluency are mostly 5 of 5, with few low ones: with 20 labels a "
            "sample often has no low rating, and then no interval from these labels can contain the "
            "true mean. So with 20 labels, fewer than 95% of the intervals for consistency contain "
            "it; with 50 labels or more, at least 94% of the intervals for every question do. "
            "wellput corrects its intervals for the skewness of ratings. How much of the skewness is "
            "corrected was chosen on these data, so results on new data may be slightly worse.",
            "",
            "## Means of coherence, by model",
            "",
            f"| model {HEAD}",
            f"|---{RULE}",
            *rows([one for one in of_means if one[0].question == "coherence"], by_model=True),
            "",
            f"## Differences of two systems (over six models and {PAIRS} pairs of systems)",
            "",
            "A label is here the difference of people's mean ratings of the two systems' summaries of one "
            "article. The two systems of a pair are neighbors in the order of mean ratings, counted from the lowest mean. "
            f"{few:,} samples are drawn for each pair.",
            "",
            f"| question {HEAD}",
            f"|---{RULE}",
            *rows(of_differences, by_model=False),
            "",
            "Differences of consistency and of fluency are 0 for most articles and large for a few, "
            "so the intervals from few labels depend on whether a sample has some of these articles.",
            "",
            *other_section(samples, seed),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    write_page("estimate", page(options.samples, options.seed))


if __name__ == "__main__":
    main()
