"""Results of `wellput train`: one class for each kind of model, and the table that says what the model
learned."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from wellput.core.result import Result
from wellput.io.files import PathLike
from wellput.reporting.table import Report, Table

if TYPE_CHECKING:
    from wellput.language.models.english_training import ModelCard
    from wellput.language.models.learned_tokenizer import LearnedTokenizer
    from wellput.language.models.ngrams import NgramModel
    from wellput.language.models.parsers import TaggingParser
    from wellput.language.models.tree_model import ChoosingMethod
    from wellput.language.paraphrase.model import ParaphraseModel
    from wellput.language.realize.inserter import Insertion
    from wellput.language.realize.parameters import FergusParts
    from wellput.language.realize.realizer import Realizer, RealizerModelName

# The columns of CSV.
NGRAM_COLUMNS = ("length", "ngrams", "discount_1", "discount_2", "discount_3")
FILE_COLUMNS = ("file", "about", "bytes", "sha256", "licence", "is_new")
FEATURE_COLUMNS = ("file", "feature", "weight")
PARSER_COLUMNS = ("xpos", "upos", "lemma", "uas", "las")


@dataclass(frozen=True, eq=False, repr=False)
class NgramTraining(Result):
    """An n-gram model. `lines` and `words` count the training text; `discounts` has three
    discounts (Kneser-Ney) for each length of n-grams: for n-grams that occur once, twice, and three
    times or more."""

    presented_by: ClassVar[str] = "wellput.reporting.training:ngram_report"

    model: NgramModel
    lines: int
    words: int
    discounts: tuple[tuple[float, float, float], ...]
    is_compact: bool = False

    def save(self, path: PathLike) -> None:
        """Writes the model; the suffix `.arpa` (also with `.gz` or `.xz`) or `.wlm` chooses the
        format."""
        from wellput.language.models.ngram_files import save_model

        save_model(self.model, path, is_compact=self.is_compact)

    def records(self) -> list[dict[str, Any]]:
        """A record for each length of n-grams."""
        levels = enumerate(zip(self.model.sizes, self.discounts, strict=True), 1)
        return [
            dict(zip(NGRAM_COLUMNS, (n, size, *discounts), strict=True))
            for n, (size, discounts) in levels
        ]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput train lm`."""
        return {
            "lines": self.lines,
            "words": self.words,
            "sha256": self.model.fingerprint,
            "levels": self.records(),
        }


def ngram_report(training: NgramTraining) -> Report:
    """The number of n-grams and the discounts, by length."""
    table = Table(
        ("length", "n-grams", "discount 1", "discount 2", "discount 3+"),
        [
            [
                str(level["length"]),
                f"{level['ngrams']:,}",
                *(f"{level[name]:.3f}" for name in NGRAM_COLUMNS[2:]),
            ]
            for level in training.records()
        ],
        notes=[f"From {training.words:,} words on {training.lines:,} lines."],
        caption="N-grams and their discounts",
    )
    return Report([table], training.values(), NGRAM_COLUMNS, training.records())


@dataclass(frozen=True, repr=False)
class EnglishTraining(Result):
    """Models of English in `folder`, each with its card; `new` names those that this call made."""

    presented_by: ClassVar[str] = "wellput.reporting.training:english_report"

    folder: Path
    cards: tuple[ModelCard, ...]
    new: frozenset[str]

    def records(self) -> list[dict[str, Any]]:
        """A record for each file."""
        return [
            {
                "file": card.file,
                "about": card.about,
                "bytes": card.bytes,
                "sha256": card.sha256,
                "licence": card.licence,
                "is_new": card.file in self.new,
            }
            for card in self.cards
        ]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput train english`."""
        figures_and_data = [{"figures": card.figures, "data": card.data} for card in self.cards]
        return {"files": [a | b for a, b in zip(self.records(), figures_and_data, strict=True)]}


def english_report(training: EnglishTraining) -> Report:
    """A row for each file."""
    table = Table(
        ("file", "what", "kB", "licence", ""),
        [
            [
                card.file,
                card.about,
                f"{card.bytes / 1000:,.0f}",
                card.licence,
                "made" if card.file in training.new else "up to date",
            ]
            for card in training.cards
        ],
        notes=[f"{sum(card.bytes for card in training.cards) / 1e6:.1f} MB in all."],
        is_prose=True,
        caption="Models of English",
    )
    return Report([table], training.values(), FILE_COLUMNS, training.records())


@dataclass(frozen=True, repr=False)
class FluencyTraining(Result):
    """Models of fluency in `folder`, which classify sentences as real or made worse. `weights` has
    the weight of each feature, by file. `real` counts the sentences that were kept as they were,
    `source` those that were made worse. `held_out` has for each file two numbers of sentences not
    trained on: those that were classified correctly, and all."""

    presented_by: ClassVar[str] = "wellput.reporting.training:fluency_report"

    folder: Path
    weights: Mapping[str, Mapping[str, float]]
    real: int
    source: int
    held_out: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def records(self) -> list[dict[str, Any]]:
        """A record for each feature."""
        return [
            {"file": file, "feature": feature, "weight": weight}
            for file, weights in self.weights.items()
            for feature, weight in weights.items()
        ]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput train fluency`."""
        files = {file: dict(weights) for file, weights in self.weights.items()}
        held_out = {
            file: {"right": right, "tested": tested, "accuracy": right / tested}
            for file, (right, tested) in self.held_out.items()
        }
        return {"real": self.real, "source": self.source, "files": files, "held_out": held_out}


def fluency_report(training: FluencyTraining) -> Report:
    """A row for each feature."""
    from wellput.stats.proportions import wilson

    records = training.records()
    notes = [f"From {training.real:,} real sentences and {training.source:,} that were made worse."]
    for file, (right, tested) in training.held_out.items():
        share = wilson(right, tested)
        notes.append(
            f"{file} classifies {share.value:.1%} of {tested:,} new sentences correctly (half of "
            f"them are real; 95% interval {share.low:.1%} to {share.high:.1%})."
        )
    table = Table(
        FEATURE_COLUMNS,
        [[record["file"], record["feature"], f"{record['weight']:.3f}"] for record in records],
        notes=notes,
        caption="Weights of the features of fluency",
    )
    return Report([table], training.values(), FEATURE_COLUMNS, records)


@dataclass(frozen=True, eq=False, repr=False)
class ParserTraining(Result):
    """A tagger and a parser. `scores` has the number of `words` in the development trees and, by the
    names of `PARSER_COLUMNS`, the share of these words that are right; it is empty without development
    trees. There is a `tokenizer` if they were trained with `treebank=`."""

    presented_by: ClassVar[str] = "wellput.reporting.training:parser_report"

    parser: TaggingParser
    trees: int
    scores: Mapping[str, float]
    card: Mapping[str, Any]
    tokenizer: LearnedTokenizer | None = None

    def save(self, path: PathLike) -> None:
        """Writes `tagger.wpm` and `parser.wpm`, and `tokenizer.wpm` if there is one, into an existing
        folder."""
        from wellput.language.shipped import PARSER_FILE, TAGGER_FILE, TOKENIZER_FILE

        if self.tokenizer is not None:
            self.tokenizer.save(Path(path) / TOKENIZER_FILE)
        self.parser.tagger.save(Path(path) / TAGGER_FILE, self.card)
        self.parser.transitions.save(Path(path) / PARSER_FILE, self.card)

    def records(self) -> list[dict[str, Any]]:
        """One record: the share of words with the right tag, lemma and head."""
        return [{name: self.scores.get(name) for name in PARSER_COLUMNS}]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput train parser`."""
        return {"trees": self.trees, **self.records()[0]}


def parser_report(training: ParserTraining) -> Report:
    """The accuracy of tags, lemmas and heads, in percent of words."""
    scores = training.scores
    cells = [f"{100 * scores[name]:.2f}" if name in scores else "–" for name in PARSER_COLUMNS]
    notes = [f"From {training.trees:,} trees."]
    if scores:
        notes.append(
            f"In percent of the {scores['words']:,.0f} words held out for development, punctuation "
            "included: tags, lemmas, heads (UAS), heads with universal relations (LAS)."
        )
    table = Table(
        ("XPOS", "UPOS", "lemmas", "UAS", "LAS"),
        [cells],
        notes=notes,
        caption="Accuracy of the tagger and the parser",
    )
    return Report([table], training.values(), PARSER_COLUMNS, training.records())


@dataclass(frozen=True, repr=False)
class RealizerTraining(Result):
    """Realizers, which put the words of a tree in order, in `folder`. `kept` has for each kind of input
    (words, or words with labels) the share of pairs of neighboring words of the tuning trees that stay
    neighbors; `files` are the treebank's files."""

    presented_by: ClassVar[str] = "wellput.reporting.training:realizer_report"

    folder: Path
    trees: int
    words: int
    kept: Mapping[str, float]
    files: tuple[str, ...]

    def records(self) -> list[dict[str, Any]]:
        """A record for each kind of input."""
        return [{"input": kind, "neighbors_kept": share} for kind, share in self.kept.items()]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput train realizer`."""
        kept = {kind: round(share, 4) for kind, share in self.kept.items()}
        return {
            "trees": self.trees,
            "words": self.words,
            "neighbors_kept": kept,
            "files": list(self.files),
        }


def realizer_report(training: RealizerTraining) -> Report:
    """How many neighboring words of the trees the realizer keeps together, in percent."""
    table = Table(
        ("input", "neighbors kept"),
        [[kind, f"{100 * share:.1f}"] for kind, share in training.kept.items()],
        notes=[
            f"From {training.trees:,} trees with {training.words:,} words.",
            "Percent of the pairs of neighbors in the trees for tuning that are neighbors again.",
        ],
        caption="Order kept by the realizer",
    )
    return Report([table], training.values(), ("input", "neighbors_kept"), training.records())


@dataclass(frozen=True, eq=False, repr=False)
class FergusTraining(Result):
    """The parts of two realizers, FERGUS and its baseline LR (left-right)."""

    presented_by: ClassVar[str] = "wellput.reporting.training:fergus_report"

    parts: FergusParts

    def realizer(
        self,
        model: RealizerModelName = "fergus",
        *,
        grammar: str = "induced",
        chooser: ChoosingMethod = "exact",
        insert: Collection[Insertion] = (),
        inflects: bool = False,
    ) -> Realizer:
        """The realizer `fergus`, `fergus+` or `lr`; grammar, chooser and insert as in
        `wellput.realize`, `inflects` for inputs of lemmas."""
        from wellput.language.realize.realizer import Realizer

        return Realizer.of_parts(
            self.parts,
            model=model,
            grammar=grammar,
            chooser=chooser,
            insert=insert,
            inflects=inflects,
        )

    def save(self, path: PathLike) -> None:
        """Writes `tree.wpm`, `ngrams.wlm`, `realizer.wpm` and `completer.wpm` into a folder; makes
        it if missing."""
        self.parts.save(path)

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes of the training data and of what was learned."""
        model = self.parts.tree_model
        return {
            "trees": int(model.card["trees"]),
            "words": int(model.card["words"]),
            "lexemes": len(model.words),
            "supertags": len(model.supertags),
            "categories": len(model.inventory.categories),
            "trigrams": self.parts.ngrams.sizes[-1],
            "pairs of lexemes in lr": len(self.parts.parameters.left_right.pairs),
            "groups of words to add": len(self.parts.completer.inserter.chooser.labels),
            "inflections learned": len(self.parts.completer.inflector.seen),
        }

    def records(self) -> list[dict[str, Any]]:
        """A record for each size."""
        return [{"count": count, "of": name} for name, count in self.sizes.items()]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput train fergus`."""
        parts = self.parts
        return {
            **{name.replace(" ", "_"): count for name, count in self.sizes.items()},
            "weight_of_ngrams": parts.parameters.lm_weight,
            "sha256": parts.fingerprints,
        }


def fergus_report(training: FergusTraining) -> Report:
    """A row for each size of the training data and of the models."""
    weight = training.parts.parameters.lm_weight
    table = Table(
        ("what", "count"),
        [[name, f"{count:,}"] for name, count in training.sizes.items()],
        notes=[f"Weight of the n-gram model in fergus+: {weight:g}."],
        caption="The models of FERGUS",
    )
    return Report([table], training.values(), ("of", "count"), training.records())


@dataclass(frozen=True, eq=False, repr=False)
class ParaphraseTraining(Result):
    """A model for paraphrasing; `sentences` and `words` count the training text."""

    presented_by: ClassVar[str] = "wellput.reporting.training:paraphrase_training_report"

    model: ParaphraseModel
    sentences: int
    words: int

    def save(self, path: PathLike) -> None:
        """Writes the model to a `.wpm` file."""
        self.model.save(path)

    def records(self) -> list[dict[str, Any]]:
        """One record: the counts of the text and of each part of the model."""
        return [self.values()]

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput train paraphrase`."""
        model = self.model
        return {
            "sentences": self.sentences,
            "words": self.words,
            "classifiers": len(model.classifiers.words),
            "vectors": len(model.vectors.words),
            "classes": 0 if model.brown_classes is None else int(model.brown_classes.max()) + 1,
            "pairs": len(model.bigrams.pairs),
            "has_context_filter": model.combination is not None,
            "sha256": model.fingerprint,
        }


def paraphrase_training_report(training: ParaphraseTraining) -> Report:
    """A row for each part of the model, with its size."""
    record = training.values()
    shown = [name for name in record if name not in ("has_context_filter", "sha256")]
    has_filter = record["has_context_filter"]
    notes = [] if has_filter else ["Without judged substitutions there is no context filter."]
    table = Table(
        ["learned", ""],
        [[name, f"{record[name]:,}"] for name in shown],
        notes=notes,
        caption="The paraphrase model",
    )
    return Report([table], record, list(record), [record])
