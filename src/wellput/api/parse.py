"""`parse`: parses sentences into dependency trees."""

from __future__ import annotations

from collections.abc import Iterator

from wellput.api.inputs import Sentences, check_files, sentence_blocks
from wellput.core.errors import InputError, did_you_mean
from wellput.core.options import checks_options
from wellput.core.tree import Tree
from wellput.core.work import OnPhase, available_cores, ignore_phase
from wellput.io import write_trees
from wellput.io.files import PathLike
from wellput.language.models.parsers import ENGLISH_PARSER
from wellput.language.models.sentence_parsing import (
    TREEBANK_TOKENS,
    ParseResult,
    ParseSummary,
    SentenceParser,
)
from wellput.text.tokenizers import NATIVE_TOKENIZERS

LINES_AT_ONCE = 1024


@checks_options
def parse(
    sentences: Sentences,
    *,
    parser: str = "english",
    models: PathLike | None = None,
    tokenize: str = TREEBANK_TOKENS,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> ParseResult:
    """Parses sentences into dependency trees.

    Parameters
    ----------
    sentences
        A list of sentences, or the path of a text file with one sentence on each line. A line without
        words gets no tree; the comment `sent_id` of a tree is the number of its line, from 1.
    parser
        `"english"`, a folder made by `wellput train parser`, or `"spacy:NAME"`, an installed pipeline.
    models
        The folder of a language's models, made by `wellput train parser --treebank`. It means the same
        as this folder in `parser`.
    tokenize
        How sentences are split into words: `"treebank"`, as the treebank of the parser does; `"none"`,
        at spaces only; `"13a"`, `"intl"`, `"zh"` and `"char"` as in metrics.
    path
        Writes the trees to a CoNLL-U file (`.gz` and `.xz` are compressed), block by block: memory does
        not grow with the number of sentences.
    seed
        No effect: nothing is random.
    threads, on_phase
        As for `score`.

    Returns
    -------
    ParseResult
        `trees` are the trees; if they were written to `path`, they are read from there.

    Raises
    ------
    InputError
        The file, the parser or the tokenizer does not exist.

    Examples
    --------
    >>> import wellput
    >>> [tree] = wellput.parse(["I don't think so."]).trees
    >>> [(word.form, word.relation) for word in tree.words[:4]]
    [('I', 'nsubj'), ('do', 'aux'), ("n't", 'advmod'), ('think', 'root')]
    """
    check_files([path], [sentences, models])
    tokenizers = (TREEBANK_TOKENS, *NATIVE_TOKENIZERS)
    if tokenize not in tokenizers:
        hint = did_you_mean(tokenize, tokenizers)
        raise InputError(f"tokenize={tokenize!r} is none of {', '.join(tokenizers)}.{hint}")
    if models is not None:
        if parser != ENGLISH_PARSER:
            raise InputError("parser= and models= both name a parser: give one of them.")
        parser = str(models)
    blocks = sentence_blocks(sentences, LINES_AT_ONCE)
    on_phase("loading the parser")
    parsing = SentenceParser.load(parser, tokenize=tokenize)
    cores = threads or available_cores()
    summary = ParseSummary()
    advance = on_phase("parsing sentences")

    def trees() -> Iterator[Tree]:
        for block in blocks:
            if parser == ENGLISH_PARSER:
                summary.check_language(block)
            for parsed in parsing.parse(block, first=summary.lines + 1, threads=cores):
                summary.add(parsed)
                yield parsed.tree
            summary.lines += len(block)
            advance(len(block))

    if path is None:
        return ParseResult(tuple(trees()), summary)
    write_trees(trees(), path)
    return ParseResult(None, summary, path)
