"""`GleuModel`: the trained part of `gleu-fluency`.

A linear support vector machine over the four features of Mutton et al. (2007), each divided by its
largest size in the training sentences.

The features (`GleuParsers`) come from our head-driven parser and from link grammar. All are rates, so
that they do not grow with the sentence; the paper's sentences all have 24 words, where rates and its
counts differ only by a factor. Our log probability is the parse's gain over the words alone: without
that, a sentence of rare words looks ill-formed. A word that can be linked only at a cost counts as a
fraction of one that cannot be linked. The feature is the square root of their share, because the
first one matters more than the tenth.

`PaperGleuParsers`: the four features of Mutton et al. (2007) to the letter, from three parsers.

The paper has the log probability of Collins's parser, the fragments of Connexor's parser, and
link grammar's share of words that are not linked and of linkages that are invalid. Here the log
probability is that of the head-driven parser, not pooled with n-grams, and the fragments are those of
the transition parser's tree (`fragments_of`).

Connexor returns fragments where no rule of its grammar relates two words. The transition parser always
returns one tree, so its tree is cut afterwards: where a word's supertag is not in the treebank that the
parser learned from, and where the relation is one for parts that are not related by grammar.
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
        """The four features of every sentence, in the order of `GLEU_FEATURES`. `on_progress` counts
        texts, in proportion to the sentences parsed."""

        def of(sentences: list[str], words: list[tuple[str, ...]]) -> Floats:
            parses = self.parser.parse(words, threads=threads)
            rows = [
                (parse.scored.slor, (parse.fragments - 1) / max(1, len(own) - 1))
                for parse, own in zip(parses, words, strict=True)
            ]
            progress = ProgressShare(len(texts), len(sentences), on_progress)
            links = self.grammar.parse(sentences, on_progress=progress.add)
            lengths = map(len, words)
            return np.column_stack([rows, [*map(_link_features, links, lengths)]])

        return SentenceFeatures.of(texts, len(GLEU_FEATURES), of)

    def features(
        self,
        texts: Sequence[str],
        *,
        threads: int = 1,
        on_progress: OnProgress = ignore_progress,
    ) -> Floats:
        """(texts, 4): the mean over a text's sentences; NaN for a text without words."""
        return self.sentence_features(texts, threads=threads, on_progress=on_progress).means()


def _link_features(parse: LinkParse, words: int) -> tuple[float, float]:
    """The root of the null share, and the invalid share; both are 1 if there is no parse.

    The library counts the wall before the sentence among the nulls and splits some words, so the share
    is capped at 1. Favored words can make a cost negative; it then counts as 0.
    """
    if parse.null_count is None:
        return 1.0, 1.0
    nulls = parse.null_count + NULLS_PER_COST_UNIT * max(0.0, parse.cost or 0.0)
    invalid = (parse.post_processed - parse.valid) / parse.found if parse.found else 1.0
    return sqrt(min(1.0, nulls / words)), invalid


GLEU_KIND = "gleu-fluency"


@dataclass(frozen=True, eq=False)
class GleuModel:
    """`constants` are fixed at training. In the paper they came from the scored file, so that a
    sentence's score depended on the others."""

    constants: Floats
    plane: LinearModel
    fingerprint: str = ""

    @classmethod
    def train(cls, features: Floats, is_real: NDArray[np.bool_]) -> GleuModel:
        """From rows of `GleuParsers.features`, of real sentences and of generated ones."""
        largest = np.abs(features).max(axis=0)
        constants = np.where(largest > 0, largest, 1.0)
        plane = fit_separating(tuple(GLEU_FEATURES), features / constants, is_real, loss="hinge")
        return cls(constants, plane)

    def normalized(self, features: Floats) -> Floats:
        return features / self.constants

    def distances(self, normalized: Floats) -> Floats:
        """Signed: above 0 is the side of real sentences."""
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
assert tuple(PAPER_FEATURES) == tuple(GLEU_FEATURES)
N_COUNTS = 6
"""Log probability, fragments, nulls, invalid linkages, checked linkages and words of a sentence."""
LOOSE_RELATIONS = frozenset(
    ["parataxis", "list", "dep", "orphan", "reparandum", "dislocated", "goeswith", "discourse",
     "vocative"]
)  # fmt: skip
"""Relations of parts that belong to the sentence, but not to its grammar."""
MIN_WORD_COUNT = 5
"""Rarer words of the treebank are unknown words, as in Collins (1999)."""
PARSER_EPOCHS = 5


@dataclass(frozen=True, eq=False)
class PaperGleuParsers:
    """`chart` gives log probabilities, `transitions` trees; `supertags` are those of its treebank."""

    chart: HeadDrivenParser
    transitions: Parser
    supertags: frozenset[str]
    grammar: LinkGrammar

    @classmethod
    def load(cls, grammar: LinkGrammar, folder: Path | None = None) -> PaperGleuParsers:
        """The shipped parsers, or those that `train_paper_parsers` wrote into a folder."""
        has_own = folder is not None and (folder / HEAD_DRIVEN_FILE).is_file()
        where = folder if has_own else None
        tagger = model_file(TAGGER_FILE, where)
        transitions = load_parser(str(tagger.parent))
        return cls(
            HeadDrivenParser.load(
                model_file(HEAD_DRIVEN_FILE, where), guesser=transitions, is_pooled=False
            ),
            transitions,
            frozenset(map(str, TreeModel.load(model_file(TREE_MODEL_FILE, where)).supertags)),
            grammar,
        )

    def features(
        self,
        texts: Sequence[str],
        *,
        threads: int = 1,
        on_progress: OnProgress = ignore_progress,
    ) -> Floats:
        """(texts, 4), in the order of `PAPER_FEATURES`; NaN for a text without words. The paper takes
        a text as one sentence; so everything is added over the sentences of a text."""

        def of(lines: list[str], words: list[tuple[str, ...]]) -> Floats:
            trees = self.transitions.parse(words, threads=threads)
            scored = self.chart.score(words, guesses=trees, threads=threads)
            progress = ProgressShare(len(texts), len(lines), on_progress)
            links = self.grammar.parse(lines, on_progress=progress.add)
            return np.array(
                [
                    (
                        own.log_probability,
                        fragments_of(tree, self.supertags),
                        *_link_counts(link, len(forms)),
                        len(forms),
                    )
                    for own, tree, link, forms in zip(scored, trees, links, words, strict=True)
                ]
            )

        means = sentence_means(
            texts, N_COUNTS, of
        )  # of one text they are in proportion to the sums
        counts = [sum(bool(treebank_words(one).forms) for one in sentences(text)) for text in texts]
        added = np.maximum(1, counts)
        log_probability, fragments, nulls, invalid, checked, length = means.T
        return np.column_stack(
            [
                log_probability * added,
                fragments * added,
                nulls / length,
                invalid / checked,
            ]
        )


def fragments_of(tree: Tree, supertags: frozenset[str]) -> int:
    """The number of parts into which a tree falls when unknown and ungrammatical arcs are cut."""
    cut = sum(
        word.head > 0
        and (word.relation.partition(":")[0] in LOOSE_RELATIONS or str(supertag) not in supertags)
        for word, supertag in zip(tree.words, induce_supertags(tree), strict=True)
    )
    return 1 + cut


def _link_counts(parse: LinkParse, words: int) -> tuple[float, float, float]:
    """Nulls, invalid linkages and checked linkages; if there is no parse, all words are nulls, and none
    of one linkage is invalid. The library also counts the wall before the sentence among the nulls, so
    these are at most the words.

    The library says `Found 1444217 linkages (195 of 1000 random linkages had no P.P. violations)`. The
    paper divides the invalid ones by "the total number of parses found". Its means, .53 to .78, must be
    of those checked: of 1,444,217 at most 1,000 can be known to be invalid."""
    if parse.null_count is None or not parse.post_processed:
        nulls = words if parse.null_count is None else min(words, parse.null_count)
        return nulls, 0, 1
    invalid = parse.post_processed - parse.valid
    return min(words, parse.null_count), invalid, parse.post_processed


def train_paper_parsers(trees: Sequence[Tree], folder: Path, *, seed: int) -> None:
    """Writes a tagger, a transition parser, a head-driven parser and the supertags of a treebank into a
    folder. Collins's parser learned from the Wall Street Journal; so can these."""
    guesser = train_parser(trees, epochs=PARSER_EPOCHS, seed=seed)
    card = {"trees": len(trees), "words": sum(len(tree.words) for tree in trees)}
    guesser.tagger.save(folder / TAGGER_FILE, card)
    guesser.transitions.save(folder / PARSER_FILE, card)
    arrays = train_head_driven(trees, guesser, min_word_count=MIN_WORD_COUNT, seed=seed)
    save_head_driven(folder / HEAD_DRIVEN_FILE, arrays, card)
    train_tree_model(trees).save(folder / TREE_MODEL_FILE)
