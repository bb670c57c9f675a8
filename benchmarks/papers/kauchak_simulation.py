"""Tables 7 and 8 of Kauchak & Barzilay (2006) as a study that SIMULATED judges answer. It shows the
procedure, and nothing about people."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import wellput
from benchmarks.agreement import human_data
from benchmarks.pages import table
from benchmarks.papers.kauchak_experiment import method_paraphrasers
from benchmarks.papers.simulated_answers import study_ratings
from wellput.core.evalset import EvalSet, Item
from wellput.language.paraphrase.corpus_index import CorpusIndex
from wellput.language.paraphrase.references import drawn_substitutions, substitution_items
from wellput.studies.questionnaire import ShownTrial

SIMULATED_RIGHT = {"contextwn": 100 / 133, "wordnet": 27 / 67, "brown": 0.56, "lsa": 0.30}
"""The chance that a substitution is right, by the first of these methods that keeps it: the paper's
Tables 7 and 8 (of `wordnet`, those that ContextWN refuses)."""
SIMULATED_JUDGES = 2
SIMULATED_SLIP = 0.07
"""How often a simulated judge says the other thing."""
SAMPLE = 200
"""Substitutions of each method that are judged."""
SIMULATED_DRAWS = 200
"""Draws over which the page gives a mean."""


def simulated_verdicts(
    items: Sequence[Item], rng: np.random.Generator
) -> dict[tuple[int, str], bool]:
    """By judge and text, whether the judge calls the substitution right. Some items show the same text;
    their judge cannot tell them apart, so there is one draw for a text."""
    methods: dict[str, set[str]] = {}
    for item in items:
        [text] = item.outputs.values()
        kept = {method for method, decision in item.tags.items() if decision == "kept"}
        methods.setdefault(str(text), set()).update(kept)
    said: dict[tuple[int, str], bool] = {}
    for text, own in methods.items():
        by = next((method for method in SIMULATED_RIGHT if method in own), None)
        if by is None:  # no method makes it, so no judge sees it
            continue
        is_right = rng.random() < SIMULATED_RIGHT[by]
        for judge in range(SIMULATED_JUDGES):
            said[judge, text] = is_right != (rng.random() < SIMULATED_SLIP)
    return said


def mean_right(items: Sequence[Item], method: str, *, draws: int = SIMULATED_DRAWS) -> float:
    """The share of a method's sample that a simulated judge calls right, over many draws."""
    shares = []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        said = simulated_verdicts(items, rng)
        sample = drawn_substitutions(items, SAMPLE, rng)
        texts = [
            str(text)
            for item in sample
            if item.tags.get(method) == "kept"
            for text in item.outputs.values()
        ]
        shares.append(np.mean([said[0, text] for text in texts]))
    return float(np.mean(shares))


def simulated_judges(index: CorpusIndex, *, seed: int = 1) -> tuple[str, str]:
    """Tables 7 and 8 as a study: substitutions of four methods mixed, two simulated judges. And what
    ContextWN's share is over many draws."""
    data = human_data.da2016()
    by_method = {}
    for name, paraphraser in method_paraphrasers(data, index).items():
        if name != "context":
            by_method[name] = paraphraser.rewrite_items(data.evalset.items)[1]
    rng = np.random.default_rng(seed)
    proposed = substitution_items(by_method)
    said = simulated_verdicts(proposed, rng)
    items = drawn_substitutions(proposed, SAMPLE, rng)

    def verdict(judge: int, trial: ShownTrial) -> dict[str, float]:
        [variant] = trial.variants
        return {trial.questions[0].name: 2.0 if said[judge, str(variant.text)] else 1.0}

    with tempfile.TemporaryDirectory() as folder:
        answers = study_ratings(
            EvalSet(items),
            verdict,
            folder=Path(folder),
            name="verdicts",
            judges=SIMULATED_JUDGES,
            per_item=SIMULATED_JUDGES,
            from_substitutions=True,
            seed=seed,
        )
    found = wellput.agree(EvalSet(items), answers).substitutions
    rows = [
        [
            f"`{row['method']}`",
            f"simulated {row['judge'].removeprefix('J')}",
            f"{row['accuracy']:.1%} of {row['n']}",
            f"{row['kappa']:.2f}",
            f"{row['refused_wrong']}, {row['refused_right']}",
            f"{row['kept_wrong']}, {row['kept_right']}",
        ]
        for row in found
    ]
    shown = table(
        ["method", "judge", "right", "κ", "refused: wrong, right", "kept: wrong, right"], rows
    )
    return shown, f"{mean_right(proposed, 'contextwn'):.1%}"
