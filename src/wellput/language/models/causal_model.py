"""`CausalModel`: the probability of a text under a neural language model (`wellput[neural]`).

The model is a local folder of the Hugging Face library, or a GGUF file; nothing is downloaded. A text
is scored after a line break, as in running text. So its first word has a probability too, whatever
token the model uses for the beginning of a document. The tokens of the model are called *pieces*.
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
"""The most pieces that are scored in one row, for a model that does not state its limit."""
CPU_BATCH_PIECES = 1024
"""The most pieces in a batch on a CPU, with padding. The largest array in memory has a number for each
pair of a piece in the batch and a piece in the vocabulary."""
GPU_BATCH_PIECES = 16384
"""The same on a GPU."""


class Network(Protocol):
    """A language model: `pieces` turns texts into numbers of pieces, and `log_probs` gives the
    probability of each piece after those before it. A row is a list of pieces. `start` are the pieces
    before each text, `limit` is the most pieces in a row, and `batch` the most in a batch of rows."""

    start: list[int]
    limit: int
    batch: int

    def pieces(self, texts: Sequence[str]) -> list[list[int]]: ...

    def log_probs(self, rows: Sequence[Sequence[int]]) -> list[Floats]:
        """For each row of pieces, the natural log probabilities of all its pieces but the first."""


class CausalModel:
    """Gives the log probabilities of texts. A text that is too long for the network is cut, and each
    part is scored as if it began a line."""

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
        """For each text, the natural logarithm of its probability and the number of its pieces.
        `on_progress` counts texts, or the parts of long texts."""
        start = self._network.start
        max_part_pieces = self._network.limit - len(start)
        parts: list[tuple[int, list[int]]] = []
        for number, pieces in enumerate(self._network.pieces(texts)):
            cuts = range(0, len(pieces), max_part_pieces)
            parts += [(number, start + pieces[begin : begin + max_part_pieces]) for begin in cuts]
        sums, counts = np.zeros(len(texts)), np.zeros(len(texts))
        for batch in _batches(parts, self._network.batch):
            scored = self._network.log_probs([pieces for _, pieces in batch])
            for (number, _), logs in zip(batch, scored, strict=True):
                text_logs = logs[len(start) - 1 :]  # without those of the start
                sums[number] += float(text_logs.sum())
                counts[number] += len(text_logs)
            on_progress(len(batch))
        return sums, counts


def _batches(
    parts: Sequence[tuple[int, list[int]]], max_pieces: int
) -> Iterator[list[tuple[int, list[int]]]]:
    """Batches of parts of similar length, the shortest first, so that there is little padding. A part
    is the number of its text and its pieces."""
    batch: list[tuple[int, list[int]]] = []
    for part in sorted(parts, key=lambda part: len(part[1])):
        if batch and (len(batch) + 1) * len(part[1]) > max_pieces:
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
        folder, options = _folder_and_options(path)
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, **options)
            model: Any = AutoModelForCausalLM.from_pretrained(folder, **options)
        except (OSError, ValueError, ImportError) as error:
            reason = " ".join(str(error).split())
            raise InputError(f"Cannot load the language model {path}: {reason}") from None
        self._torch: Any = torch
        self._device = _device(torch) if device == "auto" else device
        try:
            # The weights of a GGUF file are no longer quantized after loading, but model.float() still
            # raises an error for them.
            self._model: Any = torch.nn.Module.float(model).eval().to(self._device)
        except (RuntimeError, AssertionError) as error:
            raise InputError(f"There is no device {device!r} here: {error}") from None
        self.start: list[int] = self._tokenizer(TEXT_BEFORE)["input_ids"] or [
            model.config.eos_token_id
        ]
        self.limit = getattr(model.config, "max_position_embeddings", None) or MAX_PIECES
        self.batch = CPU_BATCH_PIECES if self._device == "cpu" else GPU_BATCH_PIECES

    def pieces(self, texts: Sequence[str]) -> list[list[int]]:
        numbers: list[list[int]] = self._tokenizer(list(texts), add_special_tokens=False)[
            "input_ids"
        ]
        return numbers

    def log_probs(self, rows: Sequence[Sequence[int]]) -> list[Floats]:
        torch = self._torch
        longest = max(map(len, rows))
        padded = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
        padded, mask = padded.to(self._device), mask.to(self._device)
        with torch.inference_mode():
            logits = self._model(input_ids=padded, attention_mask=mask).logits[:, :-1]
            chosen = logits.gather(2, padded[:, 1:, None])[:, :, 0] - logits.logsumexp(2)
        values = chosen.double().cpu().numpy()
        return [values[place, : len(row) - 1] for place, row in enumerate(rows)]


def _folder_and_options(path: Path) -> tuple[str, dict[str, Any]]:
    """The folder of the model, and the options with which the Hugging Face library finds it there."""
    if path.is_file():
        return str(path.parent), {"gguf_file": path.name, "local_files_only": True}
    if not path.is_dir():
        raise InputError(f"There is no folder {path} with a language model in it.")
    files = sorted(path.glob("*.gguf"))
    if files and not (path / "config.json").exists():
        return _folder_and_options(files[0])
    return str(path), {"local_files_only": True}


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(file for file in path.iterdir() if file.is_file())


def _device(torch: Any) -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"
