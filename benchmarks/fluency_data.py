"""Texts whose fluency people rated, and texts whose quality is known by construction."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.corpora import DATA, read_jsonl
from wellput.core.metric import Floats
from wellput.degrade.corpus import Corpus
from wellput.degrade.errors import ErrorGenerator
from wellput.degrade.generate import Degrader, GrammarGenerator, TemplateGenerator
from wellput.degrade.sequences import SequenceGenerator
from wellput.degrade.sources import Source
from wellput.language.parsers import ENGLISH, load_parser
from wellput.metrics.fluency_pools import whole_sentences
from wellput.text.detokenizer import detokenize

LENGTH = 24
SIZES = (1, 2, 3, 4, 6, 8, 24)
PARSED = 5000


class Rated(NamedTuple):
    """Outputs with people's mean ratings."""

    name: str
    texts: list[str]
    ratings: Floats


def gug(part: str) -> Rated:
    """Learners' sentences, grammaticality 1 to 4: the mean of an expert and five crowd workers."""
    with (DATA / "fluency/gug_dev.tsv").open(encoding="utf-8") as file:
        rows = [
            row
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            if row["Dataset"] == part
        ]
    ratings = np.array([float(row["Average"]) for row in rows])
    return Rated(f"GUG {part}", [row["Sentence"] for row in rows], ratings)


def tmu() -> Rated:
    """Corrections of learners' sentences by five systems; fluency 0 to 4, five raters."""
    with (DATA / "fluency/tmu_gfm.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    ratings = np.array([float(row["ave_f"]) for row in rows])
    return Rated("TMU-GFM", [row["output"] for row in rows], ratings)


def lau() -> Rated:
    """Wikipedia sentences translated there and back; acceptability 1 to 4."""
    folder = DATA / "fluency"
    texts = (folder / "lau2015_test.txt").read_text(encoding="utf-8").splitlines()
    ratings = (folder / "lau2015_test_gold_ratings.txt").read_text(encoding="utf-8").split()
    return Rated("Lau 2015", texts, np.array(ratings, np.float64))


def nlg(file: str, name: str, question: str, *, with_nothing_said: bool = True) -> Rated:
    rows = [
        row
        for row in read_jsonl(f"nlg_human/{file}")
        if with_nothing_said or row["output"].strip() not in ("", "null")
    ]
    ratings = np.array([float(row[question]) for row in rows])
    return Rated(name, [row["output"] for row in rows], ratings)


def some_of(rated: Rated, most: int) -> Rated:
    """At most so many, drawn at random: link grammar takes its time."""
    if len(rated.texts) <= most:
        return rated
    places = np.sort(np.random.default_rng(7).permutation(len(rated.texts))[:most])
    return Rated(rated.name, [rated.texts[place] for place in places], rated.ratings[places])


def rated_sets() -> list[Rated]:
    web = "webnlg2017_human.jsonl.gz"
    return [
        gug("dev"),
        tmu(),
        lau(),
        nlg("d2t_sfres.jsonl.gz", "SFRES", "naturalness"),
        nlg("d2t_bagel.jsonl.gz", "BAGEL", "naturalness"),
        nlg(web, "WebNLG", "fluency"),
        nlg(web, "WebNLG, something said", "fluency", with_nothing_said=False),
    ]


@dataclass(frozen=True)
class Made:
    """Sentences of 24 words (real ones of 20 to 28) that no model has seen, and generated ones."""

    real: list[str]
    sequences: dict[int, list[str]]
    generated: dict[str, list[str]]


def made_sets(real: Path, source: Path, n: int, seed: int) -> Made:
    """`n` of each kind, or as many as there are. The real ones were held out of training."""
    rng = np.random.default_rng(seed)
    held_out = [w for w in whole_sentences([real], is_held_out=True) if 20 <= len(w) <= 28]
    sentences = whole_sentences([source])
    corpus = Corpus.of(sentences)
    some = _some(sentences, PARSED, rng)
    parsed = Source(some, load_parser(ENGLISH).parse(some))
    whole = [words for words in sentences if len(words) == LENGTH]
    sequences = {
        size: SequenceGenerator(corpus, size=size, length=LENGTH).generate(
            min(n, len(whole)) if size == LENGTH else n, rng
        )
        for size in SIZES
    }
    pos = parsed.corpus("pos")
    generators: dict[str, Degrader] = {
        "pos": TemplateGenerator(pos, length=LENGTH),
        "supertag": TemplateGenerator(parsed.corpus("supertag"), length=LENGTH),
        "cfg": GrammarGenerator(pos, parsed.grammar(), length=LENGTH),
        "errors": ErrorGenerator(corpus, length=LENGTH),
    }
    return Made(
        texts_of(_some(held_out, n, rng)),
        {size: texts_of(words) for size, words in sequences.items()},
        {name: texts_of(one.generate(n // 2, rng)) for name, one in generators.items()},
    )


def texts_of(sentences: Sequence[Sequence[str]]) -> list[str]:
    return [detokenize(words) for words in sentences]


def _some(
    sentences: Sequence[Sequence[str]], n: int, rng: np.random.Generator
) -> list[Sequence[str]]:
    return [sentences[place] for place in rng.permutation(len(sentences))[:n]]
