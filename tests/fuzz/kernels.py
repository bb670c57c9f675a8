"""Real work, as small as it can be, that asks every kernel of `wellput._native` for something."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.fuzz.recording import Script, recording
from tests.language.models import test_head_driven_chart
from tests.language.models.biaffine_oracle import small_parser
from tests.language.realize.lattices import trained
from tests.language.realize.order_networks import small_network
from tests.language.realize.toy_treebank import TREES, save_toy_models
from wellput import _native
from wellput.core.errors import WellputError
from wellput.language.degrade.corpus import TaggedCorpus
from wellput.language.degrade.templates import WordModel
from wellput.language.models.head_driven import HeadDrivenParser
from wellput.language.models.head_driven_training import train_head_driven
from wellput.language.models.ngram_files import load_model, quantized, save_model
from wellput.language.models.parser_training import train_parser
from wellput.language.models.tree_model import ChoosingMethod, TreeModel, without_order
from wellput.language.paraphrase.classifiers import ContextTraining, train_classifiers
from wellput.language.paraphrase.corpus_index import index_corpus
from wellput.language.paraphrase.similar_words import frequent_words, train_brown
from wellput.language.realize.realizer import Realizer

ALLOWED = (
    WellputError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    MemoryError,
    RuntimeError,
)
"""What a kernel may raise: anything that Python can catch and that says what was wrong."""

TEXTS = ["the cat sat on the mat .", "A cat , “old” and grey", "", "we drink tea in the morning ."]
REFERENCES = [["the cat sat on a mat ."], ["an old cat", "a grey one"], ["x"], ["we drink tea"]]
ITEMS = (
    b'{"id": "1", "source": "s\\u00e9", "references": ["a\\n"], "outputs": {"A": "x", "B": null}}\n'
    b'\n{"id": 2, "context": null, "outputs": {"B": "\\ud83d\\ude00"}}\n'
)
TOKENIZERS = ["none", "13a", "char"]


def recorded_work(folder: Path) -> dict[str, list[Script]]:
    """Scripts of every kernel; the folder is for files."""
    with recording() as scripts:
        _metrics()
        _statistics()
        _ngrams(folder)
        _parsers()
        _paraphrases()
        _realizers(folder)
    return scripts


def _metrics() -> None:
    costs = (3, 3, 4)
    words, heads = TEXTS[0].split(), np.array([1, 2, -1, 5, 5, 2, 2], np.int32)
    for name in TOKENIZERS:
        _native.tokenize(TEXTS, name, 2)
        _native.string_errors(TEXTS, REFERENCES, name, costs, 2)
        _native.bleu_statistics(TEXTS, REFERENCES, name, 4, False, 2)
        _native.wer_statistics(TEXTS, REFERENCES, name, 2)
        _native.token_counts(TEXTS, REFERENCES, name, 2)
        _native.distinct_ngrams(TEXTS, 2, name, 2)
    _native.treelet_errors(TEXTS[:1], [words], heads, "none", costs, 2)
    _native.alignment_path(words, TEXTS[1].split(), costs)
    _native.treelet_details(words, heads, TEXTS[1].split(), costs)
    _native.chrf_statistics(TEXTS, REFERENCES, 6, 2, 4.0, False, True, 2)
    _native.ter_statistics(TEXTS, REFERENCES, 2)
    _native.cer_statistics(TEXTS, REFERENCES, 2)
    _native.rouge_n_statistics(TEXTS, REFERENCES, 2, 2)
    _native.rouge_l_statistics(TEXTS, REFERENCES, 2)
    _native.rouge_lsum_statistics(TEXTS, REFERENCES, 2)
    _native.sari_statistics(TEXTS, REFERENCES, "13a", 2)
    _native.text_hashes(TEXTS)
    _native.item_lines(ITEMS, 0, 2)
    _native.plain_columns(ITEMS)
    counter = _native.NgramCounter(3, "none")
    counter.add(TEXTS)
    counter.total(1)
    counter.distinct(2)
    _native.nist_statistics(TEXTS, REFERENCES, counter, 2)


def _statistics() -> None:
    rng = np.random.default_rng(1)
    x, y, z = rng.normal(size=(3, 4, 9)).round(1)
    z[0, 3] = np.nan
    _native.bootstrap_sums(x.T.copy(), 20, 1, 2)
    _native.swap_sums(x.T.copy(), 20, 1, 2)
    for grouping in ("pooled", "item", "system", "means"):
        for coefficient in ("pearson", "spearman", "kendall", "kendall-c", "acc-t"):
            _native.bootstrapped_correlations(x, z, grouping, coefficient, "both", 5, 1, 2)
            _native.permuted_correlations(x, y, z, grouping, coefficient, "both", 5, 1, 2)
            if grouping != "means":
                _native.left_out_correlations(x, z, grouping, coefficient, 0.1)
                _native.exchanged_correlations(x, z, grouping, coefficient, 5, 1, 2)
    columns = np.array([[0, 2, 4], [0, 3, 5], [1, 2, 5], [1, 3, 4]], np.int32)
    equations = _native.MixedEquations(columns, rng.normal(size=(4, 3)), 2, 4, 6)
    equations.factor(np.full(6, 0.7), np.ones(4))
    equations.invert(np.eye(4))
    equations.backward(equations.forward(rng.normal(size=(6, 2))))
    equations.multiply(rng.normal(size=(6, 2)))
    equations.multiply_transposed(rng.normal(size=(4, 1)))
    begins = np.array([0, 2, 3, 6], np.int64)
    _native.scale_blocks(rng.normal(size=(6, 6)), begins, rng.normal(size=3), rng.normal(size=3))


def _ngrams(folder: Path) -> None:
    trainer = _native.NgramTrainer(3, 8, str(folder), 2)
    trainer.add(TEXTS, "none")
    words = trainer.words_from(3).decode().splitlines()
    numbers = trainer.checkpoint()
    again = _native.NgramTrainer(3, 8, str(folder), 2)
    again.resume(numbers, words)
    closed = _native.NgramTrainer(2, 1000, str(folder), 2)
    closed.know_only(words[:3])
    closed.add(TEXTS, "13a")
    closed.finish(1)
    trainer.finish(1)
    model = trained()
    model.statistics(TEXTS, threads=2)
    model.word_scores(TEXTS[0])
    save_model(model, folder / "m.arpa")
    load_model(folder / "m.arpa")
    save_model(quantized(model), folder / "m.wlm", is_compact=True)
    load_model(folder / "m.wlm")
    corpus = TaggedCorpus.of([["a", "b", "c"], ["b", "a"]], [["X", "Y", "X"], ["Y", "X"]])
    WordModel.of(corpus).best([[0, 1, 0], [1, 0, 1]], threads=2)


def _parsers() -> None:
    trees = test_head_driven_chart.TREES
    guesser = train_parser(trees * 2, epochs=2)
    parser = HeadDrivenParser(train_head_driven(trees * 2, guesser, dev=trees), guesser)
    parser.parse([[word.form for word in tree.words] for tree in trees], threads=2)
    words = TEXTS[0].split()
    _native.whole_products(np.ones((3, 5), np.int8), np.ones((2, 5), np.int16))
    small_parser().parse([words, ["Ann", "n't"]], [["NN"] * len(words), ["?", "."]], threads=2)
    _native.arc_hybrid_costs(np.array([2, 0, 2], np.int32), np.array([0, 0, 1], np.int32))
    model = TreeModel.train(TREES)
    methods: tuple[ChoosingMethod, ...] = ("exact", "top-down", "alone")
    for method in methods:
        chosen = model.choose([without_order(tree) for tree in TREES], method=method, threads=2)
    model.candidates(without_order(TREES[0]))
    model.log_probs([without_order(tree) for tree in TREES], [best[0].supertags for best in chosen])


def _paraphrases() -> None:
    index = index_corpus([TEXTS * 6])
    for learner in ("boosting", "logistic"):
        how = ContextTraining(learner=learner, min_occurrences=5)
        found = train_classifiers(index, ["tea", "cat"], how, seed=1)
        found.log_odds([(("we", "drink", "tea", "now"), 2, 3, "tea")])
    words = frequent_words(index, 6)
    train_brown(index, words, classes=3)


def _realizers(folder: Path) -> None:
    save_toy_models(folder)
    for model in ("learned", "fergus"):
        realizer = Realizer.load(folder, model=model)
        realizer.realize_all(TREES, n_best=3, threads=2)
    # Relations without tags, and words to add.
    relations = [
        replace(tree, words=tuple(replace(word, upos="_", xpos="_") for word in tree.words))
        for tree in TREES
    ]
    adding = Realizer.load(folder, model="learned", insert=["punctuation", "function"])
    adding.realize_all(relations, kind="labels", threads=2)
    words = [TEXTS[0].split()]
    orderer = _native.Orderer(b"\x01\x02")
    orderer.scores(words, words, words, np.array([2, 3, 0, 6, 6, 3, 3], np.int32))
    small = small_network()
    network = _native.OrderNetwork(dict(small.parts), small.layers, small.attention_heads)
    orderer.use_network(network, 100.0)
    numbers = np.zeros((7, 10), np.int32)
    heads = np.array([2, 3, 0, 6, 6, 3, 3], np.int32)
    orderer.order(words, words, words, heads, 4, 2, numbers)
    orderer.best_orders(words, words, words, heads, 3, 4, 2, numbers)
