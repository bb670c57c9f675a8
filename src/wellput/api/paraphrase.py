"""`paraphrase`: rewrites references so that their wording is closer to each output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from wellput.api.corpora import Texts, corpus_index, text_list
from wellput.api.inputs import Columns, Items, check_files, open_source, paths_in
from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet
from wellput.core.options import checks_options
from wellput.core.registries import Names, split_names
from wellput.core.source import EvalSource
from wellput.core.work import OnPhase, available_cores, ignore_phase
from wellput.io import check_table, open_evalset, write_evalset
from wellput.io.files import PathLike
from wellput.io.output import STANDARD_OUTPUT
from wellput.language.paraphrase.methods import (
    FilterName,
    make_paraphraser,
    paraphrase_options,
)
from wellput.language.paraphrase.references import (
    ParaphraseResult,
    RewrittenSource,
    Substitution,
    drawn_substitutions,
    substitution_items,
)

if TYPE_CHECKING:
    from wellput.language.paraphrase.classifiers import ContextClassifiers
    from wellput.language.paraphrase.methods import ParaphraseOptions


LEARNING_FILTERS = ("classifier", "contextwn", "context")
"""The filters that use classifiers, which can be learned from text."""


@checks_options
def paraphrase(
    evalset: Items,
    *,
    column: Columns = (),
    method: Names | None = None,
    candidates: str | None = None,
    filter: FilterName | None = None,
    threshold: float | None = None,
    relative: bool = False,
    joint: bool = False,
    words_only: bool = False,
    model: PathLike | None = None,
    lm: PathLike | None = None,
    encoder: str | None = None,
    wordnet: PathLike | None = None,
    corpus: Texts = (),
    cache: PathLike | None = None,
    explain: bool = False,
    substitutions: PathLike | None = None,
    sample: int | None = None,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> ParaphraseResult:
    """Rewrites references for each system, closer in wording to its output. The new references are in
    `references_by_system`; everything else stays the same.

    Parameters
    ----------
    evalset
        An `EvalSet`, or the path of a file.
    column
        Names the columns of the evalset's file, as for `score`.
    method
        A name for a pair of `candidates` and `filter`. `"context"` (the default): synonyms from
        WordNet, filtered; `"contextwn"`: single-word synonyms from WordNet, filtered as in Kauchak &
        Barzilay (2006) by classifiers learned from `corpus` (without a corpus, by the shipped
        classifiers); `"wordnet"`: synonyms from WordNet, not filtered; `"lsa"`, `"brown"`: words with
        similar contexts in a corpus, not filtered. Several names need `substitutions`; that file then
        has the substitutions of all methods, for judges to compare.
    candidates
        Where replacements come from: `"wordnet"`, `"lsa"` (words that latent semantic analysis finds
        similar), `"brown"` (words of the same Brown cluster) or `"table:FILE.csv"`.
    filter, threshold, relative
        The filter that a replacement must pass: `"none"`, `"classifier"`, `"contextwn"`, `"context"`,
        `"lm"`, `"neural"`. Replacements less probable than the threshold are refused. `relative` lets
        the classifier compare the replacement with the word it replaces.
    joint
        Makes the best substitution first, then tests the others in the new sentence.
    words_only
        Replaces single words only, no phrases.
    model, lm, encoder, wordnet
        A paraphrase model (default: the shipped one); an n-gram model for `filter="lm"`; the encoder of
        `filter="neural"`; a WordNet (default: the first one found).
    corpus, cache
        Text from which classifiers for the words of the evalset are learned: files with a sentence on
        each line, lists of sentences, or an index of text (`.wpm`). `cache` is a file that keeps what
        was learned.
    explain
        The result prints every proposed substitution, kept or refused, instead of only their number.
    substitutions, sample
        Writes the substitutions as an evalset, for judges. Substitutions of several methods are mixed;
        a tag for each method says whether it kept or refused the substitution. `sample` draws this
        many substitutions of each method at random.
    path
        Writes the evalset with its new references.
    seed, threads, on_phase
        As for `score`; the seed is used for learning and for `sample`.

    Returns
    -------
    ParaphraseResult
        `evalset` has the new references, `substitutions` every proposed substitution.

    Raises
    ------
    InputError
        There are no references, options contradict each other, or a file that they need is missing.

    Examples
    --------
    >>> import tempfile, pathlib, wellput
    >>> evalset = wellput.EvalSet.of({"A": ["a quick answer came"]}, ["a quick reply came"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = pathlib.Path(folder, "ours.csv")
    ...     _ = table.write_text("word,replacement\\nreply,answer\\n")
    ...     rewritten = wellput.paraphrase(evalset, candidates=f"table:{table}")
    >>> rewritten.evalset.items[0].references_for("A")
    ('a quick answer came',)
    """
    methods: list[str | None] = [None] if not method else [*split_names(method)]
    options_of_methods = [
        paraphrase_options(
            method_name,
            candidates,
            filter,
            threshold=threshold,
            relative=relative,
            joint=joint,
            words_only=words_only,
            model=model,
            lm=lm,
            encoder=encoder,
            wordnet=wordnet,
        )
        for method_name in methods
    ]
    if len(options_of_methods) > 1 and (path is not None or substitutions is None):
        raise InputError(
            "Several methods are for judges to compare: give substitutions=FILE, and no path=."
        )
    if sample is not None and substitutions is None:
        raise InputError("sample= goes with substitutions=FILE.")
    texts = text_list(corpus)
    source = open_source(evalset, column)
    check_files(
        [path, substitutions, cache],
        [evalset, *texts, model, lm, encoder, wordnet, *paths_in(method)],
    )
    for output_file in (path, substitutions):
        if output_file is not None:
            check_table(output_file)
    if cache is not None and not texts:
        raise InputError("cache= keeps what is learned from corpus=: give both.")
    by_method: dict[str, tuple[Substitution, ...]] = {}
    signatures: list[str] = []
    for options in options_of_methods:
        # Of several methods, those without a classifier ignore the corpus. For a single one, `_learned`
        # raises an error.
        is_learning = bool(texts) and (
            len(options_of_methods) == 1 or options.filter in LEARNING_FILTERS
        )
        learned = _learned(source, options, texts, cache, seed, on_phase) if is_learning else None
        paraphraser = make_paraphraser(options, classifiers=learned)
        rewritten = RewrittenSource(
            source,
            paraphraser,
            threads=threads or available_cores(),
            on_progress=on_phase("rewriting items"),
        )
        result_evalset = _in_memory_or_file(rewritten, path)
        if not rewritten.n_references:
            name = "The evalset" if isinstance(evalset, EvalSource) else evalset
            raise InputError(f"{name} has no references to rewrite.")
        by_method[paraphraser.method] = tuple(rewritten.substitutions)
        signatures.append(paraphraser.signature)
    if substitutions is not None:
        items = substitution_items(by_method)
        if sample is not None:
            items = drawn_substitutions(items, sample, np.random.default_rng(seed))
        write_evalset(EvalSet(items), substitutions)
    all_substitutions = tuple(
        substitution
        for substitutions_of_method in by_method.values()
        for substitution in substitutions_of_method
    )
    return ParaphraseResult(result_evalset, all_substitutions, ", ".join(signatures), explain)


def _learned(
    source: EvalSource,
    options: ParaphraseOptions,
    texts: Sequence[str | Sequence[str]],
    cache: PathLike | None,
    seed: int,
    on_phase: OnPhase,
) -> ContextClassifiers:
    """Classifiers for the words that the method proposes, learned from the corpus."""
    from wellput.language.paraphrase.training import learn_classifiers_for

    if options.filter not in LEARNING_FILTERS:
        raise InputError(
            "corpus= is for filter='classifier', filter='contextwn' and filter='context'."
        )
    index = corpus_index(texts, on_phase)
    on_progress = on_phase("learning classifiers")
    return learn_classifiers_for(
        source, options, index, seed=seed, cache=cache, on_progress=on_progress
    )


def _in_memory_or_file(rewritten: RewrittenSource, path: PathLike | None) -> EvalSource:
    """The rewritten items, made once: in memory or, block by block, in the file."""
    if path is None:
        return EvalSet([item for block in rewritten.blocks() for item in block])
    write_evalset(rewritten, path)
    return rewritten if str(path) == STANDARD_OUTPUT else open_evalset(path)
