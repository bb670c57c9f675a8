"""Perplexity under an n-gram model: how surprising an output's words are, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from wellput.core.errors import InputError
from wellput.core.evalset import Batch
from wellput.core.metric import Floats, Need
from wellput.metrics.base import NOTHING, BaseMetric, lowered
from wellput.text.tokenizers import NativeName

if TYPE_CHECKING:
    from wellput.language.ngrams import NgramModel


@dataclass(frozen=True)
class Perplexity(BaseMetric):
    """10 to the mean negative log10 probability of a word, `</s>` among the words. Lower is better.

    Texts have to be tokenized and cased as the model's training text was. An output without words
    has the perplexity of an empty sentence.
    """

    family: ClassVar[str] = "perplexity"
    about: ClassVar[str] = "how surprising words are to an n-gram model"
    paper: ClassVar[str] = "Chen & Goodman 1998"
    needs: ClassVar[frozenset[Need]] = NOTHING
    is_always_defined: ClassVar[bool] = True

    model: str | None = None
    tokenize: NativeName = "none"
    lowercase: bool = False

    @property
    def higher_is_better(self) -> bool | None:
        return False

    def statistics(self, batch: Batch) -> Floats:
        texts = lowered(batch.texts) if self.lowercase else batch.texts
        return self._loaded().statistics(texts, tokenize=self.tokenize, threads=batch.threads)

    def score(self, statistics: Floats) -> Floats:
        from wellput.language.ngrams import perplexity

        return perplexity(statistics)

    def components(self, statistics: Floats) -> dict[str, Floats]:
        from wellput.language.ngrams import perplexity

        known = perplexity(statistics, include_unknown=False)
        return {"known_words": known, "unknown": statistics[..., 3], "words": statistics[..., 1]}

    def signature(self) -> str:
        hashed = "unset" if self.model is None else self._loaded().fingerprint[:12]
        case = "lc" if self.lowercase else "mixed"
        return f"model:{hashed}|case:{case}|tok:{self.tokenize}"

    def _loaded(self) -> NgramModel:
        if self.model is None:
            raise InputError(
                "perplexity needs an n-gram model, -m perplexity:model=FILE. To train one: "
                "wellput train lm CORPUS.txt -o FILE.wlm"
            )
        return _model_at(self.model)


@lru_cache(maxsize=4)
def _model_at(path: str) -> NgramModel:
    from wellput.language.ngram_files import load_model

    return load_model(path)
