"""How much the parser loses on a genre that it was not trained on: `python -m benchmarks parser-genres`.

Trains a parser on all of EWT train, and for each genre a parser without the sentences of this genre, all for the same
processor time, and compares the two on the sentences of the genre in EWT dev. The shipped parser is trained ten times as
long (`benchmarks/language/parser_training.py`). Tagger and small language model are the shipped ones, which have read all genres.
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
    """The figures of one genre, in percent. `uas` and `las` are pairs: of the parser trained on all genres,
    and of the parser trained without this one. `low` to `high` is the 95% interval of the loss of LAS."""

    genre: str
    dev_sentences: int
    train_sentences: int
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
    """Gives words that no training sentence has the vector of the unknown word, which has number 0: their own
    vectors are still random."""
    seen = np.zeros(len(inventory.vocabulary) + 1, bool)
    for group in groups:
        for example in group:
            seen[example.words] = True
    with torch.no_grad():
        network.words.weight[torch.tensor(~seen)] = network.words.weight[0].clone()


def compared(
    genre: str, whole: Right, rest: Right, is_own: np.ndarray, train_sentences: int
) -> Loss:
    """What the parser `rest`, trained without the genre, loses on it compared with `whole`. `is_own` marks the
    sentences of the genre in dev, over which the interval is a bootstrap."""
    words = whole.words[is_own]

    def share(right: np.ndarray) -> float:
        return float(100 * right[is_own].sum() / words.sum())

    lost = whole.las[is_own] - rest.las[is_own]
    drawn = np.random.default_rng(1).integers(len(words), size=(RESAMPLES, len(words)))
    losses = 100 * lost[drawn].sum(1) / words[drawn].sum(1)
    low, high = np.quantile(losses, [0.025, 0.975])
    las = share(whole.las), share(rest.las)
    return Loss(
        genre, len(words), train_sentences, (share(whole.uas), share(rest.uas)), las, las[0] - las[1],
        float(low), float(high),
    )  # fmt: skip


def page(rows: Sequence[Loss], minutes: float) -> str:
    table = "\n".join(
        f"| {one.genre} | {one.train_sentences:,} | {one.dev_sentences} | {one.uas[0]:.1f} / {one.las[0]:.1f} | "
        f"{one.uas[1]:.1f} / {one.las[1]:.1f} | {one.loss:.1f} [{one.low:.1f}, {one.high:.1f}] |"
        for one in rows
    )
    mean = sum(one.loss for one in rows) / len(rows)
    return f"""# The parser on a genre that it was not trained on

How much worse does the parser of English become on a genre that it was not trained on? If it is trained without a genre, it loses {mean:.1f} points of LAS (the percentage of words with the right head and relation) on texts of this genre, on average.

The parser is trained on the English Web Treebank (EWT), which has texts of five genres. Here one parser was trained on all of EWT train, and five others each without the sentences of one genre. The table compares, for each genre, the first parser and the one that was
trained without this genre, on the sentences of the genre in EWT dev. UAS is the percentage of words with the right head.

All six parsers were also trained on ATIS, a treebank of questions about flights. Each training took {minutes:g} minutes of one core, a tenth of the time for the shipped parser. So all figures are below those of [the shipped parser](language_parsing.md); only their differences
matter here. The parsers use the shipped tagger and the shipped small language model, which were trained on all genres. On a genre that these had not read either, the loss would be larger.

| genre | sentences in EWT train | sentences in EWT dev | all genres: UAS / LAS | without the genre: UAS / LAS | loss of LAS, points [95% interval] |
| --- | ---: | ---: | ---: | ---: | ---: |
{table}

The intervals are from a bootstrap over sentences of dev. They do not include how much two trainings differ by chance.
"""


if __name__ == "__main__":
    main()
