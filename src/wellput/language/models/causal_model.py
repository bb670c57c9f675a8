"""`CausalModel`: the probability of a text under a neural language model (`wellput[neural]`).

The model is a local folder of the Hugging Face library, or a GGUF file; nothing is downloaded. Texts
are scored after a line break, as in running text: so the first word also has a probability, whatever
token the model uses for the beginning of a document.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from wellput.core.errors import InputError
from wellput.core.metric import Floats

TEXT_BEFORE = "\n"
MAX_PIECES = 1024
"""The most pieces in a row, for a model that does not state its limit."""
BATCH_PIECES = {"cpu": 1024}
"""Pieces in a batch, including padding; `GPU_BATCH_PIECES` on a GPU. The largest array has a number
for each of them and each piece of the vocabulary."""
GPU_BATCH_PIECES = 16384


class Network(Protocol):
    """Numbers the pieces of a text, and gives each one's probability after those before it."""

    start: list[int]
    limit: int
    batch: int

    def pieces(self, texts: Sequence[str]) -> list[list[int]]: ...

    def log_probs(self, rows: Sequence[Sequence[int]]) -> list[Floats]:
        """By row, natural logarithms for all pieces but the first."""


class CausalModel:
    """Log probabilities of texts. A text that is too long for the network is cut, and each part is
    scored as if it began a line."""

    def __init__(self, network: Network, path: Path | None = None) -> None:
        self._network = network
        self._path = path

    @classmethod
    def load(cls, path: str, *, device: str = "auto") -> CausalModel:
        return cls(TransformerNetwork(Path(path), device), Path(path))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all files of the model."""
        digest = hashlib.sha256()
        for file in _files(self._path) if self._path else []:
            with file.open("rb") as opened:
                digest.update(hashlib.file_digest(opened, "sha256").digest())
        return digest.hexdigest()

    def log_probs(
        self, texts: Sequence[str], *, on_progress: Callable[[int], None] = lambda _: None
    ) -> tuple[Floats, Floats]:
        """The natural logarithm of each text's probability, and its number of pieces. `on_progress`
        counts texts, or parts of long ones."""
        start = self._network.start
        max_own_pieces = self._network.limit - len(start)
        parts: list[tuple[int, list[int]]] = []
        for number, pieces in enumerate(self._network.pieces(texts)):
            cuts = range(0, len(pieces), max_own_pieces)
            parts += [(number, start + pieces[begin : begin + max_own_pieces]) for begin in cuts]
        sums, counts = np.zeros(len(texts)), np.zeros(len(texts))
        for batch in _batches(parts, self._network.batch):
            scored = self._network.log_probs([pieces for _, pieces in batch])
            for (number, _), own in zip(batch, scored, strict=True):
                inside = own[len(start) - 1 :]
                sums[number] += float(inside.sum())
                counts[number] += len(inside)
            on_progress(len(batch))
        return sums, counts


def _batches(
    parts: Sequence[tuple[int, list[int]]], most: int
) -> Iterator[list[tuple[int, list[int]]]]:
    """Batches of parts of similar length, shortest first, so that there is little padding."""
    batch: list[tuple[int, list[int]]] = []
    for part in sorted(parts, key=lambda part: len(part[1])):
        if batch and (len(batch) + 1) * len(part[1]) > most:
            yield batch
            batch = []
        batch.append(part)
    if batch:
        yield batch


class TransformerNetwork:
    """A causal language model of the Hugging Face library."""

    def __init__(self, path: Path, device: str) -> None:
        try:
            import torch
            from transformers import AutoModelForCausalLM, AutoTokenizer
        except ImportError:
            raise InputError(
                f"{path} is a neural language model, which needs torch and transformers: "
                "pip install 'wellput[neural]'"
            ) from None
        folder, options = _place(path)
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, **options)
            model: Any = AutoModelForCausalLM.from_pretrained(folder, **options)
        except (OSError, ValueError, ImportError) as error:
            reason = " ".join(str(error).split())
            raise InputError(f"Cannot load the language model {path}: {reason}") from None
        self._torch: Any = torch
        self._device = _device(torch) if device == "auto" else device
        try:
            # A GGUF file's weights are no longer quantized when loaded, but model.float() refuses them.
            self._model: Any = torch.nn.Module.float(model).eval().to(self._device)
        except (RuntimeError, AssertionError) as error:
            raise InputError(f"There is no device {device!r} here: {error}") from None
        self.start: list[int] = self._tokenizer(TEXT_BEFORE)["input_ids"] or [
            model.config.eos_token_id
        ]
        self.limit = getattr(model.config, "max_position_embeddings", None) or MAX_PIECES
        self.batch = BATCH_PIECES.get(self._device, GPU_BATCH_PIECES)

    def pieces(self, texts: Sequence[str]) -> list[list[int]]:
        found: list[list[int]] = self._tokenizer(list(texts), add_special_tokens=False)["input_ids"]
        return found

    def log_probs(self, rows: Sequence[Sequence[int]]) -> list[Floats]:
        torch = self._torch
        longest = max(map(len, rows))
        padded = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])
        seen = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
        padded, seen = padded.to(self._device), seen.to(self._device)
        with torch.inference_mode():
            logits = self._model(input_ids=padded, attention_mask=seen).logits[:, :-1]
            chosen = logits.gather(2, padded[:, 1:, None])[:, :, 0] - logits.logsumexp(2)
        values = chosen.double().cpu().numpy()
        return [values[place, : len(row) - 1] for place, row in enumerate(rows)]


def _place(path: Path) -> tuple[str, dict[str, Any]]:
    """The folder, and the library's options to find the model in it."""
    if path.is_file():
        return str(path.parent), {"gguf_file": path.name, "local_files_only": True}
    if not path.is_dir():
        raise InputError(f"There is no folder {path} with a language model in it.")
    files = sorted(path.glob("*.gguf"))
    if files and not (path / "config.json").exists():
        return _place(files[0])
    return str(path), {"local_files_only": True}


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(file for file in path.iterdir() if file.is_file())


def _device(torch: Any) -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"
