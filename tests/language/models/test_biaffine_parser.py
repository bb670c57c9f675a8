"""The biaffine parser: its kernel beside an oracle, long sentences, files, and the shipped one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.language.models.biaffine_oracle import TAGS, Oracle, is_projective, small_parser
from tests.language.models.test_word_network import small as small_network
from wellput import _native
from wellput.core.errors import InputError
from wellput.language import shipped
from wellput.language.models import biaffine_parser
from wellput.language.models.biaffine_parser import (
    BiaffineParser,
    InputCoder,
    WholeMatrix,
    affix_features,
)
from wellput.language.models.parsers import NetworkParser, load_parser
from wellput.language.models.tagger import Tagger
from wellput.language.models.word_network import NAME, Pieces, WordNetwork

WORDS = st.sampled_from(
    ["the", "The", "cat", "cats", "unhappys", "Ann", "Lee", "n't", "12", "¿", "", "I", "'s", "zzz"]
)
SENTENCES = st.lists(st.lists(WORDS, min_size=1, max_size=5), min_size=1, max_size=4)


@settings(max_examples=40, deadline=None)
@given(SENTENCES, st.integers(1, 30), st.data())
def test_the_kernel_gives_what_the_oracle_gives(
    sentences: list[list[str]], seed: int, data: st.DataObject
) -> None:
    tags = [[data.draw(st.sampled_from([*TAGS, "??"])) for _ in forms] for forms in sentences]
    parser = small_parser(seed)
    oracle = Oracle(parser)
    right = [oracle.parse(forms, own) for forms, own in zip(sentences, tags, strict=True)]
    assert parser.parse(sentences, tags, threads=2) == right


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 70), st.integers(0, 70), st.integers(0, 9), st.integers(0, 99))
def test_every_way_to_multiply_gives_the_same_sums(
    rows: int, columns: int, n: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.integers(-31, 32, (rows, columns), np.int8)
    vectors = rng.integers(-300, 301, (n, columns), np.int16)
    right = (vectors.astype(np.int64) @ weights.T.astype(np.int64)).tolist()
    found = _native.whole_products(weights, vectors).tolist()
    assert found == right * (len(found) // max(n, 1))
    assert len(found) >= n


def test_a_tree_does_not_depend_on_its_company() -> None:
    parser = load_parser("english")
    assert isinstance(parser, NetworkParser)
    sentences = [
        ["It", "is", "late", "."],
        ["No"],
        ["The", "cats", "that", "he", "saw", "have", "been", "sleeping", "all", "day", "."],
    ]
    together = parser.parse([*sentences * 60, ["One", "more", "."] * 20], threads=2)
    for place, forms in enumerate(sentences):
        assert parser.parse([forms]) == [together[place]]


def test_no_sentences_and_no_words() -> None:
    parser = small_parser()
    assert parser.parse([], []) == []
    assert parser.parse([[], ["cat"]], [[], ["NN"]])[0] == []


def test_a_long_sentence_is_parsed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(biaffine_parser, "MAX_WORDS_READ_TOGETHER", 3)
    parser = small_parser()
    forms = ["the", "cat", "cats", "I", "zzz", "the", "cat"]
    parts = [forms[:3], forms[3:6], forms[6:]]
    tags = [["NN"] * len(part) for part in parts]
    [found] = parser.parse([forms], [["NN"] * 7])
    alone = parser.parse(parts, tags)
    root = next(number for number, word in enumerate(alone[0], start=1) if word.head == 0)
    assert found[:3] == alone[0]
    for begin, part in ((3, alone[1]), (6, alone[2])):
        for word, own in zip(found[begin:], part, strict=False):
            if own.head == 0:
                assert (word.head, word.relation) == (root, "parataxis")
            else:
                assert (word.head, word.relation) == (own.head + begin, own.relation)
    assert is_projective([word.head for word in found])


def test_letters_of_a_word() -> None:
    assert affix_features("Bark2")[-1] == "=Xxx0"
    assert affix_features("A")[:3] == ("1>a", "2>a", "3>a")


def test_pieces_of_words_that_are_written_together() -> None:
    network = small_network()
    coder = InputCoder(["cat"], 8, Pieces(network.pieces))
    found = coder.coded(["the", "cat", "'s", "Ann", "Lee", "unhappy", ""])
    name = network.pieces.index(NAME)
    assert [network.pieces[piece] for piece in found.pieces[:2]] == ["<s>", "the"]
    assert found.spans[1] == found.spans[2]  # cat's
    assert found.spans[3] == found.spans[4]  # one piece for names in a row
    assert found.pieces[found.spans[3][0]] == name
    first, last = found.spans[5]
    assert [network.pieces[piece] for piece in found.pieces[first : last + 1]] == ["un", "##happy"]
    assert found.spans[6] == (last, last)  # no piece of its own
    assert found.words == [0, 1, 0, 0, 0, 0, 0]


def test_files(tmp_path: Path) -> None:
    small_network().save(tmp_path / "network.wpm", {})
    reader = WordNetwork.load(tmp_path / "network.wpm")
    parser = small_parser(reader=reader)
    parser.save(tmp_path / "parser.wpm", {"seed": 1})
    loaded = BiaffineParser.load(tmp_path / "parser.wpm", reader)
    assert loaded.fingerprint == parser.fingerprint
    assert loaded.card == {"seed": 1}
    sentence = [["the", "cat"]]
    assert loaded.parse(sentence, [["DT", "NN"]]) == parser.parse(sentence, [["DT", "NN"]])
    Tagger.train([(["the", "cat"], ["DT", "NN"])]).save(tmp_path / "tagger.wpm")
    by_folder = load_parser(str(tmp_path))
    [tree] = by_folder.parse(sentence)
    assert [word.form for word in tree.words] == ["the", "cat"]
    other = replace(reader, fingerprint="00" * 32)
    with pytest.raises(InputError, match="another small language model"):
        BiaffineParser.load(tmp_path / "parser.wpm", other)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("arcs", lambda own: own._replace(steps=own.steps[:-1])),
        ("arcs", lambda own: own._replace(bias=own.bias[:-1])),
        ("words", lambda own: WholeMatrix(own.steps[:-1], own.scales[:-1], own.bias)),
        ("read", lambda own: own._replace(scales=own.scales * np.float32(np.nan))),
        ("labels", lambda own: own._replace(steps=own.steps.astype(np.int16))),
        ("parts", lambda own: WholeMatrix(own.steps[:-1], own.scales[:-1], own.bias[:-1])),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, name: str, change: object) -> None:
    assert callable(change)
    small_network().save(tmp_path / "network.wpm", {})
    reader = WordNetwork.load(tmp_path / "network.wpm")
    parser = small_parser(reader=reader)
    parser.tables = {**parser.tables, name: change(parser.tables[name])}
    parser.save(tmp_path / "parser.wpm", {})
    with pytest.raises(InputError, match="damaged"):
        BiaffineParser.load(tmp_path / "parser.wpm", reader)


def test_sums_stay_exact() -> None:
    """A row whose sum might not fit 32 bits is refused: 600 times 127 times 2**15 is too much."""
    tables = dict(small_parser().tables)
    wide = np.full((5, 600), 127, np.int8)
    parser = small_parser()
    parser.tables = {**tables, "read": tables["read"]._replace(steps=wide)}
    with pytest.raises(ValueError, match="too large sums"):
        BiaffineParser(
            parser.vocabulary, parser.tags, parser.categories, parser.relations,
            parser.tables, parser.roots, parser.word_analysis, parser.reader,
        )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["what flights leave from boston", "Show me the flights , please .", "she do n't know"],
)
def test_the_shipped_parser_makes_trees(text: str) -> None:
    [tree] = load_parser("english").parse([text.split()])
    heads = [word.head for word in tree.words]
    assert is_projective(heads)
    assert [word.relation for word in tree.words if word.head == 0] == ["root"]
    assert shipped.shipped(shipped.PARSER_FILE).stat().st_size <= 3_500_000
