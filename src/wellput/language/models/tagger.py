"""`Tagger`: a tag of any kind (part of speech, supertag) for every word of a sentence.

A greedy averaged perceptron tags words from right to left. Each word gets the tag with the largest sum
of weights. The weights depend on the word's form, ending, beginning and shape, on its neighbors, on
the two tags after it, and, if there are any, on tags of another kind (`given`). `candidates` also
gives probabilities: a softmax of the sums times a factor, the *sharpness*, which is fitted to held-out
sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.errors import InputError
from wellput.io.files import PathLike
from wellput.io.model_files import (
    StoredModel,
    packed_strings,
)

# Words are tagged from right to left; the name keeps weights of the other direction from being loaded.
WEIGHTS_ARRAY = "weights.leftward"
# Averaged weights are stored as multiples of this.
WEIGHT_UNIT = 0.05
# The sharpness without held-out sentences (tuned on the dev part of the treebank EWT), and the values
# that are tried with such sentences.
DEFAULT_SHARPNESS = 0.007
TRIED_SHARPNESSES = tuple(0.0005 * 1.25**step for step in range(24))

TaggedSentence = tuple[Sequence[str], Sequence[str]]


class TagCandidate(NamedTuple):
    """A tag that a word may have, and the natural log of its probability."""

    tag: str
    log_prob: float


class Tagger(StoredModel):
    """Trained weights with the names of their tags."""

    kind: ClassVar[str] = "tagger"
    noun: ClassVar[str] = "tagger"

    def __init__(
        self,
        tags: Sequence[str],
        weights: NDArray[np.uint8],
        *,
        sharpness: float = DEFAULT_SHARPNESS,
        card: Mapping[str, Any] | None = None,
    ) -> None:
        self.tags = tags
        self.weights = weights
        self.sharpness = sharpness
        self.card = card or {}
        self._model = _native.TaggerModel(weights.tobytes(), len(tags))

    @classmethod
    def train(
        cls,
        sentences: Sequence[TaggedSentence],
        *,
        epochs: int = 10,
        min_updates: int = 3,
        min_weight: float = 0.0,
        runs: int = 1,
        given: Sequence[Sequence[str]] = (),
        seed: int = 1,
        held_out: Sequence[TaggedSentence] = (),
        on_epoch: Callable[[int], None] = lambda _: None,
    ) -> Self:
        """A tagger trained on sentences, each a pair of words and their tags. Weights that change
        fewer than `min_updates` times, or whose absolute value is below `min_weight`, are left out,
        which makes the model smaller. Several training `runs` go over the sentences in different
        orders, and their weights are averaged. `given` are tags of another kind for all words, which
        `tag` then needs too. The sharpness is fitted to `held_out`."""
        tags = sorted({tag for _, sentence_tags in sentences for tag in sentence_tags})
        if not tags:
            raise InputError("There are no tagged words to train a tagger on.")
        number = {tag: place for place, tag in enumerate(tags)}
        models = [
            _native.train_tagger(
                [words for words, _ in sentences],
                np.array([number[tag] for _, row in sentences for tag in row], np.int32),
                classes=len(tags),
                epochs=epochs,
                min_updates=min_updates,
                weight_unit=WEIGHT_UNIT,
                seed=seed + run,
                on_epoch=on_epoch,
                given=given,
            )
            for run in range(runs)
        ]
        weights = _native.mean_weights(models, len(tags), min_weight / WEIGHT_UNIT)
        tagger = cls(tags, np.frombuffer(weights, np.uint8))
        if held_out:
            tagger.sharpness = tagger._fitted_sharpness(held_out)
        return tagger

    @classmethod
    def load(cls, path: PathLike) -> Self:
        with cls.reading(path) as file:
            sharpness = float(file.arrays["sharpness"][0])
            weights = file.arrays[WEIGHTS_ARRAY]
            return cls(file.strings("tags"), weights, sharpness=sharpness, card=file.card)

    def tag(
        self,
        sentences: Sequence[Sequence[str]],
        *,
        given: Sequence[Sequence[str]] = (),
        threads: int = 1,
    ) -> list[list[str]]:
        """The tags of each sentence's words; `given` are the tags of another kind, as in training."""
        numbers = self._model.tag(sentences, threads, given)[:, 0].tolist()
        tags = self.tags
        tagged: list[list[str]] = []
        start = 0
        for words in sentences:
            end = start + len(words)
            tagged.append([tags[number] for number in numbers[start:end]])
            start = end
        return tagged

    def candidates(
        self,
        sentences: Sequence[Sequence[str]],
        k: int,
        margin: float = float("inf"),
        *,
        threads: int = 1,
    ) -> list[list[list[TagCandidate]]]:
        """For each word of each sentence, its possible tags, the most probable first: at most `k`, and
        only tags whose log probability is at most `margin` below that of the best tag. Probabilities
        depend on the two tags after a word, for which the best tags are taken.
        """
        numbers, logs = self._model.candidates(sentences, k, self.sharpness, threads)
        n_kept = (logs >= logs[:, :1] - margin).sum(axis=1).tolist()
        by_word = [
            [TagCandidate(self.tags[tag], log) for tag, log in zip(row[:n], row_logs, strict=False)]
            for row, row_logs, n in zip(numbers.tolist(), logs.tolist(), n_kept, strict=True)
        ]
        words = iter(by_word)
        return [[next(words) for _ in sentence] for sentence in sentences]

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {
            **packed_strings("tags", self.tags),
            "sharpness": np.array([self.sharpness], np.float64),
            WEIGHTS_ARRAY: self.weights,
        }

    def _fitted_sharpness(self, sentences: Sequence[TaggedSentence]) -> float:
        """The sharpness with which the right tags of these sentences are most probable."""
        number = {tag: place for place, tag in enumerate(self.tags)}
        words = [forms for forms, _ in sentences]
        right_numbers = np.array([number.get(tag, -1) for _, tags in sentences for tag in tags])[
            :, None
        ]

        def log_likelihood(sharpness: float) -> float:
            numbers, logs = self._model.candidates(words, len(self.tags), sharpness, 1)
            return float(logs[numbers == right_numbers].sum())

        return max(TRIED_SHARPNESSES, key=log_likelihood)
