"""Trains order networks of the learned realizer. It needs torch, and a GPU to be fast:

    python -m benchmarks order-network-training SENTENCES -o WEIGHTS [--minutes 4] [--taught-by WEIGHTS …]

SENTENCES is a file of `order-network-sentences`. It learns from UD English EWT train, and at first also from
sentences of books and speeches that the shipped parser parsed. A transformer reads the words of an unordered
tree: how much one word attends to another depends on their places in the tree. Then, for each head and its
daughters, the next of them is chosen among those left, from the first to the last.

With --is-teacher the network is larger than the shipped one. With --taught-by it learns the choices of such
networks beside the right ones. Weights of a network of the shipped size are rounded as in its file during the
last quarter of the time. The weights are means over the last steps (EMA). Prints the loss and the right treelets on dev.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from benchmarks.language.order_network_sizes import MATRIX_STEPS, TABLE_STEPS
from benchmarks.language.order_network_torch import (
    REHUNG_SHARE,
    SHIPPED_SIZE,
    TEACHER_SIZE,
    Batch,
    Network,
    Sentences,
    Size,
    View,
    batches,
    order_loss,
    right_treelets,
)

WARM_STEPS = 300
LABEL_WEIGHT = 0.2
"""The weight of guessing the right labels from chosen ones, beside that of the order."""
DEV_VIEWS = {
    "labels": View(),
    "words": View(is_chosen=True),
    "labels, punctuation elsewhere": View(is_hung=True),
}
ROUNDED_SINCE, ROUNDED_EVERY = 0.75, 4
TRIED_SHARES = (0.6, 0.7, 0.8, 0.9, 1.0)


def measured(network: Network, dev: Sentences, view: View) -> tuple[float, float]:
    """Loss by step, and the share of treelets that are right."""
    network.eval()
    loss = steps = right = total = 0.0
    rows = np.flatnonzero(dev.lengths > 0)
    with torch.no_grad():
        for own in batches(dev.lengths, rows, 20_000, np.random.default_rng(0)):
            batch = dev.batch(own, view)
            _, choices = network.step_choices(batch)
            loss += float(order_loss(choices, batch) * batch.steps)
            steps += float(batch.steps)
            found, n = right_treelets(choices, batch)
            right += float(found)
            total += n
    network.train()
    return loss / steps, 100 * right / total


class Mean:
    """The mean of a network's weights over the last steps, the later the more."""

    def __init__(self, network: Network, share: float) -> None:
        self.share = share
        self.own = [p.detach().clone() for p in network.parameters()]

    def add(self, network: Network, step: int) -> None:
        share = min(self.share, (1 + step) / (10 + step))
        torch._foreach_lerp_(self.own, [p.detach() for p in network.parameters()], 1 - share)

    def exchange(self, network: Network) -> None:
        """The network gets the mean, and the mean the network's weights."""
        for mean, weight in zip(self.own, network.parameters(), strict=True):
            held = weight.detach().clone()
            weight.data.copy_(mean)
            mean.copy_(held)


class Rounding:
    """The differences between weights as they are and as they are stored in the shipped file."""

    def __init__(self, network: Network) -> None:
        self.weights: list[tuple[Tensor, int, int]] = []
        for name, weight in network.named_parameters():
            if (
                weight.dim() != 2
                or name.endswith("bias")
                or "category" in name
                or "relation" in name
            ):
                continue
            is_table = name.startswith(("tables", "pieces"))
            parts = 2 if name.split(".")[0] in ("before", "before_query", "key") else 1
            if name != "starts":
                self.weights.append((weight, TABLE_STEPS if is_table else MATRIX_STEPS, parts))
        self.differences = [torch.zeros_like(weight) for weight, _, _ in self.weights]

    def find(self) -> None:
        for (weight, most, parts), difference in zip(self.weights, self.differences, strict=True):
            own = weight.detach().view(-1, weight.shape[1] // parts)
            difference.copy_((rounded(own, most) - own).view_as(weight))

    def apply(self, sign: int) -> None:
        torch._foreach_add_([w.data for w, _, _ in self.weights], self.differences, alpha=sign)


def rounded(values: Tensor, most: int) -> Tensor:
    """Each row in whole numbers up to `most` times the scale with the least squared error."""
    largest = values.abs().amax(1, keepdim=True).clamp_min(1e-9)
    shares = torch.tensor(TRIED_SHARES, device=values.device)[:, None, None]
    scales = largest * shares / most
    tried = (values / scales).round().clamp(-most, most) * scales
    errors = (tried - values).square().sum(2)
    return tried[errors.argmin(0), torch.arange(len(values), device=values.device)]


def trained(
    network: Network,
    sentences: Sentences,
    dev: Sentences,
    gold: NDArray[np.int64],
    parsed: NDArray[np.int64],
    teachers: Sequence[Network],
    how: argparse.Namespace,
) -> None:
    rng = np.random.default_rng(how.seed)
    decayed = [p for p in network.parameters() if p.dim() > 1]
    others = [p for p in network.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": how.decay}, {"params": others, "weight_decay": 0.0}],
        lr=how.rate,
        betas=(0.9, 0.98),
        fused=how.device == "cuda",
    )
    mean, rounding = Mean(network, how.mean_share), Rounding(network)
    is_rounding = not how.is_teacher
    started, step, epoch, at, shown_at = time.monotonic(), 0, 0, 0, 0.1
    done = 0.0
    losses: list[Tensor] = []
    network.train()
    while done < 1:
        share = how.parsed_share * max(0.0, 1 - done / how.parsed_until)
        more = int(share * len(gold)) if len(parsed) else 0
        rows = np.concatenate([gold, parsed[np.arange(at, at + more) % max(1, len(parsed))]])
        at += more
        for batch in made_ahead(
            sentences, batches(sentences.lengths, rows, how.words, rng), how.rehung_share
        ):
            done = (time.monotonic() - started) / (60 * how.minutes)
            rate = (1 + math.cos(math.pi * min(1.0, done))) / 2
            for group in optimizer.param_groups:
                group["lr"] = how.rate * min(1, (step + 1) / WARM_STEPS) * max(rate, 0.002)
            taught = taught_choices(teachers, batch)
            is_rounded = is_rounding and done > ROUNDED_SINCE
            if is_rounded:
                if step % ROUNDED_EVERY == 0:
                    rounding.find()
                rounding.apply(1)
            with torch.autocast(how.device, torch.bfloat16, enabled=how.is_teacher):
                flat, choices = network.step_choices(batch)
                order = order_loss(choices, batch, taught, how.right_share)
                loss = order + LABEL_WEIGHT * network.label_loss(flat, batch)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            if is_rounded:
                rounding.apply(-1)
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            mean.add(network, step)
            losses.append(order.detach())
            step += 1
            if done >= 1:
                break
        epoch += 1
        if done >= shown_at:
            shown_at = max(shown_at + 0.1, done)
            is_last = done >= 1
            mean.exchange(network)
            if is_rounding:
                rounding.find()
                rounding.apply(1)
            figures = [measured(network, dev, view) for view in DEV_VIEWS.values()]
            if is_rounding:
                rounding.apply(-1)
            if not is_last:
                mean.exchange(network)
            print(
                f"{how.output.stem}: epoch {epoch}, {done:.2f} of the time, {step} steps, loss "
                f"{float(torch.stack(losses).mean()):.4f}; dev (labels, words, labels with punctuation "
                f"elsewhere): {' '.join(f'{loss:.4f}/{right:.2f}' for loss, right in figures)}",
                flush=True,
            )
            losses = []


def made_ahead(
    sentences: Sentences, cuts: Iterator[NDArray[np.int64]], rehung_share: float
) -> Iterator[Batch]:
    """Batches for training, each made while the one before is learned."""
    if not sentences.words.is_cuda:
        yield from (sentences.batch(own, rehung_share=rehung_share) for own in cuts)
        return
    stream, main = torch.cuda.Stream(), torch.cuda.current_stream()
    stream.wait_stream(main)

    def made() -> Batch | None:
        own = next(cuts, None)
        if own is None:
            return None
        with torch.cuda.stream(stream):
            return sentences.batch(own, rehung_share=rehung_share)

    batch = made()
    while batch is not None:
        main.wait_stream(stream)
        for tensor in tensors_of(batch):
            tensor.record_stream(main)
        yield batch
        batch = made()


def tensors_of(batch: Batch) -> Iterator[Tensor]:
    for part in batch:
        yield from [part] if isinstance(part, Tensor) else itertools.chain(*part)


def taught_choices(teachers: Sequence[Network], batch: Batch) -> list[Tensor]:
    """The mean probabilities of the teachers, for each group of treelets."""
    if not teachers:
        return []
    with torch.no_grad():
        found = [teacher.step_choices(batch)[1] for teacher in teachers]
    return [torch.stack([own.exp() for own in group]).mean(0) for group in zip(*found, strict=True)]


def saved_weights(network: Network) -> dict[str, NDArray[Any]]:
    size = network.size
    shape = (size.state, size.layers, size.heads, size.inner, size.decoder, size.query)
    weights = {name: own.cpu().numpy() for name, own in network.state_dict().items()}
    return {**weights, "size": np.array(shape)}


def loaded_network(path: Path, device: str) -> Network:
    with np.load(path) as file:
        arrays = dict(file)
    size = Size(*arrays.pop("size").tolist())
    rows = [len(arrays[f"tables.{n}.weight"]) for n in range(9)]
    network = Network(rows, arrays["pieces.weight"], size, 0.0)
    network.load_state_dict({name: torch.from_numpy(own) for name, own in arrays.items()})
    network.to(device).eval()
    return network


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("sentences", type=Path)
    arguments.add_argument("-o", "--output", type=Path, required=True, help="an .npz of weights")
    arguments.add_argument("--minutes", type=float, default=4)
    arguments.add_argument("--is-teacher", action="store_true")
    arguments.add_argument("--taught-by", type=Path, nargs="*", default=[])
    arguments.add_argument("--begin", type=Path, help="weights to go on with")
    arguments.add_argument("--rehung-share", type=float, default=REHUNG_SHARE)
    arguments.add_argument("--right-share", type=float, default=0.3)
    arguments.add_argument("--parsed-share", type=float, default=1.0)
    arguments.add_argument("--parsed-until", type=float, default=1.0)
    arguments.add_argument("--rate", type=float, default=2e-3)
    arguments.add_argument("--decay", type=float, default=0.02)
    arguments.add_argument("--dropout", type=float, default=0.25)
    arguments.add_argument("--mean-share", type=float, default=0.999)
    arguments.add_argument("--words", type=int, default=3000, help="in a batch")
    arguments.add_argument(
        "--size",
        type=int,
        nargs=6,
        metavar="N",
        help="another size: the numbers of `Size`, from the state to the query",
    )
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    given = arguments.parse_args()
    torch.manual_seed(given.seed)
    torch.set_num_threads(1)
    torch.backends.cuda.matmul.allow_tf32 = True
    with np.load(given.sentences) as file:
        arrays = dict(file)
    sentences = Sentences.of_file(arrays, given.device)
    parts = arrays["parts"]
    gold, parsed, held = (np.flatnonzero(parts == part) for part in range(3))
    dev = replace(sentences, lengths=np.where(parts == 2, sentences.lengths, 0))
    usual = TEACHER_SIZE if given.is_teacher else SHIPPED_SIZE
    size = Size(*given.size) if given.size else usual
    network = Network(arrays["table_rows"].tolist(), arrays["vectors"], size, given.dropout)
    if given.begin:
        network.load_state_dict(loaded_network(given.begin, "cpu").state_dict())
    network = network.to(given.device)
    teachers = [loaded_network(path, given.device).bfloat16() for path in given.taught_by]
    print(f"{len(gold)} + {len(parsed)} sentences, {len(held)} of dev", flush=True)
    trained(network, sentences, dev, gold, parsed, teachers, given)
    arrays = saved_weights(network)
    np.savez(given.output, **arrays)  # type: ignore[arg-type, unused-ignore]


if __name__ == "__main__":
    main()
