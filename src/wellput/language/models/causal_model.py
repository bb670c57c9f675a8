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
from typing import Protocol

import numpy as np

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.language.models.transformer_loading import (
    files_fingerprint,
    load_transformer,
    without_surrogates,
)

TEXT_BEFORE = "\n"
MAX_PIECES = 1024
"""The most pieces that are scored in one row, for a model that does not state its limit."""
CPU_BATCH_PIECES = 1024
"""The most pieces in a batch on a CPU, with padding. The largest array in memory has a number for each
pair of a piece in the batch and a piece in the vocabulary."""
GPU_BATCH_PIECES = 16384
"""The same on a GPU."""
SAME_LOG_PROB = 1e-3
"""Log probabilities that differ by less are equal but for rounding."""


class Network(Protocol):
    """A language model: `pieces` turns texts into numbers of pieces, and `log_probs` gives the
    probability of each piece after those before it. A row is a list of pieces. `start` are the pieces
    before each text, `max_row_pieces` is the most pieces in a row, and `max_batch_pieces` the most in a
    batch of rows, with padding."""

    start: list[int]
    max_row_pieces: int
    max_batch_pieces: int

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
        return files_fingerprint(self._path) if self._path else hashlib.sha256().hexdigest()

    def log_probs(
        self, texts: Sequence[str], *, on_progress: Callable[[int], None] = lambda _: None
    ) -> tuple[Floats, Floats]:
        """For each text, the natural logarithm of its probability and the number of its pieces.
        `on_progress` counts texts, or the parts of long texts."""
        start = self._network.start
        max_part_pieces = self._network.max_row_pieces - len(start)
        parts: list[tuple[int, list[int]]] = []
        for number, pieces in enumerate(self._network.pieces(texts)):
            cuts = range(0, len(pieces), max_part_pieces)
            parts += [(number, start + pieces[begin : begin + max_part_pieces]) for begin in cuts]
        sums, counts = np.zeros(len(texts)), np.zeros(len(texts))
        for batch in _batches(parts, self._network.max_batch_pieces):
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
        folder, options = _folder_and_options(path)
        loaded = load_transformer(
            path, auto_class="AutoModelForCausalLM", device=device, folder=folder, **options
        )
        self._torch, self._tokenizer, self._model = loaded.torch, loaded.tokenizer, loaded.model
        self._device = loaded.device
        if self._sees_later_pieces():
            raise InputError(
                f"{path} is not a causal language model: the probabilities that it gives to pieces "
                "depend on the pieces after them. Give a model that writes text, such as GPT-2."
            )
        # A tokenizer that drops the line break gives no pieces for it.
        self.start: list[int] = self._tokenizer(TEXT_BEFORE)["input_ids"] or [
            self._model.config.eos_token_id
        ]
        self.max_row_pieces = (
            getattr(self._model.config, "max_position_embeddings", None) or MAX_PIECES
        )
        self.max_batch_pieces = CPU_BATCH_PIECES if self._device == "cpu" else GPU_BATCH_PIECES

    def _sees_later_pieces(self) -> bool:
        """Whether the probability of a piece changes with the piece after it."""
        one, another = self.log_probs([[0, 0, 0], [0, 0, 1]])
        return bool(abs(one[0] - another[0]) > SAME_LOG_PROB)

    def pieces(self, texts: Sequence[str]) -> list[list[int]]:
        numbers: list[list[int]] = self._tokenizer(
            [without_surrogates(text) for text in texts], add_special_tokens=False
        )["input_ids"]
        return numbers

    def log_probs(self, rows: Sequence[Sequence[int]]) -> list[Floats]:
        if len(rows) == 1:
            return [self._log_probs_of_row(rows[0])]
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

    def _log_probs_of_row(self, row: Sequence[int]) -> Floats:
        """The log probabilities of one row, which may be long: the network reads `max_batch_pieces` at
        a time and keeps what it needs of those before, so that memory does not grow with the row times
        the vocabulary."""
        torch = self._torch
        read = None
        parts: list[Floats] = []
        pieces = torch.tensor([list(row)], device=self._device)
        for begin in range(0, len(row) - 1, self.max_batch_pieces):
            end = min(begin + self.max_batch_pieces, len(row) - 1)
            with torch.inference_mode():
                output = self._model(
                    input_ids=pieces[:, begin:end],
                    past_key_values=read,
                    use_cache=end < len(row) - 1,
                )
                logits, following = output.logits[0], pieces[0, begin + 1 : end + 1]
                chosen = logits.gather(1, following[:, None])[:, 0] - logits.logsumexp(1)
            read = output.past_key_values
            parts.append(chosen.double().cpu().numpy())
        return np.concatenate(parts) if parts else np.empty(0)


def _folder_and_options(path: Path) -> tuple[str, dict[str, str]]:
    """The folder of the model, and the options with which the Hugging Face library finds it there."""
    if path.is_file():
        return str(path.parent), {"gguf_file": path.name}
    if not path.is_dir():
        raise InputError(f"There is no folder {path} with a language model in it.")
    files = sorted(path.glob("*.gguf"))
    if files and not (path / "config.json").exists():
        return _folder_and_options(files[0])
    return str(path), {}
