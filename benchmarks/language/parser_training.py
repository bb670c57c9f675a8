"""Trains the shipped parser of English: `python -m benchmarks parser-training -o FOLDER [--minutes 22 31]`.

Reads EWT train and dev, and ATIS train. Needs torch, of which one thread is used; no GPU. The shipped tagger and the
shipped small language model give the parser what it sees of words. Tags in training are jackknifed, as
`wellput train parser` does it. Some sentences are read in lower case or without final punctuation, and some of ATIS
are added. The minutes are those of each cycle, in time of the processor: the learning rate falls from its largest to nearly 0, and the next cycle
begins with the mean weights of the one before (Loshchilov & Hutter 2017). Writes `parser.wpm`, and prints the scores on
EWT dev on the way. The clock rules the learning rate, so no two runs give the same weights.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from benchmarks.data import ewt
from benchmarks.language.parser_examples import (
    AFFIXES,
    Batch,
    Example,
    Inventory,
    Material,
    batch_of,
    batches,
    prepared,
)
from wellput.core.tree import Tree
from wellput.language.models.biaffine_parser import (
    AFFIX_KINDS,
    SIDES,
    VECTORS,
    BiaffineParser,
    WholeMatrix,
)
from wellput.language.models.word_analysis import WordAnalysis
from wellput.language.models.word_network import WordNetwork
from wellput.language.shipped import NETWORK_FILE, PARSER_FILE, shipped

WORD_SIZE, AFFIX_SIZE, TAG_SIZE, READ_SIZE = 80, 64, 32, 128
STATE, ARC_SIZE, LABEL_SIZE = 224, 192, 64
DROPOUT, READ_DROPOUT = 0.33, 0.2
WORD_DROPOUT, TAG_DROPOUT = 0.15, 0.15
RATE, WARM_STEPS, LEAST_RATE = 2e-3, 200, 0.01
AVERAGED_STEPS = 1000
LOOK_EVERY = 3
"""Passes between two looks at EWT dev."""
TAG_WEIGHT = 0.3


def same_for_all_words(x: Tensor, share: float, is_training: bool) -> Tensor:
    """Dropout with one mask for the whole sentence."""
    if not is_training:
        return x
    kept = x.new_empty(x.shape[0], 1, x.shape[2]).bernoulli_(1 - share)
    return x * (kept / (1 - share))


class Network(nn.Module):  # type: ignore[misc]
    def __init__(self, inventory: Inventory, read_size: int) -> None:
        super().__init__()
        n_labels = len(inventory.relations)
        self.words = nn.Embedding(len(inventory.vocabulary) + 1, WORD_SIZE)
        self.affixes = nn.EmbeddingBag(AFFIXES, AFFIX_SIZE, mode="sum")
        self.tags = nn.Embedding(len(inventory.tags) + 1, TAG_SIZE)
        self.read = nn.Linear(read_size, READ_SIZE)
        size = WORD_SIZE + AFFIX_SIZE + TAG_SIZE + READ_SIZE
        self.layers = nn.ModuleList(
            nn.ModuleList(nn.LSTM(width, STATE, batch_first=True) for _ in range(2))
            for width in (size, 2 * STATE)
        )
        self.arc_heads = nn.Linear(2 * STATE, ARC_SIZE)
        self.arc_dependents = nn.Linear(2 * STATE, ARC_SIZE)
        self.label_heads = nn.Linear(2 * STATE, LABEL_SIZE)
        self.label_dependents = nn.Linear(2 * STATE, LABEL_SIZE)
        self.arc_root = nn.Parameter(torch.zeros(ARC_SIZE))
        self.label_root = nn.Parameter(torch.zeros(LABEL_SIZE))
        self.arcs = nn.Linear(ARC_SIZE, ARC_SIZE)
        self.labels = nn.Linear(LABEL_SIZE, n_labels * LABEL_SIZE)
        self.head_labels = nn.Linear(LABEL_SIZE, n_labels)
        self.dependent_labels = nn.Linear(LABEL_SIZE, n_labels, bias=False)
        self.xpos = nn.Linear(2 * STATE, len(inventory.tags))
        self.upos = nn.Linear(2 * STATE, len(inventory.categories))
        nn.init.normal_(self.words.weight, std=0.3)
        nn.init.normal_(self.affixes.weight, std=0.1)
        nn.init.normal_(self.tags.weight, std=0.3)
        nn.init.zeros_(self.labels.weight)
        nn.init.zeros_(self.labels.bias)
        nn.init.normal_(self.arcs.weight, std=0.02)
        nn.init.zeros_(self.arcs.bias)
        for layer in self.layers:
            for side in layer:
                nn.init.orthogonal_(side.weight_hh_l0)
                nn.init.zeros_(side.bias_hh_l0)
                nn.init.zeros_(side.bias_ih_l0)
                with torch.no_grad():
                    side.bias_ih_l0[STATE : 2 * STATE] = 1.0
                side.bias_hh_l0.requires_grad_(False)

    def states(self, batch: Batch) -> Tensor:
        is_training = self.training
        words, tags = batch.words, batch.tags
        if is_training:
            words = words.masked_fill(torch.rand(words.shape) < WORD_DROPOUT, 0)
            tags = tags.masked_fill(torch.rand(tags.shape) < TAG_DROPOUT, len(self.tags.weight) - 1)
        shape = (*words.shape, AFFIX_SIZE)
        affixes = self.affixes(batch.affixes.reshape(-1, AFFIX_KINDS)).reshape(shape)
        given = same_for_all_words(batch.read, READ_DROPOUT, is_training)
        x = torch.cat([self.words(words), affixes, self.tags(tags), self.read(given)], -1)
        x = same_for_all_words(x, DROPOUT, is_training)
        for layer in self.layers:
            there = layer[0](x)[0]
            back = layer[1](flipped(x, batch.flipped))[0]
            x = torch.cat([there, flipped(back, batch.flipped)], -1)
            x = same_for_all_words(x, DROPOUT, is_training)
        return x

    def parts(self, x: Tensor, layer: nn.Linear) -> Tensor:
        return same_for_all_words(nn.functional.leaky_relu(layer(x), 0.125), DROPOUT, self.training)

    def arc_scores(self, x: Tensor, is_word: Tensor) -> Tensor:
        """For each word the score of each head; column 0 is the root."""
        heads = self.parts(x, self.arc_heads)
        heads = torch.cat([self.arc_root.expand(len(x), 1, -1), heads], 1)
        wanted = self.arcs(self.parts(x, self.arc_dependents))
        scores = wanted @ heads.transpose(1, 2)
        is_head = torch.cat([is_word.new_ones(len(x), 1), is_word], 1)
        return scores.masked_fill(~is_head[:, None], -1e9)

    def label_scores(self, x: Tensor, heads: Tensor, is_word: Tensor) -> Tensor:
        """For each word (of all sentences in one row) the score of each relation to its head."""
        own = self.parts(x, self.label_dependents)
        others = self.parts(x, self.label_heads)
        others = torch.cat([self.label_root.expand(len(x), 1, -1), others], 1)
        places = heads.clamp(min=0)[..., None].expand(-1, -1, LABEL_SIZE)
        others = others.gather(1, places)[is_word]
        own = own[is_word]
        wanted = self.labels(own).view(len(own), -1, LABEL_SIZE)
        scores = (wanted @ others[:, :, None])[:, :, 0]
        return scores + self.head_labels(others) + self.dependent_labels(own)

    def loss(self, batch: Batch) -> Tensor:
        x = self.states(batch)
        right = batch.is_word
        arcs = nn.functional.cross_entropy(
            self.arc_scores(x, right)[right], batch.heads[right], reduction="sum"
        )
        labels = nn.functional.cross_entropy(
            self.label_scores(x, batch.heads, right), batch.labels[right], reduction="sum"
        )
        tags = sum(
            nn.functional.cross_entropy(layer(x)[right], gold[right], reduction="sum")
            for layer, gold in ((self.xpos, batch.gold_tags), (self.upos, batch.categories))
        )
        return (arcs + labels + TAG_WEIGHT * tags) / right.sum()


def flipped(x: Tensor, places: Tensor) -> Tensor:
    """Each sentence from its last word to its first."""
    return x.gather(1, places[..., None].expand(-1, -1, x.shape[2]))


@dataclass(frozen=True)
class Right:
    """For each sentence: its words, and how many of them have the right head, head and universal relation, and tags."""

    words: NDArray[np.int64]
    uas: NDArray[np.int64]
    las: NDArray[np.int64]
    xpos: NDArray[np.int64]
    upos: NDArray[np.int64]


def right_words(network: Network, dev: Sequence[Example], relations: Sequence[str]) -> Right:
    """Each word takes its best head, whether that gives a tree or not."""
    network.eval()
    plain = [name.partition(":")[0] for name in relations]
    universal = np.array([plain.index(name) for name in plain])
    found = np.zeros((5, len(dev)), np.int64)
    order = sorted(range(len(dev)), key=lambda place: len(dev[place].words))
    for begin in range(0, len(order), 64):
        places = order[begin : begin + 64]
        batch = batch_of([dev[place] for place in places])
        with torch.no_grad():
            x, is_word = network.states(batch), batch.is_word
            heads = network.arc_scores(x, is_word).argmax(-1)
            labels = torch.zeros_like(heads)
            labels[is_word] = network.label_scores(x, heads, is_word).argmax(-1)
            is_head = (heads == batch.heads).numpy()
            is_label = universal[labels.numpy()] == universal[batch.labels.clamp(min=0).numpy()]
            is_xpos = (network.xpos(x).argmax(-1) == batch.gold_tags).numpy()
            is_upos = (network.upos(x).argmax(-1) == batch.categories).numpy()
        for row, right in enumerate((True, is_head, is_head & is_label, is_xpos, is_upos)):
            found[row, places] = (is_word.numpy() & right).sum(1)
    network.train()
    return Right(*found)


def scores(network: Network, dev: Sequence[Example], relations: Sequence[str]) -> dict[str, float]:
    """In percent of all words."""
    found = right_words(network, dev, relations)
    return {
        name: 100 * float(getattr(found, name).sum() / found.words.sum())
        for name in ("uas", "las", "xpos", "upos")
    }


def train(
    network: Network, material: Material, minutes: float, seed: int, look: Callable[[str], None]
) -> None:
    """One cycle, which leaves the mean of the last weights; `look` is called with these every few passes."""
    rng = np.random.default_rng(seed)
    weights = [weight for weight in network.parameters() if weight.requires_grad]
    mean = [weight.detach().clone() for weight in weights]
    optimizer = torch.optim.AdamW(weights, lr=RATE, betas=(0.9, 0.95), weight_decay=1e-4)
    started, step, passes, done = time.process_time(), 0, 0, 0.0
    while done < 1:
        for batch in batches(material.drawn(rng), rng):
            done = min(1.0, (time.process_time() - started) / (60 * minutes))
            rate = (1 + math.cos(math.pi * done)) / 2 * (1 - LEAST_RATE) + LEAST_RATE
            for group in optimizer.param_groups:
                group["lr"] = RATE * min(1, (step + 1) / WARM_STEPS) * rate
            optimizer.zero_grad(set_to_none=True)
            network.loss(batch).backward()
            nn.utils.clip_grad_norm_(weights, 5.0)
            optimizer.step()
            share = 1 / min(step + 1, AVERAGED_STEPS)
            torch._foreach_lerp_(mean, [weight.detach() for weight in weights], share)
            step += 1
        passes += 1
        if passes % LOOK_EVERY == 0 or done >= 1:
            own = [weight.detach().clone() for weight in weights]
            _put(weights, mean)
            look(f"pass {passes}, step {step}, {100 * done:.0f} % of the cycle")
            if done < 1:
                _put(weights, own)


def _put(weights: Sequence[Tensor], values: Sequence[Tensor]) -> None:
    for weight, value in zip(weights, values, strict=True):
        weight.data.copy_(value)


def exported(network: Network, inventory: Inventory, trees: Sequence[Tree]) -> BiaffineParser:
    """The parser with rounded weights."""
    weights = {name: own.double().numpy() for name, own in network.state_dict().items()}

    def matrix(*names: str) -> WholeMatrix:
        """Linear layers, one below the other."""
        values = np.vstack([weights[f"{name}.weight"] for name in names])
        biases = [
            weights.get(f"{name}.bias", np.zeros(len(weights[f"{name}.weight"]))) for name in names
        ]
        return WholeMatrix.rounded(values, np.concatenate(biases))

    tables = {name: WholeMatrix.rounded(weights[f"{name}.weight"]) for name in VECTORS}
    for place, name in enumerate(SIDES):
        own = f"layers.{place // 2}.{place % 2}"
        for part, ending in (("inputs", "ih_l0"), ("states", "hh_l0")):
            tables[f"{name}.{part}"] = WholeMatrix.rounded(
                weights[f"{own}.weight_{ending}"], weights[f"{own}.bias_{ending}"]
            )
    tables["parts"] = matrix(
        "arc_heads", "arc_dependents", "label_heads", "label_dependents", "xpos", "upos"
    )
    for name in ("read", "arcs", "labels", "head_labels", "dependent_labels"):
        tables[name] = matrix(name)
    return BiaffineParser(
        inventory.vocabulary,
        inventory.tags,
        inventory.categories,
        inventory.relations,
        tables,
        (weights["arc_root"].astype(np.float32), weights["label_root"].astype(np.float32)),
        WordAnalysis.learn(trees),
        WordNetwork.load(shipped(NETWORK_FILE)),
    )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("-o", "--output", type=Path, required=True)
    arguments.add_argument("--minutes", type=float, nargs="+", default=[22, 31])
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(given.seed)
    material = prepared(given.seed)
    inventory = material.inventory
    network = Network(inventory, material.read_size)

    def look(where: str) -> None:
        found = scores(network, material.dev, inventory.relations)
        print(where, {name: round(score, 2) for name, score in found.items()}, flush=True)

    for cycle, minutes in enumerate(given.minutes):
        train(network, material, minutes, given.seed + cycle, look)
    exported(network, inventory, ewt("train")).save(given.output / PARSER_FILE, {})
