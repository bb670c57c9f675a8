"""Classifiers for just the words that an evaluation set calls for, from a corpus of the user's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from wellput.core.errors import InputError
from wellput.core.evalset import EvalSource
from wellput.paraphrase.classifiers import ContextClassifiers, train_classifiers
from wellput.paraphrase.context_training import ContextTraining
from wellput.paraphrase.corpus_index import CorpusIndex
from wellput.paraphrase.methods import Choices, make_paraphraser


def learn_for(
    source: EvalSource,
    choices: Choices,
    index: CorpusIndex,
    *,
    seed: int,
    on_progress: Callable[[int], None] = lambda _: None,
) -> ContextClassifiers:
    """Reads the items once for what is proposed, then learns those words and the ones they replace."""
    proposer = make_paraphraser(replace(choices, filter="none", threshold=None, is_relative=False))
    words: set[str] = set()
    for block in source.blocks():
        _, substitutions = proposer.rewrite_items(block)
        words.update(s.replacement for s in substitutions)
        words.update(s.word for s in substitutions)
    how = ContextTraining()
    learned = train_classifiers(index, sorted(words), how, seed=seed, on_progress=on_progress)
    if words and not learned.words:
        raise InputError(
            f"The corpus is too small: none of the {len(words):,} words that are proposed here occurs "
            f"{how.min_occurrences} times in its {len(index):,} words."
        )
    return learned
