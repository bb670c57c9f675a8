"""The features of the paper's GLEU, from parses made up here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.core.tree import Tree, Word
from wellput.language.models.gleu_model import PaperGleuParsers, fragments_of
from wellput.language.models.link_grammar import LinkParse
from wellput.language.trees.supertags import induce_supertags
from wellput.metrics.fluency_training import train_gleu
from wellput.metrics.gleu_fluency import GleuFluency

DOG = Word("dog", 2, xpos="NN", relation="nsubj")
BARKS = Word("barks", 0, xpos="VBZ", relation="root")


def test_a_tree_is_cut_where_grammar_relates_nothing() -> None:
    whole = Tree((DOG, BARKS, Word("loudly", 2, xpos="RB", relation="advmod")))
    known = frozenset(map(str, induce_supertags(whole)))
    assert fragments_of(whole, known) == 1
    # Everybody likes big cakes, do: the relation says that nothing relates them.
    beside = Tree((*whole.words, Word("do", 2, xpos="VBP", relation="parataxis:extra")))
    assert fragments_of(beside, known | set(map(str, induce_supertags(beside)))) == 2
    # A known relation with unknown supertags: "loudly" and, with it gone, nothing else.
    assert fragments_of(whole, known - {"RB/advmod>V[_]"}) == 2
    # The root has no arc to cut.
    assert fragments_of(Tree((BARKS,)), frozenset()) == 1


class Transitions:
    signature = "made up"

    def parse(self, sentences: Sequence[Sequence[str]], *, threads: int = 1) -> list[Tree]:
        return [
            Tree(tuple(Word(form, place, relation="dep") for place, form in enumerate(words)))
            for words in sentences
        ]


class Chart:
    def score(self, sentences: Sequence[Sequence[str]], **_: Any) -> list[Any]:
        return [SimpleNamespace(log_probability=-10.0 * len(words)) for words in sentences]


class Links:
    def __init__(self, **parse: Any) -> None:
        self.answer = parse

    def parse(
        self, sentences: Iterable[str], *, on_progress: Callable[[int], None]
    ) -> list[LinkParse]:
        return [LinkParse(sentence, **self.answer) for sentence in sentences]


def features(text: str, **answer: Any) -> list[float]:
    parsers = PaperGleuParsers(Chart(), Transitions(), frozenset(), Links(**answer))  # type: ignore[arg-type]
    [row] = parsers.features([text])
    return [float(value) for value in row]


def test_the_features_are_those_of_the_paper() -> None:
    # Five words: log probability -50, four arcs cut, 2 nulls of 5 words. Of 900 linkages 600 were
    # checked, and 600 - 150 of these are invalid.
    counts = {"null_count": 2, "found": 900, "post_processed": 600, "valid": 150}
    row = features("a dog a cat .", status="parsed", cost=3.0, **counts)
    assert row == pytest.approx([-50, 5, 2 / 5, 450 / 600])
    assert features("a dog .", status="timeout") == pytest.approx([-30, 3, 1, 0])
    assert np.isnan(features("")).all()
    # Two sentences, of 3 and 5 words: 4 nulls of 8 words.
    both = features("Dogs bark. A cat a dog.", status="parsed", **counts)
    assert both == pytest.approx([-80, 8, 4 / 8, 0.75])


def test_a_model_must_be_given() -> None:
    with pytest.raises(InputError, match="train fluency --features paper"):
        GleuFluency(features="paper")
    assert GleuFluency(features="paper", model="mine").higher_is_better
    assert GleuFluency(features="paper", model="mine", feature="nulls").higher_is_better is False
    # The paper expects no direction of invalid linkages.
    assert GleuFluency(features="paper", model="mine", feature="invalid").higher_is_better is None


class Lengths:
    """Features that tell real sentences, which all begin with Real, from generated ones."""

    def features(self, texts: Sequence[str], *, threads: int = 1) -> Floats:
        return np.array([[text.startswith("Real"), 1.0, 0.0, 0.0] for text in texts], float)


def test_training_counts_the_new_sentences_it_puts_right() -> None:
    names = [f"n{number}" for number in range(40)]
    real = [["Real", *["word"] * 21, name, "."] for name in names]
    source = [["Made", *["thing"] * 21, name, "."] for name in names]
    rng = np.random.default_rng(1)
    trained = train_gleu(real, source, Lengths(), rng, n=20, lengths=range(24, 25))  # type: ignore[arg-type]
    # A tenth of 40 real sentences, and as many generated ones.
    assert (trained.right, trained.tested) == (8, 8)
    with pytest.raises(InputError, match="no sentence of 24 words"):
        train_gleu([["Too", "short", "."]], source, Lengths(), rng, lengths=range(24, 25))  # type: ignore[arg-type]
