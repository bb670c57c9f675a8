"""Planted biases of a judge, and how `wellput vet` finds them.

Simulated people and a simulated judge rate outputs, or choose between two. The judge may favor long outputs,
those shown first and those of its own family, and may be more severe to some systems. Each bias is either
planted or not. The page says how often the interval contains the planted bias, and how often a bias is claimed
(p < .05).

Length, quality and systems depend on each other: better outputs are longer, and so are those of some systems.
All ratings of an item share an effect of the item, and the judge's ratings of it another one.

    python -m benchmarks vet-calibration
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.pages import write_page
from wellput.agreement.machines.biases import JudgeBiases, judge_biases
from wellput.agreement.machines.judged_trials import OutputKey, judged_trials
from wellput.core.estimates import Estimate
from wellput.core.judgment import Judgment, Preference

JUDGE = "model:gpt-sim"
SYSTEMS = ("gpt-a", "bart", "llama", "human")
OWN = ("gpt-a",)
PEOPLE = 3
LENGTH_OF_SYSTEM = {"gpt-a": 0.5, "bart": -0.5, "llama": 0.0, "human": 0.2}
ITEM_COUNTS = (30, 100)


@dataclass(frozen=True)
class Planted:
    """The judge's biases, in rating points or, for choices, in shares of choices: for each place that an output is
    shown earlier (`position`), for each doubling of its length, and for the judge's own outputs. `severity` is
    added to all ratings, `more_for_one` to those of one system."""

    position: float = 0.0
    length: float = 0.0
    self_preference: float = 0.0
    severity: float = 0.0
    more_for_one: float = 0.0


@dataclass(frozen=True)
class Finding:
    """An interval and what it should contain."""

    bias: str
    truth: float
    estimate: Estimate

    @property
    def is_covered(self) -> bool:
        low, high = self.estimate.low, self.estimate.high
        return low is not None and high is not None and low <= self.truth <= high

    @property
    def is_claimed(self) -> bool:
        return self.estimate.p_value is not None and self.estimate.p_value < 0.05


def rating_study(
    planted: Planted, n_items: int, rng: np.random.Generator
) -> tuple[list[Judgment], dict[OutputKey, float]]:
    """Ratings of all outputs by all people and the judge, each with the place at which the judge saw
    it; and the outputs' lengths in characters."""
    answers: list[Judgment] = []
    lengths: dict[OutputKey, float] = {}
    for item in range(n_items):
        name = str(item)
        ease, own_ease, size = rng.normal(size=3)
        order = rng.permutation(len(SYSTEMS))
        for place, system in enumerate(SYSTEMS):
            quality = ease + rng.normal()
            log_length = (
                6 + 0.5 * size + 0.4 * quality + LENGTH_OF_SYSTEM[system] + 0.3 * rng.normal()
            )
            lengths[system, name] = 2.0**log_length
            answers += [
                Judgment(f"p{person}", name, system, "q", 4 + quality + rng.normal())
                for person in range(PEOPLE)
            ]
            given = (
                4
                + quality
                + 0.5 * own_ease
                + 0.7 * rng.normal()
                + planted.length * (log_length - 6)
                + planted.self_preference * (system in OWN)
                - planted.position * order[place]
                + planted.severity
                + planted.more_for_one * (system == SYSTEMS[1])
            )
            extra = {"order": str(order[place] + 1)}
            answers.append(Judgment(JUDGE, name, system, "q", float(given), extra))
    return answers, lengths


def choice_study(
    planted: Planted, n_items: int, rng: np.random.Generator
) -> tuple[list[Preference], dict[OutputKey, float]]:
    """Choices between all pairs of outputs; the judge sees each pair in one of the two orders, drawn at
    random. Chances are linear in what matters, so that what is planted is what should be found."""
    answers: list[Preference] = []
    lengths: dict[OutputKey, float] = {}
    for item in range(n_items):
        name = str(item)
        logs = {s: 6 + LENGTH_OF_SYSTEM[s] + rng.uniform(-0.5, 0.5) for s in SYSTEMS}
        quality = {s: rng.uniform(-0.15, 0.15) for s in SYSTEMS}
        lengths |= {(s, name): 2.0**size for s, size in logs.items()}
        for a, b in ((a, b) for a in SYSTEMS for b in SYSTEMS if a < b):
            gap = quality[a] - quality[b]
            answers += [
                _choice(f"p{person}", name, (a, b), 0.5 + gap, rng) for person in range(PEOPLE)
            ]
            first, second = (a, b) if rng.random() < 0.5 else (b, a)
            chance = (
                0.5
                + quality[first]
                - quality[second]
                + planted.position
                + planted.length * (logs[first] - logs[second])
                + planted.self_preference * ((first in OWN) - (second in OWN))
            )
            answers.append(_choice(JUDGE, name, (first, second), chance, rng))
    return answers, lengths


def _choice(
    judge: str, item: str, pair: tuple[str, str], chance: float, rng: np.random.Generator
) -> Preference:
    return Preference(judge, item, *pair, "q", "a" if rng.random() < chance else "b")


def findings(biases: JudgeBiases, planted: Planted) -> Iterator[Finding]:
    """All biases that were estimated. What is planted on a system other than the judge's own is not
    counted as self-preference, so that is left out there."""
    others = {"position": biases.position, "length": biases.length}
    if not planted.more_for_one:
        others["self_preference"] = biases.self_preference
    for name, estimate in others.items():
        if estimate is not None:
            yield Finding(name, getattr(planted, name), estimate)
    for row in biases.by_system:
        if row.system == SYSTEMS[1] and row.deviation is not None:
            yield Finding("severity by system", _deviation(planted), row.deviation)


def _deviation(planted: Planted) -> float:
    """What the second system gets more than the average of all, by all that is planted."""
    given = [
        planted.length * LENGTH_OF_SYSTEM[system]
        + planted.self_preference * (system in OWN)
        + planted.more_for_one * (system == SYSTEMS[1])
        for system in SYSTEMS
    ]
    return given[1] - float(np.mean(given))


def vetted(kind: str, planted: Planted, n_items: int, rng: np.random.Generator) -> JudgeBiases:
    """The biases in one simulated study."""
    study = rating_study if kind == "ratings" else choice_study
    answers, lengths = study(planted, n_items, rng)
    return judge_biases(judged_trials(answers, JUDGE), lengths=lengths, own=OWN)


RATING_WORLDS = {
    "nothing planted": Planted(),
    "length": Planted(length=0.4),
    "position": Planted(position=0.2),
    "self-preference": Planted(self_preference=0.5),
    "severity of one system": Planted(severity=-0.3, more_for_one=0.6),
}
CHOICE_WORLDS = {
    "nothing planted": Planted(),
    "length": Planted(length=0.05),
    "position": Planted(position=0.08),
    "self-preference": Planted(self_preference=0.06),
}


def rates(
    kind: str, planted: Planted, n_items: int, *, studies: int, seed: int
) -> dict[str, tuple[float, float, bool]]:
    """For each bias: the share of intervals that contain the truth, the share of claims, and whether it
    was planted."""
    rng = np.random.default_rng([seed, n_items])
    found: dict[str, list[Finding]] = {}
    for _ in range(studies):
        for finding in findings(vetted(kind, planted, n_items, rng), planted):
            found.setdefault(finding.bias, []).append(finding)
    return {
        name: (
            float(np.mean([one.is_covered for one in own])),
            float(np.mean([one.is_claimed for one in own])),
            own[0].truth != 0,
        )
        for name, own in found.items()
    }


def page(studies: int, seed: int) -> str:
    """All worlds."""
    text = f"""# Are biases of a judge found?

Does `wellput vet` find how a judge differs from people? Biases of a known size are *planted* in simulated judges, and `wellput vet` estimates all biases. Its 95% intervals contain the true size in about 95% of the studies. Biases that were not planted are claimed in about 5%, as they should be at .05. How often planted biases are found depends on the number of items.

For each row {studies:,} studies are drawn, in which {PEOPLE} people and the judge rate, or choose between, the outputs of four systems. [`wellput vet`](../commands/vet.md) explains the biases.

- **planted**: the bias that the simulated judge has. **bias**: the bias that is estimated; bold if the judge has it. (A judge with a bias for length or for its own outputs is milder to some systems, too.)
- **covered**: the share of studies whose 95% interval contains the true size of the bias (it should be 95%).
- **claimed**: the share of studies with p < .05. If the judge does not have the bias, it should be at most 5%; else it is the power.
"""
    for kind, worlds in (("ratings", RATING_WORLDS), ("choices", CHOICE_WORLDS)):
        text += f"\n## {kind.capitalize()}\n\n"
        text += "| planted | items | bias | covered | claimed |\n|---|---|---|---|---|\n"
        for name, planted in worlds.items():
            for n_items in ITEM_COUNTS:
                found = rates(kind, planted, n_items, studies=studies, seed=seed)
                for bias, (covered, claimed, is_planted) in found.items():
                    named = bias.replace("_", "-")
                    shown = f"**{named}**" if is_planted else named
                    text += f"| {name} | {n_items} | {shown} | {covered:.1%} | {claimed:.1%} |\n"
    error = 100 * (0.95 * 0.05 / studies) ** 0.5
    return f"""{text}
Self-preference cannot be distinguished from mildness to the systems of the judge's own family: in both cases the judge gives them more than people do, when lengths are equal. All rows of a table use the same random draws, so the same chance deviations can appear in several rows; a share near 95% has a standard error of {error:.1f} points.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    write_page("vet-calibration", page(options.studies, options.seed))


if __name__ == "__main__":
    main()
