"""Kernels that divide their work among threads, with enough work for several: threads never change a
digit. `make races` runs this under the thread sanitizer."""

from __future__ import annotations

import ast
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

import wellput
from tests.fuzz.recording import recording
from tests.language.models import test_head_driven_chart
from tests.language.models.biaffine_oracle import small_parser
from tests.language.models.ngram_texts import skewed
from tests.language.realize.lattices import trained
from tests.language.realize.toy_treebank import TREES, save_toy_models
from wellput import _native
from wellput.language.degrade.corpus import TaggedCorpus
from wellput.language.degrade.templates import WordModel
from wellput.language.models.head_driven import HeadDrivenParser
from wellput.language.models.head_driven_training import train_head_driven
from wellput.language.models.parser_training import train_parser
from wellput.language.models.parsers import TaggingParser
from wellput.language.models.tree_model import ChoosingMethod, TreeModel, without_order
from wellput.language.realize.completer import forest_of
from wellput.language.realize.inputs import unordered
from wellput.language.realize.inserter import Inserter, train_inserter
from wellput.language.realize.label_chooser import ChooserTraining
from wellput.language.realize.realizer import Realizer

pytestmark = pytest.mark.heavy  # trained models

# A thread takes at most 64 items at a time: enough for five turns of four threads.
N = 320
TEXTS = skewed(N)
REFERENCES = [[one, two] for one, two in zip(skewed(N, 2), skewed(N, 3), strict=True)]
COSTS = (3, 3, 4)
METHODS: tuple[ChoosingMethod, ...] = ("exact", "top-down", "alone")

Work = Callable[[int], object]
"""Something done with so many threads."""


def overlap(threads: int) -> object:
    counter = _native.NgramCounter(3, "13a")
    counter.add(TEXTS)
    return [
        _native.bleu_statistics(TEXTS, REFERENCES, "13a", 4, False, threads),
        _native.chrf_statistics(TEXTS, REFERENCES, 6, 2, 4.0, False, True, threads),
        _native.rouge_n_statistics(TEXTS, REFERENCES, 2, threads),
        _native.rouge_l_statistics(TEXTS, REFERENCES, threads),
        _native.rouge_lsum_statistics(TEXTS, REFERENCES, threads),
        _native.sari_statistics(TEXTS, REFERENCES, "13a", threads),
        _native.nist_statistics(TEXTS, REFERENCES, counter, threads),
    ]


def errors(threads: int) -> object:
    words = [text.split() for text in TEXTS]
    # Each word under the one before.
    heads = np.array([place - 1 for own in words for place in range(len(own))], np.int32)
    return [
        _native.string_errors(TEXTS, REFERENCES, "none", COSTS, threads),
        _native.treelet_errors(TEXTS[::-1], words, heads, "none", COSTS, threads),
        _native.wer_statistics(TEXTS, REFERENCES, "none", threads),
        _native.cer_statistics(TEXTS, REFERENCES, threads),
        _native.ter_statistics(TEXTS, REFERENCES, threads),
    ]


def tokens(threads: int) -> object:
    return [
        _native.tokenize(TEXTS, "intl", threads),
        _native.token_counts(TEXTS, REFERENCES, "13a", threads),
        _native.distinct_ngrams(TEXTS, 2, "char", threads),
    ]


def resampling(threads: int) -> object:
    rng = np.random.default_rng(1)
    x, y, z = rng.normal(size=(3, 6, 40)).round(1)
    found = [
        _native.bootstrap_sums(x.T.copy(), 200, 1, threads),
        _native.swap_sums(x.T.copy(), 1000, 1, threads),
    ]
    for by in ("pooled", "item", "system", "means"):
        for of in ("pearson", "spearman", "kendall", "acc-t"):
            found.append(_native.bootstrapped_correlations(x, z, by, of, "both", 64, 1, threads))
            found.append(_native.permuted_correlations(x, y, z, by, of, "both", 64, 1, threads))
            if by != "means":
                found.append(_native.exchanged_correlations(x, z, by, of, 64, 1, threads))
    return found


def ngram_training(threads: int) -> object:
    # Two runs: the sorting of fewer than 65,536 n-grams is not shared.
    with TemporaryDirectory() as folder:
        trainer = _native.NgramTrainer(2, 100_000, folder, threads)
        trainer.add(skewed(24_000), "none")
        return trainer.finish(1)


def ngram_scores(threads: int) -> object:
    return _ngrams().statistics(TEXTS, threads=threads)


def word_filling(threads: int) -> object:
    return _words().best([[i % 2, 0, 1, i % 2] for i in range(N)], threads=threads)


def tree_model(threads: int) -> object:
    forest = [without_order(tree) for tree in TREES * 20]
    found = [
        _trees().choose(forest, method=method, n_best=n, threads=threads)
        for method, n in zip(METHODS, (3, 1, 1), strict=True)
    ]
    chosen = [best[0].supertags for best in found[0]]
    return found, _trees().log_probs(forest, chosen, threads=threads)


def parsing(threads: int) -> object:
    guesser, parser = _parsers()
    sentences = [[word.form for word in tree.words] for tree in test_head_driven_chart.TREES * 20]
    return [
        parser.parse(sentences, threads=threads),
        guesser.tagger.tag(sentences, threads=threads),
        guesser.tagger.candidates(sentences, 3, threads=threads),
        _biaffine().parse(sentences, [["NN"] * len(own) for own in sentences], threads=threads),
    ]


def realizing(threads: int) -> object:
    return [
        [found.best for found in realizer.realize_all(TREES * 20, n_best=n_best, threads=threads)]
        for realizer in _realizers()
        for n_best in (1, 3)
    ]


def inserting(threads: int) -> object:
    return _inserter().missing_words(
        forest_of([unordered(tree) for tree in TREES * 20], "words"), threads=threads
    )


ALL: list[Work] = [
    overlap,
    errors,
    tokens,
    resampling,
    ngram_training,
    ngram_scores,
    word_filling,
    tree_model,
    parsing,
    realizing,
    inserting,
]

# Shared input is made once; it is not what is tested.
_ngrams = cache(trained)
_trees = cache(lambda: TreeModel.train(TREES))


@cache
def _words() -> WordModel:
    return WordModel.of(
        TaggedCorpus.of([["a", "b", "c"], ["b", "a"]], [["X", "Y", "X"], ["Y", "X"]])
    )


@cache
def _parsers() -> tuple[TaggingParser, HeadDrivenParser]:
    trees = test_head_driven_chart.TREES
    guesser = train_parser(trees * 2, epochs=2)
    return guesser, HeadDrivenParser(train_head_driven(trees * 2, guesser, dev=trees), guesser)


_biaffine = cache(small_parser)


@cache
def _realizers() -> list[Realizer]:
    with TemporaryDirectory() as folder:
        save_toy_models(Path(folder))
        return [Realizer.load(folder, model=model) for model in ("learned", "fergus")]


@cache
def _inserter() -> Inserter:
    how = ChooserTraining(min_updates=1, min_count=1, min_weight=0.0, seed=2)
    return train_inserter(TREES, how, how)


def plain(value: Any) -> Any:
    """A value that is equal if and only if every digit is."""
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value


@pytest.mark.parametrize("work", ALL)
def test_threads_change_no_digit(work: Work) -> None:
    assert plain(work(4)) == plain(work(1))


@pytest.mark.parametrize("work", ALL)
def test_python_threads_may_share_a_model(work: Work) -> None:
    alone = plain(work(1))
    with ThreadPoolExecutor(3) as pool:
        assert [plain(found) for found in pool.map(work, [2, 2, 2])] == [alone] * 3


def test_no_kernel_with_threads_is_missing() -> None:
    for made in (_ngrams, _trees, _words, _parsers, _biaffine, _realizers, _inserter):
        made.cache_clear()  # what is made meanwhile notes what it is asked
    with recording() as scripts:
        for work in ALL:
            work(2)
    for made in (_ngrams, _trees, _words, _parsers, _biaffine, _realizers, _inserter):
        made.cache_clear()
    asked = {(s.kernel, step) for found in scripts.values() for s in found for step, *_ in s.steps}
    assert with_threads() - asked == set()


def with_threads() -> set[tuple[str, str]]:
    """Kernel and method (of a function, its own name again) of all that take a number of threads."""
    # In an editable install the stub lies with the sources, and the module elsewhere.
    stub = Path(wellput.__file__).with_name("_native.pyi")
    found = set()
    for made in ast.parse(stub.read_text("utf-8")).body:
        calls = made.body if isinstance(made, ast.ClassDef) else [made]
        for call in calls:
            if isinstance(call, ast.FunctionDef) and "threads" in {a.arg for a in call.args.args}:
                owner = made.name if isinstance(made, ast.ClassDef) else call.name
                found.add((owner, owner if call.name == "__init__" else call.name))
    return found
