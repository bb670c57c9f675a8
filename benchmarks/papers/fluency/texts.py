"""Texts whose fluency people rated, and texts whose quality is known by construction."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.data import data_path, read_jsonl
from benchmarks.language.ngrams import brown
from wellput.core.metric import Floats
from wellput.language.degrade.corpus import CorpusSource, TaggedCorpus
from wellput.language.degrade.degraders import Degrader, GrammarGenerator, TemplateGenerator
from wellput.language.degrade.errors import ErrorGenerator
from wellput.language.degrade.sequences import SequenceGenerator
from wellput.language.models.parsers import ENGLISH_PARSER, load_parser
from wellput.metrics.fluency_training import GLEU_LENGTHS, is_whole_sentence, whole_sentences
from wellput.text.english import detokenize, treebank_words

LENGTH = 24
SIZES = (1, 2, 3, 4, 6, 8, 24)
MAX_PARSED = 5000
"""At most as many sentences are parsed for the generators that need parses."""


class Rated(NamedTuple):
    """Outputs with people's mean ratings, and references for each where there are some."""

    name: str
    texts: list[str]
    ratings: Floats
    references: Sequence[Sequence[str]] = ()


def gug(part: str) -> Rated:
    """`gug_alone` with references: dev has the sentences of JFLEG, which has four rewritings of each."""
    rated = gug_alone(part)
    rewritings = {_letters(row["source"]): row["references"] for row in jfleg()}
    found = [rewritings.get(_letters(text), []) for text in rated.texts]
    return Rated(rated.name, rated.texts, rated.ratings, found if all(found) else [])


def gug_alone(part: str) -> Rated:
    """Learners' sentences, grammaticality 1 to 4: the mean of an expert and five crowd workers."""
    with data_path("fluency/gug_dev.tsv").open(encoding="utf-8") as file:
        rows = [
            row
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            if row["Dataset"] == part
        ]
    ratings = np.array([float(row["Average"]) for row in rows])
    return Rated(f"GUG {part}", [row["Sentence"] for row in rows], ratings)


def _letters(text: str) -> str:
    """Letters and digits in lower case: the same for each way to tokenize a sentence."""
    return "".join(letter for letter in text.lower() if letter.isalnum())


def jfleg() -> list[dict[str, Any]]:
    return list(read_jsonl("fluency/jfleg_test.jsonl.gz"))


def tmu() -> Rated:
    """Corrections of learners' sentences by five systems; fluency 0 to 4, five raters."""
    with data_path("fluency/tmu_gfm.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    ratings = np.array([float(row["ave_f"]) for row in rows])
    return Rated("TMU-GFM", [row["output"] for row in rows], ratings)


def lau() -> Rated:
    """Wikipedia sentences translated there and back; acceptability 1 to 4."""
    texts = data_path("fluency/lau2015_test.txt").read_text(encoding="utf-8").splitlines()
    rated = data_path("fluency/lau2015_test_gold_ratings.txt")
    ratings = rated.read_text(encoding="utf-8").split()
    return Rated("Lau 2015", texts, np.array(ratings, np.float64))


def dialog(file: str, name: str) -> Rated:
    """Outputs of dialog systems, naturalness 1 to 6, with references."""
    rows = list(read_jsonl(f"nlg_human/{file}"))
    ratings = np.array([float(row["naturalness"]) for row in rows])
    return Rated(
        name, [row["output"] for row in rows], ratings, [row["references"] for row in rows]
    )


def webnlg(name: str, *, with_nothing_said: bool) -> Rated:
    """Outputs of nine systems for the same facts, fluency 1 to 3; what a person wrote is the reference."""
    rows = list(read_jsonl("nlg_human/webnlg2017_human.jsonl.gz"))
    written = {row["mr"]: [row["output"].strip()] for row in rows if row["system"] == "webnlg"}
    kept = [
        row
        for row in rows
        if row["system"] != "webnlg" and (with_nothing_said or not says_nothing(row["output"]))
    ]
    ratings = np.array([float(row["fluency"]) for row in kept])
    return Rated(
        name, [row["output"] for row in kept], ratings, [written[row["mr"]] for row in kept]
    )


def says_nothing(output: str) -> bool:
    return output.strip() in ("", "null")


def some_of(rated: Rated, most: int) -> Rated:
    """At most this many, drawn at random, because link grammar is slow."""
    if len(rated.texts) <= most:
        return rated
    places = np.sort(np.random.default_rng(7).permutation(len(rated.texts))[:most])
    return Rated(
        rated.name,
        [rated.texts[place] for place in places],
        rated.ratings[places],
        [rated.references[place] for place in places] if rated.references else [],
    )


def rated_sets() -> list[Rated]:
    return [
        gug("dev"),
        tmu(),
        lau(),
        dialog("d2t_sfres.jsonl.gz", "SFRES"),
        dialog("d2t_bagel.jsonl.gz", "BAGEL"),
        webnlg("WebNLG", with_nothing_said=True),
        webnlg("WebNLG, without empty outputs", with_nothing_said=False),
    ]


@dataclass(frozen=True)
class Made:
    """Real sentences of 20 to 28 words that no model was trained on, and generated ones of 24: `sequences` by
    size, all others (`generated`) by the name of the generator."""

    name: str
    real: list[str]
    sequences: dict[int, list[str]]
    generated: dict[str, list[str]]

    def first(self, n: int) -> Made:
        """At most this many of each kind."""
        return Made(
            self.name,
            self.real[:n],
            {size: texts[:n] for size, texts in self.sequences.items()},
            {name: texts[:n] for name, texts in self.generated.items()},
        )


def held_out(real: Path, source: Path, n: int, rng: np.random.Generator) -> Made:
    """From the same books and speeches as the models' training sentences, but others."""
    kept = [w for w in whole_sentences([real], is_held_out=True) if is_about_long_enough(w)]
    return _made(
        "held-out books and speeches", _some(kept, n, rng), whole_sentences([source]), n, rng
    )


def brown_text(n: int, rng: np.random.Generator) -> Made:
    """From the Brown corpus, on which no model was trained. No real sentence is a source of generated ones."""
    lines = [treebank_words(detokenize(line.split(" "))).forms for line in dict.fromkeys(brown())]
    sentences = [words for words in lines if words and is_whole_sentence(words)]
    fitting = [place for place, words in enumerate(sentences) if is_about_long_enough(words)]
    chosen = {fitting[place] for place in rng.permutation(len(fitting))[:n].tolist()}
    real = [sentences[place] for place in sorted(chosen)]
    rest = [words for place, words in enumerate(sentences) if place not in chosen]
    return _made("Brown corpus", real, rest, n, rng)


def is_about_long_enough(words: Sequence[str]) -> bool:
    return len(words) in GLEU_LENGTHS


def _made(
    name: str,
    real: Sequence[Sequence[str]],
    sentences: Sequence[Sequence[str]],
    n: int,
    rng: np.random.Generator,
) -> Made:
    """`n` sentences of each size (of size 24 at most as many as there are), n / 2 of each other generator."""
    corpus = TaggedCorpus.of(sentences)
    n_whole = sum(len(words) == LENGTH for words in sentences)
    sequences = {
        size: SequenceGenerator(corpus, size=size, length=LENGTH).generate(
            min(n, n_whole) if size == LENGTH else n, rng
        )
        for size in SIZES
    }
    chosen = _some(sentences, MAX_PARSED, rng)
    parsed = CorpusSource(chosen, load_parser(ENGLISH_PARSER).parse(chosen))
    pos = parsed.corpus("pos")
    generators: dict[str, Degrader] = {
        "pos": TemplateGenerator(pos, length=LENGTH),
        "supertag": TemplateGenerator(parsed.corpus("supertag"), length=LENGTH),
        "cfg": GrammarGenerator(pos, parsed.grammar(), length=LENGTH),
        "errors": ErrorGenerator(corpus, length=LENGTH),
    }
    return Made(
        name,
        texts_of(real),
        {size: texts_of(words) for size, words in sequences.items()},
        {name: texts_of(one.generate(n // 2, rng)) for name, one in generators.items()},
    )


def texts_of(sentences: Sequence[Sequence[str]]) -> list[str]:
    return [detokenize(words) for words in sentences]


def _some(
    sentences: Sequence[Sequence[str]], n: int, rng: np.random.Generator
) -> list[Sequence[str]]:
    return [sentences[place] for place in rng.permutation(len(sentences))[:n]]
