"""`ParaphraseModel`: everything that paraphrasing learns from a corpus, in one file (`.wpm`).

The words of the model are the most frequent words of the corpus, followed by its most frequent other
tokens. `brown_classes` has the Brown class of each word (words of a class have similar neighbors),
`combination` has the weights of the filter `context`, and `neural` has those of the filter `neural`.
Each of the three may be None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wellput.io.files import PathLike
from wellput.io.model_files import ModelFile, StoredModel, packed_strings
from wellput.language.paraphrase.bigrams import BigramModel
from wellput.language.paraphrase.classifiers import ContextClassifiers
from wellput.language.paraphrase.context_filter import (
    CONTEXT_FEATURES,
    N_SIMILARITIES,
    Combination,
    Knowledge,
)
from wellput.language.paraphrase.place_vectors import PlaceVectors
from wellput.language.paraphrase.similar_words import WordVectors


@dataclass(frozen=True, eq=False)
class ParaphraseModel(StoredModel):
    """The learned parts, and the `card`, which describes their training."""

    kind: ClassVar[str] = "paraphrase"
    noun: ClassVar[str] = "paraphrase model"

    classifiers: ContextClassifiers
    bigrams: BigramModel
    vectors: WordVectors
    places: PlaceVectors
    brown_classes: NDArray[np.uint16] | None
    combination: Combination | None
    neural: Combination | None
    card: Mapping[str, Any]

    @property
    def knowledge(self) -> Knowledge:
        return Knowledge(self.classifiers, self.bigrams, self.vectors, self.places)

    def arrays(self) -> dict[str, NDArray[Any]]:
        parts: dict[str, Mapping[str, NDArray[Any]]] = {
            "classifiers": self.classifiers.arrays(),
            "bigrams": self.bigrams.arrays(),
            "lsa": {"vectors": self.vectors.vectors},
            "places": self.places.arrays(),
            "brown": {} if self.brown_classes is None else {"classes": self.brown_classes},
            "combination": {} if self.combination is None else self.combination.arrays(),
            "neural": {} if self.neural is None else self.neural.arrays(),
        }
        arrays = {
            f"{part}.{name}": array
            for part, arrays_of_part in parts.items()
            for name, array in arrays_of_part.items()
        }
        # The words that have LSA vectors come first among the words, so their number is enough.
        return {
            **packed_strings("words", self.bigrams.words),
            **packed_strings("classifier_words", self.classifiers.words),
            **packed_strings("neighbor_words", self.places.neighbor_words),
            **arrays,
        }

    @classmethod
    def load(cls, path: PathLike) -> ParaphraseModel:
        with cls.reading(path) as file:
            return cls._of(file)

    @classmethod
    def _of(cls, file: ModelFile) -> ParaphraseModel:
        words = file.strings("words")
        vectors, classes = file.arrays["lsa.vectors"], file.arrays.get("brown.classes")
        n_needed_words = max(len(vectors), 0 if classes is None else len(classes))
        if vectors.ndim != 2 or n_needed_words > len(words):
            raise ValueError("more vectors or classes than words")
        combination, neural = _part(file, "combination"), _part(file, "neural")
        n_features = len(CONTEXT_FEATURES)
        model = cls(
            classifiers=ContextClassifiers.of_arrays(
                file.strings("classifier_words"), _part(file, "classifiers")
            ),
            bigrams=BigramModel.of_arrays(words, _part(file, "bigrams")),
            vectors=WordVectors(words[: len(vectors)], vectors),
            places=PlaceVectors.of_arrays(
                words, file.strings("neighbor_words"), _part(file, "places")
            ),
            brown_classes=classes,
            combination=Combination.of_arrays(combination, n_features) if combination else None,
            neural=(Combination.of_arrays(neural, n_features + N_SIMILARITIES) if neural else None),
            card=file.card,
        )
        # The property is not computed again from the arrays.
        model.__dict__["fingerprint"] = file.fingerprint
        return model


def _part(file: ModelFile, name: str) -> dict[str, NDArray[Any]]:
    """The arrays of one part, by their names within the part."""
    prefix = f"{name}."
    return {
        key.removeprefix(prefix): array
        for key, array in file.arrays.items()
        if key.startswith(prefix)
    }
