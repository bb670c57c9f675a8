"""The small language model: pieces, scores worked out step by step, and the shipped network."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.language import shipped
from wellput.language.models.word_network import (
    BEGIN,
    END,
    NAME,
    NUMBER,
    UNKNOWN,
    Matrix,
    Pieces,
    WordNetwork,
    plain_words,
)

PIECES = (UNKNOWN, BEGIN, END, NUMBER, NAME, "the", "cat", "un", "##happy", "##s", "0000", "i", ".")
STATE, VECTOR = 3, 4


def small(seed: int = 3) -> WordNetwork:
    rng = np.random.default_rng(seed)

    def matrix(rows: int, columns: int) -> Matrix:
        return Matrix.rounded(rng.normal(size=(rows, columns)))

    def bias(size: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        return rng.normal(size=size).round(3).astype(np.float32)

    return WordNetwork(
        PIECES,
        ("purr",),
        matrix(len(PIECES), VECTOR),
        matrix(3 * STATE, VECTOR),
        matrix(3 * STATE, STATE),
        matrix(VECTOR, STATE),
        bias(3 * STATE),
        bias(3 * STATE),
        bias(len(PIECES)),
        bias(len(PIECES)),
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("They do n't , she said .", ["They", "don't", ",", "she", "said", "."]),
        ("They don’t, she said.", ["They", "don't", ",", "she", "said", "."]),
        ("Kim 's well-known `` book ''", ["Kim's", "well", "-", "known", '"', "book", '"']),
        ("In 1999, 1,000.5 or 7th", ["In", "1999", ",", "1,000.5", "or", "7", "th"]),
        ("", []),
    ],
)
def test_tokenization_makes_no_difference(text: str, words: list[str]) -> None:
    assert plain_words(text) == words


def test_no_word_has_no_pieces() -> None:
    assert Pieces(PIECES).of_word("") == ()


@pytest.mark.parametrize(
    ("sentence", "words", "pieces"),
    [
        ("THE Cat.", ["THE", "Cat", "."], ["the", "cat", "."]),
        ("unhappys", ["unhappys"], ["un", "##happy", "##s"]),
        ("unzhappy", ["unzhappy"], ["un", UNKNOWN, "##happy"]),
        ("the cat Ann Lee", ["the", "cat", "Ann Lee"], ["the", "cat", NAME]),
        ("I, X", ["I", ",", "X"], ["i", UNKNOWN, NAME]),
        ("1999 12345 3.5", ["1999", "12345", "3.5"], ["0000", NUMBER, NUMBER]),
    ],
)
def test_pieces_of_words(sentence: str, words: list[str], pieces: list[str]) -> None:
    network = small()
    [found] = network.score([sentence])
    assert list(found.words) == words
    numbers = [PIECES.index(piece) for piece in [*pieces, END]]
    assert found.alone == pytest.approx(network.alone[numbers])


def dense(matrix: Matrix) -> Floats:
    return np.asarray(matrix.steps * matrix.scales[:, None].astype(np.float64))


def slowly(network: WordNetwork, pieces: list[str]) -> list[float]:
    """The textbook's GRU, one piece after the other, without rounding states."""

    def sigmoid(x: Floats) -> Floats:
        return np.asarray(1 / (1 + np.exp(-x)))

    vectors, state = dense(network.vectors), np.zeros(STATE)
    scores = []
    for read, target in zip([BEGIN, *pieces], [*pieces, END], strict=True):
        given = dense(network.inputs) @ vectors[PIECES.index(read)] + network.input_bias
        kept = dense(network.states) @ state + network.state_bias
        reset = sigmoid(given[:STATE] + kept[:STATE])
        update = sigmoid(given[STATE : 2 * STATE] + kept[STATE : 2 * STATE])
        new = np.tanh(given[2 * STATE :] + reset * kept[2 * STATE :])
        state = (1 - update) * new + update * state
        number = PIECES.index(target)
        scores.append(float(dense(network.outputs) @ state @ vectors[number]))
        scores[-1] += float(network.bias[number])
    return scores


def test_scores_are_those_of_a_gru() -> None:
    network = small()
    sentences = ["the cat .", "cat", "unhappy the the cat ."]
    pieces = [["the", "cat", "."], ["cat"], ["un", "##happy", "the", "the", "cat", "."]]
    for found, own in zip(network.score(sentences), pieces, strict=True):
        assert found.scores == pytest.approx(slowly(network, own), abs=0.05)


def test_a_score_does_not_depend_on_its_company() -> None:
    network = WordNetwork.load(shipped.shipped(shipped.NETWORK_FILE))
    sentences = ["It is late.", "", "The cats that he saw have been sleeping all day.", "No"]
    together = network.score([*sentences * 90, "One more sentence, a little longer than others."])
    for place, sentence in enumerate(sentences):
        [alone] = network.score([sentence])
        assert alone.scores.tolist() == together[place].scores.tolist()


def test_gains_and_length() -> None:
    network = small()
    [found] = network.score(["the unhappy cat"])
    alone = network.alone[[PIECES.index(piece) for piece in ("the", "un", "##happy", "cat", END)]]
    gains = (found.scores - alone) / math.log(10)
    assert found.gains() == pytest.approx(
        [gains[0], 0.0, gains[3], gains[4]]
    )  # unhappy: two pieces
    assert found.penalized_log_prob() == pytest.approx(found.scores.sum() / (10 / 6) ** 0.8)


def test_known_words_are_whole_pieces_and_others() -> None:
    network = small()
    assert all(map(network.knows, ["the", "Cat", "purr"]))
    assert not any(map(network.knows, ["happy", "##s", "unhappy", "."]))


def test_a_file_gives_the_same_network(tmp_path: Path) -> None:
    path = tmp_path / "network.wpm"
    network = small()
    network.save(path, {})
    again = WordNetwork.load(path)
    assert again.fingerprint
    for sentence in ("the unhappy cat .", "Ann 12"):
        [a], [b] = network.score([sentence]), again.score([sentence])
        assert a.scores.tolist() == pytest.approx(b.scores.tolist())
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(InputError):
        WordNetwork.load(path)


def test_parts_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "network.wpm"
    network = small()
    for wrong in (
        replace(network, bias=network.bias[1:]),
        replace(network, states=network.inputs),
        replace(network, pieces=("x", *PIECES[1:])),
        replace(network, vectors=Matrix(network.vectors.steps * 3, network.vectors.scales)),
        replace(network, inputs=Matrix(network.inputs.steps, network.inputs.scales * 1e30)),
    ):
        wrong.save(path, {})
        with pytest.raises(InputError, match="damaged"):
            WordNetwork.load(path)


def test_rows_are_rounded_with_little_loss() -> None:
    values = np.random.default_rng(1).normal(size=(50, 200)) * np.arange(1, 51)[:, None]
    error = dense(Matrix.rounded(values)) - values
    assert np.sqrt((error**2).mean(axis=1) / (values**2).mean(axis=1)).max() < 0.08


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("The children are playing in the garden.", "The children is playing in the garden."),
        ("She has gone to the market.", "She has went to the market."),
        ("I look forward to seeing you.", "I look forward to see you."),
        ("He does n't know it .", "He do n't know it ."),
        ("THE CAT SAT ON THE MAT.", "THE CAT SAT THE MAT ON."),
    ],
)
def test_the_shipped_network_prefers_what_is_right(better: str, worse: str) -> None:
    network = WordNetwork.load(shipped.shipped(shipped.NETWORK_FILE))
    good, bad = network.score([better, worse])
    assert good.penalized_log_prob() > bad.penalized_log_prob()


def test_case_and_tokenization_make_no_difference_to_the_shipped_network() -> None:
    network = WordNetwork.load(shipped.shipped(shipped.NETWORK_FILE))
    usual, other = network.score(["It doesn't rain today.", "it does n't rain today ."])
    assert usual.scores.tolist() == other.scores.tolist()
