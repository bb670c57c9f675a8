"""Fluency from parsers: GLEU, the GrammaticaLity Evaluation Utility of Mutton et al. (2007).

Neither Google's GLEU (Wu et al. 2016) nor that of error correction (Napoles et al. 2015), which compare
n-grams with references; this one needs no references.
"""

from __future__ import annotations

import atexit
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

import numpy as np

from wellput.core.evalset import Batch
from wellput.core.metric import Floats, Need
from wellput.metrics.base import NOTHING, BaseMetric, ratio

if TYPE_CHECKING:
    from wellput.language.gleu_features import GleuParsers
    from wellput.language.gleu_model import GleuModel
    from wellput.language.link_grammar import LinkGrammar

Feature: TypeAlias = Literal["log_probability", "fragments", "nulls", "invalid"]
FILE = "gleu-fluency.wpm"
WORTH_SAYING = 0.1
"""What a feature must cost to be named in an explanation."""


@dataclass(frozen=True)
class GleuFluency(BaseMetric):
    """The signed distance from the plane between real sentences and words put together at random.

    Statistics: the sums of the distances and of each feature, and the number of outputs with words.
    """

    family: ClassVar[str] = "gleu-fluency"
    about: ClassVar[str] = "whether parsers take it for a real sentence"
    paper: ClassVar[str] = "Mutton et al. 2007"
    needs: ClassVar[frozenset[Need]] = NOTHING

    feature: Feature | None = None
    model: str | None = None

    @property
    def higher_is_better(self) -> bool | None:
        return self.feature in (None, "log_probability")

    def statistics(self, batch: Batch) -> Floats:
        model = _model(self.model)
        features = model.normalized(_features(batch))
        rows = np.column_stack([model.distances(features), features, np.ones(len(features))])
        rows[np.isnan(features[:, 0])] = 0.0
        return rows

    def score(self, statistics: Floats) -> Floats:
        from wellput.language.gleu_features import FEATURES

        column = 0 if self.feature is None else 1 + list(FEATURES).index(self.feature)
        return ratio(statistics[..., column], statistics[..., -1])

    def components(self, statistics: Floats) -> dict[str, Floats]:
        from wellput.language.gleu_features import FEATURES

        return {
            name: ratio(statistics[..., place], statistics[..., -1])
            for place, name in enumerate(FEATURES, start=1)
        }

    def explain(self, batch: Batch) -> list[str]:
        """The features that pull an output's score down, the strongest first, on the scale of the
        score. Their values are as in `FEATURES`, not divided by the largest."""
        from wellput.language.gleu_features import FEATURES
        from wellput.metrics.pulls import pulls_down

        model = _model(self.model)
        features = _features(batch)
        normalized = model.normalized(features)
        if self.feature is None:
            contributions = model.contributions(normalized)
        else:
            alone = np.array([name == self.feature for name in FEATURES])
            sign = 1 if self.higher_is_better else -1
            contributions = np.where(alone, sign * (normalized - model.plane.means), 0.0)
        return pulls_down(batch.texts, FEATURES, features, contributions, least=WORTH_SAYING)

    def signature(self) -> str:
        parsers = english_parsers(1)
        fields = (
            f"model:{_model(self.model).fingerprint[:12]}",
            f"parser:{_parser_fingerprint()[:12]}",
            f"lg:{parsers.grammar.version.removeprefix('link-grammar-')}",
            f"feature:{self.feature or 'all'}",
        )
        return "|".join(fields)


def _features(batch: Batch) -> Floats:
    if "gleu features" not in batch.memo:
        batch.memo["gleu features"] = english_parsers(batch.threads).features(
            batch.texts, threads=batch.threads, on_progress=batch.on_rows
        )
    features: Floats = batch.memo["gleu features"]
    return features


@lru_cache(maxsize=4)
def _model(folder: str | None) -> GleuModel:
    from wellput.language.gleu_model import GleuModel
    from wellput.language.shipped import shipped
    from wellput.metrics.trained_folder import model_in

    file = shipped(FILE) if folder is None else model_in(folder, FILE, option="--gleu")
    return GleuModel.load(file)


@lru_cache(maxsize=4)
def english_parsers(workers: int, folder: Path | None = None) -> GleuParsers:
    """The shipped parser, or the one in a folder, with link grammar."""
    from wellput.language.gleu_features import GleuParsers
    from wellput.language.head_driven import HeadDrivenParser
    from wellput.language.sentence_parsing import HEAD_DRIVEN_FILE
    from wellput.language.shipped import shipped

    file = shipped(HEAD_DRIVEN_FILE) if folder is None else folder / HEAD_DRIVEN_FILE
    return GleuParsers(HeadDrivenParser.load(file), _link_grammar(workers))


@lru_cache(maxsize=4)
def _link_grammar(workers: int) -> LinkGrammar:
    """Its processes stay for the next batch, and end with this one."""
    from wellput.language.link_grammar import LinkGrammar

    grammar = LinkGrammar(workers=workers)
    atexit.register(grammar.close)
    return grammar


@lru_cache(maxsize=1)
def _parser_fingerprint() -> str:
    """Of the chart, the n-gram model pooled with it and the parser whose guesses it starts from."""
    from wellput.io.model_files import load_model_file
    from wellput.language.head_driven import KIND
    from wellput.language.sentence_parsing import HEAD_DRIVEN_FILE
    from wellput.language.shipped import english_ngrams, shipped

    chart = load_model_file(shipped(HEAD_DRIVEN_FILE), KIND).fingerprint
    parts = (chart, english_ngrams().fingerprint, english_parsers(1).parser.guesser.signature)
    return sha256(" ".join(parts).encode()).hexdigest()
