"""The encoder's features of substitutions, on a machine with a GPU where wellput is not installed.

    python3 benchmarks/papers/paraphrase/similarities.py PAIRS.json ENCODER OUT.npy

PAIRS.json is what `python -m benchmarks paraphrase-neural --pairs` writes; ENCODER is a folder. Computes what
`wellput.language.paraphrase.context_filter.similarities` does, from NumPy, torch and transformers alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

BATCH = 256
Floats = NDArray[np.float32]


def word_vectors(sentences: Sequence[Sequence[str]], encoder: str) -> list[Floats]:
    """By sentence, words × dimensions: a word is the mean of its pieces, zeros where it was cut off."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer: Any = AutoTokenizer.from_pretrained(encoder)
    model: Any = AutoModel.from_pretrained(encoder, dtype=torch.float32).eval().to(device)
    order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
    found: dict[int, Floats] = {}
    for begin in range(0, len(order), BATCH):
        chosen = order[begin : begin + BATCH]
        pieces = tokenizer(
            [list(sentences[i]) for i in chosen],
            is_split_into_words=True,
            padding=True,
            truncation=True,
            return_tensors="pt",
        )
        shape = len(chosen), max(len(sentences[i]) for i in chosen), pieces["input_ids"].shape[1]
        share = torch.zeros(shape)
        for row in range(len(chosen)):
            for piece, word in enumerate(pieces.word_ids(row)):
                if word is not None:
                    share[row, word, piece] = 1
        share = (share / share.sum(2, keepdim=True).clamp(min=1)).to(device)
        with torch.inference_mode():
            states = model(**{name: own.to(device) for name, own in pieces.items()})
            vectors = (share @ states.last_hidden_state).cpu().numpy()
        for row, i in enumerate(chosen):
            found[i] = vectors[row, : len(sentences[i])]
    return [found[i] for i in range(len(sentences))]


def cosines(a: Floats, b: Floats) -> Floats:
    lengths = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    result: Floats = np.divide(
        (a * b).sum(axis=-1), np.where(lengths == 0, 1, lengths), dtype=np.float32
    )
    return result


def main(pairs: str, encoder: str, output: str) -> None:
    data = json.loads(Path(pairs).read_text(encoding="utf-8"))
    vectors = word_vectors(data["sentences"], encoder)
    result = np.zeros((len(data["pairs"]), 3), np.float32)
    for row, (old, new, first, n, m) in zip(result, data["pairs"], strict=True):
        a, b = vectors[old], vectors[new]
        row[0] = cosines(a[first : first + n].mean(axis=0), b[first : first + m].mean(axis=0))
        row[1] = cosines(a.mean(axis=0), b.mean(axis=0))
        beside = [np.concatenate([v[:first], v[first + k :]]) for v, k in ((a, n), (b, m))]
        row[2] = cosines(*beside).mean() if len(beside[0]) else 1.0
    np.save(output, result)


if __name__ == "__main__":
    main(*sys.argv[1:])
