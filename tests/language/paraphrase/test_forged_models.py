"""Paraphrase models whose arrays do not fit together, with the right hash, are refused when read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.io.model_files import load_model_file, save_model_file
from wellput.language.paraphrase.model import ParaphraseModel
from wellput.language.shipped import PARAPHRASE_FILE, shipped

CHANGES: dict[str, Callable[[Floats], Floats]] = {
    "empty": lambda array: array[:0],
    "half": lambda array: array[: len(array) // 2],
    "double": lambda array: np.concatenate([array, array]),
    "reversed": lambda array: array[::-1],
    "largest": lambda array: np.full_like(array, 2**32 - 1),
    "nan": lambda array: np.full_like(array, np.nan),
}


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("words.ends", "double"),
        ("classifier_words.ends", "double"),
        ("neighbor_words.ends", "half"),
        ("classifiers.begins", "empty"),
        ("classifiers.begins", "reversed"),
        ("classifiers.keys", "half"),
        ("classifiers.weights", "double"),
        ("classifiers.steps", "half"),
        ("classifiers.biases", "empty"),
        ("classifiers.biases", "nan"),
        ("classifiers.shape", "nan"),
        ("bigrams.counts", "half"),
        ("bigrams.pairs", "largest"),
        ("bigrams.pair_counts", "half"),
        ("bigrams.total", "nan"),
        ("combination.weights", "half"),
        ("combination.weights", "nan"),
        ("combination.scales", "empty"),
        ("lsa.vectors", "double"),
        ("brown.classes", "double"),
        ("places.vectors", "half"),
        ("places.steps", "empty"),
        ("places.neighbors", "double"),
        ("places.neighbor_steps", "half"),
    ],
)
def test_a_forged_model_is_refused(tmp_path: Path, name: str, how: str) -> None:
    found = load_model_file(shipped(PARAPHRASE_FILE), ParaphraseModel.kind)
    arrays = {**found.arrays, name: CHANGES[how](found.arrays[name])}
    save_model_file(tmp_path / "forged.wpm", ParaphraseModel.kind, found.card, arrays)
    with pytest.raises(InputError, match="damaged"):
        ParaphraseModel.load(tmp_path / "forged.wpm")
