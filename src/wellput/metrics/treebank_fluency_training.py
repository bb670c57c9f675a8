"""Training `fluency` for any language, from a treebank and perhaps more text.

As for English, sentences are made worse on purpose, and the weights are fitted to the known number of
mistakes. These sentences are those of the trees kept apart: the parser and the n-gram models must not
know them. Each is also shuffled whole.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.core.tree import Tree
from wellput.language.degrade.corpus import TaggedCorpus
from wellput.language.degrade.errors import ErrorGenerator, MistakenWords
from wellput.language.models.fluency_model import FluencyModel
from wellput.language.models.treebank_fluency import (
    CLOSED_CLASSES,
    MIN_SMALL_WORD_COUNT,
    TREEBANK_FEATURES,
    TreebankFluencyModels,
)

Words = list[str]
MIN_SENTENCES = 20
MIN_WORDS, MAX_WORDS = 3, 60
MISTAKE_COUNTS = (1, 2, 3, 5)
SHUFFLED_MISTAKES = 5
"""The number of mistakes that a shuffled sentence counts as."""
FEATURE_FACTORS = {"spelling": 0.3, "capital": 0.3, "stop": 0.3}
"""As for English: unknown words are names more often, and habits of writing differ."""


@dataclass(frozen=True)
class WorseSentences:
    """Sentences with the same number of mistakes each; `0` are real ones."""

    name: str
    sentences: list[Words]
    mistakes: int


def mistaken_words(trees: Sequence[Tree]) -> MistakenWords:
    """The small words and letters of a language, and the other forms of its words."""
    small: Counter[str] = Counter()
    letters: set[str] = set()
    forms: dict[tuple[str, str], set[str]] = defaultdict(set)
    for tree in trees:
        for word in tree.words:
            letters.update(filter(str.isalpha, word.form.lower()))
            if word.upos in CLOSED_CLASSES - {"PUNCT"}:
                small[word.form.lower()] += 1
            elif word.lemma != "_":
                forms[word.lemma, word.upos].add(word.form)
    others = {
        form: sorted(own - {form}) for own in forms.values() if len(own) > 1 for form in sorted(own)
    }
    frequent = sorted(word for word, count in small.items() if count >= MIN_SMALL_WORD_COUNT)
    return MistakenWords(frequent, "".join(sorted(letters)) or "a", others)


def usable(trees: Sequence[Tree]) -> list[Words]:
    """The sentences of a length that people write."""
    words = [[word.form for word in tree.words] for tree in trees]
    return [own for own in words if MIN_WORDS <= len(own) <= MAX_WORDS]


def made_worse(
    sentences: Sequence[Words], language: MistakenWords, rng: np.random.Generator
) -> Iterator[WorseSentences]:
    """The sentences themselves, each number of mistakes, and all shuffled."""
    yield WorseSentences("real", list(sentences), 0)
    corpus = TaggedCorpus.of(sentences)
    for mistakes in MISTAKE_COUNTS:
        generator = ErrorGenerator(corpus, length=None, mistakes=mistakes, language=language)
        spoiled = generator.generate(len(sentences), rng)
        yield WorseSentences(f"errors-{mistakes}", spoiled, mistakes)
    yield WorseSentences("shuffled", [shuffled(own, rng) for own in sentences], SHUFFLED_MISTAKES)


def shuffled(words: Sequence[str], rng: np.random.Generator) -> Words:
    """The words in another order, as far as they differ."""
    found = list(words)
    while found == list(words) and len(set(words)) > 1:
        found = [words[place] for place in rng.permutation(len(words))]
    return found


def train_treebank_fluency(
    trees: Sequence[Tree],
    dev: Sequence[Tree],
    models: TreebankFluencyModels,
    rng: np.random.Generator,
    *,
    threads: int = 1,
) -> FluencyModel:
    """The weights; `dev` are trees that the models do not know."""
    sentences = usable(dev)
    if len(sentences) < MIN_SENTENCES:
        raise InputError(
            f"There are {len(sentences)} sentences of {MIN_WORDS} to {MAX_WORDS} words to fit fluency "
            f"to; at least {MIN_SENTENCES} are needed, and hundreds to be good: give more trees."
        )
    rows: list[Floats] = []
    severity: list[Floats] = []
    for kind in made_worse(sentences, mistaken_words(trees), rng):
        own = [words for words in kind.sentences if words]
        rows.append(models.features_of_words(own, threads=threads))
        severity.append(np.full(len(own), np.log1p(kind.mistakes)))
    known = np.concatenate(severity)
    return FluencyModel.train(
        np.vstack(rows),
        known,
        np.ones(len(known)),
        names=tuple(TREEBANK_FEATURES),
        factors=FEATURE_FACTORS,
    )
