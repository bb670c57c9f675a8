"""The order network in torch, and the batches that it reads. It needs only numpy and torch.

A tree is read from its heads alone: depths, sizes, places and treelets are computed on the device.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from benchmarks.language.order_network_sizes import (
    CHOSEN,
    N_CLASSES,
    N_PLACES,
    N_SHAPES,
    PARSED,
    SHAPE_COLUMN,
)

MOST_ITEMS = 24
SIZE_GROUPS = (2, 3, 5, 9, MOST_ITEMS)
"""Treelets of similar size are scored together."""
HIDDEN = -1e4

REHUNG_SHARE = 0.15
UNIVERSAL_SHARE, PLAIN_RELATION_SHARE = 0.15, 0.1
UNKNOWN_LABEL_SHARE, UNKNOWN_WORD_SHARE = 0.03, 0.12


@dataclass(frozen=True)
class Size:
    state: int = 128
    layers: int = 4
    heads: int = 8
    inner: int = 256
    decoder: int = 192
    query: int = 96


SHIPPED_SIZE = Size()
TEACHER_SIZE = Size(state=384, layers=6, heads=8, inner=1024, decoder=512, query=192)


class Treelets(NamedTuple):
    """Treelets of similar size: the head's place among all words of the batch; the items (word, first, last)
    in their right order; which of them are there."""

    heads: Tensor
    items: Tensor
    is_item: Tensor


class Batch(NamedTuple):
    numbers: Tensor  # sentence × word × 9
    pieces: Tensor  # sentence × word × 4, −1 is none
    places: Tensor
    is_word: Tensor
    wanted: Tensor  # sentence × word × 2, −1 where nothing is to be guessed
    treelets: list[Treelets]
    steps: Tensor


@dataclass(frozen=True, eq=False)
class Sentences:
    """All words in a row, on a device. `labels` has the columns category, universal category, relation,
    base relation; chosen category, relation, base relation. `hung` are heads with the punctuation elsewhere."""

    forms: Tensor  # form × 7
    words: Tensor
    heads: Tensor
    hung: Tensor  # variant × word
    labels: Tensor
    begins: Tensor
    is_parsed: Tensor
    lengths: NDArray[np.int64]

    @classmethod
    def of_file(cls, file: Mapping[str, NDArray[Any]], device: str) -> Sentences:
        def at(name: str) -> Tensor:
            return torch.from_numpy(np.asarray(file[name]).astype(np.int64)).to(device)

        lengths = np.asarray(file["lengths"]).astype(np.int64)
        begins = torch.from_numpy(np.cumsum([0, *lengths])).to(device)
        return cls(
            at("forms"),
            at("words"),
            at("heads"),
            at("hung"),
            at("labels"),
            begins,
            at("parts") == 1,
            lengths,
        )

    def batch(
        self,
        rows: NDArray[np.int64],
        view: View | None = None,
        rehung_share: float = REHUNG_SHARE,
    ) -> Batch:
        """The sentences as they are if there is a `view`, otherwise as drawn for training."""
        device = self.words.device
        width = int(self.lengths[rows].max())
        which = torch.from_numpy(rows).to(device)
        columns = torch.arange(width, device=device)
        lengths = (self.begins[which + 1] - self.begins[which])[:, None]
        is_word = columns < lengths
        at = (self.begins[which][:, None] + columns).clamp_max(len(self.words) - 1)
        forms, labels = self.forms[self.words[at]], self.labels[at]
        heads, chosen = self.heads[at], labels[..., 4:]
        if view is None:
            draw = torch.rand((4, len(rows), 1), device=device)
            variant = int(torch.randint(len(self.hung), ()))
            heads = torch.where(draw[0] < rehung_share, self.hung[variant][at], heads)
            is_chosen = draw[1] < 0.5
            category = torch.where(draw[2] < UNIVERSAL_SHARE, labels[..., 1], labels[..., 0])
            given = torch.cat([category[..., None], labels[..., 2:4]], -1)
            own = torch.where(is_chosen[..., None], chosen, given)
            relation = torch.where(draw[3] < PLAIN_RELATION_SHARE, own[..., 2], own[..., 1])
            own = torch.stack([own[..., 0], relation, own[..., 2]], -1)
            drop = torch.rand((2, *is_word.shape), device=device) >= UNKNOWN_LABEL_SHARE
            own = own * torch.stack([drop[0], drop[1], drop[1]], -1)
        else:
            is_chosen = torch.full((len(rows), 1), view.is_chosen, device=device)
            heads = self.hung[0][at] if view.is_hung else heads
            own = chosen if view.is_chosen else labels[..., [0, 2, 3]]
        source = torch.where(is_chosen, CHOSEN, PARSED * self.is_parsed[which][:, None])
        heads = torch.where(is_word, heads, -2)
        counts, places, treelets = structure_of(heads, is_word)
        numbers = torch.cat([forms[..., :3], own, counts], -1)
        numbers[..., SHAPE_COLUMN] += N_SHAPES * source
        wanted = torch.where((is_word & is_chosen)[..., None], labels[..., [0, 2]], -1)
        steps = sum(
            (t.is_item.sum() - len(t.heads) for t in treelets), torch.zeros((), device=device)
        )
        return Batch(
            numbers * is_word[..., None],
            torch.where(is_word[..., None], forms[..., 3:], -1),
            places,
            is_word,
            wanted,
            treelets,
            steps.clamp_min(1),
        )


@dataclass(frozen=True)
class View:
    is_chosen: bool = False
    is_hung: bool = False


def structure_of(heads: Tensor, is_word: Tensor) -> tuple[Tensor, Tensor, list[Treelets]]:
    """The classes of each word's number of daughters, size and depth; for each pair of words their places to
    each other; the treelets. Words stand in their right order; the head of the root is −1, of no word −2."""
    rows, width = heads.shape
    numbers = torch.arange(width, device=heads.device)
    up = heads[:, :, None] == numbers
    itself = torch.eye(width, dtype=torch.bool, device=heads.device).expand_as(up)
    down = up.transpose(1, 2)
    both = up.float()
    grand = both @ both > 0
    sisters = (heads[:, :, None] == heads[:, None, :]) & (heads >= 0)[:, :, None]
    aunts = both @ sisters.float() > 0
    places = torch.full_like(up, N_PLACES - 1, dtype=torch.long)
    places = torch.where((heads == -1)[:, None, :], 8, places)
    for number, found in (
        (7, aunts.transpose(1, 2)),
        (6, aunts),
        (5, grand.transpose(1, 2)),
        (4, grand),
        (3, sisters),
        (1, up),
        (2, down),
        (0, itself),
    ):
        places = torch.where(found, number, places)
    above = (up | itself).float()
    for _ in range(6):
        above = (above @ above > 0).float()
    sizes, depths = above.sum(1).long(), above.sum(2).long() - 1
    daughters = up.sum(1)
    counts = torch.stack(
        [class_of(daughters), class_of(sizes), depths.clamp_max(N_CLASSES - 1)], -1
    )
    members = down | itself
    first = torch.where(members, numbers, width).amin(2)
    last = torch.where(members, numbers, -1).amax(2)
    for _ in range(6):
        first, last = first.gather(1, first), last.gather(1, last)
    treelets = []
    n_items = torch.where(is_word, daughters + 1, 0)
    begin = torch.arange(rows, device=heads.device)[:, None] * width
    least = 2
    for most in SIZE_GROUPS:
        own = ((n_items >= least) & (n_items <= most)).nonzero()
        least = most + 1
        if not len(own):
            continue
        sentence, head = own[:, 0], own[:, 1]
        inside = members[sentence, head]
        size = min(most, width)
        items = torch.where(inside, numbers, width + numbers).topk(size, 1, largest=False).values
        is_item = items < width
        items = items.clamp_max(2 * width - 1) % width
        at = begin[sentence]
        is_head = items == head[:, None]
        ends = (
            torch.where(is_head, items, own_ends[sentence].gather(1, items))
            for own_ends in (first, last)
        )
        treelets.append(
            Treelets(head + at[:, 0], torch.stack([items, *ends], -1) + at[..., None], is_item)
        )
    return counts, places, treelets


def class_of(numbers: Tensor) -> Tensor:
    return torch.where(
        numbers <= 3, numbers, torch.where(numbers <= 5, 4, torch.where(numbers <= 9, 5, 6))
    )


def batches(
    lengths: NDArray[np.int64], rows: NDArray[np.int64], most: int, rng: np.random.Generator
) -> Iterator[NDArray[np.int64]]:
    """Sentences of similar length together, in random order, of at most this many words."""
    order = rows[np.argsort(lengths[rows] + 3 * rng.random(len(rows)), kind="stable")]
    cuts, begin = [], 0
    for end in range(1, len(order) + 1):
        if end == len(order) or (end + 1 - begin) * (lengths[order[end]] + 3) > most:
            cuts.append(order[begin:end])
            begin = end
    for cut in rng.permutation(len(cuts)):
        yield cuts[cut]


class Layer(nn.Module):  # type: ignore[misc, unused-ignore]
    def __init__(self, size: Size, dropout: float) -> None:
        super().__init__()
        self.size, self.share = size, dropout
        state = size.state
        self.before, self.between = nn.LayerNorm(state), nn.LayerNorm(state)
        self.attention, self.joined = nn.Linear(state, 3 * state), nn.Linear(state, state)
        self.inner, self.outer = nn.Linear(state, size.inner), nn.Linear(size.inner, state)
        self.bias = nn.Parameter(torch.zeros(size.heads, N_PLACES))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, places: Tensor, is_word: Tensor) -> Tensor:
        rows, width, state = x.shape
        own = self.attention(self.before(x)).view(rows, width, 3, self.size.heads, -1)
        queries, keys, values = own.permute(2, 0, 3, 1, 4)
        # row, head, word, other. As a product, because an embedding's gradient is slow where rows are few.
        bias = (places @ self.bias.t()).permute(0, 3, 1, 2)
        bias = bias.masked_fill(~is_word[:, None, None, :], HIDDEN)
        scores = queries @ keys.transpose(2, 3) / math.sqrt(state // self.size.heads) + bias
        seen = (self.dropout(scores.softmax(-1)) @ values).transpose(1, 2).reshape(x.shape)
        x = x + self.dropout(self.joined(seen))
        return x + self.dropout(self.outer(self.dropout(self.inner(self.between(x)).relu())))


class Network(nn.Module):  # type: ignore[misc, unused-ignore]
    """`rows` are the numbers of rows of the tables."""

    def __init__(
        self, rows: Sequence[int], vectors: NDArray[np.float32], size: Size, dropout: float
    ) -> None:
        super().__init__()
        self.size = size
        state, decoder, query = size.state, size.decoder, size.query
        self.pieces = nn.Embedding.from_pretrained(torch.from_numpy(vectors), freeze=False)
        self.from_pieces = nn.Linear(vectors.shape[1], state, bias=False)
        self.tables = nn.ModuleList(nn.Embedding(n, state) for n in rows)
        for table in self.tables:
            nn.init.normal_(table.weight, std=0.15)
        self.layers = nn.ModuleList(Layer(size, dropout) for _ in range(size.layers))
        self.last = nn.LayerNorm(state)
        self.dropout = nn.Dropout(dropout)
        # An item as the head, as the one before, as the one before that, and as placed at all.
        self.as_head = nn.Linear(state, state)
        self.context = nn.Linear(state, decoder)
        self.before = nn.Linear(2 * state, decoder, bias=False)
        self.earlier = nn.Linear(state, decoder, bias=False)
        self.placed = nn.Linear(state, decoder, bias=False)
        self.query = nn.Linear(decoder, query)
        self.before_query = nn.Linear(2 * state, query, bias=False)
        self.left_query = nn.Linear(state, query, bias=False)
        self.key = nn.Linear(2 * state, query, bias=False)
        self.starts = nn.Parameter(torch.zeros(2, decoder))
        self.start_query = nn.Parameter(torch.zeros(query))
        self.category, self.relation = nn.Linear(state, rows[3]), nn.Linear(state, rows[4])

    def read(self, batch: Batch) -> Tensor:
        is_piece = batch.pieces >= 0
        pieces = (self.pieces(batch.pieces.clamp_min(0)) * is_piece[..., None]).sum(2)
        x = self.from_pieces(pieces / is_piece.sum(2).clamp_min(1)[..., None])
        known = None
        if self.training:
            draw = torch.rand((2, *batch.is_word.shape), device=x.device) >= UNKNOWN_WORD_SHARE
            x = x * draw[0][..., None]
            known = draw[0] & draw[1]
        for place, table in enumerate(self.tables):
            numbers = batch.numbers[..., place]
            x = x + table(numbers * known if known is not None and place == 0 else numbers)
        x = self.dropout(x)
        places = nn.functional.one_hot(batch.places, N_PLACES).to(x.dtype)
        for layer in self.layers:
            x = layer(x, places, batch.is_word)
        return self.last(x)

    def choices(self, x: Tensor, treelets: Treelets) -> Tensor:
        """Log probabilities: treelet × step × item, where items stand in their right order."""
        heads, items, is_item = treelets
        words, first, last = (x[items[..., column]] for column in range(3))
        is_head = (items[..., 0] == heads[:, None])[..., None]
        words = torch.where(is_head, self.as_head(words), words)
        begun, ended = torch.cat([words, last], -1), torch.cat([words, first], -1)
        n = items.shape[1]

        def shifted(values: Tensor, start: Tensor, steps: int) -> Tensor:
            ahead = start.to(values.dtype).expand(len(values), steps, -1)
            return torch.cat([ahead, values[:, : n - steps]], 1)

        placed = self.placed(words)
        state = self.context(x[heads])[:, None] + placed.cumsum(1) - placed
        state = state + shifted(self.before(begun), self.starts[0], 1)
        state = state + shifted(self.earlier(words), self.starts[1], min(2, n))
        left = self.left_query(words) * is_item[..., None]
        left = left.sum(1, keepdim=True) - left.cumsum(1) + left
        queries = self.query(self.dropout(state.relu())) + left
        queries = queries + shifted(self.before_query(begun), self.start_query, 1)
        scores = queries @ self.key(ended).transpose(1, 2) / math.sqrt(self.size.query)
        is_left = torch.ones(n, n, device=x.device, dtype=torch.bool).triu() & is_item[:, None, :]
        return scores.float().masked_fill(~is_left, HIDDEN).log_softmax(-1)

    def step_choices(self, batch: Batch) -> tuple[Tensor, list[Tensor]]:
        """The words as read, and the log probabilities of each group of treelets."""
        read = self.read(batch)
        flat = read.view(-1, self.size.state)
        return flat, [self.choices(flat, treelets) for treelets in batch.treelets]

    def label_loss(self, flat: Tensor, batch: Batch) -> Tensor:
        wanted = batch.wanted.view(-1, 2)
        loss = torch.zeros((), device=flat.device)
        for column, head in enumerate((self.category, self.relation)):
            own = nn.functional.cross_entropy(
                head(flat).float(), wanted[:, column], ignore_index=-1, reduction="sum"
            )
            loss = loss + own / (wanted[:, column] >= 0).sum().clamp_min(1)
        return loss


def order_loss(
    choices: Sequence[Tensor],
    batch: Batch,
    taught: Sequence[Tensor] = (),
    right_share: float = 1.0,
) -> Tensor:
    """By step. What is wanted is the right item with the weight `right_share`, and otherwise what the
    teachers would choose (`taught`, probabilities)."""
    loss = torch.zeros((), device=batch.steps.device)
    for number, (own, treelets) in enumerate(zip(choices, batch.treelets, strict=True)):
        is_step = treelets.is_item
        right = (own.diagonal(dim1=1, dim2=2) * is_step).sum()
        loss = loss - (right_share if taught else 1.0) * right
        if taught:
            soft = (taught[number] * own.clamp_min(-60)).sum(-1)
            loss = loss - (1 - right_share) * (soft * is_step).sum()
    return loss / batch.steps


def right_treelets(choices: Sequence[Tensor], batch: Batch) -> tuple[Tensor, int]:
    """The treelets that are right when at each step all before is right, and all treelets."""
    right, total = torch.zeros((), device=batch.steps.device), 0
    for own, treelets in zip(choices, batch.treelets, strict=True):
        is_best = own.diagonal(dim1=1, dim2=2) >= own.max(-1).values - 1e-6
        right = right + (is_best | ~treelets.is_item).all(1).sum()
        total += len(treelets.heads)
    return right, total
