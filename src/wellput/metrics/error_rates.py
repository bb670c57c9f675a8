"""Metrics that count the edits which turn an output into a reference: WER, CER, TER, and exact match
(no edits).

WER, the word error rate, is the number of substitutions, insertions and deletions per word of the
reference; scores are exactly the same as those of the package jiwer. 0 is perfect, and WER can exceed
1. Several alignments may have the same number of errors but other numbers of the three kinds; WER
takes the alignment that jiwer takes. CER, the character error rate, is the same for characters. MER,
WIL and WIP (Morris et al. 2004) are other measures computed from WER's alignment, between 0 and 1.

TER, the translation edit rate of Snover et al. (2006), is the smallest number of edits (insertions,
deletions and substitutions of words, and shifts of a block of words) per word of the reference, in
percent; scores are exactly the same as sacreBLEU's. 0 is perfect, and TER can exceed 100.
Tokenization and the limits of the search for shifts are those of the program Tercom, as in sacreBLEU.

Exact match is the share of outputs that are equal to a reference.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wellput import _native
from wellput.core.estimates import Bounds
from wellput.core.evalset import Batch
from wellput.core.metric import Floats
from wellput.metrics.base import BaseMetric, MeanMetric, lowered, lowered_lists, ratio
from wellput.text.tokenizers import (
    TokenizerName,
    lists_with_native_tokenizer,
    tokenizer_signature,
    with_native_tokenizer,
)

MORRIS_PAPER = "Morris et al. 2004, From WER and RIL to MER and WIL"


@dataclass(frozen=True)
class _ErrorRate(BaseMetric):
    """Errors per unit (word or character) of the reference; lower is better.

    The score of a corpus is the number of all errors divided by the number of all units of
    references. With several references a segment takes the one with the lowest rate, the first one if
    rates are equal.

    jiwer refuses empty references. Here the score is 0 if reference and hypothesis are empty. If only
    the reference is empty, the segment's score is NaN, but its insertions count in the corpus score.

    Statistics: substitutions, insertions, deletions, units of the reference.
    """

    bounds: ClassVar[Bounds] = (0.0, None)
    perfect: ClassVar[Mapping[str, float]] = {
        "score": 0.0,
        "substitutions": 0.0,
        "insertions": 0.0,
        "deletions": 0.0,
    }

    lowercase: bool = False

    @property
    def higher_is_better(self) -> bool | None:
        return False

    def score(self, statistics: Floats) -> Floats:
        errors, length = statistics[..., :3].sum(axis=-1), statistics[..., 3]
        return np.where(errors == 0, 0.0, ratio(errors, length))

    def components(self, statistics: Floats) -> dict[str, Floats]:
        substitutions, insertions, deletions, length = np.moveaxis(statistics, -1, 0)
        return {
            "substitutions": substitutions,
            "insertions": insertions,
            "deletions": deletions,
            "hits": length - substitutions - deletions,
            "length": length,
        }

    def _cased(self, batch: Batch) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        if self.lowercase:
            return lowered(batch.texts), lowered_lists(batch.references)
        return batch.texts, batch.references


@dataclass(frozen=True)
class Wer(_ErrorRate):
    """Word error rate as a fraction.

    `tokenize="none"` separates words as jiwer does: by a space, or by two or more whitespace characters
    of any kind; a single tab inside a text does not separate. The other tokenizers are sacreBLEU's.

    >>> metric = Wer()
    >>> batch = Batch.from_texts(["the cat sat on mat"], [["the cat sat on the mat"]])
    >>> [round(float(score), 4) for score in metric.score(metric.statistics(batch))]  # 1 of 6
    [0.1667]
    """

    family: ClassVar[str] = "wer"
    about: ClassVar[str] = "word errors per reference word"

    tokenize: TokenizerName = "none"

    def statistics(self, batch: Batch) -> Floats:
        hypotheses, references = self._cased(batch)
        # Tokenizers written in Python are applied here, those in C++ by the kernel.
        hypotheses, tokenizer = with_native_tokenizer(hypotheses, self.tokenize)
        references, _ = lists_with_native_tokenizer(references, self.tokenize)
        return _native.wer_statistics(hypotheses, references, tokenizer, batch.threads)

    def signature(self) -> str:
        case = "lc" if self.lowercase else "mixed"
        return f"case:{case}|tok:{tokenizer_signature(self.tokenize)}"


@dataclass(frozen=True)
class Mer(Wer):
    """Match error rate: errors, divided by errors and matched words together.

    >>> metric = Mer()
    >>> batch = Batch.from_texts(["the cat sat on mat"], [["the cat sat on the mat"]])
    >>> [round(float(score), 4) for score in metric.score(metric.statistics(batch))]  # 1 of 6
    [0.1667]
    """

    family: ClassVar[str] = "mer"
    about: ClassVar[str] = "errors as a share of errors and matched words"
    paper: ClassVar[str] = MORRIS_PAPER
    bounds: ClassVar[Bounds] = (0.0, 1.0)

    def score(self, statistics: Floats) -> Floats:
        errors = statistics[..., :3].sum(axis=-1)
        hits = statistics[..., 3] - statistics[..., 0] - statistics[..., 2]
        return np.where(errors == 0, 0.0, ratio(errors, hits + errors))


@dataclass(frozen=True)
class Wip(Wer):
    """Word information preserved: the share of the reference's words that are matched, times the share
    of the output's words that are matched. 0 if only the output is empty.

    >>> metric = Wip()
    >>> batch = Batch.from_texts(["the cat sat on mat"], [["the cat sat on the mat"]])
    >>> [round(float(score), 4) for score in metric.score(metric.statistics(batch))]  # 5/6 · 5/5
    [0.8333]
    """

    family: ClassVar[str] = "wip"
    about: ClassVar[str] = "share of the reference's words matched, times that of the output's"
    paper: ClassVar[str] = MORRIS_PAPER
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    perfect: ClassVar[Mapping[str, float]] = {**_ErrorRate.perfect, "score": 1.0}

    @property
    def higher_is_better(self) -> bool | None:
        return True

    def score(self, statistics: Floats) -> Floats:
        return _information_preserved(statistics)


@dataclass(frozen=True)
class Wil(Wer):
    """Word information lost: 1 − `wip`. 1 if only the output is empty.

    >>> metric = Wil()
    >>> batch = Batch.from_texts(["the cat sat on mat"], [["the cat sat on the mat"]])
    >>> [round(float(score), 4) for score in metric.score(metric.statistics(batch))]  # 1 − 5/6
    [0.1667]
    """

    family: ClassVar[str] = "wil"
    about: ClassVar[str] = "one minus the word information preserved (wip)"
    paper: ClassVar[str] = MORRIS_PAPER
    bounds: ClassVar[Bounds] = (0.0, 1.0)

    def score(self, statistics: Floats) -> Floats:
        return 1 - _information_preserved(statistics)


def _information_preserved(statistics: Floats) -> Floats:
    """The share of matched words in the reference times their share in the output; NaN for an empty
    reference, unless the output is empty too."""
    substitutions, insertions, deletions, length = np.moveaxis(statistics, -1, 0)
    hits = length - substitutions - deletions
    output_length = hits + substitutions + insertions
    output_share = np.where(output_length == 0, 0.0, ratio(hits, output_length))
    is_exact = substitutions + insertions + deletions == 0
    return np.where(is_exact, 1.0, ratio(hits, length) * output_share)


@dataclass(frozen=True)
class Cer(_ErrorRate):
    """Character error rate as a fraction. White space at the ends of a text does not count; inside it
    counts like any character.

    >>> metric = Cer()
    >>> batch = Batch.from_texts(["the mat"], [["the cats "]])
    >>> [round(float(score), 4) for score in metric.score(metric.statistics(batch))]  # 2 of 8
    [0.25]
    """

    family: ClassVar[str] = "cer"
    about: ClassVar[str] = "character errors per reference character"

    def statistics(self, batch: Batch) -> Floats:
        hypotheses, references = self._cased(batch)
        return _native.cer_statistics(
            [text.strip() for text in hypotheses],
            [[text.strip() for text in row] for row in references],
            batch.threads,
        )

    def signature(self) -> str:
        return f"case:{'lc' if self.lowercase else 'mixed'}"


# Tercom splits off all ASCII punctuation except these marks, for which neighboring characters decide.
_CONTEXTUAL_MARKS = "',-."
_PUNCTUATION = re.compile(
    "([" + re.escape("".join(set(string.punctuation) - set(_CONTEXTUAL_MARKS))) + "])"
)
_AFTER_NONDIGIT = re.compile(r"([^0-9])([.,])")
_BEFORE_NONDIGIT = re.compile(r"([.,])([^0-9])")
_DIGIT_DASH = re.compile(r"([0-9])-")

# Ideographs and their radicals, strokes, compatibility and enclosed forms. The last range runs to
# U+3F22, as in sacreBLEU, and so includes many ideographs of the second range.
_IDEOGRAPH = re.compile(
    "([\u4e00-\u9fff\u3400-\u4dbf\u31c0-\u31ef\u2e80-\u2eff"
    "\u3300-\u33ff\uf900-\ufaff\ufe30-\ufe4f\u3200-\u3f22])"
)
_ASIAN_PUNCTUATION = re.compile(
    "([\u3001\u3002\u3008-\u3011\u3014-\u301f\uff61-\uff65\u30fb"
    "\uff0e\uff0c\uff1f\uff1a\uff1b\uff01\uff02\uff08\uff09])"
)
_REMOVE_PUNCTUATION = str.maketrans("", "", '.,?:;!"()')


@dataclass(frozen=True)
class Ter(BaseMetric):
    """Translation edit rate in percent; lower is better.

    `normalized` splits off punctuation, `no_punct` removes it, `asian_support` extends both to
    Chinese and Japanese. With several references, edits are counted to the nearest reference, and the
    length is the mean length of all references. With an empty reference every word of the hypothesis
    is an edit. If all texts are empty, the score is 0; if only the references are empty, it is 100.

    >>> metric = Ter()
    >>> batch = Batch.from_texts(["on the mat the cat sat"], [["the cat sat on the mat"]])
    >>> [round(float(score), 2) for score in metric.score(metric.statistics(batch))]  # one shift
    [16.67]
    """

    family: ClassVar[str] = "ter"
    is_always_defined: ClassVar[bool] = True
    about: ClassVar[str] = "edits and shifts of word blocks per reference word, in percent"
    bounds: ClassVar[Bounds] = (0.0, None)
    perfect: ClassVar[Mapping[str, float]] = {"score": 0.0, "edits": 0.0}
    paper: ClassVar[str] = "Snover et al. 2006, A Study of Translation Edit Rate"

    normalized: bool = False
    no_punct: bool = False
    asian_support: bool = False
    case_sensitive: bool = False

    @property
    def higher_is_better(self) -> bool | None:
        return False

    def statistics(self, batch: Batch) -> Floats:
        hypotheses, references = batch.texts, batch.references
        if not self.case_sensitive:
            hypotheses, references = lowered(hypotheses), lowered_lists(references)
        if self.normalized or self.no_punct:
            tokenizer = self._tokenizer()
            hypotheses = [tokenizer(text) for text in hypotheses]
            # References are tokenized twice, as in sacreBLEU, which makes a difference for "1.,2".
            references = [[tokenizer(tokenizer(text)) for text in row] for row in references]
        return _native.ter_statistics(hypotheses, references, batch.threads)

    def score(self, statistics: Floats) -> Floats:
        edits, length = statistics[..., 0], statistics[..., 1]
        return 100 * np.where(length > 0, ratio(edits, length), (edits > 0).astype(np.float64))

    def components(self, statistics: Floats) -> dict[str, Floats]:
        return {"edits": statistics[..., 0], "reference_length": statistics[..., 1]}

    def signature(self) -> str:
        yes_or_no = {False: "no", True: "yes"}
        return "|".join(
            [
                f"case:{'mixed' if self.case_sensitive else 'lc'}",
                "tok:tercom",
                f"norm:{yes_or_no[self.normalized]}",
                f"punct:{yes_or_no[not self.no_punct]}",
                f"asian:{yes_or_no[self.asian_support]}",
            ]
        )

    def _tokenizer(self) -> Callable[[str], str]:
        """The function that tokenizes a text, as the options say, and joins the tokens by spaces."""

        def tokenize(text: str) -> str:
            text = text.rstrip()
            if self.normalized and text:
                text = _split_western(text)
                if self.asian_support:
                    text = _split_asian(text)
            if self.no_punct:
                text = text.translate(_REMOVE_PUNCTUATION)
                if self.asian_support:
                    text = _ASIAN_PUNCTUATION.sub("", text)
            return " ".join(text.split())

        return tokenize


def _split_western(text: str) -> str:
    """The text with spaces around punctuation, as Tercom's normalization makes it."""
    text = text.replace("\n-", "").replace("\n", " ")
    # In this order "&amp;lt;" becomes "<", but "&amp;quot;" becomes "&quot;", not a quote.
    for entity, character in (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")):
        text = text.replace(entity, character)
    text = _PUNCTUATION.sub(r" \1 ", f" {text} ")
    text = text.replace("'s ", " 's ")
    text = _AFTER_NONDIGIT.sub(r"\1 \2 ", text)
    text = _BEFORE_NONDIGIT.sub(r" \1 \2", text)
    return _DIGIT_DASH.sub(r"\1 - ", text)


def _split_asian(text: str) -> str:
    """The text with spaces around each ideograph, so that ideographs become words. Sequences of kana
    (the Japanese syllable letters) are not divided, as in sacreBLEU: its rule for them applies only to
    a text of nothing but kana, and here the text always begins and ends with a space."""
    return _ASIAN_PUNCTUATION.sub(r" \1 ", _IDEOGRAPH.sub(r" \1 ", text))


@dataclass(frozen=True)
class Exact(MeanMetric):
    """1 if the output equals one of its references, otherwise 0; the score is the mean over segments.

    Several whitespace characters in sequence count as one space, and whitespace at the ends does not
    count. An empty output matches an empty reference.
    """

    family: ClassVar[str] = "exact"
    is_always_defined: ClassVar[bool] = True
    about: ClassVar[str] = "share of outputs equal to a reference"
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    perfect: ClassVar[Mapping[str, float]] = {"score": 1.0}

    lowercase: bool = False

    def values(self, batch: Batch) -> Floats:
        matches = [
            self._normalized(output) in map(self._normalized, references)
            for output, references in zip(batch.texts, batch.references, strict=True)
        ]
        return np.array(matches, dtype=np.float64)

    def _normalized(self, text: str) -> str:
        return " ".join((text.lower() if self.lowercase else text).split())
