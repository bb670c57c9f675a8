"""The order network in torch, what it reads, and its weights as whole numbers."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from benchmarks.language.order_network_data import (
    N_COUNTS,
    N_DEPTHS,
    N_PLACES,
    N_SIZES,
    Sentence,
    Structure,
)
from wellput.language.models.word_network import WordNetwork
from wellput.language.realize.order_network import (
    LABEL_KINDS,
    LABEL_SOURCES,
    MAX_PIECES,
    N_ENDINGS,
    SHAPE_COLUMN,
    SHAPES,
    OrderNetwork,
    OrderVocabulary,
    TunedWeights,
    rounded_rows,
)
from wellput.language.realize.wording import WordingChooser
from wellput.language.shipped import NETWORK_FILE, shipped

VECTOR, STATE, LAYERS, HEADS, INNER = 96, 128, 4, 8, 256
DECODER, QUERY = 192, 96
DROPOUT = 0.2
WORDS_A_BATCH = 1200
REHUNG_SHARE, VARIANTS = 0.15, 2
UNIVERSAL_SHARE, PLAIN_RELATION_SHARE = 0.15, 0.1
UNKNOWN_LABEL_SHARE, UNKNOWN_WORD_SHARE = 0.03, 0.12
MATRIX_STEPS, TABLE_STEPS = 31, 5
"""The largest whole number that weights are rounded to."""


class Batch(NamedTuple):
    """`pieces` and `bags` are those of all words in a row. `treelets` are by size: the treelets' heads
    and items (word, first, last) as places among all words."""

    numbers: Tensor  # sentence × word × 9
    pieces: Tensor
    bags: Tensor
    places: Tensor
    is_word: Tensor
    wanted: Tensor  # sentence × word × 2, −1 where nothing is to be guessed
    treelets: list[tuple[Tensor, Tensor]]
    steps: int


class View(NamedTuple):
    """A sentence as it is read once. `source` is the number of `LABEL_SOURCES`."""

    sentence: Sentence
    labels: NDArray[np.int64]
    structure: Structure
    source: int


def drawn_view(sentence: Sentence, rng: np.random.Generator, *, is_parsed: bool = False) -> View:
    structure = sentence.structures[0]
    if len(sentence.structures) > 1 and rng.random() < REHUNG_SHARE:
        structure = sentence.structures[int(rng.integers(1, len(sentence.structures)))]
    is_chosen = rng.random() < 0.5
    right, universal, chosen = sentence.labels
    given = universal if rng.random() < UNIVERSAL_SHARE else right
    labels = chosen if is_chosen else given
    labels = labels.copy()
    if rng.random() < PLAIN_RELATION_SHARE:
        labels[:, 1] = labels[:, 2]
    labels[rng.random(len(labels)) < UNKNOWN_LABEL_SHARE, 0] = 0
    labels[rng.random(len(labels)) < UNKNOWN_LABEL_SHARE, 1:] = 0
    source = "chosen" if is_chosen else "parsed" if is_parsed else "given"
    return View(sentence, labels, structure, LABEL_SOURCES.index(source))


def plain_view(sentence: Sentence, labels: int, structure: int = 0) -> View:
    return View(sentence, sentence.labels[labels], sentence.structures[structure], int(labels == 2))


def batch_of(views: Sequence[View]) -> Batch:
    width = max(len(view.labels) for view in views)
    shape = (len(views), width)
    numbers = np.zeros((*shape, 9), np.int64)
    pieces = np.full((*shape, MAX_PIECES), -1, np.int64)
    places = np.full((len(views), width, width), N_PLACES - 1, np.int64)
    is_word = np.zeros(shape, bool)
    wanted = np.full((*shape, 2), -1, np.int64)
    by_size: dict[int, list[tuple[NDArray[np.int64], NDArray[np.int64]]]] = defaultdict(list)
    for row, (sentence, labels, structure, source) in enumerate(views):
        n = len(labels)
        numbers[row, :n] = np.hstack([sentence.forms[:, :3], labels, structure.counts])
        numbers[row, :n, SHAPE_COLUMN] += len(SHAPES) * source
        pieces[row, :n] = sentence.forms[:, 3:]
        places[row, :n, :n] = structure.places
        is_word[row, :n] = True
        if source == LABEL_SOURCES.index("chosen"):
            wanted[row, :n] = sentence.labels[0][:, :2]
        begin = 0
        for head, size in zip(structure.heads.tolist(), structure.sizes.tolist(), strict=True):
            by_size[size].append(
                (head + row * width, structure.items[begin : begin + size] + row * width)
            )
            begin += size
    flat = pieces.reshape(-1, MAX_PIECES)
    there = flat >= 0
    treelets = [
        (torch.tensor([h for h, _ in own]), torch.from_numpy(np.stack([i for _, i in own])))
        for _, own in sorted(by_size.items())
    ]
    ends = np.cumsum(there.sum(1))
    return Batch(
        torch.from_numpy(numbers),
        torch.from_numpy(flat[there]),
        torch.from_numpy(np.concatenate([[0], ends[:-1]])),
        torch.from_numpy(places),
        torch.from_numpy(is_word),
        torch.from_numpy(wanted),
        treelets,
        sum(len(own) * (size - 1) for size, own in by_size.items()),
    )


def batches(views: Sequence[View], rng: np.random.Generator) -> Iterator[Batch]:
    """Sentences of similar length together, in random order."""
    lengths = np.array([len(view.labels) for view in views])
    order = np.argsort(lengths + 3 * rng.random(len(views)), kind="stable")
    cuts, begin = [], 0
    for end in range(1, len(order) + 1):
        if end == len(order) or (end + 1 - begin) * lengths[order[end]] > WORDS_A_BATCH:
            cuts.append(order[begin:end])
            begin = end
    for cut in rng.permutation(len(cuts)):
        yield batch_of([views[place] for place in cuts[cut]])


class Layer(nn.Module):  # type: ignore[misc, unused-ignore]
    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.before, self.between = nn.LayerNorm(STATE), nn.LayerNorm(STATE)
        self.attention, self.joined = nn.Linear(STATE, 3 * STATE), nn.Linear(STATE, STATE)
        self.inner, self.outer = nn.Linear(STATE, INNER), nn.Linear(INNER, STATE)
        self.bias = nn.Parameter(torch.zeros(HEADS, N_PLACES))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, places: Tensor, is_word: Tensor) -> Tensor:
        rows, width, _ = x.shape
        own = self.attention(self.before(x)).view(rows, width, 3, HEADS, STATE // HEADS)
        queries, keys, values = own.permute(2, 0, 3, 1, 4)
        # row, head, word, other
        bias = self.bias.t()[places].permute(0, 3, 1, 2)
        scores = queries @ keys.transpose(2, 3) / math.sqrt(STATE // HEADS) + bias
        scores = scores.masked_fill(~is_word[:, None, None, :], -1e9)
        seen = (self.dropout(scores.softmax(-1)) @ values).transpose(1, 2).reshape(x.shape)
        x = x + self.dropout(self.joined(seen))
        return x + self.dropout(self.outer(self.dropout(self.inner(self.between(x)).relu())))


class Network(nn.Module):  # type: ignore[misc, unused-ignore]
    def __init__(
        self, vocab: OrderVocabulary, vectors: NDArray[np.float32], dropout: float = DROPOUT
    ) -> None:
        super().__init__()
        self.pieces = nn.EmbeddingBag.from_pretrained(
            torch.from_numpy(vectors), freeze=False, mode="mean"
        )
        self.from_pieces = nn.Linear(VECTOR, STATE, bias=False)
        sizes = (
            len(vocab.words) + 1,
            N_ENDINGS,
            len(SHAPES) * len(LABEL_SOURCES),
            len(vocab.categories) + 1,
            len(vocab.relations) + 1,
            len(vocab.relations) + 1,
            N_COUNTS,
            N_SIZES,
            N_DEPTHS,
        )
        self.tables = nn.ModuleList(nn.Embedding(size, STATE) for size in sizes)
        for table in self.tables:
            nn.init.normal_(table.weight, std=0.15)
        self.layers = nn.ModuleList(Layer(dropout) for _ in range(LAYERS))
        self.last = nn.LayerNorm(STATE)
        self.dropout = nn.Dropout(dropout)
        # An item as the head, as the one before, as the one before that, and as placed at all.
        self.as_head = nn.Linear(STATE, STATE)
        self.context = nn.Linear(STATE, DECODER)
        self.before = nn.Linear(2 * STATE, DECODER, bias=False)
        self.earlier = nn.Linear(STATE, DECODER, bias=False)
        self.placed = nn.Linear(STATE, DECODER, bias=False)
        self.query = nn.Linear(DECODER, QUERY)
        self.before_query = nn.Linear(2 * STATE, QUERY, bias=False)
        self.left_query = nn.Linear(STATE, QUERY, bias=False)
        self.key = nn.Linear(2 * STATE, QUERY, bias=False)
        self.starts = nn.Parameter(torch.zeros(2, DECODER))
        self.start_query = nn.Parameter(torch.zeros(QUERY))
        self.category, self.relation = (nn.Linear(STATE, size) for size in (sizes[3], sizes[4]))

    def read(self, batch: Batch) -> Tensor:
        x = self.from_pieces(self.pieces(batch.pieces, batch.bags)).view(
            *batch.is_word.shape, STATE
        )
        if self.training:
            known = torch.rand(batch.is_word.shape) >= UNKNOWN_WORD_SHARE
            x = x * known[..., None]
        for place, table in enumerate(self.tables):
            numbers = batch.numbers[..., place]
            if self.training and place == 0:
                numbers = numbers * known * (torch.rand(known.shape) >= UNKNOWN_WORD_SHARE)
            x = x + table(numbers)
        x = self.dropout(x)
        for layer in self.layers:
            x = layer(x, batch.places, batch.is_word)
        return self.last(x)

    def choices(self, x: Tensor, heads: Tensor, items: Tensor) -> Tensor:
        """Log probabilities: treelet × step × item, where items stand in their right order."""
        words, first, last = (x[items[..., column]] for column in range(3))
        is_head = (items[..., 0] == heads[:, None])[..., None]
        words = torch.where(is_head, self.as_head(words), words)
        begun, ended = torch.cat([words, last], -1), torch.cat([words, first], -1)
        n = items.shape[1]

        def shifted(values: Tensor, start: Tensor, steps: int) -> Tensor:
            ahead = start.expand(len(values), steps, -1)
            return torch.cat([ahead, values[:, : n - steps]], 1)

        placed = self.placed(words)
        state = self.context(x[heads])[:, None] + placed.cumsum(1) - placed
        state = state + shifted(self.before(begun), self.starts[0], 1)
        state = state + shifted(self.earlier(words), self.starts[1], min(2, n))
        left = self.left_query(words)
        left = left.sum(1, keepdim=True) - left.cumsum(1) + left
        queries = self.query(self.dropout(state.relu())) + left
        queries = queries + shifted(self.before_query(begun), self.start_query, 1)
        scores = queries @ self.key(ended).transpose(1, 2) / math.sqrt(QUERY)
        is_left = torch.ones(n, n).triu().bool()
        return scores.masked_fill(~is_left, -1e9).log_softmax(-1)

    def losses(self, batch: Batch) -> tuple[Tensor, Tensor, int, int]:
        """Of the order, by step, and of the labels, by word; the treelets and how many are right when
        all before is right."""
        read = self.read(batch)
        flat = read.view(-1, STATE)
        loss = torch.zeros(())
        right = total = 0
        for heads, items in batch.treelets:
            scores = self.choices(flat, heads, items)
            own = scores.diagonal(dim1=1, dim2=2)
            loss = loss - own.sum()
            with torch.no_grad():
                right += int((own >= scores.max(-1).values - 1e-6).all(1).sum())
            total += len(heads)
        labels = torch.zeros(())
        if self.training:
            wanted = batch.wanted.view(-1, 2)
            rows = (wanted[:, 0] >= 0).nonzero()[:, 0]
            if len(rows):
                for column, head in enumerate((self.category, self.relation)):
                    labels = labels + nn.functional.cross_entropy(
                        head(flat[rows]), wanted[rows, column]
                    )
        return loss / max(batch.steps, 1), labels, right, total


def piece_vectors() -> NDArray[np.float32]:
    """The main directions of the vectors of the shipped network of words."""
    matrix = WordNetwork.load(shipped(NETWORK_FILE)).vectors
    vectors = matrix.steps * matrix.scales[:, None].astype(np.float64)
    _, _, directions = np.linalg.svd(vectors - vectors.mean(0), full_matrices=False)
    found = (vectors - vectors.mean(0)) @ directions[:VECTOR].T
    return np.asarray(found / found.std(), np.float32)


def exported(
    network: Network,
    vocab: OrderVocabulary,
    frequent: frozenset[str],
    wording: WordingChooser,
    card: dict[str, Any],
) -> OrderNetwork:
    """The network with whole numbers for weights; how much it counts is tuned later. Rows of words
    that are not among `frequent` are left out."""
    found = {name: value.double().numpy() for name, value in network.state_dict().items()}
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
    for number in range(len(network.tables)):
        put(f"table{number}", found[f"tables.{number}.weight"], most=TABLE_STEPS)
    for number in range(LAYERS):
        own, name = f"layers.{number}", f"layer{number}"
        put_normalization(f"{name}.before", f"{own}.before")
        put_normalization(f"{name}.between", f"{own}.between")
        scale = np.ones(3 * STATE)
        scale[:STATE] /= math.sqrt(STATE // HEADS)
        weight, bias = found[f"{own}.attention.weight"], found[f"{own}.attention.bias"]
        put(f"{name}.attention", weight * scale[:, None], bias=bias * scale)
        for part in ("joined", "inner", "outer"):
            put_linear(f"{name}.{part}", f"{own}.{part}")
        parts[f"{name}.places"] = found[f"{own}.bias"].astype(np.float32).ravel()
    put_normalization("last", "last")
    for part in ("as_head", "context", "query"):
        put_linear(part, part)
    both = {part: found[f"{part}.weight"] for part in ("before", "before_query", "key")}
    both["key"] = both["key"] / math.sqrt(QUERY)
    items = (
        both["before"][:, :STATE],
        found["earlier.weight"],
        found["placed.weight"],
        both["before_query"][:, :STATE],
        found["left_query.weight"],
        both["key"][:, :STATE],
    )
    put("items", np.vstack(items))
    put("ends", np.vstack([both[part][:, STATE:] for part in ("before", "before_query", "key")]))
    parts["starts"] = np.concatenate([found["starts"].ravel(), found["start_query"]]).astype(
        np.float32
    )
    tuned = {kind: TunedWeights() for kind in LABEL_KINDS}
    return OrderNetwork(vocab, parts, LAYERS, HEADS, tuned, wording, card)
