"""FERGUS and LR trained and measured on the Penn sample, as in the paper: Figure 2, Tables 2 and 4."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks.data import unpack_xtag
from benchmarks.papers.penn_sample import constituents
from wellput import EvalSet, Realizer, ScoreResult, convert, realize, score
from wellput.api import train
from wellput.core.tree import Tree
from wellput.reporting.training import FergusTraining

MAX_WORDS = 24
"""The paper's longest test sentence."""
Part = Literal["train", "dev", "test"]
PARTS: dict[int, Part] = {0: "test", 5: "dev"}
"""By the last digit of a file's number; all other files are for training."""
METRICS = ("ssa", "gsa", "sta", "gta", "understandability", "quality")
FIGURE_2: dict[str, Any] = {
    "word": "estimate", "children": [
        {"word": "There"}, {"word": "was"}, {"word": "no"}, {"word": "cost"},
        {"word": "for", "children": [
            {"word": "phase", "children": [{"word": "the"}, {"word": "second"}]}]}]}  # fmt: skip
TARGET = "There was no cost estimate for the second phase"
SEED = 12345


@dataclass(frozen=True)
class Treebank:
    """The sample's trees, converted: the files of each part."""

    files: Mapping[Part, Sequence[Sequence[Tree]]]

    @cached_property
    def parts(self) -> dict[Part, list[Tree]]:
        """All trees of each part."""
        return {part: list(chain.from_iterable(files)) for part, files in self.files.items()}

    def short(self, part: Part) -> list[Tree]:
        """The sentences that are no longer than the paper's longest."""
        return [tree for tree in self.parts[part] if len(tree.words) <= MAX_WORDS]


def treebank() -> Treebank:
    """With lemmas, so that morphology can be measured."""
    files: dict[Part, list[Sequence[Tree]]] = {"train": [], "dev": [], "test": []}
    for number, sentences in constituents().items():
        files[PARTS.get(number % 10, "train")].append(convert(sentences, lemmas=True).trees)
    return Treebank(files)


def trained(trees: Treebank) -> FergusTraining:
    return train.fergus(trees.parts["train"], dev=trees.parts["dev"], seed=SEED)


def realizers(made: FergusTraining, xtag: str) -> dict[str, Realizer]:
    """The models of the paper and our variants, by the name of their row."""
    return {
        "LR": made.realizer("lr"),
        "fergus": made.realizer("fergus"),
        "fergus, XTAG": made.realizer("fergus", grammar=f"xtag:{xtag}"),
        "fergus, top-down": made.realizer("fergus", chooser="top-down"),
        "fergus, XTAG, top-down": made.realizer(
            "fergus", grammar=f"xtag:{xtag}", chooser="top-down"
        ),
        "fergus+": made.realizer("fergus+"),
    }


def scores(outputs: Mapping[str, Sequence[str]], trees: Sequence[Tree]) -> ScoreResult:
    """With intervals, and differences from LR."""
    references = [" ".join(word.form for word in tree.words) for tree in trees]
    evalset = EvalSet.of(outputs, references, trees=list(trees))
    names = [f"{metric}:tokenize=none,lowercase=true" for metric in METRICS]
    return score(evalset, names, baseline="LR", confidence=True)


@dataclass(frozen=True)
class Measured:
    """`short` are the scores of sentences of at most 24 words, `all` those of all."""

    treebank: Treebank
    made: FergusTraining
    short: ScoreResult
    all: ScoreResult
    figure_2: Mapping[str, str]
    shipped_figure_2: Mapping[str, str]
    outputs: Mapping[str, Sequence[str]]


def measured(part: Part) -> Measured:
    """Trains, realizes and scores one part."""
    trees = treebank()
    with tempfile.TemporaryDirectory() as folder:
        unpack_xtag(folder)
        made = trained(trees)
        models = realizers(made, str(Path(folder)))
        short, whole = trees.short(part), list(trees.parts[part])
        outputs = {
            name: [one.best[0].text for one in model.realize_all(whole)]
            for name, model in models.items()
        }
        figure_2 = {name: model.realize(FIGURE_2).text for name, model in models.items()}
    places = [place for place, tree in enumerate(whole) if len(tree.words) <= MAX_WORDS]
    of_short = {name: [own[place] for place in places] for name, own in outputs.items()}
    return Measured(
        trees,
        made,
        scores(of_short, short),
        scores(outputs, whole),
        figure_2,
        {name: realize(FIGURE_2, model=name).sentences[0] for name in ("fergus", "learned")},
        of_short,
    )


def cell(result: ScoreResult, system: str, metric: str) -> str:
    """A score with its interval."""
    found = result[system, f"{metric}:tokenize=none,lowercase=true"]
    return f"{found.score:.3f} [{found.low:.3f}, {found.high:.3f}]".replace("-", "−")


def difference(result: ScoreResult, system: str, metric: str) -> str:
    """A system minus LR, with its interval."""
    found = result[system, f"{metric}:tokenize=none,lowercase=true"]
    text = f"{found.delta:+.3f} [{found.delta_low:+.3f}, {found.delta_high:+.3f}]"
    return text.replace("-", "−")


def mean_length(trees: Sequence[Tree]) -> float:
    return float(np.mean([len(tree.words) for tree in trees]))


def rows_of(result: ScoreResult, metrics: Sequence[str]) -> Iterator[str]:
    for system in result.systems:
        yield f"| {system} | {' | '.join(cell(result, system, metric) for metric in metrics)} |"
