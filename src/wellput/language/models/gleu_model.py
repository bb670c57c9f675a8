"""`GleuModel`: the trained part of the metric `gleu-fluency` (GLEU of Mutton et al. 2007, *the paper*).

The model is a linear support vector machine over four features, each divided by its largest absolute
value in the training sentences.

`GleuParsers` computes the features of `gleu-fluency` with the head-driven parser and link grammar, a
parser that joins words by links (`link_grammar.py`). All features are rates, which do not grow with
the length of a sentence. (The paper uses counts; its sentences all have 24 words, so there is no
difference but a factor.) The log probability is that of the parse minus that of the words alone;
otherwise a sentence of rare words would look ill-formed. A word that link grammar can link only at a
cost counts as a fraction of a word that it cannot link. The feature `nulls` is the square root of the
share of such words, because the first one matters more than the tenth.

`PaperGleuParsers` computes the four features as the paper defines them: the log probability of
Collins's parser, the number of fragments of Connexor's parser, and link grammar's share of words that
are not linked and of linkages (ways to link a sentence) that are invalid. Two other parsers stand in
for those of Collins and Connexor: the head-driven parser (not averaged with n-grams) and the
transition parser.

Connexor returns fragments where no rule of its grammar relates two words. The transition parser always
returns one tree, so its tree is cut afterwards (`fragments_of`): where a word's supertag (its part of
speech with the way it attaches) does not occur in the parser's treebank, and where the relation is one
for parts that are not related by grammar.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wellput.core.metric import Floats
from wellput.core.tree import Tree
from wellput.core.work import OnProgress, ProgressShare, ignore_progress
from wellput.io.files import PathLike
from wellput.io.model_files import noticing_damage, save_model_file
from wellput.language.models.english_text import SentenceFeatures, sentence_means
from wellput.language.models.head_driven import HeadDrivenParser
from wellput.language.models.head_driven_training import save_head_driven, train_head_driven
from wellput.language.models.linear_model import LinearModel, fit_separating, stored_numbers
from wellput.language.models.link_grammar import LinkGrammar, LinkParse
from wellput.language.models.parser_training import train_parser
from wellput.language.models.parsers import Parser, load_parser
from wellput.language.models.tree_model import TreeModel
from wellput.language.models.tree_training import train_tree_model
from wellput.language.shipped import (
    HEAD_DRIVEN_FILE,
    PARSER_FILE,
    TAGGER_FILE,
    TREE_MODEL_FILE,
    model_file,
)
from wellput.language.trees.supertags import induce_supertags
from wellput.text.english import sentences, treebank_words

GLEU_FEATURES: dict[str, str] = {
    "log_probability": "log probability of the parse over that of the words alone, per word",
    "fragments": "places between words where the parse breaks into fragments, of all places",
    "nulls": "words that link grammar cannot link, or only at a cost: the root of their share",
    "invalid": "linkages that post-processing rejects, of those found",
}
NULLS_PER_COST_UNIT = 0.2
"""One unit of a linkage's cost counts as this fraction of a word that cannot be linked."""


@dataclass(frozen=True, eq=False)
class GleuParsers:
    """The parsers that features come from."""

    parser: HeadDrivenParser
    grammar: LinkGrammar

    def sentence_features(
        self,
        texts: Sequence[str],
        *,
        threads: int = 1,
        on_progress: OnProgress = ignore_progress,
    ) -> SentenceFeatures:
        """The four features of every sentence, in the order of `GLEU_FEATURES`. `on_progress` is called
        with numbers of texts, in proportion to the sentences parsed."""

        def rows_of(sentences: list[str], words: list[tuple[str, ...]]) -> Floats:
            parses = self.parser.parse(words, threads=threads)
            rows = [
                (parse.scored.slor, (parse.fragments - 1) / max(1, len(forms) - 1))
                for parse, forms in zip(parses, words, strict=True)
            ]
            progress = ProgressShare(len(texts), len(sentences), on_progress)
            links = self.grammar.parse(sentences, on_progress=progress.add)
            lengths = map(len, words)
            return np.column_stack([rows, [*map(_link_features, links, lengths)]])

        return SentenceFeatures.of(texts, len(GLEU_FEATURES), rows_of)

    def features(
        self,
        texts: Sequence[str],
        *,
        threads: int = 1,
        on_progress: OnProgress = ignore_progress,
    ) -> Floats:
        """Texts by 4 features: the mean over each text's sentences; NaN for a text without words."""
        return self.sentence_features(texts, threads=threads, on_progress=on_progress).means()


def _link_features(parse: LinkParse, words: int) -> tuple[float, float]:
    """Two features: the square root of the share of nulls (words that are not linked), and the share of
    invalid linkages; both are 1 if there is no parse. `words` is the number of words.

    The library also counts its marker before the sentence (the wall) among the nulls and splits some
    words, so the share is limited to 1. Words that the grammar prefers can make a cost negative; it
    then counts as 0.
    """
    if parse.null_count is None:
        return 1.0, 1.0
    nulls = parse.null_count + NULLS_PER_COST_UNIT * max(0.0, parse.cost or 0.0)
    invalid = (parse.post_processed - parse.valid) / parse.found if parse.found else 1.0
    return sqrt(min(1.0, nulls / words)), invalid


GLEU_KIND = "gleu-fluency"


@dataclass(frozen=True, eq=False)
class GleuModel:
    """A linear support vector machine (`plane`) over features that are divided by `constants`. The
    constants are fixed in training. In the paper they come from the scored file, so the score of a
    sentence depends on the other sentences there."""

    constants: Floats
    plane: LinearModel
    fingerprint: str = ""

    @classmethod
    def train(cls, features: Floats, is_real: NDArray[np.bool_]) -> GleuModel:
        """A model that separates real sentences from generated ones. `features` has a row of
        `GleuParsers.features` for each sentence."""
        largest = np.abs(features).max(axis=0)
        constants = np.where(largest > 0, largest, 1.0)
        plane = fit_separating(tuple(GLEU_FEATURES), features / constants, is_real, loss="hinge")
        return cls(constants, plane)

    def normalized(self, features: Floats) -> Floats:
        return features / self.constants

    def distances(self, normalized: Floats) -> Floats:
        """The distance of each row from the separating plane; above 0 on the side of real sentences."""
        return self.plane.distances(normalized)

    def contributions(self, normalized: Floats) -> Floats:
        """The part of each feature in the distance; a feature at its training mean adds 0."""
        return self.plane.contributions(normalized) / float(np.linalg.norm(self.plane.weights))

    def save(self, path: PathLike, card: Mapping[str, Any], *, kind: str = GLEU_KIND) -> None:
        save_model_file(path, kind, card, {**self.plane.arrays(), "constants": self.constants})

    @classmethod
    def load(cls, path: PathLike, *, kind: str = GLEU_KIND) -> GleuModel:
        plane, file = LinearModel.load(path, kind)
        with noticing_damage(path, "model of gleu-fluency"):
            if plane.features != tuple(GLEU_FEATURES):
                raise ValueError("other features")
            constants = stored_numbers(file, "constants", len(GLEU_FEATURES))
            if not ((constants > 0) & plane.weights.any()).all():
                raise ValueError("nothing to divide by")
            return cls(constants, plane, file.fingerprint)


PAPER_GLEU_KIND = "gleu-fluency-paper"
PAPER_FEATURES: dict[str, str] = {
    "log_probability": "log probability of the parse",
    "fragments": "fragments of the dependency parse",
    "nulls": "words that link grammar cannot link, of all words",
    "invalid": "linkages that post-processing rejects, of those checked",
}
# So `GleuModel` serves both kinds of features.
assert tuple(PAPER_FEATURES) == tuple(GLEU_FEATURES)
N_SENTENCE_NUMBERS = 6
"""The numbers of a sentence from which the paper's features are computed: its log probability,
fragments, nulls, invalid linkages, checked linkages and words."""
LOOSE_RELATIONS = frozenset(
    ["parataxis", "list", "dep", "orphan", "reparandum", "dislocated", "goeswith", "discourse",
     "vocative"]
)  # fmt: skip
"""Relations of parts of a sentence that are not related by grammar."""
MIN_WORD_COUNT = 5
"""Words that are rarer in the treebank are treated as unknown words, as in Collins (1999)."""
PARSER_EPOCHS = 5


@dataclass(frozen=True, eq=False)
class PaperGleuParsers:
    """The parsers for the paper's features: `chart` gives log probabilities, and `transitions` gives
    trees. `supertags` are those that occur in the treebank of `transitions`."""

    chart: HeadDrivenParser
    transitions: Parser
    supertags: frozenset[str]
    grammar: LinkGrammar

    @classmethod
    def load(cls, grammar: LinkGrammar, folder: Path | None = None) -> PaperGleuParsers:
        """The shipped parsers, or those that `train_paper_parsers` wrote into a folder."""
        has_parsers = folder is not None and (folder / HEAD_DRIVEN_FILE).is_file()
        parsers_folder = folder if has_parsers else None
        tagger = model_file(TAGGER_FILE, parsers_folder)
        transitions = load_parser(str(tagger.parent))
        return cls(
            HeadDrivenParser.load(
                model_file(HEAD_DRIVEN_FILE, parsers_folder), guesser=transitions, uses_ngrams=False
            ),
            transitions,
            frozenset(
                map(str, TreeModel.load(model_file(TREE_MODEL_FILE, parsers_folder)).supertags)
            ),
            grammar,
        )

    def features(
        self,
        texts: Sequence[str],
        *,
        threads: int = 1,
        on_progress: OnProgress = ignore_progress,
    ) -> Floats:
        """Texts by 4 features, in the order of `PAPER_FEATURES`; NaN for a text without words. The
        paper takes a text as one sentence, so counts and log probabilities are added over the
        sentences of a text."""

        def rows_of(lines: list[str], words: list[tuple[str, ...]]) -> Floats:
            trees = self.transitions.parse(words, threads=threads)
            scored = self.chart.score(words, guesses=trees, threads=threads)
            progress = ProgressShare(len(texts), len(lines), on_progress)
            links = self.grammar.parse(lines, on_progress=progress.add)
            return np.array(
                [
                    (
                        score.log_probability,
                        fragments_of(tree, self.supertags),
                        *_link_counts(link, len(forms)),
                        len(forms),
                    )
                    for score, tree, link, forms in zip(scored, trees, links, words, strict=True)
                ]
            )

        # A sum over a text's sentences is the mean times the number of sentences.
        means = sentence_means(texts, N_SENTENCE_NUMBERS, rows_of)
        counts = [
            sum(bool(treebank_words(sentence).forms) for sentence in sentences(text))
            for text in texts
        ]
        n_sentences = np.maximum(1, counts)
        log_probability, fragments, nulls, invalid, checked, length = means.T
        return np.column_stack(
            [
                log_probability * n_sentences,
                fragments * n_sentences,
                nulls / length,
                invalid / checked,
            ]
        )


def fragments_of(tree: Tree, supertags: frozenset[str]) -> int:
    """The number of parts of a tree after some arcs are cut: those to words whose supertag is not
    among the `supertags`, and those with a relation of `LOOSE_RELATIONS`."""
    n_cuts = sum(
        word.head > 0
        and (word.relation.partition(":")[0] in LOOSE_RELATIONS or str(supertag) not in supertags)
        for word, supertag in zip(tree.words, induce_supertags(tree), strict=True)
    )
    return 1 + n_cuts


def _link_counts(parse: LinkParse, words: int) -> tuple[float, float, float]:
    """The numbers of nulls (words that are not linked), of invalid linkages and of checked linkages.
    If there is no parse, all words are nulls, and there is one checked linkage, which is not invalid.
    The library also counts its marker before the sentence among the nulls, so their number is limited
    to that of the words.

    The paper divides the number of invalid linkages by "the total number of parses found". The library
    checks at most 1,000 linkages but often finds over 100,000, so such shares would be near 0. The
    paper's means are 0.53 to 0.78, so they must be shares of the checked linkages.
    """
    if parse.null_count is None or not parse.post_processed:
        nulls = words if parse.null_count is None else min(words, parse.null_count)
        return nulls, 0, 1
    invalid = parse.post_processed - parse.valid
    return min(words, parse.null_count), invalid, parse.post_processed


def train_paper_parsers(trees: Sequence[Tree], folder: Path, *, seed: int) -> None:
    """Trains the paper's parsers on the trees of a treebank, and writes a tagger, a transition parser,
    a head-driven parser and a tree model (for its supertags) into a folder. With trees of the Wall
    Street Journal they learn from the same text as Collins's parser."""
    guesser = train_parser(trees, epochs=PARSER_EPOCHS, seed=seed)
    card = {"trees": len(trees), "words": sum(len(tree.words) for tree in trees)}
    guesser.tagger.save(folder / TAGGER_FILE, card)
    guesser.transitions.save(folder / PARSER_FILE, card)
    arrays = train_head_driven(trees, guesser, min_word_count=MIN_WORD_COUNT, seed=seed)
    save_head_driven(folder / HEAD_DRIVEN_FILE, arrays, card)
    train_tree_model(trees).save(folder / TREE_MODEL_FILE)
