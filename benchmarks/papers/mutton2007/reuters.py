"""Sentences of 24 words from Reuters news, real ones and generated ones, as in Mutton et al. (2007).

The paper's corpus is Reuters' RCV1, which has to be asked for; this is the older ApteMod collection of
Reuters news, which anyone can download. Its training documents train, its test documents test."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

import numpy as np

from benchmarks.catalog import REUTERS
from benchmarks.data import data_path
from benchmarks.papers.penn_sample import constituents
from wellput.language.degrade.corpus import CorpusSource, TaggedCorpus, grammar_of_constituents
from wellput.language.degrade.degraders import Degrader, GrammarGenerator, TemplateGenerator
from wellput.language.degrade.sequences import SequenceGenerator
from wellput.language.models.parsers import ENGLISH_PARSER, load_parser
from wellput.metrics.fluency_training import is_whole_sentence
from wellput.text.english import detokenize, sentences, treebank_words

LENGTH = 24
SIZES = (1, 2, 3, 4, 6, 8, 24)
TRAINING_SENTENCES = 1000
TEST_SENTENCES = 300
PARSED = 5000
PARAGRAPH = re.compile(r"\n {4,}")
TICKER = re.compile(r"\s*(?:&lt;|<)[^<>\s]{1,12}>")
"""The sign of a company at the stock exchange, such as <GM>, which is not a word of the sentence."""
Part = Literal["training", "test"]
SEEDS: dict[Part, int] = {"training": 1, "test": 2}


def news(part: Part) -> list[list[str]]:
    """The whole sentences of a part, as words, none twice. The first line of a document is its title."""
    found: dict[tuple[str, ...], None] = {}
    for text in _documents(part):
        for sentence in sentences(PARAGRAPH.sub("\n\n", TICKER.sub("", text))):
            words = treebank_words(sentence).forms
            if words and is_whole_sentence(words):
                found[tuple(words)] = None
    return [list(words) for words in found]


def _documents(part: Part) -> Iterator[str]:
    with tarfile.open(data_path(REUTERS)) as archive:
        texts = {}
        for member in archive:
            path = PurePosixPath(member.name)
            file = archive.extractfile(member) if path.parent.name == part else None
            if file is not None:
                texts[int(path.name)] = file.read().decode("latin-1").partition("\n")[2]
    for number in sorted(texts):
        yield texts[number]


@dataclass(frozen=True)
class Texts:
    """Texts by the size of their sequences (24: real sentences), and by another generator."""

    by_size: dict[int, list[str]]
    by_generator: dict[str, list[str]]


def real_sentences(found: Sequence[Sequence[str]], n: int, rng: np.random.Generator) -> list[str]:
    fitting = [words for words in found if len(words) == LENGTH]
    return [detokenize(fitting[place]) for place in rng.permutation(len(fitting))[:n]]


def training_texts() -> Texts:
    """Real sentences and sequences of size 1."""
    rng = np.random.default_rng(SEEDS["training"])
    found = news("training")
    real = real_sentences(found, TRAINING_SENTENCES, rng)
    made = SequenceGenerator(TaggedCorpus.of(found), size=1, length=LENGTH)
    return Texts({24: real, 1: list(map(detokenize, made.generate(TRAINING_SENTENCES, rng)))}, {})


def test_texts() -> Texts:
    """All sizes, and the three generators of the paper's section 5."""
    rng = np.random.default_rng(SEEDS["test"])
    found = news("test")
    corpus = TaggedCorpus.of(found)
    by_size = {
        size: list(
            map(
                detokenize,
                SequenceGenerator(corpus, size=size, length=LENGTH).generate(TEST_SENTENCES, rng),
            )
        )
        for size in SIZES[:-1]
    }
    by_size[24] = real_sentences(found, TEST_SENTENCES, rng)
    some = [found[place] for place in rng.permutation(len(found))[:PARSED]]
    parsed = CorpusSource(some, load_parser(ENGLISH_PARSER).parse(some), 1)
    pos = parsed.corpus("pos")
    grammar = grammar_of_constituents(
        sentence for sentences in constituents().values() for sentence in sentences
    )
    makers: dict[str, Degrader] = {
        "pos": TemplateGenerator(pos, length=LENGTH),
        "supertag": TemplateGenerator(parsed.corpus("supertag"), length=LENGTH),
        "cfg": GrammarGenerator(pos, grammar, length=LENGTH),
    }
    generated = {
        name: list(map(detokenize, maker.generate(TEST_SENTENCES, rng)))
        for name, maker in makers.items()
    }
    return Texts(by_size, generated)
