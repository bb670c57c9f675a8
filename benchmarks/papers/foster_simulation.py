"""An invented speaker for COMIC's sentences, and simulated judges who answer a study of Foster's design.

Nobody was observed. Which displays the speaker is more likely to show where follows the words of the paper;
all numbers of it are ours, and were not tuned. The judges' shares are the ones that Figure 3 prints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.papers.simulated_answers import study_choices
from wellput.core.evalset import ORIGINAL, EvalSet, Item
from wellput.core.judgment import Preference
from wellput.displays.schedules import nodes_of
from wellput.studies.questionnaire import ShownTrial

NODS = (["nd=d"], 0.7), (["nd=d", "bw=u"], 0.15), (["bw=u"], 0.1), (["ln=l"], 0.05)
"""An accented word, or a property without evaluation: mostly nods, the speaker's most common display."""
LIKED = (["tn=r", "bw=u"], 0.4), (["bw=u"], 0.2), (["nd=d"], 0.4)
"""A property that the listener likes: turns right and raises the brows more often."""
DISLIKED = (["ln=l"], 0.25), (["bw=d", "sq"], 0.25), (["sq"], 0.1), (["nd=d"], 0.4)
"""A property that the listener does not like: leans left, lowers the brows, narrows the eyes."""
MARKED, UNMARKED = 0.75, 0.08
"""How often the speaker does anything on an accented word or a property, and on any other node."""


def spoken(items: Sequence[Item], seed: int) -> list[Item]:
    """The sentences with the invented speaker's displays as the system `original`."""
    rng = np.random.default_rng(seed)
    return [item._replace(outputs={ORIGINAL: _displays(item, rng)}) for item in items]


def _displays(item: Item, rng: np.random.Generator) -> dict[str, list[str]]:
    shown: dict[str, list[str]] = {}
    for node in nodes_of(item.derivation or {}):
        features: Mapping[str, Any] = node.get("features") or {}
        is_marked = "property" in features or "prosody" in features
        if rng.random() >= (MARKED if is_marked else UNMARKED):
            continue
        kinds = {"positive": LIKED, "negative": DISLIKED}
        chances = (
            kinds.get(features.get("evaluation", ""), NODS) if "property" in features else NODS
        )
        place = rng.choice(len(chances), p=[share for _, share in chances])
        shown[node["id"]] = list(chances[int(place)][0])
    return shown


FIGURE_3A = {
    ("original", "rule"): (123, 93),
    ("weighted", "rule"): (120, 97),
    ("original", "weighted"): (123, 92),
}
FIGURE_3B = {
    ("original", "majority"): (295, 153),
    ("weighted", "majority"): (278, 170),
    ("original", "weighted"): (251, 197),
}
"""How often the first and the second system were chosen, as the paper prints it."""


def simulated_choices(
    evalset: EvalSet,
    shares: Mapping[tuple[str, str], tuple[int, int]],
    *,
    folder: Path,
    judges: int,
    items: int,
    seed: int,
) -> list[Preference]:
    """The choices of simulated judges in a study made as `wellput study create --design pairwise --plan
    within-judge --items N --systems NAMES` makes it. A judge chooses by the shares of Figure 3 alone: the
    study shows only the names of systems, no displays."""
    systems = list(dict.fromkeys(name for pair in shares for name in pair))
    named = EvalSet([Item(item.id, {name: name for name in systems}) for item in evalset])
    rng = np.random.default_rng(seed)

    def choice(_: int, trial: ShownTrial) -> dict[str, str]:
        first, second = (str(variant.text) for variant in trial.variants)
        won, lost = shares.get((first, second)) or shares[second, first][::-1]
        return {trial.questions[0].name: "a" if rng.random() < won / (won + lost) else "b"}

    return study_choices(
        named,
        choice,
        folder=folder,
        name=f"choices-{seed}",
        judges=judges,
        design="pairwise",
        plan="within-judge",
        items=items,
        systems=systems,
        seed=seed,
    )


def simulated_studies(evalset: EvalSet, folder: Path) -> tuple[list[Preference], list[Preference]]:
    """Both studies of the paper; their choices are also written to `choices-1.csv` and `choices-2.csv`."""
    return (
        simulated_choices(evalset, FIGURE_3A, folder=folder, judges=36, items=18, seed=1),
        simulated_choices(evalset, FIGURE_3B, folder=folder, judges=54, items=24, seed=2),
    )
