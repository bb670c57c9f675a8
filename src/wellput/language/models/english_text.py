"""Text for models of English: sentences as words joined by spaces, tokenized like the treebanks.

A sentence's first word is put in lower case unless it is also capitalized elsewhere: its capital would
tell models of word order which word comes first. `SentenceFeatures` scores texts of several sentences
by models that score one sentence at a time.
"""

from __future__ import annotations

import math
import re
import tarfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.core.work import OnProgress, ignore_progress
from wellput.io.files import InputFile, check_readable
from wellput.io.trees import read_trees
from wellput.language.models.ngrams import NgramModel
from wellput.text.english import Words, sentences, treebank_words
from wellput.text.english import sentences as english_sentences

EMPHASIS = re.compile(r"\b_|_\b")  # _so_ in plain-text books


def treebank_sentences(path: Path, on_progress: OnProgress = ignore_progress) -> list[str]:
    """The words of a treebank's sentences (CoNLL-U)."""
    found: list[str] = []
    for tree in read_trees(path):
        found.append(" ".join(word.form.replace(" ", "") for word in tree.words))
        on_progress(1)
    return found


def prose_sentences(path: Path, on_progress: OnProgress = ignore_progress) -> list[str]:
    """The sentences of a text: a file (also .gz, .xz), a folder or a tar archive of .txt files."""
    found: list[str] = []
    for text in _texts(path):
        for sentence in sentences(EMPHASIS.sub("", text)):
            if words := treebank_words(sentence).forms:
                found.append(" ".join(words))
                on_progress(1)
    if not found:
        raise InputError(
            f"{path} holds no text. Pass a text file, or a folder or tar archive of .txt files."
        )
    return found


def _texts(path: Path) -> Iterator[str]:
    """Always in the same order."""
    if path.is_dir():
        for name in sorted(path.rglob("*.txt")):
            yield _decoded(name.read_bytes())
    elif ".tar" in path.suffixes:
        check_readable(InputFile(path))
        with tarfile.open(path) as archive:
            for member in sorted(archive.getmembers(), key=lambda member: member.name):
                if member.name.endswith(".txt") and (file := archive.extractfile(member)):
                    yield _decoded(file.read())
    else:
        yield _decoded(b"".join(InputFile(path).chunks()))


def _decoded(data: bytes) -> str:
    """Old books are often in Latin-1."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


class Casing:
    """The case of words inside sentences, which decides that of first words."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._inside = Counter(word for text in texts for word in text.split(" ")[1:])

    def decapitalized(self, text: str) -> str:
        """The sentence, its first word in lower case if it mostly is so inside sentences."""
        first, space, rest = text.partition(" ")
        small = _small(first)
        return small + space + rest if self._inside[small] > self._inside[first] else text


def decapitalized(texts: Sequence[str], model: NgramModel) -> list[str]:
    """Sentences with their first words in the case that a model of such text finds likelier."""
    split = [text.partition(" ") for text in texts]
    smaller = [_small(first) for first, _, _ in split]
    as_is = _first_scores(model, [first for first, _, _ in split])
    small = _first_scores(model, smaller)
    return [
        lower + space + rest if b > a else text
        for text, lower, (_, space, rest), a, b in zip(
            texts, smaller, split, as_is, small, strict=True
        )
    ]


def _small(word: str) -> str:
    """The word without a capital at its beginning; a word in capitals stays as it is."""
    small = word.lower()
    return small if word[1:] == small[1:] else word


def _first_scores(model: NgramModel, words: Sequence[str]) -> list[float]:
    known: dict[str, float] = {}
    for word in words:
        if word not in known:
            score = model.word_scores(word)[0]
            known[word] = -math.inf if score.is_unknown else score.log_prob
    return [known[word] for word in words]


FeaturesOf: TypeAlias = Callable[[list[str], list[tuple[str, ...]]], Floats]
"""Gets each distinct sentence once, as text and as words, and returns a row of features for each."""


@dataclass(frozen=True, eq=False)
class SentenceFeatures:
    """The distinct `sentences` of texts with a row of features each; `places` has, for each text, the
    rows of its sentences in order."""

    sentences: Sequence[str]
    rows: Floats
    places: Sequence[Sequence[int]]

    @classmethod
    def of(
        cls,
        texts: Sequence[str],
        n_features: int,
        features_of: FeaturesOf,
        *,
        sentences_of: Callable[[str], Iterable[str]] = english_sentences,
        words_of: Callable[[str], Words] = treebank_words,
    ) -> SentenceFeatures:
        """Sentences and words are split as in English, unless other ways are given."""
        split = [list(sentences_of(text)) for text in texts]
        words = {s: forms for own in split for s in own if (forms := words_of(s).forms)}
        rows = (
            features_of(list(words), list(words.values())) if words else np.empty((0, n_features))
        )
        numbers = {sentence: number for number, sentence in enumerate(words)}
        places = [[numbers[sentence] for sentence in own if sentence in numbers] for own in split]
        return cls(list(words), rows, places)

    def means(self) -> Floats:
        """(texts, features): the mean over a text's sentences; NaN for one without words."""
        means = np.full((len(self.places), self.rows.shape[1]), np.nan)
        for text, own in enumerate(self.places):
            if own:
                means[text] = self.rows[own].mean(axis=0)
        return means

    def joined(self, scores: Floats) -> Floats:
        """The score of each text from the scores of the rows: halfway between the mean of its sentences
        and the worst of them, so that one bad sentence shows. NaN for a text without words."""
        return np.array(
            [(scores[own].mean() + scores[own].min()) / 2 if own else np.nan for own in self.places]
        )

    def worst(self, scores: Floats) -> list[int | None]:
        """For each text, the place of its worst sentence among its own; None if it has none."""
        return [int(np.argmin(scores[own])) if own else None for own in self.places]


def sentence_means(texts: Sequence[str], n_features: int, features_of: FeaturesOf) -> Floats:
    """(texts, features): the mean over a text's sentences; NaN for one without words."""
    return SentenceFeatures.of(texts, n_features, features_of).means()
