"""BERTScore over a small table of vectors, and over a tiny encoder where the extra is installed.

The golden values come from the package bert-score 0.3.13: `greedy_cos_idf` on the vectors of
vectors.txt in double precision, with weights 1 or log((N + 1) / (n + 1)) over the references.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from wellput.core.errors import InputError
from wellput.core.evalset import Batch
from wellput.language.models.token_vectors import (
    KeptVectors,
    StaticVectors,
    load_vectors,
    max_tokens,
)
from wellput.metrics.bertscore import Bertscore, _kept_vectors
from wellput.metrics.registry import create

TABLE = str(Path(__file__).parent / "vectors.txt")
PAIRS = (
    ("a dog slept on the mat", "the cat sat on the mat"),
    ("the cat slept", "a dog sat on a mat"),
    ("a dog sat", "the dog slept"),
)
GOLDEN = {
    False: [
        [0.977789534, 0.987900128, 0.982818829],
        [0.955579068, 0.85331626, 0.901557038],
        [0.966651109, 0.966651109, 0.966651109],
    ],
    True: [
        [0.968899469, 0.983883392, 0.976333944],
        [0.959513305, 0.880811624, 0.918479622],
        [0.957920287, 0.96472234, 0.961309281],
    ],
}


def batch_of(*pairs: tuple[str, str]) -> Batch:
    return Batch.from_texts([output for output, _ in pairs], [[text] for _, text in pairs])


@pytest.mark.parametrize("idf", [False, True])
def test_golden_values_of_the_package(idf: bool) -> None:
    metric = Bertscore(model=TABLE, idf=idf).prepare([[text] for _, text in PAIRS])
    np.testing.assert_allclose(metric.statistics(batch_of(*PAIRS))[:, :3], GOLDEN[idf], atol=1e-6)


def test_by_hand(tmp_path: Path) -> None:
    # x and y are at right angles; z is between them, cosine .6 with x and .8 with y.
    table = tmp_path / "table.vec"
    table.write_text("3 2\nx 1 0\ny 0 2\nz 0.6 0.8\n")
    metric = Bertscore(model=str(table))
    # x z against y z: x is best matched by z (.6), z by z (1); y by z (.8), z by z (1).
    [row] = metric.statistics(batch_of(("x z", "y z")))
    assert row[:2] == pytest.approx([0.8, 0.9])
    assert row[2] == pytest.approx(2 * 0.8 * 0.9 / 1.7)
    assert [float(metric.components(row)[part]) for part in ("precision", "recall", "f")] == (
        pytest.approx(row[:3])
    )


def test_a_word_that_the_table_lacks_matches_only_itself() -> None:
    metric = Bertscore(model=TABLE, part="recall")
    rows = metric.statistics(batch_of(("harbor cat", "harbor"), ("pier cat", "harbor")))
    assert metric.segment_score(rows) == pytest.approx([1.0, 0.0])


def test_a_word_of_a_table_may_have_spaces(tmp_path: Path) -> None:
    """As in glove.840B.300d, where ". . ." is a word."""
    table = tmp_path / "glove.txt"
    table.write_text("cat 1 0\n. . . 0.3 0.4\nat name@domain.com 1 1\ndog 0 1\n")
    [row] = Bertscore(model=str(table)).statistics(batch_of(("cat", "dog")))
    assert row.tolist() == [0, 0, 0, 1]


def test_a_word_that_stands_twice_in_the_table_gives_no_vector_to_others(tmp_path: Path) -> None:
    table = tmp_path / "table.txt"
    table.write_text("cat 1 0\ncat 1 0\ndog 0 1\n")
    [row] = Bertscore(model=str(table)).statistics(batch_of(("zebra", "dog")))
    assert row[:3].tolist() == [0, 0, 0]


def test_idf_holds_in_another_process() -> None:
    """A worker reads the table again, and meets words that the table lacks in another order."""
    metric = Bertscore(model=TABLE, idf=True)
    references = [["harbor cat"], ["pier cat"], ["pier dog"]]
    pair = batch_of(("harbor pier", "pier dog"))
    prepared = metric.prepare(references)
    here = prepared.statistics(pair).tolist()
    _kept_vectors.cache_clear()
    Bertscore(model=TABLE).statistics(batch_of(("pier jetty", "harbor")))
    assert prepared.statistics(pair).tolist() == here
    assert metric.prepare(references).signature() == prepared.signature()


def test_several_references_give_each_part_its_highest_value() -> None:
    metric = Bertscore(model=TABLE)
    both = metric.statistics(Batch.from_texts(["the cat"], [["the cat sat on a mat", "the"]]))[0]
    first, second = metric.statistics(
        batch_of(("the cat", "the cat sat on a mat"), ("the cat", "the"))
    )
    assert both[:3].tolist() == np.maximum(first, second)[:3].tolist()


def test_empty_texts_score_0() -> None:
    metric = Bertscore(model=TABLE)
    assert metric.score(metric.statistics(batch_of(("", "the cat"), ("cat", "")))).tolist() == [
        0,
        0,
    ]


def test_a_baseline_rescales(tmp_path: Path) -> None:
    file = tmp_path / "baseline.tsv"
    file.write_text("LAYER,P,R,F\n0,0.1,0.2,0.3\n1,0.5,0.6,0.7\n")
    plain = Bertscore(model=TABLE).statistics(batch_of(PAIRS[0]))[0]
    scaled = Bertscore(model=TABLE, baseline=str(file)).statistics(batch_of(PAIRS[0]))[0]
    lowest = np.array([0.5, 0.6, 0.7])  # of the last layer
    assert scaled[:3] == pytest.approx((plain[:3] - lowest) / (1 - lowest))
    assert "baseline:0.5,0.6,0.7" in Bertscore(model=TABLE, baseline=str(file)).signature()


def test_what_is_refused(tmp_path: Path) -> None:
    broken = tmp_path / "broken.txt"
    broken.write_text("cat 1 2\ndog 1\n")
    with pytest.raises(InputError, match=r"broken\.txt, line 2"):
        load_vectors(str(broken))
    with pytest.raises(InputError, match="no folder or file"):
        load_vectors(str(tmp_path / "none"))
    with pytest.raises(InputError, match="no layers"):
        load_vectors(TABLE, layer=2)
    with pytest.raises(InputError, match="needs embeddings"):
        Bertscore().statistics(batch_of(PAIRS[0]))
    with pytest.raises(InputError, match="call prepare"):
        Bertscore(model=TABLE, idf=True).statistics(batch_of(PAIRS[0]))
    with pytest.raises(InputError, match="is no baseline"):
        Bertscore(model=TABLE, baseline=TABLE).statistics(batch_of(PAIRS[0]))
    unknown = tmp_path / "baseline.tsv"
    unknown.write_text("LAYER,P,R,F\n0,0.1,nan,0.3\n")
    with pytest.raises(InputError, match="must be below 1"):
        Bertscore(model=TABLE, baseline=str(unknown)).statistics(batch_of(PAIRS[0]))


def test_the_signature_follows_table_and_references() -> None:
    assert create("BERTScore").name == "bertscore"
    one, other = (
        Bertscore(model=TABLE, idf=True).prepare([[text]]).signature() for text in ("the", "cat")
    )
    assert one != other
    assert one.startswith("model:")


def test_kept_vectors_stay_within_their_limit() -> None:
    kept = KeptVectors(StaticVectors.load(Path(TABLE)), limit=100)
    first = kept.encode(["the cat", "the dog", "a mat"])
    again = kept.encode(["a mat"])
    assert set(first) == {"the cat", "the dog", "a mat"}
    assert again["a mat"].vectors.tolist() == first["a mat"].vectors.tolist()
    assert kept._bytes <= 100


def test_a_tiny_encoder_or_how_to_get_one(tmp_path: Path) -> None:
    """Where the extra is not installed, as in CI, what is said then is tested."""
    metric = Bertscore(model=str(tmp_path), device="cpu")
    if find_spec("torch") is None or find_spec("transformers") is None:
        with pytest.raises(InputError, match=r"pip install 'wellput\[neural\]'"):
            metric.statistics(batch_of(PAIRS[0]))
        return
    network = save_tiny_encoder(tmp_path)
    rows = metric.statistics(batch_of(("the cat sat", "the cat sat"), ("cat", "sat cat the")))
    assert rows[0, :3] == pytest.approx([1, 1, 1], abs=1e-6)
    assert rows[1, :3] == pytest.approx(matched_by_hand(network), abs=1e-5)
    with pytest.raises(InputError, match="layer=9 must be from 0 to 1"):
        load_vectors(str(tmp_path), layer=9)
    assert cut_off_by_roberta(tmp_path) == 16


@pytest.mark.parametrize(
    ("padding", "config", "tokens"),
    [
        (None, 512, 512),
        (1, 514, 512),
        (None, None, 512),
    ],  # BERT, RoBERTa, an encoder without a limit
)
def test_positions_that_are_never_used_take_no_tokens(
    padding: int | None, config: int | None, tokens: int
) -> None:
    table = SimpleNamespace(padding_idx=padding)
    encoder = SimpleNamespace(
        config=SimpleNamespace(max_position_embeddings=config),
        embeddings=SimpleNamespace(position_embeddings=table),
    )
    assert max_tokens(encoder) == tokens


def cut_off_by_roberta(folder: Path) -> int:
    """The tokens that are left of a long text. RoBERTa reserves the first two of its 18 positions."""
    from transformers import RobertaConfig, RobertaModel

    config = RobertaConfig(
        vocab_size=7, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=18, pad_token_id=1,
    )  # fmt: skip
    RobertaModel(config).save_pretrained(folder)  # beside a tokenizer that has no limit of its own
    (encoded,) = load_vectors(str(folder), device="cpu").encode(["the cat sat " * 20])
    return len(encoded.numbers)


def save_tiny_encoder(folder: Path) -> Any:
    """An encoder with random weights over a vocabulary of seven."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "cat", "sat"]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=7, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=16,
    )  # fmt: skip
    network = BertModel(config)
    network.save_pretrained(folder)
    return network.eval()


def matched_by_hand(network: Any) -> list[float]:
    """Of "cat" against "sat cat the": [CLS] and [SEP] may match, and do not count."""
    import torch

    def vectors(*ids: int) -> Any:
        with torch.inference_mode():
            found = network(input_ids=torch.tensor([[2, *ids, 3]])).last_hidden_state[0]
        return found / found.norm(dim=1, keepdim=True)

    similar = vectors(5) @ vectors(6, 5, 4).T
    precision = float(similar.max(dim=1).values[1])
    recall = float(similar.max(dim=0).values[1:-1].mean())
    return [precision, recall, 2 * precision * recall / (precision + recall)]
