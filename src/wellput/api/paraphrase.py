"""`paraphrase`: references rewritten to be closer in wording to each output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from wellput.api.corpora import Texts, corpus_index, text_list
from wellput.api.inputs import Columns, Items, check_files, open_source
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
"""The filters whose classifiers can be learned from text."""


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
        The columns of the evalset's file, as for `score`.
    method
        A name for a pair of `candidates` and `filter`. Several names need
        `substitutions`, which then has those of all methods, for judges.
        `"context"` (the default): WordNet's synonyms, filtered; `"contextwn"`: filtered as in Kauchak &
        Barzilay (2006), single words only, with classifiers learned from `corpus` (without it, the
        shipped ones); `"wordnet"`: not filtered; `"lsa"`, `"brown"`: not filtered.
    candidates
        Where replacements come from: `"wordnet"`, `"lsa"`, `"brown"` or `"table:FILE.csv"`.
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
        The result prints every substitution, kept or refused, instead of their number.
    substitutions, sample
        Writes the substitutions as an evalset, for judges. Those of several methods are mixed; a tag
        for each method says what it decided. `sample` draws this many of each method.
    path
        Writes the evalset with its new references.
    seed, threads, on_phase
        As for `score`; the seed is used for learning and for `sample`.

    Returns
    -------
    ParaphraseResult
        `evalset` has the new references, `substitutions` every proposal.

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
    all_chosen = [
        paraphrase_options(
            one,
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
        for one in methods
    ]
    if len(all_chosen) > 1 and (path is not None or substitutions is None):
        raise InputError(
            "Several methods are for judges to compare: give substitutions=FILE, and no path=."
        )
    if sample is not None and substitutions is None:
        raise InputError("sample= goes with substitutions=FILE.")
    texts = text_list(corpus)
    source = open_source(evalset, column)
    check_files([path, substitutions], [evalset, *texts])
    for made_file in (path, substitutions):
        if made_file is not None:
            check_table(made_file)
    if cache is not None and not texts:
        raise InputError("cache= keeps what is learned from corpus=: give both.")
    by_method: dict[str, tuple[Substitution, ...]] = {}
    signatures: list[str] = []
    for chosen in all_chosen:
        is_learning = bool(texts) and (len(all_chosen) == 1 or chosen.filter in LEARNING_FILTERS)
        learned = _learned(source, chosen, texts, cache, seed, on_phase) if is_learning else None
        paraphraser = make_paraphraser(chosen, classifiers=learned)
        rewritten = RewrittenSource(
            source,
            paraphraser,
            threads=threads or available_cores(),
            on_progress=on_phase("rewriting items"),
        )
        made = _read(rewritten, path)
        if not rewritten.references:
            name = "The evalset" if isinstance(evalset, EvalSource) else evalset
            raise InputError(f"{name} has no references to rewrite.")
        by_method[paraphraser.method] = tuple(rewritten.substitutions)
        signatures.append(paraphraser.signature)
    if substitutions is not None:
        items = substitution_items(by_method)
        if sample is not None:
            items = drawn_substitutions(items, sample, np.random.default_rng(seed))
        write_evalset(EvalSet(items), substitutions)
    proposed = tuple(one for own in by_method.values() for one in own)
    return ParaphraseResult(made, proposed, ", ".join(signatures), explain)


def _learned(
    source: EvalSource,
    chosen: ParaphraseOptions,
    texts: Sequence[str | Sequence[str]],
    cache: PathLike | None,
    seed: int,
    on_phase: OnPhase,
) -> ContextClassifiers:
    """Classifiers for the proposed words, learned from the corpus."""
    from wellput.language.paraphrase.training import learn_for

    if chosen.filter not in LEARNING_FILTERS:
        raise InputError(
            "corpus= is for filter='classifier', filter='contextwn' and filter='context'."
        )
    index = corpus_index(texts, on_phase)
    on_progress = on_phase("learning classifiers")
    return learn_for(source, chosen, index, seed=seed, cache=cache, on_progress=on_progress)


def _read(rewritten: RewrittenSource, path: PathLike | None) -> EvalSource:
    """Reads the items once: into memory, or block by block into the file."""
    if path is None:
        return EvalSet([item for block in rewritten.blocks() for item in block])
    write_evalset(rewritten, path)
    return rewritten if str(path) == STANDARD_OUTPUT else open_evalset(path)
