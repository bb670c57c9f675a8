"""`parse`: dependency trees of sentences."""

from __future__ import annotations

from collections.abc import Iterator

from wellput.api.inputs import Sentences, check_files, sentence_blocks
from wellput.core.errors import InputError, did_you_mean
from wellput.core.tree import Tree
from wellput.core.work import OnPhase, available_cores, ignore_phase
from wellput.io import write_trees
from wellput.io.files import PathLike
from wellput.language.models.sentence_parsing import (
    TREEBANK,
    ParseResult,
    ParseSummary,
    SentenceParser,
)
from wellput.text.tokenizers import NATIVE

LINES_AT_ONCE = 1024


def parse(
    sentences: Sentences,
    *,
    parser: str = "english",
    tokenize: str = TREEBANK,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> ParseResult:
    """Parses sentences into dependency trees.

    Parameters
    ----------
    sentences
        Sentences in a list, or the path of a text file with one on each line. What has no words has no
        tree; the comment `sent_id` of a tree is the place of its sentence, from 1.
    parser
        `"english"`, a folder made by `wellput train parser`, or `"spacy:NAME"`, a pipeline you have.
    tokenize
        How sentences are cut into words: `"treebank"`; `"none"`, at blanks only; `"13a"`, `"intl"`,
        `"zh"` and `"char"` as metrics do.
    path
        Writes the trees to a CoNLL-U file (`.gz`, `.xz` compress), block by block: memory does not grow
        with the number of sentences.
    seed
        Not used: nothing is random.
    threads, on_phase
        As for `score`.

    Returns
    -------
    ParseResult
        `trees` are the trees; where they were written to a file they are read from there.

    Raises
    ------
    InputError
        There is no such file, parser or tokenizer.

    Examples
    --------
    >>> import wellput
    >>> [tree] = wellput.parse(["I don't think so."]).trees
    >>> [(word.form, word.relation) for word in tree.words[:4]]
    [('I', 'nsubj'), ('do', 'aux'), ("n't", 'advmod'), ('think', 'root')]
    """
    check_files([path], [sentences])
    known = (TREEBANK, *NATIVE)
    if tokenize not in known:
        hint = did_you_mean(tokenize, known)
        raise InputError(f"tokenize={tokenize!r} is none of {', '.join(known)}.{hint}")
    blocks = sentence_blocks(sentences, LINES_AT_ONCE)
    on_phase("loading the parser")
    parsing = SentenceParser.load(parser, tokenize=tokenize)
    cores = threads or available_cores()
    summary = ParseSummary()
    advance = on_phase("parsing sentences")

    def trees() -> Iterator[Tree]:
        for block in blocks:
            for parsed in parsing.parse(block, first=summary.lines + 1, threads=cores):
                summary.add(parsed)
                yield parsed.tree
            summary.lines += len(block)
            advance(len(block))

    if path is None:
        return ParseResult(tuple(trees()), summary)
    write_trees(trees(), path)
    return ParseResult(None, summary, path)
