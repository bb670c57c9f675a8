"""Texts under a neural language model: batches and cuts by a network made by hand, loading by a tiny
one of the library where that is installed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellput.core.errors import InputError
from wellput.core.evalset import Batch
from wellput.core.metric import Floats
from wellput.language.models.causal_model import CausalModel, TransformerNetwork
from wellput.language.models.token_vectors import load_vectors
from wellput.metrics.perplexity import Perplexity, causal_model

WORDS = "abcdefgh"
HAS_NEURAL_EXTRA = find_spec("torch") is not None and find_spec("transformers") is not None
"""CI does not have it; there `test_a_tiny_network_or_how_to_get_one` tests what is said then."""


class Letters:
    """A letter is a piece; after the letter x the letter y has the log probability −(x + 2 y) / 10."""

    def __init__(self, *, limit: int = 100, batch: int = 12) -> None:
        self.start = [0]
        self.max_row_pieces = limit
        self.max_batch_pieces = batch
        self.sizes: list[int] = []

    def pieces(self, texts: Sequence[str]) -> list[list[int]]:
        return [[WORDS.index(letter) + 1 for letter in text] for text in texts]

    def log_probs(self, rows: Sequence[Sequence[int]]) -> list[Floats]:
        self.sizes.append(len(rows) * max(map(len, rows)))
        return [np.array([-(x + 2 * y) / 10 for x, y in pairwise(row)]) for row in rows]


def test_by_hand() -> None:
    # The line break is 0, a is 1, c is 3: −(0 + 2) / 10 − (1 + 6) / 10 = −.9.
    sums, counts = CausalModel(Letters()).log_probs(["ac", "", "a"])
    assert sums == pytest.approx([-0.9, 0, -0.2])
    assert counts.tolist() == [2, 0, 1]


def test_a_long_text_is_cut() -> None:
    # Two pieces fit beside the line break: ac | a, each part after a line break of its own.
    sums, counts = CausalModel(Letters(limit=3)).log_probs(["aca"])
    assert sums == pytest.approx([-0.9 - 0.2])
    assert counts.tolist() == [3]


@given(st.lists(st.text(WORDS, max_size=9), max_size=9))
def test_batches_change_nothing(texts: list[str]) -> None:
    network = Letters()
    sums, counts = CausalModel(network).log_probs(texts)
    alone = [CausalModel(Letters()).log_probs([text]) for text in texts]
    np.testing.assert_allclose(sums, [own[0][0] for own in alone])
    np.testing.assert_allclose(counts, [len(text) for text in texts])
    assert all(size <= network.max_batch_pieces for size in network.sizes)


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no folder|wellput\[neural\]"):
        CausalModel.load(str(tmp_path / "none"))


def test_a_tiny_network_or_how_to_get_one(tmp_path: Path) -> None:
    """Where the extra is not installed, as in CI, what is said then is tested."""
    batch = Batch.from_texts(["the cat", "", "cat"], [()] * 3)
    metric = Perplexity(model=str(tmp_path), measure="slor", device="cpu")
    if not HAS_NEURAL_EXTRA:
        with pytest.raises(InputError, match=r"pip install 'wellput\[neural\]'"):
            metric.statistics(batch)
        return
    network = save_tiny_network(tmp_path)
    scores = metric.segment_score(metric.statistics(batch))
    assert np.isfinite(scores[[0, 2]]).all()
    assert np.isnan(scores[1])
    perplexity = Perplexity(model=str(tmp_path), device="cpu")
    found = perplexity.segment_score(perplexity.statistics(batch))
    assert found[0] == pytest.approx(perplexity_by_library(network), rel=1e-4)
    assert perplexity.signature().startswith("model:")


def test_a_long_row_is_read_piece_by_piece_with_the_same_result(tmp_path: Path) -> None:
    if not HAS_NEURAL_EXTRA:
        return
    save_tiny_network(tmp_path)
    network = TransformerNetwork(tmp_path, "cpu")
    row = [0, 1, 2, 3, 1, 1, 2, 0, 3]
    (at_once,) = network.log_probs([row])
    for network.max_batch_pieces in (1, 3, 8):
        assert network.log_probs([row])[0] == pytest.approx(at_once, abs=1e-5)
    assert network.log_probs([row, row[:4]])[0] == pytest.approx(at_once, abs=1e-5)
    assert len(network.log_probs([[0]])[0]) == 0


def test_half_a_surrogate_pair_is_read_as_an_unknown_piece(tmp_path: Path) -> None:
    if not HAS_NEURAL_EXTRA:
        return
    save_tiny_network(tmp_path)
    network = TransformerNetwork(tmp_path, "cpu")
    assert network.pieces(["the \ud83d"]) == network.pieces(["the ?"])
    assert load_vectors(str(tmp_path), device="cpu").numbers(["the \ud83d"]) == [[1, 3]]


def test_two_models_are_loaded_once_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scoring goes from one to the other for every system and block."""
    loaded: list[str] = []

    def load(path: str, **options: Any) -> CausalModel:
        loaded.append(path)
        return CausalModel(Letters())

    monkeypatch.setattr(CausalModel, "load", load)
    causal_model.cache_clear()
    for path in ("one", "another", "one", "another"):
        causal_model(path, "cpu")
    causal_model.cache_clear()
    assert loaded == ["one", "another"]


@pytest.mark.parametrize(
    ("with_head", "message"),
    [
        # The library would draw the missing weights at random, anew in each run.
        (False, "not a causal language model, or is incomplete"),
        (True, "depend on the pieces after them"),
    ],
)
def test_an_encoder_is_refused(tmp_path: Path, with_head: bool, message: str) -> None:
    if not HAS_NEURAL_EXTRA:
        return
    save_tiny_network(tmp_path)
    save_tiny_encoder(tmp_path, with_head=with_head)
    with pytest.raises(InputError, match=message):
        CausalModel.load(str(tmp_path), device="cpu")


@pytest.mark.parametrize("file", ["model.safetensors", "config.json"])
def test_a_damaged_model_is_refused(tmp_path: Path, file: str) -> None:
    if not HAS_NEURAL_EXTRA:
        return
    save_tiny_network(tmp_path)
    damaged = tmp_path / file
    damaged.write_bytes(b"[]" if file == "config.json" else damaged.read_bytes()[:900])
    with pytest.raises(InputError, match="may be damaged"):
        CausalModel.load(str(tmp_path), device="cpu")
    with pytest.raises(InputError, match="may be damaged"):
        load_vectors(str(tmp_path), device="cpu")


def save_tiny_encoder(folder: Path, *, with_head: bool) -> None:
    """A network of the kind of BERT, over the vocabulary of the tiny network."""
    import torch
    from transformers import BertConfig, BertForMaskedLM, BertModel

    torch.manual_seed(1)
    shape = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = BertConfig(vocab_size=4, intermediate_size=8, initializer_range=1.0, **shape)
    (BertForMaskedLM if with_head else BertModel)(config).save_pretrained(folder)


def save_tiny_network(folder: Path) -> Any:
    """A network with random weights over a vocabulary of four."""
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    words = {"<s>": 0, "the": 1, "cat": 2, "<unk>": 3}
    tokenizer = Tokenizer(WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>").save_pretrained(folder)
    torch.manual_seed(1)
    shape = {"n_embd": 8, "n_layer": 1, "n_head": 2, "n_positions": 16}
    network = GPT2LMHeadModel(GPT2Config(vocab_size=4, bos_token_id=0, eos_token_id=0, **shape))
    network.save_pretrained(folder)
    return network.eval()


def perplexity_by_library(network: Any) -> float:
    """Of "the cat" after the token that stands for the line break, which this tokenizer lacks."""
    import torch

    ids = torch.tensor([[0, 1, 2]])
    with torch.inference_mode():
        return float(torch.exp(network(input_ids=ids, labels=ids).loss))
