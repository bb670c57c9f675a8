"""Classifiers for just the words that an evaluation set calls for, from a corpus of the user's, kept in
a file for the next time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from pathlib import Path

from wellput.core.errors import InputError
from wellput.core.source import EvalSource
from wellput.io.files import PathLike
from wellput.io.model_files import load_model_file, noticing_damage, packed_strings, save_model_file
from wellput.language.paraphrase.classifiers import ContextClassifiers, pack, train_classifiers
from wellput.language.paraphrase.context_training import ContextTraining
from wellput.language.paraphrase.corpus_index import CorpusIndex
from wellput.language.paraphrase.methods import Choices, make_paraphraser

KIND = "classifiers"


def learn_for(
    source: EvalSource,
    choices: Choices,
    index: CorpusIndex,
    *,
    seed: int,
    cache: PathLike | None = None,
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
    learned = learn(index, words, how, seed=seed, cache=cache, on_progress=on_progress)
    if words and not learned.words:
        raise InputError(
            f"The corpus is too small: none of the {len(words):,} words that are proposed here occurs "
            f"{how.min_occurrences} times in its {len(index):,} words."
        )
    return learned


def learn(
    index: CorpusIndex,
    words: Iterable[str],
    how: ContextTraining,
    *,
    seed: int,
    cache: PathLike | None = None,
    on_progress: Callable[[int], None] = lambda _: None,
) -> ContextClassifiers:
    """The words' classifiers. Those in the file `cache` that were learned from the same index in the
    same way are taken from it, and the others are added to it."""
    made_from = {"index": index.fingerprint, "seed": seed, **asdict(how)}
    known = pack({}, how) if cache is None else _read(cache, made_from, how)
    missing = sorted(set(words) - set(known.words))
    new = train_classifiers(index, missing, how, seed=seed, on_progress=on_progress)
    if not new.words:
        return known
    models = {word: known.model_of(word) for word in known.words}
    models |= {word: new.model_of(word) for word in new.words}
    learned = pack(models, how)
    if cache is not None:
        words_too = packed_strings("words", learned.words)
        save_model_file(cache, KIND, made_from, {**learned.arrays(), **words_too})
    return learned


def _read(path: PathLike, made_from: dict[str, object], how: ContextTraining) -> ContextClassifiers:
    if not Path(path).exists():
        return pack({}, how)
    file = load_model_file(path, KIND)
    if dict(file.card) != made_from:
        return pack({}, how)
    with noticing_damage(path, "file of classifiers"):
        return ContextClassifiers.of_arrays(file.strings("words"), file.arrays)
