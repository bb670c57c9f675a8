"""GLEU's features and scores of Reuters sentences, and the tables of the paper that need no people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.papers.fluency.figures import bounds, interval, pearson
from benchmarks.papers.fluency.kept_parses import KeptLinks
from benchmarks.papers.mutton2007.reuters import Texts, test_texts, training_texts
from benchmarks.papers.penn_sample import constituents
from wellput import convert
from wellput.core.metric import Floats
from wellput.core.tree import Tree
from wellput.language.models.gleu_model import (
    PAPER_FEATURES,
    GleuModel,
    PaperGleuParsers,
    train_paper_parsers,
)

GLEU = "GLEU"
SCORERS = (*PAPER_FEATURES, GLEU)
PARSER_SEEDS = (12345, 1, 2)
LINK_SECONDS = 60
"""With wellput's three seconds for an attempt, two long sentences of the rated sets run out of time on a slow
or busy machine, and their words then have no links."""


@dataclass(frozen=True, eq=False)
class Scored:
    """The normalized features and the score of every text of a kind, by the kind's name."""

    texts: Mapping[str, Sequence[str]]
    columns: Mapping[str, Mapping[str, Floats]]
    weights: Mapping[str, float]
    right: int
    tested: int

    def sizes(self) -> list[int]:
        return [int(kind) for kind in self.columns if kind.isdecimal()]

    def against_size(self, scorer: str, sizes: Sequence[int]) -> str:
        """Pearson's r with the size of sequences, and its interval."""
        return interval(pearson, *self._with_sizes(scorer, sizes))

    def size_bounds(self, scorer: str, sizes: Sequence[int]) -> tuple[float, float, float]:
        """The same as numbers: r, and the bounds of its interval."""
        return bounds(pearson, *self._with_sizes(scorer, sizes))

    def _with_sizes(self, scorer: str, sizes: Sequence[int]) -> tuple[Floats, Floats]:
        columns = [self.columns[str(size)][scorer] for size in sizes]
        lengths = [np.full(len(own), float(size)) for own, size in zip(columns, sizes, strict=True)]
        return np.concatenate(columns), np.concatenate(lengths)


@dataclass(frozen=True)
class MeanOfParsers:
    """The mean features of parsers that learned from the same treebank with other seeds: one parser's
    fragments depend much on its seed."""

    parsers: Sequence[PaperGleuParsers]

    def features(self, texts: Sequence[str]) -> Floats:
        return np.asarray(np.mean([one.features(texts) for one in self.parsers], axis=0))


def paper_parsers(kept: Path, workers: int) -> MeanOfParsers:
    """Parsers trained on the Penn sample, kept in a folder for each seed, with link grammar, whose parses
    are kept."""
    links = KeptLinks(kept / "links.jsonl", workers=workers, timeout=LINK_SECONDS)
    trees: Sequence[Tree] = ()
    folders = [kept / f"parsers-{seed}" for seed in PARSER_SEEDS]
    for seed, folder in zip(PARSER_SEEDS, folders, strict=True):
        if (folder / "tree.wpm").is_file():  # written last
            continue
        trees = trees or convert([one for own in constituents().values() for one in own]).trees
        folder.mkdir(parents=True, exist_ok=True)
        train_paper_parsers(trees, folder, seed=seed)
    return MeanOfParsers([PaperGleuParsers.load(links, folder) for folder in folders])


def scored(parsers: MeanOfParsers) -> Scored:
    """Trains on training documents, scores sentences of test documents."""
    model, texts = trained(parsers), _kinds(test_texts())
    columns = {kind: columns_of(model, parsers.features(own)) for kind, own in texts.items()}
    new_real, new_made = columns["24"][GLEU], columns["1"][GLEU]
    right = int((new_real > 0).sum() + (new_made <= 0).sum())
    weights = dict(zip(PAPER_FEATURES, model.plane.weights.tolist(), strict=True))
    return Scored(texts, columns, weights, right, len(new_real) + len(new_made))


def trained(parsers: MeanOfParsers) -> GleuModel:
    """The machine, from sentences of the training documents."""
    texts = training_texts()
    real, made = (parsers.features(texts.by_size[size]) for size in (24, 1))
    return GleuModel.train(np.vstack([real, made]), np.arange(len(real) + len(made)) < len(real))


def _kinds(texts: Texts) -> dict[str, list[str]]:
    return {**{str(size): own for size, own in texts.by_size.items()}, **texts.by_generator}


def columns_of(model: GleuModel, features: Floats) -> dict[str, Floats]:
    normalized = model.normalized(features)
    columns = {name: normalized[:, place] for place, name in enumerate(PAPER_FEATURES)}
    return {**columns, GLEU: model.distances(normalized)}


def mean_interval(values: Floats) -> tuple[float, float, float]:
    """The mean with its 95% interval (normal)."""
    error = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
    mean = float(values.mean())
    return mean, mean - error, mean + error


def discriminable_sizes(found: Scored, scorer: str) -> list[int]:
    """A largest set of sizes whose intervals of the mean do not overlap, from the smallest size on."""
    chosen: list[int] = []
    highest = -np.inf
    for size in found.sizes():
        _, low, high = mean_interval(found.columns[str(size)][scorer])
        if low > highest:
            chosen.append(size)
            highest = high
    return chosen
