"""Fluency without references: how well an output is written, not what it says.

`fluency` uses models of English, or of another language with a treebank (`wellput train fluency
--treebank`). `gleu-fluency` (`gleu_fluency.py`) uses parsers.

Both are weighted sums of features: `--explain` names the features that lower a score. Their option
`model` is a folder that `wellput train fluency` wrote; without it the shipped model is used. Models and
parsers are loaded when first needed.

`fluency:neural=FOLDER` is fluency together with a neural language model's length-penalized log
probability (PenLP of Lau et al. 2020, as `perplexity:measure=penalized` has it). Each of the two is put
on one scale by its mean and spread over 320 sentences that we made: sentences of EWT's
development part, half of them with 1, 2, 3 or 5 mistakes of `language.degrade.errors`, under SmolLM2
with 135 million weights. No ratings of people were used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from wellput.core.errors import InputError
from wellput.core.estimates import Bounds
from wellput.core.evalset import Batch
from wellput.core.metric import Floats, Need
from wellput.metrics.base import NEEDS_NOTHING, BaseMetric, english_prose, ratio, reasons_of
from wellput.metrics.perplexity import causal_model

if TYPE_CHECKING:
    from wellput.language.models.english_text import SentenceFeatures
    from wellput.language.models.fluency_model import FluencyModel, FluencyModels
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
    needs: ClassVar[frozenset[Need]] = NEEDS_NOTHING
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


NEURAL_SHARE = 0.6
LENGTH_EXPONENT = 0.8
PENLP_MEAN, PENLP_SPREAD = -32.8, 8.56
FLUENCY_MEAN, FLUENCY_SPREAD = 0.618, 0.141
MIDDLE_SUM, STEEPNESS = -0.62, 0.672
"""The curve gives 0.7 to the median real sentence of these, and 0.5 to one that is worse than 98 in
100."""


def with_network(
    fluency: Floats,
    texts: Sequence[str],
    path: str,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Floats:
    """Fluency scores and the network's, as one score from 0 to 1; NaN where there is no fluency."""
    return joined_scores(fluency, penalized(texts, path, on_progress))


def penalized(
    texts: Sequence[str], path: str, on_progress: Callable[[int], None] = lambda _: None
) -> Floats:
    """PenLP of each text; NaN for one without words."""
    sums, pieces = causal_model(path, "auto").log_probs(texts, on_progress=on_progress)
    return ratio(np.where(pieces > 0, sums, np.nan), ((5 + pieces) / 6) ** LENGTH_EXPONENT)


def joined_scores(fluency: Floats, penlp: Floats) -> Floats:
    """
    >>> round(float(joined_scores(np.array([0.618]), np.array([-32.8]))[0]), 3)  # both at their means
    0.603
    """
    network = (penlp - PENLP_MEAN) / PENLP_SPREAD
    own = (fluency - FLUENCY_MEAN) / FLUENCY_SPREAD
    sums = NEURAL_SHARE * network + (1 - NEURAL_SHARE) * own
    return np.asarray(1 / (1 + np.exp(-np.clip(STEEPNESS * (sums - MIDDLE_SUM), -500, 500))))
