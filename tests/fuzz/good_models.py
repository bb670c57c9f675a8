"""A trained model of every kind, as small as they come, to be damaged or forged."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.fuzz.mutation import mutated_value
from tests.language.models import test_head_driven_chart, test_word_network
from tests.language.models.biaffine_oracle import small_parser
from tests.language.realize.order_networks import small_network
from tests.language.realize.toy_treebank import TREES, save_toy_models
from wellput.io.model_files import FILE_PREFIX, load_model_file, save_model_file
from wellput.language.models.head_driven_training import save_head_driven, train_head_driven
from wellput.language.models.ngram_files import load_model, quantized, save_model
from wellput.language.models.parser_training import train_parser
from wellput.language.models.word_list import WordList
from wellput.language.models.word_network import WordNetwork
from wellput.language.paraphrase.corpus_index import index_corpus
from wellput.language.shipped import shipped

SENTENCE = [word.form for word in TREES[0].words]


def write_good_models(folder: Path) -> None:
    """Files by the names that they have in a language's folder."""
    save_toy_models(folder)
    save_model(
        quantized(load_model(folder / "ngrams.wlm")), folder / "compact.wlm", is_compact=True
    )
    trees = test_head_driven_chart.TREES
    guesser = train_parser(trees * 2, epochs=2)
    guesser.tagger.save(folder / "tagger.wpm")
    guesser.transitions.save(folder / "parser.wpm")
    arrays = train_head_driven(trees * 2, guesser, dev=trees)
    save_head_driven(folder / "head_driven.wpm", arrays, {})
    index_corpus([[" ".join(SENTENCE), "we drink tea ."]]).save(folder / "index.wpm")
    WordList({"cat": 3, "dog": 200}).save(folder / "words.wpm", {})
    test_word_network.small().save(folder / "network.wpm", {})
    reader = WordNetwork.load(folder / "network.wpm")
    small_parser(reader=reader).save(folder / "biaffine.wpm", {})
    small_network().save(folder / "order.wpm")
    for name in ("fluency.wpm", "gleu-fluency.wpm", "language.wpm"):
        (folder / name).write_bytes(shipped(name).read_bytes())


def forge(rng: Random, path: Path) -> None:
    """Changes arrays of a model file and makes its hash right again: what no accident does."""
    data = path.read_bytes()
    length = FILE_PREFIX.unpack(data[: FILE_PREFIX.size])[2]
    kind = json.loads(data[FILE_PREFIX.size : FILE_PREFIX.size + length])["kind"]
    file = load_model_file(path, kind)
    arrays: dict[str, NDArray[Any]] = {name: np.array(array) for name, array in file.arrays.items()}
    for _ in range(rng.choice([1, 1, 2])):
        name = rng.choice(list(arrays))
        changed = mutated_value(rng, arrays[name])
        if isinstance(changed, np.ndarray) and changed.dtype.kind in "iuf":
            arrays[name] = changed
    save_model_file(path, kind, file.card, arrays)
