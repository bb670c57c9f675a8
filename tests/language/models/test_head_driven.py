"""The parser as users see it, trained on a few trees."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.language.models.test_head_driven_chart import TREES
from wellput.core.errors import InputError
from wellput.core.tree import Word
from wellput.io.model_files import fingerprint
from wellput.io.trees import format_tree, parse_tree
from wellput.language.models.function_tags import TagSet
from wellput.language.models.head_driven import MAX_ARC_WORDS, MAX_EXACT_WORDS, HeadDrivenParser
from wellput.language.models.head_driven_training import (
    joined_pairs,
    save_head_driven,
    train_head_driven,
)
from wellput.language.models.ngram_files import save_model
from wellput.language.models.ngram_training import train
from wellput.language.models.parser_training import train_parser

GUESSER = train_parser(TREES * 4, epochs=2)
ARRAYS = train_head_driven(TREES * 8, GUESSER, dev=TREES)
PARSER = HeadDrivenParser(ARRAYS, GUESSER)


def test_training_again_gives_the_same_bytes() -> None:
    again = train_head_driven(TREES * 8, GUESSER, dev=TREES)
    assert fingerprint(HeadDrivenParser.kind, again) == fingerprint(HeadDrivenParser.kind, ARRAYS)


def test_a_sentence_of_the_trees_gets_its_tree() -> None:
    for tree in TREES:
        parsed = PARSER.parse([[word.form for word in tree.words]])[0]
        assert [word.head for word in parsed.tree.words] == [word.head for word in tree.words]
        assert parsed.fragments == 1


def test_order_counts() -> None:
    right, wrong = PARSER.score([["the", "dog", "barks"], ["dog", "barks", "the"]])
    assert right.log_probability > wrong.log_probability
    # Frequencies know nothing of order.
    assert right.unigram_log_probability == pytest.approx(wrong.unigram_log_probability)
    assert right.slor > wrong.slor


def test_score_is_that_of_parse_and_threads_change_nothing() -> None:
    sentences = [[word.form for word in tree.words] for tree in TREES] * 5
    scored = PARSER.score(sentences)
    assert [parsed.scored for parsed in PARSER.parse(sentences, threads=3)] == scored


def test_further_fragments_hang_on_the_first_root() -> None:
    likely = HeadDrivenParser(ARRAYS, GUESSER, continuing=0.9)
    text = joined_pairs([["the", "dog", "barks"], ["a", "cat", "sleeps"]])[0]
    parsed = likely.parse([text])[0]
    assert parsed.fragments == len(parsed.roots) >= 2
    heads = [word.head for word in parsed.tree.words]
    assert [number for number, head in enumerate(heads, start=1) if head == 0] == [parsed.roots[0]]
    assert all(heads[root - 1] == parsed.roots[0] for root in parsed.roots[1:])
    assert parse_tree(format_tree(parsed.tree)).words == parsed.tree.words


def test_the_probability_is_pooled_with_that_of_n_grams(tmp_path: Path) -> None:
    text = [" ".join(word.form for word in tree.words) for tree in TREES]
    ngrams = train([text], order=2).model
    pooled = {**ARRAYS, "ngrams.share": np.array([0.25])}
    sentences = [["the", "dog", "barks"], ["The", "cat", "barks"], []]
    trees = [scored.log_probability for scored in PARSER.score(sentences)]
    others = ngrams.sentence_scores(["the dog barks", "the cat barks"]) * math.log(10)
    expected = [0.75 * trees[0] + 0.25 * others[0], 0.75 * trees[1] + 0.25 * others[1], 0.0]
    found = HeadDrivenParser(pooled, GUESSER, ngrams).score(sentences)
    assert [scored.log_probability for scored in found] == pytest.approx(expected)
    # In a folder the n-grams lie beside it.
    save_head_driven(tmp_path / "head_driven.wpm", pooled, {})
    with pytest.raises(InputError, match=r"ngrams\.wlm"):
        HeadDrivenParser.load(tmp_path / "head_driven.wpm", guesser=GUESSER)
    save_model(ngrams, tmp_path / "ngrams.wlm")
    loaded = HeadDrivenParser.load(tmp_path / "head_driven.wpm", guesser=GUESSER)
    assert loaded.score(sentences)[0].log_probability == pytest.approx(expected[0])


def test_a_verb_may_always_begin_another_fragment() -> None:
    tags = TagSet(["NN/dep", "VBZ/root", "VBZ/dep"])
    verb, noun = Word("barks", 0, xpos="VBZ"), Word("dog", 0, xpos="NN")
    assert [tags.root_number(word) for word in (verb, noun)] == [1, -1]


def test_nothing_at_all() -> None:
    assert PARSER.parse([]) == []
    parsed = PARSER.parse([[], ["dogs"]])
    assert parsed[0].tree.words == () and parsed[0].fragments == 0
    assert parsed[0].log_probability == 0 and math.isnan(parsed[0].scored.per_word)
    assert parsed[1].fragments == 1


def test_a_long_sentence_is_flagged() -> None:
    text = ["the", "dog", "barks", "."] * 125
    parsed = PARSER.parse([text])[0]
    assert parsed.scored.is_limited and math.isfinite(parsed.log_probability)
    words = enumerate(parsed.tree.words, start=1)
    assert all(
        abs(word.head - number) <= MAX_ARC_WORDS
        for number, word in words
        if number not in parsed.roots
    )
    assert not PARSER.score([text[:MAX_EXACT_WORDS]])[0].is_limited


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.text(min_size=1, max_size=8), max_size=7), max_size=3))
def test_any_text_has_a_tree_and_a_probability(sentences: list[list[str]]) -> None:
    for words, parsed in zip(sentences, PARSER.parse(sentences), strict=True):
        assert [word.form for word in parsed.tree.words] == words
        assert parsed.log_probability <= 1e-3
        assert math.isfinite(parsed.log_probability)
        assert parsed.fragments >= bool(words)


def test_what_is_not_a_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "head_driven.wpm"
    save_head_driven(path, {"tagger": np.zeros(3, np.uint8)}, {})
    with pytest.raises(InputError, match="damaged"):
        HeadDrivenParser.load(path, guesser=GUESSER)
    save_head_driven(path, ARRAYS, {"what": "a test"})
    loaded = HeadDrivenParser.load(path, guesser=GUESSER)
    assert loaded.score([["the", "dog", "barks"]]) == PARSER.score([["the", "dog", "barks"]])
