"""Every reader, with the good file that it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import TypeAlias

import wellput
from tests.fuzz.good_files import write_good_files
from tests.fuzz.good_models import SENTENCE, forge, write_good_models
from tests.fuzz.mutation import mutated
from tests.metrics.test_fitted import GENERATED, TARGET, TREE
from wellput.displays.annotations import items_of_tiers, read_tiers
from wellput.displays.openccg import read_testbed
from wellput.displays.schedules import nodes_of
from wellput.displays.strategies import read_rules
from wellput.io import (
    open_lines,
    read_constituents,
    read_evalset,
    read_judgments,
    read_segments,
    read_trees,
)
from wellput.io.external_scores import read_external_scores
from wellput.io.minimal_pairs import read_minimal_pairs
from wellput.io.nbest import read_nbest
from wellput.language.degrade.corpus import read_grammar
from wellput.language.models.biaffine_parser import BiaffineParser
from wellput.language.models.fluency_model import FluencyModel
from wellput.language.models.gleu_model import GleuModel
from wellput.language.models.head_driven import HeadDrivenParser
from wellput.language.models.language_check import LanguageCheck
from wellput.language.models.ngram_files import load_model
from wellput.language.models.parsers import load_parser
from wellput.language.models.tree_model import TreeModel, UnorderedTree
from wellput.language.models.word_list import WordList
from wellput.language.models.word_network import WordNetwork
from wellput.language.models.wordnet import open_wordnet
from wellput.language.paraphrase.candidates import read_table_candidates
from wellput.language.paraphrase.corpus_index import CorpusIndex
from wellput.language.paraphrase.training import read_judged
from wellput.language.realize.inputs import read_inputs
from wellput.language.realize.realizer import Realizer
from wellput.language.trees.xtag import read_xtag
from wellput.studies.designs.error_categories import (
    checked_weights,
    flat_categories,
    read_categories,
    severity_names,
)
from wellput.studies.language_files import read_language
from wellput.studies.screening import read_screening
from wellput.studies.settings import make_settings, read_settings
from wellput.studies.wording import language_of

EVALSET = wellput.EvalSet.of({"A": [GENERATED]}, [TARGET], trees=[TREE])

PROSE = "The ferry leaves at noon.\n\nfor (i = 0; i < 3; i++) { return x; }\n"

Read: TypeAlias = Callable[[Path], object]
"""Reads what lies in a folder, as far as it can be read, and uses it."""


def _list(read: Callable[[Path], Iterable[object]], name: str) -> Read:
    return lambda folder: list(read(folder / name))


def _wordnet(name: str) -> Read:
    def read(folder: Path) -> object:
        wordnet = open_wordnet(folder / name)
        return [wordnet.synonyms(word, "noun") for word in ("answers", "car", "lie")]

    return read


def _lines(name: str) -> Read:
    def read(folder: Path) -> object:
        source = open_lines(references=[folder / "b.txt"], outputs={"A": folder / name})
        return list(source.blocks())

    return read


def _xtag(folder: Path) -> object:
    grammar = read_xtag(folder / "xtag")
    return [grammar.trees_of("zorp", category) for category in ("N", "V")]


def _metric(folder: Path) -> object:
    return wellput.score(EVALSET, [str(folder / "fitted.json")])


def _settings(folder: Path) -> object:
    return make_settings("rating", read_settings(folder / "settings.toml"))


def _categories(folder: Path) -> object:
    record = read_categories(folder / "categories.toml")
    categories = flat_categories(record["categories"])
    severities = severity_names(record.get("severities", ("minor", "major")))
    return checked_weights(record.get("weights", {}), severities, categories)


def _displays(folder: Path) -> object:
    evalset = read_evalset(folder / "displays.jsonl")
    return [list(nodes_of(item.derivation or {})) for item in evalset]


# By name of the file that is damaged. Its reader may read others beside it.
READERS: dict[str, Read] = {
    **{
        f"evalset.{suffix}": _list(read_evalset, f"evalset.{suffix}")
        for suffix in ("jsonl", "csv", "tsv", "parquet")
    },
    **{
        name: _list(read_judgments, name)
        for name in (
            "judgments.jsonl",
            "judgments.csv",
            "judgments.tsv",
            "judgments.parquet",
            "judgments.pairs.csv",
            "evalica.csv",
            "appraise.csv",
            "mqm.tsv",
            "quality.seg.score",
            "label_studio.json",
        )
    },
    **{
        name: _list(read_evalset, name)
        for name in (
            "inspect.json",
            "log.eval",
            "promptfoo.json",
            "deepeval.json",
            "ragas.json",
            "ragas.csv",
            "appraise_batches.json",
            "samples_capitals.jsonl",
        )
    },
    **{name: _list(read_external_scores, name) for name in ("comet.csv", "comet.jsonl")},
    **{name: _list(read_minimal_pairs, name) for name in ("pairs.json", "pairs.csv")},
    "long.csv": _list(read_evalset, "long.csv"),
    "screening.toml": lambda folder: read_screening(folder / "screening.toml"),
    "categories.toml": _categories,
    "language.toml": lambda folder: language_of(read_language(str(folder / "language.toml"))),
    "displays.jsonl": _displays,
    "segments.csv": _list(read_segments, "segments.csv"),
    "trees.conllu": _list(read_trees, "trees.conllu"),
    "trees.mrg": lambda folder: [
        list(read_constituents(folder / "trees.mrg")),
        read_grammar(folder / "trees.mrg"),
    ],
    **{name: _lines(name) for name in ("a.txt", "a.txt.gz", "a.txt.xz")},
    "nbest.jsonl": _list(read_nbest, "nbest.jsonl"),
    "judged.jsonl": _list(read_judged, "judged.jsonl"),
    "replacements.csv": lambda folder: read_table_candidates(folder / "replacements.csv"),
    "inputs.jsonl": lambda folder: list(
        read_inputs(folder / "inputs.jsonl", lambda _: ["cat"], kind="words")
    ),
    "rules.json": lambda folder: read_rules(str(folder / "rules.json")),
    "settings.toml": _settings,
    "talk.eaf": lambda folder: items_of_tiers(read_tiers(folder / "talk.eaf"), "talk"),
    "talk.TextGrid": lambda folder: read_tiers(folder / "talk.TextGrid"),
    "testbed.xml": _list(read_testbed, "testbed.xml"),
    "fitted.json": _metric,
    "ann/annotated_instances.jsonl": _list(read_judgments, "ann"),
    **{
        f"wmt99/{name}": lambda folder: [
            list(read_evalset(folder / "wmt99")),
            read_judgments(folder / "wmt99"),
        ]
        for name in (
            "sources/de-en.txt",
            "system-outputs/de-en/sys.v1.txt",
            "documents/de-en.docs",
            "human-scores/de-en.mqm.seg.score",
        )
    },
    **{f"dict/{name}": _wordnet("dict") for name in ("data.noun", "index.noun", "cntlist.rev")},
    "entries-a.yaml": _wordnet("."),
    "lexicon.xml": _wordnet("lexicon.xml"),
    **{
        f"xtag/{name}": _xtag
        for name in ("grammar/Tnx0V.trees", "grammar/rest.trees", "syntax/syntax-coded.flat")
    },
}


def _ngrams(name: str) -> Read:
    def read(folder: Path) -> object:
        model = load_model(folder / name)
        scores = model.statistics([" ".join(SENTENCE), "a b"]), model.word_scores("the dog")
        return scores, [model.kernel.arpa_lines(d, 0, n) for d, n in enumerate(model.sizes)]

    return read


def _parser(folder: Path) -> object:
    return load_parser(str(folder)).parse([SENTENCE, ["x"]])


def _biaffine(folder: Path) -> object:
    reader = WordNetwork.load(folder / "network.wpm")
    parser = BiaffineParser.load(folder / "biaffine.wpm", reader)
    found = parser.parse([SENTENCE, ["x"]], [["NN"] * len(SENTENCE), ["?"]])
    return [parser.word_analysis.lemma("cats", word.xpos) for words in found for word in words]


def _head_driven(folder: Path) -> object:
    return HeadDrivenParser.load(folder / "head_driven.wpm").parse([SENTENCE, ["x"]])


def _realizer(model: str) -> Read:
    tree = {"word": "sees", "children": [{"word": "dog", "children": [{"word": "the"}]}]}
    return lambda folder: Realizer.load(folder, model=model).realize(tree)


def _supertags(folder: Path) -> object:
    model = TreeModel.load(folder / "tree.wpm")
    return model.choose([UnorderedTree(("sees", "dog", "the"), (0, 1, 2))])


def _index(folder: Path) -> object:
    index = CorpusIndex.load(folder / "index.wpm")
    return index.sentences_of("tea"), index.places_of("dog")


MODELS: dict[str, Read] = {
    **{name: _ngrams(name) for name in ("ngrams.wlm", "compact.wlm", "model.arpa")},
    "tagger.wpm": _parser,
    "parser.wpm": _parser,
    "biaffine.wpm": _biaffine,
    "head_driven.wpm": _head_driven,
    "tree.wpm": _supertags,
    "learned.wpm": _realizer("learned"),
    "order.wpm": _realizer("learned"),
    "realizer.wpm": _realizer("fergus"),
    "index.wpm": _index,
    "words.wpm": lambda folder: WordList.load(folder / "words.wpm").is_known("cats"),
    "network.wpm": lambda folder: WordNetwork.load(folder / "network.wpm").score(["the cat"]),
    "language.wpm": lambda folder: LanguageCheck.load(folder / "language.wpm").read(PROSE),
    "fluency.wpm": lambda folder: FluencyModel.load(folder / "fluency.wpm"),
    "gleu-fluency.wpm": lambda folder: GleuModel.load(folder / "gleu-fluency.wpm"),
}


def write_all(folder: Path) -> None:
    write_good_files(folder)
    write_good_models(folder)


def damage(rng: Random, folder: Path, name: str) -> None:
    """Changes the file; a model may be forged, so that its hash is right."""
    path = folder / name
    if path.suffix == ".wpm" and rng.random() < 0.5:
        forge(rng, path)
    else:
        path.write_bytes(mutated(rng, path.read_bytes()))
