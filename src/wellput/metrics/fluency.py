"""`fluency`: how well an output is written, whatever it says; it needs no references.

`fluency` uses models of English, or of another language for which there is a treebank (`wellput train
fluency --treebank`). `gleu-fluency` (module `gleu_fluency`) uses parsers.

Both are weighted sums of features: `--explain` names the features that lower a score. Their option
`model` is a folder that `wellput train fluency` wrote; without it the shipped model is used. Models and
parsers are loaded when they are first needed.

`fluency:neural=FOLDER` combines fluency with the log probability that a neural language model gives
to the output, divided by a function of its length (PenLP of Lau et al. 2020, which is also
`perplexity:measure=penalized`). Both numbers are standardized with their mean and standard deviation
over 320 sentences: sentences of EWT's development part (an English treebank), half of them with 1, 2,
3 or 5 mistakes from `language.degrade.errors`. For PenLP the language model was SmolLM2 with 135
million weights. No ratings of people were used.
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
    """A score from 0 to 1, averaged over outputs. The score of an output is halfway between the mean
    and the lowest score of its sentences. Statistics: the sum of the scores, the sums of the
    features, the number of outputs of English prose, and the number of outputs that are English prose
    or empty. An empty output counts with a score of 0."""

    family: ClassVar[str] = "fluency"
    about: ClassVar[str] = "how fluent an output is, by models of English"
    needs: ClassVar[frozenset[Need]] = NEEDS_NOTHING
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    has_gaps: ClassVar[bool] = True  # systems are compared only on outputs of English prose

    model: str | None = None
    neural: str | None = None
    written: bool = True
    check: bool = True

    def statistics(self, batch: Batch) -> Floats:
        features = self._features(batch)
        scores = features.scores_of_texts(_model(self.model).scores(features.rows))
        if self.neural is not None:
            checked = english_prose(batch, check=self._is_checked)
            texts = [text.prose for text in checked]
            scores = with_neural_model(scores, texts, self.neural, batch.on_rows)
        is_scored = ~np.isnan(scores)
        is_empty = np.array([not text.strip() for text in batch.texts], np.bool_)
        rows = np.column_stack([scores, features.means(), is_scored, is_scored | is_empty])
        rows[~is_scored, :-1] = 0.0  # the last column stays, for empty outputs
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
        """For each output its worst sentence, the features that lower the score of this sentence (the
        strongest first), and the words that lower these features."""
        features = self._features(batch)
        model = _model(self.model)
        return costs_in_words(
            features,
            model.scores(features.rows),
            _features_of(self.model),
            model.contributions(features.rows),
            min_cost=MIN_FLUENCY_COST,
            offending=_language_models(self.model).offending,
        )

    def signature(self) -> str:
        models = sha256(_language_models(self.model).fingerprint.encode()).hexdigest()
        language = "treebank" if is_of_treebank(self.model) else "english"
        written, check = str(self.written).lower(), str(self._is_checked).lower()
        neural = ""
        if self.neural is not None:
            neural = f"|neural:{causal_model(self.neural, 'auto').fingerprint[:12]}"
        return (
            f"model:{_model(self.model).fingerprint[:12]}|{language}:{models[:12]}|written:{written}"
            f"|check:{check}{neural}"
        )

    @property
    def _is_checked(self) -> bool:
        """Whether outputs are checked for being English; never for a model of another language."""
        return self.check and not is_of_treebank(self.model)

    def _features(self, batch: Batch) -> SentenceFeatures:
        """The features of the sentences of each output. Without the option `written`, the features of
        spelling and punctuation are set to 1."""
        # Models of English share the features of a batch: they differ only in the weights.
        key = ("fluency features", is_of_treebank(self.model) and self.model, self._is_checked)
        features = batch.shared(
            key,
            lambda: _language_models(self.model).sentence_features(
                [text.prose for text in english_prose(batch, check=self._is_checked)],
                threads=batch.threads,
            ),
        )
        if self.written:
            return features
        names = list(_features_of(self.model))
        rows = features.rows.copy()
        rows[:, [names.index(name) for name in WRITING_FEATURES]] = 1.0
        return replace(features, rows=rows)


def is_of_treebank(folder: str | None) -> bool:
    """Whether a folder has models that `wellput train fluency --treebank` made."""
    if folder is None:
        return False
    from wellput.language.models.treebank_fluency import TREELETS_FILE

    return (Path(folder) / TREELETS_FILE).is_file()


def _features_of(folder: str | None) -> Mapping[str, str]:
    """The features of the model in a folder, each with its description."""
    from wellput.language.models.fluency_model import FLUENCY_FEATURES
    from wellput.language.models.treebank_fluency import TREEBANK_FEATURES

    return TREEBANK_FEATURES if is_of_treebank(folder) else FLUENCY_FEATURES


def _language_models(folder: str | None) -> FluencyModels | TreebankFluencyModels:
    """The models from which the features are computed."""
    if folder is not None and is_of_treebank(folder):
        return _treebank_models(folder)
    return _english_models()


@lru_cache(maxsize=2)
def _treebank_models(folder: str) -> TreebankFluencyModels:
    from wellput.language.models.treebank_fluency import TreebankFluencyModels

    return TreebankFluencyModels.load(Path(folder))


@lru_cache(maxsize=4)
def _model(folder: str | None) -> FluencyModel:
    """The fluency model of a folder, or the shipped one (None)."""
    from wellput.language.models.fluency_model import FluencyModel
    from wellput.language.shipped import shipped

    file = (
        shipped(FLUENCY_FILE)
        if folder is None
        else model_in(folder, FLUENCY_FILE, train_option="--no-gleu")
    )
    return FluencyModel.load(file, tuple(_features_of(folder)))


@lru_cache(maxsize=1)
def _english_models() -> FluencyModels:
    from wellput.language.models.fluency_model import english_models

    return english_models()


MAX_FEATURES_SHOWN = 3
MAX_WORDS_SHOWN = 5


def costs_in_words(
    features: SentenceFeatures,
    scores: Floats,
    descriptions: Mapping[str, str],
    contributions: Floats,
    *,
    min_cost: float,
    offending: Callable[[str], Mapping[str, Sequence[str]]] | None = None,
) -> list[str]:
    """For each output a text: its worst sentence, and the features that lower the score of this
    sentence most, compared with an average sentence. The text is empty if no feature lowers the score
    by more than `min_cost`.

    `scores` has the score of each sentence, `contributions` what each feature adds to it (sentences
    by features), and `descriptions` a description of each feature. `offending` gives for a sentence the
    words that are to blame, by feature."""
    names = list(descriptions)
    texts: list[str] = []
    for rows, worst in zip(features.places, features.worst(scores), strict=True):
        if worst is None:
            texts.append("  (no words)")
            continue
        row = rows[worst]
        effects, sentence = contributions[row], features.sentences[row]
        order = [int(place) for place in np.argsort(effects, kind="stable")[:MAX_FEATURES_SHOWN]]
        costly = [place for place in order if effects[place] < -min_cost]
        words = offending(sentence) if offending is not None and costly else {}
        where = f"worst sentence, {worst + 1} of {len(rows)}: " if len(rows) > 1 else ""
        lines = [
            f"  loses {-effects[place]:.2f} by {names[place]} {_signed(features.rows[row, place])}"
            f"{_shown_words(words.get(names[place], ()))}: {descriptions[names[place]]}"
            for place in costly
        ]
        texts.append("\n".join([f"  {where}{sentence}", *lines]) if lines else "")
    return texts


def _shown_words(words: Sequence[str]) -> str:
    return f" ({' '.join(words[:MAX_WORDS_SHOWN])})" if words else ""


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def model_in(folder: str, file: str, *, train_option: str) -> Path:
    """The path of a model's file in the folder; raises InputError if it is missing. The message
    shows the command that makes this file: `wellput train fluency` with `train_option`."""
    path = Path(folder)
    if (path / file).is_file():
        return path / file
    if path.is_file():
        raise InputError(f"model={folder} is a file; give the folder that holds {file}.")
    missing = f"There is no {file} in {folder}" if path.is_dir() else f"There is no folder {folder}"
    raise InputError(
        f"{missing}. To make it: wellput train fluency --text TEXT {train_option} -o {folder}"
    )


NEURAL_SHARE = 0.6
"""The weight of the language model's number; fluency has the rest."""
LENGTH_EXPONENT = 0.8
"""The exponent of the length in PenLP (see `penlp_of_texts`)."""
PENLP_MEAN, PENLP_SPREAD = -32.8, 8.56
FLUENCY_MEAN, FLUENCY_SPREAD = 0.618, 0.141
"""Means and standard deviations over the 320 sentences that the module's docstring describes."""
MIDDLE_SUM, STEEPNESS = -0.62, 0.672
"""The logistic curve that turns the weighted sum into a score: 0.7 for the median of the sentences
without mistakes, 0.5 for a sum that 98% of these sentences exceed."""


def with_neural_model(
    fluency: Floats,
    texts: Sequence[str],
    path: str,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Floats:
    """Scores from 0 to 1 that combine fluency scores with the log probabilities of a neural language
    model (the folder `path`); NaN where the fluency score is NaN."""
    return joined_scores(fluency, penlp_of_texts(texts, path, on_progress))


def penlp_of_texts(
    texts: Sequence[str], path: str, on_progress: Callable[[int], None] = lambda _: None
) -> Floats:
    """PenLP of each text: its log probability under the language model, divided by a function of its
    length; NaN for a text without words."""
    sums, pieces = causal_model(path, "auto").log_probs(texts, on_progress=on_progress)
    return ratio(np.where(pieces > 0, sums, np.nan), ((5 + pieces) / 6) ** LENGTH_EXPONENT)


def joined_scores(fluency: Floats, penlp: Floats) -> Floats:
    """The scores from 0 to 1 that combine fluency scores with values of PenLP.

    >>> round(float(joined_scores(np.array([0.618]), np.array([-32.8]))[0]), 3)  # both at their means
    0.603
    """
    standardized_penlp = (penlp - PENLP_MEAN) / PENLP_SPREAD
    standardized_fluency = (fluency - FLUENCY_MEAN) / FLUENCY_SPREAD
    sums = NEURAL_SHARE * standardized_penlp + (1 - NEURAL_SHARE) * standardized_fluency
    return np.asarray(1 / (1 + np.exp(-np.clip(STEEPNESS * (sums - MIDDLE_SUM), -500, 500))))
