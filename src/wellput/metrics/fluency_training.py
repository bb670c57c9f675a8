"""Training `fluency`: sentences whose quality is known by construction, in no way from judgments.

A real sentence with k mistakes put in is the worse the larger k: its severity is log(1 + k). In some
sentences k is the same however long they are, in others it grows with their length, as where people or
programs err now and then; of these a long one has more wrong in it than a short one. Sentences that a
generator put together count as having two, or one for sequences of four words; they keep
the weights from trusting what a generator can imitate. Real sentences and those that the others are
made from must be disjoint, and none may be among the texts that the models of English were trained
on: otherwise a model recognizes what it was made from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from wellput.core.errors import InputError
from wellput.language.degrade.corpus import Corpus
from wellput.language.degrade.errors import ErrorGenerator
from wellput.language.degrade.generate import Degrader, GrammarGenerator, TemplateGenerator
from wellput.language.degrade.sequences import SequenceGenerator
from wellput.language.degrade.sources import Source
from wellput.language.fluency_features import FluencyModels
from wellput.language.fluency_model import FluencyModel
from wellput.language.parsers import Parser
from wellput.text.detokenizer import detokenize

Words = Sequence[str]

SENTENCES = 1500
"""Real ones, and as many for each number of mistakes."""
MISTAKES = (1, 2, 3, 5)
WORDS_A_MISTAKE = (32, 16, 8, 4)
"""Where mistakes grow with length: the words for one more."""
LENGTHS = (8, 12, 16, 24)
SIZES = {1: 2, 2: 2, 4: 1}
"""Words in a sequence, and the mistakes that a sentence put together of them counts as."""
TEMPLATE_MISTAKES = 2
GENERATED = 0.1
"""What the sentences of one generator weigh, where those of one number of mistakes weigh 1."""
SHORTEST, LONGEST = 4, 60
PARSED = 5000
"""Sentences of the source that are parsed, for templates."""
LEAST = 200


@dataclass(frozen=True)
class Graded:
    """Texts of one kind, how many mistakes each counts as (or all do), and what they weigh together."""

    name: str
    texts: list[str]
    mistakes: int | Sequence[int]
    weight: float


def fits(words: Words) -> bool:
    """Whether a line of a corpus is a whole sentence, and neither very short nor very long."""
    whole = words[0][0].isupper() and words[-1] in (".", "?", "!")
    return whole and SHORTEST <= len(words) <= LONGEST


def graded_texts(
    real: Sequence[Words],
    source: Sequence[Words],
    parser: Parser,
    rng: np.random.Generator,
    *,
    n: int = SENTENCES,
    left_out: str | None = None,
    threads: int = 1,
) -> Iterator[Graded]:
    """All that the model is trained on; `left_out` is a generator to do without. The parser is for
    the templates of generators."""
    if len(real) < LEAST or len(source) < LEAST:
        raise InputError(
            f"There are {len(real):,} real sentences and {len(source):,} to spoil; training fluency "
            f"takes {LEAST} of each at least, and thousands to be good: give more text."
        )
    corpus = Corpus.of(source)
    yield Graded("real", _texts(_some(real, n, rng)), 0, 1.0)
    for mistakes in MISTAKES:
        spoiled = ErrorGenerator(corpus, length=None, mistakes=mistakes).generate(n, rng)
        yield Graded(f"errors-{mistakes}", _texts(spoiled), mistakes, 1.0)
    for words in WORDS_A_MISTAKE:
        counted = ErrorGenerator(corpus, length=None, words_a_mistake=words).spoiled(n, rng)
        texts = _texts([spoiled for spoiled, _ in counted])
        yield Graded(f"errors-every-{words}", texts, [mistakes for _, mistakes in counted], 1.0)
    some = _some(source, PARSED, rng)
    parsed = Source(some, parser.parse(some, threads=threads), threads)
    for name, (mistakes, maker) in _generators(corpus, parsed).items():
        if left_out is None or not name.startswith(left_out):
            each = max(1, n // 6 // len(LENGTHS))
            made = [words for length in LENGTHS for words in maker(length).generate(each, rng)]
            yield Graded(name, _texts(made), mistakes, GENERATED)


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


def _generators(corpus: Corpus, parsed: Source) -> dict[str, tuple[int, Callable[[int], Degrader]]]:
    """By name: the mistakes its sentences count as, and the generator for a length."""
    pos, supertags, grammar = parsed.corpus("pos"), parsed.corpus("supertag"), parsed.grammar()

    def sequences(size: int) -> Callable[[int], Degrader]:
        return lambda length: SequenceGenerator(corpus, size=size, length=length)

    return {
        **{f"sequence-{size}": (mistakes, sequences(size)) for size, mistakes in SIZES.items()},
        "pos": (TEMPLATE_MISTAKES, lambda length: TemplateGenerator(pos, length=length)),
        "supertag": (TEMPLATE_MISTAKES, lambda length: TemplateGenerator(supertags, length=length)),
        "cfg": (TEMPLATE_MISTAKES, lambda length: GrammarGenerator(pos, grammar, length=length)),
    }


def _some(sentences: Sequence[Words], n: int, rng: np.random.Generator) -> list[Words]:
    return [sentences[place] for place in rng.permutation(len(sentences))[:n]]


def _texts(sentences: Sequence[Words]) -> list[str]:
    return [detokenize(words) for words in sentences]
