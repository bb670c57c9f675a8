"""The four features from parses made up here, and the plane between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from wellput.language.models.gleu_model import GleuModel, GleuParsers
from wellput.language.models.link_grammar import LinkParse


class MadeUpParser:
    """Two fragments wherever there is a word twice; gains half a nat a word."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, ...]] = []

    def parse(self, sentences: Sequence[tuple[str, ...]], *, threads: int = 1) -> list[Any]:
        self.seen += sentences
        return [
            SimpleNamespace(
                scored=SimpleNamespace(slor=0.5),
                fragments=1 + (len({word.lower() for word in words}) < len(words)),
            )
            for words in sentences
        ]


class MadeUpGrammar:
    def __init__(self, **parse: Any) -> None:
        self.answer = parse

    def parse(
        self, sentences: Iterable[str], *, on_progress: Callable[[int], None]
    ) -> list[LinkParse]:
        parses = []
        for sentence in sentences:
            parses.append(LinkParse(sentence, **self.answer))
            on_progress(1)
        return parses


def parsers(parser: MadeUpParser | None = None, **answer: Any) -> GleuParsers:
    counts = {"null_count": 2, "found": 10, "post_processed": 10, "valid": 4}
    answer = answer or {"status": "parsed", **counts}
    return GleuParsers(parser or MadeUpParser(), MadeUpGrammar(**answer))  # type: ignore[arg-type]


def test_features_are_rates() -> None:
    # Five words: one break of four places, two nulls of five words, 6 of 10 linkages invalid.
    [row] = parsers().features(["a dog a cat ."])
    assert row == pytest.approx([0.5, 1 / 4, (2 / 5) ** 0.5, 6 / 10])


def test_a_cost_counts_a_little_as_words_that_cannot_be_linked() -> None:
    for cost, nulls in ((1.5, 2.3), (-1.0, 2.0), (None, 2.0)):
        [row] = parsers(status="parsed", null_count=2, found=1, cost=cost).features(
            ["a dog a cat ."]
        )
        assert row[2] == pytest.approx((nulls / 5) ** 0.5)


def test_invalid_linkages_are_of_all_found() -> None:
    # Only a thousand of them are looked at.
    parsed = parsers(status="parsed", null_count=0, found=4000, post_processed=1000, valid=600)
    [row] = parsed.features(["a dog a cat ."])
    assert row[3] == pytest.approx(0.1)


def test_a_text_has_the_mean_of_its_sentences() -> None:
    # "Dogs bark." has 3 words and no break, 2 nulls. "A cat a dog." has 5, 2 nulls, breaks 1/4.
    [row] = parsers().features(["Dogs bark. A cat a dog."])
    nulls = ((2 / 3) ** 0.5 + (2 / 5) ** 0.5) / 2
    assert row == pytest.approx([0.5, 1 / 8, nulls, 0.6])


def test_a_text_without_words_has_no_features() -> None:
    assert np.isnan(parsers().features(["", " \n\n "])).all()


def test_what_link_grammar_cannot_parse_has_nothing_right() -> None:
    [row] = parsers(status="too-long").features(["a b c"])
    assert row[2:].tolist() == [1.0, 1.0]


def test_there_are_no_more_nulls_than_words() -> None:
    # The wall before a single word counts as a null, too.
    [row] = parsers(status="parsed", null_count=2).features(["that"])
    assert row[2:].tolist() == [1.0, 1.0]


def test_progress_is_in_texts() -> None:
    seen: list[int] = []
    # Three different sentences in four texts: 4/3 texts each, whole ones said.
    parsers().features(
        ["Dogs bark.", "Dogs bark. Cats purr.", "", "A cow."], on_progress=seen.append
    )
    assert seen == [1, 1, 2]


def test_equal_sentences_are_parsed_once() -> None:
    parser = MadeUpParser()
    parsers(parser).features(["Dogs bark. Dogs bark.", "Dogs bark."])
    assert parser.seen == [("Dogs", "bark", ".")]


def trained() -> GleuModel:
    rng = np.random.default_rng(0)
    real = rng.normal([0.5, 0.0, 0.05, 0.5], 0.05, size=(50, 4))
    fake = rng.normal([-1.0, 0.1, 0.3, 0.5], 0.05, size=(50, 4))
    return GleuModel.train(np.vstack([real, fake]), np.arange(100) < 50)


def test_constants_are_the_largest_sizes_in_training() -> None:
    features = np.array([[2.0, 0.1, 0.0, 0.5], [-4.0, 0.2, 0.0, 0.25]])
    model = GleuModel.train(features, np.array([True, False]))
    assert model.constants.tolist() == [4.0, 0.2, 1.0, 0.5]  # nothing to divide by: 1
    assert model.normalized(features)[1].tolist() == [-1.0, 1.0, 0.0, 0.5]


def test_real_sentences_lie_above_the_plane() -> None:
    model = trained()
    rows = model.normalized(np.array([[0.5, 0.0, 0.05, 0.5], [-1.0, 0.1, 0.3, 0.5]]))
    above, below = model.distances(rows)
    assert above > 0 > below
    difference = model.contributions(rows)[0] - model.contributions(rows)[1]
    assert difference.sum() == pytest.approx(above - below)


def test_a_saved_model_gives_the_same_distances(tmp_path: Path) -> None:
    model = trained()
    model.save(tmp_path / "gleu-fluency.wpm", {})
    loaded = GleuModel.load(tmp_path / "gleu-fluency.wpm")
    rows = np.array([[0.3, 0.0, 0.1, 0.4]])
    assert loaded.distances(loaded.normalized(rows)) == model.distances(model.normalized(rows))
    assert len(loaded.fingerprint) == 64
