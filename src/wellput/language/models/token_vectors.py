"""`TokenVectors`: a vector for every token of a text, for metrics that compare meaning.

`TransformerVectors` reads an encoder of the Hugging Face library from a local folder
(`wellput[neural]`); the vector of a token depends on its sentence. `StaticVectors` reads a table of
words, as GloVe and fastText write them (`word 0.1 -0.2 …`); a word has the same vector everywhere.
Nothing is downloaded. All vectors have length 1.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import InputError
from wellput.io.files import InputFile, check_readable
from wellput.language.models.transformer_loading import (
    LoadedTransformer,
    files_fingerprint,
    load_transformer,
    without_surrogates,
)
from wellput.text.tokenizers import tokenize

Vectors: TypeAlias = NDArray[np.float32]

TABLE_TOKENIZER = "13a"
BATCH_TOKENS = 4096
"""The most tokens in a batch of an encoder, with padding."""
KEPT_BYTES = 256 << 20
"""The size of the cache of vectors, which is there so that references are not encoded for each system
anew."""


@dataclass(frozen=True, eq=False)
class EncodedText:
    """The tokens of a text as numbers, which are equal for equal tokens, and their vectors (tokens by
    dimensions). `is_word` is false for the tokens that an encoder puts around a text: they do not
    count, but words may be matched with them."""

    numbers: NDArray[np.int64]
    vectors: Vectors
    is_word: NDArray[np.bool_]

    @property
    def has_words(self) -> bool:
        return bool(self.is_word.any())


class TokenVectors(Protocol):
    """A source of vectors. `equal_tokens_match` says whether equal tokens have similarity 1 whatever
    their vectors are."""

    equal_tokens_match: bool

    @property
    def fingerprint(self) -> str: ...

    def encode(self, texts: Sequence[str]) -> list[EncodedText]: ...

    def numbers(self, texts: Sequence[str]) -> list[list[int]]:
        """The tokens of each text, without their vectors."""
        ...


class StaticVectors:
    """Vectors from a table of words. Texts are put in lower case and split as for BLEU. A word that
    the table lacks matches only itself."""

    equal_tokens_match = True

    def __init__(self, words: Sequence[str], vectors: Vectors, fingerprint: str = "") -> None:
        self._numbers: dict[str, int] = {}
        for number, word in enumerate(words):
            self._numbers.setdefault(word, number)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        self._vectors = vectors / np.where(lengths == 0, 1, lengths)
        self._n_known = len(words)
        self.fingerprint = fingerprint

    @classmethod
    def load(cls, path: Path) -> StaticVectors:
        check_readable(InputFile(path))
        words: list[str] = []
        rows: list[Vectors] = []
        digest = hashlib.sha256()
        for number, line in enumerate(InputFile(path).lines(), start=1):
            digest.update(line.encode(errors="surrogatepass") + b"\n")
            # GloVe's largest table has words with spaces: the numbers are the last columns.
            word, *values = line.rstrip().rsplit(" ", len(rows[0]) if rows else -1)
            if number == 1 and len(values) == 1:
                continue  # fastText's first line: the numbers of words and of dimensions
            try:
                row = np.array(values, np.float32)
            except ValueError:
                row = np.empty(0, np.float32)
            if not len(row) or (rows and len(row) != len(rows[0])) or not np.isfinite(row).all():
                raise InputError(
                    f"{path}, line {number}: expected a word and "
                    f"{len(rows[0]) if rows else 'its'} numbers, separated by spaces."
                )
            words.append(word)
            rows.append(row)
        if not rows:
            raise InputError(f"{path} holds no vectors.")
        return cls(words, np.array(rows), digest.hexdigest())

    def encode(self, texts: Sequence[str]) -> list[EncodedText]:
        return [self._encoded(numbers) for numbers in self.numbers(texts)]

    def numbers(self, texts: Sequence[str]) -> list[list[int]]:
        return [
            [self._number(word) for word in tokenize(text.lower(), TABLE_TOKENIZER)]
            for text in texts
        ]

    def _number(self, word: str) -> int:
        """The number of a word. A word that the table lacks gets a number from its spelling, which is
        the same in every process, because counts of words (idf) are passed between processes."""
        known = self._numbers.get(word)
        if known is not None:
            return known
        spelled = word.encode(errors="surrogatepass")
        return self._n_known + int.from_bytes(hashlib.blake2b(spelled, digest_size=7).digest())

    def _encoded(self, token_numbers: list[int]) -> EncodedText:
        numbers = np.array(token_numbers, np.int64)
        is_known = numbers < self._n_known
        vectors = self._vectors[np.where(is_known, numbers, 0)] * is_known[:, None]
        return EncodedText(numbers, vectors.astype(np.float32), np.ones(len(numbers), np.bool_))


def max_tokens(encoder: Any) -> int:
    """How many tokens an encoder takes. RoBERTa and related encoders number positions from the number
    of the padding token plus one, so the first rows of their position embeddings are not used."""
    positions = int(getattr(encoder.config, "max_position_embeddings", None) or 512)
    embeddings = getattr(getattr(encoder, "embeddings", None), "position_embeddings", None)
    padding = getattr(embeddings, "padding_idx", None)
    return positions if padding is None else positions - int(padding) - 1


class TransformerVectors:
    """Vectors from the hidden states of an encoder: those after `layer` layers, or, if `layer` is None,
    after the last one."""

    equal_tokens_match = False

    def __init__(self, path: Path, *, layer: int | None = None, device: str = "auto") -> None:
        loaded = _encoder(path, device)
        self._torch, self._tokenizer, self._device = loaded.torch, loaded.tokenizer, loaded.device
        model = loaded.model
        layers = int(getattr(model.config, "num_hidden_layers", 0))
        if layer is not None and not 0 <= layer <= layers:
            raise InputError(f"layer={layer} must be from 0 to {layers}, the layers of {path}.")
        if model.config.is_encoder_decoder:
            model = model.get_encoder()
        self._model = model
        self._layer = layer
        self._path = path
        # The tokens that an encoder puts around a text; the unknown token stands for a word.
        self._specials = frozenset(self._tokenizer.all_special_ids) - {self._tokenizer.unk_token_id}
        self._limit = min(max_tokens(model), int(self._tokenizer.model_max_length))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all files of the model."""
        return files_fingerprint(self._path)

    def numbers(self, texts: Sequence[str]) -> list[list[int]]:
        """The numbers of the tokens of each text; a text that is too long for the model is cut off."""
        if not texts:
            return []
        numbers: list[list[int]] = self._tokenizer(
            [without_surrogates(text.strip()) for text in texts],
            truncation=True,
            max_length=self._limit,
        )["input_ids"]
        return numbers

    def encode(self, texts: Sequence[str]) -> list[EncodedText]:
        rows = self.numbers(texts)
        encoded: dict[int, EncodedText] = {}
        for batch in _batches(rows):
            states = self._hidden([rows[place] for place in batch])
            for place, vectors in zip(batch, states, strict=True):
                numbers = np.array(rows[place], np.int64)
                is_word = np.array([token not in self._specials for token in rows[place]], np.bool_)
                lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
                units = (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)
                encoded[place] = EncodedText(numbers, units, is_word)
        return [encoded[place] for place in range(len(texts))]

    def _hidden(self, rows: Sequence[Sequence[int]]) -> list[Vectors]:
        """The hidden states of each row of tokens: tokens by dimensions."""
        torch = self._torch
        longest = max(1, *map(len, rows))
        pad = self._tokenizer.pad_token_id or 0
        padded = torch.tensor([[*row, *[pad] * (longest - len(row))] for row in rows])
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
        with torch.inference_mode():
            output = self._model(
                input_ids=padded.to(self._device),
                attention_mask=mask.to(self._device),
                output_hidden_states=self._layer is not None,
            )
        states = output.last_hidden_state
        if self._layer is not None:
            states = output.hidden_states[self._layer]
        values = states.cpu().numpy()
        return [values[place, : len(row)] for place, row in enumerate(rows)]


def _batches(rows: Sequence[Sequence[int]]) -> list[list[int]]:
    """The places of the rows in batches; rows of similar length are together."""
    batches: list[list[int]] = []
    for place in sorted(range(len(rows)), key=lambda place: len(rows[place])):
        if not batches or (len(batches[-1]) + 1) * len(rows[place]) > BATCH_TOKENS:
            batches.append([])
        batches[-1].append(place)
    return batches


@lru_cache(maxsize=2)
def _encoder(path: Path, device: str) -> LoadedTransformer:
    """The model in a folder; it is loaded once, whatever layers are used."""
    return load_transformer(path, auto_class="AutoModel", device=device)


class KeptVectors:
    """A cache of encoded texts: the texts that were used last are kept, up to `limit` bytes of
    vectors."""

    def __init__(self, source: TokenVectors, limit: int = KEPT_BYTES) -> None:
        self.source = source
        self._limit = limit
        self._bytes = 0
        self._kept: OrderedDict[str, EncodedText] = OrderedDict()

    def encode(self, texts: Sequence[str]) -> dict[str, EncodedText]:
        """The encoded texts, by text."""
        distinct_texts = dict.fromkeys(texts)
        missing = [text for text in distinct_texts if text not in self._kept]
        new = dict(zip(missing, self.source.encode(missing), strict=True))
        by_text = {text: new[text] if text in new else self._kept[text] for text in distinct_texts}
        for text, encoded in by_text.items():
            if text in self._kept:
                self._kept.move_to_end(text)
            else:
                self._kept[text] = encoded
                self._bytes += encoded.vectors.nbytes
        while self._bytes > self._limit and self._kept:
            self._bytes -= self._kept.popitem(last=False)[1].vectors.nbytes
        return by_text


def load_vectors(path: str, *, layer: int | None = None, device: str = "auto") -> TokenVectors:
    """The vectors at a path: a folder has an encoder, a file is a table of words."""
    place = Path(path)
    if place.is_dir():
        return TransformerVectors(place, layer=layer, device=device)
    if not place.is_file():
        raise InputError(f"There is no folder or file {path} with vectors.")
    if layer is not None:
        raise InputError(f"{path} is a table of words, which has no layers: leave layer= out.")
    return StaticVectors.load(place)
