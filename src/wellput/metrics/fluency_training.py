"""Training `fluency` and `gleu-fluency`: for `wellput train fluency`, and as steps of `wellput train
english`.

The quality of the sentences is known because we make them worse ourselves: no judgments are used. Text
is split into two `Pools` that share no sentence: real sentences, and sentences that are made worse. The
models of English and the parser must not have been trained on these texts: a model recognizes the text
it was trained on.

For `fluency`, we put k mistakes into a sentence; its severity is log(1 + k). In some sentences k
does not depend on their length; in others it grows with the length, like the errors of people and
programs. Sentences from a generator count as two mistakes, or as one if they are made of sequences
of four words. With them the model learns not to trust features that a generator can imitate.

For `gleu-fluency`, real sentences are compared with random sequences of words, as in the paper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.core.tree import Tree
from wellput.core.work import OnProgress
from wellput.language.degrade.corpus import CorpusSource, TaggedCorpus
from wellput.language.degrade.degraders import Degrader, GrammarGenerator, TemplateGenerator
from wellput.language.degrade.errors import ErrorGenerator
from wellput.language.degrade.sequences import SequenceGenerator
from wellput.language.models.english_text import prose_sentences
from wellput.language.models.english_training import TrainingInputs
from wellput.language.models.fluency_model import (
    FLUENCY_FEATURES,
    FluencyModel,
    FluencyModels,
    english_models,
)
from wellput.language.models.gleu_model import GLEU_FEATURES as GLEU_FEATURES
from wellput.language.models.gleu_model import (
    GLEU_KIND,
    PAPER_GLEU_KIND,
    GleuModel,
    GleuParsers,
    PaperGleuParsers,
    train_paper_parsers,
)
from wellput.language.models.parsers import ENGLISH_PARSER, Parser, load_parser
from wellput.metrics.gleu_fluency import english_parsers, paper_parsers
from wellput.text.english import detokenize

PASSAGE_SENTENCES = 20
"""Sentences in a row that go into the same pool, because neighbors share names and phrases."""


HELD_OUT_EVERY = 5
"""One sentence in five is kept for measuring."""


@dataclass(frozen=True)
class Pools:
    """Sentences as lists of words: `real` ones stay as they are, `source` ones are made worse."""

    real: list[list[str]]
    source: list[list[str]]


def split_text(
    paths: Sequence[Path], *, on_progress: Callable[[int], None] = lambda _: None
) -> Pools:
    """Both pools from one text: half of its passages each, only whole sentences of 4 to 60 words, none
    twice.

    The pool of a passage depends on its first sentence, not on its position.
    """
    pools = Pools([], [])
    seen: set[str] = set()
    for path in paths:
        lines = [line for line in prose_sentences(path, on_progress) if fits(line.split(" "))]
        for begin in range(0, len(lines), PASSAGE_SENTENCES):
            passage = lines[begin : begin + PASSAGE_SENTENCES]
            pool = pools.source if crc32(passage[0].encode(errors="replace")) % 2 else pools.real
            pool += [line.split(" ") for line in dict.fromkeys(passage) if line not in seen]
            seen.update(passage)
    return pools


def whole_sentences(
    paths: Sequence[Path],
    *,
    is_held_out: bool = False,
    on_progress: Callable[[int], None] = lambda _: None,
) -> list[list[str]]:
    """One pool from text that is for this pool alone: four fifths of it for training, or the held-out
    rest for measuring."""
    lines = (line for path in paths for line in prose_sentences(path, on_progress))
    return [
        words
        for line in dict.fromkeys(lines)
        if fits(words := line.split(" "))
        and (crc32(line.encode(errors="replace")) % HELD_OUT_EVERY == 0) is is_held_out
    ]


Words = Sequence[str]

SENTENCES_PER_KIND = 1500
"""Real sentences, and sentences with each number of mistakes."""
MISTAKE_COUNTS = (1, 2, 3, 5)
WORDS_PER_MISTAKE = (32, 16, 8, 4)
"""Words per mistake, where the number of mistakes grows with length."""
GENERATED_LENGTHS = (8, 12, 16, 24)
SEQUENCE_MISTAKES = {1: 2, 2: 2, 4: 1}
"""Words in a sequence, and the number of mistakes that a sentence of such sequences counts as."""
TEMPLATE_MISTAKES = 2
GENERATOR_WEIGHT = 0.1
"""The weight of the sentences of one generator; those with one number of mistakes weigh 1."""
MIN_WORDS, MAX_WORDS = 4, 60
PARSED_SENTENCES = 5000
"""Sentences of the source that are parsed to get templates."""
MIN_SENTENCES = 200


@dataclass(frozen=True)
class Graded:
    """Texts of one kind, the number of mistakes of each (or of all), and their weight together."""

    name: str
    texts: list[str]
    mistakes: int | Sequence[int]
    weight: float


def fits(words: Words) -> bool:
    """Whether a line of a corpus is a whole sentence of suitable length."""
    whole = words[0][0].isupper() and words[-1] in (".", "?", "!")
    return whole and MIN_WORDS <= len(words) <= MAX_WORDS


def graded_texts(
    real: Sequence[Words],
    source: Sequence[Words],
    parser: Parser,
    rng: np.random.Generator,
    *,
    n: int = SENTENCES_PER_KIND,
    left_out: str | None = None,
    threads: int = 1,
) -> Iterator[Graded]:
    """The training texts; `left_out` names a generator to leave out. The parser makes the templates of
    generators."""
    if len(real) < MIN_SENTENCES or len(source) < MIN_SENTENCES:
        raise InputError(
            f"There are {len(real):,} real sentences and {len(source):,} to make worse. Training "
            f"fluency needs at least {MIN_SENTENCES} of each, and thousands to be good: give more text."
        )
    corpus = TaggedCorpus.of(source)
    yield Graded("real", _texts(_some(real, n, rng)), 0, 1.0)
    for mistakes in MISTAKE_COUNTS:
        spoiled = ErrorGenerator(corpus, length=None, mistakes=mistakes).generate(n, rng)
        yield Graded(f"errors-{mistakes}", _texts(spoiled), mistakes, 1.0)
    for words in WORDS_PER_MISTAKE:
        counted = ErrorGenerator(corpus, length=None, words_per_mistake=words).spoiled(n, rng)
        texts = _texts([spoiled for spoiled, _ in counted])
        yield Graded(f"errors-every-{words}", texts, [mistakes for _, mistakes in counted], 1.0)
    some = _some(source, PARSED_SENTENCES, rng)
    parsed = CorpusSource(some, parser.parse(some, threads=threads), threads)
    for name, (mistakes, maker) in _generators(corpus, parsed).items():
        if left_out is None or not name.startswith(left_out):
            each = max(1, n // 6 // len(GENERATED_LENGTHS))
            made = [
                words for length in GENERATED_LENGTHS for words in maker(length).generate(each, rng)
            ]
            yield Graded(name, _texts(made), mistakes, GENERATOR_WEIGHT)


def train_fluency(
    graded: Sequence[Graded],
    models: FluencyModels,
    *,
    threads: int = 1,
    on_progress: Callable[[int], None] = lambda _: None,
) -> FluencyModel:
    rows, severity, weights = [], [], []
    for kind in graded:
        features = models.features(kind.texts, threads=threads)
        has_words = ~np.isnan(features[:, 0])
        features = features[has_words]
        rows.append(features)
        mistakes = np.broadcast_to(np.asarray(kind.mistakes), has_words.shape)
        severity.append(np.log1p(mistakes[has_words]))
        weights.append(np.full(len(features), kind.weight / len(features)))
        on_progress(len(features))
    return FluencyModel.train(np.vstack(rows), np.concatenate(severity), np.concatenate(weights))


def _generators(
    corpus: TaggedCorpus, parsed: CorpusSource
) -> dict[str, tuple[int, Callable[[int], Degrader]]]:
    """By name: the number of mistakes its sentences count as, and the generator for a length."""
    pos, supertags, grammar = parsed.corpus("pos"), parsed.corpus("supertag"), parsed.grammar()

    def sequences(size: int) -> Callable[[int], Degrader]:
        return lambda length: SequenceGenerator(corpus, size=size, length=length)

    return {
        **{
            f"sequence-{size}": (mistakes, sequences(size))
            for size, mistakes in SEQUENCE_MISTAKES.items()
        },
        "pos": (TEMPLATE_MISTAKES, lambda length: TemplateGenerator(pos, length=length)),
        "supertag": (TEMPLATE_MISTAKES, lambda length: TemplateGenerator(supertags, length=length)),
        "cfg": (TEMPLATE_MISTAKES, lambda length: GrammarGenerator(pos, grammar, length=length)),
    }


def _some(sentences: Sequence[Words], n: int, rng: np.random.Generator) -> list[Words]:
    return [sentences[place] for place in rng.permutation(len(sentences))[:n]]


def _texts(sentences: Sequence[Words]) -> list[str]:
    return [detokenize(words) for words in sentences]


GLEU_LENGTHS = range(20, 29)
"""Around the paper's 24 words: a text of ordinary size has too few sentences of exactly 24 words."""
GLEU_SENTENCES = 1000
"""Sentences of each kind, as in the paper."""
GLEU_BLOCK_SENTENCES = 100


GLEU_HELD_OUT = 150
"""New sentences of each kind on which the model is tested, as in the paper."""
PAPER_LENGTHS = range(24, 25)


@dataclass(frozen=True)
class TrainedGleu:
    """A model, and how many of the held-out sentences it classifies correctly."""

    model: GleuModel
    right: int
    tested: int


@dataclass(frozen=True)
class Learned:
    """What a training made: the weights of the features, and for gleu-fluency the held-out sentences
    that it classifies correctly."""

    weights: dict[str, float]
    right: int = 0
    tested: int = 0


def train_gleu(
    real: Sequence[Words],
    source: Sequence[Words],
    parsers: GleuParsers | PaperGleuParsers,
    rng: np.random.Generator,
    *,
    n: int = GLEU_SENTENCES,
    lengths: range = GLEU_LENGTHS,
    threads: int = 1,
    on_progress: Callable[[int], None] = lambda _: None,
) -> TrainedGleu:
    """The model from n sentences of each kind, with equal numbers of each length; fewer than n
    where the text has fewer real sentences of these lengths. Up to 150 of each kind are held out."""
    fitting = [words for words in real if len(words) in lengths]
    if not fitting:
        raise InputError(
            f"The text has no sentence of {_span(lengths)} words to train gleu-fluency on."
        )
    held = min(GLEU_HELD_OUT, len(fitting) // 10)
    ranked = _some(fitting, len(fitting), rng)
    chosen, new = ranked[: min(n, len(fitting) - held)], ranked[len(fitting) - held :]
    corpus = TaggedCorpus.of(source)

    def features(sentences: Sequence[Words]) -> Floats:
        made = [
            words
            for length, count in sorted(Counter(map(len, sentences)).items())
            for words in SequenceGenerator(corpus, size=1, length=length).generate(count, rng)
        ]
        texts = _texts([*sentences, *made])
        rows = []
        for begin in range(0, len(texts), GLEU_BLOCK_SENTENCES):
            block = texts[begin : begin + GLEU_BLOCK_SENTENCES]
            rows.append(parsers.features(block, threads=threads))
            on_progress(len(block))
        return np.vstack(rows)

    rows = features(chosen)
    model = GleuModel.train(rows, np.arange(len(rows)) < len(chosen))
    if not new:
        return TrainedGleu(model, 0, 0)
    unseen = features(new)
    is_real = model.distances(model.normalized(unseen)) > 0
    right = int((is_real == (np.arange(len(unseen)) < len(new))).sum())
    return TrainedGleu(model, right, len(unseen))


def _span(lengths: range) -> str:
    first, last = lengths[0], lengths[-1]
    return str(first) if first == last else f"{first} to {last}"


def make_fluency(
    pools: Pools,
    path: Path,
    *,
    english: Path | None = None,
    seed: int,
    threads: int,
    on_progress: OnProgress,
) -> Learned:
    """Writes the model and returns the weights of its features. `english` is the folder with the models
    of English; None is for the shipped ones."""
    rng = np.random.default_rng(seed)
    parser = load_parser(ENGLISH_PARSER if english is None else str(english))
    graded = list(graded_texts(pools.real, pools.source, parser, rng, threads=threads))
    models = english_models(english)
    model = train_fluency(graded, models, threads=threads, on_progress=on_progress)
    weights = dict(zip(FLUENCY_FEATURES, model.sums.weights.round(4).tolist(), strict=True))
    card = {"sentences": {kind.name: len(kind.texts) for kind in graded}, "weights": weights}
    model.save(path, card)
    return Learned(weights)


def make_gleu(
    pools: Pools,
    path: Path,
    *,
    english: Path | None = None,
    seed: int,
    threads: int,
    on_progress: OnProgress,
) -> Learned:
    """The same for gleu-fluency. Needs the link grammar library."""
    rng = np.random.default_rng(seed)
    parsers = english_parsers(threads, english)
    trained = train_gleu(
        pools.real, pools.source, parsers, rng, threads=threads, on_progress=on_progress
    )
    return _saved(trained, path, parsers.grammar.version, GLEU_KIND)


def make_paper_gleu(
    pools: Pools,
    path: Path,
    *,
    treebank: Sequence[Tree] = (),
    seed: int,
    threads: int,
    on_progress: OnProgress,
) -> Learned:
    """The same with the features of the paper and its sentences of 24 words. Parsers are trained on a
    treebank and written into the folder of `path`; without a treebank they are the shipped ones."""
    if treebank:
        train_paper_parsers(treebank, path.parent, seed=seed)
    parsers = paper_parsers(threads, str(path.parent))
    trained = train_gleu(
        pools.real,
        pools.source,
        parsers,
        np.random.default_rng(seed),
        lengths=PAPER_LENGTHS,
        threads=threads,
        on_progress=on_progress,
    )
    return _saved(trained, path, parsers.grammar.version, PAPER_GLEU_KIND)


def _saved(trained: TrainedGleu, path: Path, version: str, kind: str) -> Learned:
    model = trained.model
    weights = dict(zip(GLEU_FEATURES, model.plane.weights.round(4).tolist(), strict=True))
    model.save(path, {"link grammar": version, "weights": weights}, kind=kind)
    return Learned(weights, trained.right, trained.tested)


def fluency_step(inputs: TrainingInputs, path: Path) -> dict[str, Any]:
    """The step for `fluency.wpm`."""
    return make_fluency(_pools(inputs), path, **_settings(inputs)).weights


def gleu_step(inputs: TrainingInputs, path: Path) -> dict[str, Any]:
    """The step for `gleu-fluency.wpm`."""
    return make_gleu(_pools(inputs), path, **_settings(inputs)).weights


def _settings(inputs: TrainingInputs) -> dict[str, Any]:
    return {
        "english": inputs.folder,
        "seed": inputs.seed,
        "threads": inputs.threads,
        "on_progress": inputs.on_progress,
    }


def _pools(inputs: TrainingInputs) -> Pools:
    real, source = inputs.paths("real"), inputs.paths("source")
    if not (real and source):
        raise InputError(
            "The models of fluency are trained on text that no other model has seen: give real= for "
            "sentences that stay as they are and source= for sentences to make worse, or train only "
            "other files (only=)."
        )
    return Pools(whole_sentences(real), whole_sentences(source))
