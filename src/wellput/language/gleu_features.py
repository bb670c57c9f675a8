"""The four features of Mutton et al. (2007), from our head-driven parser and from link grammar.

All are rates, so that they do not grow with the sentence; at the paper's one length, 24 words, that is
the same as its counts but for a factor. Our log probability is what the parse gains over the words
taken alone: without that, a sentence of rare words looks ill-formed. A word that can be linked at a
cost only counts a little as one that cannot; of their share the square root is taken: the first one
says more than the tenth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from wellput.core.metric import Floats
from wellput.core.work import OnProgress, ProgressShare, ignore_progress
from wellput.language.head_driven import HeadDrivenParser
from wellput.language.link_grammar import LinkGrammar, LinkParse
from wellput.language.sentence_means import sentence_means

FEATURES: dict[str, str] = {
    "log_probability": "log probability of the parse over that of the words alone, per word",
    "fragments": "places between words where the parse breaks into fragments, of all places",
    "nulls": "words that link grammar cannot link, or at a cost only: the root of their share",
    "invalid": "linkages that post-processing rejects, of those found",
}
COSTLY = 0.2
"""How much of a word that cannot be linked one unit of a linkage's cost is."""


@dataclass(frozen=True, eq=False)
class GleuParsers:
    """The parsers that look at a sentence."""

    parser: HeadDrivenParser
    grammar: LinkGrammar

    def features(
        self,
        texts: Sequence[str],
        *,
        threads: int = 1,
        on_progress: OnProgress = ignore_progress,
    ) -> Floats:
        """(texts, 4), in the order of `FEATURES`, the mean over a text's sentences; NaN for a text
        without words. `on_progress` is called with numbers of texts, as many as the share of
        sentences that are parsed."""

        def of(sentences: list[str], words: list[tuple[str, ...]]) -> Floats:
            parses = self.parser.parse(words, threads=threads)
            rows = [
                (parse.scored.slor, (parse.fragments - 1) / max(1, len(own) - 1))
                for parse, own in zip(parses, words, strict=True)
            ]
            progress = ProgressShare(len(texts), len(sentences), on_progress)
            links = self.grammar.parse(sentences, on_progress=progress.add)
            lengths = map(len, words)
            return np.column_stack([rows, [*map(_link_features, links, lengths)]])

        return sentence_means(texts, len(FEATURES), of)


def _link_features(parse: LinkParse, words: int) -> tuple[float, float]:
    """The root of the null share, and the invalid share; what cannot be parsed has nothing right.

    The library counts the wall before the sentence among the nulls and splits some words: no more
    than all are counted. Favored words can make a cost negative, which is no merit here.
    """
    if parse.null_count is None:
        return 1.0, 1.0
    nulls = parse.null_count + COSTLY * max(0.0, parse.cost or 0.0)
    invalid = (parse.post_processed - parse.valid) / parse.found if parse.found else 1.0
    return sqrt(min(1.0, nulls / words)), invalid
