"""Fluency without references: how well an output is written, not what it says.

`fluency` uses models of English, or of another language with a treebank (`wellput train fluency
--treebank`). `gleu-fluency` uses parsers: it is GLEU, the GrammaticaLity Evaluation
Utility of Mutton et al. (2007). It is neither Google's GLEU (Wu et al. 2016) nor the GLEU of error
correction (Napoles et al. 2015), which compare n-grams with references.

Both are weighted sums of features: `--explain` names the features that lower a score. Their option
`model` is a folder that `wellput train fluency` wrote; without it the shipped model is used. Models and
parsers are loaded when first needed.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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
from wellput.metrics.english_prose import english_prose, reasons_of

if TYPE_CHECKING:
    from wellput.language.models.english_text import SentenceFeatures
    from wellput.language.models.fluency_model import FluencyModel, FluencyModels
    from wellput.language.models.gleu_model import GleuModel, GleuParsers
    from wellput.language.models.gleu_paper import PaperGleuParsers
    from wellput.language.models.link_grammar import LinkGrammar
    from wellput.language.models.treebank_fluency import TreebankFluencyModels


FLUENCY_FILE = "fluency.wpm"
WRITING_FEATURES = ("capital", "stop")
"""Features of spelling and punctuation, which `written=false` ignores."""
MIN_FLUENCY_COST = 0.02
"""An explanation names features that lower the score by at least this much."""


@dataclass(frozen=True)
class Fluency(BaseMetric):
    """The mean over outputs of a score in [0, 1]. Statistics: the sum of the scores, the sums of the
    features, the number of outputs of English prose, and the number of these and of empty outputs,
    which count with a score of 0."""

    family: ClassVar[str] = "fluency"
    about: ClassVar[str] = "how fluent an output is, by models of English"
    needs: ClassVar[frozenset[Need]] = NOTHING
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    has_gaps: ClassVar[bool] = True  # systems are compared on outputs of English prose alone

    model: str | None = None
    neural: str | None = None
    written: bool = True
    check: bool = True

    def statistics(self, batch: Batch) -> Floats:
        found = self._features(batch)
        scores = found.joined(_model(self.model).scores(found.rows))
        if self.neural is not None:
            from wellput.metrics.neural_fluency import with_network

            read = english_prose(batch, check=self._is_checked)
            texts = [text.prose for text in read]
            scores = with_network(scores, texts, self.neural, batch.on_rows)
        is_scored = ~np.isnan(scores)
        is_empty = np.array([not text.strip() for text in batch.texts], np.bool_)
        rows = np.column_stack([scores, found.means(), is_scored, is_scored | is_empty])
        rows[~is_scored, :-1] = 0.0
        return rows

    def score(self, statistics: Floats) -> Floats:
        return ratio(statistics[..., 0], statistics[..., -1])

    def components(self, statistics: Floats) -> dict[str, Floats]:
        return {
            name: ratio(statistics[..., place], statistics[..., -2])
            for place, name in enumerate(_features_of(self.model), start=1)
        }

    def undefined_reasons(self, batch: Batch) -> Sequence[str]:
        return reasons_of(english_prose(batch, check=self._is_checked))

    def explain(self, batch: Batch) -> list[str]:
        """For each output its worst sentence, the features that lower the score of that sentence, the
        strongest first, and the words that lower these features."""
        found = self._features(batch)
        model = _model(self.model)
        return feature_costs(
            found,
            model.scores(found.rows),
            _features_of(self.model),
            model.contributions(found.rows),
            min_cost=MIN_FLUENCY_COST,
            offending=_language_models(self.model).offending,
        )

    def signature(self) -> str:
        models = sha256(_language_models(self.model).fingerprint.encode()).hexdigest()
        language = "treebank" if is_of_treebank(self.model) else "english"
        written, check = str(self.written).lower(), str(self._is_checked).lower()
        neural = ""
        if self.neural is not None:
            from wellput.metrics.perplexity import causal_model

            neural = f"|neural:{causal_model(self.neural, 'auto').fingerprint[:12]}"
        return (
            f"model:{_model(self.model).fingerprint[:12]}|{language}:{models[:12]}|written:{written}"
            f"|check:{check}{neural}"
        )

    @property
    def _is_checked(self) -> bool:
        """A model of another language takes any text."""
        return self.check and not is_of_treebank(self.model)

    def _features(self, batch: Batch) -> SentenceFeatures:
        key = ("fluency features", is_of_treebank(self.model) and self.model, self._is_checked)
        found = batch.shared(
            key,
            lambda: _language_models(self.model).sentence_features(
                [text.prose for text in english_prose(batch, check=self._is_checked)],
                threads=batch.threads,
            ),
        )
        if self.written:
            return found
        names = list(_features_of(self.model))
        rows = found.rows.copy()
        rows[:, [names.index(name) for name in WRITING_FEATURES]] = 1.0
        return replace(found, rows=rows)


def is_of_treebank(folder: str | None) -> bool:
    """Whether a folder has models that `wellput train fluency --treebank` made."""
    if folder is None:
        return False
    from wellput.language.models.treebank_fluency import TREELETS_FILE

    return (Path(folder) / TREELETS_FILE).is_file()


def _features_of(folder: str | None) -> Mapping[str, str]:
    from wellput.language.models.fluency_model import FLUENCY_FEATURES
    from wellput.language.models.treebank_fluency import TREEBANK_FEATURES

    return TREEBANK_FEATURES if is_of_treebank(folder) else FLUENCY_FEATURES


def _language_models(folder: str | None) -> FluencyModels | TreebankFluencyModels:
    if folder is not None and is_of_treebank(folder):
        return _treebank_models(folder)
    return _english_models()


@lru_cache(maxsize=2)
def _treebank_models(folder: str) -> TreebankFluencyModels:
    from wellput.language.models.treebank_fluency import TreebankFluencyModels

    return TreebankFluencyModels.load(Path(folder))


@lru_cache(maxsize=4)
def _model(folder: str | None) -> FluencyModel:
    from wellput.language.models.fluency_model import FluencyModel
    from wellput.language.shipped import shipped

    file = (
        shipped(FLUENCY_FILE)
        if folder is None
        else model_in(folder, FLUENCY_FILE, option="--no-gleu")
    )
    return FluencyModel.load(file, tuple(_features_of(folder)))


@lru_cache(maxsize=1)
def _english_models() -> FluencyModels:
    from wellput.language.models.fluency_model import english_models

    return english_models()


GleuFeature: TypeAlias = Literal["log_probability", "fragments", "nulls", "invalid"]
GleuFeatures: TypeAlias = Literal["own", "paper"]
GLEU_FILE = "gleu-fluency.wpm"
GLEU_PAPER_FILE = "gleu-paper.wpm"
MIN_GLEU_COST = 0.1
"""An explanation names features that lower the score by at least this much."""


@dataclass(frozen=True)
class GleuFluency(BaseMetric):
    """The signed distance from the plane that separates real sentences from random sequences of words.

    Statistics: the sums of the distances and of each feature, and the number of outputs of English
    prose.
    """

    family: ClassVar[str] = "gleu-fluency"
    about: ClassVar[str] = "whether parsers see a real sentence"
    paper: ClassVar[str] = "Mutton et al. 2007"
    needs: ClassVar[frozenset[Need]] = NOTHING
    has_gaps: ClassVar[bool] = True  # systems are compared on outputs of English prose alone

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
        found = self._features(batch)
        distances = found.joined(model.distances(model.normalized(found.rows)))
        rows = np.column_stack(
            [distances, model.normalized(found.means()), np.ones(len(distances))]
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
        """For each output its worst sentence and the features that lower its score, the strongest
        first, on the scale of the score. Values are as in `GLEU_FEATURES`, not divided by the largest.
        """
        model = self._model()
        found = self._features(batch)
        normalized = model.normalized(found.rows)
        if self.feature is None:
            scores, contributions = model.distances(normalized), model.contributions(normalized)
        else:
            alone = np.array([name == self.feature for name in self._about])
            sign = 1 if self.higher_is_better else -1
            scores = sign * normalized[:, list(self._about).index(self.feature)]
            contributions = np.where(alone, sign * (normalized - model.plane.means), 0.0)
        return feature_costs(found, scores, self._about, contributions, min_cost=MIN_GLEU_COST)

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
    def _about(self) -> Mapping[str, str]:
        from wellput.language.models.gleu_model import GLEU_FEATURES
        from wellput.language.models.gleu_paper import PAPER_FEATURES

        return GLEU_FEATURES if self.features == "own" else PAPER_FEATURES

    def _features(self, batch: Batch) -> SentenceFeatures:
        return batch.shared(
            ("gleu features", self.features, self.model, self.check),
            lambda: self._parsed(
                [text.prose for text in english_prose(batch, check=self.check)], batch
            ),
        )

    def _parsed(self, texts: Sequence[str], batch: Batch) -> SentenceFeatures:
        if self.features == "own":
            return english_parsers(batch.threads).sentence_features(
                texts, threads=batch.threads, on_progress=batch.on_rows
            )
        from wellput.language.models.english_text import SentenceFeatures

        # The paper takes a text as one sentence.
        rows = paper_parsers(batch.threads, self.model).features(
            texts, threads=batch.threads, on_progress=batch.on_rows
        )
        return SentenceFeatures(
            texts, rows, [[place] if text.strip() else [] for place, text in enumerate(texts)]
        )


@lru_cache(maxsize=4)
def _paper_model(folder: str | None) -> GleuModel:
    from wellput.language.models.gleu_model import GleuModel
    from wellput.language.models.gleu_paper import PAPER_GLEU_KIND

    file = model_in(str(folder), GLEU_PAPER_FILE, option="--features paper")
    return GleuModel.load(file, kind=PAPER_GLEU_KIND)


@lru_cache(maxsize=4)
def paper_parsers(workers: int, folder: str | None = None) -> PaperGleuParsers:
    """The parsers in a folder, or the shipped ones if it has none, with link grammar."""
    from wellput.language.models.gleu_paper import PaperGleuParsers

    return PaperGleuParsers.load(_link_grammar(workers), None if folder is None else Path(folder))


@lru_cache(maxsize=4)
def _paper_fingerprint(folder: str | None) -> str:
    """One hash for the two parsers and the supertags."""
    from wellput.io.model_files import load_model_file
    from wellput.language.models.head_driven import HeadDrivenParser
    from wellput.language.shipped import HEAD_DRIVEN_FILE, shipped

    own = Path(str(folder)) / HEAD_DRIVEN_FILE
    chart = load_model_file(
        own if own.is_file() else shipped(HEAD_DRIVEN_FILE), HeadDrivenParser.kind
    ).fingerprint
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
    from wellput.language.models.head_driven import HeadDrivenParser
    from wellput.language.shipped import HEAD_DRIVEN_FILE, english_ngrams, shipped

    chart = load_model_file(shipped(HEAD_DRIVEN_FILE), HeadDrivenParser.kind).fingerprint
    parts = (chart, english_ngrams().fingerprint, english_parsers(1).parser.guesser.signature)
    return sha256(" ".join(parts).encode()).hexdigest()


MAX_FEATURES_SHOWN = 3
MAX_WORDS_SHOWN = 5


def feature_costs(
    found: SentenceFeatures,
    scores: Floats,
    about: Mapping[str, str],
    contributions: Floats,
    *,
    min_cost: float,
    offending: Callable[[str], Mapping[str, Sequence[str]]] | None = None,
) -> list[str]:
    """For each output, its worst sentence and the features that cost it most, compared with an average
    sentence; empty where no feature costs more than `min_cost`, on the scale of the score.

    `scores` and `contributions` are those of the sentences; `offending` names words for features."""
    names = list(about)
    texts: list[str] = []
    for own, worst in zip(found.places, found.worst(scores), strict=True):
        if worst is None:
            texts.append("  (no words)")
            continue
        row = own[worst]
        pulls, sentence = contributions[row], found.sentences[row]
        order = [int(place) for place in np.argsort(pulls, kind="stable")[:MAX_FEATURES_SHOWN]]
        costly = [place for place in order if pulls[place] < -min_cost]
        words = offending(sentence) if offending is not None and costly else {}
        where = f"worst sentence, {worst + 1} of {len(own)}: " if len(own) > 1 else ""
        lines = [
            f"  loses {-pulls[place]:.2f} by {names[place]} {_signed(found.rows[row, place])}"
            f"{_shown_words(words.get(names[place], ()))}: {about[names[place]]}"
            for place in costly
        ]
        texts.append("\n".join([f"  {where}{sentence}", *lines]) if lines else "")
    return texts


def _shown_words(words: Sequence[str]) -> str:
    return f" ({' '.join(words[:MAX_WORDS_SHOWN])})" if words else ""


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
