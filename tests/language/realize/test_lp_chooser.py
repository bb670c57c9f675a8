"""The LP chooser against brute force over all paths, and against pynini's shortest path."""

from __future__ import annotations

import math

import numpy as np
import pynini
import pytest
import pywrapfst
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.language.realize.lattices import WORDS, lattices, trained
from wellput.core.errors import InputError
from wellput.language.models.ngram_training import train
from wellput.language.models.ngrams import NgramModel
from wellput.language.realize.lattice import (
    Automaton,
    Lattice,
    choose_paths,
    openfst_text,
    symbols_text,
)

MODELS = {order: trained(order) for order in (1, 2, 3, 4)}
LN10 = math.log(10)


def brute_force(lattice: Lattice, model: NgramModel, lm_weight: float) -> list[tuple[str, float]]:
    """All word sequences with their best scores, best first."""
    best: dict[str, float] = {}
    for path, weight in lattice.paths():
        text = " ".join(lattice.words[word] for word in path)
        log_prob = float(model.sentence_scores([text])[0])
        score = weight + lm_weight * LN10 * log_prob
        best[text] = max(score, best.get(text, -math.inf))
    return sorted(best.items(), key=lambda item: -item[1])


@settings(max_examples=80, deadline=None)
@given(lattices(), st.sampled_from([1, 2, 3, 4]), st.sampled_from([0.0, 0.5, 1.0]))
def test_the_best_path_is_that_of_brute_force(
    lattice: Lattice, order: int, lm_weight: float
) -> None:
    model = MODELS[order]
    (choice,) = choose_paths([lattice], model, lm_weight=lm_weight, width=10_000)
    expected = brute_force(lattice, model, lm_weight)
    text = " ".join(lattice.words[word] for word in choice.paths[0].words)
    assert choice.is_exact
    assert choice.paths[0].score == pytest.approx(expected[0][1], abs=1e-9)
    assert dict(expected)[text] == pytest.approx(expected[0][1], abs=1e-9)
    assert choice.paths[0].log_prob == pytest.approx(model.sentence_scores([text])[0], abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(lattices(max_nodes=5), st.integers(2, 7))
def test_the_n_best_are_those_of_brute_force(lattice: Lattice, n: int) -> None:
    (choice,) = choose_paths([lattice], MODELS[3], n_best=n, width=10_000)
    expected = brute_force(lattice, MODELS[3], 1.0)[:n]
    texts = [" ".join(lattice.words[word] for word in path.words) for path in choice.paths]
    assert len(set(texts)) == len(texts) == len(expected)
    assert [path.score for path in choice.paths] == pytest.approx([s for _, s in expected])


@settings(max_examples=25, deadline=None)
@given(lattices(max_nodes=5))
def test_the_best_path_is_pyninis(lattice: Lattice) -> None:
    symbols = pywrapfst.SymbolTable()
    for line in symbols_text([lattice]).splitlines():
        symbols.add_symbol(line.split("\t")[0])
    compiler = pywrapfst.Compiler(isymbols=symbols, osymbols=symbols, acceptor=True)
    compiler.write(openfst_text(lattice))
    composed = pynini.compose(pynini.Fst.from_pywrapfst(compiler.compile()), machine(symbols))
    (choice,) = choose_paths([lattice], MODELS[3], width=10_000)
    shortest = float(pynini.shortestdistance(composed, reverse=True)[composed.start()])
    assert shortest == pytest.approx(-choice.paths[0].score, abs=1e-3)


def machine(symbols: pywrapfst.SymbolTable) -> pynini.Fst:
    """The trigram model as an acceptor: a state for every history of at most two words."""
    fst = pynini.Fst()
    histories: dict[tuple[str, ...], int] = {(): fst.add_state()}
    fst.set_start(0)
    waiting: list[tuple[str, ...]] = [()]
    words = [symbol for _, symbol in symbols if symbol != "<eps>"]
    while waiting:
        history = waiting.pop()
        # A history of two may stand anywhere in a sentence, a shorter one only at its beginning.
        for word in words:
            scores = MODELS[3].word_scores(" ".join([*history, word]))
            target = (*history, word)[-2:]
            if target not in histories:
                histories[target] = fst.add_state()
                waiting.append(target)
            label = symbols.find(word)
            cost = pywrapfst.Weight("tropical", -scores[-2].log_prob * LN10)
            fst.add_arc(histories[history], pywrapfst.Arc(label, label, cost, histories[target]))
        end = MODELS[3].word_scores(" ".join(history))[-1].log_prob * LN10
        fst.set_final(histories[history], pywrapfst.Weight("tropical", -end))
    fst.arcsort()
    return fst


@given(st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_a_narrow_beam_is_flagged_where_it_left_something_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    words = tuple(rng.choice(WORDS, size=6).tolist())
    lattice = free_order(words)
    (exact,) = choose_paths([lattice], MODELS[3], width=100_000)
    (beam,) = choose_paths([lattice], MODELS[3], width=2)
    assert exact.is_exact
    assert beam.paths[0].score <= exact.paths[0].score + 1e-9
    if beam.is_exact:
        assert beam.paths[0].score == pytest.approx(exact.paths[0].score)
    assert sorted(beam.paths[0].words) == list(range(6))


def test_a_search_that_left_nothing_out_is_exact() -> None:
    # The last state has 24 word sequences with different ends: more than `width`, but not too many.
    lattice = free_order(tuple(WORDS[:4]))
    (choice,) = choose_paths([lattice], MODELS[3], n_best=24, width=3)
    assert choice.is_exact
    expected = [score for _, score in brute_force(lattice, MODELS[3], 1.0)]
    assert [path.score for path in choice.paths] == pytest.approx(expected)


def free_order(words: tuple[str, ...]) -> Lattice:
    """All orders of these words: states are the sets of those placed."""
    n = len(words)
    sets = sorted(range(2**n), key=int.bit_count)
    numbers = {placed: number for number, placed in enumerate(sets)}
    arcs = [
        (numbers[placed], numbers[placed | 1 << word], word)
        for placed in sets
        for word in range(n)
        if not placed >> word & 1
    ]
    array = np.array(arcs, np.int32)
    return Lattice(words, (Automaton(2**n, array, np.zeros(len(array))),))


def test_threads_change_nothing() -> None:
    many = [free_order(tuple(WORDS[i:] + WORDS[:i])[:5]) for i in range(9)] * 3
    assert choose_paths(many, MODELS[3], threads=4) == choose_paths(many, MODELS[3], threads=1)


def test_an_empty_word_is_no_word() -> None:
    # Either "the" or nothing, then "cat".
    arcs = np.array([(0, 1, 0), (0, 1, 1), (1, 2, 2)], np.int32)
    lattice = Lattice(("the", "", "cat"), (Automaton(3, arcs, np.array([-50.0, 0.0, 0.0])),))
    (choice,) = choose_paths([lattice], MODELS[3])
    assert choice.paths[0].words == (2,)
    assert choice.paths[0].log_prob == pytest.approx(MODELS[3].sentence_scores(["cat"])[0])


def test_no_lattices_give_no_choices() -> None:
    assert choose_paths([], MODELS[3]) == []


def test_a_model_of_high_order_is_refused() -> None:
    with pytest.raises(InputError, match="up to order 4; this one has 5"):
        choose_paths([], train([["a b c"]], order=5).model)


def test_a_tree_of_too_many_different_words_is_refused() -> None:
    words = tuple(f"w{number}" for number in range(66_000))
    model = train([[" ".join(words)]], order=1).model
    arcs = np.array([(0, 1, number) for number in range(len(words))], np.int32)
    lattice = Lattice(words, (Automaton(2, arcs, np.zeros(len(words))),))
    with pytest.raises(InputError, match="more than 65,000 different words"):
        choose_paths([lattice], model)
