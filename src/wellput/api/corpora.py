"""What models are trained from: text, as files with a sentence on each line or as sentences in memory,
and trees, as files in CoNLL-U or in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from wellput.core.errors import InputError
from wellput.core.tree import Tree
from wellput.core.work import OnPhase
from wellput.io.files import STANDARD_INPUT, InputFile, PathLike, check_readable
from wellput.io.trees import read_trees

if TYPE_CHECKING:
    from wellput.language.paraphrase.corpus_index import CorpusIndex


Text: TypeAlias = PathLike | Sequence[str]
"""A file with a sentence on each line, or a list of sentences."""
Texts: TypeAlias = PathLike | Sequence[Text]
"""One file, or several texts. Sentences in memory are one text among others: `[sentences]`."""

BLOCK_LINES = 1 << 14
INDEX_SUFFIX = ".wpm"


def text_list(corpus: Texts) -> list[str | Sequence[str]]:
    """Every text, files by their name.

    >>> text_list("a.txt"), text_list([["It rains ."], Path("b.txt")])
    (['a.txt'], [['It rains .'], 'b.txt'])
    """
    texts = [corpus] if isinstance(corpus, str | Path) else corpus
    return [str(text) if isinstance(text, Path) else text for text in texts]


def file_names(texts: Sequence[str | Sequence[str]], why: str) -> list[str]:
    """The texts, all of which must be files that can be opened anew; `why` begins the message."""
    names = [text for text in texts if isinstance(text, str)]
    if len(names) < len(texts) or STANDARD_INPUT in names:
        raise InputError(f"{why} reads files, not standard input or sentences in memory.")
    return names


def corpus_blocks(texts: Sequence[str | Sequence[str]]) -> Iterator[Sequence[str]]:
    """All sentences in lists. What cannot be read is refused at once."""
    sources = [InputFile(text) if isinstance(text, str) else text for text in texts]
    check_readable(*(source for source in sources if isinstance(source, InputFile)))
    return (
        block
        for source in sources
        for block in (
            source.line_blocks(BLOCK_LINES) if isinstance(source, InputFile) else [source]
        )
    )


def corpus_index(texts: Sequence[str | Sequence[str]], on_phase: OnPhase) -> CorpusIndex:
    """The index of texts, or the one that a single .wpm file holds."""
    from wellput.language.paraphrase.corpus_index import CorpusIndex, index_corpus

    [first, *others] = texts
    if isinstance(first, str) and first.endswith(INDEX_SUFFIX) and not others:
        return CorpusIndex.load(first)
    return index_corpus(corpus_blocks(texts), on_progress=on_phase("indexing sentences"))


Treebanks: TypeAlias = PathLike | Sequence[PathLike | Tree]
"""One file, or several, or trees, or both."""


def tree_list(trees: Treebanks) -> list[str | Tree]:
    """What was given, files by their name."""
    given = [trees] if isinstance(trees, str | Path) else trees
    return [one if isinstance(one, Tree) else str(one) for one in given]


def trees_in(given: Sequence[str | Tree]) -> Iterator[Tree]:
    """All trees. A file that is not there is refused at once."""
    readers = [[one] if isinstance(one, Tree) else read_trees(one) for one in given]
    return (tree for reader in readers for tree in reader)
