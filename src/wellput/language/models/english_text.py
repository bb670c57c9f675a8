"""Text for models of English: sentences as words joined by spaces, tokenized like the treebanks.

A sentence's first word is put in lower case unless it usually has a capital inside sentences too: the
capital would tell models of word order which word comes first. `SentenceFeatures` is for texts of
several sentences and models that score one sentence at a time.
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
from wellput.text.english import sentences as english_sentences  # where `sentences` is a field

EMPHASIS = re.compile(r"\b_|_\b")  # _so_ in plain-text books


def treebank_sentences(path: Path, on_progress: OnProgress = ignore_progress) -> list[str]:
    """The sentences of a treebank (CoNLL-U), with spaces between their words."""
    lines: list[str] = []
    for tree in read_trees(path):
        lines.append(" ".join(word.form.replace(" ", "") for word in tree.words))
        on_progress(1)
    return lines


def prose_sentences(path: Path, on_progress: OnProgress = ignore_progress) -> list[str]:
    """The sentences of a text, with spaces between their words. The text is a file (also .gz, .xz), or
    a folder or tar archive of .txt files."""
    lines: list[str] = []
    for text in _texts(path):
        for sentence in sentences(EMPHASIS.sub("", text)):
            if words := treebank_words(sentence).forms:
                lines.append(" ".join(words))
                on_progress(1)
    if not lines:
        raise InputError(
            f"{path} holds no text. Pass a text file, or a folder or tar archive of .txt files."
        )
    return lines


def _texts(path: Path) -> Iterator[str]:
    """The texts of the file, folder or archive, always in the same order."""
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
    """The text in UTF-8, or else in Latin-1, which is frequent in old books."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


class Casing:
    """Counts the words inside sentences, to put the first words of sentences in their usual case."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._inside = Counter(word for text in texts for word in text.split(" ")[1:])

    def decapitalized(self, text: str) -> str:
        """The sentence, its first word in lower case if that is more frequent inside sentences."""
        first, space, other_words = text.partition(" ")
        lower = _without_capital(first)
        is_usually_lower = self._inside[lower] > self._inside[first]
        return lower + space + other_words if is_usually_lower else text


def decapitalized(texts: Sequence[str], model: NgramModel) -> list[str]:
    """Sentences whose first words are in lower case if an n-gram model, trained on decapitalized
    sentences, finds the lower-case word more probable at the beginning."""
    split = [text.partition(" ") for text in texts]
    lower_words = [_without_capital(first) for first, _, _ in split]
    written_scores = _first_scores(model, [first for first, _, _ in split])
    lower_scores = _first_scores(model, lower_words)
    return [
        lower + space + other_words if lower_score > written_score else text
        for text, lower, (_, space, other_words), written_score, lower_score in zip(
            texts, lower_words, split, written_scores, lower_scores, strict=True
        )
    ]


def _without_capital(word: str) -> str:
    """The word without a capital at its beginning; a word in capitals stays as it is."""
    lower = word.lower()
    return lower if word[1:] == lower[1:] else word


def _first_scores(model: NgramModel, words: Sequence[str]) -> list[float]:
    """The log probability of each word at the beginning of a sentence; -inf for unknown words."""
    scores: dict[str, float] = {}
    for word in words:
        if word not in scores:
            score = model.word_scores(word)[0]
            scores[word] = -math.inf if score.is_unknown else score.log_prob
    return [scores[word] for word in words]


FeaturesOf: TypeAlias = Callable[[list[str], list[tuple[str, ...]]], Floats]
"""A function that gets each distinct sentence once, as text and as words, and returns a row of
features for each."""


@dataclass(frozen=True, eq=False)
class SentenceFeatures:
    """The distinct `sentences` of texts with a row of features each. `places` has, for each text, the
    numbers of the rows of its sentences, in order."""

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
        """The features of the sentences of texts. Texts are split into sentences by `sentences_of`, and
        sentences into words by `words_of`, which are for English by default."""
        split = [list(sentences_of(text)) for text in texts]
        words = {
            sentence: forms
            for text_sentences in split
            for sentence in text_sentences
            if (forms := words_of(sentence).forms)
        }
        rows = (
            features_of(list(words), list(words.values())) if words else np.empty((0, n_features))
        )
        numbers = {sentence: number for number, sentence in enumerate(words)}
        places = [
            [numbers[sentence] for sentence in text_sentences if sentence in numbers]
            for text_sentences in split
        ]
        return cls(list(words), rows, places)

    def means(self) -> Floats:
        """Texts by features: the mean over each text's sentences; NaN for a text without words."""
        means = np.full((len(self.places), self.rows.shape[1]), np.nan)
        for text, rows in enumerate(self.places):
            if rows:
                means[text] = self.rows[rows].mean(axis=0)
        return means

    def scores_of_texts(self, scores: Floats) -> Floats:
        """The score of each text, from a score for each row: halfway between the mean of the text's
        sentences and the worst of them, so that one bad sentence counts. NaN for a text without
        words."""
        return np.array(
            [
                (scores[rows].mean() + scores[rows].min()) / 2 if rows else np.nan
                for rows in self.places
            ]
        )

    def worst(self, scores: Floats) -> list[int | None]:
        """For each text, the place (from 0) of its worst sentence among the text's sentences; None if
        it has no sentence."""
        return [int(np.argmin(scores[rows])) if rows else None for rows in self.places]


def sentence_means(texts: Sequence[str], n_features: int, features_of: FeaturesOf) -> Floats:
    """Texts by features: the mean over each text's sentences; NaN for a text without words."""
    return SentenceFeatures.of(texts, n_features, features_of).means()
