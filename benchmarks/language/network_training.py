"""Trains the small language model:

    python -m benchmarks network-training SENTENCES.txt.gz GUTENBERG SOTU -o FOLDER [--minutes 8]

SENTENCES is what `python -m benchmarks network-sentences` writes, GUTENBERG and SOTU are the folders below `lm` of
`python -m benchmarks english-pools`. Needs torch and tokenizers; a GPU makes it quick. Writes `network.wpm`.
"""

from __future__ import annotations

import argparse
import gzip
import math
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import ewt
from wellput.language.models.english_text import prose_sentences
from wellput.language.models.word_list import WordList
from wellput.language.models.word_network import (
    BEGIN,
    END,
    SPECIAL_PIECES,
    Matrix,
    Pieces,
    WordNetwork,
    plain_words,
)
from wellput.language.shipped import NETWORK_FILE, WORDS_FILE, shipped

N_PIECES, VECTOR, STATE = 10_000, 192, 384
MOST_PIECES = 62
BATCH_PIECES = 32_768
REAL_COPIES = 3
RATE, WARM_STEPS, LEAST_RATE = 4e-3, 300, 0.02
SUM_WEIGHT = 0.1
"""The weight of the squared logarithm of the sum of all probabilities, which should be 1."""
SPOILED_EVERY = 5
"""One step in this many also reads spoiled sentences, whose sums should be 1 too."""
MIN_WORD_COUNT = 4

Rows = list[NDArray[np.int64]]


def vocabulary(sentences: Sequence[str]) -> list[str]:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token=SPECIAL_PIECES[0]))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.WordPieceTrainer(
        vocab_size=N_PIECES, special_tokens=list(SPECIAL_PIECES), limit_alphabet=90
    )
    tokenizer.train_from_iterator(map(_lower, sentences), trainer)
    return sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__)


def _lower(sentence: str) -> str:
    words = (word for word in plain_words(sentence) if not re.fullmatch(r"\d.*[.,:].*", word))
    return " ".join(re.sub(r"\d", "0", word.lower()) for word in words)


def batches(rows: Rows, rng: np.random.Generator) -> Iterator[Rows]:
    """Rows of similar length together, in random order."""
    lengths = np.array([len(row) for row in rows])
    order = np.argsort(lengths + 2 * rng.random(len(rows)), kind="stable")
    cuts, begin = [], 0
    while begin < len(order):
        size = max(64, BATCH_PIECES // (int(lengths[order[begin]]) + 2))
        cuts.append(order[begin : begin + size])
        begin += size
    for place in rng.permutation(len(cuts)):
        yield [rows[row] for row in cuts[place]]


def trained(rows: Rows, vocab: Sequence[str], alone: NDArray[Any], minutes: float) -> Any:
    """The weights, by torch's names."""
    import torch
    from torch import nn

    begin, end = vocab.index(BEGIN), vocab.index(END)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(1)
    vectors = nn.Embedding(len(vocab), VECTOR)
    nn.init.normal_(vectors.weight, std=0.08)
    parts = nn.ModuleDict(
        {
            "vectors": vectors,
            "gru": nn.GRU(VECTOR, STATE, batch_first=True),
            "outputs": nn.Linear(STATE, VECTOR, bias=False),
        }
    ).to(device)
    bias = nn.Parameter(torch.tensor(alone, dtype=torch.float32, device=device))
    weights = [*parts.parameters(), bias]
    optimizer = torch.optim.AdamW(weights, lr=RATE, betas=(0.9, 0.98), weight_decay=0.01)

    def losses(read: Any, targets: Any) -> tuple[Any, Any]:
        with torch.autocast(device, torch.bfloat16):
            guesses = parts["outputs"](parts["gru"](parts["vectors"](read))[0])
            logits = guesses[targets >= 0] @ parts["vectors"].weight.T
        logits = logits.float() + bias
        sums = torch.logsumexp(logits, -1)
        own = logits.gather(1, targets[targets >= 0][:, None])[:, 0]
        return (sums - own).mean(), (sums**2).mean()

    rng = np.random.default_rng(0)
    started, step = time.monotonic(), 0
    while (done := (time.monotonic() - started) / (60 * minutes)) < 1:
        for batch in batches(rows, rng):
            done = min(1.0, (time.monotonic() - started) / (60 * minutes))
            rate = (1 + math.cos(math.pi * done)) / 2 * (1 - LEAST_RATE) + LEAST_RATE
            for group in optimizer.param_groups:
                group["lr"] = RATE * min(1, (step + 1) / WARM_STEPS) * rate
            targets = np.full((len(batch), max(map(len, batch)) + 1), -1)
            for place, row in enumerate(batch):
                targets[place, : len(row) + 1] = [*row, end]
            read = np.column_stack([np.full(len(batch), begin), np.maximum(targets[:, :-1], 0)])
            x, y = torch.tensor(read).to(device), torch.tensor(targets).to(device)
            entropy, off = losses(x, y)
            loss = entropy + SUM_WEIGHT * off
            if step % SPOILED_EVERY == 0:
                drawn = torch.rand(x.shape, device=device)
                spoiled = torch.where(drawn < 0.08, torch.randint_like(x, len(vocab)), x)
                spoiled = torch.where(drawn > 0.9, spoiled.roll(1, 1), spoiled)
                loss = loss + SUM_WEIGHT * losses(spoiled, y)[1]
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(weights, 1.0)
            optimizer.step()
            step += 1
    found = {
        name: value.detach().cpu().double().numpy() for name, value in parts.state_dict().items()
    }
    return {**found, "bias": bias.detach().cpu().numpy()}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("sentences", type=Path)
    arguments.add_argument("texts", type=Path, nargs="+")
    arguments.add_argument("-o", "--output", type=Path, required=True)
    arguments.add_argument("--minutes", type=float, default=8)
    given = arguments.parse_args()
    with gzip.open(given.sentences, "rt", encoding="utf-8") as file:
        written = file.read().splitlines()
    real = [tree.text for tree in ewt("train")]
    real += [sentence for path in given.texts for sentence in prose_sentences(path)]
    vocab = vocabulary([*written, *real, *real])
    coder = Pieces(vocab)
    rows = [
        np.array(
            [piece for own in coder.coded(plain_words(text))[1] for piece in own][:MOST_PIECES]
        )
        for text in [*written, *real * REAL_COPIES]
    ]
    counts = np.bincount(np.concatenate(rows).astype(np.int64), minlength=len(vocab)) + 1.0
    counts[vocab.index(END)] = len(rows)
    alone = np.log(counts / counts.sum())
    found = trained([row for row in rows if len(row) > 2], vocab, alone, given.minutes)
    seen = Counter(word for text in written for word in re.findall(r"\b[a-z]{3,}\b", text))
    known = WordList.load(shipped(WORDS_FILE)).is_known
    words = sorted(
        word
        for word, count in seen.items()
        if count >= MIN_WORD_COUNT and word not in coder.numbers and not known(word)
    )
    network = WordNetwork(
        tuple(vocab),
        tuple(words),
        Matrix.rounded(found["vectors.weight"]),
        Matrix.rounded(found["gru.weight_ih_l0"]),
        Matrix.rounded(found["gru.weight_hh_l0"]),
        Matrix.rounded(found["outputs.weight"]),
        found["gru.bias_ih_l0"].astype(np.float32),
        found["gru.bias_hh_l0"].astype(np.float32),
        found["bias"].astype(np.float32),
        alone.astype(np.float32),
    )
    network.save(given.output / NETWORK_FILE, {"pieces": len(vocab), "words": len(words)})
