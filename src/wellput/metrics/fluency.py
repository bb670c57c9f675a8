"""Fluency without references: how well an output is written, not what it says.

`fluency` uses models of English. `gleu-fluency` uses parsers: it is GLEU, the GrammaticaLity Evaluation
Utility of Mutton et al. (2007). It is neither Google's GLEU (Wu et al. 2016) nor the GLEU of error
correction (Napoles et al. 2015), which compare n-grams with references.

Both are weighted sums of features: `--explain` names the features that lower a score. Their option
`model` is a folder that `wellput train fluency` wrote; without it the shipped model is used. Models and
parsers are loaded when first needed.
"""

from __future__ import annotations

import atexit
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

import numpy as np

from wellput.core.errors import InputError
from wellput.core.estimates import Bounds
from wellput.core.evalset import Batch
from wellput.core.metric import Floats, Need
from wellput.metrics.base import NOTHING, BaseMetric, ratio

if TYPE_CHECKING:
    from wellput.language.models.fluency_model import FluencyModel, FluencyModels
    from wellput.language.models.gleu_model import GleuModel, GleuParsers
    from wellput.language.models.gleu_paper import PaperGleuParsers
    from wellput.language.models.link_grammar import LinkGrammar


FLUENCY_FILE = "fluency.wpm"
WRITING_FEATURES = ("capital", "stop")
"""Features of spelling and punctuation, which `written=false` ignores."""
MIN_FLUENCY_COST = 0.02
"""The loss of score from which on an explanation names a feature."""


@dataclass(frozen=True)
class Fluency(BaseMetric):
    """The mean over outputs of a score in [0, 1]. Statistics: the sum of the scores, the sums of the
    features, the number of outputs with words, and the number of all outputs."""

    family: ClassVar[str] = "fluency"
    about: ClassVar[str] = "how fluent an output is, by models of English"
    needs: ClassVar[frozenset[Need]] = NOTHING
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    is_always_defined: ClassVar[bool] = True

    model: str | None = None
    written: bool = True

    def statistics(self, batch: Batch) -> Floats:
        model = _model(self.model)
        features = self._features(batch)
        has_words = ~np.isnan(features[:, 0])
        rows = np.column_stack(
            [model.scores(features), features, has_words, np.ones(len(features))]
        )
        rows[~has_words, :-1] = 0.0
        return rows

    def score(self, statistics: Floats) -> Floats:
        return ratio(statistics[..., 0], statistics[..., -1])

    def components(self, statistics: Floats) -> dict[str, Floats]:
        from wellput.language.models.fluency_model import FEATURES

        return {
            name: ratio(statistics[..., place], statistics[..., -2])
            for place, name in enumerate(FEATURES, start=1)
        }

    def explain(self, batch: Batch) -> list[str]:
        """The features that lower an output's score, the strongest first."""
        from wellput.language.models.fluency_model import FEATURES

        features = self._features(batch)
        contributions = _model(self.model).contributions(features)
        return feature_costs(
            batch.texts, FEATURES, features, contributions, min_cost=MIN_FLUENCY_COST
        )

    def signature(self) -> str:
        models = sha256(_english_models().fingerprint.encode()).hexdigest()
        written = str(self.written).lower()
        return (
            f"model:{_model(self.model).fingerprint[:12]}|english:{models[:12]}|written:{written}"
        )

    def _features(self, batch: Batch) -> Floats:
        if "fluency features" not in batch.memo:
            found = _english_models().features(batch.texts, threads=batch.threads)
            batch.memo["fluency features"] = found
        features: Floats = batch.memo["fluency features"].copy()
        if not self.written:
            from wellput.language.models.fluency_model import FEATURES

            for name in WRITING_FEATURES:
                column = features[:, list(FEATURES).index(name)]
                column[~np.isnan(column)] = 1.0
        return features


@lru_cache(maxsize=4)
def _model(folder: str | None) -> FluencyModel:
    from wellput.language.models.fluency_model import FluencyModel
    from wellput.language.shipped import shipped

    file = (
        shipped(FLUENCY_FILE)
        if folder is None
        else model_in(folder, FLUENCY_FILE, option="--no-gleu")
    )
    return FluencyModel.load(file)


@lru_cache(maxsize=1)
def _english_models() -> FluencyModels:
    from wellput.language.models.fluency_model import english_models

    return english_models()


GleuFeature: TypeAlias = Literal["log_probability", "fragments", "nulls", "invalid"]
GleuFeatures: TypeAlias = Literal["own", "paper"]
GLEU_FILE = "gleu-fluency.wpm"
GLEU_PAPER_FILE = "gleu-paper.wpm"
MIN_GLEU_COST = 0.1
"""The loss of score from which on an explanation names a feature."""


@dataclass(frozen=True)
class GleuFluency(BaseMetric):
    """The signed distance from the plane that separates real sentences from random sequences of words.

    Statistics: the sums of the distances and of each feature, and the number of outputs with words.
    """

    family: ClassVar[str] = "gleu-fluency"
    about: ClassVar[str] = "whether parsers see a real sentence"
    paper: ClassVar[str] = "Mutton et al. 2007"
    needs: ClassVar[frozenset[Need]] = NOTHING

    feature: GleuFeature | None = None
    model: str | None = None
    features: GleuFeatures = "own"

    def __post_init__(self) -> None:
        if self.features == "paper" and self.model is None:
            raise InputError(
                "gleu-fluency:features=paper has no shipped model: give model=FOLDER, made by wellput "
                "train fluency --features paper --text TEXT -o FOLDER."
            )

    @property
    def higher_is_better(self) -> bool | None:
        if self.feature == "invalid" and self.features == "paper":
            return None  # the paper: "no strong intuition about the direction"
        return self.feature in (None, "log_probability")

    def statistics(self, batch: Batch) -> Floats:
        model = self._model()
        features = model.normalized(self._features(batch))
        rows = np.column_stack([model.distances(features), features, np.ones(len(features))])
        rows[np.isnan(features[:, 0])] = 0.0
        return rows

    def score(self, statistics: Floats) -> Floats:
        from wellput.language.models.gleu_model import FEATURES

        column = 0 if self.feature is None else 1 + list(FEATURES).index(self.feature)
        return ratio(statistics[..., column], statistics[..., -1])

    def components(self, statistics: Floats) -> dict[str, Floats]:
        from wellput.language.models.gleu_model import FEATURES

        return {
            name: ratio(statistics[..., place], statistics[..., -1])
            for place, name in enumerate(FEATURES, start=1)
        }

    def explain(self, batch: Batch) -> list[str]:
        """The features that lower an output's score, the strongest first, on the scale of the score.
        Their values are as in `FEATURES`, not divided by the largest."""
        model = self._model()
        features = self._features(batch)
        normalized = model.normalized(features)
        if self.feature is None:
            contributions = model.contributions(normalized)
        else:
            alone = np.array([name == self.feature for name in self._about])
            sign = {True: 1, False: -1, None: 0}[self.higher_is_better]
            contributions = np.where(alone, sign * (normalized - model.plane.means), 0.0)
        return feature_costs(
            batch.texts, self._about, features, contributions, min_cost=MIN_GLEU_COST
        )

    def signature(self) -> str:
        version = _link_grammar(1).version.removeprefix("link-grammar-")
        parser = _parser_fingerprint() if self.features == "own" else _paper_fingerprint(self.model)
        fields = [
            f"model:{self._model().fingerprint[:12]}",
            f"parser:{parser[:12]}",
            f"lg:{version}",
            f"feature:{self.feature or 'all'}",
        ]
        return "|".join([*fields, "features:paper"] if self.features == "paper" else fields)

    def _model(self) -> GleuModel:
        return _gleu_model(self.model) if self.features == "own" else _paper_model(self.model)

    @property
    def _about(self) -> Mapping[str, str]:
        from wellput.language.models.gleu_model import FEATURES
        from wellput.language.models.gleu_paper import PAPER_FEATURES

        return FEATURES if self.features == "own" else PAPER_FEATURES

    def _features(self, batch: Batch) -> Floats:
        key = "gleu features" if self.features == "own" else f"gleu paper features {self.model}"
        if key not in batch.memo:
            parsers: GleuParsers | PaperGleuParsers
            if self.features == "own":
                parsers = english_parsers(batch.threads)
            else:
                parsers = paper_parsers(batch.threads, self.model)
            batch.memo[key] = parsers.features(
                batch.texts, threads=batch.threads, on_progress=batch.on_rows
            )
        features: Floats = batch.memo[key]
        return features


@lru_cache(maxsize=4)
def _paper_model(folder: str | None) -> GleuModel:
    from wellput.language.models.gleu_model import GleuModel
    from wellput.language.models.gleu_paper import KIND

    file = model_in(str(folder), GLEU_PAPER_FILE, option="--features paper")
    return GleuModel.load(file, kind=KIND)


@lru_cache(maxsize=4)
def paper_parsers(workers: int, folder: str | None = None) -> PaperGleuParsers:
    """The parsers in a folder, or the shipped ones if it has none, with link grammar."""
    from wellput.language.models.gleu_paper import PaperGleuParsers

    return PaperGleuParsers.load(_link_grammar(workers), None if folder is None else Path(folder))


@lru_cache(maxsize=4)
def _paper_fingerprint(folder: str | None) -> str:
    """One hash for the two parsers and the supertags."""
    from wellput.io.model_files import load_model_file
    from wellput.language.models.head_driven import KIND
    from wellput.language.shipped import HEAD_DRIVEN_FILE, shipped

    own = Path(str(folder)) / HEAD_DRIVEN_FILE
    chart = load_model_file(own if own.is_file() else shipped(HEAD_DRIVEN_FILE), KIND).fingerprint
    parsers = paper_parsers(1, folder)
    parts = (chart, parsers.transitions.signature, *sorted(parsers.supertags))
    return sha256(" ".join(parts).encode()).hexdigest()


@lru_cache(maxsize=4)
def _gleu_model(folder: str | None) -> GleuModel:
    from wellput.language.models.gleu_model import GleuModel
    from wellput.language.shipped import shipped

    file = shipped(GLEU_FILE) if folder is None else model_in(folder, GLEU_FILE, option="--gleu")
    return GleuModel.load(file)


@lru_cache(maxsize=4)
def english_parsers(workers: int, folder: Path | None = None) -> GleuParsers:
    """The shipped parser, or the one in a folder, with link grammar."""
    from wellput.language.models.gleu_model import GleuParsers
    from wellput.language.models.head_driven import HeadDrivenParser
    from wellput.language.shipped import HEAD_DRIVEN_FILE, shipped

    file = shipped(HEAD_DRIVEN_FILE) if folder is None else folder / HEAD_DRIVEN_FILE
    return GleuParsers(HeadDrivenParser.load(file), _link_grammar(workers))


@lru_cache(maxsize=4)
def _link_grammar(workers: int) -> LinkGrammar:
    """The library with its worker processes, which serve all batches and end with this process."""
    from wellput.language.models.link_grammar import LinkGrammar

    grammar = LinkGrammar(workers=workers)
    atexit.register(grammar.close)
    return grammar


@lru_cache(maxsize=1)
def _parser_fingerprint() -> str:
    """One hash for the chart parser, its n-gram model and the parser whose guesses it starts from."""
    from wellput.io.model_files import load_model_file
    from wellput.language.models.head_driven import KIND
    from wellput.language.shipped import HEAD_DRIVEN_FILE, english_ngrams, shipped

    chart = load_model_file(shipped(HEAD_DRIVEN_FILE), KIND).fingerprint
    parts = (chart, english_ngrams().fingerprint, english_parsers(1).parser.guesser.signature)
    return sha256(" ".join(parts).encode()).hexdigest()


MAX_FEATURES_SHOWN = 3


def feature_costs(
    texts: Sequence[str],
    about: Mapping[str, str],
    features: Floats,
    contributions: Floats,
    *,
    min_cost: float,
) -> list[str]:
    """For each output, its text and the features that cost it most, compared with an average sentence;
    empty where no feature costs more than `min_cost`, on the scale of the score."""
    return [
        _explained(text, about, row, pulls, min_cost)
        for text, row, pulls in zip(texts, features, contributions, strict=True)
    ]


def _explained(
    text: str, about: Mapping[str, str], row: Floats, pulls: Floats, min_cost: float
) -> str:
    if np.isnan(row).any():
        return "  (no words)"
    names = list(about)
    order = [int(place) for place in np.argsort(pulls, kind="stable")[:MAX_FEATURES_SHOWN]]
    lines = [
        f"  loses {-pulls[place]:.2f} by {names[place]} {_signed(row[place])}: {about[names[place]]}"
        for place in order
        if pulls[place] < -min_cost
    ]
    return "\n".join([f"  {text}", *lines]) if lines else ""


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def model_in(folder: str, file: str, *, option: str) -> Path:
    """The file in the folder; `option` is the option of `wellput train fluency` that writes it."""
    place = Path(folder)
    if (place / file).is_file():
        return place / file
    if place.is_file():
        raise InputError(f"model={folder} is a file; give the folder that holds {file}.")
    missing = (
        f"There is no {file} in {folder}" if place.is_dir() else f"There is no folder {folder}"
    )
    raise InputError(
        f"{missing}. To make it: wellput train fluency --text TEXT {option} -o {folder}"
    )
