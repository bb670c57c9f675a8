"""How much the learned realizer loses on a genre that it was not trained on:

    python -m benchmarks realize-genres FOLDER [--minutes 1.3] [--processes 6]

Trains the parts of the realizer on all of EWT train, and for each genre on EWT train without the sentences of this
genre, and compares the two realizers on the sentences of the genre in EWT dev. The order networks are all trained for the
same short time, with torch. Models and outputs are kept in FOLDER; a second run uses them.
"""

from __future__ import annotations

import argparse
import json
import pickle
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.data import ewt
from benchmarks.language.order_network_data import (
    PARSED_PART,
    Numbering,
    chosen_labels,
    ewt_arrays,
    genre_of,
    joined,
    parsed_trees,
    texts_to_parse,
    vocabulary,
)
from benchmarks.language.order_network_model import network_of
from wellput.core.tree import Tree
from wellput.language.models.ngram_files import load_model
from wellput.language.realize.completer import LabelKind
from wellput.language.realize.inputs import unordered
from wellput.language.realize.label_chooser import ChooserTraining, Forest, Label, train_chooser
from wellput.language.realize.learned_realizer import (
    LearnedRealizer,
    OrdererTraining,
    train_orderer,
)
from wellput.language.realize.order_network import OrderNetwork
from wellput.language.realize.parameters import learn_capitals
from wellput.language.shipped import (
    LEARNED_REALIZER_FILE,
    NGRAMS_FILE,
    ORDER_NETWORK_FILE,
    shipped,
)
from wellput.language.trees.supertags import category_of

GENRES = ("answers", "email", "newsgroup", "reviews", "weblog")
ALL = "all"
KINDS: tuple[LabelKind, ...] = ("words", "labels")
PARSED = 40_000
"""Sentences of books and speeches for the order networks, at most."""
RESAMPLES = 2000
MIN_CHOOSER_WEIGHT, MIN_ORDERER_WEIGHT = 0.135, 0.165
"""As `wellput train english` has them."""


def parsed_sentences(folder: Path, processes: int) -> None:
    path = folder / "parsed.pickle"
    if path.exists():
        return
    texts = texts_to_parse(None, np.random.default_rng(0))[:PARSED]
    with ProcessPoolExecutor(processes) as pool:
        found = pool.map(
            parsed_trees, [texts[begin : begin + 2500] for begin in range(0, PARSED, 2500)]
        )
        path.write_bytes(pickle.dumps([tree for trees in found for tree in trees]))


def training_trees(without: str) -> list[Tree]:
    return [tree for tree in ewt("train") if genre_of(tree) != without]


def made_parts(folder: Path, without: str) -> None:
    """A realizer (without a network), and the sentences that its network is trained on."""
    if (folder / f"{without}.npz").exists():
        return
    train = training_trees(without)
    capitals = learn_capitals(train)
    lowered = [capitals.lowered_tree(tree) for tree in train]
    forest = Forest.of_trees(lowered)
    right = [Label(category_of(word), word.relation) for tree in lowered for word in tree.words]
    with ProcessPoolExecutor(3) as pool:
        chosen = pool.submit(chosen_labels, lowered)
        chooser = pool.submit(
            train_chooser, forest, right, ChooserTraining(min_weight=MIN_CHOOSER_WEIGHT)
        )
        how = OrdererTraining(min_weight=MIN_ORDERER_WEIGHT)
        of_right = pool.submit(train_orderer, forest, forest.by_tree(right), how)
        jackknifed = chosen.result()
        weights = {
            "words": train_orderer(forest, forest.by_tree(jackknifed), how),
            "labels": of_right.result(),
        }
    realizer = LearnedRealizer.load(shipped(LEARNED_REALIZER_FILE), None)
    realizer = replace(
        realizer,
        chooser=chooser.result(),
        orderers={kind: replace(realizer.orderers[kind], weights=weights[kind]) for kind in KINDS},
    )
    realizer.save(folder / f"{without}.learned.wpm")
    numbering = Numbering(capitals, vocabulary(lowered), realizer.chooser)
    parsed = pickle.loads((folder / "parsed.pickle").read_bytes())
    parts = [*ewt_arrays(lowered, numbering, jackknifed), numbering.arrays(PARSED_PART, parsed)]
    arrays = {**joined(parts), **numbering.sizes()}
    np.savez(folder / f"{without}.npz", **arrays)  # type: ignore[arg-type, unused-ignore]


def made_outputs(folder: Path, minutes: float, without: str) -> None:
    """Realizations of EWT dev by kind of input, and what they should be."""
    path = folder / f"{without}.json"
    if path.exists():
        return
    weights = folder / f"{without}.weights.npz"
    if not weights.exists():
        command = [sys.executable, "-m", "benchmarks", "order-network-training"]
        options = ["-o", weights, "--minutes", minutes]
        subprocess.run([*command, folder / f"{without}.npz", *map(str, options)], check=True)
    train = training_trees(without)
    capitals = learn_capitals(train)
    lowered = [capitals.lowered_tree(tree) for tree in train]
    learned = folder / f"{without}.learned.wpm"
    plain = LearnedRealizer.load(learned, load_model(shipped(NGRAMS_FILE)))
    with np.load(weights) as file:
        network = network_of(dict(file), lowered, plain, {})
    tuned = OrderNetwork.load(shipped(ORDER_NETWORK_FILE)).tuned
    realizer = plain.with_network(replace(network, tuned=tuned))
    outputs = {
        kind: [
            one.best[0].text.lower()
            for one in realizer.realize(
                [unordered(capitals.lowered_tree(tree), kind=kind) for tree in ewt("dev")]
            )
        ]
        for kind in KINDS
    }
    path.write_text(json.dumps(outputs))


@dataclass(frozen=True)
class Loss:
    """The figures of one genre by kind of input. `bleus` has pairs: of the realizer trained on all genres, and of
    the one trained without this genre. `losses` has the difference with the ends of its 95% interval."""

    genre: str
    dev_sentences: int
    train_sentences: int
    bleus: dict[str, tuple[float, float]]
    losses: dict[str, tuple[float, float, float]]


def compared(folder: Path, genre: str) -> Loss:
    """The interval is a bootstrap over the sentences of the genre."""
    import sacrebleu

    places = [place for place, tree in enumerate(ewt("dev")) if genre_of(tree) == genre]
    wanted = [" ".join(word.form for word in tree.words).lower() for tree in ewt("dev")]
    metric = sacrebleu.BLEU(tokenize="none", force=True)
    bleus, losses = {}, {}
    drawn = np.random.default_rng(1).integers(len(places), size=(RESAMPLES, len(places)))

    def bleu(statistics: np.ndarray) -> float:
        return float(metric._compute_score_from_stats(statistics.sum(0).tolist()).score)

    for kind in KINDS:
        both = []
        for which in (ALL, genre):
            found = json.loads((folder / f"{which}.json").read_text())[kind]
            pairs = [found[place] for place in places], [[wanted[place] for place in places]]
            both.append(np.array(metric._extract_corpus_statistics(*pairs)))
        whole, rest = both
        bleus[str(kind)] = bleu(whole), bleu(rest)
        differences = [bleu(whole[rows]) - bleu(rest[rows]) for rows in drawn]
        low, high = np.quantile(differences, [0.025, 0.975])
        losses[str(kind)] = bleu(whole) - bleu(rest), float(low), float(high)
    training = sum(genre_of(tree) == genre for tree in ewt("train"))
    return Loss(genre, len(places), training, bleus, losses)


def page(rows: Sequence[Loss], minutes: float) -> str:
    def cells(row: Loss, kind: str) -> str:
        (whole, rest), (loss, low, high) = row.bleus[kind], row.losses[kind]
        low, high = round(low, 1) + 0.0, round(high, 1) + 0.0  # no −0.0
        return f"{whole:.1f} | {rest:.1f} | {loss:.1f} [{low:.1f}, {high:.1f}]"

    table = "\n".join(
        f"| {row.genre} | {row.train_sentences:,} | {row.dev_sentences} | {cells(row, 'words')} | {cells(row, 'labels')} |"
        for row in rows
    )
    means = {
        kind: sum(row.losses[kind][0] for row in rows) / len(rows) for kind in ("words", "labels")
    }
    highest = {kind: max(row.losses[kind][0] for row in rows) for kind in ("words", "labels")}
    return f"""# The realizer on a genre that it was not trained on

How much worse does the learned realizer of English become on a genre that it was not trained on? If it is trained without a genre, it loses on texts of this genre {means["words"]:.1f} points of BLEU on average (at most {highest["words"]:.1f}) if the nodes of the input tree have only words (`words`), and {means["labels"]:.1f} (at most {highest["labels"]:.1f}) if they also have relations and parts of speech (`labels`).

The realizer is trained on the English Web Treebank (EWT), which has texts of five genres. Here its parts were trained on all of EWT train, and five times without the sentences of one genre. The table compares, for each genre, the realizer trained on everything with
the one trained without this genre, on the sentences of the genre in EWT dev. The inputs are trees without word order. BLEU is computed as on [the page of the learned realizer](realize_learned.md).

[How the realizer is trained](../realize_learned.md#how-it-is-trained) explains its parts. These were trained again without the genre: the chooser of labels, the orderers for `words` and for `labels`, the list of words that are usually in lower case, and the order network (with its vocabulary). Each order network
was trained for {minutes:g} minutes on a GPU, on EWT and at most {PARSED:,} parsed sentences of books and speeches, and without larger networks as teachers. So all figures are below those of the shipped realizer; only their differences matter here.

The other parts are the shipped ones, which were trained on all genres: the n-gram model, the small language model (the training of the order network starts from its word vectors), and the parser of the books and speeches. The weights with which the network and the n-gram model count were tuned on all of dev.
On a genre that these parts had not read either, the loss may be larger.

| genre | sentences in EWT train | sentences in EWT dev | `words`: BLEU, all genres | `words`: BLEU, without the genre | `words`: loss [95% interval] | `labels`: BLEU, all genres | `labels`: BLEU, without the genre | `labels`: loss [95% interval] |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{table}

The intervals are from a bootstrap over sentences of dev. They do not include how much two trainings differ by chance.
"""


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--minutes", type=float, default=1.3, help="for each order network")
    arguments.add_argument("--processes", type=int, default=1)
    arguments.add_argument("--only", choices=("parts", "outputs"))
    given = arguments.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    trainings = (ALL, *GENRES)
    is_done = all((given.folder / f"{which}.json").exists() for which in trainings)
    if given.only != "outputs" and not is_done:
        parsed_sentences(given.folder, given.processes)
        with ProcessPoolExecutor(given.processes) as pool:
            list(pool.map(partial(made_parts, given.folder), trainings))
    if given.only == "parts":
        return
    with ProcessPoolExecutor(given.processes) as pool:
        list(pool.map(partial(made_outputs, given.folder, given.minutes), trainings))
    if given.only:
        return
    from benchmarks.pages import write_page

    rows = [compared(given.folder, genre) for genre in GENRES]
    write_page("realize-genres", page(rows, given.minutes))


if __name__ == "__main__":
    main()
