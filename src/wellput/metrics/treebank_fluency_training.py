"""Trains the metric `fluency` for any language, from a treebank and perhaps more text.

As for English (`fluency_training`), mistakes are put into sentences on purpose, and the weights of
the features are fitted so that they predict the known number of mistakes. The sentences are those of
trees that were kept apart, because the parser and the n-gram models must not have seen them. Each
sentence is also used with all its words shuffled.
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
    MIN_FUNCTION_WORD_COUNT,
    TREEBANK_FEATURES,
    TreebankFluencyModels,
)

Words = list[str]
MIN_SENTENCES = 20
"""The smallest number of sentences to fit the weights to."""
MIN_WORDS, MAX_WORDS = 3, 60
"""The lengths, in words, of the sentences that are used."""
MISTAKE_COUNTS = (1, 2, 3, 5)
"""The numbers of mistakes that are put into the sentences."""
SHUFFLED_MISTAKES = 5
"""The number of mistakes that a shuffled sentence counts as."""
FEATURE_FACTORS = {"spelling": 0.3, "capital": 0.3, "stop": 0.3}
"""Factors by which the fitted weights of these features are multiplied, as for English. The
mistakes in the training sentences are often misspelled words or missing capitals. In real outputs,
unknown words are more often names, and there are different habits of writing."""


@dataclass(frozen=True)
class WorseSentences:
    """Sentences that all have the same number of mistakes; real sentences have 0."""

    name: str
    sentences: list[Words]
    mistakes: int


def mistaken_words(trees: Sequence[Tree]) -> MistakenWords:
    """What `ErrorGenerator` must know of a language to make mistakes: its small (function) words, its
    letters, and for each word the other forms of the same lemma."""
    function_words: Counter[str] = Counter()
    letters: set[str] = set()
    forms: dict[tuple[str, str], set[str]] = defaultdict(set)
    for tree in trees:
        for word in tree.words:
            letters.update(filter(str.isalpha, word.form.lower()))
            if word.upos in CLOSED_CLASSES - {"PUNCT"}:
                function_words[word.form.lower()] += 1
            elif word.lemma != "_":
                forms[word.lemma, word.upos].add(word.form)
    other_forms = {
        form: sorted(lemma_forms - {form})
        for lemma_forms in forms.values()
        if len(lemma_forms) > 1
        for form in sorted(lemma_forms)
    }
    frequent_function_words = sorted(
        word for word, count in function_words.items() if count >= MIN_FUNCTION_WORD_COUNT
    )
    # At least one letter, because misspelled words need some.
    return MistakenWords(frequent_function_words, "".join(sorted(letters)) or "a", other_forms)


def usable_sentences(trees: Sequence[Tree]) -> list[Words]:
    """The trees' sentences, as lists of words, that are neither very short nor very long."""
    sentences = [[word.form for word in tree.words] for tree in trees]
    return [words for words in sentences if MIN_WORDS <= len(words) <= MAX_WORDS]


def made_worse(
    sentences: Sequence[Words], language: MistakenWords, rng: np.random.Generator
) -> Iterator[WorseSentences]:
    """The sentences without mistakes, then with each number of mistakes, then shuffled."""
    yield WorseSentences("real", list(sentences), 0)
    corpus = TaggedCorpus.of(sentences)
    for mistakes in MISTAKE_COUNTS:
        generator = ErrorGenerator(corpus, length=None, mistakes=mistakes, language=language)
        spoiled = generator.generate(len(sentences), rng)
        yield WorseSentences(f"errors-{mistakes}", spoiled, mistakes)
    yield WorseSentences(
        "shuffled", [shuffled(words, rng) for words in sentences], SHUFFLED_MISTAKES
    )


def shuffled(words: Sequence[str], rng: np.random.Generator) -> Words:
    """The words in another random order, which differs from the given one if not all words are
    equal."""
    order = list(words)
    while order == list(words) and len(set(words)) > 1:
        order = [words[place] for place in rng.permutation(len(words))]
    return order


def train_treebank_fluency(
    trees: Sequence[Tree],
    dev: Sequence[Tree],
    models: TreebankFluencyModels,
    rng: np.random.Generator,
    *,
    threads: int = 1,
) -> FluencyModel:
    """The trained model. `trees` are the trees with which `models` were trained, `dev` trees that the
    models have not seen."""
    sentences = usable_sentences(dev)
    if len(sentences) < MIN_SENTENCES:
        raise InputError(
            f"There are {len(sentences)} sentences of {MIN_WORDS} to {MAX_WORDS} words to fit fluency "
            f"to; at least {MIN_SENTENCES} are needed, and hundreds to be good: give more trees."
        )
    rows: list[Floats] = []
    log_mistakes: list[Floats] = []
    for worse in made_worse(sentences, mistaken_words(trees), rng):
        not_empty = [words for words in worse.sentences if words]
        rows.append(models.features_of_words(not_empty, threads=threads))
        log_mistakes.append(np.full(len(not_empty), np.log1p(worse.mistakes)))
    targets = np.concatenate(log_mistakes)
    return FluencyModel.train(
        np.vstack(rows),
        targets,
        np.ones(len(targets)),
        names=tuple(TREEBANK_FEATURES),
        factors=FEATURE_FACTORS,
    )
