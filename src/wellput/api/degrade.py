"""`degrade`: makes sentences of known, low quality from a corpus."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from wellput.api.inputs import (
    Numbers,
    Sentences,
    check_files,
    numbers_if_given,
    refuse_sentence,
)
from wellput.core.errors import InputError
from wellput.core.options import checks_options
from wellput.core.registries import Names, split_names
from wellput.core.tree import Tree
from wellput.core.work import OnPhase, ignore_phase
from wellput.io import check_table, check_text
from wellput.io.files import PathLike
from wellput.language.degrade.corpus import read_grammar, read_source, source_of
from wellput.language.degrade.degraders import (
    DegradedSentences,
    degraded_systems,
    degrader_of,
    in_blocks,
)
from wellput.language.degrade.sequences import Boundary
from wellput.text.english import detokenize

MAX_SENTENCE_WORDS = 500


@checks_options
def degrade(
    corpus: Sentences | Iterable[Tree],
    *,
    method: Names = "sequence",
    size: Numbers = (),
    length: int = 24,
    n: int = 10,
    boundary: Boundary = "sentence",
    treebank: PathLike | Sequence[Tree] | None = None,
    input_tokenized: bool = False,
    tokenized: bool = False,
    evalset: bool = False,
    gold: PathLike | None = None,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> DegradedSentences:
    """Makes sentences of known quality from a corpus. Use them to calibrate a fluency metric, to see
    what fools it, or to try an evaluation before there are judges.

    Parameters
    ----------
    corpus
        A list of sentences or `Tree` objects, or the path of a file: text with a sentence on each line,
        or trees in CoNLL-U (`.conllu`).
    method
        `"sequence"` joins sequences of words, `"pos"` and `"supertag"` fill templates of parts of
        speech or of supertags (more detailed classes of words) with their most probable words,
        `"cfg"` derives sentences from a grammar, `"errors"` puts mistakes into sentences of the corpus.
        Several methods need `evalset=True`.
    size
        Words in a sequence (default 1); `length` must be a multiple of it. Longer sequences make better
        sentences. Several sizes need `evalset=True`.
    length, n
        Words in a sentence, and number of sentences of each system.
    boundary
        `"sentence"`: a sentence begins and ends with words that begin and end sentences of the corpus.
        `"literal"`: it may begin and end with any words.
    treebank
        Trees for the grammar of `"cfg"`: `Tree` objects or a file. Default: the trees of the corpus.
    input_tokenized, tokenized
        The corpus is already split into words by spaces; the sentences are written in the same way.
    evalset
        Makes an evalset with a system for each method and size.
    gold
        Writes a file of judgments for `agree`: the known quality of each sentence, which is the size of
        its sequences. The same as `result.gold`.
    path
        Writes the sentences to this file, one per line, or the evalset.
    seed
        The same corpus and seed give the same sentences.
    threads
        For tagging, parsing and filling templates. Default: 1. The sentences do not depend on it.
    on_phase
        As for `score`.

    Returns
    -------
    DegradedSentences
        `sentences` is the list of sentences, `outputs` has them by system, `evalset` as an `EvalSet`.

    Raises
    ------
    InputError
        The corpus is too small, or an option does not fit the method.

    Examples
    --------
    >>> import wellput
    >>> corpus = ["The dog saw a cat.", "A cat saw the old dog.", "The old cat ran."]
    >>> result = wellput.degrade(corpus, size=3, length=6, n=2)
    >>> result.sentences
    ['The dog saw a cat.', 'The dog saw a cat.']
    >>> wellput.degrade(corpus, size=[1, 3], length=6, evalset=True).evalset.systems
    ('sequence-1', 'sequence-3')
    """
    systems = degraded_systems(
        split_names(method), numbers_if_given("size", size, example="1,2,4") or []
    )
    # `systems` has the words in a sequence of each system, 0 for methods other than "sequence".
    sizes = {system: n_words for system, n_words in systems.items() if n_words}
    if len(systems) > 1 and not evalset:
        raise InputError(
            f"Several systems ({', '.join(systems)}) need evalset=True. Without it, ask for one system."
        )
    if gold is not None and not (evalset and sizes):
        raise InputError(
            "gold= needs evalset=True and method='sequence', the only method of known quality."
        )
    if treebank is not None and "cfg" not in systems:
        raise InputError("treebank= is for method='cfg'.")
    _check_numbers(length, n)
    check_files([path, gold], [corpus, treebank])
    if path is not None:
        (check_table if evalset else check_text)(path)
    if gold is not None:
        check_table(gold)
    on_phase("reading the corpus")
    if isinstance(corpus, str | Path):
        refuse_sentence(corpus)
        source = read_source(corpus, is_tokenized=input_tokenized, threads=threads or 1)
    else:
        source = source_of(corpus, is_tokenized=input_tokenized, threads=threads or 1)
    grammar = None
    if treebank is not None:
        grammar = (
            read_grammar(treebank)
            if isinstance(treebank, str | Path)
            else source_of(treebank).grammar()
        )
    join = " ".join if tokenized else detokenize
    advance = on_phase("making sentences", n * len(systems))
    outputs: dict[str, list[str]] = {}
    for number, (system, n_words) in enumerate(systems.items()):
        degrader = degrader_of(
            system, source, grammar, size=n_words, length=length, boundary=boundary
        )
        outputs[system] = []
        for block in in_blocks(degrader, n, np.random.default_rng([seed, number])):
            outputs[system] += [join(sentence) for sentence in block]
            advance(len(block))
    result = DegradedSentences(outputs, sizes, is_evalset=evalset, path=path)
    if gold is not None:
        from wellput.io import write_judgments

        write_judgments(result.gold, gold)
    if path is not None:
        result.save(path)
    return result


def _check_numbers(length: int, n: int) -> None:
    if not 1 <= length <= MAX_SENTENCE_WORDS:
        raise InputError(f"length={length} must be from 1 to {MAX_SENTENCE_WORDS}.")
    if n < 1:
        raise InputError(f"n={n} must be 1 or more.")
