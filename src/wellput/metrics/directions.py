"""Whether lower scores are better, by the name of a metric that another program computed.

Only names tell: judgments never do. A name is cut into words at everything that is not a letter, and
where a capital follows a small letter. Lower is better if a word of `ERROR_WORDS` is among them, or if
the last word is one of `LAST_WORDS`, or if `rate` follows one of these. So `TER`, `MetricX-24`,
`error_rate` and `wordPerplexity` count what is wrong; `criteria`, `error_detection` and `lossless` do
not.
"""

from __future__ import annotations

import re

ERROR_WORDS = frozenset(
    {
        "ter", "hter", "wer", "cer", "metricx", "perplexity", "ppl", "nll", "bpb", "bpc", "mse", "rmse",
        "mae", "brier", "ece", "latency", "levenshtein", "toxicity", "hallucination",
    }
)  # fmt: skip
"""Names of measures of error, and of what nobody wants more of, in lower case."""
LAST_WORDS = frozenset({"error", "errors", "loss", "cost", "distance", "bias", "duration"})
LETTERS = re.compile(r"[a-z]+")
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def is_lower_better(name: str) -> bool:
    """Whether a metric of this name counts what is wrong.

    >>> [is_lower_better(name) for name in ("TER", "MetricX-24-XL", "word_error_rate", "criteria")]
    [True, True, True, False]
    """
    words = [word.lower() for word in WORD.findall(name)]
    runs = LETTERS.findall(name.lower())  # of letters: MetricX is one word
    if not ERROR_WORDS.isdisjoint([*words, *runs]):
        return True
    last = words[-2:-1] if words[-1:] == ["rate"] else words[-1:]
    return not LAST_WORDS.isdisjoint(last)
