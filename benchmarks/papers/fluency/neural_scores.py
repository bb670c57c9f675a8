"""Log probabilities of texts under a neural language model, kept in a file.

    python -m benchmarks neural-scores MODEL TEXTS.json -o SCORES.jsonl [--device cuda]

TEXTS is the file texts.json that `python -m benchmarks fluency REAL SOURCE KEPT --texts` writes. Texts that SCORES
already has are not scored again. Needs `wellput[neural]`; a GPU makes it quick.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from wellput.core.metric import Floats
from wellput.language.models.causal_model import CausalModel

BLOCK = 256


class KeptScores:
    """By text: the natural logarithm of its probability, and the number of its pieces."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: dict[str, tuple[float, int]] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                text, log_prob, pieces = json.loads(line)
                self.found[text] = (log_prob, pieces)

    def add(self, texts: Sequence[str], log_probs: Floats, pieces: Floats) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            for text, value, count in zip(texts, log_probs, pieces, strict=True):
                self.found[text] = (float(value), int(count))
                file.write(json.dumps([text, round(float(value), 5), int(count)]) + "\n")

    def rows(self, texts: Sequence[str]) -> Floats:
        """(texts, 2); NaN for a text without pieces or not in the file."""
        rows = np.array([self.found.get(text, (np.nan, 0)) for text in texts], np.float64)
        rows[rows[:, 1] == 0] = np.nan
        return rows


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("model")
    arguments.add_argument("texts", type=Path)
    arguments.add_argument("-o", "--output", type=Path, required=True)
    arguments.add_argument("--device", default="auto")
    given = arguments.parse_args()
    kept = KeptScores(given.output)
    texts = [text for text in json.loads(given.texts.read_text("utf-8")) if text not in kept.found]
    model = CausalModel.load(given.model, device=given.device)
    started = time.perf_counter()
    for begin in range(0, len(texts), BLOCK):
        block = texts[begin : begin + BLOCK]
        kept.add(block, *model.log_probs(block))
    seconds = time.perf_counter() - started
    print(
        f"{len(texts):,} texts in {seconds:.1f} s, {len(texts) / max(seconds, 1e-9):,.1f} a second"
    )
