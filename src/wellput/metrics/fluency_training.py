"""Trains `fluency` and `gleu-fluency`: for `wellput train fluency`, and as steps of `wellput train
english`.

The training needs no judgments: sentences are made worse on purpose, so it is known how bad they are.
Text is divided into two parts without common sentences (`Pools`): sentences that stay real, and
sentences that are made worse. The models of English and the parser must not have been trained on
these texts, because to a model its own training text seems better than other text.

For `fluency`, k mistakes are put into a sentence, and the model is fitted to log(1 + k). In some
sentences k does not depend on the length; in others it grows with the length, like the errors of
people and programs. There are also sentences from generators, for example random sequences of words.
They count as sentences with two mistakes, or with one if they consist of sequences of four words from
real text. From them the model learns not to rely on features that a generator can imitate.

For `gleu-fluency`, real sentences are compared with random sequences of words, as in the paper
(Mutton et al. 2007).
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
from wellput.language.models.gleu_model import (
    GLEU_FEATURES,
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
"""The number of neighboring sentences that go into the same pool, because neighbors often have the
same names and phrases."""
HELD_OUT_EVERY = 5
"""One sentence in five is not used for training but kept for measuring."""


@dataclass(frozen=True)
class Pools:
    """Sentences as lists of words: those in `real` stay as they are, those in `source` are made
    worse."""

    real: list[list[str]]
    source: list[list[str]]


def split_text(
    paths: Sequence[Path], *, on_progress: Callable[[int], None] = lambda _: None
) -> Pools:
    """Both pools from one text: each gets about half of the text's passages. Only whole sentences of
    4 to 60 words are used, each once.

    The pool of a passage is chosen by a hash of its first sentence, so it does not depend on the
    passage's position.
    """
    pools = Pools([], [])
    used: set[str] = set()
    for path in paths:
        lines = [
            line
            for line in prose_sentences(path, on_progress)
            if is_whole_sentence(line.split(" "))
        ]
        for begin in range(0, len(lines), PASSAGE_SENTENCES):
            passage = lines[begin : begin + PASSAGE_SENTENCES]
            pool = pools.source if crc32(passage[0].encode(errors="replace")) % 2 else pools.real
            pool += [line.split(" ") for line in dict.fromkeys(passage) if line not in used]
            used.update(passage)
    return pools


def whole_sentences(
    paths: Sequence[Path],
    *,
    is_held_out: bool = False,
    on_progress: Callable[[int], None] = lambda _: None,
) -> list[list[str]]:
    """The sentences of text that is used for only one pool: four fifths of them, which are for
    training; or, if `is_held_out`, the other fifth, which is for measuring."""
    lines = (line for path in paths for line in prose_sentences(path, on_progress))
    return [
        words
        for line in dict.fromkeys(lines)
        if is_whole_sentence(words := line.split(" "))
        and (crc32(line.encode(errors="replace")) % HELD_OUT_EVERY == 0) is is_held_out
    ]


Words = Sequence[str]

SENTENCES_PER_KIND = 1500
"""The number of real sentences, and of sentences with each number of mistakes."""
MISTAKE_COUNTS = (1, 2, 3, 5)
"""The numbers of mistakes in sentences where they do not depend on the length."""
WORDS_PER_MISTAKE = (32, 16, 8, 4)
"""The numbers of words per mistake in sentences where the number of mistakes grows with the length."""
GENERATED_LENGTHS = (8, 12, 16, 24)
"""The lengths of generated sentences in words."""
SEQUENCE_MISTAKES = {1: 2, 2: 2, 4: 1}
"""For generated sentences that consist of sequences of 1, 2 or 4 words from real text: the number of
mistakes that such a sentence counts as."""
TEMPLATE_MISTAKES = 2
"""The number of mistakes that a sentence counts as if it was generated from a template or a grammar."""
GENERATOR_WEIGHT = 0.1
"""The total weight of the sentences of one generator. The sentences with one number of mistakes
together have the weight 1."""
MIN_WORDS, MAX_WORDS = 4, 60
"""The lengths, in words, of the sentences that are used."""
PARSED_SENTENCES = 5000
"""The number of source sentences that are parsed to get templates."""
MIN_SENTENCES = 200


@dataclass(frozen=True)
class GradedTexts:
    """Texts of one kind, with the number of mistakes of each text (or one number for all) and the total
    weight of the texts."""

    name: str
    texts: list[str]
    mistakes: int | Sequence[int]
    weight: float


def is_whole_sentence(words: Words) -> bool:
    """Whether the words of a corpus line are a whole sentence of suitable length."""
    is_whole = words[0][0].isupper() and words[-1] in (".", "?", "!")
    return is_whole and MIN_WORDS <= len(words) <= MAX_WORDS


def graded_texts(
    real: Sequence[Words],
    source: Sequence[Words],
    parser: Parser,
    rng: np.random.Generator,
    *,
    n: int = SENTENCES_PER_KIND,
    left_out: str | None = None,
    threads: int = 1,
) -> Iterator[GradedTexts]:
    """The training texts of each kind: `n` texts of each, and `n` of all generators together.
    Generators whose name begins with `left_out` are not used. The parser makes the templates for
    generators."""
    if len(real) < MIN_SENTENCES or len(source) < MIN_SENTENCES:
        raise InputError(
            f"There are {len(real):,} real sentences and {len(source):,} to make worse. Training "
            f"fluency needs at least {MIN_SENTENCES} of each, and thousands to be good: give more text."
        )
    corpus = TaggedCorpus.of(source)
    yield GradedTexts("real", _texts(_some(real, n, rng)), 0, 1.0)
    for mistakes in MISTAKE_COUNTS:
        spoiled = ErrorGenerator(corpus, length=None, mistakes=mistakes).generate(n, rng)
        yield GradedTexts(f"errors-{mistakes}", _texts(spoiled), mistakes, 1.0)
    for words_per_mistake in WORDS_PER_MISTAKE:
        generator = ErrorGenerator(corpus, length=None, words_per_mistake=words_per_mistake)
        counted = generator.generate_with_counts(n, rng)
        texts, counts = _texts([words for words, _ in counted]), [count for _, count in counted]
        yield GradedTexts(f"errors-every-{words_per_mistake}", texts, counts, 1.0)
    to_parse = _some(source, PARSED_SENTENCES, rng)
    parsed = CorpusSource(to_parse, parser.parse(to_parse, threads=threads), threads)
    generators = _generators(corpus, parsed)
    n_per_length = max(1, n // len(generators) // len(GENERATED_LENGTHS))
    for name, (mistakes, generator_of_length) in generators.items():
        if left_out is None or not name.startswith(left_out):
            generated = [
                words
                for length in GENERATED_LENGTHS
                for words in generator_of_length(length).generate(n_per_length, rng)
            ]
            yield GradedTexts(name, _texts(generated), mistakes, GENERATOR_WEIGHT)


def train_fluency(
    graded: Sequence[GradedTexts],
    models: FluencyModels,
    *,
    threads: int = 1,
    on_progress: Callable[[int], None] = lambda _: None,
) -> FluencyModel:
    """The model that predicts log(1 + mistakes) from the features of these texts."""
    rows, log_mistakes, weights = [], [], []
    for kind in graded:
        features = models.features(kind.texts, threads=threads)
        has_words = ~np.isnan(features[:, 0])  # a text without words has the features NaN
        features = features[has_words]
        rows.append(features)
        mistakes = np.broadcast_to(np.asarray(kind.mistakes), has_words.shape)
        log_mistakes.append(np.log1p(mistakes[has_words]))
        weights.append(np.full(len(features), kind.weight / len(features)))
        on_progress(len(features))
    return FluencyModel.train(
        np.vstack(rows), np.concatenate(log_mistakes), np.concatenate(weights)
    )


def _generators(
    corpus: TaggedCorpus, parsed: CorpusSource
) -> dict[str, tuple[int, Callable[[int], Degrader]]]:
    """The generators by name: the number of mistakes that their sentences count as, and a function
    from a length in words to the generator."""
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
    """At most n of the sentences, in random order."""
    return [sentences[place] for place in rng.permutation(len(sentences))[:n]]


def _texts(sentences: Sequence[Words]) -> list[str]:
    """The sentences as ordinary text, without spaces before punctuation."""
    return [detokenize(words) for words in sentences]


GLEU_LENGTHS = range(20, 29)
"""The lengths of sentences in words, around the paper's 24: a text of ordinary size has too few
sentences of exactly 24 words."""
GLEU_SENTENCES = 1000
"""The number of sentences of each kind (real and random), as in the paper."""
GLEU_BLOCK_SENTENCES = 100
"""The number of sentences in one call of the parsers, so that progress is shown."""
GLEU_HELD_OUT = 150
"""The number of other sentences of each kind with which the model is tested, as in the paper."""
PAPER_LENGTHS = range(24, 25)
"""The paper's only length: 24 words."""


@dataclass(frozen=True)
class TrainedGleu:
    """A model, the number of held-out sentences that it classifies correctly (`right`), and the
    number of all held-out sentences (`tested`)."""

    model: GleuModel
    right: int
    tested: int


@dataclass(frozen=True)
class TrainingResult:
    """The result of a training: the weights of the features; for gleu-fluency also the number of
    held-out sentences that the model classifies correctly (`right`), and of all held-out sentences
    (`tested`)."""

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
    """A model trained on n real sentences and n random sequences of words, with the same number of
    each length; fewer if the text has fewer real sentences of these lengths. Up to 150 sentences of
    each kind are held out."""
    candidates = [words for words in real if len(words) in lengths]
    if not candidates:
        raise InputError(
            f"The text has no sentence of {_lengths_in_words(lengths)} words to train gleu-fluency on."
        )
    n_held_out = min(GLEU_HELD_OUT, len(candidates) // 10)
    n_usable = len(candidates) - n_held_out
    in_random_order = _some(candidates, len(candidates), rng)
    chosen, held_out = in_random_order[: min(n, n_usable)], in_random_order[n_usable:]
    corpus = TaggedCorpus.of(source)

    def features(sentences: Sequence[Words]) -> Floats:
        """The features of real sentences, then of as many random sequences of the same lengths."""
        random_sequences = [
            words
            for length, count in sorted(Counter(map(len, sentences)).items())
            for words in SequenceGenerator(corpus, size=1, length=length).generate(count, rng)
        ]
        texts = _texts([*sentences, *random_sequences])
        rows = []
        for begin in range(0, len(texts), GLEU_BLOCK_SENTENCES):
            block = texts[begin : begin + GLEU_BLOCK_SENTENCES]
            rows.append(parsers.features(block, threads=threads))
            on_progress(len(block))
        return np.vstack(rows)

    rows = features(chosen)
    model = GleuModel.train(rows, np.arange(len(rows)) < len(chosen))
    if not held_out:
        return TrainedGleu(model, 0, 0)
    test_rows = features(held_out)
    is_real = model.distances(model.normalized(test_rows)) > 0
    right = int((is_real == (np.arange(len(test_rows)) < len(held_out))).sum())
    return TrainedGleu(model, right, len(test_rows))


def _lengths_in_words(lengths: range) -> str:
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
) -> TrainingResult:
    """Trains `fluency`, writes the model to `path` and returns the weights of its features. `english`
    is the folder with the models of English; None stands for the shipped ones."""
    rng = np.random.default_rng(seed)
    parser = load_parser(ENGLISH_PARSER if english is None else str(english))
    graded = list(graded_texts(pools.real, pools.source, parser, rng, threads=threads))
    models = english_models(english)
    model = train_fluency(graded, models, threads=threads, on_progress=on_progress)
    weights = dict(zip(FLUENCY_FEATURES, model.linear_model.weights.round(4).tolist(), strict=True))
    card = {"sentences": {kind.name: len(kind.texts) for kind in graded}, "weights": weights}
    model.save(path, card)
    return TrainingResult(weights)


def make_gleu(
    pools: Pools,
    path: Path,
    *,
    english: Path | None = None,
    seed: int,
    threads: int,
    on_progress: OnProgress,
) -> TrainingResult:
    """Trains `gleu-fluency` and writes the model to `path`, as `make_fluency` does. Needs the library
    link grammar."""
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
) -> TrainingResult:
    """Trains `gleu-fluency` with the features of the paper and its sentences of 24 words, and writes
    the model to `path`. The parsers are trained on a treebank and written into the folder of `path`;
    without a treebank, the shipped parsers are used."""
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


def _saved(trained: TrainedGleu, path: Path, version: str, kind: str) -> TrainingResult:
    """Writes the model of gleu-fluency; `version` is that of link grammar."""
    model = trained.model
    weights = dict(zip(GLEU_FEATURES, model.plane.weights.round(4).tolist(), strict=True))
    model.save(path, {"link grammar": version, "weights": weights}, kind=kind)
    return TrainingResult(weights, trained.right, trained.tested)


def fluency_step(inputs: TrainingInputs, path: Path) -> dict[str, Any]:
    """The step of `wellput train english` that writes `fluency.wpm`; returns the weights."""
    return make_fluency(_pools(inputs), path, **_settings(inputs)).weights


def gleu_step(inputs: TrainingInputs, path: Path) -> dict[str, Any]:
    """The step of `wellput train english` that writes `gleu-fluency.wpm`; returns the weights."""
    return make_gleu(_pools(inputs), path, **_settings(inputs)).weights


def _settings(inputs: TrainingInputs) -> dict[str, Any]:
    """The arguments of `make_fluency` and `make_gleu` that a step of the training has."""
    return {
        "english": inputs.folder,
        "seed": inputs.seed,
        "threads": inputs.threads,
        "on_progress": inputs.on_progress,
    }


def _pools(inputs: TrainingInputs) -> Pools:
    """The pools of a step, whose texts are given as `real` and `source`."""
    real, source = inputs.paths("real"), inputs.paths("source")
    if not (real and source):
        raise InputError(
            "The models of fluency are trained on text that no other model has seen: give real= for "
            "sentences that stay as they are and source= for sentences to make worse, or train only "
            "other files (only=)."
        )
    return Pools(whole_sentences(real), whole_sentences(source))
