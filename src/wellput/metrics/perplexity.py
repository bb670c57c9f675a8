"""Perplexity under a language model: how surprising each word of an output is after the words
before it.

The model is an n-gram model (a file) or a neural model (a folder or GGUF file; needs
`wellput[neural]`). Three measures of acceptability by Lau et al. (2020) use the same probabilities:
`mean`, the mean log probability of a word; `penalized` (PenLP), the log probability of the text
divided by a function of its length; and `slor`, the log probability minus that of the words by their
frequencies alone, per word.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

import numpy as np

from wellput.core.errors import InputError
from wellput.core.evalset import Batch
from wellput.core.metric import Floats, Need
from wellput.metrics.base import NEEDS_NOTHING, BaseMetric, english_prose, lowered, ratio
from wellput.text import tokenizers
from wellput.text.tokenizers import TokenizerName

if TYPE_CHECKING:
    from wellput.language.models.causal_model import CausalModel
    from wellput.language.models.language_check import ReadText
    from wellput.language.models.ngrams import NgramModel

Measure: TypeAlias = Literal["perplexity", "mean", "penalized", "slor"]
Device: TypeAlias = Literal["auto", "cpu", "cuda", "mps"]


@dataclass(frozen=True)
class Perplexity(BaseMetric):
    """Perplexity, or one of the measures of acceptability. Statistics: the log10 probability and the
    number of all words, the same of the unknown words, the measure (in natural logarithms), and 1 if
    it is defined.

    Perplexity is 10 to the power of the mean negative log10 probability of a word, over all outputs
    together; the other measures are means over outputs. Texts for an n-gram model must be tokenized
    and written in the same case as its training text. In an n-gram model the end of a text (`</s>`)
    counts as a word, so an empty output has a perplexity; in a neural model it has none. An n-gram
    model of English gives no score to an output that is not English prose.
    """

    family: ClassVar[str] = "perplexity"
    about: ClassVar[str] = "how surprising words are to a language model"
    paper: ClassVar[str] = "Chen & Goodman 1998; Lau et al. 2020"
    needs: ClassVar[frozenset[Need]] = NEEDS_NOTHING
    has_gaps: ClassVar[bool] = True

    model: str | None = None
    measure: Measure = "perplexity"
    exponent: float = 0.8
    device: Device = "auto"
    tokenize: TokenizerName = "none"
    lowercase: bool = False
    check: bool = True

    @property
    def higher_is_better(self) -> bool | None:
        return self.measure != "perplexity"

    def statistics(self, batch: Batch) -> Floats:
        checked = self._read(batch)
        texts = [text.prose for text in checked]
        if self.lowercase:
            texts = lowered(texts)
        model = self._model()
        if _is_neural(model):
            neural = causal_model(model, self.device)
            sums, words = neural.log_probs(texts, on_progress=batch.on_rows)
            zeros = np.zeros(len(texts))  # no word counts as unknown
            rows = np.column_stack([sums / math.log(10), words, zeros, zeros])
        else:
            # Tokenizers written in Python are applied here, those in C++ by the kernel.
            prepared, tokenizer = tokenizers.with_native_tokenizer(texts, self.tokenize)
            rows = _ngram_model(model).statistics(
                prepared, tokenize=tokenizer, threads=batch.threads
            )
        values = self._values(texts, rows)
        is_defined = ~np.isnan(values) & np.array(
            [text.reason is None for text in checked], np.bool_
        )
        table = np.column_stack([rows, np.where(is_defined, values, 0.0), is_defined])
        table[~is_defined] = 0.0
        return table

    def score(self, statistics: Floats) -> Floats:
        from wellput.language.models.ngrams import perplexity

        if self.measure == "perplexity":
            return perplexity(statistics[..., :4])
        return ratio(statistics[..., 4], statistics[..., 5])

    def components(self, statistics: Floats) -> dict[str, Floats]:
        from wellput.language.models.ngrams import perplexity

        known = perplexity(statistics[..., :4], include_unknown=False)
        return {"known_words": known, "unknown": statistics[..., 3], "words": statistics[..., 1]}

    def undefined_reasons(self, batch: Batch) -> Sequence[str]:
        return [
            text.reason or ("" if text.prose.strip() else "no words") for text in self._read(batch)
        ]

    def _read(self, batch: Batch) -> Sequence[ReadText]:
        """The texts that are scored: for an n-gram model of English, the English prose of each output;
        otherwise the outputs as they are."""
        from wellput.language.models.language_check import ReadText

        model = self._model()
        if self.check and not _is_neural(model) and _is_of_english(model):
            return english_prose(batch, check=True)
        return [ReadText(text) for text in batch.texts]

    def signature(self) -> str:
        hashed = "unset"
        if self.model is not None:
            model = self._model()
            loaded = causal_model(model, self.device) if _is_neural(model) else _ngram_model(model)
            hashed = loaded.fingerprint[:12]
        measure = "" if self.measure == "perplexity" else f"|measure:{self.measure}"
        exponent = f"|exponent:{self.exponent:g}" if self.measure == "penalized" else ""
        case = "lc" if self.lowercase else "mixed"
        tokenizer = tokenizers.tokenizer_signature(self.tokenize)
        check = "" if self.check else "|check:false"
        return f"model:{hashed}{measure}{exponent}|case:{case}|tok:{tokenizer}{check}"

    def _values(self, texts: Sequence[str], rows: Floats) -> Floats:
        """The measure of each output (for perplexity, the mean log probability); NaN for an output
        without words."""
        sums, words = rows[:, 0] * math.log(10), rows[:, 1]
        if self.measure == "penalized":
            # The length penalty of Wu et al. (2016), equation 14, in the form of Lau et al. (2020),
            # table 2.
            return ratio(np.where(words, sums, np.nan), ((5 + words) / 6) ** self.exponent)
        if self.measure == "slor":
            frequency_sums, counts = self._frequency_log_probs(texts)
            return ratio(sums - frequency_sums, counts)
        return ratio(sums, words)

    def _frequency_log_probs(self, texts: Sequence[str]) -> tuple[Floats, Floats]:
        """For each text, the log probability of its words by their frequencies alone, and the number of
        words. A neural model has frequencies only of pieces of words; for it, words are split as in a
        treebank, and their frequencies come from the shipped n-gram model of English."""
        from wellput.language.models.ngrams import unigram_log_probs
        from wellput.text.english import treebank_words

        model = self._model()
        if _is_neural(model):
            from wellput.language.shipped import english_ngrams

            words = [treebank_words(text).forms for text in texts]
            return unigram_log_probs(english_ngrams(), words)
        return unigram_log_probs(
            _ngram_model(model),
            [(*tokenizers.tokenize(text, self.tokenize), "</s>") for text in texts],
        )

    def _model(self) -> str:
        if self.model is None:
            raise InputError(
                "perplexity needs a language model: perplexity:model=FILE. To train an n-gram model: "
                "wellput train lm CORPUS.txt -o FILE.wlm. For a neural model give its folder."
            )
        return self.model


def _is_neural(path: str) -> bool:
    return path.endswith(".gguf") or Path(path).is_dir()


@lru_cache(maxsize=4)
def _ngram_model(path: str) -> NgramModel:
    from wellput.language.models.ngram_files import load_model

    return load_model(path)


MIN_WORDS_OF_LANGUAGE = 100
"""A model with fewer words is not taken for a model of English, whatever its words are."""


@lru_cache(maxsize=4)
def _is_of_english(path: str) -> bool:
    """Whether the most frequent words of a model are English."""
    from wellput.language.models.language_check import MAX_WORDS, PROSE_WORD, shipped_check
    from wellput.language.models.ngrams import unigrams

    frequencies = unigrams(_ngram_model(path))
    words = sorted(filter(PROSE_WORD.fullmatch, frequencies), key=lambda word: -frequencies[word])
    return len(words) >= MIN_WORDS_OF_LANGUAGE and shipped_check().is_english(
        " ".join(words[:MAX_WORDS])
    )


@lru_cache(maxsize=4)
def causal_model(path: str, device: str) -> CausalModel:
    from wellput.language.models.causal_model import CausalModel

    return CausalModel.load(path, device=device)
