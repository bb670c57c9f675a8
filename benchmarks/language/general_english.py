"""The trigram model of general English that comes with the PyPI package `pocketsphinx` (Carnegie Mellon
University, BSD licence), as an ARPA file for `python -m benchmarks language-training`.

    python -m benchmarks general-english en-us.lm.bin -o general.arpa

The package can ask its model for probabilities but not list its n-grams, so the file is read here. It
is a trie of reversed n-grams in packed bits: below a word lie the words that come before it.
"""

from __future__ import annotations

import argparse
import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

MAGIC = b"Trie Language Model"
TABLE = 1 << 16
"""Logarithms are numbers of entries in tables of this size."""
BASE = math.log10(1.0001)
UNIGRAM = np.dtype([("log_prob", "<f4"), ("backoff", "<f4"), ("below", "<u4")])

Integers = NDArray[np.int64]
Logs = NDArray[np.float64]


@dataclass(frozen=True)
class Ngrams:
    """N-grams of one length: words from first to last, log10 probabilities, back-off weights."""

    words: Integers
    log_probs: Logs
    backoffs: Logs | None


def read(path: Path) -> tuple[list[str], list[Ngrams]]:
    """Words, and n-grams by length."""
    data = path.read_bytes()
    if not data.startswith(MAGIC) or data[len(MAGIC)] != 3:
        raise SystemExit(f"{path} is no trigram model of pocketsphinx.")
    place = len(MAGIC) + 1
    n_words, n_pairs, n_triples = struct.unpack_from("<3I", data, place)
    place += 3 * 4 + 4  # the last for the kind of tables
    tables = (
        np.frombuffer(data, "<f4", 3 * TABLE, place).astype(np.float64).reshape(3, TABLE) * BASE
    )
    place += 3 * TABLE * 4
    unigrams = np.frombuffer(data, UNIGRAM, n_words + 1, place)
    place += unigrams.nbytes
    pairs = _Packed(data, place, n_pairs, (n_words.bit_length(), 16, 16, n_triples.bit_length()))
    triples = _Packed(data, pairs.end, n_triples, (n_words.bit_length(), 16))
    words = [word.decode() for word in data[triples.end + 4 :].split(b"\0")[:n_words]]
    below = unigrams["below"].astype(np.int64)
    last = np.repeat(np.arange(n_words), np.diff(below))
    before, weights, probs, starts = (pairs.field(number, len(last) + 1) for number in range(4))
    owners = np.repeat(np.arange(len(last)), np.diff(starts))
    first, triple_probs = (triples.field(number, len(owners)) for number in range(2))
    return words, [
        Ngrams(
            np.arange(n_words)[:, None],
            unigrams["log_prob"][:-1] * BASE,
            unigrams["backoff"][:-1] * BASE,
        ),
        Ngrams(
            np.column_stack([before[:-1], last]), tables[0][probs[:-1]], tables[1][weights[:-1]]
        ),
        Ngrams(
            np.column_stack([first, before[owners], last[owners]]), tables[2][triple_probs], None
        ),
    ]


class _Packed:
    """Rows of fields of this many bits each, without gaps, from the lowest bit on."""

    def __init__(self, data: bytes, place: int, n: int, bits: tuple[int, ...]) -> None:
        self._bytes = np.frombuffer(data, np.uint8)
        self._place = place
        self._bits = bits
        self.end = place + ((1 + n) * sum(bits) + 7) // 8 + 8

    def field(self, number: int, n: int) -> Integers:
        at = np.arange(n, dtype=np.int64) * sum(self._bits) + sum(self._bits[:number])
        value = np.zeros(n, np.int64)
        for place in range(4):
            value |= self._bytes[self._place + (at >> 3) + place].astype(np.int64) << (8 * place)
        return (value >> (at & 7)) & ((1 << self._bits[number]) - 1)


def arpa(words: list[str], levels: list[Ngrams]) -> Iterator[str]:
    """Lines of the ARPA file; trigrams whose first two words are no bigram are left out."""
    pairs = levels[1].words
    keys = np.sort(pairs[:, 0] * len(words) + pairs[:, 1])
    histories = levels[2].words[:, 0] * len(words) + levels[2].words[:, 1]
    found = keys[np.minimum(np.searchsorted(keys, histories), len(keys) - 1)] == histories
    kept = [*levels[:2], Ngrams(levels[2].words[found], levels[2].log_probs[found], None)]
    names = [{"<UNK>": "<unk>"}.get(word, word) for word in words]
    has_unknown = "<unk>" in names
    yield "\\data\\"
    for length, level in enumerate(kept, 1):
        more = 1 if length == 1 and not has_unknown else 0
        yield f"ngram {length}={len(level.words) + more}"
    for length, level in enumerate(kept, 1):
        yield f"\n\\{length}-grams:"
        if length == 1 and not has_unknown:
            yield f"{float(level.log_probs[level.log_probs > -90].min()):.4f}\t<unk>\t0"
        weights = level.backoffs if level.backoffs is not None else np.zeros(len(level.words))
        for row, log_prob, weight in zip(level.words, level.log_probs, weights, strict=True):
            text = " ".join(names[word] for word in row)
            yield f"{log_prob:.4f}\t{text}" + ("" if level.backoffs is None else f"\t{weight:.4f}")
    yield "\n\\end\\"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("model", type=Path)
    arguments.add_argument("-o", "--output", type=Path, required=True)
    given = arguments.parse_args()
    with given.output.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in arpa(*read(given.model)))
