"""How much the parser loses on a genre that it was not trained on: `python -m benchmarks parser-genres`.

Trains a parser on all of EWT train, and one for each genre without it, all for the same processor time in one cycle,
and compares the two on the sentences of the genre in EWT dev. The shipped parser is trained ten times as long
(`benchmarks/language/parser_training.py`). Tagger and small language model stay the shipped ones, which have read all genres.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from benchmarks.data import ewt
from benchmarks.language.order_network_data import genre_of
from benchmarks.language.parser_examples import Example, Inventory, prepared
from benchmarks.language.parser_training import Network, Right, right_words, train
from benchmarks.pages import write_page

GENRES = ("answers", "email", "newsgroup", "reviews", "weblog")
RESAMPLES = 2000


@dataclass(frozen=True)
class Loss:
    """On one genre: the scores with it and without it, and the loss with its interval, in percent."""

    genre: str
    sentences: int
    training: int
    uas: tuple[float, float]
    las: tuple[float, float]
    loss: float
    low: float
    high: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5, help="of one core, for each training")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(1)
    material = prepared(given.seed)
    genres = [genre_of(tree) for tree in ewt("train") if tree.words]
    dev_genres = np.array([genre_of(tree) for tree in ewt("dev")])

    def rights(without: str) -> Right:
        groups = [
            group for group, genre in zip(material.groups, genres, strict=True) if genre != without
        ]
        torch.manual_seed(given.seed)
        network = Network(material.inventory, material.read_size)
        train(network, replace(material, groups=groups), given.minutes, given.seed, lambda _: None)
        forget_unseen(network, groups, material.inventory)
        found = right_words(network, material.dev, material.inventory.relations)
        print(without or "all", f"LAS {100 * found.las.sum() / found.words.sum():.2f}", flush=True)
        return found

    whole = rights("")
    rows = []
    for genre in GENRES:
        is_own = dev_genres == genre
        rows.append(compared(genre, whole, rights(genre), is_own, genres.count(genre)))
    write_page("parser-genres", page(rows, given.minutes))


def forget_unseen(
    network: Network, groups: Sequence[tuple[Example, ...]], inventory: Inventory
) -> None:
    """Words that the training did not have are unknown words, whatever their vectors began with."""
    seen = np.zeros(len(inventory.vocabulary) + 1, bool)
    for group in groups:
        for example in group:
            seen[example.words] = True
    with torch.no_grad():
        network.words.weight[torch.tensor(~seen)] = network.words.weight[0].clone()


def compared(genre: str, whole: Right, rest: Right, is_own: np.ndarray, training: int) -> Loss:
    """The interval is a bootstrap over the sentences of the genre."""
    words = whole.words[is_own]

    def share(right: np.ndarray) -> float:
        return float(100 * right[is_own].sum() / words.sum())

    lost = whole.las[is_own] - rest.las[is_own]
    drawn = np.random.default_rng(1).integers(len(words), size=(RESAMPLES, len(words)))
    losses = 100 * lost[drawn].sum(1) / words[drawn].sum(1)
    low, high = np.quantile(losses, [0.025, 0.975])
    las = share(whole.las), share(rest.las)
    return Loss(
        genre, len(words), training, (share(whole.uas), share(rest.uas)), las, las[0] - las[1],
        float(low), float(high),
    )  # fmt: skip


def page(rows: Sequence[Loss], minutes: float) -> str:
    table = "\n".join(
        f"| {one.genre} | {one.training:,} | {one.sentences} | {one.uas[0]:.1f} / {one.las[0]:.1f} | "
        f"{one.uas[1]:.1f} / {one.las[1]:.1f} | {one.loss:.1f} [{one.low:.1f}, {one.high:.1f}] |"
        for one in rows
    )
    mean = sum(one.loss for one in rows) / len(rows)
    return f"""# The parser on a genre that it was not trained on

The parser of English is trained on the English Web Treebank (EWT), which has five genres. Here one parser is trained on all of EWT train, and five
others each without the sentences of one genre. For each genre, the parser trained on everything and the parser trained without this genre are measured on the sentences of the genre in EWT dev. UAS is the percentage of words with the right head, LAS with the right head and relation. All six also train on ATIS, a treebank of questions about flights (in each pass on 15% of its training sentences). Each training takes {minutes:g} minutes
of one core, a tenth of what the shipped parser took, so all results are below those of [the shipped parser](language_parsing.md);
only their differences matter here. The tagger and the small language model, whose outputs the parser uses, are the shipped ones. They
were trained on all genres. For a genre that these parts have not read, either, the loss would be larger.

| genre | sentences in train | in dev | trained on all, UAS / LAS | without the genre | loss of LAS |
| --- | ---: | ---: | ---: | ---: | ---: |
{table}

Without its genre the parser loses {mean:.1f} points of LAS on average. The 95% intervals are from a bootstrap over sentences of dev; they do not
include how much two trainings differ by chance.
"""


if __name__ == "__main__":
    main()
