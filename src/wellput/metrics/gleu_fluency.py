"""`gleu-fluency`: how fluent an output is, judged by parsers: a sentence that parsers find
improbable, or cannot parse as a whole, is probably not fluent. It is GLEU, the GrammaticaLity
Evaluation Utility of Mutton et al. (2007). Google's GLEU (Wu et al. 2016) and the GLEU of error
correction (Napoles et al. 2015) are other metrics, which compare n-grams with references.
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
from wellput.core.evalset import Batch
from wellput.core.metric import Floats, Need
from wellput.metrics.base import NEEDS_NOTHING, BaseMetric, english_prose, ratio, reasons_of
from wellput.metrics.fluency import costs_in_words, model_in

if TYPE_CHECKING:
    from wellput.language.models.english_text import SentenceFeatures
    from wellput.language.models.gleu_model import GleuModel, GleuParsers, PaperGleuParsers
    from wellput.language.models.link_grammar import LinkGrammar


GleuFeature: TypeAlias = Literal["log_probability", "fragments", "nulls", "invalid"]
"""One feature; `gleu_model.GLEU_FEATURES` and `PAPER_FEATURES` describe them."""
GleuFeatures: TypeAlias = Literal["own", "paper"]
"""Which definition of the features: wellput's own, or that of the paper."""
GLEU_FILE = "gleu-fluency.wpm"
GLEU_PAPER_FILE = "gleu-paper.wpm"
MIN_GLEU_COST = 0.1
"""An explanation names features that lower the score by at least this much."""


@dataclass(frozen=True)
class GleuFluency(BaseMetric):
    """The signed distance from the plane that separates real sentences from random sequences of
    words, in the space of the parsers' features; it is positive on the side of real sentences.

    Statistics: the sums of the distances and of each feature, and the number of outputs of English
    prose.
    """

    family: ClassVar[str] = "gleu-fluency"
    about: ClassVar[str] = "whether parsers see a real sentence"
    paper: ClassVar[str] = "Mutton et al. 2007"
    needs: ClassVar[frozenset[Need]] = NEEDS_NOTHING
    has_gaps: ClassVar[bool] = True  # systems are compared only on outputs of English prose

    feature: GleuFeature | None = None
    model: str | None = None
    features: GleuFeatures = "own"
    check: bool = True

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
        features = self._features(batch)
        distances = features.scores_of_texts(model.distances(model.normalized(features.rows)))
        rows = np.column_stack(
            [distances, model.normalized(features.means()), np.ones(len(distances))]
        )
        rows[np.isnan(distances)] = 0.0
        return rows

    def score(self, statistics: Floats) -> Floats:
        from wellput.language.models.gleu_model import GLEU_FEATURES

        column = 0 if self.feature is None else 1 + list(GLEU_FEATURES).index(self.feature)
        return ratio(statistics[..., column], statistics[..., -1])

    def components(self, statistics: Floats) -> dict[str, Floats]:
        from wellput.language.models.gleu_model import GLEU_FEATURES

        return {
            name: ratio(statistics[..., place], statistics[..., -1])
            for place, name in enumerate(GLEU_FEATURES, start=1)
        }

    def undefined_reasons(self, batch: Batch) -> Sequence[str]:
        return reasons_of(english_prose(batch, check=self.check))

    def explain(self, batch: Batch) -> list[str]:
        """For each output its worst sentence and the features that lower the score of this sentence,
        the strongest first, and by how much. The values of features have the units that
        their descriptions name.
        """
        model = self._model()
        features = self._features(batch)
        normalized = model.normalized(features.rows)
        if self.feature is None:
            scores, contributions = model.distances(normalized), model.contributions(normalized)
        else:
            is_scored_feature = np.array(
                [name == self.feature for name in self._feature_descriptions]
            )
            sign = 1 if self.higher_is_better else -1
            scores = sign * normalized[:, list(self._feature_descriptions).index(self.feature)]
            contributions = np.where(
                is_scored_feature, sign * (normalized - model.plane.means), 0.0
            )
        return costs_in_words(
            features, scores, self._feature_descriptions, contributions, min_cost=MIN_GLEU_COST
        )

    def signature(self) -> str:
        version = _link_grammar(1).version.removeprefix("link-grammar-")
        parser = _parser_fingerprint() if self.features == "own" else _paper_fingerprint(self.model)
        fields = [
            f"model:{self._model().fingerprint[:12]}",
            f"parser:{parser[:12]}",
            f"lg:{version}",
            f"feature:{self.feature or 'all'}",
            f"check:{str(self.check).lower()}",
        ]
        return "|".join([*fields, "features:paper"] if self.features == "paper" else fields)

    def _model(self) -> GleuModel:
        return _gleu_model(self.model) if self.features == "own" else _paper_model(self.model)

    @property
    def _feature_descriptions(self) -> Mapping[str, str]:
        """The features, each with its description."""
        from wellput.language.models.gleu_model import GLEU_FEATURES, PAPER_FEATURES

        return GLEU_FEATURES if self.features == "own" else PAPER_FEATURES

    def _features(self, batch: Batch) -> SentenceFeatures:
        return batch.shared(
            ("gleu features", self.features, self.model, self.check),
            lambda: self._parsed(
                [text.prose for text in english_prose(batch, check=self.check)], batch
            ),
        )

    def _parsed(self, texts: Sequence[str], batch: Batch) -> SentenceFeatures:
        """The features of each text, by the parsers that the option `features` names."""
        if self.features == "own":
            return english_parsers(batch.threads).sentence_features(
                texts, threads=batch.threads, on_progress=batch.on_rows
            )
        from wellput.language.models.english_text import SentenceFeatures

        # As in the paper, the whole text counts as one sentence.
        rows = paper_parsers(batch.threads, self.model).features(
            texts, threads=batch.threads, on_progress=batch.on_rows
        )
        return SentenceFeatures(
            texts, rows, [[place] if text.strip() else [] for place, text in enumerate(texts)]
        )


@lru_cache(maxsize=4)
def _paper_model(folder: str | None) -> GleuModel:
    from wellput.language.models.gleu_model import PAPER_GLEU_KIND, GleuModel

    file = model_in(str(folder), GLEU_PAPER_FILE, train_option="--features paper")
    return GleuModel.load(file, kind=PAPER_GLEU_KIND)


@lru_cache(maxsize=4)
def paper_parsers(workers: int, folder: str | None = None) -> PaperGleuParsers:
    """The parsers in a folder, or the shipped parsers if the folder has none; with the parser link
    grammar."""
    from wellput.language.models.gleu_model import PaperGleuParsers

    return PaperGleuParsers.load(_link_grammar(workers), None if folder is None else Path(folder))


@lru_cache(maxsize=4)
def _paper_fingerprint(folder: str | None) -> str:
    """One hash for the two parsers and the supertags."""
    from wellput.io.model_files import load_model_file
    from wellput.language.models.head_driven import HeadDrivenParser
    from wellput.language.shipped import HEAD_DRIVEN_FILE, shipped

    path = Path(str(folder)) / HEAD_DRIVEN_FILE
    chart = load_model_file(
        path if path.is_file() else shipped(HEAD_DRIVEN_FILE), HeadDrivenParser.kind
    ).fingerprint
    parsers = paper_parsers(1, folder)
    parts = (chart, parsers.transitions.signature, *sorted(parsers.supertags))
    return sha256(" ".join(parts).encode()).hexdigest()


@lru_cache(maxsize=4)
def _gleu_model(folder: str | None) -> GleuModel:
    from wellput.language.models.gleu_model import GleuModel
    from wellput.language.shipped import shipped

    file = (
        shipped(GLEU_FILE) if folder is None else model_in(folder, GLEU_FILE, train_option="--gleu")
    )
    return GleuModel.load(file)


@lru_cache(maxsize=4)
def english_parsers(workers: int, folder: Path | None = None) -> GleuParsers:
    """The shipped parser, or the parser in a folder; with the parser link grammar."""
    from wellput.language.models.gleu_model import GleuParsers
    from wellput.language.models.head_driven import HeadDrivenParser
    from wellput.language.shipped import HEAD_DRIVEN_FILE, shipped

    file = shipped(HEAD_DRIVEN_FILE) if folder is None else folder / HEAD_DRIVEN_FILE
    return GleuParsers(HeadDrivenParser.load(file), _link_grammar(workers))


@lru_cache(maxsize=4)
def _link_grammar(workers: int) -> LinkGrammar:
    """The library of link grammar with its worker processes, which parse all batches and end with this
    process."""
    from wellput.language.models.link_grammar import LinkGrammar

    grammar = LinkGrammar(workers=workers)
    atexit.register(grammar.close)
    return grammar


@lru_cache(maxsize=1)
def _parser_fingerprint() -> str:
    """One hash for the chart parser, its n-gram model and the parser whose guesses it starts from."""
    from wellput.io.model_files import load_model_file
    from wellput.language.models.head_driven import HeadDrivenParser
    from wellput.language.shipped import HEAD_DRIVEN_FILE, english_ngrams, shipped

    chart = load_model_file(shipped(HEAD_DRIVEN_FILE), HeadDrivenParser.kind).fingerprint
    parts = (chart, english_ngrams().fingerprint, english_parsers(1).parser.guesser.signature)
    return sha256(" ".join(parts).encode()).hexdigest()
