"""BLEU (Papineni et al. 2002) with sacreBLEU's options, from 0 to 100; scores are exactly the same as
sacreBLEU's.

A row of statistics is (length, reference length, matches by order, totals by order): the lengths in
tokens, then for each order (length of n-grams) the matched n-grams and all n-grams. A segment's score
is sacreBLEU's sentence BLEU, which always uses *effective order*: orders for which the output has no
n-grams are left out of the mean. For the score of a corpus this is an option.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.estimates import Bounds
from wellput.core.evalset import Batch
from wellput.core.metric import Floats
from wellput.metrics.base import BaseMetric, lowered, lowered_lists, ratio
from wellput.text.tokenizers import (
    TokenizerName,
    lists_with_native_tokenizer,
    tokenizer_signature,
    with_native_tokenizer,
)

SMOOTH_VALUES = {"floor": 0.1, "add-k": 1.0}
"""The default values of smoothing methods (Chen & Cherry 2014); the other methods have no value."""

LANGUAGE_TOKENIZERS = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}

LOG_OF_ZERO = -9999999999.0
"""The value that sacreBLEU uses for log(0); it is low enough to make the score 0."""

MAX_OUTPUTS_CHECKED = 1000
"""The number of a batch's outputs that are checked for signs of tokenized text."""

MIN_OUTPUTS_TO_WARN = 100
"""If this many outputs end in a separate full stop, the text of a batch seems to be tokenized."""


@dataclass(frozen=True)
class Bleu(BaseMetric):
    """BLEU with sacreBLEU's options. `tokenize` is `13a` unless the language `trg_lang` has a
    tokenizer of its own; `smooth_value` None is the default of the smoothing method; `force` silences
    the warning about text that looks tokenized. With several references an n-gram counts at most as
    often as in the reference that has it most often; the reference length is the length closest to
    the hypothesis' length, or the shortest (`ref_length`).
    """

    lowercase: bool = False
    force: bool = False
    tokenize: TokenizerName | None = None
    smooth_method: Literal["exp", "floor", "add-k", "none"] = "exp"
    smooth_value: float | None = None
    max_ngram_order: int = 4
    effective_order: bool = False
    trg_lang: str = ""
    ref_length: Literal["closest", "shortest"] = "closest"

    family: ClassVar[str] = "bleu"
    is_always_defined: ClassVar[bool] = True
    about: ClassVar[str] = "n-gram precision with a brevity penalty, 0 to 100"
    paper: ClassVar[str] = "Papineni et al. 2002"
    bounds: ClassVar[Bounds] = (0.0, 100.0)
    # The precisions of higher orders have no perfect value: a perfect output of one word has no
    # bigrams.
    perfect: ClassVar[Mapping[str, float]] = {
        "score": 100.0,
        "precision_1": 100.0,
        "brevity_penalty": 1.0,
        "length_ratio": 1.0,
    }

    def __post_init__(self) -> None:
        self.require(1 <= self.max_ngram_order <= 1000, "max_ngram_order must be from 1 to 1000.")
        self.require(
            self.smooth_value is None or self.smooth_value >= 0,
            "smooth_value must not be negative.",
        )

    @property
    def tokenizer(self) -> str:
        return self.tokenize or LANGUAGE_TOKENIZERS.get(self.trg_lang, "13a")

    def statistics(self, batch: Batch) -> Floats:
        hypotheses, references = batch.texts, batch.references
        if not self.force:
            _warn_if_tokenized(batch.texts)
        if self.lowercase:
            hypotheses, references = lowered(hypotheses), lowered_lists(references)
        # Tokenizers written in Python are applied here, those in C++ by the kernel.
        hypotheses, tokenizer = with_native_tokenizer(hypotheses, self.tokenizer)
        references, _ = lists_with_native_tokenizer(references, self.tokenizer)
        return _native.bleu_statistics(
            hypotheses,
            references,
            tokenizer,
            self.max_ngram_order,
            self.ref_length == "shortest",
            batch.threads,
        )

    def score(self, statistics: Floats) -> Floats:
        return self._score(statistics, self.effective_order)

    def segment_score(self, statistics: Floats) -> Floats:
        return self._score(statistics, True)

    def components(self, statistics: Floats) -> dict[str, Floats]:
        """Precisions in percent and smoothed, as sacreBLEU prints them; lengths in tokens."""
        precisions, _ = self._precisions(statistics)
        length, reference_length = statistics[..., 0], statistics[..., 1]
        return {
            **{f"precision_{n}": precision for n, precision in enumerate(precisions, start=1)},
            "brevity_penalty": _brevity_penalty(length, reference_length),
            "length_ratio": ratio(length, reference_length),
            "length": length,
            "reference_length": reference_length,
        }

    def signature(self) -> str:
        """The fields of sacreBLEU's signature in its order, then the options that sacreBLEU's
        signature does not have, if they differ from their defaults."""
        value = f"[{self._smooth_value:.2f}]" if self.smooth_method in SMOOTH_VALUES else ""
        return "|".join(
            [
                f"case:{'lc' if self.lowercase else 'mixed'}",
                f"eff:{'yes' if self.effective_order else 'no'}",
                f"tok:{tokenizer_signature(self.tokenizer)}",
                f"smooth:{self.smooth_method}{value}",
                *([f"ngram:{self.max_ngram_order}"] if self.max_ngram_order != 4 else []),
                *(["reflen:shortest"] if self.ref_length == "shortest" else []),
            ]
        )

    @property
    def _smooth_value(self) -> float:
        default = SMOOTH_VALUES.get(self.smooth_method, 0.0)
        return default if self.smooth_value is None else self.smooth_value

    def _score(self, statistics: Floats, effective_order: bool) -> Floats:
        """BLEU of summed statistics. With `effective_order`, an order counts only if the output has
        n-grams of that order."""
        precisions, present = self._precisions(statistics)
        log_sum = np.zeros(statistics.shape[:-1])
        for precision, is_present in zip(precisions, present, strict=True):
            log = np.full(precision.shape, LOG_OF_ZERO)
            np.log(precision, out=log, where=precision > 0)
            log_sum += np.where(is_present, log, 0.0) if effective_order else log
        orders = np.sum(present, axis=0) if effective_order else self.max_ngram_order
        penalty = _brevity_penalty(statistics[..., 0], statistics[..., 1])
        score: Floats = np.where(present[0], penalty * np.exp(log_sum / np.maximum(orders, 1)), 0.0)
        return score

    def _precisions(self, statistics: Floats) -> tuple[list[Floats], list[NDArray[np.bool_]]]:
        """For each order the smoothed precision (in percent), and whether the hypothesis has n-grams
        of this order.

        Without any match, no order counts as present, so that the score is 0 in spite of smoothing.
        """
        matches = statistics[..., 2 : 2 + self.max_ngram_order]
        totals = statistics[..., 2 + self.max_ngram_order :]
        is_present = matches.any(axis=-1)
        unmatched_weight = np.ones(is_present.shape)
        precisions, present = [], []
        for n in range(self.max_ngram_order):
            match, total = matches[..., n], totals[..., n]
            if self.smooth_method == "add-k" and n > 0:
                match, total = match + self._smooth_value, total + self._smooth_value
            is_present = is_present & (total > 0)
            if self.smooth_method == "exp":
                # Half a match is added for the first order without matches, a quarter for the next, ...
                is_zero = is_present & (match == 0)
                unmatched_weight = np.where(is_zero, unmatched_weight / 2, unmatched_weight)
                match = np.where(is_zero, unmatched_weight, match)
            elif self.smooth_method == "floor":
                match = np.where(match == 0, self._smooth_value, match)
            precision = np.zeros(is_present.shape)
            np.divide(100.0 * match, total, out=precision, where=is_present)
            precisions.append(precision)
            present.append(is_present)
        return precisions, present


def _brevity_penalty(length: Floats, reference_length: Floats) -> Floats:
    """1 for a hypothesis as long as its reference, less for a shorter one, 0 for an empty one."""
    excess = np.maximum(ratio(reference_length, length), 1.0)  # NaN where the length is 0, not used
    return np.where(length > 0, np.exp(1.0 - excess), np.where(reference_length > 0, 0.0, 1.0))


def _warn_if_tokenized(texts: Sequence[str]) -> None:
    """Warns if many of the texts end in a separate full stop."""
    if sum([text.endswith(" .") for text in texts[:MAX_OUTPUTS_CHECKED]]) >= MIN_OUTPUTS_TO_WARN:
        warnings.warn(
            f"{MIN_OUTPUTS_TO_WARN} outputs or more end in a separate full stop: the text looks "
            "tokenized, but BLEU needs plain text. The option force=true silences this warning.",
            stacklevel=3,
        )
