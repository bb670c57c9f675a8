"""From the names a user gives (`method`, `candidates`, `filter`) to a `Paraphraser`."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

from wellput.core.errors import InputError, did_you_mean
from wellput.core.registries import Names, given_options, split_specs
from wellput.io.files import PathLike
from wellput.io.model_files import fingerprint, has_kind
from wellput.language.models.ngram_files import load_model
from wellput.language.models.tagger import Tagger
from wellput.language.models.wordnet import WordNet, open_wordnet
from wellput.language.paraphrase.candidates import (
    AgreeingCandidates,
    CandidateSource,
    WordNetCandidates,
    read_table_candidates,
)
from wellput.language.paraphrase.classifiers import (
    CLASSIFIERS_KIND,
    PAPER_SETTINGS,
    ContextClassifiers,
    ContextTraining,
    load_classifiers,
)
from wellput.language.paraphrase.context_filter import (
    ContextFilter,
    NeuralFilter,
    TransformerEncoder,
)
from wellput.language.paraphrase.filters import (
    BigramFilter,
    ClassifierFilter,
    ContextwnFilter,
    Filter,
    LanguageModelFilter,
    NoFilter,
    RelativeFilter,
)
from wellput.language.paraphrase.model import ParaphraseModel
from wellput.language.paraphrase.references import Paraphraser
from wellput.language.paraphrase.rewriting import Rewriter
from wellput.language.paraphrase.similar_words import BrownCandidates, LsaCandidates
from wellput.language.shipped import ENGLISH_FOLDER, PARAPHRASE_FILE, TAGGER_FILE, shipped

FilterName = Literal["none", "classifier", "contextwn", "context", "lm", "neural"]
# Method → its source of candidates and its filter.
PARAPHRASE_METHODS: dict[str, tuple[str, FilterName]] = {
    "context": ("wordnet", "context"),
    "contextwn": ("wordnet", "contextwn"),
    "wordnet": ("wordnet", "none"),
    "lsa": ("lsa", "none"),
    "brown": ("brown", "none"),
}
FILTERS: tuple[FilterName, ...] = get_args(FilterName)


@dataclass(frozen=True)
class ParaphraseOptions:
    """A user's options. `candidates` is `wordnet`, `lsa`, `brown` or `table:FILE`. With `is_relative`
    the filter `classifier` compares a replacement with the word that it replaces. Without
    `has_phrases`, only single words are replaced. With `is_joint` the best replacement is made first,
    and the others are judged again in the changed reference."""

    candidates: str = "wordnet"
    filter: FilterName = "context"
    model: PathLike | None = None
    language_model: PathLike | None = None
    encoder: str | None = None
    wordnet: PathLike | None = None
    threshold: float | None = None
    has_phrases: bool = True
    is_joint: bool = False
    is_relative: bool = False

    @property
    def name(self) -> str:
        """The method's name for signatures: that of `PARAPHRASE_METHODS` if it is one of these,
        otherwise its candidates and filter."""
        parts_of_method = self.candidates.partition(":")[0], self.filter
        names = (name for name, pair in PARAPHRASE_METHODS.items() if pair == parts_of_method)
        parts = [next(names, "+".join(parts_of_method))]
        parts += ["joint"] * self.is_joint + ["relative"] * self.is_relative
        parts += ["words"] * (not self.has_phrases and self.filter != "contextwn")
        if self.threshold is not None:
            parts.append(f"{self.threshold:g}")
        return "-".join(parts)


def paraphrase_options(
    method: str | None = None,
    candidates: str | None = None,
    filter: str | None = None,
    *,
    threshold: float | None = None,
    relative: bool = False,
    joint: bool = False,
    words_only: bool = False,
    model: PathLike | None = None,
    lm: PathLike | None = None,
    encoder: str | None = None,
    wordnet: PathLike | None = None,
) -> ParaphraseOptions:
    """The options from the arguments of `wellput.paraphrase`; raises InputError if they conflict."""
    if method is not None and (candidates is not None or filter is not None):
        raise InputError("method= stands for candidates= and filter=: pass it or these, not both.")
    if method is not None:
        _check_method(method, "method")
    if method is not None or candidates is None:
        source, default_filter = PARAPHRASE_METHODS[method or "context"]
    else:
        source, default_filter = candidates, "context" if candidates == "wordnet" else "none"
    if filter is not None and filter not in FILTERS:
        raise InputError(
            f"filter={filter!r} is none of {', '.join(FILTERS)}.{did_you_mean(filter, FILTERS)}"
        )
    if threshold is not None and not 0 <= threshold <= 1:
        raise InputError(f"threshold={threshold:g} must be between 0 and 1.")
    chosen_filter = filter or default_filter
    if relative and chosen_filter != "classifier":
        raise InputError("relative=True goes with filter='classifier'.")
    if lm is not None and chosen_filter != "lm":
        raise InputError("lm= goes with filter='lm'.")
    return ParaphraseOptions(
        candidates=source,
        filter=chosen_filter,
        model=model,
        language_model=lm,
        encoder=encoder,
        wordnet=wordnet,
        threshold=threshold,
        has_phrases=not words_only and chosen_filter != "contextwn",
        is_joint=joint,
        is_relative=relative,
    )


def _check_method(method: str, keyword: str) -> None:
    """Raises InputError if no method has this name; the message names the `keyword` of the argument."""
    if method not in PARAPHRASE_METHODS:
        hint = did_you_mean(method, list(PARAPHRASE_METHODS))
        raise InputError(f"{keyword}={method!r} is none of {', '.join(PARAPHRASE_METHODS)}.{hint}")


@dataclass(frozen=True)
class SpecOptions:
    """The options that may follow a method's name, as in `wordnet:words_only=true`."""

    threshold: float | None = None
    words_only: bool = False
    joint: bool = False
    model: str | None = None
    wordnet: str | None = None


def paraphrasers(specs: Names) -> list[Paraphraser]:
    """A paraphraser for each method that is named: `wordnet,contextwn:model=classifiers.wpm`."""
    texts = [specs] if isinstance(specs, str) else list(specs)
    paraphrasers_by_name: dict[str, Paraphraser] = {}
    for spec in (spec for text in texts for spec in split_specs(text)):
        method, _, tail = spec.partition(":")
        _check_method(method, "paraphrase")
        options = given_options(f"paraphrase={method!r}", SpecOptions, tail)
        paraphraser = make_paraphraser(paraphrase_options(method, **options))
        if paraphraser.method in paraphrasers_by_name:
            raise InputError(f"paraphrase= names {paraphraser.method} twice.")
        paraphrasers_by_name[paraphraser.method] = paraphraser
    return list(paraphrasers_by_name.values())


class _Parts:
    """The parts that the options need, each loaded on first use. `fingerprints` has the fingerprints
    of the loaded parts. `classifiers`, if not None, replace the classifiers of the model."""

    def __init__(self, options: ParaphraseOptions, classifiers: ContextClassifiers | None) -> None:
        self._options = options
        self._classifiers = classifiers
        self.fingerprints: list[str] = []

    @cached_property
    def model(self) -> ParaphraseModel:
        model = ParaphraseModel.load(self._options.model or shipped(PARAPHRASE_FILE))
        self.fingerprints.append(model.fingerprint)
        if self._classifiers is None:
            return model
        with_new_classifiers = replace(model, classifiers=self._classifiers)
        self.fingerprints.append(with_new_classifiers.fingerprint)
        return with_new_classifiers

    @cached_property
    def wordnet(self) -> WordNet:
        return open_wordnet(self._options.wordnet)

    def source(self) -> CandidateSource:
        """The source of replacements that the options name."""
        name, _, path = self._options.candidates.partition(":")
        if name == "wordnet":
            source: CandidateSource = WordNetCandidates(self.wordnet)
        elif name == "table":
            if not path:
                raise InputError("candidates='table:FILE' needs a file: word,replacement in CSV.")
            source = read_table_candidates(path)
        elif name == "lsa":
            vectors = self.model.vectors
            source = AgreeingCandidates(
                LsaCandidates(vectors, self.model.fingerprint), self.wordnet
            )
        elif name == "brown":
            if self.model.brown_classes is None:
                raise InputError("This model has no Brown classes: train one with them.")
            words, classes = self.model.bigrams.words, self.model.brown_classes
            brown = BrownCandidates(words, classes, self.model.fingerprint)
            source = AgreeingCandidates(brown, self.wordnet)
        else:
            raise InputError(
                f"candidates={name!r} is none of wordnet, lsa, brown and table:FILE."
                f"{did_you_mean(name, ('wordnet', 'lsa', 'brown'))}"
            )
        self.fingerprints.append(source.fingerprint)
        return source

    def filter(self) -> Filter:
        """The filter that the options name."""
        options = self._options
        if options.filter == "classifier":
            classifiers = self._classifiers or self.model.classifiers
            if self._classifiers is not None:
                self.fingerprints.append(fingerprint("contexts", classifiers.arrays()))
            if options.is_relative:
                return RelativeFilter(classifiers, self.model.bigrams)
            return ClassifierFilter(classifiers)
        if options.filter == "contextwn":
            return self._contextwn()
        if options.filter == "context":
            if self.model.combination is None:
                raise InputError(
                    "This model has no context filter, because it was trained without judged "
                    "substitutions. Pass filter='classifier', or train it again with them."
                )
            return ContextFilter(self.model.knowledge, self.model.combination)
        if options.filter == "lm":
            if options.language_model is None:
                return BigramFilter(self.model.bigrams)
            language_model = load_model(options.language_model)
            self.fingerprints.append(language_model.fingerprint)
            return LanguageModelFilter(language_model)
        if options.filter == "neural":
            return self._neural()
        return NoFilter()

    def _contextwn(self) -> Filter:
        """The filter `contextwn`. Its classifiers are learned from the user's text, or read from a
        file of classifiers, or are those of the model."""
        if self._classifiers is not None:
            classifiers, negatives = self._classifiers, PAPER_SETTINGS.negatives
        elif self._options.model is not None and has_kind(self._options.model, CLASSIFIERS_KIND):
            classifiers, negatives = load_classifiers(self._options.model)
        else:
            classifiers = self.model.classifiers
            negatives = float(self.model.card.get("negatives", ContextTraining().negatives))
        self.fingerprints.append(fingerprint("contexts", classifiers.arrays()))
        return ContextwnFilter(classifiers, negatives)

    def _neural(self) -> Filter:
        """The filter `neural`. Raises InputError if its encoder or its part of the model is
        missing."""
        if self._options.encoder is None:
            raise InputError(
                "filter='neural' needs encoder='NAME', a model of the Hugging Face library or its "
                "folder."
            )
        if self.model.neural is None:
            raise InputError(
                "This model was trained without an encoder: train it again with judged substitutions "
                "and an encoder."
            )
        self.fingerprints.append(self._options.encoder)
        encoder = TransformerEncoder(self._options.encoder)
        return NeuralFilter(self.model.knowledge, self.model.neural, encoder)


def make_paraphraser(
    options: ParaphraseOptions, *, classifiers: ContextClassifiers | None = None
) -> Paraphraser:
    """Loads the parts that the options need; raises InputError if one is missing. `classifiers`
    replace the classifiers of the model."""
    parts = _Parts(options, classifiers)
    rewriter = Rewriter(
        parts.source(),
        parts.filter(),
        threshold=options.threshold,
        has_phrases=options.has_phrases,
        is_joint=options.is_joint,
    )
    # Without the shipped tagger, WordNet's synonyms of all categories are taken.
    tagger = (
        Tagger.load(ENGLISH_FOLDER / TAGGER_FILE)
        if (ENGLISH_FOLDER / TAGGER_FILE).is_file()
        else None
    )
    if tagger is not None:
        parts.fingerprints.append(tagger.fingerprint)
    digest = hashlib.sha256("\n".join(sorted(set(parts.fingerprints))).encode()).hexdigest()
    return Paraphraser(options.name, rewriter, digest, tagger)
