"""All scores of texts that the fluency page compares, as columns that should rise with quality."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.papers.fluency.kept_parses import KeptCharts, KeptLinks
from benchmarks.papers.fluency.neural_scores import KeptScores
from wellput.core.evalset import Batch
from wellput.core.metric import Floats
from wellput.language.models.english_text import SentenceFeatures
from wellput.language.models.fluency_model import FLUENCY_FEATURES, FluencyModel, english_models
from wellput.language.models.gleu_model import GLEU_FEATURES as GLEU_FEATURES
from wellput.language.models.gleu_model import GleuModel, GleuParsers
from wellput.language.models.head_driven import HeadDrivenParser
from wellput.language.models.ngrams import unigram_log_probs
from wellput.language.shipped import HEAD_DRIVEN_FILE, english_ngrams, shipped
from wellput.metrics.registry import create
from wellput.text.english import treebank_words

Columns = dict[str, Floats]
NEURAL = "perplexity, penalized"
MIN_SHARE_OF_TEXTS = 0.95
"""The share of texts that the file of neural scores must have, or there is no column."""


class Scorers:
    """Length, `fluency`, `gleu-fluency` and its single features, and a neural model's measures.

    Features for which lower is better are negated. `kept` is a folder: parses are kept there in
    `links.jsonl` and `charts.jsonl`; `neural.jsonl`, if it is there, is what `python -m benchmarks
    neural-scores` wrote.
    """

    def __init__(self, kept: Path) -> None:
        self.models = english_models()
        self.fluency = FluencyModel.load(shipped("fluency.wpm"))
        self.gleu = GleuModel.load(shipped("gleu-fluency.wpm"))
        parser = HeadDrivenParser.load(shipped(HEAD_DRIVEN_FILE))
        charts: Any = KeptCharts(kept / "charts.jsonl", parser)
        self.parsers = GleuParsers(charts, KeptLinks(kept / "links.jsonl", workers=2))
        self.neural = KeptScores(kept / "neural.jsonl")

    def fluency_scores(self, texts: Sequence[str], model: FluencyModel | None = None) -> Floats:
        """As the metric `fluency` scores texts, with the shipped model or another."""
        return joined_scores(model or self.fluency, self.models.sentence_features(texts))

    def __call__(
        self, texts: Sequence[str], *, has_gleu: bool = True, has_features: bool = False
    ) -> Columns:
        """Every column; with `has_features`, the single features of `fluency` too."""
        sentences = self.models.sentence_features(texts)
        columns = {"length": np.array([float(len(text.split())) for text in texts])}
        columns["fluency"] = np.nan_to_num(joined_scores(self.fluency, sentences))
        if has_features:
            for name, column in zip(FLUENCY_FEATURES, sentences.means().T, strict=True):
                columns[f"· {name}"] = _filled(column)
        if has_gleu:
            parses = self.parsers.sentence_features(texts)
            distances = self.gleu.distances(self.gleu.normalized(parses.rows))
            columns["gleu-fluency"] = _filled(parses.scores_of_texts(distances))
            means = self.gleu.normalized(parses.means())
            for place, name in enumerate(GLEU_FEATURES):
                sign = 1 if name == "log_probability" else -1
                columns[f"· gleu {name}"] = _filled(sign * means[:, place])
        return columns | _neural(texts, self.neural.rows(texts))


def joined_scores(model: FluencyModel, sentences: SentenceFeatures) -> Floats:
    return sentences.scores_of_texts(model.scores(sentences.rows))


def _neural(texts: Sequence[str], rows: Floats) -> Columns:
    log_probs, pieces = rows.T
    alone, words = unigram_log_probs(
        english_ngrams(), [treebank_words(text).forms for text in texts]
    )
    measures = {
        NEURAL: log_probs / ((5 + pieces) / 6) ** 0.8,
        "perplexity, mean": log_probs / pieces,
        "perplexity, SLOR": (log_probs - alone) / np.maximum(1, words),
    }
    has_words = np.array([bool(text.strip()) for text in texts])
    if np.isfinite(log_probs[has_words]).mean() >= MIN_SHARE_OF_TEXTS:
        return {name: _filled(column) for name, column in measures.items()}
    nothing = np.full(len(texts), np.nan)
    return dict.fromkeys(measures, nothing)


def _filled(column: Floats) -> Floats:
    """A text without words gets the lowest score of the others."""
    return np.where(np.isnan(column), np.nanmin(column), column)


def with_references(texts: Sequence[str], references: Sequence[Sequence[str]]) -> Columns:
    """BLEU and chrF of each text."""
    columns = {}
    for name in ("bleu", "chrf"):
        metric = create(name)
        statistics = metric.statistics(Batch.from_texts(texts, references))
        columns[name] = np.nan_to_num(metric.segment_score(statistics))
    return columns
