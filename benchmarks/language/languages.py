"""Models of other languages from their treebanks: `make bench-languages ARGS="TREEBANKS KEPT"`."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.pages import table, write_page
from wellput.api.realize import realize
from wellput.api.train import fluency, parser, realizer
from wellput.core.evalset import Batch
from wellput.core.metric import Floats
from wellput.core.tree import Tree
from wellput.io.trees import format_tree, read_trees
from wellput.language.degrade.corpus import TaggedCorpus
from wellput.language.degrade.errors import ErrorGenerator
from wellput.language.models.fluency_model import FluencyModel
from wellput.language.models.learned_tokenizer import LearnedTokenizer
from wellput.language.models.parsers import load_parser
from wellput.language.models.treebank_fluency import TREEBANK_FEATURES, TreebankFluencyModels
from wellput.language.models.treebanks import read_treebank
from wellput.metrics.bleu import Bleu
from wellput.metrics.treebank_fluency_training import mistaken_words, shuffled, usable_sentences

SEED = 12345
RESAMPLES = 1000
MAX_FLUENCY_SENTENCES = 500
THREADS = 2
UDPIPE_VARIABLE = "UDPIPE_PYTHON"


@dataclass(frozen=True)
class Language:
    """A language and the folder of its treebank; `about` says what is special, `learned` names the part of the
    treebank to learn from."""

    name: str
    folder: str
    about: str
    learned: str = "train"


LANGUAGES = (
    Language("Hungarian", "UD_Hungarian-Szeged", "agglutinating, no XPOS"),
    Language("Vietnamese", "UD_Vietnamese-VTB", "isolating, words with spaces inside"),
    Language("Chinese", "UD_Chinese-GSDSimp", "no spaces between words", learned="dev"),
    Language("Welsh", "UD_Welsh-CCG", "verb first, multiword tokens"),
    Language("Uyghur", "UD_Uyghur-UDT", "agglutinating, Arabic script"),
    Language("Turkish", "UD_Turkish-IMST", "agglutinating, multiword tokens"),
)


@dataclass
class Figures:
    """What was measured. `trees` and `words` are the sizes of the training file."""

    trees: int
    words: int
    seconds: dict[str, tuple[float, float]] = field(default_factory=dict)
    """By kind of model, the time to train: by the clock, and of the processor."""
    values: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    """By name of the figure, the value and the ends of its 95% bootstrap interval over sentences."""
    fluency: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By kind of damage, the sentences that score higher than when damaged, and all sentences."""


def learned_from(language: Language, treebanks: Path) -> Path:
    """The treebank's folder, or the one file that is learned from."""
    folder = treebanks / language.folder
    return folder if language.learned == "train" else _file(folder, language.learned)


def measured(language: Language, treebanks: Path, kept: Path) -> Figures:
    folder = treebanks / language.folder
    given = learned_from(language, treebanks)
    models = kept / language.folder
    trees = read_treebank([given])
    found = Figures(len(trees.train), trees.words)
    kinds: dict[str, Callable[[], object]] = {
        "parser": lambda: parser(treebank=given, path=models, seed=SEED, threads=THREADS),
        "realizer": lambda: realizer(treebank=given, path=models, seed=SEED, threads=THREADS),
        "fluency": lambda: fluency(treebank=str(given), path=models, seed=SEED, threads=THREADS),
    }
    for kind, train in kinds.items():
        wall, cpu = time.perf_counter(), time.process_time()
        train()
        found.seconds[kind] = (time.perf_counter() - wall, time.process_time() - cpu)
    test = list(read_trees(_file(folder, "test")))
    words = [[word.form for word in tree.words] for tree in test]
    own = load_parser(str(models)).parse(words, threads=THREADS)
    for name, value in _attachment(test, own).items():
        found.values[name] = value
    found.values["tokens"] = _tokenizing(test, LearnedTokenizer.load(models / "tokenizer.wpm"))
    found.values |= _realizing(test, models)
    found.fluency = _fluency(trees.train, test, models)
    return found


def _file(folder: Path, part: str) -> Path:
    [file] = folder.glob(f"*-ud-{part}.conllu")
    return file


def _bootstrapped(right: Floats, total: Floats) -> tuple[float, float, float]:
    """The sum of `right` divided by the sum of `total` (numbers of each sentence), with its interval."""
    rng = np.random.default_rng(1)
    drawn = rng.integers(len(right), size=(RESAMPLES, len(right)))
    shares = right[drawn].sum(axis=1) / total[drawn].sum(axis=1)
    low, high = np.quantile(shares, [0.025, 0.975])
    return float(right.sum() / total.sum()), float(low), float(high)


def _attachment(
    gold: Sequence[Tree], parsed: Sequence[Tree]
) -> Mapping[str, tuple[float, float, float]]:
    rows = []
    for tree, other in zip(gold, parsed, strict=True):
        pairs = list(zip(tree.words, other.words, strict=True))
        heads = [a.head == b.head for a, b in pairs]
        labeled = [
            is_right and a.relation.partition(":")[0] == b.relation.partition(":")[0]
            for is_right, (a, b) in zip(heads, pairs, strict=True)
        ]
        rows.append((len(pairs), sum(a.upos == b.upos for a, b in pairs), sum(heads), sum(labeled)))
    counts = np.array(rows, np.float64)
    return {
        name: _bootstrapped(counts[:, place], counts[:, 0])
        for place, name in enumerate(("UPOS", "UAS", "LAS"), start=1)
    }


def udpipe_values(
    language: Language, treebanks: Path, kept: Path
) -> dict[str, tuple[float, float, float]]:
    """UDPipe's figures from its trees, which may be kept from another run; none without UDPipe."""
    test = _file(treebanks / language.folder, "test")
    parsed = kept / "udpipe" / f"{language.folder}.conllu"
    python = os.environ.get(UDPIPE_VARIABLE)
    if not parsed.is_file():
        if python is None:
            return {}
        parsed.parent.mkdir(exist_ok=True)
        learned = read_treebank([learned_from(language, treebanks)])
        files = []
        for part, trees in (("train", learned.train), ("dev", learned.dev)):
            files.append(parsed.with_suffix(f".{part}"))
            files[-1].write_text("".join(map(format_tree, trees)), encoding="utf-8")
        script = Path(__file__).with_name("udpipe.py")
        subprocess.run([python, script, *files, test, parsed], check=True)
    found = _attachment(list(read_trees(test)), list(read_trees(parsed)))
    return {f"UDPipe {name}": value for name, value in found.items()}


def _tokenizing(test: Sequence[Tree], tokenizer: LearnedTokenizer) -> tuple[float, float, float]:
    """F of the words that the tokenizer finds; a word is right if its beginning, end and form are."""
    rows = []
    for tree in test:
        right = _spans([word.form for word in tree.words])
        found = _spans(tokenizer.words(tree.text).forms)
        # F = 2 · right / (words of the treebank + words found)
        rows.append((2 * len(right & found), len(right) + len(found)))
    counts = np.array(rows, np.float64)
    return _bootstrapped(counts[:, 0], counts[:, 1])


def _spans(words: Sequence[str]) -> set[tuple[int, str]]:
    """Each word with the number of characters before it, without spaces."""
    found, before = set(), 0
    for word in words:
        found.add((before, word))
        before += len("".join(word.split()))
    return found


def _realizing(test: Sequence[Tree], models: Path) -> dict[str, tuple[float, float, float]]:
    """BLEU on tokens, and the share of sentences realized exactly."""
    found = {}
    wanted = [" ".join(word.form for word in tree.words) for tree in test]
    runs = (("words", "learned"), ("labels", "learned"), ("words", "lr"))
    for kind, model in runs:
        made = realize(list(test), input=kind, model=model, models=models, threads=THREADS)  # type: ignore[arg-type]
        rows = Bleu(tokenize="none", force=True).statistics(
            Batch.from_texts(made.sentences, [[one] for one in wanted])
        )
        rng = np.random.default_rng(1)
        drawn = rng.integers(len(rows), size=(RESAMPLES, len(rows)))
        sums = np.array([rows[places].sum(axis=0) for places in drawn])
        bleu = Bleu(tokenize="none", force=True)
        low, high = np.quantile(bleu.score(sums), [0.025, 0.975])
        name = kind if model == "learned" else model
        found[f"BLEU {name}"] = (float(bleu.score(rows.sum(axis=0))), float(low), float(high))
        pairs = zip(made.sentences, wanted, strict=True)
        exact = np.array([float(a.lower() == b.lower()) for a, b in pairs])
        found[f"exact {name}"] = _bootstrapped(exact, np.ones(len(exact)))
    return found


def _fluency(
    train: Sequence[Tree], test: Sequence[Tree], models: Path
) -> dict[str, tuple[int, int]]:
    """For each kind of damage: how many test sentences score higher than when damaged, and how many were tested."""
    loaded = TreebankFluencyModels.load(models)
    weights = FluencyModel.load(models / "fluency.wpm", tuple(TREEBANK_FEATURES))
    rng = np.random.default_rng(SEED)
    sentences = [own for own in usable_sentences(test) if len(set(own)) > 1]
    chosen = [sentences[place] for place in rng.permutation(len(sentences))]
    chosen = chosen[:MAX_FLUENCY_SENTENCES]

    def scores(texts: Sequence[Sequence[str]]) -> Floats:
        return weights.scores(loaded.features_of_words(texts, threads=THREADS))

    real = scores(chosen)
    found = {"shuffled": [shuffled(own, rng) for own in chosen]}
    language = mistaken_words(train)
    for mistakes in (3, 1):
        maker = ErrorGenerator(
            TaggedCorpus.of(chosen), length=None, mistakes=mistakes, language=language
        )
        found[f"{mistakes} mistakes" if mistakes > 1 else "1 mistake"] = [
            maker.spoil(place, rng)[0] for place in range(len(chosen))
        ]
    return {name: (int((real > scores(own)).sum()), len(chosen)) for name, own in found.items()}


INTRODUCTION = """# Other languages

How good are the models that `wellput train parser`, `train realizer` and `train fluency` make for other languages, from treebanks of Universal Dependencies, with `--treebank FOLDER` and no other option? In six languages the parser is better than UDPipe trained on the same trees, and the realizer is far better than the baseline of Bangalore et al. (2000). The fluency
score notices most sentences with three mistakes, but misses about three in ten with a single mistake. [Train for your language](../language/other-languages.md) shows how to train the models.

Everything is measured on the treebanks' test files, which were used for nothing else. In brackets: 95% bootstrap intervals over sentences. One default, which holds for every language, was chosen on the development trees of Turkish: tags include the features `Case` and `VerbForm`. The Chinese models were trained on the development file alone, with one tree in ten kept for tuning, because the training file
(about 4,000 trees) was not available.
"""

PARSER = """## Parser

*Words, F*: how well the text of the test trees is split into the treebank's words (F, the harmonic mean of precision and recall). For the other columns, the parsers get the treebank's words and predict the tags. UPOS: the percentage of words with the right tag; UAS: with the right head; LAS: with the right head and relation (without subtypes); punctuation counts. (*No XPOS*: the treebank has only universal tags.) UDPipe is
`ufal.udpipe` 1.4 from PyPI, trained in 5 rounds for the tagger and 5 for the parser, which is less than its defaults (20 and 10 rounds) and takes far less time; for Vietnamese its defaults were used. The defaults may improve UDPipe's results for the other languages.
"""

REALIZER = """## Realizer

The inputs are trees without word order: with words only (`words`), or also with relations and tags (`labels`). BLEU is computed over tokens; *exact* is the percentage of sentences with all words in the treebank's order, capitals aside. `lr` is the baseline, with `words` as input; it knows only whether one word stood left or right of another in training.
"""

FLUENCY = """## Fluency

How many test sentences (at most 500, of 3 to 60 words) get a higher score than the same sentence with its words shuffled, with three mistakes, and with one mistake. Some mistakes are harmless, such as an adverb left out, or two words swapped that may stand in either order.
"""


def _shown(value: tuple[float, float, float] | None, *, is_percent: bool = True) -> str:
    if value is None:
        return "–"
    factor = 100 if is_percent else 1
    middle, low, high = (f"{factor * one:.1f}" for one in value)
    return f"{middle} [{low}, {high}]"


def page(found: Mapping[str, Figures]) -> list[str]:
    abouts = {language.name: language.about for language in LANGUAGES}

    def shown(figures: Figures, *names: str) -> list[str]:
        return [_shown(figures.values.get(name)) for name in names]

    parsing = [
        [
            f"{name} ({abouts[name]})",
            f"{one.trees:,}",
            f"{one.words:,}",
            *shown(one, "tokens", "UPOS", "UAS", "LAS", "UDPipe UAS", "UDPipe LAS"),
        ]
        for name, one in found.items()
    ]
    realizing = [
        [
            name,
            *(_shown(one.values[f"BLEU {kind}"], is_percent=False) for kind in ("words", "labels")),
            *shown(one, "exact words", "exact labels"),
            _shown(one.values["BLEU lr"], is_percent=False),
        ]
        for name, one in found.items()
    ]
    fluent = [
        [
            name,
            *(f"{100 * right / tested:.1f}% of {tested}" for right, tested in one.fluency.values()),
        ]
        for name, one in found.items()
    ]
    times = [
        [name, *(f"{wall:.0f} ({cpu:.0f})" for wall, cpu in one.seconds.values())]
        for name, one in found.items()
    ]
    kinds = list(next(iter(found.values())).fluency)
    return [
        PARSER,
        table(
            [
                "language",
                "training trees",
                "training words",
                "words, F",
                "UPOS",
                "UAS",
                "LAS",
                "UDPipe UAS",
                "UDPipe LAS",
            ],
            parsing,
        ),
        f"\n{REALIZER}",
        table(
            [
                "language",
                "BLEU from `words`",
                "BLEU from `labels`",
                "exact from `words`",
                "exact from `labels`",
                "BLEU of `lr`",
            ],
            realizing,
        ),
        f"\n{FLUENCY}",
        table(["language", *kinds], fluent),
        "\n## Time to train\n\nSeconds from start to end on two cores that other programs used too; in parentheses, seconds of processor time. The time of `fluency` does not include its parser, which was trained before.\n",
        table(["language", "parser", "realizer", "fluency"], times),
        "",
    ]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("treebanks", type=Path, help="a folder of UD repositories")
    arguments.add_argument("kept", type=Path, help="a folder for models and figures")
    given = arguments.parse_args()
    found: dict[str, Figures] = {}
    for language in LANGUAGES:
        file = given.kept / f"{language.folder}.json"
        if not file.is_file():
            figures = measured(language, given.treebanks, given.kept)
            file.write_text(json.dumps(asdict(figures)))
            print(language.name, figures, file=sys.stderr, flush=True)
        found[language.name] = Figures(**json.loads(file.read_text()))
        found[language.name].values |= udpipe_values(language, given.treebanks, given.kept)
    write_page("languages", "\n".join([INTRODUCTION, *page(found)]))
