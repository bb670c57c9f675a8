"""`degrade`: sentences of known quality, made from a corpus."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import get_args

import numpy as np

from wellput.api.inputs import (
    Numbers,
    Sentences,
    check_files,
    checks_choices,
    numbers_if_given,
    refuse_sentence,
)
from wellput.core.errors import InputError
from wellput.core.registries import Names, split_names
from wellput.core.tree import Tree
from wellput.core.work import OnPhase, ignore_phase
from wellput.io import check_table, check_text
from wellput.io.files import PathLike
from wellput.language.degrade.corpus import read_grammar, read_source, source_of
from wellput.language.degrade.degraders import DegradedSentences, degrader_of, in_blocks, systems_of
from wellput.language.degrade.sequences import Boundary
from wellput.text.english import detokenize

MAX_LENGTH = 500


@checks_choices
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
    """Makes sentences of known quality from a corpus: to calibrate a fluency metric, to see what fools
    it, to try an evaluation before there are judges.

    Parameters
    ----------
    corpus
        Sentences or `Tree` objects in a list, or the path of a file: text with a sentence on each line,
        or trees in CoNLL-U (`.conllu`).
    method
        `"sequence"` glues sequences of words, `"pos"` and `"supertag"` fill templates of parts of
        speech or supertags with their likeliest words, `"cfg"` derives sentences from a grammar,
        `"errors"` puts mistakes into sentences of the corpus. Several with `evalset`.
    size
        Words in a sequence (1 unless said), a divisor of `length`; several with `evalset`. The larger,
        the better the sentences.
    length, n
        Words in a sentence, and sentences of each system.
    boundary
        `"sentence"`: sequences begin and end a sentence as in the corpus. `"literal"`: anywhere.
    treebank
        Trees for the grammar of `"cfg"`, `Tree` objects or a file; those of the corpus unless given.
    input_tokenized, tokenized
        The words of the corpus are separated by spaces already; the sentences shall be so.
    evalset
        Makes an evalset with a system for each method and size.
    gold
        Writes what is known by construction, the size, as judgments for `agree`; `result.gold` is the
        same.
    path
        Writes the sentences, one a line, or the evalset.
    seed
        The same corpus and seed give the same sentences.
    threads
        For tagging, parsing and filling templates, 1 unless said; it changes nothing.
    on_phase
        As for `score`.

    Returns
    -------
    DegradedSentences
        `sentences` are the sentences, `outputs` has them by system, `evalset` as an `EvalSet`.

    Raises
    ------
    InputError
        The corpus is too small, or an option does not go with the method.

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
    systems = systems_of(split_names(method), numbers_if_given("size", size, example="1,2,4") or [])
    sizes = {system: words for system, words in systems.items() if words}
    if len(systems) > 1 and not evalset:
        raise InputError(
            f"Several systems ({', '.join(systems)}) go into an evalset: add evalset=True, or ask for "
            "one."
        )
    if gold is not None and not (evalset and sizes):
        raise InputError(
            "gold= is for evalset=True with the method sequence: only its order is known."
        )
    if treebank is not None and "cfg" not in systems:
        raise InputError("treebank= is for the method cfg.")
    _check_numbers(length, n, boundary)
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
    for place, (system, words) in enumerate(systems.items()):
        degrader = degrader_of(
            system, source, grammar, size=words, length=length, boundary=boundary
        )
        outputs[system] = []
        for block in in_blocks(degrader, n, np.random.default_rng([seed, place])):
            outputs[system] += [join(sentence) for sentence in block]
            advance(len(block))
    result = DegradedSentences(outputs, sizes, is_evalset=evalset, path=path)
    if gold is not None:
        from wellput.io import write_judgments

        write_judgments(result.gold, gold)
    if path is not None:
        result.save(path)
    return result


def _check_numbers(length: int, n: int, boundary: Boundary) -> None:
    if not 1 <= length <= MAX_LENGTH:
        raise InputError(f"length={length} must be from 1 to {MAX_LENGTH}.")
    if n < 1:
        raise InputError(f"n={n} must be 1 or more.")
    if boundary not in get_args(Boundary):
        raise InputError(f"boundary={boundary!r} is none of {', '.join(get_args(Boundary))}.")
