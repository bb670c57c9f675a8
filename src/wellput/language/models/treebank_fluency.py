"""`TreebankFluencyModels`: features of fluency for any language with a treebank.

As for English (`fluency_model.py`), a higher value is better for all features, and a *gain* is the
log10 probability of a token after the tokens before it, minus its log10 probability without context.
Gains come from three n-gram models: of words in lower case; of skeletons, in which all words but
frequent function words are replaced by their parts of speech; and of *treelets*. A treelet is a head
of the parsed tree with the words that depend on it, in order: the head's part of speech, then the
relations of these words, with `*` in the place of the head.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np

from wellput.core.metric import Floats
from wellput.core.tree import Tree
from wellput.language.models.english_text import SentenceFeatures
from wellput.language.models.fluency_model import (
    SEQUENCE_FEATURES,
    fewness,
    gains_in,
    is_repeated,
    sequence_features,
    worst_run,
)
from wellput.language.models.learned_tokenizer import LearnedTokenizer
from wellput.language.models.ngram_files import load_model, save_model
from wellput.language.models.ngram_training import train as train_ngrams
from wellput.language.models.ngrams import NgramModel, unigrams
from wellput.language.models.parsers import TaggingParser
from wellput.language.shipped import SKELETONS_FILE, TOKENIZER_FILE, model_file

FLUENCY_WORDS_FILE = "fluency-words.wlm"
TREELETS_FILE = "treelets.wlm"
TREEBANK_FEATURES: dict[str, str] = {
    **SEQUENCE_FEATURES,
    "structure": "how much likelier the parser's relations are together than alone, on average",
    "weakest_structure": "how well the worst three relations in a row go together",
    "misfits": "relations that do not go together: −log(1 + how badly)",
    "spelling": "unknown words: −log(1 + their number)",
    "repeats": "words said twice in a row: −log(1 + their number)",
    "capital": "1 if it begins as a sentence does, not with a small letter",
    "stop": "1 if it ends with a mark",
}
# The lengths of the longest n-grams of the three models.
WORD_ORDER, SKELETON_ORDER, TREELET_ORDER = 3, 4, 4
# How often a function word must occur to be kept in skeletons.
MIN_FUNCTION_WORD_COUNT = 10
CLOSED_CLASSES = frozenset(["ADP", "AUX", "CCONJ", "DET", "PART", "PRON", "SCONJ", "PUNCT"])
HEAD_ITSELF = "*"
"""In a treelet, the place of the head."""
SPACE_INSIDE = "_"
"""Stands for a space inside a word."""


@dataclass(frozen=True, eq=False)
class TreebankFluencyModels:
    """The models of a language that features come from: the tokenizer and the parser, and the n-gram
    models of words, of skeletons and of treelets."""

    tokenizer: LearnedTokenizer
    parser: TaggingParser
    words: NgramModel
    skeletons: NgramModel
    treelets: NgramModel

    @classmethod
    def train(
        cls,
        trees: Sequence[Tree],
        tokenizer: LearnedTokenizer,
        parser: TaggingParser,
        *,
        text: Sequence[Sequence[str]] = (),
        threads: int = 1,
    ) -> TreebankFluencyModels:
        """The models of a treebank, whose `trees` must have the parser's tags in the column XPOS
        (`treebanks.with_tags`). `text` has more sentences, as lists of words, for the model of
        words."""
        forms = [[word.form for word in tree.words] for tree in trees]
        counts = Counter(
            word.form.lower()
            for tree in trees
            for word in tree.words
            if word.upos in CLOSED_CLASSES
        )
        function_words = {
            word for word, count in counts.items() if count >= MIN_FUNCTION_WORD_COUNT
        }
        skeletons = [
            treebank_skeleton(words, [word.xpos for word in tree.words], function_words)
            for words, tree in zip(forms, trees, strict=True)
        ]

        def ngrams(lines: Sequence[str], order: int) -> NgramModel:
            return train_ngrams([lines], order=order, threads=threads).model

        return cls(
            tokenizer,
            parser,
            ngrams(list(map(lowered_line, [*forms, *text])), WORD_ORDER),
            ngrams(skeletons, SKELETON_ORDER),
            ngrams([line for tree in trees for line in treelet_lines(tree)], TREELET_ORDER),
        )

    def save(self, folder: Path) -> None:
        """Writes the three n-gram models into a folder; tokenizer and parser are saved separately."""
        save_model(self.words, folder / FLUENCY_WORDS_FILE)
        save_model(self.skeletons, folder / SKELETONS_FILE)
        save_model(self.treelets, folder / TREELETS_FILE)

    @classmethod
    def load(cls, folder: Path) -> TreebankFluencyModels:
        return cls(
            LearnedTokenizer.load(model_file(TOKENIZER_FILE, folder)),
            TaggingParser.load(folder),
            load_model(model_file(FLUENCY_WORDS_FILE, folder)),
            load_model(model_file(SKELETONS_FILE, folder)),
            load_model(model_file(TREELETS_FILE, folder)),
        )

    @property
    def fingerprint(self) -> str:
        parts = (self.tokenizer, self.words, self.skeletons, self.treelets)
        return " ".join([self.parser.signature, *(part.fingerprint for part in parts)])

    def sentence_features(self, texts: Sequence[str], *, threads: int = 1) -> SentenceFeatures:
        """The features of every sentence, in the order of `TREEBANK_FEATURES`."""
        return SentenceFeatures.of(
            texts,
            len(TREEBANK_FEATURES),
            lambda _, words: self.features_of_words(words, threads=threads),
            sentences_of=self.tokenizer.sentences,
            words_of=self.tokenizer.words,
        )

    def features_of_words(self, sentences: Sequence[Sequence[str]], *, threads: int = 1) -> Floats:
        """A row of features for each sentence, which must have at least one word."""
        tags = self.parser.tagger.tag(sentences, threads=threads)
        trees = self.parser.parse(sentences, threads=threads)
        return np.array(
            [
                (
                    *sequence_features(self._word_gains(words)),
                    *sequence_features(self._skeleton_gains(words, word_tags)),
                    *sequence_features(self._treelet_gains(tree, word_tags)),
                    fewness(len(self._unknown(words))),
                    fewness(sum(is_repeated(a, b) for a, b in pairwise(words))),
                    float(not words[0][:1].islower()),
                    float(not words[-1][-1:].isalnum()),
                )
                for words, word_tags, tree in zip(sentences, tags, trees, strict=True)
            ]
        )

    def offending(self, sentence: str) -> Mapping[str, Sequence[str]]:
        """For each feature, the words of a sentence that lower it most; features of treelets have no
        entry."""
        words = self.tokenizer.words(sentence).forms
        [tags] = self.parser.tagger.tag([words])
        offending = {
            "usage weakest_usage unusual": worst_run(self._word_gains(words), words),
            "grammar weakest_grammar slips": worst_run(self._skeleton_gains(words, tags), words),
            "spelling": tuple(self._unknown(words)),
            "repeats": tuple(f"{a} {b}" for a, b in pairwise(words) if is_repeated(a, b)),
            "capital": words[:1],
            "stop": words[-1:],
        }
        return {name: found for names, found in offending.items() for name in names.split()}

    def _word_gains(self, words: Sequence[str]) -> Floats:
        return gains_in(self.words, self._word_unigrams, lowered_line(words))

    def _skeleton_gains(self, words: Sequence[str], tags: Sequence[str]) -> Floats:
        known = self._skeleton_unigrams  # with the function words that skeletons keep
        return gains_in(self.skeletons, known, treebank_skeleton(words, tags, known))

    def _treelet_gains(self, tree: Tree, tags: Sequence[str]) -> Floats:
        known = self._treelet_unigrams
        gains = [gains_in(self.treelets, known, line) for line in treelet_lines(tree, tags)]
        return np.concatenate(gains) if gains else np.zeros(1)

    def _unknown(self, words: Sequence[str]) -> list[str]:
        known = self._word_unigrams
        return [word for word in words if word.isalpha() and word.lower() not in known]

    @cached_property
    def _word_unigrams(self) -> dict[str, float]:
        return unigrams(self.words)

    @cached_property
    def _skeleton_unigrams(self) -> dict[str, float]:
        return unigrams(self.skeletons)

    @cached_property
    def _treelet_unigrams(self) -> dict[str, float]:
        return unigrams(self.treelets)


def lowered_line(words: Sequence[str]) -> str:
    """The words in lower case, joined by spaces; spaces inside words become `_`.

    >>> lowered_line(["Chủ tịch", "nói"])
    'chủ_tịch nói'
    """
    return " ".join(word.lower().replace(" ", SPACE_INSIDE) for word in words)


def treebank_skeleton(words: Sequence[str], tags: Sequence[str], kept_words: Container[str]) -> str:
    """The skeleton of a sentence: the `kept_words` in lower case, and the tags of all other words,
    joined by spaces."""
    return " ".join(
        lower if (lower := word.lower().replace(" ", SPACE_INSIDE)) in kept_words else tag
        for word, tag in zip(words, tags, strict=True)
    )


def treelet_lines(tree: Tree, tags: Sequence[str] | None = None) -> list[str]:
    """A line for each word on which others depend. `tags` are used in place of the tree's XPOS tags.

    >>> from wellput.core.tree import Word
    >>> dog = Word("dogs", 2, relation="nsubj", xpos="NNS")
    >>> treelet_lines(Tree((dog, Word("bark", 0, relation="root", xpos="VBP"))))
    ['VBP nsubj *']
    """
    # By head: the place and relation of each word that depends on it, and the head's place with `*`.
    members_of: dict[int, list[tuple[int, str]]] = {}
    for number, word in enumerate(tree.words, start=1):
        if word.head:
            members = members_of.setdefault(word.head, [(word.head, HEAD_ITSELF)])
            members.append((number, word.relation))
    return [
        " ".join(
            [
                tree.words[head - 1].xpos if tags is None else tags[head - 1],
                *(name for _, name in sorted(members)),
            ]
        )
        for head, members in sorted(members_of.items())
    ]
